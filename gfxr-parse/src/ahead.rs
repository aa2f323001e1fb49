//! Decoding ahead: blocks are decompressed and decoded on another thread, in batches, and handed over in order.
//!
//! A batch that the consumer waits for is decoded on all cores; while others wait for the consumer, one thread is enough
//! and waking more would cost more than they do. Batches and the memory of calls go round: in the long run nothing is
//! allocated for a call. Parameters that came before are not decoded again (`ahead/repeats.rs`).
//!
//! Guarantees: the consumer sees every block of the capture once, in order. Batches close by what their blocks declare
//! to become, not by the bytes of the file, and what all that wait have become stays within the capture's
//! [`Budget`](crate::container::Budget): a block that does not fit beside them waits until it does, and one that
//! fits nowhere is refused before it is decompressed. A block that cannot be read or decoded is an item of its own and
//! does not end the file; one that the file ends inside of is the last item.

mod repeats;

use crate::container::{
    AllBlocks, Block, BlockKind, Capture, FrameCounter, FrameRule, FunctionCall, MarkerKind, Place, Scratch,
};
use crate::decode::{decode_call, decode_found};
use crate::error::{Error, Kind};
use crate::image::Image;
use crate::meta::MetaBlock;
use crate::schema::generated::{COMMANDS, UNDECODABLE};
use crate::schema::{CommandDef, command_index, command_named};
use crate::valid::{self, Level};
use crate::writer::ParamWriter;
use rayon::prelude::*;
use repeats::Repeats;
use std::cell::{Cell, RefCell};
use std::ops::ControlFlow;
use std::sync::mpsc::{Receiver, SyncSender, channel, sync_channel};

/// Blocks in a batch.
const BATCH_BLOCKS: usize = 256;
/// Declared bytes after which a batch is closed early; a block of more is one that memory is asked for first.
const BATCH_BYTES: u64 = 1 << 20;
/// Batches that may wait for the consumer.
const WAITING: usize = 2;
/// Calls whose memory is kept for others: as many as can be on their way.
const KEPT_CALLS: usize = (WAITING + 2) * BATCH_BLOCKS;
/// A decoded call of more bytes does not keep its memory.
const KEPT_BYTES: usize = 16 << 10;

/// A decoded call and where it stands in the capture.
#[derive(Clone, Debug)]
pub struct Call {
    /// Its definition.
    pub command: &'static CommandDef,
    /// The definition's index in the schema's table.
    pub index: usize,
    /// The decoded parameters.
    pub image: Image,
    /// Block index in the capture.
    pub block: u64,
    /// The thread that made it.
    pub thread: u64,
    /// The frame it belongs to.
    pub frame: u64,
    /// Part of a trimmed capture's state snapshot.
    pub in_state: bool,
}

impl Call {
    /// A call that no capture has: of this command, with parameters as the capture layer writes them.
    pub fn written(name: &str, params: impl FnOnce(&mut ParamWriter)) -> Result<Call, Error> {
        let (command, index) = found(name)?;
        let mut writer = ParamWriter::new();
        params(&mut writer);
        let mut image = Image::default();
        decode_call(command, writer.as_bytes(), &mut image)?;
        Ok(Call { command, index, image, block: 0, thread: 0, frame: 1, in_state: false })
    }

    /// The same parameters to another command, which has to have the same layout of parameters and structs.
    pub fn as_command(&self, name: &str) -> Result<Call, Error> {
        let (command, index) = found(name)?;
        let mut call = Call { command, index, ..self.clone() };
        call.image.command = Some(command);
        Ok(call)
    }
}

/// A command by its name, and its index in the schema's table.
fn found(name: &str) -> Result<(&'static CommandDef, usize), Error> {
    let unknown = || Error::malformed(format!("expected a command, found {name:?}"));
    let command = command_named(name).ok_or_else(unknown)?;
    let index = COMMANDS.binary_search_by_key(&command.id, |c| c.id).map_err(|_| unknown())?;
    Ok((command, index))
}

/// One block, ready to use.
pub struct Item<'a> {
    /// Its index.
    pub block: u64,
    /// Where in the capture's own file its header is, in bytes; of a sibling's block, that of the block that runs it.
    pub offset: u64,
    /// Which frame it belongs to by the capture's own rule.
    pub place: Place,
    /// What it is.
    pub what: What<'a>,
}

/// See [`Item`].
pub enum What<'a> {
    /// A call.
    Call(Box<Call>),
    /// A metadata block and its data.
    Meta(Box<MetaBlock<'a>>, Data<'a>),
    /// The state snapshot begins.
    StateBegins,
    /// It ends.
    StateEnds,
    /// Nothing to do.
    Nothing,
    /// It could not be read.
    Bad(Error),
    /// The capture's own file ends inside it: everything before it was there.
    CutOff(Error),
}

impl What<'_> {
    /// Bytes of memory that wait with it.
    #[inline]
    pub fn bytes(&self) -> u64 {
        match self {
            What::Call(call) => call.image.held_bytes() as u64,
            What::Meta(_, Data::Own(data)) => data.len() as u64,
            _ => 0,
        }
    }
}

/// A metadata block's data.
pub enum Data<'a> {
    /// As they lie in the file.
    Plain(&'a [u8]),
    /// Decompressed.
    Own(Vec<u8>),
}

impl Data<'_> {
    /// The bytes.
    pub fn bytes(&self) -> &[u8] {
        match self {
            Data::Plain(b) => b,
            Data::Own(v) => v,
        }
    }
}

/// Feeds every block of `capture` to `consume` until it breaks.
pub fn run<'a, B>(
    capture: &'a Capture,
    mut consume: impl FnMut(&mut Item<'a>) -> ControlFlow<B>,
) -> Option<B> {
    let rule = FrameRule::detect(capture);
    std::thread::scope(|scope| {
        let (send, receive) = sync_channel::<Batch<'a>>(WAITING);
        let (give_back, returned) = channel::<Batch<'a>>();
        scope.spawn(move || {
            READS.set(true);
            Producer::new(capture, rule, returned).run(&send);
        });
        while let Ok(mut batch) = receive.recv() {
            for item in &mut batch.items {
                if let ControlFlow::Break(b) = consume(item) {
                    return Some(b); // the producer stops when the channel is gone
                }
            }
            let _ = give_back.send(batch);
        }
        None
    })
}

/// Whether this thread is one that only reads ahead: it never calls a driver.
pub fn reads_here() -> bool {
    READS.get()
}

/// Blocks that go to the consumer together, and the memory they take there.
struct Batch<'a> {
    items: Vec<Item<'a>>,
    bytes: u64,
}

/// What a thread that decodes needs.
#[derive(Default)]
struct Work {
    scratch: Scratch,
    repeats: Repeats,
}

thread_local! {
    static READS: Cell<bool> = const { Cell::new(false) };
    static WORK: RefCell<Work> = RefCell::new({
        READS.set(true);
        Work::default()
    });
}

struct Producer<'a> {
    capture: &'a Capture,
    blocks: AllBlocks<'a>,
    frames: FrameCounter,
    /// Index and offset of the last block.
    last: (u64, u64),
    returned: Receiver<Batch<'a>>,
    /// Batches that have been sent and have not come back, and the memory they take.
    out: usize,
    out_bytes: u64,
    /// Memory of batches and calls that have come back.
    batches: Vec<Vec<Item<'a>>>,
    #[allow(clippy::vec_box, reason = "a call goes round by its address, not by its 200 bytes")]
    calls: Vec<Box<Call>>,
    work: Work,
}

impl<'a> Producer<'a> {
    fn new(capture: &'a Capture, rule: FrameRule, returned: Receiver<Batch<'a>>) -> Self {
        Producer {
            capture,
            blocks: capture.all_blocks(),
            frames: FrameCounter::with_rule(rule),
            last: (0, 0),
            returned,
            out: 0,
            out_bytes: 0,
            batches: Vec::new(),
            calls: Vec::new(),
            work: Work::default(),
        }
    }

    fn run(mut self, send: &SyncSender<Batch<'a>>) {
        let capture = self.capture;
        let mut raw = Vec::new();
        loop {
            while let Ok(batch) = self.returned.try_recv() {
                self.take(batch);
            }
            self.make_room(BATCH_BYTES);
            let mut batch = self.batches.pop().unwrap_or_else(|| Vec::with_capacity(BATCH_BLOCKS));
            if self.out >= WAITING {
                self.next(|found, work| batch.push(found.decode(work, capture)));
            } else {
                self.next(|found, _| raw.push(found));
                batch.par_extend(
                    raw.par_drain(..)
                        .with_min_len(64)
                        .map(|f| WORK.with_borrow_mut(|w| f.decode(w, capture))),
                );
            }
            let ended = batch.is_empty();
            if ended {
                let Some(e) = self.blocks.truncated() else { return };
                self.last.0 += 1;
                let (block, offset) = self.last;
                batch.push(Item { block, offset, place: self.place(), what: What::CutOff(e) });
            }
            let bytes = batch.iter().map(|item| item.what.bytes()).sum();
            (self.out, self.out_bytes) = (self.out + 1, self.out_bytes + bytes);
            if send.send(Batch { items: batch, bytes }).is_err() || ended {
                return;
            }
        }
    }

    /// Takes the memory of a consumed batch.
    fn take(&mut self, mut batch: Batch<'a>) {
        (self.out, self.out_bytes) = (self.out - 1, self.out_bytes - batch.bytes);
        for item in batch.items.drain(..) {
            if let What::Call(call) = item.what
                && self.calls.len() < KEPT_CALLS
                && call.image.held_bytes() <= KEPT_BYTES
            {
                self.calls.push(call);
            }
        }
        self.batches.push(batch.items);
    }

    /// Waits until `bytes` more fit beside what waits for the consumer, or nothing waits any more.
    fn make_room(&mut self, bytes: u64) {
        while self.out > 0 && self.out_bytes.saturating_add(bytes) > self.capture.budget().bytes() {
            match self.returned.recv() {
                Ok(batch) => self.take(batch),
                Err(_) => return, // the consumer has had enough
            }
        }
    }

    /// Finds the blocks of the next batch; none at the end.
    #[inline(always)]
    fn next(&mut self, mut each: impl FnMut(Found<'a>, &mut Work)) {
        let (mut blocks, mut bytes) = (0, 0);
        while blocks < BATCH_BLOCKS && bytes < BATCH_BYTES {
            let found = match self.blocks.next() {
                None => break,
                Some(Ok(block)) => {
                    let declared = block.declared_bytes();
                    if declared > BATCH_BYTES {
                        self.make_room_for(&block);
                    }
                    bytes = declared.saturating_add(bytes);
                    self.last = (block.index, if block.file == 0 { block.offset } else { self.last.1 });
                    let memory = if block.call_id().is_some() { self.calls.pop() } else { None };
                    Found { at: self.last, place: self.frames.feed(&block), block: Ok((block, memory)) }
                }
                Some(Err(e)) => self.bad(e),
            };
            blocks += 1;
            each(found, &mut self.work);
        }
    }

    /// A large block: what a call's parameters become may be larger still, as large as the budget.
    #[cold]
    fn make_room_for(&mut self, block: &Block<'a>) {
        let all = block.call_id().is_some();
        self.make_room(if all { self.capture.budget().bytes() } else { block.declared_bytes() });
    }

    fn bad(&self, e: Error) -> Found<'a> {
        Found { at: self.last, place: self.place(), block: Err(e) }
    }

    /// Where what is no block stands.
    fn place(&self) -> Place {
        Place { frame: self.frames.frame(), state: false, ends_frame: false }
    }
}

/// A block before decoding, with memory for its call, or why there is none.
struct Found<'a> {
    at: (u64, u64),
    place: Place,
    block: Result<(Block<'a>, Option<Box<Call>>), Error>,
}

impl<'a> Found<'a> {
    // Into the loop over blocks: items would be copied several times on their way through functions.
    #[inline(always)]
    fn decode(self, work: &mut Work, capture: &Capture) -> Item<'a> {
        let place = self.place;
        let what = self.block.and_then(|(block, memory)| {
            let what = match block.call() {
                Ok(Some(call)) => {
                    read_call(&block, &call, place, memory, &mut work.scratch, Some(&mut work.repeats))
                }
                Ok(None) => read_other(&block, &mut work.scratch),
                Err(e) => Err(e),
            };
            // Offsets are those of the block's own file.
            what.map_err(|e| if block.file == 0 { e } else { e.in_file(capture.file_name(block.file)) })
        });
        work.scratch.trim();
        Item { block: self.at.0, offset: self.at.1, place, what: what.unwrap_or_else(What::Bad) }
    }
}

/// Reads one block: decompresses and decodes what it holds, a call into `memory` where there is any.
pub fn read<'a>(
    block: &Block<'a>,
    place: Place,
    memory: Option<Box<Call>>,
    scratch: &mut Scratch,
) -> Result<What<'a>, Error> {
    match block.call()? {
        Some(call) => read_call(block, &call, place, memory, scratch, None),
        None => read_other(block, scratch),
    }
}

/// Reads a block that is no call.
fn read_other<'a>(block: &Block<'a>, scratch: &mut Scratch) -> Result<What<'a>, Error> {
    Ok(match block.kind()? {
        BlockKind::Meta(meta) => {
            let data = match meta.meta.payload() {
                Some(p) if p.is_compressed() => Data::Own(p.to_vec(scratch)?),
                Some(p) => Data::Plain(p.raw()),
                None => Data::Plain(&[]),
            };
            What::Meta(Box::new(meta), data)
        }
        BlockKind::StateMarker(m) => match m.kind {
            MarkerKind::Begin => What::StateBegins,
            MarkerKind::End => What::StateEnds,
            MarkerKind::Other(_) => What::Nothing,
        },
        _ => What::Nothing,
    })
}

#[inline(always)]
fn read_call<'a>(
    block: &Block<'a>,
    found: &FunctionCall<'a>,
    place: Place,
    memory: Option<Box<Call>>,
    scratch: &mut Scratch,
    repeats: Option<&mut Repeats>,
) -> Result<What<'a>, Error> {
    let index = command_index(found.call_id).ok_or_else(|| not_decoded(block, found.call_id))?;
    let command = &COMMANDS[index];
    let frame = if place.state { 0 } else { place.frame };
    let (thread, in_state) = (found.thread, place.state);
    let mut call = match memory {
        Some(mut call) => {
            (call.command, call.index, call.block) = (command, index, block.index);
            (call.thread, call.frame, call.in_state) = (thread, frame, in_state);
            call
        }
        None => {
            let image = Image::default();
            Box::new(Call { command, index, image, block: block.index, thread, frame, in_state })
        }
    };
    let mut decode = |image: &mut Image| {
        decode_found(command, block, found, scratch, image)?;
        // Here it costs the replay no time of its own. Who runs the call asks again, and tells what is wrong.
        let _ = valid::check(image, Level::Usage);
        Ok(())
    };
    match repeats {
        Some(repeats) => repeats.image(found, &mut call.image, decode)?,
        None => decode(&mut call.image)?,
    }
    Ok(What::Call(call))
}

#[cold]
fn not_decoded(block: &Block<'_>, id: u32) -> Error {
    let named = UNDECODABLE.iter().find(|u| u.0 == id);
    let text = named.map_or_else(
        || format!("call id {id:#x} is not known to this build"),
        |u| format!("{} is not decoded: {}", u.1, u.2),
    );
    block.blame(Error::new(Kind::Unknown, text))
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::container::read_file;
    use crate::encode::encode_call;
    use std::path::Path;

    #[test]
    fn every_call_arrives_as_it_was_written() {
        // Most of them from memory that others had, and half of them as copies.
        let file = Path::new(env!("CARGO_MANIFEST_DIR")).join("../captures/samples/cubes.gfxr");
        let capture = Capture::open(&file, read_file).expect("it is committed");
        let blocks: Vec<Block<'_>> = capture.blocks().collect();
        let (mut scratch, mut calls, mut bytes) = (Scratch::new(), 0, Vec::new());
        let stopped: Option<()> = run(&capture, |item| {
            let block = blocks[item.block as usize];
            assert_eq!(item.offset, block.offset);
            if let What::Call(call) = &item.what {
                let found = block.call().expect("it is whole").expect("it is a call");
                bytes.clear();
                encode_call(&call.image, &mut bytes);
                assert_eq!(bytes, found.payload.bytes(&mut scratch).expect("they decompress"));
                assert_eq!((call.command.id, call.thread), (found.call_id, found.thread));
                assert_eq!(call.index, command_index(found.call_id).expect("it is known"));
                calls += 1;
            }
            ControlFlow::Continue(())
        });
        assert_eq!((stopped, calls), (None, 2023));
    }
}
