//! What has to be known of a capture before any of it runs: which stages its shaders are of, how large the largest is, and what its
//! pipelines are called (their names come after they are made).
//!
//! Refuses nothing: a call that cannot be decoded says nothing here, and is an error where it is replayed.

use super::super::debug_names;
use super::code::Code;
use super::plan::Selection;
use crate::Stage;
use crate::rewrite::most_blocks;
use gfxr_parse::container::{BlockKind, Capture, Scratch};
use gfxr_parse::decode::decode_found;
use gfxr_parse::image::Image;
use gfxr_parse::schema::command;
use gfxr_parse::shaders::{concerns, shaders};
use std::collections::{BTreeSet, HashMap};

/// See the module's header.
#[derive(Clone, Debug, Default)]
pub struct Scanned {
    /// Stages of chosen shaders.
    pub stages: BTreeSet<Stage>,
    /// Blocks of the largest of their entry points, as far as its module tells.
    pub blocks: usize,
    /// Debug names by captured id.
    pub names: HashMap<u64, String>,
}

/// Goes over the whole capture.
pub fn scan(capture: &Capture, select: &Selection) -> Scanned {
    let mut out = Scanned::default();
    let (mut scratch, mut image) = (Scratch::new(), Image::default());
    for block in capture.blocks() {
        let Some(c) = block.call_id().and_then(command) else { continue };
        let naming = debug_names::COMMANDS.contains(&c.canonical);
        if !naming && !concerns(c.name) {
            continue;
        }
        let Ok(BlockKind::Call(call)) = block.kind() else { continue };
        if decode_found(c, &block, &call, &mut scratch, &mut image).is_err() {
            continue;
        }
        if naming {
            out.names.extend(debug_names::named(&image).map(|n| (n.object, n.name)));
            continue;
        }
        for s in shaders(&image) {
            let code = Code::new(s.code);
            if select.shader(code.hash) {
                out.blocks = out.blocks.max(most_blocks(&code.words, |s| select.stage(s)));
                out.stages.extend(code.stages().filter(|s| select.stage(*s)));
            }
        }
    }
    out
}
