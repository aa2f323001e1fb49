//! Which pipeline, shader, function, block and source line a row is about: the tables of what was instrumented, joined, so
//! that every question says it in the same words.
//!
//! Guarantees: a row whose entry point, function or block is not in the tables still has words (its numbers), so that a
//! damaged trace gives a report that shows the damage. Nothing here counts anything.
//!
//! ```text
//! fragment main (shader.frag, 1f2e3d4c), function shade, block 12 (%45), shader.frag:17
//! ```

pub(crate) mod columns;
#[cfg(test)]
pub mod sample;

use crate::limits;
use crate::report::Cell;
use std::collections::{BTreeMap, HashMap};
use std::sync::Arc;
use trace::names;
use trace::tables::{BLOCKS, ENTRIES, FRAMES, FUNCTIONS, PIPELINES};
use trace::{Source, Unreadable};

/// The kind of what is no pipeline.
const SHADER_OBJECT: &str = "shader-object";

/// A pipeline or shader object.
#[derive(Clone, Debug, PartialEq)]
pub struct Pipeline {
    /// The capture's id.
    pub id: u64,
    /// graphics, compute, ray-tracing or shader-object.
    pub kind: Arc<str>,
    /// Its debug name; empty where it has none.
    pub name: Arc<str>,
}

/// An instrumented entry point of a pipeline.
#[derive(Clone, Debug, PartialEq)]
pub struct Entry {
    /// Its number in the trace.
    pub entry: u64,
    /// Its pipeline's id.
    pub pipeline: u64,
    /// Which of the pipeline's stages.
    pub index: u64,
    /// Which rewritten module; functions and blocks are by variant.
    pub variant: u64,
    /// The module's hash, 16 hexadecimal digits.
    pub shader: Arc<str>,
    /// The entry point's name.
    pub name: Arc<str>,
    /// Its stage.
    pub stage: Arc<str>,
    /// Its source file; empty where its module does not say one.
    pub file: Arc<str>,
}

/// A basic block.
#[derive(Clone, Debug, PartialEq)]
pub struct Block {
    /// Its label's id in the original module.
    pub label: u64,
    /// Where the label stands in the original module, in words.
    pub word_offset: u64,
    /// How many instructions of it do something.
    pub instructions: u64,
    /// How many loops it is in.
    pub depth: u64,
    /// Whether the function's entry leads to it.
    pub reached: bool,
    /// Source file of its first instruction that has a line; empty where the module carries none.
    pub file: Arc<str>,
    /// That line, from 1; 0 where the module carries none.
    pub line: u64,
}

/// A function.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct Function {
    /// Its result id in the original module.
    pub id: u64,
    /// Its name; empty where the module carries none.
    pub name: Arc<str>,
    /// Its blocks by index.
    pub blocks: Vec<Block>,
}

/// See the module's header.
#[derive(Clone, Debug, Default)]
pub struct Context {
    pipelines: BTreeMap<u64, Pipeline>,
    entries: BTreeMap<u64, Entry>,
    functions: HashMap<u64, Vec<Function>>,
    subgroup_sizes: BTreeMap<u64, u64>,
}

impl Context {
    /// Reads the tables of what was instrumented.
    pub fn read(trace: &dyn Source) -> Result<Context, Unreadable> {
        let mut context = Context::default();
        let t = trace.read(&FRAMES)?;
        let sizes = || t.u64("frame").iter().zip(t.u64("subgroup_size"));
        if let Some((frame, n)) = sizes().find(|s| *s.1 > limits::SUBGROUP) {
            let most = limits::SUBGROUP;
            let text = format!("table frames, frame {frame}: subgroups of {n}, expected at most {most}");
            return Err(Unreadable(text));
        }
        context.subgroup_sizes = sizes().map(|(&f, &n)| (f, n)).collect();
        let t = trace.read(&PIPELINES)?;
        for row in 0..t.len() {
            let (id, kind) = (t.u64("pipeline")[row], t.text("kind")[row].clone());
            context.pipelines.insert(id, Pipeline { id, kind, name: t.text("name")[row].clone() });
        }
        let t = trace.read(&ENTRIES)?;
        for row in 0..t.len() {
            let e = Entry {
                entry: t.u64("entry")[row],
                pipeline: t.u64("pipeline")[row],
                index: t.u64("index")[row],
                variant: t.u64("variant")[row],
                shader: t.text("shader")[row].clone(),
                name: t.text("name")[row].clone(),
                stage: t.text("stage")[row].clone(),
                file: "".into(),
            };
            context.entries.insert(e.entry, e);
        }
        context.read_functions(trace)?;
        context.read_blocks(trace)?;
        // (an entry point's own function is the first; where that has no lines, one that it calls may)
        for e in context.entries.values_mut() {
            let mut blocks = context.functions.get(&e.variant).into_iter().flatten().flat_map(|f| &f.blocks);
            e.file = blocks.find(|b| !b.file.is_empty()).map_or_else(|| "".into(), |b| b.file.clone());
        }
        Ok(context)
    }

    fn read_functions(&mut self, trace: &dyn Source) -> Result<(), Unreadable> {
        let t = trace.read(&FUNCTIONS)?;
        for row in 0..t.len() {
            let of = self.functions.entry(t.u64("variant")[row]).or_default();
            in_order("functions", t.u64("function")[row], of.len())?;
            of.push(Function { id: t.u64("id")[row], name: t.text("name")[row].clone(), blocks: vec![] });
        }
        Ok(())
    }

    fn read_blocks(&mut self, trace: &dyn Source) -> Result<(), Unreadable> {
        let t = trace.read(&BLOCKS)?;
        for row in 0..t.len() {
            let (variant, function) = (t.u64("variant")[row], t.u64("function")[row]);
            let of = self.functions.get_mut(&variant).and_then(|f| f.get_mut(function as usize));
            let of = of.ok_or_else(|| {
                Unreadable(format!(
                    "table blocks, row {row}: there is no function {function} of variant {variant}; record the trace \
                     again"
                ))
            })?;
            in_order("blocks", t.u64("block")[row], of.blocks.len())?;
            of.blocks.push(Block {
                label: t.u64("label")[row],
                word_offset: t.u64("word_offset")[row],
                instructions: t.u64("instructions")[row],
                depth: t.u64("depth")[row],
                reached: t.u64("reached")[row] != 0,
                file: t.text("file")[row].clone(),
                line: t.u64("line")[row],
            });
        }
        Ok(())
    }

    /// The pipeline of this id.
    pub fn pipeline(&self, id: u64) -> Option<&Pipeline> {
        self.pipelines.get(&id)
    }

    /// Every instrumented pipeline, by id.
    pub fn pipelines(&self) -> impl Iterator<Item = &Pipeline> {
        self.pipelines.values()
    }

    /// The entry point of this number.
    pub fn entry(&self, entry: u64) -> Option<&Entry> {
        self.entries.get(&entry)
    }

    /// Every instrumented entry point, by number.
    pub fn entries(&self) -> impl Iterator<Item = &Entry> {
        self.entries.values()
    }

    /// The functions of an entry point, its own first.
    pub fn functions(&self, entry: u64) -> &[Function] {
        self.entry(entry).and_then(|e| self.functions.get(&e.variant)).map_or(&[], Vec::as_slice)
    }

    /// The functions of a variant.
    pub fn functions_of_variant(&self, variant: u64) -> &[Function] {
        self.functions.get(&variant).map_or(&[], Vec::as_slice)
    }

    /// A block of an entry point.
    pub fn block(&self, entry: u64, function: u64, block: u64) -> Option<&Block> {
        self.functions(entry).get(usize::try_from(function).ok()?)?.blocks.get(usize::try_from(block).ok()?)
    }

    /// Instructions of a block that do something; 0 where it is not known.
    pub fn instructions(&self, entry: u64, function: u64, block: u64) -> u64 {
        self.block(entry, function, block).map_or(0, |b| b.instructions)
    }

    /// N: invocations in a full subgroup, of a frame; of any frame where this one is not known.
    pub fn subgroup_size(&self, frame: u64) -> Option<u64> {
        self.subgroup_sizes.get(&frame).or_else(|| self.subgroup_sizes.values().next()).copied()
    }

    /// `pipeline 12 "sky"`
    pub fn pipeline_words(&self, id: u64) -> String {
        match self.pipeline(id) {
            Some(p) => names::pipeline(id, &p.name, &*p.kind == SHADER_OBJECT),
            None => names::pipeline(id, "", false),
        }
    }

    /// `fragment main (shader.frag, 1f2e3d4c)`
    pub fn entry_words(&self, entry: u64) -> String {
        match self.entry(entry) {
            Some(e) => names::shader(&e.stage, &e.name, &e.file, &e.shader),
            None => format!("entry {entry}"),
        }
    }

    /// A module by its entry point, where it has but one; else by its hash.
    pub fn module_words(&self, shader: &str) -> String {
        let of = self.entries().filter(|e| &*e.shader == shader).map(|e| self.entry_words(e.entry));
        let mut words: Vec<String> = of.collect();
        words.sort();
        words.dedup();
        match words.len() {
            1 => words.remove(0),
            _ => format!("shader {}", names::digits(shader)),
        }
    }

    /// `fragment main (shader.frag, 1f2e3d4c) of pipeline 7 "sky"`
    pub fn whose_words(&self, entry: u64) -> String {
        let of = self.entry(entry).map(|e| format!(" of {}", self.pipeline_words(e.pipeline)));
        self.entry_words(entry) + &of.unwrap_or_default()
    }

    /// `function shade`, `function %12`; empty for the entry point's own.
    pub fn function_words(&self, entry: u64, function: u64) -> String {
        let known = usize::try_from(function).ok().and_then(|f| self.functions(entry).get(f));
        match known {
            _ if function == 0 => String::new(),
            Some(f) if f.name.is_empty() => format!("function %{}", f.id),
            // (glslang names them with their parameters' types)
            Some(f) => format!("function {}", f.name.split('(').next().unwrap_or_default()),
            None => format!("function {function}"),
        }
    }

    /// `fragment main (shader.frag, 1f2e3d4c), function shade, block 12 (%45), shader.frag:17`
    pub fn block_words(&self, entry: u64, function: u64, block: u64) -> String {
        let mut parts = vec![self.entry_words(entry), self.function_words(entry, function)];
        match self.block(entry, function, block) {
            Some(b) => {
                parts.push(format!("block {block} (%{})", b.label));
                parts.push(source_words(&b.file, b.line));
            }
            None => parts.push(format!("block {block}")),
        }
        parts.retain(|p| !p.is_empty());
        parts.join(", ")
    }

    /// Which entry point, a cell each under `columns::ENTRY`: for tables that are sorted and joined elsewhere.
    pub fn entry_cells(&self, entry: u64) -> Vec<Cell> {
        match self.entry(entry) {
            Some(e) => {
                vec![Cell::Count(e.pipeline), (&*e.stage).into(), (&*e.shader).into(), (&*e.name).into()]
            }
            None => {
                vec![Cell::Missing, Cell::Missing, Cell::Missing, format!("entry {entry}").as_str().into()]
            }
        }
    }

    /// Which block, a cell each under `columns::ENTRY` and `columns::BLOCK`.
    pub fn block_cells(&self, entry: u64, function: u64, block: u64) -> Vec<Cell> {
        let mut cells = self.entry_cells(entry);
        let name = usize::try_from(function).ok().and_then(|f| self.functions(entry).get(f));
        let name = name.map_or_else(
            || function.to_string(),
            |f| if f.name.is_empty() { format!("%{}", f.id) } else { f.name.to_string() },
        );
        cells.extend([Cell::Text(name), Cell::Count(block)]);
        match self.block(entry, function, block) {
            Some(b) => {
                cells.push(Cell::Text(format!("%{}", b.label)));
                let source = source_words(&b.file, b.line);
                cells.push(if source.is_empty() { Cell::Missing } else { Cell::Text(source) });
            }
            None => cells.extend([Cell::Missing, Cell::Missing]),
        }
        cells
    }
}

/// `shader.frag:17`: the file's name without folders; empty where there is no line.
pub fn source_words(file: &str, line: u64) -> String {
    match (file.rsplit(['/', '\\']).next().unwrap_or_default(), line) {
        (_, 0) => String::new(),
        ("", line) => format!("line {line}"),
        (file, line) => format!("{file}:{line}"),
    }
}

/// Functions and blocks stand in the order of their indices, each once.
fn in_order(table: &str, index: u64, expected: usize) -> Result<(), Unreadable> {
    if index == expected as u64 {
        return Ok(());
    }
    Err(Unreadable(format!("table {table}: index {index} where {expected} follows; record the trace again")))
}

#[cfg(test)]
mod tests {
    use super::*;
    use trace::{Memory, Value};

    #[test]
    fn places_in_words() {
        let c = Context::read(&sample::trace()).unwrap();
        assert_eq!(c.pipeline_words(7), "pipeline 7 \"sky\"");
        assert_eq!(c.pipeline_words(8), "pipeline 8");
        assert_eq!(c.pipeline_words(9), "pipeline 9");
        assert_eq!(c.entry_words(0), "fragment main (sky.frag, 1f2e3d4c)");
        assert_eq!(c.whose_words(0), "fragment main (sky.frag, 1f2e3d4c) of pipeline 7 \"sky\"");
        assert_eq!(c.whose_words(5), "entry 5");
        let shaders: Vec<&str> = c.entries().map(|e| &*e.shader).collect();
        assert_eq!(c.module_words(shaders[0]), c.entry_words(0));
        assert_eq!(c.module_words("0123456789abcdef"), "shader 01234567");
        assert_eq!(
            c.block_words(0, 1, 1),
            "fragment main (sky.frag, 1f2e3d4c), function shade, block 1 (%45), sky.frag:17"
        );
        assert_eq!(c.block_words(0, 0, 0), "fragment main (sky.frag, 1f2e3d4c), block 0 (%5)");
        assert_eq!(c.block_words(1, 0, 0), "compute work (99aabbcc), block 0 (%3)");
        assert_eq!(c.block_words(5, 2, 3), "entry 5, function 2, block 3");
        assert_eq!(c.subgroup_size(1), Some(8));
        assert_eq!(c.subgroup_size(77), Some(8));
        assert_eq!((c.instructions(0, 1, 1), c.instructions(0, 1, 9)), (4, 0));
    }

    #[test]
    fn cells_fit_their_columns() {
        let c = Context::read(&sample::trace()).unwrap();
        for (entry, function, block) in [(0, 0, 0), (0, 1, 1), (9, 9, 9)] {
            assert_eq!(c.entry_cells(entry).len(), columns::ENTRY.len());
            assert_eq!(
                c.block_cells(entry, function, block).len(),
                columns::ENTRY.len() + columns::BLOCK.len()
            );
        }
        assert_eq!(
            c.block_cells(0, 1, 1)[4..],
            ["shade(vf3;".into(), Cell::Count(1), "%45".into(), "sky.frag:17".into()]
        );
    }

    #[test]
    fn sources_in_words() {
        assert_eq!(source_words("a/b\\c.hlsl", 3), "c.hlsl:3");
        assert_eq!(source_words("", 3), "line 3");
        assert_eq!(source_words("c.hlsl", 0), "");
    }

    #[test]
    fn tables_that_do_not_fit_are_refused() {
        let mut trace = Memory::default();
        let row = [0, 4, 0, 1, 2, 3, 0, 1].map(Value::U64);
        trace.put(&BLOCKS, &row.into_iter().chain([Value::Text(""), Value::U64(0)]).collect::<Vec<_>>());
        let e = Context::read(&trace).unwrap_err();
        assert!(e.0.contains("no function 4 of variant 0"), "{e}");
        let mut trace = Memory::default();
        trace.put(&FUNCTIONS, &[Value::U64(0), Value::U64(2), Value::U64(1), Value::Text("f")]);
        assert!(Context::read(&trace).unwrap_err().0.contains("index 2 where 0 follows"));
    }
}
