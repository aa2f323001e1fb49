//! What command buffers have bound: by the application, and in its place by us.

use replay::ash::vk;
use std::collections::HashMap;

/// What is bound where: graphics, compute, ray tracing.
pub const POINTS: [vk::PipelineBindPoint; 3] =
    [vk::PipelineBindPoint::GRAPHICS, vk::PipelineBindPoint::COMPUTE, vk::PipelineBindPoint::RAY_TRACING_KHR];

/// A set as the application bound it.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Bound {
    /// Pipeline layout of the call.
    pub layout: u64,
    /// The set.
    pub set: u64,
    /// Its dynamic offsets.
    pub offsets: Vec<u32>,
    /// The driver was told, and nothing of ours was bound since.
    pub told: bool,
}

/// One of ours: the set and its dynamic offsets.
pub type Ours = (vk::DescriptorSet, Vec<u32>);

/// What one bind point has.
#[derive(Clone, Debug, Default)]
pub struct Point {
    /// The pipeline.
    pub pipeline: u64,
    /// By set.
    pub bound: Vec<Option<Bound>>,
    /// The repartitioned layout that ours are bound with.
    pub layout: u64,
    /// Ours, by set.
    pub ours: Vec<Option<Ours>>,
}

impl Point {
    /// The application binds a set.
    pub fn bind(&mut self, at: usize, bound: Bound) {
        if self.bound.len() <= at {
            self.bound.resize(at + 1, None);
        }
        if bound.told {
            self.ours.clear();
        }
        self.bound[at] = Some(bound);
    }

    /// Ours are bound: the driver has forgotten the application's.
    pub fn ours_bound(&mut self) {
        for b in self.bound.iter_mut().flatten() {
            b.told = false;
        }
    }
}

/// By captured command buffer.
#[derive(Debug, Default)]
pub struct Buffers(HashMap<u64, [Point; 3]>);

impl Buffers {
    /// It is recorded anew, or what was bound is not defined any more.
    pub fn begin(&mut self, buffer: u64) {
        self.0.insert(buffer, Default::default());
    }

    /// What a bind point has; none if there is no such.
    pub fn point(&mut self, buffer: u64, point: usize) -> Option<&mut Point> {
        self.0.entry(buffer).or_default().get_mut(point)
    }
}

/// The index of a VkPipelineBindPoint in [`POINTS`].
pub fn index(raw: u32) -> usize {
    POINTS.iter().position(|p| p.as_raw() as u32 == raw).unwrap_or(POINTS.len())
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

    #[test]
    fn commands_run_what_is_bound() {
        assert_eq!(runs("vkCmdDrawIndexedIndirectCountKHR"), Some(0));
        assert_eq!(runs("vkCmdDispatchBase"), Some(1));
        assert_eq!(runs("vkCmdTraceRaysIndirect2KHR"), Some(2));
        assert_eq!(runs("vkCmdDispatchTileQCOM"), None);
        assert_eq!(runs("vkCmdBindPipeline"), None);
        assert_eq!(index(1_000_165_000), 2);
        assert_eq!(index(5), 3);
    }

    #[test]
    fn the_driver_forgets_the_one_when_the_other_is_bound() {
        let mut buffers = Buffers::default();
        let point = buffers.point(1, 0).expect("graphics");
        point.bind(1, Bound { layout: 2, set: 3, offsets: vec![], told: true });
        point.ours = vec![Some((vk::DescriptorSet::null(), vec![]))];
        point.ours_bound();
        assert!(!point.bound[1].as_ref().expect("bound").told);
        point.bind(0, Bound { layout: 2, set: 4, offsets: vec![], told: false });
        assert_eq!(point.ours.len(), 1);
        point.bind(0, Bound { layout: 2, set: 4, offsets: vec![], told: true });
        assert!(point.ours.is_empty());
        buffers.begin(1);
        assert!(buffers.point(1, 0).expect("graphics").bound.is_empty());
        assert!(buffers.point(1, 3).is_none());
    }
}
