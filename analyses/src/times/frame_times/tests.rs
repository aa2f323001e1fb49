use super::*;
use crate::report::{Cost, text};

fn run(load_frame: Option<u64>) -> Run {
    Run { load_frame, first_frame: load_frame, cost: Cost::Unknown { why: "this is a test".to_owned() } }
}

fn frame(frame: u64, gpu: Option<u64>, cpu: u64) -> FrameTime {
    FrameTime { frame, gpu: gpu.map(Nanos), cpu: Nanos(cpu) }
}

/// A load frame of 80 ms, then 200 frames: 2 ms on the GPU but for every hundredth, which takes 8; 0.5 ms on the
/// CPU.
fn known() -> Vec<FrameTime> {
    let mut frames = vec![frame(1, Some(80_000_000), 120_000_000)];
    frames.extend(
        (2..=201).map(|number| {
            frame(number, Some(if number % 100 == 0 { 8_000_000 } else { 2_000_000 }), 500_000)
        }),
    );
    frames
}

#[test]
fn golden_text() {
    // mean = (198 · 2 + 2 · 8) / 200 = 2.06 ms; 99 % of 200 is 198, so that p99 is still in the bucket of 2 ms, which
    // ends at 2.000895 ms.
    let expected = "\
Frame times

A frame takes 2.060 ms of the GPU on average, 99 % of frames at most 5.000 ms, the slowest 8.000 ms, and 0.500 ms of the CPU on average.

     frames   mean  median    p90    p99    max    mean  median     p90     p99  at max
                ms      ms     ms     ms     ms     FPS     FPS     FPS     FPS     FPS
GPU     200  2.060   2.001  2.001  5.000  8.000   485.4   499.8   499.8   200.0   125.0
CPU     200  0.500   0.500  0.500  0.500  0.500  2000.0  2000.0  2000.0  2000.0  2000.0

load frame  times     mean      max
                        ms       ms
GPU             1   80.000   80.000
CPU             1  120.000  120.000

GPU  2.00 ms █, and 2 above, up to 8.00 ms
CPU  0.500 ms █

Cost of measuring: not known, this is a test
";
    assert_eq!(text::render(&report(&run(Some(1)), &known())), expected);
}

#[test]
fn the_load_frame_is_apart_in_every_repetition() {
    let mut frames = known();
    frames.extend(known());
    let report = report(&run(Some(1)), &frames);
    assert_eq!(report.tables[0].rows[0][1], Cell::Count(400));
    assert_eq!(report.tables[1].rows[0][1], Cell::Count(2));
}

#[test]
fn without_a_load_frame_there_is_no_table_of_it() {
    let report = report(&run(None), &known());
    assert_eq!(report.tables[0].rows[0][1], Cell::Count(201));
    assert!(report.tables[1].rows.is_empty());
    assert!(!text::render(&report).contains("load frame"));
}

#[test]
fn a_frame_without_gpu_time_counts_for_the_cpu_only() {
    let report = report(&run(None), &[frame(1, None, 4), frame(2, Some(2), 4)]);
    assert_eq!(report.tables[0].rows[0][1], Cell::Count(1));
    assert_eq!(report.tables[0].rows[1][1], Cell::Count(2));
    assert_eq!(report.notes, ["1 of 2 frames have no GPU time."]);
    // (of each clock the frames that have its time)
    let headline = super::headline(&[&frame(1, Some(2_000_000), 4), &frame(2, Some(4_000_000), 4)], None);
    let said = "A frame takes 3.000 ms of the GPU on average, the slowest 4.000 ms, and 0.000 ms of the CPU on average.";
    assert_eq!(headline.as_deref(), Some(said));
    assert_eq!(report.series[2].points[0], (Cell::Count(1), Cell::Missing));
}

#[test]
fn a_device_without_timestamps_has_no_gpu_row() {
    let report = report(&run(None), &[frame(1, None, 4)]);
    assert_eq!(report.tables[0].rows.len(), 1);
    assert_eq!(report.headlines, ["The frame takes 0.000 ms of the CPU."]);
    assert!(!text::render(&report).contains("\nGPU"));
}

#[test]
fn nothing_but_the_load_frame_is_said() {
    let report = report(&run(Some(1)), &[frame(1, Some(3), 4)]);
    let said = "Only the load frame was timed: the program's start, and what a driver does at first use, as compiling shaders, are in its times. --loop-frame 1 measures it again and again, without that.";
    assert_eq!(report.notes, [said]);
    let takes =
        "The frame takes 0.000 ms of the GPU, and 0.000 ms of the CPU, with what a driver does at first use.";
    assert_eq!(report.headlines, [takes]);
    let state = super::report(&run(Some(0)), &[frame(0, Some(3), 4)]);
    assert!(state.headlines.is_empty(), "a state is no frame");
    assert_eq!(report.tables[1].rows.len(), 2);
}

#[test]
fn the_first_that_runs_is_said() {
    let run = Run { first_frame: Some(40), ..run(Some(0)) };
    let frames = [frame(0, Some(1), 1), frame(40, Some(9_000_000), 4), frame(41, Some(1_000_000), 4)];
    let of = |n| report(&run, &frames[..n]);
    assert_eq!(
        of(2).headlines,
        [
            "The frame takes 9.000 ms of the GPU, and 0.000 ms of the CPU, with what a driver does at first use."
        ]
    );
    let note =
        "Frame 40 is the first that runs: what a driver does at first use, as compiling shaders, is in";
    assert_eq!(
        of(2).notes,
        [format!("{note} these times. --loop-frame 40 measures it again and again, without that.")]
    );
    assert!(
        of(3).notes[0].starts_with(&format!("{note} its times, and so in the means.")),
        "{:?}",
        of(3).notes
    );
    let later = Run { first_frame: Some(39), ..run };
    assert!(report(&later, &frames).notes.is_empty());
}

#[test]
fn frames_of_no_time_have_no_rate() {
    let report = report(&run(None), &[frame(1, Some(0), 1)]);
    assert_eq!(report.tables[0].rows[0][7], Cell::Missing);
}
