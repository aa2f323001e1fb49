//! The passes: a folder each, with its rewrite, the tables it records, and its tests.

mod blocks;
mod burn;
mod clock;
pub mod counters;
mod divergence;
pub mod drivers;
mod half_floats;
mod its;
mod lanes;
mod launches;
mod learnt;
mod lifetimes;
mod loads;
mod no_recursion;
mod paths;
mod prune;
mod ray_flags;
mod rays;
mod ser;
mod shader_clock;
mod simt;
mod specialize;
pub mod swizzle;
mod timeline;
mod trivial;
mod uniformity;
mod values;
mod which;
mod wrong;
mod zero_path;

use crate::Pass;
use trace::plan::Use;
use trace::{Table, tables as t};

/// What is known of a pass before it is made.
pub struct Entry {
    /// Its name on the command line.
    pub name: &'static str,
    /// What it measures, in a line.
    pub about: &'static str,
    /// The tables that it fills, beside those that say what was instrumented.
    pub writes: &'static [&'static Table],
    /// Makes it, with its options.
    pub make: fn(&[String]) -> Made,
}

/// A pass, or what is wrong with its options.
pub type Made = Result<Box<dyn Pass>, String>;

/// Every pass there is.
pub static PASSES: &[Entry] = &[
    Entry {
        name: "simt",
        about: "how many invocations of a subgroup are active in each basic block (exact=64, placement=flow, held=16)",
        writes: &[&t::SIMT, &t::SIMT_HELPERS, &t::SIMT_TRACES],
        make: |options| Ok(Box::new(simt::Simt::new(options)?)),
    },
    Entry {
        name: "divergence",
        about: "why invocations of a subgroup are inactive: early return, indirect call, control flow (lanes=64, held=16, leaving=proven)",
        writes: &[&t::DIVERGENCE],
        make: |options| Ok(Box::new(divergence::Divergence::new(options)?)),
    },
    Entry {
        name: "its",
        about: "how often subgroups enter and leave entry points: subgroups that were split",
        writes: &[&t::ITS],
        make: |options| plain(options, its::Its),
    },
    Entry {
        name: "paths",
        about: "which invocations of a subgroup take part in each of its trace calls (lanes=64)",
        writes: &[&t::PATH_SUBGROUPS, &t::PATH_CALLS],
        make: |options| Ok(Box::new(paths::Paths::new(options)?)),
    },
    Entry {
        name: "lifetimes",
        about: "how many basic blocks invocations and subgroups execute",
        writes: &[&t::LIFETIMES, &t::LIFETIME_SUMS],
        make: |options| plain(options, lifetimes::Lifetimes),
    },
    Entry {
        name: "counters",
        about: "how many instructions of each class each draw, dispatch and trace executes in each basic block",
        writes: &[&t::METRICS, &t::ACTIONS, &t::COUNTERS],
        make: |options| Ok(Box::new(counters::Counters::new(options)?)),
    },
    Entry {
        name: "uniformity",
        about: "which branch conditions, addresses and loaded values are alike for a whole subgroup",
        writes: &[&t::UNIFORMITY_SITES, &t::UNIFORMITY],
        make: |options| Ok(Box::new(uniformity::Pass::new(options)?)),
    },
    Entry {
        name: "values",
        about: "which values loads give: how many, which most often, how often zero, how often they change",
        writes: &[&t::VALUE_SITES, &t::VALUES, &t::VALUES_SEEN, &t::VALUE_CHANGES, &t::VALUE_REGISTERS],
        make: |options| Ok(Box::new(values::Pass::new(options)?)),
    },
    Entry {
        name: drivers::REGISTERS,
        about: "what the driver says that it compiled pipelines to: registers, spills, occupancy",
        writes: &[&t::EXECUTABLES],
        make: |options| plain(options, drivers::Driver(drivers::REGISTERS)),
    },
    Entry {
        name: drivers::CALL_COSTS,
        about: "how long the driver takes for calls that record commands and manage descriptors, on the CPU",
        writes: &[&t::CALL_COSTS],
        make: |options| plain(options, drivers::Driver(drivers::CALL_COSTS)),
    },
    Entry {
        name: "swizzle",
        about: "nothing: invocations of launches do each other's work, as files of `rays repack` say (FILE+…)",
        writes: &[],
        make: |options| Ok(Box::new(swizzle::Pass::read(options)?)),
    },
    Entry {
        name: "blocks",
        about: "how often basic blocks and the edges between them are run",
        writes: &[&t::BLOCK_COUNTS, &t::BLOCK_RUNS, &t::EDGE_COUNTS],
        make: |options| Ok(Box::new(blocks::Blocks::new(options)?)),
    },
    Entry {
        name: "timeline",
        about: "when subgroups enter and leave entry points, and where (clock=auto|device|subgroup, sm=auto|yes|no)",
        writes: &[&t::TIMELINE, &t::TIMELINE_EXITS],
        make: |options| Ok(Box::new(timeline::Timeline::new(options)?)),
    },
    Entry {
        name: "shader-clock",
        about: "how long each invocation of ray generation shaders took, and where it began and ended (clock=auto, sm=auto)",
        writes: &[&t::SHADER_CLOCK],
        make: |options| Ok(Box::new(shader_clock::ShaderClock::new(options)?)),
    },
    Entry {
        name: "ser",
        about: "measures nothing: rays of ray generation shaders are traced, invocations reordered, then their hits shaded \
                (reorder=no, hints=instance:4, api=nv|ext)",
        writes: &[],
        make: |options| Ok(Box::new(ser::Ser::new(options)?)),
    },
    Entry {
        name: "rays",
        about: "events of rays and of the subgroups that have them, in every stage (clock=no|auto, sm=auto, lanes=auto)",
        writes: &[&t::RAY_LAUNCHES, &t::RAYS, &t::WARPS],
        make: |options| Ok(Box::new(rays::Rays::new(options)?)),
    },
    Entry {
        name: "prune",
        about: "nothing: blocks that a trace of pass blocks never saw executed become unreachable (TRACE[+TRACE…], frames=A-B)",
        writes: &[],
        make: |options| Ok(Box::new(prune::Pass::new(options)?)),
    },
    Entry {
        name: "specialize",
        about: "nothing: members of uniform blocks that a trace of `bindings` found constant become constants \
                (TRACE[+TRACE…], frames=A-B)",
        writes: &[],
        make: |options| Ok(Box::new(specialize::Pass::new(options)?)),
    },
    Entry {
        name: "zero-path",
        about: "nothing: what depends on loads that a trace of pass values found mostly zero gets a shorter way for zero \
                (TRACE[+TRACE…], frames=A-B, share=90)",
        writes: &[],
        make: |options| Ok(Box::new(zero_path::Pass::new(options)?)),
    },
    Entry {
        name: "ray-flags",
        about: "nothing: rays are traced with more flags (opaque, terminate, cull-back)",
        writes: &[],
        make: |options| Ok(Box::new(ray_flags::RayFlags::new(options)?)),
    },
    Entry {
        name: "no-recursion",
        about: "nothing: hit and miss shaders trace no rays of their own",
        writes: &[],
        make: |options| plain(options, no_recursion::NoRecursion),
    },
    Entry {
        name: "trivial",
        about: "nothing: fragment shaders write constants to their outputs and do nothing else (shader=HASH)",
        writes: &[],
        make: |options| Ok(Box::new(trivial::Trivial::new(options)?)),
    },
    Entry {
        name: "half-floats",
        about: "nothing: arithmetic that is decorated RelaxedPrecision is computed with 16-bit floats (all, stage=NAME, shader=HASH)",
        writes: &[],
        make: |options| Ok(Box::new(half_floats::HalfFloats::new(options)?)),
    },
    Entry {
        name: "burn",
        about: "nothing: chosen shaders take longer, to see whether a slowdown is found (turns=100, shader=HASH, stage=NAME)",
        writes: &[],
        make: |options| Ok(Box::new(burn::Burn::new(options)?)),
    },
];

/// Passes that measure nothing: for tests.
static UNLISTED: &[Entry] = &[Entry {
    name: "wrong",
    about: "fragment, compute and ray-generation shaders do nothing",
    writes: &[],
    make: |options| plain(options, wrong::Wrong),
}];

/// A pass without options.
fn plain(options: &[String], pass: impl Pass + 'static) -> Made {
    if options.is_empty() {
        Ok(Box::new(pass))
    } else {
        Err(format!("pass {} has no options; {options:?} was given", pass.name()))
    }
}

/// Options as they are written, for tests.
#[cfg(test)]
pub(crate) fn options(text: &str) -> Vec<String> {
    let one: Use = format!("x:{text}").parse().expect("options");
    one.options
}

/// For each of these tables the first pass that fills it, once; tables that no pass fills are passed over.
pub fn filling(tables: &[&Table]) -> Vec<&'static Entry> {
    let mut all: Vec<&Entry> = vec![];
    for table in tables {
        let writes = |p: &&Entry| p.writes.iter().any(|w| w.name == table.name);
        if !all.iter().any(&writes) {
            all.extend(PASSES.iter().find(writes));
        }
    }
    all
}

/// The pass of this name, made with its options, as they are written (`trace::plan`).
pub fn by_name(what: &str) -> Made {
    made(&what.parse()?)
}

/// A pass, made with its options.
pub fn made(wanted: &Use) -> Made {
    match PASSES.iter().chain(UNLISTED).find(|p| p.name == wanted.name) {
        Some(p) => (p.make)(&wanted.options),
        None => {
            let known: Vec<&str> = PASSES.iter().map(|p| p.name).collect();
            Err(format!("there is no pass {:?}; there are {}", wanted.name, known.join(", ")))
        }
    }
}
