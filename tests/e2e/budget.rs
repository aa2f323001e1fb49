//! `--max-memory`: captures far larger than it are read all the same, and a block that needs more is refused.

use crate::support::{Scratch, root, run, text};
use gfxr_parse::container::{BlockKind, Capture, Compression, Payload};
use gfxr_parse::meta::{FillMemory, Meta, MetaBlock};
use gfxr_parse::writer::{Writer, transcode};
use std::path::{Path, PathBuf};
use std::process::{Command, Output};

/// What one block becomes.
const BLOCK_BYTES: usize = 48 << 20;

/// The cubes, and behind them `n` writes of zeros to a memory object that is not there any more: a few kilobytes each.
fn bombs(scratch: &Scratch, method: Compression, n: usize) -> PathBuf {
    let cubes =
        Capture::new(std::fs::read(root().join("captures/samples/cubes.gfxr")).expect("it is committed"))
            .expect("a capture");
    let mut bytes = Vec::new();
    transcode(&cubes, method, &mut bytes).expect("memory");
    let header = Capture::new(bytes.clone()).expect("a capture").header().clone();
    let mut one = Writer::new(vec![], &header).expect("memory");
    let zeros = vec![0; BLOCK_BYTES];
    one.meta(0, Meta::FillMemory(FillMemory { memory: 1 << 40, offset: 0, data: Payload::plain(&zeros) }))
        .expect("memory");
    let one = one.finish().expect("memory").split_off(header.size());
    assert!(one.len() < BLOCK_BYTES / 200, "{} bytes", one.len());
    for _ in 0..n {
        bytes.extend_from_slice(&one);
    }
    let file = scratch.path(&format!("{method}-{n}.gfxr"));
    std::fs::write(&file, bytes).expect("written");
    file
}

/// Runs the program where it may have so much address space, on two threads.
fn within(kib: u64, arguments: &[&str], file: &Path) -> Output {
    Command::new("sh")
        .arg("-c")
        .arg(format!("ulimit -v {kib} && exec \"$0\" \"$@\""))
        .arg(env!("CARGO_BIN_EXE_reray-replay"))
        .args(arguments)
        .arg(file)
        .env("RAYON_NUM_THREADS", "2")
        .env("MALLOC_ARENA_MAX", "1")
        .output()
        .expect("it starts")
}

#[test]
fn files_of_any_size_are_read_within_the_budget() {
    let scratch = Scratch::new("bombs");
    for method in [Compression::Zlib, Compression::Zstd] {
        // 60 of them are 2,880 MiB.
        let file = bombs(&scratch, method, 60);
        for arguments in [&["info"][..], &["verify"], &["dump"], &["--echo"]] {
            let all = [arguments, &["--max-memory", "64M"]].concat();
            let out = within(900_000, &all, &file);
            assert!(out.status.success(), "{method} {arguments:?}: {:?} {}", out.status, text(&out.stderr));
        }
    }
}

#[test]
fn a_block_that_needs_more_is_refused() {
    let scratch = Scratch::new("large-block");
    let file = bombs(&scratch, Compression::Zstd, 1);
    let bytes = std::fs::read(&file).expect("written");
    let capture = Capture::new(bytes).expect("a capture");
    let last = capture.blocks().last().expect("it has blocks");
    let said = format!(
        "uncompressed size is {BLOCK_BYTES} bytes, decoding may take {} (--max-memory 48M allows it)",
        47 << 20
    );
    let at = |head: &str| format!("{head}block {}, offset {:#x}", last.index, last.offset + 48);
    assert!(matches!(last.kind(), Ok(BlockKind::Meta(MetaBlock { meta: Meta::FillMemory(_), .. }))));
    let (shaders, small) = (scratch.path("contents"), scratch.path("small.gfxr"));
    let (shaders, small) = (shaders.to_str().expect("plain"), small.to_str().expect("plain"));
    for (arguments, code) in [
        (&["verify"][..], 5),
        (&["--echo"], 1),
        (&["dump", "--binaries", shaders], 1),
        (&["compress", "--to", "lz4", "-o", small], 1),
    ] {
        let run = |most: &str| {
            let all = arguments.iter().map(AsRef::as_ref).chain(["--max-memory".as_ref(), most.as_ref()]);
            run(all.chain([file.as_os_str()]))
        };
        let out = run("47M");
        let text = text(&out.stdout) + &text(&out.stderr);
        assert_eq!(out.status.code(), Some(code), "{arguments:?}: {text}");
        assert!(text.contains(&format!("{}: {said}", at(""))), "{arguments:?}: {text}");
        assert!(!Path::new(small).exists(), "nothing half-written");
        assert!(run("48M").status.success(), "{arguments:?}");
    }
}

#[test]
fn the_default_refuses_what_no_program_records() {
    let scratch = Scratch::new("default-budget");
    let file = bombs(&scratch, Compression::Zstd, 1);
    let mut bytes = std::fs::read(&file).expect("written");
    let at =
        Capture::new(bytes.clone()).expect("a capture").blocks().last().expect("blocks").offset as usize + 40;
    let size = |bytes: &[u8]| u64::from_le_bytes(bytes[at..at + 8].try_into().expect("8 bytes"));
    assert_eq!(size(&bytes), BLOCK_BYTES as u64);
    bytes[at..at + 8].copy_from_slice(&(3u64 << 30).to_le_bytes());
    std::fs::write(&file, bytes).expect("written");
    let out = run(["verify".as_ref(), file.as_os_str()]);
    assert_eq!(out.status.code(), Some(5));
    assert!(text(&out.stdout).contains("(--max-memory 3072M allows it)"), "{}", text(&out.stdout));
}

#[test]
fn sizes_that_are_none_are_usage() {
    let cubes = root().join("captures/samples/cubes.gfxr");
    for (size, why) in [("8X", "is not a size; say it as 512M or 8G"), ("4K", "less than 1M decodes nothing")]
    {
        let out = run(["info".as_ref(), "--max-memory".as_ref(), size.as_ref(), cubes.as_os_str()]);
        assert_eq!(out.status.code(), Some(2));
        assert!(text(&out.stderr).contains(why), "{}", text(&out.stderr));
    }
}
