//! Rows on their way out: numbered, each access once between two barriers.

use super::bits::*;
use crate::hooks::put::Put;
use replay::error::{Error, Result};
use std::collections::{HashMap, HashSet};
use trace::tables::{SYNC_ACCESSES, SYNC_BARRIERS, SYNC_OBJECTS, SYNC_SUBMISSIONS, SYNC_WAITS};
use trace::{Table, Value};
use world::objects::{Subresources, Sync};
use world::{At, Submission, World};

/// Stands for every buffer that has an address.
pub const ADDRESSED: u64 = u64::MAX;

const SHADER_DEVICE_ADDRESS: u64 = 0x2_0000;
const STRUCTURE_STORAGE: u64 = 0x10_0000;

/// How something is accessed.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub struct How {
    /// By which stages.
    pub stages: u64,
    /// See [`super::bits`].
    pub access: u64,
    /// It may be written.
    pub write: bool,
}

/// Which part of what; places are those of `sync_accesses`.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Hash)]
pub struct Part {
    /// The buffer or image; 0 if it may be anything, [`ADDRESSED`] if whatever has an address.
    pub object: u64,
    /// The first byte, or level and layer.
    pub first: u64,
    /// The last.
    pub last: u64,
    /// Of an image.
    pub aspects: u32,
}

/// What happens to a part.
#[derive(Clone, Copy, Debug)]
pub enum Event {
    /// A command accesses it.
    Access(How),
    /// A barrier is for it, from one layout to another.
    Barrier([u32; 2]),
}

/// Who hears of it.
pub enum Out {
    /// All of it, as rows.
    Rows(Put),
    /// Accesses and barriers alone.
    Events(Box<dyn FnMut(Part, Event)>),
}

/// Of a barrier: all but where it stands.
pub struct BarrierRow {
    pub part: u64,
    pub kind: &'static str,
    pub scopes: world::commands::Scopes,
    pub of: Part,
    pub layouts: [u32; 2],
    pub transfer: bool,
    /// Of an event: the command that set it. `None`: its own.
    pub since: Option<u64>,
    /// Layouts of a pass's attachments may change with it.
    pub changes: bool,
}

/// Who signals a semaphore.
#[derive(Clone, Copy)]
struct Signal {
    value: u64,
    by: &'static str,
    queue: u64,
    sequence: u64,
}

/// What is known of an object that was named.
struct Named {
    kind: &'static str,
    name: Box<str>,
    numbers: [u64; 5],
}

/// See the module's header.
pub struct Rows {
    out: Out,
    failed: Option<Error>,
    sequence: u64,
    queue: u64,
    /// Since the queue's last barrier.
    seen: HashMap<u64, HashSet<(Part, How)>>,
    /// What programs and sets were seen since, so that their descriptors need not be looked at.
    bound: HashMap<u64, HashSet<(u64, u64)>>,
    objects: HashMap<u64, Named>,
    /// In the order in which they were named.
    named: Vec<u64>,
    /// By semaphore; of those that are no timelines the last.
    signals: HashMap<u64, Vec<Signal>>,
    /// Semaphores that the running batch signals at its end, and their values.
    signalling: Vec<(u64, u64)>,
    /// Blocks of calls of the host, rising.
    host: Vec<u64>,
    last_block: HashMap<u64, u64>,
}

impl Rows {
    pub fn new(out: Out) -> Self {
        Rows {
            out,
            failed: None,
            sequence: 0,
            queue: 0,
            seen: HashMap::new(),
            bound: HashMap::new(),
            objects: HashMap::new(),
            named: vec![],
            signals: HashMap::new(),
            signalling: vec![],
            host: vec![],
            last_block: HashMap::new(),
        }
    }

    /// What went wrong with writing.
    pub fn failed(&mut self) -> Result<()> {
        self.failed.take().map_or(Ok(()), Err)
    }

    fn put(&mut self, table: &'static Table, row: &[Value<'_>]) {
        if let Out::Rows(put) = &mut self.out
            && let Err(e) = put(table, row)
        {
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

    pub fn submission(&mut self, world: &World, s: &Submission, aside: bool) {
        self.settle();
        self.next(s.queue);
        // (semaphores wait between: what was accessed before is accessed anew)
        self.forget(s.queue);
        let before = self.last_block.insert(s.queue, s.block).unwrap_or(0);
        // (they rise)
        let host = &self.host[self.host.partition_point(|b| *b < before)..];
        let host = host.partition_point(|b| *b < s.block);
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
            aside.into(),
        ];
        self.put(&SYNC_SUBMISSIONS, &row.map(Value::U64));
        for w in &s.waits {
            let timeline = world.syncs.get(&w.semaphore).is_some_and(Sync::is_timeline);
            let all = self.signals.get(&w.semaphore).map_or(&[][..], |s| s);
            let by = if timeline { all.iter().find(|s| s.value >= w.value) } else { all.last() };
            let by = by.copied().unwrap_or(Signal { value: 0, by: "", queue: 0, sequence: 0 });
            let n = Value::U64;
            let row = [
                n(s.number),
                n(s.queue),
                n(self.sequence),
                n(w.semaphore),
                n(w.stages),
                Value::Text(by.by),
                n(by.queue),
                n(by.sequence),
            ];
            self.put(&SYNC_WAITS, &row);
        }
        self.signalling = s.signals.iter().map(|u| (u.semaphore, u.value)).collect();
    }

    /// The batch that ran has ended.
    pub fn settle(&mut self) {
        for (semaphore, value) in std::mem::take(&mut self.signalling) {
            self.signal(semaphore, value, "queue", self.queue);
        }
    }

    /// A semaphore is signalled now.
    pub fn signal(&mut self, semaphore: u64, value: u64, by: &'static str, queue: u64) {
        let sequence = self.sequence;
        if semaphore != 0 {
            self.signals.entry(semaphore).or_default().push(Signal { value, by, queue, sequence });
        }
    }

    /// The number of the command that runs.
    pub fn sequence(&self) -> u64 {
        self.sequence
    }

    /// What follows on this queue is written down again.
    pub fn anew(&mut self) {
        self.forget(self.queue);
    }

    fn forget(&mut self, queue: u64) {
        self.seen.entry(queue).or_default().clear();
        self.bound.entry(queue).or_default().clear();
    }

    pub fn barrier(&mut self, world: &World, at: &At, label: &str, b: &BarrierRow) {
        self.forget(at.queue);
        if let Out::Events(tell) = &mut self.out {
            return tell(b.of, Event::Barrier(b.layouts));
        }
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
            n(b.since.unwrap_or(self.sequence)),
            n(b.changes.into()),
        ];
        self.put(&SYNC_BARRIERS, &row);
    }

    pub fn access(&mut self, world: &World, of: Part, how: How) {
        if of.first > of.last || !self.seen.entry(self.queue).or_default().insert((of, how)) {
            return;
        }
        if let Out::Events(tell) = &mut self.out {
            return tell(of, Event::Access(how));
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

    /// Whatever has an address.
    pub fn addressed(&mut self, world: &World, how: How) {
        self.access(world, Part { object: ADDRESSED, last: u64::MAX, ..Part::default() }, how);
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

    /// Remembers where an object lies, the first time it is named.
    fn object(&mut self, world: &World, id: u64) {
        if id == 0 || id == ADDRESSED || self.objects.contains_key(&id) {
            return;
        }
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
        let numbers = [memory, offset, bytes, addressed.into(), 0];
        self.objects.insert(id, Named { kind, name: world.name(id).into(), numbers });
        self.named.push(id);
    }

    /// A buffer or image is destroyed: the device has done with it.
    pub fn gone(&mut self, id: u64) {
        self.objects.entry(id).and_modify(|o| o.numbers[4] = self.sequence);
    }

    /// Says where objects lie.
    pub fn finish(&mut self) {
        for id in std::mem::take(&mut self.named) {
            let Some(o) = self.objects.remove(&id) else { continue };
            let [memory, offset, bytes, addressed, gone] = o.numbers.map(Value::U64);
            let row = [
                Value::U64(id),
                Value::Text(o.kind),
                Value::Text(&o.name),
                memory,
                offset,
                bytes,
                addressed,
                gone,
            ];
            self.put(&SYNC_OBJECTS, &row);
        }
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
