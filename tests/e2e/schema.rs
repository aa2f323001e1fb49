//! The published JSON Schemas (docs/schema) hold what the program prints: real output is validated against them.
//!
//! The validator knows the keywords that these schemas use, and takes any other for an error: nothing is passed over.

use crate::support::root;
use serde_json::{Value, json};

/// What is wrong with a value, each with its place; nothing if it is sound.
pub fn wrong(schema: &str, value: &Value) -> Vec<String> {
    let file = root().join(format!("docs/schema/{schema}.schema.json"));
    let text = std::fs::read_to_string(&file).unwrap_or_else(|e| panic!("{}: {e}", file.display()));
    let whole: Value = serde_json::from_str(&text).expect("a schema is JSON");
    let mut wrong = vec![];
    check(&whole, &whole, value, "", &mut wrong);
    wrong
}

fn check(whole: &Value, schema: &Value, value: &Value, at: &str, wrong: &mut Vec<String>) {
    let fields = schema.as_object().expect("a schema is an object");
    let mut here = vec![];
    let mut no = |words: String| here.push(format!("{at}: {words}"));
    for (keyword, of) in fields {
        let list = || of.as_array().expect("a list");
        match keyword.as_str() {
            "$schema" | "$defs" | "title" | "description" => {}
            "$ref" => {
                let pointer = of.as_str().and_then(|r| r.strip_prefix('#')).expect("a place in this file");
                let target = whole.pointer(pointer).unwrap_or_else(|| panic!("no {pointer}"));
                check(whole, target, value, at, wrong);
            }
            "type" => {
                let types: Vec<&str> = match of {
                    Value::String(one) => vec![one],
                    _ => list().iter().filter_map(Value::as_str).collect(),
                };
                let is = |t: &&str| match *t {
                    "object" => value.is_object(),
                    "array" => value.is_array(),
                    "string" => value.is_string(),
                    "boolean" => value.is_boolean(),
                    "null" => value.is_null(),
                    "number" => value.is_number(),
                    "integer" => value.is_u64() || value.is_i64(),
                    other => panic!("no type {other}"),
                };
                if !types.iter().any(is) {
                    no(format!("{value} is none of {types:?}"));
                }
            }
            "enum" if !list().contains(value) => no(format!("{value} is none of {of}")),
            "const" if value != of => no(format!("{value} is not {of}")),
            "minimum" if value.as_f64() < of.as_f64() => no(format!("{value} is less than {of}")),
            "minItems" if value.as_array().map(Vec::len) < of.as_u64().map(|n| n as usize) => {
                no("too short".into())
            }
            "maxItems" if value.as_array().map(Vec::len) > of.as_u64().map(|n| n as usize) => {
                no("too long".into())
            }
            "enum" | "const" | "minimum" | "minItems" | "maxItems" => {}
            "required" => {
                let missing = list().iter().filter_map(Value::as_str).filter(|k| value.get(k).is_none());
                missing.for_each(|k| no(format!("no {k}")));
            }
            "properties" => {
                for (name, inner) in of.as_object().expect("an object") {
                    if let Some(value) = value.get(name) {
                        check(whole, inner, value, &format!("{at}/{name}"), wrong);
                    }
                }
            }
            "additionalProperties" => {
                let known = |name: &String| fields.get("properties").is_some_and(|p| p.get(name).is_some());
                let more = value.as_object().into_iter().flatten().filter(|(k, _)| !known(k));
                for (name, inner) in more {
                    match of {
                        Value::Bool(true) => {}
                        Value::Bool(false) => no(format!("{name} is not described")),
                        of => check(whole, of, inner, &format!("{at}/{name}"), wrong),
                    }
                }
            }
            "items" => {
                for (n, inner) in value.as_array().into_iter().flatten().enumerate() {
                    check(whole, of, inner, &format!("{at}/{n}"), wrong);
                }
            }
            "oneOf" => {
                let sound = |s: &&Value| {
                    let mut inner = vec![];
                    check(whole, s, value, at, &mut inner);
                    inner.is_empty()
                };
                let count = list().iter().filter(sound).count();
                if count != 1 {
                    no(format!("{count} of the forms hold {value}"));
                }
            }
            other => panic!("the validator does not know {other}"),
        }
    }
    wrong.append(&mut here);
}

#[test]
fn what_is_not_described_is_found() {
    let sound = json!({
        "schema_version": 1, "analysis": "x", "title": "X", "series": [], "images": [], "notes": [],
        "tables": [{ "name": "t", "columns": [{ "name": "a", "unit": "count" }], "rows": [[1], [null]] }],
        "cost": { "kind": "nothing", "why": "w" },
    });
    assert_eq!(wrong("report", &sound), Vec::<String>::new());
    let with = |pointer: &str, to: Value| {
        let mut other = sound.clone();
        *other.pointer_mut(pointer).expect("it is there") = to;
        wrong("report", &other).join("; ")
    };
    assert!(with("/schema_version", json!(2)).contains("/schema_version: 2 is not 1"));
    assert!(with("/tables/0/columns/0/unit", json!("parsecs")).contains("/tables/0/columns/0/unit"));
    assert!(with("/tables/0/rows/0/0", json!([1])).contains("/tables/0/rows/0/0"));
    assert!(with("/cost", json!({ "kind": "nothing" })).contains("0 of the forms"));
    assert!(with("/notes", json!({ "a": 1 })).contains("/notes"));
    let mut more = sound.clone();
    more["surprise"] = json!(1);
    assert!(wrong("report", &more).join("").contains("surprise is not described"));
}
