//! What the driver has bound in command buffers: what the application asked for, and in its place what is ours.
//!
//! What the application has bound the executor knows ([`world`]). Guarantees: where ours was bound, nothing of the
//! application's counts as bound any more, and the other way round.

use gfxr_parse::view::View;
use replay::ash::vk;
use std::collections::HashMap;
use std::ops::Range;
use world::World;
use world::objects::BindPoint;

/// What is bound where.
pub const POINTS: [(BindPoint, vk::PipelineBindPoint); 3] = [
    (BindPoint::Graphics, vk::PipelineBindPoint::GRAPHICS),
    (BindPoint::Compute, vk::PipelineBindPoint::COMPUTE),
    (BindPoint::RayTracing, vk::PipelineBindPoint::RAY_TRACING_KHR),
];

/// One of ours.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Ours {
    /// A set and its dynamic offsets.
    Set(vk::DescriptorSet, Vec<u32>),
    /// Push descriptors, in these states by binding.
    Pushed(Vec<u64>),
}

/// What one bind point has.
#[derive(Clone, Debug, Default)]
pub struct Point {
    /// By set: the driver was told of what the application bound, and nothing of ours was bound since.
    pub told: Vec<bool>,
    /// The repartitioned layout that ours are bound with.
    pub layout: u64,
    /// Ours, by set.
    pub ours: Vec<Option<Ours>>,
}

impl Point {
    /// The application binds sets.
    pub fn bind(&mut self, sets: Range<usize>, told: bool) {
        if self.told.len() < sets.end {
            self.told.resize(sets.end, true);
        }
        if told {
            self.ours.clear();
        }
        self.told[sets].fill(told);
    }

    /// Ours are bound: the driver has forgotten the application's.
    pub fn ours_bound(&mut self) {
        self.told.fill(false);
    }
}

/// A command buffer, and the number of its recording.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Recording(u64, u64);

impl Recording {
    /// The one that is under way.
    pub fn of(world: &World, buffer: u64) -> Self {
        Recording(buffer, world.recording(buffer).map_or(0, |r| r.number))
    }
}

/// By captured command buffer: the number of its recording, and what its bind points have.
#[derive(Debug, Default)]
pub struct Buffers(HashMap<u64, (u64, [Point; 3])>);

impl Buffers {
    /// What was bound is not defined any more.
    pub fn forget(&mut self, buffer: u64) {
        self.0.remove(&buffer);
    }

    /// What a bind point has; none if there is no such.
    pub fn point(&mut self, Recording(buffer, number): Recording, point: usize) -> Option<&mut Point> {
        let of = self.0.entry(buffer).or_default();
        if of.0 != number {
            *of = (number, Default::default());
        }
        of.1.get_mut(point)
    }
}

/// A call that binds sets, or pushes descriptors.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Binds {
    /// The pipeline layout.
    pub layout: u64,
    /// Which sets.
    pub sets: Range<usize>,
    /// Indices in [`POINTS`].
    pub points: Vec<usize>,
}

impl Binds {
    /// What a call of [`BINDS`] says.
    pub fn of(v: View<'_>, world: &World) -> Self {
        let structs =
            ["pBindDescriptorSetsInfo", "pPushDescriptorSetInfo", "pPushDescriptorSetWithTemplateInfo"];
        let info = structs.iter().find_map(|s| v.one(s)).unwrap_or(v);
        let n = |name| info.u32(name).map(|n| n as usize);
        let first = n("firstSet").or(n("set")).unwrap_or(0);
        let count = if n("firstSet").is_some() { info.u64s("pDescriptorSets").len() } else { 1 };
        let template = info.u64("descriptorUpdateTemplate").and_then(|t| world.templates.get(&t));
        let points = match (info.u32("pipelineBindPoint"), template) {
            (Some(point), _) => vec![index(point)],
            (None, Some(t)) => vec![index(t.bind_point)],
            (None, None) => {
                let points = BindPoint::of_stages(info.u32("stageFlags").unwrap_or(0));
                points.filter_map(|p| POINTS.iter().position(|o| o.0 == p)).collect()
            }
        };
        Binds { layout: info.u64("layout").unwrap_or(0), sets: first..first + count, points }
    }
}

/// Commands that bind sets or push descriptors.
pub const BINDS: [&str; 11] = [
    "vkCmdBindDescriptorSets",
    "vkCmdBindDescriptorSets2",
    "vkCmdBindDescriptorSets2KHR",
    "vkCmdPushDescriptorSet",
    "vkCmdPushDescriptorSetKHR",
    "vkCmdPushDescriptorSet2",
    "vkCmdPushDescriptorSet2KHR",
    "vkCmdPushDescriptorSetWithTemplate",
    "vkCmdPushDescriptorSetWithTemplateKHR",
    "vkCmdPushDescriptorSetWithTemplate2",
    "vkCmdPushDescriptorSetWithTemplate2KHR",
];

/// The index of a VkPipelineBindPoint in [`POINTS`].
pub fn index(raw: u32) -> usize {
    POINTS.iter().position(|p| p.1.as_raw() as u32 == raw).unwrap_or(POINTS.len())
}

/// Which bind point a command runs the pipeline of.
pub fn runs(command: &str) -> Option<usize> {
    const OTHERS: [&str; 2] = ["vkCmdDispatchDataGraph", "vkCmdDispatchTile"];
    if OTHERS.iter().any(|o| command.starts_with(o)) {
        return None;
    }
    ["vkCmdDraw", "vkCmdDispatch", "vkCmdTraceRays"].iter().position(|p| command.starts_with(p))
}

#[cfg(test)]
mod tests {
    use super::*;
    use gfxr_parse::schema::generated::COMMANDS;
    use gfxr_parse::writer::ParamWriter;
    use world::Follow;
    use world::Outcome;
    use world::bench::{call, stype};

    /// Whatever way the sets 2 and 3 (or set 2) of layout 30 are bound for compute, or for all that stages run at.
    #[test]
    fn the_older_and_the_newer_commands_say_the_same() {
        let mut follow = Follow::new();
        let template = call("vkCreateDescriptorUpdateTemplate", |w| {
            w.u64(1);
            w.structure(|w| {
                w.u32(stype("VkDescriptorUpdateTemplateCreateInfo")).null_struct().u32(0).u32(0).null_array();
                w.u32(1).u64(0).u32(1).u64(30).u32(2);
            });
            w.null_struct().u64_ptr(45).i32(0);
        });
        follow.call(&template, Outcome::captured(&template), &mut ());
        let of = |name: &str, params: &dyn Fn(&mut ParamWriter)| {
            Binds::of(View::call(&call(name, |w| params(w)).image), follow.world())
        };
        let binds = |sets, points: &[usize]| Binds { layout: 30, sets, points: points.to_vec() };
        let plain = of("vkCmdBindDescriptorSets", &|w| {
            w.u64(9).u32(1).u64(30).u32(2).u32(2).u64_array(&[50, 51]).u32(0).null_array();
        });
        assert_eq!(plain, binds(2..4, &[1]));
        // Fragment and compute stages.
        let newer = of("vkCmdBindDescriptorSets2KHR", &|w| {
            w.u64(9);
            w.structure(|w| {
                w.u32(stype("VkBindDescriptorSetsInfo")).null_struct().u32(0x30).u64(30).u32(2).u32(2);
                w.u64_array(&[50, 51]).u32(0).null_array();
            });
        });
        assert_eq!(newer, binds(2..4, &[0, 1]));
        let pushed = of("vkCmdPushDescriptorSetKHR", &|w| {
            w.u64(9).u32(1).u64(30).u32(2).u32(0).null_array();
        });
        assert_eq!(pushed, binds(2..3, &[1]));
        let newer = of("vkCmdPushDescriptorSet2", &|w| {
            w.u64(9);
            w.structure(|w| {
                w.u32(stype("VkPushDescriptorSetInfo"))
                    .null_struct()
                    .u32(0x20)
                    .u64(30)
                    .u32(2)
                    .u32(0)
                    .null_array();
            });
        });
        assert_eq!(newer, binds(2..3, &[1]));
        let newer = of("vkCmdPushDescriptorSetWithTemplate2", &|w| {
            w.u64(9);
            w.structure(|w| {
                w.u32(stype("VkPushDescriptorSetWithTemplateInfo")).null_struct().u64(45).u64(30).u32(2);
            });
            w.preamble(gfxr_parse::image::attrib::SINGLE | gfxr_parse::image::attrib::DATA, None);
            w.u64(0).u64(0).u64(0);
        });
        assert_eq!(newer, binds(2..3, &[1]));
    }

    #[test]
    fn commands_run_what_is_bound() {
        assert_eq!(runs("vkCmdDrawIndexedIndirectCountKHR"), Some(0));
        assert_eq!(runs("vkCmdDispatchBase"), Some(1));
        assert_eq!(runs("vkCmdTraceRaysIndirect2KHR"), Some(2));
        assert_eq!(runs("vkCmdDispatchTileQCOM"), None);
        assert_eq!(runs("vkCmdBindPipeline"), None);
        assert_eq!(index(1_000_165_000), 2);
        assert_eq!(index(5), 3);
        // All that the registry has.
        let begins = ["vkCmdBindDescriptorSets", "vkCmdPushDescriptorSet"];
        let all = COMMANDS.iter().map(|c| c.name).filter(|n| begins.iter().any(|b| n.starts_with(b)));
        let (mut all, mut ours): (Vec<&str>, _) = (all.collect(), BINDS.to_vec());
        all.sort_unstable();
        ours.sort_unstable();
        assert_eq!(all, ours);
    }

    #[test]
    fn the_driver_forgets_the_one_when_the_other_is_bound() {
        let mut buffers = Buffers::default();
        let point = buffers.point(Recording(1, 7), 0).expect("graphics");
        point.bind(1..2, true);
        point.ours = vec![Some(Ours::Set(vk::DescriptorSet::null(), vec![]))];
        point.ours_bound();
        assert_eq!(point.told, [false, false]);
        point.bind(0..1, false);
        assert_eq!(point.ours.len(), 1);
        point.bind(0..1, true);
        assert!(point.ours.is_empty());
        assert_eq!(point.told, [true, false]);
        assert!(buffers.point(Recording(1, 8), 0).expect("graphics").told.is_empty());
        assert!(buffers.point(Recording(1, 8), 3).is_none());
        buffers.point(Recording(1, 8), 0).expect("graphics").bind(0..1, true);
        buffers.forget(1);
        assert!(buffers.point(Recording(1, 8), 0).expect("graphics").told.is_empty());
    }
}
