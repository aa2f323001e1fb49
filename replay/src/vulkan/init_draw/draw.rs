//! A load: makes its objects, stages the contents, records and runs the draws.

use super::objects::{descriptors, pass, pipeline, staged, staged_info, targets};
use super::owned::Owned;
use super::plan::{Plan, Shader, Source};
use super::{layer_bytes, slack};
use crate::error::{Error, Kind, Result, Vk};
use crate::vulkan::init_draw::objects::{Part, Staged, Target};
use crate::vulkan::memory::{Alloc, AllocKind};
use crate::vulkan::region::Region;
use crate::vulkan::upload::{reachable, transition};
use crate::vulkan::{DeviceState, ImageState};
use ash::vk;
use world::span::Span;

impl DeviceState {
    /// See [`super::write`].
    pub(super) fn draw_image(
        &mut self,
        image: &mut ImageState,
        plan: Plan,
        data: &[u8],
        regions: &[Region],
        to: vk::ImageLayout,
    ) -> Result<()> {
        if let Source::Buffer(texel) = plan.source {
            check_bytes(image, data, regions, texel)?;
        }
        let device = self.ash.clone();
        let (slack, id) = (slack(self), self.id);
        // The piece of memory goes back only after `owned`, declared later, has destroyed the image in it.
        let memory: Alloc;
        let mut owned = Owned::new(&device);
        let staged = match plan.source {
            Source::Image(format) => {
                let info = staged_info(image, format);
                let live = owned.image(&info)?;
                // SAFETY: just made.
                let need = unsafe { device.get_image_memory_requirements(live) };
                let like = (vk::MemoryPropertyFlags::empty(), vk::MemoryPropertyFlags::DEVICE_LOCAL);
                memory = self.alloc(need, like, AllocKind::Optimal, false)?;
                // SAFETY: both are alive, the piece suits the image.
                unsafe { device.bind_image_memory(live, memory.memory(), memory.offset()) }
                    .what("vkBindImageMemory (contents)")?;
                Some(staged(&mut owned, ImageState::new(id, live, &info, need.size), regions)?)
            }
            Source::Buffer(_) => None,
        };
        let pass = pass(&mut owned, image, plan.shader)?;
        let ty = match plan.source {
            Source::Image(_) => vk::DescriptorType::SAMPLED_IMAGE,
            Source::Buffer(_) => vk::DescriptorType::STORAGE_BUFFER_DYNAMIC,
        };
        let (set, layout) = descriptors(&mut owned, ty)?;
        let pipeline = pipeline(&mut owned, image, plan.shader, layout, pass)?;
        let targets = targets(&mut owned, image, plan, regions, pass, slack)?;

        let drawn_in = match plan.shader {
            Shader::Depth | Shader::Stencil => vk::ImageLayout::DEPTH_STENCIL_ATTACHMENT_OPTIMAL,
            _ => vk::ImageLayout::COLOR_ATTACHMENT_OPTIMAL,
        };
        let end = reachable(to).unwrap_or(drawn_in);
        self.with_upload(|u, d, props| {
            let range = match plan.source {
                Source::Buffer(texel) => {
                    regions.iter().map(|r| layer_bytes(r, texel)).max().unwrap_or(0).next_multiple_of(4)
                        + slack
                }
                Source::Image(_) => 0,
            };
            // Room for a descriptor that begins at the last layer.
            let buffer = u.stage(d, props, data, data.len() as u64 + range)?;
            write_descriptor(d, set, ty, staged.as_ref(), (buffer, range));
            u.run(d, |cmd| {
                if let Some(s) = &staged {
                    fill_staged(d, cmd, buffer, s);
                }
                transition(d, cmd, image, image.layout, drawn_in);
                // SAFETY: recording; every object lives until the submission was waited for.
                unsafe { d.cmd_bind_pipeline(cmd, vk::PipelineBindPoint::GRAPHICS, pipeline) };
                for t in &targets {
                    record(d, cmd, plan.shader, pass, (set, layout), t);
                }
                if end != drawn_in {
                    transition(d, cmd, image, drawn_in, end);
                }
            })
        })?;
        image.layout = end;
        Ok(())
    }
}

/// Shaders read as many bytes as the image has texels: the capture must hold them.
fn check_bytes(image: &ImageState, data: &[u8], regions: &[Region], texel: u32) -> Result<()> {
    let bytes = |r: &Region| layer_bytes(r, texel).saturating_mul(image.layers.into());
    let inside = |r: &Region| Span::within(r.buffer_offset, bytes(r), data.len() as u64).is_some();
    if regions.iter().all(inside) {
        return Ok(());
    }
    let what =
        format!("{} bytes are too few for an image of {:?} and {:?}", data.len(), image.extent, image.format);
    Err(Error::new(Kind::Capture, what))
}

fn fill_staged(d: &ash::Device, cmd: vk::CommandBuffer, from: vk::Buffer, to: &Staged) {
    use vk::ImageLayout as L;
    transition(d, cmd, &to.image, L::UNDEFINED, L::TRANSFER_DST_OPTIMAL);
    // SAFETY: recording; the regions lie inside the bytes and inside an image of the same shape (`init::stage`).
    unsafe { d.cmd_copy_buffer_to_image(cmd, from, to.image.live, L::TRANSFER_DST_OPTIMAL, &to.regions) };
    transition(d, cmd, &to.image, L::TRANSFER_DST_OPTIMAL, L::SHADER_READ_ONLY_OPTIMAL);
}

fn write_descriptor(
    d: &ash::Device,
    set: vk::DescriptorSet,
    ty: vk::DescriptorType,
    staged: Option<&Staged>,
    (buffer, range): (vk::Buffer, u64),
) {
    let write = vk::WriteDescriptorSet::default().dst_set(set).descriptor_type(ty);
    let images = staged.map(|s| vk::DescriptorImageInfo {
        image_view: s.view,
        image_layout: vk::ImageLayout::SHADER_READ_ONLY_OPTIMAL,
        ..Default::default()
    });
    let buffers = [vk::DescriptorBufferInfo { buffer, offset: 0, range }];
    let write = match &images {
        Some(i) => write.image_info(std::slice::from_ref(i)),
        None => write.buffer_info(&buffers),
    };
    // SAFETY: the set is not in use, what it points to is alive.
    unsafe { d.update_descriptor_sets(&[write], &[]) };
}

/// Draws one target: once, or once for each bit.
fn record(
    d: &ash::Device,
    cmd: vk::CommandBuffer,
    shader: Shader,
    pass: vk::RenderPass,
    (set, layout): (vk::DescriptorSet, vk::PipelineLayout),
    t: &Target,
) {
    // For the stencil aspect, which begins as 0; other attachments are not cleared.
    let clear = [vk::ClearValue::default()];
    let begin = vk::RenderPassBeginInfo::default()
        .render_pass(pass)
        .framebuffer(t.framebuffer)
        .render_area(t.extent.into())
        .clear_values(&clear);
    let viewport = vk::Viewport {
        x: 0.0,
        y: 0.0,
        width: t.extent.width as f32,
        height: t.extent.height as f32,
        min_depth: 0.0,
        max_depth: 1.0,
    };
    let point = vk::PipelineBindPoint::GRAPHICS;
    let bits = if shader == Shader::Stencil { 8 } else { 1 };
    // SAFETY: recording; every object lives until the submission was waited for.
    unsafe {
        d.cmd_bind_descriptor_sets(cmd, point, layout, 0, &[set], t.offset.as_slice());
        d.cmd_begin_render_pass(cmd, &begin, vk::SubpassContents::INLINE);
        d.cmd_set_viewport(cmd, 0, &[viewport]);
        d.cmd_set_scissor(cmd, 0, &[t.extent.into()]);
        for bit in 0..bits {
            if shader == Shader::Stencil {
                d.cmd_set_stencil_write_mask(cmd, vk::StencilFaceFlags::FRONT_AND_BACK, 1 << bit);
            }
            let part = Part { bit, ..t.part }.bytes();
            d.cmd_push_constants(cmd, layout, vk::ShaderStageFlags::FRAGMENT, 0, &part);
            d.cmd_draw(cmd, 3, 1, 0, 0);
        }
        d.cmd_end_render_pass(cmd);
    }
}
