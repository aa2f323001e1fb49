//! `subgroup-size`: shaders run in subgroups of the size that is asked for, where the device lets one ask.
//!
//! Guarantees: a stage that asks for a size itself is asked for this one instead. Refuses, by an error: devices without the feature, sizes that they do
//! not have; by a count: stages for which this device takes no size, shaders with workgroups where the largest that the device has is of
//! more such subgroups than it takes, workgroups that ask for full subgroups, and pipelines of ray tracing.
#![allow(unsafe_code)]

use super::choice::{Choice, PIPELINE};
use super::edit;
use super::entry::{Entry, Made, no_others};
use super::tally::Tally;
use gfxr_parse::ahead::Call;
use gfxr_parse::schema::generated::STRUCTS;
use gfxr_parse::schema::struct_named;
use gfxr_parse::view::View;
use replay::ash::vk;
use replay::error::{Error, Kind, Result};
use replay::exec::Executor;
use replay::hook::{Commands, Feature, Hook, Needs, Next};
use std::collections::HashMap;
use trace::plan::Use;
use world::Outcome;

/// See the module's header.
pub const ENTRY: Entry = Entry {
    name: "subgroup-size",
    options: &["SIZE", PIPELINE],
    about: "shaders are compiled for subgroups of this size (`subgroup-size:32`)",
    asks: "does time depend on how many invocations run together?",
    pictures_stay: true,
    make,
};

fn make(of: &Use) -> std::result::Result<Made, String> {
    let (choice, others) = Choice::read(of, &[PIPELINE])?;
    let (sizes, others): (Vec<String>, Vec<String>) =
        others.into_iter().partition(|o| o.bytes().all(|b| b.is_ascii_digit()));
    no_others(&ENTRY, &others)?;
    let size = match &sizes[..] {
        [size] => size.parse::<u32>().ok().filter(|s| s.is_power_of_two() && *s <= 128),
        _ => None,
    };
    let size =
        size.ok_or("change subgroup-size: say one size, a power of two up to 128, as in subgroup-size:32")?;
    let tally = Tally::new(ENTRY.name);
    Ok(Made::Hook(Box::new(SubgroupSize { size, choice, tally, stages: HashMap::new() })))
}

struct SubgroupSize {
    size: u32,
    choice: Choice,
    tally: Tally,
    /// By device: the stages for which it takes a size.
    stages: HashMap<u64, vk::ShaderStageFlags>,
}

const FEATURE: Feature = Feature {
    structure: "VkPhysicalDeviceSubgroupSizeControlFeatures",
    member: "subgroupSizeControl",
    extension: "VK_EXT_subgroup_size_control",
    core: vk::API_VERSION_1_3,
};

const WANTS: [&str; 4] = [
    "vkCreateGraphicsPipelines",
    "vkCreateComputePipelines",
    "vkCreateRayTracingPipelinesKHR",
    "vkCreateShadersEXT",
];
/// What asks for a size of a stage's subgroups.
pub const REQUIRED: &str = "VkPipelineShaderStageRequiredSubgroupSizeCreateInfo";
/// Stages of workgroups.
const WORKGROUPS: vk::ShaderStageFlags = vk::ShaderStageFlags::from_raw(
    vk::ShaderStageFlags::COMPUTE.as_raw()
        | vk::ShaderStageFlags::TASK_EXT.as_raw()
        | vk::ShaderStageFlags::MESH_EXT.as_raw(),
);
/// VK_PIPELINE_SHADER_STAGE_CREATE_ALLOW_VARYING_SUBGROUP_SIZE_BIT, …REQUIRE_FULL_SUBGROUPS_BIT.
const VARYING: u32 = 1;
/// See [`VARYING`].
pub const FULL: u32 = 2;
/// The same of VkShaderCreateFlagsEXT.
const OBJECT_VARYING: u32 = 2;
const OBJECT_FULL: u32 = 4;

impl SubgroupSize {
    /// The stages for which a device takes this size; an error if it takes it for none.
    fn allowed(&mut self, cx: &mut Executor, device: u64) -> Result<vk::ShaderStageFlags> {
        if let Some(stages) = self.stages.get(&device) {
            return Ok(*stages);
        }
        let Some(vk) = cx.backend.vulkan() else { return Ok(vk::ShaderStageFlags::empty()) };
        let refused = |why: String| Error::new(Kind::Unsupported, format!("change subgroup-size: {why}"));
        let d = vk.device(device)?;
        if !vk.lacks(d.gpu_id, &[FEATURE]).is_empty() {
            return Err(refused("this device has no subgroupSizeControl".into()));
        }
        let Some(instance) = vk.instance_of(device) else {
            return Err(refused("the instance is gone".into()));
        };
        let mut sizes = vk::PhysicalDeviceSubgroupSizeControlProperties::default();
        let mut all = vk::PhysicalDeviceProperties2::default().push_next(&mut sizes);
        // SAFETY: a live device of this instance, which has the struct, as it has the feature.
        unsafe { instance.get_physical_device_properties2(d.gpu.handle, &mut all) };
        let (least, most) = (sizes.min_subgroup_size, sizes.max_subgroup_size);
        if !(least..=most).contains(&self.size) {
            return Err(refused(format!(
                "this device has subgroups of {least} to {most}, not of {}",
                self.size
            )));
        }
        let mut stages = sizes.required_subgroup_size_stages;
        let fit = u64::from(sizes.max_compute_workgroup_subgroups) * u64::from(self.size);
        if fit < d.gpu.properties.limits.max_compute_work_group_invocations.into() {
            // (which workgroups a shader has is not looked at)
            stages &= !WORKGROUPS;
        }
        self.stages.insert(device, stages);
        Ok(stages)
    }
}

impl Hook for SubgroupSize {
    fn name(&self) -> &'static str {
        "change subgroup-size"
    }

    fn needs(&self) -> Needs {
        Needs { optional_features: vec![FEATURE], ..Needs::default() }
    }

    fn wants(&self) -> Commands {
        Commands::named(&WANTS)
    }

    fn call(&mut self, cx: &mut Executor, call: &mut Call, next: Next) -> Result<Outcome> {
        if call.command.name == "vkCreateRayTracingPipelinesKHR" {
            self.tally.beyond("pipelines of ray tracing stay as they are", 1);
            return next.run(cx, call);
        }
        let allowed = self.allowed(cx, call.image.u64(0))?;
        let v = View::call(&call.image);
        let objects = call.command.name == "vkCreateShadersEXT";
        let ids = v.u64s(if objects { "pShaders" } else { "pPipelines" });
        let (varying, full) = if objects { (OBJECT_VARYING, OBJECT_FULL) } else { (VARYING, FULL) };
        let (mut edits, mut chained) = (vec![], vec![]);
        for (info, id) in v.structs("pCreateInfos").zip(ids) {
            if !self.choice.may_run(id) {
                continue;
            }
            let stages: Vec<View<'_>> = match objects {
                true => vec![info],
                false => info.structs("pStages").chain(info.structs("stage")).collect(),
            };
            for stage in stages {
                let (bit, flags) = (stage.u32("stage").unwrap_or(0), stage.u32("flags").unwrap_or(0));
                let bit = vk::ShaderStageFlags::from_raw(bit);
                if !allowed.contains(bit) && WORKGROUPS.contains(bit) {
                    self.tally.beyond(
                        "compute and mesh shaders stay: no size is taken for them, or a workgroup may have too many such subgroups",
                        1,
                    );
                } else if !allowed.contains(bit) {
                    self.tally.beyond("shaders of stages that take no size here stay as they are", 1);
                } else if flags & full != 0 {
                    self.tally.beyond("shaders that ask for full subgroups stay as they are", 1);
                } else if let Some(own) = stage.next(REQUIRED) {
                    edits.extend(edit::set(own, "requiredSubgroupSize", self.size));
                    self.tally.done("shaders of another subgroup size");
                } else {
                    edits.extend(edit::set(stage, "flags", flags & !varying));
                    chained.extend(stage.definition("pNext").map(|(_, at)| at));
                    self.tally.done("shaders of another subgroup size");
                }
            }
        }
        let mut edited = call.clone();
        edit::apply(&mut edited.image, &edits);
        let stype = struct_named(REQUIRED).and_then(|id| STRUCTS[id as usize].stype).unwrap_or(0);
        chained.into_iter().for_each(|next| edit::chain(&mut edited.image, next, stype, &[self.size]));
        next.run(cx, &mut edited)
    }

    fn finish(&mut self, cx: &mut Executor) -> Result<()> {
        self.tally.say(cx);
        Ok(())
    }
}
