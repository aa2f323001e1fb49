//! From what was read back to records: the log taken apart, counters handed to the passes they belong to.
//!
//! Guarantees: every word of a whole log is accounted for: one that is no record of a probe is an error that says where.

use super::per_action::Counted;
use super::plan::{Done, Entry};
use crate::hooks::actions::Recording;
use crate::rewrite::{Region, Site, Variant};
use crate::{ActionData, At, EachRecord, EntryData, FrameData, LogRecord, Pass, Sink};
use std::borrow::Cow;
use std::fmt;
use std::ops::Range;
use trace::tables::SAMPLED;
use trace::{Table, Value};

/// What a frame's probes left behind, as it was read back.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Raw {
    /// The capture's number of the frame.
    pub frame: u64,
    /// Subgroups that got a number so far.
    pub subgroups: u32,
    /// Counters by entry; `None` where the entry's device was not there.
    pub counters: Vec<Option<Vec<u64>>>,
    /// The log, of all devices.
    pub words: Vec<u32>,
    /// Where each part of it begins: each device's, and each window's where the frame ran again.
    pub parts: Vec<usize>,
    /// Launches in the order of submission, where a pass asks for them.
    pub launches: Vec<crate::Launch>,
    /// Words that probes wanted to append.
    pub wanted: u64,
    /// Those of them that did not fit: then `words` is not to be read.
    pub lost: u64,
    /// Recordings of command buffers that were executed, where a pass counts by action.
    pub recordings: Vec<Recording>,
    /// What actions counted.
    pub actions: Vec<Counted>,
    /// Width and height of what was presented first.
    pub size: (u32, u32),
}

/// Why what was read back could not be turned into records.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Undecoded {
    /// The frame.
    pub frame: u64,
    /// The pass, where it was one that found it.
    pub pass: Option<&'static str>,
    /// What is wrong.
    pub error: crate::Error,
}

impl fmt::Display for Undecoded {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self.pass {
            Some(pass) => write!(f, "frame {}, pass {pass}: {}", self.frame, self.error),
            None => write!(f, "frame {}: {}", self.frame, self.error),
        }
    }
}

impl std::error::Error for Undecoded {}

/// Where a probe's records belong.
#[derive(Clone, Copy)]
struct ProbeSite<'a> {
    region: usize,
    site: &'a Site,
    words: usize,
}

impl ProbeSite<'_> {
    /// How many words a record has, of which these are those behind its number.
    fn words(&self, record: &[u32]) -> usize {
        let Some((mask, each)) = self.site.each else { return self.words };
        let invocations: u32 = record.iter().take(mask as usize).map(|w| w.count_ones()).sum();
        self.words + (each * invocations) as usize
    }
}

/// A variant's probes, by number.
fn probes(e: &Entry) -> Vec<Option<ProbeSite<'_>>> {
    let mut out = vec![None; e.variant.probes as usize];
    for (region, r) in e.variant.regions.iter().enumerate() {
        for site in &r.sites {
            if let Some((n, words)) = site.probe
                && let Some(slot) = out.get_mut(n as usize)
            {
                *slot = Some(ProbeSite { region, site, words: words as usize });
            }
        }
    }
    out
}

struct Record<'a> {
    entry: usize,
    region: usize,
    record: LogRecord<'a>,
}

/// Takes a log apart: every record goes to a function.
fn walk<'a>(
    words: &'a [u32],
    done: &'a Done,
    each: &mut dyn FnMut(usize, Record<'a>) -> Result<(), crate::Error>,
) -> Result<(), crate::Error> {
    let mut by_variant: Vec<Option<Vec<Option<ProbeSite<'a>>>>> = Vec::new();
    by_variant.resize_with(done.variants.len(), || None);
    // (most records are of an entry point that the last ones are of)
    let mut last = (0..0, 0);
    let mut at = 0;
    while at < words.len() {
        let wrong = |why: String| crate::Error::Record { word_offset: at, why };
        let probe = words[at];
        if !last.0.contains(&probe) {
            let Some(entry) = done.of_probe(probe) else {
                return Err(wrong(format!("probe {probe} was never placed")));
            };
            let e = &done.entries[entry];
            last = (e.probe_base..e.probe_base + e.variant.probes, entry);
        }
        let entry = last.1;
        let e = &done.entries[entry];
        let known = by_variant[e.variant_number as usize].get_or_insert_with(|| probes(e));
        let local = probe - e.probe_base;
        let Some(p) = known[local as usize] else {
            return Err(wrong(format!("probe {local} of entry {entry} has no site")));
        };
        let n = p.words(&words[at + 1..]);
        let Some(rest) = words.get(at + 1..at + 1 + n) else {
            let left = words.len() - at - 1;
            return Err(wrong(format!("a record of {n} words ends after {left}")));
        };
        each(at, Record { entry, region: p.region, record: LogRecord { entry, site: p.site, words: rest } })?;
        at += 1 + n;
    }
    Ok(())
}

/// The records of passes that do not go through the log themselves. Where all do, nobody does.
fn split<'a>(
    passes: &[Box<dyn Pass>],
    words: &'a [u32],
    done: &'a Done,
) -> Result<Vec<Record<'a>>, crate::Error> {
    let mut out = Vec::new();
    let streams: Vec<&str> = passes.iter().filter(|p| p.streams()).map(|p| p.name()).collect();
    if streams.len() == passes.len() {
        return Ok(out);
    }
    walk(words, done, &mut |_, r| {
        if !streams.contains(&done.entries[r.entry].variant.regions[r.region].pass.as_str()) {
            out.push(r);
        }
        Ok(())
    })?;
    Ok(out)
}

/// What actions counted for a pass.
fn actions<'a>(raw: &'a Raw, done: &Done, pass: &str, index: &[Option<usize>]) -> Vec<ActionData<'a>> {
    let of = |c: &'a Counted| {
        let variant = &done.entries[c.entry as usize].variant;
        let region = variant.regions.iter().find(|r| r.pass == pass).filter(|r| r.action_counters > 0)?;
        let first = region.first_action_counter as usize;
        Some(ActionData {
            range: c.range,
            result_index: c.result_index,
            result_sub_index: c.result_sub_index,
            entry: index[c.entry as usize]?,
            counters: &c.counters[first..first + region.action_counters as usize],
        })
    };
    raw.actions.iter().filter_map(of).collect()
}

/// Hands a whole frame to the passes.
pub fn decode(passes: &[Box<dyn Pass>], raw: &Raw, done: &Done, out: &mut dyn Sink) -> Result<(), Undecoded> {
    let undecoded = |pass| move |error| Undecoded { frame: raw.frame, pass, error };
    let records = split(passes, &raw.words, done).map_err(undecoded(None))?;
    for r in &raw.recordings {
        r.put(raw.frame, &mut |table, values| out.put(table, values));
    }
    for pass in passes {
        let mut index = vec![None; done.entries.len()];
        let mut entries = Vec::new();
        for (n, e) in done.entries.iter().enumerate() {
            let region = e.variant.regions.iter().find(|r| r.pass == pass.name());
            let (Some(region), Some(Some(counters))) = (region, raw.counters.get(n)) else { continue };
            index[n] = Some(entries.len());
            entries.push(EntryData {
                entry: n as u32,
                pipeline: e.pipeline,
                variant: &e.variant,
                region,
                counters: estimated(counters, &e.variant, region, 0..u32::MAX),
            });
        }
        let of_pass = |r: &&Record<'_>| {
            done.entries[r.entry].variant.regions[r.region].pass == pass.name() && index[r.entry].is_some()
        };
        let records = records
            .iter()
            .filter(of_pass)
            .map(|r| LogRecord { entry: index[r.entry].expect("just asked"), ..r.record })
            .collect();
        let log = |f: &mut EachRecord<'_>| {
            let mut part = 0;
            walk(&raw.words, done, &mut |at, r| {
                while raw.parts.get(part + 1).is_some_and(|next| *next <= at) {
                    part += 1;
                }
                match index[r.entry] {
                    Some(entry) if done.entries[r.entry].variant.regions[r.region].pass == pass.name() => {
                        let begin = raw.parts.get(part).copied().unwrap_or(0);
                        let at = At { part: part as u32, word: (at + 1 - begin) as u32 };
                        f(at, LogRecord { entry, ..r.record })
                    }
                    _ => Ok(()),
                }
            })
        };
        let data = FrameData {
            frame: raw.frame,
            subgroup_size: done.subgroup_size,
            entries,
            records,
            log: pass.streams().then_some(&log),
            actions: actions(raw, done, pass.name(), &index),
            launches: &raw.launches,
        };
        pass.decode(&data, out).map_err(undecoded(Some(pass.name())))?;
        groups(&**pass, &data, raw, out).map_err(undecoded(Some(pass.name())))?;
    }
    Ok(())
}

/// What all of an entry point's work would have counted, by some groups of its sample; everything that was counted of one that
/// counts everything.
fn estimated<'a>(raw: &'a [u64], v: &Variant, region: &Region, groups: Range<u32>) -> Cow<'a, [u64]> {
    let part = |group: u32| {
        let first = (group * v.counters + region.first_counter) as usize;
        &raw[first..first + region.counters as usize]
    };
    let Some(sample) = v.sample else { return Cow::Borrowed(part(0)) };
    let mut sums = vec![0u64; region.counters as usize];
    for group in groups.start..groups.end.min(sample.groups) {
        sums.iter_mut().zip(part(group)).for_each(|(sum, n)| *sum = sum.wrapping_add(*n));
    }
    sums.iter_mut().for_each(|n| *n = n.wrapping_mul(sample.every.into()));
    Cow::Owned(sums)
}

/// Hands each group of the samples to a pass by itself, whose rows then go to the tables of groups.
fn groups(pass: &dyn Pass, all: &FrameData<'_>, raw: &Raw, out: &mut dyn Sink) -> crate::Result<()> {
    let sampled = || all.entries.iter().filter_map(|e| Some((e, e.variant.sample?)));
    for group in 0..sampled().map(|(_, s)| s.groups).max().unwrap_or(0) {
        let mut entries = Vec::new();
        for (e, _) in sampled().filter(|(_, s)| group < s.groups) {
            if let Some(Some(counters)) = raw.counters.get(e.entry as usize) {
                let counters = estimated(counters, e.variant, e.region, group..group + 1);
                entries.push(EntryData { counters, ..*e });
            }
        }
        let (frame, subgroup_size) = (all.frame, all.subgroup_size);
        let data = FrameData { frame, subgroup_size, entries, ..FrameData::default() };
        pass.decode(&data, &mut OfGroup(group, out))?;
    }
    Ok(())
}

/// What is recorded of a group.
struct OfGroup<'o>(u32, &'o mut dyn Sink);

impl Sink for OfGroup<'_> {
    fn put(&mut self, table: &'static Table, values: &[Value<'_>]) {
        if let Some(s) = SAMPLED.iter().find(|s| s.of.name == table.name) {
            self.1.put(s.groups, &[&[Value::U64(self.0.into())], values].concat());
        }
    }
}

#[cfg(test)]
mod tests {
    use super::super::plan::Kind;
    use super::*;
    use crate::rewrite::{Constants, Facts, Key};
    use crate::{Change, Needs, Result, ShaderHash, Stage};
    use rspirv::spirv::ExecutionModel;
    use std::cell::RefCell;
    use std::sync::Arc;

    struct Nowhere;

    impl Sink for Nowhere {
        fn put(&mut self, _: &'static Table, _: &[Value<'_>]) {}
    }

    type SeenData = (Vec<(u32, Vec<u64>)>, Vec<(usize, u32, Vec<u32>)>);

    /// Notes what it is given.
    struct Notes(&'static str, std::sync::Mutex<RefCell<SeenData>>);

    impl Pass for Notes {
        fn name(&self) -> &'static str {
            self.0
        }
        fn needs(&self, _: Stage) -> Option<Needs> {
            Some(Needs::default())
        }
        fn run(&self, _: &mut crate::rewrite::Shader) -> Result<Change> {
            Ok(Change::Unchanged)
        }
        fn decode(&self, frame: &FrameData<'_>, _: &mut dyn Sink) -> Result<()> {
            let seen = self.1.lock().expect("one thread");
            let mut seen = seen.borrow_mut();
            seen.0.extend(frame.entries.iter().map(|e| (e.entry, e.counters.to_vec())));
            seen.1.extend(frame.records.iter().map(|r| (r.entry, r.site.kind, r.words.to_vec())));
            Ok(())
        }
    }

    fn site(kind: u32, probe: Option<(u32, u32)>) -> Site {
        Site {
            function: 0,
            block: 0,
            word_offset: 0,
            line: None,
            kind,
            counter: None,
            probe,
            each: None,
            data: vec![],
        }
    }

    fn entry(variant_number: u32, probe_base: u32, counters: u32, regions: Vec<Region>) -> Entry {
        let probes = regions.iter().flat_map(|r| &r.sites).filter(|s| s.probe.is_some()).count() as u32;
        let variant = Variant {
            shader: ShaderHash([variant_number as u8; 32]),
            name: "main".into(),
            stage: Stage::Compute,
            words: vec![],
            constants: Constants {
                region: [0, 1],
                log: [2, 3],
                probe_base: 4,
                action_base: 5,
                elsewhere: None,
            },
            counters,
            sample: None,
            replays: 1,
            action_counters: 0,
            action_offset: None,
            given_offset: None,
            notes: vec![],
            probes,
            regions,
            left_out: vec![],
            not_by_action: None,
            facts: Facts::default(),
        };
        let (pipeline, kind) = (7, Kind::Compute);
        Entry {
            pipeline,
            kind,
            index: 0,
            variant_number,
            variant: Arc::new(variant),
            probe_base,
            action_base: 0,
        }
    }

    fn done() -> Done {
        let region = |pass: &str, first_counter, counters, sites| Region {
            pass: pass.into(),
            first_counter,
            counters,
            first_action_counter: 0,
            action_counters: 0,
            sites,
        };
        let a = |sites| region("a", 0, 2, sites);
        let mut done = Done { subgroup_size: 8, ..Done::default() };
        // Two entries of one variant, one without probes between others.
        done.entries = vec![
            entry(
                0,
                1,
                3,
                vec![a(vec![site(1, Some((0, 2)))]), region("b", 2, 1, vec![site(2, Some((1, 0)))])],
            ),
            entry(1, 3, 2, vec![a(vec![site(9, None)])]),
            entry(
                0,
                3,
                3,
                vec![a(vec![site(1, Some((0, 2)))]), region("b", 2, 1, vec![site(2, Some((1, 0)))])],
            ),
        ];
        for n in 0..2u8 {
            let key = Key {
                shader: ShaderHash([n; 32]),
                model: ExecutionModel::GLCompute,
                name: "main".into(),
                actions: true,
                replay: 0,
            };
            done.variants.insert(key, (n.into(), Arc::from([])));
        }
        done
    }

    fn run(raw: &Raw) -> std::result::Result<[SeenData; 2], Undecoded> {
        let made = |name| Notes(name, std::sync::Mutex::default());
        let passes: [Arc<Notes>; 2] = [Arc::new(made("a")), Arc::new(made("b"))];
        struct Shared(Arc<Notes>);
        impl Pass for Shared {
            fn name(&self) -> &'static str {
                self.0.name()
            }
            fn needs(&self, s: Stage) -> Option<Needs> {
                self.0.needs(s)
            }
            fn run(&self, s: &mut crate::rewrite::Shader) -> Result<Change> {
                self.0.run(s)
            }
            fn decode(&self, f: &FrameData<'_>, o: &mut dyn Sink) -> Result<()> {
                self.0.decode(f, o)
            }
        }
        let boxed: Vec<Box<dyn Pass>> =
            passes.iter().map(|p| Box::new(Shared(p.clone())) as Box<dyn Pass>).collect();
        decode(&boxed, raw, &done(), &mut Nowhere)?;
        Ok(passes.map(|p| p.1.lock().expect("one thread").take()))
    }

    #[test]
    fn counters_and_records_go_to_their_passes() {
        let counters = vec![Some(vec![1, 2, 3]), Some(vec![4, 5]), Some(vec![6, 7, 8])];
        let words = vec![3, 50, 51, 1, 60, 61, 2, 4];
        let [a, b] = run(&Raw { frame: 5, counters, words, ..Raw::default() }).expect("all known");
        assert_eq!(a.0, [(0, vec![1, 2]), (1, vec![4, 5]), (2, vec![6, 7])]);
        assert_eq!(a.1, [(2, 1, vec![50, 51]), (0, 1, vec![60, 61])]);
        assert_eq!(b.0, [(0, vec![3]), (2, vec![8])]);
        // Entry 2 is the second of those that pass b changed.
        assert_eq!(b.1, [(0, 2, vec![]), (1, 2, vec![])]);
    }

    #[test]
    fn what_is_no_record_says_where() {
        let raw = |words| Raw { frame: 5, words, ..Raw::default() };
        let wrong = run(&raw(vec![2, 9])).expect_err("there is no probe 9");
        assert_eq!(wrong.to_string(), "frame 5: record at word 1: probe 9 was never placed");
        let wrong = run(&raw(vec![0])).expect_err("memory that nobody wrote");
        assert_eq!(wrong.to_string(), "frame 5: record at word 0: probe 0 was never placed");
        let wrong = run(&raw(vec![2, 1, 0])).expect_err("cut off");
        assert_eq!(wrong.to_string(), "frame 5: record at word 1: a record of 2 words ends after 1");
    }
}
