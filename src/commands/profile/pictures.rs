//! `--verify-image`: what an instrumented frame shows is what the plain frame shows.
//!
//! Guarantees: a picture that differs is an error that names the frame and the pass, found by running passes one at a time.
//! A capture that shows another picture in each plain replay cannot be compared; that is said.

use super::costs::Timing;
use super::replays::Replays;
use crate::exit::{Exit, Failure, complain};
use gfxr_parse::schema::command_named;
use profile::hooks::instrument::{Done, InstrumentHook, Plan, Raw};
use profile::hooks::screenshot::{ScreenshotHook, Shot, What, Wish};
use replay::error::Result;
use replay::hook::Hook;
use std::cell::RefCell;
use std::collections::BTreeMap;
use std::rc::Rc;

/// Pictures of frames: by frame and swapchain.
pub type Pictures = BTreeMap<(u64, Option<u64>), blake3::Hash>;

/// Whether frames are to be compared. Of a capture that presents nothing they are not: it may copy buffers out whose
/// format nobody knows. That is said.
pub fn wanted(replays: &Replays<'_>) -> bool {
    if replays.args.no_verify_image {
        return false;
    }
    let present = command_named("vkQueuePresentKHR").map(|c| c.id);
    let presents = replays.capture.blocks().any(|b| present.is_some() && b.call_id() == present);
    if !presents {
        complain("warning: the capture presents nothing: images were not verified");
    }
    presents
}

/// The hook that takes pictures of the measured frames, and where they will be.
pub fn hook(replays: &Replays<'_>) -> (Box<dyn Hook>, Rc<RefCell<Pictures>>) {
    let wish = Wish {
        what: What::Presented,
        frames: Some(replays.args.frames.as_ref().map_or(vec![(1, u64::MAX)], |f| f.all().to_vec())),
        shape: None,
        watchdog_ns: replays.options.watchdog_ns(),
    };
    let pictures = Rc::new(RefCell::new(Pictures::new()));
    let into = pictures.clone();
    let take = move |shot: Shot| {
        let hash = crate::commands::screenshot::hash(&shot, true);
        into.borrow_mut().insert((shot.frame, shot.swapchain), hash);
        Ok(())
    };
    let (hook, _) = ScreenshotHook::new(wish, Box::new(take));
    (Box::new(hook), pictures)
}

/// The plain replay's, and what it took if that is wanted.
pub fn plain(replays: &Replays<'_>, timed: bool) -> Result<(Pictures, Option<Timing>)> {
    let (hook, pictures) = hook(replays);
    let mut hooks = vec![hook];
    let timing = timed.then(|| Timing::of(&mut hooks));
    replays.once(None, hooks, "replaying without probes")?;
    Ok((pictures.take(), timing))
}

/// The first frame whose picture is another one.
fn differs(plain: &Pictures, now: &Pictures) -> Option<u64> {
    plain.iter().find(|(at, hash)| now.get(at) != Some(hash)).map(|(at, _)| at.0)
}

/// Compares, and says which pass changed a picture. `make` makes the plan of one pass.
pub fn judge(
    replays: &Replays<'_>,
    before: &Pictures,
    now: &Pictures,
    passes: &[String],
    make: &dyn Fn(&str) -> std::result::Result<Plan, Failure>,
) -> std::result::Result<(), Failure> {
    let Some(frame) = differs(before, now) else { return Ok(()) };
    let failure = crate::commands::replay::failure;
    if differs(before, &plain(replays, false).map_err(failure)?.0).is_some() {
        complain("warning: two replays without probes show different pictures: images were not verified");
        return Ok(());
    }
    let mut guilty = Vec::new();
    for pass in passes {
        let (instrument, _) = InstrumentHook::new(Rc::new(make(pass)?), Box::new(|_: Raw, _: &Done| Ok(())));
        let (taker, pictures) = hook(replays);
        replays
            .once(None, vec![Box::new(instrument), taker], "looking for the pass that changes the picture")
            .map_err(failure)?;
        if differs(before, &pictures.take()).is_some() {
            guilty.push(pass.as_str());
        }
    }
    let who = match &guilty[..] {
        [] => "no pass alone changes it".to_owned(),
        some => format!("because of pass {}", some.join(" and of pass ")),
    };
    let text = format!(
        "frame {frame} shows another picture than without probes, {who}; --no-verify-image writes the trace all the same"
    );
    Err(Failure::Error(Exit::Diverged, text))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_picture_that_is_missing_or_another_differs() {
        let of = |all: &[(u64, &str)]| -> Pictures {
            all.iter().map(|(frame, what)| ((*frame, None), blake3::hash(what.as_bytes()))).collect()
        };
        let plain = of(&[(1, "a"), (2, "b"), (3, "c")]);
        assert_eq!(differs(&plain, &plain), None);
        assert_eq!(differs(&plain, &of(&[(1, "a"), (2, "x"), (3, "y")])), Some(2));
        assert_eq!(differs(&plain, &of(&[(1, "a"), (2, "b")])), Some(3));
    }
}
