use super::*;
use crate::report::{Cost, csv, text};
use trace::{COUNTERS, Calibration, CpuSpan, Nanos};

/// A span of frame 2's submission.
pub fn span(kind: SpanKind, depth: u32, node: u32, begin: u64, end: u64) -> CommandTime {
    CommandTime {
        frame: 2,
        repeat: 0,
        submit: 0,
        device: 3,
        queue: 4,
        command_buffer: if kind == SpanKind::Submit { 0 } else { 5 },
        position: 0,
        execution: 0,
        index: node,
        draw: 0,
        pass: 0,
        kind,
        depth,
        node,
        pipeline: 0,
        isolated: false,
        begin: Nanos(begin),
        end: Nanos(end),
    }
}

/// Two frames of a pass with two draws, and a dispatch before it.
fn known() -> (TimeNames, Vec<CommandTime>) {
    let mut names = TimeNames::default();
    let mut records = Vec::new();
    names.objects.insert(9, "sky".to_owned());
    for frame in 2..4u64 {
        let queue = names.node(0, &format!("frame {frame}"));
        let submit = names.node(queue, "vkQueueSubmit");
        let world = names.node(queue, "world");
        let dispatch = names.node(world, "vkCmdDispatch");
        let pass = names.node(world, "render pass 'main'");
        let draw = names.node(pass, "vkCmdDraw");
        let t = frame * 10_000_000;
        let mut add = |kind, depth, node, index, from: u64, to: u64| {
            let pipeline = if kind == SpanKind::Command { 9 } else { 0 };
            records.push(CommandTime {
                frame,
                submit: frame - 2,
                index,
                pipeline,
                ..span(kind, depth, node, t + from, t + to)
            });
        };
        add(SpanKind::Submit, 0, submit, 0, 0, 8_000_000);
        add(SpanKind::Label, 1, world, 1, 0, 8_000_000);
        add(SpanKind::Command, 2, dispatch, 2, 0, 1_000_000);
        add(SpanKind::Pass, 2, pass, 3, 500_000, 8_000_000);
        add(SpanKind::Command, 3, draw, 4, 1_000_000, 5_000_000);
        add(SpanKind::Command, 3, draw, 5, 1_000_000, 7_000_000);
    }
    (names, records)
}

fn run(load_frame: Option<u64>) -> Run {
    Run { load_frame, first_frame: load_frame, cost: Cost::Unknown { why: "this is a test".to_owned() } }
}

#[test]
fn golden_text() {
    let (names, records) = known();
    let expected = "\
GPU time by command

The command that took most GPU time is vkCmdDraw with pipeline 9 \"sky\" in frame # › world › render pass 'main': 50.00 % of it, 2 times, 4.000 ms each.

command        at   pipeline  within                        times   mean    max  share  cumulative
                                                                      ms     ms      %           %
vkCmdDraw      0:4  pipeline 9 \"sky\"    frame # › world › render pass 'main'      2  4.000  4.000  50.00       50.00
vkCmdDraw      0:5  pipeline 9 \"sky\"    frame # › world › render pass 'main'      2  2.000  2.000  25.00       75.00
vkCmdDispatch  0:2  pipeline 9 \"sky\"    frame # › world                           2  1.000  1.000  12.50       87.50
";
    let text = text::render(&report(&run(Some(1)), &names, &records, &[]));
    // Blanks are the text exporter's affair.
    let squeeze =
        |s: &str| s.lines().map(|l| l.split_whitespace().collect::<Vec<_>>().join(" ")).collect::<Vec<_>>();
    assert_eq!(squeeze(&text)[..9], squeeze(expected)[..]);
    let tree = "\
labels and passes times mean max share
ms ms %
frame # 2 8.000 8.000 100.00
world 2 8.000 8.000 100.00
render pass 'main' 2 7.000 7.000 87.50";
    assert!(squeeze(&text).join("\n").contains(tree), "{text}");
    assert!(text.contains("\n  world") && text.contains("\n    render pass"), "{text}");
    assert!(text.ends_with("Cost of measuring: not known, this is a test\n"));
}

#[test]
fn the_load_frame_is_left_out_unless_there_is_no_other() {
    let (names, records) = known();
    let r = report(&run(Some(2)), &names, &records, &[]);
    assert_eq!(r.tables[0].rows[0][4], Cell::Count(1));
    let r = report(&run(Some(2)), &names, &records[..6], &[]);
    assert_eq!(r.tables[0].rows[0][4], Cell::Count(1));
    assert!(r.notes[0].starts_with("Only the load frame was timed"), "{:?}", r.notes);
    assert_eq!(report(&run(None), &TimeNames::default(), &[], &[]).notes, ["Nothing was timed."]);
}

#[test]
fn what_timestamps_take_more_than_is_not_known() {
    let (names, records) = known();
    let r = report(&run(Some(2)), &names, &records, &[]);
    let mean = r.tables[0].rows[0][5].number().unwrap() * 1e6;
    assert_eq!(below_cost(&r, mean - 1.0), None);
    let said = below_cost(&r, mean + 1.0).unwrap();
    assert!(said.ends_with("more than that: which command takes most is not known."), "{said}");
    assert_eq!(below_cost(&report(&run(None), &names, &[], &[]), 9.0), None);
}

#[test]
fn the_longest_frame_is_a_timeline_of_queues() {
    let (names, mut records) = known();
    // (the last submission takes a millisecond longer)
    let last = records.iter().rposition(|r| r.kind == SpanKind::Submit).expect("it submits");
    records[last].end.0 += 1_000_000;
    let r = report(&run(None), &names, &records, &[]);
    let [line] = &r.timelines[..] else { panic!("one timeline: {:?}", r.timelines) };
    assert_eq!(line.title, "What queues ran in frame 3");
    let of = records.iter().filter(|r| r.frame == 3);
    let deepest = of.clone().map(|r| r.depth).max().expect("spans");
    assert_eq!(line.lanes, vec!["queue 4"; deepest as usize + 1]);
    assert_eq!(line.spans.len(), of.count());
    assert_eq!((line.spans[0].lane, line.spans[0].begin), (0, 0.0), "it begins with a submission");
    for lane in 0..=deepest {
        let of: Vec<_> = line.spans.iter().filter(|s| s.lane == lane).collect();
        assert!(of.windows(2).all(|w| w[0].end <= w[1].begin), "{of:?}");
    }
    assert_eq!(crate::report::json::read(&serde_json::to_value(&r).expect("JSON")), Ok(r));
}

#[test]
fn what_could_not_be_isolated_is_said() {
    let (names, mut records) = known();
    records[2].isolated = true;
    let r = report(&run(None), &names, &records, &[]);
    assert!(r.notes[0].contains("1 spans run alone; 7 are inside"), "{:?}", r.notes);
}

#[test]
fn passes_are_listed_with_what_runs_between_them() {
    let (names, mut records) = known();
    records.retain(|r| r.index < 4);
    records[2].kind = SpanKind::Run;
    records[2 + 4].kind = SpanKind::Run;
    let r = report(&run(None), &names, &records, &[]);
    let names: Vec<&Cell> = r.tables[0].rows.iter().map(|r| &r[0]).collect();
    assert_eq!(names, [&Cell::from("render pass 'main'"), &Cell::from("vkCmdDispatch")]);
}

/// One frame's draws counted: 36 vertices a draw.
fn counted() -> Vec<CommandCounters> {
    let of = |span| {
        let mut counts = [None; COUNTERS.len()];
        (counts[0], counts[2], counts[7]) = (Some(36), Some(36), Some(0));
        CommandCounters { span, counts }
    };
    vec![of(4), of(5)]
}

#[test]
fn rows_hold_every_span_and_its_counters() {
    let (mut names, records) = known();
    names.shaders.insert(9, vec![("vert".into(), "0123456789abcdef".into()), ("frag".into(), "fe".into())]);
    let csv = csv::render(&rows(&names, &records, &[]));
    assert_eq!(csv.lines().count(), records.len() + 1);
    let sixth = csv.lines().nth(6).unwrap();
    assert!(
        sixth.ends_with(
            "frame 2 › world › render pass 'main',sky,vert:0123456789abcdef frag:fe,0,21000000,27000000,2000000"
        ),
        "{sixth}"
    );
    let csv = csv::render(&rows(&names, &records, &counted()));
    let header = csv.lines().next().unwrap();
    assert!(header.ends_with(&[COUNTERS[0], COUNTERS[2], COUNTERS[7]].join(",")), "{header}");
    assert!(csv.lines().nth(6).unwrap().ends_with(",2000000,36,36,0"));
    assert!(csv.lines().nth(4).unwrap().ends_with(",7000000,,,"), "{csv}");
}

#[test]
fn counters_have_a_table_and_shaders_a_place() {
    let (mut names, records) = known();
    names.shaders.insert(9, vec![("vert".into(), "0123456789abcdef".into())]);
    let r = report(&run(None), &names, &records, &counted());
    assert_eq!(r.tables[0].rows[0][2], Cell::from("pipeline 9 \"sky\" (vert 01234567)"));
    let t = &r.tables[1];
    let columns: Vec<&str> = t.columns.iter().map(|c| c.name.as_str()).collect();
    assert_eq!(columns, ["command", "at", "input assembly vertices", "vertex shader invocations"]);
    // Counted in one of two frames: the mean of both.
    assert_eq!(t.rows[0], [Cell::from("vkCmdDraw"), Cell::from("0:4"), Cell::Count(18), Cell::Count(18)]);
}

#[test]
fn the_timeline_holds_both_sides_on_one_axis() {
    let (names, records) = known();
    let cpu: Vec<CpuSpan> = [("frame", 100, 900), ("vkQueueSubmit", 200, 300)]
        .map(|(name, begin, end)| CpuSpan {
            frame: 2,
            repeat: 0,
            name: name.into(),
            submit: None,
            begin: Nanos(begin),
            end: Nanos(end),
        })
        .into();
    let calibration = Calibration { device: 3, gpu: Nanos(20_000_000), cpu: Nanos(250), deviation: Nanos(5) };
    let mut of = Recorded {
        names: &names,
        records: &records,
        counters: &counted(),
        cpu: &cpu,
        calibrations: &[calibration],
        device: "a device",
    };
    let timeline = perfetto(&of);
    assert_eq!(timeline.slices.len(), records.len() + 2);
    let submit = &timeline.slices[2];
    assert_eq!(
        (submit.name.as_str(), submit.begin, submit.time),
        ("submission 0 (frame 2)", Nanos(250), Nanos(8_000_000))
    );
    assert!(timeline.slices[6].args.contains(&(COUNTERS[2], Cell::Count(36))));
    of.calibrations = &[];
    let text = crate::report::perfetto::render(&perfetto(&of));
    assert!(text.contains("a device (VkDevice 3, a clock of its own)"), "{text}");
}
