//! The queries that one command buffer writes, in pools that are filled from front to back.
//!
//! Guarantees: the queries of one [`Queries::take`] follow each other in one pool; results are numbered without gaps, as
//! only what was taken is ever copied. Pools are kept when the command buffer is recorded anew, and go back to the
//! device's spare ones when it dies: after the first frames of a program none is created any more.

use replay::ash::{self, vk};
use replay::error::{Error, Result};
use std::cell::RefCell;
use std::rc::Rc;

/// Queries in a pool.
pub const CHUNK: u32 = 512;
/// Pools of timestamps made ahead.
const AHEAD: usize = 8;

/// A device's pools that nothing uses.
pub struct Spare {
    pub device: ash::Device,
    /// Of timestamps.
    stamps: Vec<vk::QueryPool>,
    /// Of statistics, and what they count.
    statistics: Vec<(vk::QueryPipelineStatisticFlags, vk::QueryPool)>,
    /// Pools created so far.
    pub created: u64,
}

/// Shared by everything of one device.
pub type Shared = Rc<RefCell<Spare>>;

impl Spare {
    /// With some pools made ahead.
    pub fn new(device: ash::Device) -> Result<Shared> {
        let mut spare = Spare { device, stamps: Vec::new(), statistics: Vec::new(), created: 0 };
        for _ in 0..AHEAD {
            let pool = spare.create(Kind::Stamps)?;
            spare.stamps.push(pool);
        }
        Ok(Rc::new(RefCell::new(spare)))
    }

    fn create(&mut self, kind: Kind) -> Result<vk::QueryPool> {
        let info = vk::QueryPoolCreateInfo::default().query_count(CHUNK);
        let info = match kind {
            Kind::Stamps => info.query_type(vk::QueryType::TIMESTAMP),
            Kind::Statistics(counters) => {
                info.query_type(vk::QueryType::PIPELINE_STATISTICS).pipeline_statistics(counters)
            }
        };
        self.created += 1;
        // SAFETY: a plain creation on a live device; what is counted was asked for when it was made.
        let pool = unsafe { self.device.create_query_pool(&info, None) };
        pool.map_err(|e| Error::driver("vkCreateQueryPool", e))
    }

    fn take(&mut self, kind: Kind) -> Result<vk::QueryPool> {
        let found = match kind {
            Kind::Stamps => self.stamps.pop(),
            Kind::Statistics(counters) => {
                let at = self.statistics.iter().position(|s| s.0 == counters);
                at.map(|at| self.statistics.swap_remove(at).1)
            }
        };
        found.map_or_else(|| self.create(kind), Ok)
    }

    fn give(&mut self, kind: Kind, pool: vk::QueryPool) {
        match kind {
            Kind::Stamps => self.stamps.push(pool),
            Kind::Statistics(counters) => self.statistics.push((counters, pool)),
        }
    }

    /// Destroys what is spare; the device is idle.
    pub fn destroy(&mut self) {
        for pool in self.stamps.drain(..).chain(self.statistics.drain(..).map(|s| s.1)) {
            // SAFETY: nothing uses it.
            unsafe { self.device.destroy_query_pool(pool, None) };
        }
    }
}

/// What is asked.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Kind {
    Stamps,
    Statistics(vk::QueryPipelineStatisticFlags),
}

/// Where queries lie: in their pool, and among the results.
#[derive(Clone, Copy)]
pub struct Place {
    pub pool: vk::QueryPool,
    pub first: u32,
    pub result: u32,
}

/// See the module's header.
pub struct Queries {
    pub kind: Kind,
    spare: Shared,
    /// Pools, and how much of each is in use.
    pools: Vec<(vk::QueryPool, u32)>,
    /// The pool that is being filled.
    at: usize,
    /// Queries in use.
    pub used: u32,
}

impl Queries {
    pub fn new(kind: Kind, spare: Shared) -> Self {
        Queries { kind, spare, pools: Vec::new(), at: 0, used: 0 }
    }

    /// The next `n` queries.
    pub fn take(&mut self, n: u32) -> Result<Place> {
        if self.pools.get(self.at).is_some_and(|p| p.1 + n > CHUNK) {
            self.at += 1;
        }
        if self.at == self.pools.len() {
            self.pools.push((self.spare.borrow_mut().take(self.kind)?, 0));
        }
        let p = &mut self.pools[self.at];
        let place = Place { pool: p.0, first: p.1, result: self.used };
        p.1 += n;
        self.used += n;
        Ok(place)
    }

    /// None is in use any more.
    pub fn restart(&mut self) {
        self.pools.iter_mut().for_each(|p| p.1 = 0);
        (self.at, self.used) = (0, 0);
    }

    /// The pools in use, and how many queries of each.
    pub fn in_use(&self) -> impl Iterator<Item = (vk::QueryPool, u32)> {
        self.pools.iter().copied().filter(|p| p.1 > 0)
    }
}

impl Drop for Queries {
    /// Its command buffer is gone, or its device idle.
    fn drop(&mut self) {
        let mut spare = self.spare.borrow_mut();
        for (pool, _) in self.pools.drain(..) {
            spare.give(self.kind, pool);
        }
    }
}
