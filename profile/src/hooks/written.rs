//! What hooks make of a capture's calls, to be written as a capture: one hook outside of them, and one within.
//!
//! Guarantees: every call that the hooks pass on is told with the block at whose turn it came, in their order. Refuses nothing. What hooks do
//! with a driver directly, or ask of a device, is not seen.

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
    /// What was passed on since.
    passed: Vec<Encoded>,
}

impl Written {
    fn ends(&mut self) {
        let passed = std::mem::take(&mut self.passed);
        if let Some((block, came)) = self.turn.take()
            && passed != [came]
        {
            self.changed.insert(block, passed);
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
        self.0.borrow_mut().turn = Some((call.block, encoded(call)));
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
        self.0.borrow_mut().passed.push(encoded(call));
        next.run(cx, call)
    }
}
