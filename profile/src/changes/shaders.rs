//! `shaders`: shaders become what lies in a folder.
//!
//! `shaders:DIR` takes `DIR/HASH.spv` for the code of that hash, as `extract` names files (16 digits of it): extract them, change one, and replay, or
//! write it into a capture (`trim --change`). Guarantees: what has no file stays as it is; what is in a module, in a stage of a pipeline, and in a shader object is
//! reached alike. Refuses folders without any such file, and files that are no module, or lack an entry point of what they stand
//! for. Nothing is checked of interfaces: a replacement that reads other bindings or locations is its author's affair. What the replay knows of shaders (which
//! words of memory are addresses, which features are asked for) it knows of the captured ones.

use super::edit::Code;
use super::entry::{Entry, Made};
use super::tally::Tally;
use crate::ShaderHash;
use crate::spirv::{EntryPoint, Module};
use gfxr_parse::ahead::Call;
use gfxr_parse::schema::CommandDef;
use gfxr_parse::schema::generated::COMMANDS;
use replay::error::{Error, Kind, Result};
use replay::exec::{Executor, Hook, Next};
use replay::hook::Commands;
use std::collections::{BTreeMap, BTreeSet};
use std::path::Path;
use trace::plan::Use;
use world::Outcome;

/// See the module's header.
pub const ENTRY: Entry = Entry {
    name: "shaders",
    options: &["DIR"],
    about: "shaders become what a folder has under their hash, HASH.spv as `extract` names files (`shaders:DIR`)",
    asks: "what do other shaders cost?",
    pictures_stay: false,
    make,
};

/// Digits of a hash in a file's name.
const DIGITS: usize = 16;

/// Calls whose structs have code.
const MADE_OF_CODE: [&str; 6] = [
    "vkCreateShaderModule",
    "vkCreateShadersEXT",
    "vkCreateGraphicsPipelines",
    "vkCreateComputePipelines",
    "vkCreateRayTracingPipelinesKHR",
    "vkCreateRayTracingPipelinesNV",
];

const DONE: &str = "shaders replaced";

fn make(of: &Use) -> std::result::Result<Made, String> {
    let [folder] = &of.options[..] else {
        return Err("change shaders: say which folder, by shaders:DIR".into());
    };
    let wrong = |e: std::io::Error| format!("change shaders: {folder}: {e}");
    let mut with = BTreeMap::new();
    for file in Path::new(folder).read_dir().map_err(wrong)? {
        let file = file.map_err(wrong)?.path();
        let hash = file.file_stem().unwrap_or_default().to_string_lossy().to_ascii_lowercase();
        let named = hash.len() == DIGITS && hash.bytes().all(|b| b.is_ascii_hexdigit());
        if !named || file.extension().is_none_or(|e| e != "spv") {
            continue;
        }
        let bytes = std::fs::read(&file).map_err(wrong)?;
        let words: Vec<u32> =
            bytes.chunks_exact(4).map(|w| u32::from_le_bytes([w[0], w[1], w[2], w[3]])).collect();
        let entries = entries(&words).map_err(|e| format!("change shaders: {}: {e}", file.display()))?;
        with.insert(hash, (words, entries));
    }
    match with.is_empty() {
        true => Err(format!("change shaders: {folder} has no HASH.spv, as `extract` names files")),
        false => {
            Ok(Made::Hook(Box::new(Shaders { with, met: BTreeSet::new(), tally: Tally::new(ENTRY.name) })))
        }
    }
}

fn entries(words: &[u32]) -> std::result::Result<Vec<EntryPoint>, String> {
    Ok(Module::read(words).map_err(|e| e.to_string())?.entries())
}

struct Shaders {
    /// By hash: words, and what can be entered in them.
    with: BTreeMap<String, (Vec<u32>, Vec<EntryPoint>)>,
    /// Those that some shader had.
    met: BTreeSet<String>,
    tally: Tally,
}

fn wanted(c: &CommandDef) -> bool {
    MADE_OF_CODE.contains(&c.canonical)
}

impl Shaders {
    /// The call with other code, if it has any that there is a file for.
    fn edited(&mut self, call: &Call) -> Result<Option<Call>> {
        let mut edited: Option<Call> = None;
        for (code, words) in Code::all(call) {
            let hash = ShaderHash::of(&words).to_string();
            let Some((new, there)) = self.with.get(&hash) else { continue };
            let stands_for =
                |own: &EntryPoint| there.iter().any(|e| (e.model, &e.name) == (own.model, &own.name));
            let lacks = entries(&words).ok().and_then(|own| own.into_iter().find(|e| !stands_for(e)));
            if let Some(EntryPoint { model, name, .. }) = lacks {
                let text =
                    format!("change shaders: {hash}.spv has no entry point {name:?} of stage {model:?}");
                return Err(Error::new(Kind::Unsupported, text));
            }
            code.set(&mut edited.get_or_insert_with(|| call.clone()).image, new);
            self.tally.done(DONE);
            self.met.insert(hash);
        }
        Ok(edited)
    }
}

impl Hook for Shaders {
    fn name(&self) -> &'static str {
        "change shaders"
    }

    fn wants(&self) -> Commands {
        let all: Vec<&str> = COMMANDS.iter().filter(|c| wanted(c)).map(|c| c.name).collect();
        Commands::named(&all)
    }

    fn call(&mut self, cx: &mut Executor, call: &mut Call, next: Next) -> Result<Outcome> {
        match self.edited(call)? {
            Some(mut edited) => next.run(cx, &mut edited),
            None => next.run(cx, call),
        }
    }

    fn finish(&mut self, cx: &mut Executor) -> Result<()> {
        let strange = self.with.keys().filter(|hash| !self.met.contains(*hash)).count() as u64;
        if strange > 0 {
            self.tally.beyond("files have a hash that no shader has", strange);
        }
        self.tally.say(cx);
        Ok(())
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::hooks::written;
    use crate::testing::bytes;
    use gfxr_parse::container::Capture;
    use replay::options::Options;
    use replay::session::{On, replay};
    use rspirv::spirv::ExecutionModel;

    fn use_of(folder: &Path) -> Use {
        Use::new("shaders", [folder.display().to_string()])
    }

    #[test]
    fn what_lies_in_the_folder_is_taken_and_what_cannot_stand_for_it_is_refused() {
        let sample = Path::new(env!("CARGO_MANIFEST_DIR")).join("../captures/samples/triangle_1.gfxr");
        let capture = Capture::new(std::fs::read(sample).expect("a sample")).expect("a capture");
        let mut modules: Vec<Vec<u32>> = vec![];
        gfxr_parse::ahead::run(&capture, |item| {
            if let gfxr_parse::ahead::What::Call(call) = &item.what {
                modules.extend(Code::all(call).into_iter().map(|c| c.1));
            }
            std::ops::ControlFlow::<()>::Continue(())
        });
        let fragment = modules
            .iter()
            .find(|m| entries(m).is_ok_and(|e| e[0].model == ExecutionModel::Fragment))
            .expect("one");
        let folder = tempfile::tempdir().expect("a folder");
        let name = ShaderHash::of(fragment).to_string();
        let file = folder.path().join(format!("{name}.spv"));
        let e = make(&use_of(folder.path())).err().expect("nothing is there");
        assert!(e.contains("has no HASH.spv"), "{e}");
        std::fs::write(&file, b"no module").expect("a file");
        assert!(make(&use_of(folder.path())).is_err_and(|e| e.contains(&name)));
        // Another generator's number makes it another module that does the same.
        let mut other = fragment.clone();
        other[2] ^= 0x1234;
        std::fs::write(&file, bytes(&other)).expect("a file");
        let run = || {
            let (hooks, found) =
                written::around(crate::changes::hooks(&[use_of(folder.path())]).expect("a change"));
            replay(&capture, &Options::default(), On::Echo, hooks, 0, &mut ()).map(|_| found.take().changed)
        };
        let changed = run().expect("it follows");
        let has = |p: &[u8]| p.windows(12).any(|w| *w == bytes(&other)[..12]);
        assert!(!changed.is_empty() && changed.values().flatten().all(|(_, _, p)| has(p)), "{changed:?}");
        // A vertex shader cannot stand for it.
        let vertex = modules
            .iter()
            .find(|m| entries(m).is_ok_and(|e| e[0].model == ExecutionModel::Vertex))
            .expect("one");
        std::fs::write(&file, bytes(vertex)).expect("a file");
        let e = run().expect_err("it lacks the entry point").to_string();
        assert!(e.contains("has no entry point \"fragment\" of stage Fragment"), "{e}");
    }
}
