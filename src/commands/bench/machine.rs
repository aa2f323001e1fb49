//! What ran: the device, its driver, its clocks where somebody says them.

use replay::vulkan::inspect::devices;
use serde_json::{Value, json};
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

/// Clocks and temperature now, of each device that `nvidia-smi` knows; nothing where there is no such tool.
pub fn clocks() -> Value {
    let query = format!("--query-gpu={}", ASKED.join(","));
    let Ok(out) = Command::new("nvidia-smi").args([&query, "--format=csv,noheader"]).output() else {
        return Value::Null;
    };
    if !out.status.success() {
        return Value::Null;
    }
    let of = |line: &str| {
        let values = line.split(',').map(|v| Value::from(v.trim()));
        Value::Object(ASKED.iter().map(|k| (*k).to_owned()).zip(values).collect())
    };
    String::from_utf8_lossy(&out.stdout).lines().map(of).collect()
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
