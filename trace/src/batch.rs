//! Records on their way from measuring to analysing: batches of one kind, and sets of kinds.

use crate::{CommandCounters, CommandTime, FrameTime, TimeNames};
use std::ops::BitOr;

/// Records of one kind, in the order in which they were measured.
#[derive(Clone, Copy, Debug)]
#[non_exhaustive]
pub enum Batch<'a> {
    /// Times of frames.
    FrameTimes(&'a [FrameTime]),
    /// Times of what was submitted, and the names they refer to: those of all batches so far.
    CommandTimes(&'a TimeNames, &'a [CommandTime]),
    /// What was counted while they ran.
    CommandCounters(&'a [CommandCounters]),
}

impl Batch<'_> {
    /// The kind of every record in it.
    pub fn kind(&self) -> RecordKind {
        match self {
            Batch::FrameTimes(_) => RecordKind::FrameTime,
            Batch::CommandTimes(..) => RecordKind::CommandTime,
            Batch::CommandCounters(_) => RecordKind::CommandCounters,
        }
    }
}

/// What a record is of.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
#[non_exhaustive]
pub enum RecordKind {
    /// [`FrameTime`].
    FrameTime,
    /// [`CommandTime`].
    CommandTime,
    /// [`CommandCounters`].
    CommandCounters,
}

/// A set of [`RecordKind`]s: what an analysis wants, and so what a run has to measure.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Hash)]
pub struct RecordKinds(u64);

impl RecordKinds {
    /// No kind at all.
    pub const NONE: RecordKinds = RecordKinds(0);

    /// The set of this one kind.
    pub const fn of(kind: RecordKind) -> RecordKinds {
        RecordKinds(1 << kind as u32)
    }

    /// Whether `kind` is in the set.
    pub const fn contains(self, kind: RecordKind) -> bool {
        self.0 & RecordKinds::of(kind).0 != 0
    }
}

impl BitOr for RecordKinds {
    type Output = RecordKinds;

    fn bitor(self, other: RecordKinds) -> RecordKinds {
        RecordKinds(self.0 | other.0)
    }
}

#[cfg(test)]
mod tests {
    use super::{Batch, RecordKind, RecordKinds};

    #[test]
    fn sets() {
        let kinds = RecordKinds::NONE | RecordKinds::of(RecordKind::FrameTime);
        assert!(kinds.contains(Batch::FrameTimes(&[]).kind()));
        assert!(!RecordKinds::NONE.contains(RecordKind::FrameTime));
    }
}
