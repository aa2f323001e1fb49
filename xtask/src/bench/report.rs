//! The folder of a run: tables for people, every number for programs.
//!
//! Guarantees: medians with the least and the most beside them; a ratio stands beside what is asked of it. Refuses to
//! write into a folder that is there.

use std::fmt::Write as _;
use std::path::Path;

use serde_json::{Value, json};

use super::args::Args;
use super::callgrind::Profile;
use super::instructions::{self, Counted};
use super::machine::Machine;
use super::measure::{median, shown};
use super::peers::{Metric, Target};
use super::results::{Measured, Results};

/// How many functions of a side are written down.
const FUNCTIONS: usize = 200;
/// Object files that have less than this share of the instructions are one line.
const LEAST_SHARE: f64 = 0.002;

/// Writes everything.
pub fn write(args: &Args, machine: &Machine, results: &Results) -> Result<(), String> {
    let put = |name: &str, text: String| {
        let path = args.out.join(name);
        std::fs::write(&path, text).map_err(|e| format!("{}: {e}", path.display()))
    };
    std::fs::create_dir_all(&args.out).map_err(|e| format!("{}: {e}", args.out.display()))?;
    put("README.md", readme(args, machine, results))?;
    put("summary.json", format!("{:#}\n", summary(args, machine, results)))?;
    put("runs.csv", runs(results))?;
    if let Some(counted) = &results.instructions {
        put("objects.csv", objects(counted))?;
        put("functions.csv", functions(counted))?;
    }
    Ok(())
}

/// One line of the table of ratios.
struct Line {
    name: String,
    metric: String,
    peer: String,
    ours: String,
    ratio: f64,
    target: String,
    met: Option<bool>,
}

fn lines(results: &Results) -> Vec<Line> {
    let mut lines = vec![];
    for m in &results.measured {
        for side in 1..m.comparison.sides.len() {
            for &(metric, target) in &m.comparison.metrics {
                let ratio = target.ratio(middle(m, 0, metric), middle(m, side, metric));
                lines.push(Line {
                    name: m.comparison.sides[side].label.to_string() + suffix(m),
                    metric: metric.name().to_string(),
                    peer: spread(m, 0, metric),
                    ours: spread(m, side, metric),
                    ratio,
                    target: target.text(),
                    met: target.met(ratio),
                });
            }
        }
    }
    if let Some(counted) = &results.instructions {
        for (i, side) in counted.sides.iter().enumerate().skip(1) {
            let metrics = [
                ("own instructions a call", 1.0, 1.0),
                ("own instructions a call, without polling", 0.0, 1.0),
                ("the same without decompressing", 0.0, 0.0),
            ];
            for (metric, polling, decoding) in metrics {
                let (peer, ours) =
                    (per_call(counted, 0, polling, decoding), per_call(counted, i, polling, decoding));
                let ratio = ours / peer;
                let target = Target::AtMost(instructions::TARGET);
                lines.push(Line {
                    name: side.label.to_string(),
                    metric: metric.to_string(),
                    peer: format!("{peer:.0}"),
                    ours: format!("{ours:.0}"),
                    ratio,
                    target: target.text(),
                    met: target.met(ratio),
                });
            }
        }
    }
    lines
}

fn suffix(m: &Measured) -> &'static str {
    if m.comparison.name.ends_with("null") { " to /dev/null" } else { "" }
}

/// Instructions a call, in own object files and on their behalf; `polling` is 1 to count waiting loops, 0 not
/// to; likewise `decoding` for decompressing.
fn per_call(counted: &Counted, side: usize, polling: f64, decoding: f64) -> f64 {
    let p = &counted.sides[side].profile;
    let not_counted = p.polling * (1.0 - polling) + decompressing(p) * (1.0 - decoding);
    (p.own + p.for_own - not_counted) / counted.calls as f64
}

/// Instructions of the functions that decode LZ4, by their names.
fn decompressing(p: &Profile) -> f64 {
    let decodes = |name: &str| ["LZ4_decompress", "lz4::", "lz4_flex"].iter().any(|part| name.contains(part));
    p.functions.iter().filter(|f| decodes(&f.1)).fold(0.0, |sum, f| sum + f.2)
}

fn values(m: &Measured, side: usize, metric: Metric) -> impl Iterator<Item = f64> {
    m.samples[side].iter().map(move |s| metric.of(s))
}

fn middle(m: &Measured, side: usize, metric: Metric) -> f64 {
    median(values(m, side, metric))
}

/// Median, least and most.
fn spread(m: &Measured, side: usize, metric: Metric) -> String {
    let least = values(m, side, metric).fold(f64::INFINITY, f64::min);
    let most = values(m, side, metric).fold(0.0, f64::max);
    let digits = if metric == Metric::Peak { 1 } else { 3 };
    format!("{:.digits$} ({least:.digits$} – {most:.digits$})", middle(m, side, metric))
}

fn readme(args: &Args, machine: &Machine, results: &Results) -> String {
    let mut t = String::from("# Side by side with GFXReconstruct's tools\n\n");
    let lines = lines(results);
    let count = |met| lines.iter().filter(|l| l.met == Some(met)).count();
    let _ = writeln!(
        t,
        "How do dumping, asking and replaying compare with the peer's tools, on the same files and the same machine? \
         Of the ratios asked for, {} are met and {} are not.\n",
        count(true),
        count(false)
    );
    t += "## Machine\n\n| | |\n|---|---|\n";
    machine.iter().for_each(|(what, value)| {
        let _ = writeln!(t, "| {what} | {value} |");
    });
    let _ = write!(
        t,
        "\n## How\n\n`cargo xtask bench-peers --runs {}`. The sides of a comparison run in turn, in alternating order, \
         after one run each that does not count (files and the driver's shaders are cached). Wall time is from start to \
         exit; CPU time is user and kernel of all threads; peak memory is the largest resident set, all from the \
         system's account of one process.\n\n",
        args.runs
    );
    t += "| comparison | what it does | commands |\n|---|---|---|\n";
    for m in &results.measured {
        let commands: Vec<String> =
            m.comparison.sides.iter().map(|s| format!("`{}`", shown(&s.command))).collect();
        let _ = writeln!(t, "| {} | {} | {} |", m.comparison.name, m.comparison.what, commands.join("<br>"));
    }
    t += "\n## Result\n\nMedians, with the least and the most in brackets.\n\n";
    t += "| ours | measured | peer | ours | ratio | asked for | met |\n|---|---|--:|--:|--:|---|---|\n";
    for l in &lines {
        let met = l.met.map_or("–", |met| if met { "yes" } else { "**no**" });
        let _ = writeln!(
            t,
            "| {} | {} | {} | {} | {:.2} | {} | {met} |",
            l.name, l.metric, l.peer, l.ours, l.ratio, l.target
        );
    }
    if let Some(counted) = &results.instructions {
        instructions_part(&mut t, counted);
    }
    for (name, why) in &results.skipped {
        let _ = writeln!(t, "\nSkipped: {name}, {why}.");
    }
    t + CAVEATS
}

const CAVEATS: &str = "
## Cost and caveats

Measuring adds the start of one small process to each run, outside of what is timed. Absolute times of software Vulkan
say little; on one that is busy with other work (see the load above) they say less, and ratios of medians of
alternating runs are what is left. The peer's JSON and ours hold the same values in nearly the same shape; ours also
has each call's thread. The peer replays into a headless surface, ours makes none.
";

fn instructions_part(t: &mut String, counted: &Counted) {
    let _ = write!(
        t,
        "\n### Instructions\n\nCallgrind, {} ({} calls), by object file. \"For own\" is what \
         shared object files (libc, the allocator, decompressors) executed for the replayer: each function is divided \
         among its callers as the instructions below their calls are. The driver's part is the driver, LLVM, the code it \
         makes, the loader, and what shared files executed for them. \"Polling\" is what the own object file spent on \
         going round in loops that wait for the driver (all rounds but the first); it depends on how slow the driver is \
         under callgrind, and differs from run to run. \"Start\" is what the shorter window took of its own in all, \
         without polling.\n\n",
        counted.capture, counted.calls
    );
    *t +=
        "| | own object file | of that, polling | for own | both, decompressing | driver's part | start |\n";
    *t += "|---|--:|--:|--:|--:|--:|--:|\n";
    for side in &counted.sides {
        let p = &side.profile;
        let _ = writeln!(
            t,
            "| `{}` | {:.0} | {:.0} | {:.0} | {:.0} | {:.0} | {:.0} |",
            side.command,
            p.own,
            p.polling,
            p.for_own,
            decompressing(p),
            p.driver,
            side.start
        );
    }
    for side in &counted.sides {
        let total: u64 = side.profile.objects.iter().map(|o| o.1).sum();
        let _ = write!(t, "\n{}: ", side.label);
        let large: Vec<String> = side
            .profile
            .objects
            .iter()
            .filter(|(_, n)| *n as f64 >= total as f64 * LEAST_SHARE)
            .map(|(name, n)| format!("{} {:.1} M", file_name(name), *n as f64 / 1e6))
            .collect();
        let _ = writeln!(t, "{}.", large.join(", "));
    }
}

fn file_name(object: &str) -> &str {
    if object == "???" { "generated code" } else { object.rsplit('/').next().unwrap_or(object) }
}

fn runs(results: &Results) -> String {
    let mut t = String::from("comparison,side,run,wall_s,user_s,system_s,peak_kib\n");
    for m in &results.measured {
        for (side, samples) in m.comparison.sides.iter().zip(&m.samples) {
            for (i, s) in samples.iter().enumerate() {
                let _ = writeln!(
                    t,
                    "{},{},{},{:.6},{:.6},{:.6},{}",
                    m.comparison.name,
                    side.label,
                    i + 1,
                    s.wall_s,
                    s.user_s,
                    s.system_s,
                    s.peak_kib
                );
            }
        }
    }
    t
}

fn objects(counted: &Counted) -> String {
    let mut t = String::from("side,object,instructions\n");
    for side in &counted.sides {
        for (name, n) in &side.profile.objects {
            let _ = writeln!(t, "{},{},{n}", side.label, file_name(name));
        }
    }
    t
}

fn functions(counted: &Counted) -> String {
    let mut t = String::from("side,object,instructions,instructions_per_call,function\n");
    for side in &counted.sides {
        for (object, name, n) in side.profile.functions.iter().take(FUNCTIONS).filter(|f| f.2 >= 1.0) {
            let (object, name) = (file_name(object), name.replace('"', "'"));
            let _ = writeln!(t, "{},{object},{n:.0},{:.1},\"{name}\"", side.label, n / counted.calls as f64);
        }
    }
    t
}

fn summary(args: &Args, machine: &Machine, results: &Results) -> Value {
    let machine: serde_json::Map<String, Value> =
        machine.iter().map(|(k, v)| (k.clone(), json!(v))).collect();
    let comparisons: Vec<Value> = results
        .measured
        .iter()
        .map(|m| {
            let sides: Vec<Value> = m
                .comparison
                .sides
                .iter()
                .enumerate()
                .map(|(i, side)| {
                    json!({
                        "side": side.label, "command": shown(&side.command),
                        "wall_s": middle(m, i, Metric::Wall), "cpu_s": middle(m, i, Metric::Cpu),
                        "peak_mib": middle(m, i, Metric::Peak),
                    })
                })
                .collect();
            json!({ "name": m.comparison.name, "capture": file_name(&path_text(&m.comparison.capture)), "medians": sides })
        })
        .collect();
    let ratios: Vec<Value> = lines(results)
        .iter()
        .map(|l| json!({ "ours": l.name, "measured": l.metric, "ratio": l.ratio, "asked_for": l.target, "met": l.met }))
        .collect();
    let instructions = results.instructions.as_ref().map(|c| {
        let side = |s: &instructions::Side| {
            json!({ "side": s.label, "own": s.profile.own, "polling": s.profile.polling,
                "for_own": s.profile.for_own, "decompressing": decompressing(&s.profile),
                "driver": s.profile.driver, "start": s.start })
        };
        json!({ "capture": c.capture, "calls": c.calls, "sides": c.sides.iter().map(side).collect::<Vec<_>>() })
    });
    json!({
        "schema_version": 1, "runs": args.runs, "machine": machine, "comparisons": comparisons, "ratios": ratios,
        "instructions": instructions,
        "skipped": results.skipped.iter().map(|(n, w)| json!({ "name": n, "why": w })).collect::<Vec<_>>(),
    })
}

fn path_text(path: &Path) -> String {
    path.to_string_lossy().into_owned()
}

#[cfg(test)]
mod tests {
    use super::super::peers;
    use super::super::sample::Sample;
    use super::*;

    #[test]
    fn a_table_of_ratios() {
        let args = Args {
            captures: "c".into(),
            replayer: "reray-replay".into(),
            runs: 1,
            only: vec![],
            out: "o".into(),
            scratch: "s".into(),
        };
        let sample = |wall_s| Sample { wall_s, user_s: 1.0, system_s: 0.5, peak_kib: 2048 };
        let comparison = peers::all(&args).swap_remove(0);
        let samples = vec![vec![sample(6.0)], vec![sample(1.0)]];
        let skipped = vec![("replay".to_string(), "Xvfb is not here".to_string())];
        let results =
            Results { measured: vec![Measured { comparison, samples }], instructions: None, skipped };
        let text = readme(&args, &vec![("processor".into(), "one".into())], &results);
        let row = "| dump | wall, s | 6.000 (6.000 – 6.000) | 1.000 (1.000 – 1.000) | 6.00 | peer / ours ≥ 5 | yes |";
        assert!(text.contains(row), "{text}");
        assert!(text.contains(
            "| dump | peak memory, MiB | 2.0 (2.0 – 2.0) | 2.0 (2.0 – 2.0) | 1.00 | ours / peer | – |"
        ));
        assert!(text.contains("Skipped: replay, Xvfb is not here."));
        assert!(runs(&results).contains("dump,gfxrecon-convert,1,6.000000,1.000000,0.500000,2048\n"));
        assert_eq!(summary(&args, &vec![], &results)["ratios"][0]["ratio"], 6.0);
    }
}
