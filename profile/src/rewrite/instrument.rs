//! A module through every pass of a plan.

use super::libraries::PROLOGUE;
use super::shader::{Device, Shader};
use super::variant::{Constants, Region, Variant};
use super::{Facts, actions, prologue};
use crate::pass::{Change, Error, Pass, Result};
use crate::spirv::{FIRST_SPEC_ID, Imported, Module, Types, stage_of};
use crate::{ShaderHash, Stage};
use rspirv::spirv::ExecutionModel;
use std::sync::Arc;

/// Rewrites one entry point of a module. `None` where no pass has anything to measure there.
pub fn instrument(
    words: &[u32],
    hash: ShaderHash,
    model: ExecutionModel,
    name: &str,
    passes: &[Box<dyn Pass>],
    device: Device,
) -> Result<Option<Variant>> {
    let wrong = Error::shader(hash);
    let mut module = Module::read(words).map_err(&wrong)?;
    module.ungroup();
    let entry = module.isolate(model, name).map_err(&wrong)?;
    let Some(stage) = stage_of(model) else {
        return Err(Error::Shader { shader: hash, why: format!("{model:?} is no stage of Vulkan") });
    };
    let facts = Facts::new(&module, entry.function).map_err(&wrong)?;
    let types = Types::new(&module);
    let original = Arc::new(module.clone());
    module.physical_addresses();
    let mut shader = Shader {
        hash,
        stage,
        entry,
        original,
        module,
        types,
        facts,
        imported: Imported::default(),
        lookup: Default::default(),
        device,
        counters: 0,
        first_counter: 0,
        action_counters: 0,
        first_action_counter: 0,
        pushed: None,
        probes: 0,
        sites: vec![],
    };
    let mut regions = Vec::new();
    for pass in passes.iter().filter(|p| p.needs(stage).is_some_and(|n| !device.leaves(stage, n))) {
        shader.first_counter = shader.counters;
        shader.first_action_counter = shader.action_counters;
        if pass.run(&mut shader)? == Change::Changed {
            regions.push(Region {
                pass: pass.name().to_owned(),
                first_counter: shader.first_counter,
                counters: shader.counters - shader.first_counter,
                first_action_counter: shader.first_action_counter,
                action_counters: shader.action_counters - shader.first_action_counter,
                sites: std::mem::take(&mut shader.sites),
            });
        }
    }
    if regions.is_empty() {
        return Ok(None);
    }
    prologue::add(&mut shader, &PROLOGUE).map_err(&wrong)?;
    let words = shader.module.words();
    let action_offset = shader.pushed.and_then(|p| actions::offset_word(&words, p));
    let spec = |n| shader.imported.spec_id(FIRST_SPEC_ID + n);
    Ok(Some(Variant {
        shader: hash,
        name: name.to_owned(),
        stage,
        constants: Constants {
            region: [spec(0), spec(1)],
            log: [spec(2), spec(3)],
            probe_base: spec(4),
            action_base: spec(5),
        },
        counters: shader.counters,
        probes: shader.probes,
        regions,
        action_counters: shader.action_counters,
        action_offset,
        words,
        facts: shader.facts,
    }))
}

/// The entry points of a module that a pipeline could use: model, name, stage.
pub fn entries(words: &[u32]) -> Vec<(ExecutionModel, String, Stage)> {
    let Ok(m) = Module::read(words) else { return vec![] };
    let of = |e: crate::spirv::EntryPoint| stage_of(e.model).map(|s| (e.model, e.name, s));
    m.entries().into_iter().filter_map(of).collect()
}
