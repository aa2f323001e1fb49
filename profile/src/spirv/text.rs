//! A module as text, an instruction a line, and the sources that it carries: for those who read what was measured.
//!
//! Ids are as in the module, without friendly names, so that lines and records speak of the same. Refuses what is no module.

use super::{Instruction, Op, Operand, Result, malformed};
use rspirv::binary::{Consumer, Disassemble, ParseAction, parse_words};
use rspirv::dr::ModuleHeader;
use std::collections::HashMap;

/// A line of a module's text.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct TextLine {
    /// Where the instruction stands in the module; 0 for the head.
    pub word_offset: u32,
    /// The line, without its end.
    pub text: String,
}

/// A source that a module carries.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct SourceText {
    /// The file, as the module names it.
    pub file: String,
    /// Its text.
    pub text: String,
}

/// Every instruction of a module, with where it stands.
#[derive(Default)]
struct All<'w> {
    words: &'w [u32],
    at: usize,
    insts: Vec<(u32, Instruction)>,
}

impl Consumer for All<'_> {
    fn initialize(&mut self) -> ParseAction {
        ParseAction::Continue
    }
    fn finalize(&mut self) -> ParseAction {
        ParseAction::Continue
    }
    fn consume_header(&mut self, _: ModuleHeader) -> ParseAction {
        ParseAction::Continue
    }
    fn consume_instruction(&mut self, inst: Instruction) -> ParseAction {
        self.insts.push((self.at as u32, inst));
        self.at += self.words.get(self.at).map_or(1, |w| (w >> 16).max(1)) as usize;
        ParseAction::Continue
    }
}

fn all(words: &[u32]) -> Result<Vec<(u32, Instruction)>> {
    let mut reader = All { words, at: 5, insts: vec![] };
    match parse_words(words, &mut reader) {
        Ok(()) => Ok(reader.insts),
        Err(e) => malformed(format!("word {}: {e}", reader.at)),
    }
}

/// A module's text.
pub fn text(words: &[u32]) -> Result<Vec<TextLine>> {
    let all = all(words)?;
    let version = words[1];
    let head = [
        "; SPIR-V".to_owned(),
        format!("; Version: {}.{}", version >> 16 & 0xff, version >> 8 & 0xff),
        format!("; Bound: {}", words[3]),
    ];
    let mut lines: Vec<TextLine> = head.map(|text| TextLine { word_offset: 0, text }).into();
    lines.extend(all.iter().map(|(at, i)| TextLine { word_offset: *at, text: line(i) }));
    Ok(lines)
}

/// An instruction. Strings stay on their line: what ends one is written as it is in C.
fn line(i: &Instruction) -> String {
    i.disassemble().replace('\r', "\\r").replace('\n', "\\n")
}

/// NonSemantic.Shader.DebugInfo.100: DebugSource, DebugSourceContinued.
const DEBUG_SOURCE: u32 = 35;
const DEBUG_SOURCE_CONTINUED: u32 = 102;

/// The sources that a module carries, in its order. Sources without a text are left out.
pub fn sources(words: &[u32]) -> Result<Vec<SourceText>> {
    let all = all(words)?;
    let mut strings: HashMap<u32, &str> = HashMap::new();
    let mut debug = None;
    let mut found: Vec<SourceText> = vec![];
    for (_, i) in &all {
        let o = &i.operands;
        let id = |at: usize| o.get(at).and_then(Operand::id_ref_any);
        let string = |at: usize| id(at).and_then(|id| strings.get(&id)).copied().unwrap_or_default();
        match i.class.opcode {
            Op::String => {
                if let (Some(id), Some(Operand::LiteralString(s))) = (i.result_id, o.first()) {
                    strings.insert(id, s);
                }
            }
            Op::ExtInstImport => {
                if let Some(Operand::LiteralString(s)) = o.first()
                    && s.starts_with("NonSemantic.Shader.DebugInfo")
                {
                    debug = i.result_id;
                }
            }
            // Language, version, then the file's name and the text where there are any.
            Op::Source => {
                if let Some(Operand::LiteralString(text)) = o.get(3) {
                    found.push(SourceText { file: string(2).to_owned(), text: text.clone() });
                }
            }
            Op::SourceContinued => {
                if let (Some(Operand::LiteralString(more)), Some(last)) = (o.first(), found.last_mut()) {
                    last.text += more;
                }
            }
            Op::ExtInst if debug.is_some() && id(0) == debug => {
                let number = match o.get(1) {
                    Some(Operand::LiteralExtInstInteger(n) | Operand::LiteralBit32(n)) => *n,
                    _ => continue,
                };
                match number {
                    DEBUG_SOURCE if o.len() > 3 => {
                        let (file, text) = (string(2).to_owned(), string(3).to_owned());
                        found.push(SourceText { file, text });
                    }
                    DEBUG_SOURCE_CONTINUED => {
                        if let Some(last) = found.last_mut() {
                            last.text += string(2);
                        }
                    }
                    _ => {}
                }
            }
            _ => {}
        }
    }
    found.retain(|s| !s.text.is_empty());
    Ok(found)
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::spirv::Module;
    use crate::testing::{glsl, scenes};

    #[test]
    fn every_instruction_of_every_scene_has_its_line() {
        for (path, words) in scenes() {
            let lines = text(&words).unwrap_or_else(|e| panic!("{}: {e}", path.display()));
            let m = Module::read(&words).expect("it is a module");
            let labels = m.functions.iter().flat_map(|f| &f.blocks);
            let mut count = 0;
            for b in labels {
                let at = b.at.expect("it is the original's");
                let line = lines.iter().find(|l| l.word_offset == at).expect("a label has its line");
                assert_eq!(line.text, format!("%{} = OpLabel", b.label), "{}", path.display());
                count += 1;
            }
            assert!(count > 0 && lines.iter().all(|l| !l.text.contains('\n')));
        }
    }

    /// Both kinds of debug information give the source back.
    #[test]
    fn sources_come_back() {
        let source = "#version 460\nlayout(local_size_x = 1) in;\nvoid main()\n{\n}\n";
        for args in [["--target-env", "vulkan1.3", "-g"], ["--target-env", "vulkan1.3", "-gVS"]] {
            let Some(words) = glsl("comp", source, &args) else { return };
            let found = sources(&words).expect("it is a module");
            assert_eq!(found.len(), 1, "{args:?}");
            assert!(found[0].text.contains("layout(local_size_x = 1) in;\nvoid main()\n{\n}"), "{found:?}");
        }
        assert!(sources(&[1, 2, 3]).is_err());
    }
}
