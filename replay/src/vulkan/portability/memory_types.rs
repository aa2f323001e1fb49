//! Memory: types and heaps, memory, semaphores and fences from outside of the process, sparse binding.
//!
//! Types are translated (`memory/`), what was imported becomes memory of the replay's own, and what is bound page by page has all
//! of its memory at once where each resource has its own (`sparse.rs`). Refuses nothing.

use crate::options::{Bridge, MemoryMode};
use crate::preflight::asked::AskedDevice;
use crate::preflight::prologue::Prologue;
use crate::vulkan::portability::compare::Compare;
use crate::vulkan::portability::line::{Done, Line, Sort};
use ash::vk;

impl Compare<'_> {
    pub(super) fn memory(&mut self, d: &AskedDevice, prologue: &Prologue, mode: MemoryMode) {
        let here = &self.gpu.memory.memory_types[..self.gpu.memory.memory_type_count as usize];
        let flags = |f: u32| format!("{:?}", vk::MemoryPropertyFlags::from_raw(f));
        let then = prologue.memory.get(&d.gpu).cloned().unwrap_or_default();
        let lines: Vec<Line> = then
            .iter()
            .enumerate()
            .map(|(i, f)| {
                let now = here.get(i).map(|t| t.property_flags.as_raw());
                let kept = mode == MemoryMode::None;
                let done = if kept { Done::Kept } else { Done::Replaced };
                let line = Line::new(Sort::Memory, &format!("memory type {i}"), now == Some(*f), done);
                line.of(flags(*f), now.map_or("none".into(), flags))
            })
            .collect();
        lines.into_iter().for_each(|l| self.push(l));
        let heaps = &self.gpu.memory.memory_heaps[..self.gpu.memory.memory_heap_count as usize];
        let largest = heaps.iter().map(|h| h.size).max().unwrap_or(0);
        let total: u64 = heaps.iter().map(|h| h.size).sum();
        let fits = self.asked.peak_bytes <= total;
        let done = if fits { Done::Kept } else { Done::Risked };
        let line = Line::new(Sort::Memory, "memory allocated at one time", fits, done);
        self.push(line.of(bytes(self.asked.peak_bytes), format!("largest heap {}", bytes(largest))));
        for (name, n) in self.asked.imports.clone() {
            let found = match name.starts_with("vk") {
                true => "signalled when it is waited for",
                false => "memory of the replay's own",
            };
            let line = Line::new(Sort::Memory, name, false, Done::Replaced);
            self.push(line.by(Bridge::Imports).of(format!("{n} times"), found.into()));
        }
        if self.asked.sparse > 0 {
            let has = mode != MemoryMode::Rebind;
            let done = if has { Done::Kept } else { Done::Replaced };
            let line = Line::new(Sort::Memory, "sparse binding", has, done);
            let found = if has { "memory as captured" } else { "all memory of each resource at once" };
            self.push(line.by(Bridge::Sparse).of(format!("{} resources", self.asked.sparse), found.into()));
        }
    }
}

fn bytes(n: u64) -> String {
    format!("{:.1} MiB", n as f64 / f64::from(1 << 20))
}
