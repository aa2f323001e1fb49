//! `bindings` on the scenes in which something is planted for it: each case is found, and nothing else.
//!
//! What is planted is written down here, row by row; captures/README.md says what each tile of `uniforms` is for.

use crate::device::device;
use crate::rays::sample;
use crate::support::{Scratch, run, text};
use serde_json::Value;

/// Every member of `uniforms`: pipeline, member (of which slot), who reads it, and what it is.
const MEMBERS: &[(&str, &str, &str, &str)] = &[
    ("compute", "params (0.0) always", "compute", "constant over the capture"),
    ("compute", "params (0.0) frame", "compute", "constant over a frame"),
    ("compute", "params (0.0) tile", "compute", "constant over the capture"),
    ("compute", "params (0.0) unused", "no shader", "unused"),
    ("constants", "push always", "fragment", "constant over the capture"),
    ("constants", "push number", "fragment", "changes"),
    ("constants", "push unused", "no shader", "unused"),
    ("constants", "push zero", "fragment", "constant over the capture"),
    ("copied", "copied (0.0) value", "fragment", "constant over the capture"),
    ("duplicates", "lamp (0.0) shade", "fragment", "constant over the capture"),
    ("dynamic", "far (0.1) value", "fragment", "constant over the capture"),
    ("dynamic", "near (0.0) value", "fragment", "changes"),
    ("indirect", "block (0.0) value", "fragment", "constant over the pipeline"),
    ("inline", "block (0.0) frame", "fragment", "constant over a frame"),
    ("inline", "block (0.0) kept", "fragment", "constant over the capture"),
    ("inline", "block (0.0) unused", "no shader", "unused"),
    ("inline", "block (0.0) zero", "fragment", "constant over the capture"),
    ("late", "late (0.0) value", "fragment", "constant over a frame"),
    ("late", "many (0.2) value", "fragment", "changes"),
    ("late", "parts (0.1) value", "fragment", "changes"),
    ("late", "push at", "fragment", "constant over a frame"),
    ("members", "object (0.0) forgotten", "no shader", "unused"),
    ("members", "object (0.0) frame", "fragment", "constant over a frame"),
    ("members", "object (0.0) nothing", "fragment", "constant over the capture"),
    ("members", "object (0.0) number", "fragment", "changes"),
    ("members", "object (0.0) part", "fragment", "constant over a pass"),
    ("members", "object (0.0) place", "vertex", "changes"),
    ("members", "object (0.0) tint", "fragment", "constant over the capture"),
    ("pushed", "beside (1.0) value", "fragment", "constant over the capture"),
    ("pushed", "pushed (0.0) value", "fragment", "changes"),
    ("rays", "world (0.2) base", "ray-generation", "constant over the capture"),
    ("rays", "world (0.2) sky", "miss", "constant over a frame"),
    ("rays", "world (0.2) tile", "ray-generation", "constant over the capture"),
    ("rays", "world (0.2) unused", "no shader", "unused"),
    ("secondary", "block (0.0) value", "fragment", "constant over a frame"),
    ("shapes", "shapes (0.0) at", "fragment", "constant over the capture"),
    ("shapes", "shapes (0.0) first.power", "fragment", "constant over the capture"),
    ("shapes", "shapes (0.0) first.shade", "fragment", "constant over the capture"),
    ("shapes", "shapes (0.0) first.unused", "no shader", "unused"),
    ("shapes", "shapes (0.0) lights[].power", "fragment", "constant over the capture"),
    ("shapes", "shapes (0.0) lights[].shade", "no shader", "unused"),
    ("shapes", "shapes (0.0) lights[].unused", "no shader", "unused"),
    ("shapes", "shapes (0.0) passed", "fragment", "constant over the capture"),
    ("shapes", "shapes (0.0) rows", "fragment", "constant over the capture"),
    ("shapes", "shapes (0.0) table", "fragment", "constant over the capture"),
    ("shapes", "shapes (0.0) unused", "no shader", "unused"),
    ("shared first", "common_ (0.0) value", "fragment", "constant over the capture"),
    ("shared second", "common_ (0.0) value", "fragment", "constant over the capture"),
    ("shared second", "own (1.0) value", "fragment", "constant over the capture"),
    ("template", "pair (0.0) value", "fragment", "changes"),
    ("uploads", "aliased (0.5) used", "fragment", "constant over the capture"),
    ("uploads", "chained (0.1) used", "fragment", "constant over the capture"),
    ("uploads", "filled (0.3) used", "fragment", "constant over the capture"),
    ("uploads", "imaged (0.4) used", "fragment", "constant over the capture"),
    ("uploads", "staged (0.0) rest", "no shader", "unused"),
    ("uploads", "staged (0.0) used", "fragment", "constant over a frame"),
    ("uploads", "updated (0.2) used", "fragment", "constant over a frame"),
    ("writer", "push frame", "compute", "constant over a frame"),
    ("written", "block (0.0) value", "fragment", "not known"),
];

/// Members that are zero whenever they are read.
const ZEROS: [&str; 3] = ["block (0.0) zero", "object (0.0) nothing", "push zero"];

/// Slots with something to them: pipeline, set, binding, type, flags, how they are indexed, which elements, what is done.
type Slot<'s> = (&'s str, u64, u64, &'s str, &'s str, &'s str, &'s str, &'s str);
const SLOTS: &[Slot] = &[
    ("compute", 0, 1, "storage image", "", "", "", "write"),
    ("dynamic", 0, 0, "uniform buffer dynamic", "", "", "", "read"),
    ("dynamic", 0, 1, "uniform buffer dynamic", "", "", "", "read"),
    ("dynamic", 0, 2, "storage buffer dynamic", "", "", "", "read"),
    ("fixed", 0, 0, "combined image sampler", "immutable-samplers", "", "", "read"),
    ("inline", 0, 0, "inline uniform block", "", "", "", "read"),
    ("late", 0, 0, "uniform buffer", "update-after-bind", "", "", "read"),
    ("late", 0, 1, "uniform buffer", "partially-bound", "constant", "0 2", "read"),
    ("late", 0, 2, "uniform buffer", "partially-bound variable-count", "dynamic", "", "read"),
    ("members", 0, 1, "uniform buffer", "", "", "", ""),
    ("pushed", 0, 0, "uniform buffer", "push", "", "", "read"),
    ("rays", 0, 0, "acceleration structure", "", "", "", "read"),
    ("rays", 0, 1, "storage image", "", "", "", "write"),
    ("template", 0, 0, "uniform buffer", "", "constant", "0-1", "read"),
    ("template", 0, 1, "combined image sampler", "", "", "", "read"),
    ("writer", 0, 0, "storage buffer", "", "", "", "write"),
];

/// A trace of `bindings`, with what it said.
fn resources(scratch: &Scratch, scene: &str, more: &[&str]) -> (String, String) {
    let capture = sample(&format!("{scene}.gfxr"));
    let trace = scratch.path(scene).to_str().expect("a plain path").to_owned();
    let args = ["bindings", capture.to_str().expect("a plain path"), "--no-answers", "-o", &trace];
    let out = run(args.iter().chain(more));
    assert!(out.status.success(), "{scene}: {}{}", text(&out.stdout), text(&out.stderr));
    (trace, text(&out.stdout))
}

/// A report's table: rows by the names of columns.
fn answer(trace: &str, question: &str, table: &str) -> Vec<serde_json::Map<String, Value>> {
    let out = run(["analyze", trace, question, "--format", "json"]);
    assert!(out.status.success(), "{question}: {}", text(&out.stderr));
    let all: Value = serde_json::from_slice(&out.stdout).expect("JSON");
    let tables = all["reports"][0]["tables"].as_array().expect("tables").clone();
    let found = tables.iter().find(|t| t["name"] == table).unwrap_or_else(|| panic!("no table {table}"));
    let names: Vec<&str> = found["columns"]
        .as_array()
        .expect("columns")
        .iter()
        .map(|c| c["name"].as_str().expect("a name"))
        .collect();
    let row = |row: &Value| {
        names.iter().zip(row.as_array().expect("a row")).map(|(n, v)| ((*n).to_owned(), v.clone())).collect()
    };
    found["rows"].as_array().expect("rows").iter().map(row).collect()
}

/// A trace's table, line by line.
fn table(trace: &str, name: &str) -> Vec<Value> {
    let out = run(["analyze", trace, "--table", name, "--format", "json"]);
    assert!(out.status.success(), "{name}: {}", text(&out.stderr));
    text(&out.stdout).lines().map(|l| serde_json::from_str(l).expect("JSON")).collect()
}

fn str_of<'v>(value: &'v Value, column: &str) -> &'v str {
    value[column].as_str().unwrap_or_else(|| panic!("no text {column}: {value}"))
}

/// The application's name of a pipeline, out of `pipeline 32 "members"`.
fn name(of: &Value) -> String {
    of.as_str().and_then(|s| s.split('"').nth(1)).unwrap_or_default().to_owned()
}

#[test]
fn members_are_as_planted_and_nothing_else_is_found() {
    let scratch = Scratch::new("planted-members");
    let (trace, said) = resources(&scratch, "uniforms", &[]);
    assert!(said.contains("152 draws, dispatches and traces"), "{said}");
    let members = answer(&trace, "uniforms", "members");
    let of =
        |row: &serde_json::Map<String, Value>, column: &str| row[column].as_str().unwrap_or("").to_owned();
    let mut found: Vec<_> = members
        .iter()
        .map(|r| (name(&r["pipeline"]), of(r, "member"), of(r, "used by"), of(r, "is")))
        .collect();
    found.sort();
    let found: Vec<(&str, &str, &str, &str)> =
        found.iter().map(|(a, b, c, d)| (a.as_str(), b.as_str(), c.as_str(), d.as_str())).collect();
    assert_eq!(found, MEMBERS);
    let all_zero = |r: &&serde_json::Map<String, Value>| {
        r["zeros"].as_f64().or_else(|| r["zeros"].as_str()?.parse().ok()).is_some_and(|z| z >= 100.0)
    };
    let mut zeros: Vec<String> = members.iter().filter(all_zero).map(|r| of(r, "member")).collect();
    zeros.sort();
    assert_eq!(zeros, ZEROS);
    // The same bytes lie in different buffers in one place, and nowhere else.
    let copies = answer(&trace, "uniforms", "copies");
    assert_eq!(copies.len(), 1, "{copies:?}");
    assert_eq!(
        (copies[0]["places"].as_u64(), copies[0]["buffers"].as_u64()),
        (Some(3), Some(3)),
        "{copies:?}"
    );
    let advice = answer(&trace, "advice", "advice");
    let advised = |what: &str| -> Vec<String> {
        let those = advice.iter().filter(|r| r["possibly"] == what);
        those.map(|r| of(r, "of")).collect()
    };
    assert_eq!(advised("merge duplicates"), ["slot 0.0 lamp of pipeline 45 \"duplicates\""]);
    assert_eq!(advised("drop unused slots"), ["pipeline 32 \"members\""]);
    let unused = ["staged (0.0)", "shapes (0.0)", "object (0.0)", "params (0.0)", "world (0.2)"];
    let dropped = advised("drop unused members");
    assert_eq!(dropped.len(), unused.len(), "{dropped:?}");
    for block in unused {
        assert!(dropped.iter().any(|d| d.starts_with(&format!("block {block} of"))), "{block}: {dropped:?}");
    }
}

#[test]
fn slots_and_invocations_are_as_planted() {
    let scratch = Scratch::new("planted-slots");
    let (trace, _) = resources(&scratch, "uniforms", &[]);
    let pipelines = table(&trace, "resource_pipelines");
    let name_of = |row: &Value| {
        let p = pipelines.iter().find(|p| p["pipeline"] == row["pipeline"]).expect("a pipeline");
        str_of(p, "name").to_owned()
    };
    let slots = table(&trace, "resource_slots");
    let mut found = Vec::new();
    for s in &slots {
        let texts = ["type", "flags", "indexing", "elements", "access"].map(|c| str_of(s, c));
        if texts != ["uniform buffer", "", "", "", "read"] {
            let at = [&s["set"], &s["binding"]].map(|n| n.as_u64().expect("a number"));
            found.push((name_of(s), at, texts));
        }
    }
    found.sort();
    let want: Vec<_> =
        SLOTS.iter().map(|s| (s.0.to_owned(), [s.1, s.2], [s.3, s.4, s.5, s.6, s.7])).collect();
    assert_eq!(found, want);

    // Four frames of the same: 34 draws, three dispatches, a trace.
    let invocations = table(&trace, "invocations");
    let count = |kind: &str| invocations.iter().filter(|i| i["kind"] == kind).count();
    let kinds = [
        ("Draw", 30),
        ("DrawIndirect", 1),
        ("DrawIndexedIndirect", 1),
        ("DrawIndirectCount", 1),
        ("DrawIndexedIndirectCount", 1),
        ("Dispatch", 2),
        ("DispatchIndirect", 1),
        ("TraceRays", 1),
    ];
    for (kind, a_frame) in kinds {
        assert_eq!(count(kind), 4 * a_frame, "{kind}");
    }
    assert_eq!(invocations.len(), 4 * kinds.iter().map(|k| k.1).sum::<usize>());
    let indirect = invocations.iter().filter(|i| i["indirect"] == 1).count();
    assert_eq!(indirect, 4 * 5);

    // What a shader wrote is not known, and all else is.
    let blocks = table(&trace, "invocation_blocks");
    let unknown: Vec<&Value> = blocks.iter().filter(|b| !str_of(b, "unknown").is_empty()).collect();
    assert_eq!(unknown.len(), 4, "{unknown:?}");
    for block in unknown {
        assert_eq!(str_of(block, "unknown"), "written by a shader");
        let i = invocations.iter().find(|i| i["invocation"] == block["invocation"]).expect("an invocation");
        assert_eq!(name_of(i), "written");
    }
    // The secondary command buffer was recorded once.
    let secondary: Vec<&Value> = invocations.iter().filter(|i| name_of(i) == "secondary").collect();
    assert_eq!(secondary.len(), 4);
    assert!(secondary.iter().all(|i| i["recording"] == secondary[0]["recording"]), "{secondary:?}");
    // Of all slots one belongs to no shader.
    let idle: Vec<String> = slots.iter().filter(|s| str_of(s, "used").is_empty()).map(name_of).collect();
    assert_eq!(idle, ["members"]);
}

/// Every member of `objects`: who has it, the member, who reads it, and what it is.
const OBJECTS: &[(&str, &str, &str, &str)] = &[
    ("buffer", "fill (0.0) always", "compute", "constant over the pipeline"),
    ("buffer", "fill (0.0) frame", "compute", "constant over a frame"),
    ("buffer", "fill (0.0) tile", "compute", "constant over the pipeline"),
    ("buffer", "fill (0.0) unused", "no shader", "unused"),
    ("flat", "flat_ (0.0) always", "fragment", "constant over the capture"),
    ("flat", "flat_ (0.0) frame", "fragment", "constant over a frame"),
    ("flat", "flat_ (0.0) unread", "no shader", "unused"),
    ("fill", "fill (0.0) always", "compute", "constant over the pipeline"),
    ("fill", "fill (0.0) frame", "compute", "constant over a frame"),
    ("fill", "fill (0.0) tile", "compute", "constant over the pipeline"),
    ("fill", "fill (0.0) unused", "no shader", "unused"),
    ("copied", "fill (0.0) always", "compute", "constant over the pipeline"),
    ("copied", "fill (0.0) frame", "compute", "constant over a frame"),
    ("copied", "fill (0.0) tile", "compute", "constant over the pipeline"),
    ("copied", "fill (0.0) unused", "no shader", "unused"),
];

#[test]
fn shader_objects_and_descriptor_buffers_are_followed() {
    let scratch = Scratch::new("planted-objects");
    let (trace, said) = resources(&scratch, "objects", &[]);
    assert!(said.contains("12 draws, dispatches and traces"), "{said}");
    assert!(said.contains("12 uniform blocks, 0 with bytes that are not known"), "{said}");
    let text_of = |row: &serde_json::Map<String, Value>, column: &str| {
        row[column].as_str().unwrap_or_default().to_owned()
    };
    // The only pipeline has a name, and so have the shader objects.
    let who = |row: &serde_json::Map<String, Value>| match name(&row["pipeline"]) {
        none if none.is_empty() => text_of(row, "pipeline"),
        some => some,
    };
    let mut found: Vec<_> = answer(&trace, "uniforms", "members")
        .iter()
        .map(|r| (who(r), text_of(r, "member"), text_of(r, "used by"), text_of(r, "is")))
        .collect();
    found.sort();
    let mut want: Vec<_> =
        OBJECTS.iter().map(|o| (o.0.to_owned(), o.1.to_owned(), o.2.to_owned(), o.3.to_owned())).collect();
    want.sort();
    assert_eq!(found, want);

    // Each of the four reads a block of its own, wherever its descriptor came from; three write one picture.
    let descriptors = table(&trace, "descriptors");
    let of = |kind: &str, column: &str| -> Vec<u64> {
        let those = descriptors.iter().filter(|d| d["type"] == kind);
        let mut all: Vec<u64> = those.map(|d| d[column].as_u64().expect("a number")).collect();
        all.sort_unstable();
        all.dedup();
        all
    };
    assert_eq!(of("uniform buffer", "buffer").len(), 4, "{descriptors:?}");
    assert_eq!(of("storage image", "view").len(), 1, "{descriptors:?}");
    assert!(descriptors.iter().all(|d| d["type"] == "uniform buffer" || d["type"] == "storage image"));
    let pipelines = table(&trace, "resource_pipelines");
    let buffers = pipelines.iter().filter(|p| p["descriptor_buffer"] == 1).count();
    // (the pipeline, and a compute shader object)
    assert_eq!((pipelines.len(), buffers), (4, 2), "{pipelines:?}");
    let slots = table(&trace, "resource_slots");
    assert!(slots.iter().all(|s| !str_of(s, "used").is_empty()), "{slots:?}");
}

#[test]
fn bytes_are_those_of_the_device() {
    if !device("bytes_of_planted_uniforms") {
        return;
    }
    let scratch = Scratch::new("planted-check");
    for scene in ["monolithic", "repartitioned", "uniforms", "ordering", "objects"] {
        let (_, said) = resources(&scratch, scene, &["--check"]);
        let compared = said.lines().find(|l| l.starts_with("compared with the device"));
        // (`ordering` has no uniform blocks but push constants)
        assert!(compared.is_none_or(|l| l.ends_with("equal")), "{scene}: {said}");
        assert!(compared.is_some() || scene == "ordering", "{scene}: {said}");
    }
}

#[test]
fn figures_4_4_to_4_6_come_of_a_capture() {
    let scratch = Scratch::new("planted-figures");
    let (trace, _) = resources(&scratch, "monolithic", &[]);
    let slots = answer(&trace, "bindings", "slots");
    let redundancy: Vec<f64> = slots
        .iter()
        .map(|r| {
            r["redundancy"].as_f64().or_else(|| r["redundancy"].as_str()?.parse().ok()).expect("a number")
        })
        .collect();
    assert_eq!(redundancy.len(), 5);
    for (found, want) in redundancy.iter().zip([100.0, 100.0 / 3.0, 200.0 / 3.0, 100.0, 100.0 / 3.0]) {
        assert!((found - want).abs() < 0.01, "{redundancy:?}");
    }
    let descriptors = |trace: &str, partition: &str| {
        let all = answer(trace, "bindings", "partitions");
        let row = all
            .iter()
            .find(|r| r["partition"] == partition)
            .unwrap_or_else(|| panic!("{partition}: {all:?}"));
        (row["sets"].as_u64(), row["descriptors"].as_u64())
    };
    assert_eq!(descriptors(&trace, "as it is"), (Some(4), Some(24)));
    assert_eq!(descriptors(&trace, "classes"), (Some(7), Some(16)));
    // The program that has them so is as the classes are.
    let (trace, _) = resources(&scratch, "repartitioned", &[]);
    assert_eq!(descriptors(&trace, "as it is"), (Some(7), Some(16)));
}
