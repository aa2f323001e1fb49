//! `devices`: what this machine can replay and instrument, and what to install when the answer is nothing.

use crate::cli::DevicesArgs;
use crate::exit::{Exit, Failure, columns};
use crate::output;
use analyses::report::text::described;
use replay::vulkan::inspect::{Ability, DeviceReport, devices};
use serde_json::json;
use std::fmt::Write as _;

/// Where a Vulkan device comes from, if there is none.
const INSTALL: &str = "\
no Vulkan device found. For replaying without a GPU install Mesa's software driver:
  Debian 12:         enable bookworm-backports, then apt-get install -t bookworm-backports mesa-vulkan-drivers
  Debian 13, Ubuntu: apt-get install libvulkan1 mesa-vulkan-drivers
With an NVIDIA GPU install its driver; VK_DRIVER_FILES may name an ICD file (nvidia_icd.json) that is elsewhere.";

/// Runs it.
pub fn run(args: &DevicesArgs) -> Result<Exit, Failure> {
    let found = devices().map_err(experiment::replaying::failure)?;
    if found.is_empty() {
        return Err(Failure(Exit::NoDevice, INSTALL.to_string()));
    }
    let text = if args.json { output::json(&to_json(&found))? } else { to_text(&found) };
    output::print(text.as_bytes())?;
    Ok(Exit::Done)
}

fn to_text(found: &[DeviceReport]) -> String {
    let mut t = String::new();
    for d in found {
        let (a, b, c) = d.api;
        let _ = writeln!(t, "{}  {}", d.index, d.name);
        let _ = writeln!(t, "   {}, Vulkan {a}.{b}.{c}, {}", d.kind, d.driver);
        let _ =
            writeln!(t, "   memory      {:.1} GiB device-local", d.memory_bytes as f64 / f64::from(1 << 30));
        let timestamps = match d.timestamp_bits.iter().max() {
            None | Some(0) => "none: no GPU times".to_string(),
            Some(bits) => format!("{bits} bits, {} ns a tick", d.timestamp_period_ns),
        };
        let _ = writeln!(t, "   timestamps  {timestamps}");
        let _ = writeln!(
            t,
            "   subgroups   of {}; operations in {}",
            d.subgroup_size,
            d.subgroup_stages.join(", ")
        );
        let ability = |a: &Ability| {
            let for_what = if a.for_what.is_empty() { String::new() } else { format!(": {}", a.for_what) };
            (if a.here { "   yes" } else { "   no" }, format!("{}{for_what}", a.what))
        };
        t += &described(d.abilities.iter().map(ability), columns());
        t.push('\n');
    }
    t
}

fn to_json(found: &[DeviceReport]) -> serde_json::Value {
    json!({
        "schema_version": 1,
        "devices": found.iter().map(|d| json!({
            "index": d.index,
            "name": d.name,
            "kind": d.kind,
            "api_version": format!("{}.{}.{}", d.api.0, d.api.1, d.api.2),
            "driver": d.driver,
            "driver_uuid": d.driver_uuid,
            "pipeline_cache_uuid": d.pipeline_cache_uuid,
            "device_local_bytes": d.memory_bytes,
            "timestamp_period_ns": d.timestamp_period_ns,
            "timestamp_valid_bits": d.timestamp_bits,
            "subgroup_size": d.subgroup_size,
            "subgroup_stages": d.subgroup_stages,
            "abilities": d.abilities.iter().map(|a| json!({
                "what": a.what, "for": a.for_what, "here": a.here,
            })).collect::<Vec<_>>(),
        })).collect::<Vec<_>>(),
    })
}
