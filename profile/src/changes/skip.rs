//! `skip`: draws, dispatches and traces are not recorded, nor are pipelines bound that only these would use; with option `copies` neither are copies, blits, fills,
//! clears and resolves.
//!
//! A pipeline is bound when something uses it, and one that nothing uses is not. Guarantees: render passes, barriers, queries, and builds of acceleration
//! structures stay, and so do copies of these. Refuses nothing.

use super::choice::{AT, Choice, Chooser, LABEL, PIPELINE};
use super::entry::{Entry, Made, no_others};
use super::tally::Tally;
use crate::hooks::command_times::commands::bind_point;
use gfxr_parse::ahead::Call;
use gfxr_parse::schema::CommandDef;
use gfxr_parse::schema::generated::COMMANDS;
use gfxr_parse::view::View;
use replay::error::Result;
use replay::exec::Executor;
use replay::hook::{Commands, Hook, Next};
use trace::plan::Use;
use world::objects::BindPoint;
use world::{Depth, Outcome};

/// See the module's header.
pub const ENTRY: Entry = Entry {
    name: "skip",
    options: &[AT, LABEL, PIPELINE, "copies"],
    about: "draws, dispatches and traces are not recorded, nor are pipelines bound for them alone; with `copies` neither are copies, blits, fills, clears and resolves",
    asks: "what would the frame gain without them?",
    pictures_stay: false,
    make,
};

fn make(of: &Use) -> std::result::Result<Made, String> {
    let (choice, others) = Choice::read(of, &[AT, LABEL, PIPELINE])?;
    let (copies, others): (Vec<String>, Vec<String>) = others.into_iter().partition(|o| o == "copies");
    no_others(&ENTRY, &others)?;
    let (chooser, tally) = (Chooser::new(choice), Tally::new(ENTRY.name));
    Ok(Made::Hook(Box::new(Skip { copies: !copies.is_empty(), chooser, tally, held: vec![] })))
}

struct Skip {
    copies: bool,
    chooser: Chooser,
    tally: Tally,
    held: Vec<Held>,
}

/// A call that binds a pipeline, which is not made yet.
struct Held {
    buffer: u64,
    point: BindPoint,
    call: Call,
}

const BIND: &str = "vkCmdBindPipeline";
const SHADERS: &str = "vkCmdBindShadersEXT";
/// What ends the use of what a command buffer has bound, and what begins it anew.
const ENDS: [&str; 2] = ["vkEndCommandBuffer", "vkCmdExecuteCommands"];
const BEGINS: &str = "vkBeginCommandBuffer";
/// Parts of the names of other commands that need a bound pipeline.
const NEED: [&str; 4] = ["Preprocess", "ShaderGroup", "TransformFeedback", "SubpassShading"];

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

fn needs(c: &CommandDef) -> bool {
    c.name.starts_with("vkCmd") && NEED.iter().any(|n| c.name.contains(n))
}

impl Skip {
    /// What a command buffer has bound, of this point or of all, is bound now.
    fn bind(&mut self, cx: &mut Executor, buffer: u64, point: Option<BindPoint>, next: Next) -> Result<()> {
        let is = |h: &mut Held| h.buffer == buffer && point.is_none_or(|p| p == h.point);
        for mut held in self.held.extract_if(.., is).collect::<Vec<_>>() {
            next.run(cx, &mut held.call)?;
        }
        Ok(())
    }

    /// Nothing uses any more what a command buffer has bound, of this point or of all.
    fn leave(&mut self, buffer: u64, point: Option<BindPoint>) {
        let is = |h: &mut Held| h.buffer == buffer && point.is_none_or(|p| p == h.point);
        for _ in self.held.extract_if(.., is) {
            self.tally.done("pipelines not bound, as nothing is left that uses them");
        }
    }
}

impl Hook for Skip {
    fn name(&self) -> &'static str {
        "change skip"
    }

    fn follows(&self) -> Depth {
        Depth::Commands
    }

    fn wants(&self) -> Commands {
        let some = COMMANDS.iter().filter(|c| {
            let others = [BIND, SHADERS, BEGINS].contains(&c.name) || ENDS.contains(&c.name);
            works(c) || needs(c) || others || self.copies && copies(c)
        });
        let some = some.map(|c| c.name);
        let all: Vec<&str> = some.chain(self.chooser.wants().iter().copied()).collect();
        Commands::named(&all)
    }

    fn call(&mut self, cx: &mut Executor, call: &mut Call, next: Next) -> Result<Outcome> {
        let world = cx.objects.world();
        self.chooser.see(world, call, &mut self.tally);
        let (buffer, works) = (call.image.u64(0), works(call.command));
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
        match call.command.name {
            BIND => {
                let point = BindPoint::of(View::call(&call.image).u32("pipelineBindPoint").unwrap_or(0));
                self.leave(buffer, Some(point));
                self.held.push(Held { buffer, point, call: call.clone() });
                return Ok(Outcome::captured(call));
            }
            // (shaders of a point take a pipeline's place there)
            SHADERS => {
                let stages = View::call(&call.image).u64s("pStages");
                let points = stages.into_iter().flat_map(|s| BindPoint::of_stages(s as u32));
                points.for_each(|point| self.leave(buffer, Some(point)));
            }
            BEGINS => self.held.retain(|h| h.buffer != buffer),
            name if ENDS.contains(&name) => self.leave(buffer, None),
            _ if works => self.bind(cx, buffer, bind_point(call.command), next)?,
            _ if needs(call.command) => self.bind(cx, buffer, None, next)?,
            _ => {}
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
