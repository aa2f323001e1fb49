//! How long analyses of rays take, over events of the model scene:
//! `cargo bench -p reray-analyses --features model --bench rays`.
//!
//! `RERAY_EVENTS=100` asks for so many million events (10 where nothing is said). Printed are wall times of one run each, and
//! the most memory that the process had until then (Linux). `RERAY_TRACE=DIR` writes the events as a trace there instead, for
//! `reray-replay` to be measured with.

use analyses::rays::events::model::Model;
use analyses::rays::events::{Events, Launch};
use analyses::rays::outcomes::stats::Stats;
use analyses::rays::reorder::{Hints, Options as Reordering, simulate};
use analyses::rays::repack::{METHODS, Options, Work, spread};
use std::time::Instant;

fn peak() -> String {
    let status = std::fs::read_to_string("/proc/self/status").unwrap_or_default();
    let line = status.lines().find_map(|l| l.strip_prefix("VmHWM:")).unwrap_or(" not known");
    line.trim().to_owned()
}

fn timed<T>(what: &str, of: impl FnOnce() -> T) -> T {
    let begin = Instant::now();
    let result = of();
    println!("{what:<44} {:>9.3} s   peak {}", begin.elapsed().as_secs_f64(), peak());
    result
}

/// Counts of each code: the least that "counts" can be.
fn counts(events: &Events, launch: &Launch) -> Vec<u64> {
    use rayon::prelude::*;
    let zero = || vec![0u64; events.codes.len()];
    launch
        .code
        .par_chunks(1 << 20)
        .fold(zero, |mut c, codes| {
            codes.iter().for_each(|n| c[usize::from(*n)] += 1);
            c
        })
        .reduce(zero, |mut a, b| {
            a.iter_mut().zip(b).for_each(|(a, b)| *a += b);
            a
        })
}

/// The events as a trace on disk, those of a subgroup in a row as a device writes them: not invocation by invocation.
fn write(made: &analyses::rays::events::model::Made, folder: &std::path::Path) {
    use trace::dir::{Manifest, Writer};
    let manifest = Manifest {
        program: "cargo bench -p reray-analyses --features model --bench rays".into(),
        ..Manifest::default()
    };
    let mut writer = Writer::create(folder, manifest).expect("a folder to write to");
    timed("written", || made.rows(&mut |table, row| writer.put(table, row)));
    let manifest = writer.finish().expect("the trace is whole");
    for t in manifest.tables.iter().filter(|t| ["rays", "warps"].contains(&t.name.as_str())) {
        let each = t.size_bytes as f64 / t.rows as f64;
        println!("    {}: {} rows, {} bytes, {each:.2} bytes a row", t.name, t.rows, t.size_bytes);
    }
}

fn main() {
    let millions: f64 = std::env::var("RERAY_EVENTS").ok().and_then(|v| v.parse().ok()).unwrap_or(10.0);
    println!("{} workers", rayon::current_num_threads());
    let model = Model::large(millions * 1e6, |m| m.trace(false).events.len() as f64);
    println!(
        "{} x {}, {} samples, at most {} rays of each",
        model.width, model.height, model.samples, model.bounces
    );
    let writes = std::env::var_os("RERAY_TRACE");
    let made = timed("made", || model.trace(writes.is_some()));
    let events = &made.events;
    let launch = &events.launches[0];
    if let Some(folder) = writes {
        write(&made, folder.as_ref());
        return;
    }
    println!("{} events of {} invocations, {:?}", events.len(), launch.threads(), made.counts.events);
    timed("counts of events", || counts(events, launch));
    timed("rays: all statistics", || Stats::of(events, launch));
    let work = timed("Replayer prepared", || Work::new(events, launch));
    timed("SIMT efficiency, as recorded", || work.replayer.efficiency(&work.recorded));
    let all = Instant::now();
    for method in METHODS {
        let name = format!("{}: swizzle", method.name());
        let (_, packing) = timed(&name, || work.packing(*method, &Options::DEFAULT));
        let e = timed(&format!("{}: Replayer", method.name()), || work.replayer.efficiency(&packing));
        let spread = spread(&work, &packing);
        println!("    efficiency {:.2} %, spread {spread:.1} pixels", e.percent().unwrap_or(f64::NAN));
    }
    println!("{:<44} {:>9.3} s   peak {}", "all repackings", all.elapsed().as_secs_f64(), peak());
    let options = Reordering { window: Some(256), hints: Hints::None, cell: 0.0 };
    let e =
        timed("reordering, windows of 256 subgroups", || simulate(events, launch, &work.replayer, &options));
    println!("    efficiency {:.2} %", e.percent().unwrap_or(f64::NAN));
}
