//! A whole capture in another compression.
//!
//! Guarantees: every block's decompressed bytes are the same; blocks of sibling files stand where they ran, so that the
//! result is one file (the blocks that named them are gone, later blocks' numbers move by that many). A block whose data
//! cannot be decompressed is passed on as it is and reported. Refuses compressed metadata of unknown type: where its data
//! begin is not known.

use std::io::Write;

use crate::container::{Block, Capture, Compression};
use crate::error::{Error, Kind, Result};
use crate::meta::id;
use crate::writer::Writer;

/// What became of it.
#[derive(Debug, Default)]
pub struct Transcoded {
    /// Blocks written.
    pub blocks: u64,
    /// Bytes written, header included.
    pub bytes: u64,
    /// Damaged blocks, passed on as they were.
    pub damaged: Vec<Error>,
    /// The capture ends inside a block; the result does not have it.
    pub truncated: Option<Error>,
}

/// Writes `capture` to `out`, compressed with `method`. The same method again leaves every block as it is.
pub fn transcode(capture: &Capture, method: Compression, out: impl Write) -> Result<Transcoded> {
    let mut header = capture.header().clone();
    header.set_compression(method);
    let mut writer = Writer::new(out, &header)?;
    let mut report = Transcoded::default();
    let same = capture.header().compression() == method;
    let mut blocks = capture.all_blocks();
    for block in &mut blocks {
        let block = block?;
        if block.meta_type() == Some(id::EXECUTE_BLOCKS) && block.kind().is_ok() {
            continue;
        }
        if same {
            writer.raw(&block)?;
            continue;
        }
        if let Err(error) = rewrite(&mut writer, &block) {
            match error.kind() {
                Kind::Malformed | Kind::Truncated | Kind::Limit => {
                    report.damaged.push(error);
                    writer.pass(&block)?;
                }
                _ => return Err(error),
            }
        }
    }
    report.blocks = writer.index();
    report.bytes = writer.offset();
    report.truncated = blocks.truncated();
    writer.finish()?;
    Ok(report)
}

fn rewrite<W: Write>(writer: &mut Writer<W>, block: &Block) -> Result<()> {
    let kind = block.kind()?;
    writer.block(&kind).map_err(|e| block.blame(e))
}
