//! Rows on their way out: numbered, each access once between two barriers.

use super::super::executables::Put;
use super::bits::*;
use replay::error::{Error, Result};
use replay::follow::objects::Subresources;
use replay::follow::{At, Submission, World};
use std::collections::{HashMap, HashSet};
use trace::tables::{SYNC_ACCESSES, SYNC_BARRIERS, SYNC_OBJECTS, SYNC_SUBMISSIONS};
use trace::{Table, Value};

/// Stands for every buffer that has an address.
pub const ADDRESSED: u64 = u64::MAX;

const SHADER_DEVICE_ADDRESS: u64 = 0x2_0000;
const STRUCTURE_STORAGE: u64 = 0x10_0000;

/// How something is accessed.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub struct How {
    pub stages: u64,
    pub access: u64,
    pub write: bool,
}

/// Which part of what.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Hash)]
pub struct Part {
    pub object: u64,
    pub first: u64,
    pub last: u64,
    pub aspects: u32,
}

/// Of a barrier: all but where it stands.
pub struct BarrierRow {
    pub part: u64,
    pub kind: &'static str,
    pub scopes: replay::follow::commands::Scopes,
    pub of: Part,
    pub layouts: [u32; 2],
    pub transfer: bool,
}

/// See the module's header.
pub struct Rows {
    out: Put,
    failed: Option<Error>,
    sequence: u64,
    queue: u64,
    /// Since the queue's last barrier.
    seen: HashMap<u64, HashSet<(Part, How)>>,
    /// What programs and sets were seen since, so that their descriptors need not be looked at.
    bound: HashMap<u64, HashSet<(u64, u64)>>,
    objects: HashSet<u64>,
    /// Blocks of calls of the host, rising.
    host: Vec<u64>,
    last_block: HashMap<u64, u64>,
}

impl Rows {
    pub fn new(out: Put) -> Self {
        Rows {
            out,
            failed: None,
            sequence: 0,
            queue: 0,
            seen: HashMap::new(),
            bound: HashMap::new(),
            objects: HashSet::new(),
            host: vec![],
            last_block: HashMap::new(),
        }
    }

    /// What went wrong with writing.
    pub fn failed(&mut self) -> Result<()> {
        self.failed.take().map_or(Ok(()), Err)
    }

    fn put(&mut self, table: &'static Table, row: &[Value<'_>]) {
        if let Err(e) = (self.out)(table, row) {
            self.failed.get_or_insert(e);
        }
    }

    /// The next command, of this queue.
    pub fn next(&mut self, queue: u64) {
        self.sequence += 1;
        self.queue = queue;
    }

    /// The host did something.
    pub fn host(&mut self, block: u64) {
        self.host.push(block);
    }

    /// Whether this was looked at since the queue's last barrier; now it was.
    pub fn was_bound(&mut self, program: u64, bindings: u64) -> bool {
        !self.bound.entry(self.queue).or_default().insert((program, bindings))
    }

    pub fn submission(&mut self, s: &Submission) {
        self.next(s.queue);
        // (semaphores wait between: what was accessed before is accessed anew)
        self.forget(s.queue);
        let before = self.last_block.insert(s.queue, s.block).unwrap_or(0);
        let host = self.host.iter().filter(|b| (before..s.block).contains(b)).count();
        let row = [
            s.number,
            s.block,
            s.batch.0.into(),
            s.frame,
            s.queue,
            self.sequence,
            s.command_buffers.len() as u64,
            s.waits.len() as u64,
            s.waits.iter().fold(0, |all, w| all | w.stages),
            s.signals.len() as u64,
            s.fence,
            host as u64,
        ];
        self.put(&SYNC_SUBMISSIONS, &row.map(Value::U64));
    }

    fn forget(&mut self, queue: u64) {
        self.seen.entry(queue).or_default().clear();
        self.bound.entry(queue).or_default().clear();
    }

    pub fn barrier(&mut self, world: &World, at: &At, label: &str, b: &BarrierRow) {
        self.forget(at.queue);
        self.object(world, b.of.object);
        let n = Value::U64;
        let row = [
            n(self.sequence),
            n(b.part),
            Value::Text(b.kind),
            n(at.submission),
            n(at.recording),
            n(at.command.into()),
            n(at.block),
            n(at.pass),
            Value::Text(label),
            n(b.scopes.src_stages),
            n(b.scopes.src_access),
            n(b.scopes.dst_stages),
            n(b.scopes.dst_access),
            n(b.of.object),
            n(b.of.first),
            n(b.of.last),
            n(b.of.aspects.into()),
            n(b.layouts[0].into()),
            n(b.layouts[1].into()),
            n(b.transfer.into()),
        ];
        self.put(&SYNC_BARRIERS, &row);
    }

    pub fn access(&mut self, world: &World, of: Part, how: How) {
        if of.first > of.last || !self.seen.entry(self.queue).or_default().insert((of, how)) {
            return;
        }
        self.object(world, of.object);
        let row = [
            self.sequence,
            self.queue,
            how.stages,
            how.access,
            how.write.into(),
            of.object,
            of.first,
            of.last,
            of.aspects.into(),
        ];
        self.put(&SYNC_ACCESSES, &row.map(Value::U64));
    }

    /// It may access anything.
    pub fn anything(&mut self, world: &World) {
        let how = How { stages: ALL_COMMANDS, access: MEMORY_READ | MEMORY_WRITE, write: true };
        self.access(world, Part::default(), how);
    }

    /// Bytes of a buffer; `u64::MAX` for all that are left.
    pub fn buffer(&mut self, world: &World, buffer: u64, offset: u64, size: u64, how: How) {
        let size = world.range_of(buffer, offset, size);
        if buffer != 0 && size != 0 {
            let last = offset.saturating_add(size - 1);
            self.access(world, Part { object: buffer, first: offset, last, aspects: 0 }, how);
        }
    }

    pub fn image(&mut self, world: &World, image: u64, part: &Subresources, how: How) {
        if image != 0 {
            self.access(world, of_image(world, image, part), how);
        }
    }

    pub fn view(&mut self, world: &World, view: u64, how: How) {
        if view == 0 {
            return;
        }
        match world.image_views.get(&view) {
            Some(v) => self.image(world, v.image, &v.range, how),
            None => self.anything(world),
        }
    }

    /// Presentation reads an image, or gives it back.
    pub fn presents(&mut self, world: &World, image: u64, write: bool) {
        self.queue = 0;
        self.forget(0);
        let part = Subresources { aspects: 1, levels: 1, layers: u32::MAX, ..Subresources::default() };
        let how = How { stages: ALL_COMMANDS, access: MEMORY_READ, write };
        self.image(world, image, &part, how);
    }

    /// Says where an object lies, the first time it is named.
    fn object(&mut self, world: &World, id: u64) {
        if id == 0 || id == ADDRESSED || !self.objects.insert(id) {
            return;
        }
        let name = world.name(id).to_owned();
        let (kind, bound, bytes, addressed) = match (world.buffers.get(&id), world.images.get(&id)) {
            (Some(b), _) => {
                let addressed = b.usage & (SHADER_DEVICE_ADDRESS | STRUCTURE_STORAGE) != 0;
                ("buffer", b.bound, b.size, addressed)
            }
            (_, Some(i)) => {
                let one = i.bound.first().copied().filter(|_| i.bound.len() == 1);
                ("image", one, world.image_bytes(id), false)
            }
            _ => ("", None, 0, true),
        };
        let (memory, offset) = bound.map_or((0, 0), |b| (b.memory, b.offset));
        let n = Value::U64;
        let row = [
            n(id),
            Value::Text(kind),
            Value::Text(&name),
            n(memory),
            n(offset),
            n(bytes),
            n(addressed.into()),
        ];
        self.put(&SYNC_OBJECTS, &row);
    }
}

/// Levels and layers as two numbers.
pub fn of_image(world: &World, image: u64, part: &Subresources) -> Part {
    let (levels, layers) = world.images.get(&image).map_or((1 << 16, 1 << 16), |i| {
        // (layers of views may be slices)
        (i.levels.max(1), i.layers.max(i.extent[2]).max(1))
    });
    let last = |first: u32, n: u32, all: u32| match n {
        u32::MAX => all.saturating_sub(1),
        n => first.saturating_add(n.max(1)) - 1,
    };
    let place = |level: u32, layer: u32| u64::from(level) << 32 | u64::from(layer);
    Part {
        object: image,
        first: place(part.level, part.layer),
        last: place(last(part.level, part.levels, levels), last(part.layer, part.layers, layers)),
        aspects: part.aspects,
    }
}
