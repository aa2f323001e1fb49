//! Sums over executions, and what is said of them.

use crate::report::Cell;

/// Sums over some executions of basic blocks by subgroups.
#[derive(Clone, Copy, Debug, Default)]
pub struct Sums {
    pub executions: u64,
    pub helpers: u64,
    active: u128,
    slots: u128,
    weighted_active: u128,
    weighted_slots: u128,
}

impl Sums {
    /// Executions by subgroups of `n` with so many active invocations together, of a block with so many instructions.
    pub fn add(&mut self, executions: u64, invocations: u64, n: u64, instructions: u64) {
        let (slots, active) = (u128::from(executions) * u128::from(n), u128::from(invocations));
        self.executions += executions;
        self.active += active;
        self.slots += slots;
        self.weighted_active += active * u128::from(instructions);
        self.weighted_slots += slots * u128::from(instructions);
    }

    /// Instruction slots that did nothing.
    pub fn wasted(&self) -> u128 {
        self.weighted_slots.saturating_sub(self.weighted_active)
    }

    /// All instruction slots.
    pub fn weighted_slots(&self) -> u128 {
        self.weighted_slots
    }

    /// Under the columns of the tables.
    pub fn cells(&self) -> Vec<Cell> {
        vec![
            Cell::Count(self.executions),
            Cell::Count(u64::try_from(self.active).unwrap_or(u64::MAX)),
            Cell::share(self.active, self.slots),
            Cell::share(self.weighted_active, self.weighted_slots),
            Cell::Count(self.helpers),
        ]
    }
}
