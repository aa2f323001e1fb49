//! What the shaders of a capture need: one pass over its modules.
//!
//! Guarantees: a capability counts as needed if an instruction or operand of any module names it, or if a module could not be
//! read. Refuses nothing.

use gfxr_parse::container::{BlockKind, Capture, Scratch};
use gfxr_parse::decode::decode_found;
use gfxr_parse::image::Image;
use gfxr_parse::schema::command;
use gfxr_parse::schema::generated::SHADER_FEATURES;
use gfxr_parse::shaders::{concerns, shaders};
use pointers::{Capabilities, Checked};
use std::collections::BTreeSet;

/// What the shaders of a capture need.
#[derive(Clone, Debug, Default)]
pub struct ShaderNeeds {
    pub(crate) capabilities: BTreeSet<String>,
    /// A module could not be read: everything counts as needed.
    pub(crate) unknown: bool,
}

/// Looks through every module of a capture.
pub fn scan(capture: &Capture) -> ShaderNeeds {
    let (mut out, mut scratch, mut image) = (ShaderNeeds::default(), Scratch::new(), Image::default());
    for block in capture.blocks() {
        let Some(c) = block.call_id().and_then(command).filter(|c| concerns(c.name)) else { continue };
        let Ok(BlockKind::Call(call)) = block.kind() else { continue };
        if decode_found(c, &block, &call, &mut scratch, &mut image).is_err() {
            continue;
        }
        for s in shaders(&image) {
            let words: Vec<u32> =
                s.code.chunks_exact(4).map(|w| u32::from_le_bytes([w[0], w[1], w[2], w[3]])).collect();
            let needed = Checked::new(&words).ok().and_then(|w| Capabilities::of(w).ok());
            match needed {
                Some(c) => out.capabilities.extend(c.needed),
                None => out.unknown = true,
            }
        }
    }
    out
}

/// The capabilities that a feature lets shaders have; none if the feature is not about shaders alone.
pub(crate) fn capabilities(member: &str) -> Option<&'static [&'static str]> {
    SHADER_FEATURES.binary_search_by_key(&member, |f| f.0).ok().map(|i| SHADER_FEATURES[i].1)
}

impl ShaderNeeds {
    /// Whether any shader needs a feature.
    pub(crate) fn is_needed(&self, member: &str) -> bool {
        self.unknown || capabilities(member).is_none_or(|c| c.iter().any(|c| self.capabilities.contains(*c)))
    }
}
