//! `study rays` on a sample: every plan runs, the folder is whole, and a second run with the same seed leaves the same but for times.

use crate::device::device;
use crate::support::{Scratch, root, run, text};
use analyses::rays::repack::METHODS;
use std::path::Path;
use trace::run::Run;

pub fn bench(scratch: &Scratch, name: &str, more: &[&str]) -> (std::path::PathBuf, std::process::Output) {
    let capture = root().join("captures/samples/weekend.gfxr");
    let to = scratch.path(name);
    let own = to.to_str().expect("a plain path").to_owned();
    let capture = capture.to_str().expect("a plain path");
    let args =
        ["study", "rays", capture, "--frame", "2", "--assume-subgroups", "--processes", "1", "-o", &own];
    let out = run(args.iter().chain(more));
    (to, out)
}

/// Every method, with small tiles.
pub fn tiled() -> String {
    METHODS.iter().map(|m| format!("{}:tile=32x32", m.name())).collect::<Vec<_>>().join(",")
}

pub fn read(folder: &Path, name: &str) -> Vec<u8> {
    std::fs::read(folder.join(name)).unwrap_or_else(|e| panic!("{name}: {e}"))
}

#[test]
fn every_method_is_measured_and_the_seed_decides_all_but_times() {
    if !device("bench") {
        return;
    }
    let scratch = Scratch::new("bench");
    let methods = tiled();
    let more = ["--iterations", "2", "--warmup", "1", "--seed", "11", "--method", &methods];
    let again = ["--plan", "unmodified-again"];
    let (a, out) = bench(&scratch, "a", &[&more[..], &again].concat());
    assert!(out.status.success(), "{}{}", text(&out.stdout), text(&out.stderr));
    let report = text(&read(&a, "report.txt"));
    assert_eq!(text(&out.stdout), report);
    assert!(report.contains("Every turn of every plan presents the same image"), "{report}");
    let names: Vec<&str> = METHODS.iter().map(|m| m.name()).collect();
    let whole = Run::open(&a.join("run")).expect("a run");
    let plans: Vec<&str> = whole.note.plans.iter().map(|p| &*p.name).collect();
    // (software reorders nothing: there is no plan ser)
    assert_eq!(plans, [&["unmodified"], &names[..], &["unmodified-again"]].concat());
    for w in &whole.note.workers {
        assert_eq!(w.of_device("pipeline_cache_uuid").len(), 32, "{w:?}");
        assert_eq!(w.hashes, whole.note.workers[0].hashes);
    }
    let tiled =
        whole.note.plans.iter().filter_map(|p| p.method.as_ref()).filter(|m| m.options == ["tile=32x32"]);
    assert_eq!(tiled.count(), names.len());
    for figure in ["plans_violins", "plans_in_order", "simt_efficiency"] {
        assert!(read(&a, &format!("{figure}.png")).starts_with(b"\x89PNG"), "{figure}");
        assert!(text(&read(&a, &format!("{figure}.svg"))).ends_with("</svg>\n"), "{figure}");
    }
    // Every plan is there once in each of three rounds; those that warm up are not timed.
    let times = text(&read(&a, "turns.csv"));
    let rows: Vec<Vec<&str>> = times.lines().skip(1).map(|l| l.split(',').collect()).collect();
    assert_eq!(rows.len(), 3 * plans.len());
    for plan in &plans {
        let of: Vec<&Vec<&str>> = rows.iter().filter(|r| r[3] == *plan).collect();
        let rounds: Vec<[&str; 2]> = of.iter().map(|r| [r[2], r[4]]).collect();
        assert_eq!(rounds, [["0", "0"], ["1", "1"], ["2", "1"]], "{plan}");
        assert!(of.iter().all(|r| r[5].parse::<u64>().is_ok_and(|n| n > 0)), "{of:?}");
    }
    // All turns are described; what they are held to mean is a verdict's to say, of pairs of processes.
    let distribution = text(&read(&a, "times.csv"));
    let described = |plan: &&&str| distribution.lines().any(|l| l.starts_with(&format!("{plan},2,")));
    assert_eq!(plans.iter().filter(described).count(), plans.len(), "{distribution}");
    let verdicts = text(&read(&a, "verdicts.csv"));
    for plan in plans.iter().filter(|p| **p != "unmodified") {
        for metric in ["median", "mean"] {
            let begin = format!("weekend.gfxr,{plan} against unmodified,{metric},");
            assert!(verdicts.lines().any(|l| l.starts_with(&begin)), "{begin}: {verdicts}");
        }
    }
    assert!(
        verdicts.lines().skip(1).all(|l| l.contains("inconclusive")),
        "one process decides nothing: {verdicts}"
    );
    // Actual efficiency: identity's is what it is without a table; random is below, numrays and rounds above.
    let efficiency = text(&read(&a, "efficiency.csv"));
    let actual = |plan: &str| {
        let row = efficiency.lines().find(|l| l.starts_with(&format!("{plan},"))).expect("a row");
        row.split(',').nth(3).and_then(|n| n.parse::<f64>().ok()).unwrap_or_else(|| panic!("{row}"))
    };
    assert!(actual("random") < actual("identity"), "{efficiency}");
    assert!(actual("numrays") > actual("identity") && actual("rounds") > actual("identity"), "{efficiency}");
    assert_eq!(actual("identity"), actual("unmodified"), "{efficiency}");

    // (what is counted twice is in the tests of swizzles)
    let trace = a.join("rays").to_str().expect("a plain path").to_owned();
    let (b, out) =
        bench(&scratch, "b", &[&more[..], &again, &["--no-efficiency", "--trace", &trace]].concat());
    assert!(out.status.success(), "{}", text(&out.stderr));
    let order = |folder: &Path| -> Vec<String> {
        let rows = text(&read(folder, "turns.csv"));
        rows.lines().filter_map(|l| Some(l.rsplit_once(',')?.0.to_owned())).collect()
    };
    assert_eq!(order(&a), order(&b));
    let synthetic = |folder: &Path| -> Vec<String> {
        let rows = text(&read(folder, "efficiency.csv"));
        let of = |l: &str| l.split(',').take(3).collect::<Vec<_>>().join(",");
        rows.lines().filter(|l| !l.starts_with("unmodified")).map(of).collect()
    };
    assert_eq!((synthetic(&a), names.len() + 1), (synthetic(&b), synthetic(&b).len()));
    for name in &names {
        let file = format!("run/made/0/swizzles/{name}_frame2_launch0.swizzle");
        assert_eq!(read(&a, &file), read(&b, &file), "{file}");
    }
    assert!(
        scratch.path("").read_dir().expect("it is there").all(|f| !f
            .expect("a file")
            .file_name()
            .to_string_lossy()
            .contains(".part"))
    );
}

/// Without swizzles: plans of passes, and their maps side by side. (What reorders is not to be had on software.)
#[test]
fn maps_of_plans_lie_side_by_side() {
    if !device("bench") {
        return;
    }
    let scratch = Scratch::new("bench-maps");
    let more = ["--method", "none", "--iterations", "1", "--warmup", "0", "--no-efficiency"];
    let (a, out) = bench(&scratch, "a", &[&more[..], &["--plan", "simt passes=simt", "--maps"]].concat());
    assert!(out.status.success(), "{}{}", text(&out.stdout), text(&out.stderr));
    assert!(!a.join("rays").exists() && a.join("clocks/simt/manifest.json").exists());
    let size = |name: &str| {
        let decoder = png::Decoder::new(std::io::Cursor::new(read(&a, name)));
        let info = decoder.read_info().expect("a picture").info().size();
        (info.0, info.1)
    };
    let (alone, both) =
        (size("maps/simt/shader_clock_frame2_launch0.png"), size("maps/shader_clock_frame2_launch0.png"));
    assert!(both.0 > alone.0 * 3 / 2 && both.1 > 54, "{alone:?} {both:?}");
    let clocks = text(&read(&a, "clocks.csv"));
    let rows: Vec<Vec<&str>> = clocks.lines().skip(1).map(|l| l.split(',').collect()).collect();
    assert_eq!(rows.iter().map(|r| r[0]).collect::<Vec<_>>(), ["unmodified", "simt"], "{clocks}");
    for row in rows {
        // 96 x 54 invocations; least, median and most ticks.
        assert_eq!(row[2], "5184", "{clocks}");
        let ticks: Vec<f64> = [3, 5, 7].iter().map(|n| row[*n].parse().expect("a number")).collect();
        assert!(ticks[0] > 0.0 && ticks[0] < ticks[1] && ticks[1] < ticks[2], "{clocks}");
    }
}

#[test]
fn what_is_refused_leaves_nothing() {
    let scratch = Scratch::new("bench-refused");
    std::fs::create_dir_all(scratch.path("full/there")).expect("a folder");
    assert_eq!(bench(&scratch, "full", &[]).1.status.code(), Some(2));
    let (_, out) = bench(&scratch, "c", &["--trace", "/nowhere"]);
    assert_eq!(out.status.code(), Some(1), "{}", text(&out.stderr));
    assert_eq!(bench(&scratch, "d", &["--method", "best"]).1.status.code(), Some(2));
    let left: Vec<_> =
        scratch.path("").read_dir().expect("it is there").map(|f| f.expect("a file").file_name()).collect();
    assert_eq!(left, ["full"]);
}
