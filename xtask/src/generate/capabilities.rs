//! What a device feature means to shaders: the registry's SPIR-V capabilities, the other way round.
//!
//! Only features that nothing but a shader can use: those of extensions that add neither commands nor structs beyond
//! what describes a device, and those of Vulkan itself whose names begin with what shaders do. A capture that asks for one of them, and whose shaders
//! declare none of its capabilities, does not need it.

use super::emit::header;
use super::model::Tables;
use super::registry::{Extension, Registry};
use std::collections::BTreeSet;
use std::fmt::Write;

/// The text of `capabilities.rs`.
pub fn file(tables: &Tables, registry: &Registry) -> String {
    let members_of = |name: &str| {
        let s = tables.structs.iter().find(|s| s.name == name);
        s.into_iter().flat_map(|s| s.members.iter().map(|m| m.name.as_str()))
    };
    let shaders_alone = |e: &&Extension| e.commands.is_empty() && e.structs.is_empty();
    let features = registry.extensions.values().filter(shaders_alone).flat_map(|e| &e.features);
    let mut members: BTreeSet<&str> = features.flat_map(|s| members_of(s)).collect();
    let core = ["", "ShaderDrawParameters", "Vulkan11", "Vulkan12", "Vulkan13"];
    let core: Vec<String> = core.iter().map(|c| format!("VkPhysicalDevice{c}Features")).collect();
    let of_shaders = |m: &&str| ["shader", "storage", "variablePointers"].iter().any(|p| m.starts_with(p));
    members.extend(core.iter().flat_map(|s| members_of(s)).filter(of_shaders));
    let mut out = header(tables, "What device features mean to shaders, and what device extensions add.");
    out.push_str("use super::super::Extension;\n\n");
    out.push_str("/// Features that only shaders use, sorted by name: the capabilities that a shader declares to use them.\n");
    let used: Vec<_> = registry.capabilities.iter().filter(|c| members.contains(c.0.as_str())).collect();
    let _ = writeln!(out, "pub static SHADER_FEATURES: [(&str, &[&str]); {}] = [", used.len());
    for (feature, capabilities) in used {
        let _ = writeln!(out, "    ({feature:?}, &{:?}),", capabilities.iter().collect::<Vec<_>>());
    }
    out.push_str("];\n\n/// Device extensions, sorted by name.\n");
    let _ = writeln!(out, "pub static EXTENSIONS: [Extension; {}] = [", registry.extensions.len());
    for (name, e) in &registry.extensions {
        let known = |s: &&String| tables.structs.iter().any(|d| d.name == **s);
        let structs: Vec<_> = e.structs.iter().filter(known).collect();
        let enumerated = |v: &&(String, i64)| tables.enums.iter().any(|d| d.name == v.0);
        let values: Vec<_> = e.values.iter().filter(enumerated).collect();
        let spirv: Vec<_> = registry.spirv_extensions.get(name).into_iter().flatten().collect();
        let _ = writeln!(
            out,
            "    Extension {{ name: {name:?}, promoted: {:?}, commands: &{:?}, structs: &{structs:?}, features: &{:?}, values: \
             &{values:?}, spirv: &{spirv:?} }},",
            e.promoted,
            e.commands.iter().collect::<Vec<_>>(),
            e.features.iter().collect::<Vec<_>>(),
        );
    }
    out.push_str("];\n");
    out
}
