//! Metadata and annotations, edited.
//!
//! Numbers are looked for: such blocks are small and their fields few, so each place before the contents that holds what was printed is tried with what is
//! wanted. Texts and contents are put into the fields that have them. Guarantees: the block, read and printed again, says what was wanted and nothing else is
//! another, and what is not printed stays. Refuses arrays of another length, counts of elements, UUIDs, sizes of contents without the contents, and
//! texts that have no room in their field.

#[cfg(test)]
mod tests;

use super::paths::{MOST, below, contents, refused, too_many};
use super::places::{bits, width};
use super::{Change, Editor, differences};
use crate::container::fields::Text;
use crate::container::framing::HEADER_BYTES;
use crate::container::{Block, BlockKind, Payload, Scratch};
use crate::error::Error;
use crate::meta::environment::DELIMITER;
use crate::meta::{Meta, MetaBlock};
use crate::print::PLACEHOLDER;
use crate::schema::generated::{ENUMS, STRUCTS};
use crate::schema::{StructDef, Ty};
use serde_json::Value;

/// What whole numbers in such blocks are.
const WHOLE: [Ty; 7] = [Ty::U64, Ty::U32, Ty::I64, Ty::I32, Ty::U16, Ty::U8, Ty::Bool32];
/// Where contents are printed.
const CONTENTS: &str = "/meta/args/data";
/// Bytes of a block in which fields are looked for.
const MOST_BYTES: usize = 1 << 16;

/// A block, and what is printed of it.
struct Edited {
    raw: Vec<u8>,
    print: Value,
}

impl Editor {
    /// The bytes of a block that is no call as `wanted` says, a printed line; none where it says what was printed.
    pub fn edit_block(&mut self, block: &Block, wanted: &Value) -> Result<Option<Vec<u8>>, Error> {
        let unprinted = || Error::malformed("this kind of block is not printed and cannot be edited");
        let print = self.printed_block(block).ok_or_else(unprinted)?;
        let mut changes = vec![];
        differences(&print, wanted, "", &mut changes)?;
        if changes.is_empty() {
            return Ok(None);
        }
        if changes.len() > MOST {
            return Err(too_many("values", "block"));
        }
        let mut now = Edited { raw: block.raw().to_vec(), print };
        for change in &changes {
            // (a size that follows from contents)
            if now.print.pointer(&change.path) == Some(&change.wanted) {
                continue;
            }
            if ["/index", "/meta/name"].contains(&&*change.path) {
                return Err(refused(&change.path, "only the block's fields can be edited"));
            }
            let sizes = ["/meta/args/size", "/meta/args/data_size"];
            if sizes.contains(&&*change.path) && now.print.pointer(CONTENTS).is_some() {
                return Err(refused(
                    &change.path,
                    "it follows from the contents, which a file named by \"data\" gives",
                ));
            }
            if change.path.starts_with("/meta/args/p") && counts(&change.path) {
                return Err(refused(
                    &change.path,
                    "it counts elements, of which there are as many as before",
                ));
            }
            let at = block.with_raw(&now.raw);
            now = if change.path == CONTENTS && change.was == PLACEHOLDER {
                let file = change.wanted.as_str().unwrap_or_default();
                let bytes = contents(&self.folder, file, &change.path)?;
                let raw = filled(&at, &bytes).map_err(|e| refused(&change.path, &e.to_string()))?;
                let print = self.printed_block(&block.with_raw(&raw)).ok_or_else(unprinted)?;
                Edited { raw, print }
            } else {
                let found =
                    self.number(&at, &now.print, change).or_else(|| self.text(&at, &now.print, change));
                found.ok_or_else(|| refused(&change.path, "expected another value of its kind and range"))?
            };
        }
        let levels = |raw: &[u8]| levels_fit(&block.with_raw(raw));
        if levels(block.raw()) && !levels(&now.raw) {
            let why = "the levels' sizes have to add up to that of the contents";
            return Err(refused("/meta/args/level_sizes", why));
        }
        Ok((now.raw != block.raw()).then_some(now.raw))
    }

    /// The block with a number changed.
    fn number(&mut self, block: &Block, print: &Value, change: &Change) -> Option<Edited> {
        let raw = block.raw();
        // (flags are written as a number, or as names)
        let named = ENUMS.iter().enumerate().filter(|(_, e)| {
            let mut names = [&change.was, &change.wanted].into_iter().filter_map(|v| v.as_str());
            names.any(|n| n.split('|').any(|name| e.values.iter().any(|v| v.1 == name)))
        });
        let enums = named.map(|(id, e)| if e.bitmask { Ty::Flags(id as u16) } else { Ty::Enum(id as u16) });
        let floats = [Ty::F32, Ty::F64].into_iter().filter(|_| change.was.is_f64());
        for ty in WHOLE.into_iter().chain(floats).chain(enums) {
            let Some((old, new)) = bits(ty, &change.was).zip(bits(ty, &change.wanted)) else { continue };
            if old == new && matches!(ty, Ty::Flags(_) | Ty::Enum(_)) {
                return Some(Edited { raw: raw.to_vec(), print: print.clone() });
            }
            let size = width(ty) as usize / 8;
            let (old, new) = (&old.to_le_bytes()[..size], &new.to_le_bytes()[..size]);
            for at in HEADER_BYTES..(fields(block) + 1).saturating_sub(size) {
                if &raw[at..at + size] == old {
                    let mut tried = raw.to_vec();
                    tried[at..at + size].copy_from_slice(new);
                    // (a float is what its bits say)
                    let same = |v: &Value| bits(ty, v) == bits(ty, &change.wanted);
                    if let Some(found) = self.reads(block, tried, print, &change.path, same) {
                        return Some(found);
                    }
                }
            }
        }
        None
    }

    /// The block with a text changed.
    fn text(&mut self, block: &Block, print: &Value, change: &Change) -> Option<Edited> {
        let (was, wanted) = (change.was.as_str()?, change.wanted.as_str()?);
        let kind = block.kind().ok()?;
        let same = |v: &Value| *v == change.wanted;
        if let BlockKind::Meta(m) = &kind
            && let Meta::Environment(e) = &m.meta
        {
            let others: Vec<Vec<u8>> =
                e.raw.0.split(|b| *b == DELIMITER).map(|one| variable(one, &change.path, wanted)).collect();
            let all = others.join(&DELIMITER);
            let mut kind = kind.clone();
            *texts(&mut kind).into_iter().next()? = Text(&all);
            return self.reads(block, written(&kind), print, &change.path, same);
        }
        (0..texts(&mut kind.clone()).len()).find_map(|n| {
            let mut kind = kind.clone();
            let mut all = texts(&mut kind);
            if all[n].text() != was && all[n].until_nul().text() != was {
                return None;
            }
            let with = in_field(all[n].0, wanted)?;
            *all[n] = Text(&with);
            drop(all);
            self.reads(block, written(&kind), print, &change.path, same)
        })
    }

    /// These bytes, if what is printed of them is the wanted at `path`, and everywhere else as it was.
    fn reads(
        &mut self,
        block: &Block,
        raw: Vec<u8>,
        before: &Value,
        path: &str,
        same: impl Fn(&Value) -> bool,
    ) -> Option<Edited> {
        let print = self.printed_block(&block.with_raw(&raw))?;
        let (mut expected, value) = (before.clone(), print.pointer(path)?.clone());
        *expected.pointer_mut(path)? = value.clone();
        (same(&value) && expected == print).then_some(Edited { raw, print })
    }

    pub(super) fn printed_block(&mut self, block: &Block) -> Option<Value> {
        self.printer.block(block).ok()?;
        self.drained().ok()
    }
}

/// Where the fields of a block end: behind them come contents.
fn fields(block: &Block) -> usize {
    let contents = block.kind().ok().and_then(|k| k.payload().map(|p| p.raw().len()));
    block.raw().len().saturating_sub(contents.unwrap_or(0)).min(MOST_BYTES)
}

/// The texts of a block's fields.
fn texts<'k, 'a>(kind: &'k mut BlockKind<'a>) -> Vec<&'k mut Text<'a>> {
    match kind {
        BlockKind::Annotation(a) => vec![&mut a.label, &mut a.data],
        BlockKind::Meta(m) => m.meta.texts_mut(),
        _ => vec![],
    }
}

/// A text in place of another; where that ends with a NUL in a field of so many bytes, in the field, if it has room.
fn in_field(field: &[u8], wanted: &str) -> Option<Vec<u8>> {
    if !field.contains(&0) {
        return Some(wanted.into());
    }
    let mut with = field.to_vec();
    let (text, behind) = with.split_at_mut_checked(wanted.len())?;
    text.copy_from_slice(wanted.as_bytes());
    *behind.first_mut()? = 0;
    Some(with)
}

/// The last member of a path says how many elements an array beside it has.
fn counts(path: &str) -> bool {
    let name = path.rsplit('/').next().unwrap_or_default();
    let is = |s: &StructDef| {
        s.members.iter().filter_map(|m| m.len.counter()).any(|n| s.members[usize::from(n)].name == name)
    };
    STRUCTS.iter().any(is)
}

/// The sizes of an image's levels add up to that of its contents.
fn levels_fit(block: &Block) -> bool {
    match block.kind() {
        Ok(BlockKind::Meta(MetaBlock { meta: Meta::InitImage(m), .. })) => {
            m.level_bytes.iter().copied().try_fold(0, u64::checked_add) == Some(m.data.size())
        }
        _ => true,
    }
}

/// An environment variable with another value, if it is that of this path; the NUL behind it stays.
fn variable(one: &[u8], path: &str, wanted: &str) -> Vec<u8> {
    let text = Text(one).until_nul().0;
    let name = text.split(|b| *b == b'=').next().unwrap_or_default();
    if path != below("/meta/args", &Text(name).text()) || name.is_empty() {
        return one.to_vec();
    }
    [name, b"=", wanted.as_bytes(), &one[text.len()..]].concat()
}

/// A block with other contents, uncompressed; itself where they are the same.
fn filled(block: &Block, with: &[u8]) -> Result<Vec<u8>, Error> {
    let mut kind = block.kind()?;
    let mut scratch = Scratch::new();
    let same = match &mut kind {
        BlockKind::Meta(m) => match &mut m.meta {
            Meta::OpaqueDescriptor(m) => std::mem::replace(&mut m.data, with) == with,
            Meta::ShaderGroups(m) => std::mem::replace(&mut m.handles, with) == with,
            meta => {
                let none = || Error::malformed("contents of this kind of block cannot be replaced");
                let payload = meta.payload_mut().ok_or_else(none)?;
                std::mem::replace(payload, Payload::plain(with)).bytes(&mut scratch)? == with
            }
        },
        _ => true,
    };
    Ok(if same { block.raw().to_vec() } else { written(&kind) })
}

fn written(kind: &BlockKind) -> Vec<u8> {
    let mut raw = vec![];
    kind.write(&mut raw);
    raw
}
