//! `extract`: every shader module of a capture as a file.
//!
//! ```text
//! DIR/<hash>.spv    16 hexadecimal digits of the BLAKE3 hash of its contents
//! DIR/index.json    every creation: block, how, handle, debug name, entry points, what uses it
//! DIR/index.txt     the same, for reading
//! ```
//!
//! Guarantees: equal code is written once; files are there whole or not at all; the index is written last. Refuses
//! nothing: code that is no SPIR-V is written too, with an index entry that says so.

mod index;
mod spirv;

use crate::failure::{Exit, Failure};
use crate::files::input::{self, Complaints};
use crate::files::memory::Memory;
use crate::files::output;
use crate::progress;
use gfxr_parse::container::{Block, BlockKind, Scratch};
use gfxr_parse::decode::decode_found;
use gfxr_parse::error::Result;
use gfxr_parse::image::Image;
use gfxr_parse::schema::command;
use gfxr_parse::shaders;
pub use index::hash;
use index::{Index, is_naming};
use std::path::Path;

/// Extracts them into a folder, which is made if it is not there; a headline, and how it went.
pub fn extract(file: &Path, folder: &Path, memory: Memory) -> std::result::Result<(String, Exit), Failure> {
    let capture = input::open(file, memory)?;
    output::folder(folder)?;
    let complaints = Complaints::new(&capture);
    let bar = progress::bytes(capture.bytes().len() as u64, "extract");
    let mut reader = Reader::default();
    let mut index = Index::new(capture.name());
    let mut blocks = capture.all_blocks();
    for block in blocks.by_ref() {
        let block = match block {
            Ok(block) => block,
            Err(e) => {
                complaints.add(0, &e);
                continue;
            }
        };
        let concerned = block.call_id().and_then(command).is_some_and(|c| concerns(c.name));
        if !concerned {
            continue;
        }
        bar.set_position(block.offset);
        if let Err(e) = reader.read(&block) {
            complaints.add(block.file, &block.blame(e));
            continue;
        }
        for (hash, code) in index.call(&block, &reader.image) {
            output::write_file(&folder.join(format!("{hash}.spv")), code)?;
        }
    }
    bar.finish_and_clear();
    input::warn_if_truncated(&capture, &blocks);
    let index = index.finish();
    let mut json = serde_json::to_vec_pretty(&index).map_err(Failure::new)?;
    json.push(b'\n');
    output::write_file(&folder.join("index.json"), &json)?;
    output::write_file(&folder.join("index.txt"), index.text().as_bytes())?;
    Ok((format!("{}: {}\n", folder.display(), index.headline()), complaints.exit()))
}

/// The commands that hold SPIR-V, use it, or give it a name.
fn concerns(command: &str) -> bool {
    shaders::concerns(command) || is_naming(command)
}

/// Decodes calls one after the other.
#[derive(Default)]
struct Reader {
    scratch: Scratch,
    image: Image,
}

impl Reader {
    fn read(&mut self, block: &Block) -> Result<()> {
        let BlockKind::Call(call) = block.kind()? else { return Ok(()) };
        let Some(def) = command(call.call_id) else { return Ok(()) };
        decode_found(def, block, &call, &mut self.scratch, &mut self.image).map(|_| ())
    }
}
