//! By the number of rays traced, inside tiles: neighbours stay near each other.

use super::numrays::Numrays;
use crate::rays::repack::{Method, Options, Work};

/// See the file's header.
pub struct TiledNumrays;

impl Method for TiledNumrays {
    fn name(&self) -> &'static str {
        "tiled-numrays"
    }

    fn about(&self) -> &'static str {
        "by the number of rays traced, inside tiles"
    }

    fn tile(&self, work: &Work<'_>, options: &Options) -> Option<[u32; 2]> {
        Some(options.tile.unwrap_or_else(|| work.tile()))
    }

    fn sort(&self, work: &Work<'_>, options: &Options, invocations: &mut [u32]) {
        Numrays.sort(work, options, invocations);
    }
}
