//! `trim`: some frames of a capture as a capture of their own, in the form in which GFXReconstruct's layer writes trimmed captures.
//!
//! What comes before the frames becomes a state section: the calls that make what the frames use ([`before`]), structures built and queries made
//! again ([`residue`]), contents of buffers and images as a replay finds them there, layouts, and what synchronises ([`sync`]). Contents that the frames
//! do not read, or overwrite first, are left out ([`first_use`]). Bytes that the capture itself knows are the capture's, so that addresses in them are, too.
//!
//! Guarantees: the blocks of the frames are the capture's, byte for byte, and so is everything where the frames are all; what the
//! result lacks is told by name. Refuses captures of several files, frames that there are not, and blocks that cannot be read.

mod before;
mod first_use;
mod residue;
mod sync;

use crate::failure::Failure;
use crate::files::input;
use crate::frames::{no_such_frame, there};
use crate::how::How;
use crate::progress;
use crate::replaying::{Bar, failure, options};
use crate::shots::shown;
use before::{Before, Kept, Number};
use first_use::{FirstUses, Watch};
use gfxr_parse::ahead::{Call, What, read};
use gfxr_parse::container::{Capture, FrameCounter, FrameRule, MarkerKind, Payload, Scratch};
use gfxr_parse::meta::{BeginResourceInit, EndResourceInit, InitBuffer, InitImage, Meta, id};
use gfxr_parse::schema::Ty;
use gfxr_parse::writer::Writer;
use profile::hooks::contents::ContentsHook;
use replay::frames::{Framer, resolve};
use replay::looped::Held as Found;
use replay::options::Options;
use replay::session::{On, prologue, replay};
use residue::{Input, Seen};
use std::cell::RefCell;
use serde::Serialize;
use std::collections::{BTreeMap, BTreeSet, HashMap, HashSet};
use std::fmt;
use std::io::Write;
use std::path::{Path, PathBuf};
use std::rc::Rc;
use sync::{State, Then};
use world::bytes::Bytes;
use world::objects::{Buffer, Image};
use world::{Follow, Frame, MetaBlock, Nobody, Outcome, World};

/// What is wanted.
pub struct Settings {
    /// The capture.
    pub file: PathBuf,
    /// The first and the last frame.
    pub frames: (u64, u64),
    /// The pictures of the result are compared with those of the capture.
    pub check: bool,
    /// How to replay up to them.
    pub run: How,
}

/// What came of it.
#[derive(Debug, Default, Serialize)]
pub struct Trimmed {
    /// Blocks before the frames, in the capture and in the result.
    pub before: (u64, u64),
    /// Blocks of the frames.
    pub frames: u64,
    /// Buffers and images that begin with contents, and bytes of these.
    pub contents: (u64, u64, u64),
    /// What is not in the result, and how often.
    pub lacks: BTreeMap<String, u64>,
    /// Bytes of the capture and of the result.
    pub bytes: (u64, u64),
    /// Pictures of the frames that both show, and how many of them differ; none where that was not looked at.
    pub pictures: Option<(u64, u64)>,
}

impl fmt::Display for Trimmed {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let (bytes, before) = (self.bytes, self.before);
        let share = 100.0 * bytes.1 as f64 / bytes.0.max(1) as f64;
        writeln!(f, "{} of {} bytes ({share:.1} %).", bytes.1, bytes.0)?;
        writeln!(f, "Of {} blocks before the frames {} are kept; the frames are {}.", before.0, before.1, self.frames)?;
        let (buffers, images, held) = self.contents;
        writeln!(f, "{buffers} buffers and {images} images begin with contents, {held} bytes before compression.")?;
        match self.pictures {
            Some((of, 0)) if of > 0 => writeln!(f, "{of} pictures of the frames are those of the capture."),
            _ => Ok(()),
        }
    }
}

/// Where the frames lie, and what they use.
struct Range {
    /// Their first block, and the first behind them.
    blocks: (usize, usize),
    /// Nothing but the state section of a trimmed capture lies before them.
    first: bool,
    /// Nothing lies behind them.
    last: bool,
    before: Before,
    then: Then,
    /// Of the time before.
    at: Snapshot,
    roots: Vec<Number>,
    /// Command buffers that the frames record before they use them.
    anew: HashSet<Number>,
    uses: FirstUses,
}

/// Of `world`, when the frames begin.
#[derive(Default)]
struct Snapshot {
    bytes: Bytes,
    buffers: BTreeMap<u64, Buffer>,
    images: BTreeMap<u64, Image>,
    devices: HashMap<u64, u64>,
}

/// Trims, into a file.
pub fn trim(settings: &Settings, output: &Path) -> Result<Trimmed, Failure> {
    let capture = input::open(&settings.file, settings.run.reading)?;
    let options = options(&settings.run)?;
    let (first, last) = settings.frames;
    if let Some(there) = there(&capture, &options.frame_by) {
        for n in [first, last].into_iter().filter(|n| !(there.0..=there.1).contains(n)) {
            return Err(no_such_frame(n, there));
        }
    }
    let blamed = |e: gfxr_parse::error::Error| Failure::new(format_args!("{}: {e}", settings.file.display()));
    progress::step("what the frames use");
    let range = Range::of(&capture, &options, settings.frames).map_err(|e| {
        Failure::new(format_args!("{}: {e}", settings.file.display()))
    })?;
    let folder = output.parent().filter(|p| !p.as_os_str().is_empty()).unwrap_or(Path::new("."));
    let cannot = |e: std::io::Error| Failure::new(format_args!("{}: {e}", output.display()));
    let file = tempfile::NamedTempFile::new_in(folder).map_err(cannot)?;
    let out = std::io::BufWriter::new(file);
    let mut out = Writer::new(out, capture.header()).map_err(blamed)?;
    let mut trimmed = Trimmed::default();
    let (from, to) = range.blocks;
    (trimmed.before.0, trimmed.frames) = (from as u64, (to - from) as u64);
    if range.first {
        trimmed.before.1 = from as u64;
        raw(&capture, 0..from, &mut out)?;
    } else {
        section(&capture, &options, &range, first, &mut out, &mut trimmed)?;
    }
    raw(&capture, from..if range.last { usize::MAX } else { to }, &mut out)?;
    let file = out.finish().map_err(blamed)?.into_inner().map_err(|e| cannot(e.into_error()))?;
    trimmed.bytes = (capture.bytes().len() as u64, file.as_file().metadata().map_err(cannot)?.len());
    file.persist(output).map_err(|e| cannot(e.error))?;
    if settings.check {
        progress::step("whether the frames look as before");
        trimmed.pictures = Some(compared(&capture, &options, settings, output)?);
    }
    Ok(trimmed)
}

/// How many pictures the frames show in the capture and in the result, and how many of them differ.
fn compared(capture: &Capture, options: &Options, settings: &Settings, output: &Path) -> Result<(u64, u64), Failure> {
    let (first, last) = settings.frames;
    let whole = shown(capture, options, settings.frames)?;
    let result = input::open(output, settings.run.reading)?;
    // (where presents end no frames, those of the result are counted anew)
    let counted = if there(&result, &options.frame_by).is_some() { settings.frames } else { (1, last - first + 1) };
    let ours = shown(&result, options, counted)?;
    let differ = (0..whole.len().max(ours.len())).filter(|n| {
        let of = |all: &[crate::shots::Shown]| all.get(*n).map(|s| (s.1, s.2));
        of(&whole) != of(&ours)
    });
    Ok((whole.len() as u64, differ.count() as u64))
}

/// Passes blocks on.
fn raw<W: Write>(
    capture: &Capture,
    blocks: std::ops::Range<usize>,
    out: &mut Writer<W>,
) -> Result<(), Failure> {
    for block in capture.blocks_of_main_file().take(blocks.end).skip(blocks.start) {
        out.raw(&block).map_err(Failure::new)?;
    }
    Ok(())
}

impl Range {
    fn of(capture: &Capture, options: &Options, (first, last): (u64, u64)) -> Result<Range, String> {
        let rule = resolve(&options.frame_by, capture, prologue(capture).1).map_err(|e| e.to_string())?;
        let mut framer = Framer::new(rule);
        let mut counter = FrameCounter::with_rule(FrameRule::detect(capture));
        let mut scratch = Scratch::new();
        let mut follow = Follow::new();
        follow.follow_semaphores();
        let (mut before, mut state, mut watch) = (Before::default(), State::default(), Watch::new());
        let mut begun: Option<(usize, Then, Snapshot)> = None;
        let (mut roots, mut seen, mut anew) = (BTreeSet::new(), HashSet::new(), HashSet::new());
        let (mut ended, mut earlier) = (None, false);
        let mut all = 0;
        for (n, block) in capture.blocks_of_main_file().enumerate() {
            all = n + 1;
            if block.meta_type() == Some(id::EXECUTE_BLOCKS) {
                return Err("a capture of several files; `compress` makes one of them".into());
            }
            let place = counter.feed(&block);
            let mut what = read(&block, place, None, &mut scratch).map_err(|e| e.to_string())?;
            let edge = framer.edge(place, if let What::Call(c) = &what { Some(c) } else { None });
            let frame = if edge.after { framer.ended(place) } else { framer.number(place) };
            if frame > last && !place.state {
                ended = Some(n);
                break;
            }
            if begun.is_none() && !place.state && frame >= first {
                let then = Then::of(std::mem::take(&mut state), follow.semaphores(), follow.world());
                begun = Some((n, then, Snapshot::of(follow.world())));
            }
            let in_range = begun.is_some();
            earlier |= !in_range && !place.state;
            match &mut what {
                What::Call(call) => {
                    call.frame = frame;
                    let failed = matches!(call.command.ret, Some(Ty::Enum(_))) && call.image.ret() < Some(0);
                    let outcome = Outcome::captured(call);
                    if in_range {
                        range_names(&before, follow.world(), call, (&mut roots, &mut seen, &mut anew));
                        watch.call(follow.world(), call);
                        follow.call(call, outcome, &mut watch);
                    } else if failed {
                        before.other(None, false);
                    } else {
                        state.call(call);
                        before.call(follow.world(), call);
                        follow.call(call, outcome, &mut Seen(&mut before));
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
                        before.other(Some(&meta.meta), true);
                    }
                    follow.meta(&MetaBlock { meta: &meta.meta, data: data.bytes(), block: n as u64 });
                }
                _ if !in_range => {
                    let kind = gfxr_parse::container::block::block_type::ANNOTATION;
                    before.other(None, block.base_type() == kind);
                }
                _ => {}
            }
            if edge.before || edge.after {
                let number = if edge.after { frame } else { frame.saturating_sub(1) };
                follow.frame(Frame { number, next: number.saturating_add(1), repeat: 0 });
            }
        }
        if ended.is_none() && let Some(e) = capture_ends(capture) {
            return Err(e);
        }
        follow.finish(&mut Nobody);
        let (from, then, at) = begun.ok_or_else(|| format!("it ends before frame {first}"))?;
        let uses = watch.found();
        if uses.addressed || uses.anything {
            roots.extend(before.with_addresses());
        }
        Ok(Range {
            blocks: (from, ended.unwrap_or(all)),
            first: !earlier,
            last: ended.is_none(),
            before,
            then,
            at,
            roots: roots.into_iter().collect(),
            anew,
            uses,
        })
    }

    /// What begins with contents: buffers, images.
    fn contents(&self, kept: &Kept) -> (Vec<u64>, Vec<u64>) {
        const SHADER_DEVICE_ADDRESS: u64 = 0x2_0000;
        const STRUCTURE_STORAGE: u64 = 0x10_0000;
        let (uses, at) = (&self.uses, &self.at);
        let there = |id: &u64| self.before.is_there(kept, *id);
        let read = |id: &u64, b: &Buffer| {
            let addressed = uses.addressed && b.usage & SHADER_DEVICE_ADDRESS != 0;
            uses.anything || addressed || uses.buffers.contains(id)
        };
        let whole = |b: &Buffer| b.bound.is_some() && b.usage & STRUCTURE_STORAGE == 0;
        let buffers = at.buffers.iter().filter(|(id, b)| there(id) && whole(b) && read(id, b));
        let image = |id: &u64, i: &Image| i.swapchain == 0 && (uses.anything || uses.images.contains(id));
        let images = at.images.iter().filter(|(id, i)| there(id) && image(id, i));
        let device = |id: &u64| (at.devices.get(id).copied().unwrap_or(0), *id);
        let mut found = (buffers.map(|b| *b.0).collect::<Vec<_>>(), images.map(|i| *i.0).collect::<Vec<_>>());
        found.0.sort_by_key(device);
        found.1.sort_by_key(device);
        found
    }
}

/// Why the file ends early, if it does.
fn capture_ends(capture: &Capture) -> Option<String> {
    let mut blocks = capture.blocks_of_main_file();
    blocks.by_ref().for_each(drop);
    blocks.truncated().map(|e| e.to_string())
}

impl Snapshot {
    /// What the capture itself says of a buffer's bytes, if that is all of them.
    fn known(&self, buffer: u64) -> Option<Vec<u8>> {
        let (bytes, unknown) = self.bytes_of(buffer);
        unknown.is_empty().then_some(bytes)
    }

    /// A buffer's bytes, and where they are not known.
    fn bytes_of(&self, buffer: u64) -> (Vec<u8>, Vec<(u64, u64)>) {
        let mut bytes = vec![];
        let Some((b, bound)) = self.buffers.get(&buffer).and_then(|b| Some((b, b.bound?))) else {
            return (bytes, vec![]);
        };
        let known = self.bytes.read(bound.memory, bound.offset, b.size, &mut bytes);
        (bytes, known.holes.iter().map(|h| (h.from, h.to)).collect())
    }

    fn of(world: &World) -> Snapshot {
        let mut s = Snapshot { bytes: world.bytes.clone(), ..Snapshot::default() };
        let device = |memory: Option<u64>| world.memories.get(&memory?).map(|m| m.device);
        for (id, b) in world.buffers.iter() {
            s.devices.extend(device(b.bound.map(|b| b.memory)).map(|d| (*id, d)));
            s.buffers.insert(*id, b.clone());
        }
        for (id, i) in world.images.iter() {
            s.devices.extend(device(i.bound.first().map(|b| b.memory)).map(|d| (*id, d)));
            s.images.insert(*id, i.clone());
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

/// Writes the state section.
fn section<W: Write>(
    capture: &Capture,
    options: &Options,
    range: &Range,
    first: u64,
    out: &mut Writer<W>,
    trimmed: &mut Trimmed,
) -> Result<(), Failure> {
    let before = &range.before;
    let kept = before.needed(range.roots.iter().copied(), &range.anew);
    trimmed.before.1 = kept.blocks.iter().filter(|k| **k).count() as u64;
    let (buffers, images) = range.contents(&kept);
    let held = Held::of(capture, options, range, &kept, first, (&buffers, &images))?;
    for why in &held.lacks {
        *trimmed.lacks.entry(why.clone()).or_default() += 1;
    }
    if before.residue.left_out > 0 {
        let what = "builds and queries of secondary command buffers".to_owned();
        trimmed.lacks.insert(what, before.residue.left_out);
    }
    let mut section = Section { out, opened: None, trimmed };
    let written = |e: gfxr_parse::error::Error| Failure::new(e);
    section.out.state(MarkerKind::Begin, first).map_err(written)?;
    section.made(capture, before, &kept, &held).map_err(written)?;
    section.contents(range, &held, (&buffers, &images)).map_err(written)?;
    range.then.swapchains(section.out, before, &kept, &held.layouts).map_err(written)?;
    range.then.calls(section.out, before, &kept).map_err(written)?;
    section.out.state(MarkerKind::End, first).map_err(written)
}

/// What a replay found when the frames begin.
#[derive(Default)]
struct Held {
    /// Of buffers all bytes, with captured addresses.
    buffers: BTreeMap<u64, Vec<u8>>,
    /// Of images by aspect: bytes of each level, and the levels.
    images: BTreeMap<(u64, u32), (Vec<u64>, Vec<u8>)>,
    /// Of all images that are there; 0 for those without contents.
    layouts: BTreeMap<u64, u32>,
    /// What could not be read, and why.
    lacks: Vec<String>,
}

impl Held {
    /// Replays up to the frames, unless the capture itself knows everything.
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
        let unknown = buffers.iter().copied().filter(|id| range.at.known(*id).is_none()).chain(inputs);
        let unknown: BTreeSet<u64> = unknown.filter(|id| range.at.buffers.contains_key(id)).collect();
        let there = |id: &&u64| range.before.is_there(kept, **id);
        let all: Vec<u64> = range.at.images.keys().filter(there).copied().collect();
        if unknown.is_empty() && all.is_empty() {
            return Ok(Held::default());
        }
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
        let wanted = (unknown.into_iter().collect(), images.to_vec());
        let (hooks, layouts) = ContentsHook::new(first - 1, wanted, &all, Box::new(take));
        let options = Options { frames: Some((0, first - 1)), ..options.clone() };
        let bar = progress::bytes(capture.bytes().len() as u64, "replaying");
        let mut told = Bar { bar: &bar, map: None, released: 0 };
        let done = replay(capture, &options, On::Vulkan, hooks, 0, &mut told);
        bar.finish_and_clear();
        done.map_err(failure)?;
        let mut held = held.take();
        held.layouts = layouts.take();
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
    trimmed: &'a mut Trimmed,
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
        for (n, block) in capture.blocks_of_main_file().take(before.blocks()).enumerate() {
            if kept.blocks[n] {
                self.out.raw(&block)?;
            }
            let Some(runs) = kept.runs.get(&(n as u32)) else { continue };
            let mut inputs: Vec<&Rc<Input>> = runs.iter().flat_map(|r| &r.inputs).collect();
            inputs.dedup_by(|a, b| Rc::ptr_eq(a, b));
            for input in inputs {
                let mut bytes = input.bytes.clone();
                if !held.fill(input.buffer, &mut bytes, &input.unknown) {
                    *self.trimmed.lacks.entry("inputs of builds that are gone".into()).or_default() += 1;
                }
                self.buffer(input.device, input.buffer, &bytes)?;
            }
            self.close()?;
            let mut buffers: Vec<u64> = runs.iter().map(|r| r.ids.1).collect();
            buffers.dedup();
            let queue = runs[0].ids.0;
            sync::submit(self.out, queue, &buffers, &[], 0)?;
            sync::call(self.out, "vkQueueWaitIdle", |w| {
                w.u64(queue).i32(0);
            })?;
        }
        Ok(())
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
            let (mut bytes, unknown) = range.at.bytes_of(id);
            held.fill(id, &mut bytes, &unknown);
            self.trimmed.contents.0 += 1;
            self.trimmed.contents.2 += bytes.len() as u64;
            self.buffer(device(id), id, &bytes)?;
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
                    self.trimmed.contents.2 += bytes.len() as u64;
                    self.image(device(id), id, (aspect, layout), levels.clone(), bytes)?;
                }
            }
            self.trimmed.contents.1 += u64::from(aspects > 0);
            if aspects == 0 {
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
