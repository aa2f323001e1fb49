//! One walk over a capture: where a range of frames lies, what lies before it, and what it uses of that.
//!
//! Guarantees: calls that failed make nothing. Refuses blocks that cannot be read, and captures of several files.

use super::before::{Before, Kept};
use super::first_use::{FirstUses, Watch};
use super::residue::{Number, unknown};
use super::seen::Seen;
use super::sync::{State, Then};
use crate::frames;
use gfxr_parse::ahead::{self, Call, What};
use gfxr_parse::container::block::block_type;
use gfxr_parse::container::{Block, Capture};
use gfxr_parse::meta::{Meta, id};
use gfxr_parse::schema::Ty;
use profile::hooks::resources::Programs;
use replay::frames::Framer;
use replay::options::Options;
use std::collections::{BTreeMap, BTreeSet, HashMap, HashSet};
use std::ops::ControlFlow::{Break, Continue};
use std::rc::Rc;
use world::bytes::Bytes;
use world::bytes::texels::{Shape, Texels};
use world::formats::planes;
use world::objects::{Buffer, Image};
use world::{Follow, Frame, MetaBlock, Nobody, Outcome, World};

/// Where the frames lie, and what they use.
pub struct Range {
    /// Their first block, and the first behind them.
    pub blocks: (usize, usize),
    /// Nothing but the state section of a trimmed capture lies before them.
    pub first: bool,
    /// Nothing lies before them that a state section of ours has no place for (bindings of sparse resources, contents of tensors).
    plain: bool,
    /// No frame ends behind them.
    last: bool,
    /// What lies before them.
    pub before: Before,
    /// How what synchronises was before them.
    pub then: Then,
    /// Of the time before.
    pub at: Snapshot,
    /// What of before they name.
    pub roots: Vec<Number>,
    /// Command buffers that the frames record before they use them.
    pub anew: HashSet<Number>,
    /// No id that the capture gives is greater.
    pub greatest: u64,
    /// What they read of what was there.
    pub uses: FirstUses,
    /// See [`Range::keep_discarded`].
    kept_discarded: BTreeSet<u64>,
}

/// Of `world`, when the frames begin.
#[derive(Default)]
pub struct Snapshot {
    /// What is known of memory.
    pub bytes: Bytes,
    /// By id.
    pub buffers: BTreeMap<u64, Buffer>,
    /// By id.
    pub images: BTreeMap<u64, Image>,
    /// Buffers in which structures lie.
    pub structured: BTreeSet<u64>,
    /// By id of a buffer or image: its device.
    pub devices: HashMap<u64, u64>,
    /// By id of an image: its debug name.
    names: BTreeMap<u64, Rc<str>>,
}

impl Range {
    pub fn of(capture: &Capture, options: &Options, (first, last): (u64, u64)) -> Result<Range, String> {
        let rule = frames::rule(capture, &options.frame_by).map_err(|e| e.to_string())?;
        let mut framer = Framer::new(rule);
        let mut programs = Programs::default();
        let mut follow = Follow::new();
        follow.follow_semaphores();
        let (mut before, mut state, mut watch) = (Before::default(), State::default(), Watch::new());
        let mut begun: Option<(usize, Then, Snapshot)> = None;
        let (mut roots, mut seen, mut anew) = (BTreeSet::new(), HashSet::new(), HashSet::new());
        let (mut ended, mut earlier, mut plain) = (None, false, true);
        let (mut all, mut greatest) = (0, 0);
        let mut blocks = capture.blocks_of_main_file();
        let stopped = ahead::run(capture, |item| {
            let (n, place, block) = (item.block as usize, item.place, blocks.next());
            if block.as_ref().is_some_and(|b| b.meta_type() == Some(id::EXECUTE_BLOCKS)) {
                return Break(Err("a capture of several files; `compress` makes one of them".into()));
            }
            match &item.what {
                What::CutOff(_) if ended.is_some() => return Continue(()),
                What::Bad(e) | What::CutOff(e) => return Break(Err(e.to_string())),
                _ => all = n + 1,
            }
            let edge = framer.edge(place, if let What::Call(c) = &item.what { Some(c) } else { None });
            let frame = if edge.after { framer.ended(place) } else { framer.number(place) };
            if frame > last && !place.state {
                // (what is left belongs to the last frame if no other ends)
                ended.get_or_insert(n);
                return if edge.before || edge.after { Break(Ok(())) } else { Continue(()) };
            }
            if begun.is_none() && !place.state && frame >= first {
                if earlier && let Some((id, value)) = follow.semaphores().stuck() {
                    return Break(Err(format!(
                        "work that is submitted before frame {first} waits for timeline semaphore {id} to reach {value}, \
                         which nothing before that frame signals: what it leaves is not there yet; choose other --frames"
                    )));
                }
                let then = Then::of(std::mem::take(&mut state), follow.semaphores(), follow.world());
                begun = Some((n, then, Snapshot::of(follow.world())));
            }
            let in_range = begun.is_some();
            earlier |= !in_range && (edge.before || edge.after);
            match &mut item.what {
                What::Call(call) => {
                    call.frame = frame;
                    // (what is only named may be rubbish)
                    let ids = call.image.handles.iter().filter(|h| h.out).map(|h| call.image.u64(h.at));
                    greatest = ids.filter(|id| *id < u64::MAX >> 1).fold(greatest, u64::max);
                    let failed = matches!(call.command.ret, Some(Ty::Enum(_))) && call.image.ret() < Some(0);
                    let outcome = Outcome::captured(call);
                    if in_range {
                        range_names(&before, follow.world(), call, (&mut roots, &mut seen, &mut anew));
                        watch.call(follow.world(), call);
                        follow.call(call, outcome, &mut watch);
                    } else if failed {
                        before.other(None, false);
                    } else {
                        plain &= call.command.canonical != "vkQueueBindSparse";
                        state.call(call);
                        before.call(follow.world(), call);
                        follow.call(call, outcome, &mut Seen(&mut before, &mut programs));
                    }
                }
                What::Meta(meta, data) => {
                    if in_range {
                        let of = match &meta.meta {
                            Meta::FillMemory(m) => before.number(m.memory),
                            _ => None,
                        };
                        roots.extend(of);
                    } else {
                        plain &= !matches!(meta.meta, Meta::InitTensor(_));
                        if let Meta::SwapchainImages(m) = &meta.meta {
                            state.loaded(m);
                        }
                        before.other(Some(&meta.meta), true);
                    }
                    follow.meta(&MetaBlock { meta: &meta.meta, data: data.bytes(), block: n as u64 });
                }
                _ if !in_range => {
                    let kept = |b: Block<'_>| b.base_type() == block_type::ANNOTATION;
                    before.other(None, block.is_some_and(kept));
                }
                _ => {}
            }
            if edge.before || edge.after {
                let number = if edge.after { frame } else { frame.saturating_sub(1) };
                follow.frame(Frame { number, next: number.saturating_add(1), repeat: 0 });
            }
            Continue(())
        });
        // (where it stops, another frame ends)
        let last_of_all = stopped.is_none();
        stopped.unwrap_or(Ok(()))?;
        follow.finish(&mut Nobody);
        let (from, then, at) = begun.ok_or_else(|| format!("it ends before frame {first}"))?;
        let uses = watch.found();
        if uses.addressed || uses.anything {
            roots.extend(before.with_addresses());
        }
        Ok(Range {
            blocks: (from, ended.unwrap_or(all)),
            first: !earlier,
            plain,
            last: last_of_all,
            before,
            then,
            at,
            roots: roots.into_iter().collect(),
            anew,
            greatest,
            uses,
            kept_discarded: BTreeSet::new(),
        })
    }

    /// Whether these are all frames that the capture has.
    pub fn is_all(&self) -> bool {
        self.first && self.last
    }

    /// Whether what lies before them can be cut down to what they use.
    pub fn can_be_cut(&self) -> bool {
        !self.first || self.plain && self.blocks.0 > 0
    }

    /// Has images begin with contents though they are discarded before they are read; whether there are such.
    pub fn keep_discarded(&mut self) -> bool {
        let left_out = |id: &&u64| {
            let own = self.at.images.get(id).is_some_and(|i| i.swapchain == 0);
            own && !self.uses.anything && !self.uses.images.contains(id)
        };
        self.kept_discarded = self.uses.discarded.iter().filter(left_out).copied().collect();
        self.uses.images.extend(&self.kept_discarded);
        !self.kept_discarded.is_empty()
    }

    /// Those of these images that are kept so, by debug name and id.
    pub fn discarded_of(&self, images: &[u64]) -> Vec<String> {
        let name = |id: &u64| self.at.names.get(id).map_or("", |n| n);
        let said = |id: &u64| trace::names::object("image", *id, name(id));
        images.iter().filter(|id| self.kept_discarded.contains(id)).map(said).collect()
    }

    /// What is read and cannot begin with contents, and how many of each.
    pub fn beyond(&self, kept: &Kept) -> Vec<(&'static str, u64)> {
        let read = |id: &u64| self.uses.buffers.contains(id) && self.before.is_there(kept, *id);
        let buffers = |of: &dyn Fn(&u64, &Buffer) -> bool| {
            self.at.buffers.iter().filter(|(id, b)| read(id) && of(id, b)).count() as u64
        };
        let shown = |(id, i): &(&u64, &Image)| i.swapchain != 0 && self.uses.images.contains(id);
        let all = [
            ("contents of sparse buffers", buffers(&|_, b| b.bound.is_none())),
            (
                "contents of buffers in which acceleration structures lie",
                buffers(&|id, _| self.at.structured.contains(id)),
            ),
            ("contents of images of swapchains", self.at.images.iter().filter(shown).count() as u64),
        ];
        all.into_iter().filter(|a| a.1 > 0).collect()
    }

    /// What begins with contents: buffers, images.
    pub fn contents(&self, kept: &Kept) -> (Vec<u64>, Vec<u64>) {
        const SHADER_DEVICE_ADDRESS: u64 = 0x2_0000;
        let (uses, at) = (&self.uses, &self.at);
        let there = |id: &u64| self.before.is_there(kept, *id);
        let read = |id: &u64, b: &Buffer| {
            // (what is left of structures that are gone is not read by address)
            let addressed =
                uses.addressed && b.usage & SHADER_DEVICE_ADDRESS != 0 && !self.before.held_structures(*id);
            uses.anything || addressed || uses.buffers.contains(id)
        };
        let whole = |id: &u64, b: &Buffer| b.bound.is_some() && !at.structured.contains(id);
        let buffers = at.buffers.iter().filter(|(id, b)| there(id) && whole(id, b) && read(id, b));
        let image = |id: &u64, i: &Image| i.swapchain == 0 && (uses.anything || uses.images.contains(id));
        let images = at.images.iter().filter(|(id, i)| there(id) && image(id, i));
        let device = |id: &u64| (at.devices.get(id).copied().unwrap_or(0), *id);
        let mut found = (buffers.map(|b| *b.0).collect::<Vec<_>>(), images.map(|i| *i.0).collect::<Vec<_>>());
        found.0.sort_by_key(device);
        found.1.sort_by_key(device);
        found
    }
}

/// An aspect of an image: it, bytes of each of its levels, the levels.
pub type Aspect = (u32, Vec<u64>, Vec<u8>);

impl Snapshot {
    /// What the capture itself says of a buffer's bytes, and where it does not know them.
    pub fn bytes_of(&self, buffer: u64) -> (Vec<u8>, Vec<(u64, u64)>) {
        let mut bytes = vec![];
        let Some((b, bound)) = self.buffers.get(&buffer).and_then(|b| Some((b, b.bound?))) else {
            return (bytes, vec![]);
        };
        let room = self.bytes.size(bound.memory).unwrap_or(0).saturating_sub(bound.offset);
        let known = self.bytes.read(bound.memory, bound.offset, b.size.min(room), &mut bytes);
        (bytes, unknown(&known))
    }

    /// What the capture itself says of an image: of each aspect the bytes of its levels, and these; and whether that is everything that was
    /// written.
    pub fn image(&self, image: u64) -> Option<(Vec<Aspect>, bool)> {
        const LINEAR: u32 = 1;
        let i = self.images.get(&image)?;
        let of_format = planes(i.format as i32)?;
        if i.tiling == LINEAR {
            let (bound, plane) = (*i.bound.first()?, of_format.first()?);
            let size = Texels::new(&Shape::of(i))?.size;
            let mut bytes = vec![];
            let known = self.bytes.read(bound.memory, bound.offset, size, &mut bytes);
            return Some((vec![(plane.aspect, vec![size], bytes)], unknown(&known).is_empty()));
        }
        let texels = Texels::new(&Shape::of(i))?;
        let mut all = true;
        let mut of = |aspect: u32| {
            let mut bytes = vec![];
            let mut level = |level: u32| {
                let (at, size) = texels.level(aspect, level)?;
                all &= unknown(&self.bytes.read(image, at, size, &mut bytes)).is_empty();
                Some(size)
            };
            let levels = (0..i.levels.max(1)).map(&mut level).collect::<Option<_>>()?;
            Some((aspect, levels, bytes))
        };
        let aspects = of_format.iter().map(|p| of(p.aspect)).collect::<Option<_>>()?;
        Some((aspects, all))
    }

    fn of(world: &World) -> Snapshot {
        let structured = world.structures.values().map(|s| s.buffer).collect();
        let mut s = Snapshot { bytes: world.bytes.clone(), structured, ..Snapshot::default() };
        let device = |memory: Option<u64>| world.memories.get(&memory?).map(|m| m.device);
        for (id, b) in world.buffers.iter() {
            s.devices.extend(device(b.bound.map(|b| b.memory)).map(|d| (*id, d)));
            s.buffers.insert(*id, b.clone());
        }
        for (id, i) in world.images.iter() {
            s.devices.extend(device(i.bound.first().map(|b| b.memory)).map(|d| (*id, d)));
            s.images.insert(*id, i.clone());
            s.names.extend(world.names.get(id).map(|name| (*id, name.clone())));
        }
        s
    }
}

/// A call of the frames: what it names of before, and whether it is the first to use a command buffer.
fn range_names(
    before: &Before,
    world: &World,
    call: &Call,
    (roots, seen, anew): (&mut BTreeSet<Number>, &mut HashSet<Number>, &mut HashSet<Number>),
) {
    let named = before.named(world, &call.image);
    let records = ["vkBeginCommandBuffer", "vkResetCommandBuffer", "vkFreeCommandBuffers"];
    for n in &named {
        if seen.insert(*n) && records.contains(&call.command.canonical) {
            anew.insert(*n);
        }
    }
    roots.extend(named);
}

#[cfg(test)]
mod tests {
    use super::super::sync::call;
    use super::*;
    use gfxr_parse::container::{Compression, FileHeader};
    use gfxr_parse::writer::Writer;

    /// Two frames: work of the first waits for a timeline semaphore, which the host signals in this frame.
    fn waiting(signalled_in: u64) -> Capture {
        let mut out = Writer::new(vec![], &FileHeader::new(Compression::None)).expect("a header");
        call(&mut out, "vkCreateSemaphore", |w| {
            w.u64(1).structure(|w| {
                w.u32(9).structure(|w| {
                    w.u32(1_000_207_002).null_struct().i32(1).u64(3);
                });
                w.u32(0);
            });
            w.null_struct().u64_ptr(9).i32(0);
        })
        .expect("a call");
        call(&mut out, "vkQueueSubmit", |w| {
            w.u64(2).u32(1).structures(1, |w, _| {
                w.u32(4).structure(|w| {
                    w.u32(1_000_207_003).null_struct().u32(1).u64_array(&[4]).u32(0).null_array();
                });
                w.u32(1).u64_array(&[9]).u32_array(&[1]).u32(0).null_array().u32(0).null_array();
            });
            w.u64(0).i32(0);
        })
        .expect("a call");
        for frame in 1..=2 {
            if frame == signalled_in {
                call(&mut out, "vkSignalSemaphore", |w| {
                    w.u64(1).structure(|w| {
                        w.u32(1_000_207_005).null_struct().u64(9).u64(4);
                    });
                    w.i32(0);
                })
                .expect("a call");
            }
            out.frame_end(frame).expect("a marker");
        }
        Capture::new(out.finish().expect("written")).expect("a capture")
    }

    #[test]
    fn frames_that_earlier_work_waits_for_are_refused() {
        let of = |signalled_in, frames| Range::of(&waiting(signalled_in), &Options::default(), frames);
        let blocks = |signalled_in, frames| of(signalled_in, frames).map(|r| (r.blocks, r.is_all()));
        assert_eq!(blocks(1, (2, 2)), Ok(((4, 5), false)));
        assert_eq!(blocks(2, (1, 1)), Ok(((0, 3), false)));
        assert_eq!(blocks(2, (1, 2)), Ok(((0, 5), true)));
        let says = blocks(2, (2, 2)).expect_err("frame 1 waits for frame 2");
        assert!(
            says.starts_with(
                "work that is submitted before frame 2 waits for timeline semaphore 9 to reach 4, "
            ),
            "{says}"
        );
    }
}
