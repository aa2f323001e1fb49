//! `--geometry`, and pass `rays`: one more replay, with the application's own shaders, that reads what acceleration
//! structures hold.

use super::replays::Replays;
use crate::cli::ProfileArgs;
use crate::commands::replay::failure;
use crate::exit::Failure;
use profile::hooks::geometry::GeometryHook;
use profile::hooks::instrument::Plan;
use replay::error::{Error, Kind};
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
    let (plan, writer) = (plan.clone(), writer.clone());
    let put = Box::new(move |table, values: &[trace::Value<'_>]| {
        let mut writer = writer.borrow_mut();
        writer.put(table, values);
        match writer.failed() {
            None => Ok(()),
            Some(e) => Err(Error::new(Kind::Internal, e.to_string())),
        }
    });
    let hook = GeometryHook::new(put, Box::new(move |frame| plan.wants_frame(frame)));
    replays.once(None, vec![Box::new(hook)], "reading geometry").map_err(failure)?;
    Ok(())
}
