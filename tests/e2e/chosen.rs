//! `profile` of chosen render passes and labels: what parts count is together what the whole counts.

use crate::device::device;
use crate::rays::sample;
use crate::support::{Scratch, reray, text};
use serde_json::Value;
use std::collections::BTreeMap;
use std::process::Output;
use std::sync::atomic::{AtomicU32, Ordering};

/// Records summed by what is alike in them.
type Sums = BTreeMap<Vec<u64>, u64>;

struct Measuring<'m> {
    scratch: &'m Scratch,
    capture: &'m str,
    passes: &'m str,
    frames: &'m str,
    table: &'m str,
    alike: &'m [&'m str],
    sum: &'m str,
}

impl Measuring<'_> {
    fn profile(&self, into: &str, choice: &[&str]) -> Output {
        let arguments = ["--passes", self.passes, "--frames", self.frames, "--assume-subgroups"];
        reray()
            .arg("profile")
            .arg(sample(self.capture))
            .args(arguments)
            .args(choice)
            .arg("-o")
            .arg(self.scratch.path(into))
            .env("XDG_CACHE_HOME", self.scratch.path("cache"))
            .output()
            .expect("the program starts")
    }

    /// What a choice counts.
    fn of(&self, choice: &[&str]) -> Sums {
        static NEXT: AtomicU32 = AtomicU32::new(0);
        let into = format!("{}-{}", self.table, NEXT.fetch_add(1, Ordering::Relaxed));
        let out = self.profile(&into, choice);
        assert!(out.status.success(), "{choice:?}: {}{}", text(&out.stdout), text(&out.stderr));
        let folder = self.scratch.path(&into);
        let mut asked = reray();
        asked.arg("analyze").arg(folder).args(["--table", self.table, "--format", "json"]);
        let records = asked.output().expect("the program starts");
        let mut sums = Sums::new();
        for line in text(&records.stdout).lines() {
            let r: Value = serde_json::from_str(line).expect("a line of JSON");
            let number = |name: &str| r[name].as_u64().unwrap_or_else(|| panic!("{name} in {line}"));
            let n = number(self.sum);
            if n > 0 {
                *sums.entry(self.alike.iter().map(|a| number(a)).collect()).or_default() += n;
            }
        }
        sums
    }

    fn together(&self, choices: &[&[&str]]) -> Sums {
        let mut sums = Sums::new();
        for choice in choices {
            let part = self.of(choice);
            assert!(!part.is_empty(), "{choice:?} counts nothing");
            part.into_iter().for_each(|(key, n)| *sums.entry(key).or_default() += n);
        }
        sums
    }
}

/// Frames of `cubes` are a dispatch and two render passes, one of them recorded ahead and submitted again.
#[test]
fn parts_of_a_frame_sum_to_the_whole() {
    if !device("parts_of_a_frame_sum") {
        return;
    }
    let scratch = Scratch::new("chosen-cubes");
    let m = Measuring {
        scratch: &scratch,
        capture: "cubes.gfxr",
        passes: "simt",
        frames: "2-4",
        table: "simt",
        alike: &["frame", "entry", "function", "block", "active"],
        sum: "executions",
    };
    let whole = m.of(&[]);
    let (animate, world, develop) = (["--labels", "animate"], ["--labels", "world"], ["--labels", "develop"]);
    assert_eq!(m.together(&[&animate, &world, &develop]), whole);
    let (first, second) = (["--render-pass-numbers", "1"], ["--render-pass-numbers", "2"]);
    assert_eq!(m.together(&[&animate, &first, &second]), whole);
    assert_eq!(m.of(&["--render-passes", "w?rld*"]), m.of(&world));
    assert_eq!(m.of(&second), m.of(&develop));
    // Labels within a pass: eight bands.
    let bands: Vec<String> = (0..8).map(|n| format!("band {n}")).collect();
    let bands: Vec<[&str; 2]> = bands.iter().map(|b| ["--labels", b.as_str()]).collect();
    let bands: Vec<&[&str]> = bands.iter().map(|b| &b[..]).collect();
    assert_eq!(m.together(&bands), m.of(&world));
    // Both have to hold.
    let out = m.profile("both", &["--labels", "world", "--render-pass-numbers", "2"]);
    assert_eq!(out.status.code(), Some(1), "{}", text(&out.stderr));
    let said = text(&out.stderr);
    assert!(said.contains("nothing that was measured ran in a chosen render pass or label"), "{said}");
    assert!(said.contains("label \"band 3\"") && said.contains("render pass 'world pass'"), "{said}");
    assert!(
        text(&out.stdout).contains("0 of 606 draws, dispatches and traces counted, and 3 of 6"),
        "{said}"
    );
}

/// Of records in the log and counters of each action the same holds.
#[test]
fn records_and_counters_of_actions_are_chosen_as_well() {
    if !device("records_and_counters_of_actions_are_chosen") {
        return;
    }
    let scratch = Scratch::new("chosen-rays");
    let m = Measuring {
        scratch: &scratch,
        capture: "rays.gfxr",
        passes: "divergence",
        frames: "2-3",
        table: "divergence",
        alike: &["frame", "entry", "function", "block"],
        sum: "executions",
    };
    let parts: [&[&str]; 2] = [&["--labels", "move"], &["--labels", "trace"]];
    assert_eq!(m.together(&parts), m.of(&[]));
    let counters = Measuring {
        capture: "steps.gfxr",
        passes: "counters",
        table: "counters",
        alike: &["frame", "entry", "metric"],
        sum: "value",
        ..m
    };
    let labels: Vec<[&str; 2]> = ["light", "heavy"].map(|l| ["--labels", l]).into();
    let parts: Vec<&[&str]> = labels.iter().map(|l| &l[..]).collect();
    assert_eq!(counters.together(&parts), counters.of(&[]));
    let out = counters.profile("arm", &["--labels", "light", "--counters", "arm"]);
    assert_eq!(out.status.code(), Some(2), "{}", text(&out.stderr));
    assert!(text(&out.stderr).contains("--counters portable"), "{}", text(&out.stderr));
}
