//! What ran: the device, its driver, its clocks where somebody says them: NVIDIA's management library (`nvml`), else its tool.

use super::nvml;
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

/// Bits that say why clocks are lower than they could be.
const WHY: [&str; 9] = [
    "idle",
    "clocks set by applications",
    "power cap",
    "hardware slowdown",
    "sync boost",
    "thermal slowdown by software",
    "thermal slowdown by hardware",
    "power brake",
    "clocks set by the display",
];

/// Clocks, temperature and reasons for throttling now, of each device that NVIDIA's library knows, or else its tool; nothing where
/// there is neither.
pub fn clocks() -> Value {
    let by = |name: &'static str| move |all: Vec<Map<String, Value>>| (name, all);
    let said = nvml::devices().map(by("NVML")).or_else(|| tool().map(by("nvidia-smi")));
    let Some((by, mut all)) = said else { return Value::Null };
    for of in &mut all {
        let why = of.get("throttled").and_then(Value::as_str).and_then(why);
        of.insert("throttled_by".into(), why.into());
        of.insert("source".into(), by.into());
    }
    all.into_iter().map(Value::Object).collect()
}

/// Whether a reason is the device's own: clocks that are low as nothing is to be done, or as somebody chose them, are not throttled.
pub fn is_throttling(reason: &str) -> bool {
    reason != WHY[0] && !reason.starts_with("clocks set by ")
}

/// The reasons of a set of bits, as in `0x0000000000000004`; those without a name as bits again.
fn why(bits: &str) -> Option<Vec<String>> {
    let bits = u64::from_str_radix(bits.strip_prefix("0x")?, 16).ok()?;
    let name = |n: usize| WHY.get(n).map_or_else(|| format!("{:#x}", 1_u64 << n), |w| (*w).to_owned());
    Some((0..64).filter(|n| bits >> n & 1 == 1).map(name).collect())
}

/// What the tool says of each device; none where it is not there.
fn tool() -> Option<Vec<Map<String, Value>>> {
    let mut all = ask(&ASKED)?;
    let reasons = REASONS.iter().find_map(|r| ask(&[*r]));
    for (device, of) in all.iter_mut().zip(reasons.into_iter().flatten()) {
        device.insert("throttled".into(), of.into_iter().next().map_or(Value::Null, |v| v.1));
    }
    Some(all)
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

#[cfg(test)]
mod tests {
    use super::why;

    #[test]
    fn bits_have_names() {
        assert_eq!(why("0x0000000000000000"), Some(vec![]));
        let all = why("0x0000000000000024").expect("bits");
        assert_eq!(all, ["power cap", "thermal slowdown by software"]);
        assert_eq!(
            why("0x8000000000000101"),
            Some(["idle", "clocks set by the display", "0x8000000000000000"].map(Into::into).to_vec())
        );
        assert_eq!((why("[N/A]"), why("0xq")), (None, None));
    }
}
