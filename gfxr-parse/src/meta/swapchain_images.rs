//! Type 4: the images of a swapchain at the start of a trimmed capture, and who had acquired or presented them.
//!
//! Refuses nothing beyond missing bytes.

use crate::container::fields::{Fields, Put};
use crate::error::Result;

flat! {
    /// One image of a swapchain.
    pub struct SwapchainImage {
        /// VkImage.
        pub image: u64,
        /// Its index in the swapchain.
        pub index: u32,
        /// VkImageLayout.
        pub layout: u32,
        /// VkBool32: the application holds it.
        pub acquired: u32,
        /// Device mask it was acquired with.
        pub acquire_device_mask: u32,
        /// VkSemaphore its acquisition signals, or 0.
        pub acquire_semaphore: u64,
        /// VkFence its acquisition signals, or 0.
        pub acquire_fence: u64,
        /// VkQueue it was last presented on, or 0.
        pub last_presented_queue: u64,
    }
}

/// Bytes of one [`SwapchainImage`] in the file.
const IMAGE_BYTES: u64 = 48;

/// Type 4.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct SwapchainImages {
    /// VkDevice.
    pub device: u64,
    /// VkSwapchainKHR.
    pub swapchain: u64,
    /// Index of the image presented last; `u32::MAX` if none was.
    pub last_presented: u32,
    /// Its images.
    pub images: Vec<SwapchainImage>,
}

impl SwapchainImages {
    pub(crate) fn read(f: &mut Fields) -> Result<Self> {
        let (device, swapchain) = (f.u64("device")?, f.u64("swapchain")?);
        let (last_presented, n) = (f.u32("last presented image")?, f.u32("image count")?);
        let images = f.records(n, IMAGE_BYTES, "swapchain images", SwapchainImage::read)?;
        Ok(SwapchainImages { device, swapchain, last_presented, images })
    }
    /// Writes the fields.
    pub fn write(&self, out: &mut Vec<u8>) {
        out.put_u64(self.device);
        out.put_u64(self.swapchain);
        out.put_u32(self.last_presented);
        out.put_u32(self.images.len() as u32);
        self.images.iter().for_each(|i| i.write(out));
    }
}
