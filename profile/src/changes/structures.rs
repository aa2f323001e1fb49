//! `structures`: acceleration structures are built to be traced fast, or to be built fast. `opaque`: all of their geometries are opaque, so that no
//! any-hit shader runs.
//!
//! Guarantees: sizes are asked for what is then built, so that the replay makes structures as large as they have to be; builds that update and
//! those that they update agree, as all are changed. Refuses, by a count: builds of VK_NV_ray_tracing.

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
use trace::plan::Use;
use world::Outcome;

/// Builds with another preference.
pub const ENTRY: Entry = Entry {
    name: "structures",
    options: &["trace", "build"],
    about: "acceleration structures are built to be traced fast (`structures:trace`), or to be built fast (`structures:build`)",
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

/// What becomes of builds.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum What {
    Trace,
    Build,
    Opaque,
}

fn make(of: &Use) -> std::result::Result<Made, String> {
    let (what, others): (Vec<String>, Vec<String>) =
        of.options.iter().cloned().partition(|o| ENTRY.options.contains(&o.as_str()));
    no_others(&ENTRY, &others)?;
    match &what[..] {
        [one] => Ok(made(ENTRY.name, if one == "trace" { What::Trace } else { What::Build })),
        _ => Err("change structures: say one of structures:trace and structures:build".into()),
    }
}

fn make_opaque(of: &Use) -> std::result::Result<Made, String> {
    no_others(&OPAQUE, &of.options)?;
    Ok(made(OPAQUE.name, What::Opaque))
}

fn made(name: &'static str, what: What) -> Made {
    Made::Hook(Box::new(Structures { what, tally: Tally::new(name) }))
}

struct Structures {
    what: What,
    tally: Tally,
}

/// VkBuildAccelerationStructureFlagsKHR: PREFER_FAST_TRACE, PREFER_FAST_BUILD.
const FAST_TRACE: u32 = 4;
const FAST_BUILD: u32 = 8;
/// VK_GEOMETRY_OPAQUE_BIT_KHR.
const GEOMETRY_OPAQUE: u32 = 1;

/// Commands that build, or say how large a build would be; and those of VK_NV_ray_tracing.
const BUILDS: [&str; 4] = [
    "vkGetAccelerationStructureBuildSizesKHR",
    "vkCmdBuildAccelerationStructuresKHR",
    "vkCmdBuildAccelerationStructuresIndirectKHR",
    "vkBuildAccelerationStructuresKHR",
];
const OLDER: &str = "vkCmdBuildAccelerationStructureNV";

/// Where the flags of a build's geometries lie.
fn geometries(info: View<'_>) -> Vec<u32> {
    const FLAGS: u32 = member!("VkAccelerationStructureGeometryKHR", "flags");
    const SIZE: u32 = size_of_struct!("VkAccelerationStructureGeometryKHR");
    const POINTER: u32 = size_of::<u64>() as u32;
    let (at, n) = info.array("pGeometries").unwrap_or((0, 0));
    let plain = (0..n as u32).map(|i| at + i * SIZE + FLAGS);
    let (slots, n) = info.array("ppGeometries").unwrap_or((0, 0));
    let pointed = (0..n as u32).filter_map(|i| info.image().target(slots + i * POINTER)).map(|to| to + FLAGS);
    plain.chain(pointed).collect()
}

/// What is edited in a build.
fn edits(info: View<'_>, what: What) -> Vec<Edit> {
    let flags = info.u32("flags").unwrap_or(0) & !(FAST_TRACE | FAST_BUILD);
    match what {
        What::Trace => set(info, "flags", flags | FAST_TRACE).into_iter().collect(),
        What::Build => set(info, "flags", flags | FAST_BUILD).into_iter().collect(),
        What::Opaque => {
            let all = geometries(info).into_iter();
            all.map(|at| Edit { at, value: info.image().u32(at) | GEOMETRY_OPAQUE }).collect()
        }
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
        let all: Vec<&str> =
            COMMANDS.iter().filter(|c| builds(c) || c.name == OLDER).map(|c| c.name).collect();
        Commands::named(&all)
    }

    fn call(&mut self, cx: &mut Executor, call: &mut Call, next: Next) -> Result<Outcome> {
        if call.command.name == OLDER {
            self.tally.beyond("builds of VK_NV_ray_tracing stay as they are", 1);
            return next.run(cx, call);
        }
        let v = View::call(&call.image);
        let is_question = call.command.name == BUILDS[0];
        let infos = v.structs("pInfos").chain(v.structs("pBuildInfo"));
        let mut edited = call.clone();
        for info in infos {
            let changed = edit::apply(&mut edited.image, &edits(info, self.what));
            if !is_question && changed {
                self.tally.done("builds changed");
            } else if !is_question {
                self.tally.beyond("builds are so already", 1);
            }
        }
        next.run(cx, &mut edited)
    }

    fn finish(&mut self, cx: &mut Executor) -> Result<()> {
        self.tally.say(cx);
        Ok(())
    }
}
