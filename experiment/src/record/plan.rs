//! The plan that the flags of `profile` ask for.

use super::settings::{Counted, Settings};
use crate::failure::Failure;
use crate::files::folder::cache;
use crate::questions::question;
use crate::replaying::failure;
use analyses::QUESTIONS;
use gfxr_parse::container::Capture;
use profile::hooks::instrument::{
    EVERYTHING, LabelFilter, PipelineFilter, Places, Plan, Scanned, Selection, scan,
};
use profile::passes::drivers::{COUNTERS, Driver};
use profile::passes::{PASSES, filling, made};
use profile::rewrite::{Replays, Sampling, Variants};
use replay::vulkan::inspect::able;
use std::rc::Rc;
use std::sync::Arc;
use trace::dir::PassNote;
use trace::plan::{Passes, Use};
use trace::select::Glob;

/// The passes as they were asked for.
pub fn names(args: &Settings) -> Vec<String> {
    args.passes.0.iter().map(Use::to_string).collect()
}

/// With the passes that questions want.
pub fn with_questions(args: &Settings) -> Result<Settings, Failure> {
    let mut passes = args.passes.0.clone();
    for name in &args.ask {
        let question = question(name)?;
        let wanted = filling(question.wants);
        if wanted.is_empty() {
            return Err(Failure::usage(format_args!(
                "--ask: no pass fills tables for {name}: `reray-replay bindings` answers it, without replaying"
            )));
        }
        for pass in wanted {
            if !passes.iter().any(|p| p.name == pass.name) {
                passes.push(Use::new(pass.name, [""; 0]));
            }
        }
    }
    Ok(Settings { passes: Passes(passes), ..args.clone() })
}

/// The plan with some of the passes alone, which keeps no shaders and writes none.
pub fn only(args: &Settings, passes: &str, capture: &Capture) -> Result<Plan, Failure> {
    let passes = passes.parse().map_err(Failure::usage)?;
    plan(&Settings { passes, no_cache: true, dump_shaders: None, ..args.clone() }, capture)
}

/// Whether the driver counts for pass counters.
pub fn by_driver(args: &Settings) -> Result<bool, Failure> {
    let wanted = args.passes.0.iter().any(|p| p.name == COUNTERS);
    match args.counters {
        _ if !wanted => Ok(false),
        Counted::Portable => Ok(false),
        Counted::Arm => Ok(true),
        Counted::Auto => able(args.run.gpu.as_deref(), "shaderInstrumentation").map_err(failure),
    }
}

/// The passes of a list; `arm`: the driver counts for counters.
pub fn passes(list: &[Use], arm: bool) -> Result<Vec<Box<dyn profile::Pass>>, Failure> {
    let mut passes: Vec<Box<dyn profile::Pass>> = Vec::new();
    for wanted in list {
        let pass = made(wanted)
            .map_err(|e| Failure::usage(format_args!("--passes: {}", asks(wanted).unwrap_or(e))))?;
        if passes.iter().any(|p| p.name() == pass.name()) {
            return Err(Failure::usage(format_args!("--passes: {} is there twice", wanted.name)));
        }
        passes.push(match pass.name() {
            COUNTERS if arm => Box::new(Driver(COUNTERS)),
            _ => pass,
        });
    }
    Ok(passes)
}

/// What to say of a question that is given as a pass (some questions have the name of one).
fn asks(wanted: &Use) -> Option<String> {
    let known = PASSES.iter().any(|p| p.name == wanted.name);
    let question = QUESTIONS.iter().find(|q| !known && q.name == wanted.name)?;
    let tables: Vec<&str> = question.wants.iter().map(|t| t.name).collect();
    Some(format!(
        "{0} is a question, no pass: `profile --ask {0}` chooses passes that fill what it wants ({1})",
        wanted.name,
        tables.join(", ")
    ))
}

/// A plan whose probes run in every frame and are not read: for a replay that times them.
pub fn timed_list(list: &[Use], with: Probes, capture: &Capture) -> Result<Plan, Failure> {
    let plan = timed(passes(list, false)?, with.assume_subgroups, capture);
    let sampling = sampling(plan.variants.passes(), with.sample, 0)?;
    Ok(Plan { keep_calls: with.keep_calls, narrow: with.narrow, sampling, ..plan })
}

/// How probes that are timed count.
#[derive(Clone, Copy, Debug)]
pub struct Probes {
    /// Subgroup operations are taken for granted.
    pub assume_subgroups: bool,
    /// One subgroup in so many counts.
    pub sample: u32,
    /// The driver's compiler is asked not to inline what probes call.
    pub keep_calls: bool,
    /// Counting is with 32-bit atomics even where the device has wider ones.
    pub narrow: bool,
}

/// The same, of these passes.
pub fn timed(passes: Vec<Box<dyn profile::Pass>>, assume_subgroups: bool, capture: &Capture) -> Plan {
    let select = Selection::default();
    let Scanned { stages, names, .. } = scan(capture, &select);
    Plan {
        variants: Arc::new(Variants::new(passes, None)),
        frames: None,
        select,
        log_bytes: TIMED_LOG_BYTES,
        window: EVERYTHING,
        assume_subgroups,
        stages,
        names,
        dump: None,
        timing: true,
        keep_calls: false,
        sampling: Sampling::default(),
        replays: 1,
        narrow: false,
    }
}

/// The log of a timed plan. A frame that fills it is cheaper from there on than one that does not.
const TIMED_LOG_BYTES: u64 = 1 << 30;

/// The plan.
pub fn plan(args: &Settings, capture: &Capture) -> Result<Plan, Failure> {
    let arm = by_driver(args)?;
    if arm && places_chosen(args) {
        return Err(Failure::usage(
            "the driver counts all that runs, and not only chosen render passes and labels; --counters portable counts those",
        ));
    }
    let passes = passes(&args.passes.0, arm)?;
    let sampling = sampling(&passes, args.sample, args.sample_seed)?;
    if places_chosen(args) && args.sample > 1 {
        let why =
            "--sample does not go together with chosen render passes or labels, whose work counts elsewhere";
        return Err(Failure::usage(why));
    }
    let most_blocks = spread(&passes, args.replays)?;
    let select = select(args)?;
    let Scanned { stages, names, blocks } = scan(capture, &select);
    let replays = args.replays.unwrap_or_else(|| Replays::needed(blocks, most_blocks));
    let folder = if args.no_cache { None } else { cache().map(|c| c.join("variants")) };
    Ok(Plan {
        variants: Arc::new(Variants::new(passes, folder)),
        frames: args.frames.as_ref().map(|f| f.all().to_vec()),
        select,
        log_bytes: args.log_bytes,
        window: args.window.unwrap_or(EVERYTHING),
        assume_subgroups: args.assume_subgroups,
        stages,
        names,
        dump: args.dump_shaders.clone(),
        timing: false,
        keep_calls: args.keep_calls,
        sampling,
        replays,
        narrow: args.narrow,
    })
}

/// How much of the work counts.
fn sampling(passes: &[Box<dyn profile::Pass>], every: u32, seed: u32) -> Result<Sampling, Failure> {
    match passes.iter().find(|p| !p.samples()) {
        Some(p) if every > 1 => Err(Failure::usage(format_args!(
            "--sample: pass {} takes all of the work; simt and divergence count samples, without other passes beside them",
            p.name()
        ))),
        _ => Ok(Sampling { every, seed }),
    }
}

/// How many blocks of a shader count in a replay at most.
fn spread(passes: &[Box<dyn profile::Pass>], asked: Option<u32>) -> Result<usize, Failure> {
    let mut most = usize::MAX;
    for p in passes {
        match (p.spreads(), asked) {
            (Some(blocks), _) => most = most.min(blocks),
            (None, Some(2..)) => {
                let why = format_args!(
                    "--replays: pass {} measures in one replay; blocks, simt and divergence can be spread over several, without other \
                     passes beside them",
                    p.name()
                );
                return Err(Failure::usage(why));
            }
            (None, _) => return Ok(usize::MAX),
        }
    }
    Ok(most)
}

/// Whether only some render passes or labels count.
pub fn places_chosen(args: &Settings) -> bool {
    !args.render_passes.is_empty() || args.render_pass_numbers.is_some() || !args.labels.is_empty()
}

fn select(args: &Settings) -> Result<Selection, Failure> {
    let mut shaders = Vec::new();
    for s in &args.shaders {
        if s.is_empty() || s.len() > 64 || !s.bytes().all(|b| b.is_ascii_hexdigit()) {
            return Err(Failure::usage(format_args!("--shaders {s}: expected the first digits of a hash")));
        }
        shaders.push(s.to_ascii_lowercase());
    }
    let objects = |globs: &[Glob]| -> Option<PipelineFilter> {
        if globs.is_empty() {
            return None;
        }
        let globs = globs.to_vec();
        let matches = move |id: u64, name: Option<&str>| {
            let id = id.to_string();
            globs.iter().any(|g| g.matches(&id) || name.is_some_and(|n| g.matches(n)))
        };
        Some(Box::new(matches))
    };
    let labels = args.labels.clone();
    let label: LabelFilter = Box::new(move |name| labels.iter().any(|g| g.matches(name)));
    let places = Places {
        render_passes: objects(&args.render_passes),
        numbers: args.render_pass_numbers.as_ref().map(|r| r.all().to_vec()),
        labels: (!args.labels.is_empty()).then_some(label),
    };
    Ok(Selection {
        places: places_chosen(args).then(|| Rc::new(places)),
        stages: (!args.stages.is_empty()).then(|| args.stages.iter().copied().collect()),
        pipelines: objects(&args.pipelines),
        shaders: (!shaders.is_empty()).then_some(shaders),
    })
}

/// The passes for the trace's manifest.
pub fn notes(args: &Settings, plan: &Plan) -> Vec<PassNote> {
    let passes = plan.variants.passes().iter().zip(&args.passes.0);
    passes
        .map(|(pass, wanted)| PassNote {
            name: pass.name().to_owned(),
            key: pass.key(),
            options: wanted.options(),
        })
        .collect()
}

#[cfg(test)]
mod tests {
    use super::*;

    /// Each question is answered by what passes fill, all of it but what says what was instrumented; or by `bindings`.
    #[test]
    fn passes_fill_what_questions_want() {
        let of_bindings = ["bindings", "uniforms", "advice", "sync"];
        let always = ["spirv_text", "instructions"];
        for q in QUESTIONS {
            let filled: Vec<&str> = filling(q.wants).iter().flat_map(|p| p.writes).map(|t| t.name).collect();
            assert_eq!(filled.is_empty(), of_bindings.contains(&q.name), "{}", q.name);
            let wanted = q.wants.iter().map(|t| t.name).filter(|t| !filled.contains(t));
            let left: Vec<&str> = wanted.filter(|t| !always.contains(t)).collect();
            assert!(filled.is_empty() || left.is_empty(), "{}: {left:?}", q.name);
        }
    }
}
