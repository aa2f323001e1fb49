//! What passes that change shaders for what was seen of them are given on the command line: folders of traces, and the frames
//! that count.
//!
//! Guarantees: a folder that is no trace is refused, with what is wrong. Without a folder nothing is known, and the pass leaves
//! every shader as it is.

use crate::ShaderHash;
use crate::rewrite::Shader;
use std::path::Path;
use trace::dir::Dir;

/// An entry point of a module: the module's hash as traces have it, the stage, the name.
pub type Entry = (String, String, String);

/// The one that a pass is given.
pub fn entry(shader: &Shader) -> Entry {
    of(&shader.hash, shader.stage.name(), &shader.entry.name)
}

/// The same of its parts.
pub fn of(hash: &ShaderHash, stage: &str, name: &str) -> Entry {
    (hash.to_string(), stage.to_owned(), name.to_owned())
}

/// A module's hash, by the digits that all traces have.
pub fn digits(hash: &str) -> String {
    hash.chars().take(16).collect()
}

/// What was given.
#[derive(Default)]
pub struct Given {
    /// The traces.
    pub traces: Vec<Dir>,
    /// The folders, as they were written.
    pub folders: Vec<String>,
    /// First and last frame that count; all where it does not say.
    pub frames: Option<(u64, u64)>,
    /// Options of the pass's own.
    pub own: Vec<(String, String)>,
}

impl Given {
    /// Reads options with plus signs between: folders, `frames=A-B`, and those with names that the pass knows.
    pub fn read(pass: &str, options: &str, names: &[&str]) -> Result<Given, String> {
        let mut given = Given::default();
        for option in options.split('+').filter(|o| !o.is_empty()) {
            match option.split_once('=') {
                Some(("frames", range)) => {
                    let (a, b) = range.split_once('-').unwrap_or((range, range));
                    let range = a.parse().ok().zip(b.parse().ok()).filter(|(a, b): &(u64, u64)| a <= b);
                    given.frames =
                        Some(range.ok_or_else(|| format!("frames={b}: say frames=4 or frames=4-9"))?);
                }
                Some((name, value)) if names.contains(&name) => {
                    given.own.push((name.to_owned(), value.to_owned()));
                }
                Some((name, _)) if !Path::new(option).exists() => {
                    let known = ["frames"].iter().chain(names).copied().collect::<Vec<_>>().join(", ");
                    return Err(format!(
                        "pass {pass} has no option {name:?}; it has {known}, and folders of traces"
                    ));
                }
                _ => {
                    given.traces.push(Dir::open(Path::new(option)).map_err(|e| format!("pass {pass}: {e}"))?);
                    given.folders.push(option.to_owned());
                }
            }
        }
        Ok(given)
    }

    /// Whether one of the traces was made with this pass: then what it has no rows of was not there.
    pub fn recorded(&self, pass: &str) -> bool {
        self.traces.iter().any(|t| t.manifest().passes.iter().any(|p| p.name == pass))
    }

    /// Whether a frame counts.
    pub fn wants(&self, frame: u64) -> bool {
        self.frames.is_none_or(|(a, b)| (a..=b).contains(&frame))
    }
}
