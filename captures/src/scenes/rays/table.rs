//! The ray-tracing pipeline and its shader binding table, whose records carry colours and pointers.

use ash::vk;

use crate::error::{Doing, Result};
use crate::gpu::Gpu;
use crate::gpu::pipeline::{Layout, Spirv};

type Group = vk::RayTracingShaderGroupCreateInfoKHR<'static>;
type Region = vk::StridedDeviceAddressRegionKHR;

/// The pipeline's groups, in order.
const RAYGEN: usize = 0;
const SKY: usize = 1;
const SHADOW: usize = 2;
const CHECKS: usize = 3;
const MARBLE: usize = 4;
// Those of the library come after the pipeline's own.
const OWN_GROUPS: usize = 5;
pub const MESH: usize = OWN_GROUPS;
pub const SPHERE: usize = OWN_GROUPS + 1;
const GROUPS: u32 = 7;

/// A pipeline and where its table is.
pub struct Table {
    pub pipeline: vk::Pipeline,
    pub raygen: Region,
    pub miss: Region,
    pub hit: Region,
    pub callable: Region,
    /// The bytes of the pipeline's stack.
    pub stack: u32,
}

/// A record: which group, and the data behind its handle.
pub type Record = (usize, Vec<u8>);

/// What the records of a miss or callable shader hold.
fn colours(a: [f32; 4], b: [f32; 4]) -> Vec<u8> {
    super::content::floats(&[a, b].concat())
}

impl Table {
    /// Makes the pipeline and writes the table; `hits` are the records of the hit groups.
    pub fn new(gpu: &Gpu, layout: &Layout, hits: Vec<Record>) -> Result<Self> {
        let (pipeline, library) = pipeline(gpu, layout)?;
        let ray = gpu.ray();
        let bytes = ray.handle_bytes * GROUPS as usize;
        let handles =
            unsafe { ray.pipelines.get_ray_tracing_shader_group_handles(pipeline, 0, GROUPS, bytes) }?;
        let tables: [Vec<Record>; 4] = [
            vec![(RAYGEN, Vec::new())],
            vec![(SKY, colours([1.0, 0.86, 0.70, 0.0], [0.20, 0.42, 0.78, 0.0])), (SHADOW, Vec::new())],
            hits,
            vec![
                (CHECKS, colours([0.0, 1.0, 0.0, 0.0], [0.0; 4])),
                (MARBLE, colours([0.0, 0.9, 0.0, 0.0], [0.0; 4])),
            ],
        ];

        let mut content = Vec::new();
        let mut regions = [Region::default(); 4];
        for (region, records) in regions.iter_mut().zip(&tables) {
            let longest = records.iter().map(|(_, data)| data.len()).max().unwrap_or_default();
            // The one record of ray generation is a table too, so that its stride suits a table's address.
            let alignment = if records.len() == 1 { ray.base_alignment } else { ray.handle_alignment };
            let stride = (ray.handle_bytes + longest).next_multiple_of(alignment);
            content.resize(content.len().next_multiple_of(ray.base_alignment), 0);
            *region = Region::default()
                .device_address(content.len() as u64)
                .stride(stride as u64)
                .size((stride * records.len()) as u64);
            for (group, data) in records {
                let end = content.len() + stride;
                content.extend(&handles[group * ray.handle_bytes..][..ray.handle_bytes]);
                content.extend(data);
                content.resize(end, 0);
            }
        }

        let usage =
            vk::BufferUsageFlags::SHADER_BINDING_TABLE_KHR | vk::BufferUsageFlags::SHADER_DEVICE_ADDRESS;
        // Room to begin at a multiple of what the device wants.
        let size = content.len() as u64 + ray.base_alignment as u64;
        let buffer = gpu.host_buffer("shader binding table", size, usage)?;
        let address = gpu.address(&buffer);
        let start = address.next_multiple_of(ray.base_alignment as u64);
        let mut bytes = vec![0; (start - address) as usize];
        bytes.extend(content);
        buffer.write(&bytes);
        let [raygen, miss, hit, callable] =
            regions.map(|region| region.device_address(region.device_address + start));
        Ok(Self { pipeline, raygen, miss, hit, callable, stack: stack_bytes(gpu, pipeline, library) })
    }
}

/// The bytes of the largest payload, and of the largest attribute of a hit.
const PAYLOAD_BYTES: u32 = 32;
const ATTRIBUTE_BYTES: u32 = 12;

type Shader = (Spirv, vk::ShaderStageFlags);

fn stages(gpu: &Gpu, shaders: &[Shader]) -> Result<Vec<vk::PipelineShaderStageCreateInfo<'static>>> {
    shaders.iter().map(|(spirv, stage)| gpu.stage(*spirv, *stage)).collect()
}

fn make(gpu: &Gpu, info: &vk::RayTracingPipelineCreateInfoKHR) -> Result<vk::Pipeline> {
    let (deferred, cache) = (vk::DeferredOperationKHR::null(), vk::PipelineCache::null());
    let made = unsafe {
        gpu.ray().pipelines.create_ray_tracing_pipelines(deferred, cache, std::slice::from_ref(info), None)
    };
    Ok(made.map_err(|(_, error)| error).doing("making the ray-tracing pipeline")?[0])
}

/// The pipeline, and the library of hit groups that it is linked from.
fn pipeline(gpu: &Gpu, layout: &Layout) -> Result<(vk::Pipeline, vk::Pipeline)> {
    let none = vk::SHADER_UNUSED_KHR;
    let unused = Group::default()
        .general_shader(none)
        .closest_hit_shader(none)
        .any_hit_shader(none)
        .intersection_shader(none);
    let interface = vk::RayTracingPipelineInterfaceCreateInfoKHR::default()
        .max_pipeline_ray_payload_size(PAYLOAD_BYTES)
        .max_pipeline_ray_hit_attribute_size(ATTRIBUTE_BYTES);
    let dynamic = [vk::DynamicState::RAY_TRACING_PIPELINE_STACK_SIZE_KHR];
    let dynamic = vk::PipelineDynamicStateCreateInfo::default().dynamic_states(&dynamic);
    let info = || {
        vk::RayTracingPipelineCreateInfoKHR::default()
            .max_pipeline_ray_recursion_depth(1)
            .layout(layout.pipeline)
            .library_interface(&interface)
            .dynamic_state(&dynamic)
    };

    let hit_stages = stages(
        gpu,
        &[
            (spirv!("mesh.rchit"), vk::ShaderStageFlags::CLOSEST_HIT_KHR),
            (spirv!("sphere.rchit"), vk::ShaderStageFlags::CLOSEST_HIT_KHR),
            (spirv!("sphere.rahit"), vk::ShaderStageFlags::ANY_HIT_KHR),
            (spirv!("sphere.rint"), vk::ShaderStageFlags::INTERSECTION_KHR),
        ],
    )?;
    let hit_groups = [
        unused.ty(vk::RayTracingShaderGroupTypeKHR::TRIANGLES_HIT_GROUP).closest_hit_shader(0),
        unused
            .ty(vk::RayTracingShaderGroupTypeKHR::PROCEDURAL_HIT_GROUP)
            .closest_hit_shader(1)
            .any_hit_shader(2)
            .intersection_shader(3),
    ];
    let library = info().flags(vk::PipelineCreateFlags::LIBRARY_KHR).stages(&hit_stages).groups(&hit_groups);
    let library = gpu.adopt(make(gpu, &library)?, "rays hits");

    let own_stages = stages(
        gpu,
        &[
            (spirv!("camera.rgen"), vk::ShaderStageFlags::RAYGEN_KHR),
            (spirv!("sky.rmiss"), vk::ShaderStageFlags::MISS_KHR),
            (spirv!("shadow.rmiss"), vk::ShaderStageFlags::MISS_KHR),
            (spirv!("checks.rcall"), vk::ShaderStageFlags::CALLABLE_KHR),
            (spirv!("marble.rcall"), vk::ShaderStageFlags::CALLABLE_KHR),
        ],
    )?;
    let general = |shader| unused.ty(vk::RayTracingShaderGroupTypeKHR::GENERAL).general_shader(shader);
    let own_groups = [0, 1, 2, 3, 4].map(general);
    let libraries = [library];
    let libraries = vk::PipelineLibraryCreateInfoKHR::default().libraries(&libraries);
    let info = info().stages(&own_stages).groups(&own_groups).library_info(&libraries);
    Ok((gpu.adopt(make(gpu, &info)?, "rays"), library))
}

/// The stack that the pipeline takes, as the specification adds it up: one ray at a time, one callable shader in it.
///
/// The library is asked about its own groups: an old validation layer does not know that the pipeline has them, too.
fn stack_bytes(gpu: &Gpu, pipeline: vk::Pipeline, library: vk::Pipeline) -> u32 {
    use vk::ShaderGroupShaderKHR as Part;
    let of = |pipeline, group: usize, part| unsafe {
        gpu.ray().pipelines.get_ray_tracing_shader_group_stack_size(pipeline, group as u32, part) as u32
    };
    let general = |group| of(pipeline, group, Part::GENERAL);
    let (mesh, sphere) = (MESH - OWN_GROUPS, SPHERE - OWN_GROUPS);
    let closest = of(library, mesh, Part::CLOSEST_HIT).max(of(library, sphere, Part::CLOSEST_HIT));
    let sphere = of(library, sphere, Part::INTERSECTION) + of(library, sphere, Part::ANY_HIT);
    let ray = closest.max(sphere).max(general(SKY)).max(general(SHADOW));
    general(RAYGEN) + ray + 2 * general(CHECKS).max(general(MARBLE))
}
