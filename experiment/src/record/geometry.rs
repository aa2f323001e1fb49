//! `--geometry`, and pass `rays`: one more replay, with the application's own shaders, that reads what acceleration
//! structures hold.

use super::replays::Replays;
use super::settings::Settings;
use crate::failure::Failure;
use crate::replaying::failure;
use profile::hooks::geometry::GeometryHook;
use profile::hooks::instrument::Plan;
use profile::hooks::put::Put;
use std::rc::Rc;

/// The pass whose questions need it.
const RAYS: &str = "rays";

/// Whether it is read.
pub fn wanted(args: &Settings, plan: &Plan) -> bool {
    args.geometry || plan.variants.passes().iter().any(|p| p.name() == RAYS)
}

/// Reads it, of the frames that are measured, into rows of the trace.
pub fn read(replays: &Replays<'_>, plan: &Rc<Plan>, rows: Put) -> Result<(), Failure> {
    let plan = plan.clone();
    let hook = GeometryHook::new(rows, Box::new(move |frame| plan.wants_frame(frame)));
    replays.once(None, vec![Box::new(hook)], "reading geometry").map_err(failure)?;
    Ok(())
}
