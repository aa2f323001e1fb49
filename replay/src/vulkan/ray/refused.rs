//! Commands of extensions that keep references or addresses where nothing here translates them.
//!
//! A device that has such an extension may be asked for it; only a command of it that would read captured addresses is
//! refused, by name.

use crate::error::{Error, Kind, Result};
use crate::objects::Objects;
use crate::report::Report;
use crate::vulkan::Vulkan;
use gfxr_parse::ahead::Call;
use world::Outcome;

/// Commands, and what of theirs is not translated.
const REFUSED: &[(&str, &str)] = &[
    ("vkCmdBuildAccelerationStructureNV", "handles in the instances of VK_NV_ray_tracing"),
    ("vkCmdTraceRaysNV", "handles in the shader binding tables of VK_NV_ray_tracing"),
    (
        "vkCmdBuildPartitionedAccelerationStructuresNV",
        "addresses in the operations that VK_NV_partitioned_acceleration_structure keeps in device memory",
    ),
    ("vkBuildMicromapsEXT", "the input of a host build, which is memory of the captured process"),
    ("vkCopyMicromapToMemoryEXT", "memory of the captured process"),
    ("vkCopyMemoryToMicromapEXT", "memory of the captured process"),
];

/// What is not translated for a command; none if the command is not one of these.
fn why(name: &str) -> Option<&'static str> {
    REFUSED.iter().find(|r| r.0 == name).map(|r| r.1)
}

/// Whether this command is one of them.
pub(crate) fn is_refused(name: &str) -> bool {
    why(name).is_some()
}

/// Any of them.
pub fn refused(_: &mut Vulkan, _: &mut Objects, call: &Call, _: &mut Report) -> Result<Option<Outcome>> {
    let why = why(call.command.name).unwrap_or("something");
    Err(Error::new(Kind::Unsupported, format!("{}: {why} is not translated", call.command.name)))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn every_refused_command_exists() {
        for (name, _) in REFUSED {
            assert!(gfxr_parse::schema::command_named(name).is_some(), "{name}");
        }
    }
}
