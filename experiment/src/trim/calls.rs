//! What calls do to objects, by their names and parameters: which have the device work, which end objects, and which make one what it is.
//!
//! Guarantees: no command of the registry that makes, ends or records something counts as work. Refuses nothing: a command that is not known makes its first
//! object what it is that is no parent of others.

use gfxr_parse::ahead::Call;
use gfxr_parse::schema::{HandleId, handle_named};
use gfxr_parse::view::View;

/// Beginnings of the names of calls that have the device work, wait for it, or move contents.
const WORKS: [&str; 24] = [
    "vkQueue",
    "vkWaitFor",
    "vkWaitSemaphores",
    "vkSignalSemaphore",
    "vkAcquireNextImage",
    "vkReleaseSwapchainImages",
    "vkDeviceWaitIdle",
    "vkGetFenceStatus",
    "vkResetFences",
    "vkGetQueryPoolResults",
    "vkGetEventStatus",
    "vkGetSemaphoreCounterValue",
    "vkSetEvent",
    "vkResetEvent",
    "vkFlushMappedMemoryRanges",
    "vkInvalidateMappedMemoryRanges",
    "vkCopyMemoryToImage",
    "vkCopyImageTo",
    "vkTransitionImageLayout",
    "vkTrimCommandPool",
    "vkLatencySleep",
    "vkSetLatencyMarker",
    "vkAntiLagUpdate",
    "vkGetCalibratedTimestamps",
];

/// Whether a call has the device work, waits for it, or moves contents.
pub fn works(name: &str) -> bool {
    WORKS.iter().any(|w| name.starts_with(w))
}

/// The pool from which a call allocates.
pub fn pool_of(call: &Call) -> Option<u64> {
    let member = match call.command.canonical {
        "vkAllocateCommandBuffers" => "commandPool",
        "vkAllocateDescriptorSets" => "descriptorPool",
        _ => return None,
    };
    View::call(&call.image).one("pAllocateInfo")?.u64(member)
}

/// The objects that a call ends, by id.
pub fn ended(call: &Call) -> Vec<u64> {
    let v = View::call(&call.image);
    match call.command.canonical {
        "vkFreeCommandBuffers" => v.u64s("pCommandBuffers"),
        "vkFreeDescriptorSets" => v.u64s("pDescriptorSets"),
        "vkDestroyInstance" | "vkDestroyDevice" => vec![call.image.u64(0)],
        _ => vec![world::destroyed(call)],
    }
}

/// The objects that a call makes what they are, by id.
pub fn targets(call: &Call) -> Vec<u64> {
    let v = View::call(&call.image);
    let each = |list: &str, member: &str| v.structs(list).filter_map(|s| s.u64(member)).collect();
    match call.command.canonical {
        "vkBindBufferMemory" | "vkBindImageMemory" => vec![world::destroyed(call)],
        "vkBindBufferMemory2" => each("pBindInfos", "buffer"),
        "vkBindImageMemory2" => each("pBindInfos", "image"),
        "vkBindAccelerationStructureMemoryNV" => each("pBindInfos", "accelerationStructure"),
        "vkBindTensorMemoryARM" => each("pBindInfos", "tensor"),
        "vkBindDataGraphPipelineSessionMemoryARM" => each("pBindInfos", "session"),
        "vkUpdateDescriptorSets" => {
            let mut all: Vec<u64> = each("pDescriptorWrites", "dstSet");
            all.extend(v.structs("pDescriptorCopies").filter_map(|s| s.u64("dstSet")));
            all.dedup();
            all
        }
        _ => {
            let named = v.one("pNameInfo").or_else(|| v.one("pTagInfo"));
            if let Some(id) = named.and_then(|i| i.u64("objectHandle").or_else(|| i.u64("object"))) {
                return vec![id];
            }
            // The first that is no parent of others, else the last parent.
            let parents: Vec<HandleId> = ["VkInstance", "VkPhysicalDevice", "VkDevice", "VkQueue"]
                .iter()
                .filter_map(|n| handle_named(n))
                .collect();
            let given = || call.image.handles.iter().filter(|h| !h.out);
            let own = given().find(|h| !parents.contains(&h.ty)).or_else(|| given().next_back());
            own.map(|h| call.image.u64(h.at)).into_iter().collect()
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use gfxr_parse::schema::generated::COMMANDS;

    /// Commands that change what the device holds, or wait for it, none of which says what an object is.
    const DYNAMIC: [&str; 14] = [
        "vkQueueSubmit2",
        "vkQueueBindSparse",
        "vkQueuePresentKHR",
        "vkAcquireNextImage2KHR",
        "vkWaitForFences",
        "vkWaitForPresentKHR",
        "vkResetFences",
        "vkSignalSemaphore",
        "vkSetEvent",
        "vkGetQueryPoolResults",
        "vkCopyImageToImage",
        "vkCopyImageToMemory",
        "vkCopyMemoryToImage",
        "vkTransitionImageLayout",
    ];

    #[test]
    fn every_command_of_the_registry_that_works_is_known_as_that() {
        for w in WORKS {
            assert!(COMMANDS.iter().any(|c| c.canonical.starts_with(w)), "{w} begins no command");
        }
        assert!(DYNAMIC.iter().all(|name| works(name)), "{:?}", DYNAMIC.iter().find(|name| !works(name)));
        // Nothing that makes or ends an object is left out, nor what is recorded.
        let made = ["vkCreate", "vkAllocate", "vkDestroy", "vkFree", "vkCmd", "vkBind", "vkUpdate", "vkMap"];
        let lost = COMMANDS.iter().find(|c| works(c.name) && made.iter().any(|m| c.name.starts_with(m)));
        assert!(lost.is_none(), "{:?}", lost.map(|c| c.name));
        // Every queue's and every host's submission is one.
        for c in COMMANDS.iter().filter(|c| c.name.starts_with("vkQueue")) {
            assert!(works(c.name), "{}", c.name);
        }
    }
}
