//! Queue families and their queues.

use super::{Compare, Done, Line, Sort};
use crate::preflight::asked::AskedDevice;
use ash::vk;

const WORK: vk::QueueFlags = vk::QueueFlags::from_raw(0b111);

impl Compare<'_> {
    pub(super) fn queues(&mut self, d: &AskedDevice) {
        let then = self.asked.families.get(&d.gpu);
        for &(family, count) in &d.queues {
            let asked = then.and_then(|f| f.get(family as usize)).copied().map(vk::QueueFlags::from_raw);
            let here = self.gpu.families.get(family as usize);
            let able = asked.unwrap_or_default() & WORK;
            let has = here.is_some_and(|h| h.queue_count >= count && h.queue_flags.contains(able));
            let say = |n: u32, f: Option<vk::QueueFlags>| match f {
                Some(f) => format!("{n} × {f:?}"),
                None => format!("{n}"),
            };
            let found = here.map_or("no such family".into(), |h| say(h.queue_count, Some(h.queue_flags)));
            // More abilities than the captured work needs are no reason to refuse: only counts are sure.
            let done = match here {
                Some(h) if h.queue_count >= count => Done::Kept,
                _ => self.must(false),
            };
            let line = Line::new(Sort::Queue, &format!("queue family {family}"), has, done);
            self.push(line.of(say(count, asked), found));
        }
    }
}
