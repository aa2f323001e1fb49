//! What a run's plans are, as the command line says them, and what each means for one capture.

use super::super::plan::{How, With, of_plan, with};
use super::super::{learnt, swizzles};
use crate::cli::BenchArgs;
use crate::commands::frames;
use crate::commands::repack::methods;
use crate::commands::replaying::options;
use crate::exit::{Exit, Failure};
use crate::{input, progress};
use std::path::Path;
use trace::run::PlanNote;

/// The plan in whose shaders nothing is changed.
pub const PLAIN: &str = "plain";

/// A plan as it was asked for.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Asked {
    /// What stands in `run.json`.
    pub note: PlanNote,
    /// A method of `rays repack`, whose swizzles are made of each capture's rays.
    method: Option<String>,
    /// A plan of `--ab`.
    learnt: Option<String>,
}

impl Asked {
    /// `NAME KEY=VALUE …`, words as a shell splits them.
    pub fn parse(text: &str) -> Result<Asked, String> {
        let words = shlex::split(text).ok_or_else(|| format!("{text}: a quote or backslash has no end"))?;
        let mut words = words.iter().map(String::as_str);
        let name = words
            .next()
            .filter(|n| !n.is_empty() && !n.contains('='))
            .ok_or("a plan begins with its name")?;
        let mut asked =
            Asked { note: PlanNote { name: name.to_owned(), ..PlanNote::default() }, ..Asked::default() };
        let mut passes: Vec<&str> = vec![];
        let mut replaced = String::new();
        for word in words {
            let (key, value) = word.split_once('=').ok_or_else(|| format!("plan {name}: {word} has no ="))?;
            let once = |there: bool| match there {
                true => Err(format!("plan {name}: {key} is there twice")),
                false => Ok(()),
            };
            match key {
                "passes" => {
                    once(!passes.is_empty())?;
                    passes.extend(value.split(','));
                }
                "method" => {
                    once(asked.method.is_some())?;
                    asked.method = Some(value.to_owned());
                }
                "shaders" => {
                    once(!replaced.is_empty())?;
                    replaced = format!("replace:{value}");
                }
                "driver" => {
                    once(asked.note.driver.is_some())?;
                    asked.note.driver = Some(value.to_owned());
                }
                "gpu" => {
                    once(asked.note.gpu.is_some())?;
                    asked.note.gpu = Some(value.to_owned());
                }
                "env" => {
                    let (variable, value) = value
                        .split_once('=')
                        .ok_or_else(|| format!("plan {name}: env={value}: NAME=VALUE"))?;
                    asked.note.env.insert(variable.to_owned(), value.to_owned());
                }
                _ => {
                    return Err(format!(
                        "plan {name}: {key}: there are passes, method, shaders, driver, gpu and env"
                    ));
                }
            }
        }
        passes.extend(Some(replaced.as_str()).filter(|r| !r.is_empty()));
        asked.note.passes = passes.join(",");
        Ok(asked)
    }
}

/// All plans of a run.
pub fn asked(args: &BenchArgs) -> Result<Vec<Asked>, Failure> {
    let mut all: Vec<Asked> = vec![];
    for text in &args.processes.plan {
        all.push(Asked::parse(text).map_err(|e| Failure::usage(format_args!("--plan: {e}")))?);
    }
    if all.is_empty() {
        all.push(Asked { note: PlanNote { name: PLAIN.into(), ..PlanNote::default() }, ..Asked::default() });
    }
    for With { name, how } in with(args)? {
        let How::Passes(list) = how else { continue };
        all.push(Asked { note: PlanNote { name, passes: list, ..PlanNote::default() }, ..Asked::default() });
    }
    for name in args.ab.iter().filter(|n| *n != PLAIN) {
        let note = match name.strip_prefix(learnt::REPARTITION) {
            Some(file) => {
                let short = learnt::short(file);
                let taken = all.iter().any(|p| p.note.name == short);
                let title = if taken { name.clone() } else { short };
                PlanNote { name: title, passes: name.clone(), ..PlanNote::default() }
            }
            None => PlanNote { name: name.clone(), passes: name.replace('+', ","), ..PlanNote::default() },
        };
        all.push(Asked { note, learnt: Some(name.clone()), ..Asked::default() });
    }
    for plan in &mut all {
        plan.note.method.clone_from(&plan.method);
        possible(plan, args)?;
    }
    for (n, plan) in all.iter().enumerate() {
        let name = &plan.note.name;
        if all[..n].iter().any(|other| other.note.name == *name) {
            return Err(Failure::usage(format_args!("plan {name} is there twice")));
        }
        if plan.method.is_some() && args.looped.is_none() {
            return Err(Failure::usage(format_args!("plan {name}: swizzles are a frame's: --frame K")));
        }
        if plan.learnt.is_some() && args.looped.is_none() {
            return Err(Failure::usage("--ab: which frame? --frame K"));
        }
    }
    Ok(all)
}

/// Refuses what no worker could do: drivers that are not there, methods that nobody knows, and tables in a folder whose name
/// would take the list of passes apart, what is known of one capture for several; and what nobody would have compared.
fn possible(plan: &Asked, args: &BenchArgs) -> Result<(), Failure> {
    let name = &plan.note.name;
    if plan.learnt.is_none() && plan.note.passes.starts_with(learnt::REPARTITION) {
        let text = "descriptors in other sets are a plan of --ab, which compares pictures";
        return Err(Failure::usage(format_args!("plan {name}: {text}")));
    }
    for file in plan.note.driver.iter().flat_map(std::env::split_paths) {
        // (a loader passes over what is not there, and says that there is no driver)
        file.metadata()
            .map_err(|e| Failure::new(format_args!("plan {name}: driver={}: {e}", file.display())))?;
    }
    if let Some(method) = &plan.method
        && args.swizzles.is_none()
    {
        methods(std::slice::from_ref(method)).map_err(|e| of_plan(e, name))?;
    }
    let made = plan.method.is_some() || plan.learnt.is_some();
    let given = [("--trace", &args.trace), ("--swizzles", &args.swizzles), ("--resources", &args.resources)];
    if made
        && !args.more.is_empty()
        && let Some((flag, _)) = given.iter().find(|g| g.1.is_some())
    {
        let text = format!("plan {name}: {flag} says something of one capture, and there are several");
        return Err(Failure::usage(text));
    }
    if made && args.output.to_string_lossy().contains([',', '+']) {
        let text = "a name without commas and plus signs, as what it reads is written there";
        return Err(Failure::usage(format_args!("-o: plan {name}: {text}")));
    }
    Ok(())
}

/// The passes of each plan for one capture (`args.file`), with what they read made in `to`; and what is to be said.
pub fn passes(args: &BenchArgs, plans: &[Asked], to: &Path) -> Result<(Vec<String>, Vec<String>), Failure> {
    let mut lists: Vec<String> = plans.iter().map(|p| p.note.passes.clone()).collect();
    let mut notes = vec![];
    let methods: Vec<String> = plans.iter().filter_map(|p| p.method.clone()).collect();
    if !methods.is_empty() {
        progress::step("making swizzles");
        std::fs::create_dir_all(to).map_err(|e| Failure::new(format_args!("{}: {e}", to.display())))?;
        let made = swizzles::made(&BenchArgs { methods, ab: vec![], ..args.clone() }, to)?;
        let files = swizzles::write(&to.join("swizzles"), &made)?;
        for (plan, list) in plans.iter().zip(&mut lists) {
            let Some(method) = &plan.method else { continue };
            let Some(at) = made.iter().position(|m| m.method == *method) else {
                return Err(Failure::usage(format_args!("plan {}: no method {method}", plan.note.name)));
            };
            let files: Vec<String> = files[at].iter().map(|f| f.display().to_string()).collect();
            let swizzle = format!("swizzle:{}", files.join("+"));
            *list =
                [swizzle.as_str(), list].into_iter().filter(|l| !l.is_empty()).collect::<Vec<_>>().join(",");
        }
    }
    let learnt: Vec<String> = plans.iter().filter_map(|p| p.learnt.clone()).collect();
    if !learnt.is_empty() {
        std::fs::create_dir_all(to).map_err(|e| Failure::new(format_args!("{}: {e}", to.display())))?;
        let capture = input::open(&args.file, &args.run.reading)?;
        let first = frames::there(&capture, &options(&args.run)?.frame_by).map_or(1, |there| there.0);
        let args = BenchArgs { ab: learnt, ..args.clone() };
        let (with, said) = learnt::plans(&args, &capture, first.max(1), to)?;
        let (good, refused) = learnt::check(&args, &capture, with, to)?;
        if let Some(r) = refused.first() {
            let instead =
                r.instead.as_ref().map(|i| format!("; plan {i} shows the same")).unwrap_or_default();
            let text = format!("plan {}: {}{instead}", r.name, r.why);
            return Err(Failure::with(Exit::Diverged, text));
        }
        notes.extend(said);
        for w in good {
            let at = plans.iter().position(|p| p.learnt.as_ref() == Some(&w.name));
            if let (Some(n), How::Passes(list)) = (at, w.how) {
                lists[n] = list;
            }
        }
    }
    Ok((lists, notes))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_plan_in_words() {
        let p = Asked::parse("slow passes=simt,burn:turns=3 env=A=1=2 driver=/x.json gpu=1").expect("a plan");
        assert_eq!((&*p.note.name, &*p.note.passes), ("slow", "simt,burn:turns=3"));
        assert_eq!(p.note.env.get("A").map(String::as_str), Some("1=2"));
        assert_eq!((p.note.driver.as_deref(), p.note.gpu.as_deref()), (Some("/x.json"), Some("1")));
        assert_eq!(Asked::parse("r shaders=new").expect("a plan").note.passes, "replace:new");
        assert_eq!(Asked::parse("r method=random").expect("a plan").method.as_deref(), Some("random"));
        let quoted = Asked::parse(r#"'two words' env="A=x y" passes=burn:pipeline='#5'"#).expect("a plan");
        assert_eq!((&*quoted.note.name, &*quoted.note.passes), ("two words", "burn:pipeline=#5"));
        assert_eq!(quoted.note.env.get("A").map(String::as_str), Some("x y"));
        for wrong in ["'' env=A=1", "x env='A=1", "x env=A=\\"] {
            assert!(Asked::parse(wrong).is_err(), "{wrong}");
        }
        for wrong in ["", "a=b", "x y", "x colour=red", "x env=A", "x passes=a passes=b", "x gpu=0 gpu=1"] {
            assert!(Asked::parse(wrong).is_err(), "{wrong}");
        }
    }
}
