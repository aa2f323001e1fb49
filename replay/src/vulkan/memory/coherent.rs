//! Ranges of mapped memory that is not coherent: flushes and invalidations come in whole atoms.
//!
//! Guarantees: a range holds what was asked for, begins at a multiple of nonCoherentAtomSize and ends at one or at the end
//! of the allocation. Refuses nothing: what reaches beyond the allocation is cut.

use ash::vk;

/// `offset` and `size` (VK_WHOLE_SIZE: to the end of the mapping) of an allocation, widened to whole atoms.
/// `mapped`: the mapping's first byte and the one behind its last, itself in whole atoms.
pub(super) fn whole_atoms(
    (offset, size): (u64, u64),
    atom: u64,
    allocation: u64,
    mapped: (u64, u64),
) -> (u64, u64) {
    let atom = atom.max(1);
    let end = if size == vk::WHOLE_SIZE { mapped.1 } else { offset.saturating_add(size).min(mapped.1) };
    let from = (offset / atom * atom).max(mapped.0);
    let to = end.div_ceil(atom).saturating_mul(atom).min(allocation);
    (from, to.saturating_sub(from))
}

/// Whether memory of a type is written by the host without a flush.
pub(super) fn wants_flush(flags: vk::MemoryPropertyFlags) -> bool {
    flags.contains(vk::MemoryPropertyFlags::HOST_VISIBLE)
        && !flags.contains(vk::MemoryPropertyFlags::HOST_COHERENT)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn ranges_are_whole_atoms_or_end_with_the_allocation() {
        let all = (0, 1000);
        assert_eq!(whole_atoms((0, 64), 64, 1000, all), (0, 64));
        assert_eq!(whole_atoms((65, 1), 64, 1000, all), (64, 64));
        assert_eq!(whole_atoms((63, 2), 64, 1000, all), (0, 128));
        assert_eq!(whole_atoms((970, 20), 64, 1000, all), (960, 40), "there is no whole atom at the end");
        assert_eq!(whole_atoms((100, vk::WHOLE_SIZE), 64, 1000, all), (64, 936));
        assert_eq!(whole_atoms((100, 5000), 64, 1000, all), (64, 936), "beyond the end");
        assert_eq!(whole_atoms((300, 10), 256, 1000, (256, 512)), (256, 256));
        assert_eq!(whole_atoms((300, vk::WHOLE_SIZE), 64, 1000, (256, 512)), (256, 256));
        assert_eq!(whole_atoms((3, 4), 1, 1000, all), (3, 4));
    }

    #[test]
    fn only_visible_memory_that_is_not_coherent_is_flushed() {
        use vk::MemoryPropertyFlags as F;
        assert!(wants_flush(F::HOST_VISIBLE) && wants_flush(F::HOST_VISIBLE | F::HOST_CACHED));
        assert!(!wants_flush(F::HOST_VISIBLE | F::HOST_COHERENT) && !wants_flush(F::DEVICE_LOCAL));
    }
}
