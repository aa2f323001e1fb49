//! A report as text for a terminal: tables with aligned columns under their units, each histogram as a line,
//! the notes, checks that failed, and what measuring cost.
//!
//! Digits by unit: milliseconds have three decimals, frames per second one, percent two
//! ([`Unit::decimals`]). Lines have no blanks at
//! their ends, and none is of another's making: values are shown as `escape.rs` says. Series that are no histograms, and images, are left to other exporters.

mod fit;

use super::escape;
use super::sketch::sketch;
use super::{Cell, Cost, Mark, Report, Series, Table, Unit};
use fit::width;
pub use fit::{Aligned, aligned, beside, described, rewrapped, said_of_cuts, wrapped};
use std::fmt::Write;

/// The report as text, with a line end.
pub fn render(report: &Report) -> String {
    render_within(report, None)
}

/// The same in so many columns, as a terminal has them: sentences are wrapped, tables folded, and long words in them cut, which is said.
pub fn render_within(report: &Report, within: Option<usize>) -> String {
    let mut parts = vec![format!("{}\n", escape::line(&report.title))];
    let sentence = |text: &str| wrapped(&escape::line(text), within, 0) + "\n";
    let headlines: String = report.headlines.iter().map(|h| sentence(h)).collect();
    parts.extend((!headlines.is_empty()).then_some(headlines));
    let mut cut = false;
    for table in report.tables.iter().filter(|table| !table.rows.is_empty()) {
        let aligned = table_within(table, within);
        cut |= aligned.cut;
        parts.push(aligned.text);
    }

    let histograms: Vec<_> = report.series.iter().filter(|series| series.mark == Mark::Bars).collect();
    let title_width = histograms.iter().map(|series| width(&escape::line(&series.title))).max().unwrap_or(0);
    let sketches: String =
        histograms.iter().filter_map(|series| render_histogram(series, title_width, within)).collect();
    if !sketches.is_empty() {
        parts.push(sketches);
    }

    let mut last: String = report.notes.iter().map(|note| sentence(note)).collect();
    last.extend(report.failures.iter().map(|failure| sentence(&format!("CHECK FAILED: {failure}"))));
    last += &sentence(&render_cost(&report.cost));
    last += &said_of_cuts(within, cut);
    parts.push(last);
    parts.join("\n")
}

/// The headlines of several reports, each below its title, in so many columns.
pub fn headlines<'r>(reports: impl Iterator<Item = &'r Report>, within: Option<usize>) -> String {
    let one = |r: &Report| {
        let lines = r.headlines.iter().map(|h| wrapped(&escape::line(h), within, 2) + "\n");
        format!("{}\n{}\n", escape::line(&r.title), lines.collect::<String>())
    };
    reports.filter(|r| !r.headlines.is_empty()).map(one).collect()
}

/// One table as text: names, units (where a column has one to show), rows.
pub fn table(table: &Table) -> String {
    table_within(table, None).text
}

/// The same in so many columns.
pub fn table_within(table: &Table, within: Option<usize>) -> Aligned {
    let mut lines =
        vec![table.columns.iter().map(|column| escape::line(&column.name).into_owned()).collect::<Vec<_>>()];
    let units: Vec<_> = table.columns.iter().map(|column| column.unit.symbol().to_owned()).collect();
    if units.iter().any(|unit| !unit.is_empty()) {
        lines.push(units);
    }
    let heads = lines.len();
    for row in &table.rows {
        lines.push(
            row.iter().zip(&table.columns).map(|(cell, column)| render_cell(cell, column.unit)).collect(),
        );
    }

    let numbers: Vec<bool> = table.columns.iter().map(|c| c.unit != Unit::Text).collect();
    aligned(&lines, heads, &numbers, within)
}

fn render_cell(cell: &Cell, unit: Unit) -> String {
    match cell {
        Cell::Count(count) => count.to_string(),
        Cell::Number(number) if number.is_finite() => format!("{number:.*}", unit.decimals()),
        Cell::Number(_) | Cell::Missing => "–".to_owned(),
        Cell::Text(text) => escape::line(text).into_owned(),
    }
}

/// `GPU  1.10 ms ▁▂▅█▇▃▁  ▁ 1.62 ms, and 3 above, up to 2.00 ms`
fn render_histogram(series: &Series, title_width: usize, within: Option<usize>) -> Option<String> {
    let buckets: Vec<_> = series
        .points
        .iter()
        .filter_map(|point| match point {
            (Cell::Number(begin), Cell::Count(count)) => Some((*begin, *count)),
            _ => None,
        })
        .collect();
    let sketch = sketch(&buckets)?;
    let unit = series.x.unit.symbol();
    let title = escape::line(&series.title);
    let mut line = format!(
        "{}{}  {} {unit} {}",
        title,
        " ".repeat(title_width - width(&title)),
        three_digits(sketch.low),
        sketch.bars
    );
    let comma = if sketch.above > 0 { "," } else { "" };
    let is_line = sketch.high > sketch.low;
    line += if is_line { "" } else { comma };
    // (what does not fit goes on below the numbers)
    let mut taken = width(&line);
    let mut more = |text: String| {
        let fits = within.is_none_or(|within| taken + 1 + width(&text) <= within);
        let gap = if fits { " ".to_owned() } else { format!("\n{}", " ".repeat(title_width + 2)) };
        taken = if fits { taken + 1 } else { title_width + 2 } + width(&text);
        line += &(gap + &text);
    };
    if is_line {
        more(format!("{} {unit}{comma}", three_digits(sketch.high)));
    }
    if sketch.above > 0 {
        more(format!("and {} above, up to {} {unit}", sketch.above, three_digits(sketch.highest)));
    }
    line.push('\n');
    Some(line)
}

fn render_cost(cost: &Cost) -> String {
    match cost {
        Cost::Measured { of, without, with } => {
            let (without_ms, with_ms) = (without.as_millis(), with.as_millis());
            let mut line =
                format!("Cost of measuring: {of}: {without_ms:.3} ms without, {with_ms:.3} ms with");
            if without.0 > 0 {
                let _ = write!(line, " ({:+.2} %)", (with_ms / without_ms - 1.0) * 100.0);
            }
            line
        }
        Cost::Nothing { why } => format!("Cost of measuring: none, {why}"),
        Cost::Unknown { why } => format!("Cost of measuring: not known, {why}"),
    }
}

/// A number with three significant digits: 0.0123, 1.23, 123, 1234.
fn three_digits(number: f64) -> String {
    if number == 0.0 || !number.is_finite() {
        return number.to_string();
    }
    // (of the number as rounded: 9.996 has two digits before its point once it is 10.0)
    let exponent = |text: String| text.split_once('e').and_then(|(_, e)| e.parse::<i32>().ok()).unwrap_or(0);
    let decimals = 2 - exponent(format!("{number:.2e}"));
    format!("{number:.*}", decimals.max(0) as usize)
}

#[cfg(test)]
mod tests {
    use super::super::{Column, Cost, Mark, Report, SCHEMA_VERSION, Series, Table, Unit};
    use super::*;
    use trace::Nanos;

    fn sample() -> Table {
        Table {
            name: "t".into(),
            columns: vec![
                Column::new("", Unit::Text),
                Column::new("frames", Unit::Count),
                Column::new("mean", Unit::Milliseconds),
                Column::new("mean", Unit::FramesPerSecond),
            ],
            rows: vec![
                vec!["GPU".into(), Cell::Count(29), Cell::Number(1.25), Cell::Number(800.0)],
                vec!["CPU, all".into(), Cell::Count(29), Cell::Number(123.45678), Cell::Missing],
            ],
        }
    }

    #[test]
    fn columns_are_aligned_under_their_units() {
        let expected = "          frames     mean   mean
                       ms    FPS
GPU           29    1.250  800.0
CPU, all      29  123.457      –
";
        assert_eq!(table(&sample()), expected);
    }

    #[test]
    fn a_whole_report() {
        let report = Report {
            schema_version: SCHEMA_VERSION,
            analysis: "x".into(),
            title: "X".into(),
            tables: vec![Table { rows: vec![], ..sample() }, sample()],
            series: vec![Series {
                name: "s".into(),
                title: "GPU".into(),
                mark: Mark::Bars,
                x: Column::new("time", Unit::Milliseconds),
                y: Column::new("frames", Unit::Count),
                points: vec![(Cell::Number(1.25), Cell::Count(299)), (Cell::Number(4.0), Cell::Count(1))],
            }],
            notes: vec!["A note.".into()],
            cost: Cost::Measured {
                of: "all frames".into(),
                without: Nanos(2_000_000),
                with: Nanos(2_010_000),
            },
            ..Report::new("", "")
        };
        let text = render(&report);
        let expected = "
GPU  1.25 ms █, and 1 above, up to 4.00 ms

A note.
Cost of measuring: all frames: 2.000 ms without, 2.010 ms with (+0.50 %)
";
        assert!(text.starts_with("X\n\n          frames"), "{text}");
        assert!(text.ends_with(expected), "{text}");
        let folded = "\nGPU  1.25 ms █,\n     and 1 above, up to 4.00 ms\n";
        assert!(render_within(&report, Some(35)).contains(folded));
    }

    #[test]
    fn a_terminal_has_so_many_columns() {
        let long = "a name that is longer than its place";
        let mut table = sample();
        table.rows[0][0] = long.into();
        let headlines = vec!["The CPU takes a hundred times as long as the GPU does.".into()];
        let report = Report { title: "X".into(), headlines, tables: vec![table], ..Report::new("", "") };
        let text = render_within(&report, Some(40));
        assert!(text.lines().all(|l| width(l) <= 40), "{text}");
        assert!(text.contains("as long as\nthe GPU does."), "{text}");
        assert!(text.contains("123.457") && text.contains('…'), "{text}");
        assert!(text.contains("Cut to 40 columns; --wide shows all of"), "{text}");
        assert!(render(&report).contains(long));
        assert!(!render_within(&report, Some(100)).contains("--wide"));
        let said = super::headlines([&report].into_iter(), Some(40));
        assert_eq!(said.lines().next(), Some("X"));
        assert!(said.trim_end().lines().skip(1).all(|l| l.starts_with("  ") && width(l) <= 40), "{said}");
    }

    #[test]
    fn three_significant_digits() {
        for (number, text) in [
            (0.0, "0"),
            (0.001234, "0.00123"),
            (1.0, "1.00"),
            (9.996, "10.0"),
            (16.67, "16.7"),
            (1234.5, "1234"),
        ] {
            assert_eq!(three_digits(number), text);
        }
    }
}
