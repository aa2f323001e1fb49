//! The scenes.
//!
//! A scene is a folder here that implements [`Scene`], and one line in [`SCENES`]. `crate::run` owns the
//! frame loop, the swapchain and the synchronisation with it; a scene makes its objects once and then
//! says, for each frame, which command buffers to submit.

/// A committed shader, by its name in the folder of the scene that asks.
macro_rules! spirv {
    ($name:literal) => {
        $crate::gpu::pipeline::Spirv { name: $name, bytes: include_bytes!(concat!($name, ".spv")) }
    };
}

mod barriers;
mod builds;
mod causes;
mod closed_compute;
mod closed_fragment;
mod closed_rays;
mod compressed_textures;
mod cornell;
mod cubes;
mod effects;
mod feedback;
mod formats;
mod memory;
mod mesh;
mod monolithic;
mod msaa;
mod nested;
mod objects;
mod offsets;
mod ordering;
mod pointers;
mod rays;
mod recursion;
mod rewrites;
mod scene;
mod stages;
mod steps;
mod tracing;
mod uniforms;
mod vm;
mod weekend;

pub use scene::{Frame, SLOTS, Scene, Show};
use scene::{Slot, frame_slot, frame_slots};

/// Every scene, in the order in which `--list` names them.
pub static SCENES: &[&dyn Scene] = &[
    &cubes::Cubes,
    &feedback::Feedback,
    &memory::Memory,
    &msaa::Msaa,
    &nested::Nested,
    &pointers::Pointers,
    &rays::Rays,
    &steps::Steps,
    &vm::Vm,
    &effects::Effects,
    &builds::Builds { by_host: false },
    &builds::Builds { by_host: true },
    &closed_compute::ClosedCompute,
    &closed_fragment::ClosedFragment,
    &closed_rays::ClosedRays,
    &stages::Stages,
    &weekend::WEEKEND,
    &weekend::WEEKEND_ANYHIT,
    &cornell::CORNELL,
    &mesh::Mesh,
    &recursion::Recursion,
    &monolithic::Monolithic { repartitioned: false },
    &monolithic::Monolithic { repartitioned: true },
    &uniforms::Uniforms,
    &ordering::Ordering,
    &rewrites::Rewrites,
    &causes::Causes,
    &objects::Objects,
    &compressed_textures::CompressedTextures,
    &formats::Formats,
    &offsets::Offsets { twice: false },
    &offsets::Offsets { twice: true },
];

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn names_are_distinct_and_plain() {
        for (index, scene) in SCENES.iter().enumerate() {
            let name = scene.name();
            assert!(
                name.bytes().all(|b| b.is_ascii_lowercase() || b.is_ascii_digit() || b == b'_'),
                "{name}"
            );
            assert!(SCENES[..index].iter().all(|other| other.name() != name), "{name} is there twice");
        }
    }
}
