//! Pipelines and shader objects: which were made with the flag, and which stages they have.

use crate::abi::{INSTRUMENT_PIPELINE, INSTRUMENT_SHADER};
use crate::any;
use crate::chain::Function;
use crate::state::{Shaders, below, complain, key, raw, state};
use ash::vk;
use std::ffi::c_void;

/// The function of this name.
pub fn of(name: &str) -> Function {
    match name {
        "vkCreateGraphicsPipelines" => any!(graphics, vk::PFN_vkCreateGraphicsPipelines),
        "vkCreateComputePipelines" => any!(compute, vk::PFN_vkCreateComputePipelines),
        "vkCreateRayTracingPipelinesKHR" => any!(rays, vk::PFN_vkCreateRayTracingPipelinesKHR),
        "vkDestroyPipeline" => any!(destroy, vk::PFN_vkDestroyPipeline),
        "vkCreateShadersEXT" => any!(shaders, vk::PFN_vkCreateShadersEXT),
        "vkDestroyShaderEXT" => any!(destroy_shader, vk::PFN_vkDestroyShaderEXT),
        _ => None,
    }
}

const STATISTICS: u64 = vk::PipelineCreateFlags::CAPTURE_STATISTICS_KHR.as_raw() as u64;
const FLAGS_2: vk::StructureType = vk::StructureType::PIPELINE_CREATE_FLAGS_2_CREATE_INFO_KHR;

/// The flags that count, and the struct that they are in, if they are.
///
/// # Safety
/// `chain` begins a chain of structs of Vulkan.
unsafe fn flags(
    plain: vk::PipelineCreateFlags,
    chain: *const c_void,
) -> (u64, *mut vk::PipelineCreateFlags2CreateInfoKHR<'static>) {
    // SAFETY: the caller's promise.
    unsafe {
        let mut at = chain.cast::<vk::BaseInStructure<'_>>();
        while let Some(s) = at.as_ref() {
            if s.s_type == FLAGS_2 {
                let s = at.cast_mut().cast::<vk::PipelineCreateFlags2CreateInfoKHR<'static>>();
                return ((*s).flags.as_raw(), s);
            }
            at = s.p_next;
        }
    }
    (plain.as_raw().into(), std::ptr::null_mut())
}

/// The stages of the libraries that a pipeline is linked from.
///
/// # Safety
/// `info` is null or a struct of the caller's.
unsafe fn libraries(info: *const vk::PipelineLibraryCreateInfoKHR<'_>) -> Vec<Shaders> {
    // SAFETY: the caller's promise.
    let Some(info) = (unsafe { info.as_ref() }) else { return vec![] };
    let s = state();
    // SAFETY: as many as it says.
    let of = |i| s.shaders.get(&raw(unsafe { *info.p_libraries.add(i) })).cloned();
    (0..info.library_count as usize).filter_map(of).collect()
}

/// # Safety
/// `chain` begins a chain of structs of Vulkan.
unsafe fn library_info<'c>(chain: *const c_void) -> *const vk::PipelineLibraryCreateInfoKHR<'c> {
    let mut at = chain.cast::<vk::BaseInStructure<'_>>();
    // SAFETY: the caller's promise.
    while let Some(s) = unsafe { at.as_ref() } {
        if s.s_type == vk::StructureType::PIPELINE_LIBRARY_CREATE_INFO_KHR {
            return at.cast();
        }
        at = s.p_next;
    }
    std::ptr::null()
}

/// What is known of one before it is made; the flag is taken away, so that the driver does not see it.
///
/// # Safety
/// As [`flags`]'s; the chain may be written.
unsafe fn note(device: vk::Device, plain: vk::PipelineCreateFlags, chain: *const c_void) -> (Shaders, u64) {
    // SAFETY: the caller's promise.
    let (all, two) = unsafe { flags(plain, chain) };
    let instrumented = all & INSTRUMENT_PIPELINE != 0;
    // SAFETY: a live device.
    let on = state().devices.get(&unsafe { key(raw(device)) }).is_some_and(|d| d.instrumentation);
    if instrumented && !on {
        complain("a pipeline is to be instrumented on a device without the feature");
    }
    // SAFETY: the caller's promise.
    if let Some(two) = unsafe { two.as_mut() } {
        two.flags = vk::PipelineCreateFlags2KHR::from_raw(all & !INSTRUMENT_PIPELINE);
    }
    (Shaders { instrumented, statistics: all & STATISTICS != 0, ..Shaders::default() }, all)
}

/// The flag comes back, as the caller's struct is only lent.
///
/// # Safety
/// As [`note`]'s.
unsafe fn restore(plain: vk::PipelineCreateFlags, chain: *const c_void, all: u64) {
    // SAFETY: the caller's promise.
    if let Some(two) = unsafe { flags(plain, chain).1.as_mut() } {
        two.flags = vk::PipelineCreateFlags2KHR::from_raw(all);
    }
}

fn keep(made: *const vk::Pipeline, known: Vec<Shaders>) {
    let mut s = state();
    for (i, k) in known.into_iter().enumerate() {
        // SAFETY: as many results as create infos.
        let p = raw(unsafe { *made.add(i) });
        if p != 0 {
            s.shaders.insert(p, k);
        }
    }
}

/// What the three kinds of create info have alike.
trait Info {
    fn flags(&self) -> vk::PipelineCreateFlags;
    fn chain(&self) -> *const c_void;
}

macro_rules! infos {
    ($($name:ident)*) => { $(
        impl Info for vk::$name<'_> {
            fn flags(&self) -> vk::PipelineCreateFlags {
                self.flags
            }
            fn chain(&self) -> *const c_void {
                self.p_next
            }
        }
    )* };
}
infos!(GraphicsPipelineCreateInfo ComputePipelineCreateInfo RayTracingPipelineCreateInfoKHR);

/// Makes pipelines below, without the flag, and keeps what is known of them; `shaders` adds a kind's own.
///
/// # Safety
/// The arguments are a call's, of which `next` is the rest.
unsafe fn make<I: Info>(
    device: vk::Device,
    (infos, n): (*const I, u32),
    out: *mut vk::Pipeline,
    shaders: impl Fn(&I, &mut Shaders),
    next: impl FnOnce() -> vk::Result,
) -> vk::Result {
    // SAFETY: the caller's promise.
    unsafe {
        let all = std::slice::from_raw_parts(infos, n as usize);
        let (mut known, flags): (Vec<Shaders>, Vec<u64>) =
            all.iter().map(|i| note(device, i.flags(), i.chain())).unzip();
        all.iter().zip(&mut known).for_each(|(i, k)| shaders(i, k));
        let r = next();
        all.iter().zip(flags).for_each(|(i, f)| restore(i.flags(), i.chain(), f));
        keep(out, known);
        r
    }
}

unsafe extern "system" fn graphics(
    device: vk::Device,
    cache: vk::PipelineCache,
    n: u32,
    infos: *const vk::GraphicsPipelineCreateInfo<'_>,
    allocator: *const vk::AllocationCallbacks<'_>,
    out: *mut vk::Pipeline,
) -> vk::Result {
    let known = |i: &vk::GraphicsPipelineCreateInfo<'_>, shaders: &mut Shaders| {
        // SAFETY: the caller's arguments.
        let (stages, libraries) = unsafe {
            let n = i.stage_count as usize;
            let stages = if n == 0 { &[] } else { std::slice::from_raw_parts(i.p_stages, n) };
            (stages, libraries(library_info(i.p_next)))
        };
        shaders.stages.extend(stages.iter().map(|s| s.stage.as_raw()));
        shaders.stages.extend(libraries.into_iter().flat_map(|l| l.stages));
        shaders.stages.sort_unstable();
        shaders.parts = shaders.stages.iter().map(|s| (0, *s)).collect();
    };
    // SAFETY: the caller's arguments.
    unsafe {
        let next: vk::PFN_vkCreateGraphicsPipelines = below(raw(device), "vkCreateGraphicsPipelines");
        make(device, (infos, n), out, known, || next(device, cache, n, infos, allocator, out))
    }
}

unsafe extern "system" fn compute(
    device: vk::Device,
    cache: vk::PipelineCache,
    n: u32,
    infos: *const vk::ComputePipelineCreateInfo<'_>,
    allocator: *const vk::AllocationCallbacks<'_>,
    out: *mut vk::Pipeline,
) -> vk::Result {
    let known = |_: &vk::ComputePipelineCreateInfo<'_>, shaders: &mut Shaders| {
        (shaders.parts, shaders.stages) = (vec![(0, 0x20)], vec![0x20]);
    };
    // SAFETY: the caller's arguments.
    unsafe {
        let next: vk::PFN_vkCreateComputePipelines = below(raw(device), "vkCreateComputePipelines");
        make(device, (infos, n), out, known, || next(device, cache, n, infos, allocator, out))
    }
}

#[allow(clippy::too_many_arguments, reason = "as the command has them")]
unsafe extern "system" fn rays(
    device: vk::Device,
    deferred: vk::DeferredOperationKHR,
    cache: vk::PipelineCache,
    n: u32,
    infos: *const vk::RayTracingPipelineCreateInfoKHR<'_>,
    allocator: *const vk::AllocationCallbacks<'_>,
    out: *mut vk::Pipeline,
) -> vk::Result {
    let known = |i: &vk::RayTracingPipelineCreateInfoKHR<'_>, shaders: &mut Shaders| {
        let stage = |at: u32| match at {
            vk::SHADER_UNUSED_KHR => 0,
            // SAFETY: the caller's arguments.
            at => unsafe { (*i.p_stages.add(at as usize)).stage.as_raw() },
        };
        for g in 0..i.group_count {
            // SAFETY: the caller's arguments.
            let group = unsafe { &*i.p_groups.add(g as usize) };
            let bits = stage(group.general_shader)
                | stage(group.closest_hit_shader)
                | stage(group.any_hit_shader)
                | stage(group.intersection_shader);
            shaders.parts.push((g, bits));
        }
        shaders.stages.extend((0..i.stage_count).map(stage));
        // SAFETY: the caller's arguments.
        for l in unsafe { libraries(i.p_library_info) } {
            let first = shaders.parts.len() as u32;
            shaders.parts.extend(l.parts.iter().map(|(g, bits)| (first + g, *bits)));
            shaders.stages.extend(l.stages);
        }
        shaders.stages.sort_unstable();
        shaders.stages.dedup();
    };
    // SAFETY: the caller's arguments.
    unsafe {
        let next: vk::PFN_vkCreateRayTracingPipelinesKHR =
            below(raw(device), "vkCreateRayTracingPipelinesKHR");
        make(device, (infos, n), out, known, || next(device, deferred, cache, n, infos, allocator, out))
    }
}

unsafe extern "system" fn destroy(
    device: vk::Device,
    pipeline: vk::Pipeline,
    allocator: *const vk::AllocationCallbacks<'_>,
) {
    state().shaders.remove(&raw(pipeline));
    // SAFETY: the caller's arguments.
    unsafe {
        let next: vk::PFN_vkDestroyPipeline = below(raw(device), "vkDestroyPipeline");
        next(device, pipeline, allocator);
    }
}

unsafe extern "system" fn shaders(
    device: vk::Device,
    n: u32,
    infos: *const vk::ShaderCreateInfoEXT<'_>,
    allocator: *const vk::AllocationCallbacks<'_>,
    out: *mut vk::ShaderEXT,
) -> vk::Result {
    // SAFETY: the caller's arguments.
    unsafe {
        let mut all = std::slice::from_raw_parts(infos, n as usize).to_vec();
        let mut known = Vec::new();
        for i in &mut all {
            let instrumented = i.flags.as_raw() & INSTRUMENT_SHADER != 0;
            i.flags = vk::ShaderCreateFlagsEXT::from_raw(i.flags.as_raw() & !INSTRUMENT_SHADER);
            let stage = i.stage.as_raw();
            known.push(Shaders {
                instrumented,
                parts: vec![(0, stage)],
                stages: vec![stage],
                ..Shaders::default()
            });
        }
        let next: vk::PFN_vkCreateShadersEXT = below(raw(device), "vkCreateShadersEXT");
        let r = next(device, n, all.as_ptr(), allocator, out);
        keep(out.cast(), known);
        r
    }
}

unsafe extern "system" fn destroy_shader(
    device: vk::Device,
    shader: vk::ShaderEXT,
    allocator: *const vk::AllocationCallbacks<'_>,
) {
    state().shaders.remove(&raw(shader));
    // SAFETY: the caller's arguments.
    unsafe {
        let next: vk::PFN_vkDestroyShaderEXT = below(raw(device), "vkDestroyShaderEXT");
        next(device, shader, allocator);
    }
}
