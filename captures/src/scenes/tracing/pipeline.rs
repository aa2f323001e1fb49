//! A ray-tracing pipeline and its shader binding table.

use ash::vk;

use crate::error::{Doing, Error, Result};
use crate::gpu::Gpu;
use crate::gpu::pipeline::{Layout, Spirv};

type Region = vk::StridedDeviceAddressRegionKHR;
type Stages = vk::ShaderStageFlags;
type Group = vk::RayTracingShaderGroupCreateInfoKHR<'static>;

/// Shaders that are called where a primitive may be hit.
#[derive(Clone, Copy, Default)]
pub struct HitGroup {
    /// Where a ray ends.
    pub closest: Option<Spirv>,
    /// Whether it does.
    pub any: Option<Spirv>,
    /// Of boxes; without it the group is one of triangles.
    pub intersection: Option<Spirv>,
}

/// A pipeline's shaders, each a group or part of one; in this order, stages as well.
#[derive(Default)]
pub struct Groups {
    /// The ray generation shader.
    pub raygen: Option<Spirv>,
    /// Miss shaders.
    pub miss: Vec<Spirv>,
    /// Callable shaders.
    pub callable: Vec<Spirv>,
    /// Hit groups; a shader that several name is one stage.
    pub hit: Vec<HitGroup>,
    /// How deep traces nest.
    pub recursion: u32,
}

/// The table's four parts.
struct Tables {
    raygen: Region,
    miss: Region,
    hit: Region,
    callable: Region,
}

/// A pipeline and its tables.
pub struct Traced {
    pipeline: vk::Pipeline,
    layout: vk::PipelineLayout,
    tables: Tables,
}

impl Traced {
    /// Makes the pipeline, and the tables with a record for each group.
    pub fn new(gpu: &Gpu, name: &str, layout: &Layout, groups: &Groups) -> Result<Self> {
        let most = gpu.ray().recursion_depth;
        if groups.recursion > most {
            let want = groups.recursion;
            return Err(Error::new(format!("'{name}' nests {want} traces, and the device {most}")));
        }
        let pipeline = pipeline(gpu, name, layout, groups)?;
        Ok(Self { pipeline, layout: layout.pipeline, tables: tables(gpu, name, pipeline, groups)? })
    }

    /// Records a launch of this size.
    pub fn launch(&self, gpu: &Gpu, commands: vk::CommandBuffer, set: vk::DescriptorSet, size: [u32; 2]) {
        let (point, [width, height]) = (vk::PipelineBindPoint::RAY_TRACING_KHR, size);
        let Tables { raygen, miss, hit, callable } = &self.tables;
        unsafe {
            gpu.device.cmd_bind_pipeline(commands, point, self.pipeline);
            gpu.device.cmd_bind_descriptor_sets(commands, point, self.layout, 0, &[set], &[]);
            gpu.ray().pipelines.cmd_trace_rays(commands, raygen, miss, hit, callable, width, height, 1);
        }
    }
}

/// Shaders as stages, each once.
#[derive(Default)]
struct StageList {
    names: Vec<&'static str>,
    infos: Vec<vk::PipelineShaderStageCreateInfo<'static>>,
}

impl StageList {
    fn index(&mut self, gpu: &Gpu, shader: Option<Spirv>, stage: Stages) -> Result<u32> {
        let Some(shader) = shader else { return Ok(vk::SHADER_UNUSED_KHR) };
        if let Some(at) = self.names.iter().position(|name| *name == shader.name) {
            return Ok(at as u32);
        }
        self.names.push(shader.name);
        self.infos.push(gpu.stage(shader, stage)?);
        Ok(self.infos.len() as u32 - 1)
    }
}

fn pipeline(gpu: &Gpu, name: &str, layout: &Layout, groups: &Groups) -> Result<vk::Pipeline> {
    let (none, mut stages) = (vk::SHADER_UNUSED_KHR, StageList::default());
    let unused = Group::default()
        .general_shader(none)
        .closest_hit_shader(none)
        .any_hit_shader(none)
        .intersection_shader(none);
    let raygen = groups.raygen.iter().map(|shader| (*shader, Stages::RAYGEN_KHR));
    let miss = groups.miss.iter().map(|shader| (*shader, Stages::MISS_KHR));
    let callable = groups.callable.iter().map(|shader| (*shader, Stages::CALLABLE_KHR));
    let mut infos = Vec::new();
    for (shader, stage) in raygen.chain(miss).chain(callable) {
        let at = stages.index(gpu, Some(shader), stage)?;
        infos.push(unused.ty(vk::RayTracingShaderGroupTypeKHR::GENERAL).general_shader(at));
    }
    for group in &groups.hit {
        let ty = match group.intersection {
            Some(_) => vk::RayTracingShaderGroupTypeKHR::PROCEDURAL_HIT_GROUP,
            None => vk::RayTracingShaderGroupTypeKHR::TRIANGLES_HIT_GROUP,
        };
        let closest = stages.index(gpu, group.closest, Stages::CLOSEST_HIT_KHR)?;
        let any = stages.index(gpu, group.any, Stages::ANY_HIT_KHR)?;
        let intersection = stages.index(gpu, group.intersection, Stages::INTERSECTION_KHR)?;
        let hit = unused.ty(ty).closest_hit_shader(closest).any_hit_shader(any);
        infos.push(hit.intersection_shader(intersection));
    }
    let info = vk::RayTracingPipelineCreateInfoKHR::default()
        .stages(&stages.infos)
        .groups(&infos)
        .max_pipeline_ray_recursion_depth(groups.recursion)
        .layout(layout.pipeline);
    let (deferred, cache) = (vk::DeferredOperationKHR::null(), vk::PipelineCache::null());
    let made = unsafe { gpu.ray().pipelines.create_ray_tracing_pipelines(deferred, cache, &[info], None) };
    let made = made.map_err(|(_, error)| error).doing(format!("making the pipeline '{name}'"))?[0];
    Ok(gpu.adopt(made, name))
}

fn tables(gpu: &Gpu, name: &str, pipeline: vk::Pipeline, groups: &Groups) -> Result<Tables> {
    let ray = gpu.ray();
    let (size, base) = (ray.handle_bytes, ray.base_alignment);
    let counts = [1, groups.miss.len(), groups.callable.len(), groups.hit.len()];
    let all: usize = counts.iter().sum();
    let handles =
        unsafe { ray.pipelines.get_ray_tracing_shader_group_handles(pipeline, 0, all as u32, size * all) }?;
    let stride = size.next_multiple_of(base);
    let usage = vk::BufferUsageFlags::SHADER_BINDING_TABLE_KHR | vk::BufferUsageFlags::SHADER_DEVICE_ADDRESS;
    // Room to begin at a multiple of what the device wants.
    let buffer =
        gpu.host_buffer(&format!("{name} shader binding table"), (stride * all + base) as u64, usage)?;
    let start = gpu.address(&buffer).next_multiple_of(base as u64);
    let mut content = vec![0; (start - gpu.address(&buffer)) as usize];
    for handle in handles.chunks_exact(size) {
        let end = content.len() + stride;
        content.extend(handle);
        content.resize(end, 0);
    }
    buffer.write(&content);
    let mut at = start;
    let [raygen, miss, callable, hit] = counts.map(|count| {
        if count == 0 {
            return Region::default();
        }
        let bytes = (stride * count) as u64;
        let region = Region::default().device_address(at).stride(stride as u64).size(bytes);
        at += bytes;
        region
    });
    Ok(Tables { raygen, miss, hit, callable })
}
