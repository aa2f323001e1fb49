//! The instructions of an entry point, as a table: what hot spots are found among.
//!
//! Guarantees: functions and blocks have the indices that [`Facts`] gives them, and a block has as many rows as its facts
//! count instructions.

use super::{Facts, Lines};
use crate::pass::Sink;
use crate::spirv::{Module, Result};
use rspirv::spirv::ExecutionModel;
use trace::Value::{Text, U64};

/// Records the instructions of a variant: of an entry point of a module as the application made it.
pub fn record_instructions(
    words: &[u32],
    model: ExecutionModel,
    name: &str,
    variant: u64,
    out: &mut dyn Sink,
) -> Result<()> {
    let mut m = Module::read(words)?;
    let entry = m.isolate(model, name)?;
    let (facts, lines) = (Facts::new(&m, entry.function)?, Lines::new(&m));
    for (n, f) in (0u64..).zip(&facts.functions) {
        let Some(function) = m.function(f.id).map(|i| &m.functions[i]) else { continue };
        for (b, block) in (0u64..).zip(&function.blocks) {
            for (i, line) in lines.of_block(&block.body) {
                let opcode = format!("Op{:?}", i.op());
                let (file, line) = line.as_ref().map_or(("", 0), |l| (l.file.as_str(), l.line));
                out.put(
                    &trace::tables::INSTRUCTIONS,
                    &[
                        U64(variant),
                        U64(n),
                        U64(b),
                        U64(i.at.unwrap_or(0).into()),
                        Text(&opcode),
                        Text(file),
                        U64(line.into()),
                    ],
                );
            }
        }
    }
    Ok(())
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::rewrite::entries;
    use crate::testing::scenes;
    use trace::{Memory, Source, Table, Value};

    struct Out(Memory);

    impl Sink for Out {
        fn put(&mut self, table: &'static Table, values: &[Value<'_>]) {
            self.0.put(table, values);
        }
    }

    #[test]
    fn every_block_has_the_instructions_that_its_facts_count() {
        let mut lines = 0;
        for (path, words) in scenes() {
            for (model, name, _) in entries(&words) {
                let mut out = Out(Memory::default());
                record_instructions(&words, model, &name, 7, &mut out).expect("it is a module");
                let t = out.0.read(&trace::tables::INSTRUCTIONS).expect("it is in memory");
                let mut m = Module::read(&words).expect("it is a module");
                let entry = m.isolate(model, &name).expect("it has it");
                let facts = Facts::new(&m, entry.function).expect("it is a module");
                for (f, function) in facts.functions.iter().enumerate() {
                    for (b, block) in function.blocks.iter().enumerate() {
                        let here =
                            |r: &usize| (t.u64("function")[*r], t.u64("block")[*r]) == (f as u64, b as u64);
                        let own: Vec<usize> = (0..t.len()).filter(here).collect();
                        assert_eq!(own.len() as u32, block.instructions, "{} {f} {b}", path.display());
                        for r in own {
                            let at = t.u64("word_offset")[r] as usize;
                            let op = rspirv::spirv::Op::from_u32(words[at] & 0xffff).expect("an opcode");
                            assert_eq!(format!("Op{op:?}"), *t.text("opcode")[r]);
                            lines += u32::from(t.u64("line")[r] > 0);
                        }
                    }
                }
            }
        }
        assert!(lines > 1000, "the scenes carry their lines: {lines}");
    }
}
