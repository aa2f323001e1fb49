//! YAML as JSON's values, which the tests of engines' files look at.
//!
//! Guarantees: YAML 1.2's core, so `on` is a text; a key that is there twice is refused. Refuses keys that are no texts, and what
//! JSON has no word for.

use serde_json::{Map, Value};
use yaml_rust2::{Yaml, YamlLoader};

/// All documents of a file.
pub fn documents(text: &str, name: &str) -> Vec<Value> {
    let all = YamlLoader::load_from_str(text).unwrap_or_else(|e| panic!("{name}: {e}"));
    all.iter().map(|d| value(d, name)).collect()
}

fn value(of: &Yaml, at: &str) -> Value {
    match of {
        Yaml::Null => Value::Null,
        Yaml::Boolean(b) => (*b).into(),
        Yaml::Integer(n) => (*n).into(),
        Yaml::Real(n) => n.parse::<f64>().unwrap_or_else(|e| panic!("{at}: {n}: {e}")).into(),
        Yaml::String(s) => s.as_str().into(),
        Yaml::Array(all) => {
            let one = |(n, v): (usize, &Yaml)| value(v, &format!("{at}[{n}]"));
            all.iter().enumerate().map(one).collect()
        }
        Yaml::Hash(all) => {
            let mut map = Map::new();
            for (key, v) in all {
                let key = key.as_str().unwrap_or_else(|| panic!("{at}: a key that is no text: {key:?}"));
                map.insert(key.to_owned(), value(v, &format!("{at}.{key}")));
            }
            map.into()
        }
        Yaml::Alias(_) | Yaml::BadValue => panic!("{at}: {of:?}"),
    }
}

#[test]
fn yaml_is_read() {
    let text = "on:\n  push: {branches: [main]}\n  pull_request:\nn: 3\ns: \"3\"\nb: true\nl: |\n  a\n  b\n---\n- x\n";
    let all = documents(text, "a text");
    assert_eq!(all.len(), 2);
    assert_eq!(
        all[0],
        serde_json::json!({
            "on": {"push": {"branches": ["main"]}, "pull_request": null}, "n": 3, "s": "3", "b": true, "l": "a\nb\n"
        })
    );
    assert!(std::panic::catch_unwind(|| documents("a: 1\na: 2\n", "twice")).is_err());
}
