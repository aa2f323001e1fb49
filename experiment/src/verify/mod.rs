//! `verify`: does every block come back, byte for byte, from what this build understood of it? And do the calls fit
//! each other (`echo`)?
//!
//! Guarantees: a report is good only if every call and every metadata block comes back and the replay without a driver diverges
//! nowhere. Refuses nothing; differing blocks are listed with their offsets, as they are the result.

mod echo;

use crate::failure::Failure;
use crate::{ordered, progress};
use analyses::report::{counted, escape};
use gfxr_parse::container::{Block, BlockKind, Capture};
use gfxr_parse::error::Error;
use gfxr_parse::verify::Verifier;
use serde::Serialize;

/// How many blocks a thread takes at a time.
const PIECE: usize = 256;
/// Bytes, once decompressed, after which a piece is closed early.
const PIECE_BYTES: u64 = 1 << 20;
/// Differing blocks listed one by one.
const MOST: usize = 1000;

/// The result; what `--json` writes.
#[derive(Debug, Default, Serialize)]
pub struct Report {
    schema_version: u32,
    file: String,
    blocks: u64,
    calls: u64,
    metadata: u64,
    /// Blocks of types this build does not read (it passes them on as they are).
    skipped: u64,
    truncated: Option<String>,
    different: u64,
    differences: Vec<Difference>,
    /// None: the capture holds no call to replay.
    echo: Option<echo::Echo>,
}

impl Report {
    /// Nothing is wrong.
    pub fn is_good(&self) -> bool {
        self.different == 0 && self.echo.as_ref().is_none_or(echo::Echo::is_good)
    }
}

/// A block that did not come back.
#[derive(Debug, Serialize)]
struct Difference {
    file: String,
    block: Option<u64>,
    offset: Option<u64>,
    path: String,
    message: String,
}

/// What one piece brought.
#[derive(Default)]
struct Part {
    blocks: u64,
    calls: u64,
    metadata: u64,
    skipped: u64,
    errors: Vec<(u32, Error)>,
    end: u64,
}

/// Holds every block to what comes back of it, and the calls to each other.
pub fn verify(capture: &Capture) -> Result<Report, Failure> {
    let mut report = blocks(capture)?;
    if report.calls > 0 {
        report.echo = Some(echo::run(capture));
    }
    Ok(report)
}

fn blocks(capture: &Capture) -> Result<Report, Failure> {
    let mut report = Report { schema_version: 1, file: capture.name().to_string(), ..Report::default() };
    let mut blocks = capture.all_blocks();
    let bar = progress::bytes(capture.bytes().len() as u64, "verify");
    let next = || {
        let (mut piece, mut bytes) = (Vec::with_capacity(PIECE), 0u64);
        while piece.len() < PIECE && bytes < PIECE_BYTES {
            let Some(block) = blocks.next() else { break };
            bytes = bytes.saturating_add(block.as_ref().map_or(0, Block::declared_bytes));
            piece.push(block);
        }
        (!piece.is_empty()).then_some((piece, bytes))
    };
    let work = |verifier: &mut Verifier, piece: Vec<Result<Block, Error>>| {
        let mut part = Part::default();
        for block in piece {
            match block {
                Ok(block) => part.block(verifier, &block),
                Err(e) => part.errors.push((0, e)),
            }
        }
        part
    };
    let take = |_: &mut Verifier, part: Part| {
        report.blocks += part.blocks;
        report.calls += part.calls;
        report.metadata += part.metadata;
        report.skipped += part.skipped;
        report.different += part.errors.len() as u64;
        let room = MOST.saturating_sub(report.differences.len());
        report.differences.extend(part.errors.iter().take(room).map(|(file, e)| Difference {
            file: e.file().unwrap_or_else(|| capture.file_name(*file)).to_string(),
            block: e.block(),
            offset: e.offset(),
            path: e.path().to_string(),
            message: e.message().to_string(),
        }));
        bar.set_position(part.end);
        Ok::<(), Failure>(())
    };
    ordered::run(capture.budget().bytes(), next, Verifier::new, work, take)?;
    bar.finish_and_clear();
    report.truncated = blocks.truncated().map(|e| e.to_string());
    Ok(report)
}

impl Part {
    fn block(&mut self, verifier: &mut Verifier, block: &Block) {
        self.blocks += 1;
        self.end = block.offset;
        match block.kind() {
            Ok(BlockKind::Call(_)) => self.calls += 1,
            Ok(BlockKind::Meta(m)) if m.warning().is_none() => self.metadata += 1,
            Ok(BlockKind::Meta(_) | BlockKind::Unknown(_)) => self.skipped += 1,
            Ok(BlockKind::Method(m)) => {
                let e = Error::unknown(format!("method call {:#x} (Direct3D 12) is not decoded", m.call_id));
                return self.errors.push((block.file, block.blame(e)));
            }
            _ => {}
        }
        if let Err(e) = verifier.block(block) {
            self.errors.push((block.file, block.blame(e)));
        }
    }
}

/// The report in lines; the last has no end.
pub fn render(r: &Report) -> String {
    let mut out = String::new();
    for d in &r.differences {
        // Offsets in siblings are those of their own files.
        let file = if d.file == r.file { String::new() } else { format!("{}: ", d.file) };
        let place = match (d.block, d.offset) {
            (Some(b), Some(o)) => format!("block {b}, offset {o:#x}: "),
            (Some(b), None) => format!("block {b}: "),
            _ => String::new(),
        };
        let path = if d.path.is_empty() { String::new() } else { format!("{}: ", d.path) };
        out += &format!("{}\n", escape::line(&format!("{file}{place}{path}{}", d.message)));
    }
    if r.different > r.differences.len() as u64 {
        out += &format!("and {} more\n", r.different - r.differences.len() as u64);
    }
    if let Some(t) = &r.truncated {
        out += &format!("warning: {}; everything before it was verified\n", escape::line(t));
    }
    if r.skipped > 0 {
        out += &format!("warning: {} blocks are of types this build does not read\n", r.skipped);
    }
    if let Some(echo) = &r.echo {
        echo.first.iter().chain(&echo.error).for_each(|e| out += &format!("replay: {}\n", escape::line(e)));
        if echo.divergences > echo.first.len() as u64 {
            out += &format!("replay: and {} more\n", echo.divergences - echo.first.len() as u64);
        }
        if echo.is_good() {
            out +=
                &format!("{}: {} calls replay as they were recorded, without a driver\n", r.file, echo.calls);
        }
    }
    let verdict = if r.different == 0 { "all come back byte for byte" } else { "differ" };
    let n = if r.different == 0 { r.blocks } else { r.different };
    let (n, calls) = (counted(n, "block"), counted(r.calls, "call"));
    out + &format!("{}: {n} ({calls}, {} metadata): {verdict}", r.file, r.metadata)
}
