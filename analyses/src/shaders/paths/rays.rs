//! Paths and compaction as `shaders/paths/mod.rs` defines them, from events of subgroups that pass `rays` recorded: no second pass is needed.
//!
//! A call of a subgroup is a begin in table `warps`; subgroups are those of ray generation, in the order of their numbers.
//!
//! *Caveat.* Who entered and began no ray left no event: nobody is counted with the empty path who never traced from any shader.
//! Invocations are counted of a shader if they began a ray anywhere.

use super::columns;
use super::compaction::{Subgroup, mask};
use super::report::report;
use crate::report::Report;
use crate::{Question, Session};
use std::collections::{BTreeMap, HashMap};
use trace::tables::{RAY_LAUNCHES, RayEvent, WARPS};
use trace::{Source, Unreadable};

/// The question.
pub static QUESTION: Question = Question {
    name: "ray-paths",
    about: "which calls that begin rays invocations take part in, and how many subgroups compaction would save",
    wants: &[&RAY_LAUNCHES, &WARPS],
    sheets: columns::SHEETS,
    events: None,
    answer,
};

fn answer(session: &Session<'_>) -> Result<Report, Unreadable> {
    let trace = session.trace;
    let context = session.context()?;
    let subgroups = read(trace)?;
    let mut report = report(QUESTION.name, "Paths of rays", context, &subgroups);
    if subgroups.is_empty() {
        report.notes.push("No event of a subgroup was recorded.".into());
    }
    Ok(report)
}

/// Frame, launch and number.
type Key = (u64, u64, u64);

fn read(trace: &dyn Source) -> Result<Vec<Subgroup>, Unreadable> {
    let mut all: BTreeMap<(u64, Key), Subgroup> = BTreeMap::new();
    let mut entered: HashMap<Key, u128> = HashMap::new();
    let columns = ["frame", "launch", "subgroup", "kind", "entry", "word_offset", "mask", "mask_high"];
    trace.each_of(&WARPS, &columns, &mut |t| {
        let [frames, launches, numbers, kinds, entries, places, low, high] = columns.map(|c| t.u64(c));
        for row in 0..t.len() {
            if !RayEvent::of(kinds[row]).is_some_and(RayEvent::begins) {
                continue;
            }
            let (frame, launch, first, entry) = (frames[row], launches[row], numbers[row], entries[row]);
            let key = (frame, launch, first);
            let active = mask(low[row], high[row]);
            *entered.entry(key).or_default() |= active;
            let new = || Subgroup { frame, launch, entry, first, entered: 0, calls: vec![] };
            all.entry((entry, key)).or_insert_with(new).calls.push((places[row], active));
        }
        Ok(())
    })?;
    let known = |((_, key), s): ((u64, Key), Subgroup)| Subgroup { entered: entered[&key], ..s };
    Ok(all.into_iter().map(known).collect())
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::rays::events::model::Model;
    use crate::report::text;

    #[test]
    fn the_report_is_printed_as_it_was() {
        let made = Model { width: 16, height: 8, bounces: 3, ..Model::SMALL }.trace(true);
        let text = text::render(&QUESTION.answer(&made.memory()).unwrap());
        crate::report::printed::hold("shaders/paths/rays_printed.txt", &text);
    }

    /// As many rays as the model began; every invocation has a path.
    #[test]
    fn every_ray_is_a_bit_of_a_path() {
        let made = Model::SMALL.trace(true);
        let all = read(&made.memory()).unwrap();
        let rays: u32 = all.iter().flat_map(|s| &s.calls).map(|c| c.1.count_ones()).sum();
        assert_eq!(u64::from(rays), made.counts.events[0] + made.counts.events[1]);
        let of_generation: u32 = all.iter().filter(|s| s.entry == 0).map(|s| s.entered.count_ones()).sum();
        assert_eq!(of_generation, 48 * 32);
        assert!(read(&trace::Memory::default()).unwrap().is_empty());
    }
}
