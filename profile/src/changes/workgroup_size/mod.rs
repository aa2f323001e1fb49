//! `workgroup-size`: compute shaders run in workgroups of half, or of twice, the size, and dispatches have twice, or half, as many of them.
//!
//! A shader that may be run so ([`shader`]) is made once more beside the original, and so is each compute pipeline of it; this is bound before a dispatch that is
//! chosen, and the original again before one that is not. Guarantees: the same invocations run, with the same global ids; what is made goes with the
//! original. Refuses, by a count: shaders to which the workgroup is something that they know or share, sizes that the device does not have,
//! dispatches that cannot be divided, and those of which memory alone knows the size.

mod shader;

use super::beside::Beside;
use super::bound::Bound;
use super::choice::{AT, Choice, Chooser, LABEL, PIPELINE};
use super::edit::{self, Code, Edit, set};
use super::entry::{Entry, Made, no_others};
use super::subgroup_size::{FULL, REQUIRED};
use super::tally::Tally;
use gfxr_parse::ahead::Call;
use gfxr_parse::schema::CommandDef;
use gfxr_parse::schema::generated::COMMANDS;
use gfxr_parse::view::View;
use replay::ash::{self, vk};
use replay::error::Result;
use replay::exec::Executor;
use replay::hook::{Commands, Hook, Next};
use shader::{By, Resized};
use std::collections::HashMap;
use trace::plan::Use;
use world::objects::BindPoint;
use world::{Depth, Outcome};

/// See the module's header.
pub const ENTRY: Entry = Entry {
    name: "workgroup-size",
    options: &["half", "double", AT, LABEL, PIPELINE],
    about: "compute shaders whose workgroups share nothing run in workgroups of half (`workgroup-size:half`) or twice the size (`workgroup-size:double`)",
    asks: "does time depend on how many invocations a workgroup has?",
    pictures_stay: true,
    make,
};

fn make(of: &Use) -> std::result::Result<Made, String> {
    let (choice, others) = Choice::read(of, &[AT, LABEL, PIPELINE])?;
    let (sizes, others): (Vec<String>, Vec<String>) =
        others.into_iter().partition(|o| ENTRY.options[..2].contains(&o.as_str()));
    no_others(&ENTRY, &others)?;
    let by = match &sizes[..] {
        [one] if one == "half" => By::Half,
        [_] => By::Double,
        _ => {
            return Err(
                "change workgroup-size: say one of workgroup-size:half and workgroup-size:double".into()
            );
        }
    };
    Ok(Made::Hook(Box::new(WorkgroupSize {
        by,
        chooser: Chooser::new(choice),
        tally: Tally::new(ENTRY.name),
        modules: Beside::new(ash::Device::destroy_shader_module),
        axes: HashMap::new(),
        pipelines: Beside::new(ash::Device::destroy_pipeline),
        pipeline_axes: HashMap::new(),
        bound: Bound::new(BindPoint::Compute),
    })))
}

struct WorkgroupSize {
    by: By,
    chooser: Chooser,
    tally: Tally,
    modules: Beside<vk::ShaderModule>,
    /// By shader module of which there is another: along which axis its workgroups are of another size.
    axes: HashMap<u64, usize>,
    pipelines: Beside<vk::Pipeline>,
    /// The same by pipeline.
    pipeline_axes: HashMap<u64, usize>,
    bound: Bound<()>,
}

const OTHERS: [&str; 7] = [
    "vkCreateShaderModule",
    "vkDestroyShaderModule",
    "vkCreateComputePipelines",
    "vkDestroyPipeline",
    "vkDestroyDevice",
    "vkCmdBindPipeline",
    "vkCmdExecuteCommands",
];
/// What a dispatch has for each axis: its workgroups, and the first of them.
const COUNTS: [&str; 3] = ["groupCountX", "groupCountY", "groupCountZ"];
const BASES: [&str; 3] = ["baseGroupX", "baseGroupY", "baseGroupZ"];

const SHARED: &str =
    "compute shaders whose workgroups are more than a number of invocations stay as they are";
const ELSEWHERE: &str = "shaders that are not in a shader module of their own stay as they are";
const SUBGROUPS: &str =
    "compute pipelines that ask for subgroups, and those made with them, stay as they are";
const ODD: &str = "dispatches whose workgroups cannot be divided, or would be too many, stay as they are";
const IN_MEMORY: &str = "indirect dispatches have their sizes in memory alone, and stay as they are";

fn dispatches(c: &CommandDef) -> bool {
    c.name.starts_with("vkCmdDispatch")
}

/// What is edited in a dispatch, whose workgroups along an axis are of another size; none if they cannot be divided, or are more than `most`.
fn of_dispatch(v: View<'_>, by: By, axis: usize, most: u32) -> Option<Vec<Edit>> {
    let numbers = [COUNTS[axis], BASES[axis]];
    let all = numbers.iter().filter_map(|n| Some((n, v.u32(n)?)));
    all.map(|(name, n)| {
        let now = match by {
            By::Half => n.checked_mul(2)?,
            By::Double => n.is_multiple_of(2).then_some(n / 2)?,
        };
        set(v, name, now).filter(|_| now <= most)
    })
    .collect()
}

impl WorkgroupSize {
    fn module(&mut self, cx: &mut Executor, call: &mut Call, next: Next) -> Result<Outcome> {
        let v = View::call(&call.image);
        let ids = v.u64s("pShaderModule");
        let found = v.one("pCreateInfo").and_then(Code::of);
        ids.iter().for_each(|id| {
            self.modules.forget(*id);
            self.axes.remove(id);
        });
        let Some((code, words)) = found else { return next.run(cx, call) };
        match shader::resized(&words, self.by) {
            Resized::NoCompute => {}
            Resized::Not => self.tally.beyond(SHARED, 1),
            Resized::To { words, axis, size } => {
                if self.fits(cx, call.image.u64(0), size) {
                    let mut ours = call.clone();
                    code.set(&mut ours.image, &words);
                    if self.modules.make(cx, (&mut ours, &ids), &[], next)? {
                        self.axes.extend(ids.iter().map(|id| (*id, axis)));
                    }
                } else {
                    self.tally
                        .beyond("compute shaders whose workgroups would be too large stay as they are", 1);
                }
            }
        }
        next.run(cx, call)
    }

    /// Whether the device has workgroups of this size.
    fn fits(&self, cx: &mut Executor, device: u64, size: [u32; 3]) -> bool {
        let Some(limits) = limits(cx, device) else { return false };
        let within = size.iter().zip(limits.max_compute_work_group_size).all(|(n, most)| *n <= most);
        within && size.iter().product::<u32>() <= limits.max_compute_work_group_invocations
    }

    fn pipelines(&mut self, cx: &mut Executor, call: &mut Call, next: Next) -> Result<Outcome> {
        let v = View::call(&call.image);
        let ids = v.u64s("pPipelines");
        let modules: Vec<u64> = v
            .structs("pCreateInfos")
            .map(|i| i.structs("stage").next().and_then(|s| s.u64("module")).unwrap_or(0))
            .collect();
        ids.iter().for_each(|id| {
            self.pipelines.forget(*id);
            self.pipeline_axes.remove(id);
        });
        let elsewhere = modules.iter().filter(|m| **m == 0).count();
        if elsewhere > 0 {
            self.tally.beyond(ELSEWHERE, elsewhere as u64);
        }
        let stages = v.structs("pCreateInfos").flat_map(|i| i.structs("stage"));
        let of_subgroups =
            stages.filter(|s| s.u32("flags").unwrap_or(0) & FULL != 0 || s.next(REQUIRED).is_some());
        let bound = of_subgroups.count();
        if bound > 0 {
            self.tally.beyond(SUBGROUPS, bound as u64);
            return next.run(cx, call);
        }
        let axes: Vec<(u64, usize)> =
            ids.iter().zip(&modules).filter_map(|(id, m)| Some((*id, *self.axes.get(m)?))).collect();
        if !axes.is_empty() {
            let mut edited = call.clone();
            let modules: Vec<u64> = modules.iter().copied().filter(|m| self.axes.contains_key(m)).collect();
            let Self { modules: ours, pipelines, .. } = self;
            if ours.within(cx, &modules, |cx| pipelines.make(cx, (&mut edited, &ids), &[], next))? {
                axes.iter().for_each(|_| self.tally.done("compute pipelines made once more"));
                self.pipeline_axes.extend(axes);
            } else {
                self.tally.beyond("pipelines that cannot be made so stay as they are", 1);
            }
        }
        next.run(cx, call)
    }

    /// What a dispatch becomes, if it is changed; the pipeline that it has to have is bound.
    fn dispatch(&mut self, cx: &mut Executor, call: &Call, next: Next) -> Result<Option<Call>> {
        let buffer = call.image.u64(0);
        let world = cx.objects.world();
        let chosen = self.chooser.chosen(world, call, Some(BindPoint::Compute));
        let bound = world.program(buffer, BindPoint::Compute).first().copied();
        let device = bound.map_or(0, |id| cx.objects.any(id).map_or(0, |e| e.owner));
        let Some((id, axis)) = bound.and_then(|id| Some((id, *self.pipeline_axes.get(&id)?))) else {
            return Ok(None);
        };
        let most = limits(cx, device).map_or(0, |l| l.max_compute_work_group_count[axis]);
        let v = View::call(&call.image);
        let edits = if chosen { of_dispatch(v, self.by, axis, most) } else { None };
        let indirect = v.u32(COUNTS[axis]).is_none();
        // (without counts there is nothing to edit)
        let edits = edits.filter(|e| !e.is_empty());
        if chosen && edits.is_none() {
            self.tally.beyond(if indirect { IN_MEMORY } else { ODD }, 1);
        }
        let now = self.bound.recording(cx, buffer);
        if !now.bind(cx, (id, edits.is_some()), &self.pipelines, next)? {
            return Ok(None);
        }
        Ok(edits.map(|edits| {
            let mut edited = call.clone();
            edit::apply(&mut edited.image, &edits);
            self.tally.done("dispatches in workgroups of another size");
            edited
        }))
    }
}

fn limits(cx: &mut Executor, device: u64) -> Option<vk::PhysicalDeviceLimits> {
    let vk = cx.backend.vulkan()?;
    Some(vk.device(device).ok()?.gpu.properties.limits)
}

impl Hook for WorkgroupSize {
    fn name(&self) -> &'static str {
        "change workgroup-size"
    }

    fn follows(&self) -> Depth {
        Depth::Commands
    }

    fn wants(&self) -> Commands {
        let all = COMMANDS.iter().filter(|c| dispatches(c) || OTHERS.contains(&c.name)).map(|c| c.name);
        let all: Vec<&str> = all.chain(self.chooser.wants().iter().copied()).collect();
        Commands::named(&all)
    }

    fn call(&mut self, cx: &mut Executor, call: &mut Call, next: Next) -> Result<Outcome> {
        let first = call.image.u64(0);
        self.chooser.see(cx.objects.world(), call, &mut self.tally);
        match call.command.name {
            "vkCreateShaderModule" => return self.module(cx, call, next),
            "vkCreateComputePipelines" => return self.pipelines(cx, call, next),
            "vkDestroyShaderModule" => {
                let id = View::call(&call.image).u64("shaderModule").unwrap_or(0);
                self.axes.remove(&id);
                return self.modules.destroyed(cx, call, id, next);
            }
            "vkDestroyPipeline" => {
                let id = View::call(&call.image).u64("pipeline").unwrap_or(0);
                self.pipeline_axes.remove(&id);
                return self.pipelines.destroyed(cx, call, id, next);
            }
            "vkDestroyDevice" => {
                self.pipelines.give_back(cx, Some(first))?;
                self.modules.give_back(cx, Some(first))?;
            }
            "vkCmdBindPipeline" => return self.bound.binds(cx, call, next),
            "vkCmdExecuteCommands" => self.bound.forget(first),
            _ if dispatches(call.command) => {
                if let Some(mut edited) = self.dispatch(cx, call, next)? {
                    return next.run(cx, &mut edited);
                }
            }
            _ => {}
        }
        next.run(cx, call)
    }

    fn finish(&mut self, cx: &mut Executor) -> Result<()> {
        self.tally.say(cx);
        self.pipelines.give_back(cx, None)?;
        self.modules.give_back(cx, None)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn dispatches_have_as_many_invocations_as_before_or_stay() {
        let dispatch = |name: &str, values: &[u32]| {
            Call::written(name, |w| {
                w.u64(1);
                for v in values {
                    w.u32(*v);
                }
            })
            .expect("a call")
        };
        let of = |call: &Call, by, axis, most| {
            let edits = of_dispatch(View::call(&call.image), by, axis, most)?;
            Some(edits.iter().map(|e| (e.at / 8, e.value)).collect::<Vec<_>>())
        };
        let plain = dispatch("vkCmdDispatch", &[6, 7, 1]);
        assert_eq!(of(&plain, By::Half, 1, 99), Some(vec![(2, 14)]));
        assert_eq!(of(&plain, By::Double, 0, 99), Some(vec![(1, 3)]));
        assert_eq!((of(&plain, By::Double, 1, 99), of(&plain, By::Half, 1, 13)), (None, None));
        let base = dispatch("vkCmdDispatchBase", &[4, 3, 0, 6, 8, 1]);
        assert_eq!(of(&base, By::Half, 0, 99), Some(vec![(4, 12), (1, 8)]));
        assert_eq!(of(&base, By::Double, 1, 99), None, "its first workgroup would be between two");
    }
}
