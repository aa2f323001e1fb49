//! The swapchain on a headless surface.
//!
//! The format is 8 bits a channel, UNORM: shaders encode sRGB themselves, and what is read back are the
//! bytes that a screen would be sent. Presentation is FIFO, the mode that every driver has.

use ash::vk;

use super::Gpu;
use crate::error::{Doing, Error, Result};

/// The formats a scene may present in, the commonest on screens first.
const FORMATS: [vk::Format; 2] = [vk::Format::B8G8R8A8_UNORM, vk::Format::R8G8B8A8_UNORM];

/// A swapchain, its images and a view of each.
pub struct Swapchain {
    /// The swapchain.
    pub handle: vk::SwapchainKHR,
    /// One of [`FORMATS`].
    pub format: vk::Format,
    /// The size of the images.
    pub extent: vk::Extent2D,
    /// The images, by the index that acquiring gives.
    pub images: Vec<vk::Image>,
    /// A view of each image.
    pub views: Vec<vk::ImageView>,
}

impl Swapchain {
    /// Makes a swapchain of the size asked for.
    ///
    /// `usage` is what the scene does with the images; `readback` adds the use as a source of copies.
    pub fn new(gpu: &Gpu, extent: vk::Extent2D, usage: vk::ImageUsageFlags, readback: bool) -> Result<Self> {
        let (surfaces, physical, surface) = gpu.surface();
        let offered = unsafe { surfaces.get_physical_device_surface_formats(physical, surface) }?;
        let format = FORMATS
            .into_iter()
            .find(|format| offered.iter().any(|o| o.format == *format))
            .ok_or_else(|| Error::new("the surface offers neither B8G8R8A8_UNORM nor R8G8B8A8_UNORM"))?;
        let capabilities = unsafe { surfaces.get_physical_device_surface_capabilities(physical, surface) }?;
        // One more than the driver needs for itself, so that two frames may be in flight; 0 is no limit.
        let most = match capabilities.max_image_count {
            0 => u32::MAX,
            most => most,
        };
        let mut usage = usage;
        if readback {
            usage |= vk::ImageUsageFlags::TRANSFER_SRC;
        }
        let info = vk::SwapchainCreateInfoKHR::default()
            .surface(surface)
            .min_image_count((capabilities.min_image_count + 1).max(3).min(most))
            .image_format(format)
            .image_color_space(vk::ColorSpaceKHR::SRGB_NONLINEAR)
            .image_extent(extent)
            .image_array_layers(1)
            .image_usage(usage)
            .pre_transform(capabilities.current_transform)
            .composite_alpha(vk::CompositeAlphaFlagsKHR::OPAQUE)
            .present_mode(vk::PresentModeKHR::FIFO)
            .clipped(true);
        let handle =
            unsafe { gpu.swapchains.create_swapchain(&info, None) }.doing("creating the swapchain")?;
        gpu.adopt(handle, "swapchain");

        let images = unsafe { gpu.swapchains.get_swapchain_images(handle) }?;
        let mut views = Vec::with_capacity(images.len());
        for (index, &image) in images.iter().enumerate() {
            gpu.name(image, &format!("swapchain image {index}"));
            let name = format!("swapchain image {index} view");
            views.push(gpu.view(&name, image, format, vk::ImageAspectFlags::COLOR)?);
        }
        Ok(Self { handle, format, extent, images, views })
    }
}
