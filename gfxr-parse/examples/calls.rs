//! `calls FILE.gfxr [NAME]`: the calls of a capture, or those of one name, a line each: block, frame, thread, name.
//!
//! Guarantees: lines come in the order of the file. Refuses captures that cannot be read; of one that is cut off everything before
//! the cut is printed, and then why it ends.

use gfxr_parse::ahead::{What, run};
use gfxr_parse::container::{Capture, read_file};
use std::io::Write;
use std::ops::ControlFlow;
use std::path::Path;
use std::process::ExitCode;

fn main() -> ExitCode {
    let mut arguments = std::env::args().skip(1);
    let (Some(file), name) = (arguments.next(), arguments.next()) else {
        eprintln!("calls FILE.gfxr [NAME]");
        return ExitCode::from(2);
    };
    let capture = match Capture::open(Path::new(&file), read_file) {
        Ok(capture) => capture,
        Err(e) => {
            eprintln!("calls: {file}: {e}");
            return ExitCode::FAILURE;
        }
    };
    let mut out = std::io::stdout().lock();
    let wrong = run(&capture, |item| match &item.what {
        What::Call(call) => {
            if name.as_deref().is_none_or(|name| name == call.command.name) {
                let line =
                    writeln!(out, "{}\t{}\t{}\t{}", call.block, call.frame, call.thread, call.command.name);
                // (nobody reads on)
                if line.is_err() {
                    return ControlFlow::Break(None);
                }
            }
            ControlFlow::Continue(())
        }
        What::Bad(e) | What::CutOff(e) => ControlFlow::Break(Some(format!("block {}: {e}", item.block))),
        _ => ControlFlow::Continue(()),
    });
    match wrong {
        None | Some(None) => ExitCode::SUCCESS,
        Some(Some(why)) => {
            eprintln!("calls: {file}: {why}");
            ExitCode::FAILURE
        }
    }
}
