//! What is known of a plan's shaders without running them, as tables: pipelines, entry points, functions, blocks, edges,
//! instructions; and the texts of the modules.

use super::plan::{Done, Plan};
use crate::Sink;
use crate::rewrite::{Variant, record_instructions};
use rspirv::binary::Disassemble;
use std::collections::{BTreeMap, BTreeSet};
use std::fs;
use std::path::Path;
use trace::Value::{Text, U64};
use trace::tables::{BLOCKS, EDGES, ENTRIES, FUNCTIONS, PIPELINES, SAMPLES, SPIRV_TEXT};

/// Writes all of them.
pub fn write(plan: &Plan, done: &Done, out: &mut dyn Sink) {
    let mut pipelines = BTreeSet::new();
    let mut variants = BTreeSet::new();
    for (n, e) in done.entries.iter().enumerate() {
        if pipelines.insert(e.pipeline) {
            let name = plan.names.get(&e.pipeline).map_or("", String::as_str);
            out.put(&PIPELINES, &[U64(e.pipeline), Text(e.kind.name()), Text(name)]);
        }
        let (v, shader) = (&e.variant, e.variant.shader.to_string());
        out.put(
            &ENTRIES,
            &[
                U64(n as u64),
                U64(e.pipeline),
                U64(e.index.into()),
                U64(e.variant_number.into()),
                Text(&shader),
                Text(&v.name),
                Text(v.stage.name()),
            ],
        );
        if let Some(s) = v.sample {
            out.put(&SAMPLES, &[U64(n as u64), U64(s.every.into()), U64(s.groups.into())]);
        }
        if variants.insert(e.variant_number) {
            facts(e.variant_number.into(), v, out);
        }
    }
    let mut kept: Vec<_> = done.variants.iter().filter(|v| variants.contains(&v.1.0)).collect();
    kept.sort_by_key(|v| v.1.0);
    for (key, (n, words)) in kept {
        // (a module that was rewritten can be read)
        let _ = record_instructions(words, key.model, &key.name, (*n).into(), out);
    }
    texts(done, out);
}

fn facts(variant: u64, v: &Variant, out: &mut dyn Sink) {
    for (f, function) in v.facts.functions.iter().enumerate() {
        let f = f as u64;
        out.put(&FUNCTIONS, &[U64(variant), U64(f), U64(function.id.into()), Text(&function.name)]);
        for (b, block) in function.blocks.iter().enumerate() {
            let (file, line) = block.line.as_ref().map_or(("", 0), |l| (l.file.as_str(), l.line));
            out.put(
                &BLOCKS,
                &[
                    U64(variant),
                    U64(f),
                    U64(b as u64),
                    U64(block.label.into()),
                    U64(block.word_offset.into()),
                    U64(block.instructions.into()),
                    U64(block.depth.into()),
                    U64(block.reached.into()),
                    Text(file),
                    U64(line.into()),
                ],
            );
            for &to in &block.successors {
                out.put(&EDGES, &[U64(variant), U64(f), U64(b as u64), U64(to.into())]);
            }
        }
    }
}

fn bytes(words: &[u32]) -> Vec<u8> {
    words.iter().flat_map(|w| w.to_le_bytes()).collect()
}

fn put(path: &Path, bytes: &[u8]) -> Result<(), String> {
    fs::write(path, bytes).map_err(|e| format!("{}: {e}", path.display()))
}

/// The texts of every original module that was rewritten.
fn texts(done: &Done, out: &mut dyn Sink) {
    let modules: BTreeMap<_, _> = done.variants.iter().map(|(key, (_, words))| (key.shader, words)).collect();
    for (shader, words) in modules {
        if let Err(e) = crate::texts::write(shader, words, out) {
            let why = format!("; {}", e.0);
            out.put(&SPIRV_TEXT, &[Text(&shader.to_string()), U64(0), Text(&why)]);
        }
    }
}

/// Writes every original module that was rewritten to `HASH.spv` in a folder.
pub fn originals(folder: &Path, done: &Done) -> Result<(), String> {
    if done.variants.is_empty() {
        return Ok(());
    }
    fs::create_dir_all(folder).map_err(|e| format!("{}: {e}", folder.display()))?;
    let mut written = BTreeSet::new();
    for (key, (_, words)) in &done.variants {
        if written.insert(key.shader) {
            put(&folder.join(format!("{}.spv", key.shader)), &bytes(words))?;
        }
    }
    Ok(())
}

/// Writes a module as it was made and as it is now, as words and, where it can be read, as text.
pub fn dump(folder: &Path, original: &[u32], v: &Variant, replay: u32) -> Result<(), String> {
    fs::create_dir_all(folder).map_err(|e| format!("{}: {e}", folder.display()))?;
    let entry: String =
        v.name.chars().map(|c| if c.is_ascii_alphanumeric() || c == '_' { c } else { '-' }).collect();
    let name = format!("{}.{}.{entry}", v.shader, v.stage.name());
    let after = if replay == 0 { "after".to_owned() } else { format!("after-{}", replay + 1) };
    for (when, words) in [("before", original), (&after, &v.words)] {
        put(&folder.join(format!("{name}.{when}.spv")), &bytes(words))?;
        if let Ok(m) = rspirv::dr::load_words(words) {
            put(&folder.join(format!("{name}.{when}.spvasm")), m.disassemble().as_bytes())?;
        }
    }
    Ok(())
}
