//! `--verify-image`: what an instrumented frame shows is what the plain frame shows. Of a capture that presents nothing: what its
//! frames leave in memory is what the plain frames leave.
//!
//! Guarantees: a picture that differs is an error that names the frame, its first pixel (or byte) that differs, and the pass,
//! found by running passes one at a time.
//! What is another thing in each plain replay cannot be compared; that is said.

use super::costs::Timing;
use super::replays::Replays;
use crate::exit::{Exit, Failure, complain};
use gfxr_parse::container::Capture;
use gfxr_parse::schema::command_named;
use profile::hooks::instrument::{Done, InstrumentHook, Plan, Raw};
use profile::hooks::screenshot::{LeftHook, ScreenshotHook, Shot, What, Wish};
use replay::error::Result;
use replay::hook::Hook;
use std::cell::RefCell;
use std::collections::{BTreeMap, BTreeSet};
use std::rc::Rc;

/// Pictures of frames: by frame and swapchain, or buffer or image.
pub type Pictures = BTreeMap<(u64, Option<u64>), blake3::Hash>;

/// What is compared.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Compare {
    /// What frames present.
    Shown,
    /// What they leave behind in memory.
    Left,
}

/// What is to be compared, if anything.
pub fn wanted(replays: &Replays<'_>) -> Option<Compare> {
    (!replays.args.no_verify_image).then(|| what_to_compare(replays.capture))
}

/// What there is to be compared.
pub fn what_to_compare(capture: &Capture) -> Compare {
    let present = command_named("vkQueuePresentKHR").map(|c| c.id);
    let presents = capture.blocks().any(|b| present.is_some() && b.call_id() == present);
    if presents { Compare::Shown } else { Compare::Left }
}

/// The hook that takes pictures of the measured frames, and where they will be.
pub fn hook(replays: &Replays<'_>, compare: Compare) -> (Box<dyn Hook>, Rc<RefCell<Pictures>>) {
    let frames = replays.args.frames.as_ref().map_or(vec![(1, u64::MAX)], |f| f.all().to_vec());
    taker(frames, replays.options.watchdog_ns(), compare)
}

/// The same of these frames.
pub fn taker(
    frames: Vec<(u64, u64)>,
    watchdog_ns: u64,
    compare: Compare,
) -> (Box<dyn Hook>, Rc<RefCell<Pictures>>) {
    let pictures = Rc::new(RefCell::new(Pictures::new()));
    let into = pictures.clone();
    if compare == Compare::Left {
        let take = move |frame, id, bytes: &[u8]| {
            into.borrow_mut().insert((frame, Some(id)), blake3::hash(bytes));
            Ok(())
        };
        return (Box::new(LeftHook::new(frames, watchdog_ns, Box::new(take)).0), pictures);
    }
    let wish = Wish { what: What::Presented, frames: Some(frames), shape: None, watchdog_ns };
    let take = move |shot: Shot| {
        let hash = crate::commands::screenshot::hash(&shot, true);
        into.borrow_mut().insert((shot.frame, shot.swapchain), hash);
        Ok(())
    };
    let (hook, _) = ScreenshotHook::new(wish, Box::new(take));
    (Box::new(hook), pictures)
}

/// The plain replay's, and what it took if that is wanted.
pub fn plain(replays: &Replays<'_>, compare: Compare, timed: bool) -> Result<(Pictures, Option<Timing>)> {
    let (hook, pictures) = hook(replays, compare);
    let mut hooks = vec![hook];
    let timing = timed.then(|| Timing::of(&mut hooks));
    replays.once(None, hooks, "replaying without probes")?;
    Ok((pictures.take(), timing))
}

/// The first that is another one.
pub fn differs(plain: &Pictures, now: &Pictures) -> Option<(u64, Option<u64>)> {
    plain.iter().find(|(at, hash)| now.get(at) != Some(hash)).map(|(at, _)| *at)
}

/// Those that two replays have alike, and how many they have not.
pub fn steady(one: &Pictures, other: &Pictures) -> (Pictures, usize) {
    let alike: Pictures =
        one.iter().filter(|(at, hash)| other.get(at) == Some(hash)).map(|(at, hash)| (*at, *hash)).collect();
    let others = one.len() - alike.len();
    (alike, others)
}

/// What is compared where nothing is presented.
fn say(before: &Pictures) {
    let frames = before.keys().map(|at| at.0).collect::<BTreeSet<_>>().len();
    match before.len() {
        0 => complain(
            "warning: measured frames present, copy out and change nothing: images were not verified",
        ),
        n => complain(format_args!(
            "nothing is presented: what {frames} frames leave in memory was compared instead ({n} contents)"
        )),
    }
}

/// Compares, and says which pass changed a picture. `make` makes the plan of one pass.
pub fn judge(
    replays: &Replays<'_>,
    compare: Compare,
    before: &Pictures,
    now: &Pictures,
    passes: &[String],
    make: &dyn Fn(&str) -> std::result::Result<Plan, Failure>,
) -> std::result::Result<(), Failure> {
    if compare == Compare::Left {
        say(before);
    }
    if differs(before, now).is_none() {
        return Ok(());
    }
    let failure = crate::commands::replaying::failure;
    let (before, others) = steady(before, &plain(replays, compare, false).map_err(failure)?.0);
    if others > 0 {
        complain(format_args!(
            "warning: {others} pictures are another one in each replay without probes, and were not verified"
        ));
    }
    let Some((frame, of)) = differs(&before, now) else { return Ok(()) };
    let mut guilty = Vec::new();
    for pass in passes {
        let (instrument, _) = InstrumentHook::new(Rc::new(make(pass)?), Box::new(|_: Raw, _: &Done| Ok(())));
        let (taker, pictures) = hook(replays, compare);
        replays
            .once(None, vec![Box::new(instrument), taker], "looking for the pass that changes the picture")
            .map_err(failure)?;
        if differs(&before, &pictures.take()).is_some() {
            guilty.push(pass.as_str());
        }
    }
    let who = match &guilty[..] {
        [] => "no pass alone changes it".to_owned(),
        some => format!("because of pass {}", some.join(" and of pass ")),
    };
    let what = match (compare, of) {
        (Compare::Left, Some(id)) => format!("leaves something else in the buffer or image {id}"),
        _ => "shows another picture".to_owned(),
    };
    let first = first_difference(replays, compare, (frame, of), &passes.join(","), make)?;
    let text = format!(
        "frame {frame} {what} than without probes, {who}{first}; --no-verify-image writes the trace all the same"
    );
    Err(Failure::with(Exit::Diverged, text))
}

/// Pixels, or bytes of a buffer or image, and how many are in a row.
type Content = (Vec<u8>, Option<u32>);

/// The hook that keeps one picture, and where it will be.
fn keeper(
    replays: &Replays<'_>,
    compare: Compare,
    wanted: (u64, Option<u64>),
) -> (Box<dyn Hook>, Rc<RefCell<Option<Content>>>) {
    let (frames, watchdog_ns) = (vec![(wanted.0, wanted.0)], replays.options.watchdog_ns());
    let kept = Rc::new(RefCell::new(None));
    let into = kept.clone();
    if compare == Compare::Left {
        let take = move |frame, id, bytes: &[u8]| {
            if (frame, Some(id)) == wanted {
                *into.borrow_mut() = Some((bytes.to_vec(), None));
            }
            Ok(())
        };
        return (Box::new(LeftHook::new(frames, watchdog_ns, Box::new(take)).0), kept);
    }
    let wish = Wish { what: What::Presented, frames: Some(frames), shape: None, watchdog_ns };
    let take = move |shot: Shot| {
        if (shot.frame, shot.swapchain) == wanted {
            *into.borrow_mut() = Some((shot.rgba, Some(shot.width)));
        }
        Ok(())
    };
    (Box::new(ScreenshotHook::new(wish, Box::new(take)).0), kept)
}

/// Where two replays' pictures begin to differ, in words; empty where that is not found again.
fn first_difference(
    replays: &Replays<'_>,
    compare: Compare,
    wanted: (u64, Option<u64>),
    passes: &str,
    make: &dyn Fn(&str) -> std::result::Result<Plan, Failure>,
) -> std::result::Result<String, Failure> {
    let failure = crate::commands::replaying::failure;
    let (taker, before) = keeper(replays, compare, wanted);
    let what = "looking for the pixel that differs";
    replays.once(None, vec![taker], what).map_err(failure)?;
    let (instrument, _) = InstrumentHook::new(Rc::new(make(passes)?), Box::new(|_: Raw, _: &Done| Ok(())));
    let (taker, after) = keeper(replays, compare, wanted);
    replays.once(None, vec![Box::new(instrument), taker], what).map_err(failure)?;
    let both = before.take().zip(after.take());
    Ok(both.and_then(|(a, b)| difference(&a, &b)).map_or(String::new(), |d| format!(", first at {d}")))
}

/// The first pixel or byte that differs, and what it is.
fn difference(before: &Content, after: &Content) -> Option<String> {
    let at = before.0.iter().zip(&after.0).position(|(a, b)| a != b)?;
    let Some(width) = before.1 else {
        return Some(format!("byte {at}: {} and not {}", after.0[at], before.0[at]));
    };
    let pixel = at / 4;
    let colour = |of: &Content| format!("{:?}", &of.0[pixel * 4..pixel * 4 + 4]);
    let (x, y) = (pixel % width as usize, pixel / width as usize);
    let differing = before.0.chunks_exact(4).zip(after.0.chunks_exact(4)).filter(|(a, b)| a != b).count();
    Some(format!(
        "pixel ({x}, {y}): {} and not {}, of {differing} that differ",
        colour(after),
        colour(before)
    ))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_first_pixel_that_differs_is_named() {
        let before = (vec![0; 4 * 6], Some(3));
        let mut after = before.clone();
        assert_eq!(difference(&before, &after), None);
        (after.0[4 * 4 + 1], after.0[4 * 5]) = (9, 1);
        let said = difference(&before, &after);
        assert_eq!(
            said.as_deref(),
            Some("pixel (1, 1): [0, 9, 0, 0] and not [0, 0, 0, 0], of 2 that differ")
        );
        let bytes = |b: &[u8]| (b.to_vec(), None);
        assert_eq!(difference(&bytes(&[1, 2]), &bytes(&[1, 3])).as_deref(), Some("byte 1: 3 and not 2"));
    }

    #[test]
    fn a_picture_that_is_missing_or_another_differs() {
        let of = |all: &[(u64, &str)]| -> Pictures {
            all.iter().map(|(frame, what)| ((*frame, None), blake3::hash(what.as_bytes()))).collect()
        };
        let plain = of(&[(1, "a"), (2, "b"), (3, "c")]);
        assert_eq!(differs(&plain, &plain), None);
        assert_eq!(differs(&plain, &of(&[(1, "a"), (2, "x"), (3, "y")])), Some((2, None)));
        assert_eq!(differs(&plain, &of(&[(1, "a"), (2, "b")])), Some((3, None)));
        let (alike, others) = steady(&plain, &of(&[(1, "a"), (2, "x"), (4, "c")]));
        assert_eq!((alike, others), (of(&[(1, "a")]), 2));
    }
}
