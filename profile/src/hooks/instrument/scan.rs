//! What has to be known of a capture before any of it runs: which stages its shaders are of, and what its pipelines are
//! called (their names come after they are made).
//!
//! Refuses nothing: a call that cannot be decoded says nothing here, and is an error where it is replayed.

use super::super::debug_names;
use super::code::Code;
use super::plan::Selection;
use crate::Stage;
use gfxr_parse::container::{BlockKind, Capture, Scratch};
use gfxr_parse::decode::decode_found;
use gfxr_parse::image::Image;
use gfxr_parse::schema::command;
use gfxr_parse::shaders::{concerns, shaders};
use std::collections::{BTreeSet, HashMap};

/// Stages of chosen shaders, and debug names by captured id.
pub fn scan(capture: &Capture, select: &Selection) -> (BTreeSet<Stage>, HashMap<u64, String>) {
    let (mut stages, mut names) = (BTreeSet::new(), HashMap::new());
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
            names.extend(debug_names::named(&image).map(|n| (n.object, n.name)));
            continue;
        }
        for s in shaders(&image) {
            let code = Code::new(s.code);
            if select.shader(code.hash) {
                stages.extend(code.stages().filter(|s| select.stage(*s)));
            }
        }
    }
    (stages, names)
}
