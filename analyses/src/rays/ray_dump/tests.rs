use super::*;
use crate::rays::events::model::Model;
use trace::Memory;

fn small() -> Memory {
    Model { width: 8, height: 4, samples: 1, nested: true, shadows: true, ..Model::SMALL }
        .trace(true)
        .memory()
}

fn dumped(form: Form, chosen: &Chosen) -> String {
    let mut out = String::new();
    rays(&small(), chosen, form, &mut |s| {
        out.push_str(s);
        true
    })
    .unwrap();
    out
}

fn of(n: u64) -> Chosen {
    Chosen { invocations: Some(Invocations::Ranges(vec![(n, n)])), ..Chosen::default() }
}

#[test]
fn the_report_is_printed_as_it_was() {
    let mut text = dumped(
        Form::Text,
        &Chosen { invocations: Some(Invocations::Ranges(vec![(0, 1), (29, 29)])), ..Chosen::default() },
    );
    warps(&small(), &Chosen { limit: Some(12), ..Chosen::default() }, Form::Text, &mut |s| {
        text.push_str(s);
        true
    })
    .unwrap();
    crate::report::printed::hold("rays/ray_dump/printed.txt", &text);
}

/// Every row once, in each form; what is chosen is what was asked for.
#[test]
fn what_is_chosen_comes_once() {
    let memory = small();
    let all = memory.read(&RAYS).unwrap();
    let json = dumped(Form::Json, &Chosen::default());
    let rows: Vec<serde_json::Value> = json.lines().map(|l| serde_json::from_str(l).unwrap()).collect();
    assert_eq!(rows.len(), all.len());
    let begins = rows.iter().filter(|r| r["event"] == "begin" || r["event"] == "occlusion-begin").count();
    assert!(rows.iter().any(|r| r["depth"].as_u64() > Some(1)) && begins > 32);
    for (row, r) in rows.iter().enumerate() {
        assert_eq!(r["invocation"], all.u64("invocation")[row]);
        assert_eq!(r["event"], RayEvent::of(all.u64("kind")[row]).unwrap().name());
    }
    let csv = dumped(Form::Csv, &Chosen::default());
    assert_eq!(csv.lines().count(), all.len() + 1);
    assert!(csv.lines().all(|l| l.split(',').count() == RAYS.columns.len() + 2), "{csv}");
    let text = dumped(Form::Text, &Chosen::default());
    assert_eq!(text.lines().filter(|l| l.starts_with("    ")).count(), all.len());
    // The same invocation by its index and by its place.
    let by_index = dumped(Form::Text, &of(17));
    let at = Chosen { invocations: Some(Invocations::At([1, 2, 0])), ..Chosen::default() };
    assert_eq!(by_index, dumped(Form::Text, &at));
    assert!(by_index.contains("invocation 17 (1, 2), subgroup "));
    let misses = Chosen { kinds: vec![RayEvent::Miss], ..Chosen::default() };
    let count = all.u64("kind").iter().filter(|k| **k == RayEvent::Miss as u64).count();
    assert_eq!(dumped(Form::Json, &misses).lines().count(), count);
    let few = Chosen { limit: Some(7), ..Chosen::default() };
    assert_eq!(dumped(Form::Json, &few), json.lines().take(7).map(|l| format!("{l}\n")).collect::<String>());
    for nothing in [
        Chosen { frames: Some(vec![(2, 9)]), ..Chosen::default() },
        Chosen { launches: Some(vec![(1, 1)]), ..Chosen::default() },
        Chosen { invocations: Some(Invocations::At([8, 0, 0])), ..Chosen::default() },
    ] {
        assert_eq!(dumped(Form::Text, &nothing), "", "{nothing:?}");
    }
}

/// Every begin has its end at the same indent, and everything between lies deeper.
#[test]
fn text_nests() {
    let text = dumped(Form::Text, &Chosen::default());
    let mut open = vec![];
    let mut deepest = 0;
    for line in text.lines().filter(|l| l.starts_with("    ")) {
        let indent = line.len() - line.trim_start().len();
        let word = line.split_whitespace().next().unwrap();
        match word {
            "begin" | "occlusion-begin" => {
                assert!(open.last().is_none_or(|o| *o < indent), "{line}");
                open.push(indent);
            }
            "end" => assert_eq!(open.pop(), Some(indent), "{line}"),
            _ => assert_eq!(open.last().map(|o| o + 2), Some(indent), "{line}"),
        }
        deepest = deepest.max(open.len());
    }
    assert!(open.is_empty() && deepest > 2, "{deepest}");
}

/// Who has heard enough says so.
#[test]
fn it_ends_when_nobody_listens() {
    for form in [Form::Text, Form::Json, Form::Csv] {
        let mut calls = 0;
        rays(&small(), &Chosen::default(), form, &mut |_| {
            calls += 1;
            calls < 3
        })
        .unwrap();
        assert_eq!(calls, 3, "{form:?}");
    }
}
