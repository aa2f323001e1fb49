//! What a replay does to images and buffers, as far as those who read them have to know: layouts, copies, mapped memory.

use super::layouts::{self, Layouts};
use super::recorded::{self, Copy, Recorded, Step};
use super::{Rank, for_copies_alone};
use gfxr_parse::ahead::Call;
use gfxr_parse::schema::generated::COMMANDS;
use gfxr_parse::view::View;
use replay::ash::vk;
use replay::objects::Objects;
use replay::vulkan::Vulkan;
use std::collections::HashSet;

/// Commands that submit.
pub const SUBMITS: &[&str] = &["vkQueueSubmit", "vkQueueSubmit2", "vkFrameBoundaryANDROID"];
const MAPS: &[&str] = &["vkMapMemory", "vkMapMemory2"];

/// What a call came to.
pub enum Followed {
    /// Nothing that anybody has to act on.
    Nothing,
    /// What a submission copies, in order.
    Submitted(Vec<Copy>),
    /// Memory that was mapped.
    Mapped(Option<u64>),
}

/// See the module's header.
#[derive(Default)]
pub struct Follow {
    /// Layouts of images.
    pub layouts: Layouts,
    recorded: Recorded,
    /// Memory that was mapped at some time.
    pub mapped: HashSet<u64>,
    /// Queues that something was submitted to.
    pub queues: HashSet<u64>,
}

/// These commands under all of their names.
pub fn all_names(wanted: &[&str]) -> Vec<&'static str> {
    let of = COMMANDS.iter().filter(|c| wanted.contains(&c.canonical) || wanted.contains(&c.name));
    of.map(|c| c.name).collect()
}

impl Follow {
    /// The calls that it has to see, once they have been made.
    pub fn wants() -> Vec<&'static str> {
        [layouts::COMMANDS, layouts::RECORDED, recorded::COMMANDS, SUBMITS, MAPS].concat()
    }

    /// Looks at a call that went well.
    pub fn see(&mut self, call: &Call, objects: &Objects) -> Followed {
        let name = call.command.canonical;
        if SUBMITS.contains(&name) {
            self.queues.extend(View::call(&call.image).u64("queue"));
            let mut copies = Vec::new();
            let (recorded, layouts) = (&self.recorded, &mut self.layouts);
            recorded.play(&recorded::submitted(call), &mut |step| match step {
                Step::Moved(m) => layouts.set(m),
                Step::Copy(c) => copies.push(c),
            });
            return Followed::Submitted(copies);
        }
        if layouts::RECORDED.contains(&name) {
            let moved = self.layouts.recorded(call);
            self.recorded.moves(call.image.u64(0), moved);
        } else if recorded::COMMANDS.contains(&name) {
            self.recorded.see(call, objects);
        } else if layouts::COMMANDS.contains(&name) {
            self.layouts.see(call);
        } else if MAPS.contains(&name) {
            let v = View::call(&call.image);
            let memory = v.u64("memory").or_else(|| v.one("pMemoryMapInfo")?.u64("memory"));
            self.mapped.extend(memory);
            return Followed::Mapped(memory);
        }
        Followed::Nothing
    }

    /// How much a copy looks like the application reading a result; not at all if it is an upload.
    pub fn rank(&self, vk: &Vulkan, copy: &Copy) -> Option<Rank> {
        let (memory, rank) = match copy {
            Copy::Buffer { from, buffer, .. } => {
                let (from, to) = (vk.buffer(*from)?, vk.buffer(*buffer)?);
                match (for_copies_alone(from), for_copies_alone(to)) {
                    (true, false) => return None,
                    (false, false) => (None, Rank::Buffer),
                    (_, true) => (to.memory, Rank::Buffer),
                }
            }
            Copy::ImageToBuffer(c) => (vk.buffer(c.buffer)?.memory, Rank::Image),
            // Only a linear image can be read by the application itself.
            Copy::Image(id) => {
                let image = vk.image(*id).filter(|i| i.tiling == vk::ImageTiling::LINEAR)?;
                (image.memory, Rank::Image)
            }
        };
        Some(if memory.is_some_and(|m| self.mapped.contains(&m.0)) { rank.mapped() } else { rank })
    }
}
