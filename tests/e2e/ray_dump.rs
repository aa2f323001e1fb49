//! `rays dump` over a trace of the model scene that the test itself wrote, and the tables as Parquet: what is on disk comes out.

use crate::support::{Scratch, run, skip, text};
use analyses::rays::events::model::Model;
use std::path::{Path, PathBuf};
use std::process::Command;
use trace::dir::{Manifest, Writer};

pub fn trace(scratch: &Scratch) -> PathBuf {
    let folder = scratch.path("trace");
    let mut w = Writer::create(&folder, Manifest { program: "a test".into(), ..Manifest::default() })
        .expect("a new folder");
    Model { nested: true, ..Model::SMALL }.trace(true).rows(&mut |table, row| w.put(table, row));
    w.finish().expect("it can be written");
    folder
}

fn dumped(folder: &Path, options: &[&str]) -> String {
    let folder = folder.to_str().expect("a name in UTF-8");
    let ran = run(["rays", "dump", folder].iter().chain(options));
    assert!(ran.status.success(), "{options:?}: {}", text(&ran.stderr));
    text(&ran.stdout)
}

#[test]
fn events_come_as_they_were_asked_for() {
    let scratch = Scratch::new("ray-dump");
    let folder = trace(&scratch);
    let one = dumped(&folder, &["--at", "20,3"]);
    assert_eq!(one, dumped(&folder, &["--invocation", "164", "--frame", "1", "--launch", "0"]));
    assert!(one.starts_with("frame 1, launch 0: 48 x 32, pipeline 8"), "{one}");
    assert_eq!(one.matches("  invocation ").count(), 1);
    assert!(one.contains("\n      "), "events of rays stand within them: {one}");
    let ends = dumped(&folder, &["--invocation", "164", "--kind", "end", "--format", "json"]);
    assert_eq!(ends.lines().count(), one.matches(" end\n").count());
    assert_eq!(dumped(&folder, &["--limit", "30", "--format", "csv"]).lines().count(), 31);
    let warps = dumped(&folder, &["--warps", "--kind", "begin,occlusion-begin", "--limit", "5"]);
    assert_eq!(warps.matches(" begin #").count() + warps.matches(" occlusion-begin #").count(), 5, "{warps}");
    let file = scratch.path("rays.csv");
    assert_eq!(dumped(&folder, &["--format", "csv", "-o", file.to_str().expect("UTF-8")]), "");
    let rows = std::fs::read_to_string(file).expect("it was written").lines().count() - 1;
    assert_eq!(rows, dumped(&folder, &["--format", "json"]).lines().count());
    for (options, why) in [(["--kind", "hit"], "closest-hit"), (["--at", "7"], "320,200")] {
        let ran = run(["rays", "dump", folder.to_str().expect("UTF-8")].iter().chain(&options));
        assert_eq!(ran.status.code(), Some(2));
        assert!(text(&ran.stderr).contains(why), "{}", text(&ran.stderr));
    }
}

#[test]
fn nothing_chosen_is_said() {
    let scratch = Scratch::new("ray-dump-nothing");
    let folder = trace(&scratch);
    let folder = folder.to_str().expect("UTF-8");
    for (format, lines) in [("text", 0), ("json", 0), ("csv", 1)] {
        let ran = run(["rays", "dump", folder, "--frame", "99", "--format", format]);
        assert_eq!((ran.status.code(), text(&ran.stdout).lines().count()), (Some(0), lines));
        assert!(text(&ran.stderr).contains("no event of its rays is of what was chosen"), "{ran:?}");
    }
}

/// All rows of the three tables open in whatever reads Parquet in Python; without one, in the reader that wrote them.
#[test]
fn tables_are_parquet() {
    let scratch = Scratch::new("ray-parquet");
    let folder = trace(&scratch);
    let out = scratch.path("parquet");
    let mut args = vec!["analyze".to_owned(), folder.to_str().expect("UTF-8").to_owned()];
    let tables = ["rays", "warps", "ray_launches"];
    args.extend(
        tables.iter().flat_map(|t| ["--table", t]).chain(["--format", "parquet", "-o"]).map(str::to_owned),
    );
    args.push(out.to_str().expect("UTF-8").to_owned());
    let ran = run(&args);
    assert!(ran.status.success(), "{}", text(&ran.stderr));
    let mut counts = vec![];
    for table in ["rays", "warps"] {
        let options: &[&str] = if table == "rays" { &[] } else { &["--warps"] };
        counts.push(dumped(&folder, &[options, &["--format", "json"]].concat()).lines().count());
    }
    let program = "\
import sys
try:
    import pyarrow.parquet as p
    rows = lambda f: p.read_table(f).num_rows
except ImportError:
    try:
        import polars as p
        rows = lambda f: p.read_parquet(f).height
    except ImportError:
        sys.exit(77)
print(*[rows(sys.argv[1] + '/' + t + '.parquet') for t in ('rays', 'warps', 'ray_launches')])
";
    let ran = Command::new("python3").args(["-c", program]).arg(&out).output();
    match ran {
        Ok(ran) if ran.status.success() => {
            assert_eq!(text(&ran.stdout).trim(), format!("{} {} 1", counts[0], counts[1]));
        }
        Ok(ran) if ran.status.code() != Some(77) => panic!("{}", text(&ran.stderr)),
        _ => {
            skip("Parquet in Python", "there is neither pyarrow nor polars");
            for t in tables {
                let bytes = std::fs::read(out.join(format!("{t}.parquet"))).expect("it was written");
                assert!(bytes.starts_with(b"PAR1") && bytes.ends_with(b"PAR1"), "{t}");
            }
        }
    }
}
