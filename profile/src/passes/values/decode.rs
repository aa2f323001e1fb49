//! From counters to records.
//!
//! An action's counter of a site holds two words: every bit that was 1 in some value, and every bit that was 0 in some. If
//! they are each other's complement, the action saw one value, the first word; if both are zero, none; else several.

use crate::pass::{FrameData, Sink};
use crate::passes::loads::text_of;
use crate::rewrite::Site;
use std::collections::{BTreeMap, HashSet};
use trace::Value;
use trace::tables::{VALUE_CHANGES, VALUE_REGISTERS, VALUE_SITES, VALUES, VALUES_SEEN};

/// Counters before the registers: executions, zeros, overflow. As in `probes/values.glsl`.
pub(super) const HEAD: u32 = 3;
/// Registers of HyperLogLog, two in a counter.
pub(super) const REGISTERS: u32 = 256;

fn numbers(row: impl IntoIterator<Item = u64>) -> Vec<Value<'static>> {
    row.into_iter().map(Value::U64).collect()
}

fn say(entry: u32, number: u64, site: &Site, out: &mut dyn Sink) {
    let texts = text_of(&site.data[1..]);
    let mut texts = texts.split('\n');
    let [class, kind, name] = [(); 3].map(|()| texts.next().unwrap_or_default());
    let line = site.line.as_ref();
    let mut row =
        numbers([entry.into(), number, site.function.into(), site.block.into(), site.word_offset.into()]);
    row.extend([Value::Text(class), Value::Text(kind), Value::Text(name)]);
    row.push(Value::Text(line.map_or("", |l| &l.file)));
    row.push(Value::U64(line.map_or(0, |l| l.line.into())));
    out.put(&VALUE_SITES, &row);
}

/// What each site, which has this many counters, saw in the frame. Sites of entry points that are not `said` yet are said.
pub(super) fn sites(counters: u32, said: &mut HashSet<u32>, frame: &FrameData<'_>, out: &mut dyn Sink) {
    for e in &frame.entries {
        let new = said.insert(e.entry);
        for (number, site) in e.region.sites.iter().enumerate() {
            let number = number as u64;
            if new {
                say(e.entry, number, site, out);
            }
            let first = site.counter.expect("each has its counters") as usize;
            let of = &e.counters[first..][..counters as usize];
            let place = [frame.frame, e.entry.into(), number];
            let [executions, zeros, overflow] = [of[0], of[1], of[2]];
            if executions == 0 {
                continue;
            }
            out.put(&VALUES, &numbers(place.into_iter().chain([executions, zeros, overflow])));
            let (registers, slots) = of[HEAD as usize..].split_at(REGISTERS as usize / 2);
            for pair in slots.chunks_exact(2).filter(|pair| pair[1] != 0) {
                out.put(&VALUES_SEEN, &numbers(place.into_iter().chain([pair[0] & 0xffff_ffff, pair[1]])));
            }
            // Where nothing overflowed the slots say it all.
            if overflow == 0 {
                continue;
            }
            for (n, both) in registers.iter().enumerate() {
                for (k, rank) in [both & 0xffff_ffff, both >> 32].into_iter().enumerate() {
                    if rank != 0 {
                        let register = (2 * n + k) as u64;
                        out.put(&VALUE_REGISTERS, &numbers(place.into_iter().chain([register, rank])));
                    }
                }
            }
        }
    }
}

/// What an action saw at a site.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Seen {
    Nothing,
    One(u32),
    Several,
}

pub(super) fn seen(counter: u64) -> Seen {
    let (ones, zeros) = (counter as u32, (counter >> 32) as u32);
    match (ones, zeros) {
        (0, 0) => Seen::Nothing,
        (ones, zeros) if ones == !zeros => Seen::One(ones),
        _ => Seen::Several,
    }
}

/// How often values changed from one action to the next of the same entry point in one recording of a command buffer.
/// Actions in which a place was not come by are passed over.
pub(super) fn changes(frame: &FrameData<'_>, out: &mut dyn Sink) {
    let mut order: Vec<_> = frame.actions.iter().collect();
    order.sort_by_key(|a| (a.entry, a.range, a.result_index, a.result_sub_index));
    // (entry, site) -> actions, pairs, changes, unknown, and the last action's range and value.
    type Count = ([u64; 4], Option<(u64, Seen)>);
    let mut counts: BTreeMap<(usize, usize), Count> = BTreeMap::new();
    for a in order {
        for (number, site) in frame.entries[a.entry].region.sites.iter().enumerate() {
            let Some(&counter) = a.counters.get(site.data[0] as usize) else { continue };
            let now = seen(counter);
            if now == Seen::Nothing {
                continue;
            }
            let (count, before) = counts.entry((a.entry, number)).or_default();
            count[0] += 1;
            if let Some((range, value)) = before.replace((a.range, now))
                && range == a.range
            {
                count[1] += 1;
                match (value, now) {
                    (Seen::One(a), Seen::One(b)) => count[2] += u64::from(a != b),
                    _ => count[3] += 1,
                }
            }
        }
    }
    for ((entry, site), (count, _)) in counts {
        let place = [frame.frame, frame.entries[entry].entry.into(), site as u64];
        out.put(&VALUE_CHANGES, &numbers(place.into_iter().chain(count)));
    }
}
