//! Recording: what each vkCmd call binds, or what it leaves for the device to do.
//!
//! A call is parsed here once, however often its command buffer is executed. Refuses nothing.

use super::commands::*;
use super::create::layout_of;
use super::generated::{Layout, Token};
use super::objects::{BindPoint, MESH_STAGES};
use super::read::{n32, n64, offset, rect, subresources, u32s};
use super::recording::Scope;
use super::state::State;
use super::world::World;
use super::{invoke, update};
use gfxr_parse::ahead::Call;
use gfxr_parse::param;
use gfxr_parse::view::View;
use std::rc::Rc;

/// What a recorded call does: binds something, or leaves a command.
pub(super) type Recorder = fn(&mut State, &mut World, &Call) -> Option<Command>;

/// Commands that are parsed, by canonical name. Invocations are not among them: all of the registry's are read by
/// `invoke.rs`.
pub(super) const RECORDERS: &[(&str, Recorder)] = &[
    ("vkCmdBindPipeline", bind_pipeline),
    ("vkCmdBindPipelineShaderGroupNV", bind_pipeline),
    ("vkCmdBindShadersEXT", bind_shaders),
    ("vkCmdBindDescriptorSets", bind_sets),
    ("vkCmdBindDescriptorSets2", bind_sets),
    ("vkCmdPushDescriptorSet", push_set),
    ("vkCmdPushDescriptorSet2", push_set),
    ("vkCmdPushDescriptorSetWithTemplate", push_template),
    ("vkCmdPushDescriptorSetWithTemplate2", push_template),
    ("vkCmdPushConstants", push_constants),
    ("vkCmdPushConstants2", push_constants),
    ("vkCmdBindDescriptorBuffersEXT", descriptor_buffers),
    ("vkCmdSetDescriptorBufferOffsetsEXT", buffer_offsets),
    ("vkCmdSetDescriptorBufferOffsets2EXT", buffer_offsets),
    ("vkCmdBindDescriptorBufferEmbeddedSamplersEXT", embedded_samplers),
    ("vkCmdBindDescriptorBufferEmbeddedSamplers2EXT", embedded_samplers),
    ("vkCmdBindVertexBuffers", vertex_buffers),
    ("vkCmdBindVertexBuffers2", vertex_buffers),
    ("vkCmdBindVertexBuffers3KHR", vertex_buffers),
    ("vkCmdBindIndexBuffer", index_buffer),
    ("vkCmdBindIndexBuffer2", index_buffer),
    ("vkCmdBindIndexBuffer3KHR", index_buffer),
    ("vkCmdBindTransformFeedbackBuffersEXT", feedback_buffers),
    ("vkCmdBindTransformFeedbackBuffers2EXT", feedback_buffers),
    ("vkCmdBeginTransformFeedbackEXT", begin_feedback),
    ("vkCmdBeginTransformFeedback2EXT", begin_feedback),
    ("vkCmdEndTransformFeedbackEXT", end_feedback),
    ("vkCmdEndTransformFeedback2EXT", end_feedback),
    ("vkCmdBeginRenderPass", begin_render_pass),
    ("vkCmdBeginRenderPass2", begin_render_pass),
    ("vkCmdNextSubpass", |_, _, _| Some(Command::NextSubpass)),
    ("vkCmdNextSubpass2", |_, _, _| Some(Command::NextSubpass)),
    ("vkCmdEndRenderPass", end_pass),
    ("vkCmdEndRenderPass2", end_pass),
    ("vkCmdBeginRendering", begin_rendering),
    ("vkCmdEndRendering", end_pass),
    ("vkCmdEndRendering2KHR", end_pass),
    ("vkCmdBeginVideoCodingKHR", |s, _, _| scope(s, Scope::Coding)),
    ("vkCmdEndVideoCodingKHR", |s, _, _| scope(s, Scope::Outside)),
    ("vkCmdPipelineBarrier", pipeline_barrier),
    ("vkCmdPipelineBarrier2", pipeline_barrier),
    ("vkCmdSetEvent", set_event),
    ("vkCmdSetEvent2", set_event),
    ("vkCmdResetEvent", reset_event),
    ("vkCmdResetEvent2", reset_event),
    ("vkCmdWaitEvents", wait_events),
    ("vkCmdWaitEvents2", wait_events),
    ("vkCmdCopyBuffer", copy_buffer),
    ("vkCmdCopyBuffer2", copy_buffer),
    ("vkCmdCopyBufferToImage", buffer_to_image),
    ("vkCmdCopyBufferToImage2", buffer_to_image),
    ("vkCmdCopyImageToBuffer", image_to_buffer),
    ("vkCmdCopyImageToBuffer2", image_to_buffer),
    ("vkCmdCopyImage", copy_image),
    ("vkCmdCopyImage2", copy_image),
    ("vkCmdBlitImage", blit_image),
    ("vkCmdBlitImage2", blit_image),
    ("vkCmdResolveImage", resolve_image),
    ("vkCmdResolveImage2", resolve_image),
    ("vkCmdUpdateBuffer", update_buffer),
    ("vkCmdFillBuffer", fill_buffer),
    ("vkCmdClearColorImage", clear_image),
    ("vkCmdClearDepthStencilImage", clear_image),
    ("vkCmdExecuteCommands", execute),
    ("vkCmdBeginDebugUtilsLabelEXT", |_, _, c| label(c, Label::Begin)),
    ("vkCmdEndDebugUtilsLabelEXT", |_, _, c| label(c, Label::End)),
    ("vkCmdInsertDebugUtilsLabelEXT", |_, _, c| label(c, Label::Insert)),
    ("vkCmdDebugMarkerBeginEXT", |_, _, c| label(c, Label::Begin)),
    ("vkCmdDebugMarkerEndEXT", |_, _, c| label(c, Label::End)),
    ("vkCmdDebugMarkerInsertEXT", |_, _, c| label(c, Label::Insert)),
];

/// A draw, dispatch or trace.
pub(super) fn invocation(s: &mut State, w: &mut World, call: &Call) -> Command {
    let (name, v) = (call.command.canonical, View::call(&call.image));
    let point = invoke::bind_point(name, v);
    let mut version = w.version;
    let mut bindings = s.bindings(point, &mut version, |ids| w.combination(point, ids));
    w.version = version;
    let mesh = bindings.program.stages().iter().any(|s| s.stage & MESH_STAGES != 0);
    let mut inputs = (point == BindPoint::Graphics && !mesh).then(|| s.shared_inputs());
    let mut sizes = invoke::sizes(name, v);
    if let Sizes::Generated { layout, made_of, .. } = &mut sizes {
        *made_of = w.generated.get(layout).cloned();
        let known = made_of.as_deref();
        bindings = generated(w, &bindings, known);
        inputs = inputs.map(|i| inputs_of_generated(&i, known));
    }
    let tables = (name == "vkCmdTraceRaysIndirectKHR").then(|| Box::new(invoke::tables(v)));
    Command::Invoke(Box::new(Invoke {
        command: call.command,
        bind_point: point,
        sizes,
        bindings,
        inputs,
        tables,
    }))
}

/// What is bound while sequences run: what they bind themselves is not known.
fn generated(w: &mut World, bound: &Bindings, known: Option<&Layout>) -> Rc<Bindings> {
    let program = match known.is_some_and(Layout::runs_what_is_bound) {
        true => bound.program.clone(),
        false => Program::None,
    };
    let mut push = Rc::clone(&bound.push);
    if known.is_none_or(|l| l.does(Token::Push) || l.does(Token::Other)) {
        Rc::make_mut(&mut push).pushed.fill(false);
    }
    w.version += 1;
    Rc::make_mut(&mut push).version = w.version;
    Rc::new(Bindings { program, sets: bound.sets.clone(), push, number: w.version })
}

/// Vertex and index buffers, without those that sequences bind.
fn inputs_of_generated(bound: &Inputs, known: Option<&Layout>) -> Rc<Inputs> {
    let binds = |t: Token| known.is_none_or(|l| l.does(t) || l.does(Token::Other));
    let mut inputs = bound.clone();
    if binds(Token::Vertices) {
        inputs.vertices.clear();
    }
    if binds(Token::Indices) {
        inputs.indices = None;
    }
    Rc::new(inputs)
}

/// The struct that the newer form of a command has everything in, or the parameters of the older.
fn of<'i>(v: View<'i>, info: &str) -> View<'i> {
    v.one(info).unwrap_or(v)
}

fn bind_pipeline(s: &mut State, w: &mut World, call: &Call) -> Option<Command> {
    let point = BindPoint::of(call.image.u32(param!("vkCmdBindPipeline", "pipelineBindPoint")));
    let id = call.image.u64(param!("vkCmdBindPipeline", "pipeline"));
    let program = w.pipelines.get(&id).cloned().map_or(Program::None, Program::Pipeline);
    s.bind_pipeline(point, program);
    None
}

fn bind_shaders(s: &mut State, _: &mut World, call: &Call) -> Option<Command> {
    let v = View::call(&call.image);
    let shaders = v.u64s("pShaders");
    for (i, stage) in u32s(v, "pStages").into_iter().enumerate() {
        s.bind_shader(stage, shaders.get(i).copied().unwrap_or(0));
    }
    None
}

/// The bind points that a bind is for: one, or those of its stages.
fn points(v: View<'_>) -> Vec<BindPoint> {
    match v.u32("pipelineBindPoint") {
        Some(point) => vec![BindPoint::of(point)],
        None => BindPoint::of_stages(n32(v, "stageFlags")).collect(),
    }
}

fn bind_sets(s: &mut State, w: &mut World, call: &Call) -> Option<Command> {
    let v = of(View::call(&call.image), "pBindDescriptorSetsInfo");
    let layout = layout_of(w, v)?;
    let first = n32(v, "firstSet") as usize;
    let (sets, offsets) = (v.u64s("pDescriptorSets"), u32s(v, "pDynamicOffsets"));
    let mut next = 0;
    for (n, &set) in sets.iter().enumerate() {
        let n = first + n;
        // What the set itself was made with says how many offsets it takes.
        let made = w.sets.get(&set).map(|s| &s.layout).or(layout.set(n));
        let takes = made.map_or(0, |l| l.dynamic as usize);
        let its = offsets.get(next..(next + takes).min(offsets.len())).unwrap_or_default();
        next += takes;
        let its: Rc<[u32]> = its.into();
        for point in points(v) {
            let bound = match set {
                0 => BoundSet::Nothing,
                _ => BoundSet::Set { set, layout: Rc::clone(&layout), offsets: Rc::clone(&its) },
            };
            s.point(point).bind(n, bound, &layout);
        }
    }
    None
}

fn push_set(s: &mut State, w: &mut World, call: &Call) -> Option<Command> {
    let v = of(View::call(&call.image), "pPushDescriptorSetInfo");
    let layout = layout_of(w, v)?;
    let mut version = w.version;
    for point in points(v) {
        let contents = s.point(point).pushed(n32(v, "set") as usize, &layout, &mut version)?;
        for write in v.structs("pDescriptorWrites") {
            update::write(contents, write, &mut version);
        }
    }
    w.version = version;
    None
}

/// The newer command has all of it in a struct.
fn push_template(s: &mut State, w: &mut World, call: &Call) -> Option<Command> {
    let v = of(View::call(&call.image), "pPushDescriptorSetWithTemplateInfo");
    let (template, data) = update::templated(call)?;
    let template = w.templates.get(&template).cloned()?;
    let layout = layout_of(w, v)?;
    let mut version = w.version;
    let point = BindPoint::of(template.bind_point);
    let contents = s.point(point).pushed(n32(v, "set") as usize, &layout, &mut version)?;
    update::apply(contents, &template, &call.image, data, &mut version);
    w.version = version;
    None
}

fn push_constants(s: &mut State, w: &mut World, call: &Call) -> Option<Command> {
    let v = of(View::call(&call.image), "pPushConstantsInfo");
    let layout = layout_of(w, v);
    let data = v.bytes("pValues")?;
    let mut version = w.version;
    s.push(layout.as_deref(), n32(v, "offset"), data, &mut version);
    w.version = version;
    None
}

fn descriptor_buffers(s: &mut State, _: &mut World, call: &Call) -> Option<Command> {
    let infos = View::call(&call.image).structs("pBindingInfos");
    s.descriptor_buffers = infos.map(|i| n64(i, "address")).collect();
    None
}

fn buffer_offsets(s: &mut State, w: &mut World, call: &Call) -> Option<Command> {
    let v = of(View::call(&call.image), "pSetDescriptorBufferOffsetsInfo");
    let layout = layout_of(w, v)?;
    let first = n32(v, "firstSet") as usize;
    let bound = u32s(v, "pBufferIndices").into_iter().zip(v.u64s("pOffsets"));
    for (n, (index, offset)) in bound.enumerate() {
        let base = s.descriptor_buffers.get(index as usize).copied();
        for point in points(v) {
            let set = base.map_or(BoundSet::Nothing, |base| BoundSet::Buffer {
                address: base.wrapping_add(offset),
                layout: Rc::clone(&layout),
            });
            s.point(point).bind(first + n, set, &layout);
        }
    }
    None
}

fn embedded_samplers(s: &mut State, w: &mut World, call: &Call) -> Option<Command> {
    let v = of(View::call(&call.image), "pBindDescriptorBufferEmbeddedSamplersInfo");
    let layout = layout_of(w, v)?;
    for point in points(v) {
        let set = BoundSet::Embedded { layout: Rc::clone(&layout) };
        s.point(point).bind(n32(v, "set") as usize, set, &layout);
    }
    None
}

/// Streams that a call binds, from the first on.
fn streams(v: View<'_>, into: &mut Vec<Option<Stream>>) {
    let first = n32(v, "firstBinding") as usize;
    let ranges: Vec<Option<Stream>> = match v.array("pBindingInfos") {
        Some(_) => v
            .structs("pBindingInfos")
            .map(|i| {
                let range = i.one("addressRange")?;
                let address = n64(range, "address");
                let stream = Stream { place: Place::Address(address), size: n64(range, "size") };
                (address != 0).then_some(stream)
            })
            .collect(),
        None => {
            let (offsets, sizes) = (v.u64s("pOffsets"), v.u64s("pSizes"));
            let one = |(i, buffer): (usize, u64)| {
                let offset = offsets.get(i).copied().unwrap_or(0);
                let size = sizes.get(i).copied().unwrap_or(u64::MAX);
                (buffer != 0).then_some(Stream { place: Place::Buffer { buffer, offset }, size })
            };
            v.u64s("pBuffers").into_iter().enumerate().map(one).collect()
        }
    };
    // No device has more bindings; a damaged capture may say so.
    if first > 1 << 12 {
        return;
    }
    if into.len() < first + ranges.len() {
        into.resize(first + ranges.len(), None);
    }
    into[first..first + ranges.len()].copy_from_slice(&ranges);
}

fn vertex_buffers(s: &mut State, _: &mut World, call: &Call) -> Option<Command> {
    streams(View::call(&call.image), &mut s.inputs().vertices);
    None
}

fn feedback_buffers(s: &mut State, _: &mut World, call: &Call) -> Option<Command> {
    streams(View::call(&call.image), s.feedback());
    None
}

/// The counters are read and written: the command is kept.
fn begin_feedback(s: &mut State, _: &mut World, call: &Call) -> Option<Command> {
    s.turn_feedback(true);
    other(call)
}

fn end_feedback(s: &mut State, _: &mut World, call: &Call) -> Option<Command> {
    s.turn_feedback(false);
    other(call)
}

/// A command that is kept as it was decoded.
pub(super) fn other(call: &Call) -> Option<Command> {
    Some(Command::Other(Box::new(call.image.clone())))
}

fn index_buffer(s: &mut State, _: &mut World, call: &Call) -> Option<Command> {
    let v = of(View::call(&call.image), "pInfo");
    let stream = match v.one("addressRange") {
        Some(range) => Stream { place: Place::Address(n64(range, "address")), size: n64(range, "size") },
        None => {
            let place = Place::Buffer { buffer: n64(v, "buffer"), offset: n64(v, "offset") };
            Stream { place, size: v.u64("size").unwrap_or(u64::MAX) }
        }
    };
    let null = matches!(stream.place, Place::Address(0) | Place::Buffer { buffer: 0, .. });
    s.inputs().indices = (!null).then_some((stream, n32(v, "indexType")));
    None
}

fn scope(s: &mut State, now: Scope) -> Option<Command> {
    s.recording.scope = now;
    None
}

fn end_pass(s: &mut State, _: &mut World, _: &Call) -> Option<Command> {
    s.recording.scope = s.recording.scope.behind();
    Some(Command::EndPass)
}

fn begin_render_pass(s: &mut State, w: &mut World, call: &Call) -> Option<Command> {
    scope(s, Scope::Pass { suspends: false });
    let info = View::call(&call.image).one("pRenderPassBegin")?;
    let (render_pass, framebuffer) = (n64(info, "renderPass"), n64(info, "framebuffer"));
    let made_of = w.render_passes.get(&render_pass).cloned();
    let views = match info.next("VkRenderPassAttachmentBeginInfo") {
        Some(a) if a.array("pAttachments").is_some() => a.u64s("pAttachments"),
        _ => w.framebuffers.get(&framebuffer).map_or(vec![], |f| f.views.clone()),
    };
    let described = made_of.as_ref().map_or(&[][..], |p| &p.attachments[..]);
    let attachments = described.iter().enumerate().map(|(i, a)| Attachment {
        what: Use::Subpasses,
        view: views.get(i).copied().unwrap_or(0),
        initial_layout: a.initial_layout,
        final_layout: a.final_layout,
        stencil_final_layout: a.stencil_final_layout,
        load: a.load,
        store: a.store,
        stencil_load: a.stencil_load,
        stencil_store: a.stencil_store,
        ..Attachment::default()
    });
    let attachments = attachments.collect();
    let area = rect(info, "renderArea");
    Some(Command::BeginPass(Box::new(Pass {
        render_pass,
        framebuffer,
        made_of,
        area,
        attachments,
        ..Pass::default()
    })))
}

fn begin_rendering(s: &mut State, _: &mut World, call: &Call) -> Option<Command> {
    let info = View::call(&call.image).one("pRenderingInfo")?;
    let flags = n32(info, "flags");
    scope(s, Scope::Pass { suspends: flags & RENDERING_SUSPENDING != 0 });
    let attachment = |a: View<'_>, what| Attachment {
        what,
        view: n64(a, "imageView"),
        layout: n32(a, "imageLayout"),
        load: n32(a, "loadOp"),
        store: n32(a, "storeOp"),
        resolve_view: n64(a, "resolveImageView"),
        resolve_layout: n32(a, "resolveImageLayout"),
        resolve_mode: n32(a, "resolveMode"),
        ..Attachment::default()
    };
    let mut attachments: Vec<Attachment> =
        info.structs("pColorAttachments").map(|a| attachment(a, Use::Colour)).collect();
    attachments.extend(info.one("pDepthAttachment").map(|a| attachment(a, Use::Depth)));
    attachments.extend(info.one("pStencilAttachment").map(|a| attachment(a, Use::Stencil)));
    for rate in
        ["VkRenderingFragmentShadingRateAttachmentInfoKHR", "VkRenderingFragmentDensityMapAttachmentInfoEXT"]
    {
        attachments.extend(info.next(rate).map(|a| attachment(a, Use::Rate)));
    }
    Some(Command::BeginPass(Box::new(Pass {
        flags,
        area: rect(info, "renderArea"),
        layers: n32(info, "layerCount"),
        view_mask: n32(info, "viewMask"),
        attachments,
        ..Pass::default()
    })))
}

/// A VkDependencyInfo, or the parameters of an older command with its stages.
fn barrier(v: View<'_>, stages: Option<(u32, u32)>) -> Barrier {
    let scopes = |b: View<'_>| Scopes {
        src_stages: stages.map_or_else(|| n64(b, "srcStageMask"), |s| s.0.into()),
        src_access: n64(b, "srcAccessMask"),
        dst_stages: stages.map_or_else(|| n64(b, "dstStageMask"), |s| s.1.into()),
        dst_access: n64(b, "dstAccessMask"),
    };
    let families = |b: View<'_>| [n32(b, "srcQueueFamilyIndex"), n32(b, "dstQueueFamilyIndex")];
    let buffer = |b: View<'_>| BufferBarrier {
        scopes: scopes(b),
        families: families(b),
        buffer: n64(b, "buffer"),
        offset: n64(b, "offset"),
        size: n64(b, "size"),
    };
    let image = |b: View<'_>| ImageBarrier {
        scopes: scopes(b),
        families: families(b),
        image: n64(b, "image"),
        old_layout: n32(b, "oldLayout"),
        new_layout: n32(b, "newLayout"),
        range: b.one("subresourceRange").map(subresources).unwrap_or_default(),
    };
    let mut made = Barrier {
        flags: n32(v, "dependencyFlags"),
        memory: v.structs("pMemoryBarriers").map(scopes).collect(),
        buffers: v.structs("pBufferMemoryBarriers").map(buffer).collect(),
        images: v.structs("pImageMemoryBarriers").map(image).collect(),
    };
    // Ranges of addresses are ranges of memory: as barriers of all memory they order no less.
    if let Some(ranges) = v.next("VkMemoryRangeBarriersInfoKHR") {
        made.memory.extend(ranges.structs("pMemoryRangeBarriers").map(scopes));
    }
    if let Some((src, dst)) = stages
        && made.memory.is_empty()
    {
        // The stages wait for each other whatever else is said.
        let (src_stages, dst_stages) = (src.into(), dst.into());
        made.memory.push(Scopes { src_stages, dst_stages, ..Scopes::default() });
    }
    made
}

fn stages(v: View<'_>) -> Option<(u32, u32)> {
    v.u32("srcStageMask").map(|src| (src, n32(v, "dstStageMask")))
}

fn pipeline_barrier(_: &mut State, _: &mut World, call: &Call) -> Option<Command> {
    let v = View::call(&call.image);
    let stages = stages(v);
    let v = if stages.is_some() { v } else { v.one("pDependencyInfo")? };
    Some(Command::Barrier(Box::new(barrier(v, stages))))
}

fn set_event(_: &mut State, _: &mut World, call: &Call) -> Option<Command> {
    let v = View::call(&call.image);
    let barrier = match v.one("pDependencyInfo") {
        Some(info) => barrier(info, None),
        None => {
            let src_stages = u64::from(n32(v, "stageMask"));
            Barrier { memory: vec![Scopes { src_stages, ..Scopes::default() }], ..Barrier::default() }
        }
    };
    Some(Command::SetEvent { event: n64(v, "event"), barrier: Box::new(barrier) })
}

fn reset_event(_: &mut State, _: &mut World, call: &Call) -> Option<Command> {
    let v = View::call(&call.image);
    Some(Command::ResetEvent { event: n64(v, "event"), stages: n64(v, "stageMask") })
}

fn wait_events(_: &mut State, _: &mut World, call: &Call) -> Option<Command> {
    let v = View::call(&call.image);
    let stages = stages(v);
    let barriers = match stages {
        Some(_) => vec![barrier(v, stages)],
        None => v.structs("pDependencyInfos").map(|d| barrier(d, None)).collect(),
    };
    Some(Command::WaitEvents { events: v.u64s("pEvents").into(), barriers: barriers.into() })
}

fn copy_buffer(_: &mut State, _: &mut World, call: &Call) -> Option<Command> {
    let v = of(View::call(&call.image), "pCopyBufferInfo");
    let region = |r: View<'_>| (n64(r, "srcOffset"), n64(r, "dstOffset"), n64(r, "size"));
    let regions = v.structs("pRegions").map(region).collect();
    let (src, dst) = (n64(v, "srcBuffer"), n64(v, "dstBuffer"));
    Some(Command::CopyBuffer(Box::new(BufferCopies { src, dst, regions })))
}

fn triple(v: View<'_>, name: &str) -> [i32; 3] {
    v.one(name).map_or([0; 3], offset)
}

fn part(v: View<'_>, name: &str) -> super::objects::Subresources {
    v.one(name).map(subresources).unwrap_or_default()
}

fn buffer_image(v: View<'_>, buffer: &str, image: &str, layout: &str) -> Box<BufferImageCopies> {
    let region = |r: View<'_>| BufferImageRegion {
        offset: n64(r, "bufferOffset"),
        row_length: n32(r, "bufferRowLength"),
        image_height: n32(r, "bufferImageHeight"),
        part: part(r, "imageSubresource"),
        at: triple(r, "imageOffset"),
        extent: super::read::extent(r, "imageExtent"),
    };
    Box::new(BufferImageCopies {
        buffer: n64(v, buffer),
        image: n64(v, image),
        layout: n32(v, layout),
        regions: v.structs("pRegions").map(region).collect(),
    })
}

fn buffer_to_image(_: &mut State, _: &mut World, call: &Call) -> Option<Command> {
    let v = of(View::call(&call.image), "pCopyBufferToImageInfo");
    Some(Command::CopyBufferToImage(buffer_image(v, "srcBuffer", "dstImage", "dstImageLayout")))
}

fn image_to_buffer(_: &mut State, _: &mut World, call: &Call) -> Option<Command> {
    let v = of(View::call(&call.image), "pCopyImageToBufferInfo");
    Some(Command::CopyImageToBuffer(buffer_image(v, "dstBuffer", "srcImage", "srcImageLayout")))
}

fn images(call: &Call, info: &str, kind: ImageCopyKind) -> Option<Command> {
    let v = of(View::call(&call.image), info);
    let corners = |r: View<'_>, one: &str, both: &str| match kind {
        ImageCopyKind::Blit => {
            let mut found = r.structs(both).map(offset);
            [found.next().unwrap_or_default(), found.next().unwrap_or_default()]
        }
        _ => [triple(r, one), [0; 3]],
    };
    let region = |r: View<'_>| ImageRegion {
        src: part(r, "srcSubresource"),
        src_at: corners(r, "srcOffset", "srcOffsets"),
        dst: part(r, "dstSubresource"),
        dst_at: corners(r, "dstOffset", "dstOffsets"),
        extent: super::read::extent(r, "extent"),
    };
    Some(Command::CopyImage(Box::new(ImageCopies {
        kind,
        src: n64(v, "srcImage"),
        src_layout: n32(v, "srcImageLayout"),
        dst: n64(v, "dstImage"),
        dst_layout: n32(v, "dstImageLayout"),
        regions: v.structs("pRegions").map(region).collect(),
    })))
}

fn copy_image(_: &mut State, _: &mut World, call: &Call) -> Option<Command> {
    images(call, "pCopyImageInfo", ImageCopyKind::Copy)
}

fn blit_image(_: &mut State, _: &mut World, call: &Call) -> Option<Command> {
    images(call, "pBlitImageInfo", ImageCopyKind::Blit)
}

fn resolve_image(_: &mut State, _: &mut World, call: &Call) -> Option<Command> {
    images(call, "pResolveImageInfo", ImageCopyKind::Resolve)
}

fn update_buffer(_: &mut State, _: &mut World, call: &Call) -> Option<Command> {
    let v = View::call(&call.image);
    let data = v.bytes("pData").unwrap_or_default().into();
    Some(Command::UpdateBuffer { buffer: n64(v, "dstBuffer"), offset: n64(v, "dstOffset"), data })
}

fn fill_buffer(_: &mut State, _: &mut World, call: &Call) -> Option<Command> {
    let v = View::call(&call.image);
    Some(Command::FillBuffer {
        buffer: n64(v, "dstBuffer"),
        offset: n64(v, "dstOffset"),
        size: n64(v, "size"),
        word: n32(v, "data"),
    })
}

fn clear_image(_: &mut State, _: &mut World, call: &Call) -> Option<Command> {
    let v = View::call(&call.image);
    let ranges = v.structs("pRanges").map(subresources).collect();
    Some(Command::ClearImage { image: n64(v, "image"), layout: n32(v, "imageLayout"), ranges })
}

fn execute(s: &mut State, _: &mut World, call: &Call) -> Option<Command> {
    s.forget();
    Some(Command::Execute(View::call(&call.image).u64s("pCommandBuffers").into()))
}

/// A label has pLabelName, a marker pMarkerName.
fn label(call: &Call, what: Label) -> Option<Command> {
    let v = View::call(&call.image);
    let info = v.one("pLabelInfo").or_else(|| v.one("pMarkerInfo"));
    let text = info.and_then(|i| i.text("pLabelName").or_else(|| i.text("pMarkerName")));
    let text = text.as_deref().unwrap_or_default().trim_end_matches('\0').into();
    Some(Command::Label { what, text })
}
