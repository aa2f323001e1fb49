//! What is recorded, and what comes of it when it is submitted.

use crate::chain::Function;
use crate::state::{Captured, Object, State, below, complain, raw, state};
use crate::{BLOCKS, METRICS, any, value};
use ash::vk;
use std::ffi::c_void;

const GRAPHICS: i32 = vk::PipelineBindPoint::GRAPHICS.as_raw();
const COMPUTE: i32 = vk::PipelineBindPoint::COMPUTE.as_raw();
const RAYS: i32 = vk::PipelineBindPoint::RAY_TRACING_KHR.as_raw();

/// An action command is recorded.
fn action(buffer: vk::CommandBuffer, bind: i32) {
    let mut s = state();
    let s = &mut *s;
    let Some(b) = s.buffers.get_mut(&raw(buffer)) else { return };
    let Some(object) = b.active else { return };
    let Some(o) = s.objects.get_mut(&object) else {
        return complain("an instrumentation object was destroyed while it was active");
    };
    let result_index = o.next_index;
    o.next_index += 1;
    let parts = match b.pipelines.get(&bind).and_then(|p| s.shaders.get(p)) {
        Some(p) if p.instrumented => p.parts.clone(),
        Some(_) => vec![],
        None => {
            let wanted = |stage: &u32| if bind == COMPUTE { *stage == 0x20 } else { *stage != 0x20 };
            let all = b.objects.iter().filter(|o| wanted(o.0)).filter_map(|o| s.shaders.get(o.1));
            all.filter(|o| o.instrumented).flat_map(|o| o.parts.clone()).collect()
        }
    };
    b.captured.push(Captured { object, result_index, parts });
}

/// Every action command that is looked at: its function and type, and where its pipeline is bound.
macro_rules! actions {
    ($($f:ident $name:literal $bind:ident ($($a:ident: $t:ty),*);)*) => {
        $(unsafe extern "system" fn $f(buffer: vk::CommandBuffer, $($a: $t),*) {
            action(buffer, $bind);
            type F = unsafe extern "system" fn(vk::CommandBuffer, $($t),*);
            // SAFETY: the caller's arguments, handed on to the function of this name.
            unsafe { below::<F>(raw(buffer), $name)(buffer, $($a),*) }
        })*

        fn of_action(name: &str) -> Function {
            match name {
                $($name => any!($f, unsafe extern "system" fn(vk::CommandBuffer, $($t),*)),)*
                _ => None,
            }
        }
    };
}

type Region = *const vk::StridedDeviceAddressRegionKHR;

actions! {
    draw "vkCmdDraw" GRAPHICS (a: u32, b: u32, c: u32, d: u32);
    draw_indexed "vkCmdDrawIndexed" GRAPHICS (a: u32, b: u32, c: u32, d: i32, e: u32);
    draw_indirect "vkCmdDrawIndirect" GRAPHICS (a: vk::Buffer, b: u64, c: u32, d: u32);
    draw_indexed_indirect "vkCmdDrawIndexedIndirect" GRAPHICS (a: vk::Buffer, b: u64, c: u32, d: u32);
    draw_count "vkCmdDrawIndirectCount" GRAPHICS (a: vk::Buffer, b: u64, c: vk::Buffer, d: u64, e: u32, f: u32);
    draw_count_khr "vkCmdDrawIndirectCountKHR" GRAPHICS (a: vk::Buffer, b: u64, c: vk::Buffer, d: u64, e: u32, f: u32);
    draw_indexed_count "vkCmdDrawIndexedIndirectCount" GRAPHICS
        (a: vk::Buffer, b: u64, c: vk::Buffer, d: u64, e: u32, f: u32);
    draw_indexed_count_khr "vkCmdDrawIndexedIndirectCountKHR" GRAPHICS
        (a: vk::Buffer, b: u64, c: vk::Buffer, d: u64, e: u32, f: u32);
    draw_byte_count "vkCmdDrawIndirectByteCountEXT" GRAPHICS (a: u32, b: u32, c: vk::Buffer, d: u64, e: u32, f: u32);
    draw_multi "vkCmdDrawMultiEXT" GRAPHICS (a: u32, b: *const c_void, c: u32, d: u32, e: u32);
    draw_multi_indexed "vkCmdDrawMultiIndexedEXT" GRAPHICS
        (a: u32, b: *const c_void, c: u32, d: u32, e: u32, f: *const i32);
    mesh "vkCmdDrawMeshTasksEXT" GRAPHICS (a: u32, b: u32, c: u32);
    mesh_indirect "vkCmdDrawMeshTasksIndirectEXT" GRAPHICS (a: vk::Buffer, b: u64, c: u32, d: u32);
    mesh_count "vkCmdDrawMeshTasksIndirectCountEXT" GRAPHICS
        (a: vk::Buffer, b: u64, c: vk::Buffer, d: u64, e: u32, f: u32);
    dispatch "vkCmdDispatch" COMPUTE (a: u32, b: u32, c: u32);
    dispatch_base "vkCmdDispatchBase" COMPUTE (a: u32, b: u32, c: u32, d: u32, e: u32, f: u32);
    dispatch_base_khr "vkCmdDispatchBaseKHR" COMPUTE (a: u32, b: u32, c: u32, d: u32, e: u32, f: u32);
    dispatch_indirect "vkCmdDispatchIndirect" COMPUTE (a: vk::Buffer, b: u64);
    trace "vkCmdTraceRaysKHR" RAYS (a: Region, b: Region, c: Region, d: Region, e: u32, f: u32, g: u32);
    trace_indirect "vkCmdTraceRaysIndirectKHR" RAYS (a: Region, b: Region, c: Region, d: Region, e: u64);
    trace_indirect_2 "vkCmdTraceRaysIndirect2KHR" RAYS (a: u64);
}

type Begin = unsafe extern "system" fn(vk::CommandBuffer, u64);
type End = unsafe extern "system" fn(vk::CommandBuffer);
type Submit2 = unsafe extern "system" fn(vk::Queue, u32, *const vk::SubmitInfo2<'_>, vk::Fence) -> vk::Result;

/// The function of this name.
pub fn of(name: &str) -> Function {
    match name {
        "vkBeginCommandBuffer" => any!(begin, vk::PFN_vkBeginCommandBuffer),
        "vkEndCommandBuffer" => any!(end, vk::PFN_vkEndCommandBuffer),
        "vkCmdBindPipeline" => any!(bind_pipeline, vk::PFN_vkCmdBindPipeline),
        "vkCmdBindShadersEXT" => any!(bind_shaders, vk::PFN_vkCmdBindShadersEXT),
        "vkCmdExecuteCommands" => any!(execute, vk::PFN_vkCmdExecuteCommands),
        "vkQueueSubmit" => any!(submit, vk::PFN_vkQueueSubmit),
        "vkQueueSubmit2" => any!(submit_2, Submit2),
        "vkQueueSubmit2KHR" => any!(submit_2_khr, Submit2),
        "vkCmdBeginShaderInstrumentationARM" => any!(begin_instrumentation, Begin),
        "vkCmdEndShaderInstrumentationARM" => any!(end_instrumentation, End),
        _ => of_action(name),
    }
}

unsafe extern "system" fn begin(
    buffer: vk::CommandBuffer,
    info: *const vk::CommandBufferBeginInfo<'_>,
) -> vk::Result {
    state().buffers.insert(raw(buffer), Default::default());
    // SAFETY: the caller's arguments.
    unsafe { below::<vk::PFN_vkBeginCommandBuffer>(raw(buffer), "vkBeginCommandBuffer")(buffer, info) }
}

unsafe extern "system" fn end(buffer: vk::CommandBuffer) -> vk::Result {
    if state().buffers.get(&raw(buffer)).is_some_and(|b| b.active.is_some()) {
        complain("a command buffer ends while instrumentation is active");
    }
    // SAFETY: the caller's arguments.
    unsafe { below::<vk::PFN_vkEndCommandBuffer>(raw(buffer), "vkEndCommandBuffer")(buffer) }
}

unsafe extern "system" fn bind_pipeline(
    buffer: vk::CommandBuffer,
    point: vk::PipelineBindPoint,
    pipeline: vk::Pipeline,
) {
    if let Some(b) = state().buffers.get_mut(&raw(buffer)) {
        b.pipelines.insert(point.as_raw(), raw(pipeline));
    }
    // SAFETY: the caller's arguments.
    unsafe {
        below::<vk::PFN_vkCmdBindPipeline>(raw(buffer), "vkCmdBindPipeline")(buffer, point, pipeline);
    }
}

unsafe extern "system" fn bind_shaders(
    buffer: vk::CommandBuffer,
    n: u32,
    stages: *const vk::ShaderStageFlags,
    shaders: *const vk::ShaderEXT,
) {
    if let Some(b) = state().buffers.get_mut(&raw(buffer)) {
        for i in 0..n as usize {
            // SAFETY: as many as it says; no shaders at all unbind.
            let (stage, shader) = unsafe {
                ((*stages.add(i)).as_raw(), if shaders.is_null() { 0 } else { raw(*shaders.add(i)) })
            };
            b.pipelines.remove(if stage == 0x20 { &COMPUTE } else { &GRAPHICS });
            b.objects.insert(stage, shader);
        }
    }
    // SAFETY: the caller's arguments.
    unsafe {
        below::<vk::PFN_vkCmdBindShadersEXT>(raw(buffer), "vkCmdBindShadersEXT")(buffer, n, stages, shaders);
    }
}

unsafe extern "system" fn execute(buffer: vk::CommandBuffer, n: u32, secondaries: *const vk::CommandBuffer) {
    if let Some(b) = state().buffers.get_mut(&raw(buffer)) {
        if b.active.is_some() {
            complain("secondary command buffers are executed while instrumentation is active");
        }
        // SAFETY: as many as it says.
        b.executed.extend((0..n as usize).map(|i| raw(unsafe { *secondaries.add(i) })));
    }
    // SAFETY: the caller's arguments.
    unsafe {
        below::<vk::PFN_vkCmdExecuteCommands>(raw(buffer), "vkCmdExecuteCommands")(buffer, n, secondaries);
    }
}

unsafe extern "system" fn begin_instrumentation(buffer: vk::CommandBuffer, object: u64) {
    let mut s = state();
    if !s.objects.contains_key(&object) {
        complain("an instrumentation object is begun that there is not");
    }
    match s.buffers.get_mut(&raw(buffer)) {
        Some(b) if b.active.is_some() => complain("instrumentation is begun twice in a command buffer"),
        Some(b) => b.active = Some(object),
        None => complain("instrumentation is begun outside of a recording"),
    }
}

unsafe extern "system" fn end_instrumentation(buffer: vk::CommandBuffer) {
    let mut s = state();
    if s.buffers.get_mut(&raw(buffer)).and_then(|b| b.active.take()).is_none() {
        complain("instrumentation is ended that was not begun");
    }
}

/// What a command buffer captured, and those that it executes.
fn executed(s: &mut State, buffer: u64) {
    let Some(b) = s.buffers.get(&buffer).cloned() else { return };
    for c in &b.captured {
        let Some(Object { values, .. }) = s.objects.get_mut(&c.object) else {
            complain("a command buffer is submitted whose instrumentation object is gone");
            continue;
        };
        for &(sub, stages) in &c.parts {
            for block in 0..BLOCKS {
                let at = values.entry((c.result_index, stages, sub, block));
                let sums = at.or_insert_with(|| vec![0; METRICS.len()]);
                for (m, sum) in sums.iter_mut().enumerate() {
                    *sum += value(c.result_index, sub, stages, block, m as u32);
                }
            }
        }
    }
    for inner in b.executed {
        executed(s, inner);
    }
}

unsafe extern "system" fn submit(
    queue: vk::Queue,
    n: u32,
    infos: *const vk::SubmitInfo<'_>,
    fence: vk::Fence,
) -> vk::Result {
    // SAFETY: the caller's arguments.
    unsafe {
        let r = below::<vk::PFN_vkQueueSubmit>(raw(queue), "vkQueueSubmit")(queue, n, infos, fence);
        let mut s = state();
        for i in 0..n as usize {
            let info = &*infos.add(i);
            for b in 0..info.command_buffer_count as usize {
                executed(&mut s, raw(*info.p_command_buffers.add(b)));
            }
        }
        r
    }
}

unsafe fn submitted_2(
    name: &str,
    queue: vk::Queue,
    n: u32,
    infos: *const vk::SubmitInfo2<'_>,
    fence: vk::Fence,
) -> vk::Result {
    // SAFETY: the caller's arguments.
    unsafe {
        let r = below::<Submit2>(raw(queue), name)(queue, n, infos, fence);
        let mut s = state();
        for i in 0..n as usize {
            let info = &*infos.add(i);
            for b in 0..info.command_buffer_info_count as usize {
                executed(&mut s, raw((*info.p_command_buffer_infos.add(b)).command_buffer));
            }
        }
        r
    }
}

unsafe extern "system" fn submit_2(
    queue: vk::Queue,
    n: u32,
    infos: *const vk::SubmitInfo2<'_>,
    fence: vk::Fence,
) -> vk::Result {
    // SAFETY: the caller's arguments.
    unsafe { submitted_2("vkQueueSubmit2", queue, n, infos, fence) }
}

unsafe extern "system" fn submit_2_khr(
    queue: vk::Queue,
    n: u32,
    infos: *const vk::SubmitInfo2<'_>,
    fence: vk::Fence,
) -> vk::Result {
    // SAFETY: the caller's arguments.
    unsafe { submitted_2("vkQueueSubmit2KHR", queue, n, infos, fence) }
}
