//! A picture's file.

use crate::cli::ScreenshotArgs;
use crate::exit::Failure;
use crate::output;
use experiment::shots::encode;
use profile::hooks::screenshot::Shot;
use std::fmt::Display;

/// Encodes, writes to this file of the folder, says so, with the hash where there is one to be said.
pub fn write(
    args: &ScreenshotArgs,
    file: &str,
    shot: &Shot,
    hash: Option<impl Display>,
) -> Result<(), Failure> {
    let path = args.output.join(file);
    let png = encode(shot, args.alpha).map_err(|e| Failure::new(format_args!("{}: {e}", path.display())))?;
    output::write_file(&path, &png)?;
    let hash = hash.map_or(String::new(), |hash| format!("{hash}  "));
    output::print(format!("{hash}{}\n", path.display()).as_bytes())
}
