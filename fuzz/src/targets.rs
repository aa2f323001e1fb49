//! What must hold of any input: one function a target; what does not hold is a panic.
//!
//! | target | input | held |
//! |---|---|---|
//! | container | a file | every block's bytes come back; bodies, data, frames, siblings, printing, copying end in a value or an error |
//! | call | parameters | decoding ends in a value or an error; what decodes is printed as JSON that parses |
//! | round trip | parameters | what decodes is encoded again to the same bytes |
//! | echo | a file | a session on the capture's own answers ends in a summary or an error |
//!
//! Errors are also put into words: their texts are code, too.

use std::io;
use std::sync::Arc;

use gfxr_parse::container::{BlockKind, Blocks, Capture, Compression, FrameCounter, FrameRule, Scratch};
use gfxr_parse::decode::decode_call;
use gfxr_parse::encode::encode_call;
use gfxr_parse::image::Image;
use gfxr_parse::print::{Binaries, Counts, Form, Options, Printed, Printer};
use gfxr_parse::schema::{CommandDef, command};
use gfxr_parse::writer::{Writer, transcode};

use crate::blocks;

/// Most blocks looked at in one file: one that names itself as a sibling would cost its eighth power.
const MOST_BLOCKS: usize = 3000;

/// What became of an input.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Ran {
    /// Blocks or calls that were read.
    pub read: u64,
    /// Those of them that were refused, with an error.
    pub refused: u64,
    /// Those that decoded and came back byte for byte.
    pub round_trips: u64,
    /// Largest data seen, uncompressed, in bytes: memory may grow with it.
    pub largest: u64,
}

impl Ran {
    /// The sum of both.
    pub fn add(&mut self, other: Ran) {
        self.read += other.read;
        self.refused += other.refused;
        self.round_trips += other.round_trips;
        self.largest = self.largest.max(other.largest);
    }
}

/// Memory that targets use again and again, as real readers do.
pub struct Targets {
    image: Image,
    scratch: Scratch,
    buffer: Vec<u8>,
    printed: Vec<u8>,
    json: Printer,
    text: Printer,
}

impl Default for Targets {
    fn default() -> Self {
        Targets {
            image: Image::default(),
            scratch: Scratch::new(),
            buffer: vec![],
            printed: vec![],
            json: Printer::new(Form::Json, Options::default()),
            text: Printer::new(Form::Text, Options { expand_flags: true, binaries: Binaries::Collect }),
        }
    }
}

impl Targets {
    /// Forgets the memory, so that the next input has to ask for its own.
    pub fn forget(&mut self) {
        *self = Targets::default();
    }

    /// Target "call" and, with `print` false, target "round trip".
    pub fn call(&mut self, command: &'static CommandDef, params: &[u8], print: bool) -> Ran {
        let mut ran = Ran { read: 1, largest: params.len() as u64, ..Ran::default() };
        match decode_call(command, params, &mut self.image) {
            Ok(()) => {
                self.buffer.clear();
                encode_call(&self.image, &mut self.buffer);
                assert!(self.buffer == params, "{}: another {} bytes came back", command.name, params.len());
                ran.round_trips = 1;
            }
            Err(e) => {
                ran.refused = 1;
                assert!(!e.to_string().is_empty());
            }
        }
        if print {
            self.print_call(command, params, ran.refused == 0);
        }
        ran
    }

    fn print_call(&mut self, command: &CommandDef, params: &[u8], good: bool) {
        let mut block = vec![];
        blocks::call_block(command.id, params, &mut block);
        let block = Blocks::new(&block, 0, Compression::None).next().expect("a block");
        let printed = self.json.block(&block);
        assert_eq!(printed.is_ok(), good, "{}: decoded or not, printed or not", command.name);
        self.check_json();
        assert_eq!(self.text.block(&block).is_ok(), good);
        self.clear_printers();
    }

    /// What was printed is JSON, line for line.
    fn check_json(&mut self) {
        self.printed.clear();
        self.json.drain_into(&mut Counts::default(), &mut self.printed);
        for line in self.printed.split(|&b| b == b'\n').filter(|l| !l.is_empty()) {
            if let Err(e) = serde_json::from_slice::<serde_json::Value>(line) {
                // Its parser has a limit that ours has not.
                assert!(
                    e.to_string().starts_with("recursion limit"),
                    "{e}: {}",
                    String::from_utf8_lossy(line)
                );
            }
        }
    }

    fn clear_printers(&mut self) {
        self.printed.clear();
        self.json.drain_into(&mut Counts::default(), &mut self.printed);
        self.text.drain_into(&mut Counts::default(), &mut self.printed);
        drop((self.json.take_blobs(), self.text.take_blobs()));
    }

    /// Target "container".
    pub fn container(&mut self, file: &[u8], copy: bool) -> Ran {
        let mut ran = Ran { largest: file.len() as u64, ..Ran::default() };
        let bytes: Arc<[u8]> = file.into();
        let sibling = bytes.clone();
        let open = move |name: &str| match name {
            blocks::ITSELF => Ok(Arc::new(sibling.clone()) as _),
            _ => Err(io::ErrorKind::NotFound.into()),
        };
        let capture =
            match Capture::with_assets(gfxr_parse::container::Source::shared("x", Arc::new(bytes)), open) {
                Ok(capture) => capture,
                Err(e) => {
                    assert!(!e.to_string().is_empty());
                    ran.refused = 1;
                    return ran;
                }
            };
        self.main_file(&capture, file);
        let rule = FrameRule::detect(&capture);
        let mut frames = FrameCounter::with_rule(rule);
        let mut blocks = capture.all_blocks();
        for block in blocks.by_ref().take(MOST_BLOCKS) {
            ran.read += 1;
            match block {
                Ok(block) => {
                    frames.feed(&block);
                    self.block(&block, &mut ran);
                }
                Err(e) => {
                    ran.refused += 1;
                    assert!(!e.to_string().is_empty());
                }
            }
        }
        let missing = blocks.truncated();
        assert!(missing.is_none_or(|e| !e.to_string().is_empty()));
        self.clear_printers();
        if copy && ran.read < MOST_BLOCKS as u64 {
            for method in Compression::ALL {
                if let Err(e) = transcode(&capture, method, io::sink()) {
                    assert!(!e.to_string().is_empty());
                }
            }
        }
        ran
    }

    /// The capture's own blocks lie one after the other and make up the file.
    fn main_file(&mut self, capture: &Capture, file: &[u8]) {
        self.buffer.clear();
        capture.header().write(&mut self.buffer);
        assert!(file.starts_with(&self.buffer), "another header came back");
        assert!(capture.header().warnings().iter().all(|w| !w.is_empty()));
        self.buffer.clear();
        let mut writer = Writer::new(std::mem::take(&mut self.buffer), capture.header()).expect("memory");
        let mut blocks = capture.blocks_of_main_file();
        let mut at = capture.header().size() as u64;
        let mut whole = true;
        for block in blocks.by_ref() {
            assert_eq!(block.offset, at);
            at += block.raw().len() as u64;
            whole &= writer.raw(&block).is_ok();
        }
        let _ = writer.bytes(blocks.rest());
        let copied = writer.finish().expect("memory");
        assert!(!whole || copied == file, "another file came back");
        self.buffer = copied;
    }

    fn block(&mut self, block: &gfxr_parse::container::Block, ran: &mut Ran) {
        let mut good = true;
        match block.kind() {
            Ok(mut kind) => {
                self.buffer.clear();
                kind.write(&mut self.buffer);
                assert!(self.buffer == block.raw(), "block {}: other bytes came back", block.index);
                assert!(kind.warning().is_none_or(|w| !w.is_empty()));
                let id = block.call_id().and_then(command);
                let mut scratch = std::mem::take(&mut self.scratch);
                if let Some(payload) = kind.payload_mut() {
                    match payload.bytes(&mut scratch) {
                        Ok(data) => {
                            assert_eq!(data.len() as u64, payload.size());
                            ran.largest = ran.largest.max(payload.size());
                            ran.round_trips += id.map_or(0, |id| self.call(id, data, false).round_trips);
                        }
                        Err(e) => {
                            good = false;
                            assert!(!e.to_string().is_empty());
                        }
                    }
                }
                self.scratch = scratch;
                if let BlockKind::Annotation(a) = &kind {
                    let _ = a.operation().and_then(|o| o.version());
                }
            }
            Err(e) => {
                good = false;
                assert_eq!(e.block(), Some(block.index), "{e}");
            }
        }
        match self.json.block(block) {
            Ok(Printed::Yes) => self.check_json(),
            Ok(Printed::Skipped) => {}
            Err(e) => {
                good = false;
                assert!(!e.to_string().is_empty());
            }
        }
        let _ = self.text.block(block);
        self.clear_printers();
        ran.refused += u64::from(!good);
    }
}
