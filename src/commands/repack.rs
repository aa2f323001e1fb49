//! `rays repack`: swizzles from a trace's rays.
//!
//! Guarantees: every swizzle is a permutation of its launch; equal traces, methods, tiles and seeds give equal files; a file
//! appears whole or not at all. Refuses methods that it does not know, and traces without rays.

use crate::cli::RepackArgs;
use crate::exit::{Exit, Failure, columns};
use crate::input;
use crate::output::{self, Output};
use analyses::context::Context;
use analyses::rays::events::{Wants, read};
use analyses::rays::repack::{METHODS, Method, Options, Swizzle, by_name, report, rows};
use analyses::report::{json, text};
use std::path::Path;

/// Runs it.
pub fn run(args: &RepackArgs) -> Result<Exit, Failure> {
    let methods = methods(&args.method)?;
    let dir = input::trace(&args.trace, "rays")?;
    let context = Context::read(&dir).map_err(Failure::new)?;
    let events = read(&dir, &context, Wants::default()).map_err(Failure::new)?;
    if events.is_empty() {
        return Err(super::rays::none(&dir));
    }
    if let Some(folder) = &args.output {
        crate::output::folder(folder)?;
    }
    let mut failed = None;
    let options = Options { tile: args.tile, seed: args.seed };
    let rows = rows(&events, &options, &methods, &mut |swizzle| {
        if let Some(folder) = args.output.as_deref().filter(|_| failed.is_none()) {
            failed = write(folder, &swizzle).err();
        }
    });
    if let Some(failure) = failed {
        return Err(failure);
    }
    let mut report = report(rows);
    report.cost = analyses::report::Cost::Nothing { why: "it is derived from a trace".into() };
    let text = if args.json { json::render(&report) } else { text::render_within(&report, columns()) };
    output::print(text.as_bytes())?;
    Ok(Exit::Done)
}

/// The methods of these names, or all.
pub fn methods(names: &[String]) -> Result<Vec<&'static dyn Method>, Failure> {
    if names.is_empty() {
        return Ok(METHODS.to_vec());
    }
    let known = || METHODS.iter().map(|m| m.name()).collect::<Vec<_>>().join(", ");
    let find = |name: &String| {
        by_name(name)
            .ok_or_else(|| Failure::usage(format_args!("there is no method {name}; there are {}", known())))
    };
    names.iter().map(find).collect()
}

fn write(folder: &Path, swizzle: &Swizzle) -> Result<(), Failure> {
    let stem = format!("{}_frame{}_launch{}", swizzle.method, swizzle.frame, swizzle.launch);
    for (ending, bytes) in [("npy", swizzle.npy()), ("swizzle", swizzle.bytes())] {
        let mut out = Output::create(Some(&folder.join(format!("{stem}.{ending}"))))?;
        out.write(&bytes)?;
        out.finish()?;
    }
    Ok(())
}
