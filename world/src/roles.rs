//! What following makes of every command of the registry.
//!
//! Invocations are known by their names, objects by `create.rs`, `shaders.rs` and `update.rs`, recorded commands by
//! `record.rs`; the rest is here: what is kept as it was decoded, what sets state that nothing here depends on, and what is
//! not followed, with what that means. Guarantees (by test): every vkCmd, vkCreate, vkUpdate, vkAllocate, vkBind and
//! vkQueue command of the schema is in exactly one of these.

use super::record::Recorder;
use super::world::Handler;
use super::{create, invoke, record, shaders, update};
use std::collections::HashMap;

/// What a command is to this.
#[derive(Clone, Copy)]
pub(super) enum Role {
    /// Nothing.
    Nothing,
    /// It changes the world.
    Change(Handler),
    /// It is a draw, dispatch or trace.
    Invoke,
    /// It is recorded and parsed.
    Record(Recorder),
    /// It is recorded and kept as it was decoded.
    Keep,
    /// It is recorded, and only counts.
    Count,
    /// Command buffers and queues.
    Buffers(Buffers),
}

/// What happens to command buffers and queues.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
#[allow(missing_docs, reason = "the registry's names")]
pub(super) enum Buffers {
    CreatePool,
    ResetPool,
    DestroyPool,
    Allocate,
    Free,
    Begin,
    End,
    Reset,
    Submit,
    Submit2,
    BindSparse,
    Present,
    Signal,
    /// The host knows that the device has done what was submitted.
    Waited,
}

/// Command buffers and queues, by canonical name.
const BUFFERS: &[(&str, Buffers)] = &[
    ("vkCreateCommandPool", Buffers::CreatePool),
    ("vkResetCommandPool", Buffers::ResetPool),
    ("vkDestroyCommandPool", Buffers::DestroyPool),
    ("vkAllocateCommandBuffers", Buffers::Allocate),
    ("vkFreeCommandBuffers", Buffers::Free),
    ("vkBeginCommandBuffer", Buffers::Begin),
    ("vkEndCommandBuffer", Buffers::End),
    ("vkResetCommandBuffer", Buffers::Reset),
    ("vkQueueSubmit", Buffers::Submit),
    ("vkQueueSubmit2", Buffers::Submit2),
    ("vkQueueBindSparse", Buffers::BindSparse),
    ("vkQueuePresentKHR", Buffers::Present),
    ("vkSignalSemaphore", Buffers::Signal),
    ("vkLatencySleepNV", Buffers::Signal),
    ("vkQueueWaitIdle", Buffers::Waited),
    ("vkDeviceWaitIdle", Buffers::Waited),
];

/// Commands that do something on the device and are told as they were decoded ([`super::Command::Other`]).
pub const KEPT: &[&str] = &[
    "vkCmdBeginConditionalRendering2EXT",
    "vkCmdBeginConditionalRenderingEXT",
    "vkCmdBeginCustomResolveEXT",
    "vkCmdBeginQuery",
    "vkCmdBeginQueryIndexedEXT",
    "vkCmdBindInvocationMaskHUAWEI",
    "vkCmdBindShadingRateImageNV",
    "vkCmdBuildAccelerationStructureNV",
    "vkCmdBuildAccelerationStructuresIndirectKHR",
    "vkCmdBuildAccelerationStructuresKHR",
    "vkCmdBuildMicromapsEXT",
    "vkCmdBuildPartitionedAccelerationStructuresNV",
    "vkCmdClearAttachments",
    "vkCmdConvertCooperativeVectorMatrixNV",
    "vkCmdCopyAccelerationStructureKHR",
    "vkCmdCopyAccelerationStructureNV",
    "vkCmdCopyAccelerationStructureToMemoryKHR",
    "vkCmdCopyGpaSessionResultsAMD",
    "vkCmdCopyImageToMemoryKHR",
    "vkCmdCopyMemoryIndirectKHR",
    "vkCmdCopyMemoryKHR",
    "vkCmdCopyMemoryToAccelerationStructureKHR",
    "vkCmdCopyMemoryToImageIndirectKHR",
    "vkCmdCopyMemoryToImageKHR",
    "vkCmdCopyMemoryToMicromapEXT",
    "vkCmdCopyMicromapEXT",
    "vkCmdCopyMicromapToMemoryEXT",
    "vkCmdCopyQueryPoolResults",
    "vkCmdCopyQueryPoolResultsToMemoryKHR",
    "vkCmdCopyTensorARM",
    "vkCmdDecodeVideoKHR",
    "vkCmdDecompressMemoryEXT",
    "vkCmdDecompressMemoryIndirectCountEXT",
    "vkCmdEncodeVideoKHR",
    "vkCmdEndConditionalRenderingEXT",
    "vkCmdEndQuery",
    "vkCmdEndQueryIndexedEXT",
    "vkCmdFillMemoryKHR",
    "vkCmdOpticalFlowExecuteNV",
    "vkCmdPreprocessGeneratedCommandsEXT",
    "vkCmdPreprocessGeneratedCommandsNV",
    "vkCmdResetQueryPool",
    "vkCmdUpdateMemoryKHR",
    "vkCmdUpdatePipelineIndirectBufferNV",
    "vkCmdWriteAccelerationStructuresPropertiesKHR",
    "vkCmdWriteAccelerationStructuresPropertiesNV",
    "vkCmdWriteBufferMarker2AMD",
    "vkCmdWriteBufferMarkerAMD",
    "vkCmdWriteMarkerToMemoryAMD",
    "vkCmdWriteMicromapsPropertiesEXT",
    "vkCmdWriteTimestamp",
    "vkCmdWriteTimestamp2",
];

/// Commands that set state which neither descriptors nor memory depend on. All vkCmdSet… but those for descriptor buffers and
/// events are, too.
pub const STATE_ONLY: &[&str] = &[
    "vkCmdBeginGpaSampleAMD",
    "vkCmdBeginGpaSessionAMD",
    "vkCmdEndGpaSampleAMD",
    "vkCmdEndGpaSessionAMD",
    "vkCmdBeginPerTileExecutionQCOM",
    "vkCmdEndPerTileExecutionQCOM",
    "vkCmdControlVideoCodingKHR",
];

/// Commands that are not followed, and what that means.
pub const NOT_FOLLOWED: &[(&str, &str)] = &[
    ("vkCmdBindTileMemoryQCOM", "tile memory has no contents here: what lies in it reads as never written"),
    ("vkCreateDataGraphPipelinesARM", "data graphs run with nothing known bound"),
    ("vkCreateDataGraphPipelineSessionARM", "data graphs run with nothing known bound"),
    ("vkBindDataGraphPipelineSessionMemoryARM", "data graphs run with nothing known bound"),
    ("vkCreateTensorARM", "descriptors of tensors are told as not known"),
    ("vkCreateTensorViewARM", "descriptors of tensors are told as not known"),
    ("vkBindTensorMemoryARM", "descriptors of tensors are told as not known"),
    ("vkBindAccelerationStructureMemoryNV", "NV's acceleration structures lie in no buffer here"),
    (
        "vkCreateIndirectExecutionSetEXT",
        "generated commands that choose what they run are told with nothing known bound",
    ),
    (
        "vkUpdateIndirectExecutionSetPipelineEXT",
        "generated commands that choose what they run are told with nothing known bound",
    ),
    (
        "vkUpdateIndirectExecutionSetShaderEXT",
        "generated commands that choose what they run are told with nothing known bound",
    ),
    ("vkCreateMicromapEXT", "micromaps are known by their commands only"),
    (
        "vkCreatePipelineBinariesKHR",
        "pipelines made of binaries have the shaders that their create infos have",
    ),
    ("vkCreateVideoSessionKHR", "video is told as decoded and not followed"),
    ("vkCreateVideoSessionParametersKHR", "video is told as decoded and not followed"),
    ("vkUpdateVideoSessionParametersKHR", "video is told as decoded and not followed"),
    ("vkBindVideoSessionMemoryKHR", "video is told as decoded and not followed"),
    ("vkCreateOpticalFlowSessionNV", "optical flow is told as decoded and not followed"),
    ("vkBindOpticalFlowSessionImageNV", "optical flow is told as decoded and not followed"),
    ("vkCreateGpaSessionAMD", "counters of performance write nothing that is followed"),
];

/// Calls that make what nothing here depends on.
pub const NO_EFFECT: &[&str] = &[
    "vkCreateInstance",
    "vkCreateDebugReportCallbackEXT",
    "vkCreateDebugUtilsMessengerEXT",
    "vkCreateDeferredOperationKHR",
    "vkCreateDisplayModeKHR",
    "vkCreatePipelineCache",
    "vkCreatePrivateDataSlot",
    "vkCreateSamplerYcbcrConversion",
    "vkCreateValidationCacheEXT",
    "vkQueueBeginDebugUtilsLabelEXT",
    "vkQueueEndDebugUtilsLabelEXT",
    "vkQueueInsertDebugUtilsLabelEXT",
    "vkQueueNotifyOutOfBandNV",
    "vkQueueSetPerfHintQCOM",
    "vkQueueSetPerformanceConfigurationINTEL",
];

/// Roles by canonical name.
pub(super) fn roles() -> HashMap<&'static str, Role> {
    let mut all = HashMap::new();
    for table in [create::HANDLERS, shaders::HANDLERS, update::HANDLERS] {
        all.extend(table.iter().map(|(n, h)| (*n, Role::Change(*h))));
    }
    all.extend(record::RECORDERS.iter().map(|(n, r)| (*n, Role::Record(*r))));
    all.extend(BUFFERS.iter().map(|(n, b)| (*n, Role::Buffers(*b))));
    all.extend(KEPT.iter().map(|n| (*n, Role::Keep)));
    all
}

/// The role of a command by its canonical name.
pub(super) fn role(all: &HashMap<&'static str, Role>, name: &'static str) -> Role {
    match all.get(name) {
        Some(r) => *r,
        None if invoke::is_invocation(name) => Role::Invoke,
        None if name.starts_with("vkCmd") => Role::Count,
        None => Role::Nothing,
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use gfxr_parse::schema::command_named;
    use gfxr_parse::schema::generated::COMMANDS;
    use std::collections::BTreeSet;

    #[test]
    fn every_command_that_matters_has_one_role() {
        let all = roles();
        let listed: Vec<&str> = all
            .keys()
            .copied()
            .chain(STATE_ONLY.iter().copied())
            .chain(NO_EFFECT.iter().copied())
            .chain(NOT_FOLLOWED.iter().map(|n| n.0))
            .collect();
        let lengths = create::HANDLERS.len()
            + shaders::HANDLERS.len()
            + update::HANDLERS.len()
            + record::RECORDERS.len()
            + BUFFERS.len()
            + KEPT.len();
        assert_eq!(all.len(), lengths, "no command is in two tables");
        assert_eq!(listed.iter().collect::<BTreeSet<_>>().len(), listed.len(), "nor in two lists");
        for n in &listed {
            let c = command_named(n).unwrap_or_else(|| panic!("{n} is not in the schema"));
            assert_eq!(c.canonical, *n, "tables go by canonical names");
        }
        let listed: BTreeSet<&str> = listed.into_iter().collect();
        let state =
            |n: &str| n.starts_with("vkCmdSet") && !n.contains("Event") && !n.contains("DescriptorBuffer");
        let matters = ["vkCmd", "vkCreate", "vkUpdate", "vkAllocate", "vkBind", "vkQueue"];
        for c in COMMANDS.iter().filter(|c| matters.iter().any(|m| c.canonical.starts_with(m))) {
            let n = c.canonical;
            let count = [
                listed.contains(n),
                invoke::is_invocation(n),
                state(n),
                n.starts_with("vkCreate") && n.contains("Surface"),
            ];
            assert_eq!(count.iter().filter(|x| **x).count(), 1, "{n}");
        }
    }
}
