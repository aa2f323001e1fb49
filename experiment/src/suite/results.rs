//! A suite's results, as a folder or one file, and where they are noted while they are made.

use crate::failure::Failure;
use crate::files::archive::Place;
use crate::files::output::write_file;
use std::path::Path;
use trace::run::RUN_FILE;
use trace::suite::{SUITE_FILE, SuiteNote};

/// Results to read.
pub struct Results {
    /// Where they are.
    pub place: Place,
    /// What they are of.
    pub note: SuiteNote,
}

/// Opens what `suite run` or `suite merge` left.
pub fn open(path: &Path) -> Result<Results, Failure> {
    let place = Place::open(path, &[SUITE_FILE, RUN_FILE])?;
    if !place.has(Path::new(SUITE_FILE)) {
        let text = match place.has(Path::new(RUN_FILE)) {
            true => {
                "a run of `bench`, and no suite's results; `reray-replay compare` compares runs".to_owned()
            }
            false => {
                format!("there is no {SUITE_FILE}; name what `reray-replay suite run` or `suite merge` wrote")
            }
        };
        return Err(Failure::new(format_args!("{}: {text}", path.display())));
    }
    let bytes = place.read(Path::new(SUITE_FILE))?;
    let note = SuiteNote::parse((*bytes).as_ref(), &path.join(SUITE_FILE)).map_err(Failure::new)?;
    Ok(Results { place, note })
}

/// Writes `suite.json`, whole or not at all.
pub fn write(note: &SuiteNote, folder: &Path) -> Result<(), Failure> {
    write_file(&folder.join(SUITE_FILE), note.render().as_bytes())
}
