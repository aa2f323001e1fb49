//! Writes one file, block after block.

use std::fmt;
use std::io::Write;

use crate::annotation::{Annotation, AnnotationKind};
use crate::container::fields::Put;
use crate::container::{
    Block, BlockKind, Compressor, FileHeader, FunctionCall, Marker, MarkerKind, Payload, Scratch,
};
use crate::error::{Error, Kind, Result};
use crate::meta::{Meta, MetaBlock};

/// Writes one file, block after block.
pub struct Writer<W: Write> {
    out: W,
    compressor: Compressor,
    scratch: Scratch,
    buffer: Vec<u8>,
    offset: u64,
    index: u64,
}

impl<W: Write> Writer<W> {
    /// Writes the header; its compression option is the method for the data of new blocks. `out` should be buffered.
    pub fn new(out: W, header: &FileHeader) -> Result<Self> {
        let mut writer = Writer {
            out,
            compressor: Compressor::new(header.compression()),
            scratch: Scratch::new(),
            buffer: Vec::new(),
            offset: 0,
            index: 0,
        };
        header.write(&mut writer.buffer);
        writer.flush_buffer()?;
        Ok(writer)
    }
    /// Bytes written so far: where the next block begins.
    pub fn offset(&self) -> u64 {
        self.offset
    }
    /// The next block's number.
    pub fn index(&self) -> u64 {
        self.index
    }
    /// The output, everything handed to it.
    pub fn finish(mut self) -> Result<W> {
        self.out.flush().map_err(|e| io_error(&e))?;
        Ok(self.out)
    }

    /// Passes a block on, byte for byte.
    pub fn raw(&mut self, block: &Block) -> Result<()> {
        if let Some(codec) = block.codec()
            && codec != self.compressor.method()
        {
            return Err(block.blame(other_codec(codec.name(), self.compressor.method().name())));
        }
        self.pass(block)
    }
    /// The same for a block that nobody can read anyway.
    pub(crate) fn pass(&mut self, block: &Block) -> Result<()> {
        self.bytes(block.raw())?;
        self.index += 1;
        Ok(())
    }
    /// Appends bytes that are no block: the truncated end of a file that is copied.
    pub fn bytes(&mut self, bytes: &[u8]) -> Result<()> {
        self.out.write_all(bytes).map_err(|e| io_error(&e))?;
        self.offset += bytes.len() as u64;
        Ok(())
    }
    /// Writes a block, its data in this file's compression.
    pub fn block(&mut self, block: &BlockKind) -> Result<()> {
        // A copy whose data may live shorter.
        let mut block: BlockKind = block.clone();
        let Some(payload) = block.payload_mut() else {
            if let BlockKind::Meta(MetaBlock { meta: Meta::Other(o), .. }) = &block
                && o.compressed
            {
                return Err(Error::unknown(format!(
                    "compressed metadata of type {}: where its data begin is not known, so they cannot be compressed anew",
                    o.id
                )));
            }
            return self.put(&block);
        };
        let method = self.compressor.method();
        if payload.codec() != Some(method) {
            let plain = payload.bytes(&mut self.scratch)?;
            let size = plain.len() as u64;
            *payload = match self.compressor.compress(plain)? {
                Some(raw) => Payload::compressed(raw, method, size, self.index, 0),
                None => Payload::plain(plain),
            };
        }
        block.write(&mut self.buffer);
        self.index += 1;
        self.flush_buffer()
    }
    fn put(&mut self, block: &BlockKind) -> Result<()> {
        block.write(&mut self.buffer);
        self.index += 1;
        self.flush_buffer()
    }
    fn flush_buffer(&mut self) -> Result<()> {
        let buffer = std::mem::take(&mut self.buffer);
        let result = self.bytes(&buffer);
        self.buffer = buffer;
        self.buffer.clear();
        result
    }

    /// Writes a call with these encoded parameters.
    pub fn call(&mut self, call_id: u32, thread: u64, parameters: &[u8]) -> Result<()> {
        self.block(&BlockKind::Call(FunctionCall { call_id, thread, payload: Payload::plain(parameters) }))
    }
    /// Writes metadata of Vulkan's family.
    pub fn meta(&mut self, thread: u64, meta: Meta) -> Result<()> {
        self.block(&BlockKind::Meta(MetaBlock::new(thread, meta)))
    }
    /// Writes the marker that ends a frame.
    pub fn frame_end(&mut self, frame: u64) -> Result<()> {
        self.put(&BlockKind::FrameMarker(Marker { kind: MarkerKind::End, frame }))
    }
    /// Writes a marker around the state snapshot.
    pub fn state(&mut self, kind: MarkerKind, frame: u64) -> Result<()> {
        self.put(&BlockKind::StateMarker(Marker { kind, frame }))
    }
    /// Writes an annotation.
    pub fn annotation(&mut self, kind: AnnotationKind, label: &str, data: &str) -> Result<()> {
        self.put(&BlockKind::Annotation(Annotation::new(kind, label, data)))
    }
    /// Writes a block of any type; `ty` includes the compressed bit, `body` is written as it is.
    pub fn body(&mut self, ty: u32, body: &[u8]) -> Result<()> {
        self.buffer.put_u64(body.len() as u64);
        self.buffer.put_u32(ty);
        self.buffer.put(body);
        self.index += 1;
        self.flush_buffer()
    }
}

impl<W: Write> fmt::Debug for Writer<W> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "Writer({} blocks, {} bytes, {:?})", self.index, self.offset, self.compressor)
    }
}

/// A whole block of type `ty` around a body somebody else encoded.
pub fn frame_block(ty: u32, body: &[u8]) -> Vec<u8> {
    let mut out = Vec::with_capacity(body.len() + 12);
    crate::container::framing::framed(&mut out, ty, |out| out.put(body));
    out
}

#[cold]
fn io_error(error: &std::io::Error) -> Error {
    Error::new(Kind::Io, format!("cannot write: {error}"))
}

#[cold]
fn other_codec(found: &str, expected: &str) -> Error {
    Error::new(
        Kind::Usage,
        format!("block cannot be passed on raw: its data are {found}, the file's method is {expected}"),
    )
}
