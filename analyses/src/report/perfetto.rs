//! A timeline as Trace Event JSON, which ui.perfetto.dev and chrome://tracing open.
//!
//! Guarantees: complete events (`"ph":"X"`) with `ts` and `dur` in microseconds, and a name for each process and thread.
//! Slices of one thread must nest or follow each other; whoever makes them sees to it.

use super::Cell;
use serde_json::{Map, Value, json};
use trace::Nanos;

/// Slices by process and thread.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct Timeline {
    /// What the caller calls a process, and its name; its number is its place here, from 1.
    processes: Vec<(u64, String)>,
    /// Process, thread, name.
    threads: Vec<(u32, u64, String)>,
    /// In any order.
    pub slices: Vec<Slice>,
}

/// Something that took time.
#[derive(Clone, Debug, PartialEq)]
pub struct Slice {
    /// From [`Timeline::process`].
    pub process: u32,
    /// As in [`Timeline::thread`].
    pub thread: u64,
    /// What.
    pub name: String,
    /// Which kind of thing.
    pub category: &'static str,
    /// When it began, on the process' clock.
    pub begin: Nanos,
    /// How long it took.
    pub time: Nanos,
    /// What else is known.
    pub args: Vec<(&'static str, Cell)>,
}

impl Timeline {
    /// The process that the caller calls `key`.
    pub fn process(&mut self, key: u64, name: &str) -> u32 {
        let found = self.processes.iter().position(|p| p.0 == key).unwrap_or_else(|| {
            self.processes.push((key, name.to_owned()));
            self.processes.len() - 1
        });
        found as u32 + 1
    }

    /// Names a thread of a process; the first name stays.
    pub fn thread(&mut self, process: u32, thread: u64, name: &str) {
        if !self.threads.iter().any(|t| (t.0, t.1) == (process, thread)) {
            self.threads.push((process, thread, name.to_owned()));
        }
    }
}

/// Nanoseconds as microseconds: three decimals hold them exactly up to 2^53 of them.
fn micros(n: Nanos) -> Value {
    json!(n.0 as f64 / 1000.0)
}

/// The timeline as one JSON object, with a line end.
pub fn render(timeline: &Timeline) -> String {
    let mut events: Vec<Value> = Vec::with_capacity(timeline.slices.len() + 8);
    for (i, (_, name)) in timeline.processes.iter().enumerate() {
        events.push(
            json!({ "name": "process_name", "ph": "M", "pid": i + 1, "tid": 0, "args": { "name": name } }),
        );
    }
    for (pid, tid, name) in &timeline.threads {
        events.push(
            json!({ "name": "thread_name", "ph": "M", "pid": pid, "tid": tid, "args": { "name": name } }),
        );
    }
    for s in &timeline.slices {
        let args: Map<String, Value> = s.args.iter().map(|(k, v)| ((*k).to_owned(), json!(v))).collect();
        events.push(json!({
            "name": s.name, "cat": s.category, "ph": "X", "pid": s.process, "tid": s.thread,
            "ts": micros(s.begin), "dur": micros(s.time), "args": args,
        }));
    }
    let mut text = json!({ "displayTimeUnit": "ns", "traceEvents": events }).to_string();
    text.push('\n');
    text
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn events_follow_the_format() {
        let mut t = Timeline::default();
        let device = t.process(7, "a device");
        assert_eq!(t.process(7, "the same"), device);
        t.thread(device, 9, "queue");
        t.thread(device, 9, "queue again");
        t.slices.push(Slice {
            process: device,
            thread: 9,
            name: "draw \"x\"".into(),
            category: "command",
            begin: Nanos(1_500),
            time: Nanos(250),
            args: vec![("frame", Cell::Count(2)), ("pipeline", Cell::Missing)],
        });
        let v: Value = serde_json::from_str(&render(&t)).unwrap();
        assert_eq!(v["traceEvents"].as_array().unwrap().len(), 3);
        let x = &v["traceEvents"][2];
        assert_eq!((&x["ph"], &x["ts"], &x["dur"]), (&json!("X"), &json!(1.5), &json!(0.25)));
        assert_eq!((&x["pid"], &x["tid"], &x["name"]), (&json!(1), &json!(9), &json!("draw \"x\"")));
        assert_eq!(x["args"], json!({ "frame": 2, "pipeline": null }));
        assert_eq!(v["traceEvents"][1]["args"]["name"], "queue");
    }
}
