//! Sibling files: followed, counted, limited, and refused when they should be.

use std::collections::HashMap;
use std::io;
use std::sync::Arc;
use std::sync::atomic::{AtomicU32, Ordering};

use gfxr_parse::container::{Bytes, Capture, Compression, FileHeader, Source};
use gfxr_parse::meta::{ExecuteBlocks, Meta};
use gfxr_parse::writer::{Writer, transcode};

use crate::common::capture;

type Files = HashMap<&'static str, Vec<u8>>;

/// A file of frame ends (their number names them) and runs of other files.
enum Item {
    Mark(u64),
    Run(u32, i64, &'static str),
}
use Item::{Mark, Run};

/// Each marker takes 24 bytes; the header 24 as well.
const START: i64 = 24;
const MARK: i64 = 24;

fn file(items: &[Item]) -> Vec<u8> {
    let mut w = Writer::new(vec![], &FileHeader::new(Compression::Lz4)).unwrap();
    for item in items {
        match *item {
            Mark(n) => w.frame_end(n).unwrap(),
            Run(blocks, offset, name) => {
                w.meta(0, Meta::ExecuteBlocks(ExecuteBlocks { blocks, offset, file: name.into() })).unwrap();
            }
        }
    }
    w.finish().unwrap()
}

fn with(main: Vec<u8>, files: Files) -> Capture {
    Capture::with_assets(Source::new("main.gfxr", main), move |name| {
        let bytes = files.get(name).ok_or(io::Error::new(io::ErrorKind::NotFound, "no such file"))?;
        Ok(Arc::new(bytes.clone()) as Bytes)
    })
    .unwrap()
}

/// Frame numbers for markers, `run` for runs, the text for errors; and the indexes of the blocks.
fn walk(capture: &Capture) -> (Vec<String>, Vec<u64>) {
    let mut indexes = vec![];
    let one = |block: gfxr_parse::error::Result<gfxr_parse::container::Block>| match block {
        Ok(b) => {
            indexes.push(b.index);
            match b.meta_type() {
                Some(_) => "run".to_string(),
                None => format!("{}@{}", b.body()[4], b.file),
            }
        }
        Err(e) => e.to_string(),
    };
    let items = capture.all_blocks().map(one).collect();
    (items, indexes)
}

#[test]
fn blocks_of_siblings_run_in_place() {
    let asset = file(&[Mark(10), Mark(11), Mark(12), Mark(13)]);
    let main = file(&[
        Mark(1),
        Run(2, START + MARK, "a.gfxa"),
        Mark(2),
        Run(0, START + 2 * MARK, "a.gfxa"),
        Mark(3),
    ]);
    let capture = with(main, Files::from([("a.gfxa", asset)]));
    let (items, indexes) = walk(&capture);
    assert_eq!(items, ["1@0", "run", "11@1", "12@1", "2@0", "run", "12@1", "13@1", "3@0"]);
    assert_eq!(indexes, (0..9).collect::<Vec<_>>());
    assert_eq!(
        (capture.file_name(0), capture.file_name(1), capture.file_name(2)),
        ("main.gfxr", "a.gfxa", "?")
    );
    // The main file alone does not follow.
    assert_eq!(capture.blocks_of_main_file().count(), 5);
}

#[test]
fn siblings_of_siblings() {
    let main = file(&[Run(1, START, "a"), Mark(1)]);
    let a = file(&[Run(0, START, "b"), Mark(2)]);
    let b = file(&[Mark(3), Mark(4)]);
    let capture = with(main, Files::from([("a", a), ("b", b)]));
    // The run itself is the one block of `a` that was asked for.
    assert_eq!(walk(&capture).0, ["run", "run", "3@2", "4@2", "1@0"]);
}

#[test]
fn a_file_is_opened_once() {
    let opened = Arc::new(AtomicU32::new(0));
    let count = opened.clone();
    let asset = file(&[Mark(9)]);
    let main = file(&[Run(1, START, "a"), Run(1, START, "a"), Run(1, START, "a")]);
    let capture = Capture::with_assets(main, move |_| {
        count.fetch_add(1, Ordering::Relaxed);
        Ok(Arc::new(asset.clone()) as Bytes)
    })
    .unwrap();
    assert_eq!(walk(&capture), walk(&capture));
    assert_eq!(walk(&capture).0.len(), 6);
    assert_eq!(opened.load(Ordering::Relaxed), 1);
    // The same from several threads.
    std::thread::scope(|s| {
        for _ in 0..4 {
            s.spawn(|| assert_eq!(walk(&capture).0.len(), 6));
        }
    });
}

#[test]
fn what_cannot_be_followed_is_one_error() {
    let one = |run: Item| {
        let asset = file(&[Mark(9)]);
        let mut cut = asset.clone();
        cut.truncate(40);
        let capture = with(file(&[run, Mark(1)]), Files::from([("a", asset), ("cut", cut)]));
        let (items, indexes) = walk(&capture);
        let n = items.len();
        assert_eq!((items[0].as_str(), items[n - 1].as_str()), ("run", "1@0"));
        assert_eq!(indexes, (0..indexes.len() as u64).collect::<Vec<_>>());
        items[1..n - 1].join(" ")
    };
    assert_eq!(one(Run(1, START, "b")), "block 0, offset 0x18: file \"b\" is not beside the capture");
    assert_eq!(
        one(Run(1, -1, "a")),
        "block 0, offset 0x18: file \"a\": expected an offset up to 48, found -1"
    );
    assert_eq!(
        one(Run(1, 1 << 40, "a")),
        "block 0, offset 0x18: file \"a\": expected an offset up to 48, found 1099511627776"
    );
    assert_eq!(one(Run(3, START, "a")), "9@1 a: block 2, offset 0x30: the file ends, expected 2 more blocks");
    assert_eq!(
        one(Run(0, START, "cut")),
        "cut: block 1, offset 0x18: the file ends inside this block: expected 12 more bytes, found 4"
    );
    for name in ["", ".", "..", "/etc/passwd", "../a", "x/a", "x\\a", "a\0", "C:\\a"] {
        assert_eq!(
            one(Run(1, START, name)),
            format!(
                "block 0, offset 0x18: file to run: expected a plain file name, found \"{}\"",
                name.escape_debug()
            )
        );
    }
}

#[test]
fn nobody_said_where() {
    let capture = capture(file(&[Run(1, START, "a")]));
    assert_eq!(walk(&capture).0, ["run", "block 0, offset 0x18: file \"a\": nobody said where \"a\" is"]);
}

#[test]
fn files_that_name_each_other_end() {
    let a = file(&[Run(0, START, "a")]);
    let (items, _) = walk(&with(a.clone(), Files::from([("a", a)])));
    assert_eq!(items.len(), 10);
    assert_eq!(items[9], "a: block 8, offset 0x18: depth of files that name each other is 9, the limit is 8");
}

#[test]
fn a_file_that_runs_itself_often_ends_too() {
    // 64 runs at each of 8 depths would be more blocks than anybody can wait for.
    let items: Vec<Item> =
        (0..64).flat_map(|_| [Run(0, START, "a"), Mark(1), Mark(2), Mark(3), Mark(4)]).collect();
    let capture = with(file(&items), Files::from([("a", file(&items))]));
    let (mut blocks, mut refused) = (0u64, None);
    for block in capture.all_blocks() {
        match block {
            Ok(_) => blocks += 1,
            Err(e) if e.message().starts_with("number of blocks") => refused = Some(e.to_string()),
            Err(_) => {}
        }
    }
    assert!(blocks <= gfxr_parse::limits::MAX_ASSET_BLOCKS + 10_000, "{blocks}");
    let refused = refused.expect("the limit is reached");
    assert!(refused.contains("the limit is 67108864"), "{refused}");
}

#[test]
fn a_transcoded_capture_is_one_file() {
    let asset = file(&[Mark(10), Mark(11)]);
    let main = file(&[Mark(1), Run(0, START, "a"), Mark(2)]);
    let capture = with(main, Files::from([("a", asset)]));
    for method in [Compression::Lz4, Compression::Zstd] {
        let mut out = vec![];
        let report = transcode(&capture, method, &mut out).unwrap();
        assert_eq!((report.blocks, report.bytes), (4, out.len() as u64));
        assert_eq!(walk(&crate::common::capture(out)).0, ["1@0", "10@0", "11@0", "2@0"]);
    }
}
