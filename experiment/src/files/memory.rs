//! How much memory decoding may take where `--max-memory` does not say: what suits this machine.
//!
//! A quarter of what is available, as the kernel says it, and of what the process is allowed (control groups, the limit on
//! its address space), within `LEAST_BYTES` and `MOST_BYTES`. Guarantees: a number, also where the system says
//! nothing. Refuses nothing.

use gfxr_parse::container::Budget;
use gfxr_parse::limits::DEFAULT_MEMORY_BYTES;
use std::path::{Path, PathBuf};

/// With less nobody's captures are read: recorded programs upload textures and models of many MiB in one block.
const LEAST_BYTES: u64 = 256 << 20;
/// More is not taken unasked, however large the machine: no recorded program's block comes near it.
const MOST_BYTES: u64 = DEFAULT_MEMORY_BYTES;
/// What is available is divided by this: the driver, the capture's own memory objects and other programs want the rest.
const SHARE: u64 = 4;

/// How much memory reading a capture may take.
#[derive(Clone, Copy, Debug, Default)]
pub struct Memory {
    /// Bytes, if somebody said so.
    pub most: Option<u64>,
}

impl Memory {
    /// What was said, or what suits this machine.
    pub fn budget(self) -> Budget {
        Budget::new(self.most.unwrap_or_else(default_bytes))
    }
}

/// See the module's header.
fn default_bytes() -> u64 {
    share([available(Path::new("/proc/meminfo")), group(Path::new("/")), address_space()])
}

fn share(bounds: [Option<u64>; 3]) -> u64 {
    let least = bounds.into_iter().flatten().min();
    least.map_or(MOST_BYTES, |b| (b / SHARE).clamp(LEAST_BYTES, MOST_BYTES))
}

/// What programs can take before the machine swaps.
fn available(meminfo: &Path) -> Option<u64> {
    let text = std::fs::read_to_string(meminfo).ok()?;
    let line = text.lines().find_map(|l| l.strip_prefix("MemAvailable:"))?;
    line.trim().strip_suffix("kB")?.trim().parse::<u64>().ok()?.checked_mul(1 << 10)
}

/// The least limit of this process's control groups, of version 2 and of version 1.
fn group(root: &Path) -> Option<u64> {
    let text = std::fs::read_to_string(root.join("proc/self/cgroup")).ok()?;
    let mut least = None;
    for line in text.lines() {
        // HIERARCHY:CONTROLLERS:PATH; version 2 names no controllers.
        let mut parts = line.splitn(3, ':').skip(1);
        let (Some(controllers), Some(path)) = (parts.next(), parts.next()) else { continue };
        let (folder, file) = match controllers {
            "" => ("sys/fs/cgroup", "memory.max"),
            c if c.split(',').any(|c| c == "memory") => ("sys/fs/cgroup/memory", "memory.limit_in_bytes"),
            _ => continue,
        };
        let top = root.join(folder);
        let mut at: PathBuf = top.join(path.trim_start_matches('/'));
        while at.starts_with(&top) {
            let limit =
                std::fs::read_to_string(at.join(file)).ok().and_then(|t| t.trim().parse::<u64>().ok());
            least = [least, limit].into_iter().flatten().min();
            if !at.pop() {
                break;
            }
        }
    }
    least
}

/// What `ulimit -v` says, where there is such.
fn address_space() -> Option<u64> {
    #[cfg(unix)]
    return rustix::process::getrlimit(rustix::process::Resource::As).current;
    #[cfg(windows)]
    None
}

/// A size in bytes, or with K, M, G or T behind it, powers of 1024.
pub fn size(text: &str) -> Result<u64, String> {
    let wrong = || format!("\"{text}\" is not a size; say it as 512M or 8G");
    let digits = text.trim_end_matches(|c: char| c.is_ascii_alphabetic());
    let shift = match text[digits.len()..].to_ascii_uppercase().as_str() {
        "" | "B" => 0,
        "K" | "KB" | "KIB" => 10,
        "M" | "MB" | "MIB" => 20,
        "G" | "GB" | "GIB" => 30,
        "T" | "TB" | "TIB" => 40,
        _ => return Err(wrong()),
    };
    let n: u64 = digits.parse().map_err(|_| wrong())?;
    match n.checked_mul(1 << shift) {
        Some(n) if n >= 1 << 20 => Ok(n),
        Some(_) => Err(format!("\"{text}\": less than 1M decodes nothing")),
        None => Err(wrong()),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn sizes() {
        assert_eq!(size("512M"), Ok(512 << 20));
        assert_eq!(size("8g"), Ok(8 << 30));
        assert_eq!(size("2GiB"), Ok(2 << 30));
        assert_eq!(size("1048576"), Ok(1 << 20));
        for wrong in ["", "M", "-1M", "1.5G", "4X", "99999999999T", "8 G"] {
            assert_eq!(size(wrong), Err(format!("\"{wrong}\" is not a size; say it as 512M or 8G")));
        }
        assert_eq!(size("4K"), Err("\"4K\": less than 1M decodes nothing".to_owned()));
    }

    #[test]
    fn a_share_of_the_least_bound() {
        assert_eq!(share([None, None, None]), 2 << 30);
        assert_eq!(share([Some(64 << 30), None, None]), 2 << 30);
        assert_eq!(share([Some(64 << 30), Some(4 << 30), None]), 1 << 30);
        assert_eq!(share([Some(64 << 30), Some(4 << 30), Some(100 << 20)]), 256 << 20);
    }

    #[test]
    fn what_the_system_says() {
        let root = std::env::temp_dir().join(format!("reray-groups-{}", std::process::id()));
        let put = |name: &str, text: &str| {
            let path = root.join(name);
            std::fs::create_dir_all(path.parent().expect("it has one")).expect("made");
            std::fs::write(path, text).expect("written");
        };
        assert_eq!((group(&root), available(&root.join("meminfo"))), (None, None));
        put("proc/self/cgroup", "1:cpu:/x\n0::/user/a\n");
        put("sys/fs/cgroup/user/memory.max", "3000000000\n");
        put("sys/fs/cgroup/user/a/memory.max", "max\n");
        assert_eq!(group(&root), Some(3_000_000_000));
        put("proc/self/cgroup", "5:cpu,memory:/y\n");
        put("sys/fs/cgroup/memory/y/memory.limit_in_bytes", "2000000000\n");
        put("sys/fs/cgroup/memory/memory.limit_in_bytes", "9223372036854771712\n");
        assert_eq!(group(&root), Some(2_000_000_000));
        put("meminfo", "MemTotal:  5 kB\nMemAvailable:    7 kB\n");
        assert_eq!(available(&root.join("meminfo")), Some(7 << 10));
        std::fs::remove_dir_all(&root).expect("removed");
    }
}
