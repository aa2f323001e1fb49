//! Shaders as text, for people: every instruction as a line of SPIR-V assembly with its word offset, and the source that a
//! module carries, as rows of the tables `spirv_text` and `source_text`.
//!
//! Guarantees: each instruction of the module is a line, in the module's order; ids keep their numbers; the text
//! assembles. Strings longer than a line are shortened (a source that lies in one has a table of its own). Source is taken
//! from OpSource and OpSourceContinued, and from DebugSource and DebugSourceContinued of NonSemantic.Shader.DebugInfo;
//! lines have the numbers that OpLine and DebugLine give them. Refuses modules that cannot be parsed.

mod source;
#[cfg(test)]
mod tests;

use crate::spirv::Malformed;
use crate::{ShaderHash, Sink};
use rspirv::binary::{Consumer, Disassemble, ParseAction, parse_words};
use rspirv::dr::{Instruction, ModuleHeader, Operand};
use rspirv::grammar::ext_inst_table;
use rspirv::spirv::Op;
use source::Sources;
use std::collections::{HashMap, HashSet};
use trace::Value::{Text, U64};
use trace::tables::{SOURCE_TEXT, SPIRV_TEXT};

/// Letters of a string that are shown.
const STRING: usize = 120;

/// Writes a module's text and sources.
pub fn write(shader: ShaderHash, words: &[u32], out: &mut dyn Sink) -> Result<(), Malformed> {
    let mut reader = Reader { words, at: 5, ..Reader::default() };
    parse_words(words, &mut reader).map_err(|e| Malformed(format!("word {}: {e}", reader.at)))?;
    let shader = shader.to_string();
    for (at, line) in &reader.lines {
        out.put(&SPIRV_TEXT, &[Text(&shader), U64(*at as u64), Text(line)]);
    }
    for source in reader.sources.finish() {
        for (line, text) in source.lines() {
            out.put(&SOURCE_TEXT, &[Text(&shader), Text(&source.file), U64(line), Text(text)]);
        }
    }
    Ok(())
}

#[derive(Default)]
struct Reader<'w> {
    words: &'w [u32],
    at: usize,
    lines: Vec<(usize, String)>,
    /// Types of floating-point numbers, by id.
    floats: HashSet<u32>,
    /// Types of signed whole numbers.
    signed: HashSet<u32>,
    /// Imported sets.
    sets: HashMap<u32, String>,
    sources: Sources,
}

impl Consumer for Reader<'_> {
    fn initialize(&mut self) -> ParseAction {
        ParseAction::Continue
    }

    fn finalize(&mut self) -> ParseAction {
        ParseAction::Continue
    }

    fn consume_header(&mut self, header: ModuleHeader) -> ParseAction {
        let (major, minor) = header.version();
        for line in
            ["; SPIR-V".into(), format!("; Version: {major}.{minor}"), format!("; Bound: {}", header.bound)]
        {
            self.lines.push((0, line));
        }
        ParseAction::Continue
    }

    fn consume_instruction(&mut self, i: Instruction) -> ParseAction {
        let line = self.line(&i);
        self.lines.push((self.at, line));
        let set = i.operands.first().and_then(Operand::id_ref_any);
        let debug = i.class.opcode == Op::ExtInst
            && set
                .and_then(|s| self.sets.get(&s))
                .is_some_and(|s| s.starts_with("NonSemantic.Shader.DebugInfo"));
        self.sources.take(&i, debug);
        // (the parser has seen that the instruction's length is not nothing)
        self.at += self.words.get(self.at).map_or(1, |w| (w >> 16) as usize);
        ParseAction::Continue
    }
}

impl Reader<'_> {
    /// An instruction as text, and what later ones need to know of it.
    fn line(&mut self, i: &Instruction) -> String {
        let mut words: Vec<String> = i.operands.iter().map(|o| self.operand(i, o)).collect();
        match (i.class.opcode, &i.operands[..]) {
            (Op::TypeFloat, _) => self.floats.extend(i.result_id),
            (Op::TypeInt, [_, Operand::LiteralBit32(1)]) => self.signed.extend(i.result_id),
            (Op::ExtInstImport, [Operand::LiteralString(name)]) => {
                self.sets.extend(i.result_id.map(|id| (id, name.clone())));
            }
            (Op::ExtInst, [Operand::IdRef(set), Operand::LiteralExtInstInteger(n), ..]) => {
                let known = self.sets.get(set).and_then(|s| ext_inst_table(s)?.lookup_opcode(*n));
                if let Some(known) = known {
                    words[1] = known.opname.to_owned();
                }
            }
            _ => {}
        }
        let result = i.result_id.map_or(String::new(), |id| format!("%{id} = "));
        let mut line = format!("{result:>12}Op{}", i.class.opname);
        for word in i.result_type.map(|t| format!("%{t}")).into_iter().chain(words) {
            line.push(' ');
            line.push_str(&word);
        }
        line
    }

    fn operand(&self, i: &Instruction, o: &Operand) -> String {
        let constant = matches!(i.class.opcode, Op::Constant | Op::SpecConstant);
        let is = |of: &HashSet<u32>| constant && i.result_type.is_some_and(|t| of.contains(&t));
        match o {
            Operand::LiteralString(s) => string(s),
            Operand::LiteralBit32(n) if is(&self.floats) => {
                let f = f32::from_bits(*n);
                float(&f, f.is_finite(), (*n).into())
            }
            Operand::LiteralBit64(n) if is(&self.floats) => {
                let f = f64::from_bits(*n);
                float(&f, f.is_finite(), *n)
            }
            Operand::LiteralBit32(n) if is(&self.signed) => n.cast_signed().to_string(),
            Operand::LiteralBit64(n) if is(&self.signed) => n.cast_signed().to_string(),
            o => o.disassemble(),
        }
    }
}

/// A number as assemblers read it: in decimal where that is what it is, with the fewest digits that are read back as the same number
/// of its width.
fn float(n: &dyn std::fmt::Debug, is_finite: bool, bits: u64) -> String {
    if is_finite { format!("{n:?}") } else { format!("!0x{bits:x}") }
}

fn string(s: &str) -> String {
    let whole = !s.contains('\n') && s.chars().count() <= STRING;
    let shown: String = s.lines().next().unwrap_or_default().chars().take(STRING).collect();
    let quoted = format!("\"{}\"", shown.replace('\\', "\\\\").replace('"', "\\\""));
    if whole { quoted } else { format!("{quoted} ; the first of {} bytes", s.len()) }
}
