//! The machine around a run: what it is, and what its device and processor are doing now.
//!
//! The device: clocks, temperature, power, and why it is throttled, of NVIDIA's library or tool where they are there
//! (`machine::clocks`), else of what Linux says in sysfs of DRM devices: temperature, power and clocks of their sensors. The host: system,
//! processor, governors, load. Guarantees: what is not there is null, and nothing is an error.

use super::machine;
use serde_json::{Map, Value, json};
use std::collections::BTreeSet;
use std::fs;
use std::path::{Path, PathBuf};
use trace::run::Worker;

fn read(path: impl AsRef<Path>) -> Option<String> {
    Some(fs::read_to_string(path).ok()?.trim().to_owned())
}

/// A folder's entries whose names begin so, in order.
fn entries(folder: &Path, begin: &str) -> Vec<PathBuf> {
    let name = |p: &PathBuf| p.file_name().is_some_and(|n| n.to_string_lossy().starts_with(begin));
    let mut all: Vec<PathBuf> =
        fs::read_dir(folder).into_iter().flatten().flatten().map(|e| e.path()).filter(name).collect();
    all.sort();
    all
}

/// The host now.
pub fn host() -> Value {
    host_of(Path::new("/"))
}

fn host_of(root: &Path) -> Value {
    let cpus = entries(&root.join("sys/devices/system/cpu"), "cpu");
    let governors: BTreeSet<String> =
        cpus.iter().filter_map(|c| read(c.join("cpufreq/scaling_governor"))).collect();
    let info = read(root.join("proc/cpuinfo")).unwrap_or_default();
    let of = |key: &str| {
        let line = info.lines().find(|l| l.split(':').next().is_some_and(|k| k.trim() == key))?;
        Some(line.split_once(':')?.1.trim().to_owned())
    };
    let clocks: Vec<f64> = cpus
        .iter()
        .filter_map(|c| read(c.join("cpufreq/scaling_cur_freq"))?.parse::<f64>().ok())
        .map(|khz| khz / 1000.0)
        .collect();
    let turbo = read(root.join("sys/devices/system/cpu/intel_pstate/no_turbo")).map(|n| n == "0");
    json!({
        "system": std::env::consts::OS,
        "kernel": read(root.join("proc/sys/kernel/osrelease")),
        "cpu": of("model name"),
        "cpus": info.lines().filter(|l| l.starts_with("processor")).count(),
        "governors": governors,
        "turbo": turbo.or(read(root.join("sys/devices/system/cpu/cpufreq/boost")).map(|n| n == "1")),
        "clocks_mhz": clocks,
        "load": read(root.join("proc/loadavg")),
        "memory": read(root.join("proc/meminfo")).and_then(|m| m.lines().next().map(str::to_owned)),
    })
}

/// Devices now.
pub fn device() -> Value {
    match machine::clocks() {
        Value::Null => sensors(Path::new("/sys/class/drm")),
        of_nvidia => of_nvidia,
    }
}

/// Clocks of a state, by where they stand in it: of NVIDIA's tool in MHz, of Linux as it says them.
fn clocks(state: &Value) -> Vec<(String, f64)> {
    let number =
        |v: &Value| v.as_f64().or_else(|| v.as_str()?.split_whitespace().next()?.parse::<f64>().ok());
    let devices: Vec<(String, &Value)> = match state {
        Value::Array(all) => all.iter().enumerate().map(|(n, of)| (n.to_string(), of)).collect(),
        Value::Object(all) => all.iter().map(|(name, of)| (name.clone(), of)).collect(),
        _ => vec![],
    };
    let keys = ["clocks.current.sm", "gt_act_freq_mhz", "freq1_input"];
    let of = |(name, of): &(String, &Value)| Some((name.clone(), keys.iter().find_map(|k| number(&of[*k]))?));
    devices.iter().filter_map(of).collect()
}

/// Whether a device's clock was another one after turns than before them, by more than a twentieth: then what is timed late is not
/// what was timed early.
pub fn clock_moved(before: &Value, after: &Value) -> bool {
    let after: Map<String, Value> = clocks(after).into_iter().map(|(name, n)| (name, n.into())).collect();
    let moved = |(name, b): (String, f64)| {
        after.get(&name).and_then(Value::as_f64).is_some_and(|a| (a / b.max(1.0) - 1.0).abs() > 0.05)
    };
    clocks(before).into_iter().any(moved)
}

/// What is to be said of processes before or after which a device was throttled; nothing where none was.
pub fn throttled(workers: &[Worker]) -> Option<String> {
    let why = |state: &Value| -> BTreeSet<String> {
        let devices = state.as_array().into_iter().flatten();
        let all = devices.filter_map(|d| d["throttled_by"].as_array()).flatten().filter_map(Value::as_str);
        all.filter(|r| machine::is_throttling(r)).map(str::to_owned).collect()
    };
    let of: Vec<BTreeSet<String>> = workers.iter().map(|w| &why(&w.before) | &why(&w.after)).collect();
    let (n, all) = (of.iter().filter(|r| !r.is_empty()).count(), workers.len());
    let reasons =
        of.into_iter().flatten().collect::<BTreeSet<_>>().into_iter().collect::<Vec<_>>().join(", ");
    (n > 0).then(|| format!("A device was throttled before or after {n} of {all} processes: {reasons}."))
}

/// What Linux says of DRM devices; null where it says nothing.
fn sensors(drm: &Path) -> Value {
    let mut all = Map::new();
    for card in entries(drm, "card") {
        let mut of = Map::new();
        for file in ["gt_cur_freq_mhz", "gt_act_freq_mhz", "gt_throttle_reason_status"] {
            let found = read(card.join(file)).or_else(|| read(card.join("gt/gt0").join(file)));
            of.extend(found.map(|v| (file.to_owned(), Value::from(v))));
        }
        for sensor in entries(&card.join("device/hwmon"), "hwmon") {
            for file in ["temp1_input", "power1_average", "power1_input", "freq1_input", "freq2_input"] {
                of.extend(read(sensor.join(file)).map(|v| (file.to_owned(), Value::from(v))));
            }
        }
        if !of.is_empty() {
            let name = card.file_name().unwrap_or_default().to_string_lossy().into_owned();
            all.insert(name, Value::Object(of));
        }
    }
    if all.is_empty() { Value::Null } else { Value::Object(all) }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn put(root: &Path, file: &str, text: &str) {
        let path = root.join(file);
        fs::create_dir_all(path.parent().expect("a folder")).expect("a folder");
        fs::write(path, text).expect("a file");
    }

    #[test]
    fn a_clock_that_moved_is_seen() {
        let tool = |mhz: &str| json!([{ "clocks.current.sm": "1980 MHz" }, { "clocks.current.sm": mhz }]);
        assert!(
            clock_moved(&tool("1980 MHz"), &tool("600 MHz"))
                && clock_moved(&tool("600 MHz"), &tool("1980 MHz"))
        );
        assert!(!clock_moved(&tool("1980 MHz"), &tool("1965 MHz")));
        let linux = |hz: &str| json!({ "card0": { "freq1_input": hz, "temp1_input": "54000" } });
        assert!(clock_moved(&linux("2200000000"), &linux("500000000")));
        assert!(!clock_moved(&linux("2200000000"), &linux("2200000000")));
        assert!(
            !clock_moved(&Value::Null, &tool("600 MHz")) && !clock_moved(&tool("[N/A]"), &tool("600 MHz"))
        );
    }

    #[test]
    fn what_throttles_is_said_and_idleness_is_not() {
        let of = |why: Value| Worker { after: json!([{ "throttled_by": why }]), ..Worker::default() };
        let quiet = [of(json!(["idle", "clocks set by applications"])), of(Value::Null), Worker::default()];
        assert_eq!(throttled(&quiet), None);
        let hot = [of(json!(["power cap", "idle"])), of(json!(["power brake"])), Worker::default()];
        let said = throttled(&hot).expect("a note");
        assert_eq!(said, "A device was throttled before or after 2 of 3 processes: power brake, power cap.");
    }

    #[test]
    fn what_linux_says_is_read_and_what_is_not_there_is_null() {
        let root = std::env::temp_dir().join(format!("reray-state-{}", std::process::id()));
        let _ = fs::remove_dir_all(&root);
        assert_eq!(sensors(&root.join("sys/class/drm")), Value::Null);
        put(&root, "sys/class/drm/card0/device/hwmon/hwmon3/temp1_input", "54000\n");
        put(&root, "sys/class/drm/card0/device/hwmon/hwmon3/freq1_input", "2200000000\n");
        put(&root, "sys/class/drm/card1/gt_cur_freq_mhz", "1100\n");
        put(&root, "sys/class/drm/card1-DP-1/status", "connected\n");
        put(&root, "sys/devices/system/cpu/cpu0/cpufreq/scaling_governor", "powersave\n");
        put(&root, "sys/devices/system/cpu/cpu1/cpufreq/scaling_governor", "performance\n");
        put(&root, "sys/devices/system/cpu/cpu1/cpufreq/scaling_cur_freq", "3600000\n");
        put(&root, "proc/cpuinfo", "processor\t: 0\nmodel name\t: A B: C\n\nprocessor\t: 1\n");
        let d = sensors(&root.join("sys/class/drm"));
        assert_eq!(
            (&d["card0"]["temp1_input"], &d["card1"]["gt_cur_freq_mhz"]),
            (&"54000".into(), &"1100".into())
        );
        assert_eq!(d.as_object().map(Map::len), Some(2), "{d}");
        let h = host_of(&root);
        assert_eq!((&h["cpu"], &h["cpus"]), (&"A B: C".into(), &2.into()));
        assert_eq!(h["governors"], json!(["performance", "powersave"]));
        assert_eq!(
            (&h["clocks_mhz"], &h["turbo"], &h["load"]),
            (&json!([3600.0]), &Value::Null, &Value::Null)
        );
        let _ = fs::remove_dir_all(&root);
    }
}
