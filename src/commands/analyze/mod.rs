//! `reray-replay analyze DIR [QUESTION…]`: answers questions to a trace, and writes its tables as they are.
//!
//! Guarantees: a question that cannot be answered does not keep others from it, and makes the exit code 1; a check that
//! fails in an answer makes it 5; a trace that
//! broke off is read as far as it goes, and stderr says so. Refuses names that it does not know.

mod list;
mod out;

use crate::cli::{AnalyzeArgs, AnalyzeFormat};
use crate::exit::{Exit, Failure, columns, complain, note};
use crate::input;
use crate::output;
use analyses::report::{Report, csv, escape, json, png, records, text};
use experiment::questions::{answers, chosen};
use out::Target;
use serde::Serialize;
use trace::dir::{Dir, Manifest};
use trace::tables::TABLES;
use trace::{Source, Table};

/// Runs the sub-command.
pub fn run(args: &AnalyzeArgs) -> Result<Exit, Failure> {
    let dir = match &args.trace {
        Some(path) => Some(input::trace(path, "simt")?),
        None => None,
    };
    let target = Target::new(args.output.as_deref());
    if args.list {
        let list = list::render(dir.as_ref(), args.format.unwrap_or(AnalyzeFormat::Text))?;
        target.write("list.txt", list.as_bytes())?;
        return Ok(Exit::Done);
    }
    let Some(dir) = dir else { return Err(Failure::usage("name a trace")) };
    if args.tables || !args.table.is_empty() {
        let tables = if args.tables { present(&dir) } else { named(&dir, &args.table)? };
        let format = args.format.unwrap_or(AnalyzeFormat::Csv);
        tables.into_iter().try_for_each(|t| write_table(&dir, t, format, &target))?;
        return Ok(Exit::Done);
    }
    let format = args.format.unwrap_or(AnalyzeFormat::Text);
    if format == AnalyzeFormat::Parquet && args.questions.is_empty() {
        present(&dir).into_iter().try_for_each(|t| write_table(&dir, t, format, &target))?;
    }
    let mut exit = Exit::Done;
    let mut reports = vec![];
    let questions = chosen(&dir, &args.questions)?;
    let answers = answers(&dir, &questions);
    for (question, answer) in questions.iter().zip(answers) {
        match answer {
            Ok(report) => {
                for failure in &report.failures {
                    complain(format_args!("{}: check failed: {failure}", question.name));
                    exit = Exit::Diverged;
                }
                reports.push(report);
            }
            Err(e) => {
                complain(format_args!("{}: {e}", question.name));
                exit = Exit::Failed;
            }
        }
    }
    write_reports(&dir, &reports, format, &target)?;
    Ok(exit)
}

/// Every table of the trace that this program knows.
fn present(dir: &Dir) -> Vec<&'static Table> {
    TABLES.iter().copied().filter(|t| dir.rows(t).is_some()).collect()
}

fn named(dir: &Dir, names: &[String]) -> Result<Vec<&'static Table>, Failure> {
    let find = |name: &String| {
        let table = TABLES.iter().copied().find(|t| t.name == name);
        table.ok_or_else(|| {
            let here: Vec<&str> = present(dir).iter().map(|t| t.name).collect();
            Failure::usage(format_args!("there is no table {name:?}; the trace has {}", here.join(", ")))
        })
    };
    names.iter().map(find).collect()
}

fn write_table(
    dir: &Dir,
    table: &'static Table,
    format: AnalyzeFormat,
    target: &Target,
) -> Result<(), Failure> {
    if format == AnalyzeFormat::Parquet {
        return parquet(target, &format!("{}.parquet", table.name), |out| {
            analyses_parquet::records(dir, table, out)
        });
    }
    let (ending, head, rows): (_, _, fn(&trace::Columns) -> String) = match format {
        AnalyzeFormat::Json => ("jsonl", String::new(), records::jsonl),
        _ => ("csv", records::csv_header(table), records::csv),
    };
    let mut out = target.open(&format!("{}.{ending}", table.name))?;
    out.write(head.as_bytes())?;
    let mut failed = None;
    let read = dir.each(table, &mut |columns| {
        failed = out.write(rows(columns).as_bytes()).err();
        // (a failed write ends the reading; `failed` has it; as does one that nobody reads)
        if failed.is_some() || out.unread() { Err(trace::Unreadable(String::new())) } else { Ok(()) }
    });
    if let Some(failure) = failed {
        return Err(failure);
    }
    if !out.unread() {
        read.map_err(Failure::new)?;
    }
    out.finish()
}

/// Everything as one JSON object.
#[derive(Serialize)]
struct All<'a> {
    schema_version: u32,
    trace: &'a Manifest,
    reports: &'a [Report],
}

fn write_reports(
    dir: &Dir,
    reports: &[Report],
    format: AnalyzeFormat,
    target: &Target,
) -> Result<(), Failure> {
    match format {
        AnalyzeFormat::Text if target.is_folder() => {
            reports
                .iter()
                .try_for_each(|r| target.write(&format!("{}.txt", r.analysis), render(r, true).as_bytes()))?;
        }
        AnalyzeFormat::Text => {
            let all: Vec<String> =
                std::iter::once(head(dir)).chain(reports.iter().map(|r| render(r, false))).collect();
            target.write("", all.join("\n").as_bytes())?;
        }
        AnalyzeFormat::Json if target.is_folder() => {
            let one = |r: &Report| target.write(&format!("{}.json", r.analysis), json::render(r).as_bytes());
            reports.iter().try_for_each(one)?;
        }
        AnalyzeFormat::Json => {
            let all = All { schema_version: 1, trace: dir.manifest(), reports };
            target.write("", output::json(&all)?.as_bytes())?;
        }
        AnalyzeFormat::Csv => write_csv(reports, target)?,
        AnalyzeFormat::Parquet => {
            for r in reports {
                for sheet in r.sheets() {
                    let name = format!("{}.{}.parquet", r.analysis, sheet.name);
                    parquet(target, &name, |out| {
                        analyses_parquet::table(&r.analysis, &sheet, &r.title, out)
                    })?;
                }
                for image in &r.images {
                    let name = format!("{}.{}.parquet", r.analysis, image.name);
                    parquet(target, &name, |out| analyses_parquet::image(image, out))?;
                }
            }
        }
    }
    if target.is_folder() { reports.iter().try_for_each(|r| write_files(r, target)) } else { Ok(()) }
}

/// Names of files that a report has only in a folder, that are said without one.
const NAMED: usize = 6;

/// What the trace is of, and what a reader has to know.
fn head(dir: &Dir) -> String {
    let m = dir.manifest();
    let list = |names: Vec<String>| if names.is_empty() { "none".to_owned() } else { names.join(", ") };
    let frames = match (m.frames.first(), m.frames.last()) {
        (Some(a), Some(b)) if m.frames.len() > 1 => format!("{} frames from {a} to {b}", m.frames.len()),
        (Some(a), _) => format!("frame {a}"),
        _ => "no frame".to_owned(),
    };
    let passes = list(m.passes.iter().map(|p| p.name.clone()).collect());
    // (what was followed without a device has none)
    let device = if m.device.name.is_empty() { String::new() } else { format!(" on {}", m.device.name) };
    let of = format!("{}{device}: {frames}; passes: {passes}", m.capture.name);
    let all = std::iter::once(&of).chain(&m.notes);
    all.map(|text| text::wrapped(&escape::line(text), columns(), 0) + "\n").collect()
}

fn render(report: &Report, with_files: bool) -> String {
    let mut out = text::render_within(report, columns());
    let images = report.images.iter().map(|i| format!("{}.{}.png", report.analysis, i.name));
    let others: Vec<String> = images.chain(report.files.iter().map(|f| f.name.clone())).collect();
    if !others.is_empty() && !with_files {
        // (those of many frames or shaders are alike)
        let (some, more) = others.split_at(others.len().min(NAMED));
        let more = if more.is_empty() { String::new() } else { format!(" and {} more", more.len()) };
        let also = format!("With -o FOLDER also: {}{more}.", escape::line(&some.join(", ")));
        out += &format!("\n{}\n", text::wrapped(&also, columns(), 0));
        for f in report.files.iter().filter(|f| f.name.ends_with(".perfetto.json")) {
            out.push_str(&format!("{}.\n", escape::line(&format!("{}: {}", f.name, f.about))));
        }
    }
    out
}

fn write_csv(reports: &[Report], target: &Target) -> Result<(), Failure> {
    let sheets: Vec<_> = reports.iter().flat_map(|r| r.sheets().into_iter().map(move |s| (r, s))).collect();
    if !target.is_folder() {
        // (of one report the first table is the answer; the rest wants files of its own)
        let [(_, sheet), rest @ ..] = &sheets[..] else { return Ok(()) };
        if reports.len() > 1 {
            return Err(Failure::usage(
                "CSV holds one table: name one question, or a folder with -o for a file a table",
            ));
        }
        if !rest.is_empty() {
            let names: Vec<&str> = rest.iter().map(|s| s.1.name.as_str()).collect();
            note(format_args!("note: left out without -o FOLDER: {}", names.join(", ")));
        }
        return target.write("", csv::render(sheet).as_bytes());
    }
    sheets.iter().try_for_each(|(r, sheet)| {
        target.write(&format!("{}.{}.csv", r.analysis, sheet.name), csv::render(sheet).as_bytes())
    })
}

/// Pictures, and whatever else a question writes.
fn write_files(report: &Report, target: &Target) -> Result<(), Failure> {
    for image in &report.images {
        match png::render(image) {
            Ok(bytes) => target.write(&format!("{}.{}.png", report.analysis, image.name), &bytes)?,
            Err(why) => complain(format_args!("{}: {why}; it was not drawn", report.analysis)),
        }
    }
    report.files.iter().try_for_each(|f| target.write(&f.name, &f.content))
}

#[cfg(feature = "parquet")]
use analyses::report::parquet as analyses_parquet;

/// Writes one Parquet file.
#[cfg(feature = "parquet")]
fn parquet(
    target: &Target,
    name: &str,
    write: impl FnOnce(&mut out::Stream) -> Result<(), analyses_parquet::Failed>,
) -> Result<(), Failure> {
    use analyses_parquet::Failed;
    if target.is_stdout() {
        return Err(Failure::usage("Parquet is not for terminals: name a folder with -o"));
    }
    let mut out = out::Stream(target.open(name)?, None);
    let written = write(&mut out);
    let out::Stream(out, failed) = out;
    match (failed, written) {
        (Some(failure), _) => Err(failure),
        (None, Err(Failed::Read(e))) => Err(Failure::new(e)),
        (None, Err(Failed::Write(e))) => Err(Failure::new(format_args!("{name}: {e}"))),
        (None, Ok(())) => out.finish(),
    }
}

/// What stands for the exporter in a build without it.
#[cfg(not(feature = "parquet"))]
mod analyses_parquet {
    use analyses::report;

    pub fn records(_: &trace::dir::Dir, _: &trace::Table, (): &mut ()) {}
    pub fn table(_: &str, _: &report::Table, _: &str, (): &mut ()) {}
    pub fn image(_: &report::Image, (): &mut ()) {}
}

/// Says that this build has no Parquet.
#[cfg(not(feature = "parquet"))]
fn parquet(_: &Target, _: &str, _: impl FnOnce(&mut ())) -> Result<(), Failure> {
    Err(Failure::usage("this program was built without its feature `parquet`; choose text, json or csv"))
}
