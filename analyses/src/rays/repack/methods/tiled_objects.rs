//! By the sequence of objects met, inside tiles: neighbours stay near each other.

use super::objects::Objects;
use crate::rays::repack::{Method, Options, Work};

/// See the file's header.
pub struct TiledObjects;

impl Method for TiledObjects {
    fn name(&self) -> &'static str {
        "tiled-objects"
    }

    fn about(&self) -> &'static str {
        "by the sequence of objects met, inside tiles"
    }

    fn tile(&self, work: &Work<'_>, options: &Options) -> Option<[u32; 2]> {
        Some(options.tile.unwrap_or_else(|| work.tile()))
    }

    fn sort(&self, work: &Work<'_>, options: &Options, invocations: &mut [u32]) {
        Objects.sort(work, options, invocations);
    }
}
