//! What measuring cost: times of the replay with probes beside those of the replay without, where there was one.

use profile::hooks::frame_times::{FrameTimes, FrameTimesHook};
use profile::hooks::instrument::Measurement;
use profile::hooks::pipeline_times::{PipelineTimes, PipelineTimesHook};
use profile::rewrite::Variants;
use replay::hook::Hook;
use std::cell::RefCell;
use std::rc::Rc;
use trace::Nanos;
use trace::dir::CostNote;

/// What one replay took.
pub struct Timing {
    frames: Rc<RefCell<FrameTimes>>,
    pipelines: Rc<RefCell<PipelineTimes>>,
}

impl Timing {
    /// Times a replay by hooks that stand further in than those that are there.
    pub fn of(hooks: &mut Vec<Box<dyn Hook>>) -> Self {
        let (hook, frames) = FrameTimesHook::new(true);
        hooks.push(Box::new(hook));
        let (hook, pipelines) = PipelineTimesHook::new();
        hooks.push(Box::new(hook));
        Timing { frames, pipelines }
    }

    /// GPU time of each of these frames.
    fn gpu(&self, of: &Measurement) -> Vec<(u64, Nanos)> {
        let frames = self.frames.borrow();
        let measured = frames.frames.iter().filter(|f| of.frames.contains_key(&f.frame));
        measured.filter_map(|f| Some((f.frame, f.gpu?))).collect()
    }
}

/// Of a frame's GPU time, where both replays have it.
pub fn of_a_frame(plain: &Timing, with: &Timing, of: &Measurement) -> Option<CostNote> {
    frames(&plain.gpu(of), &with.gpu(of))
}

/// The mean over the frames that both have.
fn frames(plain: &[(u64, Nanos)], with: &[(u64, Nanos)]) -> Option<CostNote> {
    let mean = |of: &[(u64, Nanos)], other: &[(u64, Nanos)]| {
        let both = of.iter().filter(|f| other.iter().any(|o| o.0 == f.0)).map(|f| f.1.0);
        let all: Vec<u64> = both.collect();
        Some(Nanos(all.iter().sum::<u64>().checked_div(all.len() as u64)?))
    };
    Some(CostNote {
        of: "GPU time of a measured frame, mean".to_owned(),
        without: mean(plain, with)?,
        with: mean(with, plain)?,
    })
}

/// Of everything that happens beside frames.
pub fn others(plain: Option<&Timing>, with: &Timing, variants: &Variants) -> Vec<CostNote> {
    let mut all = Vec::new();
    if let Some(plain) = plain {
        let (without, with) = (*plain.pipelines.borrow(), *with.pipelines.borrow());
        all.push(CostNote {
            of: format!("making pipelines and shader objects, in {} calls of the driver", with.calls),
            without: without.total,
            with: with.total,
        });
    }
    let (modules, spent) = variants.spent();
    if modules > 0 {
        let of = format!("rewriting {modules} entry points, summed over threads");
        all.push(CostNote { of, without: Nanos(0), with: spent });
    }
    all
}

/// As a line of the summary.
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

    #[test]
    fn means_are_of_the_same_frames() {
        let of = |all: &[(u64, u64)]| -> Vec<_> { all.iter().map(|(f, n)| (*f, Nanos(*n))).collect() };
        let c = frames(&of(&[(1, 10), (2, 20), (3, 900)]), &of(&[(1, 30), (2, 60)])).expect("two frames");
        assert_eq!((c.without, c.with), (Nanos(15), Nanos(45)));
        assert_eq!(
            line(&CostNote { without: Nanos(15_000), with: Nanos(45_000), ..c }),
            "GPU time of a measured frame, mean: 0.015 ms without probes, 0.045 ms with (×3.00)"
        );
        assert_eq!(frames(&of(&[(1, 10)]), &of(&[(2, 10)])), None);
        let c = CostNote { of: "rewriting".to_owned(), without: Nanos(0), with: Nanos(2_500_000) };
        assert_eq!(line(&c), "rewriting: 2.500 ms");
    }
}
