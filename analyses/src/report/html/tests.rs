use super::*;
use crate::report::shapes::{Distribution, Group, Line, Listing, Node, Span, SpanKind, Timeline, Tree};
use crate::report::{Cell, Column, Image, Mark, Report, Series, Table, Unit};
use flate2::read::ZlibDecoder;
use serde_json::Value;
use std::io::Read;

fn sample() -> Report {
    let mut r = Report::new("x", "An <answer> & more");
    r.tables = vec![Table {
        name: "t".into(),
        columns: vec![Column::new("name", Unit::Text), Column::new("share", Unit::Percent)],
        rows: vec![vec!["a </script><b>".into(), Cell::Number(12.5)], vec![Cell::Missing, Cell::Missing]],
    }];
    r.series = vec![Series {
        name: "times".into(),
        title: "Times".into(),
        mark: Mark::Line,
        x: Column::new("frame", Unit::Count),
        y: Column::new("time", Unit::Milliseconds),
        points: vec![(Cell::Count(1), Cell::Number(2.0)), (Cell::Count(2), Cell::Number(4.0))],
    }];
    let group = |course: &str| Group { name: course.into(), course: course.into(), histogram: String::new() };
    r.distributions = vec![Distribution {
        name: "d".into(),
        title: "D".into(),
        groups: vec![group("times"), group("not there")],
    }];
    r.images = vec![Image {
        name: "i".into(),
        title: "I".into(),
        value: Column::new("rays", Unit::Count),
        width: 2,
        height: 1,
        pixels: vec![3.0, f32::NAN],
    }];
    let node = Node { depth: 0, name: "everything".into(), values: vec![Cell::Number(1.5)] };
    let columns = vec![Column::new("mean", Unit::Milliseconds)];
    r.trees = vec![Tree { name: "p".into(), title: "P".into(), columns, nodes: vec![node] }];
    r.timelines = vec![Timeline {
        name: "l".into(),
        title: "L".into(),
        time: Column::new("time", Unit::Cycles),
        value: Column::new("entered", Unit::Invocations),
        frame: None,
        lanes: vec!["SM 0".into()],
        kinds: vec![SpanKind { name: "main".into(), group: "fragment".into() }],
        spans: vec![Span { lane: 0, kind: 0, begin: 5.0, end: 9.0, value: 8.0 }],
    }];
    r.listings = vec![Listing {
        name: "s".into(),
        title: "S".into(),
        columns: vec![Column::new("executions", Unit::Subgroups)],
        lines: vec![
            Line { text: "void main()".into(), values: vec![] },
            Line { text: "{".into(), values: vec![vec![Cell::Count(7)], vec![Cell::Count(9)]] },
        ],
    }];
    r
}

fn page() -> String {
    let input = Input { name: "trace".into(), reports: vec![(sample(), String::new())], ..Input::default() };
    render("A <title>", &[input]).expect("it can be rendered")
}

/// The header and the bytes behind it, as the page's script reads them.
fn unpacked(page: &str) -> (Value, Vec<u8>) {
    let begin = page.find("type=\"text/plain\">").expect("there is data") + 18;
    let coded = &page[begin..begin + page[begin..].find('<').expect("it ends")];
    let letter = |c: u8| match c {
        b'A'..=b'Z' => c - b'A',
        b'a'..=b'z' => c - b'a' + 26,
        b'0'..=b'9' => c - b'0' + 52,
        b'+' => 62,
        _ => 63,
    };
    let bits: Vec<u8> = coded.bytes().filter(|c| *c != b'=').map(letter).collect();
    let mut bytes = vec![];
    for group in bits.chunks(4) {
        let n = group.iter().fold(0u32, |n, b| n << 6 | u32::from(*b)) << (6 * (4 - group.len()));
        bytes.extend(&n.to_be_bytes()[1..group.len()]);
    }
    let mut whole = vec![];
    ZlibDecoder::new(&bytes[..]).read_to_end(&mut whole).expect("it is zlib");
    let length = u32::from_le_bytes(whole[..4].try_into().expect("four bytes")) as usize;
    let header = serde_json::from_slice(&whole[4..4 + length]).expect("it is JSON");
    (header, whole[(4 + length).next_multiple_of(8)..].to_vec())
}

#[test]
fn every_shape_is_in_the_data_with_its_numbers() {
    let (header, bytes) = unpacked(&page());
    let r = &header["reports"][0];
    for shape in ["tables", "images", "trees", "timelines", "listings"] {
        assert_eq!(r[shape].as_array().map(Vec::len), Some(1), "{shape}");
    }
    let at = |of: &Value| {
        let from = of["at"].as_u64().expect("a place") as usize;
        &bytes[from..]
    };
    // Of an image: NaN makes it four bytes a value; the first is 3.
    let pixels = &r["images"][0]["pixels"];
    assert_eq!((pixels["t"].as_str(), pixels["n"].as_u64()), (Some("f4"), Some(2)));
    assert_eq!(at(pixels)[..4], 3f32.to_le_bytes());
    // A timeline has lengths, not ends.
    assert_eq!((at(&r["timelines"][0]["begin"])[0], at(&r["timelines"][0]["length"])[0]), (5, 4));
    // Both sets of a line stand beside it.
    let l = &r["listings"][0];
    assert_eq!(
        (at(&l["lines"])[..2].to_vec(), at(&l["columns"][0]["cells"])[..2].to_vec()),
        (vec![1, 1], vec![7, 9])
    );
    // A distribution's figures have the groups whose series are there, and say their values.
    let figures = r["figures"].as_array().expect("a list");
    let names: Vec<_> = figures.iter().map(|f| f["name"].as_str().unwrap_or_default()).collect();
    assert_eq!(names, ["d_violins", "d_in_order", "d_histogram"]);
    let says = |n: usize| {
        let elements = figures[n]["elements"].as_array().into_iter().flatten();
        elements.filter_map(|e| {
            Some(e["says"].as_array()?.iter().map(|l| l.as_str().unwrap_or_default()).collect())
        })
    };
    let violins: Vec<Vec<&str>> = says(0).collect();
    assert_eq!(violins.len(), 1);
    assert_eq!(violins[0][..3], ["times", "2 values, mean 3 ms", "least 2 ms"]);
    let course: Vec<Vec<&str>> = says(1).collect();
    assert_eq!(course, [["times", "frame 1", "2 ms"], ["times", "frame 2", "4 ms"]]);
    assert_eq!(r["tables"][0]["columns"][0]["cells"]["list"][0], "a </script><b>");
}

#[test]
fn nothing_of_a_report_is_markup_and_nothing_is_fetched() {
    let page = page();
    assert!(!page.contains("a </script><b>") && page.contains("<title>A &lt;title&gt;</title>"));
    assert!(!page.contains("{{"), "a place was left open");
    // Elements that load something.
    let lower = page.to_ascii_lowercase();
    for tag in ["<link", "<img", "<iframe", "<script src", "@import", "url(http"] {
        assert!(!lower.contains(tag), "{tag}");
    }
    assert_eq!(page, self::page());
}

/// What a capture may call its passes, pipelines, entry points and files.
const HOSTILE: [&str; 8] = [
    "<script>alert(1)</script>",
    "</script><script>alert(2)</script>",
    "<!--<script>",
    "]]>",
    "\"'><img src=x onerror=alert(3)>",
    "javascript:alert(4)",
    "{{scripts}}{{data}}",
    "\u{2028}\u{202e}\u{1b}[2J\0",
];

/// A report that has a text wherever one may be.
fn named(text: &str) -> Report {
    let mut r = sample();
    let mut of = serde_json::to_value(&r).expect("plain values");
    fn all(v: &mut Value, text: &str) {
        match v {
            Value::Array(list) => list.iter_mut().for_each(|v| all(v, text)),
            Value::Object(map) => {
                let kept = ["unit", "mark", "kind"];
                map.iter_mut().filter(|(k, _)| !kept.contains(&k.as_str())).for_each(|(_, v)| all(v, text));
            }
            Value::String(s) => *s = text.to_owned(),
            _ => {}
        }
    }
    all(&mut of, text);
    let shown = crate::report::json::read(&of).expect("a report");
    (r.timelines[0].lanes, r.timelines[0].kinds[0].name) = (vec![text.into()], text.into());
    (r.timelines[0].title, r.listings[0].title) = (text.into(), text.into());
    r.listings[0].lines[0].text = text.into();
    Report {
        timelines: r.timelines,
        listings: r.listings,
        failures: vec![text.into()],
        notes: vec![text.into()],
        ..shown
    }
}

fn named_page(text: &str) -> String {
    let input = Input {
        name: text.into(),
        kind: text.into(),
        facts: vec![(text.into(), text.into())],
        notes: vec![text.into()],
        reports: vec![(named(text), text.into())],
        ..Input::default()
    };
    render(text, &[input]).expect("it can be rendered")
}

#[test]
fn no_name_is_markup_wherever_it_stands() {
    let around = |page: &str, title: &str| {
        let begin = page.find("type=\"text/plain\">").expect("there is data") + 18;
        let end = begin + page[begin..].find('<').expect("it ends");
        let data = &page[begin..end];
        assert!(data.bytes().all(|b| b.is_ascii_alphanumeric() || b"+/=".contains(&b)), "{title}");
        // (the title stands once, in the head)
        let head = page[..begin].replacen(&format!("<title>{title}</title>"), "<title></title>", 1);
        (head, page[end..].to_owned())
    };
    let plain = around(&named_page("plain"), "plain");
    for text in HOSTILE {
        let page = named_page(text);
        // But for its data and its title the page is another's, byte by byte.
        assert!(around(&page, &crate::report::escape::xml(text)) == plain, "{text}");
        let title = page.split("<title>").nth(1).and_then(|t| t.split("</title>").next()).expect("a title");
        assert!(!title.contains(['<', '>', '"', '\'', '\u{1b}', '\u{202e}']), "{title}");
        // The data has every text as it was.
        assert!(unpacked(&page).0["reports"][0]["title"] == text, "{text}");
    }
}

/// The page's scripts make text of text: nothing they do turns a string into markup, a link or a program.
#[test]
fn no_script_of_the_page_makes_markup_of_text() {
    let own: String = SCRIPTS.concat();
    for word in [
        "innerHTML",
        "outerHTML",
        "insertAdjacentHTML",
        "document.write",
        "eval(",
        "new Function",
        "srcdoc",
        "DOMParser",
    ] {
        assert!(!own.contains(word), "{word}");
    }
    // Links lead to sections of the page, or to a file of its own that is saved.
    for link in own.split("href:").skip(1) {
        let to = link.trim_start();
        assert!(to.starts_with("`#${") || to.starts_with("url,"), "{to:.60}");
    }
}

/// Light pages and files have the same colours.
#[test]
fn colours_of_the_page_are_those_of_files() {
    for (n, [r, g, b]) in (1..).zip(crate::report::plot::COLOURS) {
        assert!(STYLE.contains(&format!("--series-{n}: #{r:02x}{g:02x}{b:02x};")), "{n}");
        assert!(STYLE.contains(&format!(".chart .s{n} {{ color: var(--series-{n}); }}")), "{n}");
    }
}

#[test]
fn no_name_is_markup_in_figures() {
    for text in HOSTILE {
        for (name, figure) in crate::report::plot::figures(&named(text)) {
            let svg = figure.svg();
            assert!(
                !svg.contains("<script") && !svg.contains("<img") && !svg.contains("<!--"),
                "{name}: {svg}"
            );
            assert!(!svg.chars().any(|c| c.is_control() && c != '\n'), "{name}: {svg:?}");
            assert!(!svg.contains('\u{202e}'), "{name}: {svg:?}");
        }
    }
}
