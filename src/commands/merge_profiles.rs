//! `merge-profiles`: counts of blocks of several runs, added up.
//!
//! Guarantees: a file appears whole or not at all. Refuses what does not add up (see `analyses::shaders::blocks`), traces of
//! different captures where a trace is to come out, and a folder that is there already.

use crate::cli::MergeProfilesArgs;
use crate::exit::{Exit, Failure};
use crate::input;
use crate::output::{Output, print};
use analyses::report::{counted, escape};
use analyses::shaders::blocks::merge::{MERGED, merge};
use analyses::shaders::blocks::profile::Profile;
use trace::dir::{Dir, Writer};
use trace::{ColumnData, Source, Value};

/// The pass that counts blocks.
const PASS: &str = "blocks";

/// Runs it.
pub fn run(args: &MergeProfilesArgs) -> Result<Exit, Failure> {
    match args.output.extension().and_then(|e| e.to_str()) {
        Some("proftext") => file(args, |p| p.text().into_bytes()),
        Some("blocks") => file(args, Profile::bytes),
        _ => folder(args),
    }
}

fn file(args: &MergeProfilesArgs, form: impl Fn(&Profile) -> Vec<u8>) -> Result<Exit, Failure> {
    let mut sum: Option<Profile> = None;
    for path in &args.inputs {
        let fail = |e: &dyn std::fmt::Display| Failure::new(format_args!("{}: {e}", path.display()));
        let profile = if path.is_dir() {
            Profile::of_trace(&input::trace(path, PASS)?, args.pass.as_deref()).map_err(|e| fail(&e))?
        } else {
            input::no_capture(path, PASS)?;
            let bytes = std::fs::read(path).map_err(|e| fail(&e))?;
            Profile::of_file(&bytes).map_err(|e| fail(&e))?
        };
        match &mut sum {
            None => sum = Some(profile),
            Some(sum) => sum.add(profile).map_err(|e| fail(&e))?,
        }
    }
    let sum = sum.ok_or_else(|| Failure::usage("there is nothing to add up"))?;
    if sum.functions.is_empty() {
        return Err(Failure::new(
            "no input has counts of blocks; record them with `profile --passes blocks`",
        ));
    }
    let mut out = Output::create(Some(&args.output))?;
    out.write(&form(&sum))?;
    out.finish()?;
    let runs = counted(args.inputs.len() as u64, "run");
    let functions = counted(sum.functions.len() as u64, "function");
    let said = format!("{}: {functions}, {runs}, {}", args.output.display(), sum.what);
    print((escape::line(&said).into_owned() + "\n").as_bytes())?;
    Ok(Exit::Done)
}

fn folder(args: &MergeProfilesArgs) -> Result<Exit, Failure> {
    if let Some(file) = args.inputs.iter().find(|i| !i.is_dir()) {
        input::no_capture(file, PASS)?;
        return Err(Failure::usage(format_args!(
            "{} is no trace; of profiles comes a profile: end the output's name in .proftext or .blocks",
            file.display()
        )));
    }
    if args.pass.is_some() {
        return Err(Failure::usage("--pass chooses what goes into a profile; a trace keeps every pass"));
    }
    if args.output.exists() {
        return Err(Failure::usage(format_args!("{} is there already", args.output.display())));
    }
    let traces: Vec<Dir> = args.inputs.iter().map(|p| input::trace(p, PASS)).collect::<Result<_, _>>()?;
    let first = traces[0].manifest().clone();
    if let Some(other) = traces.iter().find(|t| t.manifest().capture.blake3 != first.capture.blake3) {
        return Err(Failure::new(format_args!(
            "{}: the trace is of {}, the first one of {}; of different captures comes a profile: end the output's name in \
             .proftext or .blocks",
            other.folder().display(),
            other.manifest().capture.name,
            first.capture.name
        )));
    }
    let sources: Vec<&dyn Source> = traces.iter().map(|t| t as &dyn Source).collect();
    let merged = merge(&sources).map_err(Failure::new)?;
    let mut manifest = first;
    manifest.cost = None;
    manifest.other_costs.clear();
    manifest.tables.clear();
    manifest.notes.push(format!("Counts of blocks are the sums of {} traces.", traces.len()));
    manifest.frames = traces.iter().flat_map(|t| t.manifest().frames.clone()).collect();
    manifest.frames.sort_unstable();
    manifest.frames.dedup();
    let mut writer = Writer::create(&args.output, manifest).map_err(Failure::new)?;
    for table in MERGED {
        let rows = merged.read(table).map_err(Failure::new)?;
        for r in 0..rows.len() {
            let mut values: Vec<Value<'_>> = Vec::with_capacity(table.columns.len());
            for column in rows.columns() {
                values.push(match column {
                    ColumnData::U64(c) => Value::U64(c[r]),
                    ColumnData::F64(c) => Value::F64(c[r]),
                    ColumnData::Text(c) => Value::Text(&c[r]),
                });
            }
            writer.put(table, &values);
        }
    }
    let manifest = writer.finish().map_err(Failure::new)?;
    let rows: u64 = manifest.tables.iter().map(|t| t.rows).sum();
    let (traces, rows) = (counted(traces.len() as u64, "trace"), counted(rows, "row"));
    print(format!("{}: {traces}, {rows}\n", args.output.display()).as_bytes())?;
    Ok(Exit::Done)
}
