//! A trace that several questions are asked of: what they read of it in common is read once.
//!
//! Guarantees: of rays' events there is all that any of the questions wants; what cannot be read is the same error for each of them.
//! Refuses nothing of its own.

use crate::bindings::resources::Model;
use crate::context::Context;
use crate::rays::events::{self, Events, Wants};
use std::cell::OnceCell;
use trace::{Source, Unreadable};

/// See the module's header.
pub struct Session<'t> {
    /// The trace.
    pub trace: &'t dyn Source,
    wants: Wants,
    context: OnceCell<Result<Context, Unreadable>>,
    events: OnceCell<Result<Events, Unreadable>>,
    resources: OnceCell<Result<Model, Unreadable>>,
}

impl<'t> Session<'t> {
    /// Of a trace, by questions that want to know this of rays' events.
    pub fn new(trace: &'t dyn Source, wants: impl IntoIterator<Item = Wants>) -> Self {
        let wants = wants.into_iter().reduce(Wants::and).unwrap_or_default();
        Session {
            trace,
            wants,
            context: OnceCell::new(),
            events: OnceCell::new(),
            resources: OnceCell::new(),
        }
    }

    /// What was recorded, and of which shaders.
    pub fn context(&self) -> Result<&Context, Unreadable> {
        once(&self.context, || Context::read(self.trace))
    }

    /// Rays' events.
    pub fn events(&self) -> Result<&Events, Unreadable> {
        once(&self.events, || events::read(self.trace, self.context()?, self.wants))
    }

    /// What commands had bound, and what memory held then.
    pub fn resources(&self) -> Result<&Model, Unreadable> {
        once(&self.resources, || Model::read(self.trace))
    }
}

fn once<T>(
    cell: &OnceCell<Result<T, Unreadable>>,
    read: impl FnOnce() -> Result<T, Unreadable>,
) -> Result<&T, Unreadable> {
    cell.get_or_init(read).as_ref().map_err(Clone::clone)
}
