//! Which events are written, and what is known of a trace while they are.
//!
//! Refuses launches that `ray_launches` does not have.

use crate::context::Context;
use std::collections::BTreeMap;
use trace::tables::{RAY_LAUNCHES, RAYS, RayEvent};
use trace::{Source, Table, Unreadable};

/// Which invocations.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Invocations {
    /// By linear launch index, both ends included.
    Ranges(Vec<(u64, u64)>),
    /// By column, row and layer.
    At([u64; 3]),
}

/// Ranges of numbers, both ends included; none: all.
pub type Ranges = Option<Vec<(u64, u64)>>;

/// What is written.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Chosen {
    /// Of these frames.
    pub frames: Ranges,
    /// Of these launches of a frame.
    pub launches: Ranges,
    /// Of these invocations; subgroups' events are not asked.
    pub invocations: Option<Invocations>,
    /// Of these kinds; none: all.
    pub kinds: Vec<RayEvent>,
    /// At most so many.
    pub limit: Option<u64>,
}

fn within(ranges: &Ranges, n: u64) -> bool {
    ranges.as_ref().is_none_or(|all| all.iter().any(|(a, b)| (*a..=*b).contains(&n)))
}

/// Frame and launch.
pub(super) type Key = (u64, u64);

/// A launch as the text names it.
pub(super) struct Launch {
    pub(super) size: [u64; 3],
    pub(super) pipeline: u64,
}

fn launches(trace: &dyn Source) -> Result<BTreeMap<Key, Launch>, Unreadable> {
    let t = trace.read(&RAY_LAUNCHES)?;
    let of = |row: usize| {
        let of = |name: &str| t.u64(name)[row];
        (
            (of("frame"), of("launch")),
            Launch { size: ["width", "height", "depth"].map(of), pipeline: of("pipeline") },
        )
    };
    Ok((0..t.len()).map(of).collect())
}

/// Who takes what is written; `false` ends it.
pub type Take<'a> = dyn FnMut(&str) -> bool + 'a;

pub(super) struct Dump<'a> {
    pub(super) context: Context,
    pub(super) launches: BTreeMap<Key, Launch>,
    pub(super) chosen: &'a Chosen,
    pub(super) left: u64,
}

impl<'a> Dump<'a> {
    pub(super) fn new(trace: &dyn Source, chosen: &'a Chosen) -> Result<Self, Unreadable> {
        let (context, launches) = (Context::read(trace)?, launches(trace)?);
        Ok(Dump { context, launches, chosen, left: chosen.limit.unwrap_or(u64::MAX) })
    }

    pub(super) fn launch(&self, table: &Table, key: Key) -> Result<&Launch, Unreadable> {
        self.launches.get(&key).ok_or_else(|| {
            Unreadable(format!(
                "table {}: frame {}, launch {} is not in ray_launches; record the trace again",
                table.name, key.0, key.1
            ))
        })
    }

    pub(super) fn wants_launch(&self, key: Key) -> bool {
        within(&self.chosen.frames, key.0) && within(&self.chosen.launches, key.1)
    }

    pub(super) fn wants_kind(&self, kind: RayEvent) -> bool {
        self.chosen.kinds.is_empty() || self.chosen.kinds.contains(&kind)
    }

    pub(super) fn wants_invocation(&self, key: Key, invocation: u64) -> Result<bool, Unreadable> {
        Ok(match &self.chosen.invocations {
            None => true,
            Some(Invocations::Ranges(all)) => all.iter().any(|(a, b)| (*a..=*b).contains(&invocation)),
            Some(Invocations::At([x, y, z])) => {
                let [w, h, d] = self.launch(&RAYS, key)?.size;
                *x < w && *y < h && *z < d && invocation == x + w * (y + h * z)
            }
        })
    }
}
