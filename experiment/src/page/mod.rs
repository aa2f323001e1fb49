//! One page of what captures, traces, runs and replays say: what it is made of (`inputs`; of a capture, `capture`), and its
//! plots as files (`plots`).
//!
//! Guarantees: a page holds what every question that an input can answer answered. Refuses inputs of which nothing can be said.

pub mod capture;
pub mod inputs;
pub mod plots;

use analyses::report::html::Input;

/// What a page is called that nobody gave a title: the names of captures that were replayed for it, else those of the captures that its inputs are
/// of, or the inputs'.
pub fn title(inputs: &[Input]) -> String {
    // (captures that were replayed are called by their files; folders, by what they are of where any says so)
    let replayed = || inputs.iter().filter(|i| i.kind == "capture").map(|i| i.name.clone());
    let captured = || {
        let of = |i: &Input| i.facts.iter().find(|f| f.0 == "capture" || f.0 == "capture, name").cloned();
        inputs.iter().filter_map(of).map(|f| f.1)
    };
    let all: Vec<String> = match (replayed().next(), captured().next()) {
        (Some(_), _) => replayed().collect(),
        (None, Some(_)) => captured().collect(),
        (None, None) => inputs.iter().map(|i| i.name.clone()).collect(),
    };
    let mut names: Vec<String> = vec![];
    for name in all {
        if !names.contains(&name) {
            names.push(name);
        }
    }
    match &names[..] {
        [some @ .., _, _, _, _] if !some.is_empty() => {
            format!("{}, {} and {} more", names[0], names[1], names.len() - 2)
        }
        all => all.join(", "),
    }
}
