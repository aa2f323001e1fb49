//! Submissions: the hook's command buffers around the application's, and the results when they are there.

use super::recording::Stamp;
use super::slot::visible;
use super::state::CommandTimesHook;
use super::statistics::spread;
use super::waiting::{Current, Numbers, Part, Waiting};
use crate::hooks::frame_times::{BATCHES, COUNT, counted_elsewhere};
use crate::hooks::numbering::Met;
use gfxr_parse::ahead::Call;
use replay::ash::vk;
use replay::error::{Error, Result};
use replay::exec::Executor;
use replay::link::Linked;
use replay::vulkan::driver;
use trace::{CommandCounters, CommandTime, Nanos, SpanKind, Ticks};
use world::walk::submitted;

impl CommandTimesHook {
    /// Directly before the driver is called.
    pub(super) fn submitting(&mut self, cx: &mut Executor, call: &Call, linked: &mut Linked) -> Result<()> {
        self.current = None;
        let numbers = self.numbers(cx, call);
        let batches = world::batches(call);
        let count: usize = batches.iter().map(|b| b.1.len()).sum();
        let n = linked.arg(COUNT) as u32 as usize;
        if count == 0 || n != batches.len() || linked.arg(BATCHES) == 0 {
            return Ok(());
        }
        let Some(vk) = cx.backend.vulkan() else { return Ok(()) };
        let Some(queue) = vk.queue(call.image.u64(0)).copied() else { return Ok(()) };
        let device = vk.device(queue.device)?.ash.clone();
        let keep = cx.measuring && !cx.warming;

        let mut parts: Vec<Part> = Vec::new();
        let mut at = 2;
        for (position, id) in batches.iter().flat_map(|b| &b.1).enumerate() {
            let number = cx.objects.world().recording(*id).map(|r| r.number);
            let kept = self.recordings.get(id).filter(|r| Some(r.number) == number);
            let Some(r) = kept else { continue };
            let counters = r.target.counters;
            let counts_at = at + r.stamps.used as usize;
            parts.push(Part {
                command_buffer: *id,
                position: position as u32,
                recorded: r.recorded.clone(),
                at,
                counts_at,
                stamps: r.stamps.used,
                counters,
                suspends: r.here.suspended,
            });
            at = counts_at + (r.statistics.used * counters.as_raw().count_ones()) as usize;
        }
        let elsewhere = |other: &Waiting| {
            other.queue != queue.id
                && other
                    .parts
                    .iter()
                    .any(|p| parts.iter().any(|q| q.queries() && q.command_buffer == p.command_buffer))
        };
        if self.waiting.iter().any(elsewhere) {
            self.collect(Some(queue.device), false)?;
            if self.waiting.iter().any(elsewhere) {
                self.out
                    .borrow_mut()
                    .note("command buffers that may run on two queues at once: their times may be wrong");
            }
        }
        let outer = self.queue_labels.get(&queue.id).and_then(|l| l.last()).copied().unwrap_or(0);
        let Some(slots) = self.slots(cx, queue.device, queue.family)? else { return Ok(()) };
        let slot = slots.take(at)?;
        let waiting = Waiting {
            device: queue.device,
            family: queue.family,
            queue: queue.id,
            frame: call.frame,
            submit: self.out.borrow().submits,
            slot,
            parts,
            outer,
            keep,
            results: at,
            repeat: None,
            numbers,
        };
        self.out.borrow_mut().submits += 1;
        let mut current = Current { waiting, device, queue: queue.live };
        let first = call.command.canonical == "vkQueueSubmit";
        let missing = || Error::divergence("a submission holds fewer command buffers than it says");
        if first {
            let mut infos = linked.params::<vk::SubmitInfo<'_>>(BATCHES, COUNT).ok_or_else(missing)?.to_vec();
            if infos.iter().any(|i| counted_elsewhere(linked, i.p_next)) {
                return self.only_reset(current);
            }
            let around = self.around(&mut current.waiting, count)?;
            let mut around = around.into_iter();
            for info in infos.iter_mut().filter(|i| i.command_buffer_count > 0) {
                let live =
                    linked.all(info.p_command_buffers, info.command_buffer_count).ok_or_else(missing)?;
                let v: Vec<_> = live.iter().flat_map(|c| enclosed(*c, around.next())).collect();
                info.command_buffer_count = v.len() as u32;
                info.p_command_buffers = linked.keep(&v);
            }
            linked.params_mut(BATCHES, COUNT).ok_or_else(missing)?.copy_from_slice(&infos);
        } else {
            let mut infos =
                linked.params::<vk::SubmitInfo2<'_>>(BATCHES, COUNT).ok_or_else(missing)?.to_vec();
            let grouped = |i: &vk::SubmitInfo2<'_>| {
                let all = linked.all(i.p_command_buffer_infos, i.command_buffer_info_count);
                all.unwrap_or_default().iter().any(|c| c.device_mask > 1)
            };
            if infos.iter().any(|i| i.flags.contains(vk::SubmitFlags::PROTECTED) || grouped(i)) {
                return self.only_reset(current);
            }
            let around = self.around(&mut current.waiting, count)?;
            let mut around = around.into_iter();
            for info in infos.iter_mut().filter(|i| i.command_buffer_info_count > 0) {
                let live = linked.all(info.p_command_buffer_infos, info.command_buffer_info_count);
                let wrap = |c| vk::CommandBufferSubmitInfo::default().command_buffer(c);
                let mut v = Vec::new();
                for c in live.ok_or_else(missing)? {
                    let (before, after) = around.next().unwrap_or((None, None));
                    v.extend(before.map(wrap));
                    v.push(*c);
                    v.extend(after.map(wrap));
                }
                info.command_buffer_info_count = v.len() as u32;
                info.p_command_buffer_infos = linked.keep(&v);
            }
            linked.params_mut(BATCHES, COUNT).ok_or_else(missing)?.copy_from_slice(&infos);
        }
        self.current = Some(current);
        Ok(())
    }

    /// Numbers of a submission's commands in the frame, where commands are timed.
    fn numbers(&mut self, cx: &Executor, call: &Call) -> Numbers {
        let mut numbers = Numbers::new();
        if self.settings.inside() {
            let (world, keep) = (cx.objects.world(), cx.measuring && !cx.warming);
            self.numbering.submit(world, call.image.u64(0), &submitted(call), &mut |met| {
                let Met::Executes(at) = met else { return };
                let found = (at.action as u32, at.around.pass.0 as u32);
                if keep && found != (0, 0) {
                    let place = (at.position as u32, at.execution as u32, at.recorded.index + 1);
                    numbers.insert(place, found);
                }
            });
        }
        numbers
    }

    /// The hook's command buffers before and after each of the submission's. Between two that one render pass goes on in
    /// there is none: what the latter needs is done before the former.
    fn around(&mut self, w: &mut Waiting, count: usize) -> Result<Vec<Around>> {
        let Some(Some(slots)) = self.slots.get(&(w.device, w.family)) else { return Ok(Vec::new()) };
        let (pair, slot) = (w.slot.pair, &mut w.slot);
        let flags = vk::QueryResultFlags::TYPE_64 | vk::QueryResultFlags::WAIT;
        let mut all = Vec::with_capacity(count);
        let mut position = 0;
        while position < count {
            let part = |at: usize| w.parts.iter().find(|p| p.position as usize == at);
            let mut end = position + 1;
            while end < count && part(end - 1).is_some_and(|p| p.suspends) {
                end += 1;
            }
            let group: Vec<_> = (position..end)
                .filter_map(part)
                .filter(|p| p.queries())
                .filter_map(|p| self.recordings.get(&p.command_buffer).map(|r| (p, r)))
                .collect();
            let (first, last) = (position == 0, end == count);
            let first_at = all.len();
            all.resize(first_at + end - position, (None, None));
            if first || !group.is_empty() {
                all[first_at].0 = Some(slots.record(slot, |d, cmd| {
                    // SAFETY: recording, outside of render passes; nothing that was submitted before still needs them.
                    unsafe {
                        if first {
                            d.cmd_reset_query_pool(cmd, pair, 0, 2);
                            d.cmd_write_timestamp(cmd, vk::PipelineStageFlags::TOP_OF_PIPE, pair, 0);
                        }
                        for (pool, n) in
                            group.iter().flat_map(|g| g.1.stamps.in_use().chain(g.1.statistics.in_use()))
                        {
                            d.cmd_reset_query_pool(cmd, pool, 0, n);
                        }
                    }
                })?);
            }
            if last || !group.is_empty() {
                let buffer = slot.buffer;
                let at_end = all.len() - 1;
                all[at_end].1 = Some(slots.record(slot, |d, cmd| {
                    // SAFETY: as above; the buffer has room for all results.
                    unsafe {
                        if last {
                            d.cmd_write_timestamp(cmd, vk::PipelineStageFlags::BOTTOM_OF_PIPE, pair, 1);
                        }
                        for (p, r) in &group {
                            let mut at = p.at as u64 * 8;
                            for (pool, n) in r.stamps.in_use() {
                                d.cmd_copy_query_pool_results(cmd, pool, 0, n, buffer, at, 8, flags);
                                at += u64::from(n) * 8;
                            }
                            let stride = u64::from(p.counters.as_raw().count_ones()) * 8;
                            for (pool, n) in r.statistics.in_use() {
                                d.cmd_copy_query_pool_results(cmd, pool, 0, n, buffer, at, stride, flags);
                                at += u64::from(n) * stride;
                            }
                        }
                        if last {
                            d.cmd_copy_query_pool_results(cmd, pair, 0, 2, buffer, 0, 8, flags);
                            visible(d, cmd);
                        }
                    }
                })?);
            }
            position = end;
        }
        Ok(all)
    }

    /// A submission that must stay as it is: queries are reset before it, and nobody reads them.
    fn only_reset(&mut self, mut current: Current) -> Result<()> {
        self.out.borrow_mut().note("submissions for device groups or protected memory: not timed");
        current.waiting.keep = false;
        let Some(Some(slots)) = self.slots.get(&(current.waiting.device, current.waiting.family)) else {
            return Ok(());
        };
        let pools: Vec<_> = current
            .waiting
            .parts
            .iter()
            .filter_map(|p| self.recordings.get(&p.command_buffer))
            .flat_map(|r| r.stamps.in_use().chain(r.statistics.in_use()))
            .collect();
        let cmd = slots.record(&mut current.waiting.slot, |d, cmd| {
            for (pool, n) in pools {
                // SAFETY: recording, outside of render passes.
                unsafe { d.cmd_reset_query_pool(cmd, pool, 0, n) };
            }
        })?;
        let submit = vk::SubmitInfo::default().command_buffers(std::slice::from_ref(&cmd));
        // SAFETY: nobody else uses the queue meanwhile.
        unsafe { driver::submit(&current.device, current.queue, &[submit], vk::Fence::null())? };
        self.current = Some(current);
        Ok(())
    }

    /// Directly after the driver was called.
    pub(super) fn submitted(&mut self, well: bool) -> Result<()> {
        let Some(c) = self.current.take() else { return Ok(()) };
        if well {
            // The application's fence is its own: another one says when all of this is through.
            // SAFETY: nobody else uses the queue meanwhile; the fence is unsignalled and not in use.
            unsafe { driver::submit(&c.device, c.queue, &[], c.waiting.slot.fence)? };
            self.waiting.push_back(c.waiting);
        } else if let Some(Some(slots)) = self.slots.get_mut(&(c.waiting.device, c.waiting.family)) {
            slots.give(c.waiting.slot);
        }
        Ok(())
    }

    /// Reads the results that are there; with `wait`, all.
    pub(super) fn collect(&mut self, device: Option<u64>, wait: bool) -> Result<()> {
        let mut later = std::collections::VecDeque::new();
        // A queue's submissions end in their order: behind one that still runs nothing is asked for.
        let mut busy: Vec<u64> = Vec::new();
        while let Some(w) = self.waiting.pop_front() {
            let Some(Some(slots)) = self.slots.get_mut(&(w.device, w.family)) else { continue };
            let other = device.is_some_and(|d| d != w.device) || busy.contains(&w.queue);
            if other || !slots.done(&w.slot, wait)? {
                busy.push(w.queue);
                later.push_back(w);
                continue;
            }
            let (bits, period) = (slots.bits, slots.period);
            self.read(&w, bits, period);
            if let Some(Some(slots)) = self.slots.get_mut(&(w.device, w.family)) {
                slots.give(w.slot);
            }
        }
        self.waiting = later;
        Ok(())
    }

    fn read(&mut self, w: &Waiting, bits: u32, period: f32) {
        if !w.keep {
            return;
        }
        let start = self.start;
        let Some(clock) = self.devices.get_mut(&w.device).map(|d| &mut d.clock) else { return };
        let mut time = |raw| start + clock.nanos(raw, bits, period);
        let all = w.slot.results(w.results);
        let mut out = self.out.borrow_mut();
        let out = &mut *out;
        let node = out.names.node(w.outer, "vkQueueSubmit");
        let submission = CommandTime {
            frame: w.frame,
            repeat: w.repeat.unwrap_or(self.repeat),
            submit: w.submit,
            device: w.device,
            queue: w.queue,
            command_buffer: 0,
            position: 0,
            execution: 0,
            index: 0,
            draw: 0,
            pass: 0,
            kind: SpanKind::Submit,
            depth: 0,
            node,
            pipeline: 0,
            isolated: false,
            begin: time(all[0]),
            end: time(all[1]),
        };
        out.records.push(submission);
        for part in &w.parts {
            let stamps = &all[part.at..];
            // Which record a span became.
            let mut records = vec![None; part.recorded.spans.len()];
            // The render pass that spans are within: its depth and number.
            let mut within = (u32::MAX, 0);
            for (s, record) in part.recorded.spans.iter().zip(&mut records) {
                let (Some(begin), Some(end)) = (s.begin, s.end) else { continue };
                let mut at = |s: Stamp| {
                    let base = time(stamps[s.base as usize]);
                    Nanos(base.0.saturating_add_signed(behind(stamps, s, bits, period)))
                };
                *record = Some(out.records.len() as u64);
                let place = (part.position, s.execution, s.index);
                let (draw, pass) = w.numbers.get(&place).copied().unwrap_or_default();
                if s.depth <= within.0 {
                    within = if s.kind == SpanKind::Pass { (s.depth, pass) } else { (u32::MAX, 0) };
                }
                // (a secondary command buffer is at the place of what executes it)
                let pass = if s.kind == SpanKind::Secondary { within.1 } else { pass };
                out.records.push(CommandTime {
                    draw: if s.kind == SpanKind::Command { draw } else { 0 },
                    pass,
                    command_buffer: s.command_buffer,
                    position: part.position,
                    execution: s.execution,
                    index: s.index,
                    kind: s.kind,
                    depth: s.depth,
                    node: out.names.within(w.outer, s.node),
                    pipeline: s.pipeline,
                    isolated: s.isolated,
                    begin: at(begin),
                    end: at(end),
                    ..submission
                });
            }
            let n = part.counters.as_raw().count_ones() as usize;
            for p in &part.recorded.pieces {
                let Some(span) = records[p.span] else { continue };
                let at = part.counts_at + p.result as usize * n;
                let counts = spread(part.counters, &all[at..at + n * p.views as usize]);
                match out.counters.last_mut().filter(|c| c.span == span) {
                    Some(c) => {
                        for (sum, more) in c.counts.iter_mut().zip(counts) {
                            *sum = sum.zip(more).map(|(a, b)| a + b);
                        }
                    }
                    None => out.counters.push(CommandCounters { span, counts }),
                }
            }
        }
    }
}

/// Nanoseconds from a timestamp's base to itself. In a pass with several views each has a time: the sum of what all of them
/// moved on is the time that all of them took, whether the device writes one time and zeros or a time for each.
fn behind(results: &[u64], s: Stamp, bits: u32, period: f32) -> i64 {
    let mut sum = 0;
    for view in 0..s.views {
        let (from, to) = (results[(s.base + view) as usize], results[(s.result + view) as usize]);
        let forward = Ticks(to).since(Ticks(from), bits);
        let half = 1u64 << (bits.clamp(1, 64) - 1);
        sum += if forward.0 < half {
            forward.to_nanos(period).0 as i64
        } else {
            -(Ticks(from).since(Ticks(to), bits).to_nanos(period).0 as i64)
        };
    }
    sum
}

/// What goes before and after a command buffer.
type Around = (Option<vk::CommandBuffer>, Option<vk::CommandBuffer>);

fn enclosed(live: vk::CommandBuffer, around: Option<Around>) -> impl Iterator<Item = vk::CommandBuffer> {
    let (before, after) = around.unwrap_or((None, None));
    before.into_iter().chain([live]).chain(after)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_times_of_several_views_add_up() {
        let (base, next) = (Stamp { result: 0, views: 2, base: 0 }, Stamp { result: 2, views: 2, base: 0 });
        // A time for each view: one took 10, the other 20.
        assert_eq!(behind(&[100, 500, 110, 520], next, 64, 1.0), 30);
        // One time, and zeros.
        assert_eq!(behind(&[100, 0, 130, 0], next, 64, 1.0), 30);
        assert_eq!(behind(&[100, 500], base, 64, 1.0), 0);
        // A counter of 8 bits that wrapped, in steps of 2 ns; and a step back.
        assert_eq!(behind(&[250, 0, 4, 0], next, 8, 2.0), 20);
        assert_eq!(behind(&[4, 0, 250, 0], next, 8, 2.0), -20);
    }
}
