//! What frames read of what was there before them: of buffers whether, of images which have a part that is read, or written only in part, before it
//! is discarded or written as a whole.
//!
//! Told of accesses and barriers by what follows synchronisation ([`Synchronisation`]). Guarantees: where it is not known whether
//! something is read, it is. What a pass clears or need not load counts as written as a whole if the pass covers all of its views. Images that are
//! read behind nothing but a discard are known, too, as drivers may keep what Vulkan lets them discard.

use profile::hooks::sync::bits::{
    ALL_COMMANDS, CLEAR, COLOR_ATTACHMENT_WRITE, DEPTH_STENCIL_ATTACHMENT_WRITE, MEMORY_READ, TRANSFER_WRITE,
};
use profile::hooks::sync::{ADDRESSED, Event, How, Part, Synchronisation};
use std::cell::RefCell;
use std::collections::{BTreeSet, HashMap, HashSet};
use std::rc::Rc;
use world::commands::{Command, Pass, Use};
use world::{At, Invocation, Observer, Submission, World};

/// More pieces than this are not counted one by one.
const MOST_PIECES: u64 = 1 << 14;

/// A piece of an image: bit of its aspect, level, layer.
type Piece = (u32, u32, u32);

/// What is known so far.
#[derive(Debug, Default)]
pub struct FirstUses {
    /// Buffers that are read.
    pub buffers: HashSet<u64>,
    /// Images of which a part is read.
    pub images: HashSet<u64>,
    /// Images of which a part is read that was discarded (by a transition from the layout UNDEFINED, or by a load that does not keep it), and not
    /// written as a whole.
    pub discarded: BTreeSet<u64>,
    /// Whatever has an address may be read.
    pub addressed: bool,
    /// Anything may be.
    pub anything: bool,
    /// Pieces that hold nothing of before any more: whether they were only discarded.
    gone: HashMap<u64, HashMap<Piece, bool>>,
    /// The pass that runs does not cover its attachments.
    in_part: bool,
    /// Images that it need not load, and does not clear.
    not_loaded: HashSet<u64>,
}

/// Observes a range of frames.
pub struct Watch {
    sync: Synchronisation,
    found: Rc<RefCell<FirstUses>>,
}

impl Watch {
    /// One that has seen nothing.
    pub fn new() -> Watch {
        let found = Rc::new(RefCell::new(FirstUses::default()));
        let to = found.clone();
        let tell = move |of: Part, event: Event| {
            let mut found = to.borrow_mut();
            match event {
                Event::Access(how) => found.access(of, how),
                // (from the layout UNDEFINED texels need not survive)
                Event::Barrier([0, new]) if new != 0 && of.aspects != 0 => found.gone(of, true),
                Event::Barrier(_) => {}
            }
        };
        Watch { sync: Synchronisation::of_events(Box::new(tell)), found }
    }

    /// A call that is followed next.
    pub fn call(&mut self, world: &World, call: &gfxr_parse::ahead::Call) {
        self.sync.call(world, call);
    }

    /// What was seen.
    pub fn found(self) -> FirstUses {
        self.found.take()
    }
}

impl FirstUses {
    fn access(&mut self, of: Part, How { stages, access, .. }: How) {
        let Part { object, aspects, .. } = of;
        let attachment = access & !(COLOR_ATTACHMENT_WRITE | DEPTH_STENCIL_ATTACHMENT_WRITE) == 0;
        let cleared = stages == CLEAR && access == TRANSFER_WRITE;
        // (presentation gives an image, or takes it)
        if (stages, access) == (ALL_COMMANDS, MEMORY_READ) {
            return;
        }
        match object {
            0 => self.anything = true,
            ADDRESSED => self.addressed = true,
            _ if aspects == 0 => {
                if access & !TRANSFER_WRITE != 0 {
                    self.buffers.insert(object);
                }
            }
            _ if cleared => self.gone(of, false),
            _ if attachment && !self.in_part => self.gone(of, self.not_loaded.contains(&object)),
            _ => {
                let gone = self.gone.get(&object);
                let how = |p: Piece| gone.and_then(|g| g.get(&p).copied());
                match pieces(of).and_then(|all| all.map(how).collect::<Option<Vec<bool>>>()) {
                    None => _ = self.images.insert(object),
                    Some(all) if all.contains(&true) => _ = self.discarded.insert(object),
                    Some(_) => {}
                }
            }
        }
    }

    /// A part is written as a whole, or discarded, which makes nothing of what was written since.
    fn gone(&mut self, of: Part, discarded: bool) {
        let Some(pieces) = pieces(of) else { return };
        let gone = self.gone.entry(of.object).or_default();
        pieces.for_each(|p| *gone.entry(p).or_insert(discarded) &= discarded);
    }
}

/// The pieces that a part is made of; none where they are too many.
fn pieces(Part { first, last, aspects, .. }: Part) -> Option<impl Iterator<Item = Piece>> {
    let (levels, layers) = ((first >> 32)..=(last >> 32), (first as u32)..=(last as u32));
    let bits: Vec<u32> = (0..7).map(|b| 1 << b).filter(|b| aspects & b != 0).collect();
    let count = |from: u64, to: u64| to.saturating_add(1).saturating_sub(from);
    let all = count(*levels.start(), *levels.end())
        .saturating_mul(count((*layers.start()).into(), (*layers.end()).into()))
        .saturating_mul(bits.len() as u64);
    let each = levels.flat_map(move |level| {
        let bits = bits.clone();
        layers.clone().flat_map(move |layer| bits.clone().into_iter().map(move |b| (b, level as u32, layer)))
    });
    (all <= MOST_PIECES).then_some(each)
}

/// Images that a pass neither loads nor clears (VK_ATTACHMENT_LOAD_OP_DONT_CARE), in one aspect at least.
fn not_loaded(world: &World, pass: &Pass) -> HashSet<u64> {
    const DONT_CARE: u32 = 2;
    const STENCIL: u32 = 4;
    let of = pass.attachments.iter().filter_map(|a| {
        let view = world.image_views.get(&a.view)?;
        // (of what has no stencil, the operation for stencil means nothing)
        let stencil = a.what == Use::Subpasses && view.range.aspects & STENCIL != 0;
        (a.load == DONT_CARE || stencil && a.stencil_load == DONT_CARE).then_some(view.image)
    });
    of.collect()
}

impl Observer for Watch {
    fn submission(&mut self, world: &World, s: &Submission) {
        self.sync.submission(world, s);
    }

    fn invocation(&mut self, world: &World, at: &At, invocation: &Invocation<'_>) {
        self.sync.invocation(world, at, invocation);
    }

    fn command(&mut self, world: &World, at: &At, command: &Command) {
        if let Command::BeginPass(pass) = command {
            const THREE_DIMENSIONAL: u32 = 2;
            const DEPTH_AND_STENCIL: u32 = 6;
            let used =
                |view: u64, what: Use| pass.attachments.iter().any(|a| a.view == view && a.what == what);
            let covers = |view: u64| {
                let Some(v) = world.image_views.get(&view) else { return false };
                let Some(i) = world.images.get(&v.image) else { return false };
                let size = |n: u32| i64::from((n >> v.range.level.min(31)).max(1));
                let [x, y, width, height] = pass.area;
                // (which of several layers a pass writes is not looked at, nor slices of images)
                let layers = if v.range.layers == u32::MAX {
                    i.layers - v.range.layer.min(i.layers)
                } else {
                    v.range.layers
                };
                let one = layers <= 1 && i.kind != THREE_DIMENSIONAL;
                // (outside of render passes each aspect is an attachment of its own)
                let whole = v.range.aspects & DEPTH_AND_STENCIL != DEPTH_AND_STENCIL
                    || used(view, Use::Subpasses)
                    || used(view, Use::Depth) && used(view, Use::Stencil);
                let covered = x.saturating_add(width) >= size(i.extent[0])
                    && y.saturating_add(height) >= size(i.extent[1]);
                one && whole && x <= 0 && y <= 0 && covered
            };
            let views = pass.attachments.iter().flat_map(|a| [a.view, a.resolve_view]);
            let mut found = self.found.borrow_mut();
            found.in_part = !views.filter(|v| *v != 0).all(covers);
            found.not_loaded = not_loaded(world, pass);
        }
        self.sync.command(world, at, command);
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    const READ: u64 = profile::hooks::sync::bits::SHADER_SAMPLED_READ;

    #[test]
    fn what_is_written_as_a_whole_first_is_not_read() {
        let mut of = FirstUses::default();
        let part = |object, level: u64, layers: u64| {
            let first = level << 32;
            Part { object, first, last: first | (layers - 1), aspects: 1 }
        };
        let how = |access| How { stages: 0, access, write: false };
        let buffer = Part { object: 10, last: 63, ..Part::default() };
        of.access(part(7, 0, 2), how(COLOR_ATTACHMENT_WRITE));
        of.access(part(7, 0, 1), how(READ));
        assert!(of.images.is_empty());
        of.access(part(7, 1, 1), how(READ));
        assert!(of.images.contains(&7), "another level");
        // Cleared in part.
        of.in_part = true;
        of.access(part(8, 0, 1), how(COLOR_ATTACHMENT_WRITE));
        assert!(of.images.contains(&8));
        // Copied to, and so perhaps in part; of buffers this reads nothing.
        of.access(part(9, 0, 1), how(TRANSFER_WRITE));
        of.access(buffer, how(TRANSFER_WRITE));
        assert!(of.images.contains(&9) && of.buffers.is_empty());
        of.access(buffer, how(READ));
        assert!(of.buffers.contains(&10) && !of.addressed && !of.anything);
    }

    #[test]
    fn what_is_only_discarded_first_is_told_apart() {
        let mut of = FirstUses::default();
        let part = |object| Part { object, aspects: 1, ..Part::default() };
        let how = |access| How { stages: 0, access, write: false };
        // A transition from UNDEFINED, then a read.
        of.gone(part(7), true);
        of.access(part(7), how(READ));
        // The same, but a pass clears it in between; and one that was written before it is discarded.
        of.gone(part(8), true);
        of.access(part(8), how(COLOR_ATTACHMENT_WRITE));
        of.access(part(8), how(READ));
        of.access(part(9), how(COLOR_ATTACHMENT_WRITE));
        of.gone(part(9), true);
        of.access(part(9), how(READ));
        assert!(of.images.is_empty(), "{:?}", of.images);
        assert_eq!(of.discarded, [7].into());
        // A pass that does not load it, and need not write all of it.
        of.not_loaded.insert(10);
        of.access(part(10), how(COLOR_ATTACHMENT_WRITE));
        of.access(part(10), how(READ));
        assert_eq!(of.discarded, [7, 10].into());
    }
}
