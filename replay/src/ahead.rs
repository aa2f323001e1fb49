//! Decoding ahead: blocks are decompressed and decoded on other threads, in batches, and handed over in order.
//!
//! Guarantees: the consumer sees every block of the capture once, in order; at most a few batches wait, so memory stays
//! bounded by their size. A block that cannot be read or decoded is an item of its own and does not end the file.

use crate::exec::Call;
use gfxr_parse::container::{Block, BlockKind, Capture, FrameCounter, FrameRule, MarkerKind, Place, Scratch};
use gfxr_parse::decode::decode_call;
use gfxr_parse::error::{Error, Kind};
use gfxr_parse::image::Image;
use gfxr_parse::meta::MetaBlock;
use gfxr_parse::schema::command;
use gfxr_parse::schema::generated::UNDECODABLE;
use rayon::prelude::*;
use std::ops::ControlFlow;
use std::sync::mpsc::{Receiver, SyncSender, channel, sync_channel};

/// Blocks in a batch.
const BATCH_BLOCKS: usize = 256;
/// Bytes of the file after which a batch is closed early.
const BATCH_BYTES: usize = 1 << 20;
/// Batches that may wait for the consumer.
const WAITING: usize = 2;

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
        let (give_back, returned) = channel::<Vec<Image>>();
        scope.spawn(move || produce(capture, rule, &send, &returned));
        while let Ok(mut batch) = receive.recv() {
            let mut images = Vec::with_capacity(batch.len());
            for item in &mut batch {
                if let ControlFlow::Break(b) = consume(item) {
                    return Some(b); // the producer stops when the channel is gone
                }
                if let What::Call(call) = &mut item.what {
                    images.push(std::mem::take(&mut call.image));
                }
            }
            let _ = give_back.send(images);
        }
        None
    })
}

fn produce<'a>(
    capture: &'a Capture,
    rule: FrameRule,
    send: &SyncSender<Vec<Item<'a>>>,
    returned: &Receiver<Vec<Image>>,
) {
    let mut frames = FrameCounter::with_rule(rule);
    let mut blocks = capture.all_blocks();
    let mut pool: Vec<Image> = Vec::new();
    let mut last = (0, 0);
    loop {
        let mut batch: Vec<Prepared<'a>> = Vec::with_capacity(BATCH_BLOCKS);
        let mut bytes = 0;
        pool.extend(returned.try_iter().flatten());
        while batch.len() < BATCH_BLOCKS && bytes < BATCH_BYTES {
            match blocks.next() {
                None => break,
                Some(Ok(block)) => {
                    bytes += block.raw().len();
                    last = (block.index, block.offset);
                    let place = frames.feed(&block);
                    let image = if block.call_id().is_some() { pool.pop() } else { None };
                    batch.push(Prepared { place, from: Ok((block, image)) });
                }
                Some(Err(e)) => {
                    let place = Place { frame: frames.frame(), state: false, ends_frame: false };
                    batch.push(Prepared { place, from: Err((e, last)) });
                }
            }
        }
        // Images beyond what a batch needs would only hold memory.
        pool.truncate(BATCH_BLOCKS);
        if batch.is_empty() {
            if let Some(e) = blocks.truncated() {
                let place = Place { frame: frames.frame(), state: false, ends_frame: false };
                let item = Item { block: last.0 + 1, offset: last.1, place, what: What::Bad(e) };
                let _ = send.send(vec![item]);
            }
            return;
        }
        let items = batch.into_par_iter().with_min_len(32).map_init(Scratch::new, Prepared::read).collect();
        if send.send(items).is_err() {
            return;
        }
    }
}

/// A block before decoding, with memory for its call.
struct Prepared<'a> {
    place: Place,
    from: Found<'a>,
}

/// A block and memory for its call, or why there is none and where the last one was (index, offset).
type Found<'a> = Result<(Block<'a>, Option<Image>), (Error, (u64, u64))>;

impl<'a> Prepared<'a> {
    fn read(scratch: &mut Scratch, self_: Prepared<'a>) -> Item<'a> {
        let place = self_.place;
        match self_.from {
            Err((e, (block, offset))) => Item { block, offset, place, what: What::Bad(e) },
            Ok((block, image)) => {
                let what = read(&block, place, image.unwrap_or_default(), scratch).unwrap_or_else(What::Bad);
                Item { block: block.index, offset: block.offset, place, what }
            }
        }
    }
}

/// Reads one block: decompresses and decodes what it holds.
pub fn read<'a>(
    block: &Block<'a>,
    place: Place,
    mut image: Image,
    scratch: &mut Scratch,
) -> Result<What<'a>, Error> {
    Ok(match block.kind()? {
        BlockKind::Call(call) => {
            let Some(c) = command(call.call_id) else {
                let named = UNDECODABLE.iter().find(|u| u.0 == call.call_id);
                let text = named.map_or_else(
                    || format!("call id {:#x} is not known to this build", call.call_id),
                    |u| format!("{} is not decoded: {}", u.1, u.2),
                );
                return Err(block.blame(Error::new(Kind::Unknown, text)));
            };
            let bytes = call.payload.bytes(scratch)?;
            decode_call(c, bytes, &mut image).map_err(|e| {
                let e = if call.payload.is_compressed() {
                    e.in_decompressed()
                } else {
                    e.rebase(call.payload.offset())
                };
                block.blame(e)
            })?;
            What::Call(Box::new(Call {
                command: c,
                index: crate::hook::index_of(c),
                image,
                block: block.index,
                thread: call.thread,
                frame: if place.state { 0 } else { place.frame },
                in_state: place.state,
            }))
        }
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
