use super::*;
use gfxr_parse::writer::ParamWriter;

/// The VkStructureType of a struct.
fn stype(name: &str) -> u32 {
    let id = gfxr_parse::schema::struct_named(name).expect(name);
    gfxr_parse::schema::generated::STRUCTS[usize::from(id)].stype.expect("it has one")
}

fn call(name: &str, params: impl FnOnce(&mut ParamWriter)) -> Call {
    Call::written(name, params).unwrap_or_else(|e| panic!("{name}: {e}"))
}

/// A command buffer, and a secondary one.
const BUFFER: u64 = 5;
const SECOND: u64 = 6;
const POOL: u64 = 3;

struct Bench {
    order: Order,
    objects: Objects,
}

impl Bench {
    fn new() -> Bench {
        let mut b = Bench { order: Order::new(), objects: Objects::default() };
        for id in [BUFFER, SECOND] {
            b.objects.insert_in_pool(id, id, b.order.command_buffer, POOL);
        }
        b.order.secondary.insert(SECOND, ());
        b
    }

    /// One call; the driver does as it is told.
    fn call(&mut self, name: &str, params: impl FnOnce(&mut ParamWriter)) -> Result<(), String> {
        let call = call(name, params);
        let more = before(&mut self.order, &mut self.objects, &call).map_err(|e| {
            assert_eq!(e.kind(), crate::error::Kind::Divergence);
            e.to_string()
        })?;
        if more {
            after(&mut self.order, &mut self.objects, &call, Outcome { ret: 0, called: true });
        }
        Ok(())
    }

    fn begin(&mut self, id: u64, flags: u32, inherits: bool) -> Result<(), String> {
        self.call("vkBeginCommandBuffer", |w| {
            w.u64(id);
            w.structure(|w| {
                w.u32(stype("VkCommandBufferBeginInfo")).null_struct().u32(flags);
                if inherits {
                    w.structure(|w| {
                        w.u32(stype("VkCommandBufferInheritanceInfo")).null_struct();
                        w.u64(0).u32(0).u64(0).u32(0).u32(0).u32(0);
                    });
                } else {
                    w.null_struct();
                }
            });
            w.i32(0);
        })
    }

    fn end(&mut self, id: u64) -> Result<(), String> {
        self.call("vkEndCommandBuffer", |w| _ = w.u64(id).i32(0))
    }

    fn submit(&mut self, id: u64) -> Result<(), String> {
        self.call("vkQueueSubmit", |w| {
            w.u64(2).u32(1);
            w.structures(1, |w, _| {
                w.u32(stype("VkSubmitInfo")).null_struct();
                w.u32(0).u64_array(&[]).u32_array(&[]).u32(1).u64_array(&[id]).u32(0).u64_array(&[]);
            });
            w.u64(0).i32(0);
        })
    }

    fn execute(&mut self, primary: u64, secondary: u64) -> Result<(), String> {
        self.call("vkCmdExecuteCommands", |w| _ = w.u64(primary).u32(1).u64_array(&[secondary]))
    }

    /// A command with numbers alone behind the command buffer.
    fn plain(&mut self, name: &str, id: u64, numbers: &[u32]) -> Result<(), String> {
        self.call(name, |w| {
            w.u64(id);
            numbers.iter().for_each(|n| _ = w.u32(*n));
        })
    }

    fn bind(&mut self, point: u32) -> Result<(), String> {
        self.call("vkCmdBindPipeline", |w| _ = w.u64(BUFFER).u32(point).u64(9))
    }

    fn begin_pass(&mut self, pass: u64) -> Result<(), String> {
        self.call("vkCmdBeginRenderPass", |w| {
            w.u64(BUFFER);
            w.structure(|w| {
                w.u32(stype("VkRenderPassBeginInfo")).null_struct().u64(pass).u64(0);
                w.i32(0).i32(0).u32(1).u32(1);
                w.u32(0).null_struct();
            });
            w.u32(0);
        })
    }
}

fn says(r: Result<(), String>, text: &str) {
    assert_eq!(r, Err(text.to_owned()));
}

#[test]
fn a_recording_begins_once_and_ends_once() {
    let mut b = Bench::new();
    says(b.end(BUFFER), "VkCommandBuffer 5 is not being recorded");
    says(b.submit(BUFFER), "VkCommandBuffer 5 holds no recording");
    b.begin(BUFFER, 0, false).expect("new");
    says(b.begin(BUFFER, 0, false), "VkCommandBuffer 5 is already being recorded");
    says(b.submit(BUFFER), "VkCommandBuffer 5 is still being recorded");
    b.end(BUFFER).expect("being recorded");
    says(b.end(BUFFER), "VkCommandBuffer 5 is not being recorded");
    b.submit(BUFFER).expect("recorded");
    b.submit(BUFFER).expect("again");
    b.begin(BUFFER, 0, false).expect("it is reset by that");
    b.end(BUFFER).expect("being recorded");
    b.call("vkResetCommandPool", |w| _ = w.u64(1).u64(POOL).u32(0).i32(0)).expect("its pool");
    says(b.submit(BUFFER), "VkCommandBuffer 5 holds no recording");
}

#[test]
fn commands_want_what_they_use() {
    let mut b = Bench::new();
    let draw = |b: &mut Bench| b.plain("vkCmdDraw", BUFFER, &[3, 1, 0, 0]);
    let indexed = |b: &mut Bench| b.plain("vkCmdDrawIndexed", BUFFER, &[3, 1, 0, 0, 0]);
    let dispatch = |b: &mut Bench| b.plain("vkCmdDispatch", BUFFER, &[1, 1, 1]);
    says(draw(&mut b), "VkCommandBuffer 5 is not being recorded");
    b.begin(BUFFER, 0, false).expect("new");
    says(draw(&mut b), "no render pass has begun in VkCommandBuffer 5");
    says(dispatch(&mut b), "no compute pipeline and no shader are bound in VkCommandBuffer 5");
    b.bind(0).expect("graphics");
    says(dispatch(&mut b), "no compute pipeline and no shader are bound in VkCommandBuffer 5");
    b.bind(1).expect("compute");
    dispatch(&mut b).expect("bound");
    says(indexed(&mut b), "no render pass has begun in VkCommandBuffer 5");
    says(b.plain("vkCmdEndRenderPass", BUFFER, &[]), "no render pass has begun in VkCommandBuffer 5");
    // What was bound before does not last into another recording.
    b.end(BUFFER).expect("being recorded");
    b.begin(BUFFER, 0, false).expect("recorded");
    says(dispatch(&mut b), "no compute pipeline and no shader are bound in VkCommandBuffer 5");
}

#[test]
fn a_render_pass_has_its_subpasses_and_ends() {
    let mut b = Bench::new();
    b.order.subpasses.insert(8, 2);
    b.begin(BUFFER, 0, false).expect("new");
    b.begin_pass(8).expect("none has begun");
    says(b.begin_pass(8), "a render pass that has begun in VkCommandBuffer 5 has not ended");
    says(b.end(BUFFER), "a render pass that has begun in VkCommandBuffer 5 has not ended");
    says(
        b.plain("vkCmdDraw", BUFFER, &[3, 1, 0, 0]),
        "no graphics pipeline and no shaders are bound in VkCommandBuffer 5",
    );
    b.bind(0).expect("graphics");
    b.plain("vkCmdDraw", BUFFER, &[3, 1, 0, 0]).expect("bound");
    says(
        b.plain("vkCmdDrawIndexed", BUFFER, &[3, 1, 0, 0, 0]),
        "no index buffer is bound in VkCommandBuffer 5",
    );
    b.call("vkCmdBindIndexBuffer", |w| _ = w.u64(BUFFER).u64(4).u64(0).u32(0)).expect("recording");
    b.plain("vkCmdDrawIndexed", BUFFER, &[3, 1, 0, 0, 0]).expect("bound");
    b.plain("vkCmdNextSubpass", BUFFER, &[0]).expect("the second");
    says(
        b.plain("vkCmdNextSubpass", BUFFER, &[0]),
        "the render pass in VkCommandBuffer 5 has no subpass behind this one",
    );
    b.plain("vkCmdEndRenderPass", BUFFER, &[]).expect("it has begun");
    b.end(BUFFER).expect("it has ended");
}

#[test]
fn secondary_command_buffers_run_where_they_were_recorded_for() {
    let mut b = Bench::new();
    b.order.subpasses.insert(8, 1);
    says(b.begin(SECOND, 0, false), "VkCommandBuffer 6 is secondary: pInheritanceInfo is missing");
    b.begin(BUFFER, 0, false).expect("new");
    says(b.execute(BUFFER, SECOND), "VkCommandBuffer 6 holds no recording");
    b.begin(SECOND, CONTINUES, true).expect("new");
    says(b.execute(BUFFER, SECOND), "VkCommandBuffer 6 is still being recorded");
    says(
        b.plain("vkCmdEndRenderPass", SECOND, &[]),
        "the render pass of VkCommandBuffer 6 is that of whoever executes it",
    );
    b.end(SECOND).expect("the pass is not its own");
    says(
        b.execute(BUFFER, SECOND),
        "VkCommandBuffer 6 was recorded to run within a render pass, and is executed outside of one",
    );
    b.begin_pass(8).expect("none has begun");
    b.execute(BUFFER, SECOND).expect("within");
    says(b.submit(SECOND), "VkCommandBuffer 6 is not a primary command buffer");
    b.plain("vkCmdEndRenderPass", BUFFER, &[]).expect("it has begun");
    b.begin(SECOND, 0, true).expect("recorded");
    b.end(SECOND).expect("being recorded");
    b.execute(BUFFER, SECOND).expect("outside");
    b.end(BUFFER).expect("being recorded");
    b.begin(SECOND, 0, true).expect("recorded");
    says(b.execute(SECOND, BUFFER), "VkCommandBuffer 5 is not a secondary command buffer");
}

#[test]
fn a_query_that_ends_has_begun() {
    let mut b = Bench::new();
    b.begin(BUFFER, 0, false).expect("new");
    let begin = |b: &mut Bench, n| b.call("vkCmdBeginQuery", |w| _ = w.u64(BUFFER).u64(7).u32(n).u32(0));
    let end = |b: &mut Bench, n| b.call("vkCmdEndQuery", |w| _ = w.u64(BUFFER).u64(7).u32(n));
    says(end(&mut b, 0), "query 0 of VkQueryPool 7 was not begun");
    begin(&mut b, 0).expect("the first time");
    says(begin(&mut b, 0), "query 0 of VkQueryPool 7 is already begun");
    says(end(&mut b, 1), "query 1 of VkQueryPool 7 was not begun");
    end(&mut b, 0).expect("begun");
    begin(&mut b, 2).expect("the first time");
    b.end(BUFFER).expect("being recorded");
    b.begin(BUFFER, 0, false).expect("recorded");
    says(end(&mut b, 2), "query 2 of VkQueryPool 7 was not begun");
}

#[test]
fn what_is_freed_is_freed_once_and_out_of_its_pool() {
    let mut b = Bench::new();
    let free = |b: &mut Bench, pool, ids: &[u64]| {
        b.call("vkFreeCommandBuffers", |w| _ = w.u64(1).u64(pool).u32(ids.len() as u32).u64_array(ids))
    };
    says(free(&mut b, POOL, &[5, 6, 5]), "VkCommandBuffer 5 is freed twice in one call");
    says(free(&mut b, 4, &[5]), "VkCommandBuffer 5 is not of the pool that it is freed from");
    free(&mut b, POOL, &[0, 5, 0, 6]).expect("each once");
}

#[test]
fn what_depends_on_a_call_that_was_left_out_is_refused() {
    let mut b = Bench::new();
    let dispatch = |b: &mut Bench| b.plain("vkCmdDispatch", BUFFER, &[1, 1, 1]);
    let left_out = |b: &mut Bench, name: &str, params: &dyn Fn(&mut ParamWriter)| {
        let call = call(name, params);
        super::left_out(&mut b.order, &mut b.objects, &call);
    };
    b.begin(BUFFER, 0, false).expect("it begins");
    b.bind(1).expect("a compute pipeline");
    dispatch(&mut b).expect("it has a pipeline");
    // A copy sets nothing that a dispatch uses.
    left_out(&mut b, "vkCmdFillBuffer", &|w| _ = w.u64(BUFFER).u64(9).u64(0).u64(4).u32(0));
    dispatch(&mut b).expect("it has a pipeline");
    left_out(&mut b, "vkCmdSetLineWidth", &|w| _ = w.u64(BUFFER).u32(0));
    says(dispatch(&mut b), "a call before it in VkCommandBuffer 5, that sets what it uses, was left out");
    b.end(BUFFER).expect("it ends");
    b.begin(BUFFER, 0, false).expect("it begins anew");
    b.bind(1).expect("a compute pipeline");
    dispatch(&mut b).expect("the next recording has lost nothing");

    // A set that was to be written is not bound, until it is.
    const SET: u64 = 8;
    let ty = b.order.descriptor_set;
    b.objects.insert_in_pool(SET, SET, ty, POOL);
    let write = |w: &mut ParamWriter| {
        w.u64(1).u32(1);
        w.structures(1, |w, _| {
            w.u32(stype("VkWriteDescriptorSet")).null_struct().u64(SET).u32(0).u32(0).u32(0).u32(6);
            w.null_struct().null_struct().u64_array(&[]);
        });
        w.u32(0).null_struct();
    };
    let bind = |b: &mut Bench| {
        b.call("vkCmdBindDescriptorSets", |w| {
            w.u64(BUFFER).u32(1).u64(7).u32(0).u32(1).u64_array(&[SET]).u32(0).u32_array(&[]);
        })
    };
    bind(&mut b).expect("it is a set");
    left_out(&mut b, "vkUpdateDescriptorSets", &write);
    says(bind(&mut b), "a call that writes to VkDescriptorSet 8 was left out");
    b.call("vkUpdateDescriptorSets", write).expect("it is written");
    bind(&mut b).expect("it was written since");
}
