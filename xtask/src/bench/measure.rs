//! One run of a program: wall time, CPU time, peak memory; and many of them in turn.
//!
//! Every run has a parent of its own (this program, called again), so that what the system says of "children" is of
//! that run alone. Guarantees: microseconds, and the peak of the program itself (its parent is far smaller). Refuses
//! runs that do not exit with 0.

use std::ffi::{OsStr, OsString};
use std::path::Path;
use std::process::{Command, Stdio};
use std::time::Instant;

use nix::sys::resource::{UsageWho, getrusage};

use super::peers::Comparison;
use super::sample::Sample;
use super::xvfb::Xvfb;

/// The word by which this program calls itself.
pub const HELPER: &str = "--one-run";
/// Seconds after which a run is ended: nothing here takes a tenth of it, unless it hangs.
const LIMIT_SECONDS: &str = "900";

/// Runs the command that follows, and says on stdout what it took.
pub fn helper(command: &[String]) -> Result<(), String> {
    let (program, args) = command.split_first().ok_or("no command")?;
    let start = Instant::now();
    let status = Command::new(program)
        .args(args)
        .stdin(Stdio::null())
        .stdout(Stdio::null())
        .status()
        .map_err(|e| format!("{program}: {e}"))?;
    let wall_s = start.elapsed().as_secs_f64();
    let usage = getrusage(UsageWho::RUSAGE_CHILDREN).map_err(|e| e.to_string())?;
    let seconds = |t: nix::sys::time::TimeVal| t.tv_sec() as f64 + t.tv_usec() as f64 * 1e-6;
    if !status.success() {
        return Err(format!("{program}: {status}"));
    }
    println!("{wall_s} {} {} {}", seconds(usage.user_time()), seconds(usage.system_time()), usage.max_rss());
    Ok(())
}

/// One run of `command`.
pub fn once(command: &[OsString], display: Option<&Xvfb>) -> Result<Sample, String> {
    let itself = std::env::current_exe().map_err(|e| e.to_string())?;
    let mut helper = Command::new("timeout");
    helper.args(["-k", "5", LIMIT_SECONDS]).arg(itself).args(["bench-peers", HELPER]).args(command);
    if let Some(display) = display {
        helper.env("DISPLAY", display.name());
    }
    let output = helper.stdin(Stdio::null()).output().map_err(|e| format!("timeout: {e}"))?;
    let text = String::from_utf8_lossy(&output.stdout);
    let numbers: Vec<f64> = text.split_whitespace().filter_map(|n| n.parse().ok()).collect();
    match numbers[..] {
        [wall_s, user_s, system_s, peak] if output.status.success() => {
            Ok(Sample { wall_s, user_s, system_s, peak_kib: peak as u64 })
        }
        _ => Err(format!("{}: {}", shown(command), last_lines(&output.stderr))),
    }
}

/// All sides in turn: one run each that does not count, then `runs` rounds, in alternating order.
pub fn interleaved(
    comparison: &Comparison,
    runs: usize,
    display: Option<&Xvfb>,
) -> Result<Vec<Vec<Sample>>, String> {
    let mut samples = vec![vec![]; comparison.sides.len()];
    for round in 0..=runs {
        let mut order: Vec<usize> = (0..comparison.sides.len()).collect();
        if round % 2 == 1 {
            order.reverse();
        }
        for i in order {
            let side = &comparison.sides[i];
            if let Some(written) = &side.writes {
                let _ = std::fs::remove_file(written);
            }
            let sample = once(&side.command, display).map_err(|e| format!("{}: {e}", comparison.name))?;
            eprintln!(
                "{} {}/{runs} {:<28} {:>9.3} s wall, {:>9.3} s CPU, {:>8} KiB",
                comparison.name,
                round,
                side.label,
                sample.wall_s,
                sample.cpu_s(),
                sample.peak_kib
            );
            if round > 0 {
                samples[i].push(sample);
            }
        }
    }
    comparison.sides.iter().filter_map(|s| s.writes.as_ref()).for_each(|written| {
        let _ = std::fs::remove_file(written);
    });
    Ok(samples)
}

/// The middle one; of an even number the mean of the two in the middle.
pub fn median(values: impl IntoIterator<Item = f64>) -> f64 {
    let mut sorted: Vec<f64> = values.into_iter().collect();
    sorted.sort_by(f64::total_cmp);
    match sorted.len() {
        0 => f64::NAN,
        n if n % 2 == 1 => sorted[n / 2],
        n => (sorted[n / 2 - 1] + sorted[n / 2]) / 2.0,
    }
}

/// A command line for people: programs and files by their names alone.
pub fn shown(command: &[OsString]) -> String {
    let name = |word: &OsStr| match Path::new(word).file_name() {
        Some(name) if Path::new(word).is_absolute() && word != "/dev/null" => {
            name.to_string_lossy().into_owned()
        }
        _ => word.to_string_lossy().into_owned(),
    };
    command.iter().map(|w| name(w)).collect::<Vec<_>>().join(" ")
}

/// The end of what a program said.
pub fn last_lines(bytes: &[u8]) -> String {
    let text = String::from_utf8_lossy(bytes);
    let lines: Vec<&str> = text.lines().collect();
    lines[lines.len().saturating_sub(5)..].join(" / ")
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn medians() {
        assert_eq!(median([3.0, 1.0, 2.0]), 2.0);
        assert_eq!(median([4.0, 1.0, 3.0, 2.0]), 2.5);
        assert!(median([]).is_nan());
    }

    #[test]
    fn commands_are_shown_without_folders() {
        let command = ["/usr/bin/x", "-o", "/dev/null", "/a/b.gfxr", "headless"].map(OsString::from);
        assert_eq!(shown(&command), "x -o /dev/null b.gfxr headless");
    }

    #[test]
    fn the_end_of_what_was_said() {
        assert_eq!(last_lines(b"1\n2\n3\n4\n5\n6\n"), "2 / 3 / 4 / 5 / 6");
        assert_eq!(last_lines(b""), "");
    }
}
