//! The state section of a trimmed capture: what makes what the frames need, and what it holds.
//!
//! Guarantees: what the capture knows of bytes and texels is what is written, and the device's only where it does not know. Refuses nothing; what cannot be
//! read from the device is told.

use super::before::{Before, Kept};
use super::range::Range;
use super::residue::{Input, Run};
use super::sync;
use super::told::Contents;
use crate::failure::Failure;
use crate::progress;
use crate::replaying::replay_with_bar;
use gfxr_parse::ahead::{Call, What, read};
use gfxr_parse::container::{BlockKind, Capture, FrameCounter, MarkerKind, Payload, Scratch};
use gfxr_parse::encode::encode_call;
use gfxr_parse::meta::{BeginResourceInit, EndResourceInit, InitBuffer, InitImage, Meta};
use gfxr_parse::writer::Writer;
use profile::hooks::contents::ContentsHook;
use replay::looped::Held as Found;
use replay::options::Options;
use replay::session::On;
use std::cell::RefCell;
use std::collections::{BTreeMap, BTreeSet, HashMap};
use std::io::Write;
use std::rc::Rc;

/// What was written.
#[derive(Debug, Default)]
pub struct Written {
    /// Blocks of the capture that are kept.
    pub kept: u64,
    /// What begins with contents.
    pub contents: Contents,
    /// These images.
    pub images: Vec<u64>,
    /// What is not in the result, and how often.
    pub lacks: BTreeMap<String, u64>,
}

/// Writes the state section.
pub fn section<W: Write>(
    capture: &Capture,
    options: &Options,
    range: &Range,
    first: u64,
    out: &mut Writer<W>,
) -> Result<Written, Failure> {
    let mut done = Written::default();
    let before = &range.before;
    let kept = before.needed(range.roots.iter().copied(), &range.anew);
    done.kept = kept.blocks.iter().filter(|k| **k).count() as u64;
    let (buffers, images) = range.contents(&kept);
    let held = Held::of(capture, options, range, &kept, first, (&buffers, &images))?;
    for why in &held.lacks {
        *done.lacks.entry(why.clone()).or_default() += 1;
    }
    for (what, n) in range.beyond(&kept) {
        done.lacks.insert(what.to_owned(), n);
    }
    let mut section = Section { out, opened: None, done, next_id: range.greatest, own: BTreeMap::new() };
    let written = |e: gfxr_parse::error::Error| Failure::new(e);
    section.out.state(MarkerKind::Begin, first).map_err(written)?;
    section.made(capture, before, &kept, &held).map_err(written)?;
    section.contents(range, &held, (&buffers, &images)).map_err(written)?;
    range.then.swapchains(section.out, before, &kept, &held.layouts).map_err(written)?;
    range.then.calls(section.out, before, &kept).map_err(written)?;
    section.out.state(MarkerKind::End, first).map_err(written)?;
    Ok(section.done)
}

/// What a replay found when the frames begin.
#[derive(Default)]
struct Held {
    /// Of buffers that begin with contents: these.
    contents: BTreeMap<u64, Vec<u8>>,
    /// Of buffers of which the capture does not know everything: all bytes, with captured addresses.
    buffers: BTreeMap<u64, Vec<u8>>,
    /// Of images by aspect: bytes of each level, and the levels.
    images: BTreeMap<(u64, u32), (Vec<u64>, Vec<u8>)>,
    /// Of all images that are there; 0 for those without contents.
    layouts: BTreeMap<u64, u32>,
    /// What could not be read, and why.
    lacks: Vec<String>,
}

impl Held {
    /// What the capture itself knows, and else what a replay finds.
    fn of(
        capture: &Capture,
        options: &Options,
        range: &Range,
        kept: &Kept,
        first: u64,
        (buffers, images): (&[u64], &[u64]),
    ) -> Result<Held, Failure> {
        let inputs = kept.runs.values().flatten().flat_map(|r| &r.inputs);
        let inputs = inputs.filter(|i| !i.unknown.is_empty()).map(|i| i.buffer);
        let contents: BTreeMap<u64, _> = buffers.iter().map(|id| (*id, range.at.bytes_of(*id))).collect();
        let unknown = contents.iter().filter(|c| !c.1.1.is_empty()).map(|c| *c.0).chain(inputs);
        let unknown: BTreeSet<u64> = unknown.filter(|id| range.at.buffers.contains_key(id)).collect();
        // (what is known of an image counts where the device does not give it)
        let (mut known, mut read) = (BTreeMap::new(), vec![]);
        for &id in images {
            let of = range.at.image(id);
            let all = of.as_ref().is_some_and(|o| o.1);
            for (aspect, levels, bytes) in of.into_iter().flat_map(|o| o.0) {
                known.insert((id, aspect), (levels, bytes));
            }
            // (of what a driver keeps though it may be discarded the capture says nothing)
            if !all || range.uses.discarded.contains(&id) {
                read.push(id);
            }
        }
        let there = |id: &&u64| range.before.is_there(kept, **id);
        let all: Vec<u64> = range.at.images.keys().filter(there).copied().collect();
        let mut held = if unknown.is_empty() && all.is_empty() {
            Held::default()
        } else if range.first {
            Held::loaded(capture, range.before.blocks(), &read, &all)?
        } else {
            Held::found(capture, options, first, (unknown.into_iter().collect(), read), &all)?
        };
        for (of, aspect) in known {
            held.images.entry(of).or_insert(aspect);
        }
        for (id, (mut bytes, unknown)) in contents {
            held.fill(id, &mut bytes, &unknown);
            held.contents.insert(id, bytes);
        }
        Ok(held)
    }

    /// What the state section of a trimmed capture says of these images, and of the layouts of `all`: as nothing was done since, it needs no
    /// replay, and has contents that no replay could read back (of several samples a texel).
    fn loaded(capture: &Capture, blocks: usize, read: &[u64], all: &[u64]) -> Result<Held, Failure> {
        let mut held = Held::default();
        let mut scratch = Scratch::new();
        for block in capture.blocks_of_main_file().take(blocks) {
            let Ok(BlockKind::Meta(meta)) = block.kind() else { continue };
            match &meta.meta {
                Meta::InitImage(i) if all.contains(&i.image) => {
                    held.layouts.insert(i.image, i.layout);
                    // (what only says the layout has no levels)
                    if read.contains(&i.image) && !i.level_bytes.is_empty() {
                        let bytes = i.data.bytes(&mut scratch).map_err(Failure::new)?.to_vec();
                        held.images.insert((i.image, i.aspect), (i.level_bytes.clone(), bytes));
                    }
                }
                Meta::SwapchainImages(m) => {
                    let there = m.images.iter().filter(|i| all.contains(&i.image));
                    held.layouts.extend(there.map(|i| (i.image, i.layout)));
                }
                _ => {}
            }
        }
        Ok(held)
    }

    /// Replays up to the frames. `wanted`: buffers and images whose contents are asked for; `all`: images whose layouts are.
    fn found(
        capture: &Capture,
        options: &Options,
        first: u64,
        wanted: (Vec<u64>, Vec<u64>),
        all: &[u64],
    ) -> Result<Held, Failure> {
        progress::step("what buffers and images hold");
        let held = Rc::new(RefCell::new(Held::default()));
        let to = held.clone();
        let take = move |found: Found| {
            let held = &mut *to.borrow_mut();
            match found {
                Found::Buffer(id, bytes) => _ = held.buffers.insert(id, bytes),
                Found::Image { image, aspect, levels, bytes } => {
                    held.images.insert((image, aspect), (levels, bytes));
                }
                Found::Nothing(_, why) => held.lacks.push(format!("contents of {why}")),
            }
            Ok(())
        };
        let (hooks, layouts) = ContentsHook::hooks(first, wanted, all, Box::new(take));
        let options = Options { frames: Some((0, first - 1)), ..options.clone() };
        replay_with_bar(capture, &options, On::Vulkan, hooks, 0, "replaying")?;
        let mut held = held.take();
        held.layouts = layouts.take().ok_or_else(|| {
            Failure::new(format_args!(
                "the replay did not come to frame {first}, so that what it begins with is not known"
            ))
        })?;
        Ok(held)
    }

    /// Puts what was found in place of bytes that the capture does not know; whether all are known then.
    fn fill(&self, buffer: u64, bytes: &mut [u8], unknown: &[(u64, u64)]) -> bool {
        let found = self.buffers.get(&buffer).filter(|f| f.len() == bytes.len());
        for &(from, to) in unknown {
            let Some(found) = found else { return false };
            bytes[from as usize..to as usize].copy_from_slice(&found[from as usize..to as usize]);
        }
        true
    }
}

/// The state section that is being written.
struct Section<'a, W: Write> {
    out: &'a mut Writer<W>,
    /// The device whose resources are being loaded.
    opened: Option<u64>,
    done: Written,
    /// The greatest id that is taken.
    next_id: u64,
    /// By device and queue family: a command buffer of the section's own.
    own: BTreeMap<(u64, u32), u64>,
}

impl<W: Write> Section<'_, W> {
    /// The calls that make what is needed, and the work that is done again.
    fn made(
        &mut self,
        capture: &Capture,
        before: &Before,
        kept: &Kept,
        held: &Held,
    ) -> gfxr_parse::error::Result<()> {
        let (mut scratch, mut frames) = (Scratch::new(), FrameCounter::new(capture.header()));
        let mut commands: HashMap<u32, Box<Call>> = HashMap::new();
        for (n, block) in capture.blocks_of_main_file().take(before.blocks()).enumerate() {
            let (at, place) = (n as u32, frames.feed(&block));
            if kept.blocks[n] {
                self.out.raw(&block)?;
            }
            if kept.commands.contains(&at)
                && let What::Call(call) = read(&block, place, None, &mut scratch)?
            {
                commands.insert(at, call);
            }
            let Some(runs) = kept.runs.get(&at) else { continue };
            // (what a buffer held is loaded once for all that read it so)
            let mut batch: Vec<&Run> = vec![];
            let mut loaded: HashMap<u64, &Rc<Input>> = HashMap::new();
            for run in runs {
                let other = |i: &Rc<Input>| loaded.get(&i.buffer).is_some_and(|l| !Rc::ptr_eq(l, i));
                if run.inputs.iter().any(other) {
                    self.again(&batch, &commands)?;
                    batch.clear();
                    loaded.clear();
                }
                for input in &run.inputs {
                    if loaded.insert(input.buffer, input).is_none() {
                        self.input(input, held)?;
                    }
                }
                batch.push(run);
            }
            self.again(&batch, &commands)?;
        }
        Ok(())
    }

    fn input(&mut self, input: &Input, held: &Held) -> gfxr_parse::error::Result<()> {
        let mut bytes = input.bytes.clone();
        if !held.fill(input.buffer, &mut bytes, &input.unknown) {
            *self.done.lacks.entry("inputs of builds that are gone".into()).or_default() += 1;
        }
        self.buffer(input.device, input.buffer, &bytes)
    }

    /// Has commands of one queue run again, in a command buffer of our own.
    fn again(&mut self, runs: &[&Run], commands: &HashMap<u32, Box<Call>>) -> gfxr_parse::error::Result<()> {
        self.close()?;
        let Some(&Run { queue: (device, family, queue), .. }) = runs.first().copied() else { return Ok(()) };
        let buffer = match self.own.get(&(device, family)) {
            Some(buffer) => *buffer,
            None => {
                self.next_id += 2;
                let (pool, buffer) = (self.next_id - 1, self.next_id);
                sync::command_buffer(self.out, (device, family), pool, buffer)?;
                self.own.insert((device, family), buffer);
                buffer
            }
        };
        sync::begin(self.out, buffer)?;
        for run in runs {
            let Some(call) = commands.get(&run.blocks.1) else { continue };
            let (mut image, mut params) = (call.image.clone(), vec![]);
            image.edit_u64(0, buffer);
            encode_call(&image, &mut params);
            self.out.call(call.command.id, call.thread, &params)?;
            sync::full_barrier(self.out, buffer)?;
        }
        sync::call(self.out, "vkEndCommandBuffer", |w| {
            w.u64(buffer).i32(0);
        })?;
        sync::submit(self.out, queue, &[buffer], &[], 0)?;
        sync::call(self.out, "vkQueueWaitIdle", |w| {
            w.u64(queue).i32(0);
        })
    }

    /// What buffers and images hold, and in which layouts images are.
    fn contents(
        &mut self,
        range: &Range,
        held: &Held,
        (buffers, images): (&[u64], &[u64]),
    ) -> gfxr_parse::error::Result<()> {
        let device = |id: u64| range.at.devices.get(&id).copied().unwrap_or(0);
        for &id in buffers {
            let bytes = &held.contents[&id];
            self.done.contents.buffers += 1;
            self.done.contents.bytes += bytes.len() as u64;
            self.buffer(device(id), id, bytes)?;
        }
        for (&id, &layout) in held.layouts.iter().filter(|l| *l.1 != 0) {
            let image = &range.at.images[&id];
            if image.swapchain != 0 {
                continue;
            }
            let mut aspects = 0;
            if images.contains(&id) {
                for (&(_, aspect), (levels, bytes)) in held.images.range((id, 0)..=(id, u32::MAX)) {
                    aspects += 1;
                    self.done.contents.bytes += bytes.len() as u64;
                    self.image(device(id), id, (aspect, layout), levels.clone(), bytes)?;
                }
            }
            if aspects > 0 {
                self.done.contents.images += 1;
                self.done.images.push(id);
            } else {
                let planes = world::formats::planes(image.format as i32);
                let aspect = planes.and_then(|p| p.first().map(|p| p.aspect)).unwrap_or(1);
                self.image(device(id), id, (aspect, layout), vec![], &[])?;
            }
        }
        self.close()
    }

    fn buffer(&mut self, device: u64, buffer: u64, bytes: &[u8]) -> gfxr_parse::error::Result<()> {
        self.open(device, bytes)?;
        self.out.meta(1, Meta::InitBuffer(InitBuffer { device, buffer, data: Payload::plain(bytes) }))
    }

    fn image(
        &mut self,
        device: u64,
        image: u64,
        (aspect, layout): (u32, u32),
        level_bytes: Vec<u64>,
        bytes: &[u8],
    ) -> gfxr_parse::error::Result<()> {
        self.open(device, bytes)?;
        let data = Payload::plain(bytes);
        self.out.meta(1, Meta::InitImage(InitImage { device, image, aspect, layout, level_bytes, data }))
    }

    /// Resources of this device are loaded next. The sizes are hints.
    fn open(&mut self, device: u64, bytes: &[u8]) -> gfxr_parse::error::Result<()> {
        if self.opened == Some(device) {
            return Ok(());
        }
        self.close()?;
        let n = bytes.len() as u64;
        self.opened = Some(device);
        self.out.meta(1, Meta::BeginResourceInit(BeginResourceInit { device, total_bytes: n, max_bytes: n }))
    }

    fn close(&mut self) -> gfxr_parse::error::Result<()> {
        match self.opened.take() {
            Some(device) => self.out.meta(1, Meta::EndResourceInit(EndResourceInit { device })),
            None => Ok(()),
        }
    }
}
