//! docs/engines/github-actions.yml, run step by step: a push to main makes the baseline, a pull request that is slower is told so in
//! a comment, and the next push to it writes that comment anew.
//!
//! What is not run: the checkout (the test's folder is it), what installs, the upload of artifacts. `gh` is a stub that keeps
//! comments in a file; where there is no `jq`, which it takes, the test is skipped by name.

use super::expressions::{Standing, holds};
use super::workflow::{self, Finished, Runner, Step, check_keys};
use super::{PLAIN, engine, path, results, suite_of, yaml};
use crate::device::device;
use crate::support::{Scratch, root, skip};
use serde_json::{Value, json};
use std::fs;
use std::path::Path;
use std::process::Command;

const INSTALLS: &str = "Install software Vulkan and reray-replay";
/// A plan of the same name that takes longer: what a pull request that slows shaders down looks like.
const SLOW: &str = "[[plan]]\nname = \"plain\"\npasses = [\"burn:turns=30000\"]\n";

fn file() -> Value {
    let mut all = yaml::documents(&engine("github-actions.yml"), "github-actions.yml");
    assert_eq!(all.len(), 1);
    all.remove(0)
}

fn comment_if() -> String {
    let file = file();
    let steps = file["jobs"]["frame-times"]["steps"].as_array().expect("steps").clone();
    let step = steps.iter().find(|s| s["name"] == "Comment").expect("it comments");
    step["if"].as_str().expect("sometimes").to_owned()
}

#[test]
fn the_workflow_is_a_workflow() {
    let file = file();
    check_keys(&file);
    assert_eq!(file["on"], json!({"push": {"branches": ["main"]}, "pull_request": null}));
    // It may comment, and write nothing else.
    assert_eq!(file["permissions"], json!({"contents": "read", "pull-requests": "write"}));
    for (planted, from) in [("iff", "if"), ("environment", "env")] {
        let text =
            engine("github-actions.yml").replace(&format!("        {from}:"), &format!("        {planted}:"));
        let wrong = yaml::documents(&text, "planted").remove(0);
        assert!(std::panic::catch_unwind(|| check_keys(&wrong)).is_err(), "{planted}");
    }
}

#[test]
fn a_fork_is_not_commented_on() {
    let ask = |event: &str, head: &str| {
        let pull = json!({"head": {"repo": {"full_name": head}}});
        let github =
            json!({"github": {"event_name": event, "repository": "a/b", "event": {"pull_request": pull}}});
        holds(&comment_if(), &github, Standing { failed: false })
    };
    assert!(ask("pull_request", "a/b") && !ask("pull_request", "fork/b") && !ask("push", "a/b"));
}

/// A checkout with a suite of this plan, and the job run in it.
fn job(scratch: &Scratch, name: &str, plan: &str, event: &str) -> Finished {
    let checkout = scratch.path(name);
    suite_of(&checkout, &["mesh", "effects"], 5, plan);
    let state = scratch.path("gh");
    let github = json!({
        "github": {
            "event_name": event, "sha": format!("sha-of-{name}"), "ref": format!("refs/{name}"), "repository": "a/b", "token": "t",
            "event": if event == "push" { json!({}) } else {
                json!({"pull_request": {"number": 7, "head": {"repo": {"full_name": "a/b"}}}})
            }
        },
        "vars": {"RERAY_DEB": "not run"}
    });
    let env = [("GITHUB_REPOSITORY", "a/b"), ("GH_STATE", state.to_str().expect("a plain path"))];
    let done = workflow::run(
        &file(),
        &Runner {
            checkout: &checkout,
            caches: &scratch.path("caches"),
            path: path(&scratch.path("")),
            env: env.map(|(k, v)| (k.to_owned(), v.to_owned())).to_vec(),
            github,
            not_run: &["Check out", INSTALLS],
        },
    );
    let not: Vec<&str> = done.steps.iter().filter(|s| s.1 == Step::NotRun).map(|s| s.0.as_str()).collect();
    assert_eq!(not, ["Check out", INSTALLS, "Keep the results"], "{}", done.log);
    not.iter()
        .for_each(|n| skip(&format!("step {n:?} of github-actions.yml"), "it is GitHub's, or it installs"));
    done
}

fn comments(state: &Path) -> Vec<Value> {
    let bytes = fs::read(state.join("comments.json")).expect("comments");
    serde_json::from_slice::<Value>(&bytes).expect("JSON").as_array().expect("a list").clone()
}

#[test]
fn a_slower_pull_request_is_told_so() {
    let test = "the workflow of GitHub Actions";
    let tool =
        |words: &[&str]| Command::new(words[0]).args(&words[1..]).output().is_ok_and(|o| o.status.success());
    for (words, package) in [
        (&["jq", "--version"][..], "jq"),
        (&["dpkg-query", "-W", "mesa-vulkan-drivers"][..], "Debian's mesa-vulkan-drivers"),
    ] {
        if !tool(words) {
            assert!(
                std::env::var_os("RERAY_REQUIRE_DEVICE").is_none(),
                "{test}: no {package}, and it is required"
            );
            return skip(test, &format!("no {package}"));
        }
    }
    if !device(test) {
        return;
    }
    let scratch = Scratch::new("actions");
    let (state, caches) = (scratch.path("gh"), scratch.path("caches"));
    for folder in [&state, &caches, &scratch.path("bin")] {
        fs::create_dir_all(folder).expect("a folder");
    }
    std::os::unix::fs::symlink(root().join("tests/e2e/engines/gh"), scratch.path("bin/gh")).expect("a link");
    // Comments of others, one of which begins as ours does.
    let others = json!([
        {"id": 1, "user": {"login": "someone"}, "body": "<!-- frame-times -->\nlooks like it"},
        {"id": 2, "user": {"login": "github-actions[bot]"}, "body": "another workflow's"}
    ]);
    fs::write(state.join("comments.json"), others.to_string()).expect("it is written");

    // A push to main, the first: there is no verdict, and there is a baseline.
    let main = job(&scratch, "main", PLAIN, "push");
    assert!(!main.failed(), "{}", main.log);
    assert!(main.summary.contains("No verdict"), "{}", main.summary);
    assert_eq!((main.step("Comment"), main.step("Keep the baseline")), (&Step::Skipped, &Step::Done));
    let kept: Vec<_> = fs::read_dir(&caches).expect("caches").map(|e| e.expect("an entry").path()).collect();
    let [one] = &kept[..] else { panic!("one baseline: {kept:?}") };
    assert!(one.to_string_lossy().ends_with("-sha-of-main"), "{kept:?}");
    assert_eq!(results(&one.join("baseline.tar.gz")).units.len(), 2);
    assert!(!state.join("calls").exists());

    // A pull request that is slower.
    let slow = job(&scratch, "slow", SLOW, "pull_request");
    assert_eq!(slow.step("Comment"), &Step::Done, "{}", slow.log);
    assert_eq!(slow.step("Verdict"), &Step::Failed(1), "{}", slow.log);
    assert!(slow.log.contains("::error::slower than main"), "{}", slow.log);
    assert_eq!(slow.step("Make the baseline"), &Step::Skipped);
    let all = comments(&state);
    assert_eq!(all.len(), 3);
    let body = all[2]["body"].as_str().expect("a text");
    assert!(body.starts_with("<!-- frame-times -->\n"), "{body}");
    assert!(body.contains("regression") && body.contains("mesh") && body.contains("effects"), "{body}");
    assert!(body.contains(" cores, Mesa ") && slow.summary == body, "{body}");
    let verdict = scratch.path("slow/verdict");
    assert!(fs::read_to_string(verdict.join("junit.xml")).expect("JUnit").contains("<failure"));
    let benchmark: Value =
        serde_json::from_slice(&fs::read(verdict.join("benchmark.json")).expect("benchmark")).expect("JSON");
    assert!(
        benchmark
            .as_array()
            .is_some_and(|l| l.iter().all(|e| e["name"].is_string() && e["value"].is_number()))
    );

    // Its next push is as main is (which of the verdicts without a slowdown that is, is the machine's): the same comment, anew.
    let again = job(&scratch, "again", PLAIN, "pull_request");
    assert_eq!(again.step("Comment"), &Step::Done, "{}", again.log);
    let all = comments(&state);
    assert_eq!(all.len(), 3, "one comment a pull request");
    assert_ne!(all[2]["body"].as_str(), Some(body));
    assert_eq!((&all[0], &all[1]), (&others[0], &others[1]), "comments of others stay");
    let calls = fs::read_to_string(state.join("calls")).expect("calls");
    let verbs: Vec<&str> = calls.lines().filter_map(|l| l.split(' ').next()).collect();
    assert_eq!(verbs, ["GET", "POST", "GET", "PATCH"], "{calls}");
    assert_eq!(fs::read_dir(&caches).expect("caches").count(), 1, "a pull request makes no baseline");
}
