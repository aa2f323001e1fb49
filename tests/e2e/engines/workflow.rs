//! Runs a workflow's job as GitHub's runner does, as far as docs/engines/github-actions.yml needs it: steps in their order in a
//! checkout, `if`, `env`, outputs, the summary; of the actions that it uses, the cache.
//!
//! Guarantees: a key that GitHub does not know is a mistake; what is not run is in the list of what was not run, by name.

use super::expressions::{Standing, filled, holds};
use crate::support::text;
use serde_json::{Map, Value, json};
use std::ffi::OsString;
use std::fs;
use std::path::{Path, PathBuf};
use std::process::Command;

/// How a step ended.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Step {
    Done,
    Failed(i32),
    /// Its `if` did not hold.
    Skipped,
    /// What it does is not done here.
    NotRun,
}

/// A job that was run.
pub struct Finished {
    /// Steps by their names.
    pub steps: Vec<(String, Step)>,
    /// What they printed.
    pub log: String,
    /// The job's summary.
    pub summary: String,
}

impl Finished {
    pub fn step(&self, name: &str) -> &Step {
        &self.steps.iter().find(|s| s.0 == name).unwrap_or_else(|| panic!("no step {name}")).1
    }
    pub fn failed(&self) -> bool {
        self.steps.iter().any(|s| matches!(s.1, Step::Failed(_)))
    }
}

/// What a job runs in.
pub struct Runner<'r> {
    pub checkout: &'r Path,
    /// Where caches lie, a folder for each key.
    pub caches: &'r Path,
    pub path: OsString,
    /// Of the runner's own, for every step.
    pub env: Vec<(String, String)>,
    /// `github` and `vars`.
    pub github: Value,
    /// Names of steps that are not run: what they install is there.
    pub not_run: &'r [&'r str],
}

/// Keys of a workflow, of a job and of a step.
pub fn check_keys(workflow: &Value) {
    let known = |of: &Value, keys: &[&str], at: &str| {
        for key in of.as_object().unwrap_or_else(|| panic!("{at}: no object")).keys() {
            assert!(keys.contains(&key.as_str()), "{at}: no key {key}");
        }
    };
    known(workflow, &["name", "on", "permissions", "concurrency", "defaults", "env", "jobs"], "workflow");
    known(&workflow["on"], &["push", "pull_request"], "on");
    known(&workflow["permissions"], &["contents", "pull-requests"], "permissions");
    known(&workflow["concurrency"], &["group", "cancel-in-progress"], "concurrency");
    for (name, job) in workflow["jobs"].as_object().expect("jobs") {
        known(job, &["runs-on", "timeout-minutes", "steps"], name);
        for step in job["steps"].as_array().expect("steps") {
            known(step, &["name", "id", "if", "env", "uses", "with", "run"], &step.to_string());
            assert!(step["uses"].is_string() != step["run"].is_string(), "{step}: it uses or runs");
        }
    }
}

/// Runs the workflow's one job.
pub fn run(workflow: &Value, runner: &Runner<'_>) -> Finished {
    check_keys(workflow);
    assert_eq!(workflow["defaults"]["run"]["shell"], "bash");
    let jobs = workflow["jobs"].as_object().expect("jobs");
    let job = jobs.values().next().filter(|_| jobs.len() == 1).expect("one job");
    let mut context = runner.github.clone();
    context["steps"] = json!({});
    let scratch = runner.checkout.with_extension("runner");
    fs::create_dir_all(&scratch).expect("a folder");
    let (output, summary) = (scratch.join("output"), scratch.join("summary"));
    fs::write(&summary, "").expect("a file");
    let mut done = Finished { steps: vec![], log: String::new(), summary: String::new() };
    for step in job["steps"].as_array().expect("steps") {
        let name = step["name"].as_str().expect("a name").to_owned();
        let standing = Standing { failed: done.failed() };
        let runs = step["if"].as_str().map_or(!standing.failed, |text| holds(text, &context, standing));
        fs::write(&output, "").expect("a file");
        let ended = if !runs {
            Step::Skipped
        } else if runner.not_run.contains(&name.as_str()) {
            Step::NotRun
        } else if let Some(action) = step["uses"].as_str() {
            uses(action, step, runner, &context, &mut done.log)
        } else {
            let script = filled(step["run"].as_str().expect("a script"), &context);
            assert_eq!(
                script, step["run"],
                "{name}: what is put into a script may be code; it goes into env"
            );
            let file = scratch.join("script.sh");
            fs::write(&file, &script).expect("a script");
            let mut command = Command::new("bash");
            // (as GitHub calls it for `shell: bash`)
            command.args(["--noprofile", "--norc", "-eo", "pipefail"]).arg(&file);
            command.current_dir(runner.checkout).env("PATH", &runner.path).envs(runner.env.iter().cloned());
            for (key, value) in
                [("GITHUB_OUTPUT", &output), ("GITHUB_STEP_SUMMARY", &summary), ("RUNNER_TEMP", &scratch)]
            {
                command.env(key, value);
            }
            for of in [&workflow["env"], &step["env"]] {
                for (key, value) in of.as_object().into_iter().flatten() {
                    command.env(key, filled(value.as_str().expect("a text"), &context));
                }
            }
            let out = command.output().expect("bash starts");
            done.log += &format!("== {name}\n{}{}", text(&out.stdout), text(&out.stderr));
            if out.status.success() { Step::Done } else { Step::Failed(out.status.code().unwrap_or(-1)) }
        };
        if let Some(id) = step["id"].as_str() {
            let mut outputs = Map::new();
            for line in fs::read_to_string(&output).expect("outputs").lines() {
                let (key, value) = line.split_once('=').unwrap_or_else(|| panic!("{name}: output {line:?}"));
                outputs.insert(key.to_owned(), value.into());
            }
            context["steps"][id] = json!({ "outputs": outputs });
        }
        done.steps.push((name, ended));
    }
    done.summary = fs::read_to_string(&summary).expect("the summary");
    done
}

/// What an action does: the cache's, as its page describes it.
fn uses(action: &str, step: &Value, runner: &Runner<'_>, context: &Value, log: &mut String) -> Step {
    let with = |key: &str| {
        filled(step["with"][key].as_str().unwrap_or_else(|| panic!("{action}: no {key}")), context)
    };
    let caches = |key: &str| -> PathBuf {
        assert!(!key.is_empty() && !key.contains([',', '/']), "{action}: key {key:?}");
        runner.caches.join(key)
    };
    match action.split_once('@').expect("a version").0 {
        "actions/cache/restore" => {
            let exact = caches(&with("key"));
            let beginning = with("restore-keys");
            // (of those that begin so the newest)
            let all = fs::read_dir(runner.caches).expect("caches").map(|e| e.expect("an entry"));
            let older = all.filter(|e| e.file_name().to_string_lossy().starts_with(beginning.trim()));
            let older = older.max_by_key(|e| e.metadata().and_then(|m| m.modified()).expect("a time"));
            let found = Some(exact).filter(|e| e.is_dir()).or(older.map(|e| e.path()));
            *log += &format!("== {action}: {found:?}\n");
            if let Some(found) = found {
                let path = with("path");
                fs::copy(found.join(&path), runner.checkout.join(&path)).expect("a cache's file");
            }
            Step::Done
        }
        "actions/cache/save" => {
            let (to, path) = (caches(&with("key")), with("path"));
            fs::create_dir_all(&to).expect("a folder");
            fs::copy(runner.checkout.join(&path), to.join(&path)).expect("what is cached is there");
            Step::Done
        }
        "actions/upload-artifact" => {
            let there = |p: &&str| runner.checkout.join(p.trim()).exists();
            let (path, paths) = (with("path"), with("path").lines().count());
            *log +=
                &format!("== {action}: {} of {paths} paths are there\n", path.lines().filter(there).count());
            Step::NotRun
        }
        other => panic!("no action {other}"),
    }
}
