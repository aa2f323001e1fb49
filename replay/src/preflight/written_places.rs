//! Which commands write to places of buffers that shaders see in a copy: it is made before such a command and copied back behind it.
//!
//! The capture is followed as the device runs it: sets as they are at the submission, secondaries where they are executed. Shaders
//! write through every storage descriptor that they do not declare as only read. Between the commands of a render pass nothing can
//! be copied, so a pass counts as one command, a rendering that is suspended and resumed too. Guarantees: where there is no
//! conflict, each command reads what those before it have written. A conflict is a command that writes bytes which it sees at
//! another place, too, if one of the two is a copy. Not seen: one memory as two buffers, and what is reached by addresses.
//! Refuses nothing.

use super::alignment::Place;
use super::calls::calls;
use super::used::First;
use gfxr_parse::container::Capture;
use pointers::{Checked, written};
use std::collections::{BTreeMap, BTreeSet, HashMap};
use std::rc::Rc;
use world::commands::{self, RENDERING_SUSPENDING, Sizes};
use world::layouts::ty;
use world::objects::Module;
use world::sets::Descriptor;
use world::{At, Command, Follow, Invocation, Invoke, Observer, Outcome, World};

/// See the module's header.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct WrittenPlaces {
    /// Copies that are written, by the block of the command that writes or of the one that ends the pass: buffers and places.
    pub by_block: HashMap<u64, BTreeSet<(u64, Place)>>,
    /// The first command in conflict, and the place of a buffer that it writes.
    pub conflict: Option<(First, Place)>,
}

/// Looks through a capture; `copied`: whether descriptors that see this place of a buffer see a copy.
pub fn scan(capture: &Capture, copied: &dyn Fn(u64, &Place) -> bool) -> WrittenPlaces {
    let mut follow = Follow::new();
    let mut scan = Scan {
        copied,
        found: WrittenPlaces::default(),
        modules: HashMap::new(),
        known: HashMap::new(),
        passes: HashMap::new(),
    };
    calls(capture, |_| true, |call| follow.call(call, Outcome::captured(call), &mut scan));
    follow.finish(&mut scan);
    scan.found
}

/// A place that a command sees.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
struct Seen {
    buffer: u64,
    place: Place,
    copied: bool,
    writes: bool,
}

impl Seen {
    /// Whether what one of both writes would not be what the other sees.
    fn conflicts(&self, other: &Seen) -> bool {
        (self.writes || other.writes)
            && (self.copied || other.copied)
            && self.buffer == other.buffer
            && self.place.overlaps(&other.place)
            && (self.copied, self.place) != (other.copied, other.place)
    }
}

/// What a pass has seen so far.
#[derive(Default)]
struct Pass {
    seen: BTreeSet<Seen>,
    /// Another rendering goes on with it.
    suspends: bool,
}

/// Bindings that are remembered at a time.
const MOST_KNOWN: usize = 1 << 16;

/// The descriptors of a module, and whether it may write through each; none if it is not understood.
type Descriptors = Option<BTreeMap<(u32, u32), bool>>;

struct Scan<'c> {
    copied: &'c dyn Fn(u64, &Place) -> bool,
    found: WrittenPlaces,
    /// By where the module is, which is kept.
    modules: HashMap<*const Module, (Rc<Module>, Rc<Descriptors>)>,
    /// By the number of bindings and the versions of what is bound.
    known: HashMap<(u64, Vec<u64>), Rc<[Seen]>>,
    passes: HashMap<u64, Pass>,
}

impl Observer for Scan<'_> {
    fn invocation(&mut self, world: &World, at: &At, invocation: &Invocation<'_>) {
        let seen = self.seen(world, invocation.invoke);
        let first = (at.block, invocation.invoke.command.name);
        let mut pass = match at.pass {
            0 => Pass::default(),
            pass => self.passes.remove(&pass).unwrap_or_default(),
        };
        // What an earlier subpass wrote may be read as anything in the next.
        let inputs = if at.subpass > 0 { inputs(invocation.invoke) } else { vec![] };
        for new in seen.iter().copied().chain(inputs) {
            if !pass.seen.insert(new) || self.found.conflict.is_some() {
                continue;
            }
            if let Some(other) = pass.seen.iter().find(|s| s.conflicts(&new)) {
                let writes = if new.writes { new } else { *other };
                self.found.conflict = Some((first, writes.place));
            }
        }
        match at.pass {
            0 => self.ends(at.block, &pass),
            number => drop(self.passes.insert(number, pass)),
        }
    }

    fn invoked(&mut self, _: &mut World, _: &At, _: &Invocation<'_>) {}

    fn command(&mut self, _: &World, at: &At, command: &Command) {
        match command {
            Command::BeginPass(p) => {
                let pass = self.passes.entry(at.pass).or_default();
                pass.suspends = p.flags & RENDERING_SUSPENDING != 0;
            }
            Command::EndPass => {
                if let Some(pass) = self.passes.remove(&at.pass) {
                    match pass.suspends {
                        true => drop(self.passes.insert(at.pass, pass)),
                        false => self.ends(at.block, &pass),
                    }
                }
            }
            _ => {}
        }
    }
}

impl Scan<'_> {
    /// What was seen until here has run.
    fn ends(&mut self, block: u64, pass: &Pass) {
        let written = pass.seen.iter().filter(|s| s.copied && s.writes);
        let written: BTreeSet<_> = written.map(|s| (s.buffer, s.place)).collect();
        if !written.is_empty() {
            self.found.by_block.entry(block).or_default().extend(written);
        }
    }

    /// The places that an invocation's descriptors see.
    fn seen(&mut self, world: &World, invoke: &Invoke) -> Rc<[Seen]> {
        let sets = invoke.bindings.program.layout().map_or(0, |l| l.sets.len());
        let versions = (0..sets).map(|n| match world.set(invoke, n) {
            world::AtSet::Set { contents, .. } | world::AtSet::Push { contents } => contents.version,
            _ => 0,
        });
        let key = (invoke.bindings.number, versions.collect());
        if let Some(known) = self.known.get(&key) {
            return Rc::clone(known);
        }
        let stages = invoke.bindings.program.stages();
        let modules: Vec<_> = stages.iter().map(|s| self.module(&s.module)).collect();
        let (mut found, mut all) = (Vec::new(), BTreeSet::new());
        for n in 0..sets as u32 {
            let layout = invoke.bindings.program.layout().and_then(|l| l.set(n as usize));
            for b in layout.iter().flat_map(|l| &l.bindings) {
                let mut used = modules.iter().filter_map(|m| match &**m {
                    Some(known) => known.get(&(n, b.binding)).copied(),
                    None => Some(true),
                });
                let Some(first) = used.next() else { continue };
                let writes = first || used.any(|w| w);
                world.bound_at(invoke, n, b.binding, None, &mut found);
                for (_, d) in found.drain(..) {
                    all.extend(self.place(world, &d, writes));
                }
            }
        }
        let all: Rc<[Seen]> = all.into_iter().collect();
        if self.known.len() >= MOST_KNOWN {
            self.known.clear();
        }
        self.known.insert(key, Rc::clone(&all));
        all
    }

    fn place(&self, world: &World, d: &Descriptor, writes: bool) -> Option<Seen> {
        let (kind, buffer, place) = match *d {
            Descriptor::Buffer { ty, buffer, offset, range } => {
                (ty, buffer, Place::new(ty, offset, world.range_of(buffer, offset, range))?)
            }
            Descriptor::Texel { ty, view } => {
                let view = world.buffer_views.get(&view)?;
                (ty, view.buffer, Place::viewed(view))
            }
            _ => return None,
        };
        let copied = (self.copied)(buffer, &place);
        Some(Seen { buffer, place, copied, writes: writes && ty::writable(kind) })
    }

    fn module(&mut self, module: &Rc<Module>) -> Rc<Descriptors> {
        let read = || {
            let descriptors = Checked::new(&module.words).ok().map(written::descriptors);
            (Rc::clone(module), Rc::new(descriptors))
        };
        Rc::clone(&self.modules.entry(Rc::as_ptr(module)).or_insert_with(read).1)
    }
}

/// What a draw reads beside its descriptors.
fn inputs(invoke: &Invoke) -> Vec<Seen> {
    let mut all = Vec::new();
    let mut read = |place: commands::Place, bytes| {
        if let commands::Place::Buffer { buffer, offset } = place {
            let place = Place::new(ty::UNIFORM_BUFFER, offset, bytes).expect("it is one of a buffer");
            all.push(Seen { buffer, place, copied: false, writes: false });
        }
    };
    if let Some(i) = &invoke.inputs {
        i.vertices.iter().flatten().for_each(|s| read(s.place, s.size));
        i.indices.iter().for_each(|(s, _)| read(s.place, s.size));
    }
    if let Sizes::Indirect(i) = &invoke.sizes {
        read(i.place, i.size.saturating_add(i.stride.saturating_mul(i.draws.into())));
        i.counter.iter().for_each(|c| read(*c, 4));
    }
    all
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::preflight::alignment::Of;

    fn found(name: &str) -> WrittenPlaces {
        let path = format!("{}/../captures/samples/{name}.gfxr", env!("CARGO_MANIFEST_DIR"));
        let capture = Capture::new(std::fs::read(path).expect("a sample")).expect("a capture");
        scan(&capture, &|_, p| !p.offset.is_multiple_of(1024))
    }

    #[test]
    fn dispatches_and_passes_are_found_with_what_they_write() {
        let found = found("offsets");
        assert_eq!(found.conflict, None);
        let mut written: Vec<(u64, &BTreeSet<(u64, Place)>)> =
            found.by_block.iter().map(|(block, places)| (*block, places)).collect();
        written.sort_unstable_by_key(|w| w.0);
        // A frame has seven dispatches and a pass that write a row each; what they read they do not write.
        assert_eq!(written.len(), 16);
        let (step, row) = (272, 256);
        let offsets = [step, 2 * step, 3 * step, 4 * step, 5 * step, 6 * step, 6 * step + 16, 7 * step];
        for ((_, places), (n, offset)) in written.iter().zip(offsets.iter().enumerate().cycle()) {
            let of = if n == 3 { Of::Texel(4) } else { Of::Storage };
            let place = Place { offset: *offset, bytes: row, of, dynamic: n == 1 };
            assert_eq!(places.iter().map(|p| p.1).collect::<Vec<_>>(), [place]);
        }
    }

    #[test]
    fn what_is_written_and_seen_twice_is_a_conflict() {
        let ((_, command), place) = found("offsets_twice").conflict.expect("it has one");
        assert_eq!((command, place.offset), ("vkCmdDispatch", 16));
    }
}
