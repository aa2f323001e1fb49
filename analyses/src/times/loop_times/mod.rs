//! How long the iterations of one looped frame took, how much they scatter, and what putting the frame back cost.
//!
//! *Input.* [`Iteration`] records of one frame, warm-up left out; what the times span is said there.
//!
//! *Definitions.* Mean, maximum and percentiles are exact; percentiles, standard deviation (n − 1) and the interval
//! of the median are defined in `stats`. CV is the coefficient of variation: standard deviation over mean. The interval is
//! what 95 % of the medians lie in when the iterations are drawn again with replacement, 2000 times, beginning from the
//! seed; the same records and the same seed give the same interval.
//!
//! *Caveats.* The interval takes iterations for independent. They are not where the device heats up or its clocks move:
//! the series `gpu_times` and `cpu_times` show that. Each iteration begins on an idle device: work that overlaps frames
//! in the program does not overlap here.

mod columns;

use crate::report::shapes::{Distribution, Group};
use crate::report::sheet::Sheet;
use crate::report::{Cell, Cost, Mark, Report, SCHEMA_VERSION, Series, Table, counted};
use crate::stats::Sample;
pub(crate) use columns::SHEETS;
use trace::{Iteration, Nanos};

/// What is known of a loop beside its iterations.
#[derive(Clone, Debug)]
pub struct About {
    /// The frame's number.
    pub frame: u64,
    /// Where the bootstrap's random numbers begin.
    pub seed: u64,
    /// How long taking the snapshot took.
    pub snapshot: Nanos,
    /// How large it is.
    pub snapshot_bytes: u64,
    /// Sentences on what was compared and on what could not be put back.
    pub notes: Vec<String>,
    /// What measuring cost.
    pub cost: Cost,
}

/// The report.
pub fn report(about: &About, iterations: &[Iteration]) -> Report {
    let clocks: [(&str, Vec<u64>); 3] = [
        ("GPU", iterations.iter().filter_map(|i| i.gpu).map(|n| n.0).collect()),
        ("CPU", iterations.iter().map(|i| i.cpu.0).collect()),
        ("until idle", iterations.iter().map(|i| i.whole.0).collect()),
    ];
    let mut notes = about.notes.clone();
    let untimed = iterations.len() - clocks[0].1.len();
    if untimed > 0 {
        notes.push(format!("{untimed} of {} iterations have no GPU time.", iterations.len()));
    }
    let series =
        COURSES.iter().zip(&clocks).map(|(sheet, (name, times))| course(sheet, name, times)).collect();
    let rows: Vec<Vec<Cell>> =
        clocks.into_iter().filter_map(|(name, times)| row(name, times, about.seed)).collect();
    Report {
        schema_version: SCHEMA_VERSION,
        analysis: "loop-times".to_owned(),
        title: format!("Frame {} again and again", about.frame),
        headlines: rows.first().and_then(|row| headline(about, row)).into_iter().collect(),
        tables: vec![columns::ITERATIONS.table(rows), restoring(about, iterations)],
        series,
        distributions: vec![Distribution {
            name: "times".to_owned(),
            title: format!("Times of frame {}", about.frame),
            groups: COURSES.iter().zip(["GPU", "CPU"]).map(group).collect(),
        }],
        notes,
        cost: about.cost.clone(),
        ..Report::new("", "")
    }
}

/// The median of the first clock that has times, and how well it is known.
fn headline(about: &About, row: &[Cell]) -> Option<String> {
    let Cell::Text(clock) = &row[0] else { return None };
    let [n, median, from, to] = [1, 3, 9, 10].map(|column: usize| row[column].number());
    let known = from.zip(to).map_or_else(String::new, |(a, b)| format!(" (95 %: {a:.3} … {b:.3} ms)"));
    let (frame, n) = (about.frame, counted(n? as u64, "iteration"));
    Some(format!("Frame {frame}, {clock}: a median of {:.3} ms{known} over {n}.", median?))
}

/// The series of the GPU's clock and the CPU's.
const COURSES: [Sheet; 2] = [columns::GPU_TIMES, columns::CPU_TIMES];

/// A clock's series; there is no histogram of a few hundred iterations.
fn group((sheet, clock): (&Sheet, &str)) -> Group {
    Group { name: clock.to_owned(), course: sheet.table.to_owned(), histogram: String::new() }
}

fn row(name: &str, times: Vec<u64>, seed: u64) -> Option<Vec<Cell>> {
    let s = Sample::new(times);
    let mean = s.mean()?;
    let ms = |n: Option<f64>| n.map_or(Cell::Missing, |n| Cell::Number(n / 1e6));
    let number = |x: Option<f64>| x.map_or(Cell::Missing, Cell::Number);
    let interval = s.median_interval(seed);
    Some(vec![
        name.into(),
        Cell::Count(s.count() as u64),
        Cell::Number(mean / 1e6),
        ms(s.median()),
        ms(s.percentile(90.0)),
        ms(s.percentile(99.0)),
        ms(s.percentile(100.0)),
        number(s.deviation().map(|d| d / 1e6)),
        number(s.deviation().filter(|_| mean > 0.0).map(|d| d / mean * 100.0)),
        ms(interval.map(|i| i[0])),
        ms(interval.map(|i| i[1])),
    ])
}

/// What the snapshot and each restoring cost.
fn restoring(about: &About, iterations: &[Iteration]) -> Table {
    let mean = |f: fn(&Iteration) -> u64| {
        Sample::new(iterations.iter().map(f).collect()).mean().map_or(Cell::Missing, Cell::Number)
    };
    let most = |f: fn(&Iteration) -> u64| Cell::Count(iterations.iter().map(f).max().unwrap_or(0));
    let restores = Sample::new(iterations.iter().map(|i| i.restore.0).collect());
    let ms = |n: Option<f64>| n.map_or(Cell::Missing, |n| Cell::Number(n / 1e6));
    columns::RESTORING.table([
        vec![
            "restoring before an iteration".into(),
            ms(restores.mean()),
            ms(restores.max().map(|n| n as f64)),
            mean(|i| i.bytes),
            most(|i| i.resources),
            most(|i| i.objects),
        ],
        vec![
            "the snapshot, once".into(),
            Cell::Number(about.snapshot.as_millis()),
            Cell::Number(about.snapshot.as_millis()),
            Cell::Number(about.snapshot_bytes as f64),
            Cell::Missing,
            Cell::Missing,
        ],
    ])
}

/// Every iteration in order.
fn course(sheet: &Sheet, name: &str, times: &[u64]) -> Series {
    let points = (1..).zip(times).map(|(i, t)| (Cell::Count(i), Cell::Number(Nanos(*t).as_millis())));
    sheet.series(name, Mark::Line, points)
}

#[cfg(test)]
mod tests {
    use super::*;

    fn iteration(ms: u64) -> Iteration {
        let time = |n: u64| Nanos(n * 1_000_000);
        Iteration {
            gpu: (ms != 3).then(|| time(ms)),
            cpu: time(ms * 2),
            whole: time(ms * 3),
            restore: time(1),
            resources: ms,
            bytes: 1000 * ms,
            objects: 4,
        }
    }

    #[test]
    fn every_number_of_a_known_loop() {
        let about = About {
            frame: 7,
            seed: 1,
            snapshot: Nanos(2_500_000),
            snapshot_bytes: 4096,
            notes: vec!["As it was.".to_owned()],
            cost: Cost::Unknown { why: "a test".into() },
        };
        let r = report(&about, &[iteration(1), iteration(2), iteration(3)]);
        assert_eq!(r.tables[0].rows.len(), 3);
        // (of 1 and 2 ms: a quarter of drawings are of one of them alone)
        let said = "Frame 7, GPU: a median of 1.500 ms (95 %: 1.000 … 2.000 ms) over 2 iterations.";
        assert_eq!(r.headlines, [said]);
        // CPU: 2, 4, 6 ms: mean and median 4, deviation 2, CV 50 %.
        let cpu = &r.tables[0].rows[1];
        assert_eq!(cpu[..2], [Cell::from("CPU"), Cell::Count(3)]);
        let numbers: Vec<_> = [4.0, 4.0, 6.0, 6.0, 6.0, 2.0, 50.0].map(Cell::Number).into();
        assert_eq!(cpu[2..9], numbers[..]);
        assert_eq!(
            cpu[9..],
            [Cell::Number(2.0), Cell::Number(6.0)],
            "three values: 4/27 of medians are the least"
        );
        assert_eq!(
            r.tables[1].rows[0][1..],
            [1.0, 1.0, 2000.0]
                .map(Cell::Number)
                .into_iter()
                .chain([Cell::Count(3), Cell::Count(4)])
                .collect::<Vec<_>>()[..]
        );
        assert_eq!(r.tables[1].rows[1][3], Cell::Number(4096.0));
        assert_eq!(r.notes, ["As it was.", "1 of 3 iterations have no GPU time."]);
        assert_eq!(r, report(&about, &[iteration(1), iteration(2), iteration(3)]), "the seed decides");
    }
}
