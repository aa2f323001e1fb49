//! The order of calls: what has to come before a call on a command buffer, and what must not have.
//!
//! Drivers trust it: a draw without a pipeline, a command in a buffer that is not being recorded, or the submission of one
//! that never was are crashes there. What was recorded is kept in the object's entry, one word a command buffer.
//!
//! Guarantees: a call that is refused did not reach the driver and changed nothing. Refuses, as divergences: commands outside
//! of a recording; a recording begun twice, or ended twice, or within its render pass; submissions and executions of what was
//! not recorded or is of the other level; draws outside of a render pass; draws, dispatches and traces without a pipeline or
//! shaders; indexed draws without indices; render passes in each other, and subpasses that the pass has not got; queries
//! ended that were not begun, and begun twice; freeing one object twice in a call, or out of another pool; and what depends on
//! a call that was refused and left out: draws behind a bind, binds of sets that were to be written.
//!
//! Only the driver can know, and so is the driver's: whether the device still executes a command buffer that is recorded
//! again or freed, whether what a recording names was destroyed since, whether a fence or a semaphore is in use, and
//! whether the state that a draw needs (vertex buffers, descriptors, dynamic states) was set. Commands that are not allowed
//! within a render pass are left to it, too, as programs have them and drivers do them.

use crate::error::{Error, Result};
use crate::objects::Objects;
use gfxr_parse::ahead::Call;
use gfxr_parse::schema::generated::{COMMANDS, HANDLES};
use gfxr_parse::schema::{CommandDef, HandleId, handle_named};
use gfxr_parse::{member, param};
use world::Ids;
use world::Outcome;

const RECORDING: u32 = 1;
const EXECUTABLE: u32 = 1 << 1;
const SECONDARY: u32 = 1 << 2;
/// A render pass has begun.
const PASS: u32 = 1 << 3;
/// It is the one of whoever executes this command buffer.
const INHERITED: u32 = 1 << 4;
const GRAPHICS: u32 = 1 << 5;
const COMPUTE: u32 = 1 << 6;
const RAYS: u32 = 1 << 7;
const INDICES: u32 = 1 << 8;
/// Queries were begun: `Order::queries` says which.
const QUERIES: u32 = 1 << 9;
/// A call that sets what draws, dispatches and traces use was left out.
const UNSET: u32 = 1 << 10;
/// Of a descriptor set: a call that writes to it was left out.
const UNWRITTEN: u32 = 1;
/// From here on: the subpasses of the pass that come behind the current one.
const SUBPASS_SHIFT: u32 = 16;
const SUBPASSES: u32 = u32::MAX << SUBPASS_SHIFT;

/// VkCommandBufferUsageFlagBits' RENDER_PASS_CONTINUE.
const CONTINUES: u32 = 2;
/// VkPipelineBindPoint's RAY_TRACING_KHR.
const RAY_TRACING: u32 = 1_000_165_000;
/// VkShaderStageFlagBits' COMPUTE.
const COMPUTE_STAGE: u32 = 0x20;

/// What a command means to the order.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Meaning {
    /// Nothing beyond what its bits say.
    Plain,
    Begin,
    End,
    Reset,
    ResetPool,
    Allocate,
    Submit,
    Execute,
    BindPipeline,
    BindShaders,
    BindSets,
    WriteSets,
    BeginPass,
    NextSubpass,
    BeginQuery,
    EndQuery,
    Free,
    CreatePass,
}

/// What is held against the state of the command buffer in the first parameter, and what becomes of it.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
struct Rule {
    needs: u32,
    forbids: u32,
    sets: u32,
    clears: u32,
    meaning: Meaning,
}

/// A query that was begun: pool, number, index.
type Query = (u64, u32, u32);

/// See the module's header.
pub struct Order {
    rules: Vec<Rule>,
    command_buffer: HandleId,
    descriptor_set: HandleId,
    /// A call that writes to sets was.
    left_out: bool,
    /// Command buffers of the second level.
    secondary: Ids<()>,
    /// Subpasses of render passes.
    subpasses: Ids<u32>,
    queries: Ids<Vec<Query>>,
}

impl Order {
    /// Of no object yet.
    pub fn new() -> Self {
        Order {
            rules: COMMANDS.iter().map(rule_of).collect(),
            command_buffer: handle_named("VkCommandBuffer").expect("a core handle"),
            descriptor_set: handle_named("VkDescriptorSet").expect("a core handle"),
            left_out: false,
            secondary: Ids::default(),
            subpasses: Ids::default(),
            queries: Ids::default(),
        }
    }
}

fn rule_of(c: &CommandDef) -> Rule {
    let name = c.canonical;
    let mut r = Rule { needs: 0, forbids: 0, sets: 0, clears: 0, meaning: Meaning::Plain };
    r.meaning = match name {
        "vkBeginCommandBuffer" => Meaning::Begin,
        "vkEndCommandBuffer" => Meaning::End,
        "vkResetCommandBuffer" => Meaning::Reset,
        "vkResetCommandPool" => Meaning::ResetPool,
        "vkAllocateCommandBuffers" => Meaning::Allocate,
        "vkQueueSubmit" | "vkQueueSubmit2" => Meaning::Submit,
        "vkFreeCommandBuffers" | "vkFreeDescriptorSets" => Meaning::Free,
        "vkCreateRenderPass" | "vkCreateRenderPass2" => Meaning::CreatePass,
        "vkUpdateDescriptorSets" => Meaning::WriteSets,
        _ => {
            let Some(rest) = name.strip_prefix("vkCmd") else { return r };
            r.needs = RECORDING;
            let begins = |words: &[&str]| words.iter().any(|w| rest.starts_with(w));
            match () {
                () if begins(&["Draw"]) => {
                    r.needs |= PASS | GRAPHICS;
                    r.forbids |= UNSET;
                    if rest.contains("Indexed") {
                        r.needs |= INDICES;
                    }
                }
                () if begins(&["ClearAttachments"]) => r.needs |= PASS,
                () if begins(&["TraceRays"]) => {
                    r.needs |= if name.ends_with("NV") { 0 } else { RAYS };
                    r.forbids |= UNSET;
                }
                () if begins(&["BindIndexBuffer"]) => r.sets = INDICES,
                () if begins(&["BindPipelineShaderGroup"]) => r.sets = GRAPHICS,
                () if begins(&["BeginRendering"]) => (r.forbids, r.sets) = (PASS, PASS),
                () if begins(&["EndRendering", "EndRenderPass"]) => {
                    r.needs |= PASS;
                    (r.forbids, r.clears) = (INHERITED, PASS | SUBPASSES);
                }
                () => {}
            }
            match rest {
                "Dispatch" | "DispatchBase" | "DispatchIndirect" => {
                    r.needs |= COMPUTE;
                    r.forbids |= UNSET;
                    Meaning::Plain
                }
                "BindPipeline" => Meaning::BindPipeline,
                "BindShadersEXT" => Meaning::BindShaders,
                "BindDescriptorSets" | "BindDescriptorSets2" => Meaning::BindSets,
                "ExecuteCommands" => Meaning::Execute,
                "BeginRenderPass" | "BeginRenderPass2" => {
                    r.forbids = PASS;
                    Meaning::BeginPass
                }
                "NextSubpass" | "NextSubpass2" => {
                    r.needs |= PASS;
                    r.forbids = INHERITED;
                    Meaning::NextSubpass
                }
                "BeginQuery" | "BeginQueryIndexedEXT" => Meaning::BeginQuery,
                "EndQuery" | "EndQueryIndexedEXT" => Meaning::EndQuery,
                _ => Meaning::Plain,
            }
        }
    };
    r
}

/// What is wrong with a command buffer in this state.
#[cold]
fn refused(id: u64, state: u32, r: &Rule) -> Error {
    let missing = r.needs & !state;
    Error::divergence(match () {
        () if missing & RECORDING != 0 => format!("VkCommandBuffer {id} is not being recorded"),
        () if missing & PASS != 0 => format!("no render pass has begun in VkCommandBuffer {id}"),
        () if missing & GRAPHICS != 0 => {
            format!("no graphics pipeline and no shaders are bound in VkCommandBuffer {id}")
        }
        () if missing & COMPUTE != 0 => {
            format!("no compute pipeline and no shader are bound in VkCommandBuffer {id}")
        }
        () if missing & RAYS != 0 => format!("no ray-tracing pipeline is bound in VkCommandBuffer {id}"),
        () if missing & INDICES != 0 => format!("no index buffer is bound in VkCommandBuffer {id}"),
        () if state & r.forbids & UNSET != 0 => {
            format!("a call before it in VkCommandBuffer {id}, that sets what it uses, was left out")
        }
        () if state & r.forbids & INHERITED != 0 => {
            format!("the render pass of VkCommandBuffer {id} is that of whoever executes it")
        }
        () => format!("a render pass that has begun in VkCommandBuffer {id} has not ended"),
    })
}

/// Before a call: refuses it, or notes what it does; whether there is more to do when it has been made.
#[inline]
pub fn before(order: &mut Order, objects: &mut Objects, call: &Call) -> Result<bool> {
    let r = &order.rules[call.index];
    if r.needs != 0 {
        let id = call.image.u64(0);
        let Some(state) = objects.state(id) else { return Ok(false) };
        if *state & r.needs != r.needs || *state & r.forbids != 0 {
            return Err(refused(id, *state, r));
        }
        *state = *state & !r.clears | r.sets;
    }
    match r.meaning {
        Meaning::Plain => Ok(false),
        meaning => special(order, objects, call, meaning).map(|()| true),
    }
}

/// The objects of a type that a call names, but for the one that it is made on.
fn named(call: &Call, ty: u16) -> impl Iterator<Item = u64> {
    call.image.handles.iter().filter(move |h| !h.out && h.at != 0 && h.ty == ty).map(|h| call.image.u64(h.at))
}

fn special(order: &mut Order, objects: &mut Objects, call: &Call, meaning: Meaning) -> Result<()> {
    let (image, id) = (&call.image, call.image.u64(0));
    let ty = order.command_buffer;
    let of = |objects: &mut Objects, id| objects.state(id).map_or(0, |s| *s);
    match meaning {
        Meaning::Begin => {
            if of(objects, id) & RECORDING != 0 {
                return Err(Error::divergence(format!("VkCommandBuffer {id} is already being recorded")));
            }
            let info = image.target(param!("vkBeginCommandBuffer", "pBeginInfo"));
            let inherited = member!("VkCommandBufferBeginInfo", "pInheritanceInfo");
            if order.secondary.contains_key(&id)
                && info.is_some_and(|info| image.target(info + inherited).is_none())
            {
                let text = format!("VkCommandBuffer {id} is secondary: pInheritanceInfo is missing");
                return Err(Error::divergence(text));
            }
        }
        Meaning::End => {
            let state = of(objects, id);
            if state & RECORDING == 0 {
                return Err(Error::divergence(format!("VkCommandBuffer {id} is not being recorded")));
            }
            if state & (PASS | INHERITED) == PASS {
                let text = format!("a render pass that has begun in VkCommandBuffer {id} has not ended");
                return Err(Error::divergence(text));
            }
        }
        Meaning::Submit => {
            for buffer in named(call, ty) {
                let state = of(objects, buffer);
                if state & (EXECUTABLE | SECONDARY) != EXECUTABLE {
                    return Err(not_executable(buffer, state, "a primary"));
                }
            }
        }
        Meaning::Execute => {
            let within = of(objects, id) & PASS != 0;
            for buffer in named(call, ty) {
                let state = of(objects, buffer);
                if state & (EXECUTABLE | SECONDARY) != EXECUTABLE | SECONDARY {
                    return Err(not_executable(buffer, state, "a secondary"));
                }
                if (state & INHERITED != 0) != within {
                    let (then, now) =
                        if within { ("outside of", "within") } else { ("within", "outside of") };
                    return Err(Error::divergence(format!(
                        "VkCommandBuffer {buffer} was recorded to run {then} a render pass, and is executed {now} one"
                    )));
                }
            }
        }
        Meaning::BindPipeline | Meaning::BindShaders => {
            let bits = if meaning == Meaning::BindPipeline {
                match image.u32(param!("vkCmdBindPipeline", "pipelineBindPoint")) {
                    0 => GRAPHICS,
                    1 => COMPUTE,
                    RAY_TRACING => RAYS,
                    _ => 0,
                }
            } else {
                let stages = image.u32s(param!("vkCmdBindShadersEXT", "pStages"));
                stages.fold(0, |bits, stage| bits | if stage == COMPUTE_STAGE { COMPUTE } else { GRAPHICS })
            };
            if let Some(state) = objects.state(id) {
                *state |= bits;
            }
        }
        Meaning::BeginPass => {
            let info = image.target(param!("vkCmdBeginRenderPass", "pRenderPassBegin"));
            let pass =
                info.map_or(0, |info| image.u64(info + member!("VkRenderPassBeginInfo", "renderPass")));
            let behind = order.subpasses.get(&pass).map_or(0, |n| n.saturating_sub(1));
            if let Some(state) = objects.state(id) {
                *state = *state & !SUBPASSES | PASS | behind.min(u16::MAX.into()) << SUBPASS_SHIFT;
            }
        }
        Meaning::NextSubpass => {
            if let Some(state) = objects.state(id) {
                if *state & SUBPASSES == 0 {
                    let text =
                        format!("the render pass in VkCommandBuffer {id} has no subpass behind this one");
                    return Err(Error::divergence(text));
                }
                *state -= 1 << SUBPASS_SHIFT;
            }
        }
        Meaning::BeginQuery | Meaning::EndQuery => {
            query(order, objects, call, meaning == Meaning::BeginQuery)?
        }
        Meaning::Free => freed_once(objects, call)?,
        Meaning::BindSets if order.left_out => {
            for set in named(call, order.descriptor_set) {
                if of(objects, set) & UNWRITTEN != 0 {
                    let text = format!("a call that writes to VkDescriptorSet {set} was left out");
                    return Err(Error::divergence(text));
                }
            }
        }
        Meaning::WriteSets if order.left_out => {
            for set in named(call, order.descriptor_set) {
                if let Some(state) = objects.state(set) {
                    *state &= !UNWRITTEN;
                }
            }
        }
        Meaning::Plain
        | Meaning::Reset
        | Meaning::ResetPool
        | Meaning::Allocate
        | Meaning::CreatePass
        | Meaning::BindSets
        | Meaning::WriteSets => {}
    }
    Ok(())
}

#[cold]
fn not_executable(id: u64, state: u32, level: &str) -> Error {
    Error::divergence(match () {
        () if state & RECORDING != 0 => format!("VkCommandBuffer {id} is still being recorded"),
        () if state & EXECUTABLE == 0 => format!("VkCommandBuffer {id} holds no recording"),
        () => format!("VkCommandBuffer {id} is not {level} command buffer"),
    })
}

/// vkCmd{Begin,End}Query{,Indexed}.
fn query(order: &mut Order, objects: &mut Objects, call: &Call, begins: bool) -> Result<()> {
    let (image, id) = (&call.image, call.image.u64(0));
    let index = call.command.params.iter().find(|p| p.name == "index").map_or(0, |p| image.u32(p.at));
    let pool = image.u64(param!("vkCmdBeginQuery", "queryPool"));
    let one: Query = (pool, image.u32(param!("vkCmdBeginQuery", "query")), index);
    let active = order.queries.entry(id).or_default();
    let Some(state) = objects.state(id) else { return Ok(()) };
    if *state & QUERIES == 0 {
        active.clear(); // of an earlier recording
        *state |= QUERIES;
    }
    let found = active.iter().position(|q| *q == one);
    match (begins, found) {
        (true, None) => active.push(one),
        (false, Some(i)) => _ = active.swap_remove(i),
        _ => {
            let how = if begins { "is already" } else { "was not" };
            return Err(Error::divergence(format!("query {} of VkQueryPool {} {how} begun", one.1, one.0)));
        }
    }
    Ok(())
}

/// vkFreeCommandBuffers, vkFreeDescriptorSets.
fn freed_once(objects: &Objects, call: &Call) -> Result<()> {
    // (sets are freed with the same parameters)
    let pool = call.image.u64(param!("vkFreeCommandBuffers", "commandPool"));
    let freed = call.image.ptr(param!("vkFreeCommandBuffers", "pCommandBuffers")).map_or(u32::MAX, |p| p.to);
    let mut all = Vec::new();
    for h in call.image.handles.iter().filter(|h| !h.out && h.at >= freed) {
        let (id, name) = (call.image.u64(h.at), HANDLES[h.ty as usize].name);
        if objects.get(id, h.ty).is_some_and(|e| e.pool != 0 && e.pool != pool) {
            return Err(Error::divergence(format!("{name} {id} is not of the pool that it is freed from")));
        }
        all.push((id, name));
    }
    all.sort_unstable();
    match all.windows(2).find(|w| w[0].0 != 0 && w[0] == w[1]) {
        Some(w) => Err(Error::divergence(format!("{} {} is freed twice in one call", w[0].1, w[0].0))),
        None => Ok(()),
    }
}

/// Whether the commands of a command buffer stand in a render pass now: one that has begun in it, or its executer's.
pub fn in_pass(objects: &mut Objects, id: u64) -> bool {
    objects.state(id).is_some_and(|s| *s & PASS != 0)
}

/// A command buffer has been reset otherwise than by the capture.
pub fn was_reset(objects: &mut Objects, buffer: u64) {
    if let Some(state) = objects.state(buffer) {
        *state &= SECONDARY;
    }
}

/// A call was refused, and the replay goes on without it: what depends on it will be refused, too.
pub fn left_out(order: &mut Order, objects: &mut Objects, call: &Call) {
    let name = call.command.canonical;
    let (of, bit) = match name.strip_prefix("vkCmd") {
        Some(rest) if ["Bind", "Push", "Set"].iter().any(|w| rest.starts_with(w)) => {
            (vec![call.image.u64(0)], UNSET)
        }
        None if name == "vkUpdateDescriptorSets" => (named(call, order.descriptor_set).collect(), UNWRITTEN),
        _ => return,
    };
    order.left_out |= bit == UNWRITTEN;
    for id in of {
        if let Some(state) = objects.state(id) {
            *state |= bit;
        }
    }
}

/// After a call that has done what it should: what it makes of its objects.
pub fn after(order: &mut Order, objects: &mut Objects, call: &Call, outcome: Outcome) {
    let meaning = order.rules[call.index].meaning;
    if outcome.called {
        settled(order, objects, call, meaning, outcome.result() >= 0);
    }
}

fn settled(order: &mut Order, objects: &mut Objects, call: &Call, meaning: Meaning, well: bool) {
    let (image, id) = (&call.image, call.image.u64(0));
    let mut become_ = |id, bits: fn(u32) -> u32| {
        if let Some(state) = objects.state(id) {
            *state = bits(*state);
        }
    };
    match meaning {
        Meaning::Begin if well => {
            let info = image.target(param!("vkBeginCommandBuffer", "pBeginInfo"));
            let flags = info.map_or(0, |info| image.u32(info + member!("VkCommandBufferBeginInfo", "flags")));
            match (order.secondary.contains_key(&id), flags & CONTINUES != 0) {
                (false, _) => become_(id, |_| RECORDING),
                (true, false) => become_(id, |_| RECORDING | SECONDARY),
                (true, true) => become_(id, |_| RECORDING | SECONDARY | PASS | INHERITED),
            }
        }
        Meaning::End if well => become_(id, |s| s & (SECONDARY | INHERITED) | EXECUTABLE),
        Meaning::Begin | Meaning::End | Meaning::Reset => become_(id, |s| s & SECONDARY),
        Meaning::ResetPool if well => {
            for buffer in objects.of_pool(image.u64(param!("vkResetCommandPool", "commandPool"))) {
                was_reset(objects, buffer);
            }
        }
        Meaning::Allocate if well => {
            let info = image.target(param!("vkAllocateCommandBuffers", "pAllocateInfo"));
            let level = member!("VkCommandBufferAllocateInfo", "level");
            let second = info.is_some_and(|info| image.u32(info + level) == 1);
            for h in image.handles.iter().filter(|h| h.out) {
                let id = image.u64(h.at);
                if second {
                    order.secondary.insert(id, ());
                } else {
                    order.secondary.remove(&id);
                }
            }
        }
        Meaning::CreatePass if well => {
            let count =
                gfxr_parse::view::View::call(image).one("pCreateInfo").and_then(|i| i.u32("subpassCount"));
            if let Some(h) = image.handles.iter().find(|h| h.out) {
                order.subpasses.insert(image.u64(h.at), count.unwrap_or(0));
            }
        }
        _ => {}
    }
}

#[cfg(test)]
mod tests;
