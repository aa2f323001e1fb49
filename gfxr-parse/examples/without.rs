//! `without IN.gfxr OUT.gfxr [--labels NAME,NAME] [--calls BLOCK,BLOCK]`: the capture without some of its draws, dispatches and traces.
//!
//! Leaves out the calls of `vkCmdDraw…`, `vkCmdDispatch…` and `vkCmdTraceRays…` that are recorded within a debug label of one of these
//! names, at any depth, or that stand in blocks of these numbers (as `dump` counts them). Labels are those that the command buffer
//! itself has begun. What binds pipelines for these calls alone goes with them. Everything else stays byte for byte as it is: header,
//! compression, the blocks that begin and end labels, and barriers. So a replay of the result does what a replay does that is told to skip these calls, by a program that knows nothing of it.
//!
//! Guarantees: the result is a capture of the same header, and how many calls were left out is printed. Refuses names that no label
//! has, numbers of blocks that are no such calls, captures of several files or that end within a block, and such calls that cannot be
//! read.

use gfxr_parse::ahead::{Call, What, read};
use gfxr_parse::container::{Capture, FrameCounter, Scratch};
use gfxr_parse::meta::id;
use gfxr_parse::schema::command;
use gfxr_parse::view::View;
use gfxr_parse::writer::Writer;
use std::collections::{BTreeSet, HashMap};
use std::process::ExitCode;

/// What begins the names of commands that do something by themselves, and where each has its pipeline bound.
const ACTIONS: [(&str, u32); 3] = [("vkCmdDraw", 0), ("vkCmdDispatch", 1), ("vkCmdTraceRays", 1_000_165_000)];
/// What binds pipelines, and calls behind which nothing uses what was bound.
const BIND: &str = "vkCmdBindPipeline";
const ENDS: [&str; 2] = ["vkEndCommandBuffer", "vkCmdExecuteCommands"];

/// What to leave out.
#[derive(Default)]
pub(crate) struct Wanted {
    pub(crate) labels: BTreeSet<String>,
    pub(crate) blocks: BTreeSet<u64>,
}

/// The labels that each command buffer is within, from outside in.
#[derive(Default)]
struct Labels {
    open: HashMap<u64, Vec<String>>,
    seen: BTreeSet<String>,
}

impl Labels {
    fn follow(&mut self, call: &Call) {
        let v = View::call(&call.image);
        let open = self.open.entry(v.u64("commandBuffer").unwrap_or(0)).or_default();
        match call.command.name {
            "vkBeginCommandBuffer" => open.clear(),
            "vkCmdBeginDebugUtilsLabelEXT" => {
                let label = v.one("pLabelInfo").and_then(|l| l.text("pLabelName"));
                let name = label.unwrap_or_default().into_owned();
                self.seen.insert(name.clone());
                open.push(name);
            }
            "vkCmdEndDebugUtilsLabelEXT" => drop(open.pop()),
            _ => {}
        }
    }

    fn within(&self, call: &Call, names: &BTreeSet<String>) -> bool {
        let commands = View::call(&call.image).u64("commandBuffer").unwrap_or(0);
        self.open.get(&commands).is_some_and(|open| open.iter().any(|l| names.contains(l)))
    }
}

/// Pipelines that are bound, by command buffer and point: the block that bound it, and whether what was left out, and what stays, uses it.
#[derive(Default)]
struct Bound(HashMap<(u64, u32), (u64, bool, bool)>);

impl Bound {
    /// A command uses what is bound.
    fn used(&mut self, of: (u64, u32), left_out: bool) {
        if let Some((_, out, kept)) = self.0.get_mut(&of) {
            *(if left_out { out } else { kept }) = true;
        }
    }

    /// Nothing uses it from here on: the block that bound it, if only what was left out did.
    fn over(&mut self, of: (u64, u32)) -> Option<u64> {
        self.0.remove(&of).filter(|(_, out, kept)| *out && !kept).map(|b| b.0)
    }
}

/// The blocks that are left out: draws, dispatches and traces, and what binds pipelines for these alone.
fn chosen(capture: &Capture, wanted: &Wanted) -> Result<(BTreeSet<u64>, u64), String> {
    let (mut scratch, mut frames) = (Scratch::new(), FrameCounter::new(capture.header()));
    let (mut labels, mut left, mut bound) = (Labels::default(), wanted.blocks.clone(), Bound::default());
    let (mut all, mut out) = (BTreeSet::new(), 0);
    let mut blocks = capture.blocks_of_main_file();
    for block in &mut blocks {
        if block.meta_type() == Some(id::EXECUTE_BLOCKS) {
            return Err("a capture of several files; `compress` makes one of them".into());
        }
        let place = frames.feed(&block);
        let name = block.call_id().and_then(command).map_or("", |c| c.name);
        let action = ACTIONS.iter().find(|a| name.starts_with(a.0));
        let ends = ENDS.contains(&name);
        let others = name.ends_with("DebugUtilsLabelEXT") || [BIND, "vkBeginCommandBuffer"].contains(&name);
        if action.is_none() && !others && !ends {
            continue;
        }
        let What::Call(call) = read(&block, place, None, &mut scratch).map_err(|e| e.to_string())? else {
            return Err(format!("block {}: {name} cannot be read", block.index));
        };
        labels.follow(&call);
        let buffer = call.image.u64(0);
        let named = left.remove(&block.index);
        if let Some((_, point)) = action {
            let leave = named || labels.within(&call, &wanted.labels);
            bound.used((buffer, *point), leave);
            if leave {
                out += 1;
                all.insert(block.index);
            }
        } else if named {
            return Err(format!("block {} is {name}, no draw, dispatch or trace", block.index));
        } else if name == BIND {
            let of = (buffer, View::call(&call.image).u32("pipelineBindPoint").unwrap_or(0));
            all.extend(bound.over(of));
            bound.0.insert(of, (block.index, false, false));
        } else if ends {
            all.extend(ACTIONS.iter().filter_map(|a| bound.over((buffer, a.1))));
        }
    }
    if let Some(e) = blocks.truncated() {
        return Err(e.to_string());
    }
    if let Some(block) = left.first() {
        return Err(format!("block {block} is no draw, dispatch or trace"));
    }
    if let Some(name) = wanted.labels.difference(&labels.seen).next() {
        return Err(format!("no command buffer begins a label '{name}'"));
    }
    Ok((all, out))
}

/// The capture without what is wanted, and how many draws, dispatches and traces that is.
pub(crate) fn without(capture: &Capture, wanted: &Wanted) -> Result<(Vec<u8>, u64), String> {
    let (leave, out) = chosen(capture, wanted)?;
    let mut writer = Writer::new(vec![], capture.header()).map_err(|e| e.to_string())?;
    for block in capture.blocks_of_main_file().filter(|b| !leave.contains(&b.index)) {
        writer.raw(&block).map_err(|e| e.to_string())?;
    }
    Ok((writer.finish().map_err(|e| e.to_string())?, out))
}

/// The files, and what is left out.
fn arguments() -> Result<([String; 2], Wanted), String> {
    let usage = || "without IN.gfxr OUT.gfxr [--labels NAME,NAME] [--calls BLOCK,BLOCK]".to_owned();
    let (mut files, mut wanted) = (vec![], Wanted::default());
    let mut all = std::env::args().skip(1);
    while let Some(argument) = all.next() {
        let mut list = || all.next().ok_or_else(usage);
        match argument.as_str() {
            "--labels" => wanted.labels.extend(list()?.split(',').map(str::to_owned)),
            "--calls" => {
                for number in list()?.split(',') {
                    let read = number.parse().map_err(|_| format!("'{number}' is no number of a block"));
                    wanted.blocks.insert(read?);
                }
            }
            _ => files.push(argument),
        }
    }
    Ok((files.try_into().map_err(|_| usage())?, wanted))
}

fn run() -> Result<(), String> {
    let ([from, to], wanted) = arguments()?;
    let said = |file: &str, e: &dyn std::fmt::Display| format!("{file}: {e}");
    let bytes = std::fs::read(&from).map_err(|e| said(&from, &e))?;
    let capture = Capture::new(bytes).map_err(|e| said(&from, &e))?;
    let (bytes, out) = without(&capture, &wanted).map_err(|e| said(&from, &e))?;
    std::fs::write(&to, bytes).map_err(|e| said(&to, &e))?;
    println!("{to}: {out} calls left out");
    Ok(())
}

fn main() -> ExitCode {
    match run() {
        Ok(()) => ExitCode::SUCCESS,
        Err(what) => {
            eprintln!("without: {what}");
            ExitCode::FAILURE
        }
    }
}
