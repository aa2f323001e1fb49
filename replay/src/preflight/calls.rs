//! The calls of a capture, decoded one after the other.
//!
//! Refuses nothing: what cannot be decoded is passed over, and is an error where it is replayed.

use gfxr_parse::ahead::Call;
use gfxr_parse::container::{BlockKind, Capture, Scratch};
use gfxr_parse::decode::decode_found;
use gfxr_parse::image::Image;
use gfxr_parse::schema::generated::COMMANDS;
use gfxr_parse::schema::{CommandDef, command};

/// Hands those that are wanted to `each`. Threads, frames and snapshots are not told apart.
pub(super) fn calls(capture: &Capture, wanted: impl Fn(&CommandDef) -> bool, mut each: impl FnMut(&Call)) {
    let (mut scratch, mut image) = (Scratch::new(), Image::default());
    for block in capture.blocks() {
        let Some(c) = block.call_id().and_then(command).filter(|c| wanted(c)) else { continue };
        let Ok(BlockKind::Call(found)) = block.kind() else { continue };
        if decode_found(c, &block, &found, &mut scratch, &mut image).is_err() {
            continue;
        }
        let index = COMMANDS.binary_search_by_key(&c.id, |d| d.id).expect("it is from the table");
        let taken = std::mem::take(&mut image);
        let call = Call {
            command: c,
            index,
            image: taken,
            block: block.index,
            thread: 0,
            frame: 0,
            in_state: false,
        };
        each(&call);
        image = call.image;
    }
}
