//! `vm`: a machine for byte code in a fragment shader, most of whose instructions its program does not use.
//!
//! The design is that of Neubauer's thesis on profile-guided optimization of shaders, 5.2: one switch of 71 cases, 128
//! instructions of 32 bytes in a uniform buffer (4 KiB), run twice, the result the fragment's colour; the program uses one
//! of the 71 instructions. A profile finds the other 70 cases, and nothing else, never run. The arithmetic is of whole
//! numbers, so that the picture is the same on every device.

#[cfg(test)]
mod machine;

use ash::vk;

use super::{Frame, SLOTS, Scene, Show};
use crate::error::Result;
use crate::gpu::pipeline::{Graphics, Layout, Resource, Spirv, cover};
use crate::gpu::swapchain::Swapchain;
use crate::gpu::{Colour, Gpu};

/// Instructions of the program.
const INSTRUCTIONS: usize = 128;

/// How often it is run for a pixel.
#[cfg(test)]
const RUNS: usize = 2;

/// The one operation that the program is made of: a * c + b.
const OPERATION: u32 = 61;

/// The size of the swapchain.
const EXTENT: vk::Extent2D = vk::Extent2D { width: 64, height: 48 };

const COLOUR: Colour = [0.4, 0.7, 0.7];

/// An instruction as it lies in the uniform buffer: 32 bytes, of which 20 are used.
#[derive(Clone, Copy, Default)]
struct Instruction {
    operation: u32,
    target: u32,
    sources: [u32; 2],
    constant: u32,
}

/// The program: it goes round the registers.
fn program() -> [Instruction; INSTRUCTIONS] {
    std::array::from_fn(|n| {
        let n = n as u32;
        let constant = (n + 1).wrapping_mul(0x9E37_79B1) | 1;
        Instruction { operation: OPERATION, target: n % 4, sources: [n % 4, (n + 3) % 4], constant }
    })
}

fn bytes(program: &[Instruction; INSTRUCTIONS]) -> Vec<u8> {
    let words =
        program.iter().flat_map(|i| [i.operation, i.target, i.sources[0], i.sources[1], i.constant, 0, 0, 0]);
    words.flat_map(u32::to_le_bytes).collect()
}

/// A committed shader of this folder.
macro_rules! spirv {
    ($name:literal) => {
        Spirv { name: $name, bytes: include_bytes!(concat!($name, ".spv")) }
    };
}

/// The scene, before it runs.
pub struct Vm;

impl Scene for Vm {
    fn name(&self) -> &'static str {
        "vm"
    }

    fn about(&self) -> &'static str {
        "a machine for byte code in a fragment shader: 71 instructions, of which its program uses one"
    }

    fn frames(&self) -> u32 {
        2
    }

    fn extent(&self) -> vk::Extent2D {
        EXTENT
    }

    fn pictured(&self) -> &'static [u32] {
        &[1, 2]
    }

    fn build(&self, gpu: &Gpu, swapchain: &Swapchain) -> Result<Box<dyn Show>> {
        Ok(Box::new(Running::new(gpu, swapchain)?))
    }
}

/// The scene with its objects.
struct Running {
    slots: Vec<(vk::CommandPool, vk::CommandBuffer)>,
    layout: Layout,
    machine: vk::Pipeline,
    pass: vk::RenderPass,
    set: vk::DescriptorSet,
    framebuffers: Vec<vk::Framebuffer>,
}

impl Running {
    fn new(gpu: &Gpu, swapchain: &Swapchain) -> Result<Self> {
        let bindings = [(vk::DescriptorType::UNIFORM_BUFFER, vk::ShaderStageFlags::FRAGMENT)];
        let layout = gpu.layout("machine", &bindings, None)?;
        let pass = pass(gpu, swapchain.format)?;
        let about = Graphics {
            vertex: spirv!("screen.vert"),
            fragment: spirv!("machine.frag"),
            vertices: None,
            depth: false,
            layout: &layout,
            pass,
        };
        let machine = gpu.graphics_pipeline("machine", &about)?;
        let usage = vk::BufferUsageFlags::UNIFORM_BUFFER;
        let program = gpu.filled_buffer("program", &bytes(&program()), usage)?;
        let pool = gpu.descriptor_pool("descriptors", 1, &[&layout])?;
        let set = gpu.descriptor_set("machine set", pool, &layout, &[Resource::Buffer(program.whole())])?;
        let mut framebuffers = Vec::new();
        for (index, &view) in swapchain.views.iter().enumerate() {
            let views = [view];
            let info = vk::FramebufferCreateInfo::default()
                .render_pass(pass)
                .attachments(&views)
                .width(EXTENT.width)
                .height(EXTENT.height)
                .layers(1);
            let handle = unsafe { gpu.device.create_framebuffer(&info, None) }?;
            framebuffers.push(gpu.adopt(handle, &format!("framebuffer {index}")));
        }
        let slots = (0..SLOTS)
            .map(|slot| {
                let (pool, [commands]) =
                    gpu.command_buffers(&format!("frame pool {slot}"), [&*format!("frame {slot}")])?;
                Ok((pool, commands))
            })
            .collect::<Result<_>>()?;
        Ok(Self { slots, layout, machine, pass, set, framebuffers })
    }
}

impl Show for Running {
    fn record(&mut self, gpu: &Gpu, frame: Frame) -> Result<Vec<vk::CommandBuffer>> {
        let (pool, commands) = self.slots[frame.slot];
        unsafe { gpu.device.reset_command_pool(pool, vk::CommandPoolResetFlags::empty()) }?;
        let begin = vk::RenderPassBeginInfo::default()
            .render_pass(self.pass)
            .framebuffer(self.framebuffers[frame.image])
            .render_area(EXTENT.into());
        gpu.record(commands, vk::CommandBufferUsageFlags::ONE_TIME_SUBMIT, |device| {
            gpu.labelled(commands, "machine", COLOUR, || unsafe {
                let (point, layout) = (vk::PipelineBindPoint::GRAPHICS, self.layout.pipeline);
                device.cmd_begin_render_pass(commands, &begin, vk::SubpassContents::INLINE);
                device.cmd_bind_pipeline(commands, point, self.machine);
                cover(device, commands, EXTENT);
                device.cmd_bind_descriptor_sets(commands, point, layout, 0, &[self.set], &[]);
                device.cmd_draw(commands, 3, 1, 0, 0);
                device.cmd_end_render_pass(commands);
            });
        })?;
        Ok(vec![commands])
    }
}

/// The pass to the swapchain: every pixel is drawn, so that nothing is loaded or cleared.
fn pass(gpu: &Gpu, format: vk::Format) -> Result<vk::RenderPass> {
    let attachments = [vk::AttachmentDescription::default()
        .format(format)
        .samples(vk::SampleCountFlags::TYPE_1)
        .load_op(vk::AttachmentLoadOp::DONT_CARE)
        .store_op(vk::AttachmentStoreOp::STORE)
        .stencil_load_op(vk::AttachmentLoadOp::DONT_CARE)
        .stencil_store_op(vk::AttachmentStoreOp::DONT_CARE)
        .initial_layout(vk::ImageLayout::UNDEFINED)
        .final_layout(vk::ImageLayout::PRESENT_SRC_KHR)];
    let colour =
        [vk::AttachmentReference { attachment: 0, layout: vk::ImageLayout::COLOR_ATTACHMENT_OPTIMAL }];
    let subpasses = [vk::SubpassDescription::default()
        .pipeline_bind_point(vk::PipelineBindPoint::GRAPHICS)
        .color_attachments(&colour)];
    let output = vk::PipelineStageFlags::COLOR_ATTACHMENT_OUTPUT;
    let write = vk::AccessFlags::COLOR_ATTACHMENT_WRITE;
    let outside = vk::SUBPASS_EXTERNAL;
    let dependency = vk::SubpassDependency::default().src_stage_mask(output).dst_stage_mask(output);
    // The submission waits for the image at this stage; a read-back's barrier begins at it.
    let dependencies = [
        dependency.src_subpass(outside).dst_subpass(0).dst_access_mask(write),
        dependency.src_subpass(0).dst_subpass(outside).src_access_mask(write),
    ];
    let info = vk::RenderPassCreateInfo::default()
        .attachments(&attachments)
        .subpasses(&subpasses)
        .dependencies(&dependencies);
    Ok(gpu.adopt(unsafe { gpu.device.create_render_pass(&info, None) }?, "pass"))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_pictures_are_what_the_machine_says() {
        let program = program();
        for frame in Vm.pictured() {
            let path = format!("{}/samples/vm_frame_{frame}.png", env!("CARGO_MANIFEST_DIR"));
            let file = std::io::BufReader::new(std::fs::File::open(path).unwrap());
            let mut reader = png::Decoder::new(file).read_info().unwrap();
            let mut pixels = vec![0; reader.output_buffer_size().unwrap()];
            reader.next_frame(&mut pixels).unwrap();
            assert_eq!(pixels.len() as u32, EXTENT.width * EXTENT.height * 3);
            for (i, rgb) in (0..).zip(pixels.chunks_exact(3)) {
                let (x, y) = (i % EXTENT.width, i / EXTENT.width);
                assert_eq!(rgb, machine::run(&program, x, y).0, "frame {frame}, pixel {x}, {y}");
            }
        }
    }

    #[test]
    fn one_operation_of_71_is_used() {
        let (_, ran) = machine::run(&program(), 3, 4);
        let used: Vec<_> = ran.iter().enumerate().filter(|r| *r.1 > 0).collect();
        assert_eq!(used, [(OPERATION as usize, &((RUNS * INSTRUCTIONS) as u64))]);
        assert_eq!((ran.len(), bytes(&program()).len()), (machine::OPERATIONS, 4096));
        let source = include_str!("machine.frag");
        assert_eq!(source.matches("case ").count(), machine::OPERATIONS);
    }

    /// The CPU's operations are the shader's: in the same order, and their names alike enough to compare.
    #[test]
    fn the_shader_has_the_operations_of_the_machine() {
        let line = format!("case {OPERATION}u: x = a * c + b; break;");
        assert!(include_str!("machine.frag").contains(&line), "{line}");
    }
}
