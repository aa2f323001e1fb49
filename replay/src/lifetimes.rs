//! What commands do to the object table: which make objects, and which end them.
//!
//! Guarantees: a new object is known with its pool and its owner; what dies with another is forgotten with it. Refuses
//! nothing.

use crate::link::Linked;
use crate::objects::Objects;
use gfxr_parse::ahead::Call;
use gfxr_parse::schema::generated::COMMANDS;
use gfxr_parse::schema::{CommandDef, HandleId, Ty, handle_named};
use gfxr_parse::{member, param};
use world::Outcome;

/// What a command does to the object table beyond new handles in its outputs.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Track {
    Nothing,
    /// The handle in the parameter at this offset is gone afterwards.
    Destroy(u32),
    /// The device or the instance in the first parameter is gone, and everything that is its.
    DestroyOwner,
    /// The handles in the array parameter at this offset are gone.
    FreeMany(u32),
    /// Everything allocated from the pool in the parameter at this offset is gone.
    ResetPool(u32),
    /// New handles are children of the pool: the offsets of the parameter with the struct, and of the pool in it.
    AllocateFrom(u32, u32),
}

/// Every command's, by index.
pub(crate) struct Lifetimes {
    tracks: Vec<Track>,
    pooled: [HandleId; 2],
    owners: [HandleId; 2],
}

impl Default for Lifetimes {
    fn default() -> Self {
        let handle = |n| handle_named(n).expect("a core handle");
        Lifetimes {
            tracks: COMMANDS.iter().map(track_of).collect(),
            pooled: ["VkCommandBuffer", "VkDescriptorSet"].map(handle),
            owners: ["VkInstance", "VkDevice"].map(handle),
        }
    }
}

impl Lifetimes {
    /// New objects: what the driver wrote where the capture had written ids.
    pub fn remember(&self, objects: &mut Objects, call: &Call, linked: &Linked, outcome: Outcome) {
        let failed = matches!(call.command.ret, Some(Ty::Enum(_))) && outcome.result() < 0;
        let Some(first) = call.image.handles.iter().position(|h| h.out) else { return };
        if failed {
            return;
        }
        let pool = match self.tracks[call.index] {
            Track::AllocateFrom(info, pool) => {
                call.image.target(info).map_or(0, |to| call.image.u64(to + pool))
            }
            _ => 0,
        };
        let owner = objects.any(call.image.u64(0)).map_or(0, |e| e.owner);
        for h in call.image.handles[first..].iter().filter(|h| h.out) {
            let (id, live) = (call.image.u64(h.at), linked.word_at(h.at));
            if live == 0 {
                continue; // a pipeline that only failed at replay, a slot the driver did not fill
            }
            if pool != 0 && self.pooled.contains(&h.ty) {
                objects.insert_in_pool(id, live, h.ty, pool);
            } else {
                objects.insert(id, live, h.ty);
            }
            let owner = if self.owners.contains(&h.ty) { id } else { owner };
            objects.belongs_to(id, owner);
        }
    }

    /// What a call destroyed.
    pub fn forget(&self, objects: &mut Objects, call: &Call) {
        let image = &call.image;
        match self.tracks[call.index] {
            Track::Nothing | Track::AllocateFrom(..) => {}
            Track::DestroyOwner => objects.remove_owner(image.u64(0)),
            Track::Destroy(at) => objects.remove(image.u64(at)),
            Track::ResetPool(at) => objects.remove_children(image.u64(at)),
            Track::FreeMany(at) => image.u64s(at).for_each(|id| objects.remove(id)),
        }
    }
}

fn track_of(c: &CommandDef) -> Track {
    match c.name {
        "vkFreeCommandBuffers" => Track::FreeMany(param!("vkFreeCommandBuffers", "pCommandBuffers")),
        "vkFreeDescriptorSets" => Track::FreeMany(param!("vkFreeDescriptorSets", "pDescriptorSets")),
        "vkResetDescriptorPool" => Track::ResetPool(param!("vkResetDescriptorPool", "descriptorPool")),
        "vkAllocateCommandBuffers" => Track::AllocateFrom(
            param!("vkAllocateCommandBuffers", "pAllocateInfo"),
            member!("VkCommandBufferAllocateInfo", "commandPool"),
        ),
        "vkAllocateDescriptorSets" => Track::AllocateFrom(
            param!("vkAllocateDescriptorSets", "pAllocateInfo"),
            member!("VkDescriptorSetAllocateInfo", "descriptorPool"),
        ),
        "vkDestroyInstance" | "vkDestroyDevice" => Track::DestroyOwner,
        "vkFreeMemory" => Track::Destroy(param!("vkFreeMemory", "memory")),
        // (all of them have it there)
        n if n.starts_with("vkDestroy") => Track::Destroy(param!("vkDestroyBuffer", "buffer")),
        _ => Track::Nothing,
    }
}
