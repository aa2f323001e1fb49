//! Pass `uniformity`: whether the conditions of branches, the addresses of loads and the values that these give are the
//! same for all active invocations of a subgroup (Neubauer 2019, sections 3.6 and 3.7: read the first lane's value,
//! compare, ballot). A static analysis ([`crate::spirv::uniform`]) says beside it what could have been known before; what
//! it says is measured too, so that every run checks it.
//!
//! Sites. `branch`: the selector of each conditional branch and switch. `address`: of each load, the indices that are no
//! constants, descriptor indices among them, and physical pointers; of each image operation its coordinates, level,
//! offset, sample. `value`: what comes back, word by word, so that equal means equal bits (not-a-numbers too). Loads of
//! an invocation's own variables and of the stage's inputs are left out (compilers keep these in registers), except own
//! arrays at an index that is no constant; `sites=all` takes them in.
//!
//! Three counters a site: executions by subgroups, those in which some invocation differed from the first, and the
//! invocations that were there then. Helper invocations neither count nor are compared with.
//!
//! Not measured, and listed with the reason: constant addresses, addresses behind a function's parameter, handles, values
//! of more than 64 words, numbers in uncommon formats. `skip=static` leaves out what the analysis proved; then
//! nothing checks it.

use super::loads::{Class, Defs, Emitter, Load, loads, text_of, words_of_text};
use crate::pass::{Change, Error, FrameData, Result, Sink};
use crate::rewrite::{Probes, Shader, Site};
use crate::spirv::uniform::Uniformity;
use crate::spirv::{Inst, Op, Operand, Place};
use crate::{Needs, Stage};
use std::collections::{BTreeMap, HashSet};
use std::sync::Mutex;
use trace::Value;

static PROBES: Probes = crate::probes!("uniformity");

/// Counters of a site.
const COUNTERS: u32 = 3;

/// What kinds of site there are, by [`Site::kind`].
const KINDS: [&str; 3] = ["branch", "address", "value"];
const BRANCH: u32 = 0;
const ADDRESS: u32 = 1;
const VALUE: u32 = 2;

/// Why sites are not measured.
const CONSTANT: &str = "the address is constant";
const HIDDEN: &str = "the address is behind a function's parameter";
const PROVEN: &str = "it is proven, and skip=static was asked for";

/// See the module's header.
#[derive(Default)]
pub struct Pass {
    skip_static: bool,
    all: bool,
    /// Entry points whose sites are in the trace already.
    said: Mutex<HashSet<u32>>,
}

impl Pass {
    /// With its options, colons between them.
    pub fn new(options: &[String]) -> std::result::Result<Self, String> {
        let mut pass = Pass::default();
        for option in options {
            match option.as_str() {
                "skip=static" => pass.skip_static = true,
                "skip=none" => pass.skip_static = false,
                "sites=all" => pass.all = true,
                "sites=memory" => pass.all = false,
                other => {
                    return Err(format!(
                        "pass uniformity knows skip=static, skip=none, sites=memory and sites=all; {other:?} was given"
                    ));
                }
            }
        }
        Ok(pass)
    }
}

/// What a site is made of before its probe is put in.
struct Found {
    function: u32,
    block: u32,
    word_offset: u32,
    kind: u32,
    /// Where the probe goes: function, place.
    at: (usize, Place),
    /// The values, and their types.
    values: Vec<(u32, u32)>,
    proven: bool,
    class: &'static str,
    name: String,
    /// Why nothing is measured.
    unmeasured: &'static str,
}

impl crate::Pass for Pass {
    fn name(&self) -> &'static str {
        "uniformity"
    }

    fn key(&self) -> String {
        format!("uniformity 1 {} {}", self.skip_static, self.all)
    }

    fn needs(&self, _: Stage) -> Option<Needs> {
        Some(Needs { subgroups: true, ..Needs::default() })
    }

    fn run(&self, shader: &mut Shader) -> Result<Change> {
        let wrong = Error::shader(shader.hash);
        let original = shader.original.clone();
        let uniformity = Uniformity::of(&original, &shader.entry).map_err(&wrong)?;
        let defs = Defs::of(&original);
        let proves = |shader: &Shader, function: u32, block: u32, ids: &[u32]| {
            let id = shader.facts.functions[function as usize].id;
            let of = original.function(id);
            of.is_some_and(|f| ids.iter().all(|&id| uniformity.is_uniform(id, f, block as usize)))
        };
        let mut found = Vec::new();
        for l in loads(shader, &defs) {
            if !self.all && matches!(l.class, Class::Input | Class::Own) {
                continue;
            }
            found.push(address(&l, &defs, proves(shader, l.function, l.block, &l.address.depends)));
            if l.class != Class::Handle {
                let proven = proves(shader, l.function, l.block, &[l.result]);
                found.push(site(&l, VALUE, vec![(l.result, l.ty)], proven));
            }
        }
        for (function, block) in shader.blocks() {
            let proves = |id| proves(shader, function, block, &[id]);
            found.extend(branch(shader, &defs, function, block, &proves));
        }
        if found.is_empty() {
            return Ok(Change::Unchanged);
        }
        found.sort_by_key(|s| (s.function, s.block, s.word_offset, s.kind));
        self.put(shader, &defs, found).map_err(&wrong)?;
        Ok(Change::Changed)
    }

    fn decode(&self, frame: &FrameData<'_>, out: &mut dyn Sink) -> Result<()> {
        for e in &frame.entries {
            let new = self.said.lock().expect("nobody panics with it").insert(e.entry);
            for (number, site) in e.region.sites.iter().enumerate() {
                if new {
                    say(e.entry, number, site, out);
                }
                let Some(first) = site.counter else { continue };
                let counters = &e.counters[first as usize..][..COUNTERS as usize];
                if counters[0] != 0 {
                    let row = [frame.frame, e.entry.into(), number as u64].into_iter();
                    let row: Vec<_> = row.chain(counters.iter().copied()).map(Value::U64).collect();
                    out.put(&trace::tables::UNIFORMITY, &row);
                }
            }
        }
        Ok(())
    }
}

/// A row of what is known before anything runs.
fn say(entry: u32, number: usize, site: &Site, out: &mut dyn Sink) {
    let texts = text_of(&site.data[1..]);
    let mut texts = texts.split('\n');
    let [class, unmeasured, name] = [(); 3].map(|()| texts.next().unwrap_or_default());
    let line = site.line.as_ref();
    let numbers = [entry, number as u32, site.function, site.block, site.word_offset];
    let rest = [
        Value::Text(KINDS.get(site.kind as usize).copied().unwrap_or_default()),
        Value::Text(class),
        Value::Text(name),
        Value::U64(site.data[0].into()),
        Value::Text(unmeasured),
        Value::Text(line.map_or("", |l| &l.file)),
        Value::U64(line.map_or(0, |l| l.line.into())),
    ];
    let row: Vec<_> = numbers.into_iter().map(|n| Value::U64(n.into())).chain(rest).collect();
    out.put(&trace::tables::UNIFORMITY_SITES, &row);
}

fn site(l: &Load, kind: u32, values: Vec<(u32, u32)>, proven: bool) -> Found {
    let (f, block, n) = l.at;
    Found {
        function: l.function,
        block: l.block,
        word_offset: l.word_offset,
        kind,
        at: (f, Place { block, before: n + 1 }),
        values,
        proven,
        class: l.class.name(),
        name: l.name.clone(),
        unmeasured: "",
    }
}

fn address(l: &Load, defs: &Defs, proven: bool) -> Found {
    let of = |id: &u32| Some((*id, defs.get(*id)?.inst.result_type?));
    let mut s = site(l, ADDRESS, l.address.parts.iter().filter_map(of).collect(), proven);
    if l.address.hidden {
        s.unmeasured = HIDDEN;
    } else if s.values.is_empty() {
        s.unmeasured = CONSTANT;
    }
    s
}

fn branch(
    shader: &Shader,
    defs: &Defs,
    function: u32,
    block: u32,
    proves: &dyn Fn(u32) -> bool,
) -> Option<Found> {
    let (f, b) = shader.block(function, block);
    let of = &shader.module.functions[f];
    let end = of.blocks[b].end();
    if !matches!(end.op(), Op::BranchConditional | Op::Switch) {
        return None;
    }
    let (on, word_offset) = (end.id_at(0)?, end.at?);
    Some(Found {
        function,
        block,
        word_offset,
        kind: BRANCH,
        at: (f, Place::end(of, b)),
        values: vec![(on, defs.get(on)?.inst.result_type?)],
        proven: proves(on),
        class: "control",
        name: format!("{:?}", end.op()),
        unmeasured: "",
    })
}

/// The probe functions.
struct Functions {
    differs: u32,
    differs_1: u32,
    count: u32,
}

impl Pass {
    /// Puts the probes in, and notes the sites.
    fn put(&self, shader: &mut Shader, defs: &Defs, found: Vec<Found>) -> crate::spirv::Result<()> {
        let functions = Functions {
            differs: shader.import(&PROBES, "uniformity_differs")?,
            differs_1: shader.import(&PROBES, "uniformity_differs_1")?,
            count: shader.import(&PROBES, "uniformity_count")?,
        };
        let mut at: BTreeMap<usize, Vec<(Place, Vec<Inst>)>> = BTreeMap::new();
        for mut s in found {
            let (mut insts, mut words) = (Vec::new(), Vec::new());
            if s.unmeasured.is_empty() && self.skip_static && s.proven {
                s.unmeasured = PROVEN;
            }
            for &(value, ty) in s.values.iter().filter(|_| s.unmeasured.is_empty()) {
                match (Emitter { shader, defs }).words(value, ty, &mut insts) {
                    Ok(more) => words.extend(more.into_iter().map(|w| w.id)),
                    Err(why) => {
                        s.unmeasured = why;
                        break;
                    }
                }
            }
            let mut in_region = None;
            if s.unmeasured.is_empty() {
                let (counter, number) = shader.reserve_counters(COUNTERS)?;
                differ(shader, &functions, counter, &words, &mut insts);
                at.entry(s.at.0).or_default().push((s.at.1, insts));
                in_region = Some(number);
            }
            let mut data = vec![u32::from(s.proven)];
            data.extend(words_of_text(&format!("{}\n{}\n{}", s.class, s.unmeasured, s.name)));
            shader.site(Site {
                function: s.function,
                block: s.block,
                word_offset: s.word_offset,
                line: shader.line_of_block(s.function, s.block),
                kind: s.kind,
                counter: in_region,
                probe: None,
                each: None,
                data,
            });
        }
        for (f, insts) in at {
            shader.module.functions[f].insert(insts);
        }
        Ok(())
    }
}

/// Compares words with the first invocation's, four at a time, and counts.
fn differ(shader: &mut Shader, probes: &Functions, counter: u32, words: &[u32], insts: &mut Vec<Inst>) {
    let truth = shader.types.bool(&mut shader.module);
    let vector = shader.types.uvec(&mut shader.module, 4);
    let mut differs = None;
    for chunk in words.chunks(4) {
        let (call, result) = if let [word] = chunk {
            shader.call_for(probes.differs_1, truth, &[*word])
        } else {
            // What is missing to four is the last once more.
            let last = *chunk.last().expect("chunks are not empty");
            let padded = chunk.iter().copied().chain(std::iter::repeat(last)).take(4);
            let id = shader.module.fresh();
            let operands = padded.map(Operand::IdRef).collect();
            insts.push(Inst::new(Op::CompositeConstruct, Some(vector), Some(id), operands));
            shader.call_for(probes.differs, truth, &[id])
        };
        insts.push(call);
        differs = Some(match differs {
            None => result,
            Some(before) => {
                let id = shader.module.fresh();
                let operands = vec![Operand::IdRef(before), Operand::IdRef(result)];
                insts.push(Inst::new(Op::LogicalOr, Some(truth), Some(id), operands));
                id
            }
        });
    }
    if let Some(differs) = differs {
        let counter = shader.constant(counter);
        insts.push(shader.call(probes.count, &[counter, differs]));
    }
}

#[cfg(test)]
mod tests;
