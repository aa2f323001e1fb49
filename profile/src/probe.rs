//! What names a shader and a place in it.

use serde::{Deserialize, Serialize};
use std::fmt;

/// The content of a SPIR-V module, hashed: BLAKE3 over its words as little-endian bytes.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash, Serialize, Deserialize)]
pub struct ShaderHash(pub [u8; 32]);

impl ShaderHash {
    /// The hash of a module's words.
    pub fn of(words: &[u32]) -> Self {
        let mut hasher = blake3::Hasher::new();
        for chunk in words.chunks(1 << 12) {
            let bytes: Vec<u8> = chunk.iter().flat_map(|w| w.to_le_bytes()).collect();
            hasher.update(&bytes);
        }
        ShaderHash(*hasher.finalize().as_bytes())
    }
}

impl fmt::Display for ShaderHash {
    /// The first 16 hexadecimal digits, as files of shaders are named.
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        self.0[..8].iter().try_for_each(|b| write!(f, "{b:02x}"))
    }
}

/// The stage of the entry point that a probe is reached from.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash, Serialize, Deserialize)]
#[expect(missing_docs, reason = "the stages are named as Vulkan names them")]
pub enum Stage {
    Vertex,
    TessellationControl,
    TessellationEvaluation,
    Geometry,
    Fragment,
    Compute,
    Task,
    Mesh,
    RayGeneration,
    AnyHit,
    ClosestHit,
    Miss,
    Intersection,
    Callable,
}

impl Stage {
    /// Every stage there is.
    pub const ALL: [Stage; 14] = [
        Stage::Vertex,
        Stage::TessellationControl,
        Stage::TessellationEvaluation,
        Stage::Geometry,
        Stage::Fragment,
        Stage::Compute,
        Stage::Task,
        Stage::Mesh,
        Stage::RayGeneration,
        Stage::AnyHit,
        Stage::ClosestHit,
        Stage::Miss,
        Stage::Intersection,
        Stage::Callable,
    ];

    /// Its name in records and on the command line.
    pub fn name(self) -> &'static str {
        match self {
            Stage::Vertex => "vertex",
            Stage::TessellationControl => "tessellation-control",
            Stage::TessellationEvaluation => "tessellation-evaluation",
            Stage::Geometry => "geometry",
            Stage::Fragment => "fragment",
            Stage::Compute => "compute",
            Stage::Task => "task",
            Stage::Mesh => "mesh",
            Stage::RayGeneration => "ray-generation",
            Stage::AnyHit => "any-hit",
            Stage::ClosestHit => "closest-hit",
            Stage::Miss => "miss",
            Stage::Intersection => "intersection",
            Stage::Callable => "callable",
        }
    }

    /// One of the stages of a ray-tracing pipeline.
    pub fn is_ray_tracing(self) -> bool {
        matches!(
            self,
            Stage::RayGeneration
                | Stage::AnyHit
                | Stage::ClosestHit
                | Stage::Miss
                | Stage::Intersection
                | Stage::Callable
        )
    }
}

/// A line of the source that a module says it was compiled from.
#[derive(Clone, Debug, PartialEq, Eq, Hash, Serialize, Deserialize)]
pub struct SourceLine {
    /// The file as the module names it.
    pub file: String,
    /// Its line, from 1.
    pub line: u32,
}
