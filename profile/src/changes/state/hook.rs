//! Changes of graphics state: of pipelines, and of what commands set dynamically.
//!
//! A pipeline whose state is to be another is made once more beside the original, with edited create infos; so are the libraries
//! that it is made of. The changed one is bound before a draw that is chosen, and the original again before one that is not. State
//! that commands set is set again in the same way: with changed values before a draw that is chosen, with the application's behind.
//! Which state a pipeline leaves to commands its create info says; shader objects leave all. What is bound the executor knows
//! ([`world`]); of the dynamic state that a change is about, which nobody else follows, the calls that set it are kept, a recording
//! long. Guarantees: changed pipelines go with their originals.
//! Refuses, by a count, pipelines that the driver does not make so, and those that commands of the device's own bind.

use super::change::{Change, dynamic_of};
use crate::changes::beside::Beside;
use crate::changes::bound::Bound;
use crate::changes::choice::{Choice, Chooser};
use crate::changes::edit::{self, Edit};
use crate::changes::tally::Tally;
use gfxr_parse::ahead::Call;
use gfxr_parse::image::Image;
use gfxr_parse::schema::CommandDef;
use gfxr_parse::schema::generated::COMMANDS;
use gfxr_parse::view::View;
use replay::ash;
use replay::ash::vk::{self, DynamicState};
use replay::error::Result;
use replay::exec::Executor;
use replay::hook::{Commands, Hook, Next};
use std::collections::HashMap;
use world::objects::BindPoint;
use world::{Depth, Outcome};

/// A call that set dynamic state.
struct Set {
    call: Call,
    state: DynamicState,
    /// It as it is to be, if that is another.
    edited: Option<Call>,
    /// Whether what it sets is changed now.
    changed: bool,
}

/// See the module's header.
pub struct StateHook {
    changes: Vec<(Change, Tally)>,
    choice: Choice,
    chooser: Chooser,
    /// What pipelines leave to commands, by captured id.
    dynamic: HashMap<u64, Vec<DynamicState>>,
    /// The changed ones.
    pipelines: Beside<vk::Pipeline>,
    /// And calls that set state, in order; of those that set the same the last.
    bound: Bound<Vec<Set>>,
}

const CREATE: &str = "vkCreateGraphicsPipelines";
/// What is seen beside draws and commands that set state.
const OTHERS: [&str; 5] =
    [CREATE, "vkDestroyPipeline", "vkDestroyDevice", "vkCmdBindPipeline", "vkCmdExecuteCommands"];
/// VK_PIPELINE_CREATE_LIBRARY_BIT_KHR.
const LIBRARY: u64 = 0x800;

/// Whether a command draws.
fn draws(c: &CommandDef) -> bool {
    ["vkCmdDraw", "vkCmdExecuteGeneratedCommands"].iter().any(|d| c.name.starts_with(d))
}

/// What identifies the state that a call sets: its command, and from which element to which.
fn slot(call: &Call) -> (&'static str, Option<u32>, Option<u32>) {
    let v = View::call(&call.image);
    let n = |names: [&str; 2]| names.iter().find_map(|n| v.u32(n));
    (call.command.canonical, n(["firstScissor", "firstAttachment"]), n(["scissorCount", "attachmentCount"]))
}

impl StateHook {
    /// One change, for these commands.
    pub fn new(change: Change, choice: Choice) -> Self {
        StateHook {
            changes: vec![(change, Tally::new(change.name))],
            chooser: Chooser::new(choice.clone()),
            choice,
            dynamic: HashMap::new(),
            pipelines: Beside::new(ash::Device::destroy_pipeline),
            bound: Bound::new(BindPoint::Graphics),
        }
    }

    /// Another; not if it is for other commands, or there already.
    pub fn add(&mut self, change: Change, choice: &Choice) -> bool {
        let fits = self.choice == *choice && self.changes.iter().all(|c| c.0.name != change.name);
        if fits {
            self.changes.push((change, Tally::new(change.name)));
        }
        fits
    }

    fn dynamics(&self) -> impl Iterator<Item = (&Change, &'static super::change::Dynamic)> + '_ {
        self.changes.iter().flat_map(|c| c.0.dynamic.iter().map(|d| (&c.0, d)))
    }

    /// What is edited in the create infos of a call.
    fn edits(&self, image: &Image) -> Vec<Edit> {
        let mut all = vec![];
        let v = View::call(image);
        for (info, id) in v.structs("pCreateInfos").zip(v.u64s("pPipelines")) {
            if !self.choice.may_run(id) && flags(info) & LIBRARY == 0 {
                continue;
            }
            let dynamic = dynamic_of(info);
            let edits = self.changes.iter().flat_map(|c| (c.0.pipeline)(&c.0, info));
            all.extend(edits.filter(|e| !dynamic.contains(&e.0)).map(|e| e.1));
        }
        all
    }

    /// vkCreateGraphicsPipelines.
    fn create(&mut self, cx: &mut Executor, call: &mut Call, next: Next) -> Result<Outcome> {
        let v = View::call(&call.image);
        let libraries: Vec<u64> = v.structs("pCreateInfos").flat_map(libraries).collect();
        let ids = v.u64s("pPipelines");
        let of_library = libraries.iter().any(|l| self.pipelines.get(*l).is_some());
        ids.iter().for_each(|id| self.pipelines.forget(*id));
        let (mut edited, edits) = (call.clone(), self.edits(&call.image));
        if edit::apply(&mut edited.image, &edits) || of_library {
            if self.pipelines.make(cx, (&mut edited, &ids), &libraries, next)? {
                self.tallies(|t| t.done("pipelines made once more"));
            } else {
                self.tallies(|t| t.beyond("pipelines that cannot be made so stay as they are", 1));
            }
        }
        for (info, id) in View::call(&call.image).structs("pCreateInfos").zip(ids) {
            let mut dynamic = dynamic_of(info);
            let of_libraries = self::libraries(info);
            dynamic.extend(of_libraries.iter().filter_map(|l| self.dynamic.get(l)).flatten());
            self.dynamic.insert(id, dynamic);
        }
        next.run(cx, call)
    }

    fn tallies(&mut self, each: impl Fn(&mut Tally)) {
        self.changes.iter_mut().for_each(|c| each(&mut c.1));
    }

    /// A call sets dynamic state.
    fn set(&mut self, cx: &Executor, call: &Call, state: DynamicState) {
        let mut edited = call.clone();
        let of_it = self.dynamics().filter(|d| d.1.command == call.command.canonical);
        let edits: Vec<Edit> = of_it.flat_map(|(c, d)| (d.edits)(c, View::call(&call.image))).collect();
        let edited = edit::apply(&mut edited.image, &edits).then_some(edited);
        let sets = &mut self.bound.recording(cx, call.image.u64(0)).also;
        let same = slot(call);
        sets.retain(|s| slot(&s.call) != same);
        sets.push(Set { call: call.clone(), state, edited, changed: false });
    }

    /// Something is drawn: what is bound and set becomes what it is to be.
    fn draw(&mut self, cx: &mut Executor, call: &Call, next: Next) -> Result<()> {
        let buffer = call.image.u64(0);
        let world = cx.objects.world();
        let chosen = self.chooser.chosen(world, call, Some(BindPoint::Graphics));
        let bound = world.program(buffer, BindPoint::Graphics);
        let pipeline = bound.first().filter(|id| world.pipelines.contains_key(*id)).copied();
        let now = self.bound.recording(cx, buffer);
        let dynamic = pipeline.and_then(|id| self.dynamic.get(&id));
        let mut applies = match pipeline.filter(|id| self.pipelines.get(*id).is_some()) {
            Some(id) => now.bind(cx, (id, chosen), &self.pipelines, next)?,
            None => false,
        };
        // All of them, in order, as one may set part of what another has set.
        for set in &mut now.also {
            let counts = match pipeline {
                Some(_) => dynamic.is_some_and(|d| d.contains(&set.state)),
                None => true,
            };
            applies |= counts && set.edited.is_some();
            if counts && set.changed != chosen {
                let again = if chosen { set.edited.as_ref() } else { None };
                next.run(cx, &mut again.unwrap_or(&set.call).clone())?;
                set.changed = chosen;
            }
        }
        if chosen && applies {
            self.tallies(|t| t.done("draws with changed state"));
        } else if chosen {
            self.tallies(|t| t.beyond("draws have nothing that could be changed, or are so already", 1));
        }
        if chosen && call.command.name.starts_with("vkCmdExecuteGenerated") {
            self.tallies(|t| {
                t.beyond("commands that the device generates may bind pipelines that are not changed", 1)
            });
        }
        Ok(())
    }
}

/// VkPipelineCreateFlags2.
fn flags(info: View<'_>) -> u64 {
    let two = info.next("VkPipelineCreateFlags2CreateInfo").and_then(|two| two.u64("flags"));
    two.or_else(|| info.u64("flags")).unwrap_or(0)
}

fn libraries(info: View<'_>) -> Vec<u64> {
    info.next("VkPipelineLibraryCreateInfoKHR").map_or(vec![], |l| l.u64s("pLibraries"))
}

impl Hook for StateHook {
    fn name(&self) -> &'static str {
        "changes of state"
    }

    fn follows(&self) -> Depth {
        Depth::Commands
    }

    fn wants(&self) -> Commands {
        let seen = |c: &&CommandDef| {
            draws(c) || OTHERS.contains(&c.name) || self.dynamics().any(|d| d.1.command == c.canonical)
        };
        let all = COMMANDS.iter().filter(seen).map(|c| c.name);
        let all: Vec<&str> = all.chain(self.chooser.wants().iter().copied()).collect();
        Commands::named(&all)
    }

    fn call(&mut self, cx: &mut Executor, call: &mut Call, next: Next) -> Result<Outcome> {
        let first = call.image.u64(0);
        if let Some(c) = self.changes.first_mut() {
            self.chooser.see(cx.objects.world(), call, &mut c.1);
        }
        match call.command.name {
            CREATE => return self.create(cx, call, next),
            "vkDestroyPipeline" => {
                let id = View::call(&call.image).u64("pipeline").unwrap_or(0);
                self.dynamic.remove(&id);
                return self.pipelines.destroyed(cx, call, id, next);
            }
            "vkDestroyDevice" => self.pipelines.give_back(cx, Some(first))?,
            "vkCmdBindPipeline" => return self.bound.binds(cx, call, next),
            "vkCmdExecuteCommands" => self.bound.forget(first),
            _ if draws(call.command) => self.draw(cx, call, next)?,
            _ => {
                let outcome = next.run(cx, call)?;
                let state =
                    self.dynamics().find(|d| d.1.command == call.command.canonical).map(|d| d.1.state);
                if let Some(state) = state {
                    self.set(cx, call, state);
                }
                return Ok(outcome);
            }
        }
        next.run(cx, call)
    }

    fn finish(&mut self, cx: &mut Executor) -> Result<()> {
        self.changes.iter_mut().for_each(|c| c.1.say(cx));
        self.pipelines.give_back(cx, None)
    }
}

#[cfg(test)]
#[path = "tests.rs"]
mod tests;
