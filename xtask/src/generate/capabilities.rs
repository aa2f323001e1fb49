//! What a device feature means to shaders: the registry's SPIR-V capabilities, the other way round.
//!
//! Only features that nothing but a shader can use: those of extensions that add neither commands nor structs beyond
//! what describes a device, and the `shader…` ones of Vulkan 1.0. A capture that asks for one of them, and whose shaders
//! declare none of its capabilities, does not need it.

use super::emit::header;
use super::model::Tables;
use super::registry::Registry;
use std::collections::BTreeSet;
use std::fmt::Write;

/// The text of `capabilities.rs`.
pub fn file(tables: &Tables, registry: &Registry) -> String {
    let members_of = |name: &str| {
        let s = tables.structs.iter().find(|s| s.name == name);
        s.into_iter().flat_map(|s| s.members.iter().map(|m| m.name.as_str()))
    };
    let mut members: BTreeSet<&str> =
        registry.shader_extensions.values().flatten().flat_map(|s| members_of(s)).collect();
    members.extend(members_of("VkPhysicalDeviceFeatures").filter(|m| m.starts_with("shader")));
    let mut out = header(tables, "What device features mean to shaders.");
    out.push_str("/// Features that only shaders use, sorted by name: the capabilities that a shader declares to use them.\n");
    let used: Vec<_> = registry.capabilities.iter().filter(|c| members.contains(c.0.as_str())).collect();
    let _ = writeln!(out, "pub static SHADER_FEATURES: [(&str, &[&str]); {}] = [", used.len());
    for (feature, capabilities) in used {
        let _ = writeln!(out, "    ({feature:?}, &{:?}),", capabilities.iter().collect::<Vec<_>>());
    }
    out.push_str(
        "];\n\n/// A device extension's name, the structs of its features, the SPIR-V extensions that it stands for.\n",
    );
    out.push_str(
        "pub type ShaderExtension = (&'static str, &'static [&'static str], &'static [&'static str]);\n\n",
    );
    out.push_str("/// Device extensions that add nothing but such features, sorted by name.\n");
    let n = registry.shader_extensions.len();
    let _ = writeln!(out, "pub static SHADER_EXTENSIONS: [ShaderExtension; {n}] = [");
    for (name, structs) in &registry.shader_extensions {
        let spirv: Vec<_> = registry.spirv_extensions.get(name).into_iter().flatten().collect();
        let _ = writeln!(out, "    ({name:?}, &{:?}, &{spirv:?}),", structs.iter().collect::<Vec<_>>());
    }
    out.push_str("];\n");
    out
}
