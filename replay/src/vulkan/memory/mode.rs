//! How captured memory objects become memory here: the user's choice, else what the two devices have in common.

use crate::options::{MemoryMode, Options};
use crate::preflight::prologue::Prologue;
use crate::vulkan::gpu::Gpu;

/// The mode for a device: the user's, else by comparing what was captured with what is here.
pub fn choose_mode(options: &Options, prologue: &Prologue, gpu_id: u64, gpu: &Gpu) -> MemoryMode {
    if options.memory != MemoryMode::Auto {
        return options.memory;
    }
    let types_equal = prologue.memory.get(&gpu_id).is_none_or(|then| {
        let now = &gpu.memory.memory_types[..gpu.memory.memory_type_count as usize];
        then.len() == now.len() && then.iter().zip(now).all(|(a, b)| *a == b.property_flags.as_raw())
    });
    match prologue.gpus.get(&gpu_id) {
        Some(then) if gpu.is_same(then) && types_equal => MemoryMode::None,
        Some(then) if gpu.is_same(then) => MemoryMode::Remap,
        Some(_) => MemoryMode::Rebind,
        None if types_equal => MemoryMode::None,
        None => MemoryMode::Rebind,
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::preflight::prologue::CapturedGpu;
    use ash::vk;

    fn here(flags: &[u32]) -> Gpu {
        let mut memory = vk::PhysicalDeviceMemoryProperties {
            memory_type_count: flags.len() as u32,
            ..Default::default()
        };
        for (t, f) in memory.memory_types.iter_mut().zip(flags) {
            t.property_flags = vk::MemoryPropertyFlags::from_raw(*f);
        }
        Gpu {
            handle: vk::PhysicalDevice::null(),
            instance: 1,
            index: 0,
            properties: vk::PhysicalDeviceProperties {
                vendor_id: 7,
                driver_version: 3,
                ..Default::default()
            },
            memory,
            families: Vec::new(),
            extensions: Vec::new(),
        }
    }

    fn then(driver: u32, flags: &[u32]) -> Prologue {
        let gpu = CapturedGpu { vendor: 7, driver, ..Default::default() };
        Prologue { gpus: [(5, gpu)].into(), memory: [(5, flags.to_vec())].into(), ..Default::default() }
    }

    #[test]
    fn the_mode_follows_from_what_was_captured_and_what_is_here() {
        let auto = Options::default();
        let mode = |p: &Prologue, flags: &[u32]| choose_mode(&auto, p, 5, &here(flags));
        assert_eq!(mode(&then(3, &[1, 6]), &[1, 6]), MemoryMode::None);
        assert_eq!(mode(&then(3, &[1, 6]), &[6, 1]), MemoryMode::Remap);
        assert_eq!(mode(&then(4, &[1, 6]), &[1, 6]), MemoryMode::Rebind, "another driver version");
        assert_eq!(mode(&Prologue::default(), &[1]), MemoryMode::None, "the capture does not say");
        let forced = Options { memory: MemoryMode::Remap, ..Default::default() };
        assert_eq!(choose_mode(&forced, &then(3, &[1]), 5, &here(&[1])), MemoryMode::Remap);
    }
}
