//! What measuring costs: a replay with probes beside one without, like with like.
//!
//! *GPU time* is that of one frame, the last that is measured, which both replays run again behind its first run, with everything
//! put back that it changed: so no driver compiles in it, however late it compiles. How much longer its first run took is a cost
//! of its own, in which compiling at first use is; so is the time for making pipelines, for which the application's pipeline
//! caches begin empty on both sides, and what drivers keep on disk is said.
//!
//! Guarantees: both sides' numbers are of the same frames, and of runs of the same kind. Where the frame cannot run again on both
//! sides the mean of first runs is given, and the cost's name says that it may hold compiling, and why.

use crate::hooks::frame_times::{FrameTimes, FrameTimesHook};
use crate::hooks::pipeline_times::{PipelineTimes, PipelineTimesHook};
use crate::rewrite::Variants;
use replay::hook::Hook;
use replay::looped::{Loop, Looped};
use std::cell::RefCell;
use std::rc::Rc;
use trace::Nanos;
use trace::dir::CostNote;

/// Runs of the frame behind its first that are timed, where they are not long.
pub const RUNS: u32 = 5;

/// The loop that times this frame.
pub fn again(frame: u64) -> Loop {
    Loop { frame, iterations: RUNS, warmup: 1, allow_drift: true, leave_contents: false, or_once: true }
}

/// Where a replay's times will be.
pub struct Timing {
    frames: Rc<RefCell<FrameTimes>>,
    pipelines: Rc<RefCell<PipelineTimes>>,
}

impl Timing {
    /// Times a replay by hooks that stand further in than those that are there.
    pub fn of(hooks: &mut Vec<Box<dyn Hook>>) -> Self {
        let (hook, frames) = FrameTimesHook::new(true);
        hooks.push(Box::new(hook));
        let (hook, pipelines) = PipelineTimesHook::cold();
        hooks.push(Box::new(hook));
        Timing { frames, pipelines }
    }

    /// The times, once the replay has ended; `looped` is how its frame went that ran again.
    pub fn taken(self, looped: Option<&Looped>) -> Times {
        let frames = self.frames.take();
        let (mut first, mut warm) = (vec![], vec![]);
        let again = looped.map_or(0, |l| l.iterations.len());
        let cut = frames.frames.len().saturating_sub(again);
        for f in &frames.frames[..cut] {
            first.extend(f.gpu.map(|n| (f.frame, n)));
        }
        if again > 0 {
            first.extend(frames.first_run.and_then(|f| Some((f.frame, f.gpu?))));
            warm = frames.frames[cut..].iter().filter_map(|f| f.gpu).collect();
        }
        let refused = looped.and_then(|l| l.refused.clone()).filter(|_| warm.is_empty());
        Times { first, warm, looped: looped.map(|l| l.frame), refused, pipelines: *self.pipelines.borrow() }
    }
}

/// What one replay took.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Times {
    /// GPU time of each measured frame's first run.
    pub first: Vec<(u64, Nanos)>,
    /// GPU times of the frame that ran again.
    pub warm: Vec<Nanos>,
    /// That frame.
    pub looped: Option<u64>,
    /// Why it did not.
    pub refused: Option<String>,
    /// What making pipelines took.
    pub pipelines: PipelineTimes,
}

impl Times {
    fn median(&self) -> Option<(u64, Nanos)> {
        let mut all = self.warm.clone();
        all.sort_unstable();
        Some((self.looped?, *all.get(all.len() / 2)?))
    }

    /// Those of these frames that another replay has, too.
    fn like(&self, other: &Times) -> Vec<Nanos> {
        self.first.iter().filter(|f| other.first.iter().any(|o| o.0 == f.0)).map(|f| f.1).collect()
    }
}

/// Of a frame's GPU time, where replays on both sides have it, of those with probes the one that took longest; `why` no frame was
/// to run again, where none was.
pub fn of_a_frame(plain: &Times, with: &[Times], why: &str) -> Option<CostNote> {
    let all = with.iter().filter_map(|w| of_one(plain, w, why));
    let mut worst = all.max_by_key(|c| c.with.0)?;
    worst.of.push_str(&dearest(with));
    Some(worst)
}

/// Which of several replays it is.
fn dearest(with: &[Times]) -> String {
    match with.len() {
        0 | 1 => String::new(),
        n => format!(", in the one of {n} replays that took longest"),
    }
}

/// Of one replay with probes.
fn of_one(plain: &Times, with: &Times, why: &str) -> Option<CostNote> {
    if let (Some((frame, without)), Some((_, time))) = (plain.median(), with.median()) {
        let (a, b) = (plain.warm.len(), with.warm.len());
        let of = format!(
            "GPU time of frame {frame}, run again with everything compiled, median of {a} and {b} runs"
        );
        return Some(CostNote { of, without, with: time });
    }
    let mean =
        |all: Vec<Nanos>| Some(Nanos(all.iter().map(|n| n.0).sum::<u64>().checked_div(all.len() as u64)?));
    let why = plain.refused.as_deref().or(with.refused.as_deref()).unwrap_or(why);
    let because = if why.is_empty() { "no run but the first has a GPU time" } else { why };
    Some(CostNote {
        of: format!(
            "GPU time of a measured frame, mean, as it first ran, which may hold compiling ({because})"
        ),
        without: mean(plain.like(with))?,
        with: mean(with.like(plain))?,
    })
}

/// Of everything else; `caches` says how drivers' caches on disk were.
pub fn others(plain: Option<&Times>, with: &[Times], caches: &str, variants: &Variants) -> Vec<CostNote> {
    let mut all: Vec<CostNote> = Vec::new();
    for w in with {
        // (each has the same kinds of cost, unless a frame did not run)
        for cost in others_of_one(plain, w, caches) {
            match all.iter_mut().find(|c| c.of == cost.of) {
                Some(known) if known.with.0 < cost.with.0 => *known = cost,
                Some(_) => {}
                None => all.push(cost),
            }
        }
    }
    all.iter_mut().for_each(|c| c.of.push_str(&dearest(with)));
    let (modules, spent) = variants.spent();
    if modules > 0 {
        let of = format!("rewriting {modules} entry points, summed over threads");
        all.push(CostNote { of, without: Nanos(0), with: spent });
    }
    all
}

/// Of one replay with probes.
fn others_of_one(plain: Option<&Times>, with: &Times, caches: &str) -> Vec<CostNote> {
    let mut all = Vec::new();
    let caches = format!("drivers' caches on disk: {caches}");
    if let Some(plain) = plain {
        let first = |t: &Times, frame| t.first.iter().find(|f| f.0 == frame).map(|f| f.1.0);
        if let (Some((frame, without)), Some((_, time))) = (plain.median(), with.median())
            && let (Some(a), Some(b)) = (first(plain, frame), first(with, frame))
        {
            all.push(CostNote {
                of: format!("compiling at first use and the like: how much longer frame {frame} took when it first ran ({caches})"),
                without: Nanos(a.saturating_sub(without.0)),
                with: Nanos(b.saturating_sub(time.0)),
            });
        }
        let sum = |all: Vec<Nanos>| (all.len(), Nanos(all.iter().map(|n| n.0).sum()));
        let ((frames, without), (_, time)) = (sum(plain.like(with)), sum(with.like(plain)));
        if frames > 1 {
            let of = format!(
                "GPU time of {frames} measured frames as they first ran, compiling at first use with it ({caches})"
            );
            all.push(CostNote { of, without, with: time });
        }
        let calls = with.pipelines.calls;
        all.push(CostNote {
            of: format!(
                "making pipelines and shader objects, in {calls} {} of the driver ({caches})",
                if calls == 1 { "call" } else { "calls" }
            ),
            without: plain.pipelines.total,
            with: with.pipelines.total,
        });
        if calls > 1 {
            all.push(CostNote {
                of: "the longest of these calls".to_owned(),
                without: plain.pipelines.longest,
                with: with.pipelines.longest,
            });
        }
    }
    all
}

/// As a line of a summary.
pub fn line(c: &CostNote) -> String {
    let ms = |n: Nanos| n.0 as f64 / 1e6;
    match c.without.0 {
        0 => format!("{}: {:.3} ms", c.of, ms(c.with)),
        without => {
            let times = c.with.0 as f64 / without as f64;
            format!(
                "{}: {:.3} ms without probes, {:.3} ms with (×{times:.2})",
                c.of,
                ms(c.without),
                ms(c.with)
            )
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use trace::FrameTime;

    fn first(all: &[(u64, u64)]) -> Times {
        Times { first: all.iter().map(|(f, n)| (*f, Nanos(*n))).collect(), ..Times::default() }
    }

    fn warm(times: Times, frame: u64, all: &[u64]) -> Times {
        Times { warm: all.iter().map(|n| Nanos(*n)).collect(), looped: Some(frame), ..times }
    }

    #[test]
    fn a_frame_that_ran_again_is_held_against_itself() {
        let plain = warm(first(&[(1, 7), (2, 900)]), 2, &[12, 10, 11]);
        let with = warm(first(&[(1, 8), (2, 5_000)]), 2, &[33, 30, 90, 31]);
        let c = of_a_frame(&plain, std::slice::from_ref(&with), "").expect("both have it");
        // (the median of an even number of runs is the later of both in the middle)
        assert_eq!((c.without, c.with), (Nanos(11), Nanos(33)));
        assert_eq!(c.of, "GPU time of frame 2, run again with everything compiled, median of 3 and 4 runs");
        let all = others(Some(&plain), std::slice::from_ref(&with), "off", &Variants::new(vec![], None));
        let of = |n: usize| (all[n].without.0, all[n].with.0);
        assert_eq!((of(0), of(1)), ((889, 4_967), (907, 5_008)));
        assert!(all[0].of.starts_with("compiling at first use") && all[1].of.contains("2 measured frames"));
        assert!(all.iter().all(|c| c.of.ends_with("(drivers' caches on disk: off)")) && all.len() == 3);
    }

    #[test]
    fn means_are_of_the_same_frames_and_say_what_they_may_hold() {
        let plain = first(&[(1, 10), (2, 20), (3, 900)]);
        let c = of_a_frame(&plain, &[first(&[(1, 30), (2, 60)])], "the last frame is not known")
            .expect("two frames");
        assert_eq!((c.without, c.with), (Nanos(15), Nanos(45)));
        assert_eq!(
            c.of,
            "GPU time of a measured frame, mean, as it first ran, which may hold compiling (the last frame is not known)"
        );
        // One side alone that ran again is not held against the other's first run.
        let c = of_a_frame(&warm(plain.clone(), 2, &[1, 1]), &[first(&[(2, 60)])], "").expect("one frame");
        assert_eq!((c.without, c.with), (Nanos(20), Nanos(60)));
        assert_eq!(of_a_frame(&first(&[(1, 10)]), &[first(&[(2, 10)])], ""), None);
        let c = CostNote { without: Nanos(15_000), with: Nanos(45_000), of: "a frame".into() };
        assert_eq!(line(&c), "a frame: 0.015 ms without probes, 0.045 ms with (×3.00)");
        let c = CostNote { of: "rewriting".to_owned(), without: Nanos(0), with: Nanos(2_500_000) };
        assert_eq!(line(&c), "rewriting: 2.500 ms");
    }

    #[test]
    fn of_several_replays_the_dearest_is_told() {
        let plain = warm(first(&[(1, 7)]), 1, &[10]);
        let with = |n, pipelines| Times {
            pipelines: PipelineTimes { calls: 2, total: Nanos(pipelines), longest: Nanos(pipelines - 1) },
            ..warm(first(&[(1, 2 * n)]), 1, &[n])
        };
        let all = [with(20, 5), with(25, 4), with(15, 9)];
        let c = of_a_frame(&plain, &all, "").expect("all have it");
        assert_eq!((c.without, c.with), (Nanos(10), Nanos(25)));
        let end = ", in the one of 3 replays that took longest";
        assert!(c.of.ends_with(end), "{}", c.of);
        let others = others(Some(&plain), &all, "off", &Variants::new(vec![], None));
        let told: Vec<_> = others.iter().map(|c| c.with.0).collect();
        assert_eq!(told, [25, 9, 8]);
        assert!(others.iter().all(|c| c.of.ends_with(end)));
    }

    #[test]
    fn runs_of_a_loop_are_told_from_those_before_it() {
        let of = |frame, n| FrameTime { frame, gpu: Some(Nanos(n)), cpu: Nanos(1) };
        let frames = FrameTimes {
            frames: vec![of(1, 10), of(2, 20), of(3, 30), of(3, 31)],
            first_run: Some(of(3, 500)),
            ..FrameTimes::default()
        };
        let timing = || Timing { frames: Rc::new(RefCell::new(frames.clone())), pipelines: Rc::default() };
        let iteration = replay::looped::Iteration::default();
        let mut looped = Looped::new(3, 1, replay::looped::Compared::Presented);
        looped.iterations = vec![iteration; 2];
        let t = timing().taken(Some(&looped));
        assert_eq!(t.first, [(1, Nanos(10)), (2, Nanos(20)), (3, Nanos(500))]);
        assert_eq!(t.warm, [Nanos(30), Nanos(31)]);
        // Without a loop all are first runs.
        assert_eq!(timing().taken(None).first.len(), 4);
        looped.iterations.clear();
        looped.refused = Some("it waits".into());
        let t = timing().taken(Some(&looped));
        assert_eq!((t.warm.len(), t.refused.as_deref()), (0, Some("it waits")));
    }
}
