//! What hooks are given by whoever makes them: where rows go, and which frames are wanted.

use replay::error::Result;
use trace::{Table, Value};

/// Takes rows.
pub type Put = Box<dyn FnMut(&'static Table, &[Value<'_>]) -> Result<()>>;

/// Chooses frames.
pub type WantsFrame = Box<dyn Fn(u64) -> bool>;
