//! Counts of blocks as a file of their own: to be added up over runs, and to be read by LLVM's tools.
//!
//! *Text* is LLVM's text profile format: a function is a record with a name, a hash and counters. Ours are marked as of
//! instrumented intermediate code (`:ir`, `:entry_first`), named `SHADER.ENTRY.FUNCTION` (the module's hash, the entry
//! point, the function; what is no letter, digit, `.`, `_` or `$` becomes `_`, and names that are then alike get the
//! function's id), and have one counter a block, the entry's first: all counts, not only the measured ones, so that no
//! reader needs our placement. The hash is of the function's structure: 60 bits of FNV-1a over each block's instructions
//! and successors (the other four are LLVM's). `llvm-profdata merge` and `show` take it.
//!
//! *Binary* is the same, little-endian:
//!
//! ```text
//!          0          8         12            14
//! header   | RRBLOCKS | version | bytes (u16) | what is counted | functions (u32)
//! function | bytes (u16) | name | hash (u64) | counters (u32) | counters (u64 each)
//! end      | FNV-1a over everything before (u64)
//! ```
//!
//! Guarantees: sums are exact, and do not depend on the order of what is added; both forms come back as they were written.
//! Refuses to add what counts different things, functions of one name and different structure, sums over 2⁶⁴, and files
//! that are cut off or changed.

use super::counts::Counts;
use crate::context::Context;
use std::collections::BTreeMap;
use std::fmt::Write;
use trace::tables::EDGES;
use trace::{Source, Unreadable};

/// The first bytes of the binary form.
pub const MAGIC: &[u8; 8] = b"RRBLOCKS";
const VERSION: u32 = 1;

/// A function's counts.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Record {
    /// Of its structure.
    pub hash: u64,
    /// How often each of its blocks ran, in their order.
    pub counts: Vec<u64>,
}

/// See the module's header.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Profile {
    /// What is counted: `invocations`, `subgroups`, and in which way where not everything was.
    pub what: String,
    /// By name.
    pub functions: BTreeMap<String, Record>,
}

/// Why profiles cannot be read or added.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Refused(pub String);

impl std::fmt::Display for Refused {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.write_str(&self.0)
    }
}

impl std::error::Error for Refused {}

fn refused<T>(why: impl Into<String>) -> Result<T, Refused> {
    Err(Refused(why.into()))
}

fn fnv(hash: u64, bytes: &[u8]) -> u64 {
    bytes.iter().fold(hash, |h, &b| (h ^ u64::from(b)).wrapping_mul(0x0000_0100_0000_01b3))
}

/// LLVM's tools take bit 60 of a hash for a kind of record that they do not show; the rest is for more such.
const PLAIN_HASH: u64 = (1 << 60) - 1;

const FNV: u64 = 0xcbf2_9ce4_8422_2325;

fn plain(name: &str) -> String {
    let keep = |c: char| c.is_ascii_alphanumeric() || matches!(c, '.' | '_' | '$');
    name.chars().map(|c| if keep(c) { c } else { '_' }).collect()
}

impl Profile {
    /// Of a trace; of one pass where it has more than one.
    pub fn of_trace(trace: &dyn Source, pass: Option<&str>) -> Result<Profile, Unreadable> {
        let (context, counts) = (Context::read(trace)?, Counts::read(trace, pass)?);
        let mut what = counts.unit.to_string();
        if counts.sample > 1 {
            let _ = write!(what, ", 1 in {}", counts.sample);
        }
        if counts.plain {
            what.push_str(", added without atomics");
        }
        let t = trace.read(&EDGES)?;
        let mut successors: BTreeMap<(u64, u64, u64), Vec<u64>> = BTreeMap::new();
        for r in 0..t.len() {
            let at = (t.u64("variant")[r], t.u64("function")[r], t.u64("from")[r]);
            successors.entry(at).or_default().push(t.u64("to")[r]);
        }
        let mut profile = Profile { what, functions: BTreeMap::new() };
        for (&entry, of) in &counts.entries {
            let Some(e) = context.entry(entry) else { continue };
            let functions = context.functions(entry);
            let short: Vec<String> =
                functions.iter().map(|f| plain(f.name.split('(').next().unwrap_or_default())).collect();
            for (n, f) in (0..).zip(functions).filter(|f| !f.1.blocks.is_empty()) {
                let own = &short[n as usize];
                let name = match own.as_str() {
                    "" => format!("{}", f.id),
                    own if short.iter().filter(|s| *s == own).count() > 1 => format!("{own}_{}", f.id),
                    own => own.to_owned(),
                };
                let mut hash = FNV;
                for (b, block) in (0..).zip(&f.blocks) {
                    hash = fnv(hash, &block.instructions.to_le_bytes());
                    for s in successors.get(&(e.variant, n, b)).into_iter().flatten() {
                        hash = fnv(hash, &s.to_le_bytes());
                    }
                }
                let count = |b: usize| of.get(&(n, b as u64)).copied().unwrap_or(0);
                let record =
                    Record { hash: hash & PLAIN_HASH, counts: (0..f.blocks.len()).map(count).collect() };
                let name = format!("{}.{}.{name}", e.shader, plain(&e.name));
                profile.put(name, record).map_err(|e| Unreadable(e.0))?;
            }
        }
        Ok(profile)
    }

    fn put(&mut self, name: String, record: Record) -> Result<(), Refused> {
        let Some(own) = self.functions.get_mut(&name) else {
            self.functions.insert(name, record);
            return Ok(());
        };
        if own.hash != record.hash || own.counts.len() != record.counts.len() {
            return refused(format!(
                "function {name} is of another structure in one of the profiles: {} blocks, hash {:#x}, and {} blocks, \
                 hash {:#x}; profiles of different shaders or builds do not add up",
                own.counts.len(),
                own.hash,
                record.counts.len(),
                record.hash
            ));
        }
        for (sum, n) in own.counts.iter_mut().zip(record.counts) {
            *sum = match sum.checked_add(n) {
                Some(s) => s,
                None => return refused(format!("function {name}: the sum of executions is over 2^64")),
            };
        }
        Ok(())
    }

    /// Adds another run's.
    pub fn add(&mut self, other: Profile) -> Result<(), Refused> {
        if self.what != other.what {
            return refused(format!(
                "one profile counts {}, another {}; they do not add up",
                self.what, other.what
            ));
        }
        other.functions.into_iter().try_for_each(|(name, record)| self.put(name, record))
    }

    /// As text.
    pub fn text(&self) -> String {
        let mut out = format!("# executions of basic blocks, counted in: {}\n:ir\n:entry_first\n", self.what);
        for (name, r) in &self.functions {
            let _ = write!(out, "{name}\n# Func Hash:\n{}\n# Num Counters:\n{}\n", r.hash, r.counts.len());
            out.push_str("# Counter Values:\n");
            r.counts.iter().for_each(|n| {
                let _ = writeln!(out, "{n}");
            });
            out.push('\n');
        }
        out
    }

    /// From text, ours or what LLVM's tools write; from there nothing says what is counted.
    pub fn of_text(text: &str) -> Result<Profile, Refused> {
        let mut profile = Profile { what: "invocations".into(), functions: BTreeMap::new() };
        if let Some(what) =
            text.lines().find_map(|l| l.strip_prefix("# executions of basic blocks, counted in: "))
        {
            profile.what = what.to_owned();
        }
        let mut lines = (1..)
            .zip(text.lines())
            .filter(|(_, l)| !l.is_empty() && !l.starts_with('#') && !matches!(*l, ":ir" | ":entry_first"));
        while let Some((at, name)) = lines.next() {
            if name.starts_with(':') {
                return refused(format!("line {at}: {name:?} is not known; only profiles of kind :ir are"));
            }
            let mut number = |what: &str| match lines.next().map(|(at, l)| (at, l.trim().parse::<u64>())) {
                Some((_, Ok(n))) => Ok(n),
                Some((at, Err(_))) => refused(format!("line {at}: {what} of {name} is no number")),
                None => refused(format!("the file ends within {name}, before {what}")),
            };
            let hash = number("the hash")?;
            let n = number("the number of counters")?;
            let counts = (0..n).map(|_| number("a counter")).collect::<Result<Vec<u64>, _>>()?;
            if profile.functions.contains_key(name) {
                return refused(format!("line {at}: {name} is there twice"));
            }
            profile.put(name.to_owned(), Record { hash, counts })?;
        }
        Ok(profile)
    }

    /// As bytes.
    pub fn bytes(&self) -> Vec<u8> {
        let mut out = MAGIC.to_vec();
        out.extend(VERSION.to_le_bytes());
        let name = |out: &mut Vec<u8>, name: &str| {
            let bytes = &name.as_bytes()[..name.len().min(u16::MAX.into())];
            out.extend((bytes.len() as u16).to_le_bytes());
            out.extend(bytes);
        };
        name(&mut out, &self.what);
        out.extend((self.functions.len() as u32).to_le_bytes());
        for (n, r) in &self.functions {
            name(&mut out, n);
            out.extend(r.hash.to_le_bytes());
            out.extend((r.counts.len() as u32).to_le_bytes());
            r.counts.iter().for_each(|c| out.extend(c.to_le_bytes()));
        }
        out.extend(fnv(FNV, &out).to_le_bytes());
        out
    }

    /// From bytes.
    pub fn of_bytes(bytes: &[u8]) -> Result<Profile, Refused> {
        let Some((rest, sum)) = bytes.split_last_chunk::<8>().filter(|b| b.0.starts_with(MAGIC)) else {
            return refused("it does not begin as a profile does");
        };
        if fnv(FNV, rest) != u64::from_le_bytes(*sum) {
            return refused("the file was cut off or changed: its sum is not right");
        }
        let mut at = Reader(&rest[MAGIC.len()..]);
        let version = at.u32()?;
        if version != VERSION {
            return refused(format!("it is of version {version}; this build reads {VERSION}"));
        }
        let mut profile = Profile { what: at.name()?, functions: BTreeMap::new() };
        for _ in 0..at.u32()? {
            let name = at.name()?;
            let hash = at.u64()?;
            let n = at.u32()?;
            let counts = (0..n).map(|_| at.u64()).collect::<Result<Vec<u64>, _>>()?;
            profile.put(name, Record { hash, counts })?;
        }
        if !at.0.is_empty() {
            return refused(format!("{} bytes follow the last function", at.0.len()));
        }
        Ok(profile)
    }

    /// From either form.
    pub fn of_file(bytes: &[u8]) -> Result<Profile, Refused> {
        if bytes.starts_with(MAGIC) {
            return Profile::of_bytes(bytes);
        }
        match std::str::from_utf8(bytes) {
            Ok(text) => Profile::of_text(text),
            Err(_) => refused("it is neither a binary profile nor text"),
        }
    }
}

struct Reader<'a>(&'a [u8]);

impl Reader<'_> {
    fn take<const N: usize>(&mut self) -> Result<[u8; N], Refused> {
        match self.0.split_first_chunk::<N>() {
            Some((these, rest)) => {
                self.0 = rest;
                Ok(*these)
            }
            None => refused("the file ends within a function"),
        }
    }

    fn u32(&mut self) -> Result<u32, Refused> {
        self.take().map(u32::from_le_bytes)
    }

    fn u64(&mut self) -> Result<u64, Refused> {
        self.take().map(u64::from_le_bytes)
    }

    fn name(&mut self) -> Result<String, Refused> {
        let n = usize::from(u16::from_le_bytes(self.take()?));
        let Some((these, rest)) = self.0.split_at_checked(n) else {
            return refused("the file ends within a name");
        };
        self.0 = rest;
        String::from_utf8(these.to_vec()).or_else(|_| refused("a name is no text"))
    }
}
