//! What every command of the registry is to the synchronisation report.
//!
//! Draws, dispatches and traces access what is bound ([`INVOKES`]: vertex, index and indirect buffers, shader binding tables,
//! descriptors as shaders use them); barriers, events and passes order ([`ORDERS`]), and passes access their attachments; copies, clears, builds
//! access what they name ([`ACCESSES`], with stages and accesses in `accesses.rs`). Guarantees (by test): every vkCmd of the registry is in exactly one
//! list; what is in [`ANYTHING`] is told as what may access all memory, what is in [`ACCESSES`] is not, what is in
//! [`QUIET`] accesses nothing.

/// They run what is bound.
pub const INVOKES: &[&str] = &[
    "vkCmdDispatch",
    "vkCmdDispatchBase",
    "vkCmdDispatchDataGraphARM",
    "vkCmdDispatchIndirect",
    "vkCmdDispatchIndirect2KHR",
    "vkCmdDispatchTileQCOM",
    "vkCmdDraw",
    "vkCmdDrawClusterHUAWEI",
    "vkCmdDrawClusterIndirectHUAWEI",
    "vkCmdDrawIndexed",
    "vkCmdDrawIndexedIndirect",
    "vkCmdDrawIndexedIndirect2KHR",
    "vkCmdDrawIndexedIndirectCount",
    "vkCmdDrawIndexedIndirectCount2KHR",
    "vkCmdDrawIndirect",
    "vkCmdDrawIndirect2KHR",
    "vkCmdDrawIndirectByteCount2EXT",
    "vkCmdDrawIndirectByteCountEXT",
    "vkCmdDrawIndirectCount",
    "vkCmdDrawIndirectCount2KHR",
    "vkCmdDrawMeshTasksEXT",
    "vkCmdDrawMeshTasksIndirect2EXT",
    "vkCmdDrawMeshTasksIndirectCount2EXT",
    "vkCmdDrawMeshTasksIndirectCountEXT",
    "vkCmdDrawMeshTasksIndirectCountNV",
    "vkCmdDrawMeshTasksIndirectEXT",
    "vkCmdDrawMeshTasksIndirectNV",
    "vkCmdDrawMeshTasksNV",
    "vkCmdDrawMultiEXT",
    "vkCmdDrawMultiIndexedEXT",
    "vkCmdExecuteGeneratedCommandsEXT",
    "vkCmdExecuteGeneratedCommandsNV",
    "vkCmdTraceRaysIndirect2KHR",
    "vkCmdTraceRaysIndirectKHR",
    "vkCmdTraceRaysKHR",
    "vkCmdTraceRaysNV",
];

/// They order, begin and end passes, execute others, or name.
pub const ORDERS: &[&str] = &[
    "vkCmdBeginDebugUtilsLabelEXT",
    "vkCmdBeginRenderPass",
    "vkCmdBeginRenderPass2",
    "vkCmdBeginRendering",
    "vkCmdDebugMarkerBeginEXT",
    "vkCmdDebugMarkerEndEXT",
    "vkCmdDebugMarkerInsertEXT",
    "vkCmdEndDebugUtilsLabelEXT",
    "vkCmdEndRenderPass",
    "vkCmdEndRenderPass2",
    "vkCmdEndRendering",
    "vkCmdEndRendering2KHR",
    "vkCmdExecuteCommands",
    "vkCmdInsertDebugUtilsLabelEXT",
    "vkCmdNextSubpass",
    "vkCmdNextSubpass2",
    "vkCmdPipelineBarrier",
    "vkCmdPipelineBarrier2",
    "vkCmdResetEvent",
    "vkCmdResetEvent2",
    "vkCmdSetEvent",
    "vkCmdSetEvent2",
    "vkCmdWaitEvents",
    "vkCmdWaitEvents2",
];

/// They access what they name: copies, clears, fills, builds, queries' results, markers.
pub const ACCESSES: &[&str] = &[
    "vkCmdBeginConditionalRendering2EXT",
    "vkCmdBeginConditionalRenderingEXT",
    "vkCmdBeginTransformFeedback2EXT",
    "vkCmdBeginTransformFeedbackEXT",
    "vkCmdBlitImage",
    "vkCmdBlitImage2",
    "vkCmdBuildAccelerationStructuresIndirectKHR",
    "vkCmdBuildAccelerationStructuresKHR",
    "vkCmdBuildMicromapsEXT",
    "vkCmdClearColorImage",
    "vkCmdClearDepthStencilImage",
    "vkCmdCopyAccelerationStructureKHR",
    "vkCmdCopyAccelerationStructureToMemoryKHR",
    "vkCmdCopyBuffer",
    "vkCmdCopyBuffer2",
    "vkCmdCopyBufferToImage",
    "vkCmdCopyBufferToImage2",
    "vkCmdCopyImage",
    "vkCmdCopyImage2",
    "vkCmdCopyImageToBuffer",
    "vkCmdCopyImageToBuffer2",
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
    "vkCmdDecompressMemoryEXT",
    "vkCmdDecompressMemoryIndirectCountEXT",
    "vkCmdEndTransformFeedback2EXT",
    "vkCmdEndTransformFeedbackEXT",
    "vkCmdFillBuffer",
    "vkCmdFillMemoryKHR",
    "vkCmdPreprocessGeneratedCommandsEXT",
    "vkCmdResolveImage",
    "vkCmdResolveImage2",
    "vkCmdUpdateBuffer",
    "vkCmdUpdateMemoryKHR",
    "vkCmdWriteAccelerationStructuresPropertiesKHR",
    "vkCmdWriteBufferMarker2AMD",
    "vkCmdWriteBufferMarkerAMD",
    "vkCmdWriteMarkerToMemoryAMD",
    "vkCmdWriteMicromapsPropertiesEXT",
];

/// They may access anything here, and why.
pub const ANYTHING: &[(&str, &str)] = &[
    ("vkCmdBindInvocationMaskHUAWEI", "the image is read by traces that follow"),
    ("vkCmdBindShadingRateImageNV", "the image is read by draws that follow"),
    (
        "vkCmdBuildAccelerationStructureNV",
        "the older structures lie in memory of their own, and are built from any buffer",
    ),
    ("vkCmdBuildPartitionedAccelerationStructuresNV", "sizes of what is built are in memory"),
    ("vkCmdConvertCooperativeVectorMatrixNV", "matrices come from and go to addresses of any size"),
    ("vkCmdCopyAccelerationStructureNV", "the older structures lie in memory of their own"),
    ("vkCmdCopyGpaSessionResultsAMD", "where results go is the session's"),
    ("vkCmdCopyTensorARM", "tensors are not followed"),
    ("vkCmdDecodeVideoKHR", "video sessions are not followed"),
    ("vkCmdEncodeVideoKHR", "video sessions are not followed"),
    ("vkCmdOpticalFlowExecuteNV", "images of sessions are not followed"),
    ("vkCmdPreprocessGeneratedCommandsNV", "tokens' buffers of the older extension are read by the device"),
    ("vkCmdUpdatePipelineIndirectBufferNV", "where pipelines lie in memory is the driver's"),
    ("vkCmdWriteAccelerationStructuresPropertiesNV", "the older structures lie in memory of their own"),
];

/// They access no buffer and no image: queries (until their results are copied), beginnings and ends of things, and what clears
/// attachments of the running pass, which are accessed anyway.
pub const QUIET: &[&str] = &[
    "vkCmdBeginCustomResolveEXT",
    "vkCmdBeginPerTileExecutionQCOM",
    "vkCmdBeginQuery",
    "vkCmdBeginQueryIndexedEXT",
    "vkCmdClearAttachments",
    "vkCmdEndConditionalRenderingEXT",
    "vkCmdEndPerTileExecutionQCOM",
    "vkCmdEndQuery",
    "vkCmdEndQueryIndexedEXT",
    "vkCmdResetQueryPool",
    "vkCmdWriteTimestamp",
    "vkCmdWriteTimestamp2",
];

/// What they bind is accessed by invocations behind them.
pub const BINDS: &[&str] = &[
    "vkCmdBindDescriptorBufferEmbeddedSamplers2EXT",
    "vkCmdBindDescriptorBufferEmbeddedSamplersEXT",
    "vkCmdBindDescriptorBuffersEXT",
    "vkCmdBindDescriptorSets",
    "vkCmdBindDescriptorSets2",
    "vkCmdBindIndexBuffer",
    "vkCmdBindIndexBuffer2",
    "vkCmdBindIndexBuffer3KHR",
    "vkCmdBindPipeline",
    "vkCmdBindPipelineShaderGroupNV",
    "vkCmdBindShadersEXT",
    "vkCmdBindTransformFeedbackBuffers2EXT",
    "vkCmdBindTransformFeedbackBuffersEXT",
    "vkCmdBindVertexBuffers",
    "vkCmdBindVertexBuffers2",
    "vkCmdBindVertexBuffers3KHR",
    "vkCmdPushConstants",
    "vkCmdPushConstants2",
    "vkCmdPushDescriptorSet",
    "vkCmdPushDescriptorSet2",
    "vkCmdPushDescriptorSetWithTemplate",
    "vkCmdPushDescriptorSetWithTemplate2",
    "vkCmdSetDescriptorBufferOffsets2EXT",
    "vkCmdSetDescriptorBufferOffsetsEXT",
];

/// They set state that names no memory.
pub const STATE: &[&str] = &[
    "vkCmdBeginGpaSampleAMD",
    "vkCmdBeginGpaSessionAMD",
    "vkCmdBeginVideoCodingKHR",
    "vkCmdControlVideoCodingKHR",
    "vkCmdEndGpaSampleAMD",
    "vkCmdEndGpaSessionAMD",
    "vkCmdEndVideoCodingKHR",
    "vkCmdSetAlphaToCoverageEnableEXT",
    "vkCmdSetAlphaToOneEnableEXT",
    "vkCmdSetAttachmentFeedbackLoopEnableEXT",
    "vkCmdSetBlendConstants",
    "vkCmdSetCheckpointNV",
    "vkCmdSetCoarseSampleOrderNV",
    "vkCmdSetColorBlendAdvancedEXT",
    "vkCmdSetColorBlendEnableEXT",
    "vkCmdSetColorBlendEquationEXT",
    "vkCmdSetColorWriteEnableEXT",
    "vkCmdSetColorWriteMaskEXT",
    "vkCmdSetComputeOccupancyPriorityNV",
    "vkCmdSetConservativeRasterizationModeEXT",
    "vkCmdSetCoverageModulationModeNV",
    "vkCmdSetCoverageModulationTableEnableNV",
    "vkCmdSetCoverageModulationTableNV",
    "vkCmdSetCoverageReductionModeNV",
    "vkCmdSetCoverageToColorEnableNV",
    "vkCmdSetCoverageToColorLocationNV",
    "vkCmdSetCullMode",
    "vkCmdSetDepthBias",
    "vkCmdSetDepthBias2EXT",
    "vkCmdSetDepthBiasEnable",
    "vkCmdSetDepthBounds",
    "vkCmdSetDepthBoundsTestEnable",
    "vkCmdSetDepthClampEnableEXT",
    "vkCmdSetDepthClampRangeEXT",
    "vkCmdSetDepthClipEnableEXT",
    "vkCmdSetDepthClipNegativeOneToOneEXT",
    "vkCmdSetDepthCompareOp",
    "vkCmdSetDepthTestEnable",
    "vkCmdSetDepthWriteEnable",
    "vkCmdSetDeviceMask",
    "vkCmdSetDiscardRectangleEXT",
    "vkCmdSetDiscardRectangleEnableEXT",
    "vkCmdSetDiscardRectangleModeEXT",
    "vkCmdSetDispatchParametersARM",
    "vkCmdSetExclusiveScissorEnableNV",
    "vkCmdSetExclusiveScissorNV",
    "vkCmdSetExtraPrimitiveOverestimationSizeEXT",
    "vkCmdSetFragmentShadingRateEnumNV",
    "vkCmdSetFragmentShadingRateKHR",
    "vkCmdSetFrontFace",
    "vkCmdSetLineRasterizationModeEXT",
    "vkCmdSetLineStipple",
    "vkCmdSetLineStippleEnableEXT",
    "vkCmdSetLineWidth",
    "vkCmdSetLogicOpEXT",
    "vkCmdSetLogicOpEnableEXT",
    "vkCmdSetPatchControlPointsEXT",
    "vkCmdSetPerformanceMarkerINTEL",
    "vkCmdSetPerformanceOverrideINTEL",
    "vkCmdSetPerformanceStreamMarkerINTEL",
    "vkCmdSetPolygonModeEXT",
    "vkCmdSetPrimitiveRestartEnable",
    "vkCmdSetPrimitiveRestartIndexEXT",
    "vkCmdSetPrimitiveTopology",
    "vkCmdSetProvokingVertexModeEXT",
    "vkCmdSetRasterizationSamplesEXT",
    "vkCmdSetRasterizationStreamEXT",
    "vkCmdSetRasterizerDiscardEnable",
    "vkCmdSetRayTracingPipelineStackSizeKHR",
    "vkCmdSetRenderingAttachmentLocations",
    "vkCmdSetRenderingInputAttachmentIndices",
    "vkCmdSetRepresentativeFragmentTestEnableNV",
    "vkCmdSetSampleLocationsEXT",
    "vkCmdSetSampleLocationsEnableEXT",
    "vkCmdSetSampleMaskEXT",
    "vkCmdSetScissor",
    "vkCmdSetScissorWithCount",
    "vkCmdSetShadingRateImageEnableNV",
    "vkCmdSetStencilCompareMask",
    "vkCmdSetStencilOp",
    "vkCmdSetStencilReference",
    "vkCmdSetStencilTestEnable",
    "vkCmdSetStencilWriteMask",
    "vkCmdSetTessellationDomainOriginEXT",
    "vkCmdSetVertexInputEXT",
    "vkCmdSetViewport",
    "vkCmdSetViewportShadingRatePaletteNV",
    "vkCmdSetViewportSwizzleNV",
    "vkCmdSetViewportWScalingEnableNV",
    "vkCmdSetViewportWScalingNV",
    "vkCmdSetViewportWithCount",
];

/// They are not followed, and what that means.
pub const NOT_FOLLOWED: &[(&str, &str)] =
    &[("vkCmdBindTileMemoryQCOM", "tile memory is not followed: images in it are accessed as any others")];

#[cfg(test)]
mod tests {
    use super::*;
    use gfxr_parse::schema::generated::COMMANDS;
    use std::collections::BTreeSet;

    #[test]
    fn every_command_of_the_registry_is_in_one_list() {
        let why = |l: &'static [(&'static str, &'static str)]| l.iter().map(|n| n.0).collect::<Vec<_>>();
        let lists = [
            INVOKES.to_vec(),
            ORDERS.to_vec(),
            ACCESSES.to_vec(),
            why(ANYTHING),
            QUIET.to_vec(),
            BINDS.to_vec(),
            STATE.to_vec(),
            why(NOT_FOLLOWED),
        ];
        for l in &lists {
            assert!(l.is_sorted(), "{l:?}");
        }
        let listed = lists.concat();
        let once: BTreeSet<&str> = listed.iter().copied().collect();
        assert_eq!(once.len(), listed.len(), "a command is in two lists");
        let there: BTreeSet<&str> =
            COMMANDS.iter().map(|c| c.canonical).filter(|n| n.starts_with("vkCmd")).collect();
        let missing: Vec<_> = there.difference(&once).collect();
        assert!(missing.is_empty(), "what do these access? {missing:?}");
        let unknown: Vec<_> = once.difference(&there).collect();
        assert!(unknown.is_empty(), "not in the schema: {unknown:?}");
    }
}
