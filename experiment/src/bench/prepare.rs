//! What each plan means for each capture: its passes, with what they read made first, and proof of its picture where there has to be.
//!
//! ```text
//! made/CAPTURE/rays                the frame's rays, of which methods make swizzles
//! made/CAPTURE/swizzles            PLAN_frameF_launchL.swizzle and .npy
//! made/CAPTURE/known/blocks        what prune reads: profile --passes blocks
//! made/CAPTURE/known/values        what zero-path reads: profile --passes values
//! made/CAPTURE/known/resources     what specialize reads: bindings -o
//! made/CAPTURE/checked/PLAN        a profile of the frame with the plan's shaders
//! ```
//!
//! A pass that changes shaders for what was seen of them, and is given no trace, has it recorded: of all frames up to the one that
//! is timed, as those before it are replayed with the same shaders.
//!
//! Guarantees: each is recorded once, whatever many plans read it. A plan that changes shaders for what was seen, or moves descriptors
//! to other sets, and whose frame does not show (or leave in memory) what it does with the application's own, is refused with the pass
//! and the first pixel or byte: it is not timed. How far it may be off is the tolerance's to say. Beyond that the same plan with
//! `precise=yes` is tried, whose code the driver may not compile otherwise: it is timed instead where it is within. Refuses plans
//! that make no sense before anything runs.

use super::settings::{Prepared, Settings};
use super::swizzles::{self, Wanted};
use super::traces::{record, recorded, resources};
use crate::failure::{Exit, Failure};
use crate::frames;
use crate::progress;
use crate::replaying::options;
use crate::say::complain;
use crate::split;
use analyses::rays::repack;
use gfxr_parse::container::Capture;
use replay::options::Options;
use std::collections::BTreeMap;
use std::path::{Path, PathBuf};
use trace::plan::{Passes, Plan, Use};
use trace::run::RefusedPlan;

/// Passes that read a trace, and what of it.
const LEARN: [(&str, &str); 3] = [("prune", "blocks"), ("zero-path", "values"), ("specialize", "resources")];

/// All plans of a run that are timed, and what became of the others.
#[derive(Default)]
pub struct All {
    /// Those that are timed.
    pub plans: Vec<Plan>,
    /// By capture and plan.
    pub prepared: Vec<Vec<Prepared>>,
    /// The others.
    pub refused: Vec<RefusedPlan>,
    /// What is to be said.
    pub notes: Vec<String>,
}

/// Refuses plans that no worker could do, before anything is measured: what is there twice, drivers that are not there, methods that
/// nobody knows, frames' plans without a frame.
pub fn check(settings: &Settings) -> Result<(), Failure> {
    let plans = &settings.plans;
    for (n, plan) in plans.iter().enumerate() {
        let no = |why: &str| Err(Failure::usage(format_args!("plan {}: {why}", plan.name)));
        if plans[..n].iter().any(|other| other.name == plan.name) {
            return no("it is there twice");
        }
        if let Some(other) =
            plans[..n].iter().find(|o| swizzles::plain(&o.name) == swizzles::plain(&plan.name))
        {
            return no(&format!(
                "its files would be called as those of plan {}; give it another name",
                other.name
            ));
        }
        for file in plan.driver.iter().flat_map(std::env::split_paths) {
            // (a loader passes over what is not there, and says that there is no driver)
            file.metadata().map_err(|e| {
                Failure::new(format_args!("plan {}: driver={}: {e}", plan.name, file.display()))
            })?;
        }
        if let Some(Err(e)) = plan.method.as_ref().map(|m| repack::asked(m, settings.seed)) {
            return no(&e);
        }
        if let Err(e) = profile::changes::hooks(&plan.of_calls()) {
            return no(&e);
        }
        if plan.descriptors.is_some()
            && !(plan.passes.is_empty()
                && plan.method.is_none()
                && plan.of_calls().iter().all(|c| c.name != "shaders"))
        {
            return no("where descriptors are in other sets, shaders stay the application's own");
        }
        let of_a_frame = [
            (plan.method.is_some(), "swizzles are a frame's"),
            (
                plan.descriptors.is_some(),
                "descriptors in other sets are a frame's, whose picture is compared",
            ),
            (plan.passes.0.iter().any(|p| learns(p).is_some()), "what its passes have to know is of a frame"),
        ];
        if let Some((_, why)) = of_a_frame.iter().find(|of| of.0 && settings.frame.is_none()) {
            return no(&format!("{why}: --frame K"));
        }
    }
    Ok(())
}

/// What a pass has to be told that it was not given: the trace's name.
fn learns(pass: &Use) -> Option<&'static str> {
    let given = pass.options.iter().any(|o| !o.contains('=') || Path::new(o).exists());
    LEARN.iter().find(|l| l.0 == pass.name && !given).map(|l| l.1)
}

/// Whether a plan's picture has to be the application's own.
fn is_compared(plan: &Plan) -> bool {
    plan.descriptors.is_some() || plan.passes.0.iter().any(|p| LEARN.iter().any(|l| l.0 == p.name))
}

/// What came of preparing a plan.
enum Outcome {
    /// By capture.
    Ready(Vec<Prepared>),
    /// Its frame does not show what the application's shaders show: what of it.
    Differs(String),
    /// It cannot be prepared: why.
    Failed(String),
}

/// Prepares all plans for all captures.
pub fn all(settings: &Settings, captures: &[(PathBuf, Capture)], to: &Path) -> Result<All, Failure> {
    let mut all = All { prepared: vec![vec![]; captures.len()], ..All::default() };
    let folder = |n: usize| to.join("made").join(n.to_string());
    // (of an experiment that cannot be prepared it is told why, and the others go on)
    let told = |why: Failure| if settings.experiments && why.0 != Exit::Gone { Ok(why.1) } else { Err(why) };
    let mut swizzled = vec![];
    let mut unswizzled = None;
    for (n, (file, _)) in captures.iter().enumerate() {
        swizzled.push(match swizzles(settings, file, &folder(n)) {
            Ok(made) => made,
            Err(why) if settings.plans.first().is_some_and(|base| base.method.is_some()) => return Err(why),
            Err(why) => {
                unswizzled = Some(told(why)?);
                BTreeMap::new()
            }
        });
    }
    let prepare = |plan: &Plan, notes: &mut Vec<String>| -> Result<Outcome, Failure> {
        let mut each = vec![];
        for (n, (file, capture)) in captures.iter().enumerate() {
            let made = swizzled[n].get(&plan.name).cloned().unwrap_or_default();
            let known = known(settings, file, capture, plan, &folder(n), notes)?;
            let swizzle = Use::new("swizzle", made.swizzles.iter().map(|f| f.display().to_string()));
            let before = (!made.swizzles.is_empty()).then_some(swizzle);
            let passes = Passes(before.into_iter().chain(known).collect());
            each.push(Prepared { passes, ..made });
        }
        for (n, (file, capture)) in captures.iter().enumerate() {
            if is_compared(plan)
                && settings.frame.is_some()
                && let Some(why) = differs(settings, (file, capture), plan, &each[n].passes, &folder(n))?
            {
                return Ok(Outcome::Differs(why.replace(&format!("{}/", to.display()), "")));
            }
        }
        Ok(Outcome::Ready(each))
    };
    let keep = |all: &mut All, plan: &Plan, each: Vec<Prepared>| {
        all.plans.push(plan.clone());
        all.prepared.iter_mut().zip(each).for_each(|(of, one)| of.push(one));
    };
    for (n, plan) in settings.plans.iter().enumerate() {
        // (without what the others are held against there is nothing to go on with)
        let failed = |why: Failure| if n == 0 { Err(why) } else { told(why).map(Outcome::Failed) };
        let outcome = match unswizzled.as_ref().filter(|_| plan.method.is_some()) {
            Some(why) => Outcome::Failed(why.clone()),
            None => prepare(plan, &mut all.notes).or_else(failed)?,
        };
        let why = match outcome {
            Outcome::Ready(each) => {
                keep(&mut all, plan, each);
                continue;
            }
            Outcome::Failed(why) => {
                all.refused.push(RefusedPlan { plan: plan.name.clone(), why, instead: None });
                continue;
            }
            Outcome::Differs(why) => why,
        };
        complain(format_args!("plan {} is refused: {why}", plan.name));
        let mut instead = None;
        let precise = precise(plan);
        if precise.passes != plan.passes && settings.plans.iter().all(|p| p.name != precise.name) {
            // (why the plan itself is refused is what is told, whatever this one fails of)
            if let Outcome::Ready(each) = prepare(&precise, &mut all.notes).or_else(failed)? {
                keep(&mut all, &precise, each);
                instead = Some(precise.name);
            }
        }
        all.refused.push(RefusedPlan { plan: plan.name.clone(), why, instead });
    }
    if let (true, Some(r)) = (all.plans.is_empty(), all.refused.first()) {
        return Err(Failure::with(Exit::Diverged, format!("plan {}: {}", r.plan, r.why)));
    }
    Ok(all)
}

/// The swizzles of plans with a method, by the plan's name.
fn swizzles(settings: &Settings, file: &Path, to: &Path) -> Result<BTreeMap<String, Prepared>, Failure> {
    let mut wanted = vec![];
    for plan in &settings.plans {
        if let Some(method) = &plan.method {
            let (method, options) = repack::asked(method, settings.seed).map_err(Failure::usage)?;
            wanted.push(Wanted { plan: plan.name.clone(), method, options });
        }
    }
    let (false, Some(frame)) = (wanted.is_empty(), settings.frame) else { return Ok(BTreeMap::new()) };
    let rays = match &settings.rays {
        Some(trace) => trace.clone(),
        None => {
            progress::step("recording rays");
            let rays = to.join("rays");
            record(settings, file, &[Use::new("rays", [""; 0])], (frame, frame), &rays)?;
            rays
        }
    };
    swizzles::made(&rays, frame, &wanted, &to.join("swizzles"))
}

/// A plan's own passes, each with the trace that it reads.
fn known(
    settings: &Settings,
    file: &Path,
    capture: &Capture,
    plan: &Plan,
    to: &Path,
    notes: &mut Vec<String>,
) -> Result<Vec<Use>, Failure> {
    let mut passes = plan.passes.0.clone();
    for pass in &mut passes {
        let (Some(what), Some(last)) = (learns(pass), settings.frame) else { continue };
        let folder = to.join("known").join(what);
        if !folder.exists() {
            progress::step(&format!("recording {what}"));
            let first = frames::there(capture, &options(&settings.run)?.frame_by).map_or(1, |there| there.0);
            let frames = (first.max(1), last);
            let of = if what == "resources" {
                resources(file, frames, &folder)?;
                "what draws bound".into()
            } else {
                let probes = format!("of pass {what}");
                notes.extend(recorded(settings, file, &[Use::new(what, [""; 0])], frames, &folder, &probes)?);
                format!("pass {what}")
            };
            notes.push(format!(
                "What {} knows was recorded in this run, of frames {} to {last}: {of}.",
                pass.name, frames.0
            ));
        }
        pass.options.insert(0, folder.display().to_string());
    }
    Ok(passes)
}

/// What of a plan's frame is not what it is with the application's own shaders, beyond the tolerance.
pub fn differs(
    settings: &Settings,
    (file, capture): (&Path, &Capture),
    plan: &Plan,
    passes: &Passes,
    to: &Path,
) -> Result<Option<String>, Failure> {
    let Some(frame) = settings.frame else { return Ok(None) };
    progress::step(&format!("comparing pictures: {}", plan.name));
    let frames = (frame, frame);
    let compared = match &plan.descriptors {
        Some(sets) => {
            let options = Options { frames: Some(frames), ..options(&settings.run)? };
            let layouts = split::plan(capture, &options, Path::new(sets), None)?;
            split::verify(capture, &options, &layouts, settings.image_tolerance).map(drop)
        }
        None => {
            record(settings, file, &passes.0, frames, &to.join("checked").join(swizzles::plain(&plan.name)))
        }
    };
    match compared {
        Ok(()) => Ok(None),
        Err(Failure(Exit::Diverged, why)) => Ok(Some(why)),
        Err(Failure(exit, why)) => Err(Failure(exit, format!("plan {}: {why}", plan.name))),
    }
}

/// The same plan, computed as it stands, unless its passes say something of that already.
fn precise(plan: &Plan) -> Plan {
    let mut precise = Plan { name: format!("{}-precise", plan.name), ..plan.clone() };
    for pass in precise.passes.0.iter_mut().filter(|p| LEARN.iter().any(|l| l.0 == p.name)) {
        if !pass.options.iter().any(|o| o.starts_with("precise=")) {
            pass.options.push("precise=yes".into());
        }
    }
    precise
}

#[cfg(test)]
mod tests {
    use super::*;

    fn plan(text: &str) -> Plan {
        text.parse().unwrap_or_else(|e| panic!("{text}: {e}"))
    }

    #[test]
    fn what_is_learnt_and_what_was_given() {
        let of = |text: &str| plan(text).passes.0.iter().map(learns).collect::<Vec<_>>();
        assert_eq!(
            of("x passes=prune,simt,specialize:precise=yes"),
            [Some("blocks"), None, Some("resources")]
        );
        assert_eq!(of("x passes=prune:trace,zero-path:share=90+trace"), [None, None]);
        assert!(is_compared(&plan("x passes=prune:trace")) && is_compared(&plan("x descriptors=a.json")));
        assert!(!is_compared(&plan("x passes=simt shaders=new method=random")));
    }

    #[test]
    fn the_same_computed_as_it_stands() {
        let of = |text: &str| precise(&plan(text)).to_string();
        assert_eq!(
            of("a passes=prune,simt,specialize"),
            "a-precise passes=prune:precise=yes,simt,specialize:precise=yes"
        );
        assert_eq!(
            of("b passes=prune:a/b,zero-path:c+precise=no"),
            "b-precise passes=prune:a/b+precise=yes,zero-path:c+precise=no"
        );
    }
}
