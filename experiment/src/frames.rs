//! Which frames a capture has, and what is said of those it has not.
//!
//! Guarantees: where presents (or frame markers) end frames, frames that are not there are known before anything runs.

use crate::failure::Failure;
use crate::how::How;
use crate::replaying::{options, replay_with_bar};
use gfxr_parse::container::{Capture, FrameCounter, FrameRule};
use gfxr_parse::cycle::Cycle;
use profile::hooks::frame_actions::{FrameActionsHook, FrameWork};
use replay::frames::resolve;
use replay::options::{FrameBy, Options};
use replay::session::{On, prologue};
use trace::actions::Choice;
use trace::select::Ranges;

/// The first and the last frame, where the capture itself says what ends one and that is what is asked for.
pub fn there(capture: &Capture, frame_by: &FrameBy) -> Option<(u64, u64)> {
    if !matches!(frame_by, FrameBy::Auto | FrameBy::Present) {
        return None;
    }
    let mut counter = FrameCounter::with_rule(FrameRule::detect(capture));
    let mut there = None;
    for block in capture.blocks() {
        let place = counter.feed(&block);
        if place.ends_frame {
            there = Some((there.map_or(place.frame, |t: (u64, u64)| t.0), place.frame));
        }
    }
    there
}

/// The one frame that is meant: the one that is asked for, or the last; `why` says why it is one.
pub fn one(capture: &Capture, how: &How, asked: Option<&Ranges>, why: &str) -> Result<u64, Failure> {
    let there = there(capture, &options(how)?.frame_by);
    match (asked.map(Ranges::all), there) {
        (Some(&[(a, b)]), _) if a == b => Ok(a),
        (None, Some((_, last))) => Ok(last),
        (None, None) => {
            let ended = ended(capture, &rule(capture, &options(how)?.frame_by)?);
            let why = format!("{why}, and which is the last is not known before it is replayed");
            Err(Failure::usage(format_args!("{why}: say which, by --frames N. {}", ended.trim_end())))
        }
        _ => Err(Failure::usage(format_args!("{why}: say which, by --frames N"))),
    }
}

/// What ends frames, where `by` is what was asked for.
pub fn rule(capture: &Capture, by: &FrameBy) -> Result<FrameBy, Failure> {
    resolve(by, capture, prologue(capture).1).map_err(Failure::new)
}

/// A line on what ended frames, where it was not the program that said so; and what repeats, if there is something longer.
pub fn ended(capture: &Capture, by: &FrameBy) -> String {
    match by {
        FrameBy::Submit => match Cycle::of(capture) {
            None => "It presents nothing; each submission ends a frame.\n".to_owned(),
            Some(c) => format!(
                "It presents nothing; each submission ends a frame. They repeat: --frame-by cycle makes {} frames of {} submissions each.\n",
                c.frames, c.submissions
            ),
        },
        FrameBy::Cycle(Some(c)) => format!("A frame is {} submissions, which repeat.\n", c.submissions),
        FrameBy::File => "The whole file is one frame.\n".to_owned(),
        _ => String::new(),
    }
}

/// The first of the wanted frames that is not among those that are there (the first and the last).
pub fn missing(frames: &Ranges, (first, last): (u64, u64)) -> Option<u64> {
    let one = |&(a, b): &(u64, u64)| match (a, b) {
        // "90-" and "-12" have one end of their own.
        (0, b) if b >= first && b <= last => None,
        (a, u64::MAX) if a >= first && a <= last => None,
        (a, _) if a < first => Some(a),
        (a, u64::MAX) => Some(a),
        (a, b) => (b > last).then(|| a.max(last + 1)),
    };
    frames.all().iter().filter_map(one).min()
}

/// What one frame executes, and what those of its actions use that are chosen, by a walk over the capture that needs no device.
pub fn work(capture: &Capture, how: &How, frame: u64, chosen: Option<&Choice>) -> Result<FrameWork, Failure> {
    let found = works(capture, how, (frame, frame), chosen)?.pop().unwrap_or_default().1;
    match chosen.and_then(|c| c.beyond(frame, found.actions.len())) {
        Some(why) => Err(Failure::new(why)),
        None => Ok(found),
    }
}

/// The same of each of several frames that submits anything, by number; the first and the last are named.
pub fn works(
    capture: &Capture,
    how: &How,
    (first, last): (u64, u64),
    chosen: Option<&Choice>,
) -> Result<Vec<(u64, FrameWork)>, Failure> {
    let mut options = options(how)?;
    let known = there(capture, &options.frame_by);
    if let Some(there) = known
        && let Some(missing) = [first, last].into_iter().find(|n| !(there.0..=there.1).contains(n))
    {
        return Err(no_such_frame(missing, there));
    }
    options = Options { frames: Some((0, last)), ..options };
    let (hook, found) = FrameActionsHook::new((first, last), chosen.cloned());
    let done = replay_with_bar(capture, &options, On::Echo, vec![Box::new(hook)], 0, "following")?;
    let seen = done.numbers.unwrap_or((1, 0));
    let found = found.take();
    // (without an end they go on to the last)
    let end = if last == u64::MAX { first } else { last };
    if known.is_none() && end > seen.1 && found.last().is_none_or(|f| f.0 < end) {
        return Err(no_such_frame(end, seen));
    }
    Ok(found)
}

/// What is said of it.
pub fn no_such_frame(n: u64, (first, last): (u64, u64)) -> Failure {
    let from = if first > 1 { format!("the first is frame {first}, ") } else { String::new() };
    Failure::new(format_args!("there is no frame {n}; {from}the last is frame {last}"))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn frames_that_are_not_there() {
        let of = |text: &str, there| missing(&text.parse().expect(text), there);
        assert_eq!(of("1,50,100", (1, 100)), None);
        assert_eq!(of("1,50,101", (1, 100)), Some(101));
        assert_eq!(of("90-120", (1, 100)), Some(101));
        assert_eq!(of("90-", (1, 100)), None);
        assert_eq!(of("-12", (1, 100)), None);
        assert_eq!(of("101-", (1, 100)), Some(101));
        assert_eq!(of("150,120", (1, 100)), Some(120));
        assert_eq!(of("1,45", (40, 59)), Some(1));
        assert_eq!(of("40-59", (40, 59)), None);
    }
}
