//! `analyze` over a trace that the test itself wrote: lists, answers, tables in every form, and what it refuses.

use crate::device::device;
use crate::support::{Scratch, reray, root, run, text};
use serde_json::Value as Json;
use std::path::{Path, PathBuf};
use trace::Value;
use trace::dir::{CostNote, Device, Manifest, Writer};
use trace::tables::{BLOCKS, ENTRIES, FRAMES, FUNCTIONS, PIPELINES, SIMT, SOURCE_TEXT, SPIRV_TEXT};

const SHADER: &str = "1f2e3d4c00112233";

/// One compute shader of one block, executed four times: three by 8 invocations and one by 4.
fn write(folder: &Path) -> Writer {
    let manifest = Manifest {
        program: "a test".into(),
        device: Device { name: "none".into(), driver: String::new(), subgroup_size: 8 },
        cost: Some(CostNote { of: "a frame".into(), without: trace::Nanos(1000), with: trace::Nanos(1500) }),
        ..Manifest::default()
    };
    let mut w = Writer::create(folder, manifest).expect("a new folder");
    w.put(&FRAMES, &[1, 8, 0, 0, 0, 0].map(Value::U64));
    w.put(&PIPELINES, &[Value::U64(7), Value::Text("compute"), Value::Text("fill")]);
    let words = [SHADER, "main", "compute"].map(Value::Text);
    w.put(&ENTRIES, &[0, 7, 0, 0].map(Value::U64).into_iter().chain(words).collect::<Vec<_>>());
    w.put(&FUNCTIONS, &[Value::U64(0), Value::U64(0), Value::U64(4), Value::Text("main")]);
    let source = [Value::Text("a.comp"), Value::U64(2)];
    let block = [0, 0, 0, 5, 100, 10, 0, 1].map(Value::U64);
    w.put(&BLOCKS, &block.into_iter().chain(source).collect::<Vec<_>>());
    w.put(&SIMT, &[1, 0, 0, 0, 8, 3, 24].map(Value::U64));
    w.put(&SIMT, &[1, 0, 0, 0, 4, 1, 4].map(Value::U64));
    w.put(&SPIRV_TEXT, &[Value::Text(SHADER), Value::U64(100), Value::Text("%5 = OpLabel")]);
    for (n, line) in [(1, "void main() {"), (2, "    x = 1;"), (3, "}")] {
        w.put(&SOURCE_TEXT, &[Value::Text(SHADER), Value::Text("a.comp"), Value::U64(n), Value::Text(line)]);
    }
    w
}

fn trace(scratch: &Scratch) -> PathBuf {
    let folder = scratch.path("trace");
    write(&folder).finish().expect("it can be written");
    folder
}

/// Runs `analyze`; its stdout.
fn analyze(arguments: &[&str]) -> String {
    let out = run([&["analyze"], arguments].concat());
    assert!(out.status.success(), "{arguments:?}: {}", text(&out.stderr));
    text(&out.stdout)
}

#[test]
fn lists_and_answers() {
    let scratch = Scratch::new("analyze");
    let folder = trace(&scratch);
    let folder = folder.to_str().expect("text");
    let list = analyze(&[folder, "--list"]);
    let line =
        |name: &str| list.lines().find(|l| l.split_whitespace().next() == Some(name)).map(str::to_owned);
    assert!(line("annotate").is_some_and(|l| l.contains(" yes ")), "{list}");
    assert!(line("divergence").is_some_and(|l| l.contains(" no ")), "{list}");
    assert!(line("source_text").is_some_and(|l| l.split_whitespace().nth(1) == Some("3")), "{list}");
    assert!(analyze(&["--list"]).contains("annotate"));

    let answers = analyze(&[folder]);
    assert!(answers.contains("Annotated shaders") && answers.contains("SIMT efficiency"), "{answers}");
    assert!(answers.contains("87.50"), "{answers}");
    assert!(answers.contains("a frame: 0.001 ms without, 0.002 ms with (+50.00 %)"), "{answers}");

    let json: Json = serde_json::from_str(&analyze(&[folder, "annotate", "--format", "json"])).expect("JSON");
    assert_eq!(json["trace"]["device"]["subgroup_size"], 8);
    assert_eq!(json["reports"][0]["tables"][0]["rows"][0][3], 4);

    let out = scratch.path("out");
    analyze(&[folder, "annotate", "-o", out.to_str().expect("text")]);
    let read = |name: &str| std::fs::read_to_string(out.join(name)).unwrap_or_else(|e| panic!("{name}: {e}"));
    let comment = "/* executions=4 efficiency=87.50% histogram=8:3,4:1";
    assert_eq!(read("1f2e3d4c00112233.spvasm"), format!("            ; {comment} */\n%5 = OpLabel\n"));
    assert_eq!(
        read("1f2e3d4c00112233.a.comp"),
        format!("void main() {{\n    {comment} block=%5 */\n    x = 1;\n}}\n")
    );
    assert!(read("annotate.txt").contains("Annotated shaders"));
}

#[test]
fn tables_come_out_as_they_are() {
    let scratch = Scratch::new("analyze-tables");
    let folder = trace(&scratch);
    let folder = folder.to_str().expect("text");
    let csv = analyze(&[folder, "--table", "simt"]);
    let expected = "frame (number),entry (number),function (index),block (index),active (invocations),\
                    executions (subgroups),invocations (invocations)\n1,0,0,0,8,3,24\n1,0,0,0,4,1,4\n";
    assert_eq!(csv, expected);
    let lines = analyze(&[folder, "--table", "simt", "--format", "json"]);
    let second: Json = serde_json::from_str(lines.lines().nth(1).expect("two rows")).expect("JSON");
    assert_eq!((&second["active"], &second["executions"]), (&4.into(), &1.into()));
    let report = analyze(&[folder, "annotate", "--format", "csv"]);
    assert!(report.starts_with("shader,blocks,executed,executions (subgroups),efficiency (%)"), "{report}");

    let out = scratch.path("out");
    let out_name = out.to_str().expect("text");
    analyze(&[folder, "--format", "csv", "-o", out_name]);
    assert!(out.join("annotate.shaders.csv").is_file());
    analyze(&[folder, "--tables", "-o", out_name]);
    assert_eq!(std::fs::read_to_string(out.join("simt.csv")).expect("the table"), expected);
    if cfg!(feature = "parquet") {
        analyze(&[folder, "--format", "parquet", "-o", out_name]);
        for name in ["simt.parquet", "source_text.parquet", "annotate.shaders.parquet"] {
            let bytes = std::fs::read(out.join(name)).unwrap_or_else(|e| panic!("{name}: {e}"));
            assert!(bytes.starts_with(b"PAR1") && bytes.ends_with(b"PAR1"), "{name}");
        }
        assert_eq!(run(["analyze", folder, "--format", "parquet"]).status.code(), Some(2));
    }
}

#[test]
fn what_it_refuses() {
    let scratch = Scratch::new("analyze-refused");
    let folder = trace(&scratch);
    let name = folder.to_str().expect("text");
    let fails = |arguments: &[&str], code: i32, with: &str| {
        let out = run([&["analyze"], arguments].concat());
        let message = text(&out.stderr);
        assert_eq!(out.status.code(), Some(code), "{arguments:?}: {message}");
        assert!(message.contains(with), "{arguments:?}: {message}");
    };
    fails(&[name, "weather"], 2, "there is no question \"weather\"; there are");
    fails(&[name, "divergence"], 1, "question divergence wants table divergence");
    fails(&[name, "--table", "weather"], 2, "there is no table \"weather\"; the trace has pipelines");
    fails(&["/no/such/trace"], 1, "name a folder that `reray-replay profile` wrote");
    fails(&[name, "--tables", "-o", "/no/such/folder/a.csv"], 1, "make its folder first");
    let file = scratch.path("one.csv");
    fails(&[name, "--tables", "-o", file.to_str().expect("text")], 2, "there is more than one result");

    // Half a trace is read as far as it goes, and says so.
    let partial = scratch.path("partial");
    drop(write(&partial));
    let out = reray().arg("analyze").arg(&partial).args(["--table", "simt"]).output().expect("it starts");
    assert!(out.status.success());
    assert_eq!(text(&out.stdout).lines().count(), 3);
    assert!(text(&out.stderr).contains("was not finished"), "{}", text(&out.stderr));

    // A damaged table fails by its place.
    let table = folder.join("simt.table");
    let mut bytes = std::fs::read(&table).expect("the table");
    let middle = bytes.len() / 2;
    bytes[middle] ^= 1;
    std::fs::write(&table, bytes).expect("the table");
    fails(&[name, "--table", "simt"], 1, "simt.table, byte ");
}

/// Whatever is asked, the passes that `profile --ask` chooses record what its answer wants.
#[test]
fn questions_choose_passes_that_answer_them() {
    if !device("questions_choose_passes") {
        return;
    }
    let scratch = Scratch::new("profile-ask");
    let out = run(["analyze", "--list", "--format", "json"]);
    let list: Json = serde_json::from_slice(&out.stdout).expect("JSON");
    let all = list["questions"].as_array().expect("questions").iter();
    let all: Vec<&str> = all.map(|q| q["name"].as_str().expect("a name")).collect();
    let profile = |sample: &str, questions: &[&str], into: &str| {
        let capture = root().join("captures/samples").join(sample);
        let (capture, trace) = (capture.to_str().expect("a path"), scratch.path(into));
        let (questions, to) = (questions.join(","), trace.to_str().expect("a path").to_owned());
        let out =
            run(["profile", capture, "--frames", "1", "--assume-subgroups", "--ask", &questions, "-o", &to]);
        (out, to)
    };
    let alone = ["registers", "call-costs"];
    let of_bindings = ["bindings", "uniforms", "advice", "sync"];
    let of_rays = |name: &&str| {
        let table = |q: &Json| q["tables"].as_array().is_some_and(|t| t.iter().any(|t| t == "ray_launches"));
        list["questions"].as_array().expect("questions").iter().any(|q| q["name"] == *name && table(q))
    };
    let (rays, others): (Vec<&str>, Vec<&str>) =
        all.into_iter().filter(|q| !alone.contains(q) && !of_bindings.contains(q)).partition(of_rays);
    assert!(rays.len() > 8 && others.len() > 8, "{rays:?}, {others:?}");
    // (the shaders of `mesh` load nothing whose value is asked about)
    let (values, others): (Vec<&str>, Vec<&str>) = others.into_iter().partition(|q| *q == "values");
    for (sample, questions, into) in
        [("mesh.gfxr", &rays, "rays"), ("mesh.gfxr", &others, "others"), ("effects.gfxr", &values, "values")]
    {
        let (out, trace) = profile(sample, questions, into);
        assert!(out.status.success(), "{questions:?}: {}", text(&out.stderr));
        for q in questions {
            let out = run(["analyze", &trace, q, "--format", "json"]);
            assert!(out.status.success(), "{q}: {}", text(&out.stderr));
            let report: Json = serde_json::from_slice(&out.stdout).expect("JSON");
            let headlines = &report["reports"][0]["headlines"];
            assert!(headlines.as_array().is_some_and(|h| !h.is_empty()), "{q}: {report}");
        }
    }
    let (out, _) = profile("mesh.gfxr", &["bindings"], "refused");
    assert_eq!(out.status.code(), Some(2));
    assert!(text(&out.stderr).contains("`reray-replay bindings` answers it"), "{}", text(&out.stderr));
}
