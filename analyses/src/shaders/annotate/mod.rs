//! Shaders with what their blocks did written over them: SPIR-V text always, and the source where the module carries it.
//!
//! *Definition* (Vulkan Vision, "inline data representation"; SIMT efficiency as question `simt` has it). Over each basic
//! block stands one comment, summed over all frames and pipelines of the trace in which the module was instrumented:
//!
//! ```text
//! /* executions=12 efficiency=62.50% histogram=8:6,2:6 */
//! ```
//!
//! executions: how often a subgroup executed the block; efficiency: Σ popcount(active mask) / (executions · N), in percent;
//! histogram: popcount:executions, the fullest first (`more` is what the pass does not tell apart). A block that was
//! instrumented and never executed has executions=0. In source, a comment stands over the line that the block's first
//! instruction with a line comes from, with the block's label behind it; several blocks of one line have a comment each.
//! SPIR-V comments begin with `;`, so that the text still assembles.
//!
//! *Caveats.* A line may belong to several blocks, and a block to several lines: what a compiler moved about is not in the
//! module. Functions that no instrumented entry point reaches have no comments.
//!
//! Files: `SHADER.spvasm` (the module's hash), and `SHADER.FILE` for each source.

mod blocks;
mod text;

use crate::context::Context;
use crate::report::Unit::{Count, Percent, Subgroups, Text};
use crate::report::shapes::{Line, Listing};
use crate::report::sheet::{Sheet, m, sheet};
use crate::report::{Cell, Column, File, Report, Unit, capitalized, most, share};
use crate::{Question, Session};
use blocks::{Blocks, Done, measured};
use std::collections::BTreeMap;
use std::sync::Arc;
use text::{Assembly, Source as SourceFile};
use trace::Unreadable;
use trace::tables::{SIMT, SOURCE_TEXT, SPIRV_TEXT};

/// The question.
pub static QUESTION: Question = Question {
    name: "annotate",
    about: "every instrumented shader's SPIR-V and source, with executions, SIMT efficiency and histogram over each block",
    wants: &[&SIMT, &SPIRV_TEXT],
    sheets: &[SHEET],
    events: None,
    answer,
};

/// The table: what a row is, and each column with its unit and meaning.
const SHEET: Sheet = sheet(
    "shaders",
    "a module that was instrumented; its texts are files",
    &[&[
        m("shader", Text, "the first digits of the module's BLAKE3 hash"),
        m("blocks", Count, "basic blocks of instrumented entry points"),
        m("executed", Count, "of these, blocks that were executed"),
        m("executions", Subgroups, "executions of all its blocks by subgroups"),
        m("efficiency", Percent, "SIMT efficiency over these"),
        m("SPIR-V", Text, "the file of its annotated SPIR-V"),
        m("sources", Count, "source files that it carries, each annotated in a file of its own"),
    ]],
);

fn answer(session: &Session<'_>) -> Result<Report, Unreadable> {
    let trace = session.trace;
    let context = session.context()?;
    let shaders = measured(trace, context)?;
    let mut texts: BTreeMap<Arc<str>, Texts> = BTreeMap::new();
    trace.each(&SPIRV_TEXT, &mut |t| {
        for row in 0..t.len() {
            let lines = &mut texts.entry(t.text("shader")[row].clone()).or_default().assembly;
            lines.push((t.u64("word_offset")[row], t.text("text")[row].clone()));
        }
        Ok(())
    })?;
    trace.each(&SOURCE_TEXT, &mut |t| {
        for row in 0..t.len() {
            let sources = &mut texts.entry(t.text("shader")[row].clone()).or_default().sources;
            let lines = sources.entry(t.text("file")[row].clone()).or_default();
            lines.push((t.u64("line")[row], t.text("text")[row].clone()));
        }
        Ok(())
    })?;
    let mut report = Report::new(QUESTION.name, "Annotated shaders");
    report.headlines.extend(headline(&shaders, context));
    let mut rows = vec![];
    for (shader, blocks) in &shaders {
        let none = Texts::default();
        let texts = texts.get(shader).unwrap_or(&none);
        let words = context.module_words(shader);
        if !texts.assembly.is_empty() {
            let content = Assembly(&texts.assembly).annotated(blocks);
            report.listings.push(listing(
                (shader, &words),
                "SPIR-V",
                Assembly(&texts.assembly).lines(blocks),
            ));
            report.files.push(file(shader, "spvasm", "SPIR-V", content));
        }
        let mut names: Vec<String> = vec![];
        for (path, lines) in &texts.sources {
            let name = source_name(path, &mut names);
            let source = SourceFile { file: path, lines };
            let content = source.annotated(blocks);
            report.listings.push(listing((shader, &words), &name, source.lines(blocks)));
            report.files.push(file(shader, &name, "source", content));
        }
        rows.push(row(shader, blocks, texts));
    }
    report.tables.push(SHEET.table(rows));
    if report.files.iter().all(|f| f.name.ends_with(".spvasm")) {
        report.notes.push(
            "No module carries its source; compile with -g or -gVS (glslang), or -g or -fspv-debug=vulkan-with-source \
             (DXC, slang), to see it annotated."
                .into(),
        );
    }
    Ok(report)
}

fn sum(blocks: &Blocks, of: fn(&Done) -> u64) -> u64 {
    blocks.values().map(of).fold(0, u64::saturating_add)
}

/// The shader in which most was idle.
fn headline(shaders: &BTreeMap<Arc<str>, Blocks>, context: &Context) -> Option<String> {
    // (by instructions, as `simt` counts)
    let slots = |b: &Blocks| {
        let all = sum(b, |d| d.slots.saturating_mul(d.instructions));
        [all.saturating_sub(sum(b, |d| d.invocations.saturating_mul(d.instructions))), all]
    };
    let (shader, blocks) = most(shaders, |s| slots(s.1)[0])?;
    let [idle, all] = slots(blocks);
    let (shader, n) = (capitalized(&context.module_words(shader)), sum(blocks, |d| d.executions));
    Some(format!(
        "{shader} has most idle slots: {} of its instruction slots were inactive, over {n} executions of blocks.",
        share(idle, all)
    ))
}

#[derive(Default)]
struct Texts {
    assembly: Vec<(u64, Arc<str>)>,
    sources: BTreeMap<Arc<str>, Vec<(u64, Arc<str>)>>,
}

/// A text whose lines have what their blocks did beside them.
fn listing<'a>(
    (shader, words): (&str, &str),
    name: &str,
    lines: impl Iterator<Item = (Vec<&'a Done>, &'a str)>,
) -> Listing {
    let values = |done: &Done| {
        let efficiency = done.efficiency().map_or(Cell::Missing, Cell::Number);
        vec![Cell::Count(done.executions), efficiency, Cell::Text(done.bars())]
    };
    let line = |(done, text): (Vec<&Done>, &str)| Line {
        text: text.trim_end().to_owned(),
        values: done.into_iter().map(values).collect(),
    };
    Listing {
        name: format!("{shader}.{name}"),
        title: format!("{name}, {words}"),
        columns: vec![
            Column::new("executions", Unit::Subgroups),
            Column::new("efficiency", Unit::Percent),
            Column::new("active: executions", Unit::Text),
        ],
        lines: lines.map(line).collect(),
    }
}

fn file(shader: &str, name: &str, what: &str, content: String) -> File {
    File {
        name: format!("{shader}.{name}"),
        about: format!("{what} of shader {shader}, annotated"),
        content: content.into_bytes(),
    }
}

/// A source's name without folders; one that is there already gets a number.
fn source_name(path: &str, names: &mut Vec<String>) -> String {
    let name = path.rsplit(['/', '\\']).next().filter(|n| !n.is_empty()).unwrap_or("source");
    let same = names.iter().filter(|n| *n == name).count();
    names.push(name.to_owned());
    if same == 0 { name.to_owned() } else { format!("{}.{name}", same + 1) }
}

fn row(shader: &str, blocks: &Blocks, texts: &Texts) -> Vec<Cell> {
    vec![
        shader.into(),
        Cell::Count(blocks.len() as u64),
        Cell::Count(blocks.values().filter(|b| b.executions > 0).count() as u64),
        Cell::Count(sum(blocks, |b| b.executions)),
        Cell::share(sum(blocks, |b| b.invocations), sum(blocks, |b| b.slots)),
        if texts.assembly.is_empty() { "no" } else { "yes" }.into(),
        Cell::Count(texts.sources.len() as u64),
    ]
}

#[cfg(test)]
mod tests;
