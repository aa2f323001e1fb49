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
    let of_its_capture = |i: &'_ Input| {
        let named = i.facts.iter().find(|f| f.0 == "capture" || f.0 == "capture, name");
        named.map_or(i.name.clone(), |f| f.1.clone())
    };
    // (a capture that was replayed is called by its file)
    let replayed: Vec<String> =
        inputs.iter().filter(|i| i.kind == "capture").map(|i| i.name.clone()).collect();
    let all = if replayed.is_empty() { inputs.iter().map(of_its_capture).collect() } else { replayed };
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
