//! Sibling files ("assets"): blocks that several captures share, run where a capture names them.
//!
//! A metadata block says: run `n` blocks (0: all) of the file of this name from this offset on. They count as if they
//! stood in the capture, right after the block that names them; they are compressed with the capture's method, whatever
//! their own file's header says.
//!
//! Guarantees: a file is opened once; what it offers is borrowed as long as the capture. A sibling that cannot be read
//! is one `Err` item; the capture's own blocks go on. Refuses names with a folder in them, offsets outside the file,
//! and more nesting, more runs or more blocks than `limits.rs` allows.

use std::fmt;
use std::io;
use std::path::{Component, Path};
use std::sync::OnceLock;

use crate::container::block::{Block, BlockKind};
use crate::container::framing::block_type;
use crate::container::{Blocks, Budget, Bytes, Compression, Source};
use crate::error::{Error, Kind, Result};
use crate::limits::{MAX_ASSET_BLOCKS, MAX_ASSET_DEPTH, MAX_ASSET_RUNS};
use crate::meta::{ExecuteBlocks, Meta, MetaBlock, id};

type Opener = Box<dyn Fn(&str) -> io::Result<Bytes> + Send + Sync>;

/// The sibling files met so far. Grows behind a shared reference: a list whose end is a [`OnceLock`], so that what has
/// been lent stays where it is.
pub struct Assets {
    open: Opener,
    first: OnceLock<Box<Node>>,
}

struct Node {
    source: Source,
    next: OnceLock<Box<Node>>,
}

impl Assets {
    pub(crate) fn new(open: impl Fn(&str) -> io::Result<Bytes> + Send + Sync + 'static) -> Self {
        Assets { open: Box::new(open), first: OnceLock::new() }
    }
    fn nodes(&self) -> impl Iterator<Item = &Node> {
        std::iter::successors(self.first.get(), |n| n.next.get()).map(|n| &**n)
    }
    /// The name of number `n`, from 0, in the order of first use.
    pub(crate) fn name(&self, n: u32) -> Option<&str> {
        self.nodes().nth(n as usize).map(|node| node.source.name())
    }
    /// The file of this name and its number.
    fn get(&self, name: &str) -> io::Result<(u32, &Source)> {
        let mut slot = &self.first;
        let mut n = 0;
        let mut opened = None;
        loop {
            if let Some(node) = slot.get() {
                if node.source.name() == name {
                    return Ok((n, &node.source));
                }
                (slot, n) = (&node.next, n + 1);
                continue;
            }
            let bytes = match opened.take() {
                Some(bytes) => bytes,
                None => (self.open)(name)?,
            };
            let node = Box::new(Node { source: Source::shared(name, bytes), next: OnceLock::new() });
            // Another thread may have been faster with this slot: then look at what it put there.
            opened = slot.set(node).err().map(|node| node.source.into_bytes());
        }
    }
}

impl fmt::Debug for Assets {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_list().entries(self.nodes().map(|n| &n.source)).finish()
    }
}

/// One file being read, and how many of its blocks are still to run (none: all).
struct Level<'a> {
    blocks: Blocks<'a>,
    left: Option<u32>,
    name: &'a str,
}

/// Iterates over a capture's blocks and those of the files it names, in the order they run.
pub struct AllBlocks<'a> {
    levels: Vec<Level<'a>>,
    assets: &'a Assets,
    codec: Compression,
    budget: Budget,
    index: u64,
    runs: u64,
    /// Blocks that came from other files than the capture itself.
    borrowed: u64,
    pending: Option<Block<'a>>,
    /// The capture's own file, once it has no more blocks.
    main: Option<Blocks<'a>>,
}

impl<'a> AllBlocks<'a> {
    pub(crate) fn new(main: Blocks<'a>, assets: &'a Assets, codec: Compression, budget: Budget) -> Self {
        let levels = vec![Level { blocks: main, left: None, name: "" }];
        AllBlocks { levels, assets, codec, budget, index: 0, runs: 0, borrowed: 0, pending: None, main: None }
    }
    /// Once iteration has ended: what is missing, if the capture's own file ends inside a block.
    pub fn truncated(&self) -> Option<Error> {
        self.main.as_ref().and_then(Blocks::truncated)
    }
    /// How many files deep the next block lies; 1 is the capture itself.
    pub fn depth(&self) -> usize {
        self.levels.len()
    }

    /// The same without the errors: of siblings, as much as can be read.
    pub fn readable(self) -> Readable<'a> {
        Readable(self)
    }

    /// Nearly always the next block: the capture's own.
    #[inline(always)]
    fn next_of_main(&mut self) -> Option<Block<'a>> {
        if self.pending.is_some() {
            return None;
        }
        let [main] = &mut self.levels[..] else { return None };
        let block = main.blocks.next()?;
        self.index += 1;
        if names_a_file(&block) {
            self.pending = Some(block);
        }
        Some(block)
    }

    /// Goes into the file that `block` names.
    fn enter(&mut self, block: &Block<'a>) -> Result<()> {
        let BlockKind::Meta(MetaBlock { meta: Meta::ExecuteBlocks(run), .. }) = block.kind()? else {
            return Ok(());
        };
        let here = self.levels.last().map_or("", |l| l.name);
        let blame = |e: Error| {
            let e = block.blame(e);
            if here.is_empty() { e } else { e.in_file(here) }
        };
        if self.levels.len() > MAX_ASSET_DEPTH {
            return Err(blame(Error::limit(
                "depth of files that name each other",
                self.levels.len() as u64,
                MAX_ASSET_DEPTH as u64,
            )));
        }
        self.runs += 1;
        if self.runs > MAX_ASSET_RUNS {
            return Err(blame(Error::limit("number of runs of other files", self.runs, MAX_ASSET_RUNS)));
        }
        if self.borrowed > MAX_ASSET_BLOCKS {
            return Err(blame(Error::limit(
                "number of blocks of other files",
                self.borrowed,
                MAX_ASSET_BLOCKS,
            )));
        }
        let name = plain_name(&run).map_err(blame)?;
        let (number, source) = self.assets.get(name).map_err(|e| match e.kind() {
            io::ErrorKind::NotFound => {
                blame(Error::new(Kind::Missing, format!("file \"{name}\" is not beside the capture")))
            }
            _ => blame(Error::new(Kind::Io, format!("file \"{name}\": {e}"))),
        })?;
        let bytes = source.bytes();
        let start = usize::try_from(run.offset).ok().filter(|&o| o <= bytes.len());
        let Some(start) = start else {
            return Err(blame(Error::malformed(format!(
                "file \"{name}\": expected an offset up to {}, found {}",
                bytes.len(),
                run.offset
            ))));
        };
        let blocks = Blocks::new(&bytes[start..], start as u64, self.codec)
            .within(self.budget)
            .numbered(self.index, number + 1);
        let left = (run.blocks != 0).then_some(run.blocks);
        self.levels.push(Level { blocks, left, name: source.name() });
        Ok(())
    }

    /// The next block of whatever file it is in.
    #[inline(never)]
    fn next_of_any(&mut self) -> Option<Result<Block<'a>>> {
        if let Some(block) = self.pending.take()
            && let Err(error) = self.enter(&block)
        {
            return Some(Err(error));
        }
        loop {
            let depth = self.levels.len();
            let level = self.levels.last_mut()?;
            if level.left != Some(0)
                && let Some(block) = level.blocks.next()
            {
                level.left = level.left.map(|n| n - 1);
                self.index += 1;
                self.borrowed += u64::from(depth > 1);
                if names_a_file(&block) {
                    self.pending = Some(block);
                }
                return Some(Ok(block));
            }
            let level = self.levels.pop()?;
            if let Some(parent) = self.levels.last_mut() {
                parent.blocks.set_index(self.index);
            }
            if level.left == Some(0) {
                continue;
            }
            if let Some(error) = self.ended(level) {
                return Some(Err(error));
            }
        }
    }

    /// A file has no more blocks to give: what is wrong about that, if anything.
    fn ended(&mut self, level: Level<'a>) -> Option<Error> {
        if self.levels.is_empty() {
            self.main = Some(level.blocks);
            return None;
        }
        let missing = || {
            let n = level.left.filter(|&n| n > 0)?;
            Some(
                Error::new(Kind::Truncated, format!("the file ends, expected {n} more blocks"))
                    .in_block(level.blocks.index())
                    .at_offset(level.blocks.offset()),
            )
        };
        level.blocks.truncated().or_else(missing).map(|e| e.in_file(level.name))
    }
}

impl<'a> Iterator for AllBlocks<'a> {
    type Item = Result<Block<'a>>;

    #[inline]
    fn next(&mut self) -> Option<Self::Item> {
        match self.next_of_main() {
            Some(block) => Some(Ok(block)),
            None => self.next_of_any(),
        }
    }
}

/// Iterates over the blocks of [`AllBlocks`] that can be read.
#[derive(Debug)]
pub struct Readable<'a>(AllBlocks<'a>);

impl<'a> Iterator for Readable<'a> {
    type Item = Block<'a>;

    #[inline]
    fn next(&mut self) -> Option<Block<'a>> {
        match self.0.next_of_main() {
            Some(block) => Some(block),
            None => self.0.by_ref().find_map(Result::ok),
        }
    }
}

impl fmt::Debug for AllBlocks<'_> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "AllBlocks(next block {}, depth {})", self.index, self.levels.len())
    }
}

#[inline]
fn names_a_file(block: &Block) -> bool {
    block.base_type() == block_type::META_DATA && block.meta_type() == Some(id::EXECUTE_BLOCKS)
}

/// A sibling's name: one path component, so that a capture cannot make anybody read files elsewhere.
fn plain_name<'a>(run: &ExecuteBlocks<'a>) -> Result<&'a str> {
    let refuse = || {
        let found = run.file.text();
        Error::malformed(format!(
            "file to run: expected a plain file name, found \"{}\"",
            found.escape_debug()
        ))
    };
    let name = std::str::from_utf8(run.file.0).map_err(|_| refuse())?;
    let mut parts = Path::new(name).components();
    let plain = matches!((parts.next(), parts.next()), (Some(Component::Normal(_)), None));
    if plain && !name.contains(['/', '\\', '\0']) { Ok(name) } else { Err(refuse()) }
}
