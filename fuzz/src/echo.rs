//! Targets "echo" and "resources": whole sessions, from blocks to summary, in which the capture answers its own calls.
//!
//! Tracking, descriptors, memory and frames run as in a replay; there is no driver. "echo" has every hook around it that
//! follows calls without one, and scans the capture as the commands do that plan a replay; "resources" is what `bindings`
//! does: it follows all that is bound, writes rows, and answers every question from them. What must hold: a
//! session ends, in a summary or in an error. Its own threads are watched as well, so memory is counted over all threads.

use std::cell::RefCell;
use std::rc::Rc;

use gfxr_parse::container::Capture;
use profile::hooks::breadcrumbs::BreadcrumbsHook;
use profile::hooks::call_costs::CallCostsHook;
use profile::hooks::command_times::{CommandTimesHook, Level, Settings};
use profile::hooks::geometry::GeometryHook;
use profile::hooks::instrument::{self, Selection};
use profile::hooks::measurement::MeasurementHook;
use profile::hooks::pipeline_times::PipelineTimesHook;
use profile::hooks::repartition::Partition;
use profile::hooks::resources::{PlanHook, ResourcesHook};
use profile::hooks::screenshot::{ScreenshotHook, What, Wish};
use profile::hooks::sync::Synchronisation;
use replay::hook::Hook;
use replay::looped::Loop;
use replay::options::Options;
use replay::session::{On, replay};
use trace::{Memory, Table, Value};

use crate::answers;
use crate::targets::Ran;

/// Where rows go.
type Rows = Rc<RefCell<Memory>>;
/// What hands them on.
type Put = Box<dyn FnMut(&'static Table, &[Value<'_>]) -> replay::error::Result<()>>;

/// Target "echo"; `index` chooses the options.
pub fn run(file: &[u8], index: u64) -> Ran {
    let Some((capture, mut ran)) = open(file) else { return refused(file) };
    scans(&capture);
    let rows = Rows::default();
    let looped = (index % 8 == 1).then_some(Loop {
        frame: 1 + index / 8 % 3,
        iterations: 1,
        warmup: 1,
        allow_drift: true,
        leave_contents: false,
        or_once: false,
    });
    let frames = (index % 8 == 2).then_some((index / 8 % 2, index / 8 % 4));
    let options = Options { keep_going: !index.is_multiple_of(4), looped, frames, ..Options::default() };
    session(&capture, &options, hooks(&rows, index), (index % 16 == 3) as u32, &mut ran);
    ran
}

/// Target "resources".
pub fn resources(file: &[u8], index: u64) -> Ran {
    let Some((capture, mut ran)) = open(file) else { return refused(file) };
    let rows = Rows::default();
    let (mut hook, _) = ResourcesHook::new(put(&rows), Box::new(|_| true), None);
    if !index.is_multiple_of(3) {
        hook = hook.with_sync(Synchronisation::new(put(&rows), Box::new(|_| true)));
    }
    let options = Options { keep_going: !index.is_multiple_of(4), ..Options::default() };
    session(&capture, &options, vec![Box::new(hook)], 0, &mut ran);
    answers::all(&*rows.borrow(), &mut ran);
    ran
}

/// The rows that a capture's own session gives; for those who change them.
pub fn rows(capture: &Capture) -> Memory {
    let rows = Rows::default();
    let (hook, _) = ResourcesHook::new(put(&rows), Box::new(|_| true), None);
    let hook = hook.with_sync(Synchronisation::new(put(&rows), Box::new(|_| true)));
    let _ = replay(capture, &Options::default(), On::Echo, vec![Box::new(hook)], 0, &mut ());
    rows.take()
}

fn open(file: &[u8]) -> Option<(Capture, Ran)> {
    let mut ran = Ran { largest: file.len() as u64, ..Ran::default() };
    let capture = Capture::new(file.to_vec()).ok()?;
    for block in capture.blocks() {
        let size = block.kind().ok().and_then(|mut k| k.payload_mut().map(|p| p.size()));
        // What a block declares is allocated only where it is true or small: see `Scratch`.
        ran.largest = ran.largest.max(size.unwrap_or(0).min(1 << 26));
    }
    Some((capture, ran))
}

fn refused(file: &[u8]) -> Ran {
    Ran { largest: file.len() as u64, refused: 1, ..Ran::default() }
}

fn session(capture: &Capture, options: &Options, hooks: Vec<Box<dyn Hook>>, repeat: u32, ran: &mut Ran) {
    match replay(capture, options, On::Echo, hooks, repeat, &mut ()) {
        Ok(summary) => {
            ran.read = summary.report.calls;
            ran.round_trips = summary.frames;
        }
        Err(e) => {
            ran.refused = 1;
            assert!(!e.to_string().is_empty());
        }
    }
}

fn put(rows: &Rows) -> Put {
    let rows = rows.clone();
    Box::new(move |table, values| {
        rows.borrow_mut().put(table, values);
        Ok(())
    })
}

/// Every hook that follows calls without a device, as commands put them around a replay.
fn hooks(rows: &Rows, index: u64) -> Vec<Box<dyn Hook>> {
    let (resources, _) = ResourcesHook::new(put(rows), Box::new(|_| true), None);
    let resources = resources.with_sync(Synchronisation::new(put(rows), Box::new(|_| true)));
    let (plan, _) = PlanHook::new(Box::new(|_| true), true);
    let what = [What::Presented, What::CopiedOut, What::Named("9".to_string())][index as usize % 3].clone();
    let wish = Wish { what, frames: None, shape: None, watchdog_ns: 1 };
    let (screenshot, _) = ScreenshotHook::new(wish, Box::new(|_| Ok(())));
    let hash = |code: &[u8]| code.len().to_string();
    let settings = Settings { level: Level::Command, isolate: false, statistics: true, hash };
    let (times, _) = CommandTimesHook::new(settings, Default::default());
    let cpu = times.on_the_cpu();
    let (measurement, _) = MeasurementHook::new((1, 2), true);
    let (pipelines, _) = PipelineTimesHook::new();
    vec![
        Box::new(measurement),
        Box::new(resources),
        Box::new(plan),
        Box::new(GeometryHook::new(put(rows), Box::new(|_| true))),
        Box::new(screenshot),
        Box::new(cpu),
        Box::new(times),
        Box::new(BreadcrumbsHook::default()),
        Box::new(CallCostsHook::new(put(rows))),
        Box::new(pipelines),
    ]
}

/// What looks through a capture before a replay.
fn scans(capture: &Capture) {
    instrument::scan(capture, &Selection::default());
    profile::hooks::repartition::scan(capture, &Partition::default(), 4);
    replay::session::prologue(capture);
}
