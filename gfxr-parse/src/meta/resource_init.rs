//! Types 5 and 6: around the init blocks that fill a trimmed capture's buffers, images and tensors, one pair a device.
//!
//! Refuses nothing beyond missing bytes; the sizes are hints for staging memory, not bounds.

flat! {
    /// Type 5.
    pub struct BeginResourceInit {
        /// VkDevice.
        pub device: u64,
        /// Size of all resources together, in bytes.
        pub total_bytes: u64,
        /// Size of the largest resource that needs a staging copy, in bytes.
        pub max_bytes: u64,
    }
}

flat! {
    /// Type 6.
    pub struct EndResourceInit {
        /// VkDevice.
        pub device: u64,
    }
}
