//! From records to reports: pure functions over what a trace holds; no GPU, no driver.
//!
//! A [`Question`] says which tables it wants, and makes a [`report::Report`] of them. The same records give the same bytes
//! of report, on any machine, as often as one likes. Exporters ([`report::text`], [`report::json`]) know nothing of any question.
//!
//! Questions lie in folders as people ask them: [`shaders`], [`rays`], [`bindings`]; beside them are [`times`] and the [`verdict`]
//! on two runs. One folder a question: definition, formula, units and caveats at the head of its file.
#![forbid(unsafe_code)]

mod analysis;
pub mod bindings;
pub mod context;
pub mod explain;
mod limits;
pub mod rays;
pub mod report;
mod session;
pub mod shaders;
pub mod stats;
pub mod stream;
pub mod times;
pub mod verdict;

pub use analysis::{Group, Question, Run};
pub use session::Session;

/// The questions, as people ask them.
pub const GROUPS: &[Group] = &[
    Group {
        name: "shaders",
        about: "how full subgroups were and why, which blocks and instructions ran, what values were, and when",
        questions: shaders::QUESTIONS,
    },
    Group {
        name: "rays",
        about: "how many rays, how full subgroups were in them, which tests were needed, and what sorting would give",
        questions: rays::QUESTIONS,
    },
    Group {
        name: "bindings",
        about: "what descriptors and uniform blocks held, what calls cost the driver, and what waits for what",
        questions: bindings::QUESTIONS,
    },
];

/// Every question there is, group by group.
pub static QUESTIONS: &[&Question] = &Group::all::<{ Group::number(GROUPS) }>(GROUPS);

#[cfg(test)]
mod tests {
    use super::QUESTIONS;

    #[test]
    fn names_are_unique() {
        for (index, question) in QUESTIONS.iter().enumerate() {
            let position = QUESTIONS.iter().position(|other| other.name == question.name);
            assert_eq!(position, Some(index), "{}", question.name);
        }
    }
}
