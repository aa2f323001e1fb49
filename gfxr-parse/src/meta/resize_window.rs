//! Types 3 and 13: the window's size changed (the swapchain alone does not say so on Android).
//!
//! Both stand before the vkCreateSwapchainKHR that uses the size. Refuses nothing beyond missing bytes.

flat! {
    /// Type 3.
    pub struct ResizeWindow {
        /// VkSurfaceKHR.
        pub surface: u64,
        /// In pixels.
        pub width: u32,
        /// In pixels.
        pub height: u32,
    }
}

flat! {
    /// Type 13: the same with a rotation.
    pub struct ResizeWindow2 {
        /// VkSurfaceKHR.
        pub surface: u64,
        /// In pixels.
        pub width: u32,
        /// In pixels.
        pub height: u32,
        /// Quarter turns, 0 to 3.
        pub pre_transform: u32,
    }
}
