//! One page of what captures, traces, runs and replays say: what it is made of (`inputs`; of a capture, `capture` and `pictures`), and its
//! plots as files (`plots`).
//!
//! Guarantees: a page holds what every question that an input can answer answered. Refuses inputs of which nothing can be said.

pub mod capture;
pub mod inputs;
mod pictures;
pub mod plots;

use analyses::report::html::Input;

/// What a page is called that nobody gave a title: the names of captures that were replayed for it, else those of the captures that its inputs are
/// of, or the inputs'.
pub fn title(inputs: &[Input]) -> String {
    let mut names: Vec<&str> = vec![];
    let replayed = inputs.iter().any(|i| i.kind == "capture");
    for i in inputs.iter().filter(|i| !replayed || i.kind == "capture") {
        // (a capture that was replayed is called by its file)
        let named = |f: &&(String, String)| !replayed && (f.0 == "capture" || f.0 == "capture, name");
        let capture = i.facts.iter().find(named);
        let name = capture.map_or(i.name.as_str(), |f| f.1.as_str());
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
