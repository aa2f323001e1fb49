//! `wide-barriers`: pipeline barriers wait for everything. `no-barriers`: chosen ones are left out.
//!
//! Guarantees: layouts change, and queues hand over, as before; barriers stay in order. A barrier is left out only where it does nothing
//! but wait: pictures and other results may then be another at each run. Refuses, by a count: barriers that `no-barriers` has to leave, as
//! they change a layout or hand something over (these stay as they are for `wide-barriers`, too), and events, which wait for what they are set behind.

use super::choice::{AT, Choice, Chooser, LABEL};
use super::edit::{self, Edit};
use super::entry::{Entry, Made, no_others};
use super::tally::Tally;
use gfxr_parse::ahead::Call;
use gfxr_parse::schema::CommandDef;
use gfxr_parse::schema::generated::COMMANDS;
use gfxr_parse::view::View;
use replay::error::Result;
use replay::exec::Executor;
use replay::hook::{Commands, Hook, Next};
use trace::plan::Use;
use world::recording::Scope;
use world::{Depth, Outcome};

/// Barriers that wait for everything.
pub const WIDE: Entry = Entry {
    name: "wide-barriers",
    options: &[AT, LABEL],
    about: "pipeline barriers outside of render passes wait for all commands and all memory",
    asks: "how much is gained by commands that overlap, as barriers are narrow?",
    pictures_stay: true,
    make: wide,
};

/// Barriers that are not there.
pub const NONE: Entry = Entry {
    name: "no-barriers",
    options: &[AT, LABEL],
    about: "barriers that do nothing but wait are left out; it has to be said which (results may be wrong)",
    asks: "does time go to waiting there?",
    pictures_stay: false,
    make: none,
};

fn wide(of: &Use) -> std::result::Result<Made, String> {
    made(of, &WIDE)
}

fn none(of: &Use) -> std::result::Result<Made, String> {
    if of.options.is_empty() {
        return Err("change no-barriers: say which ones, by at=A-B or label=GLOB".into());
    }
    made(of, &NONE)
}

fn made(of: &Use, entry: &'static Entry) -> std::result::Result<Made, String> {
    let (choice, others) = Choice::read(of, entry.options)?;
    no_others(entry, &others)?;
    let (chooser, tally) = (Chooser::new(choice), Tally::new(entry.name));
    Ok(Made::Hook(Box::new(Barriers { wide: entry.name == WIDE.name, chooser, tally })))
}

struct Barriers {
    wide: bool,
    chooser: Chooser,
    tally: Tally,
}

/// VK_PIPELINE_STAGE_ALL_COMMANDS_BIT.
const ALL_COMMANDS: u32 = 0x1_0000;
/// VK_ACCESS_MEMORY_READ_BIT | VK_ACCESS_MEMORY_WRITE_BIT.
const ALL_MEMORY: u32 = 0x8000 | 0x1_0000;
/// VK_PIPELINE_STAGE_HOST_BIT.
const HOST: u64 = 0x4000;

const KINDS: [&str; 3] = ["pMemoryBarriers", "pBufferMemoryBarriers", "pImageMemoryBarriers"];

/// A 64-bit number that is 0 in its upper half, of the newer structs.
fn set_long(of: View<'_>, name: &str, value: u32) -> Vec<Edit> {
    let Some((m, at)) = of.definition(name) else { return vec![] };
    let low = Edit { at, value };
    if m.ty.c_layout().0 == 8 { vec![low, Edit { at: at + 4, value: 0 }] } else { vec![low] }
}

/// What a barrier hands over is between two queue families that differ.
fn hands_over(of: View<'_>) -> bool {
    of.u32("srcQueueFamilyIndex") != of.u32("dstQueueFamilyIndex")
}

/// All that a barrier consists of.
fn parts(v: View<'_>) -> impl Iterator<Item = View<'_>> {
    let info = v.one("pDependencyInfo").unwrap_or(v);
    KINDS.iter().flat_map(move |kind| info.structs(kind))
}

/// What makes a barrier wait for everything.
fn widened(v: View<'_>) -> Vec<Edit> {
    // Stages of the host stay besides: all commands are those of queues.
    let stages = |of: View<'_>, name: &str| {
        let host = of.u64(name).unwrap_or(0) & HOST;
        set_long(of, name, ALL_COMMANDS | host as u32)
    };
    let mut edits = vec![];
    for b in parts(v) {
        for name in ["srcAccessMask", "dstAccessMask"] {
            edits.extend(set_long(b, name, ALL_MEMORY));
        }
        for name in ["srcStageMask", "dstStageMask"] {
            edits.extend(stages(b, name));
        }
    }
    for name in ["srcStageMask", "dstStageMask"] {
        edits.extend(stages(v, name));
    }
    edits
}

/// Whether a barrier does nothing but wait.
fn only_waits(v: View<'_>) -> bool {
    let changes = |b: View<'_>| b.u32("oldLayout") != b.u32("newLayout");
    !parts(v).any(|b| hands_over(b) || changes(b))
}

fn barrier(c: &CommandDef) -> bool {
    ["vkCmdPipelineBarrier", "vkCmdPipelineBarrier2"].contains(&c.canonical)
}

fn waits(c: &CommandDef) -> bool {
    ["vkCmdWaitEvents", "vkCmdWaitEvents2"].contains(&c.canonical)
}

impl Hook for Barriers {
    fn name(&self) -> &'static str {
        if self.wide { "change wide-barriers" } else { "change no-barriers" }
    }

    fn follows(&self) -> Depth {
        Depth::Commands
    }

    fn wants(&self) -> Commands {
        let all = COMMANDS.iter().filter(|c| barrier(c) || waits(c)).map(|c| c.name);
        let all: Vec<&str> = all.chain(self.chooser.wants().iter().copied()).collect();
        Commands::named(&all)
    }

    fn call(&mut self, cx: &mut Executor, call: &mut Call, next: Next) -> Result<Outcome> {
        let world = cx.objects.world();
        self.chooser.see(world, call, &mut self.tally);
        let chosen = (barrier(call.command) || waits(call.command)) && self.chooser.chosen(world, call, None);
        if !chosen {
            return next.run(cx, call);
        }
        if waits(call.command) {
            self.tally.beyond("waits for events stay as they are", 1);
            return next.run(cx, call);
        }
        let v = View::call(&call.image);
        if !self.wide {
            if only_waits(v) {
                self.tally.done("barriers left out");
                return Ok(Outcome::captured(call));
            }
            self.tally.beyond("barriers that change a layout or hand over to another queue stay", 1);
            return next.run(cx, call);
        }
        let within = world.recording(call.image.u64(0)).is_some_and(|r| r.scope != Scope::Outside);
        if within {
            self.tally.beyond("barriers within render passes stay, as they may not wait for all", 1);
            return next.run(cx, call);
        }
        if parts(v).any(hands_over) {
            // (either queue has its half, of which the other's stages are void)
            self.tally.beyond("barriers that hand over to another queue stay as they are", 1);
            return next.run(cx, call);
        }
        let mut edited = call.clone();
        if edit::apply(&mut edited.image, &widened(v)) {
            self.tally.done("barriers widened");
        } else {
            self.tally.beyond("barriers are as wide already", 1);
        }
        next.run(cx, &mut edited)
    }

    fn finish(&mut self, cx: &mut Executor) -> Result<()> {
        self.tally.say(cx);
        Ok(())
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use gfxr_parse::decode::decode_call;
    use gfxr_parse::image::Image;
    use gfxr_parse::schema::generated::STRUCTS;
    use gfxr_parse::schema::{command_named, struct_named};
    use gfxr_parse::writer::ParamWriter;

    fn image(name: &str, params: impl FnOnce(&mut ParamWriter)) -> Image {
        let (mut w, mut image) = (ParamWriter::new(), Image::default());
        params(&mut w);
        decode_call(command_named(name).expect(name), w.as_bytes(), &mut image).expect(name);
        image
    }

    fn stype(name: &str) -> u32 {
        STRUCTS[struct_named(name).expect(name) as usize].stype.expect("it has one")
    }

    /// An image barrier of the older command: stages, layouts, queue families.
    fn older(stages: [u32; 2], layouts: [u32; 2], families: [u32; 2]) -> Image {
        image("vkCmdPipelineBarrier", |w| {
            w.u64(1).u32(stages[0]).u32(stages[1]).u32(0).u32(0).null_structs().u32(0).null_structs().u32(1);
            w.structures(1, |w, _| {
                w.u32(stype("VkImageMemoryBarrier")).null_struct().u32(0x20).u32(0x40);
                w.u32(layouts[0]).u32(layouts[1]).u32(families[0]).u32(families[1]).u64(7);
                w.u32(1).u32(0).u32(1).u32(0).u32(1);
            });
        })
    }

    #[test]
    fn what_only_waits_is_told_from_what_does_more() {
        let ignored = [u32::MAX; 2];
        let waits = |i: &Image| only_waits(View::call(i));
        assert!(waits(&older([1, 1], [1, 1], ignored)));
        assert!(!waits(&older([1, 1], [1, 7], ignored)));
        assert!(!waits(&older([1, 1], [1, 1], [0, 1])));
        assert!(parts(View::call(&older([1, 1], [1, 1], [0, 1]))).any(hands_over));
    }

    #[test]
    fn both_forms_become_as_wide() {
        // Stages of transfers and of the host; accesses as they were; layouts stay.
        let mut i = older([0x1000, 0x4000], [6, 7], [u32::MAX; 2]);
        let edits = widened(View::call(&i));
        assert!(edit::apply(&mut i, &edits) && !edit::apply(&mut i, &edits));
        let v = View::call(&i);
        assert_eq!(["srcStageMask", "dstStageMask"].map(|n| v.u32(n)), [Some(0x1_0000), Some(0x1_4000)]);
        let b = parts(v).next().expect("one");
        let of = ["srcAccessMask", "dstAccessMask", "oldLayout", "newLayout"].map(|n| b.u64(n));
        assert_eq!(of, [Some(0x1_8000), Some(0x1_8000), Some(6), Some(7)]);
        // A stage that only the newer form has.
        let mut i = image("vkCmdPipelineBarrier2KHR", |w| {
            w.u64(1);
            w.structure(|w| {
                w.u32(stype("VkDependencyInfo")).null_struct().u32(0).u32(1);
                w.structures(1, |w, _| {
                    w.u32(stype("VkMemoryBarrier2"))
                        .null_struct()
                        .u64(1 << 32)
                        .u64(1 << 33)
                        .u64(0x800)
                        .u64(0x20);
                });
                w.u32(0).null_structs().u32(0).null_structs();
            });
        });
        let edits = widened(View::call(&i));
        assert!(edit::apply(&mut i, &edits));
        let b = parts(View::call(&i)).next().expect("one");
        let of = ["srcStageMask", "srcAccessMask", "dstStageMask", "dstAccessMask"].map(|n| b.u64(n));
        assert_eq!(of, [Some(0x1_0000), Some(0x1_8000), Some(0x1_0000), Some(0x1_8000)]);
    }
}
