use super::*;
use crate::report::{Cost, csv, text};
use trace::{FrameTime, Nanos};

/// A span of frame 2's submission.
pub fn span(kind: SpanKind, depth: u32, node: u32, begin: u64, end: u64) -> CommandTime {
    CommandTime {
        frame: 2,
        submit: 0,
        device: 3,
        queue: 4,
        command_buffer: if kind == SpanKind::Submit { 0 } else { 5 },
        position: 0,
        index: node,
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
    Run { load_frame, cost: Cost::Unknown { why: "this is a test".to_owned() } }
}

#[test]
fn golden_text() {
    let (names, records) = known();
    let expected = "\
GPU time by command

command        at   pipeline  within                        times   mean    max  share  cumulative
                                                                      ms     ms      %           %
vkCmdDraw      0:4  sky       frame # › world › render pass 'main'      2  4.000  4.000  50.00       50.00
vkCmdDraw      0:5  sky       frame # › world › render pass 'main'      2  2.000  2.000  25.00       75.00
vkCmdDispatch  0:2  sky       frame # › world                           2  1.000  1.000  12.50       87.50
";
    let text = text::render(&report(&run(Some(1)), &names, &records));
    // Blanks are the text exporter's affair.
    let squeeze =
        |s: &str| s.lines().map(|l| l.split_whitespace().collect::<Vec<_>>().join(" ")).collect::<Vec<_>>();
    assert_eq!(squeeze(&text)[..7], squeeze(expected)[..]);
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
    let r = report(&run(Some(2)), &names, &records);
    assert_eq!(r.tables[0].rows[0][4], Cell::Count(1));
    let r = report(&run(Some(2)), &names, &records[..6]);
    assert_eq!(r.tables[0].rows[0][4], Cell::Count(1));
    assert_eq!(r.notes, ["Only the load frame was timed."]);
    assert_eq!(report(&run(None), &TimeNames::default(), &[]).notes, ["Nothing was timed."]);
}

#[test]
fn what_could_not_be_isolated_is_said() {
    let (names, mut records) = known();
    records[2].isolated = true;
    let r = report(&run(None), &names, &records);
    assert!(r.notes[0].contains("1 spans run alone; 7 are inside"), "{:?}", r.notes);
}

#[test]
fn passes_are_listed_with_what_runs_between_them() {
    let (names, mut records) = known();
    records.retain(|r| r.index < 4);
    records[2].kind = SpanKind::Run;
    records[2 + 4].kind = SpanKind::Run;
    let r = report(&run(None), &names, &records);
    let names: Vec<&Cell> = r.tables[0].rows.iter().map(|r| &r[0]).collect();
    assert_eq!(names, [&Cell::from("render pass 'main'"), &Cell::from("vkCmdDispatch")]);
}

#[test]
fn rows_and_timeline_hold_every_span() {
    let (names, records) = known();
    let table = rows(&names, &records);
    let csv = csv::render(&table);
    assert_eq!(csv.lines().count(), records.len() + 1);
    assert!(
        csv.lines()
            .nth(6)
            .unwrap()
            .contains("frame 2 › world › render pass 'main',sky,0,21000000,27000000,2000000"),
        "{csv}"
    );
    let frames = [FrameTime { frame: 2, gpu: Some(Nanos(8_000_000)), cpu: Nanos(100) }];
    let timeline = perfetto(&names, &records, &frames, "a device");
    assert_eq!(timeline.slices.len(), records.len() + 1);
}
