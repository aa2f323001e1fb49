//! `structures`: acceleration structures are built to be traced fast, or to be built fast, or are compacted behind each build. `opaque`: all of their geometries are opaque, so that no
//! any-hit shader runs. `half-instances`: structures of instances are built of half of them, the first ones.
//!
//! Guarantees: sizes are asked for what is then built, or for all instances, so that the replay makes structures as large as they have to be; builds that update and
//! those that they update agree: what updates a structure of a trimmed capture's state, which no call has built, stays. An instance alone stays. Refuses, by a count: builds of
//! VK_NV_ray_tracing, halving what only memory counts (indirect builds), and compacting what moves (VK_NV_ray_tracing_motion_blur).

use super::compaction::Compaction;
use super::edit::{self, Edit, set};
use super::entry::{Entry, Made, no_others};
use super::tally::Tally;
use gfxr_parse::ahead::Call;
use gfxr_parse::schema::CommandDef;
use gfxr_parse::schema::generated::COMMANDS;
use gfxr_parse::view::View;
use gfxr_parse::{member, size_of_struct};
use replay::error::Result;
use replay::exec::Executor;
use replay::hook::{Commands, Hook, Next};
use std::collections::HashSet;
use trace::plan::Use;
use world::Outcome;

/// Builds with another preference.
pub const ENTRY: Entry = Entry {
    name: "structures",
    options: &["trace", "build", "compacted"],
    about: "acceleration structures are built to be traced fast (`structures:trace`), to be built fast (`structures:build`), or are compacted where they \
            lie, behind each build (`structures:compacted`)",
    asks: "would other structures be traced, or built, faster?",
    pictures_stay: true,
    make,
};

/// Opaque geometry.
pub const OPAQUE: Entry = Entry {
    name: "opaque",
    options: &[],
    about: "all geometries of acceleration structures are opaque: any-hit shaders do not run, but where rays or instances say otherwise",
    asks: "does time go to any-hit shaders?",
    pictures_stay: false,
    make: make_opaque,
};

/// Fewer instances.
pub const HALF: Entry = Entry {
    name: "half-instances",
    options: &[],
    about: "acceleration structures of instances are built of the first half of them",
    asks: "does the time of rays follow how much there is to hit?",
    pictures_stay: false,
    make: make_half,
};

/// What becomes of builds.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum What {
    Trace,
    Build,
    Compacted,
    Opaque,
    Half,
}

fn make(of: &Use) -> std::result::Result<Made, String> {
    let (what, others): (Vec<String>, Vec<String>) =
        of.options.iter().cloned().partition(|o| ENTRY.options.contains(&o.as_str()));
    no_others(&ENTRY, &others)?;
    match &what[..] {
        [one] => Ok(made(
            ENTRY.name,
            match one.as_str() {
                "trace" => What::Trace,
                "build" => What::Build,
                _ => What::Compacted,
            },
        )),
        _ => Err("change structures: say one of structures:trace, structures:build and structures:compacted"
            .into()),
    }
}

fn make_opaque(of: &Use) -> std::result::Result<Made, String> {
    plain(&OPAQUE, of, What::Opaque)
}

fn make_half(of: &Use) -> std::result::Result<Made, String> {
    plain(&HALF, of, What::Half)
}

/// A change without options.
fn plain(entry: &Entry, of: &Use, what: What) -> std::result::Result<Made, String> {
    no_others(entry, &of.options)?;
    Ok(made(entry.name, what))
}

fn made(name: &'static str, what: What) -> Made {
    Made::Hook(Box::new(Structures {
        what,
        tally: Tally::new(name),
        compaction: Compaction::default(),
        built: HashSet::new(),
    }))
}

struct Structures {
    what: What,
    tally: Tally,
    compaction: Compaction,
    /// Structures that calls have built.
    built: HashSet<u64>,
}

/// VkBuildAccelerationStructureFlagsKHR: ALLOW_COMPACTION, PREFER_FAST_TRACE, PREFER_FAST_BUILD.
const ALLOW_COMPACTION: u32 = 2;
const FAST_TRACE: u32 = 4;
const FAST_BUILD: u32 = 8;
/// VK_GEOMETRY_OPAQUE_BIT_KHR.
const GEOMETRY_OPAQUE: u32 = 1;
/// VK_GEOMETRY_TYPE_INSTANCES_KHR.
const INSTANCES: u32 = 2;

/// Commands that build, or say how large a build would be; and those of VK_NV_ray_tracing.
const BUILDS: [&str; 4] = [
    "vkGetAccelerationStructureBuildSizesKHR",
    "vkCmdBuildAccelerationStructuresKHR",
    "vkCmdBuildAccelerationStructuresIndirectKHR",
    "vkBuildAccelerationStructuresKHR",
];
const GONE: &str = "vkDestroyDevice";
/// Calls behind which what a command buffer held is not in flight any more.
const RELEASES: [&str; 3] = ["vkBeginCommandBuffer", "vkFreeCommandBuffers", "vkDestroyCommandPool"];
/// VK_BUILD_ACCELERATION_STRUCTURE_MOTION_BIT_NV.
const MOTION: u32 = 0x20;
const ON_HOST: &str = BUILDS[3];
/// VK_BUILD_ACCELERATION_STRUCTURE_MODE_BUILD_KHR.
const BUILD: u32 = 0;
const OLDER: &str = "vkCmdBuildAccelerationStructureNV";

const FLAGS: u32 = member!("VkAccelerationStructureGeometryKHR", "flags");
const TYPE: u32 = member!("VkAccelerationStructureGeometryKHR", "geometryType");
const POINTER: u32 = size_of::<u64>() as u32;

/// Where a build's geometries lie.
fn geometries(info: View<'_>) -> Vec<u32> {
    const SIZE: u32 = size_of_struct!("VkAccelerationStructureGeometryKHR");
    let (at, n) = info.array("pGeometries").unwrap_or((0, 0));
    let plain = (0..n as u32).map(|i| at + i * SIZE);
    let (slots, n) = info.array("ppGeometries").unwrap_or((0, 0));
    let pointed = (0..n as u32).filter_map(|i| info.image().target(slots + i * POINTER));
    plain.chain(pointed).collect()
}

/// Where the counts of a build's instances lie; `ranges` is where its ranges do, one for each geometry.
fn instances(info: View<'_>, ranges: u32) -> Vec<u32> {
    const SIZE: u32 = size_of_struct!("VkAccelerationStructureBuildRangeInfoKHR");
    const COUNT: u32 = member!("VkAccelerationStructureBuildRangeInfoKHR", "primitiveCount");
    let all = (0..).zip(geometries(info));
    let of = all.filter(|(_, at)| info.image().u32(at + TYPE) == INSTANCES);
    of.map(|(n, _)| ranges + n * SIZE + COUNT).collect()
}

/// What is edited in a build, whose ranges lie there if the call has them.
fn edits(info: View<'_>, ranges: Option<u32>, what: What) -> Vec<Edit> {
    let flags = info.u32("flags").unwrap_or(0) & !(FAST_TRACE | FAST_BUILD);
    match what {
        What::Trace => set(info, "flags", flags | FAST_TRACE).into_iter().collect(),
        What::Build => set(info, "flags", flags | FAST_BUILD).into_iter().collect(),
        What::Compacted => {
            let own = info.u32("flags").unwrap_or(0);
            set(info, "flags", own | ALLOW_COMPACTION).into_iter().collect()
        }
        What::Opaque => {
            let all = geometries(info).into_iter();
            let flags = all.map(|at| at + FLAGS);
            flags.map(|at| Edit { at, value: info.image().u32(at) | GEOMETRY_OPAQUE }).collect()
        }
        What::Half => {
            let counts = ranges.map(|at| instances(info, at)).unwrap_or_default().into_iter();
            let all = counts.map(|at| (at, info.image().u32(at)));
            all.filter(|c| c.1 > 1).map(|(at, n)| Edit { at, value: n / 2 }).collect()
        }
    }
}

impl Structures {
    /// What a call has built is compacted, but for what it has updated.
    fn compact(&mut self, cx: &mut Executor, call: &Call) -> Result<()> {
        let v = View::call(&call.image);
        let new: Vec<View<'_>> = v.structs("pInfos").filter(|i| i.u32("mode") == Some(BUILD)).collect();
        let moves = |i: &&View<'_>| i.u32("flags").unwrap_or(0) & MOTION != 0;
        let moving = new.iter().filter(moves).count();
        if moving > 0 {
            self.tally.beyond("structures that move stay as they are", moving as u64);
        }
        let still = new.iter().filter(|i| !moves(i));
        let built: Vec<u64> = still.filter_map(|i| i.u64("dstAccelerationStructure")).collect();
        if call.command.name == ON_HOST {
            self.tally.beyond("structures that the host builds stay as they are", built.len() as u64);
            return Ok(());
        }
        let done = self.compaction.record(cx, call.image.u64(0), &built)?;
        (0..done).for_each(|_| self.tally.done("structures compacted"));
        let left = built.len() as u64 - done;
        if left > 0 {
            self.tally.beyond("structures for which there is no room stay as they are", left);
        }
        Ok(())
    }

    /// Whether a build, or what it updates, is one of those that are changed; it is one of them now.
    fn follows(&mut self, info: View<'_>) -> bool {
        let [from, to] =
            ["srcAccelerationStructure", "dstAccelerationStructure"].map(|n| info.u64(n).unwrap_or(0));
        let new = info.u32("mode") == Some(BUILD);
        let follows = new || self.built.contains(&from);
        if follows {
            self.built.insert(to);
        } else {
            self.built.remove(&to);
        }
        follows
    }

    /// What command buffers hold that begin, are freed, or go with their pool is no longer in flight.
    fn release(&mut self, cx: &mut Executor, call: &Call) {
        let v = View::call(&call.image);
        let buffers = match call.command.name {
            "vkBeginCommandBuffer" => vec![call.image.u64(0)],
            "vkFreeCommandBuffers" => v.u64s("pCommandBuffers"),
            _ => {
                let pool = v.u64("commandPool").unwrap_or(0);
                let all = cx.objects.world().command_buffers.iter();
                all.filter(|(_, b)| b.pool == pool).map(|(id, _)| *id).collect()
            }
        };
        self.compaction.release(cx, &buffers);
    }
}

fn builds(c: &CommandDef) -> bool {
    BUILDS.contains(&c.name)
}

impl Hook for Structures {
    fn name(&self) -> &'static str {
        "change of acceleration structures"
    }

    fn wants(&self) -> Commands {
        let all: Vec<&str> = COMMANDS
            .iter()
            .filter(|c| {
                builds(c)
                    || [OLDER, GONE].contains(&c.name)
                    || self.what == What::Compacted && RELEASES.contains(&c.name)
            })
            .map(|c| c.name)
            .collect();
        Commands::named(&all)
    }

    fn call(&mut self, cx: &mut Executor, call: &mut Call, next: Next) -> Result<Outcome> {
        if call.command.name == GONE {
            self.compaction.give_back(cx, Some(call.image.u64(0)))?;
            return next.run(cx, call);
        }
        if RELEASES.contains(&call.command.name) {
            self.release(cx, call);
            return next.run(cx, call);
        }
        if call.command.name == OLDER {
            self.tally.beyond("builds of VK_NV_ray_tracing stay as they are", 1);
            return next.run(cx, call);
        }
        let v = View::call(&call.image);
        let is_question = call.command.name == BUILDS[0];
        let infos = v.structs("pInfos").chain(v.structs("pBuildInfo"));
        let slots = v.array("ppBuildRangeInfos");
        let mut edited = call.clone();
        for (n, info) in (0..).zip(infos) {
            let ranges = slots.and_then(|(at, _)| v.image().target(at + n * POINTER));
            if !is_question && !self.follows(info) {
                self.tally.beyond("updates of structures that no call has built stay as they are", 1);
                continue;
            }
            let changed = edit::apply(&mut edited.image, &edits(info, ranges, self.what));
            if is_question {
                continue;
            } else if self.what == What::Compacted {
                // (told when it is compacted)
            } else if changed {
                self.tally.done("builds changed");
            } else if self.what != What::Half {
                self.tally.beyond("builds are so already", 1);
            } else if ranges.is_none() {
                self.tally
                    .beyond("indirect builds have their counts in memory alone, and stay as they are", 1);
            } else {
                self.tally.beyond("builds are of triangles or boxes, or of one instance", 1);
            }
        }
        let outcome = next.run(cx, &mut edited)?;
        if self.what == What::Compacted && !is_question {
            self.compact(cx, call)?;
        }
        Ok(outcome)
    }

    fn finish(&mut self, cx: &mut Executor) -> Result<()> {
        self.tally.say(cx);
        self.compaction.give_back(cx, None)
    }
}
