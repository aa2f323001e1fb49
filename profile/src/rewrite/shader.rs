//! What a pass is given: one entry point's module, and everything that may be done to it.
//!
//! A pass puts calls of helper functions at places: where blocks of the original begin and end, before instructions, on
//! edges, where invocations leave. Guarantees: blocks are found by their labels, so that what other passes put in is not
//! seen; whatever has a number in memory (counters, probes) is numbered here. Refuses more counters or probes than there
//! are numbers.

use super::lookup::Lookup;
use super::sample::Sampling;
use super::spread::{Replays, Spread};
use super::variant::Site;
use super::{Facts, Probes};
use crate::spirv::{EntryPoint, Imported, Inst, Module, Op, Operand, Place, Result, Types, malformed};
use crate::{Needs, ShaderHash, SourceLine, Stage};
use std::collections::HashSet;
use std::sync::Arc;

/// See the module's header.
#[derive(Clone, Debug)]
pub struct Shader {
    /// The hash of the module as the application made it.
    pub hash: ShaderHash,
    /// Its stage.
    pub stage: Stage,
    /// The entry point.
    pub entry: EntryPoint,
    /// The module as the application made it, reduced to the entry point.
    pub original: Arc<Module>,
    /// The module as it is now, reduced to the entry point.
    pub module: Module,
    /// Its types and constants.
    pub types: Types,
    /// What is known of the original.
    pub facts: Facts,
    /// What was brought from libraries.
    pub imported: Imported,
    /// What the device offers.
    pub device: Device,
    pub(super) lookup: Lookup,
    pub(super) counters: u32,
    /// Where the running pass's counters begin.
    pub(super) first_counter: u32,
    /// Counters of each action, and where the running pass's begin.
    pub(super) action_counters: u32,
    pub(super) first_action_counter: u32,
    /// What the replay pushes before each action, where a probe wants it.
    pub(super) pushed: Option<Pushed>,
    /// The same of what is given to a launch.
    pub(super) given: Option<Pushed>,
    /// What its launch index has become.
    pub(super) launch: Launch,
    pub(super) probes: u32,
    pub(super) sites: Vec<Site>,
    pub(super) notes: Vec<String>,
    /// How many replays its places are spread over.
    pub(super) replays: u32,
}

/// The member that is pushed: its block's type, and its number.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Pushed {
    /// The struct.
    pub structure: u32,
    /// The member.
    pub member: u32,
    /// The block.
    pub(super) variable: u32,
}

/// What is known of a shader's launch index.
#[derive(Clone, Copy, Debug, Default)]
pub struct Launch {
    /// It is mapped wherever it is read.
    pub(super) mapped: bool,
    /// The copy, and its type.
    pub(super) copy: Option<(u32, u32)>,
}

/// What a device offers that rewriting makes use of, and what its compiler wants.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Hash)]
pub struct Device {
    /// Atomic additions to 64-bit integers in memory (shaderBufferInt64Atomics, shaderInt64).
    pub atomic_64: bool,
    /// All probe functions are marked not to be inlined, not only those of which there would be too many copies
    /// (`calls.rs`): a compiler that heeds it takes time in proportion to the calls and not to what they call. (llvmpipe's
    /// inlines everything. NVIDIA's heeds it, which made small compute pipelines slower to make and to run.)
    pub keep_calls: bool,
    /// Subgroup operations in any-hit shaders hang it: passes that use them leave those shaders alone.
    pub lone_any_hits: bool,
    /// Nothing can be pushed before actions: the pipeline's layout has no room for it, or the shader none. Passes that count
    /// by action count by frame then.
    pub no_actions: bool,
    /// The clock that shaders can read is the subgroup's: there is none of the whole device.
    pub own_clock: bool,
    /// Shaders can read a clock of the subgroup.
    pub subgroup_clock: bool,
    /// Shaders can ask where they run: VK_NV_shader_sm_builtins.
    pub sm_builtins: bool,
    /// Invocations are reordered by VK_EXT_ray_tracing_invocation_reorder, as there is no VK_NV_….
    pub reorder_ext: bool,
    /// Invocations in a full subgroup; 0 where that is not known.
    pub subgroup_size: u32,
    /// Only the work of actions counts of which the replay says so (`chosen.rs`).
    pub chosen_only: bool,
    /// How much of the work counts (`sampling.rs`).
    pub sampling: Sampling,
    /// Which of several replays the shader is for (`spread.rs`).
    pub replays: Replays,
}

/// Why a pass leaves a shader alone.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub enum Leaves {
    /// Subgroup operations in an any-hit shader.
    LoneAnyHit,
    /// Nothing can be pushed, so that nobody can say what is chosen.
    NoActions,
}

impl Device {
    /// Why a pass that needs this in a stage has to leave it alone here.
    pub fn leaves(self, stage: Stage, needs: Needs) -> Option<Leaves> {
        let alone = needs.subgroups && !needs.alone_if_need;
        if self.lone_any_hits && stage == Stage::AnyHit && alone {
            return Some(Leaves::LoneAnyHit);
        }
        (self.no_actions && self.chosen_only).then_some(Leaves::NoActions)
    }
}

/// How invocations leave an entry point.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub enum ExitKind {
    /// OpReturn of the entry point's function.
    Return,
    /// OpKill, OpTerminateInvocation.
    Kill,
    /// OpDemoteToHelperInvocation: it goes on as a helper, which nobody counts.
    Demote,
    /// OpIgnoreIntersectionKHR.
    IgnoreIntersection,
    /// OpTerminateRayKHR.
    TerminateRay,
    /// OpEmitMeshTasksEXT.
    EmitMeshTasks,
}

/// A place where invocations leave.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Exit {
    /// Which function of the module.
    pub function: usize,
    /// Before what.
    pub place: Place,
    /// How.
    pub kind: ExitKind,
}

impl Shader {
    /// Spreads so many places over the replays that there are.
    pub fn spread(&mut self, places: usize) -> Spread {
        let spread = self.device.replays.spread(places);
        self.replays = self.replays.max(spread.over);
        spread
    }

    /// For places that have to count in one replay together.
    pub fn together(&self) -> Spread {
        self.device.replays.spread(1)
    }

    /// Where a function of the facts is in the module now.
    pub fn function(&self, function: u32) -> usize {
        let id = self.facts.functions[function as usize].id;
        self.lookup.function(&self.module, id).expect("functions of the original stay")
    }

    /// Where a block of the facts is in the module now: function, block.
    pub fn block(&self, function: u32, block: u32) -> (usize, usize) {
        let f = self.function(function);
        let label = self.facts.functions[function as usize].blocks[block as usize].label;
        let b = self.lookup.block(&self.module.functions[f], label);
        (f, b.expect("blocks of the original stay"))
    }

    /// Every block that the entry of its function reaches, by index into the facts: (function, block).
    pub fn blocks(&self) -> Vec<(u32, u32)> {
        let mut all = Vec::new();
        for (f, function) in self.facts.functions.iter().enumerate() {
            let reached = function.blocks.iter().enumerate().filter(|b| b.1.reached);
            all.extend(reached.map(|(b, _)| (f as u32, b as u32)));
        }
        all
    }

    /// The block of the facts with this label.
    pub fn block_of_label(&self, function: u32, label: u32) -> Option<u32> {
        let blocks = &self.facts.functions[function as usize].blocks;
        blocks.iter().position(|b| b.label == label).map(|b| b as u32)
    }

    /// Has the entry point do this instead of all that it did; the last of it leaves.
    pub fn do_instead(&mut self, body: Vec<Inst>) {
        let entry = self.function(0);
        let blocks = &mut self.module.functions[entry].blocks;
        let results = blocks.iter().flat_map(|b| b.body.iter().filter_map(Inst::id));
        let gone: HashSet<u32> = results.chain(blocks[1..].iter().map(|b| b.label)).collect();
        blocks.truncate(1);
        blocks[0].body = body;
        let stays = |i: &Inst| i.id_at(0).is_none_or(|id| !gone.contains(&id));
        self.module.names.retain(stays);
        self.module.annotations.retain(stays);
    }

    /// A 32-bit constant.
    pub fn constant(&mut self, n: u32) -> u32 {
        self.types.u32(&mut self.module, n)
    }

    /// Brings a probe function; its id.
    pub fn import(&mut self, probes: &Probes, name: &str) -> Result<u32> {
        self.imported.keep_calls = self.device.keep_calls;
        probes.of(&self.module, self.stage, self.device.atomic_64).import(
            &mut self.module,
            &mut self.types,
            &mut self.imported,
            name,
        )
    }

    /// A call of a function that returns nothing.
    pub fn call(&mut self, function: u32, arguments: &[u32]) -> Inst {
        let void = self.types.void(&mut self.module);
        self.call_for(function, void, arguments).0
    }

    /// A call of a function that returns a value of a type; the call and its result.
    pub fn call_for(&mut self, function: u32, ty: u32, arguments: &[u32]) -> (Inst, u32) {
        let id = self.module.fresh();
        let operands =
            std::iter::once(function).chain(arguments.iter().copied()).map(Operand::IdRef).collect();
        (Inst::new(Op::FunctionCall, Some(ty), Some(id), operands), id)
    }

    /// So many consecutive counters; the first one's number, for the shader, and its number in the pass's region, for
    /// the site.
    pub fn reserve_counters(&mut self, n: u32) -> Result<(u32, u32)> {
        let first = self.counters;
        match first.checked_add(n).filter(|&all| all < 1 << 29) {
            Some(all) => self.counters = all,
            None => return malformed(format!("{first} and {n} counters are too many")),
        }
        Ok((first, first - self.first_counter))
    }

    /// So many consecutive counters that each action has for itself: each draw, dispatch and trace. Numbered as
    /// [`Shader::reserve_counters`]'s, and apart from those.
    pub fn reserve_action_counters(&mut self, n: u32) -> Result<(u32, u32)> {
        let first = self.action_counters;
        match first.checked_add(n).filter(|&all| all < 1 << 24) {
            Some(all) => self.action_counters = all,
            None => return malformed(format!("{first} and {n} counters of each action are too many")),
        }
        Ok((first, first - self.first_action_counter))
    }

    /// A probe whose records have this many words behind its number; its number for the shader to write: the constant
    /// `probe_base` is to be added.
    pub fn reserve_probe(&mut self) -> u32 {
        self.probes += 1;
        self.probes - 1
    }

    /// A site where a block of the original begins, without anything to measure with.
    pub fn block_site(&self, function: u32, block: u32, kind: u32) -> Site {
        let of = &self.facts.functions[function as usize].blocks[block as usize];
        Site {
            function,
            block,
            word_offset: of.word_offset,
            line: of.line.clone(),
            kind,
            counter: None,
            probe: None,
            each: None,
            data: vec![],
        }
    }

    /// Says something of the shader that its user has to know.
    pub fn note(&mut self, what: String) {
        self.notes.push(what);
    }

    /// Notes a site.
    pub fn site(&mut self, site: Site) {
        self.sites.push(site);
    }

    /// The line of an instruction of the original, where the module carries it.
    pub fn line_of_block(&self, function: u32, block: u32) -> Option<SourceLine> {
        self.facts.functions[function as usize].blocks[block as usize].line.clone()
    }

    /// Puts instructions in where a block of the original begins.
    pub fn at_begin(&mut self, function: u32, block: u32, insts: Vec<Inst>) {
        let (f, b) = self.block(function, block);
        let place = Place::begin(&self.module.functions[f], b);
        self.module.functions[f].insert(vec![(place, insts)]);
    }

    /// Puts instructions in where a block of the original ends: before its terminator and the merge that belongs to it.
    pub fn at_end(&mut self, function: u32, block: u32, insts: Vec<Inst>) {
        let (f, b) = self.block(function, block);
        let place = Place::end(&self.module.functions[f], b);
        self.module.functions[f].insert(vec![(place, insts)]);
    }

    /// Every place where invocations leave the entry point, in the module as it is now.
    pub fn exits(&self) -> Vec<Exit> {
        let mut exits = Vec::new();
        for function in self.module.reachable(self.entry.function) {
            let f = &self.module.functions[function];
            let is_entry = f.id() == self.entry.function;
            for (block, b) in f.blocks.iter().enumerate() {
                for (before, i) in b.body.iter().enumerate() {
                    let kind = match i.op() {
                        Op::Return if is_entry => ExitKind::Return,
                        Op::Kill | Op::TerminateInvocation => ExitKind::Kill,
                        Op::DemoteToHelperInvocation => ExitKind::Demote,
                        Op::IgnoreIntersectionKHR | Op::IgnoreIntersectionNV => ExitKind::IgnoreIntersection,
                        Op::TerminateRayKHR | Op::TerminateRayNV => ExitKind::TerminateRay,
                        Op::EmitMeshTasksEXT => ExitKind::EmitMeshTasks,
                        _ => continue,
                    };
                    let place =
                        if i.is_terminator() { Place::end(f, block) } else { Place { block, before } };
                    exits.push(Exit { function, place, kind });
                }
            }
        }
        exits
    }
}
