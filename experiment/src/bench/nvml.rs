//! What NVIDIA's management library says of its devices now: asked within this process, which takes no tool and little time.
//!
//! The library (libnvidia-ml, nvml.dll) comes with the driver; it is opened once, when it is first asked. Values are in the words
//! of `nvidia-smi`, which asks the same library, so that a reader need not know who was asked.
//!
//! Guarantees: where the library is not there, or knows no device, there is nothing; what a device does not say is null; nothing is
//! an error.

use nvml_wrapper::Nvml;
use nvml_wrapper::enum_wrappers::device::{Clock, TemperatureSensor};
use serde_json::{Map, Value};
use std::sync::OnceLock;

/// Every device, in the library's order.
pub fn devices() -> Option<Vec<Map<String, Value>>> {
    static OPEN: OnceLock<Option<Nvml>> = OnceLock::new();
    of(OPEN.get_or_init(|| Nvml::init().ok()).as_ref()?)
}

fn of(nvml: &Nvml) -> Option<Vec<Map<String, Value>>> {
    let driver = nvml.sys_driver_version().ok();
    let one = |n: u32| {
        let d = nvml.device_by_index(n).ok()?;
        let mhz = |clock: Option<u32>| clock.map(|mhz| format!("{mhz} MHz"));
        let said = [
            ("name", d.name().ok()),
            ("driver_version", driver.clone()),
            ("pstate", d.performance_state().ok().map(|p| format!("P{}", p.as_c()))),
            ("clocks.current.sm", mhz(d.clock_info(Clock::SM).ok())),
            ("clocks.current.memory", mhz(d.clock_info(Clock::Memory).ok())),
            ("clocks.max.sm", mhz(d.max_clock_info(Clock::SM).ok())),
            ("temperature.gpu", d.temperature(TemperatureSensor::Gpu).ok().map(|c| c.to_string())),
            ("power.draw", d.power_usage().ok().map(|mw| format!("{:.2} W", f64::from(mw) / 1000.0))),
            ("throttled", d.current_throttle_reasons().ok().map(|r| format!("{:#018x}", r.bits()))),
        ];
        Some(said.map(|(key, value)| (key.to_owned(), Value::from(value))).into_iter().collect())
    };
    let all: Vec<Map<String, Value>> = (0..nvml.device_count().ok()?).filter_map(one).collect();
    (!all.is_empty()).then_some(all)
}

#[cfg(test)]
mod tests {
    use super::*;
    use std::ffi::OsStr;

    fn devices_by(library: &OsStr) -> Option<Vec<Map<String, Value>>> {
        of(&Nvml::builder().lib_path(library).init().ok()?)
    }

    #[test]
    fn a_library_that_is_not_there_or_is_another_says_nothing() {
        assert_eq!(devices_by(OsStr::new("/nowhere/libnvidia-ml.so.1")), None);
        // (one that has none of its functions)
        assert_eq!(devices_by(OsStr::new("libc.so.6")), None);
    }
}
