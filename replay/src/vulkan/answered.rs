//! Commands that no driver is asked: the capture answers them, or they may be missing.

/// Commands by their whole names.
pub(super) const EXACT: &[&str] = &[
    "vkEnumerateInstanceVersion",
    "vkEnumerateInstanceExtensionProperties",
    "vkEnumerateInstanceLayerProperties",
    "vkEnumerateDeviceExtensionProperties",
    "vkEnumerateDeviceLayerProperties",
    "vkGetInstanceProcAddr",
    "vkGetDeviceProcAddr",
    "vkGetPhysicalDeviceToolProperties",
    "vkGetPhysicalDeviceToolPropertiesEXT",
    // Callbacks into the captured process.
    "vkCreateDebugReportCallbackEXT",
    "vkDestroyDebugReportCallbackEXT",
    "vkDebugReportMessageEXT",
    "vkCreateDebugUtilsMessengerEXT",
    "vkDestroyDebugUtilsMessengerEXT",
    "vkSubmitDebugUtilsMessageEXT",
    // Of resources that may be no sparse ones here.
    "vkGetImageSparseMemoryRequirements",
    "vkGetImageSparseMemoryRequirements2",
    "vkGetImageSparseMemoryRequirements2KHR",
    "vkGetDeviceImageSparseMemoryRequirements",
    "vkGetDeviceImageSparseMemoryRequirementsKHR",
    // Blobs whose contents belong to the captured driver.
    "vkGetPipelineCacheData",
    "vkCreateValidationCacheEXT",
    "vkDestroyValidationCacheEXT",
    "vkGetValidationCacheDataEXT",
    "vkMergeValidationCachesEXT",
    // The application's own labels on objects.
    "vkCreatePrivateDataSlot",
    "vkCreatePrivateDataSlotEXT",
    "vkDestroyPrivateDataSlot",
    "vkDestroyPrivateDataSlotEXT",
    "vkSetPrivateData",
    "vkSetPrivateDataEXT",
    "vkGetPrivateData",
    "vkGetPrivateDataEXT",
    // Clocks and the window system.
    "vkGetCalibratedTimestampsKHR",
    "vkGetCalibratedTimestampsEXT",
    "vkGetRefreshCycleDurationGOOGLE",
    "vkGetPastPresentationTimingGOOGLE",
    "vkGetPhysicalDeviceCalibrateableTimeDomainsKHR",
    "vkGetPhysicalDeviceCalibrateableTimeDomainsEXT",
    "vkSetSwapchainPresentTimingQueueSizeEXT",
    "vkGetSwapchainTimingPropertiesEXT",
    "vkGetSwapchainTimeDomainPropertiesEXT",
    "vkGetPastPresentationTimingEXT",
    "vkSetLatencySleepModeNV",
    "vkSetLatencyMarkerNV",
    "vkGetLatencyTimingsNV",
    "vkQueueNotifyOutOfBandNV",
    "vkAntiLagUpdateAMD",
    "vkWaitForPresentKHR",
    "vkWaitForPresent2KHR",
    "vkGetSwapchainStatusKHR",
    "vkGetSwapchainCounterEXT",
    "vkSetHdrMetadataEXT",
    "vkSetLocalDimmingAMD",
    "vkReleaseSwapchainImagesEXT",
    "vkReleaseSwapchainImagesKHR",
    "vkAcquireFullScreenExclusiveModeEXT",
    "vkReleaseFullScreenExclusiveModeEXT",
    "vkGetDeviceGroupSurfacePresentModesKHR",
    "vkGetDeviceGroupSurfacePresentModes2EXT",
    "vkGetDeviceGroupPresentCapabilitiesKHR",
    "vkGetPhysicalDevicePresentRectanglesKHR",
    "vkDisplayPowerControlEXT",
    "vkCreateDisplayModeKHR",
    "vkReleaseDisplayEXT",
    "vkAcquireXlibDisplayEXT",
    "vkAcquireDrmDisplayEXT",
    "vkGetDrmDisplayEXT",
    "vkGetRandROutputDisplayEXT",
    "vkAcquireWinrtDisplayNV",
    "vkGetWinrtDisplayNV",
    // Advice on memory, which is the replay's own.
    "vkSetDeviceMemoryPriorityEXT",
    // Of pipelines that are compiled here.
    "vkGetPipelineKeyKHR",
    "vkGetPipelineBinaryDataKHR",
    "vkReleaseCapturedPipelineDataKHR",
    "vkDestroyPipelineBinaryKHR",
    // What only the captured device could give or take back.
    "vkGetRayTracingCaptureReplayShaderGroupHandlesKHR",
    // Pipelines are made at once.
    "vkDeferredOperationJoinKHR",
    "vkGetDeferredOperationResultKHR",
    "vkGetDeferredOperationMaxConcurrencyKHR",
    // Handles of the operating system.
    "vkGetMemoryFdKHR",
    "vkGetMemoryFdPropertiesKHR",
    "vkGetSemaphoreFdKHR",
    "vkGetMemoryHostPointerPropertiesEXT",
    "vkGetMemoryMetalHandleEXT",
    "vkGetMemoryMetalHandlePropertiesEXT",
    "vkGetMemoryRemoteAddressNV",
];

/// Queries about the world outside the device, and calls whose effect belongs to the captured process.
pub fn answered_by_capture(name: &str) -> bool {
    EXACT.contains(&name)
        || name.starts_with("vkGetPhysicalDeviceSurface")
        || name.starts_with("vkGetPhysicalDeviceDisplay")
        || name.starts_with("vkGetDisplay")
        || (name.starts_with("vkGetPhysicalDevice") && name.contains("PresentationSupport"))
        || ["Win32", "AndroidHardwareBuffer", "ZirconHandle"]
            .iter()
            .any(|w| name.contains(w) && name.starts_with("vkGet"))
}

/// Commands without which a replay draws the same: markers and labels.
pub fn may_be_missing(name: &str) -> bool {
    ["DebugUtils", "DebugMarker", "vkTrimCommandPool", "vkFrameBoundary"].iter().any(|n| name.contains(n))
}
