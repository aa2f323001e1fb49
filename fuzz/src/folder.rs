//! Folders of a trace or a run, in memory: what they are read from, and what is done to their files.
//!
//! Tables carry checksums, which whoever sends a file can make right: so [`resum`] does, after bytes were changed.
//! Guarantees: the same random numbers give the same folder. Refuses nothing: what does not look like a table is left as it
//! is.

use std::collections::BTreeMap;
use std::io;
use std::path::Path;
use std::sync::Arc;

use gfxr_parse::container::{Compression, Compressor, Payload, Scratch};
use serde_json::Value;
use trace::dir::Bytes;

use crate::calls::mutate_bytes;
use crate::rng::Rng;

/// Files by name.
pub type Folder = BTreeMap<String, Vec<u8>>;

/// Marks of a table's file (`trace/src/dir/mod.rs`).
const HEAD: &[u8] = b"RRTABLE\0";
const CHUNK: &[u8] = b"CHNK";
const INDEX: &[u8] = b"INDX";
/// Of a column in a chunk's head: encoding, sizes, sum.
const COLUMN: usize = 1 + 4 + 4 + 8;

/// How the readers of folders open a file.
pub fn opener(folder: Folder) -> impl Fn(&Path) -> io::Result<Bytes> + Send + Sync + 'static {
    let files: BTreeMap<String, Arc<Vec<u8>>> = folder.into_iter().map(|(n, b)| (n, Arc::new(b))).collect();
    move |path| {
        let name = path.file_name().map(|n| n.to_string_lossy().into_owned()).unwrap_or_default();
        files.get(&name).map(|b| b.clone() as Bytes).ok_or_else(|| io::ErrorKind::NotFound.into())
    }
}

/// The files of a folder on disk.
pub fn read(folder: &Path) -> io::Result<Folder> {
    let mut files = Folder::new();
    for entry in std::fs::read_dir(folder)? {
        let entry = entry?;
        files.insert(entry.file_name().to_string_lossy().into_owned(), std::fs::read(entry.path())?);
    }
    Ok(files)
}

/// Changes a file or a few.
pub fn mutate(folder: &mut Folder, rng: &mut Rng) {
    for _ in 0..1 + rng.below(3) {
        let names: Vec<String> = folder.keys().cloned().collect();
        if names.is_empty() {
            return;
        }
        let name = rng.pick(&names).clone();
        match rng.below(12) {
            0 => drop(folder.remove(&name)),
            1 => {
                let other = folder[rng.pick(&names)].clone();
                folder.insert(name, other);
            }
            2 => {
                // A trace that broke off.
                if let Some(bytes) = folder.remove("manifest.json") {
                    folder.insert("manifest.json.partial".to_string(), bytes);
                }
            }
            _ => {
                if let Some(file) = folder.get_mut(&name) {
                    if name.ends_with(".table") { table(file, rng) } else { json(file, rng) }
                }
            }
        }
    }
}

/// Changes a JSON file: a value in it, or a byte.
pub fn json(file: &mut Vec<u8>, rng: &mut Rng) {
    match serde_json::from_slice::<Value>(file) {
        Ok(mut value) if rng.chance(7, 8) => {
            for _ in 0..1 + rng.below(3) {
                json_value(&mut value, rng);
            }
            *file = serde_json::to_vec(&value).unwrap_or_default();
        }
        _ => mutate_bytes(file, rng),
    }
}

/// Texts that are mishandled somewhere.
pub const WORDS: [&str; 10] =
    ["", "0", "../../x", "a/b", "<script>alert(1)</script>", "\"'&<>", "\u{1b}[31m", "é\u{202e}x", "\0", "-"];

fn json_value(value: &mut Value, rng: &mut Rng) {
    let inner = match value {
        Value::Array(all) if !all.is_empty() && rng.chance(5, 6) => {
            let n = rng.below(all.len());
            match rng.below(8) {
                0 => return drop(all.remove(n)),
                1 => return all.insert(n, all[n].clone()),
                _ => &mut all[n],
            }
        }
        Value::Object(all) if !all.is_empty() && rng.chance(7, 8) => {
            let n = rng.below(all.len());
            let key = all.keys().nth(n).cloned().unwrap_or_default();
            if rng.chance(1, 8) {
                all.remove(&key);
                return;
            }
            all.entry(key).or_insert(Value::Null)
        }
        other => {
            *other = match rng.below(9) {
                0 => Value::Null,
                1 => Value::from(0),
                2 => Value::from(-1),
                3 => Value::from(rng.edge()),
                4 => Value::from(1e308),
                5 => Value::from(*rng.pick(&WORDS)),
                6 => Value::from("x".repeat(1 + rng.below(5000))),
                7 => Value::Array(vec![]),
                _ => serde_json::json!({}),
            };
            return;
        }
    };
    json_value(inner, rng);
}

/// Changes a table's file, most of the time with sums that are right again.
fn table(file: &mut Vec<u8>, rng: &mut Rng) {
    let chunks = chunks(file);
    match (rng.below(4), chunks.first()) {
        (0, _) | (_, None) => mutate_bytes(file, rng),
        (1, Some(&(start, columns))) => {
            // The head of the chunk: rows, encodings, sizes.
            let at = start + 4 + rng.below(4 + columns * COLUMN);
            if let Some(field) = file.get_mut(at..at + 4) {
                field.copy_from_slice(&(rng.edge() as u32).to_le_bytes());
            }
        }
        (_, Some(&(start, columns))) => column(file, start, columns, rng),
    }
    if rng.chance(7, 8) {
        resum(file);
    }
}

/// Changes what a column holds, before it is compressed.
fn column(file: &mut Vec<u8>, start: usize, columns: usize, rng: &mut Rng) {
    let heads = start + 8;
    let which = rng.below(columns.max(1));
    let size = |file: &[u8], n: usize, at: usize| number(file, heads + n * COLUMN + at);
    let before: Option<usize> = (0..which).map(|n| size(file, n, 5)).sum();
    let Some((raw, stored)) = size(file, which, 1).zip(size(file, which, 5)) else { return };
    let Some(from) = before.map(|b| heads + columns * COLUMN + 8 + b) else { return };
    let Some(bytes) = file.get(from..from + stored) else { return };
    let mut scratch = Scratch::new();
    let Ok(plain) = Payload::compressed(bytes, Compression::Zstd, raw as u64, 0, 0).bytes(&mut scratch)
    else {
        return;
    };
    let mut plain = plain.to_vec();
    mutate_bytes(&mut plain, rng);
    let mut compressor = Compressor::new(Compression::Zstd);
    let Ok(Some(packed)) = compressor.compress(&plain) else { return };
    let head = heads + which * COLUMN;
    file[head + 1..head + 5].copy_from_slice(&(plain.len() as u32).to_le_bytes());
    file[head + 5..head + 9].copy_from_slice(&(packed.len() as u32).to_le_bytes());
    let grown = packed.len() as i64 - stored as i64;
    file.splice(from..from + stored, packed.iter().copied());
    // What lies behind has moved: the index says so only if this was the last chunk; what else it says is part of the test.
    if let Some(at) = file.windows(4).rposition(|w| w == INDEX)
        && let Some(n) = number(file, at + 4)
        && let Some(place) = file.get_mut(at + 8 + 12 * n..at + 16 + 12 * n)
    {
        let old = u64::from_le_bytes(place.try_into().expect("8 bytes"));
        place.copy_from_slice(&old.wrapping_add_signed(grown).to_le_bytes());
    }
}

/// Where chunks begin, and how many columns they have.
fn chunks(file: &[u8]) -> Vec<(usize, usize)> {
    let Some((mut at, columns)) = header(file) else { return vec![] };
    let mut found = vec![];
    while file.get(at..at + 4) == Some(CHUNK) {
        found.push((at, columns));
        match chunk_end(file, at, columns) {
            Some(end) if end > at => at = end,
            _ => break,
        }
    }
    found
}

/// Where the header ends, and how many columns it names.
fn header(file: &[u8]) -> Option<(usize, usize)> {
    if !file.starts_with(HEAD) {
        return None;
    }
    let columns = number(file, 16)?;
    let mut at = 20 + 1 + usize::from(*file.get(20)?);
    for _ in 0..columns.min(1 << 12) {
        at += 2 + usize::from(*file.get(at + 1)?);
    }
    Some((at + 8, columns))
}

fn chunk_end(file: &[u8], at: usize, columns: usize) -> Option<usize> {
    let data: Option<usize> = (0..columns).map(|n| number(file, at + 8 + n * COLUMN + 5)).sum();
    Some(at + 8 + columns * COLUMN + 8 + data?)
}

/// Makes every checksum right.
pub fn resum(file: &mut [u8]) {
    let Some((first, columns)) = header(file) else { return };
    seal(file, 0, first - 8);
    let mut at = first;
    while file.get(at..at + 4) == Some(CHUNK) {
        let heads = at + 8;
        let mut data = heads + columns * COLUMN + 8;
        for n in 0..columns {
            let Some(stored) = number(file, heads + n * COLUMN + 5) else { return };
            let Some(sum) = file.get(data..data.saturating_add(stored)).map(sum) else { return };
            file[heads + n * COLUMN + 9..][..8].copy_from_slice(&sum);
            data += stored;
        }
        seal(file, at, heads + columns * COLUMN);
        at = data;
    }
    if file.get(at..at + 4) == Some(INDEX)
        && let Some(n) = number(file, at + 4)
    {
        seal(file, at, at + 8 + 12 * n + 8);
    }
}

/// The sum of `from..to` is written at `to`.
fn seal(file: &mut [u8], from: usize, to: usize) {
    if let Some(sum) = file.get(from..to).map(sum)
        && let Some(place) = file.get_mut(to..to + 8)
    {
        place.copy_from_slice(&sum);
    }
}

/// The first eight bytes of BLAKE3.
pub fn sum(bytes: &[u8]) -> [u8; 8] {
    std::array::from_fn(|i| blake3::hash(bytes).as_bytes()[i])
}

fn number(file: &[u8], at: usize) -> Option<usize> {
    Some(u32::from_le_bytes(file.get(at..at.checked_add(4)?)?.try_into().ok()?) as usize)
}
