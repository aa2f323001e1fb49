//! docs/engines/kubernetes.yaml: every field against a table of the API's, the rules that the API server adds where they can be
//! told here, and the containers' commands run in their order, one index after the other.
//!
//! No cluster runs it: that is what docs/engines.md says, too.

use super::{PLAIN, UNITS, ended, engine, path, results, said, same_units, suite, unsharded, yaml};
use crate::device::device;
use crate::support::{Scratch, text};
use serde_json::Value;
use std::collections::BTreeMap;
use std::process::Command;

/// A type's fields: their types, and whether each is required.
type Fields<'t> = BTreeMap<&'t str, (&'t str, bool)>;

/// The table of types.
fn table() -> BTreeMap<&'static str, Fields<'static>> {
    let mut types: BTreeMap<&str, Fields> = BTreeMap::new();
    let mut at = "";
    for line in include_str!("kubernetes_fields.txt").lines().filter(|l| !l.starts_with('#')) {
        for word in line.split_whitespace() {
            if let Some(name) = word.strip_suffix(':') {
                at = name;
                continue;
            }
            let (field, kind) = word.split_once('=').expect("FIELD=TYPE");
            let entry = (kind.trim_end_matches('!'), kind.ends_with('!'));
            types.entry(at).or_default().insert(field, entry);
        }
    }
    types
}

/// What is wrong with a value of a type.
fn wrong(of: &Value, kind: &str, at: &str, out: &mut Vec<String>) {
    let types = table();
    let sound = match kind {
        "str" => of.is_string(),
        "int" => of.is_i64(),
        "bool" => of.is_boolean(),
        "map" => of.as_object().is_some_and(|m| m.values().all(Value::is_string)),
        list if list.ends_with("[]") => {
            for (n, one) in of.as_array().into_iter().flatten().enumerate() {
                wrong(one, list.trim_end_matches("[]"), &format!("{at}[{n}]"), out);
            }
            of.is_array()
        }
        object => {
            let Some(fields) = types.get(object) else {
                return out.push(format!("{at}: type {object} is not in the table"));
            };
            for (key, value) in of.as_object().into_iter().flatten() {
                match fields.get(key.as_str()) {
                    Some((kind, _)) => wrong(value, kind, &format!("{at}.{key}"), out),
                    None => out.push(format!("{at}: {object} has no field {key}")),
                }
            }
            for (name, _) in fields.iter().filter(|f| f.1.1 && of.get(f.0).is_none()) {
                out.push(format!("{at}: {object} wants {name}"));
            }
            of.is_object()
        }
    };
    if !sound {
        out.push(format!("{at}: no {kind}: {of}"));
    }
}

/// What the API server refuses beyond fields.
fn refused(document: &Value, out: &mut Vec<String>) {
    let kind = document["kind"].as_str().unwrap_or("");
    let name = document["metadata"]["name"].as_str().unwrap_or("");
    let mut say = |what: String| out.push(format!("{kind} {name}: {what}"));
    let version = match kind {
        "Job" => "batch/v1",
        "PersistentVolumeClaim" => "v1",
        _ => return say("which kind is this?".into()),
    };
    if document["apiVersion"] != version {
        say(format!("is of {version}"));
    }
    // (a pod's name is its Job's with an index and five letters, in 63)
    let plain = |n: &str| n.bytes().all(|b| b.is_ascii_lowercase() || b.is_ascii_digit() || b == b'-');
    if !plain(name) || name.is_empty() || name.len() > 50 || name.starts_with('-') || name.ends_with('-') {
        say("a bad name".into());
    }
    if kind != "Job" {
        return;
    }
    let spec = &document["spec"];
    let indexed = spec["completionMode"] == "Indexed";
    let pod = &spec["template"]["spec"];
    if indexed && !spec["completions"].is_i64() {
        say("an Indexed Job says how many completions".into());
    }
    for field in ["backoffLimitPerIndex", "podFailurePolicy"] {
        if !spec[field].is_null() && pod["restartPolicy"] != "Never" {
            say(format!("{field} wants restartPolicy Never"));
        }
    }
    if !spec["backoffLimitPerIndex"].is_null() && !indexed {
        say("backoffLimitPerIndex is an Indexed Job's".into());
    }
    let every = |list: &str| pod[list].as_array().cloned().unwrap_or_default();
    let containers = [every("initContainers"), every("containers")].concat();
    let known = |n: &Value| containers.iter().any(|c| c["name"] == *n);
    for rule in spec["podFailurePolicy"]["rules"].as_array().into_iter().flatten() {
        let action = rule["action"].as_str().unwrap_or("");
        if !["Ignore", "FailIndex", "FailJob", "Count"].contains(&action) {
            say(format!("no action {action}"));
        }
        if action == "FailIndex" && spec["backoffLimitPerIndex"].is_null() {
            say("FailIndex wants backoffLimitPerIndex".into());
        }
        let codes = &rule["onExitCodes"];
        if codes.is_null() == rule["onPodConditions"].is_null() {
            say("a rule is of exit codes or of conditions".into());
        }
        if !codes.is_null() {
            let values: Vec<i64> =
                codes["values"].as_array().into_iter().flatten().filter_map(Value::as_i64).collect();
            if !known(&codes["containerName"])
                || codes["operator"] != "In"
                || values.is_empty()
                || values.contains(&0)
                || !values.is_sorted()
            {
                say(format!("exit codes: {codes}"));
            }
        }
    }
    let volumes = every("volumes");
    for c in &containers {
        let name = c["name"].as_str().unwrap_or("");
        for mount in c["volumeMounts"].as_array().into_iter().flatten() {
            if !volumes.iter().any(|v| v["name"] == mount["name"]) {
                say(format!("{name} mounts no volume of the pod's: {mount}"));
            }
        }
        // Kubernetes puts variables in for $(NAME) of args, and $ for $$, before the shell sees them.
        let args: String = c["args"].as_array().into_iter().flatten().filter_map(Value::as_str).collect();
        for e in c["env"].as_array().into_iter().flatten() {
            if args.contains(&format!("$({})", e["name"].as_str().unwrap_or(""))) || args.contains("$$") {
                say(format!("{name}: what is {} in args?", e["name"]));
            }
        }
        for of in ["requests", "limits"] {
            for (resource, q) in c["resources"][of].as_object().into_iter().flatten() {
                let q = q.as_str().unwrap_or("");
                let number = q.trim_end_matches(['m', 'k', 'i', 'K', 'M', 'G', 'T']);
                if number.is_empty() || !number.bytes().all(|b| b.is_ascii_digit()) {
                    say(format!("{name}: {resource}: {q}"));
                }
                // (devices are not overcommitted)
                if resource.contains('/')
                    && c["resources"]["requests"][resource] != c["resources"]["limits"][resource]
                {
                    say(format!("{name}: {resource}: requests and limits differ"));
                }
            }
        }
    }
}

fn findings(text: &str) -> Vec<String> {
    let mut out = vec![];
    for document in yaml::documents(text, "kubernetes.yaml") {
        wrong(&document, document["kind"].as_str().unwrap_or(""), "", &mut out);
        refused(&document, &mut out);
    }
    out
}

#[test]
fn fields_are_the_apis() {
    let file = engine("kubernetes.yaml");
    assert_eq!(findings(&file), Vec::<String>::new());
    // Planted mistakes are found.
    for (from, to, said) in [
        ("completionMode: Indexed", "completionmode: Indexed", "JobSpec has no field completionmode"),
        ("completionMode: Indexed", "completionMode: NonIndexed", "is an Indexed Job's"),
        ("restartPolicy: Never", "restartPolicy: OnFailure", "wants restartPolicy Never"),
        ("containerName: replay", "containerName: other", "exit codes"),
        ("value: \"4\"", "value: 4", "no str: 4"),
        ("- {name: work, mountPath: /work}", "- {name: other, mountPath: /work}", "mounts no volume"),
        ("- {name: RUN, value: first-run}", "- {value: first-run}", "EnvVar wants name"),
        ("completions: 4", "completions: \"4\"", "no int"),
        ("name: reray-suite-first-run", "name: reray-suite-First-run", "a bad name"),
        ("action: Ignore", "action: Retry", "no action Retry"),
        ("cpu: \"8\"", "cpu: 8 cores", "8 cores"),
    ] {
        assert!(file.contains(from), "{from}");
        let all = findings(&file.replacen(from, to, 1));
        assert!(all.iter().any(|f| f.contains(said)), "{to}: {all:?}");
    }
}

/// A Job's containers, the first ones first: what is run in each, and its environment.
fn containers(documents: &[Value], job: &str) -> Vec<(String, Command)> {
    let of = documents.iter().find(|d| d["metadata"]["name"] == job).unwrap_or_else(|| panic!("no {job}"));
    let pod = &of["spec"]["template"]["spec"];
    let all = ["initContainers", "containers"].into_iter().filter_map(|l| pod[l].as_array()).flatten();
    let one = |c: &Value| {
        let mut words = [&c["command"], &c["args"]].into_iter().filter_map(Value::as_array).flatten();
        let mut command = Command::new(words.next().and_then(Value::as_str).expect("a program"));
        command.args(words.map(|w| w.as_str().expect("a word")));
        for e in c["env"].as_array().expect("an environment") {
            command.env(e["name"].as_str().expect("a name"), e["value"].as_str().expect("a value"));
        }
        assert_eq!(c["workingDir"], c["volumeMounts"][0]["mountPath"], "{job}: it begins on the volume");
        (c["name"].as_str().expect("a name").to_owned(), command)
    };
    all.map(one).collect()
}

#[test]
fn the_containers_commands_run() {
    if !device("the commands of Kubernetes' containers") {
        return;
    }
    let scratch = Scratch::new("kubernetes");
    let volume = scratch.path("work");
    suite(&volume, 2, PLAIN);
    let whole = unsharded(&volume);
    let path = path(&scratch.path(""));
    let file = engine("kubernetes.yaml");
    let page = std::fs::read_to_string(crate::support::root().join("docs/engines.md")).expect("the page");
    assert!(
        page.contains("sed s/first-run/run-42/ kubernetes.yaml"),
        "what this test does is what the page says"
    );
    let prepared = |mut command: Command| {
        command.current_dir(&volume).env("PATH", &path);
        command
    };
    // What a run's Jobs run. (A pod of the verdict looks every ten seconds, here each second.)
    let documents = |run: &str| yaml::documents(&file.replace("first-run", run), "kubernetes.yaml");
    let pod = |run: &str, index: u64| {
        let (_, command) =
            containers(&documents(run), &format!("reray-suite-{run}")).pop().expect("a container");
        let mut command = prepared(command);
        command.env("JOB_COMPLETION_INDEX", index.to_string());
        command
    };
    let wait = |run: &str, seconds: &str| {
        let (name, command) = containers(&documents(run), &format!("reray-verdict-{run}")).swap_remove(0);
        assert_eq!(name, "wait");
        let mut command = prepared(command);
        command.env("WAIT", seconds).env("EVERY", "1");
        command
    };
    let verdict = |run: &str| {
        prepared(containers(&documents(run), &format!("reray-verdict-{run}")).pop().expect("a container").1)
    };
    let spec = documents("run-42")[1]["spec"].clone();
    let shards = spec["completions"].as_u64().expect("how many");
    let marker = |run: &str, shard: u64| {
        let marker = volume.join(format!("results/{run}/shard-{shard}-of-{shards}.ended"));
        std::fs::read_to_string(&marker).unwrap_or_else(|e| panic!("{}: {e}", marker.display()))
    };

    // All but the last index: the verdict's pod waits, and its merge says what is missing.
    for index in 0..shards - 1 {
        said(&mut pod("run-42", index), Some(0));
        assert_eq!(marker("run-42", index + 1), "0\n");
    }
    assert!(said(&mut wait("run-42", "2"), Some(0)).contains("3 of 4 shards have ended"));
    let missing = said(&mut verdict("run-42"), Some(1));
    assert!(missing.contains("effects") && !volume.join("baseline.tar.gz").exists(), "{missing}");

    // The last comes; what is merged is the baseline, as there was none.
    said(&mut pod("run-42", shards - 1), Some(0));
    assert!(said(&mut wait("run-42", "60"), Some(0)).contains("4 of 4 shards have ended"));
    let first = said(&mut verdict("run-42"), Some(0));
    assert!(first.contains("there was no baseline"), "{first}");
    same_units(&volume.join("baseline.tar.gz"), &whole);

    // The next run compares. (With two processes nothing can be significant.)
    for index in 0..shards {
        said(&mut pod("run-43", index), Some(0));
    }
    let (out, all) = ended(&mut verdict("run-43"));
    assert!(matches!(out.status.code(), Some(0 | 4)), "{all}");
    let run = volume.join("results/run-43");
    let table = text(&out.stdout);
    assert!(table.contains('|') && UNITS.iter().all(|u| table.contains(u)), "a table in Markdown: {all}");
    assert!(run.join("verdict.md").is_file() && run.join("verdict.xml").is_file(), "{all}");
    assert_eq!(results(&run.join("merged.tar.gz")).units.len(), 4);

    // A shard that cannot be replayed ends with a code of the program's, which the Job does not try again, and leaves its marker;
    // it makes no baseline.
    std::fs::remove_file(volume.join("baseline.tar.gz")).expect("it is there");
    let file = std::fs::read_to_string(volume.join("suite.toml")).expect("a suite");
    std::fs::write(volume.join("suite.toml"), file + "\nwrong = 1\n").expect("it is written");
    let (out, all) = ended(&mut pod("run-42", 0));
    let code = out.status.code().expect("a code");
    let values = spec["podFailurePolicy"]["rules"][1]["onExitCodes"]["values"].clone();
    assert!(values.as_array().expect("codes").contains(&code.into()), "{code}: {all}");
    assert_eq!(marker("run-42", 1), format!("{code}\n"));
    let failed = said(&mut verdict("run-42"), Some(1));
    assert!(
        failed.contains("no baseline is made of it") && !volume.join("baseline.tar.gz").exists(),
        "{failed}"
    );
}
