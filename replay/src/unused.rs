//! What a capture asks of its device and no shader of it uses.
//!
//! Programs turn on every feature they find. One that only shaders can use, and that none of the capture's shaders needs,
//! is no reason to refuse a device without it: it is left out, and said. Compilers declare capabilities in advance, too;
//! those are taken out of the modules. Guarantees: a capability counts as needed if an instruction or operand of any
//! module names it, or if a module could not be read.

use gfxr_parse::container::{BlockKind, Capture, Scratch};
use gfxr_parse::decode::decode_found;
use gfxr_parse::image::Image;
use gfxr_parse::schema::generated::{SHADER_EXTENSIONS, SHADER_FEATURES, STRUCTS};
use gfxr_parse::schema::{command, struct_named};
use gfxr_parse::shaders::{concerns, shaders};
use pointers::{Capabilities, Checked};
use std::collections::{BTreeMap, BTreeSet};

/// What the shaders of a capture need.
#[derive(Clone, Debug, Default)]
pub struct Needed {
    capabilities: BTreeSet<String>,
    /// A module could not be read: everything counts as needed.
    unknown: bool,
}

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

/// Looks through every module of a capture.
pub fn needed(capture: &Capture) -> Needed {
    let (mut out, mut scratch, mut image) = (Needed::default(), Scratch::new(), Image::default());
    for block in capture.blocks() {
        let Some(c) = block.call_id().and_then(command).filter(|c| concerns(c.name)) else { continue };
        let Ok(BlockKind::Call(call)) = block.kind() else { continue };
        if decode_found(c, &block, &call, &mut scratch, &mut image).is_err() {
            continue;
        }
        for s in shaders(&image) {
            let words: Vec<u32> =
                s.code.chunks_exact(4).map(|w| u32::from_le_bytes([w[0], w[1], w[2], w[3]])).collect();
            let needed = Checked::new(&words).ok().and_then(|w| Capabilities::of(w).ok());
            match needed {
                Some(c) => out.capabilities.extend(c.needed),
                None => out.unknown = true,
            }
        }
    }
    out
}

fn capabilities(member: &str) -> Option<&'static [&'static str]> {
    SHADER_FEATURES.binary_search_by_key(&member, |f| f.0).ok().map(|i| SHADER_FEATURES[i].1)
}

impl Needed {
    fn is_needed(&self, member: &str) -> bool {
        self.unknown || capabilities(member).is_none_or(|c| c.iter().any(|c| self.capabilities.contains(*c)))
    }
}

impl Unused {
    /// Of what is asked for and missing here. `missing` are extensions and (struct, member) of features; `asked` are all
    /// features that are asked for.
    pub fn of(
        needed: &Needed,
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
        let none = Needed { capabilities: ["Shader".to_owned()].into(), unknown: false };
        let u = Unused::of(&none, &["VK_KHR_ray_query", "VK_KHR_ray_tracing_pipeline"], &missing, &asked);
        assert_eq!(u.extensions, ["VK_KHR_ray_query".to_owned()].into());
        assert_eq!(u.features, ["rayQuery".to_owned()].into());
        assert_eq!(u.capabilities, ["RayQueryKHR", "RayTraversalPrimitiveCullingKHR"]);
        assert_eq!(u.spirv_extensions, ["SPV_KHR_ray_query"]);
        for needed in [
            Needed { capabilities: ["RayQueryKHR".to_owned()].into(), unknown: false },
            Needed { capabilities: BTreeSet::new(), unknown: true },
        ] {
            assert!(Unused::of(&needed, &["VK_KHR_ray_query"], &missing, &asked).is_empty());
        }
    }

    #[test]
    fn what_calls_use_too_stays() {
        let s = "VkPhysicalDeviceFeatures";
        let u =
            Unused::of(&Needed::default(), &[], &[(s, "geometryShader"), (s, "shaderInt16")], &asked(s, &[]));
        assert_eq!(u.features, ["shaderInt16".to_owned()].into());
    }
}
