//! A module through every pass of a plan. A pass that cannot do its work is left out: the others do theirs as if it had not
//! been in the plan. Where an entry point cannot be told its action, passes count by frame there.

use super::libraries::PROLOGUE;
use super::shader::{Device, Shader};
use super::variant::{Constants, LeftOut, Region, Variant};
use super::{Facts, actions, calls, prologue, sampling};
use crate::pass::{Change, Error, Pass, Result};
use crate::spirv::{FIRST_SPEC_ID, Imported, Malformed, Module, Types, stage_of};
use crate::{ShaderHash, Stage};
use rspirv::spirv::ExecutionModel;
use std::sync::Arc;

/// Rewrites one entry point of a module. `None` where no pass has anything to measure there. An error where the module is
/// not to be read, or where no pass could do its work: the first one's.
pub fn instrument(
    words: &[u32],
    hash: ShaderHash,
    model: ExecutionModel,
    name: &str,
    passes: &[Box<dyn Pass>],
    mut device: Device,
) -> Result<Option<Variant>> {
    let mut at_work: Vec<&dyn Pass> = passes.iter().map(AsRef::as_ref).collect();
    at_work.sort_by_key(|p| p.is_last());
    let (mut left_out, mut first, mut not_by_action) = (Vec::new(), None, None);
    loop {
        match attempt(words, hash, model, name, &at_work, device) {
            Ok(made) => {
                return match (made, first) {
                    (None, Some(e)) => Err(e),
                    (made, _) => Ok(made.map(|v| Variant { left_out, not_by_action, ..v })),
                };
            }
            Err(Stop::Action(why)) => {
                device.no_actions = true;
                not_by_action = Some(why);
            }
            Err(Stop::Module(e)) => return Err(e),
            Err(Stop::Passes(gone, e)) => {
                at_work.retain(|p| !gone.contains(&p.name()));
                let why = e.to_string();
                left_out.extend(gone.iter().map(|p| LeftOut { pass: (*p).to_owned(), why: why.clone() }));
                first.get_or_insert(e);
            }
        }
    }
}

/// Why passes did not get through.
enum Stop {
    /// It is the module's fault.
    Module(Error),
    /// The entry point cannot be told its action.
    Action(String),
    /// These could not do their work: at least one that was at work.
    Passes(Vec<&'static str>, Error),
}

impl From<Error> for Stop {
    fn from(e: Error) -> Self {
        Stop::Module(e)
    }
}

/// All passes in turn, until one fails.
fn attempt(
    words: &[u32],
    hash: ShaderHash,
    model: ExecutionModel,
    name: &str,
    passes: &[&dyn Pass],
    device: Device,
) -> std::result::Result<Option<Variant>, Stop> {
    let wrong = Error::shader(hash);
    let mut module = Module::read(words).map_err(&wrong)?;
    module.ungroup();
    let entry = module.isolate(model, name).map_err(&wrong)?;
    let Some(stage) = stage_of(model) else {
        return Err(Error::Shader { shader: hash, why: format!("{model:?} is no stage of Vulkan") }.into());
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
        given: None,
        launch: Default::default(),
        notes: vec![],
        probes: 0,
        sites: vec![],
        replays: 1,
    };
    let mut regions = Vec::new();
    let at_work = |p: &&&dyn Pass| p.needs(stage).is_some_and(|n| device.leaves(stage, n).is_none());
    for pass in passes.iter().filter(at_work) {
        shader.first_counter = shader.counters;
        shader.first_action_counter = shader.action_counters;
        let change = pass.run(&mut shader).map_err(|e| Stop::Passes(vec![pass.name()], e))?;
        if change == Change::Changed {
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
    let sampled = passes.iter().all(|p| p.samples()) && sampling::may(&shader);
    let every = if sampled { device.sampling.every } else { 1 };
    if let Err(e) = prologue::add(&mut shader, &PROLOGUE) {
        // What the prologue brings in beside actions is there in every shader of Vulkan.
        let by_frame = shader.action_counters > 0 && !device.chosen_only;
        return Err(if by_frame { Stop::Action(e.0) } else { Stop::Module(wrong(e)) });
    }
    calls::keep(&mut shader);
    let sample = (every > 1).then(|| sampling::split(&mut shader, every, device.sampling.seed)).transpose();
    let sample = sample.map_err(&wrong)?;
    let counts = shader.device.replays.now < shader.replays;
    let words = if counts { shader.module.words() } else { shader.original.words() };
    // Of a module that only its driver would have refused, passes may make what nobody should see.
    pointers::Checked::new(&words).map_err(|e| {
        wrong(Malformed(format!("what the passes make of it cannot be read ({e}): it is not valid itself")))
    })?;
    let offset_word = |pushed: Option<_>| pushed.and_then(|p| actions::offset_word(&words, p));
    let (action_offset, given_offset) = (offset_word(shader.pushed), offset_word(shader.given));
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
            elsewhere: device.chosen_only.then(|| [6, 7, 8, 9].map(spec)),
        },
        counters: shader.counters,
        sample,
        replays: shader.replays,
        probes: shader.probes,
        regions,
        left_out: vec![],
        not_by_action: None,
        action_counters: shader.action_counters,
        action_offset,
        given_offset,
        notes: shader.notes,
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
