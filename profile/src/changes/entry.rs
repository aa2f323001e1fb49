//! What the list of changes says of each.
//!
//! Refuses options that a change does not have, naming those that it has.

use super::choice::Choice;
use super::state::change::Change;
use replay::hook::Hook;
use trace::plan::Use;

/// What is known of a change before it is made.
pub struct Entry {
    /// Its name.
    pub name: &'static str,
    /// Its options, as help shows them.
    pub options: &'static [&'static str],
    /// What it does, in a line.
    pub about: &'static str,
    /// What it asks of a frame.
    pub asks: &'static str,
    /// Whether pictures stay as they are.
    pub pictures_stay: bool,
    /// Makes it.
    pub(super) make: fn(&Use) -> Result<Made, String>,
}

/// What a change is made of.
pub enum Made {
    /// A hook.
    Hook(Box<dyn Hook>),
    /// A part of the hook that changes pipelines' state, and the commands it is for.
    State(Change, Choice),
}

/// Says of options that a change does not have which it has.
pub fn no_others(entry: &Entry, others: &[String]) -> Result<(), String> {
    let Some(other) = others.first() else { return Ok(()) };
    let has = match entry.options {
        [] => "it has none".to_owned(),
        some => format!("it has {}", some.join(", ")),
    };
    Err(format!("change {} has no option {other:?}; {has}", entry.name))
}

/// A change of pipelines' state, whose options choose the commands that it is for, and nothing else.
pub fn of_state(of: &Use, entry: &Entry, change: Change) -> Result<Made, String> {
    let (choice, others) = Choice::read(of, entry.options)?;
    no_others(entry, &others)?;
    Ok(Made::State(change, choice))
}
