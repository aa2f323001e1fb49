//! Pass `replace`: shaders become what lies in a folder. It measures nothing; it stands alone, as it would take other passes'
//! probes away.
//!
//! `replace:DIR` takes `DIR/HASH.spv` for the module of that hash, as `extract` names files (16 digits of it): extract them, change
//! one, and replay. An entry point that the replacement has under the same name and model is taken from it.
//!
//! Guarantees: what has no file stays as it is; a file that is no module, or lacks the entry point, is an error that names the
//! shader. Nothing is checked of interfaces: a replacement that reads other bindings or locations is its author's affair, and
//! `profile` compares pictures. Refuses folders without any such file, and shaders in which another pass counts.
//! Without a folder it replaces nothing.

use crate::pass::{Change, Error, FrameData, Pass, Result, Sink};
use crate::rewrite::Shader;
use crate::spirv::{Module, Types};
use crate::{Needs, Stage};
use std::collections::BTreeMap;
use std::path::Path;

/// Digits of a hash in a file's name.
const DIGITS: usize = 16;

/// See the module's header.
#[derive(Debug)]
pub struct Replace {
    /// Words by hash.
    with: BTreeMap<String, Vec<u32>>,
    /// A hash of all of it.
    digest: String,
}

impl Replace {
    /// With the folder of the command line.
    pub fn new(options: &[String]) -> std::result::Result<Self, String> {
        let folder = match options {
            [] => return Ok(Replace { with: BTreeMap::new(), digest: String::new() }),
            [folder] => folder,
            _ => return Err(format!("pass replace reads one folder; {options:?} was given")),
        };
        let wrong = |e: std::io::Error| format!("pass replace: {folder}: {e}");
        let mut with = BTreeMap::new();
        let mut digest = blake3::Hasher::new();
        let mut files: Vec<_> =
            Path::new(folder).read_dir().map_err(wrong)?.flatten().map(|e| e.path()).collect();
        files.sort();
        for file in files.iter().filter(|f| f.extension().is_some_and(|e| e == "spv")) {
            let hash = file.file_stem().unwrap_or_default().to_string_lossy().into_owned();
            if hash.len() != DIGITS || !hash.bytes().all(|b| b.is_ascii_hexdigit()) {
                continue;
            }
            let bytes = std::fs::read(file).map_err(wrong)?;
            digest.update(hash.as_bytes());
            digest.update(&bytes);
            let words = bytes.chunks_exact(4).map(|w| u32::from_le_bytes([w[0], w[1], w[2], w[3]]));
            with.insert(hash.to_ascii_lowercase(), words.collect());
        }
        match with.is_empty() {
            true => Err(format!("pass replace: {folder} has no HASH.spv, as `extract` names files")),
            false => Ok(Replace { with, digest: digest.finalize().to_hex().to_string() }),
        }
    }
}

impl Pass for Replace {
    fn name(&self) -> &'static str {
        "replace"
    }

    fn key(&self) -> String {
        format!("replace 1 {}", self.digest)
    }

    fn needs(&self, _: Stage) -> Option<Needs> {
        (!self.with.is_empty()).then(Needs::default)
    }

    fn is_last(&self) -> bool {
        true
    }

    fn run(&self, shader: &mut Shader) -> Result<Change> {
        let hash: String = shader.hash.to_string().chars().take(DIGITS).collect();
        let Some(words) = self.with.get(&hash) else { return Ok(Change::Unchanged) };
        let wrong = Error::shader(shader.hash);
        let mut module = Module::read(words).map_err(&wrong)?;
        module.ungroup();
        let entry = module.isolate(shader.entry.model, &shader.entry.name).map_err(&wrong)?;
        module.physical_addresses();
        shader.types = Types::new(&module);
        (shader.module, shader.entry) = (module, entry);
        // (an entry without counters has nothing that could be read)
        match shader.reserve_counters(1).map_err(&wrong)? {
            (0, _) => Ok(Change::Changed),
            _ => Err(Error::Shader {
                shader: shader.hash,
                why: "it is replaced, and what other passes count in it would be lost: replace stands alone"
                    .into(),
            }),
        }
    }

    fn decode(&self, _: &FrameData<'_>, _: &mut dyn Sink) -> Result<()> {
        Ok(())
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::ShaderHash;
    use crate::rewrite::{Device, entries, instrument};
    use crate::testing::{bytes, invalid, scenes};

    #[test]
    fn a_shader_becomes_what_lies_in_the_folder() {
        let fragments: Vec<Vec<u32>> = scenes()
            .into_iter()
            .map(|s| s.1)
            .filter(|m| entries(m).iter().all(|e| e.2 == Stage::Fragment && e.1 == "main"))
            .collect();
        let [one, other, third] = &fragments[..3] else { panic!("{} fragment shaders", fragments.len()) };
        let folder = std::env::temp_dir().join(format!("reray-replace-{}", std::process::id()));
        let _ = std::fs::remove_dir_all(&folder);
        std::fs::create_dir_all(&folder).expect("a folder");
        let name = folder.to_str().expect("a plain path");
        assert!(Replace::new(&crate::passes::options(name)).is_err_and(|e| e.contains("HASH.spv")));
        std::fs::write(folder.join(format!("{}.spv", ShaderHash::of(one))), bytes(other)).expect("a file");
        let pass = || -> Box<dyn Pass> {
            Box::new(Replace::new(&crate::passes::options(name)).expect("a folder with a file"))
        };
        let made = |module: &[u32], passes: &[Box<dyn Pass>]| {
            let (model, entry, _) = entries(module).remove(0);
            instrument(module, ShaderHash::of(module), model, &entry, passes, Device::default())
        };
        let Ok(Some(v)) = made(one, &[pass()]) else { panic!("it is replaced") };
        assert_eq!(invalid(&v.words, "vulkan1.3"), None);
        let size = |words: &[u32]| {
            let m = Module::read(words).expect("a module");
            m.functions.iter().map(|f| f.insts().count()).sum::<usize>()
        };
        assert_eq!(size(&v.words), size(other));
        assert!(made(third, &[pass()]).is_ok_and(|v| v.is_none()));
        // What another pass counts would be lost.
        let burn = crate::passes::by_name("burn").expect("a pass");
        let Ok(Some(v)) = made(one, &[burn, pass()]) else { panic!("it burns") };
        assert!(v.left_out.len() == 1 && v.left_out[0].why.contains("stands alone"), "{:?}", v.left_out);
        let _ = std::fs::remove_dir_all(&folder);
    }
}
