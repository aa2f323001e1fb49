//! A module by its sections.
//!
//! Guarantees: [`Module::words`] of an untouched module gives the words it was read from, or reading refused it. Every
//! instruction of the original knows its word offset there; what was put in since has none. It keeps to what
//! [`pointers::Checked`] says, which passes may assume. Refuses: what does not, opcodes that the grammar of this build does
//! not have, and sections out of order.

use super::error::{Malformed, Result, malformed};
use super::function::{Block, Function, Inst};
use super::index::Index;
use rspirv::binary::{Assemble, Consumer, ParseAction, parse_words};
use rspirv::dr::{Instruction, ModuleHeader, Operand};
use rspirv::spirv::{AddressingModel, Capability, Op};
use std::collections::HashSet;

/// See the module's header.
#[derive(Clone, Debug, PartialEq)]
pub struct Module {
    version: u32,
    generator: u32,
    schema: u32,
    /// One more than the largest id.
    pub bound: u32,
    /// OpCapability.
    pub capabilities: Vec<Inst>,
    /// OpExtension.
    pub extensions: Vec<Inst>,
    /// OpExtInstImport.
    pub imports: Vec<Inst>,
    /// OpMemoryModel.
    pub memory_model: Option<Inst>,
    /// OpEntryPoint.
    pub entry_points: Vec<Inst>,
    /// OpExecutionMode, OpExecutionModeId.
    pub modes: Vec<Inst>,
    /// OpString, OpSource and the like.
    pub strings: Vec<Inst>,
    /// OpName, OpMemberName.
    pub names: Vec<Inst>,
    /// OpModuleProcessed.
    pub processed: Vec<Inst>,
    /// Decorations.
    pub annotations: Vec<Inst>,
    /// Types, constants, variables, and the debug information between them.
    pub globals: Vec<Inst>,
    /// Functions.
    pub functions: Vec<Function>,
    /// Non-semantic instructions behind the last function.
    pub tail: Vec<Inst>,
    index: Index,
}

impl Module {
    /// Reads a module.
    pub fn read(words: &[u32]) -> Result<Self> {
        pointers::Checked::new(words).map_err(|e| Malformed(e.to_string()))?;
        let mut reader = Reader { words, at: 5, ..Reader::default() };
        if let Err(e) = parse_words(words, &mut reader) {
            return malformed(format!("word {}: {e}", reader.at));
        }
        let m = reader.module.ok_or_else(|| Malformed("there is no header".into()))?;
        let again = m.words();
        if again != words {
            let at =
                again.iter().zip(words).position(|(a, b)| a != b).unwrap_or(again.len().min(words.len()));
            return malformed(format!("word {at} is not understood: it would not be written back as it is"));
        }
        Ok(m)
    }

    /// The words of the module.
    pub fn words(&self) -> Vec<u32> {
        let mut out =
            vec![rspirv::spirv::MAGIC_NUMBER, self.version, self.generator, self.bound, self.schema];
        let sections = [&self.capabilities, &self.extensions, &self.imports];
        sections.into_iter().flatten().for_each(|i| i.inst.assemble_into(&mut out));
        self.memory_model.iter().for_each(|i| i.inst.assemble_into(&mut out));
        let sections = [
            &self.entry_points,
            &self.modes,
            &self.strings,
            &self.names,
            &self.processed,
            &self.annotations,
            &self.globals,
        ];
        sections.into_iter().flatten().for_each(|i| i.inst.assemble_into(&mut out));
        for f in &self.functions {
            f.lines.iter().for_each(|i| i.inst.assemble_into(&mut out));
            f.def.inst.assemble_into(&mut out);
            f.params.iter().for_each(|i| i.inst.assemble_into(&mut out));
            for b in &f.blocks {
                b.lines.iter().for_each(|i| i.inst.assemble_into(&mut out));
                Instruction::new(Op::Label, None, Some(b.label), vec![]).assemble_into(&mut out);
                b.body.iter().for_each(|i| i.inst.assemble_into(&mut out));
            }
            f.end.iter().for_each(|i| i.inst.assemble_into(&mut out));
        }
        self.tail.iter().for_each(|i| i.inst.assemble_into(&mut out));
        out
    }

    /// Major and minor version.
    pub fn version(&self) -> (u8, u8) {
        ((self.version >> 16) as u8, (self.version >> 8) as u8)
    }

    /// Raises the version to at least this.
    pub fn at_least(&mut self, (major, minor): (u8, u8)) {
        self.version = self.version.max(u32::from(major) << 16 | u32::from(minor) << 8);
    }

    /// An id that nothing has.
    pub fn fresh(&mut self) -> u32 {
        self.bound += 1;
        self.bound - 1
    }

    /// Lets the module reach memory by its address, and its subgroups be asked.
    pub fn physical_addresses(&mut self) {
        self.at_least((1, 3));
        self.capability(Capability::PhysicalStorageBufferAddresses);
        if self.version() < (1, 5) {
            self.extension("SPV_KHR_physical_storage_buffer");
        }
        let Some(model) = &mut self.memory_model else { return };
        if let Some(o @ Operand::AddressingModel(AddressingModel::Logical)) = model.inst.operands.first_mut()
        {
            *o = Operand::AddressingModel(AddressingModel::PhysicalStorageBuffer64);
        }
    }

    /// Declares a capability, once.
    pub fn capability(&mut self, c: Capability) {
        if !self.has_capability(c) {
            self.capabilities.push(Inst::new(Op::Capability, None, None, vec![Operand::Capability(c)]));
        }
    }

    /// Whether a capability is declared.
    pub fn has_capability(&self, c: Capability) -> bool {
        self.capabilities.iter().any(|i| i.inst.operands.first() == Some(&Operand::Capability(c)))
    }

    /// Decorates an id, once.
    pub fn decorate(&mut self, id: u32, decoration: Vec<Operand>) {
        let operands: Vec<Operand> = std::iter::once(Operand::IdRef(id)).chain(decoration).collect();
        if !self.annotations.iter().any(|a| a.op() == Op::Decorate && a.inst.operands == operands) {
            self.annotations.push(Inst::new(Op::Decorate, None, None, operands));
        }
    }

    /// Puts every decoration of a group at the ids that it decorates, so that each id's are found at it.
    pub fn ungroup(&mut self) {
        let groups: HashSet<u32> =
            self.annotations.iter().filter(|a| a.op() == Op::DecorationGroup).filter_map(Inst::id).collect();
        if groups.is_empty() {
            return;
        }
        let old = std::mem::take(&mut self.annotations);
        let of = |group: Option<u32>| old.iter().filter(move |a| group.is_some() && a.id_at(0) == group);
        let mut new = Vec::with_capacity(old.len());
        for a in &old {
            match a.op() {
                Op::DecorationGroup => {}
                Op::GroupDecorate => {
                    for target in &a.inst.operands[1..] {
                        for d in of(a.id_at(0)).filter(|d| d.op() != Op::GroupDecorate) {
                            let mut d = Inst { at: None, ..d.clone() };
                            d.inst.operands[0] = target.clone();
                            new.push(d);
                        }
                    }
                }
                Op::GroupMemberDecorate => {
                    let targets = a.inst.operands[1..].iter().flat_map(|o| match o {
                        Operand::IdRef(id) => vec![*id],
                        Operand::LiteralBit32(n) => vec![*n],
                        _ => vec![],
                    });
                    for pair in targets.collect::<Vec<_>>().chunks_exact(2) {
                        for d in of(a.id_at(0)).filter(|d| d.op() == Op::Decorate) {
                            let operands = [Operand::IdRef(pair[0]), Operand::LiteralBit32(pair[1])];
                            let operands = operands.into_iter().chain(d.inst.operands[1..].iter().cloned());
                            new.push(Inst::new(Op::MemberDecorate, None, None, operands.collect()));
                        }
                    }
                }
                _ if a.id_at(0).is_some_and(|id| groups.contains(&id)) => {}
                _ => new.push(a.clone()),
            }
        }
        self.annotations = new;
        self.names.retain(|n| n.id_at(0).is_none_or(|id| !groups.contains(&id)));
    }

    /// Declares an extension, once.
    pub fn extension(&mut self, name: &str) {
        let operand = Operand::LiteralString(name.into());
        if !self.extensions.iter().any(|i| i.inst.operands.first() == Some(&operand)) {
            self.extensions.push(Inst::new(Op::Extension, None, None, vec![operand]));
        }
    }

    /// The global instruction with this result.
    pub fn global(&self, id: u32) -> Option<&Inst> {
        self.index.find(&self.globals, id)
    }

    /// The function with this result.
    pub fn function(&self, id: u32) -> Option<usize> {
        self.functions.iter().position(|f| f.id() == id)
    }

    /// How many instructions its functions hold.
    pub fn len(&self) -> usize {
        self.functions.iter().map(|f| f.insts().count()).sum()
    }

    /// Whether its functions hold none.
    pub fn is_empty(&self) -> bool {
        self.len() == 0
    }
}

#[derive(Default)]
struct Reader<'w> {
    words: &'w [u32],
    /// Offset of the instruction that comes next.
    at: usize,
    module: Option<Module>,
    function: Option<Function>,
    block: Option<Block>,
    /// Lines between functions and blocks, until it is known what they belong to.
    lines: Vec<Inst>,
    done: bool,
}

impl Reader<'_> {
    fn take(&mut self, inst: Instruction) -> std::result::Result<(), String> {
        let at = u32::try_from(self.at).map_err(|_| "the module is too long")?;
        let count = self.words.get(self.at).map_or(0, |w| w >> 16);
        if count == 0 {
            return Err("an instruction of no words".into());
        }
        self.at += count as usize;
        let op = inst.class.opcode;
        let inst = Inst { inst, at: Some(at) };
        let Some(m) = &mut self.module else { return Err("an instruction before the header".into()) };
        match op {
            Op::Function => {
                if self.function.is_some() {
                    return Err("OpFunction inside a function".into());
                }
                let lines = std::mem::take(&mut self.lines);
                self.function = Some(Function { lines, ..Function::new(inst, vec![], vec![]) });
                return Ok(());
            }
            Op::FunctionEnd => {
                let mut f = self.function.take().ok_or("OpFunctionEnd outside a function")?;
                if self.block.is_some() {
                    return Err("a block without a terminator".into());
                }
                f.end = std::mem::take(&mut self.lines);
                f.end.push(inst);
                m.functions.push(f);
                self.done = true;
                return Ok(());
            }
            _ => {}
        }
        if let Some(f) = &mut self.function {
            match (op, &mut self.block) {
                (Op::Line | Op::NoLine, None) => self.lines.push(inst),
                (Op::FunctionParameter, None) if f.blocks.is_empty() => {
                    f.params.append(&mut self.lines);
                    f.params.push(inst);
                }
                (Op::Label, None) => {
                    let lines = std::mem::take(&mut self.lines);
                    self.block =
                        Some(Block { label: inst.id().unwrap_or(0), at: inst.at, lines, body: vec![] });
                }
                (_, Some(b)) if op != Op::Label => {
                    let end = inst.is_terminator();
                    b.body.push(inst);
                    if end {
                        f.blocks.extend(self.block.take());
                    }
                }
                _ => return Err(format!("Op{op:?} between the blocks of a function")),
            }
            return Ok(());
        }
        let section = match op {
            Op::Capability => &mut m.capabilities,
            Op::Extension => &mut m.extensions,
            Op::ExtInstImport => &mut m.imports,
            Op::EntryPoint => &mut m.entry_points,
            Op::ExecutionMode | Op::ExecutionModeId => &mut m.modes,
            Op::String | Op::Source | Op::SourceExtension | Op::SourceContinued => &mut m.strings,
            Op::Name | Op::MemberName => &mut m.names,
            Op::ModuleProcessed => &mut m.processed,
            Op::MemoryModel => {
                m.memory_model = Some(inst);
                return Ok(());
            }
            _ if op.is_annotation() => &mut m.annotations,
            Op::Line | Op::NoLine if self.done => &mut self.lines,
            _ if self.done => &mut m.tail,
            _ => &mut m.globals,
        };
        section.push(inst);
        Ok(())
    }
}

impl Consumer for Reader<'_> {
    fn initialize(&mut self) -> ParseAction {
        ParseAction::Continue
    }
    fn finalize(&mut self) -> ParseAction {
        if self.function.is_some() {
            return ParseAction::Error(Box::new(Malformed("a function without its end".into())));
        }
        if let Some(m) = &mut self.module {
            m.tail.append(&mut self.lines);
        }
        ParseAction::Continue
    }
    fn consume_header(&mut self, _: ModuleHeader) -> ParseAction {
        // rspirv puts its own name in as the generator.
        let &[_, version, generator, bound, schema, ..] = self.words else { return ParseAction::Stop };
        self.module = Some(Module {
            version,
            generator,
            schema,
            bound,
            capabilities: vec![],
            extensions: vec![],
            imports: vec![],
            memory_model: None,
            entry_points: vec![],
            modes: vec![],
            strings: vec![],
            names: vec![],
            processed: vec![],
            annotations: vec![],
            globals: vec![],
            functions: vec![],
            tail: vec![],
            index: Index::default(),
        });
        ParseAction::Continue
    }
    fn consume_instruction(&mut self, inst: Instruction) -> ParseAction {
        match self.take(inst) {
            Ok(()) => ParseAction::Continue,
            Err(e) => ParseAction::Error(Box::new(Malformed(e))),
        }
    }
}
