//! What hooks make of a capture's calls, to be written as a capture: one hook outside of them, and one within.
//!
//! Guarantees: every call that the hooks pass on is told with the block at whose turn it came, in their order; but one that they hold back, and pass on
//! later as it was, stays where it was. Refuses nothing. What hooks do with a driver directly, or ask of a device, is not seen.

use gfxr_parse::ahead::Call;
use gfxr_parse::encode::encode_call;
use replay::error::Result;
use replay::exec::Executor;
use replay::hook::{Commands, Hook, Next};
use std::cell::RefCell;
use std::collections::HashMap;
use std::rc::Rc;
use world::Outcome;

/// A call as it is written: its command's id, its thread, its parameters.
pub type Encoded = (u32, u64, Vec<u8>);

/// By block: what stands in its place; blocks that stay as they are have no entry.
#[derive(Debug, Default)]
pub struct Written {
    /// See there.
    pub changed: HashMap<u64, Vec<Encoded>>,
    /// The block whose turn it is, as it came.
    turn: Option<(u64, Encoded)>,
    /// What was passed on since, and which blocks that is of.
    passed: Vec<(u64, Encoded)>,
    /// By block: what came and was not passed on.
    held: HashMap<u64, Encoded>,
}

impl Written {
    fn ends(&mut self) {
        let passed = std::mem::take(&mut self.passed);
        let Some((block, came)) = self.turn.take() else { return };
        let mut here = vec![];
        for (of, call) in passed {
            if self.held.get(&of) == Some(&call) {
                self.held.remove(&of);
                self.changed.remove(&of);
            } else {
                here.push(call);
            }
        }
        if here != std::slice::from_ref(&came) {
            if here.is_empty() {
                self.held.insert(block, came);
            }
            self.changed.insert(block, here);
        }
    }
}

/// What is found, shared by both hooks.
pub type Shared = Rc<RefCell<Written>>;

struct Outside(Shared);
struct Within(Shared);

/// The two hooks around others, and what they will find.
pub fn around(others: Vec<Box<dyn Hook>>) -> (Vec<Box<dyn Hook>>, Shared) {
    let shared = Shared::default();
    let mut all: Vec<Box<dyn Hook>> = vec![Box::new(Outside(shared.clone()))];
    all.extend(others);
    all.push(Box::new(Within(shared.clone())));
    (all, shared)
}

fn encoded(call: &Call) -> Encoded {
    let mut parameters = vec![];
    encode_call(&call.image, &mut parameters);
    (call.command.id, call.thread, parameters)
}

impl Hook for Outside {
    fn name(&self) -> &'static str {
        "what is written"
    }

    fn wants(&self) -> Commands {
        Commands::all()
    }

    fn call(&mut self, cx: &mut Executor, call: &mut Call, next: Next) -> Result<Outcome> {
        {
            let mut shared = self.0.borrow_mut();
            // (a call that failed, and was passed over, has left what it passed on)
            shared.passed.clear();
            shared.turn = Some((call.block, encoded(call)));
        }
        let outcome = next.run(cx, call)?;
        self.0.borrow_mut().ends();
        Ok(outcome)
    }
}

impl Hook for Within {
    fn name(&self) -> &'static str {
        "what is passed on"
    }

    fn wants(&self) -> Commands {
        Commands::all()
    }

    fn call(&mut self, cx: &mut Executor, call: &mut Call, next: Next) -> Result<Outcome> {
        self.0.borrow_mut().passed.push((call.block, encoded(call)));
        next.run(cx, call)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn what_is_held_back_and_comes_as_it_was_stays_where_it_was() {
        let call = |n: u32| -> Encoded { (n, 1, vec![]) };
        let of = |turns: &[(u64, &[(u64, u32)])]| {
            let mut written = Written::default();
            for (block, passed) in turns {
                written.turn = Some((*block, call(*block as u32)));
                written.passed = passed.iter().map(|(of, n)| (*of, call(*n))).collect();
                written.ends();
            }
            let mut all: Vec<(u64, Vec<u32>)> = written
                .changed
                .into_iter()
                .map(|(block, c)| (block, c.iter().map(|c| c.0).collect()))
                .collect();
            all.sort_unstable();
            all
        };
        assert_eq!(of(&[(1, &[]), (2, &[(2, 2)]), (3, &[(1, 1), (3, 3)])]), []);
        assert_eq!(
            of(&[(1, &[]), (2, &[]), (3, &[(1, 1), (3, 3)])]),
            [(2, vec![])],
            "what lies between goes"
        );
        // One that is another call by then stays where it comes, and so does what comes twice.
        assert_eq!(of(&[(1, &[]), (2, &[(1, 7), (2, 2)])]), [(1, vec![]), (2, vec![7, 2])]);
        assert_eq!(of(&[(1, &[(1, 1)]), (2, &[(1, 1), (2, 2)])]), [(2, vec![1, 2])]);
    }
}
