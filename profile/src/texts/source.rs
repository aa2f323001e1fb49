//! The sources that a module carries.

use rspirv::dr::{Instruction, Operand};
use rspirv::spirv::Op;
use std::collections::HashMap;

/// NonSemantic.Shader.DebugInfo.100: DebugSource, DebugSourceContinued.
const DEBUG_SOURCE: u32 = 35;
const DEBUG_SOURCE_CONTINUED: u32 = 102;

/// A source as it is found, instruction by instruction.
#[derive(Default)]
pub struct Sources {
    strings: HashMap<u32, String>,
    found: Vec<Source>,
    /// Whether the next piece belongs to the last source: it had text.
    continues: bool,
}

/// One file.
#[derive(Debug, PartialEq, Eq)]
pub struct Source {
    /// As the module names it; empty where it does not.
    pub file: String,
    text: String,
}

impl Sources {
    /// The next instruction; `debug` says that it is of the set of debug information.
    pub fn take(&mut self, i: &Instruction, debug: bool) {
        let o = &i.operands[..];
        let string = |s: &Sources, id: &u32| s.strings.get(id).cloned();
        match i.class.opcode {
            Op::String => {
                if let (Some(id), [Operand::LiteralString(s)]) = (i.result_id, o) {
                    self.strings.insert(id, s.clone());
                }
            }
            Op::Source => {
                let file = o.iter().find_map(|o| match o {
                    Operand::IdRef(id) => string(self, id),
                    _ => None,
                });
                let text = o.iter().find_map(|o| match o {
                    Operand::LiteralString(s) => Some(s.clone()),
                    _ => None,
                });
                self.begin(file, text);
            }
            Op::SourceContinued => {
                if let [Operand::LiteralString(s)] = o {
                    self.more(s);
                }
            }
            Op::ExtInst if debug => match o {
                [_, n, Operand::IdRef(file), rest @ ..] if number(n) == Some(DEBUG_SOURCE) => {
                    let text = match rest {
                        [Operand::IdRef(text), ..] => string(self, text),
                        _ => None,
                    };
                    self.begin(string(self, file), text);
                }
                [_, n, Operand::IdRef(text)] if number(n) == Some(DEBUG_SOURCE_CONTINUED) => {
                    if let Some(text) = string(self, text) {
                        self.more(&text);
                    }
                }
                _ => {}
            },
            _ => {}
        }
    }

    fn begin(&mut self, file: Option<String>, text: Option<String>) {
        self.continues = text.is_some();
        if let Some(text) = text {
            self.found.push(Source { file: file.unwrap_or_default(), text });
        }
    }

    fn more(&mut self, text: &str) {
        if self.continues
            && let Some(last) = self.found.last_mut()
        {
            last.text.push_str(text);
        }
    }

    /// What was found; a file that is there twice counts once.
    pub fn finish(mut self) -> Vec<Source> {
        let mut all: Vec<Source> = vec![];
        for s in self.found.drain(..) {
            if !all.contains(&s) {
                all.push(s);
            }
        }
        all
    }
}

fn number(o: &Operand) -> Option<u32> {
    match o {
        Operand::LiteralExtInstInteger(n) | Operand::LiteralBit32(n) => Some(*n),
        _ => None,
    }
}

impl Source {
    /// Its lines with their numbers. glslang puts comments and a `#line` before the source: they are no part of it, and
    /// the numbers begin where `#line` says.
    pub fn lines(&self) -> impl Iterator<Item = (u64, &str)> {
        let (mut text, mut first) = (&self.text[..], 1);
        if text.starts_with("// OpModuleProcessed") {
            let head: usize = text
                .split_inclusive('\n')
                .take_while(|l| l.starts_with("// OpModuleProcessed"))
                .map(str::len)
                .sum();
            let rest = &text[head..];
            let (line, after) = rest.split_once('\n').unwrap_or((rest, ""));
            if let Some(n) = line.strip_prefix("#line ").and_then(|n| n.trim().parse().ok()) {
                (text, first) = (after, n);
            }
        }
        (first..).zip(text.lines())
    }
}
