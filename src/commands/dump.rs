//! `dump`: blocks as JSON Lines or text.
//!
//! Guarantees: the output does not depend on the number of threads, and a block's line not on which others were asked
//! for. Where nobody reads on, it ends, and the exit code is that of what was read of the capture until then. Refuses nothing; see
//! `input` for what becomes of bad blocks.

use crate::cli::{DumpArgs, Format};
use crate::exit::{Exit, Failure, note};
use crate::input::{self, Complaints};
use crate::output::{self, Output};
use crate::progress;
use experiment::ordered;
use gfxr_parse::container::{AllBlocks, Block, Capture, FrameCounter, FrameRule};
use gfxr_parse::error::Error;
use gfxr_parse::print::{Binaries, Counts, Form, Options, Printer, record_name};
use gfxr_parse::schema::generated::COMMANDS;
use std::collections::HashSet;

/// How many blocks, or bytes of them, a thread takes at a time: their output should fit a core's own cache.
const PIECE_BLOCKS: usize = 512;
const PIECE_BYTES: u64 = 256 << 10;
/// What a block counts that is not wanted.
const UNWANTED_BYTES: u64 = 64;

/// Runs the sub-command.
pub fn run(args: &DumpArgs) -> Result<Exit, Failure> {
    known(args)?;
    let capture = input::open(&args.file, args.memory)?;
    if let Some(folder) = &args.binaries {
        output::folder(folder)?;
    }
    let binaries = match (args.no_binaries, &args.binaries) {
        (true, _) => Binaries::None,
        (_, Some(_)) => Binaries::Collect,
        _ => Binaries::Placeholder,
    };
    let options = Options { expand_flags: args.expand_flags, binaries };
    let mut out = Output::create(args.output.as_deref())?;
    let form = match args.format {
        Format::Jsonl => Form::Json,
        Format::Text => Form::Text,
    };
    let mut header = Printer::new(form, options);
    header.header(capture.name(), env!("CARGO_PKG_VERSION"));
    let mut counts = Counts::default();
    let mut woven = Vec::new();
    header.drain_into(&mut counts, &mut woven);
    out.write(&woven)?;

    let selection = Selection::new(args, &capture);
    let all = selection.is_everything();
    let mut pieces = Pieces { blocks: capture.all_blocks(), selection, all, done: false, some: false };
    let complaints = Complaints::new(&capture);
    let bar = progress::bytes(capture.bytes().len() as u64, "dump");
    let written = ordered::run(
        capture.budget().bytes(),
        || pieces.next(),
        || Printer::new(form, options),
        |printer, mut piece| {
            for (block, wanted) in piece.blocks.drain(..) {
                if !wanted {
                    printer.pass(&block);
                } else if let Err(e) = printer.block(&block) {
                    piece.errors.push((block.file, e));
                }
                piece.end = block.offset;
            }
            piece
        },
        |printer, piece| {
            piece.errors.iter().for_each(|(file, e)| complaints.add(*file, e));
            woven.clear();
            printer.drain_into(&mut counts, &mut woven);
            for blob in printer.take_blobs() {
                let folder = args.binaries.as_deref().unwrap_or_else(|| "".as_ref());
                output::write_file(&folder.join(&blob.name), &blob.bytes).map_err(Some)?;
            }
            bar.set_position(piece.end);
            out.write(&woven).map_err(Some)?;
            // (what is left may take minutes)
            if out.unread() { Err(None) } else { Ok(()) }
        },
    );
    bar.finish_and_clear();
    if let Err(Some(failure)) = written {
        return Err(failure);
    }
    if !pieces.some && !all {
        note(
            "nothing of the capture is among what is asked for; `info` says how many blocks and frames there are",
        );
    }
    if pieces.done && all && !out.unread() {
        input::warn_if_truncated(&capture, &pieces.blocks);
    }
    out.finish()?;
    Ok(complaints.exit())
}

/// Names of commands that no command and no record has are refused: nothing would come of them.
fn known(args: &DumpArgs) -> Result<(), Failure> {
    let records = || (0..=u16::MAX).filter_map(record_name);
    for glob in &args.commands {
        if !COMMANDS.iter().any(|c| glob.matches(c.name)) && !records().any(|name| glob.matches(name)) {
            let asked = glob.to_string();
            let near = COMMANDS
                .iter()
                .map(|c| (strsim::osa_distance(&asked.to_lowercase(), &c.name.to_lowercase()), c.name))
                .min();
            let meant =
                near.filter(|n| n.0 <= 3).map_or(String::new(), |n| format!("; did you mean {}?", n.1));
            return Err(Failure::usage(format_args!("--commands: no command is called {asked}{meant}")));
        }
    }
    Ok(())
}

/// What a thread takes at a time.
struct Piece<'a> {
    blocks: Vec<(Block<'a>, bool)>,
    errors: Vec<(u32, Error)>,
    /// How far into the file it reaches, in bytes.
    end: u64,
}

/// Hands out pieces until nothing more can be wanted.
struct Pieces<'a> {
    blocks: AllBlocks<'a>,
    selection: Selection<'a>,
    all: bool,
    done: bool,
    /// Something was wanted.
    some: bool,
}

impl<'a> Pieces<'a> {
    /// The next, and the memory it takes.
    fn next(&mut self) -> Option<(Piece<'a>, u64)> {
        if self.done {
            return None;
        }
        let mut piece = Piece { blocks: Vec::with_capacity(PIECE_BLOCKS), errors: Vec::new(), end: 0 };
        let mut bytes = 0;
        while piece.blocks.len() < PIECE_BLOCKS && bytes < PIECE_BYTES {
            match self.blocks.next() {
                None => {
                    self.done = true;
                    break;
                }
                Some(Err(e)) => piece.errors.push((0, e)),
                Some(Ok(block)) => {
                    let wanted = self.all || self.selection.wants(&block);
                    if !wanted && self.selection.past(&block) {
                        self.done = true;
                        break;
                    }
                    self.some |= wanted;
                    let more = if wanted { block.declared_bytes() } else { UNWANTED_BYTES };
                    bytes = bytes.saturating_add(more);
                    piece.blocks.push((block, wanted));
                }
            }
        }
        (!piece.blocks.is_empty() || !piece.errors.is_empty()).then_some((piece, bytes))
    }
}

/// Which blocks are wanted.
struct Selection<'a> {
    args: &'a DumpArgs,
    calls: Option<HashSet<u32>>,
    frames: FrameCounter,
    frame: u64,
    /// A frame has ended: from here on their numbers only rise.
    rising: bool,
}

impl<'a> Selection<'a> {
    fn new(args: &'a DumpArgs, capture: &Capture) -> Self {
        let named = |name: &str| args.commands.iter().any(|glob| glob.matches(name));
        let calls = COMMANDS.iter().filter(|c| named(c.name)).map(|c| c.id).collect();
        let rule = FrameRule::detect(capture);
        Selection {
            args,
            calls: (!args.commands.is_empty()).then_some(calls),
            frames: FrameCounter::with_rule(rule),
            frame: 0,
            rising: false,
        }
    }
    fn is_everything(&self) -> bool {
        self.args.blocks.is_none() && self.args.frames.is_none() && self.calls.is_none()
    }
    fn wants(&mut self, block: &Block) -> bool {
        let place = self.frames.feed(block);
        self.frame = if place.state { 0 } else { place.frame };
        self.rising |= place.ends_frame;
        self.args.blocks.as_ref().is_none_or(|r| r.contains(block.index))
            && self.args.frames.as_ref().is_none_or(|r| r.contains(self.frame))
            && self.calls.as_ref().is_none_or(|calls| match (block.call_id(), block.meta_type()) {
                (Some(id), _) => calls.contains(&id),
                (_, Some(ty)) => {
                    record_name(ty).is_some_and(|n| self.args.commands.iter().any(|glob| glob.matches(n)))
                }
                _ => false,
            })
    }
    /// Neither this block nor any after it can be wanted.
    fn past(&self, block: &Block) -> bool {
        self.args.blocks.as_ref().is_some_and(|r| block.index > r.last())
            || self.args.frames.as_ref().is_some_and(|r| self.rising && self.frame > r.last())
    }
}
