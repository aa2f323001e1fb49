//! Maps of the frame under several plans, side by side: how long each invocation of ray generation shaders takes, and on which
//! multiprocessor it runs (Cheung, §3.7.4: Figures 3.15 to 3.20). By pass `shader-clock`, in replays of their own.
//!
//! ```text
//! clocks/PLAN/                      the traces
//! maps/MAP_frameF_launchL.png       all plans by one scale: shader_clock, sm, sm_first, moved, ...
//! maps/PLAN/                        each plan's maps by themselves, as pictures and as .npy
//! ```
//!
//! Guarantees: plans are in the order of the report; a plan whose launches are not the first one's is an error.

pub use crate::bench::plain;
use crate::bench::{Prepared, Settings, traces::recorded};
use crate::failure::Failure;
use crate::files::mmap;
use crate::files::output::write_file;
use crate::progress;
use analyses::rays::shader_clock::{Launch, QUESTION, panels, read};
use analyses::report::{Cell, Image, Table, Unit, png};
use analyses::times::bench::{CLOCKS, UNMODIFIED};
use std::path::Path;
use trace::dir::Dir;
use trace::plan::{Plan, Use};
use trace::run::Run;

/// Percent of a plan's values that the scale of times reaches to, so that few slow invocations do not make all others dark.
const MOST: usize = 99;

/// Records and draws, of the application's own shaders and of each plan with passes of its own; the table of all, and what is to be
/// said.
pub fn maps(
    settings: &Settings,
    frame: u64,
    run: &Run,
    prepared: &[Prepared],
    to: &Path,
) -> Result<(Table, Vec<String>), Failure> {
    let mut notes = Vec::new();
    let mut plans: Vec<(String, Vec<Launch>)> = Vec::new();
    let drawn = |(plan, _): &(&Plan, &Prepared)| plan.name == UNMODIFIED || !plan.passes.is_empty();
    for (plan, prepared) in run.note.plans.iter().zip(prepared).filter(drawn) {
        let name = &plan.name;
        progress::step(&format!("drawing maps: {name}"));
        let folder = to.join("clocks").join(plain(name));
        let mut passes = prepared.passes.0.clone();
        passes.push(Use::new("shader-clock", [""; 0]));
        let probes = format!("of pass shader-clock (plan {name})");
        let file = &settings.captures[0];
        notes.extend(recorded(settings, file, &passes, (frame, frame), &folder, &probes)?);
        let dir = Dir::open_with(&folder, mmap::open_plain).map_err(Failure::new)?;
        let report = QUESTION.answer(&dir).map_err(Failure::new)?;
        let own = to.join("maps").join(plain(name));
        std::fs::create_dir_all(&own).map_err(|e| Failure::new(format_args!("{}: {e}", own.display())))?;
        for image in &report.images {
            let file = own.join(format!("{}.png", image.name));
            write_file(&file, &png::render(image).map_err(Failure::new)?)?;
        }
        for file in &report.files {
            write_file(&own.join(&file.name), &file.content)?;
        }
        notes.extend(report.notes.into_iter().map(|n| format!("Maps of {name}: {n}")));
        plans.push((name.clone(), read(&dir).map_err(Failure::new)?));
    }
    side_by_side(&plans, to)?;
    notes.push(format!(
        "Maps are drawn by one scale for all plans; that of times ends at the {MOST} % of the slowest plan's invocations."
    ));
    let row = |name: &str, l: &Launch| -> Vec<Cell> {
        [name.into(), Cell::Count(l.launch)].into_iter().chain(l.row()).collect()
    };
    let rows = plans.iter().flat_map(|(name, launches)| launches.iter().map(|l| row(name, l)));
    Ok((CLOCKS.table(rows), notes))
}

/// Each map of each launch, of all plans.
fn side_by_side(plans: &[(String, Vec<Launch>)], to: &Path) -> Result<(), Failure> {
    let Some((_, first)) = plans.first() else { return Ok(()) };
    for (n, launch) in first.iter().enumerate() {
        let images = |l: &Launch| -> Vec<Image> {
            l.maps().into_iter().map(|(name, value, pixels)| l.image(name, value, pixels)).collect()
        };
        let mut all: Vec<(&str, Vec<Image>)> = vec![];
        for (name, launches) in plans {
            match launches.get(n).filter(|l| (l.launch, l.size) == (launch.launch, launch.size)) {
                Some(l) => all.push((name, images(l))),
                None => {
                    let text =
                        format!("plan {name}: {} left no times, or is of another size", launch.words());
                    return Err(Failure::new(text));
                }
            }
        }
        for (m, map) in all[0].1.iter().enumerate() {
            let row: Vec<(String, &Image)> =
                all.iter().filter_map(|(name, images)| Some(((*name).to_owned(), images.get(m)?))).collect();
            let most = if map.value.unit == Unit::Cycles { MOST } else { 100 };
            let png = panels(&map.title, &row, most).map_err(Failure::new)?;
            write_file(&to.join("maps").join(format!("{}.png", map.name)), &png)?;
        }
    }
    Ok(())
}
