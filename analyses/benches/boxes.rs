//! How long it takes to judge every test of rays against a reference hierarchy, over the model scene:
//! `cargo bench -p reray-analyses --features model --bench boxes`.
//!
//! `RERAY_RAYS=10` asks for so many million rays (1 where nothing is said). Printed are wall times of one run each, and the
//! most memory that the process had until then (Linux).

use analyses::rays::boxes::{Begins, Scenes, judge_all};
use analyses::rays::events::model::Model;
use std::time::Instant;
use trace::Memory;

fn main() {
    let millions: f64 = std::env::var("RERAY_RAYS").ok().and_then(|v| v.parse().ok()).unwrap_or(1.0);
    let model = Model::large(millions * 1e6, |m| m.trace(true).rays.len() as f64);
    let made = model.trace(true);
    let mut memory = Memory::default();
    model.geometry(&mut |table, row| memory.put(table, row));
    let begin = Instant::now();
    let scenes = Scenes::read(&memory).expect("sound tables").expect("there are some");
    let boxes: usize = scenes.bottoms.iter().map(|b| b.leaves.len()).sum();
    println!("{boxes} boxes: hierarchies in {:.3} s", begin.elapsed().as_secs_f64());
    let begins = [Begins::of_rays(&made.events, &made.events.launches[0], &made.rays)];
    let begin = Instant::now();
    let judged = judge_all(&made.events, &begins, Some(scenes), &[vec![0]]);
    let seconds = begin.elapsed().as_secs_f64();
    let l = &judged.launches[0];
    println!(
        "{} rays, {} tests on {} workers: {seconds:.3} s, {:.2} million rays a second",
        l.rays,
        l.sums.tests,
        rayon::current_num_threads(),
        l.rays as f64 / seconds / 1e6
    );
    println!("{:?}; ideal {}, not recorded {}", l.sums, l.ideal, l.ideal_only);
    let status = std::fs::read_to_string("/proc/self/status").unwrap_or_default();
    let peak = status.lines().find_map(|l| l.strip_prefix("VmHWM:")).unwrap_or(" not known");
    println!("peak {}", peak.trim());
}
