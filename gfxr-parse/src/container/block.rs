//! One block: telling the types apart, and the bodies of those that are neither metadata nor annotations.
//!
//! ```text
//! marker          u32 kind (1 begin, 2 end) | u64 frame
//! function call   u32 call id | u64 thread | [u64 size if compressed] | parameters
//! method call     u32 call id | u64 object | u64 thread | [u64 size if compressed] | parameters     (Direct3D 12)
//! ```
//!
//! Guarantees: a [`Block`] always has its raw bytes, whatever its body holds; what [`BlockKind::write`] writes equals what was read. Refuses (per block, in [`Block::kind`]) bodies
//! that are too short, and markers that are too long. Types it does not know are data ([`BlockKind::Unknown`]), not errors.

pub use super::framing::block_type;
use super::framing::{COMPRESSED_BIT, HEADER_BYTES, framed, typed};
use crate::annotation::Annotation;
use crate::container::fields::{Fields, Put};
use crate::container::{Budget, Compression, Payload};
use crate::error::{Error, Result};
use crate::meta::MetaBlock;

/// Bytes of a compressed call's body before its data.
const COMPRESSED_CALL_BYTES: usize = 20;
/// One block: where it is, and its bytes. Small and `Copy`; nothing in the body has been looked at.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Block<'a> {
    /// Its number, from 0, the file header not counted; blocks of sibling files count where they run.
    pub index: u64,
    /// Offset of its header in its file, in bytes.
    pub offset: u64,
    /// Which file it lies in: 0 is the capture itself, others by [`crate::container::Capture::file_name`].
    pub file: u32,
    /// Its type as written, compressed bit included.
    pub ty: u32,
    pub(super) raw: &'a [u8],
    pub(super) codec: Compression,
    pub(super) budget: Budget,
}

impl<'a> Block<'a> {
    /// All its bytes, header included.
    #[inline]
    pub fn raw(&self) -> &'a [u8] {
        self.raw
    }
    /// Its bytes after the header.
    #[inline]
    pub fn body(&self) -> &'a [u8] {
        &self.raw[HEADER_BYTES..]
    }
    /// The same block with other bytes, header included.
    pub fn with_raw<'b>(&self, raw: &'b [u8]) -> Block<'b> {
        let ty = raw.get(8..).and_then(<[u8]>::first_chunk).map_or(self.ty, |b| u32::from_le_bytes(*b));
        let Block { index, offset, file, codec, budget, .. } = *self;
        Block { index, offset, file, ty, raw, codec, budget }
    }
    /// Its type without the compressed bit: one of [`block_type`], or unknown.
    #[inline]
    pub fn base_type(&self) -> u32 {
        self.ty & !COMPRESSED_BIT
    }
    /// Its data are compressed.
    #[inline]
    pub fn is_compressed(&self) -> bool {
        self.ty & COMPRESSED_BIT != 0
    }
    /// What its data are compressed with, if they are.
    #[inline]
    pub fn codec(&self) -> Option<Compression> {
        self.is_compressed().then_some(self.codec)
    }
    /// Bytes that reading it takes once it is decompressed, as it declares: what readers count that hold several.
    #[inline]
    pub fn declared_bytes(&self) -> u64 {
        if !self.is_compressed() {
            return self.raw.len() as u64;
        }
        match self.body().first_chunk::<COMPRESSED_CALL_BYTES>() {
            Some(head) if self.base_type() == block_type::FUNCTION_CALL => {
                u64::from_le_bytes(*head.last_chunk().expect("within"))
            }
            _ => self.kind().ok().and_then(|k| k.payload().map(Payload::size)).unwrap_or(0),
        }
    }
    /// The first four bytes of the body.
    #[inline]
    fn first(&self) -> Option<u32> {
        self.body().first_chunk().map(|b| u32::from_le_bytes(*b))
    }
    /// The ApiCallId, if this is a function call (without reading further).
    #[inline]
    pub fn call_id(&self) -> Option<u32> {
        if self.base_type() == block_type::FUNCTION_CALL { self.first() } else { None }
    }
    /// The metadata type (the low 16 bits of its id), if this is metadata.
    #[inline]
    pub fn meta_type(&self) -> Option<u16> {
        if self.base_type() == block_type::META_DATA { self.first().map(|id| id as u16) } else { None }
    }
    /// Reads the body of a function call; none if this is something else.
    #[inline(always)]
    pub fn call(&self) -> Result<Option<FunctionCall<'a>>> {
        if self.base_type() != block_type::FUNCTION_CALL {
            return Ok(None);
        }
        // Nearly always: compressed, and all there.
        if self.is_compressed()
            && let Some((head, raw)) = self.body().split_first_chunk::<COMPRESSED_CALL_BYTES>()
        {
            let word = |at: usize| u64::from_le_bytes(*head[at..].first_chunk().expect("within"));
            let offset = self.offset + (HEADER_BYTES + COMPRESSED_CALL_BYTES) as u64;
            let payload =
                Payload::compressed(raw, self.codec, word(12), self.index, offset).within(self.budget);
            return Ok(Some(FunctionCall { call_id: word(0) as u32, thread: word(4), payload }));
        }
        FunctionCall::read(&mut self.fields()).map(Some)
    }
    #[inline]
    fn fields(&self) -> Fields<'a> {
        Fields::new(self.body(), self.offset + HEADER_BYTES as u64, self.index, self.codec())
            .within(self.budget)
    }
    /// Reads the body; data stay compressed.
    pub fn kind(&self) -> Result<BlockKind<'a>> {
        let mut f = self.fields();
        Ok(match self.base_type() {
            block_type::FUNCTION_CALL => BlockKind::Call(FunctionCall::read(&mut f)?),
            block_type::META_DATA => BlockKind::Meta(MetaBlock::read(&mut f)?),
            block_type::METHOD_CALL => BlockKind::Method(MethodCall::read(&mut f)?),
            // These three are never compressed; with the bit set they are something else.
            block_type::FRAME_MARKER if !self.is_compressed() => {
                BlockKind::FrameMarker(Marker::read(&mut f)?)
            }
            block_type::STATE_MARKER if !self.is_compressed() => {
                BlockKind::StateMarker(Marker::read(&mut f)?)
            }
            block_type::ANNOTATION if !self.is_compressed() => {
                BlockKind::Annotation(Annotation::read(&mut f)?)
            }
            _ => BlockKind::Unknown(Unknown { ty: self.ty, body: self.body() }),
        })
    }
    /// Puts this block's index, and its offset unless a better one is known, on an error.
    #[cold]
    pub fn blame(&self, error: Error) -> Error {
        error.in_block(self.index).at_offset(self.offset)
    }
}

/// What a block says.
#[derive(Clone, Debug, PartialEq)]
pub enum BlockKind<'a> {
    /// A frame begins or ends.
    FrameMarker(Marker),
    /// The state snapshot of a trimmed capture begins or ends.
    StateMarker(Marker),
    /// Anything that is not a call.
    Meta(MetaBlock<'a>),
    /// A call.
    Call(FunctionCall<'a>),
    /// Text about the capture.
    Annotation(Annotation<'a>),
    /// A Direct3D 12 method call; kept, never decoded.
    Method(MethodCall<'a>),
    /// A type this build does not know; kept.
    Unknown(Unknown<'a>),
}

impl<'a> BlockKind<'a> {
    /// Writes the whole block, header included.
    pub fn write(&self, out: &mut Vec<u8>) {
        match self {
            BlockKind::FrameMarker(m) => m.write(block_type::FRAME_MARKER, out),
            BlockKind::StateMarker(m) => m.write(block_type::STATE_MARKER, out),
            BlockKind::Meta(m) => m.write(out),
            BlockKind::Call(c) => c.write(out),
            BlockKind::Annotation(a) => a.write(out),
            BlockKind::Method(m) => m.write(out),
            BlockKind::Unknown(u) => framed(out, u.ty, |out| out.put(u.body)),
        }
    }
    /// The data at its end, if it is of a kind whose data may be compressed.
    pub fn payload(&self) -> Option<&Payload<'a>> {
        match self {
            BlockKind::Meta(m) => m.meta.payload(),
            BlockKind::Call(c) => Some(&c.payload),
            BlockKind::Method(m) => Some(&m.payload),
            _ => None,
        }
    }
    /// The same, to be changed.
    pub fn payload_mut(&mut self) -> Option<&mut Payload<'a>> {
        match self {
            BlockKind::Meta(m) => m.meta.payload_mut(),
            BlockKind::Call(c) => Some(&mut c.payload),
            BlockKind::Method(m) => Some(&mut m.payload),
            _ => None,
        }
    }
    /// What is odd about it, if it is of a kind that gets skipped.
    pub fn warning(&self) -> Option<String> {
        match self {
            BlockKind::Unknown(u) => Some(format!("block type {:#x} is not known to this build", u.ty)),
            BlockKind::Method(_) => Some("a method call (Direct3D 12) is not replayed".to_string()),
            BlockKind::FrameMarker(Marker { kind: MarkerKind::Other(k), .. }) => {
                Some(format!("frame marker of unknown kind {k}"))
            }
            BlockKind::StateMarker(Marker { kind: MarkerKind::Other(k), .. }) => {
                Some(format!("state marker of unknown kind {k}"))
            }
            BlockKind::Meta(m) => m.warning(),
            _ => None,
        }
    }
}

/// Begin or end.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum MarkerKind {
    /// Value 1.
    Begin,
    /// Value 2.
    End,
    /// Any other value.
    Other(u32),
}

/// A frame marker or a state marker.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Marker {
    /// Begin or end; gfxreconstruct writes only ends of frames.
    pub kind: MarkerKind,
    /// The frame's number in the application, from 1.
    pub frame: u64,
}

impl Marker {
    pub(crate) fn read(f: &mut Fields) -> Result<Self> {
        let kind = match f.u32("marker kind")? {
            1 => MarkerKind::Begin,
            2 => MarkerKind::End,
            other => MarkerKind::Other(other),
        };
        let frame = f.u64("marker frame")?;
        match f.left() {
            0 => Ok(Marker { kind, frame }),
            n => Err(f.blame(Error::malformed(format!(
                "marker: expected the end of the block, found {n} more bytes"
            )))),
        }
    }
    /// Writes a block of type `ty` ([`block_type::FRAME_MARKER`] or [`block_type::STATE_MARKER`]).
    pub fn write(&self, ty: u32, out: &mut Vec<u8>) {
        framed(out, ty, |out| {
            out.put_u32(match self.kind {
                MarkerKind::Begin => 1,
                MarkerKind::End => 2,
                MarkerKind::Other(k) => k,
            });
            out.put_u64(self.frame);
        });
    }
}

/// A call of an API function.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct FunctionCall<'a> {
    /// ApiCallId: family in the high 16 bits (Vulkan is 1), function in the low 16.
    pub call_id: u32,
    /// The application's thread.
    pub thread: u64,
    /// Its encoded parameters.
    pub payload: Payload<'a>,
}

impl<'a> FunctionCall<'a> {
    #[inline]
    fn read(f: &mut Fields<'a>) -> Result<Self> {
        let (call_id, thread) = (f.u32("call id")?, f.u64("thread id")?);
        Ok(FunctionCall { call_id, thread, payload: read_parameters(f)? })
    }
    /// Writes the whole block.
    pub fn write(&self, out: &mut Vec<u8>) {
        framed(out, typed(block_type::FUNCTION_CALL, self.payload.is_compressed()), |out| {
            out.put_u32(self.call_id);
            out.put_u64(self.thread);
            write_parameters(&self.payload, out);
        });
    }
}

/// A call of an object's method (Direct3D 12).
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct MethodCall<'a> {
    /// ApiCallId.
    pub call_id: u32,
    /// The object's id.
    pub object: u64,
    /// The application's thread.
    pub thread: u64,
    /// Its encoded parameters.
    pub payload: Payload<'a>,
}

impl<'a> MethodCall<'a> {
    fn read(f: &mut Fields<'a>) -> Result<Self> {
        let (call_id, object) = (f.u32("call id")?, f.u64("object id")?);
        let thread = f.u64("thread id")?;
        Ok(MethodCall { call_id, object, thread, payload: read_parameters(f)? })
    }
    /// Writes the whole block.
    pub fn write(&self, out: &mut Vec<u8>) {
        framed(out, typed(block_type::METHOD_CALL, self.payload.is_compressed()), |out| {
            out.put_u32(self.call_id);
            out.put_u64(self.object);
            out.put_u64(self.thread);
            write_parameters(&self.payload, out);
        });
    }
}

/// Parameters end a block: plain ones fill it, compressed ones say first what size they will have.
#[inline]
fn read_parameters<'a>(f: &mut Fields<'a>) -> Result<Payload<'a>> {
    let size = if f.is_compressed() { f.u64("uncompressed size")? } else { f.left() as u64 };
    f.payload(size, "parameters")
}

fn write_parameters(payload: &Payload, out: &mut Vec<u8>) {
    if payload.is_compressed() {
        out.put_u64(payload.size());
    }
    out.put(payload.raw());
}

/// A block of a type this build does not know.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Unknown<'a> {
    /// Its type as written.
    pub ty: u32,
    /// Its bytes after the header.
    pub body: &'a [u8],
}
