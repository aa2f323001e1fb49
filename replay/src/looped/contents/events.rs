//! What commands and calls do to images and acceleration structures, as far as putting these back needs it.
//!
//! Layout transitions are exact, by subresource. Guarantees: needs no device. Refuses nothing: what is about an object that is
//! not known says nothing.

use ash::vk;
use gfxr_parse::ahead::Call;
use gfxr_parse::view::View;
use vk::ImageAspectFlags as A;
use world::World;
use world::commands::{Attachment, Command, ImageBarrier, Use};
use world::objects::Subresources;

/// Calls for [`of_call`].
pub const HOST: &[&str] = &[
    "vkTransitionImageLayout",
    "vkCopyMemoryToImage",
    "vkCopyImageToImage",
    "vkBuildAccelerationStructuresKHR",
    "vkCopyAccelerationStructureKHR",
    "vkCopyMemoryToAccelerationStructureKHR",
];

/// Commands that build structures, or copy into them.
pub const STRUCTURES: &[&str] = &[
    "vkCmdBuildAccelerationStructuresKHR",
    "vkCmdBuildAccelerationStructuresIndirectKHR",
    "vkCmdCopyAccelerationStructureKHR",
    "vkCmdCopyMemoryToAccelerationStructureKHR",
];

/// Something that happens to an object of this captured id.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Event {
    /// Subresources are in this layout from now on.
    Layout(u64, Subresources, vk::ImageLayout),
    /// A queue family owns the image from now on.
    Owner(u64, u32),
    /// The image's contents may change.
    Write(u64),
    /// The acceleration structure is built, updated or copied into.
    Structure(u64),
}

/// What a command does when it is executed.
pub fn of_command(world: &World, command: &Command) -> Vec<Event> {
    match command {
        Command::Barrier(b) => b.images.iter().flat_map(barrier).collect(),
        Command::WaitEvents { barriers, .. } => {
            barriers.iter().flat_map(|b| &b.images).flat_map(barrier).collect()
        }
        Command::BeginPass(pass) => pass.attachments.iter().flat_map(|a| attachment(world, a)).collect(),
        Command::CopyBufferToImage(c) => vec![Event::Write(c.image)],
        Command::CopyImage(c) => vec![Event::Write(c.dst)],
        Command::ClearImage { image, .. } => vec![Event::Write(*image)],
        Command::Other(image) if image.command.is_some_and(|c| STRUCTURES.contains(&c.canonical)) => {
            structures(View::call(image))
        }
        _ => Vec::new(),
    }
}

/// What one of [`HOST`] has done.
pub fn of_call(call: &Call) -> Vec<Event> {
    let v = View::call(&call.image);
    let n = |v: View<'_>, name| v.u32(name).unwrap_or(0);
    match call.command.canonical {
        "vkTransitionImageLayout" => {
            let transition = |t: View<'_>| ImageBarrier {
                image: t.u64("image").unwrap_or(0),
                old_layout: n(t, "oldLayout"),
                new_layout: n(t, "newLayout"),
                range: t.one("subresourceRange").map(world::subresources).unwrap_or_default(),
                ..ImageBarrier::default()
            };
            v.structs("pTransitions").flat_map(|t| barrier(&transition(t))).collect()
        }
        "vkCopyMemoryToImage" | "vkCopyImageToImage" => {
            let info = v.one("pCopyMemoryToImageInfo").or_else(|| v.one("pCopyImageToImageInfo"));
            info.and_then(|i| i.u64("dstImage")).map(Event::Write).into_iter().collect()
        }
        _ => structures(v),
    }
}

fn barrier(b: &ImageBarrier) -> Vec<Event> {
    let mut events = Vec::new();
    // Equal layouts mean that nothing moves, whatever layout that is.
    if b.old_layout != b.new_layout {
        events.push(Event::Layout(b.image, b.range, layout(b.new_layout)));
    }
    if b.families[0] != b.families[1] {
        events.push(Event::Owner(b.image, b.families[1]));
    }
    events
}

fn layout(raw: u32) -> vk::ImageLayout {
    vk::ImageLayout::from_raw(raw as i32)
}

/// It is written, and a render pass leaves it in its final layout; dynamic rendering moves nothing.
fn attachment(world: &World, a: &Attachment) -> Vec<Event> {
    let views = [a.view, a.resolve_view].into_iter().filter(|_| a.what != Use::Rate);
    let views: Vec<_> = views.filter_map(|v| world.image_views.get(&v)).collect();
    let mut events: Vec<_> = views.iter().map(|v| Event::Write(v.image)).collect();
    if let (Use::Subpasses, Some(v)) = (a.what, views.first()) {
        let to = |aspects: A| Subresources { aspects: aspects.as_raw(), ..v.range };
        // A view of depth or stencil alone is an attachment of both.
        if A::from_raw(v.range.aspects).intersects(A::DEPTH | A::STENCIL) {
            events.push(Event::Layout(v.image, to(A::DEPTH), layout(a.final_layout)));
            events.push(Event::Layout(v.image, to(A::STENCIL), layout(a.stencil_final_layout)));
        } else {
            events.push(Event::Layout(v.image, v.range, layout(a.final_layout)));
        }
    }
    events
}

/// Builds and copies of acceleration structures.
fn structures(v: View<'_>) -> Vec<Event> {
    let built = v.structs("pInfos").filter_map(|i| i.u64("dstAccelerationStructure"));
    let copied = v.one("pInfo").and_then(|i| i.u64("dst"));
    built.chain(copied).filter(|id| *id != 0).map(Event::Structure).collect()
}
