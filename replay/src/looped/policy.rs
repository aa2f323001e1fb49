//! Which calls of a looped frame run in every iteration, which only in the first, and which never.
//!
//! What a frame creates is created in the first iteration, which is not timed, and used again in the others; what it
//! destroys lives on. So nothing is compiled or allocated in a timed iteration, and every handle stays what it was.

use gfxr_parse::schema::CommandDef;

/// See the module's header.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum When {
    /// In every iteration.
    Each,
    /// In the first: it creates, binds or names something that stays.
    Once,
    /// It would destroy what the next iteration needs.
    Never,
}

/// When a command runs.
pub fn when(c: &CommandDef) -> When {
    let name = c.canonical;
    let starts = |p: &[&str]| p.iter().any(|p| name.starts_with(p));
    if starts(&["vkDestroy", "vkFree"]) || name == "vkResetDescriptorPool" {
        return When::Never;
    }
    let once = starts(&[
        "vkCreate",
        "vkAllocate",
        "vkEnumerate",
        "vkImport",
        "vkRegister",
        "vkBindBufferMemory",
        "vkBindImageMemory",
        "vkBindVideoSessionMemory",
        "vkBindAccelerationStructureMemory",
        "vkBindDataGraphPipelineSessionMemory",
        "vkBindTensorMemory",
        "vkGetBufferDeviceAddress",
        "vkGetBufferOpaqueCaptureAddress",
        "vkGetAccelerationStructureDeviceAddress",
        "vkGetRayTracingShaderGroupHandles",
        "vkGetRayTracingCaptureReplayShaderGroupHandles",
        "vkGetDeviceQueue",
        "vkGetSwapchainImages",
        "vkSetDebugUtilsObject",
        "vkDebugMarkerSetObject",
        "vkSetPrivateData",
        "vkDeferredOperationJoin",
        "vkMergePipelineCaches",
        "vkMergeValidationCaches",
    ]);
    if once { When::Once } else { When::Each }
}

#[cfg(test)]
mod tests {
    use super::*;
    use gfxr_parse::schema::command_named;

    #[test]
    fn creating_runs_once_destroying_never_and_the_rest_each_time() {
        let of = |n: &str| when(command_named(n).unwrap_or_else(|| panic!("{n}")));
        for n in ["vkCreateFence", "vkAllocateDescriptorSets", "vkBindImageMemory2KHR", "vkGetDeviceQueue2"] {
            assert_eq!(of(n), When::Once, "{n}");
        }
        for n in
            ["vkFreeDescriptorSets", "vkDestroyPipeline", "vkResetDescriptorPool", "vkFreeCommandBuffers"]
        {
            assert_eq!(of(n), When::Never, "{n}");
        }
        for n in [
            "vkResetCommandPool",
            "vkQueueSubmit",
            "vkUpdateDescriptorSets",
            "vkCmdBindPipeline",
            "vkMapMemory",
            "vkAcquireNextImageKHR",
            "vkQueuePresentKHR",
            "vkQueueBindSparse",
        ] {
            assert_eq!(of(n), When::Each, "{n}");
        }
    }
}
