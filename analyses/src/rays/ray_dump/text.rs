//! Rays' events as indented text.

use super::chosen::{Dump, Key, Take};
use std::collections::{BTreeMap, HashSet};
use std::fmt::Write;
use trace::tables::{NOT_KNOWN, RAYS, RayEvent};
use trace::{Columns, Table, Unreadable};

/// Names of the bits of a ray's flags.
const FLAGS: [&str; 10] = [
    "opaque",
    "no-opaque",
    "terminate-on-first-hit",
    "skip-closest-hit",
    "cull-back-facing",
    "cull-front-facing",
    "cull-opaque",
    "cull-no-opaque",
    "skip-triangles",
    "skip-boxes",
];

/// What the text says of an event.
pub struct Event {
    kind: RayEvent,
    depth: u32,
    entry: u64,
    place: [u64; 2],
    words: String,
    clock: [u64; 3],
}

impl Event {
    /// A row's.
    pub fn of(t: &Columns, row: usize, kind: RayEvent, depth: u32) -> Event {
        let n = |name: &str| t.u64(name)[row];
        // (they were 32 bits on the device: no more digits than these tell apart)
        let x = |name: &str| t.f64(name)[row] as f32;
        let vector = |of: [&str; 3]| of.map(|name| x(name).to_string()).join(", ");
        let mut words = String::new();
        let object = |words: &mut String| {
            for (name, column) in
                [("instance", "instance"), ("geometry", "geometry"), ("primitive", "primitive")]
            {
                if n(column) != NOT_KNOWN {
                    let _ = write!(words, "  {name} {}", n(column));
                }
            }
            if n("custom_index") != NOT_KNOWN && n("custom_index") != n("instance") {
                let _ = write!(words, "  custom {}", n("custom_index"));
            }
        };
        match kind {
            RayEvent::Begin | RayEvent::OcclusionBegin | RayEvent::QueryBegin => {
                let (from, to) = (x("tmin"), x("t"));
                let origin = vector(["origin_x", "origin_y", "origin_z"]);
                let direction = vector(["direction_x", "direction_y", "direction_z"]);
                let _ = write!(words, "  ({origin}) towards ({direction})  t {from} to {to}");
                if n("flags") != 0 {
                    let _ = write!(words, "  {}", flags(n("flags")));
                }
                let [mask, offset, stride, miss] =
                    ["cull_mask", "sbt_offset", "sbt_stride", "miss_index"].map(n);
                let _ = write!(words, "  mask {mask:#04x}  records {offset}+{stride}  miss {miss}");
            }
            RayEvent::Intersection | RayEvent::AnyHit | RayEvent::ClosestHit | RayEvent::QueryCommitted => {
                let _ = write!(words, "  t {}", x("t"));
                object(&mut words);
            }
            RayEvent::ReportIntersection | RayEvent::Miss => {
                let _ = write!(words, "  t {}", x("t"));
            }
            _ => {}
        }
        let hits = matches!(kind, RayEvent::AnyHit | RayEvent::ClosestHit | RayEvent::ReportIntersection);
        if hits && n("hit_kind") != NOT_KNOWN {
            let _ = write!(words, "  kind {}", n("hit_kind"));
        }
        let place = ["subgroup", "lane"].map(n);
        Event { kind, depth, entry: n("entry"), place, words, clock: ["clock", "sm", "warp"].map(n) }
    }
}

fn flags(bits: u64) -> String {
    let named = FLAGS.iter().enumerate().filter(|(bit, _)| bits >> bit & 1 == 1).map(|f| (*f.1).to_owned());
    let rest = bits >> FLAGS.len() << FLAGS.len();
    named.chain((rest != 0).then(|| format!("{rest:#x}"))).collect::<Vec<_>>().join("|")
}

/// Events by invocation.
#[derive(Default)]
pub struct Gathered {
    all: BTreeMap<(Key, u64), Vec<Event>>,
    count: usize,
    /// Which launch the text is in.
    last: Option<Key>,
    /// Invocations that have been written.
    before: HashSet<(Key, u64)>,
}

impl Gathered {
    /// One more.
    pub fn add(&mut self, key: Key, invocation: u64, event: Event) {
        self.all.entry((key, invocation)).or_default().push(event);
        self.count += 1;
    }

    /// How many are gathered.
    pub fn len(&self) -> usize {
        self.count
    }

    /// Writes what is gathered; whether to go on.
    pub fn write(&mut self, dump: &Dump<'_>, take: &mut Take<'_>) -> Result<bool, Unreadable> {
        self.count = 0;
        for ((key, invocation), events) in std::mem::take(&mut self.all) {
            let mut out = String::new();
            if self.last != Some(key) {
                out.push_str(&head(dump, &RAYS, key)?);
                self.last = Some(key);
            }
            let [w, h, _] = dump.launch(&RAYS, key)?.size.map(|s| s.max(1));
            let (x, y, z) = (invocation % w, invocation / w % h, invocation / w / h);
            let layer = if z > 0 { format!(", {z}") } else { String::new() };
            let goes_on = if self.before.insert((key, invocation)) { "" } else { " goes on" };
            let [subgroup, lane] = events[0].place;
            let _ = writeln!(
                out,
                "  invocation {invocation} ({x}, {y}{layer}), subgroup {subgroup}, lane {lane}{goes_on}"
            );
            for e in &events {
                // (a ray's events stand within it, and what they trace within them)
                let inside = usize::from(!e.kind.begins() && e.kind != RayEvent::End);
                let indent = 4 + 2 * (2 * e.depth as usize - inside.min(2 * e.depth as usize));
                let _ = write!(out, "{:indent$}{}", "", e.kind.name());
                if e.kind != RayEvent::End {
                    let _ = write!(out, " #{}{}", e.entry, e.words);
                }
                if e.place != [subgroup, lane] {
                    let _ = write!(out, "  subgroup {}, lane {}", e.place[0], e.place[1]);
                }
                out.push_str(&clock(e.clock));
                out.push('\n');
            }
            if !take(&out) {
                return Ok(false);
            }
        }
        Ok(true)
    }
}

/// When and where, if that was recorded.
pub fn clock([clock, sm, warp]: [u64; 3]) -> String {
    let mut out = String::new();
    if clock != 0 {
        let _ = write!(out, "  clock {clock}");
    }
    if sm != NOT_KNOWN {
        let _ = write!(out, "  SM {sm}");
    }
    if warp != NOT_KNOWN {
        let _ = write!(out, "  warp {warp}");
    }
    out
}

/// A launch, and the shaders of its pipeline by their numbers.
pub fn head(dump: &Dump<'_>, table: &Table, key: Key) -> Result<String, Unreadable> {
    let l = dump.launch(table, key)?;
    let [w, h, d] = l.size;
    let depth = if d > 1 { format!(" x {d}") } else { String::new() };
    let pipeline = dump.context.pipeline_words(l.pipeline);
    let mut out = format!("frame {}, launch {}: {w} x {h}{depth}, {pipeline}\n", key.0, key.1);
    for e in dump.context.entries().filter(|e| e.pipeline == l.pipeline) {
        let _ = writeln!(out, "  #{} {}", e.entry, dump.context.entry_words(e.entry));
    }
    Ok(out)
}
