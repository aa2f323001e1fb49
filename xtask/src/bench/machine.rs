//! What a measurement was made on, without saying whose machine it is.
//!
//! Guarantees: no host names, no users, no paths. Refuses nothing: what cannot be found out is left out.

use std::path::Path;
use std::process::Command;

use super::xvfb::Xvfb;

/// Debian's packages whose versions matter.
const PACKAGES: &[&str] = &["gfxreconstruct", "mesa-vulkan-drivers", "libvulkan1", "xvfb", "valgrind"];

/// (what, value), in order.
pub type Machine = Vec<(String, String)>;

/// The day, as 2026-01-31.
pub fn today() -> String {
    said("date", &["-u", "+%Y-%m-%d"]).unwrap_or_else(|| "undated".to_string())
}

/// The load of the last minute: others may be at work.
pub fn load() -> String {
    let text = std::fs::read_to_string("/proc/loadavg").unwrap_or_default();
    text.split(' ').next().unwrap_or("?").to_string()
}

/// See the module's header.
pub fn describe(replayer: &Path, display: Option<&Xvfb>, load_before: &str) -> Machine {
    let mut machine = Machine::new();
    let mut add = |what: &str, value: Option<String>| {
        machine.extend(value.filter(|v| !v.is_empty()).map(|v| (what.to_string(), v)));
    };
    let cores = std::thread::available_parallelism().map_or(0, usize::from);
    add(
        "processor",
        field("/proc/cpuinfo", "model name").map(|name| format!("{name}, {cores} cores in use")),
    );
    add(
        "memory",
        field("/proc/meminfo", "MemTotal").and_then(|kb| {
            let kib: u64 = kb.trim_end_matches(" kB").parse().ok()?;
            Some(format!("{:.0} GiB", kib as f64 / (1 << 20) as f64))
        }),
    );
    let system = field("/etc/os-release", "PRETTY_NAME").map(|n| n.trim_matches('"').to_string());
    let kernel = said("uname", &["-sr"]).unwrap_or_default();
    add("system", system.map(|s| format!("{s}, {kernel}")));
    add(
        "load of the last minute",
        Some(format!("{load_before} before, {} after (all processes of the machine)", load())),
    );
    for package in PACKAGES {
        add(package, said("dpkg-query", &["-W", "-f", "${Version}", package]));
    }
    add("driver", driver(display));
    add("reray-replay", said(&replayer.to_string_lossy(), &["--version"]));
    let dirty =
        said("git", &["status", "--porcelain", "--untracked-files=no"]).is_some_and(|s| !s.is_empty());
    add(
        "commit",
        said("git", &["rev-parse", "--short=12", "HEAD"])
            .map(|c| if dirty { c + ", with changes" } else { c }),
    );
    machine
}

/// The first device, as vulkaninfo names it.
fn driver(display: Option<&Xvfb>) -> Option<String> {
    let mut command = Command::new("vulkaninfo");
    command.arg("--summary");
    if let Some(display) = display {
        command.env("DISPLAY", display.name());
    }
    let text = String::from_utf8(command.output().ok()?.stdout).ok()?;
    let value = |key: &str| {
        let line = text.lines().find(|l| l.trim_start().starts_with(key))?;
        Some(line.split_once('=')?.1.trim().to_string())
    };
    Some(format!("{}, {}, Vulkan {}", value("deviceName")?, value("driverInfo")?, value("apiVersion")?))
}

/// What a program prints; none if it fails.
fn said(program: &str, args: &[&str]) -> Option<String> {
    let output = Command::new(program).args(args).output().ok()?;
    output.status.success().then(|| String::from_utf8_lossy(&output.stdout).trim().to_string())
}

/// The value of the first line `key: value` or `key=value`.
fn field(file: &str, key: &str) -> Option<String> {
    let text = std::fs::read_to_string(file).ok()?;
    let line = text.lines().find(|l| l.trim_start().starts_with(key))?;
    Some(line.split_once([':', '='])?.1.trim().to_string())
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_day_is_ten_characters() {
        assert_eq!(today().len(), 10);
    }

    #[test]
    fn fields_of_files() {
        assert!(field("/proc/meminfo", "MemTotal").is_some_and(|v| v.ends_with(" kB")));
        assert_eq!(field("/proc/meminfo", "NoSuchThing"), None);
    }
}
