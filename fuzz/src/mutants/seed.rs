//! A capture that mutants are made of: its blocks, which of them are calls of what, and the handles in it.
//!
//! Guarantees: folders give their captures by path, so an index names the same mutant as long as the files are the same.
//! Refuses nothing: a file that is no capture is left out.

use std::collections::BTreeMap;
use std::ops::Range;
use std::path::{Path, PathBuf};

use gfxr_parse::container::{BlockKind, Capture, Compression, FrameCounter, FrameRule, Scratch, read_file};
use gfxr_parse::decode::decode_call;
use gfxr_parse::image::Image;
use gfxr_parse::schema::{HandleId, command};

use super::mix::{LEFT_OUT, RARE, USUAL};

/// See the module's header.
pub struct Seed {
    /// The file's name.
    pub name: String,
    /// Where it is.
    pub path: PathBuf,
    /// The whole file.
    pub bytes: Vec<u8>,
    /// What its data are compressed with.
    pub codec: Compression,
    /// Where the file header ends.
    pub header: usize,
    /// Its blocks.
    pub blocks: Vec<Range<usize>>,
    /// Blocks that are calls which decode, by command.
    pub calls: Vec<(u32, Vec<usize>)>,
    /// Blocks that hold SPIR-V.
    pub shaders: Vec<usize>,
    /// Metadata blocks, by type.
    pub metas: Vec<(u16, Vec<usize>)>,
    /// Ids of objects by type, in the order in which they were made.
    pub made: BTreeMap<HandleId, Vec<u64>>,
    /// Ids of objects that were destroyed.
    pub destroyed: Vec<u64>,
    /// Its frames' numbers.
    pub frames: Vec<u64>,
    /// How often it is chosen.
    pub weight: u32,
}

/// All captures in these folders and below, by path.
pub fn of_folders(folders: &[PathBuf]) -> Vec<Seed> {
    let mut paths = vec![];
    folders.iter().for_each(|f| find(f, &mut paths));
    paths.iter().filter_map(|p| Seed::open(p)).collect()
}

fn find(folder: &Path, paths: &mut Vec<PathBuf>) {
    let Ok(entries) = folder.read_dir() else { return };
    let mut entries: Vec<PathBuf> = entries.filter_map(|e| Some(e.ok()?.path())).collect();
    entries.sort();
    for path in entries {
        let named = |name: &&str| path.file_name().is_some_and(|n| n == *name);
        if path.is_dir() && !LEFT_OUT.iter().any(named) {
            find(&path, paths);
        } else if path.extension().is_some_and(|e| e == "gfxr") {
            paths.push(path);
        }
    }
}

impl Seed {
    /// The capture in this file, if it is one.
    pub fn open(path: &Path) -> Option<Seed> {
        let bytes = std::fs::read(path).ok()?;
        let capture = Capture::open(path, read_file).ok()?;
        let name = path.file_name()?.to_string_lossy().into_owned();
        let rare = RARE.iter().find(|(rare, _)| *rare == name);
        let mut seed = Seed {
            weight: rare.map_or(USUAL, |r| r.1),
            name,
            path: path.to_path_buf(),
            codec: capture.header().compression(),
            header: capture.header().size(),
            blocks: vec![],
            calls: vec![],
            shaders: vec![],
            metas: vec![],
            made: BTreeMap::new(),
            destroyed: vec![],
            frames: vec![],
            bytes,
        };
        seed.index(&capture);
        Some(seed)
    }

    fn index(&mut self, capture: &Capture) {
        let (mut scratch, mut image) = (Scratch::new(), Image::default());
        let mut calls: BTreeMap<u32, Vec<usize>> = BTreeMap::new();
        let mut metas: BTreeMap<u16, Vec<usize>> = BTreeMap::new();
        let mut frames = FrameCounter::with_rule(FrameRule::detect(capture));
        for (i, block) in capture.blocks().enumerate() {
            let start = block.offset as usize;
            self.blocks.push(start..start + block.raw().len());
            let place = frames.feed(&block);
            if place.ends_frame {
                self.frames.push(place.frame);
            }
            if let Some(ty) = block.meta_type() {
                metas.entry(ty).or_default().push(i);
            }
            let Ok(BlockKind::Call(call)) = block.kind() else { continue };
            let Some(def) = command(call.call_id) else { continue };
            let Ok(params) = call.payload.bytes(&mut scratch) else { continue };
            if decode_call(def, params, &mut image).is_err() {
                continue;
            }
            calls.entry(call.call_id).or_default().push(i);
            if !gfxr_parse::shaders::shaders(&image).is_empty() {
                self.shaders.push(i);
            }
            let ends = def.name.starts_with("vkDestroy") || def.name.starts_with("vkFree");
            for handle in &image.handles {
                let id = image.u64(handle.at);
                if handle.out {
                    self.made.entry(handle.ty).or_default().push(id);
                } else if ends {
                    self.destroyed.push(id);
                }
            }
        }
        self.calls = calls.into_iter().collect();
        self.metas = metas.into_iter().collect();
    }

    /// The bytes of block `i`, header included.
    pub fn block(&self, i: usize) -> &[u8] {
        &self.bytes[self.blocks[i].clone()]
    }
}
