//! What is compared with what, on which capture, and which ratio is asked for.
//!
//! The first side is GFXReconstruct's. Guarantees: both sides read the same file, and write to the same kind of place.
//! Refuses nothing: what is missing is said by [`Comparison::missing`].

use std::ffi::OsString;
use std::path::{Path, PathBuf};

use super::args::Args;
use super::sample::Sample;

/// The capture with at least 400,000 blocks and thousands of short frames.
pub const LONG: &str = "vkd3d-gears-long.gfxr";

/// What is compared.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Metric {
    /// Seconds from start to exit.
    Wall,
    /// Seconds of CPU time, all threads.
    Cpu,
    /// Peak resident set, in MiB.
    Peak,
}

impl Metric {
    /// Its name, with its unit.
    pub fn name(self) -> &'static str {
        match self {
            Metric::Wall => "wall, s",
            Metric::Cpu => "CPU, s",
            Metric::Peak => "peak memory, MiB",
        }
    }
    /// Its value in a sample.
    pub fn of(self, sample: &Sample) -> f64 {
        match self {
            Metric::Wall => sample.wall_s,
            Metric::Cpu => sample.cpu_s(),
            Metric::Peak => sample.peak_kib as f64 / 1024.0,
        }
    }
}

/// What a ratio is asked to be.
#[derive(Clone, Copy, Debug, PartialEq)]
pub enum Target {
    /// The peer takes at least so many times as much.
    Faster(f64),
    /// We take at most so many times as much as the peer.
    AtMost(f64),
    /// Nothing is asked for.
    None,
}

impl Target {
    /// The ratio that is claimed: the peer's over ours, or ours over the peer's.
    pub fn ratio(self, peer: f64, ours: f64) -> f64 {
        match self {
            Target::Faster(_) => peer / ours,
            Target::AtMost(_) | Target::None => ours / peer,
        }
    }
    /// Whether a ratio is what is asked for; none if nothing is.
    pub fn met(self, ratio: f64) -> Option<bool> {
        match self {
            Target::Faster(least) => Some(ratio >= least),
            Target::AtMost(most) => Some(ratio <= most),
            Target::None => None,
        }
    }
    /// In words.
    pub fn text(self) -> String {
        match self {
            Target::Faster(least) => format!("peer / ours ≥ {least}"),
            Target::AtMost(most) => format!("ours / peer ≤ {most}"),
            Target::None => "ours / peer".to_string(),
        }
    }
}

/// One side of a comparison.
pub struct Side {
    /// What it is called in tables.
    pub label: &'static str,
    /// The program and its arguments.
    pub command: Vec<OsString>,
    /// The file it writes, to be removed before and after.
    pub writes: Option<PathBuf>,
}

/// Programs that do the same.
pub struct Comparison {
    /// Its name on the command line and in tables.
    pub name: &'static str,
    /// What the sides do.
    pub what: &'static str,
    /// The capture.
    pub capture: PathBuf,
    /// The peer first, then ours.
    pub sides: Vec<Side>,
    /// What is compared, and what is asked for.
    pub metrics: Vec<(Metric, Target)>,
    /// It needs a display.
    pub display: bool,
}

impl Comparison {
    /// What it lacks on this machine.
    pub fn missing(&self, have_display: bool) -> Option<String> {
        let program = self.sides.iter().map(|s| &s.command[0]).find(|p| find_program(Path::new(p)).is_none());
        if let Some(program) = program {
            return Some(format!("{} is not here", Path::new(program).file_name()?.to_string_lossy()));
        }
        if !self.capture.is_file() {
            return Some(format!(
                "{} is not among the captures",
                self.capture.file_name()?.to_string_lossy()
            ));
        }
        (self.display && !have_display).then(|| "Xvfb is not here".to_string())
    }
}

/// A program, by its path or in `PATH`.
pub fn find_program(program: &Path) -> Option<PathBuf> {
    if program.components().count() > 1 {
        return program.is_file().then(|| program.to_path_buf());
    }
    let path = std::env::var_os("PATH")?;
    std::env::split_paths(&path).map(|folder| folder.join(program)).find(|p| p.is_file())
}

fn side(label: &'static str, words: &[&dyn AsRef<std::ffi::OsStr>], writes: Option<PathBuf>) -> Side {
    Side { label, command: words.iter().map(|w| w.as_ref().to_os_string()).collect(), writes }
}

/// All comparisons of times.
pub fn all(args: &Args) -> Vec<Comparison> {
    let long = args.captures.join(LONG);
    let ours = &args.replayer;
    let (theirs_out, ours_out) = (args.scratch.join("peer.jsonl"), args.scratch.join("ours.jsonl"));
    let replay_metrics = vec![
        (Metric::Wall, Target::AtMost(1.0)),
        (Metric::Cpu, Target::AtMost(1.0)),
        (Metric::Peak, Target::AtMost(1.2)),
    ];
    let speed = |least| {
        vec![(Metric::Wall, Target::Faster(least)), (Metric::Cpu, Target::None), (Metric::Peak, Target::None)]
    };
    vec![
        Comparison {
            name: "dump",
            what: "every block as a line of JSON, into a file",
            capture: long.clone(),
            sides: vec![
                side(
                    "gfxrecon-convert",
                    &[&"gfxrecon-convert", &"--output", &theirs_out, &long],
                    Some(theirs_out.clone()),
                ),
                side("dump", &[ours, &"dump", &"-o", &ours_out, &long], Some(ours_out.clone())),
            ],
            metrics: speed(5.0),
            display: false,
        },
        Comparison {
            name: "dump-to-null",
            what: "the same into /dev/null: without the file system",
            capture: long.clone(),
            sides: vec![
                side("gfxrecon-convert", &[&"gfxrecon-convert", &"--output", &"/dev/null", &long], None),
                side("dump", &[ours, &"dump", &"-o", &"/dev/null", &long], None),
            ],
            metrics: speed(5.0),
            display: false,
        },
        Comparison {
            name: "info",
            what: "what is in the capture",
            capture: long.clone(),
            sides: vec![
                side("gfxrecon-info", &[&"gfxrecon-info", &long], None),
                side("info", &[ours, &"info", &long], None),
            ],
            metrics: speed(2.0),
            display: false,
        },
        Comparison {
            name: "replay",
            what: "the whole capture replayed; ours measures frame times as well, or leaves submissions as they are",
            capture: long.clone(),
            sides: vec![
                side("gfxrecon-replay", &[&"gfxrecon-replay", &"--wsi", &"headless", &long], None),
                side("replay", &[ours, &long], None),
                side("replay --no-gpu-times", &[ours, &"--no-gpu-times", &long], None),
            ],
            metrics: replay_metrics,
            display: true,
        },
    ]
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn ratios_and_targets() {
        assert_eq!(Target::Faster(5.0).ratio(10.0, 2.0), 5.0);
        assert_eq!(Target::Faster(5.0).met(5.0), Some(true));
        assert_eq!(Target::AtMost(1.2).ratio(10.0, 13.0), 1.3);
        assert_eq!(Target::AtMost(1.2).met(1.3), Some(false));
        assert_eq!(Target::None.met(9.0), None);
    }

    #[test]
    fn what_is_missing_is_named() {
        let args = Args {
            captures: "nowhere".into(),
            replayer: "nowhere/reray-replay".into(),
            runs: 1,
            only: vec![],
            out: "x".into(),
            scratch: "y".into(),
        };
        for comparison in all(&args) {
            assert!(
                comparison.missing(true).is_some_and(|m| m.ends_with("is not here")),
                "{}",
                comparison.name
            );
        }
    }
}
