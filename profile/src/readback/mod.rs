//! What resources hold at chosen commands of one frame: the attachments of render passes behind them, and what draws, dispatches and traces read
//! and write, before and behind them.
//!
//! Copies to buffers of ours are put into the application's command buffers, and read once the frame has ended. So the
//! commands themselves, their order and what comes behind them stay as they are; but what a pass would not store, it stores, and transient
//! attachments are kept.
//!
//! Guarantees: layouts and contents are those that the application has. Refuses what [`copies`] does, by name and with the reason, and depth and stencil in
//! layouts of their own. Stencil beside depth is not seen. Where a recording runs several times in the frame, its last run is what is seen.

mod attachments;
pub mod copies;
mod resolved;
mod subresources;

use crate::hooks::resources::enclosed;
use crate::hooks::screenshot::follow::{SUBMITS, all_names};
use crate::hooks::screenshot::read::{Read, settle};
use attachments::{MAKES, ended, layouts, left_in, seen, stored};
use copies::{Contents, Copy, IS_APART, MOST_BYTES, Source};
use gfxr_parse::ahead::Call;
use gfxr_parse::schema::generated::COMMANDS;
use gfxr_parse::view::View;
use replay::ash::vk::{self, Handle};
use replay::error::Result;
use replay::exec::Executor;
use replay::hook::{Commands, Hook, Needs, Next};
use replay::vulkan::DeviceState;
use std::collections::{BTreeMap, HashSet};
use world::commands::RENDERING_SUSPENDING;
use world::objects::ImageView;
use world::{Depth, Frame, Outcome, World};

/// What is to be read at the command of a block.
#[derive(Clone, Debug, Default)]
pub struct Spot {
    /// The command ends a pass: what the pass leaves in its attachments.
    pub attachments: bool,
    /// Of images every mip level and array layer that their views name is read, and not the base alone.
    pub all_subresources: bool,
    /// What these hold before the command.
    pub before: Vec<Source>,
    /// What these hold behind it.
    pub after: Vec<Source>,
}

/// Copies of one replay that are not of attachments: how many (each level and layer is one), and bytes of all of them, at most.
const MOST: (usize, u64) = (2000, 2 << 30);

/// By block.
pub type Spots = BTreeMap<u64, Spot>;

/// What was asked for.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Which {
    /// An attachment, by what it is in the pass: `color0`, `depth`, `resolve0`, …
    Attachment(String),
    /// Of [`Spot::before`], by number.
    Before(usize),
    /// Of [`Spot::after`], by number.
    After(usize),
}

/// What was read.
#[derive(Debug)]
pub struct Readback {
    /// The block of the command.
    pub block: u64,
    /// Which.
    pub which: Which,
    /// The captured id of the image or buffer, and its debug name.
    pub object: (u64, String),
    /// Of images the mip level and the array layer (of 3D images the slice).
    pub subresource: Option<[u32; 2]>,
    /// Others of the same view are read, too.
    pub several: bool,
    /// Its contents, or why there are none.
    pub contents: Read<Contents>,
}

/// Who takes them, in the order of blocks.
pub type Taker = Box<dyn FnMut(Readback) -> Result<()>>;

/// A resource, or a level and layer of it: what is to be copied of it, or the copy.
struct Part<T> {
    which: Which,
    object: u64,
    subresource: Option<[u32; 2]>,
    several: bool,
    it: Read<T>,
}

/// What is to be copied of a source, whose image may have been an attachment that is `left` in another layout.
fn parts(
    world: &World,
    (which, object, source): (Which, u64, Read<Source>),
    all: bool,
    left: &[(ImageView, u32)],
) -> Vec<Part<Source>> {
    let (view, layout) = match source {
        Ok(Source::Image(view, layout)) => (view, layout),
        it => return vec![Part { which, object, subresource: None, several: false, it }],
    };
    let image = world.images.get(&view.image).filter(|_| all);
    let mut views = image.map_or(vec![], |image| subresources::each(image, &view));
    if views.is_empty() {
        views.push(view);
    }
    let several = views.len() > 1;
    let part = |view: ImageView| {
        let layout = left_in(left, &view).unwrap_or(layout);
        let subresource = Some([view.range.level, view.range.layer]);
        Part { which: which.clone(), object, subresource, several, it: Ok(Source::Image(view, layout)) }
    };
    views.into_iter().map(part).collect()
}

/// See the module's header.
pub struct ReadbackHook {
    frame: u64,
    spots: Spots,
    watchdog_ns: u64,
    take: Taker,
    recorded: BTreeMap<u64, Vec<Part<Copy>>>,
    /// How many copies there are, and their bytes.
    made: (usize, u64),
    queues: HashSet<u64>,
}

impl ReadbackHook {
    /// For these commands of a frame.
    pub fn new(frame: u64, spots: Spots, watchdog_ns: u64, take: Taker) -> Self {
        let (recorded, made) = (BTreeMap::new(), (0, 0));
        Self { frame, spots, watchdog_ns, take, recorded, made, queues: HashSet::new() }
    }

    /// What of a command is to be copied now, or cannot be.
    fn wanted(&self, world: &World, call: &Call, behind: bool) -> Vec<Part<Source>> {
        let Some(spot) = self.spots.get(&call.block) else { return vec![] };
        let (mut all, mut left) = (vec![], vec![]);
        let each = spot.all_subresources;
        if behind && spot.attachments {
            let pass = ended(world, call.image.u64(0)).filter(|p| p.flags & RENDERING_SUSPENDING == 0);
            for of in pass.iter().flat_map(|pass| seen(world, pass)) {
                let source = match of.apart {
                    true => Err(IS_APART.to_owned()),
                    false => Ok(Source::Image(of.view, of.layout)),
                };
                let attachment = (Which::Attachment(of.name), of.view.image, source);
                all.extend(parts(world, attachment, each, &[]));
            }
            left = pass.map_or_else(Vec::new, |pass| layouts(world, &pass));
        }
        let (of, which): (_, fn(usize) -> Which) =
            if behind { (&spot.after, Which::After) } else { (&spot.before, Which::Before) };
        // (what the pass has had as an attachment is in the layout that the pass leaves it in)
        let of = of.iter().enumerate();
        all.extend(of.flat_map(|(n, s)| parts(world, (which(n), s.object(), Ok(*s)), each, &left)));
        all
    }

    /// Records the copies before or behind a command.
    fn copy(&mut self, cx: &mut Executor, call: &Call, behind: bool) -> Result<()> {
        let wanted = self.wanted(cx.objects.world(), call, behind);
        let buffer = call.image.u64(0);
        let commands = vk::CommandBuffer::from_raw(cx.objects.live(buffer));
        let family = family(cx.objects.world(), buffer);
        let Some(vk) = cx.backend.vulkan() else { return Ok(()) };
        let (mut all, mut failed) = (Vec::<Part<Copy>>::new(), Ok(()));
        let device = wanted.iter().find_map(|w| match w.it.as_ref().ok()? {
            Source::Buffer(id, ..) => vk.buffer(*id).map(|b| b.device),
            Source::Image(view, _) => vk.image(view.image).map(|i| i.device),
        });
        let graphics = device.zip(family).is_some_and(|(device, family)| {
            let family = vk.queue_family(device, family) as usize;
            let of = |d: &DeviceState| d.gpu.families.get(family).map(|f| f.queue_flags);
            let flags = vk.device(device).ok().and_then(of);
            flags.is_some_and(|f| f.contains(vk::QueueFlags::GRAPHICS))
        });
        let into = copies::Into { commands, graphics };
        let before = &mut self.made;
        let record = || {
            for Part { which, object, subresource, several, it: source } in wanted {
                let attachment = matches!(which, Which::Attachment(_));
                let many = !attachment && (before.0 >= MOST.0 || before.1 >= MOST.1);
                let why = || "is one of too many for one replay: choose fewer commands".to_owned();
                let source = source.and_then(|s| if many { Err(why()) } else { Ok(s) });
                // (its levels and layers stand one behind the other)
                let same = all.iter().rev().take_while(|part| part.which == which);
                let taken: u64 = same.flat_map(|part| &part.it).map(Copy::bytes).sum();
                let most = if attachment { u64::MAX } else { MOST_BYTES.saturating_sub(taken) };
                let it = match source.map(|source| Copy::record(vk, into, &source, most)) {
                    Ok(Ok(made)) => made,
                    Ok(Err(e)) => {
                        failed = Err(e);
                        continue;
                    }
                    Err(why) => Err(why),
                };
                if let (Ok(copy), false) = (&it, attachment) {
                    *before = (before.0 + 1, before.1 + copy.bytes());
                }
                all.push(Part { which, object, subresource, several, it });
            }
        };
        match device {
            Some(device) => enclosed(&vk.device(device)?.ash, commands, record),
            None => record(),
        }
        let known = self.recorded.entry(call.block).or_default();
        // (recorded anew, for another time)
        let again = |r: &Part<Copy>| all.iter().any(|a| a.which == r.which);
        let (before, kept): (Vec<_>, Vec<_>) = std::mem::take(known).into_iter().partition(again);
        *known = kept;
        known.extend(all);
        before.into_iter().filter_map(|r| r.it.ok()).for_each(|copy| copy.destroy(vk));
        failed
    }
}

/// The captured queue family that a command buffer is for.
fn family(world: &World, buffer: u64) -> Option<u32> {
    let pool = world.command_buffers.get(&buffer)?.pool;
    Some(world.command_pools.get(&pool)?.family)
}

fn ends(canonical: &str) -> bool {
    canonical.starts_with("vkCmdEndRenderPass") || canonical.starts_with("vkCmdEndRendering")
}

impl Hook for ReadbackHook {
    fn name(&self) -> &'static str {
        "readback"
    }

    fn needs(&self) -> Needs {
        Needs {
            transfer_src: true,
            kept_attachments: true,
            optional_features: vec![resolved::RENDERING],
            ..Needs::default()
        }
    }

    fn follows(&self) -> Depth {
        Depth::Commands
    }

    fn wants(&self) -> Commands {
        let own = [&MAKES[..], SUBMITS, &["vkDestroyDevice"]].concat();
        let recorded = COMMANDS.iter().filter(|c| c.name.starts_with("vkCmd")).map(|c| c.name);
        let all: Vec<&str> = all_names(&own).into_iter().chain(recorded).collect();
        Commands::named(&all)
    }

    fn call(&mut self, cx: &mut Executor, call: &mut Call, next: Next) -> Result<Outcome> {
        let name = call.command.canonical;
        if MAKES.contains(&name) {
            // (what is followed stays what the capture says)
            let mut edited = call.clone();
            stored(&mut edited);
            return next.run(cx, &mut edited);
        }
        if name == "vkDestroyDevice" {
            // (a frame may end behind it)
            self.hand_over(cx, Some(call.image.u64(0)))?;
        }
        let spot = self.spots.contains_key(&call.block);
        if spot && !ends(name) {
            self.copy(cx, call, false)?;
        }
        let outcome = next.run(cx, call)?;
        if SUBMITS.contains(&name) {
            self.queues.extend(View::call(&call.image).u64("queue"));
        } else if spot {
            self.copy(cx, call, true)?;
        }
        Ok(outcome)
    }

    fn frame(&mut self, cx: &mut Executor, frame: Frame) -> Result<()> {
        if frame.number == self.frame { self.hand_over(cx, None) } else { Ok(()) }
    }
}

impl ReadbackHook {
    /// Reads what a device, or each, has copied, and gives it to who takes it.
    fn hand_over(&mut self, cx: &mut Executor, device: Option<u64>) -> Result<()> {
        let mut recorded = std::mem::take(&mut self.recorded);
        if let Some(device) = device {
            // (what could not be copied is told at the frame's end)
            let of = |r: &Part<Copy>| r.it.as_ref().is_ok_and(|copy| copy.device() == device);
            for (block, all) in &mut recorded {
                let (now, later): (Vec<_>, Vec<_>) = std::mem::take(all).into_iter().partition(of);
                *all = now;
                self.recorded.entry(*block).or_default().extend(later);
            }
        }
        let world = cx.objects.world();
        let names: Vec<String> =
            recorded.values().flatten().map(|r| world.name(r.object).to_owned()).collect();
        let Some(vk) = cx.backend.vulkan() else { return Ok(()) };
        for queue in &self.queues {
            settle(vk, *queue, self.watchdog_ns)?;
        }
        let all = recorded.into_iter().flat_map(|(block, all)| all.into_iter().map(move |r| (block, r)));
        for ((block, r), name) in all.zip(names) {
            let Part { which, object, subresource, several, it } = r;
            let contents = it.as_ref().map(Copy::read).map_err(Clone::clone);
            it.into_iter().for_each(|copy| copy.destroy(vk));
            let object = (object, name);
            (self.take)(Readback { block, which, object, subresource, several, contents })?;
        }
        Ok(())
    }
}
