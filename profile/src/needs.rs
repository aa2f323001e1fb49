//! What instrumented shaders ask of a device.

use std::ops::BitOr;

/// What the shaders that a pass leaves behind ask of a device beyond what they asked before. Said in the terms of
/// shaders; the hook that feeds them to the device turns it into features and extensions. Needs of several
/// passes are merged with `|` before the device is made, and a device that lacks one is refused before anything
/// runs.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Needs {
    /// Memory reached through a 64-bit address that is a constant of the shader: no descriptor is used up, and no
    /// pipeline layout is touched.
    pub buffer_address: bool,
    /// Atomic additions to 64-bit integers in memory.
    pub atomic_64: bool,
    /// Elect, ballot, broadcast and sums among the invocations of a subgroup, in the stages that the pass touches.
    pub subgroups: bool,
    /// A clock that a shader can read, one for the whole device.
    pub clock: bool,
    /// The same, of the subgroup: clocks of two need not agree.
    pub own_clock: bool,
    /// A clock that a shader can read, the device's or else the subgroup's.
    pub some_clock: bool,
    /// The subgroup's clock, where the device has it.
    pub own_clock_if_there: bool,
    /// As `sm_builtins`, where the device has it; else the pass does without.
    pub sm_if_there: bool,
    /// The multiprocessor, and the place on it, that a subgroup runs on: VK_NV_shader_sm_builtins.
    pub sm_builtins: bool,
    /// Hit objects, and the reordering of invocations by them, of either extension.
    pub reorder: bool,
    /// The same, of VK_NV_ray_tracing_invocation_reorder.
    pub reorder_nv: bool,
    /// The same, of VK_EXT_ray_tracing_invocation_reorder.
    pub reorder_ext: bool,
    /// Hit objects are executed without a reordering before it.
    pub unordered_hits: bool,
    /// Arithmetic with 16-bit floats.
    pub half_floats: bool,
    /// Counters of each action, which takes the top of the push constants. Where a pipeline leaves no room there
    /// (`rewrite::Device::no_actions`) the pass does without: it counts by frame, or less.
    pub actions: bool,
    /// Launches are told apart: they run one after the other, and the log's header says which one runs.
    pub launches: bool,
    /// Hit groups of triangles without any-hit shader are given an empty one, and rays whose pipeline has no any-hit shaders
    /// but those ask about opaque geometry, too.
    pub any_hits: bool,
    /// Where subgroup operations hang a device's any-hit shaders, it does without them there.
    pub alone_if_need: bool,
    /// Tables of launches, which takes the push constants below those of actions. A pipeline that leaves no room there is
    /// refused.
    pub tables: bool,
}

impl BitOr for Needs {
    type Output = Needs;

    fn bitor(self, other: Needs) -> Needs {
        Needs {
            buffer_address: self.buffer_address | other.buffer_address,
            atomic_64: self.atomic_64 | other.atomic_64,
            subgroups: self.subgroups | other.subgroups,
            clock: self.clock | other.clock,
            own_clock: self.own_clock | other.own_clock,
            some_clock: self.some_clock | other.some_clock,
            own_clock_if_there: self.own_clock_if_there | other.own_clock_if_there,
            sm_if_there: self.sm_if_there | other.sm_if_there,
            sm_builtins: self.sm_builtins | other.sm_builtins,
            reorder: self.reorder | other.reorder,
            reorder_nv: self.reorder_nv | other.reorder_nv,
            reorder_ext: self.reorder_ext | other.reorder_ext,
            unordered_hits: self.unordered_hits | other.unordered_hits,
            half_floats: self.half_floats | other.half_floats,
            actions: self.actions | other.actions,
            launches: self.launches | other.launches,
            any_hits: self.any_hits | other.any_hits,
            alone_if_need: self.alone_if_need & other.alone_if_need,
            tables: self.tables | other.tables,
        }
    }
}

#[cfg(test)]
mod tests {
    use super::Needs;

    #[test]
    fn merged_needs_are_all_there() {
        let one = Needs { buffer_address: true, ..Needs::default() };
        let other = Needs { clock: true, ..Needs::default() };
        assert_eq!(one | other, Needs { buffer_address: true, clock: true, ..Needs::default() });
        assert_eq!(one | Needs::default(), one);
        // Of two that could do without subgroups, and one that could not, the latter decides.
        let alone = Needs { subgroups: true, alone_if_need: true, ..Needs::default() };
        assert!((alone | alone).alone_if_need && !(alone | other).alone_if_need);
    }
}
