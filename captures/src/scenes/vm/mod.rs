//! `vm`: a machine for byte code in a fragment shader, most of whose instructions its program does not use.
//!
//! The design is that of Neubauer's thesis on profile-guided optimization of shaders, 5.2: one switch of 71 cases, 128
//! instructions of 32 bytes in a uniform buffer (4 KiB), run twice, the result the fragment's colour; the program uses one
//! of the 71 instructions. A profile finds the other 70 cases, and nothing else, never run. The arithmetic is of whole
//! numbers, so that the picture is the same on every device.

#[cfg(test)]
mod machine;

use ash::vk;

use super::{Frame, Scene, Show, frame_slots};
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
pub(super) const EXTENT: vk::Extent2D = vk::Extent2D { width: 64, height: 48 };

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
        let shaders = [spirv!("screen.vert"), spirv!("machine.frag")];
        Ok(Box::new(Running::new(gpu, swapchain, "machine", shaders, &bytes(&program()))?))
    }
}

/// The scene with its objects: one triangle for all pixels, whose colours come of a uniform buffer.
pub(super) struct Running {
    name: &'static str,
    slots: Vec<(vk::CommandPool, vk::CommandBuffer)>,
    layout: Layout,
    pipeline: vk::Pipeline,
    pass: vk::RenderPass,
    set: vk::DescriptorSet,
    framebuffers: Vec<vk::Framebuffer>,
}

impl Running {
    /// With these shaders, vertices' first, and these bytes in the buffer.
    pub(super) fn new(
        gpu: &Gpu,
        swapchain: &Swapchain,
        name: &'static str,
        [vertex, fragment]: [Spirv; 2],
        bytes: &[u8],
    ) -> Result<Self> {
        let bindings = [(vk::DescriptorType::UNIFORM_BUFFER, vk::ShaderStageFlags::FRAGMENT)];
        let layout = gpu.layout(name, &bindings, None)?;
        // Every pixel is drawn, so that nothing is loaded or cleared.
        let pass = gpu.present_pass(swapchain, vk::AttachmentLoadOp::DONT_CARE, "pass")?;
        let about = Graphics { vertex, fragment, vertices: None, depth: false, layout: &layout, pass };
        let pipeline = gpu.graphics_pipeline(name, &about)?;
        let usage = vk::BufferUsageFlags::UNIFORM_BUFFER;
        let block = gpu.filled_buffer("program", bytes, usage)?;
        let pool = gpu.descriptor_pool("descriptors", 1, &[&layout])?;
        let set =
            gpu.descriptor_set(&format!("{name} set"), pool, &layout, &[Resource::Buffer(block.whole())])?;
        let framebuffers = gpu.present_framebuffers(swapchain, pass, "framebuffer")?;
        let slots = frame_slots(gpu)?;
        Ok(Self { name, slots, layout, pipeline, pass, set, framebuffers })
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
            gpu.labelled(commands, self.name, COLOUR, || unsafe {
                let (point, layout) = (vk::PipelineBindPoint::GRAPHICS, self.layout.pipeline);
                device.cmd_begin_render_pass(commands, &begin, vk::SubpassContents::INLINE);
                device.cmd_bind_pipeline(commands, point, self.pipeline);
                cover(device, commands, EXTENT);
                device.cmd_bind_descriptor_sets(commands, point, layout, 0, &[self.set], &[]);
                device.cmd_draw(commands, 3, 1, 0, 0);
                device.cmd_end_render_pass(commands);
            });
        })?;
        Ok(vec![commands])
    }
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
