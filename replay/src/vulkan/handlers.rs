//! Which commands have a meaning of their own. Everything else goes through the schema-driven path.

use super::answered::answered_by_capture;
use super::linked_call::{After, Before, LinkedCall, Subscription, Subscriptions};
use super::portability::outside;
use super::{
    Vulkan, debug_names, descriptors, device, instance, memory, multi_draw, pipeline, portability,
    presenting, queue, ray, resources, shader_pointers, surface, swapchain, wait, watchdog,
};
use crate::error::Result;
use crate::link::Lenience;
use crate::objects::Objects;
use crate::report::Report;
use gfxr_parse::ahead::Call;
use gfxr_parse::schema::generated::COMMANDS;
use gfxr_parse::schema::{CommandDef, Shape, Ty, handle_named, struct_named};
use world::Outcome;

/// A handler that sees live arguments.
pub type Typed = fn(&mut LinkedCall<'_>) -> Result<Outcome>;
/// A handler that may answer before linking.
pub type Answer = fn(&mut Vulkan, &mut Objects, &Call, &mut Report) -> Result<Option<Outcome>>;

/// What is done with a command.
#[derive(Clone, Copy)]
pub enum Handler {
    /// Link and call.
    Plain,
    /// Not called: the capture's answer stands.
    Captured,
    /// See [`Answer`].
    Answer(Answer),
    /// See [`Typed`].
    Typed(Typed),
}

/// Parts that act on commands that are not theirs, in this order before the driver is called and after it.
const SUBSCRIBERS: &[Subscriptions] = &[
    swapchain::SUBSCRIPTIONS,
    watchdog::SUBSCRIPTIONS,
    pipeline::SUBSCRIPTIONS,
    multi_draw::SUBSCRIPTIONS,
    shader_pointers::SUBSCRIPTIONS,
    descriptors::SUBSCRIPTIONS,
    ray::SUBSCRIPTIONS,
    portability::SUBSCRIPTIONS,
    resources::SUBSCRIPTIONS,
];

struct Entry {
    before: Box<[Before]>,
    handler: Handler,
    after: Box<[After]>,
    lenience: Lenience,
    allocator: Option<u8>,
}

/// The table, by command index.
pub struct Handlers(Vec<Entry>);

impl Handlers {
    /// Builds it.
    pub fn new() -> Self {
        let callbacks = struct_named("VkAllocationCallbacks");
        Handlers(
            COMMANDS
                .iter()
                .map(|c| {
                    let allocator = c.params.iter().position(|p| {
                        p.shape == Shape::Ptr && matches!(p.ty, Ty::Struct(s) if Some(s) == callbacks)
                    });
                    let (handler, lenient) = handler_of(c);
                    let (before, after) = subscribed(stem(c));
                    Entry {
                        before,
                        handler,
                        after,
                        lenience: Lenience { handles: lenient, hint: hint(stem(c)).and_then(handle_named) },
                        allocator: allocator.map(|i| i as u8),
                    }
                })
                .collect(),
        )
    }
    /// Passes a linked call to those who act before it, to its handler or the driver, and to those who act after it.
    #[inline]
    pub fn run(&self, c: &mut LinkedCall<'_>) -> Result<Outcome> {
        let entry = &self.0[c.call.index];
        for act in &entry.before {
            act(c)?;
        }
        let outcome = match entry.handler {
            Handler::Typed(f) => f(c),
            _ => c.invoke(),
        }?;
        if outcome.called {
            for act in &entry.after {
                act(c, outcome)?;
            }
        }
        Ok(outcome)
    }
    /// A command's handler.
    #[inline]
    pub fn of(&self, index: usize) -> Handler {
        self.0[index].handler
    }
    /// What its linking may leave open.
    #[inline]
    pub fn lenience(&self, index: usize) -> Lenience {
        self.0[index].lenience
    }
    /// Which parameter holds the application's allocator, which is never used.
    #[inline]
    pub fn allocator_slot(&self, index: usize) -> Option<usize> {
        self.0[index].allocator.map(usize::from)
    }
}

/// A command's name without the tag of an extension that was or is to be core.
fn stem(c: &CommandDef) -> &'static str {
    c.name.strip_suffix("KHR").or_else(|| c.name.strip_suffix("EXT")).unwrap_or(c.name)
}

/// The type of handles that a command can do without: caches, and what others may share.
fn hint(stem: &str) -> Option<&'static str> {
    match stem {
        "vkCreateShaderModule" => Some("VkValidationCacheEXT"),
        "vkQueueSubmit" | "vkQueueSubmit2" => Some("VkDeviceMemory"),
        _ => stem.starts_with("vkCreate").then_some("VkPipelineCache"),
    }
}

/// Who acts before a command, and who after it.
fn subscribed(stem: &str) -> (Box<[Before]>, Box<[After]>) {
    let (mut before, mut after) = (Vec::new(), Vec::new());
    for (_, s) in SUBSCRIBERS.iter().copied().flatten().filter(|(names, _)| names.contains(&stem)) {
        match s {
            Subscription::Before(f) => before.push(*f),
            Subscription::After(f) => after.push(*f),
        }
    }
    (before.into(), after.into())
}

/// The handler, and whether virtual or unknown handles become null for it.
fn handler_of(c: &CommandDef) -> (Handler, bool) {
    use Handler::{Answer, Captured, Typed};
    let typed = |f: super::handlers::Typed| (Typed(f), false);
    let lenient = |f: super::handlers::Typed| (Typed(f), true);
    match stem(c) {
        "vkCreateInstance" => typed(instance::create),
        "vkDestroyInstance" => typed(instance::destroy),
        "vkEnumeratePhysicalDevices" => lenient(instance::enumerate_physical_devices),
        "vkEnumeratePhysicalDeviceGroups" => lenient(instance::enumerate_physical_device_groups),
        "vkCreateDevice" => lenient(device::create),
        "vkDestroyDevice" => typed(device::destroy),
        "vkGetDeviceQueue" | "vkGetDeviceQueue2" => typed(device::get_queue),

        "vkAllocateMemory" => lenient(memory::allocate),
        "vkFreeMemory" => lenient(memory::free),
        "vkMapMemory" | "vkMapMemory2" => lenient(memory::map),
        "vkUnmapMemory" | "vkUnmapMemory2" => lenient(memory::unmap),
        "vkFlushMappedMemoryRanges" | "vkInvalidateMappedMemoryRanges" => lenient(memory::flush),
        "vkBindBufferMemory" | "vkBindImageMemory" => lenient(memory::bind),
        "vkBindBufferMemory2" | "vkBindImageMemory2" => lenient(memory::bind2),
        "vkGetImageSubresourceLayout" | "vkGetImageSubresourceLayout2" => typed(memory::subresource_layout),
        "vkGetDeviceMemoryCommitment" | "vkGetDeviceMemoryOpaqueCaptureAddress" => {
            (Answer(memory::shadow_query), false)
        }

        "vkCreateBuffer" => lenient(resources::create_buffer),
        "vkCreateImage" => lenient(resources::create_image),
        "vkGetDescriptor" => typed(descriptors::get),

        "vkCreateSwapchain" => lenient(swapchain::create),
        "vkDestroySwapchain" => lenient(swapchain::destroy),
        "vkGetSwapchainImages" => lenient(swapchain::get_images),
        "vkAcquireNextImage" | "vkAcquireNextImage2" => lenient(swapchain::acquire),
        "vkQueuePresent" => lenient(swapchain::present),
        "vkCreateSharedSwapchains" => lenient(swapchain::create_shared),
        "vkDestroySurface" => (Captured, false),

        "vkQueueSubmit" | "vkQueueSubmit2" => typed(portability::submit),
        "vkQueueBindSparse" => lenient(queue::bind_sparse),
        "vkWaitForFences" => typed(wait::wait_for_fences),
        "vkDeviceWaitIdle" => typed(watchdog::device_wait_idle),
        "vkQueueWaitIdle" => typed(watchdog::queue_wait_idle),
        "vkGetFenceStatus" => typed(wait::fence_status),
        "vkWaitSemaphores" => typed(wait::wait_semaphores),
        "vkGetSemaphoreCounterValue" => typed(wait::semaphore_counter),
        "vkGetEventStatus" => typed(wait::event_status),
        "vkGetQueryPoolResults" => typed(wait::query_results),

        "vkCreateRayTracingPipelines" if c.name.ends_with("KHR") => typed(ray::create_pipelines),
        "vkAllocateDescriptorSets" => typed(descriptors::allocate),
        "vkCreatePipelineBinaries" => (Answer(portability::create_binaries), false),

        "vkImportSemaphoreFd"
        | "vkImportSemaphoreWin32Handle"
        | "vkImportSemaphoreZirconHandleFUCHSIA"
        | "vkImportFenceFd"
        | "vkImportFenceWin32Handle" => (Answer(outside::import), false),
        "vkGetFenceFd" => (Answer(outside::fence_taken), false),
        "vkRegisterDisplayEvent" | "vkRegisterDeviceEvent" => (Answer(presenting::register), false),
        "vkLatencySleepNV" => lenient(presenting::latency_sleep),

        "vkSetDebugUtilsObjectName"
        | "vkSetDebugUtilsObjectTag"
        | "vkDebugMarkerSetObjectName"
        | "vkDebugMarkerSetObjectTag" => typed(debug_names::set),
        "vkCreateAccelerationStructure" => typed(ray::create),
        "vkDestroyAccelerationStructure" => typed(ray::destroy),
        "vkCmdBuildAccelerationStructures" => typed(ray::build),
        "vkCmdBuildAccelerationStructuresIndirect" => typed(ray::indirect_build),
        "vkBuildAccelerationStructures" => (Answer(ray::host_build), false),
        "vkCmdCopyAccelerationStructure" => typed(ray::copy),
        "vkCmdCopyAccelerationStructureToMemory" => typed(ray::serialise),
        "vkCmdCopyMemoryToAccelerationStructure" => typed(ray::deserialise),
        "vkCopyAccelerationStructure" => typed(ray::host_copy),
        "vkCopyAccelerationStructureToMemory" => typed(ray::host_serialise),
        "vkCopyMemoryToAccelerationStructure" => typed(ray::host_deserialise),
        "vkWriteAccelerationStructuresProperties" => typed(ray::host_properties),
        "vkGetRayTracingShaderGroupHandles" => typed(ray::group_handles),
        _ if ray::is_refused(c.name) => (Answer(ray::refused), false),
        _ if surface::creates_surface(c) => (Answer(surface::create), false),
        _ if answered_by_capture(c.name) => (Captured, false),
        _ => (Handler::Plain, false),
    }
}

#[cfg(test)]
mod tests {
    use super::super::answered::EXACT;
    use super::*;

    /// A misspelt name would silently make a command plain.
    #[test]
    fn every_name_in_the_lists_is_a_command() {
        let source = include_str!("handlers.rs");
        let (_, arms) = source.split_once("match stem(c) {").expect("the match");
        let (arms, _) = arms.split_once("#[cfg(test)]").expect("these tests");
        let names: Vec<&str> = arms.split('"').filter(|w| w.starts_with("vk")).collect();
        let arrows = arms.matches("=> typed(").count() + arms.matches("=> lenient(").count();
        assert!(names.len() >= arrows && arrows > 0, "{arrows} arms, {names:?}");
        for name in names {
            assert!(COMMANDS.iter().any(|c| stem(c) == name), "{name} is the stem of no command");
        }
        for name in EXACT {
            assert!(COMMANDS.iter().any(|c| c.name == *name), "{name} is no command");
        }
    }

    #[test]
    fn every_subscription_is_to_a_command() {
        // A misspelt name would silently subscribe to nothing.
        let names = || SUBSCRIBERS.iter().copied().flatten().flat_map(|(names, _)| names.iter());
        for n in names() {
            assert!(COMMANDS.iter().any(|c| stem(c) == *n), "{n}");
        }
        let acts = |n: &str| subscribed(n).0.len() + subscribed(n).1.len();
        let five = "shaders' pointers, descriptors, alignment, descriptor buffers, resources";
        assert_eq!(acts("vkDestroyBuffer"), 5, "{five}");
        assert_eq!(acts("vkCmdDraw"), 0);
    }

    #[test]
    fn draws_are_plain() {
        for n in ["vkCmdDraw", "vkCmdDispatch", "vkCmdPipelineBarrier", "vkCmdBindVertexBuffers"] {
            let c = gfxr_parse::schema::command_named(n).expect("core");
            assert!(matches!(handler_of(c).0, Handler::Plain), "{n}");
        }
    }
}
