//! What can be taken away from a capture, unit by unit: its blocks first, then elements of arrays that calls were given (`elements`), then what functions of
//! shaders do, then the data that it writes.
//!
//! Guarantees: what is written is a capture; what is not taken away is, byte for byte, as it was. Refuses blocks that cannot be read.

use super::graph::{Graph, Level};
use crate::failure::Failure;
use gfxr_parse::ahead::{Call, What, read};
use gfxr_parse::container::{Block, BlockKind, Capture, FrameCounter, FrameRule, Payload, Scratch};
use gfxr_parse::encode::encode_call;
use gfxr_parse::writer::Writer;
use profile::ShaderHash;
use profile::changes::Code;
use profile::spirv::Module;
use std::collections::{BTreeMap, BTreeSet, HashMap};
use std::ops::Range;

/// Bytes of data that are not divided any more, and parts that data are divided into at most.
const PIECES: (usize, usize) = (256, 16);

/// Their names, in the order in which they are searched. What only such elements named can go when these have.
pub const STAGES: [&str; 5] =
    ["blocks", "elements of arrays", "blocks behind these", "functions of shaders", "pieces of data"];

/// See the module's header.
pub trait Parts {
    /// What its units are, for people.
    fn name(&self) -> &'static str;
    /// How many there are.
    fn units(&self) -> usize;
    /// What belongs together, from large to small.
    fn levels(&self) -> &[Level];
    /// These, and all that cannot stay without them and what is gone.
    fn with_users(&self, _gone: &[bool], units: &[u32]) -> Vec<u32> {
        units.to_vec()
    }
    /// Puts back into `gone` what cannot go, with what was gone before.
    fn keep(&self, _before: &[bool], _gone: &mut [bool]) {}
    /// The capture without what is gone.
    fn written(&self, gone: &[bool]) -> Result<Vec<u8>, Failure>;
}

/// Blocks.
pub struct Blocks<'c> {
    capture: &'c Capture,
    graph: Graph,
    stage: usize,
}

impl<'c> Blocks<'c> {
    /// Those of a capture.
    pub fn of(capture: &'c Capture, stage: usize) -> Result<Self, Failure> {
        Ok(Blocks { capture, graph: graph(capture)?, stage })
    }

    /// What is gone where nothing is submitted or waited for.
    pub fn idle(&self) -> Vec<bool> {
        self.graph.idle()
    }
}

impl Parts for Blocks<'_> {
    fn name(&self) -> &'static str {
        STAGES[self.stage]
    }

    fn units(&self) -> usize {
        self.graph.blocks()
    }

    fn levels(&self) -> &[Level] {
        &self.graph.levels
    }

    fn with_users(&self, gone: &[bool], units: &[u32]) -> Vec<u32> {
        self.graph.with_users(gone, units.iter().copied())
    }

    fn keep(&self, before: &[bool], gone: &mut [bool]) {
        self.graph.keep(before, gone);
    }

    fn written(&self, gone: &[bool]) -> Result<Vec<u8>, Failure> {
        let mut gone = gone.iter();
        rewritten(self.capture, |writer, block| match gone.next() {
            Some(true) => Ok(()),
            _ => writer.raw(block).map_err(Failure::new),
        })
    }
}

/// What stands in a capture.
pub fn graph(capture: &Capture) -> Result<Graph, Failure> {
    Graph::of(capture).map_err(|e| Failure::new(format_args!("{}: {e}", capture.name())))
}

/// A capture with each block as `put` writes it.
pub fn rewritten(
    capture: &Capture,
    mut put: impl FnMut(&mut Writer<Vec<u8>>, &Block<'_>) -> Result<(), Failure>,
) -> Result<Vec<u8>, Failure> {
    let mut writer = Writer::new(vec![], capture.header()).map_err(Failure::new)?;
    for block in capture.blocks_of_main_file() {
        put(&mut writer, &block)?;
    }
    writer.finish().map_err(Failure::new)
}

/// Units that belong together, from large to small, and then each by itself.
pub fn levels<const N: usize>(
    together: [(&'static str, Vec<Vec<u32>>); N],
    each: &'static str,
    units: usize,
) -> Vec<Level> {
    let one = (0..units as u32).map(|u| vec![u]).collect();
    let all = together.into_iter().chain([(each, one)]);
    all.map(|(name, groups)| Level { name, groups }).collect()
}

/// A call, and where it has which shader.
type WithCode = (Box<Call>, Vec<(Code, ShaderHash)>);

/// Functions of shaders: one that is taken away does nothing any more, and what only it calls is gone.
pub struct Functions<'c> {
    capture: &'c Capture,
    /// Shaders by their hash.
    modules: HashMap<ShaderHash, Module>,
    /// By block: calls that have any, and where.
    calls: BTreeMap<u64, WithCode>,
    units: Vec<(ShaderHash, u32)>,
    levels: Vec<Level>,
}

impl<'c> Functions<'c> {
    /// Those of a capture.
    pub fn of(capture: &'c Capture) -> Result<Self, Failure> {
        let (mut modules, mut units, mut calls) = (HashMap::new(), vec![], BTreeMap::new());
        let mut shaders: Vec<Vec<u32>> = vec![];
        each(capture, &mut |block, call| {
            let mut places = vec![];
            for (place, words) in Code::all(&call) {
                let hash = ShaderHash::of(&words);
                places.push((place, hash));
                if modules.contains_key(&hash) {
                    continue;
                }
                // (what is not understood stays as it is)
                let Ok(module) = Module::read(&words) else { continue };
                let first = units.len() as u32;
                units.extend(module.busy_functions().into_iter().map(|f| (hash, f)));
                shaders.push((first..units.len() as u32).collect());
                modules.insert(hash, module);
            }
            if !places.is_empty() {
                calls.insert(block, (call, places));
            }
        })?;
        let levels = levels([("shaders", shaders)], "functions", units.len());
        Ok(Functions { capture, modules, calls, units, levels })
    }
}

impl Parts for Functions<'_> {
    fn name(&self) -> &'static str {
        STAGES[3]
    }

    fn units(&self) -> usize {
        self.units.len()
    }

    fn levels(&self) -> &[Level] {
        &self.levels
    }

    fn written(&self, gone: &[bool]) -> Result<Vec<u8>, Failure> {
        let mut emptied: HashMap<ShaderHash, BTreeSet<u32>> = HashMap::new();
        for ((hash, function), _) in self.units.iter().zip(gone).filter(|u| *u.1) {
            emptied.entry(*hash).or_default().insert(*function);
        }
        let code: HashMap<ShaderHash, Vec<u32>> = emptied
            .into_iter()
            .map(|(hash, functions)| {
                let mut module = self.modules[&hash].clone();
                module.empty(&functions);
                (hash, module.words())
            })
            .collect();
        rewritten(self.capture, |writer, block| {
            let (call, places) = match self.calls.get(&block.index) {
                Some((call, places)) if places.iter().any(|p| code.contains_key(&p.1)) => (call, places),
                _ => return writer.raw(block).map_err(Failure::new),
            };
            let mut image = call.image.clone();
            for (place, hash) in places {
                if let Some(new) = code.get(hash) {
                    place.set(&mut image, new);
                }
            }
            let mut parameters = vec![];
            encode_call(&image, &mut parameters);
            writer.call(call.command.id, call.thread, &parameters).map_err(Failure::new)
        })
    }
}

/// Every call of a capture, decoded, with its block.
pub fn each(capture: &Capture, to: &mut dyn FnMut(u64, Box<Call>)) -> Result<(), Failure> {
    let (mut scratch, mut frames) = (Scratch::new(), FrameCounter::with_rule(FrameRule::detect(capture)));
    for block in capture.blocks_of_main_file() {
        let place = frames.feed(&block);
        if let What::Call(call) = read(&block, place, None, &mut scratch).map_err(Failure::new)? {
            to(block.index, call);
        }
    }
    Ok(())
}

/// A block, and some of its data.
type Piece = (u64, Range<usize>);

/// Data that blocks write to memory, buffers and images: what is taken away is zero.
pub struct Data<'c> {
    capture: &'c Capture,
    units: Vec<Piece>,
    levels: Vec<Level>,
}

impl<'c> Data<'c> {
    /// Those of a capture that are not zero, and that nothing reads by address.
    pub fn of(capture: &'c Capture) -> Result<Self, Failure> {
        let mut scratch = Scratch::new();
        let (mut units, mut blocks): (Vec<Piece>, Vec<Vec<u32>>) = (vec![], vec![]);
        let by_address = graph(capture)?.by_address;
        for block in capture.blocks_of_main_file() {
            // (without these a GPU may never end)
            if by_address.contains(&(block.index as u32)) {
                continue;
            }
            let Ok(BlockKind::Meta(mut meta)) = block.kind() else { continue };
            let Some(payload) = meta.meta.payload_mut() else { continue };
            let bytes = payload.to_vec(&mut scratch).map_err(Failure::new)?;
            let size = bytes.len().div_ceil(PIECES.1).max(PIECES.0);
            let first = units.len() as u32;
            let pieces = (0..bytes.len()).step_by(size).map(|at| at..(at + size).min(bytes.len()));
            let some = pieces.filter(|p| bytes[p.clone()].iter().any(|b| *b != 0));
            units.extend(some.map(|p| (block.index, p)));
            if units.len() as u32 > first {
                blocks.push((first..units.len() as u32).collect());
            }
        }
        let levels = levels([("data", blocks)], STAGES[4], units.len());
        Ok(Data { capture, units, levels })
    }
}

impl Parts for Data<'_> {
    fn name(&self) -> &'static str {
        STAGES[4]
    }

    fn units(&self) -> usize {
        self.units.len()
    }

    fn levels(&self) -> &[Level] {
        &self.levels
    }

    fn written(&self, gone: &[bool]) -> Result<Vec<u8>, Failure> {
        let mut zeros: HashMap<u64, Vec<Range<usize>>> = HashMap::new();
        for ((block, piece), _) in self.units.iter().zip(gone).filter(|u| *u.1) {
            zeros.entry(*block).or_default().push(piece.clone());
        }
        let mut scratch = Scratch::new();
        rewritten(self.capture, |writer, block| {
            let Some(pieces) = zeros.get(&block.index) else {
                return writer.raw(block).map_err(Failure::new);
            };
            let mut kind = block.kind().map_err(Failure::new)?;
            let mut bytes = vec![];
            if let BlockKind::Meta(meta) = &mut kind
                && let Some(payload) = meta.meta.payload_mut()
            {
                bytes = payload.to_vec(&mut scratch).map_err(Failure::new)?;
                pieces.iter().for_each(|p| bytes[p.clone()].fill(0));
                *payload = Payload::plain(&bytes);
            }
            writer.block(&kind).map_err(Failure::new)
        })
    }
}
