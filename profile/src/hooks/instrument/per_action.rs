//! Counters of each action: before every draw, dispatch and trace the address of its counters is pushed.
//!
//! Pipeline layouts and shader objects get one range of push constants for all stages, as large as the device has, in
//! place of the application's: layouts that were compatible stay so, and what the application pushes counts for all
//! stages. The top eight bytes are ours. Layouts whose own ranges reach those are left alone, and pipelines made with
//! them count by frame, not by action, which is said. Counters of an action lie in one piece: an entry point's begin at its
//! `action_base`, a running number over all entry points, and the address that is pushed is that of the piece less the
//! first of them; so that pipelines, libraries and shader objects of any combination need no table. Where launches are given
//! something (`given`), eight bytes below are ours, too. Guarantees: pieces are
//! zero when a frame begins; one is used again only after the frame in which its recording was replaced. Not counted, and
//! named: actions that the device generates itself (nothing is pushed for them but an address of nowhere).

use super::chosen::{self, Chosen, NOT_CHOSEN};
use super::given::Given;
use super::memory::{Memory, Place};
use super::plan::{Plan, Tally};
use crate::hooks::actions::{self, Actions, Recording};
use crate::rewrite::actions::BYTES;
use gfxr_parse::ahead::Call;
use gfxr_parse::schema::CommandDef;
use gfxr_parse::schema::generated::COMMANDS;
use gfxr_parse::view::View;
use gfxr_parse::{argument, member, param};
use replay::ash::vk::{self, Handle};
use replay::error::{Error, Kind, Result};
use replay::exec::Executor;
use replay::link::Linked;
use replay::vulkan::Vulkan;
use std::collections::HashMap;
use world::World;
use world::objects::BindPoint;

/// Why nothing counts by action in a pipeline.
pub const NO_ROOM: &str = "its layout's push constants reach the top, where actions are pushed";
/// Why nothing counts by action in a shader.
pub const UNTOLD: &str = "its shaders cannot be told their action";
/// Why an action is not counted.
const NOT_INSTRUMENTED: &str = "none of its shaders is instrumented";
const TOO_FAR: &str = "its shaders' counters lie too far apart";

/// Most bytes of one action's piece.
const MOST_BYTES: u64 = 64 << 20;

/// An entry point of a pipeline, or of one that it is linked from.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Part {
    /// Its number in the trace.
    pub entry: u32,
    /// Where its counters begin, and how many there are.
    pub base: u32,
    /// See [`Part::base`].
    pub counters: u32,
    /// The shader group.
    pub group: u32,
}

/// A pipeline or shader object.
#[derive(Clone, Debug, Default)]
pub struct Shaders {
    /// Its entry points that count.
    pub parts: Vec<Part>,
    /// Its shader groups, those of its libraries included.
    pub groups: u32,
    /// Why it does not count.
    pub why: Option<&'static str>,
}

impl Shaders {
    /// Launches of it can be given something.
    fn is_told(&self) -> bool {
        !self.parts.is_empty() && self.why != Some(NO_ROOM)
    }
}

/// A piece.
#[derive(Clone, Debug)]
struct Piece {
    result_index: u32,
    device: u64,
    place: Place,
    /// Counters, and the number of the first.
    counters: u32,
    first: u32,
    parts: Vec<Part>,
}

struct Device {
    offset: u32,
    layout: vk::PipelineLayout,
    memory: Memory,
    free: HashMap<u32, Vec<Place>>,
}

/// What one entry point counted in one action.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Counted {
    /// The recording.
    pub range: u64,
    /// Which of its actions.
    pub result_index: u32,
    /// The shader group.
    pub result_sub_index: u32,
    /// The entry point's number in the trace.
    pub entry: u32,
    /// Its counters.
    pub counters: Vec<u64>,
}

/// See the module's header.
#[derive(Default)]
pub struct PerAction {
    actions: Actions,
    /// No pass counts by action.
    counts_none: bool,
    /// Where only some actions count.
    chosen: Option<Chosen>,
    /// Where launches are given something.
    given: Option<Given>,
    /// Layouts, and whether they have room.
    layouts: HashMap<u64, bool>,
    shaders: HashMap<u64, Shaders>,
    pieces: HashMap<u64, Vec<Piece>>,
    devices: HashMap<u64, Device>,
    #[allow(clippy::vec_box, reason = "the driver is given their addresses")]
    next_base: u32,
}

/// Beginnings of the names of commands whose shaders run like those of actions, and are none.
const APART: [&str; 2] = ["vkCmdExecuteGeneratedCommands", "vkCmdDispatchTile"];

/// The calls that are seen before they are linked; where places are chosen, those that name them, too.
pub fn wants(places: bool) -> Vec<&'static str> {
    let seen = |c: &&CommandDef| {
        APART.iter().any(|a| c.name.starts_with(a)) || places && chosen::NAMES.contains(&c.canonical)
    };
    let others = COMMANDS.iter().filter(seen).map(|c| c.name);
    Actions::wants().into_iter().chain(others).collect()
}

/// Those that are changed when they are.
pub const LINKED: [&str; 4] =
    ["vkCreatePipelineLayout", "vkCmdPushConstants", "vkCmdPushConstants2", "vkCmdPushConstants2KHR"];

/// All of a device's push constants.
fn limit(vk: &Vulkan, device: u64) -> Result<u32> {
    Ok(vk.device(device)?.gpu.properties.limits.max_push_constants_size)
}

/// Where the top is.
fn offset(limit: u32) -> u32 {
    (limit - BYTES) & !(BYTES - 1)
}

/// Whether ranges leave room; `of` has pPushConstantRanges.
fn has_room(of: View<'_>, top: u32) -> bool {
    let end = |r: View<'_>| r.u32("offset").unwrap_or(0).saturating_add(r.u32("size").unwrap_or(0));
    of.structs("pPushConstantRanges").all(|r| end(r) <= top)
}

impl PerAction {
    /// What a plan takes.
    pub fn new(plan: &Plan) -> Self {
        let chosen = plan.select.places.clone().map(|p| Chosen::new(p, plan.names.clone()));
        let given = Given::new(&plan.variants);
        PerAction { counts_none: !plan.wants_actions(), chosen, given, ..PerAction::default() }
    }

    /// How much was chosen of what was measured.
    pub fn tally(&self) -> Option<&Tally> {
        self.chosen.as_ref().map(Chosen::tally)
    }

    /// Where the replay's push constants begin.
    fn top(&self, limit: u32) -> u32 {
        offset(limit) - if self.given.is_some() { BYTES } else { 0 }
    }

    /// A frame or an iteration of a looped one begins.
    pub fn begins(&mut self, vk: &mut Vulkan) -> Result<()> {
        self.given.as_mut().map_or(Ok(()), |g| g.begins(vk))
    }

    /// A frame has ended, and was measured or not.
    pub fn frame_ends(&mut self, measured: bool) {
        if let Some(g) = &mut self.given {
            g.frame_ends();
        }
        if let Some(c) = &mut self.chosen {
            c.frame_ends(measured);
        }
    }

    /// Where a device has actions pushed.
    pub fn offset(&self, vk: &Vulkan, device: u64) -> Result<u32> {
        Ok(offset(limit(vk, device)?))
    }

    /// Whether pipelines with this layout can count by action. Libraries may have none.
    pub fn has_room(&self, layout: u64) -> bool {
        self.layouts.get(&layout).copied().unwrap_or(true)
    }

    /// Where an entry point's counters begin.
    pub fn base(&mut self, counters: u32) -> Result<u32> {
        let base = self.next_base;
        self.next_base = base
            .checked_add(counters)
            .filter(|n| *n < 1 << 29)
            .ok_or_else(|| Error::new(Kind::Internal, "more counters of actions than there are numbers"))?;
        Ok(base)
    }

    /// A pipeline or shader object is made, of these entry points and libraries.
    pub fn made(&mut self, id: u64, mut shaders: Shaders, libraries: &[u64]) {
        for l in libraries {
            let Some(library) = self.shaders.get(l).cloned() else { continue };
            let before = shaders.groups;
            shaders.parts.extend(library.parts.iter().map(|p| Part { group: before + p.group, ..*p }));
            shaders.groups += library.groups;
            shaders.why = shaders.why.or(library.why);
        }
        self.shaders.insert(id, shaders);
    }

    /// Changes a linked call of [`LINKED`].
    pub fn linked(&mut self, vk: &Vulkan, call: &Call, linked: &mut Linked) -> Result<()> {
        let view = View::call(&call.image);
        match call.command.name {
            "vkCreatePipelineLayout" => {
                let size = limit(vk, call.image.u64(0))?;
                let room = view.one("pCreateInfo").is_none_or(|i| has_room(i, self.top(size)));
                for h in call.image.handles.iter().filter(|h| h.out) {
                    self.layouts.insert(call.image.u64(h.at), room);
                }
                let own = linked.keep(&[range(size)]);
                const INFO: usize = argument!("vkCreatePipelineLayout", "pCreateInfo");
                let info = linked.param_mut::<vk::PipelineLayoutCreateInfo<'_>>(INFO);
                if let Some(info) = info.filter(|_| room) {
                    info.push_constant_range_count = 1;
                    info.p_push_constant_ranges = own;
                }
            }
            "vkCmdPushConstants" => {
                if self.has_room(view.u64("layout").unwrap_or(0)) {
                    const STAGES: usize = argument!("vkCmdPushConstants", "stageFlags");
                    linked.set_arg(STAGES, vk::ShaderStageFlags::ALL.as_raw().into());
                }
            }
            _ => {
                let layout = view.one("pPushConstantsInfo").and_then(|i| i.u64("layout")).unwrap_or(0);
                let info = call.image.target(param!("vkCmdPushConstants2", "pPushConstantsInfo"));
                if let Some(info) = info.filter(|_| self.has_room(layout)) {
                    linked.set_u32_at(info + STAGES_AT, vk::ShaderStageFlags::ALL.as_raw());
                }
            }
        }
        Ok(())
    }

    /// Gives a shader object the range that layouts have; false where its own leave no room.
    pub fn object(
        &mut self,
        vk: &Vulkan,
        device: u64,
        (linked, info): (&mut Linked, &mut vk::ShaderCreateInfoEXT<'_>),
        then: View<'_>,
    ) -> Result<bool> {
        let size = limit(vk, device)?;
        let room = has_room(then, self.top(size));
        if room {
            info.push_constant_range_count = 1;
            info.p_push_constant_ranges = linked.keep(&[range(size)]);
        }
        Ok(room)
    }

    fn device<'s>(devices: &'s mut HashMap<u64, Device>, vk: &mut Vulkan, id: u64) -> Result<&'s mut Device> {
        if let std::collections::hash_map::Entry::Vacant(slot) = devices.entry(id) {
            let size = limit(vk, id)?;
            let all = [vk::PushConstantRange::default().stage_flags(vk::ShaderStageFlags::ALL).size(size)];
            let info = vk::PipelineLayoutCreateInfo::default().push_constant_ranges(&all);
            // SAFETY: a plain creation on a live device.
            let layout = unsafe { vk.device(id)?.ash.create_pipeline_layout(&info, None) }
                .map_err(|e| Error::driver("vkCreatePipelineLayout", e))?;
            let offset = offset(size);
            slot.insert(Device { offset, layout, memory: Memory::default(), free: HashMap::new() });
        }
        Ok(devices.get_mut(&id).expect("it is there"))
    }

    /// A call is about to be made: what actions need is recorded before them.
    pub fn see(&mut self, cx: &mut Executor, call: &Call) -> Result<()> {
        let seen = self.actions.see(&cx.objects, call);
        let name = call.command.canonical;
        if name.starts_with("vkQueueSubmit") {
            return self.submitting(cx, call);
        }
        if let Some(c) = self.chosen.as_mut().filter(|_| chosen::NAMES.contains(&name)) {
            c.named(call);
            return Ok(());
        }
        let id = call.image.u64(0);
        let (point, place, action) = match seen {
            Some((point, place, action)) => (Some(point), place, action),
            // Their shaders run as well, and are pushed nothing of their own.
            None if APART.iter().any(|a| name.starts_with(a)) => match self.actions.place(&cx.objects, id) {
                Some(place) => (None, place, 0),
                None => return Ok(()),
            },
            None => return Ok(()),
        };
        let live = vk::CommandBuffer::from_raw(cx.objects.live(id));
        let (false, Some(vk)) = (live.is_null(), cx.backend.vulkan()) else { return Ok(()) };
        let Some(point) = point else { return self.push(vk, live, place, None, 0) };
        let shaders = cx.objects.world().program(id, point);
        let known: Vec<&Shaders> = shaders.iter().filter_map(|s| self.shaders.get(s)).collect();
        let all: Vec<Part> = known.iter().flat_map(|s| s.parts.iter().copied()).collect();
        let (why, told) = (known.iter().find_map(|s| s.why), known.iter().any(|s| s.is_told()));
        if point == BindPoint::RayTracing {
            self.give(vk, live, place, told)?;
        }
        let parts: Vec<Part> = all.iter().copied().filter(|p| p.counters > 0).collect();
        let Some(first) = parts.iter().map(|p| p.base).min() else {
            self.actions.uncounted(place.range, action, Some(why.unwrap_or(NOT_INSTRUMENTED)));
            if all.is_empty() || self.chosen.is_none() {
                return Ok(());
            }
            return self.push(vk, live, place, None, 0);
        };
        let end = parts.iter().map(|p| p.base + p.counters).max().unwrap_or(first);
        let counters = end - first;
        if u64::from(counters) * 8 > MOST_BYTES {
            self.actions.uncounted(place.range, action, Some(TOO_FAR));
            return self.push(vk, live, place, None, 0);
        }
        let d = Self::device(&mut self.devices, vk, place.device)?;
        let spare = d.free.get_mut(&counters).and_then(Vec::pop);
        let memory = match spare {
            Some(p) => p,
            None => d.memory.counters(vk.device_mut(place.device)?, counters.into())?,
        };
        let address = memory.address.wrapping_sub(u64::from(first) * 8);
        let (result_index, device) = (action, place.device);
        let piece = Piece { result_index, device, place: memory, counters, first, parts };
        self.pieces.entry(place.range).or_default().push(piece);
        self.push(vk, live, place, Some(action), address)
    }

    /// Pushes the address of an action's counters, or of what is going to be said of it.
    fn push(
        &mut self,
        vk: &mut Vulkan,
        live: vk::CommandBuffer,
        of: actions::Place,
        action: Option<u32>,
        counters: u64,
    ) -> Result<()> {
        let address = match &mut self.chosen {
            Some(c) => c.action(vk, of, action, counters)?,
            None => counters,
        };
        let d = Self::device(&mut self.devices, vk, of.device)?;
        let all = vk::ShaderStageFlags::ALL;
        // SAFETY: the command buffer is being recorded; the layout has all push constants of all stages.
        unsafe {
            let ash = &vk.device(of.device)?.ash;
            ash.cmd_push_constants(live, d.layout, all, d.offset, &address.to_le_bytes());
        }
        Ok(())
    }

    /// Before a launch the address of what says which table it has is pushed, where its shaders look for that.
    fn give(
        &mut self,
        vk: &mut Vulkan,
        live: vk::CommandBuffer,
        of: actions::Place,
        told: bool,
    ) -> Result<()> {
        let Some(given) = &mut self.given else { return Ok(()) };
        let Some(address) = given.launch(vk, of, told)? else { return Ok(()) };
        let d = Self::device(&mut self.devices, vk, of.device)?;
        let all = vk::ShaderStageFlags::ALL;
        // SAFETY: the command buffer is being recorded; the layout has all push constants of all stages.
        unsafe {
            let ash = &vk.device(of.device)?.ash;
            ash.cmd_push_constants(live, d.layout, all, d.offset - BYTES, &address.to_le_bytes());
        }
        Ok(())
    }

    /// Command buffers are submitted: what their actions are told is written.
    fn submitting(&mut self, cx: &mut Executor, call: &Call) -> Result<()> {
        let (world, Some(vk)) = (cx.objects.world(), cx.backend.vulkan()) else { return Ok(()) };
        if let Some(c) = &mut self.chosen {
            let actions = &mut self.actions;
            c.submitting(vk, call, world, |range, action, counts| {
                actions.uncounted(range, action, (!counts).then_some(NOT_CHOSEN));
            })?;
        }
        self.given.as_mut().map_or(Ok(()), |g| g.submitting(vk, call, world))
    }

    /// What a device's actions counted since the frame began; it is idle. Recordings of all devices that were executed.
    pub fn read(&mut self, vk: &mut Vulkan, device: u64) -> Result<(Vec<Recording>, Vec<Counted>)> {
        if self.counts_none {
            return Ok((vec![], vec![]));
        }
        // (there is none where no action counts by itself)
        let read = match self.devices.get(&device) {
            Some(of) => of.memory.read_counters(vk.device_mut(device)?)?,
            None => Default::default(),
        };
        let (mut recordings, mut counted) = (Vec::new(), Vec::new());
        for r in self.actions.executed().filter(|r| r.device == device && !r.actions.is_empty()) {
            for p in self.pieces.get(&r.range).into_iter().flatten() {
                let all = Memory::part(&read, p.place, p.counters);
                for part in &p.parts {
                    let from = (part.base - p.first) as usize;
                    counted.push(Counted {
                        range: r.range,
                        result_index: p.result_index,
                        result_sub_index: part.group,
                        entry: part.entry,
                        counters: all[from..from + part.counters as usize].to_vec(),
                    });
                }
            }
            recordings.push(r);
        }
        Ok((recordings, counted))
    }

    /// A frame has ended, and what it left was read if anybody wants it: all is zero again, unless nobody reads.
    pub fn restart(&mut self, vk: &mut Vulkan, world: &World, is_read: bool) -> Result<()> {
        let retired = self.actions.restart(world);
        self.forget(&retired);
        if !is_read {
            return Ok(());
        }
        for (id, d) in &mut self.devices {
            let state = vk.device_mut(*id)?;
            state.wait_idle()?;
            d.memory.restart(state, (0, 0))?;
        }
        Ok(())
    }

    fn forget(&mut self, recordings: &[u64]) {
        if let Some(c) = &mut self.chosen {
            recordings.iter().for_each(|r| c.forget(*r));
        }
        if let Some(g) = &mut self.given {
            recordings.iter().for_each(|r| g.forget(*r));
        }
        for piece in recordings.iter().filter_map(|r| self.pieces.remove(r)).flatten() {
            if let Some(d) = self.devices.get_mut(&piece.device) {
                d.free.entry(piece.counters).or_default().push(piece.place);
            }
        }
    }

    /// A device goes; it is idle.
    pub fn device_goes(&mut self, vk: &Vulkan, device: u64) -> Result<()> {
        let gone = self.actions.device_gone(device);
        self.forget(&gone);
        if let Some(c) = &mut self.chosen {
            c.device_goes(vk, device)?;
        }
        if let Some(g) = &mut self.given {
            g.device_goes(vk, device)?;
        }
        if let Some(d) = self.devices.remove(&device) {
            let ash = &vk.device(device)?.ash;
            // SAFETY: ours, and nothing uses it.
            unsafe { ash.destroy_pipeline_layout(d.layout, None) };
            d.memory.destroy(ash);
        }
        Ok(())
    }

    /// The devices that are left are idle.
    pub fn finish(&mut self, vk: &Vulkan) -> Result<()> {
        for device in self.devices.keys().copied().collect::<Vec<_>>() {
            match vk.device(device) {
                Ok(_) => self.device_goes(vk, device)?,
                Err(_) => std::mem::forget(self.devices.remove(&device)),
            }
        }
        Ok(())
    }

    /// What is to be said at the end.
    pub fn notes(&self) -> Vec<String> {
        let mut notes = self.actions.notes();
        notes.extend(self.given.iter().flat_map(Given::notes));
        let full = self.layouts.values().filter(|room| !**room).count();
        if full > 0 {
            notes.push(format!("{full} pipeline layouts leave no room for actions in their push constants"));
        }
        notes
    }
}

/// Where the stages lie in a VkPushConstantsInfo.
const STAGES_AT: u32 = member!("VkPushConstantsInfo", "stageFlags");

/// What a layout has instead of its own ranges.
fn range(size: u32) -> vk::PushConstantRange {
    vk::PushConstantRange::default().stage_flags(vk::ShaderStageFlags::ALL).size(size)
}

/// The shader group that a stage of a ray-tracing pipeline is first in, and how many groups there are.
pub fn groups(info: View<'_>) -> (impl Fn(u32) -> u32, u32) {
    let members = ["generalShader", "closestHitShader", "anyHitShader", "intersectionShader"];
    let all: Vec<[Option<u32>; 4]> = info.structs("pGroups").map(|g| members.map(|m| g.u32(m))).collect();
    let n = all.len() as u32;
    (move |stage| all.iter().position(|g| g.contains(&Some(stage))).unwrap_or(0) as u32, n)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_top_is_where_shaders_look() {
        assert_eq!(offset(256), crate::rewrite::actions::USUAL);
        assert_eq!((offset(128), offset(255), offset(4096)), (120, 240, 4088));
    }

    #[test]
    fn push_constants_are_laid_out_as_the_registry_has_them() {
        use gfxr_parse::schema::generated::STRUCTS;
        use gfxr_parse::schema::struct_named;
        let def = &STRUCTS[struct_named("VkPushConstantsInfo").expect("in the schema") as usize];
        let at = def.members.iter().find(|m| m.name == "stageFlags").map(|m| m.at);
        assert_eq!(at, Some(STAGES_AT));
    }

    #[test]
    fn entry_points_are_numbered_one_behind_the_other_and_libraries_bring_theirs() {
        let mut p = PerAction::default();
        assert_eq!((p.base(5).ok(), p.base(0).ok(), p.base(3).ok()), (Some(0), Some(5), Some(5)));
        assert!(p.base(u32::MAX).is_err() && p.base(1 << 29).is_err());
        let part = |entry, group| Part { entry, base: entry * 10, counters: 4, group };
        p.made(1, Shaders { parts: vec![part(0, 0), part(1, 1)], groups: 2, why: None }, &[]);
        p.made(2, Shaders { parts: vec![part(2, 0)], groups: 1, why: Some(NO_ROOM) }, &[1, 99]);
        let all = &p.shaders[&2];
        let places: Vec<_> = all.parts.iter().map(|p| (p.entry, p.group)).collect();
        assert_eq!((places, all.groups, all.why), (vec![(2, 0), (0, 1), (1, 2)], 3, Some(NO_ROOM)));
    }

    #[test]
    fn layouts_that_nobody_made_have_room() {
        let mut p = PerAction::default();
        p.layouts.insert(5, false);
        assert!(p.has_room(4) && !p.has_room(5));
        assert_eq!(p.notes(), ["1 pipeline layouts leave no room for actions in their push constants"]);
    }
}
