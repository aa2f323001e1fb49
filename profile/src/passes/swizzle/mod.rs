//! Pass `swizzle`: invocations of a launch do each other's work, as a table says (Cheung, §3.3: thread swizzling). It measures
//! nothing; with others, or with a replay that is timed, one sees what another packing of subgroups would be worth.
//!
//! Every use of the launch index, in every ray-tracing stage, sees the mapped one (`rewrite/launch.rs`), and so do other passes:
//! their work ids are those of the work that is done, their subgroups and lanes those in which it runs. The order of passes
//! makes no difference. Tables are `.swizzle` files (`trace::swizzle`), each for one launch of one frame; launches of another
//! size, and those that no file is for, stay as they are, and what found no launch is said. The identity goes through the
//! table as the others do.
//!
//! Said of shaders that use subgroup operations beside the launch index: what those give depends on who shares a subgroup, and
//! so may what is drawn. Refuses pipelines whose push constants leave no room: a launch of which some shaders are mapped and
//! others are not would draw something else.

use crate::pass::{Change, Error, FrameData, LaunchTable, Result, Sink, Tables};
use crate::rewrite::Shader;
use crate::spirv::Inst;
use crate::{Needs, Stage};
use std::collections::BTreeSet;
use std::path::Path;
use std::sync::Arc;
use std::sync::atomic::AtomicU32;
use trace::swizzle::Swizzle;

/// See the module's header.
#[derive(Debug, Default)]
pub struct Pass {
    tables: Tables,
}

impl Pass {
    /// With these sets of swizzles, of which `set` says which one is in force.
    pub fn new(sets: &[Vec<Swizzle>], set: Arc<AtomicU32>) -> std::result::Result<Self, String> {
        let mut tables = Vec::new();
        for (n, swizzles) in sets.iter().enumerate() {
            let mut there = BTreeSet::new();
            for s in swizzles {
                if !there.insert((s.frame, s.launch)) {
                    return Err(format!("two swizzles are for launch {} of frame {}", s.launch, s.frame));
                }
                tables.push(table(n as u32, s)?);
            }
        }
        Ok(Pass { tables: Tables { tables, set } })
    }

    /// With the swizzles of these files: the options of the command line. Without files launches are given nothing.
    pub fn read(options: &[String]) -> std::result::Result<Self, String> {
        let mut all = Vec::new();
        for file in options {
            let bytes = std::fs::read(Path::new(file)).map_err(|e| format!("swizzle {file}: {e}"))?;
            all.push(Swizzle::of_bytes(&bytes).map_err(|e| format!("swizzle {file}: {e}"))?);
        }
        Pass::new(&[all], Arc::default())
    }
}

/// A swizzle's entries as the shader reads them: column, row and layer in as many bits as they take, so that no invocation has
/// to divide.
fn table(set: u32, s: &Swizzle) -> std::result::Result<LaunchTable, String> {
    s.check()?;
    let bits = s.size.map(|n| u32::BITS - n.saturating_sub(1).leading_zeros());
    let [x, y, z] = bits.map(u64::from);
    if x + y + z > 32 {
        return Err(format!("a launch of {:?} is too large: its indices take {} bits", s.size, x + y + z));
    }
    let [width, height, _] = s.size;
    let pack = |index: &u32| {
        let (column, rows) = (index % width, index / width);
        let [column, row, layer] = [column, rows % height, rows / height].map(u64::from);
        (column | row << x | layer << (x + y)) as u32
    };
    Ok(LaunchTable {
        set,
        frame: s.frame,
        launch: s.launch,
        size: s.size,
        bits: bits[0] | bits[1] << 8,
        words: s.indices.iter().map(pack).collect(),
    })
}

/// What the prologue's subgroup operations are not: those of the application.
fn asks_its_subgroup(shader: &Shader) -> bool {
    let asks = |i: &Inst| {
        let name = format!("{:?}", i.op());
        name.starts_with("GroupNonUniform") || name.starts_with("Subgroup")
    };
    shader.original.functions.iter().any(|f| f.insts().any(asks))
}

impl crate::Pass for Pass {
    fn name(&self) -> &'static str {
        "swizzle"
    }

    fn needs(&self, stage: Stage) -> Option<Needs> {
        stage.is_ray_tracing().then_some(Needs { buffer_address: true, tables: true, ..Needs::default() })
    }

    fn tables(&self) -> Option<&Tables> {
        Some(&self.tables)
    }

    fn run(&self, shader: &mut Shader) -> Result<Change> {
        if shader.device.no_actions {
            let why = "its push constants leave no room to say which table a launch has";
            return Err(Error::Shader { shader: shader.hash, why: why.into() });
        }
        if !shader.map_launches().map_err(Error::shader(shader.hash))? {
            return Ok(Change::Unchanged);
        }
        if asks_its_subgroup(shader) {
            shader.note(format!(
                "{} shader {} uses subgroup operations beside the launch index: a swizzle changes who shares a subgroup, and so \
                 may what it draws",
                shader.stage.name(),
                shader.hash
            ));
        }
        Ok(Change::Changed)
    }

    fn decode(&self, _: &FrameData<'_>, _: &mut dyn Sink) -> Result<()> {
        Ok(())
    }
}

#[cfg(test)]
mod tests;
