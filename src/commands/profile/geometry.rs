//! `--geometry`, and pass `rays`: one more replay, with the application's own shaders, that reads what acceleration
//! structures hold.

use super::replays::Replays;
use crate::cli::ProfileArgs;
use crate::commands::replay::failure;
use crate::exit::Failure;
use profile::hooks::geometry::GeometryHook;
use profile::hooks::instrument::Plan;
use std::cell::RefCell;
use std::rc::Rc;
use trace::dir::Writer;

/// The pass whose questions need it.
const RAYS: &str = "rays";

/// Whether it is read.
pub fn wanted(args: &ProfileArgs, plan: &Plan) -> bool {
    args.geometry || plan.variants.passes().iter().any(|p| p.name() == RAYS)
}

/// Reads it, of the frames that are measured.
pub fn read(replays: &Replays<'_>, plan: &Rc<Plan>, writer: &Rc<RefCell<Writer>>) -> Result<(), Failure> {
    let plan = plan.clone();
    let hook = GeometryHook::new(super::sink(writer), Box::new(move |frame| plan.wants_frame(frame)));
    replays.once(None, vec![Box::new(hook)], "reading geometry").map_err(failure)?;
    Ok(())
}
