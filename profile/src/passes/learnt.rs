//! What passes that change shaders for what was seen of them are given on the command line: folders of traces, and the frames
//! that count.
//!
//! Guarantees: a folder that is no trace is refused, with what is wrong. Without a folder nothing is known, and the pass leaves
//! every shader as it is.

use crate::ShaderHash;
use crate::rewrite::Shader;
use crate::spirv::{Inst, Module, Op, Operand};
use rspirv::spirv::Decoration;
use std::collections::HashSet;
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
    /// How the hashes begin of those changed shaders whose arithmetic is to be computed as it stands ([`hold`]).
    pub precise: Vec<String>,
    /// Options of the pass's own.
    pub own: Vec<(String, String)>,
}

impl Given {
    /// Reads options: folders, `frames=A-B`, `precise=yes`, and those with names that the pass knows.
    pub fn read(pass: &str, options: &[String], names: &[&str]) -> Result<Given, String> {
        let mut given = Given::default();
        for option in options {
            match option.split_once('=') {
                Some(("frames", range)) => {
                    let (a, b) = range.split_once('-').unwrap_or((range, range));
                    let range = a.parse().ok().zip(b.parse().ok()).filter(|(a, b): &(u64, u64)| a <= b);
                    given.frames =
                        Some(range.ok_or_else(|| format!("frames={b}: say frames=4 or frames=4-9"))?);
                }
                Some(("precise", value)) => {
                    given.precise = match value {
                        "yes" => vec![String::new()],
                        "no" => vec![],
                        _ if value.split('|').all(is_hash) => value.split('|').map(str::to_owned).collect(),
                        _ => {
                            return Err(format!(
                                "precise={value}: say yes, no, or shaders' hashes with | between"
                            ));
                        }
                    };
                }
                Some((name, value)) if names.contains(&name) => {
                    given.own.push((name.to_owned(), value.to_owned()));
                }
                Some((name, _)) if !Path::new(option).exists() => {
                    let known =
                        ["frames", "precise"].iter().chain(names).copied().collect::<Vec<_>>().join(", ");
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

/// At least eight digits of a hash.
fn is_hash(text: &str) -> bool {
    text.len() >= 8 && text.chars().all(|c| c.is_ascii_hexdigit())
}

/// If the shader is among those, marks all arithmetic of the entry point NoContraction: compilers reorder and contract by what stands around, and where that
/// is another code the last bit may be another one. Returns of how many instructions.
pub fn hold(shader: &mut Shader, precise: &[String]) -> usize {
    let hash = shader.hash.to_string();
    if !precise.iter().any(|p| hash.starts_with(&**p)) {
        return 0;
    }
    let held: HashSet<u32> = shader
        .module
        .annotations
        .iter()
        .filter(|a| a.inst.operands.get(1) == Some(&Operand::Decoration(Decoration::NoContraction)))
        .filter_map(|a| a.id_at(0))
        .collect();
    let glsl = glsl(&shader.module);
    let reached = shader.module.reachable(shader.entry.function);
    let ids: Vec<u32> = reached
        .into_iter()
        .flat_map(|f| shader.module.functions[f].insts())
        .filter(|i| is_arithmetic(i, glsl))
        .filter_map(|i| i.id().filter(|id| !held.contains(id)))
        .collect();
    for id in &ids {
        shader.module.decorate(*id, vec![Operand::Decoration(Decoration::NoContraction)]);
    }
    ids.len()
}

/// What GLSL's functions are imported as.
pub fn glsl(m: &Module) -> Option<u32> {
    let is =
        |i: &&Inst| matches!(i.inst.operands.first(), Some(Operand::LiteralString(s)) if s == "GLSL.std.450");
    m.imports.iter().find(is).and_then(Inst::id)
}

fn is_arithmetic(i: &Inst, glsl: Option<u32>) -> bool {
    use Op::*;
    if i.op() == ExtInst {
        return glsl.is_some() && i.id_at(0) == glsl;
    }
    matches!(
        i.op(),
        FAdd | FSub
            | FMul
            | FDiv
            | FRem
            | FMod
            | FNegate
            | VectorTimesScalar
            | MatrixTimesScalar
            | VectorTimesMatrix
            | MatrixTimesVector
            | MatrixTimesMatrix
            | OuterProduct
            | Dot
    )
}
