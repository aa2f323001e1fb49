use super::*;
use crate::context::Context;
use crate::rays::events::model::Model;
use crate::rays::events::read;
use crate::rays::events::{Events, text};
use std::fmt::Write;
use trace::tables::RayEvent;

const NONE: Options = Options { window: None, hints: Hints::None, cell: 0.0 };

/// The stages as the thesis prints them: what is queued in brackets, and "begin" where an invocation is back in ray
/// generation for good.
fn words(events: &Events, options: &Options) -> String {
    let launch = &events.launches[0];
    let replayer = Replayer::new(events, launch);
    let recorded = Packing::recorded(launch);
    let mut window = Window::new(events, launch, &replayer, &recorded, 0, recorded.len());
    let mut out = String::new();
    let word = |at: usize| text::word(events.codes[usize::from(launch.code[at])]);
    let mut trace = b'A';
    while window.stage(options) {
        let _ = writeln!(out, "TRACE {}", char::from(trace));
        trace += 1;
        for (warp, lanes) in window.placed().into_iter().enumerate() {
            let _ = writeln!(out, "// Warp {warp}");
            for p in lanes.into_iter().flatten() {
                let is_end = |at: &usize| events.codes[usize::from(launch.code[*at])].kind == RayEvent::End;
                let mut names: Vec<String> = p.events.clone().filter(|at| !is_end(at)).map(word).collect();
                let all = launch.events(p.thread as usize);
                names.push(if p.events.end < all.end {
                    format!("({})", word(p.events.end))
                } else {
                    "begin".into()
                });
                let _ = writeln!(out, "{}. {}", p.thread, names.join(", "));
            }
        }
    }
    out
}

const LISTING_3_2: &str = "\
begin, int1, miss, begin, int1, repint, chit
begin, int1, repint, chit, begin, int1, miss
begin, int2, repint, chit, begin, int2, repint, chit
begin, int2, repint, chit, begin, int2, repint, chit
begin, int1, repint, chit, begin, int1, miss
begin, int1, miss, begin, int1, repint, chit
begin, int2, miss, begin, int2, miss
begin, int2, miss, begin, int2, miss";

#[test]
fn listing_3_3() {
    let expected = "\
TRACE A
// Warp 0
0. begin, int1, (miss)
1. begin, int1, repint, (chit)
2. begin, int2, repint, (chit)
3. begin, int2, repint, (chit)
// Warp 1
4. begin, int1, repint, (chit)
5. begin, int1, (miss)
6. begin, int2, (miss)
7. begin, int2, (miss)
TRACE B
// Warp 0
0. miss, begin, int1, repint, (chit)
5. miss, begin, int1, repint, (chit)
6. miss, begin, int2, (miss)
7. miss, begin, int2, (miss)
// Warp 1
4. chit, begin, int1, (miss)
1. chit, begin, int1, (miss)
2. chit, begin, int2, repint, (chit)
3. chit, begin, int2, repint, (chit)
TRACE C
// Warp 0
4. miss, begin
1. miss, begin
6. miss, begin
7. miss, begin
// Warp 1
0. chit, begin
5. chit, begin
2. chit, begin
3. chit, begin
";
    assert_eq!(words(&text::events(LISTING_3_2, 4), &NONE), expected);
}

/// The listing's efficiency by hand. Before, each subgroup: begin, int1, int2, miss, chit twice: 20 events. After: A and B
/// begin, int1, int2 for each of two subgroups, and one shader at the beginning of each piece in B and C: 12 + 2 + 2. Active
/// are 16 begins, 16 intersections, 8 misses and 8 hits either way.
#[test]
fn the_listing_gains() {
    let events = text::events(LISTING_3_2, 4);
    let launch = &events.launches[0];
    let replayer = Replayer::new(&events, launch);
    let before = replayer.efficiency(&Packing::recorded(launch));
    let after = simulate(&events, launch, &replayer, &NONE);
    assert_eq!((before.counted.synthetic.active, after.counted.synthetic.active), (48, 48));
    assert_eq!((before.counted.synthetic.events, after.counted.synthetic.events), (20, 16));
    assert_eq!(stages(launch, &events), 3);
    // Alone, no subgroup has anyone to change with.
    let alone = simulate(&events, launch, &replayer, &Options { window: Some(1), ..NONE });
    assert_eq!(alone.counted.synthetic.events, 20);
}

#[test]
fn hints_and_cells_order_within_a_shader() {
    let mut events = text::events(&["begin, chit"; 4].join("\n"), 2);
    events.objects =
        [6, 5].map(|instance| crate::rays::events::Object { instance, primitive: 0, geometry: 0 }).to_vec();
    let hits: Vec<usize> = (0..events.launches[0].code.len()).filter(|at| at % 3 == 1).collect();
    for (at, object) in hits.into_iter().zip([0, 1, 0, 1]) {
        events.launches[0].object[at] = object;
    }
    events.launches[0].place_starts = vec![0, 1, 2, 3, 4];
    events.launches[0].places = vec![[0.0; 3], [9.0, 0.0, 0.0], [9.5, 0.0, 0.0], [0.5, 0.0, 0.0]];
    let order = |options: Options| {
        let all = words(&events, &options);
        let last = all.rsplit_once("TRACE B").unwrap().1;
        last.lines().filter_map(|l| l.split_once(". ")).map(|l| l.0.to_owned()).collect::<Vec<_>>().join(" ")
    };
    assert_eq!(order(NONE), "0 1 2 3");
    // Instances 6, 5, 6, 5: the lowest two bits are 2, 1; 3 keeps lane 1, which 1 has: it gets lane 0.
    assert_eq!(order(Options { hints: Hints::Instance(2), ..NONE }), "3 1 0 2");
    assert_eq!(order(Options { hints: Hints::Primitive(4), ..NONE }), "0 1 2 3");
    assert_eq!(order(Options { cell: 2.0, ..NONE }), "0 3 2 1");
}

/// Whatever is reordered, the same calls are executed, and a wider window does not make less of it.
#[test]
fn the_model_gains_with_the_window() {
    for nested in [false, true] {
        let made = Model { nested, ..Model::SMALL }.trace(false);
        let launch = &made.events.launches[0];
        let replayer = Replayer::new(&made.events, launch);
        let before = replayer.efficiency(&Packing::recorded(launch));
        let mut last = 0.0;
        for window in [Some(4), Some(16), None] {
            let e = simulate(&made.events, launch, &replayer, &Options { window, ..NONE });
            assert_eq!(
                e.codes.iter().map(|c| c.synthetic.active).collect::<Vec<_>>(),
                before.codes.iter().map(|c| c.synthetic.active).collect::<Vec<_>>()
            );
            let percent = e.percent().unwrap();
            assert!(percent > last, "{window:?}: {percent} after {last}");
            last = percent;
        }
        assert!(last > before.percent().unwrap());
    }
}

#[test]
fn a_grid_is_tried_as_it_was_said() {
    let made = Model { width: 16, height: 8, ..Model::SMALL }.trace(true);
    let memory = made.memory();
    let context = Context::read(&memory).unwrap();
    let events = read(&memory, &context, Wants { places: true, ticks: false }).unwrap();
    let grid = Grid {
        windows: vec![Some(2), Some(1000), None],
        hints: ["instance:3", "primitive:4"].map(|h| Hints::parse(h).unwrap()).to_vec(),
        cells: vec![Side::Of(0.25)],
    };
    let rows = report(&events, &grid).tables.remove(0).rows;
    // (a window of more than there are is all, and said once)
    let said: Vec<_> = rows.iter().map(|r| r[2..5].to_vec()).collect();
    let row = |w: &str, h: &str| vec![Cell::from(w), Cell::from(h), Cell::from("0.250")];
    assert_eq!(
        said[1..],
        [
            row("2 subgroups", "3 bits of the instance"),
            row("2 subgroups", "4 bits of the primitive"),
            row("all", "3 bits of the instance"),
            row("all", "4 bits of the primitive")
        ]
    );
    for wrong in ["", "instance", "instance:0", "shader:3", "primitive:33"] {
        assert_eq!(Hints::parse(wrong), None, "{wrong}");
    }
}

#[test]
fn the_report_is_printed_as_it_was() {
    let made = Model { width: 16, height: 8, ..Model::SMALL }.trace(true);
    let text = crate::report::text::render(&QUESTION.answer(&made.memory()).unwrap());
    crate::report::printed::hold("rays/reorder/printed.txt", &text);
}
