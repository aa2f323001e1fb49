//! What ran: the device, its driver, its clocks where somebody says them.

use replay::vulkan::inspect::devices;
use serde_json::{Map, Value, json};
use std::process::Command;

/// What is asked of NVIDIA's tool.
const ASKED: [&str; 8] = [
    "name",
    "driver_version",
    "pstate",
    "clocks.current.sm",
    "clocks.current.memory",
    "clocks.max.sm",
    "temperature.gpu",
    "power.draw",
];

/// Names that NVIDIA's tool has had for why clocks are lower than they could be: a set of bits.
const REASONS: [&str; 2] = ["clocks_event_reasons.active", "clocks_throttle_reasons.active"];

/// Clocks, temperature and reasons for throttling now, of each device that `nvidia-smi` knows; nothing where there is no such
/// tool.
pub fn clocks() -> Value {
    let Some(mut all) = ask(&ASKED) else { return Value::Null };
    let reasons = REASONS.iter().find_map(|r| ask(&[*r]));
    for (device, of) in all.iter_mut().zip(reasons.into_iter().flatten()) {
        device.insert("throttled".into(), of.into_iter().next().map_or(Value::Null, |v| v.1));
    }
    all.into_iter().map(Value::Object).collect()
}

/// What the tool answers, by device; none where it is not there, or does not know what is asked.
fn ask(what: &[&str]) -> Option<Vec<Map<String, Value>>> {
    let query = format!("--query-gpu={}", what.join(","));
    let out = Command::new("nvidia-smi").args([&query, "--format=csv,noheader"]).output().ok()?;
    let of = |line: &str| -> Map<String, Value> {
        what.iter().map(|k| (*k).to_owned()).zip(line.split(',').map(|v| Value::from(v.trim()))).collect()
    };
    out.status.success().then(|| String::from_utf8_lossy(&out.stdout).lines().map(of).collect())
}

/// The device of this name.
pub fn device(name: &str) -> Value {
    let known = devices().unwrap_or_default();
    let Some(d) = known.into_iter().find(|d| d.name == name) else { return json!({ "name": name }) };
    json!({
        "name": d.name,
        "kind": d.kind,
        "driver": d.driver.trim(),
        "driver_uuid": d.driver_uuid,
        "pipeline_cache_uuid": d.pipeline_cache_uuid,
        "vulkan": format!("{}.{}.{}", d.api.0, d.api.1, d.api.2),
        "subgroup_size": d.subgroup_size,
        "timestamp_period_ns": d.timestamp_period_ns,
    })
}
