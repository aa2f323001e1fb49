use super::*;
use crate::report::png;
use crate::report::text;
use trace::{Memory, Value};

const NO: u64 = NOWHERE;

/// 4 x 2 invocations, without the last; subgroups of four, of which the second is taken apart.
fn trace(placed: bool) -> Memory {
    let mut memory = Memory::default();
    let rows = [
        // invocation, begin, end, place, last place
        [0, 100, 150, 1, 7, 1, 7],
        [1, 100, 150, 1, 7, 1, 7],
        [2, 100, 150, 1, 7, 1, 7],
        [3, 100, 150, 1, 7, 1, 7],
        [6, 130, 150, 2, 3, 2, 5],
        [5, 130, 170, 2, 3, 2, 3],
        [4, 130, 230, 2, 3, 4, 3],
    ];
    for [invocation, begin, end, sm, warp, last_sm, last_warp] in rows {
        let place = if placed { [sm, warp, last_sm, last_warp] } else { [NO; 4] };
        let row = [3, 0, 1, 4, 2, 1, invocation, begin, end].into_iter().chain(place).map(Value::U64);
        memory.put(&SHADER_CLOCK, &row.chain([Value::Text("device")]).collect::<Vec<_>>());
    }
    memory
}

#[test]
fn the_report_is_printed_as_it_was() {
    let text = text::render(&QUESTION.answer(&trace(true)).unwrap());
    crate::report::printed::hold("rays/shader_clock/printed.txt", &text);
}

#[test]
fn maps_show_who_was_where_and_how_long() {
    let report = QUESTION.answer(&trace(true)).unwrap();
    let map = |name: &str| -> Vec<String> {
        let image = report.images.iter().find(|i| i.name == format!("{name}_frame3_launch0")).expect(name);
        assert_eq!((image.width, image.height), (4, 2));
        assert!(png::render(image).is_ok());
        image.pixels.iter().map(f32::to_string).collect()
    };
    assert_eq!(map("shader_clock"), ["50", "50", "50", "50", "100", "40", "20", "NaN"]);
    assert_eq!(map("sm"), ["1", "1", "1", "1", "4", "2", "2", "NaN"]);
    assert_eq!(map("sm_first"), ["1", "1", "1", "1", "2", "2", "2", "NaN"]);
    assert_eq!(map("warp"), ["7", "7", "7", "7", "3", "3", "5", "NaN"]);
    assert_eq!(map("moved"), ["0", "0", "0", "0", "2", "0", "1", "NaN"]);
    assert_eq!(map("sm_last"), ["0", "0", "0", "0", "1", "0", "0", "NaN"]);
    assert!(report.files.iter().all(|f| f.content.len() == 128 + 4 * 8) && report.files.len() == 6);
    // Two subgroups, of which one stayed together and in step.
    let row = read(&trace(true)).unwrap()[0].row();
    let (two, half) = (Cell::Count(2), Cell::Number(50.0));
    assert_eq!(row[6..8], [two.clone(), Cell::Count(3)]);
    assert_eq!(row[10..], [two, half.clone(), half]);
}

#[test]
fn where_the_device_does_not_say_where_there_are_times_alone() {
    let report = QUESTION.answer(&trace(false)).unwrap();
    assert_eq!(report.images.iter().map(|i| &*i.name).collect::<Vec<_>>(), ["shader_clock_frame3_launch0"]);
    assert!(report.tables.len() == 1 && report.notes.iter().any(|n| n.contains("VK_NV_shader_sm_builtins")));
}

#[test]
fn what_cannot_be_is_refused() {
    let mut memory = trace(true);
    let row = [3, 0, 1, 4, 2, 1, 8, 0, 0, 0, 0, 0, 0].map(Value::U64).into_iter();
    memory.put(&SHADER_CLOCK, &row.chain([Value::Text("device")]).collect::<Vec<_>>());
    assert!(read(&memory).unwrap_err().0.contains("invocation 8 of 8"));
    let mut memory = trace(true);
    let row = [3, 0, 1, 4, 4, 1, 8, 0, 0, 0, 0, 0, 0].map(Value::U64).into_iter();
    memory.put(&SHADER_CLOCK, &row.chain([Value::Text("device")]).collect::<Vec<_>>());
    assert!(read(&memory).unwrap_err().0.contains("its size is"));
}

/// One scale for all: the same value has the same colour in each panel, and what lies beyond it the last one.
#[test]
fn panels_have_one_scale() {
    let image = |pixels: Vec<f32>| {
        let value = Column::new("time", Unit::Cycles);
        Image { name: "i".into(), title: "t".into(), value, width: 2, height: 2, pixels }
    };
    let (a, b) = (image(vec![0.0, 10.0, 10.0, f32::NAN]), image(vec![10.0, 20.0, 20.0, 900.0]));
    let draw = |most| {
        let png = panels("Time", &[("a".into(), &a), ("b".into(), &b)], most).unwrap();
        let mut reader = ::png::Decoder::new(std::io::Cursor::new(&png)).read_info().unwrap();
        let mut pixels = vec![0; reader.output_buffer_size().unwrap()];
        let width = reader.next_frame(&mut pixels).unwrap().width as usize;
        move |x: usize, y: usize| {
            let at = (y * width + x) * 3;
            [pixels[at], pixels[at + 1], pixels[at + 2]]
        }
    };
    // Panels of 256 pixels a side begin at 8 and 272, below 32 pixels of names.
    let at = draw(75);
    assert_eq!(at(8, 32), png::colour(0.0));
    assert_eq!((at(8 + 128, 32), at(272, 32)), (png::colour(0.5), png::colour(0.5)));
    assert_eq!((at(272 + 128, 32), at(272 + 128, 32 + 128)), (png::colour(1.0), png::colour(1.0)));
    assert_eq!(at(8 + 128, 32 + 128), png::colour(f64::NAN));
    let at = draw(100);
    assert_eq!(at(272 + 128, 32 + 128), png::colour(1.0));
    assert_ne!(at(272 + 128, 32), png::colour(1.0));
    assert!(panels("Time", &[], 100).is_err());
    let other = Image { width: 1, ..image(vec![0.0; 2]) };
    assert!(panels("Time", &[("a".into(), &a), ("b".into(), &other)], 100).is_err());
}
