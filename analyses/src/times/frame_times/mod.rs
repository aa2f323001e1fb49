//! How long frames took: mean, median, 90th and 99th percentile, and the longest, in milliseconds and as frames
//! per second, on the GPU and on the CPU.
//!
//! *Input.* [`FrameTime`] records; what the two times span is said there. Frames without a GPU time count for
//! the CPU only.
//!
//! *Definitions.* Mean, minimum and maximum are exact (nanoseconds, summed). The p-th percentile of n times is
//! the least bucket of an HDR histogram with 3 significant digits (from 1 ns to 1 h; longer counts as 1 h) such
//! that at least p % of the n lie in it or below: its upper end, at most 0.1 % above the sample itself, and
//! never outside of minimum and maximum. The median is the 50th. Frames per second are 1000 over the
//! milliseconds of the same name: of the mean, n frames over their total time; of p99, what 99 % of the frames
//! reach.
//!
//! *The load frame* carries the program's start, whatever came before its first present, and stands in a table
//! of its own. It is in no other number.
//!
//! *Caveats.* With fewer than 100 frames p99 is the longest frame. Replay does not wait as the program did (for
//! input, for a display, for its own work between calls), so these are not the program's frame rates: they say
//! how fast the driver and the device do the program's work.

mod columns;

use crate::Run;
use crate::report::shapes::{Distribution, Group};
use crate::report::sheet::Sheet;
use crate::report::{Cell, Mark, Report, SCHEMA_VERSION, Series};
use crate::stats::Stats;
pub(crate) use columns::SHEETS;
use trace::{FrameTime, Nanos};

/// The name of the report.
pub const NAME: &str = "frame-times";

/// The report on these frames.
pub fn report(run: &Run, frames: &[FrameTime]) -> Report {
    let (load, played): (Vec<_>, Vec<_>) =
        frames.iter().partition(|record| Some(record.frame) == run.load_frame);
    let clocks = [Clock::Gpu, Clock::Cpu];
    // (the state that a trimmed capture begins with is no frame)
    let only_load = played.is_empty() && run.load_frame != Some(0);

    let mut series = Vec::new();
    for clock in clocks {
        series.push(distribution(clock, &clock.stats(&played)));
    }
    for clock in clocks {
        series.push(course(clock, frames));
    }
    Report {
        schema_version: SCHEMA_VERSION,
        analysis: NAME.to_owned(),
        title: "Frame times".to_owned(),
        headlines: headline(if only_load { &load } else { &played }, run.first_frame).into_iter().collect(),
        tables: vec![
            columns::FRAMES.table(clocks.iter().filter_map(|clock| row(*clock, &clock.stats(&played)))),
            columns::LOAD_FRAME
                .table(clocks.iter().filter_map(|clock| load_row(*clock, &clock.stats(&load)))),
        ],
        series,
        distributions: vec![Distribution {
            name: "times".to_owned(),
            title: "Frame times".to_owned(),
            groups: clocks
                .iter()
                .map(|clock| {
                    let [histogram, course] = clock.sheets().map(|sheet| sheet.table.to_owned());
                    Group { name: clock.title().to_owned(), course, histogram }
                })
                .collect(),
        }],
        notes: notes(&played, run, !frames.is_empty()),
        cost: run.cost.clone(),
        ..Report::new("", "")
    }
}

/// Whose time it is.
#[derive(Clone, Copy)]
enum Clock {
    Gpu,
    Cpu,
}

impl Clock {
    fn title(self) -> &'static str {
        match self {
            Clock::Gpu => "GPU",
            Clock::Cpu => "CPU",
        }
    }

    /// The sheet of its histogram, and of its times one by one.
    fn sheets(self) -> [Sheet; 2] {
        match self {
            Clock::Gpu => [columns::GPU_DISTRIBUTION, columns::GPU_TIMES],
            Clock::Cpu => [columns::CPU_DISTRIBUTION, columns::CPU_TIMES],
        }
    }

    fn of(self, record: &FrameTime) -> Option<Nanos> {
        match self {
            Clock::Gpu => record.gpu,
            Clock::Cpu => Some(record.cpu),
        }
    }

    fn stats(self, records: &[&FrameTime]) -> Stats {
        records.iter().filter_map(|record| self.of(record)).collect()
    }
}

/// What a frame takes of each clock, and how far the slowest ones are from that; of the CPU where there is no GPU time.
fn headline(played: &[&FrameTime], first: Option<u64>) -> Option<String> {
    let [gpu, cpu] = [Clock::Gpu, Clock::Cpu].map(|clock| clock.stats(played));
    let mean_of_cpu = cpu.mean_ms()?;
    let (clock, stats, beside) = match gpu.count() {
        0 => (Clock::Cpu, cpu, String::new()),
        _ => (Clock::Gpu, gpu, format!(", and {mean_of_cpu:.3} ms of the CPU")),
    };
    let of_several = if beside.is_empty() { "" } else { " on average" };
    let (clock, mean, slowest) = (clock.title(), stats.mean_ms()?, stats.max().as_millis());
    Some(match stats.count() {
        1 if played.len() == 1 => {
            let once = played.first().filter(|f| Some(f.frame) == first);
            let once = once.map_or("", |_| ", with what a driver does at first use");
            format!("The frame takes {mean:.3} ms of the {clock}{beside}{once}.")
        }
        // (of fewer, the slowest is the 99th percentile)
        ..100 => format!(
            "A frame takes {mean:.3} ms of the {clock} on average, the slowest {slowest:.3} ms{beside}{of_several}."
        ),
        _ => format!(
            "A frame takes {mean:.3} ms of the {clock} on average, 99 % of frames at most {:.3} ms, the slowest {slowest:.3} ms{beside}{of_several}.",
            stats.percentile(99.0) / 1e6
        ),
    })
}

/// The percentiles that the table has: the median first.
const PERCENTILES: [f64; 3] = [50.0, 90.0, 99.0];

/// One clock's row; none when nothing was timed by it.
fn row(clock: Clock, stats: &Stats) -> Option<Vec<Cell>> {
    let mut times = vec![stats.mean_ms()?];
    times.extend(PERCENTILES.map(|percentile| stats.percentile(percentile) / 1e6));
    times.push(stats.max().as_millis());

    let mut row = vec![clock.title().into(), Cell::Count(stats.count())];
    row.extend(times.iter().map(|&ms| Cell::Number(ms)));
    row.extend(times.iter().map(|&ms| if ms > 0.0 { Cell::Number(1000.0 / ms) } else { Cell::Missing }));
    Some(row)
}

/// What is said where there is nothing else.
pub(crate) fn only_the_load_frame(run: &Run) -> String {
    let said = "Only the load frame was timed";
    match run.load_frame {
        Some(n) if n > 0 => format!(
            "{said}: the program's start, and what a driver does at first use, as compiling shaders, are in its times. --loop-frame {n} measures it again and again, without that."
        ),
        _ => format!("{said}."),
    }
}

fn load_row(clock: Clock, stats: &Stats) -> Option<Vec<Cell>> {
    let mean = Cell::Number(stats.mean_ms()?);
    Some(vec![clock.title().into(), Cell::Count(stats.count()), mean, Cell::Number(stats.max().as_millis())])
}

/// The histogram as it is, bucket by bucket.
fn distribution(clock: Clock, stats: &Stats) -> Series {
    let points = stats.buckets().map(|(begin, count)| (Cell::Number(begin.as_millis()), Cell::Count(count)));
    clock.sheets()[0].series(clock.title(), Mark::Bars, points)
}

/// Every frame's time in the order of the run, the load frame's too.
fn course(clock: Clock, frames: &[FrameTime]) -> Series {
    let point = |record: &FrameTime| {
        let time = clock.of(record).map_or(Cell::Missing, |time| Cell::Number(time.as_millis()));
        (Cell::Count(record.frame), time)
    };
    clock.sheets()[1].series(clock.title(), Mark::Line, frames.iter().map(point))
}

fn notes(played: &[&FrameTime], run: &Run, any: bool) -> Vec<String> {
    let untimed = played.iter().filter(|record| record.gpu.is_none()).count();
    let once = played.iter().find(|f| Some(f.frame) == run.first_frame);
    let mut notes = Vec::new();
    if played.is_empty() {
        notes.push(if any { only_the_load_frame(run) } else { "No frame was timed.".into() });
    } else if untimed > 0 {
        notes.push(format!("{untimed} of {} frames have no GPU time.", played.len()));
    }
    if let Some(n) = once.map(|f| f.frame) {
        let whose = if played.len() == 1 { "these times" } else { "its times, and so in the means" };
        // (a file that is one frame cannot be looped)
        let advice =
            run.load_frame.map(|_| format!(" --loop-frame {n} measures it again and again, without that."));
        notes.push(format!(
            "Frame {n} is the first that runs: what a driver does at first use, as compiling shaders, is in {whose}.{}",
            advice.unwrap_or_default()
        ));
    }
    notes
}

#[cfg(test)]
mod tests;
