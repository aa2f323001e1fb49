//! Printing blocks: one JSON line a block, in the shape of the newest `gfxrecon-convert`, or indented text.
//!
//! A [`Printer`] walks a decoded call (`crate::walk`) and writes straight into bytes; there is no tree in between.
//! What is written of each kind of value:
//!
//! | value | JSON |
//! |---|---|
//! | enum | its name, or `0x` and 8 digits if this build knows none |
//! | flags | `0x` and 8 (16) digits; with `expand_flags` names joined by a bar; in arrays a number |
//! | handle | the capture's id, 0 = null |
//! | device address | `0x…`; in a struct's array a number |
//! | VkBool32 | true, false; in a struct's array a number |
//! | float | the 64-bit number it equals; null if it is not finite |
//! | pointer | null, or what it points to; null also if the capture left the data out |
//! | opaque pointer | a number; `0x…` for functions, user data and `ppData` |
//! | bytes | an array of numbers; those that upstream never writes out are a placeholder ([`Binaries`]) |
//! | UUID, LUID | hexadecimal digits |
//!
//! Where this differs from upstream's newest on purpose:
//!
//! - UUIDs have two digits a byte (upstream drops leading zeros, so that nobody can read them back);
//! - an image layout in VkDescriptorImageInfo is named (upstream: a number);
//! - floats that are not finite are null (upstream: 0, or the largest float, outside arrays);
//! - members that upstream leaves out are there: `flags` of acceleration structure geometries, `sType` and `pNext` of a
//!   few structs, `ppMaxPrimitiveCounts`, images of a swapchain's state, level sizes of an image, driver info blocks;
//! - calls that upstream's decoder drops (vkCmdPushDescriptorSetWithTemplate of Vulkan 1.4) are printed;
//! - update-template data that follow a struct are an argument `pData` beside it (upstream: a member of it);
//! - files of bytes are numbered by block, not by how many were written before;
//! - the header line names this program's version instead of gfxreconstruct's.
//!
//! Guarantees: a block that cannot be decoded leaves nothing behind; the same block gives the same bytes whoever
//! prints it, so blocks can be printed on many threads. Refuses nothing of its own; errors are the decoder's.

mod call;
mod counts;
mod engine;
mod json;
mod meta;
mod options;
pub(crate) mod rules;
mod sink;
mod special;
#[cfg(test)]
mod tests;
mod text;

pub use counts::Counts;
use engine::Engine;
pub use meta::record_name;
pub use options::{Binaries, Blob, Counter, CounterKind, Options, PLACEHOLDER, Printed};

use json::Json;
use sink::Sink;
use text::Text;

use crate::ahead::Call;
use crate::container::{Block, BlockKind, Scratch};
use crate::decode::decode_found;
use crate::error::{Error, Result};
use crate::image::Image;
use crate::schema::{command, generated};

/// The forms of output.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Form {
    /// One JSON object a line.
    Json,
    /// Indented text.
    Text,
}

/// Prints blocks one after the other. One per thread; see the module's header.
// Not generic for its users: so the code is made, and optimized, once, in this crate.
pub struct Printer(Engines);

enum Engines {
    Json(Engine<Json>),
    Text(Engine<Text>),
}

macro_rules! engine {
    ($printer:expr, $e:ident => $body:expr) => {
        match &mut $printer.0 {
            Engines::Json($e) => $body,
            Engines::Text($e) => $body,
        }
    };
}

impl Printer {
    /// One with nothing written yet.
    pub fn new(form: Form, options: Options) -> Self {
        Printer(match form {
            Form::Json => Engines::Json(Engine::new(options)),
            Form::Text => Engines::Text(Engine::new(options)),
        })
    }
    /// Appends what was written so far to `out`, running numbers filled in, and starts anew.
    pub fn drain_into(&mut self, counts: &mut Counts, out: &mut Vec<u8>) {
        engine!(self, e => e.drain_into(counts, out));
    }
    /// Takes the bytes that are to go into files of their own ([`Binaries::Collect`]).
    pub fn take_blobs(&mut self) -> Vec<Blob> {
        engine!(self, e => std::mem::take(&mut e.blobs))
    }
    /// The first record: which file, read by what.
    pub fn header(&mut self, source: &str, tool: &str) {
        engine!(self, e => e.header(source, tool));
    }
    /// Prints one block. On error nothing of it stays.
    pub fn block(&mut self, block: &Block) -> Result<Printed> {
        engine!(self, e => e.block(block))
    }
    /// Prints a call that is decoded already, as [`Printer::block`] prints its block.
    pub fn call(&mut self, call: &mut Call) {
        engine!(self, e => e.decoded(call));
    }
    /// Takes note of a block that is not printed but counts.
    pub fn pass(&mut self, block: &Block) {
        engine!(self, e => e.pass(block));
    }
}

impl std::fmt::Debug for Printer {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.write_str(match &self.0 {
            Engines::Json(_) => "Printer(Json)",
            Engines::Text(_) => "Printer(Text)",
        })
    }
}

impl<S: Sink> Engine<S> {
    fn new(options: Options) -> Self {
        Engine {
            options,
            sink: S::new(),
            image: Image::default(),
            scratch: Scratch::new(),
            state: engine::State::default(),
            counters: Vec::new(),
            blobs: Vec::new(),
        }
    }

    fn drain_into(&mut self, counts: &mut Counts, out: &mut Vec<u8>) {
        let bytes = self.sink.bytes();
        counts.weave(bytes, &self.counters, out);
        bytes.clear();
        self.counters.clear();
    }

    fn header(&mut self, source: &str, tool: &str) {
        let s = &mut self.sink;
        s.begin_bare("header");
        s.key("source-path");
        s.text(source);
        s.key("reray-replay-version");
        s.text(tool);
        s.key("vulkan-version");
        s.text(generated::REGISTRY_VERSION);
        s.end_record();
    }

    fn block(&mut self, block: &Block) -> Result<Printed> {
        let (start, counters, blobs) = (self.sink.mark(), self.counters.len(), self.blobs.len());
        let result = self.record(block);
        self.scratch.trim();
        self.image.trim();
        if !matches!(result, Ok(Printed::Yes)) {
            self.sink.rollback(start);
            self.counters.truncate(counters);
            self.blobs.truncate(blobs);
        }
        result
    }

    fn decoded(&mut self, call: &mut Call) {
        std::mem::swap(&mut self.image, &mut call.image);
        self.call(call.block, call.thread);
        std::mem::swap(&mut self.image, &mut call.image);
    }

    fn pass(&mut self, block: &Block) {
        if let Some(kind) = counts::kind_of(block, &mut self.scratch) {
            let at = self.sink.mark();
            self.counters.push(Counter { at, kind, shown: false });
        }
    }

    fn record(&mut self, block: &Block) -> Result<Printed> {
        match block.kind()? {
            BlockKind::Call(call) => {
                let Some(def) = command(call.call_id) else {
                    return Err(block.blame(unknown_call(call.call_id)));
                };
                decode_found(def, block, &call, &mut self.scratch, &mut self.image)?;
                self.call(block.index, call.thread);
                Ok(Printed::Yes)
            }
            kind => self.other(block, &kind),
        }
    }
}

/// The error for a call id without a command.
#[cold]
pub fn unknown_call(id: u32) -> Error {
    match generated::UNDECODABLE.iter().find(|u| u.0 == id) {
        Some((_, name, reason)) => Error::unknown(format!("{name} cannot be decoded: {reason}")),
        None if id >> 16 != 1 => Error::unknown(format!("call id {id:#x} is of another API than Vulkan")),
        None => Error::unknown(format!("call id {id:#x} is not known to this build")),
    }
}
