//! `--image-tolerance`, `--no-verify-image`: what is compared, and what of it stands in the trace. What differs is measured by
//! `profile::pictures`; here replays are made for it.

use super::plan;
use super::replays::{Replays, Taken};
use crate::failure::Failure;
use crate::replaying::failure;
use profile::hooks::instrument::{Done, InstrumentHook, Raw, Session};
use profile::pictures::{Asked, Compare, Judge, Pictures, Side, Verdict};
use replay::hook::Hook;
use std::rc::Rc;
use trace::dir::{PictureNote, PicturesNote};

/// What is to be compared, if anything.
pub fn wanted(replays: &Replays<'_>) -> Option<Asked> {
    (!replays.args.no_verify_image).then(|| Asked {
        compare: Compare::of(replays.capture),
        frames: replays.args.frames.as_ref().map_or(vec![(1, u64::MAX)], |f| f.all().to_vec()),
        watchdog_ns: replays.options.watchdog_ns(),
    })
}

/// Compares the pictures of the replay without probes with those of each that was measured; what came of the one that is furthest off.
pub fn judge(
    replays: &Replays<'_>,
    asked: &Asked,
    plain: &Pictures,
    taken: &[Taken],
) -> Result<Verdict, Failure> {
    let verdicts = taken.iter().map(|t| of_one(replays, asked, plain, t)).collect::<Result<Vec<_>, _>>()?;
    // (of equal ones this is the last)
    let worst = verdicts.into_iter().rev().max_by_key(|v| (v.failed(), v.differs.len()));
    worst.ok_or_else(|| Failure::new("there was no replay"))
}

/// The same of one.
fn of_one(replays: &Replays<'_>, asked: &Asked, plain: &Pictures, taken: &Taken) -> Result<Verdict, Failure> {
    let passes = plan::names(replays.args);
    let mut again = |side: Side<'_>, mut hooks: Vec<Box<dyn Hook>>, what: &'static str| {
        let changed = match side {
            Side::Plain => None,
            Side::Changed => Some(plan::only(replays.args, &passes.join(","), replays.capture)?),
            Side::Pass(pass) => Some(plan::only(replays.args, pass, replays.capture)?),
        };
        if let Some(plan) = changed {
            let taker = Box::new(|_: Raw, _: &Done| Ok(()));
            let session = Session { log_bytes: plan.log_bytes, replay: taken.replay, ..Session::default() };
            let hook = InstrumentHook::with_session(Rc::new(plan), Rc::new(session), taker).0;
            hooks.insert(0, Box::new(hook));
        }
        replays.once(None, hooks, what).map(drop).map_err(failure)
    };
    let tolerance = replays.args.image_tolerance;
    Judge { asked: asked.clone(), tolerance, passes: &passes, again: &mut again }
        .judge(plain, &taken.pictures)
}

/// The same for the trace's manifest.
pub fn note(v: &Verdict) -> PicturesNote {
    PicturesNote {
        compared: v.compared as u64,
        unsteady: v.unsteady as u64,
        tolerance: v.tolerance.to_string(),
        failed: v.failed(),
        differing: v
            .differs
            .iter()
            .map(|d| PictureNote {
                frame: d.at.0,
                of: d.at.1,
                values: d.difference.values,
                differing: d.difference.differing,
                beyond: d.difference.beyond,
                steps: Some(d.difference.most_off).filter(|s| s.is_finite()),
                format: d.difference.format.clone(),
                within: d.difference.within,
                text: d.difference.to_string(),
            })
            .collect(),
    }
}

/// What a reader of the trace has to know of it.
pub fn mark(v: &Verdict) -> Option<String> {
    let first = v.first("without probes")?;
    Some(match v.failed() {
        true => format!("NOT VERIFIED: {first}"),
        false => format!("Not bit for bit what it is without probes: {first}"),
    })
}
