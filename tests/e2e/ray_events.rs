//! Pass `rays` against what is known: every event of `recursion` and `mesh`, as the tracer on the CPU predicts it; the laws and
//! the efficiency of all scenes made for rays.

#[path = "../ray_events/mod.rs"]
mod events;

use crate::device::device;
use crate::rays::rgb;
use crate::support::{Scratch, root, run, text};
use events::geometry::Margin;
use events::run::Order;
use serde_json::Value;
use std::path::{Path, PathBuf};
use trace::dir::Dir;

/// Profiles a scene with pass rays; gives the trace's folder.
fn profiled(scratch: &Scratch, scene: &str, options: &[&str]) -> PathBuf {
    let (capture, to) = (root().join(format!("captures/samples/{scene}.gfxr")), scratch.path(scene));
    let plain = ["profile".as_ref(), capture.as_os_str(), "--passes".as_ref(), "rays".as_ref()];
    let out = run(plain
        .into_iter()
        .chain(["--assume-subgroups".as_ref(), "-o".as_ref(), to.as_os_str()])
        .chain(options.iter().map(|o| o.as_ref())));
    assert!(out.status.success(), "{scene}: {}", text(&out.stderr));
    to
}

#[test]
fn every_event_of_every_pixel_is_as_predicted() {
    if !device("every ray event is predicted") {
        return;
    }
    let scratch = Scratch::new("ray-events");
    // Events of two frames of each scene: those of all orders of a traversal are within these.
    for (scene, launches, invocations) in [("recursion", 6, 2 * 32 * 32), ("mesh", 2, 2 * 48 * 32)] {
        let trace = Dir::open(&profiled(&scratch, scene, &[])).expect("a trace");
        let verdict = events::check(scene, &trace).expect("it is read");
        let some: Vec<&String> = verdict.wrong.iter().take(10).collect();
        assert!(verdict.wrong.is_empty(), "{scene}: {} wrong: {some:#?}", verdict.wrong.len());
        assert_eq!((verdict.launches, verdict.invocations), (launches, invocations), "{scene}");
        assert!(verdict.events > 5 * invocations, "{scene}: {}", verdict.events);
        let (events, beyond, error) = (verdict.events, verdict.beyond, verdict.error);
        eprintln!("{scene}: {events} events, {beyond} boxes beyond a hit, off by {error:e} at most");
    }
}

#[test]
fn the_pictures_are_as_predicted() {
    for scene in events::SCENES {
        let (width, _, pixels) = rgb(&root().join(format!("captures/samples/{scene}_frame_1.png")));
        let pixel = |[x, y]: [u64; 2], row: usize| {
            let at = (y as usize + row) * width as usize + x as usize;
            [pixels[3 * at], pixels[3 * at + 1], pixels[3 * at + 2]]
        };
        for known in events::known(scene) {
            let margin = Margin::default();
            for at in known.places() {
                let payload = known.program(&margin).predict(at, Order::Near).payload;
                let is = pixel(at, known.row);
                let (should, off) = match scene {
                    "recursion" => (events::colour(payload.sum), 0),
                    _ => ([0, 1, 2].map(|n| (payload.colour[n] * 255.0).round() as u8), 1),
                };
                let near = is.iter().zip(should).all(|(a, b)| a.abs_diff(b) <= off);
                assert!(near, "{}, {at:?}: {is:?}, should be {should:?}", known.pipeline);
            }
        }
        if scene == "recursion" {
            for at in (0..8).flat_map(|y| (0..32).map(move |x| [x, y])) {
                let should = events::colour(events::recursion::queried(at).1);
                assert_eq!(pixel(at, 24), should, "query, {at:?}");
            }
        }
    }
}

/// The reports of a trace's questions.
fn reports(folder: &Path, questions: &[&str]) -> Vec<Value> {
    let analyze = ["analyze".as_ref(), folder.as_os_str()];
    let questions = questions.iter().map(|q| q.as_ref());
    let out = run(analyze.into_iter().chain(questions).chain(["--format".as_ref(), "json".as_ref()]));
    assert!(out.status.success(), "{}", text(&out.stderr));
    let all: Value = serde_json::from_slice(&out.stdout).expect("JSON");
    all["reports"].as_array().expect("reports").clone()
}

fn rows<'r>(report: &'r Value, table: &str) -> &'r Vec<Value> {
    let tables = report["tables"].as_array().expect("tables");
    let table = tables.iter().find(|t| t["name"] == table).expect("the table is there");
    table["rows"].as_array().expect("rows")
}

#[test]
fn the_laws_hold_in_every_scene_of_rays() {
    if !device("laws of rays in all scenes") {
        return;
    }
    let scratch = Scratch::new("ray-laws");
    for scene in ["weekend", "weekend_anyhit", "cornell", "mesh", "recursion", "rays", "closed_rays"] {
        let trace = profiled(&scratch, scene, &["--frames", "1"]);
        let [rays, simt] = &reports(&trace, &["rays", "ray-simt"])[..] else { panic!("two reports") };
        let laws = rows(rays, "laws");
        assert!(laws.len() > 9, "{scene}: {laws:?}");
        let broken: Vec<&Value> = laws.iter().filter(|law| law[6] != "yes").collect();
        assert!(broken.is_empty(), "{scene}: {broken:?}");
        // Events, active invocations and efficiency, as recorded.
        let whole = &rows(simt, "whole")[0];
        let efficiency = whole[3].as_f64().expect("a number");
        assert!(whole[1].as_u64() > Some(100) && efficiency > 0.0 && efficiency <= 100.0, "{scene}: {whole}");
        eprintln!(
            "{scene}: {} laws, events of subgroups {}, efficiency {efficiency} %",
            laws.len(),
            whole[1]
        );
    }
}
