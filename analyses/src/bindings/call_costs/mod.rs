//! What it costs the CPU to record commands and to manage descriptors: calls and time in the driver, by command and frame.
//!
//! *Time* is what passed between the replay's clock directly before and directly behind the driver's function; *clock* is what reading
//! the clock takes of that, measured in the same run on nothing, and *net* is time without it, not below 0. What the application did to make
//! the arguments is not in it, nor is the replay's own work. Layers and tools between the replay and the driver are.
//!
//! Means a frame are of all frames, the first ones with what a driver does once among them; the median frame says what an
//! ordinary one costs (frames without such a call count as 0).

mod columns;

use crate::report::{Cell, Cost, Report, Table, counted, share};
use crate::stats::Sample;
use crate::{Question, Session};
use std::collections::BTreeMap;
use std::sync::Arc;
use trace::tables::CALL_COSTS;
use trace::{Nanos, Unreadable};

/// The question.
pub static QUESTION: Question = Question {
    name: "call-costs",
    about: "time in the driver of calls that record commands and manage descriptors, by command and frame",
    wants: &[&CALL_COSTS],
    sheets: columns::SHEETS,
    events: None,
    answer,
};

/// What was spent in each frame that has any of it.
type Frames = BTreeMap<u64, Sum>;

/// Rows of the table of frames.
const LISTED: usize = 60;

/// Calls, time, and the clock's part.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
struct Sum {
    calls: u64,
    nanos: u64,
    clock: u64,
}

impl Sum {
    fn add(&mut self, o: Sum) {
        self.calls += o.calls;
        // (times are not held to add up when they are read)
        self.nanos = self.nanos.saturating_add(o.nanos);
        self.clock = self.clock.saturating_add(o.clock);
    }

    fn net(&self) -> u64 {
        self.nanos.saturating_sub(self.clock)
    }
}

fn answer(session: &Session<'_>) -> Result<Report, Unreadable> {
    let trace = session.trace;
    let t = trace.read(&CALL_COSTS)?;
    let mut commands: BTreeMap<Arc<str>, Frames> = BTreeMap::new();
    let mut frames: BTreeMap<u64, BTreeMap<&'static str, Sum>> = BTreeMap::new();
    let mut whole = Sum::default();
    for r in 0..t.len() {
        let [calls, nanos, clock] = ["calls", "nanos", "clock_nanos"].map(|c| t.u64(c)[r]);
        let (sum, frame) = (Sum { calls, nanos, clock }, t.u64("frame")[r]);
        commands.entry(t.text("command")[r].clone()).or_default().entry(frame).or_default().add(sum);
        whole.add(sum);
        frames.entry(frame).or_default().entry(family(&t.text("command")[r])).or_default().add(sum);
    }
    let mut report = Report::new(QUESTION.name, "CPU cost of recording commands and managing descriptors");
    report.cost = Cost::Measured {
        of: format!("time in the driver of {} calls, with and without reading the clock", whole.calls),
        without: Nanos(whole.net()),
        with: Nanos(whole.nanos),
    };
    report.headlines.extend(headline(&commands, whole, frames.len()));
    report.tables.push(families(&frames));
    report.tables.push(by_command(&commands, frames.len()));
    report.tables.push(by_frame(&frames));
    if frames.len() > LISTED {
        let left = format!(
            "Of {} frames the first {LISTED} are listed; the table of the trace has all.",
            frames.len()
        );
        report.notes.push(left);
    }
    let small = commands.values().map(total).filter(|s| s.net() < s.clock).count();
    if small != 0 {
        report.notes.push(format!(
            "{small} commands took less time than reading the clock does: their net time is uncertain by as much."
        ));
    }
    Ok(report)
}

/// Commands, those that took most time first.
fn dearest(commands: &BTreeMap<Arc<str>, Frames>) -> Vec<(&Arc<str>, &Frames)> {
    let mut rows: Vec<_> = commands.iter().collect();
    rows.sort_by_key(|(name, of)| (std::cmp::Reverse(total(of).net()), (*name).clone()));
    rows
}

/// What calls took in a frame, and which command most of it.
fn headline(commands: &BTreeMap<Arc<str>, Frames>, whole: Sum, frames: usize) -> Option<String> {
    let (name, of) = dearest(commands).into_iter().next().filter(|_| whole.net() != 0)?;
    let of = total(of);
    Some(format!(
        "Calls that record commands and manage descriptors took {:.0} ns a frame in the driver: {} of it {name}, in {} of {:.1} ns.",
        whole.net() as f64 / frames as f64,
        share(of.net(), whole.net()),
        counted(of.calls, "call"),
        of.net() as f64 / of.calls.max(1) as f64
    ))
}

/// What a command is for.
fn family(command: &str) -> &'static str {
    let has = |words: &[&str]| words.iter().any(|w| command.contains(w));
    match command {
        c if c.starts_with("vkCmd")
            && has(&[
                "BindDescriptor",
                "PushDescriptor",
                "DescriptorBuffer",
                "BindSamplerHeap",
                "BindResourceHeap",
            ]) =>
        {
            "bind descriptors"
        }
        c if c.starts_with("vkCmdPushConstants") || c.starts_with("vkCmdPushData") => "push constants",
        c if c.starts_with("vkCmd") && has(&["Barrier", "Event"]) => "synchronise",
        c if c.starts_with("vkCmd")
            && has(&["Draw", "Dispatch", "TraceRays", "ExecuteGenerated"])
            && !has(&["Set"]) =>
        {
            "draw, dispatch, trace"
        }
        c if c.starts_with("vkCmd") => "record others",
        _ if has(&["QueueSubmit"]) => "submit",
        _ if has(&["Descriptor"]) => "manage descriptors",
        _ => "manage command buffers",
    }
}

fn each(part: u64, of: f64) -> Cell {
    if of == 0.0 { Cell::Missing } else { Cell::Number(part as f64 / of) }
}

fn total(frames: &Frames) -> Sum {
    let mut whole = Sum::default();
    frames.values().for_each(|s| whole.add(*s));
    whole
}

/// The median over `n` frames of net time.
fn median(frames: &Frames, n: usize) -> f64 {
    let mut net = vec![0; n.saturating_sub(frames.len())];
    net.extend(frames.values().map(Sum::net));
    Sample::new(net).median().unwrap_or(0.0)
}

fn cells(of: &Frames, n: usize) -> Vec<Cell> {
    let (sum, frames) = (total(of), n.max(1) as f64);
    vec![
        sum.calls.into(),
        each(sum.calls, frames),
        each(sum.net(), sum.calls as f64),
        each(sum.nanos, frames),
        each(sum.clock, frames),
        each(sum.net(), frames),
        Cell::Number(median(of, n)),
    ]
}

fn families(frames: &BTreeMap<u64, BTreeMap<&'static str, Sum>>) -> Table {
    let mut all: BTreeMap<&str, Frames> = BTreeMap::new();
    let mut whole = Frames::new();
    for (frame, of) in frames {
        for (family, sum) in of {
            all.entry(family).or_default().entry(*frame).or_default().add(*sum);
            whole.entry(*frame).or_default().add(*sum);
        }
    }
    let mut rows: Vec<(&str, Frames)> = all.into_iter().collect();
    rows.sort_by_key(|r| std::cmp::Reverse(total(&r.1).net()));
    rows.push(("all", whole));
    let row =
        |(name, of): &(&str, Frames)| [(*name).into()].into_iter().chain(cells(of, frames.len())).collect();
    columns::FAMILIES.table(rows.iter().map(row))
}

fn by_command(commands: &BTreeMap<Arc<str>, Frames>, n: usize) -> Table {
    let row = |(name, of): &(&Arc<str>, &Frames)| {
        let most = of.values().map(Sum::net).max().unwrap_or(0);
        let tail = [Cell::Count(of.len() as u64), Cell::Number(most as f64)];
        [(&***name).into()].into_iter().chain(cells(of, n)).chain(tail).collect()
    };
    columns::COMMANDS.table(dearest(commands).iter().map(row))
}

fn by_frame(frames: &BTreeMap<u64, BTreeMap<&'static str, Sum>>) -> Table {
    let row = |(frame, of): (&u64, &BTreeMap<&'static str, Sum>)| {
        let mut sum = Sum::default();
        of.values().for_each(|s| sum.add(*s));
        let net = |name: &str| Cell::Number(of.get(name).map_or(0.0, |s| s.net() as f64));
        vec![
            Cell::Count(*frame),
            sum.calls.into(),
            Cell::Number(sum.net() as f64),
            net("manage descriptors"),
            net("bind descriptors"),
            net("push constants"),
            net("draw, dispatch, trace"),
            net("synchronise"),
        ]
    };
    columns::FRAMES.table(frames.iter().take(LISTED).map(row))
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::bindings::resources::sample::row;
    use trace::Memory;

    fn sum(nanos: u64) -> Sum {
        Sum { calls: 1, nanos, clock: 0 }
    }

    #[test]
    fn calls_are_summed_and_the_clock_is_taken_off() {
        let mut m = Memory::default();
        for (frame, command, calls, nanos, clock) in [
            (1, "vkCmdDraw", 10, 1000, 400),
            (2, "vkCmdDraw", 20, 2000, 800),
            (2, "vkUpdateDescriptorSets", 2, 5000, 80),
            (2, "vkCmdBindDescriptorSets2KHR", 1, 30, 40),
            (3, "vkCmdDraw", 10, 9000, 400),
        ] {
            let numbers = [("frame", frame), ("calls", calls), ("nanos", nanos), ("clock_nanos", clock)];
            row(&mut m, &CALL_COSTS, &numbers, &[("command", command)]);
        }
        let report = QUESTION.answer(&m).unwrap();
        // 17,030 ns without 1,720 of the clock, in three frames; of vkCmdDraw 12,000 without 1,600.
        assert_eq!(
            report.headlines,
            [
                "Calls that record commands and manage descriptors took 5103 ns a frame in the driver: 67.93 % of it vkCmdDraw, in 40 calls of \
              260.0 ns."
            ]
        );
        let rows = &report.tables[0].rows;
        assert_eq!(
            rows[0][..4],
            ["draw, dispatch, trace".into(), 40.into(), Cell::Number(40.0 / 3.0), 260.0.into()]
        );
        // (600, 1,200 and 8,600: a frame that does what is done once moves the mean, not the median)
        assert_eq!(rows[0][6..], [Cell::Number(10_400.0 / 3.0), 1200.0.into()]);
        assert_eq!(rows[1][0], "manage descriptors".into());
        assert_eq!(rows[1][6..], [1640.0.into(), 0.0.into()]);
        assert_eq!(rows[2][..3], ["bind descriptors".into(), 1.into(), Cell::Number(1.0 / 3.0)]);
        assert_eq!(rows[2][3..], [0.0.into(), 10.0.into(), Cell::Number(40.0 / 3.0), 0.0.into(), 0.0.into()]);
        // (2,460 and 1,200: of an even number of frames the mean of both in the middle)
        assert_eq!(median(&Frames::from([(1, sum(2460)), (2, sum(1200))]), 2), 1830.0);
        assert_eq!(median(&Frames::new(), 0), 0.0);
        assert_eq!(report.tables[1].rows.len(), 3);
        assert_eq!(report.tables[2].rows.len(), 3);
        assert!(matches!(report.cost, Cost::Measured { with: Nanos(17_030), .. }));
    }

    #[test]
    fn commands_have_families() {
        for (command, of) in [
            ("vkCmdPushDescriptorSetWithTemplate2", "bind descriptors"),
            ("vkCmdSetDescriptorBufferOffsetsEXT", "bind descriptors"),
            ("vkCmdPushConstants2KHR", "push constants"),
            ("vkCmdSetDrawFoo", "record others"),
            ("vkCmdDrawMeshTasksEXT", "draw, dispatch, trace"),
            ("vkCmdWaitEvents2", "synchronise"),
            ("vkAllocateDescriptorSets", "manage descriptors"),
            ("vkBeginCommandBuffer", "manage command buffers"),
            ("vkQueueSubmit2KHR", "submit"),
        ] {
            assert_eq!(family(command), of, "{command}");
        }
    }
}
