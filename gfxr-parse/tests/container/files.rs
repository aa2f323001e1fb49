//! Captures and their siblings in the file system: what is no regular file is refused, and nothing is waited for.

use std::os::unix::fs::symlink;
use std::path::{Path, PathBuf};

use gfxr_parse::container::{Capture, Compression, FileHeader, read_file};
use gfxr_parse::meta::{ExecuteBlocks, Meta};
use gfxr_parse::writer::Writer;
use rustix::fs::{CWD, FileType, Mode, mknodat};

/// A folder of its own, removed at the end.
struct Folder(PathBuf);

impl Folder {
    fn new(name: &str) -> Self {
        let folder = std::env::temp_dir().join(format!("gfxr-parse-{}-{name}", std::process::id()));
        let _ = std::fs::remove_dir_all(&folder);
        std::fs::create_dir_all(folder.join("sub")).expect("a folder");
        Folder(folder)
    }
    fn path(&self, name: &str) -> PathBuf {
        self.0.join(name)
    }
}

impl Drop for Folder {
    fn drop(&mut self) {
        let _ = std::fs::remove_dir_all(&self.0);
    }
}

fn pipe(path: &Path) {
    mknodat(CWD, path, FileType::Fifo, Mode::RUSR | Mode::WUSR, 0).expect("a pipe");
}

/// A capture with one frame end, or with one run of a sibling.
fn file(sibling: Option<&str>) -> Vec<u8> {
    let mut w = Writer::new(vec![], &FileHeader::new(Compression::None)).unwrap();
    match sibling {
        None => w.frame_end(7).unwrap(),
        Some(name) => w
            .meta(0, Meta::ExecuteBlocks(ExecuteBlocks { blocks: 0, offset: 24, file: name.into() }))
            .unwrap(),
    }
    w.finish().unwrap()
}

#[test]
fn siblings_are_regular_files_of_the_same_folder() {
    let folder = Folder::new("siblings");
    for name in ["plain", "sub/inner", "elsewhere.gfxr"] {
        std::fs::write(folder.path(name), file(None)).unwrap();
    }
    pipe(&folder.path("pipe"));
    symlink(folder.path("plain"), folder.path("link")).unwrap();
    symlink("/dev/zero", folder.path("zero")).unwrap();
    let one = |sibling: &str| -> String {
        std::fs::write(folder.path("main.gfxr"), file(Some(sibling))).unwrap();
        let capture = Capture::open(&folder.path("main.gfxr"), read_file).unwrap();
        let all: Vec<String> = capture
            .all_blocks()
            .skip(1)
            .map(|b| b.map_or_else(|e| e.message().to_owned(), |b| format!("type {}", b.ty)))
            .collect();
        assert_eq!(capture.blocks().count(), 1 + usize::from(all[0].starts_with("type")));
        all.join(" ")
    };
    assert_eq!(one("plain"), "type 1");
    assert_eq!(one("pipe"), "file \"pipe\": expected a regular file, found a pipe");
    assert_eq!(one("link"), "file \"link\": expected a regular file, found a symbolic link");
    assert_eq!(one("zero"), "file \"zero\": expected a regular file, found a symbolic link");
    assert_eq!(one("sub"), "file \"sub\": is a directory");
    assert_eq!(one("gone"), "file \"gone\" is not beside the capture");
    assert_eq!(one("sub/inner"), "file to run: expected a plain file name, found \"sub/inner\"");
}

#[test]
fn the_capture_itself_is_a_regular_file() {
    let folder = Folder::new("main");
    std::fs::write(folder.path("plain"), file(None)).unwrap();
    pipe(&folder.path("pipe"));
    symlink(folder.path("plain"), folder.path("link")).unwrap();
    let one = |path: PathBuf| {
        Capture::open(&path, read_file).map(|c| c.blocks().count()).map_err(|e| e.message().to_owned())
    };
    assert_eq!(one(folder.path("plain")), Ok(1));
    // Whoever names the capture may name it by a link.
    assert_eq!(one(folder.path("link")), Ok(1));
    assert_eq!(one(folder.path("pipe")), Err("expected a regular file, found a pipe".to_owned()));
    assert_eq!(one("/dev/zero".into()), Err("expected a regular file, found a device".to_owned()));
    assert_eq!(one(folder.path("sub")), Err("is a directory".to_owned()));
}
