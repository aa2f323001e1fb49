//! Shaders with what was measured written over each block: the SPIR-V text always, the source where the module carries it.
//!
//! Over a block's label, or over the line where its first instruction with a line comes from, stands
//! `executions=… efficiency=… histogram=active:executions …`, summed over all pipelines and frames that executed it. A line
//! where several blocks begin has a comment for each, in the blocks' order. Blocks that nobody executed say so.

use super::{Folded, Place};
use crate::context::Context;
use crate::report::File;
use std::collections::{BTreeMap, BTreeSet};
use trace::tables::{SOURCE_TEXT, SPIRV_TEXT};
use trace::{Source, Unreadable};

/// What was measured of a block, wherever it was executed.
#[derive(Default)]
struct Measured {
    executions: u64,
    active: u128,
    slots: u128,
    popcounts: BTreeMap<u64, u64>,
    more: u64,
    file: String,
    line: u64,
}

impl Measured {
    fn words(&self) -> String {
        if self.executions == 0 {
            return "executions=0".into();
        }
        let efficiency = 100.0 * self.active as f64 / self.slots.max(1) as f64;
        let mut histogram: Vec<String> =
            self.popcounts.iter().map(|(n, count)| format!("{n}:{count}")).collect();
        if self.more != 0 {
            histogram.push(format!("more:{}", self.more));
        }
        format!(
            "executions={} efficiency={efficiency:.2}% histogram={}",
            self.executions,
            histogram.join(" ")
        )
    }
}

/// By shader's hash: blocks by where they stand in the module.
type Shaders = BTreeMap<String, BTreeMap<u64, Measured>>;

/// The files of a report.
pub fn files(trace: &dyn Source, context: &Context, folded: &Folded) -> Result<Vec<File>, Unreadable> {
    let shaders = measured(context, folded);
    let mut files = spirv(trace, &shaders)?;
    files.extend(sources(trace, &shaders)?);
    Ok(files)
}

fn measured(context: &Context, folded: &Folded) -> Shaders {
    let mut all = Shaders::new();
    for e in context.entries() {
        let into = all.entry(e.shader.to_string()).or_default();
        for (f, function) in context.functions(e.entry).iter().enumerate() {
            for (b, block) in function.blocks.iter().enumerate().filter(|b| b.1.reached) {
                let m = into.entry(block.word_offset).or_default();
                (m.file, m.line) = (block.file.to_string(), block.line);
                let place: Place = (e.entry, f as u64, b as u64);
                if let Some(sums) = folded.blocks.get(&place) {
                    m.executions += sums.executions;
                    m.active += sums.active();
                    m.slots += sums.slots();
                }
                for (&active, &count) in folded.popcounts.get(&place).into_iter().flatten() {
                    match active {
                        0 => m.more += count,
                        _ => *m.popcounts.entry(active).or_default() += count,
                    }
                }
            }
        }
    }
    all
}

fn spirv(trace: &dyn Source, shaders: &Shaders) -> Result<Vec<File>, Unreadable> {
    let t = trace.read(&SPIRV_TEXT)?;
    let mut texts: BTreeMap<&str, String> = BTreeMap::new();
    for row in 0..t.len() {
        let shader = &*t.text("shader")[row];
        let Some(blocks) = shaders.get(shader) else { continue };
        let text = texts.entry(shader).or_default();
        let at = t.u64("word_offset")[row];
        if let Some(m) = blocks.get(&at).filter(|_| at != 0) {
            *text += &format!("; {}\n", m.words());
        }
        *text += &t.text("text")[row];
        text.push('\n');
    }
    let file = |(shader, text): (&str, String)| File {
        name: format!("{shader}.spvasm"),
        about: format!("SPIR-V of {shader}, with executions and efficiency over each block"),
        content: text.into_bytes(),
    };
    Ok(texts.into_iter().map(file).collect())
}

fn sources(trace: &dyn Source, shaders: &Shaders) -> Result<Vec<File>, Unreadable> {
    let t = trace.read(&SOURCE_TEXT)?;
    let mut texts: BTreeMap<(&str, &str), String> = BTreeMap::new();
    for row in 0..t.len() {
        let (shader, file) = (&*t.text("shader")[row], &*t.text("file")[row]);
        let Some(blocks) = shaders.get(shader) else { continue };
        let text = texts.entry((shader, file)).or_default();
        let line = t.u64("line")[row];
        let source = &t.text("text")[row];
        let indent: String = source.chars().take_while(|c| c.is_whitespace()).collect();
        for m in blocks.values().filter(|m| m.line == line && m.file == file && line != 0) {
            *text += &format!("{indent}/* {} */\n", m.words());
        }
        *text += source;
        text.push('\n');
    }
    let mut taken = BTreeSet::new();
    let file = |((shader, file), text): ((&str, &str), String)| {
        let plain = file.rsplit(['/', '\\']).next().unwrap_or_default();
        let plain: String = plain
            .chars()
            .map(|c| if c.is_ascii_alphanumeric() || "._-".contains(c) { c } else { '_' })
            .collect();
        let base = if plain.is_empty() { "source".to_owned() } else { plain };
        let names =
            std::iter::once(format!("{shader}.{base}")).chain((2..).map(|n| format!("{shader}.{n}.{base}")));
        let name =
            names.into_iter().find(|n| taken.insert(n.clone())).expect("there are more numbers than files");
        let about =
            format!("{file} as {shader} carries it, with executions and efficiency where blocks begin");
        File { name, about, content: text.into_bytes() }
    };
    Ok(texts.into_iter().map(file).collect())
}
