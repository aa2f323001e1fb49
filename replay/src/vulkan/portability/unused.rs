//! What a capture asks of its device and no shader of it uses.
//!
//! Programs turn on every feature they find. One that only shaders can use, and that none of the capture's shaders needs,
//! is no reason to refuse a device without it: it is left out, and said. Compilers declare capabilities in advance, too;
//! those are taken out of the modules. Guarantees: a capability counts as needed if an instruction or operand of any
//! module names it, or if a module could not be read.

use super::{Done, Line, Sort};
use crate::preflight::asked::Asked;
use crate::preflight::shaders::{ShaderNeeds, capabilities};
use gfxr_parse::schema::generated::{SHADER_EXTENSIONS, STRUCTS};
use gfxr_parse::schema::struct_named;
use std::collections::{BTreeMap, BTreeSet};

/// What may be left out of a device.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Unused {
    /// Device extensions.
    pub extensions: BTreeSet<String>,
    /// Structs of features that go with their extensions.
    pub structs: BTreeSet<u32>,
    /// Members of feature structs.
    pub features: BTreeSet<String>,
    /// Capabilities that modules may declare and that must go.
    pub capabilities: Vec<&'static str>,
    /// SPIR-V extensions likewise.
    pub spirv_extensions: Vec<&'static str>,
}

impl Unused {
    /// Of what is asked for and missing here. `missing` are extensions and (struct, member) of features; `asked` are all
    /// features that are asked for.
    pub fn of(
        needed: &ShaderNeeds,
        extensions: &[&str],
        missing: &[(&str, &str)],
        asked: &BTreeMap<String, Vec<String>>,
    ) -> Self {
        let mut out = Unused::default();
        for &(_, member) in missing.iter().filter(|m| !needed.is_needed(m.1)) {
            out.features.insert(member.to_owned());
            out.capabilities.extend(capabilities(member).unwrap_or_default());
        }
        for name in extensions {
            let Ok(i) = SHADER_EXTENSIONS.binary_search_by_key(name, |x| x.0) else { continue };
            let (_, structs, spirv) = SHADER_EXTENSIONS[i];
            // With an extension all its features go.
            let features: Vec<&String> = structs.iter().filter_map(|s| asked.get(*s)).flatten().collect();
            if structs.iter().any(|s| struct_named(s).is_none())
                || features.iter().any(|f| needed.is_needed(f))
            {
                continue;
            }
            out.extensions.insert((*name).to_owned());
            let stype = |s: &&str| struct_named(s).and_then(|id| STRUCTS[id as usize].stype);
            out.structs.extend(structs.iter().filter_map(stype));
            out.features.extend(features.iter().map(|f| (*f).clone()));
            out.capabilities.extend(features.iter().flat_map(|f| capabilities(f).unwrap_or_default()));
            out.spirv_extensions.extend(spirv);
        }
        out.capabilities.sort_unstable();
        out.capabilities.dedup();
        out
    }

    /// Nothing is.
    pub fn is_empty(&self) -> bool {
        self.extensions.is_empty() && self.features.is_empty()
    }
}

/// Takes back refusals of what no shader needs. What shaders need is asked for only if there is one to take back.
pub(in crate::vulkan) fn forgive(
    lines: &mut [Line],
    asked: &Asked,
    needed: impl FnOnce() -> ShaderNeeds,
) -> Unused {
    let refused = |sort: Sort| move |l: &&Line| l.sort == sort && l.done == Done::Refused;
    let extensions: Vec<&str> =
        lines.iter().filter(refused(Sort::DeviceExtension)).map(|l| &*l.what).collect();
    let features: Vec<(&str, &str)> =
        lines.iter().filter(refused(Sort::Feature)).filter_map(|l| l.what.split_once('.')).collect();
    if extensions.is_empty() && features.is_empty() {
        return Unused::default();
    }
    let mut features_asked: BTreeMap<String, Vec<String>> = BTreeMap::new();
    for &(id, member) in asked.devices.iter().flat_map(|d| &d.features) {
        features_asked.entry(STRUCTS[id as usize].name.to_owned()).or_default().push(member.to_owned());
    }
    let unused = Unused::of(&needed(), &extensions, &features, &features_asked);
    for l in lines.iter_mut().filter(|l| l.done == Done::Refused) {
        let left_out = match l.sort {
            Sort::DeviceExtension => unused.extensions.contains(&l.what),
            Sort::Feature => l.what.split_once('.').is_some_and(|(_, m)| unused.features.contains(m)),
            _ => false,
        };
        if left_out {
            l.done = Done::Unused;
        }
    }
    unused
}

#[cfg(test)]
mod tests {
    use super::*;

    fn asked(s: &str, members: &[&str]) -> BTreeMap<String, Vec<String>> {
        [(s.to_owned(), members.iter().map(|m| (*m).to_owned()).collect())].into()
    }

    #[test]
    fn what_no_shader_needs_is_left_out_with_its_extension() {
        let s = "VkPhysicalDeviceRayQueryFeaturesKHR";
        let (missing, asked) = ([(s, "rayQuery")], asked(s, &["rayQuery"]));
        let none = ShaderNeeds { capabilities: ["Shader".to_owned()].into(), unknown: false };
        let u = Unused::of(&none, &["VK_KHR_ray_query", "VK_KHR_ray_tracing_pipeline"], &missing, &asked);
        assert_eq!(u.extensions, ["VK_KHR_ray_query".to_owned()].into());
        assert_eq!(u.features, ["rayQuery".to_owned()].into());
        assert_eq!(u.capabilities, ["RayQueryKHR", "RayTraversalPrimitiveCullingKHR"]);
        assert_eq!(u.spirv_extensions, ["SPV_KHR_ray_query"]);
        for needed in [
            ShaderNeeds { capabilities: ["RayQueryKHR".to_owned()].into(), unknown: false },
            ShaderNeeds { capabilities: BTreeSet::new(), unknown: true },
        ] {
            assert!(Unused::of(&needed, &["VK_KHR_ray_query"], &missing, &asked).is_empty());
        }
    }

    #[test]
    fn what_calls_use_too_stays() {
        let s = "VkPhysicalDeviceFeatures";
        let u = Unused::of(
            &ShaderNeeds::default(),
            &[],
            &[(s, "geometryShader"), (s, "shaderInt16")],
            &asked(s, &[]),
        );
        assert_eq!(u.features, ["shaderInt16".to_owned()].into());
    }
}
