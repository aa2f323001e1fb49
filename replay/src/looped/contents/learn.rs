//! Learning what the frame changes: every resource is compared with its copy.

use super::backup;
use super::copies::{barriers, full_barrier, move_images};
use super::layouts::{Layouts, Part, whole};
use super::read::{self, Chunk};
use super::snapshot::{BufferCopy, ImageCopy, Snapshot};
use super::take::{comparable, hopeless_buffer, is_bound};
use super::tracker::untouched;
use crate::error::Result;
use crate::exec::Executor;
use crate::vulkan::{Vulkan, format};
use ash::vk::{self, ImageLayout as L};
use rayon::prelude::*;
use std::collections::{BTreeSet, HashMap};
use world::World;

/// Buffers are put back in spans that begin and end at a multiple of this (or at the buffer's end).
const SPAN_BYTES: usize = 64 << 10;

/// What the frame is known to change.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Learned {
    /// Buffers with other contents than before.
    pub buffers: u64,
    /// Images likewise.
    pub images: u64,
    /// Acceleration structures built, updated or copied into.
    pub structures: u64,
    /// Buffers and images that the frame itself creates.
    pub new: u64,
}

impl Snapshot {
    /// Compares everything with its copy; adds what differs to what is put back. After an iteration, nothing in flight.
    /// The first time, also notes where the frame leaves layouts, and which resources it creates.
    pub fn learn(&mut self, cx: &mut Executor) -> Result<Learned> {
        let Executor { objects, backend, .. } = cx;
        let Some(vk) = backend.vulkan() else { return Ok(Learned::default()) };
        vk.finish_present()?;
        for d in vk.devices.values() {
            d.wait_idle()?;
        }
        let new = if self.ended { 0 } else { self.frame_ends(vk, objects.world()) };
        let found = std::mem::take(&mut self.tracking.state_mut().found);
        for (id, bytes) in found {
            let Some(b) = self.buffers.get_mut(&id).filter(|b| b.backup.is_none()) else { continue };
            let d = vk.device_mut(b.device)?;
            let backup = backup::buffer(d, b.size, vk::BufferUsageFlags::empty(), &mut self.cost)?;
            d.write_buffer(backup.live, &bytes)?;
            b.backup = Some(backup);
        }
        let devices: Vec<u64> = vk.devices.keys().copied().collect();
        for device in devices {
            self.work(vk, device)?.recorded = None;
            self.compare_buffers(vk, device)?;
            self.compare_images(vk, device)?;
        }
        Ok(Learned {
            buffers: self.buffers.values().filter(|b| !b.changed.is_empty()).count() as u64,
            images: self.images.values().filter(|i| !i.changed.is_empty()).count() as u64,
            structures: self.structures.learn(&self.tracking),
            new,
        })
    }

    /// The frame has run once.
    fn frame_ends(&mut self, vk: &Vulkan, world: &World) -> u64 {
        self.ended = true;
        self.forget_the_gone(vk);
        let tracking = self.tracking.clone();
        let mut state = tracking.state_mut();
        state.asleep = true;
        let mut new = 0;
        for (id, image) in &vk.images {
            let now = state.image(*id, image).layouts;
            match self.images.get_mut(id).filter(|i| i.state.live == image.live) {
                Some(i) => i.end = now,
                None => {
                    new += 1;
                    let mut start = untouched(image);
                    if image.layout != L::PREINITIALIZED {
                        start.set(whole(vk::ImageAspectFlags::from_raw(!0)), L::UNDEFINED);
                    }
                    let copy = ImageCopy {
                        state: image.clone(),
                        backup: None,
                        start,
                        end: now,
                        used: 0,
                        shares: false,
                        changed: BTreeSet::new(),
                    };
                    self.images.insert(*id, copy);
                }
            }
        }
        for (id, b) in &vk.buffers {
            let known = self.buffers.get(id).is_some_and(|k| k.live == b.live);
            if known || !is_bound(b.memory, b.alloc.is_some()) || hopeless_buffer(b).is_some() {
                continue;
            }
            new += 1;
            let copy = BufferCopy {
                device: b.device,
                live: b.live,
                size: b.size,
                backup: None,
                holes: Vec::new(),
                changed: Vec::new(),
            };
            self.buffers.insert(*id, copy);
        }
        // Structures are put back as such, also those that the frame has just made; those that lie in larger buffers of the
        // replay's own leave none.
        let mut holes: HashMap<u64, Vec<(u64, u64)>> = HashMap::new();
        for (id, s) in world.structures.iter() {
            if vk.ray.structures.get(id).is_some_and(|here| here.size == s.size) {
                holes.entry(s.buffer).or_default().push((s.offset, s.offset + s.size));
            }
        }
        for (id, b) in &mut self.buffers {
            b.holes = holes.remove(id).unwrap_or_default();
            b.holes.sort_unstable();
        }
        // What bytes say nothing about is put back wherever the frame may have written it.
        for (id, i) in &mut self.images {
            let storage = i.state.usage.contains(vk::ImageUsageFlags::STORAGE);
            if i.backup.is_some() && !by_bytes(i) && (storage || state.written.contains(id)) {
                i.changed = i.start.parts().filter(|p| i.start.defined(*p)).collect();
            }
        }
        new
    }

    /// A repeated frame destroys nothing; one that did has nothing to be put back there.
    fn forget_the_gone(&mut self, vk: &Vulkan) {
        self.buffers.retain(|id, b| {
            let there = vk.buffers.get(id).is_some_and(|now| now.live == b.live);
            if let (false, Some(backup), Some(d)) = (there, &b.backup, vk.devices.get(&b.device)) {
                // SAFETY: ours, and idle.
                unsafe { d.ash.destroy_buffer(backup.live, None) };
            }
            there
        });
        self.images.retain(|id, i| {
            let there = vk.images.get(id).is_some_and(|now| now.live == i.state.live);
            if let (false, Some(backup), Some(d)) = (there, &i.backup, vk.devices.get(&i.state.device)) {
                // SAFETY: ours, and idle.
                unsafe { d.ash.destroy_image(backup.live, None) };
            }
            there
        });
    }

    fn compare_buffers(&mut self, vk: &mut Vulkan, device: u64) -> Result<()> {
        let mut chunks: Vec<Chunk> = Vec::new();
        let mut of: Vec<u64> = Vec::new();
        for (id, b) in self.buffers.iter().filter(|b| b.1.device == device) {
            for span in outside(b.size, &b.holes) {
                read::buffer(of.len(), b.live, b.backup.as_ref().map(|t| t.live), span, &mut chunks);
            }
            of.push(*id);
        }
        let mut staging = self.work(vk, device)?.staging.take();
        let buffers = &mut self.buffers;
        let done = read::read(vk.device_mut(device)?, &mut staging, &chunks, |batch| {
            let found: Vec<(usize, Vec<(u64, u64)>)> =
                batch.par_iter().map(|(c, now, then)| (c.of, differing(c.at, now, then))).collect();
            for (n, spans) in found {
                let b = buffers.get_mut(&of[n]).expect("listed above");
                spans.into_iter().for_each(|s| add(&mut b.changed, s));
            }
            Ok(())
        });
        self.work(vk, device)?.staging = staging;
        done
    }

    fn compare_images(&mut self, vk: &mut Vulkan, device: u64) -> Result<()> {
        let mut chunks: Vec<Chunk> = Vec::new();
        let mut of: Vec<u64> = Vec::new();
        let mut moves: Moves = Vec::new();
        for (id, i) in self.images.iter().filter(|i| i.1.state.device == device) {
            let Some(backup) = i.backup.as_ref().filter(|_| by_bytes(i)) else { continue };
            let parts = comparable(&i.start, &i.end);
            for p in &parts {
                read::part(of.len(), &i.state, Some(backup.live), &i.end, *p, &mut chunks);
            }
            moves.push((i.state.live, i.end.clone(), parts));
            of.push(*id);
        }
        let mut staging = self.work(vk, device)?.staging.take();
        let images = &mut self.images;
        let done = readable(vk, device, &moves, |vk| {
            read::read(vk.device_mut(device)?, &mut staging, &chunks, |batch| {
                let differ = batch.par_iter().map(|(c, now, then)| c.meaning(now) != c.meaning(then));
                let differ: Vec<bool> = differ.collect();
                for ((c, ..), _) in batch.iter().zip(differ).filter(|d| d.1) {
                    let i = images.get_mut(&of[c.of]).expect("listed above");
                    // Depth and stencil move together: a device may not be able to tell their layouts apart.
                    i.changed.extend(c.part.iter().flat_map(|p| together(&i.start, *p)));
                }
                Ok(())
            })
        });
        self.work(vk, device)?.staging = staging;
        done
    }
}

/// Whether an image's bytes say if it was changed.
fn by_bytes(i: &ImageCopy) -> bool {
    i.state.samples == vk::SampleCountFlags::TYPE_1 && !i.shares && format::planes(i.state.format).is_some()
}

/// Images, their layouts, and parts of them that will be read.
pub(super) type Moves = Vec<(vk::Image, Layouts, Vec<Part>)>;

/// Moves parts of images to where they can be read, and back.
pub(super) fn readable<R>(
    vk: &mut Vulkan,
    device: u64,
    moves: &Moves,
    f: impl FnOnce(&mut Vulkan) -> Result<R>,
) -> Result<R> {
    let all = |there: bool| {
        let each = moves.iter().flat_map(move |(image, layouts, parts)| {
            let moves = layouts.moves(parts.iter().map(|p| {
                let (from, to) = (layouts.of(*p), L::TRANSFER_SRC_OPTIMAL);
                if there { (*p, from, to) } else { (*p, to, from) }
            }));
            barriers(*image, &moves).collect::<Vec<_>>()
        });
        each.collect::<Vec<_>>()
    };
    let (there, back) = (all(true), all(false));
    vk.device_mut(device)?.run(|d, cmd| {
        full_barrier(d, cmd);
        move_images(d, cmd, &there);
    })?;
    let r = f(vk);
    vk.device_mut(device)?.run(|d, cmd| move_images(d, cmd, &back))?;
    r
}

/// The defined parts of depth and stencil formats that go with this one, itself among them.
fn together(start: &Layouts, p: Part) -> impl Iterator<Item = Part> {
    let planes = start.aspects().contains(&vk::ImageAspectFlags::PLANE_0);
    (0..start.aspects().len())
        .map(move |aspect| Part { aspect, ..p })
        .filter(move |q| (*q == p || !planes) && start.defined(*q))
}

/// Spans of a chunk (which begins at `at`) that differ; an empty copy stands for zeros.
fn differing(at: u64, now: &[u8], then: &[u8]) -> Vec<(u64, u64)> {
    let mut spans = Vec::new();
    // The first span ends where spans end in the buffer.
    let first = (SPAN_BYTES - (at % SPAN_BYTES as u64) as usize).min(now.len());
    let (mut from, mut to) = (0, first);
    while from < now.len() {
        let here = &now[from..to];
        let same = if then.is_empty() { here.iter().all(|b| *b == 0) } else { here == &then[from..to] };
        if !same {
            spans.push((at + from as u64, at + to as u64));
        }
        (from, to) = (to, (to + SPAN_BYTES).min(now.len()));
    }
    spans
}

/// Adds a span to spans that are in order and apart.
fn add(spans: &mut Vec<(u64, u64)>, new: (u64, u64)) {
    let mut new = new;
    spans.retain(|s| {
        let joins = s.0 <= new.1 && new.0 <= s.1;
        if joins {
            new = (new.0.min(s.0), new.1.max(s.1));
        }
        !joins
    });
    let at = spans.partition_point(|s| s.0 < new.0);
    spans.insert(at, new);
}

/// What of `size` bytes lies in no hole. Ends are multiples of 4, as fills want them.
pub(super) fn outside(size: u64, holes: &[(u64, u64)]) -> Vec<(u64, u64)> {
    let mut spans = Vec::new();
    let mut from = 0;
    for (a, b) in holes {
        if *a > from {
            spans.push((from, (*a).min(size)));
        }
        from = from.max(*b);
    }
    if from < size {
        spans.push((from, size));
    }
    spans
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn spans_are_those_that_differ_and_join() {
        const N: u64 = SPAN_BYTES as u64;
        let then = vec![7u8; 3 * SPAN_BYTES + 100];
        let mut now = then.clone();
        assert!(differing(0, &now, &then).is_empty());
        now[SPAN_BYTES] = 0;
        now[3 * SPAN_BYTES + 99] = 0;
        assert_eq!(differing(0, &now, &then), [(N, 2 * N), (3 * N, 3 * N + 100)]);
        // A chunk that begins inside a span.
        assert_eq!(differing(N / 2, &now, &then)[0], (N, 2 * N));
        assert_eq!(differing(0, &[0, 0, 1], &[]), [(0, 3)]);
        assert!(differing(0, &[0, 0, 0], &[]).is_empty());
        let mut spans = Vec::new();
        for s in [(8, 12), (0, 4), (4, 6), (20, 24)] {
            add(&mut spans, s);
        }
        assert_eq!(spans, [(0, 6), (8, 12), (20, 24)]);
        add(&mut spans, (5, 20));
        assert_eq!(spans, [(0, 24)]);
    }

    #[test]
    fn holes_are_left_out() {
        assert_eq!(outside(100, &[]), [(0, 100)]);
        assert_eq!(outside(100, &[(0, 30), (20, 40), (90, 200)]), [(40, 90)]);
        assert!(outside(100, &[(0, 100)]).is_empty());
    }

    #[test]
    fn depth_takes_stencil_along() {
        use vk::ImageAspectFlags as A;
        let part = |aspect| Part { aspect, level: 0, layer: 0 };
        let mut l = Layouts::new(&[A::DEPTH, A::STENCIL], 1, 1, L::GENERAL);
        assert_eq!(together(&l, part(1)).collect::<Vec<_>>(), [part(0), part(1)]);
        l.set(whole(A::DEPTH), L::UNDEFINED);
        assert_eq!(together(&l, part(1)).collect::<Vec<_>>(), [part(1)]);
        let planes = Layouts::new(&[A::PLANE_0, A::PLANE_1], 1, 1, L::GENERAL);
        assert_eq!(together(&planes, part(1)).collect::<Vec<_>>(), [part(1)]);
    }
}
