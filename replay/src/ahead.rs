//! Decoding ahead: blocks are decompressed and decoded on another thread, in batches, and handed over in order.
//!
//! A batch that the consumer waits for is decoded on all cores; while others wait for the consumer, one thread is enough
//! and waking more would cost more than they do. Batches and the memory of calls go round: in the long run nothing is
//! allocated for a call. Parameters that came before are not decoded again (`ahead/repeats.rs`).
//!
//! Guarantees: the consumer sees every block of the capture once, in order; at most a few batches wait, so memory stays
//! bounded by their size. A block that cannot be read or decoded is an item of its own and does not end the file.

mod repeats;

use crate::exec::Call;
use gfxr_parse::container::{
    AllBlocks, Block, BlockKind, Capture, FrameCounter, FrameRule, FunctionCall, MarkerKind, Place, Scratch,
};
use gfxr_parse::decode::decode_call;
use gfxr_parse::error::{Error, Kind};
use gfxr_parse::image::Image;
use gfxr_parse::meta::MetaBlock;
use gfxr_parse::schema::command_index;
use gfxr_parse::schema::generated::{COMMANDS, UNDECODABLE};
use gfxr_parse::valid::{self, Level};
use rayon::prelude::*;
use repeats::Repeats;
use std::cell::RefCell;
use std::ops::ControlFlow;
use std::sync::mpsc::{Receiver, SyncSender, channel, sync_channel};

/// Blocks in a batch.
const BATCH_BLOCKS: usize = 256;
/// Bytes of the file after which a batch is closed early.
const BATCH_BYTES: usize = 1 << 20;
/// Batches that may wait for the consumer.
const WAITING: usize = 2;
/// Calls whose memory is kept for others: as many as can be on their way.
const KEPT_CALLS: usize = (WAITING + 2) * BATCH_BLOCKS;
/// A decoded call of more bytes does not keep its memory.
const KEPT_BYTES: usize = 16 << 10;

/// One block, ready to use.
pub struct Item<'a> {
    /// Its index.
    pub block: u64,
    /// Where in the file its header is, in bytes.
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
    let rule = FrameRule::detect(capture.header(), capture.blocks());
    std::thread::scope(|scope| {
        let (send, receive) = sync_channel::<Vec<Item<'a>>>(WAITING);
        let (give_back, returned) = channel::<Vec<Item<'a>>>();
        scope.spawn(move || {
            crate::under_way::no_driver();
            Producer::new(capture, rule, returned).run(&send);
        });
        while let Ok(mut batch) = receive.recv() {
            for item in &mut batch {
                if let ControlFlow::Break(b) = consume(item) {
                    return Some(b); // the producer stops when the channel is gone
                }
            }
            let _ = give_back.send(batch);
        }
        None
    })
}

/// What a thread that decodes needs.
#[derive(Default)]
struct Work {
    scratch: Scratch,
    repeats: Repeats,
}

thread_local! {
    static WORK: RefCell<Work> = RefCell::new({
        crate::under_way::no_driver();
        Work::default()
    });
}

struct Producer<'a> {
    blocks: AllBlocks<'a>,
    frames: FrameCounter,
    /// Index and offset of the last block.
    last: (u64, u64),
    returned: Receiver<Vec<Item<'a>>>,
    /// Batches that have been sent and have not come back.
    out: usize,
    /// Memory of batches and calls that have come back.
    batches: Vec<Vec<Item<'a>>>,
    #[allow(clippy::vec_box, reason = "a call goes round by its address, not by its 200 bytes")]
    calls: Vec<Box<Call>>,
    work: Work,
}

impl<'a> Producer<'a> {
    fn new(capture: &'a Capture, rule: FrameRule, returned: Receiver<Vec<Item<'a>>>) -> Self {
        Producer {
            blocks: capture.all_blocks(),
            frames: FrameCounter::with_rule(rule),
            last: (0, 0),
            returned,
            out: 0,
            batches: Vec::new(),
            calls: Vec::new(),
            work: Work::default(),
        }
    }

    fn run(mut self, send: &SyncSender<Vec<Item<'a>>>) {
        let mut raw = Vec::new();
        loop {
            self.take_back();
            let mut batch = self.batches.pop().unwrap_or_else(|| Vec::with_capacity(BATCH_BLOCKS));
            if self.out >= WAITING {
                self.next(|found, work| batch.push(found.decode(work)));
            } else {
                self.next(|found, _| raw.push(found));
                batch.par_extend(
                    raw.par_drain(..).with_min_len(64).map(|f| WORK.with_borrow_mut(|w| f.decode(w))),
                );
            }
            let ended = batch.is_empty();
            if ended {
                let Some(e) = self.blocks.truncated() else { return };
                self.last.0 += 1;
                batch.push(self.bad(e).decode(&mut self.work));
            }
            if send.send(batch).is_err() || ended {
                return;
            }
            self.out += 1;
        }
    }

    /// Takes the memory of consumed batches.
    fn take_back(&mut self) {
        while let Ok(mut batch) = self.returned.try_recv() {
            self.out -= 1;
            for item in batch.drain(..) {
                if let What::Call(call) = item.what
                    && self.calls.len() < KEPT_CALLS
                    && call.image.len() <= KEPT_BYTES
                {
                    self.calls.push(call);
                }
            }
            self.batches.push(batch);
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
                    bytes += block.raw().len();
                    self.last = (block.index, block.offset);
                    let memory = if block.call_id().is_some() { self.calls.pop() } else { None };
                    Found { at: self.last, place: self.frames.feed(&block), block: Ok((block, memory)) }
                }
                Some(Err(e)) => self.bad(e),
            };
            blocks += 1;
            each(found, &mut self.work);
        }
    }

    fn bad(&self, e: Error) -> Found<'a> {
        let place = Place { frame: self.frames.frame(), state: false, ends_frame: false };
        Found { at: self.last, place, block: Err(e) }
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
    fn decode(self, work: &mut Work) -> Item<'a> {
        let place = self.place;
        let what = self.block.and_then(|(block, memory)| match block.call()? {
            Some(call) => read_call(&block, &call, place, memory, &mut work.scratch, Some(&mut work.repeats)),
            None => read_other(&block, &mut work.scratch),
        });
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
                Some(p) if p.is_compressed() => Data::Own(p.bytes(scratch)?.to_vec()),
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
        let bytes = found.payload.bytes(scratch)?;
        decode_call(command, bytes, image).map_err(|e| {
            let plain = !found.payload.is_compressed();
            block.blame(if plain { e.rebase(found.payload.offset()) } else { e.in_decompressed() })
        })?;
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
    use gfxr_parse::container::read_file;
    use gfxr_parse::encode::encode_call;
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
