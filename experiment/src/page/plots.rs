//! The page's plots as files: `INPUT.ANALYSIS.NAME.svg` and `.png`.
//!
//! Guarantees: a file is there whole or not at all; the same reports give the same bytes. What is too large to be drawn is said
//! on stderr.

use crate::failure::Failure;
use crate::files::output::{self, write_file};
use crate::say::complain;
use analyses::report::html::Input;
use analyses::report::{Report, plot, png};
use std::collections::HashSet;
use std::path::Path;

/// Writes all of them; how many figures there are.
pub fn write(folder: &Path, inputs: &[Input]) -> Result<usize, Failure> {
    output::folder(folder)?;
    let mut names = HashSet::new();
    let mut count = 0;
    for input in inputs {
        for (report, _) in &input.reports {
            let stem = |name: &str| {
                let parts = if inputs.len() > 1 { vec![&*input.name] } else { vec![] };
                let parts = parts.into_iter().chain([&*report.analysis, name]).map(plain);
                parts.collect::<Vec<_>>().join(".")
            };
            count += of_report(folder, report, stem, &mut names)?;
        }
    }
    Ok(count)
}

/// Writes those of a report, by the beginnings of their files' names, of which some are `taken`; how many there are.
pub fn of_report(
    folder: &Path,
    report: &Report,
    stem: impl Fn(&str) -> String,
    taken: &mut HashSet<String>,
) -> Result<usize, Failure> {
    let mut stem = |name: &str| {
        let first = stem(name);
        let mut stem = first.clone();
        for n in 2.. {
            if taken.insert(stem.clone()) {
                break;
            }
            stem = format!("{first}.{n}");
        }
        stem
    };
    let put =
        |stem: &str, ending: &str, bytes: &[u8]| write_file(&folder.join(format!("{stem}.{ending}")), bytes);
    let mut count = 0;
    for (name, figure) in plot::figures(report) {
        let stem = stem(&name);
        put(&stem, "svg", figure.svg().as_bytes())?;
        match figure.png() {
            Ok(bytes) => put(&stem, "png", &bytes)?,
            Err(e) => complain(format_args!("{stem}.png: {e}")),
        }
        count += 1;
    }
    for image in &report.images {
        match png::render(image) {
            Ok(bytes) => put(&stem(&image.name), "png", &bytes)?,
            Err(e) => complain(format_args!("{}: {e}; it was not drawn", report.analysis)),
        }
        count += 1;
    }
    Ok(count)
}

/// A name that can be a file's.
pub fn plain(name: &str) -> String {
    name.chars().map(|c| if c.is_ascii_alphanumeric() || "-_".contains(c) { c } else { '_' }).collect()
}
