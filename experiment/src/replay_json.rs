//! What a replay did, as JSON: `--json` of a replay.
//!
//! Guarantees: `schema_version` goes up when a field changes its meaning or goes; what the driver said of a fault is there word for word.

use analyses::report::Report;
use gfxr_parse::container::Capture;
use profile::hooks::frame_times::FrameTimes;
use replay::error::Error;
use replay::fault::{Address, Fault, Place, Vendor, Where};
use replay::options::Bridge;
use replay::report::{BridgeCost, Checkpoints, RecordedCommand};
use replay::session::Summary;
use serde_json::{Value, json};

/// A whole replay; what was negotiated with the device is of who asks.
pub fn to_json(
    capture: &Capture,
    s: &Summary,
    times: &FrameTimes,
    report: &Report,
    negotiation: Value,
) -> Value {
    json!({
        "schema_version": 1,
        "tool": { "name": "reray-replay", "version": env!("CARGO_PKG_VERSION") },
        "capture": capture.name(),
        "device": s.gpu,
        "memory": s.memory.map(|m| m.name()),
        "addresses": s.addresses.map(|m| m.name()),
        "frame_by": s.frame_by.to_string(),
        "calls": s.report.calls,
        "frames": s.frames,
        "load_frame": s.load_frame,
        "submits": { "timed": times.timed, "untimed": times.untimed },
        "negotiation": negotiation,
        "bridges": bridges_json(s),
        "notes": s.report.notes,
        "undecoded": { "count": s.report.undecoded.count, "first": s.report.undecoded.first },
        "divergences": { "count": s.report.divergences.count, "first": s.report.divergences.first },
        "missing_files": s.report.missing_files,
        "need_missing_files": {
            "count": s.report.need_missing_files.count, "first": s.report.need_missing_files.first,
        },
        "validation": s.report.validation,
        "unknown_addresses": s.unknown_addresses,
        "translated": {
            "instance_references": s.translated.references[0],
            "instance_references_unknown": s.translated.references[1],
            "shader_group_handles": s.translated.handles[0],
            "shader_group_handles_unknown": s.translated.handles[1],
            "addresses_in_shader_records": s.translated.record_addresses,
            "addresses_in_push_constants": s.translated.push_constant_addresses,
            "addresses_in_push_constants_unknown": s.translated.push_constant_unknown,
            "numbers_in_push_constants": s.translated.push_constant_numbers,
            "addresses_in_written_memory": s.translated.written_addresses,
            "pointers_of_shaders_in_written_memory": s.translated.shader_addresses,
            "doubtful_words_in_written_memory": s.translated.doubtful_addresses,
            "descriptors_in_written_memory": s.translated.descriptors,
        },
        "as_captured": {
            "addresses": s.exact.addresses[0],
            "addresses_elsewhere": s.exact.addresses[1],
            "shader_group_handles": s.exact.handles[0],
            "shader_group_handles_otherwise": s.exact.handles[1],
            "refused": s.exact.refused,
        },
        "report": report,
        "frame_times": times.frames,
    })
}

/// Why a replay stopped early.
pub fn stopped_json(e: &Error, s: &Summary) -> Value {
    let recorded = |r: Option<RecordedCommand>| {
        r.map(|r| json!({ "command_buffer": r.command_buffer, "index": r.index, "command": r.command, "block": r.block }))
    };
    let checkpoints = |c: Checkpoints| json!({ "begun": recorded(c.begun), "not_done": recorded(c.not_done), "done": recorded(c.done) });
    let in_flight = s.in_flight.iter().map(|f| {
        json!({
            "submit": f.submit, "block": f.block, "frame": f.frame, "queue": f.queue, "begun": f.begun,
            "command_buffer": f.command_buffer, "index": f.index.map(|i| i.0), "last_index": f.index.map(|i| i.1),
            "command": f.command, "labels": f.labels, "checkpoints": f.checkpoints.map(checkpoints),
        })
    });
    json!({
        "why": format!("{:?}", e.kind()).to_lowercase(),
        "message": e.to_string(),
        "in_flight": in_flight.collect::<Vec<_>>(),
        "faults": s.faults.iter().map(fault_json).collect::<Vec<_>>(),
    })
}

/// What a driver said of a fault.
fn fault_json(f: &Fault) -> Value {
    let place = |p: &Place| {
        let (how, offsets, distance) = match p.at {
            Where::In(a, b) => ("in", Some((a, b)), None),
            Where::Behind(n) => ("behind", None, Some(n)),
            Where::Before(n) => ("before", None, Some(n)),
            Where::AtCapture(a) => ("at_capture", Some((a, a)), None),
        };
        let of = &p.of;
        json!({
            "how": how, "offset": offsets.map(|o| o.0), "last_offset": offsets.map(|o| o.1), "distance": distance, "id": of.id, "name": of.name, "size": of.size,
            "type": if of.structure { "VkAccelerationStructureKHR" } else { "VkBuffer" },
            "address": of.live, "captured_address": of.captured, "destroyed_by_block": of.destroyed,
        })
    };
    let address = |a: &Address| {
        json!({
            "type": a.kind, "address": a.reported, "precision": a.precision, "text": a.to_string(),
            "places": a.places.iter().map(place).collect::<Vec<_>>(),
        })
    };
    let vendor = |v: &Vendor| json!({ "description": v.description, "code": v.code, "data": v.data });
    json!({
        "description": f.description,
        "addresses": f.addresses.iter().map(address).collect::<Vec<_>>(),
        "vendor": f.vendor.iter().map(vendor).collect::<Vec<_>>(),
    })
}

/// What each bridge took.
fn bridges_json(s: &Summary) -> Value {
    let one = |(bridge, c): (&Bridge, &BridgeCost)| {
        let cost = json!({
            "calls_changed": c.changed, "calls_added": c.added, "memory_bytes": c.memory, "copied_bytes": c.copied,
        });
        (bridge.name().to_owned(), cost)
    };
    Value::Object(s.report.bridges.iter().map(one).collect())
}
