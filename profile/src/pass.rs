//! What a pass is: a rewrite of a shader, and the reader of what the rewritten shader writes.

use crate::{Needs, ProbeMap, Probes, ShaderHash};
use std::fmt;
use trace::Batch;

/// A rewrite that measures, and the reader of its measurements.
pub trait Pass: Sync {
    /// Its name on the command line.
    fn name(&self) -> &'static str;

    /// What the shaders that it leaves behind ask of a device.
    fn needs(&self) -> Needs;

    /// Rewrites one module and notes the probes it places. A module that has nothing to measure stays as it is.
    /// After an error the module is as it was, and the application's own is used.
    fn run(&self, shader: &mut Shader, probes: &mut Probes) -> Result<Change>;

    /// Turns the words that its probes wrote into records.
    fn decode(&self, raw: &[u32], probes: &ProbeMap, out: &mut dyn Sink) -> Result<()>;
}

/// A SPIR-V module on its way to the driver.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Shader {
    /// The hash of the module as the application made it, whatever passes have done since.
    pub hash: ShaderHash,
    /// The module as it is now.
    pub words: Vec<u32>,
}

/// What a pass did to a module.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Change {
    /// Nothing: the module has nothing that this pass measures.
    Unchanged,
    /// It rewrote the module.
    Changed,
}

/// Where decoded records go.
pub trait Sink {
    /// Takes the next records.
    fn put(&mut self, batch: Batch<'_>);
}

/// What a pass answers with.
pub type Result<T> = std::result::Result<T, Error>;

/// Why a pass could not do its work.
#[derive(Clone, Debug, PartialEq, Eq)]
#[non_exhaustive]
pub enum Error {
    /// The module is no valid SPIR-V, or uses what the pass does not know.
    Shader {
        /// The module.
        shader: ShaderHash,
        /// What is wrong with it.
        why: String,
    },
    /// What was read back is not what the pass's probes write.
    Record {
        /// Where in the words that were read.
        word_offset: usize,
        /// What is wrong there.
        why: String,
    },
}

impl fmt::Display for Error {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Error::Shader { shader, why } => {
                write!(f, "shader ")?;
                for byte in &shader.0[..8] {
                    write!(f, "{byte:02x}")?;
                }
                write!(f, ": {why}")
            }
            Error::Record { word_offset, why } => write!(f, "record at word {word_offset}: {why}"),
        }
    }
}

impl std::error::Error for Error {}

#[cfg(test)]
mod tests {
    use super::Error;
    use crate::ShaderHash;

    #[test]
    fn errors_say_where() {
        let error = Error::Shader { shader: ShaderHash([0xab; 32]), why: "no entry point".into() };
        assert_eq!(error.to_string(), "shader abababababababab: no entry point");
        let error = Error::Record { word_offset: 12, why: "probe 900 was never placed".into() };
        assert_eq!(error.to_string(), "record at word 12: probe 900 was never placed");
    }
}
