//! A call with live arguments, on its way to the driver, and what those who act on it may touch.

use super::state::Vulkan;
use crate::error::Result;
use crate::link::Linked;
use crate::objects::Objects;
use crate::report::Report;
use gfxr_parse::ahead::Call;
use world::Outcome;

/// See the module's header.
pub struct LinkedCall<'c> {
    /// What the backend knows.
    pub vk: &'c mut Vulkan,
    /// The capture's ids and the live handles.
    pub objects: &'c mut Objects,
    /// The call as it was captured.
    pub call: &'c Call,
    /// Its live arguments.
    pub linked: &'c mut Linked,
    /// What happened so far.
    pub report: &'c mut Report,
}

impl LinkedCall<'_> {
    /// Calls the driver.
    pub fn invoke(&mut self) -> Result<Outcome> {
        self.vk.raw(self.call, self.linked, self.report)
    }
}

/// Acts before a command reaches the driver; may change its arguments.
pub type Before = fn(&mut LinkedCall<'_>) -> Result<()>;
/// Acts after the driver has answered; looks itself whether that was a success.
pub type After = fn(&mut LinkedCall<'_>, Outcome) -> Result<()>;

/// A part's share in a command that is not its own.
#[derive(Clone, Copy)]
pub enum Subscription {
    /// See [`Before`].
    Before(Before),
    /// See [`After`].
    After(After),
}

/// Which commands a part subscribes to, by the names that the registry has first for them.
pub type Subscriptions = &'static [(&'static [&'static str], Subscription)];
