//! `no-multisampling`: every image, render pass and pipeline has one sample for each pixel, where the application asked for several.
//!
//! The number of samples becomes one in all calls, as where a device has no such images (`replay::vulkan::portability`). There is nothing to resolve then. Where an
//! attachment's samples are used for nothing but being resolved, as it is neither loaded nor stored, what it would be resolved to is drawn to
//! itself; elsewhere, and for the commands that resolve, the image is copied instead. Guarantees: what later calls load, resolve or copy holds what was drawn.
//! Shaders that read several samples read the one ([`shader`]). Refuses, by an error: shaders that read how samples are packed, and render passes that read an
//! attachment which they have resolved themselves, or draw on in what they have resolved; by a count: resolving between images of which one cannot be
//! copied, and of depth and stencil in layouts of their own. A sample mask without the first
//! sample draws nothing.

mod copies;
mod edits;
mod shader;

use super::cleared;
use super::edit::{self, Code};
use super::entry::{Entry, Made, no_others};
use super::tally::Tally;
use copies::Copied;
use edits::Resolves;
use gfxr_parse::ahead::Call;
use gfxr_parse::schema::CommandDef;
use gfxr_parse::schema::generated::COMMANDS;
use gfxr_parse::view::View;
use replay::error::{Error, Kind, Result};
use replay::exec::Executor;
use replay::hook::{Commands, Hook, Needs, Next};
use std::collections::HashMap;
use trace::plan::Use;
use world::{Depth, Outcome};

/// See the module's header.
pub const ENTRY: Entry = Entry {
    name: "no-multisampling",
    options: &[],
    about: "images, render passes and pipelines have one sample for each pixel; what would be resolved is drawn to, or copied",
    asks: "does time go to several samples for each pixel?",
    pictures_stay: false,
    make,
};

fn make(of: &Use) -> std::result::Result<Made, String> {
    no_others(&ENTRY, &of.options)?;
    let tally = Tally::new(ENTRY.name);
    Ok(Made::Hook(Box::new(NoMultisampling { tally, passes: HashMap::new(), copies: HashMap::new() })))
}

struct NoMultisampling {
    tally: Tally,
    /// By render pass: what becomes of its resolves.
    passes: HashMap<u64, Resolves>,
    /// By command buffer: what is copied when the render pass or rendering that it is in ends.
    copies: HashMap<u64, Vec<Copied>>,
}

/// The command that makes images, those whose shaders are looked at, and the one that forgets a render pass.
const OTHERS: [&str; 7] = [
    "vkCreateImage",
    "vkCreateShaderModule",
    "vkCreateGraphicsPipelines",
    "vkCreateComputePipelines",
    "vkCreateRayTracingPipelinesKHR",
    "vkCreateShadersEXT",
    "vkDestroyRenderPass",
];
const PASSES: [&str; 2] = ["vkCreateRenderPass", "vkCreateRenderPass2"];
const BEGINS: [&str; 2] = ["vkCmdBeginRenderPass", "vkCmdBeginRenderPass2"];
const ENDS: [&str; 4] =
    ["vkCmdEndRenderPass", "vkCmdEndRenderPass2", "vkCmdEndRendering", "vkCmdEndRendering2KHR"];
/// The commands that resolve, and those that copy in their place: their parameters differ in names alone.
const RESOLVES: [(&str, &str); 2] =
    [("vkCmdResolveImage", "vkCmdCopyImage"), ("vkCmdResolveImage2", "vkCmdCopyImage2")];
const RENDERING: &str = "vkCmdBeginRendering";
const LOCATIONS: &str = "vkCmdSetSampleLocationsEXT";

const DIRECT: &str = "attachments drawn to in place of those that they would be resolved from";
const COPIES: &str = "resolves that became copies";

fn wanted(c: &CommandDef) -> bool {
    let mut named = PASSES.iter().chain(&BEGINS).chain(&ENDS).chain(RESOLVES.iter().map(|r| &r.0));
    OTHERS.contains(&c.name)
        || [RENDERING, LOCATIONS].contains(&c.canonical)
        || named.any(|n| *n == c.canonical)
}

/// Why a capture cannot be replayed so.
fn refused(why: &str) -> Error {
    Error::new(Kind::Unsupported, format!("change {}: {why}", ENTRY.name))
}

/// A call whose shaders read one sample, and whose pipelines ask for no places of several; none if it is so already.
fn shaders(call: &Call) -> Result<Option<Call>> {
    let v = View::call(&call.image);
    let mut edited: Option<Call> = None;
    let locations: Vec<_> = v.structs("pCreateInfos").flat_map(edits::of_pipeline).collect();
    if !locations.is_empty() {
        edit::apply(&mut edited.get_or_insert_with(|| call.clone()).image, &locations);
    }
    for (code, words) in Code::all(call) {
        if let Some(words) = shader::one_sample(&words).map_err(refused)? {
            code.set(&mut edited.get_or_insert_with(|| call.clone()).image, &words);
        }
    }
    Ok(edited)
}

impl NoMultisampling {
    fn create(&mut self, cx: &mut Executor, call: &mut Call, next: Next) -> Result<Outcome> {
        let v = View::call(&call.image);
        let id = v.u64s("pRenderPass").first().copied().unwrap_or(0);
        let Some(info) = v.one("pCreateInfo") else { return next.run(cx, call) };
        let resolves = Resolves::of(info).map_err(refused)?;
        let mut edited = call.clone();
        edit::apply(&mut edited.image, &resolves.edits(info));
        self.passes.insert(id, resolves);
        next.run(cx, &mut edited)
    }

    fn begin(&mut self, cx: &mut Executor, call: &mut Call, next: Next) -> Result<Outcome> {
        let buffer = call.image.u64(0);
        let mut edited = call.clone();
        let v = View::call(&call.image);
        let (copies, direct) = if let Some(begin) = v.one("pRenderPassBegin") {
            let id = begin.u64("renderPass").unwrap_or(0);
            let Some(resolves) = self.passes.get(&id) else { return next.run(cx, call) };
            cleared::values(&mut edited.image, &resolves.clears(begin));
            edit::apply(&mut edited.image, &edits::of_locations(begin));
            (copies::of_pass(cx.objects.world(), begin, resolves), resolves.direct.len())
        } else if let Some(info) = v.one("pRenderingInfo") {
            let (edits, direct) = edits::of_rendering(info);
            edit::apply(&mut edited.image, &edits);
            (copies::of_rendering(info), direct)
        } else {
            (vec![], 0)
        };
        (0..direct).for_each(|_| self.tally.done(DIRECT));
        self.copies.insert(buffer, copies);
        next.run(cx, &mut edited)
    }

    fn end(&mut self, cx: &mut Executor, call: &mut Call, next: Next) -> Result<Outcome> {
        let outcome = next.run(cx, call)?;
        let buffer = call.image.u64(0);
        for copied in self.copies.remove(&buffer).unwrap_or_default() {
            match copies::record(cx, buffer, &copied)? {
                true => self.tally.done(COPIES),
                false => self.tally.beyond("resolves between images that cannot be copied are left out", 1),
            }
        }
        Ok(outcome)
    }
}

impl Hook for NoMultisampling {
    fn name(&self) -> &'static str {
        "change no-multisampling"
    }

    fn follows(&self) -> Depth {
        Depth::Commands
    }

    fn needs(&self) -> Needs {
        Needs { one_sample: true, restorable: true, ..Needs::default() }
    }

    fn wants(&self) -> Commands {
        let all: Vec<&str> = COMMANDS.iter().filter(|c| wanted(c)).map(|c| c.name).collect();
        Commands::named(&all)
    }

    fn call(&mut self, cx: &mut Executor, call: &mut Call, next: Next) -> Result<Outcome> {
        let name = call.command.canonical;
        if let Some((_, copy)) = RESOLVES.iter().find(|r| r.0 == name) {
            self.tally.done(COPIES);
            // (what the application waits for may be the stage that resolves)
            let buffer = call.image.u64(0);
            copies::wait(cx, buffer)?;
            let newer = if call.command.name == name { "" } else { "KHR" };
            let mut copied = call.as_command(&format!("{copy}{newer}"))?;
            edit::apply(&mut copied.image, &edits::of_copy(View::call(&call.image)));
            let outcome = next.run(cx, &mut copied)?;
            copies::wait(cx, buffer)?;
            return Ok(outcome);
        }
        match name {
            RENDERING => self.begin(cx, call, next),
            _ if PASSES.contains(&name) => self.create(cx, call, next),
            _ if BEGINS.contains(&name) => self.begin(cx, call, next),
            _ if ENDS.contains(&name) => self.end(cx, call, next),
            LOCATIONS => {
                let mut edited = call.clone();
                edit::apply(&mut edited.image, &edits::of_locations(View::call(&call.image)));
                next.run(cx, &mut edited)
            }
            "vkCreateImage" => {
                let samples = View::call(&call.image).one("pCreateInfo").and_then(|i| i.u32("samples"));
                if samples.is_some_and(|n| n > 1) {
                    self.tally.done("images of one sample");
                }
                next.run(cx, call)
            }
            "vkDestroyRenderPass" => {
                self.passes.remove(&View::call(&call.image).u64("renderPass").unwrap_or(0));
                next.run(cx, call)
            }
            _ => match shaders(call)? {
                Some(mut edited) => {
                    self.tally.done("calls with shaders that read one sample in place of several");
                    next.run(cx, &mut edited)
                }
                None => next.run(cx, call),
            },
        }
    }

    fn finish(&mut self, cx: &mut Executor) -> Result<()> {
        self.tally.say(cx);
        Ok(())
    }
}
