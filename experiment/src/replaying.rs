//! What all commands that replay have in common: the options that their flags ask for, the hook that marks commands, the replay with
//! a bar that shows how far it is, and the exit code of what went wrong. Refuses values of flags that are none, naming those that there are.

use crate::failure::{Exit, Failure};
use crate::files::input;
use crate::files::mmap::Map;
use crate::how::{How, Way};
use crate::progress;
use crate::say::{complain, detail};
use gfxr_parse::container::Capture;
use profile::hooks::breadcrumbs::BreadcrumbsHook;
use replay::error::{Error, Kind};
use replay::hook::Hook;
use replay::options::{AddressMode, Bridge, FrameBy, MemoryMode, Options, Rehearse};
use replay::session::{On, Progress, Summary, replay};
use replay::vulkan::portability::Done;
use trace::plan::Use;

/// The hook that marks commands, innermost, if the flag asks for it.
pub fn breadcrumbs(args: &How, hooks: &mut Vec<Box<dyn Hook>>) {
    if args.breadcrumbs {
        hooks.push(Box::new(BreadcrumbsHook::default()));
    }
}

/// The hooks of changes that flags ask for; they go outermost.
pub fn changes(all: &[Use]) -> Result<Vec<Box<dyn Hook>>, Failure> {
    profile::changes::hooks(all).map_err(|e| Failure::usage(format_args!("--change: {e}")))
}

/// Shows how far a replay is, and gives back the memory of the file behind it.
pub struct Bar<'b> {
    /// What is shown.
    pub bar: &'b indicatif::ProgressBar,
    /// The capture's map.
    pub map: Option<&'b Map>,
    /// Bytes given back so far.
    pub released: u64,
}

/// Bytes of the file behind the replay that stay in memory.
const KEEP_BYTES: u64 = 4 << 20;

/// Bytes after which what is shown changes.
const STEP_BYTES: u64 = 64 << 10;

impl Progress for Bar<'_> {
    fn iteration(&mut self, done: u32, all: u32) {
        if done == 1 {
            self.bar.set_length(all.into());
            self.bar.set_style(progress::iterations());
        }
        self.bar.set_position(done.into());
    }

    fn at(&mut self, bytes: u64, _: u64) {
        // Thousands of frames a second need no more.
        if bytes < self.bar.position() + STEP_BYTES {
            return;
        }
        self.bar.set_position(bytes);
        if let Some(map) = self.map
            && bytes > self.released + 2 * KEEP_BYTES
        {
            self.released = bytes - KEEP_BYTES;
            map.release(self.released as usize);
        }
    }
}

/// Replays a capture while a bar shows how far it is, and says what for. Hooks stand around it, outermost first; nothing is given back of
/// the memory of the file behind it.
pub fn replay_with_bar(
    capture: &Capture,
    options: &Options,
    on: On,
    hooks: Vec<Box<dyn Hook>>,
    repeat: u32,
    what: &'static str,
) -> Result<Summary, Failure> {
    let bar = progress::bytes(capture.bytes().len() as u64, what);
    let mut told = Bar { bar: &bar, map: None, released: 0 };
    let done = replay(capture, options, on, hooks, repeat, &mut told);
    bar.finish_and_clear();
    done.map_err(failure)
}

/// The options as the replay wants them.
pub fn options(args: &How) -> Result<Options, Failure> {
    let frame_by = match args.frame_by.as_str() {
        "auto" => FrameBy::Auto,
        "present" => FrameBy::Present,
        "boundary" => FrameBy::Boundary,
        "submit" => FrameBy::Submit,
        "cycle" => FrameBy::Cycle(None),
        "file" => FrameBy::File,
        other => match other.strip_prefix("label:") {
            Some(name) if !name.is_empty() => FrameBy::Label(name.to_string()),
            _ => {
                return Err(Failure::usage(format_args!(
                    "--frame-by {other}: expected auto, present, boundary, submit, cycle, label:NAME or file"
                )));
            }
        },
    };
    let memory = match args.memory.as_str() {
        "auto" => MemoryMode::Auto,
        "none" => MemoryMode::None,
        "remap" => MemoryMode::Remap,
        "rebind" => MemoryMode::Rebind,
        other => {
            return Err(Failure::usage(format_args!(
                "--memory {other}: expected auto, none, remap or rebind"
            )));
        }
    };
    let addresses = match args.addresses.as_str() {
        "auto" => AddressMode::Auto,
        "exact" => AddressMode::Exact,
        "translate" => AddressMode::Translate,
        "known" => AddressMode::Known,
        other => {
            return Err(Failure::usage(format_args!(
                "--addresses {other}: expected auto, exact, translate or known"
            )));
        }
    };
    Ok(Options {
        gpu: args.gpu.clone(),
        memory,
        addresses,
        keep_going: args.keep_going,
        trust_capture: args.trust_capture,
        remove_unsupported: args.remove_unsupported,
        validate: args.validate,
        watchdog: Some(args.watchdog),
        zero_memory: args.zero_memory,
        no_bridges: args.no_bridge.clone(),
        rehearse: Rehearse {
            growth: args.rehearse.contains(&Way::Growth),
            indirect: args.rehearse.contains(&Way::Indirect),
            bare: args.rehearse.contains(&Way::Bare),
            alignment: args.rehearse.contains(&Way::Alignment),
            compression: args.rehearse.contains(&Way::Compression),
            formats: args.rehearse.contains(&Way::Formats),
            descriptors: args.rehearse.contains(&Way::Descriptors),
        },
        // What a rehearsed device lacks is found by comparing all of it.
        whole_table: args.negotiation
            || !args.no_bridge.is_empty()
            || args.rehearse.iter().any(|w| {
                matches!(w, Way::Bare | Way::Alignment | Way::Compression | Way::Formats | Way::Descriptors)
            }),
        frame_by,
        frames: None,
        looped: None,
    })
}

/// Says what the validation layer said, where it was asked for.
pub fn validation(s: &Summary, asked: bool) {
    if asked {
        complain(format_args!("{} validation messages", s.report.validation.len()));
        s.report.validation.iter().take(50).for_each(detail);
    }
}

/// What a replay could not read, left out or did otherwise, on stderr.
pub fn tallies(s: &Summary) {
    let report = &s.report;
    let risked = s.negotiation.iter().filter(|l| l.done == Done::Risked && l.bridge == Some(Bridge::Unused));
    let risked: Vec<&str> = risked.map(|l| l.what.as_str()).collect();
    if !risked.is_empty() {
        let names = risked.join(", ");
        complain(format_args!("not here, and left out; nothing shows whether it is used: {names}"));
    }
    for (what, n) in report.notes.iter().filter(|n| n.0.starts_with(profile::changes::NOTE)) {
        complain(format_args!("{what} ({n})"));
    }
    for (file, runs) in &report.missing_files {
        input::missing_file(file, *runs);
    }
    for (what, tally) in [
        ("calls left out that need what is in files that are not there", &report.need_missing_files),
        ("undecoded blocks", &report.undecoded),
        ("divergences", &report.divergences),
    ] {
        if tally.count > 0 {
            let what = if tally.count == 1 {
                what.replacen("calls", "call", 1)
                    .replace("blocks", "block")
                    .replace("divergences", "divergence")
            } else {
                what.to_owned()
            };
            complain(format_args!("{} {what}:", tally.count));
            tally.first.iter().for_each(detail);
            if tally.count > tally.first.len() as u64 {
                detail(format_args!("and {} more", tally.count - tally.first.len() as u64));
            }
        }
    }
}

/// The exit code a replay's error asks for.
pub fn failure(e: Error) -> Failure {
    let exit = match e.kind() {
        Kind::NoDevice => Exit::NoDevice,
        Kind::Divergence => Exit::Diverged,
        Kind::Unsupported => Exit::NoDevice,
        Kind::Hang | Kind::Lost => Exit::Gone,
        _ => Exit::Failed,
    };
    Failure(exit, e.to_string())
}
