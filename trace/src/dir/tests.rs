//! Traces written and read again: whole, cut off at every byte, damaged at every byte.

use super::file::TableFile;
use super::{Bytes, Capture, Dir, Manifest, Writer, limits};
use crate::table::{Kind, count, text};
use crate::tables::{BLOCKS, SIMT, TABLES};
use crate::{Column, Columns, Source, Table, Value};
use std::path::PathBuf;
use std::sync::Arc;
use std::sync::atomic::{AtomicU64, Ordering};

static MIXED: Table = Table {
    name: "mixed",
    about: "a row of each kind",
    version: 3,
    columns: &[
        count("n", "things", ""),
        Column { name: "x", kind: Kind::F64, unit: "ms", about: "", since: 1 },
        text("word", ""),
    ],
};

/// A folder of this test's own, removed at the end.
struct Scratch(PathBuf);

impl Scratch {
    fn new(name: &str) -> Self {
        // Tests run side by side, and some make the same file.
        static MADE: AtomicU64 = AtomicU64::new(0);
        let made = MADE.fetch_add(1, Ordering::Relaxed);
        let folder = std::env::temp_dir().join(format!("reray-trace-{}-{name}-{made}", std::process::id()));
        let _ = std::fs::remove_dir_all(&folder);
        Scratch(folder)
    }
}

impl Drop for Scratch {
    fn drop(&mut self) {
        let _ = std::fs::remove_dir_all(&self.0);
    }
}

fn simt_row(n: u64) -> Vec<Value<'static>> {
    [n / 1000, n % 7, 0, n % 13, 8, n * n, n].map(Value::U64).to_vec()
}

fn manifest() -> Manifest {
    Manifest {
        program: "a test".into(),
        capture: Capture { name: "c.gfxr".into(), size_bytes: 5, blake3: "00".into() },
        ..Manifest::default()
    }
}

#[test]
fn what_is_put_comes_back() {
    let scratch = Scratch::new("round");
    let rows = limits::CHUNK_ROWS as u64 * 2 + 5;
    let mut w = Writer::create(&scratch.0, manifest()).unwrap();
    let mut expected = Columns::new(&SIMT);
    for n in 0..rows {
        w.put(&SIMT, &simt_row(n));
        expected.push(&simt_row(n));
    }
    w.manifest().frames = vec![1, 2];
    let written = w.finish().unwrap();
    assert!(written.complete);
    let dir = Dir::open(&scratch.0).unwrap();
    assert_eq!(dir.manifest(), &written);
    assert_eq!((dir.rows(&SIMT), dir.rows(&BLOCKS)), (Some(rows), None));
    assert!(dir.warnings().is_empty());
    assert_eq!(dir.read(&SIMT).unwrap(), expected);
    assert!(dir.read(&BLOCKS).unwrap().is_empty());
    let mut lengths = vec![];
    let mut frames = vec![];
    dir.each(&SIMT, &mut |c| {
        lengths.push(c.len());
        frames.extend_from_slice(c.u64("frame"));
        Ok(())
    })
    .unwrap();
    assert_eq!(lengths, [limits::CHUNK_ROWS, limits::CHUNK_ROWS, 5]);
    assert_eq!(frames, expected.u64("frame"));
    let mut some = vec![];
    dir.each_of(&SIMT, &["invocations", "block"], &mut |c| {
        assert_eq!((c.u64("frame").len(), c.len()), (0, c.u64("block").len()));
        some.extend_from_slice(c.u64("invocations"));
        Ok(())
    })
    .unwrap();
    assert_eq!(some, expected.u64("invocations"));
    let mut names: Vec<_> = std::fs::read_dir(&scratch.0)
        .unwrap()
        .map(|e| e.unwrap().file_name().into_string().unwrap())
        .collect();
    names.sort();
    assert_eq!(names, ["manifest.json", "simt.table"]);
    // 65,541 rows of 6 numbers; the squares alone have 5 bytes each.
    assert!(written.tables[0].size_bytes < rows * 6, "{} bytes", written.tables[0].size_bytes);
}

#[test]
fn of_a_trace_that_is_given_up_nothing_stays() {
    let scratch = Scratch::new("given-up");
    let mut w = Writer::create(&scratch.0, manifest()).unwrap();
    assert!(w.is_empty());
    w.put(&SIMT, &simt_row(1));
    assert!(!w.is_empty());
    w.abandon();
    assert_eq!(std::fs::read_dir(&scratch.0).unwrap().count(), 0);
}

#[test]
fn a_trace_that_broke_off_says_so() {
    let scratch = Scratch::new("broken-off");
    let mut w = Writer::create(&scratch.0, manifest()).unwrap();
    for n in 0..10 {
        w.put(&SIMT, &simt_row(n));
    }
    w.flush().unwrap();
    (10..14).for_each(|n| w.put(&SIMT, &simt_row(n)));
    drop(w);
    let dir = Dir::open(&scratch.0).unwrap();
    assert_eq!(dir.read(&SIMT).unwrap().len(), 14);
    assert!(dir.warnings()[0].contains("was not finished"), "{:?}", dir.warnings());

    // Cut off anywhere: whole chunks only, and it says how much is left out.
    let path = scratch.0.join("simt.table.partial");
    let all = std::fs::read(&path).unwrap();
    let (mut seen, mut where_parts_end) = (std::collections::BTreeSet::new(), 0);
    for end in 0..all.len() {
        std::fs::write(&path, &all[..end]).unwrap();
        let dir = Dir::open(&scratch.0).unwrap();
        let rows = dir.read(&SIMT).unwrap().len();
        assert!([0, 10].contains(&rows), "{rows} at {end}");
        seen.insert(rows);
        where_parts_end += usize::from(dir.warnings().len() == 1);
    }
    assert_eq!(seen.into_iter().collect::<Vec<_>>(), [0, 10]);
    // Behind the header and behind the first chunk: there nothing is left out.
    assert_eq!(where_parts_end, 2);
}

#[test]
fn a_damaged_trace_is_refused_with_its_place() {
    let scratch = Scratch::new("damaged");
    let mut w = Writer::create(&scratch.0, manifest()).unwrap();
    (0..10).for_each(|n| w.put(&SIMT, &simt_row(n)));
    w.finish().unwrap();
    let path = scratch.0.join("simt.table");
    let all = std::fs::read(&path).unwrap();

    std::fs::write(&path, &all[..all.len() - 3]).unwrap();
    let e = Dir::open(&scratch.0).unwrap().read(&SIMT).unwrap_err().to_string();
    assert!(e.contains(&format!("simt.table, byte {}", all.len() - 3)) && e.contains("copy it again"), "{e}");

    std::fs::remove_file(&path).unwrap();
    let e = Dir::open(&scratch.0).unwrap().read(&SIMT).unwrap_err().to_string();
    assert!(e.contains("simt is missing"), "{e}");

    let manifest = scratch.0.join("manifest.json");
    let json = std::fs::read_to_string(&manifest).unwrap();
    std::fs::write(&manifest, json.replace("\"schema_version\": 1", "\"schema_version\": 9")).unwrap();
    let e = Dir::open(&scratch.0).err().unwrap().to_string();
    assert!(e.contains("schema_version 9; this program reads 1"), "{e}");
    std::fs::write(&manifest, "{").unwrap();
    assert!(Dir::open(&scratch.0).err().unwrap().to_string().contains("no trace's manifest"));
    std::fs::remove_file(&manifest).unwrap();
    let e = Dir::open(&scratch.0).err().unwrap().to_string();
    assert!(e.contains("name a folder that `reray-replay profile` wrote"), "{e}");
}

#[test]
fn other_folders_are_left_alone_and_traces_replaced() {
    let scratch = Scratch::new("replace");
    for rows in [3, 2] {
        let mut w = Writer::create(&scratch.0, manifest()).unwrap();
        (0..rows).for_each(|n| w.put(&SIMT, &simt_row(n)));
        w.finish().unwrap();
        assert_eq!(Dir::open(&scratch.0).unwrap().read(&SIMT).unwrap().len() as u64, rows);
    }
    std::fs::remove_file(scratch.0.join("manifest.json")).unwrap();
    let e = Writer::create(&scratch.0, manifest()).err().unwrap().to_string();
    assert!(e.contains("name a new folder"), "{e}");
    assert!(scratch.0.join("simt.table").exists());
}

#[test]
fn wrong_rows_fail_and_nothing_more_is_written() {
    let scratch = Scratch::new("wrong");
    let mut w = Writer::create(&scratch.0, manifest()).unwrap();
    w.put(&MIXED, &[Value::U64(1), Value::F64(0.5), Value::U64(1)]);
    assert!(w.failed().unwrap().0.contains("column word"), "{:?}", w.failed());
    w.put(&MIXED, &[Value::U64(1), Value::F64(0.5), Value::Text("fine")]);
    assert!(w.finish().unwrap_err().0.contains("table mixed was not written"));
}

/// A file of three chunks with all kinds.
fn mixed() -> (Vec<u8>, Columns) {
    let scratch = Scratch::new("mixed");
    let mut w = Writer::create(&scratch.0, manifest()).unwrap();
    let mut expected = Columns::new(&MIXED);
    for n in 0..60u64 {
        let word = ["main", "shade", ""][n as usize % 3];
        let row = [Value::U64(n * 3), Value::F64(n as f64 / 8.0), Value::Text(word)];
        w.put(&MIXED, &row);
        expected.push(&row);
        if n % 25 == 24 {
            w.flush().unwrap();
        }
    }
    w.finish().unwrap();
    (std::fs::read(scratch.0.join("mixed.table")).unwrap(), expected)
}

fn read(bytes: &[u8], salvage: bool) -> Result<Columns, super::Bad> {
    let bytes: Bytes = Arc::new(bytes.to_vec());
    let file = if salvage { TableFile::salvage(bytes, &MIXED)? } else { TableFile::open(bytes, &MIXED)? };
    let mut columns = Columns::new(&MIXED);
    (0..file.chunks()).try_for_each(|c| file.read(c, &mut columns))?;
    Ok(columns)
}

#[test]
fn every_byte_counts() {
    let (all, expected) = mixed();
    assert_eq!(read(&all, false).unwrap(), expected);
    assert_eq!(read(&all, true).unwrap(), expected);
    for at in 0..all.len() {
        for flip in [0x01, 0x80, 0xff] {
            let mut damaged = all.clone();
            damaged[at] ^= flip;
            assert!(read(&damaged, false).is_err(), "byte {at} flipped by {flip:#x} goes unnoticed");
            // What can be saved is a beginning of what was there.
            if let Ok(saved) = read(&damaged, true) {
                assert_eq!(saved.u64("n"), &expected.u64("n")[..saved.len()], "byte {at}");
            }
        }
        assert!(read(&all[..at], false).is_err(), "cut off at {at}");
    }
}

/// Where a chunk's head has the checksum of itself.
fn head_end(begin: usize) -> usize {
    begin + 8 + MIXED.columns.len() * 17
}

/// Checksums hide lengths from the test above: here they are made to fit.
#[test]
fn lengths_are_not_trusted() {
    let (all, _) = mixed();
    let marks: Vec<usize> =
        (0..all.len() - 4).filter(|&at| [&b"CHNK"[..], b"INDX"].contains(&&all[at..at + 4])).collect();
    let trailer = all.len() - 24;
    let (index, chunks) = marks.split_last().unwrap();
    let heads = chunks.iter().map(|c| (*c, head_end(*c))).chain([(*index, trailer + 8)]);
    let mut refused = 0;
    for (begin, end) in heads {
        for at in begin..end {
            for value in [0, 1, 0x7f, 0xff] {
                let mut damaged = all.clone();
                damaged[at] = value;
                let sum = super::bytes::checksum(&damaged[begin..end]);
                damaged[end..end + 8].copy_from_slice(&sum);
                refused += usize::from(read(&damaged, false).is_err());
                let _ = read(&damaged, true);
            }
        }
    }
    assert!(refused > 500, "{refused}");
    // Columns that say something else, with sums that fit.
    let (begin, mut at) = (chunks[0], head_end(chunks[0]) + 8);
    let mut refused = 0;
    for column in 0..MIXED.columns.len() {
        let head = begin + 8 + column * 17;
        let length = u32::from_le_bytes(all[head + 5..head + 9].try_into().unwrap()) as usize;
        for byte in at..at + length {
            let mut damaged = all.clone();
            damaged[byte] ^= 0x55;
            let sum = super::bytes::checksum(&damaged[at..at + length]);
            damaged[head + 9..head + 17].copy_from_slice(&sum);
            let end = head_end(begin);
            let sum = super::bytes::checksum(&damaged[begin..end]);
            damaged[end..end + 8].copy_from_slice(&sum);
            refused += usize::from(read(&damaged, false).is_err());
        }
        at += length;
    }
    assert_eq!(at, chunks[1]);
    assert!(refused > 20, "{refused}");
}

/// Layout 1 had a checksum behind a chunk's columns, and none for each.
#[test]
fn the_layout_before_is_read() {
    let (new, expected) = mixed();
    let mut old = new[..].to_vec();
    let first = (0..).find(|at| new[*at..].starts_with(b"CHNK")).unwrap();
    old.truncate(first - 8);
    old[8..12].copy_from_slice(&1u32.to_le_bytes());
    let seal = |out: &mut Vec<u8>, from: usize| {
        let sum = super::bytes::checksum(&out[from..]);
        out.extend_from_slice(&sum);
    };
    seal(&mut old, 0);
    let mut chunks = vec![];
    let mut at = first;
    while new[at..].starts_with(b"CHNK") {
        let begin = old.len();
        let rows = u32::from_le_bytes(new[at + 4..at + 8].try_into().unwrap());
        old.extend_from_slice(&new[at..at + 8]);
        let mut stored = 0;
        for column in 0..MIXED.columns.len() {
            let head = &new[at + 8 + column * 17..][..9];
            old.extend_from_slice(head);
            stored += u32::from_le_bytes(head[5..].try_into().unwrap()) as usize;
        }
        at = head_end(at) + 8;
        old.extend_from_slice(&new[at..at + stored]);
        seal(&mut old, begin);
        at += stored;
        chunks.push(super::file::Chunk { at: begin as u64, rows });
    }
    let end = old.len() as u64;
    old.extend(super::file::index(&chunks, end));
    assert_eq!(read(&old, false).unwrap(), expected);
    assert_eq!(read(&old, true).unwrap(), expected);
    for at in 0..old.len() {
        let mut damaged = old.clone();
        damaged[at] ^= 0x40;
        assert!(read(&damaged, false).is_err(), "byte {at}");
    }
    old[8..12].copy_from_slice(&3u32.to_le_bytes());
    let e = read(&old, false).unwrap_err().why;
    assert!(e.contains("layout 3; this program reads layouts 1 to 2"), "{e}");
}

/// A damaged column does not keep anyone from the others.
#[test]
fn columns_that_came_later_are_nothing_in_what_was_written_before() {
    static BEFORE: Table = Table {
        name: "mixed",
        about: "",
        version: 1,
        columns: &[count("n", "things", ""), text("word", "")],
    };
    static NOW: Table = Table {
        name: "mixed",
        about: "",
        version: 3,
        columns: &[
            count("n", "things", ""),
            count("second", "things", "").since(2),
            text("word", ""),
            text("third", "").since(3),
        ],
    };
    // (version 2 of this one changed something else)
    static OTHER: Table = Table {
        name: "mixed",
        about: "",
        version: 3,
        columns: &[count("n", "things", ""), text("word", ""), text("third", "").since(3)],
    };
    let scratch = Scratch::new("since");
    let mut w = Writer::create(&scratch.0, manifest()).unwrap();
    (0..5).for_each(|n| w.put(&BEFORE, &[Value::U64(n), Value::Text("x")]));
    w.finish().unwrap();
    let dir = Dir::open(&scratch.0).unwrap();
    let t = dir.read(&NOW).unwrap();
    assert_eq!((t.u64("n"), t.u64("second")), (&[0, 1, 2, 3, 4][..], &[0; 5][..]));
    assert!(t.text("word").iter().all(|w| &**w == "x") && t.text("third").iter().all(|w| w.is_empty()));
    let parts = dir.parts(&NOW, &["second"]).unwrap();
    let mut part = Columns::new(&NOW);
    parts.read(0, &mut part).unwrap();
    assert_eq!(part.u64("second"), [0; 5]);
    assert!(dir.read(&OTHER).unwrap_err().0.contains("version 1 of table mixed"));
    assert!(dir.read(&BEFORE).is_ok());
}

#[test]
fn columns_are_read_by_themselves() {
    let scratch = Scratch::new("columns");
    let mut w = Writer::create(&scratch.0, manifest()).unwrap();
    (0..limits::CHUNK_ROWS as u64 + 9).for_each(|n| w.put(&SIMT, &simt_row(n)));
    w.finish().unwrap();
    let path = scratch.0.join("simt.table");
    let mut all = std::fs::read(&path).unwrap();
    let (first, last) = ("frame", SIMT.columns.last().unwrap().name);
    let chunk = (0..).find(|at| all[*at..].starts_with(b"CHNK")).unwrap();
    all[chunk + 8 + SIMT.columns.len() * 17 + 8] ^= 1;
    std::fs::write(&path, all).unwrap();
    let dir = Dir::open(&scratch.0).unwrap();
    let read = |column: &str| {
        let parts = dir.parts(&SIMT, &[column])?;
        let mut rows = Columns::new(&SIMT);
        let mut lengths = vec![];
        for part in 0..parts.len() {
            parts.read(part, &mut rows)?;
            lengths.push(rows.u64(column).len());
        }
        Ok::<_, crate::Unreadable>(lengths)
    };
    assert_eq!(read(last).unwrap(), [limits::CHUNK_ROWS, 9]);
    assert!(read(first).unwrap_err().0.contains("checksum of a column"));
    assert!(dir.parts(&BLOCKS, &["label"]).unwrap().is_empty());
}

#[test]
fn every_table_fits_the_limits() {
    for (i, t) in TABLES.iter().enumerate() {
        assert!(!t.columns.is_empty() && t.columns.len() <= limits::COLUMNS, "{}", t.name);
        assert!(TABLES[..i].iter().all(|other| other.name != t.name), "{} is there twice", t.name);
        assert!(
            t.name.bytes().all(|b| b.is_ascii_lowercase() || b.is_ascii_digit() || b == b'_'),
            "{}",
            t.name
        );
        for (i, c) in t.columns.iter().enumerate() {
            assert!(c.name.len() <= limits::NAME && !c.about.is_empty(), "{}.{}", t.name, c.name);
            assert!(t.columns[..i].iter().all(|other| other.name != c.name), "{}.{} twice", t.name, c.name);
        }
    }
}

/// A file whose sums fit and whose columns hold anything.
fn sealed(rows: usize, columns: &[(u8, usize, Vec<u8>)], twice: bool) -> Vec<u8> {
    use super::file::{Chunk, chunk, header, index};
    let mut bytes = header(&MIXED);
    let at = bytes.len() as u64;
    bytes.extend(chunk(rows, columns));
    let one = Chunk { at, rows: rows as u32 };
    let end = index(&[one; 2][..1 + usize::from(twice)], bytes.len() as u64);
    bytes.extend(end);
    bytes
}

#[test]
fn columns_that_are_sealed_and_wrong_are_rows_or_refused() {
    // (SplitMix64)
    let mut state = 7u64;
    let mut next = move || {
        state = state.wrapping_add(0x9e37_79b9_7f4a_7c15);
        let z = (state ^ state >> 30).wrapping_mul(0xbf58_476d_1ce4_e5b9);
        let z = (z ^ z >> 27).wrapping_mul(0x94d0_49bb_1331_11eb);
        z ^ z >> 31
    };
    let (mut taken, mut refused) = (0, 0);
    for _ in 0..6000 {
        let rows = [0, 1, 2, 3, 9, limits::CHUNK_ROWS][next() as usize % 6];
        // (two columns are as they should be, so that the third is looked at)
        let texts = [1, 1, b'a'].into_iter().chain((0..rows).map(|_| 0)).collect();
        let mut columns = [(4, vec![1]), (5, vec![0; 8]), (3, texts)];
        let which = next() as usize % 3;
        let encodings = [[0, 1, 4], [2, 5, 5], [3, 3, 3]][which];
        let encoding = if next() % 16 == 0 { next() as u8 } else { encodings[next() as usize % 3] };
        let most = [4, 16, 80][next() as usize % 3];
        let small = next() % 2 == 0;
        let raw = (0..next() % most).map(|_| if small { next() as u8 % 4 } else { next() as u8 }).collect();
        columns[which] = (encoding, raw);
        let said = (next() % 16 == 0).then(|| next() as usize % limits::COLUMN);
        let columns = columns.map(|(e, raw): (u8, Vec<u8>)| {
            (e, said.unwrap_or(raw.len()), zstd::bulk::compress(&raw, 1).unwrap())
        });
        match read(&sealed(rows, &columns, false), false) {
            Ok(c) => {
                assert_eq!(c.len(), rows);
                taken += 1;
            }
            Err(bad) => {
                assert!(!bad.why.is_empty());
                refused += 1;
            }
        }
    }
    assert!(taken > 50 && refused > 1000, "{taken} {refused}");
}

#[test]
fn what_adds_up_to_too_much_is_refused() {
    let file = |values: &[u64], twice| {
        let mut raw = vec![];
        values.iter().for_each(|v| super::bytes::put_varint(&mut raw, *v));
        let texts = [1, 1, b'a'].into_iter().chain(values.iter().map(|_| 0)).collect();
        let columns = [(0, raw), (5, vec![0; 8]), (3, texts)];
        let stored =
            columns.map(|(e, raw): (u8, Vec<u8>)| (e, raw.len(), zstd::bulk::compress(&raw, 1).unwrap()));
        sealed(values.len(), &stored, twice)
    };
    assert_eq!(read(&file(&[limits::SUM - 3, 1, 2], false), false).unwrap().u64("n")[0], limits::SUM - 3);
    for values in [&[limits::SUM, 1][..], &[u64::MAX, u64::MAX], &[1 << 55; 3]] {
        let bad = read(&file(values, false), false).unwrap_err();
        assert_eq!(bad.why, format!("the values of column n add up to more than {}", limits::SUM));
    }
    // One chunk is not there twice.
    let bad = read(&file(&[1], true), false).unwrap_err();
    assert!(bad.why.contains("not behind the one before"), "{bad:?}");
}

#[test]
#[cfg(unix)]
fn links_are_refused() {
    let scratch = Scratch::new("links");
    let mut w = Writer::create(&scratch.0, manifest()).unwrap();
    w.put(&SIMT, &simt_row(1));
    w.finish().unwrap();
    let (table, away) = (scratch.0.join("simt.table"), scratch.0.join("away"));
    std::fs::rename(&table, &away).unwrap();
    std::os::unix::fs::symlink(&away, &table).unwrap();
    let e = Dir::open(&scratch.0).unwrap().read(&SIMT).unwrap_err().to_string();
    assert!(e.contains("simt.table") && e.contains("no plain file"), "{e}");
}
