//! Each module once for each plan, whatever thread asks first, and across runs where there is a folder to keep them in.
//!
//! Guarantees: one entry point of one content is rewritten once in a run; a kept variant is used only if module, entry
//! point, passes and this build's version of the rewriting are the same. A file that cannot be read is made again.

use super::{Device, Leaves, Replays, Variant, instrument};
use crate::pass::{Pass, Result};
use crate::{ShaderHash, Stage};
use rspirv::spirv::ExecutionModel;
use std::collections::HashMap;
use std::path::PathBuf;
use std::sync::atomic::{AtomicU32, AtomicU64, Ordering};
use std::sync::{Arc, Mutex, OnceLock};
use std::time::Instant;
use trace::Nanos;

/// Goes up when the rewriting changes in a way that the passes' keys do not tell.
const VERSION: u32 = 9;

/// Which entry point of which module.
#[derive(Clone, Debug, PartialEq, Eq, Hash)]
pub struct Key {
    /// The module.
    pub shader: ShaderHash,
    /// The entry point's execution model.
    pub model: ExecutionModel,
    /// Its name.
    pub name: String,
    /// Whether its pipeline's layout has room for what is pushed before actions.
    pub actions: bool,
    /// For which of the replays that places are spread over (`spread.rs`).
    pub replay: u32,
}

type Slot = Arc<OnceLock<Result<Option<Arc<Variant>>>>>;

/// See the module's header.
pub struct Variants {
    passes: Vec<Box<dyn Pass>>,
    device: OnceLock<Device>,
    /// Where to keep them.
    folder: Option<PathBuf>,
    known: Mutex<HashMap<Key, Slot>>,
    /// How many were rewritten, and in how many nanoseconds, on all threads.
    made: AtomicU64,
    nanos: AtomicU64,
}

impl Variants {
    /// For one plan.
    pub fn new(passes: Vec<Box<dyn Pass>>, folder: Option<PathBuf>) -> Self {
        Variants {
            passes,
            device: OnceLock::new(),
            folder,
            known: Mutex::default(),
            made: AtomicU64::new(0),
            nanos: AtomicU64::new(0),
        }
    }

    /// Says what the device offers. To be called before the first module comes; what is said later does not count.
    pub fn on(&self, device: Device) {
        let _ = self.device.set(device);
    }

    /// The plan's passes.
    pub fn passes(&self) -> &[Box<dyn Pass>] {
        &self.passes
    }

    /// Whether any pass has to do with a stage.
    pub fn wants(&self, stage: Stage) -> bool {
        self.passes.iter().any(|p| p.needs(stage).is_some())
    }

    /// The variant; waits if another thread is at it. `None` where nothing is measured.
    pub fn get(&self, key: &Key, words: &[u32]) -> Result<Option<Arc<Variant>>> {
        let slot = self.known.lock().expect("nobody panics with it").entry(key.clone()).or_default().clone();
        slot.get_or_init(|| self.make(key, words)).clone()
    }

    fn make(&self, key: &Key, words: &[u32]) -> Result<Option<Arc<Variant>>> {
        let path = self.path(key);
        if let Some(kept) = path.as_ref().and_then(|p| std::fs::read(p).ok())
            && let Some(v) = whole(&kept)
            && v.shader == key.shader
            && v.name == key.name
        {
            return Ok(Some(Arc::new(v)));
        }
        let began = Instant::now();
        let made = instrument(words, key.shader, key.model, &key.name, &self.passes, self.device(key))?;
        self.made.fetch_add(1, Ordering::Relaxed);
        self.nanos.fetch_add(began.elapsed().as_nanos() as u64, Ordering::Relaxed);
        if let (Some(path), Some(v)) = (path, &made) {
            keep(&path, v);
        }
        Ok(made.map(Arc::new))
    }

    /// How many entry points were rewritten and not found in the folder, and how long that took, on all threads.
    pub fn spent(&self) -> (u64, Nanos) {
        (self.made.load(Ordering::Relaxed), Nanos(self.nanos.load(Ordering::Relaxed)))
    }

    /// The passes that have to leave a stage of this module alone, and why.
    pub fn leave(&self, key: &Key, stage: Stage) -> Vec<(&'static str, Leaves)> {
        let device = self.device(key);
        let why = |p: &dyn Pass| Some((p.name(), device.leaves(stage, p.needs(stage)?)?));
        self.passes.iter().filter_map(|p| why(&**p)).collect()
    }

    fn device(&self, key: &Key) -> Device {
        let device = *self.device.get_or_init(Device::default);
        let replays = Replays { now: key.replay, ..device.replays };
        Device { no_actions: !key.actions, replays, ..device }
    }

    fn path(&self, key: &Key) -> Option<PathBuf> {
        let mut hasher = blake3::Hasher::new();
        hasher.update(&VERSION.to_le_bytes());
        hasher.update(&key.shader.0);
        hasher.update(format!("{:?} {} {:?}", key.model, key.name, self.device(key)).as_bytes());
        for p in &self.passes {
            hasher.update(format!("\n{}", p.key()).as_bytes());
        }
        Some(self.folder.as_ref()?.join(format!("{}.variant", hasher.finalize().to_hex())))
    }
}

/// A kept file: the hash of what follows, and a variant.
fn whole(kept: &[u8]) -> Option<Variant> {
    let (hash, json) = kept.split_at_checked(blake3::OUT_LEN)?;
    if blake3::hash(json).as_bytes() != hash {
        return None;
    }
    serde_json::from_slice(json).ok()
}

/// Nothing depends on it: without it the variant is made again.
fn keep(path: &std::path::Path, v: &Variant) {
    static NEXT: AtomicU32 = AtomicU32::new(0);
    let Some(folder) = path.parent() else { return };
    let number = NEXT.fetch_add(1, Ordering::Relaxed);
    let partial = path.with_extension(format!("{}-{number}.partial", std::process::id()));
    let json = serde_json::to_vec(v).expect("it has only text keys");
    let all = [&blake3::hash(&json).as_bytes()[..], &json].concat();
    let written = std::fs::create_dir_all(folder).and_then(|()| std::fs::write(&partial, all));
    if written.and_then(|()| std::fs::rename(&partial, path)).is_err() {
        let _ = std::fs::remove_file(&partial);
    }
}
