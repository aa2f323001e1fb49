//! Which pipeline statistics a queue family can count.

use replay::ash::vk;
use replay::vulkan::DeviceState;
use trace::COUNTERS;

/// The counters of a family; empty where the device was made without them.
pub fn counters(device: &DeviceState, family: u32) -> vk::QueryPipelineStatisticFlags {
    use vk::QueryPipelineStatisticFlags as F;
    let flags = device.gpu.families.get(family as usize).map_or(vk::QueueFlags::empty(), |f| f.queue_flags);
    let compute = F::COMPUTE_SHADER_INVOCATIONS;
    let mesh = F::TASK_SHADER_INVOCATIONS_EXT | F::MESH_SHADER_INVOCATIONS_EXT;
    let mut all = F::empty();
    if !device.statistics.pipeline {
        return all;
    }
    if flags.contains(vk::QueueFlags::GRAPHICS) {
        // The eleven of Vulkan 1.0 are the lowest bits.
        all |= F::from_raw(0x7FF) & !compute;
        if device.statistics.mesh {
            all |= mesh;
        }
    }
    if flags.contains(vk::QueueFlags::COMPUTE) {
        all |= compute;
    }
    all
}

/// Results in the order of the bits, each in its place among all counters; what several views counted is summed.
pub fn spread(counters: vk::QueryPipelineStatisticFlags, results: &[u64]) -> [Option<u64>; COUNTERS.len()] {
    let n = counters.as_raw().count_ones() as usize;
    let mut all = [None; COUNTERS.len()];
    let mut next = 0;
    for (bit, count) in all.iter_mut().enumerate() {
        if counters.as_raw() >> bit & 1 != 0 {
            *count = Some(results.iter().skip(next).step_by(n).sum());
            next += 1;
        }
    }
    all
}

#[cfg(test)]
mod tests {
    use super::*;
    use vk::QueryPipelineStatisticFlags as F;

    #[test]
    fn results_find_their_counters_and_views_add_up() {
        let of =
            F::VERTEX_SHADER_INVOCATIONS | F::FRAGMENT_SHADER_INVOCATIONS | F::MESH_SHADER_INVOCATIONS_EXT;
        let all = spread(of, &[1, 2, 3, 10, 20, 30]);
        let mut expected = [None; COUNTERS.len()];
        (expected[2], expected[7], expected[12]) = (Some(11), Some(22), Some(33));
        assert_eq!(all, expected);
        assert_eq!(spread(F::empty(), &[]), [None; COUNTERS.len()]);
    }

    #[test]
    fn names_are_in_the_order_of_the_bits() {
        for (bit, part) in
            [(2, "VERTEX_SHADER"), (7, "FRAGMENT_SHADER"), (10, "COMPUTE_SHADER"), (11, "TASK")]
        {
            assert!(COUNTERS[bit].contains(part), "{bit}");
        }
        assert_eq!(F::TASK_SHADER_INVOCATIONS_EXT.as_raw(), 1 << 11);
        assert_eq!(F::MESH_SHADER_INVOCATIONS_EXT.as_raw(), 1 << 12);
        assert_eq!(F::COMPUTE_SHADER_INVOCATIONS.as_raw(), 1 << 10);
    }
}
