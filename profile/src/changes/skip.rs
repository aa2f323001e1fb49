//! `skip`: draws, dispatches and traces are not recorded; with option `copies` neither are copies, blits, fills, clears and resolves.
//!
//! Guarantees: render passes, barriers, queries, and builds of acceleration structures stay, and so do copies of these. Refuses
//! nothing.

use super::choice::{AT, Choice, Chooser, LABEL, PIPELINE};
use super::entry::{Entry, Made, no_others};
use super::tally::Tally;
use crate::hooks::command_times::commands::bind_point;
use gfxr_parse::ahead::Call;
use gfxr_parse::schema::CommandDef;
use gfxr_parse::schema::generated::COMMANDS;
use replay::error::Result;
use replay::exec::Executor;
use replay::hook::{Commands, Hook, Next};
use trace::plan::Use;
use world::{Depth, Outcome};

/// See the module's header.
pub const ENTRY: Entry = Entry {
    name: "skip",
    options: &[AT, LABEL, PIPELINE, "copies"],
    about: "draws, dispatches and traces are not recorded; with `copies` neither are copies, blits, fills, clears and resolves",
    asks: "what would the frame gain without them?",
    pictures_stay: false,
    make,
};

fn make(of: &Use) -> std::result::Result<Made, String> {
    let (choice, others) = Choice::read(of, &[AT, LABEL, PIPELINE])?;
    let (copies, others): (Vec<String>, Vec<String>) = others.into_iter().partition(|o| o == "copies");
    no_others(&ENTRY, &others)?;
    let (chooser, tally) = (Chooser::new(choice), Tally::new(ENTRY.name));
    Ok(Made::Hook(Box::new(Skip { copies: !copies.is_empty(), chooser, tally })))
}

struct Skip {
    copies: bool,
    chooser: Chooser,
    tally: Tally,
}

/// Beginnings of the names of commands that run shaders.
const WORK: [&str; 4] = ["vkCmdDraw", "vkCmdDispatch", "vkCmdTraceRays", "vkCmdExecuteGeneratedCommands"];

/// Beginnings of the names of commands that move data or fill.
const COPIES: [&str; 7] = [
    "vkCmdCopy",
    "vkCmdBlit",
    "vkCmdFill",
    "vkCmdClear",
    "vkCmdResolve",
    "vkCmdUpdateBuffer",
    "vkCmdUpdateMemory",
];

/// What of these stays: what is in acceleration structures, and results of queries, decide what comes.
const STAYS: [&str; 3] = ["AccelerationStructure", "Micromap", "QueryPool"];

fn works(c: &CommandDef) -> bool {
    WORK.iter().any(|w| c.name.starts_with(w))
}

fn copies(c: &CommandDef) -> bool {
    COPIES.iter().any(|w| c.name.starts_with(w)) && !STAYS.iter().any(|s| c.name.contains(s))
}

impl Hook for Skip {
    fn name(&self) -> &'static str {
        "change skip"
    }

    fn follows(&self) -> Depth {
        Depth::Commands
    }

    fn wants(&self) -> Commands {
        let some = COMMANDS.iter().filter(|c| works(c) || self.copies && copies(c)).map(|c| c.name);
        let all: Vec<&str> = some.chain(self.chooser.wants().iter().copied()).collect();
        Commands::named(&all)
    }

    fn call(&mut self, cx: &mut Executor, call: &mut Call, next: Next) -> Result<Outcome> {
        let world = cx.objects.world();
        self.chooser.see(world, call, &mut self.tally);
        let works = works(call.command);
        if (works || self.copies && copies(call.command))
            && self.chooser.chosen(world, call, bind_point(call.command))
        {
            self.tally.done(if works {
                "draws, dispatches and traces left out"
            } else {
                "copies and clears left out"
            });
            return Ok(Outcome::captured(call));
        }
        next.run(cx, call)
    }

    fn finish(&mut self, cx: &mut Executor) -> Result<()> {
        self.tally.say(cx);
        Ok(())
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use gfxr_parse::schema::command_named;

    #[test]
    fn structures_and_queries_stay() {
        let of = |n: &str| command_named(n).expect(n);
        for name in
            ["vkCmdDrawMeshTasksIndirectCountEXT", "vkCmdDispatchBaseKHR", "vkCmdTraceRaysIndirect2KHR"]
        {
            assert!(works(of(name)) && !copies(of(name)), "{name}");
        }
        for name in ["vkCmdCopyImage2KHR", "vkCmdClearAttachments", "vkCmdUpdateBuffer", "vkCmdResolveImage2"]
        {
            assert!(copies(of(name)) && !works(of(name)), "{name}");
        }
        for name in [
            "vkCmdBuildAccelerationStructuresKHR",
            "vkCmdCopyAccelerationStructureKHR",
            "vkCmdCopyMicromapEXT",
            "vkCmdCopyQueryPoolResults",
            "vkCmdPipelineBarrier2",
        ] {
            assert!(!copies(of(name)) && !works(of(name)), "{name}");
        }
    }
}
