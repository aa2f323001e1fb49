//! Recommendations on buffers.

use super::ground::{Advice, Ground};

impl Ground<'_> {
    /// `buffer 17 "lights"`
    fn buffer(&self, id: u64) -> String {
        let name = self.model.buffers.get(&id).map_or("", |b| &b.name);
        trace::names::object("buffer", id, name)
    }
}

pub(super) fn device_local(g: &Ground<'_>) -> Vec<Advice> {
    let mut all = vec![];
    for (id, t) in &g.places.traffic {
        let Some(b) = g.model.buffers.get(id).filter(|b| b.host_only() == Some(true)) else { continue };
        if t.frames_read < 2 || 10 * t.frames_written > t.frames_read {
            continue;
        }
        all.push(Advice {
            what: "device-local memory",
            to: g.buffer(*id),
            evidence: format!(
                "in memory with {}, written in {} frames, read in {}",
                b.memory_flags, t.frames_written, t.frames_read
            ),
            bytes: Some(t.read as f64 / g.frames),
            descriptors: None,
            binds: None,
            limits: "a copy where it is written; nothing where the device has one memory for all".into(),
        });
    }
    all
}

pub(super) fn duplicates(g: &Ground<'_>) -> Vec<Advice> {
    let one = |c: &crate::bindings::uniforms::places::Copies| {
        let (p, set, binding) = c.reader;
        let pipeline = &g.model.pipelines.get(p as usize);
        let slot = pipeline.and_then(|p| p.slot(set, binding).map(|s| p.slots[s].words()));
        let of = pipeline.map(|p| p.words()).unwrap_or_default();
        let more = c.more as f64 / g.frames;
        Advice {
            what: "merge duplicates",
            to: format!("slot {} of {of}", slot.unwrap_or_else(|| format!("{set}.{binding}"))),
            evidence: format!(
                "the same {} bytes lie in up to {} places of {} buffers in a frame, in {} frames",
                c.bytes, c.places, c.buffers, c.frames
            ),
            bytes: Some(more * c.bytes as f64),
            descriptors: Some(more),
            binds: None,
            limits: "as long as they stay equal".into(),
        }
    };
    g.places.copies.iter().map(one).collect()
}

pub(super) fn skip_writes(g: &Ground<'_>) -> Vec<Advice> {
    let mut all = vec![];
    for (id, t) in g.places.traffic.iter().filter(|t| t.1.uploaded > 0 && 2 * t.1.same >= t.1.uploaded) {
        // (one write is how it got there)
        if t.writes < 2 {
            continue;
        }
        all.push(Advice {
            what: "skip writes",
            to: g.buffer(*id),
            evidence: format!("{} of {} bytes that were written were there already", t.same, t.uploaded),
            bytes: Some(t.same as f64 / g.frames),
            descriptors: None,
            binds: None,
            limits: String::new(),
        });
    }
    all
}
