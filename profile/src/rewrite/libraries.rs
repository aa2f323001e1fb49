//! The compiled probe functions, by source and kind of shader.

use crate::Stage;
use crate::spirv::{Library, Module};
use rspirv::spirv::Capability;
use std::sync::LazyLock;

/// The three modules of one source in `probes/`. One is picked for the shader at hand.
pub struct Probes {
    kinds: [Library; 3],
}

impl Probes {
    /// Reads what `probes/compile` made: for most stages, for fragment shaders, for those that demote.
    ///
    /// # Panics
    /// If they are no libraries: they are part of this program.
    pub fn read(kinds: [&[u8]; 3]) -> Self {
        let read = |bytes: &[u8]| {
            let words: Vec<u32> =
                bytes.chunks_exact(4).map(|c| u32::from_le_bytes(c.try_into().expect("4 bytes"))).collect();
            Library::read(&words).expect("a library of our own")
        };
        Probes { kinds: kinds.map(read) }
    }

    /// The one for a shader.
    pub fn of(&self, module: &Module, stage: Stage) -> &Library {
        let demotes = || module.has_capability(Capability::DemoteToHelperInvocation);
        &self.kinds[match stage {
            Stage::Fragment if demotes() => 2,
            Stage::Fragment => 1,
            _ => 0,
        }]
    }
}

/// The modules of `probes/NAME.glsl`.
#[macro_export]
macro_rules! probes {
    ($name:literal) => {
        ::std::sync::LazyLock::new(|| {
            $crate::rewrite::Probes::read([
                include_bytes!(concat!(env!("CARGO_MANIFEST_DIR"), "/src/probes/", $name, ".comp.spv")),
                include_bytes!(concat!(env!("CARGO_MANIFEST_DIR"), "/src/probes/", $name, ".frag.spv")),
                include_bytes!(concat!(env!("CARGO_MANIFEST_DIR"), "/src/probes/", $name, ".demote.spv")),
            ])
        })
    };
}

/// What happens at entry points.
pub(super) static PROLOGUE: LazyLock<Probes> = crate::probes!("prologue");
