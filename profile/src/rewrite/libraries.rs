//! The compiled probe functions, by source and kind of shader.

use crate::Stage;
use crate::spirv::{Library, Module};
use rspirv::spirv::Capability;
use std::sync::OnceLock;

/// The six modules of one source in `probes/`. One is picked for the shader and the device at hand, and read when it is
/// first needed.
pub struct Probes {
    bytes: [&'static [u8]; 6],
    kinds: [OnceLock<Library>; 6],
}

impl Probes {
    /// What `probes/compile` made: for most stages, for fragment shaders, for those that demote; then the same for
    /// devices with 64-bit atomics.
    pub const fn new(bytes: [&'static [u8]; 6]) -> Self {
        Probes { bytes, kinds: [const { OnceLock::new() }; 6] }
    }

    /// The one for a shader.
    ///
    /// # Panics
    /// If it is no library: it is part of this program.
    pub fn of(&self, module: &Module, stage: Stage, wide: bool) -> &Library {
        let demotes = || module.has_capability(Capability::DemoteToHelperInvocation);
        let kind = match stage {
            Stage::Fragment if demotes() => 2,
            Stage::Fragment => 1,
            _ => 0,
        } + if wide { 3 } else { 0 };
        self.kinds[kind].get_or_init(|| {
            let words = self.bytes[kind].chunks_exact(4);
            let words: Vec<u32> = words.map(|c| u32::from_le_bytes(c.try_into().expect("4 bytes"))).collect();
            Library::read(&words).expect("a library of our own")
        })
    }
}

/// The modules of `probes/NAME.glsl`, as [`Probes`].
#[macro_export]
macro_rules! probes {
    ($name:literal) => {
        $crate::rewrite::Probes::new([
            $crate::probes!($name, ".comp"),
            $crate::probes!($name, ".frag"),
            $crate::probes!($name, ".demote"),
            $crate::probes!($name, ".comp.wide"),
            $crate::probes!($name, ".frag.wide"),
            $crate::probes!($name, ".demote.wide"),
        ])
    };
    ($name:literal, $kind:literal) => {
        include_bytes!(concat!(env!("CARGO_MANIFEST_DIR"), "/src/probes/", $name, $kind, ".spv"))
    };
}

/// What reads the pushed action; the pass of the same name has its probes there, too.
pub(super) static ACTION: Probes = crate::probes!("counters");
/// What reads whether an action counts.
pub(super) static CHOSEN: Probes = crate::probes!("chosen");
/// What happens at entry points.
pub(super) static PROLOGUE: Probes = crate::probes!("prologue");
/// What says who is in a sample.
pub(super) static SAMPLE: Probes = crate::probes!("sample");
/// The first of a subgroup's invocations.
pub(super) static FIRST: Probes = crate::probes!("first");
