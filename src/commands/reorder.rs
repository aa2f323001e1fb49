//! `rays reorder`: what shader execution reordering would gain, simulated for what the command line says.
//!
//! Guarantees: equal traces and options give equal output. Refuses traces without rays.

use crate::cli::ReorderArgs;
use crate::exit::{Exit, Failure, columns};
use crate::{input, output};
use analyses::context::Context;
use analyses::rays::events::{Wants, read};
use analyses::rays::reorder::{Grid, report};
use analyses::report::{Cost, json, text};

/// Runs it.
pub fn run(args: &ReorderArgs) -> Result<Exit, Failure> {
    let dir = input::trace(&args.trace, "rays")?;
    let context = Context::read(&dir).map_err(Failure::new)?;
    let events = read(&dir, &context, Wants { places: true, ticks: false }).map_err(Failure::new)?;
    if events.is_empty() {
        return Err(super::rays::none(&dir));
    }
    let windows = args.window.iter().map(|w| w.0).collect();
    let mut report = report(&events, &Grid { windows, hints: args.hints.clone(), cells: args.cell.clone() });
    report.cost = Cost::Nothing { why: "it is derived from a trace".into() };
    let text = if args.json { json::render(&report) } else { text::render_within(&report, columns()) };
    output::print(text.as_bytes())?;
    Ok(Exit::Done)
}
