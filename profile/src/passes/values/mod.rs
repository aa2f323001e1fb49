//! Pass `values`: which values the places where memory is read see: executions, zeros, distinct values, the most frequent
//! with their counts, and how often a value changes from one action of a pipeline to the next (Cheung 2022, section 4.5.2;
//! Neubauer 2019, section 3.2.4; top-N after Calder et al. 1997).
//!
//! A site is one 32-bit word of what a load gives: a component of a vector, a column's component of a matrix; of 64-bit
//! numbers each half; half floats as floats. Loads through one access path at several places are several sites.
//! Which loads: `sites=uniform|push|storage|texture` (all four without the option), any of them with `|` between.
//!
//! Memory is bounded: a site has `slots` pairs of a value and its count (`slots=64`, a power of two up to 4096), filled in
//! the order of arrival, found by hashing, 16 tries; executions of values that found no slot are counted as *overflow*.
//! Without overflow everything is exact. With it, the values that have slots have exact counts, others none (a value that
//! is frequent finds a slot early, unless it comes up late); how many distinct values there are is then estimated by
//! HyperLogLog with 256 registers (standard error 6.5 %). Zero has a counter of its own and is in neither.
//!
//! Subgroups count together: one invocation for all that have its value, value by value; exact, whatever the values.
//! Helper invocations do not count.
//!
//! Changes from action to action are followed for uniform blocks and push constants: each action keeps which bits of a word
//! were ever 1 and ever 0 ([`decode`]), so that it is known whether it saw one value only, and which. That is one counter (8
//! bytes) a place and action, and takes the top of the push constants: where a pipeline's own leave no room for the
//! action's address, places are not followed, and `changes=no` follows none. Then changes are known from frame to frame
//! only.

mod decode;

use super::loads::{Class, Defs, Emitter, loads, words_of_text};
use crate::pass::{Change, Error, FrameData, Result, Sink};
use crate::rewrite::{Probes, Shader, Site};
use crate::spirv::{self, Inst, Op, Operand, Place};
use crate::{Needs, Stage};
use decode::{HEAD, REGISTERS};
use rspirv::spirv::StorageClass;
use std::collections::{BTreeMap, HashSet};
use std::sync::Mutex;

static PROBES: Probes = crate::probes!("values");

/// See the module's header.
pub struct Pass {
    slots: u32,
    classes: Vec<Class>,
    changes: bool,
    /// Entry points whose sites are in the trace already.
    said: Mutex<HashSet<u32>>,
}

const CLASSES: [Class; 4] = [Class::Uniform, Class::Push, Class::Storage, Class::Texture];

impl Pass {
    /// With its options, colons between them.
    pub fn new(options: &[String]) -> std::result::Result<Self, String> {
        let mut pass = Pass { slots: 64, classes: CLASSES.to_vec(), changes: true, said: Mutex::default() };
        for option in options {
            let (key, value) = option.split_once('=').unwrap_or((option.as_str(), ""));
            match key {
                "slots" => {
                    let slots = value.parse().ok().filter(|n: &u32| n.is_power_of_two() && *n <= 4096);
                    pass.slots = slots.ok_or_else(|| {
                        format!("slots={value}: pass values has a power of two, at most 4096, of slots")
                    })?;
                }
                "sites" => {
                    let of = |name: &str| {
                        CLASSES.into_iter().find(|c| c.name() == name).ok_or_else(|| {
                            format!("sites={value}: pass values knows uniform, push, storage and texture")
                        })
                    };
                    pass.classes = value.split('|').map(of).collect::<std::result::Result<_, _>>()?;
                }
                "changes" if matches!(value, "yes" | "no") => pass.changes = value == "yes",
                _ => {
                    return Err(format!(
                        "pass values knows slots=N, sites=uniform|push|storage|texture and changes=yes|no; {option:?} \
                         was given"
                    ));
                }
            }
        }
        Ok(pass)
    }

    /// Counters of a site.
    fn counters(&self) -> u32 {
        HEAD + REGISTERS / 2 + 2 * self.slots
    }

    fn follows_changes(&self, class: Class) -> bool {
        self.changes && matches!(class, Class::Uniform | Class::Push)
    }
}

impl Pass {
    /// Has a load's words noted, which have their counters one behind the other; several of them in one call.
    fn note(
        &self,
        s: &mut Shader,
        words: &[u32],
        counter: u32,
        in_action: Option<u32>,
        out: &mut Vec<Inst>,
    ) -> spirv::Result<()> {
        let [first, slots] = [counter, self.slots].map(|n| s.constant(n));
        let in_action = in_action.map(|n| s.constant(n));
        if let [word] = *words {
            let f = s.import(&PROBES, "values_here")?;
            out.push(s.call(f, &[first, word, slots]));
            if let Some(counter) = in_action {
                let f = s.import(&PROBES, "values_in_action")?;
                out.push(s.call(f, &[counter, word]));
            }
            return Ok(());
        }
        let f = s.import(&PROBES, "values_of_load")?;
        let array = s.imported.shared("rr_values").expect("the function reads it");
        let uint = s.types.uvec(&mut s.module, 1);
        let pointer = s.types.pointer(&mut s.module, StorageClass::Private, uint);
        for (&word, n) in words.iter().zip(0..) {
            let index = s.constant(n);
            let at = s.module.fresh();
            let operands = [array, index].map(Operand::IdRef).to_vec();
            out.push(Inst::new(Op::AccessChain, Some(pointer), Some(at), operands));
            out.push(Inst::new(Op::Store, None, None, [at, word].map(Operand::IdRef).to_vec()));
        }
        let [stride, n] = [self.counters(), words.len() as u32].map(|n| s.constant(n));
        out.push(s.call(f, &[first, stride, n, slots]));
        if let Some(counter) = in_action {
            let f = s.import(&PROBES, "values_of_load_in_action")?;
            out.push(s.call(f, &[counter, n]));
        }
        Ok(())
    }
}

impl crate::Pass for Pass {
    fn name(&self) -> &'static str {
        "values"
    }

    fn key(&self) -> String {
        let classes: Vec<&str> = self.classes.iter().map(|c| c.name()).collect();
        format!("values 3 {} {} {}", self.slots, classes.join("|"), self.changes)
    }

    fn needs(&self, _: Stage) -> Option<Needs> {
        let actions = CLASSES.iter().any(|c| self.classes.contains(c) && self.follows_changes(*c));
        Some(Needs { subgroups: true, actions, ..Needs::default() })
    }

    fn run(&self, shader: &mut Shader) -> Result<Change> {
        let wrong = Error::shader(shader.hash);
        let original = shader.original.clone();
        let defs = Defs::of(&original);
        let all = loads(shader, &defs);
        let all: Vec<_> = all.into_iter().filter(|l| self.classes.contains(&l.class)).collect();
        if all.is_empty() {
            return Ok(Change::Unchanged);
        }
        let mut at: BTreeMap<usize, Vec<(Place, Vec<Inst>)>> = BTreeMap::new();
        for l in all {
            let mut insts = Vec::new();
            // What has no words is no value that could be looked at; pass uniformity lists those.
            let Ok(words) = (Emitter { shader, defs: &defs }).words(l.result, l.ty, &mut insts) else {
                continue;
            };
            let n = words.len() as u32;
            if n == 0 {
                continue;
            }
            let (counter, in_region) = shader.reserve_counters(n * self.counters()).map_err(&wrong)?;
            let watched = !shader.device.no_actions && self.follows_changes(l.class);
            let in_action = match watched {
                true => Some(shader.reserve_action_counters(n).map_err(&wrong)?),
                false => None,
            };
            let ids: Vec<u32> = words.iter().map(|w| w.id).collect();
            self.note(shader, &ids, counter, in_action.map(|a| a.0), &mut insts).map_err(&wrong)?;
            for (w, i) in words.iter().zip(0..) {
                let mut data = vec![in_action.map_or(u32::MAX, |a| a.1 + i)];
                data.extend(words_of_text(&format!(
                    "{}\n{}\n{}{}",
                    l.class.name(),
                    w.kind,
                    l.name,
                    w.component
                )));
                shader.site(Site {
                    function: l.function,
                    block: l.block,
                    word_offset: l.word_offset,
                    line: shader.line_of_block(l.function, l.block),
                    kind: 0,
                    counter: Some(in_region + i * self.counters()),
                    probe: None,
                    each: None,
                    data,
                });
            }
            let (f, block, before) = l.at;
            at.entry(f).or_default().push((Place { block, before: before + 1 }, insts));
        }
        if at.values().flatten().all(|i| i.1.is_empty()) {
            return Ok(Change::Unchanged);
        }
        for (f, insts) in at {
            shader.module.functions[f].insert(insts);
        }
        Ok(Change::Changed)
    }

    fn decode(&self, frame: &FrameData<'_>, out: &mut dyn Sink) -> Result<()> {
        let mut said = self.said.lock().expect("nobody panics with it");
        decode::sites(self.counters(), &mut said, frame, out);
        decode::changes(frame, out);
        Ok(())
    }
}

#[cfg(test)]
mod tests;
