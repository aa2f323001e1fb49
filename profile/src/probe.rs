//! Where in a shader a record was written: facts that are known before anything runs.
//!
//! A probe writes its [`ProbeId`] and what only the GPU knows. The rest, which shader, which block, which source
//! line, is looked up here: static facts never travel through the GPU.

/// The content of a SPIR-V module, hashed: BLAKE3 over its words as little-endian bytes.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub struct ShaderHash(pub [u8; 32]);

/// What a probe writes to say which one it is; dense from 0 within one run.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub struct ProbeId(pub u32);

/// The stage of the entry point that a probe is reached from.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash)]
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

/// A line of the source that a module says it was compiled from.
#[derive(Clone, Debug, PartialEq, Eq, Hash)]
pub struct SourceLine {
    /// The file as the module names it.
    pub file: String,
    /// Its line, from 1.
    pub line: u32,
}

/// Where a probe stands, in terms of the module as the application made it.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Probe {
    /// The module.
    pub shader: ShaderHash,
    /// The instruction before which the probe stands: its first word's offset, in words, in the original module.
    pub word_offset: u32,
    /// The function's result id.
    pub function: u32,
    /// The basic block's label.
    pub block: u32,
    /// The stage.
    pub stage: Stage,
    /// The source's line, where the module carries it.
    pub line: Option<SourceLine>,
}

/// The probes placed so far.
#[derive(Clone, Debug, Default)]
pub struct Probes {
    placed: Vec<Probe>,
}

impl Probes {
    /// Notes a probe's place and gives the id that it is to write. `None` once all 2³² ids are used up.
    pub fn place(&mut self, probe: Probe) -> Option<ProbeId> {
        let id = u32::try_from(self.placed.len()).ok()?;
        self.placed.push(probe);
        Some(ProbeId(id))
    }

    /// The map of all that were placed; none is placed after.
    pub fn finish(self) -> ProbeMap {
        ProbeMap { probes: self.placed }
    }
}

/// From what a probe wrote to where it stands.
#[derive(Clone, Debug, Default)]
pub struct ProbeMap {
    probes: Vec<Probe>,
}

impl ProbeMap {
    /// The probe of this id; `None` when none was placed under it, which means that what was read is no record.
    pub fn get(&self, id: ProbeId) -> Option<&Probe> {
        self.probes.get(id.0 as usize)
    }

    /// How many there are.
    pub fn len(&self) -> usize {
        self.probes.len()
    }

    /// Whether there are none.
    pub fn is_empty(&self) -> bool {
        self.probes.is_empty()
    }
}

#[cfg(test)]
mod tests {
    use super::{Probe, ProbeId, Probes, ShaderHash, Stage};

    #[test]
    fn an_id_leads_back_to_its_place() {
        let at = |block| Probe {
            shader: ShaderHash([7; 32]),
            word_offset: 100 + block,
            function: 4,
            block,
            stage: Stage::Compute,
            line: None,
        };
        let mut probes = Probes::default();
        let ids = [5, 9].map(|block| probes.place(at(block)).unwrap());
        let map = probes.finish();
        assert_eq!(ids, [ProbeId(0), ProbeId(1)]);
        assert_eq!(map.get(ids[1]), Some(&at(9)));
        assert_eq!(map.get(ProbeId(2)), None);
        assert_eq!(map.len(), 2);
    }
}
