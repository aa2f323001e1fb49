//! A capture with calls as somebody has edited them, in what `dump` printed of them.
//!
//! Lines may be those of some blocks only; a block without a line stays. A line as it was printed changes nothing, one with other values changes these
//! in the block, and one whose `function`, `meta` or `annotation` is null leaves the block out. Guarantees: what is not edited stays, byte for byte; what is
//! edited prints as it was wanted. Refuses lines out of order, and what `gfxr_parse::edit` refuses; errors name the line.

use crate::failure::Failure;
use crate::progress;
use gfxr_parse::ahead::Call;
use gfxr_parse::container::{Block, BlockKind, Capture, Scratch};
use gfxr_parse::decode::{decode_call, decode_found};
use gfxr_parse::edit::Editor;
use gfxr_parse::encode::encode_call;
use gfxr_parse::image::Image;
use gfxr_parse::schema::{command, command_index};
use gfxr_parse::writer::Writer;
use serde_json::Value;
use std::fs::File;
use std::io::{BufRead, BufReader};
use std::path::Path;

/// The capture as it was edited; and how many blocks are others or left out.
pub fn edited(capture: &Capture, file: &Path) -> Result<(Capture, u64), Failure> {
    let open = File::open(file).map_err(|e| Failure::new(format_args!("{}: {e}", file.display())))?;
    let mut lines = Lines { from: BufReader::new(open), file, number: 0, next: None };
    lines.advance()?;
    let bar = progress::bytes(capture.bytes().len() as u64, "editing");
    let mut out = Writer::new(vec![], capture.header()).map_err(Failure::new)?;
    let folder = file.parent().unwrap_or_else(|| "".as_ref());
    let (mut editor, mut changed) = (Editor::new(folder.to_owned()), 0);
    for block in capture.blocks_of_main_file() {
        bar.set_position(block.offset);
        let mut written = false;
        while let Some((index, line)) = lines.next.take_if(|l| l.0 <= block.index) {
            if index < block.index || written {
                let why = "blocks come once, and in the order of the capture; those of other files than the capture's own cannot be edited";
                return Err(lines.wrong(&format!("block {index}: {why}")));
            }
            written = true;
            match made(&block, &line, &mut editor).map_err(|why| lines.wrong(&why))? {
                Made::Same => out.raw(&block).map_err(Failure::new)?,
                Made::Call { id, thread, parameters } => {
                    changed += 1;
                    out.call(id, thread, &parameters).map_err(Failure::new)?;
                }
                Made::Block(raw) => {
                    changed += 1;
                    out.block(&block.with_raw(&raw).kind().map_err(Failure::new)?).map_err(Failure::new)?;
                }
                Made::Nothing => changed += 1,
            }
            lines.advance()?;
        }
        if !written {
            out.raw(&block).map_err(Failure::new)?;
        }
    }
    bar.finish_and_clear();
    if let Some((index, _)) = lines.next.take() {
        return Err(lines.wrong(&format!("block {index}: the capture has no such block")));
    }
    if changed == 0 {
        return Err(Failure::new(format_args!(
            "{}: nothing in it differs from what `dump` prints",
            file.display()
        )));
    }
    let bytes = out.finish().map_err(Failure::new)?;
    Ok((Capture::new(bytes).map_err(Failure::new)?.within(capture.budget()), changed))
}

/// What becomes of a block.
enum Made {
    Same,
    Call { id: u32, thread: u64, parameters: Vec<u8> },
    Block(Vec<u8>),
    Nothing,
}

fn made(block: &Block, line: &Value, editor: &mut Editor) -> Result<Made, String> {
    let text = |e: gfxr_parse::error::Error| e.to_string();
    let kind = block.kind().map_err(text)?;
    let key = match kind {
        BlockKind::Call(_) => "function",
        BlockKind::Meta(_) => "meta",
        BlockKind::Annotation(_) => "annotation",
        _ => return Err("only calls, metadata and annotations can be edited".into()),
    };
    if line.get(key).is_some_and(Value::is_null) {
        return Ok(Made::Nothing);
    }
    let BlockKind::Call(of) = kind else {
        return Ok(editor.edit_block(block, line).map_err(text)?.map_or(Made::Same, Made::Block));
    };
    let wanted = line.get("function").ok_or("expected \"function\"")?;
    let unknown = || format!("a call of number {:#x}, which is not known", of.call_id);
    let def = command(of.call_id).ok_or_else(unknown)?;
    let mut image = Image::default();
    decode_found(def, block, &of, &mut Scratch::new(), &mut image).map_err(text)?;
    let index = command_index(of.call_id).ok_or_else(unknown)?;
    let thread = of.thread;
    let mut call = Call { command: def, index, image, block: block.index, thread, frame: 0, in_state: false };
    if editor.edit(&mut call, wanted).map_err(text)? == 0 {
        return Ok(Made::Same);
    }
    let mut parameters = vec![];
    encode_call(&call.image, &mut parameters);
    // (whoever reads the result finds the same call there)
    decode_call(def, &parameters, &mut Image::default()).map_err(text)?;
    Ok(Made::Call { id: of.call_id, thread, parameters })
}

/// The lines of a file, those that are of blocks.
struct Lines<'f> {
    from: BufReader<File>,
    file: &'f Path,
    number: u64,
    /// The block, and the line.
    next: Option<(u64, Value)>,
}

impl Lines<'_> {
    fn advance(&mut self) -> Result<(), Failure> {
        let mut text = String::new();
        loop {
            text.clear();
            self.number += 1;
            if self.from.read_line(&mut text).map_err(|e| self.wrong(&e.to_string()))? == 0 {
                return Ok(());
            }
            if text.trim().is_empty() {
                continue;
            }
            let line: Value = serde_json::from_str(&text)
                .map_err(|e| self.wrong(&format!("expected a line of JSON, as `dump` prints it: {e}")))?;
            // (the header and markers have no number)
            if let Some(index) = line.get("index") {
                let index = index
                    .as_u64()
                    .ok_or_else(|| self.wrong("expected the number of a block as \"index\""))?;
                self.next = Some((index, line));
                return Ok(());
            }
        }
    }

    fn wrong(&self, why: &str) -> Failure {
        Failure::new(format_args!("{}: line {}: {why}", self.file.display(), self.number))
    }
}
