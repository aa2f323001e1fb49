//! What a capture asks of its device and never uses.
//!
//! Programs turn on every extension and feature that they find. What no call, struct, enumerant or shader of the capture uses is
//! no reason to refuse a device without it: it is left out, and said. Compilers declare capabilities in advance, too; those are
//! taken out of the modules. What leaves no trace in a capture where it is used (robust accesses, attributes at odd places) is left
//! out, too, and told as a risk. Refused: what is used, with the first call that does.

use crate::options::Bridge;
use crate::preflight::asked::Asked;
use crate::preflight::used::{First, Used, capabilities};
use crate::vulkan::portability::line::{Done, Line, Sort};
use gfxr_parse::schema::enum_named;
use gfxr_parse::schema::generated::{EXTENSIONS, STRUCTS};
use gfxr_parse::schema::{Extension, command_named, struct_named};
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
    /// Bits that must go, by the enum that names them.
    pub bits: BTreeMap<&'static str, u64>,
}

/// Enums of bits that permit something and do not do it: an extension whose bits in them are all that is left of it is not used.
const PERMIT: &[&str] = &[
    "VkBufferUsageFlagBits",
    "VkBufferUsageFlagBits2",
    "VkImageUsageFlagBits",
    "VkAccessFlagBits",
    "VkAccessFlagBits2",
    "VkPipelineStageFlagBits",
    "VkPipelineStageFlagBits2",
];

/// Single bits that permit, of enums that else say what something is.
const PERMITTING: &[(&str, i64)] = &[
    // MULTISAMPLED_RENDER_TO_SINGLE_SAMPLED: what renders so says it in a struct of its own.
    ("VkImageCreateFlagBits", 0x40000),
];

/// Whether a value only permits something.
fn permits(value: &(&str, i64)) -> bool {
    PERMIT.contains(&value.0) || PERMITTING.contains(value)
}

/// What shows that a feature of Vulkan 1.0 is used.
enum Sign {
    /// An enumerant from one to another.
    Value(&'static str, i64, i64),
    /// A state that is turned on.
    State(&'static str),
}

/// Features of VkPhysicalDeviceFeatures, and what shows that they are used.
const SIGNS: &[(&str, &[Sign])] = {
    use Sign::{State, Value};
    &[
        ("textureCompressionBC", &[Value("VkFormat", 131, 146)]),
        ("textureCompressionETC2", &[Value("VkFormat", 147, 156)]),
        ("textureCompressionASTC_LDR", &[Value("VkFormat", 157, 184)]),
        ("geometryShader", &[Value("VkShaderStageFlagBits", 8, 8)]),
        ("tessellationShader", &[Value("VkShaderStageFlagBits", 2, 4)]),
        ("imageCubeArray", &[Value("VkImageViewType", 6, 6)]),
        ("dualSrcBlend", &[Value("VkBlendFactor", 15, 18)]),
        ("fillModeNonSolid", &[Value("VkPolygonMode", 1, 2)]),
        ("occlusionQueryPrecise", &[Value("VkQueryControlFlagBits", 1, 1)]),
        ("pipelineStatisticsQuery", &[Value("VkQueryType", 1, 1)]),
        ("sampleRateShading", &[State("sampleShadingEnable")]),
        ("logicOp", &[State("logicOpEnable")]),
        ("depthClamp", &[State("depthClampEnable")]),
        ("depthBiasClamp", &[State("depthBiasEnable")]),
        ("depthBounds", &[State("depthBoundsTestEnable")]),
        ("alphaToOne", &[State("alphaToOneEnable")]),
        ("wideLines", &[State("lineWidth")]),
        ("multiViewport", &[State("viewportCount")]),
        ("samplerAnisotropy", &[State("anisotropyEnable")]),
        ("sparseBinding", &[Value("VkImageCreateFlagBits", 1, 1), Value("VkBufferCreateFlagBits", 1, 1)]),
    ]
};

/// The extension's entry in the registry.
pub(super) fn extension(name: &str) -> Option<&'static Extension> {
    EXTENSIONS.binary_search_by_key(&name, |e| e.name).ok().map(|i| &EXTENSIONS[i])
}

/// The extension that brings a struct of features.
pub(super) fn brings(structure: &str) -> impl Iterator<Item = &'static Extension> {
    EXTENSIONS.iter().filter(move |e| e.features.contains(&structure))
}

/// How something is used.
enum Use {
    /// Not at all.
    No,
    /// First by this call.
    By(First),
    /// By shaders.
    Shaders,
    /// Nobody can tell.
    Unknown,
}

impl Used {
    /// How an extension is used, of whose features these are turned on.
    fn extension(&self, e: &Extension, features: &[&String]) -> Use {
        let canonical = |name: &&&str| command_named(name).map(|c| c.canonical);
        let called = e.commands.iter().filter_map(|n| canonical(&n));
        let by = called.filter_map(|c| self.commands.get(c));
        let by = by.chain(e.structs.iter().filter_map(|s| self.structs.get(s)));
        let values = e.values.iter().filter(|v| !permits(v));
        let mut by = by.chain(values.filter_map(|v| self.values.get(v)));
        if let Some(first) = by.next() {
            return Use::By(*first);
        }
        let leaves_traces = !(e.commands.is_empty() && e.structs.is_empty() && e.values.is_empty());
        let by_shaders = || features.iter().map(|f| self.by_shaders(f));
        match () {
            () if by_shaders().any(|b| b == Some(true)) => Use::Shaders,
            () if !leaves_traces && by_shaders().any(|b| b.is_none()) => Use::Unknown,
            () => Use::No,
        }
    }

    /// How a feature is used.
    fn feature(&self, structure: &str, member: &str) -> Use {
        match self.by_shaders(member) {
            Some(true) => return Use::Shaders,
            Some(false) => return Use::No,
            None => {}
        }
        if let Some((_, signs)) = SIGNS.iter().find(|s| s.0 == member) {
            let first = signs.iter().find_map(|s| match *s {
                Sign::Value(of, from, to) => (from..=to).find_map(|v| self.values.get(&(of, v))),
                Sign::State(name) => self.states.get(name),
            });
            return first.map_or(Use::No, |f| Use::By(*f));
        }
        if let Some(state) = ["extendedDynamicState3", "extendedDynamicState2"]
            .iter()
            .find_map(|prefix| member.strip_prefix(prefix).filter(|rest| !rest.is_empty()))
        {
            return self.dynamic_state(state);
        }
        let member = member.to_owned();
        brings(structure).next().map_or(Use::Unknown, |e| self.extension(e, &[&member]))
    }

    /// How a state that may be dynamic is used: a command sets it, or a pipeline says that one does.
    fn dynamic_state(&self, name: &str) -> Use {
        let command = |suffix| command_named(&format!("vkCmdSet{name}{suffix}"));
        let set = ["EXT", "NV", ""].iter().find_map(command).and_then(|c| self.commands.get(c.canonical));
        let plain = |of: &str| of.trim_start_matches("VK_DYNAMIC_STATE_").replace('_', "");
        let is = |v: &&(i64, &str)| {
            ["EXT", "NV", ""].iter().any(|s| plain(v.1).eq_ignore_ascii_case(&format!("{name}{s}")))
        };
        let states = enum_named("VkDynamicState").map_or(&[][..], |e| e.values);
        let said = states.iter().filter(is).find_map(|v| self.values.get(&("VkDynamicState", v.0)));
        set.or(said).map_or(Use::No, |first| Use::By(*first))
    }
}

impl Unused {
    /// Of what is asked for and refused here; `asked` are all features that are asked for, by struct. What is used is said in
    /// its line.
    fn of(used: &Used, lines: &mut [Line], asked: &BTreeMap<&str, Vec<String>>) -> Self {
        let mut out = Unused::default();
        for line in lines.iter_mut().filter(|l| l.done == Done::Refused) {
            let found = match line.sort {
                Sort::DeviceExtension => {
                    let Some(e) = extension(&line.what) else { continue };
                    let features: Vec<&String> =
                        e.features.iter().filter_map(|s| asked.get(s)).flatten().collect();
                    let found = used.extension(e, &features);
                    if matches!(found, Use::No | Use::Unknown) {
                        out.extension(e, &features);
                    }
                    found
                }
                Sort::Feature => {
                    let Some((structure, member)) = line.what.split_once('.') else { continue };
                    let found = used.feature(structure, member);
                    if matches!(found, Use::No | Use::Unknown) {
                        out.features.insert(member.to_owned());
                        out.capabilities.extend(capabilities(member).unwrap_or_default());
                    }
                    found
                }
                _ => continue,
            };
            match found {
                Use::No => (line.done, line.bridge) = (Done::Unused, Some(Bridge::Unused)),
                Use::By((block, command)) => line.asked = format!("used first in block {block}, {command}"),
                Use::Shaders => line.asked = "used by shaders".into(),
                Use::Unknown => {
                    (line.done, line.bridge) = (Done::Risked, Some(Bridge::Unused));
                    line.asked = "leaves no trace where it is used".into();
                }
            }
        }
        // With an extension all its features go.
        for line in lines.iter_mut().filter(|l| l.done == Done::Refused && l.sort == Sort::Feature) {
            if line.what.split_once('.').is_some_and(|(_, m)| out.features.contains(m)) {
                (line.done, line.bridge) = (Done::Unused, Some(Bridge::Unused));
            }
        }
        out.capabilities.sort_unstable();
        out.capabilities.dedup();
        out
    }

    fn extension(&mut self, e: &Extension, features: &[&String]) {
        self.extensions.insert(e.name.to_owned());
        let stype = |s: &&str| struct_named(s).and_then(|id| STRUCTS[usize::from(id)].stype);
        self.structs.extend(e.features.iter().filter_map(stype));
        self.features.extend(features.iter().map(|f| (*f).clone()));
        self.capabilities.extend(features.iter().flat_map(|f| capabilities(f).unwrap_or_default()));
        self.spirv_extensions.extend(e.spirv);
        for &(of, bit) in e.values.iter().filter(|v| permits(v)) {
            *self.bits.entry(of).or_default() |= bit as u64;
        }
    }

    /// Flags without the bits that must go.
    pub(super) fn without(&self, of: &str, flags: u32) -> u32 {
        flags & !(self.bits.get(of).copied().unwrap_or(0) as u32)
    }

    /// Nothing is.
    pub fn is_empty(&self) -> bool {
        self.extensions.is_empty() && self.features.is_empty()
    }
}

/// Takes back refusals of what is not used. What is used is looked for only if there is one to take back.
pub(in crate::vulkan) fn forgive(lines: &mut [Line], asked: &Asked, used: impl FnOnce() -> Used) -> Unused {
    let removable = |l: &Line| matches!(l.sort, Sort::DeviceExtension | Sort::Feature);
    if !lines.iter().any(|l| l.done == Done::Refused && removable(l)) {
        return Unused::default();
    }
    let mut features: BTreeMap<&str, Vec<String>> = BTreeMap::new();
    for &(id, member) in asked.devices.iter().flat_map(|d| &d.features) {
        features.entry(STRUCTS[usize::from(id)].name).or_default().push(member.to_owned());
    }
    Unused::of(&used(), lines, &features)
}

#[cfg(test)]
mod tests {
    use super::*;

    fn asked(s: &'static str, members: &[&str]) -> BTreeMap<&'static str, Vec<String>> {
        [(s, members.iter().map(|m| (*m).to_owned()).collect())].into()
    }

    fn refused(all: &[(Sort, &str)]) -> Vec<Line> {
        all.iter().map(|(sort, what)| Line::new(*sort, what, false, Done::Refused)).collect()
    }

    #[test]
    fn what_no_shader_needs_is_left_out_with_its_extension() {
        let s = "VkPhysicalDeviceRayQueryFeaturesKHR";
        let asked = asked(s, &["rayQuery"]);
        let all = [
            (Sort::DeviceExtension, "VK_KHR_ray_query"),
            (Sort::Feature, "VkPhysicalDeviceRayQueryFeaturesKHR.rayQuery"),
        ];
        let none = Used { capabilities: ["Shader".to_owned()].into(), ..Used::default() };
        let mut lines = refused(&all);
        let u = Unused::of(&none, &mut lines, &asked);
        assert!(lines.iter().all(|l| l.done == Done::Unused));
        assert_eq!(u.extensions, ["VK_KHR_ray_query".to_owned()].into());
        assert_eq!(u.features, ["rayQuery".to_owned()].into());
        assert_eq!(u.capabilities, ["RayQueryKHR", "RayTraversalPrimitiveCullingKHR"]);
        assert_eq!(u.spirv_extensions, ["SPV_KHR_ray_query"]);
        for used in [
            Used { capabilities: ["RayQueryKHR".to_owned()].into(), ..Used::default() },
            Used { unknown_shaders: true, ..Used::default() },
        ] {
            let mut lines = refused(&all);
            assert!(Unused::of(&used, &mut lines, &asked).is_empty());
            assert!(lines.iter().all(|l| l.done == Done::Refused && l.asked == "used by shaders"));
        }
    }

    #[test]
    fn images_that_may_be_rendered_to_with_more_samples_are_made_without_the_bit() {
        let name = "VK_EXT_multisampled_render_to_single_sampled";
        let of = |used: &Used| {
            let mut lines = refused(&[(Sort::DeviceExtension, name)]);
            let u = Unused::of(used, &mut lines, &BTreeMap::new());
            (u.bits.get("VkImageCreateFlagBits").copied(), lines[0].done)
        };
        let mut used = Used::default();
        used.values.insert(("VkImageCreateFlagBits", 0x40000), (5, "vkCreateImage"));
        assert_eq!(of(&used), (Some(0x40000), Done::Unused));
        used.structs.insert("VkMultisampledRenderToSingleSampledInfoEXT", (9, "vkCmdBeginRendering"));
        assert_eq!(of(&used), (None, Done::Refused), "it is rendered so");
    }

    #[test]
    fn a_dynamic_state_is_used_by_what_sets_it() {
        let s = "VkPhysicalDeviceExtendedDynamicState3FeaturesEXT";
        let members = || {
            let all = &STRUCTS[usize::from(struct_named(s).expect("it is in the schema"))];
            all.members.iter().map(|m| m.name).filter(|m| m.starts_with("extended"))
        };
        assert!(members().count() > 30);
        let mut used = Used::default();
        used.commands.insert("vkCmdSetColorBlendEnableEXT", (8, "vkCmdSetColorBlendEnableEXT"));
        used.values.insert(("VkDynamicState", 1_000_455_000 + 20), (9, "vkCreateGraphicsPipelines"));
        let found: Vec<&str> = members().filter(|m| matches!(used.feature(s, m), Use::By(_))).collect();
        assert_eq!(found.len(), 2, "{found:?}");
        for m in members() {
            let name = m.trim_start_matches("extendedDynamicState3");
            let known = ["EXT", "NV"].iter().find_map(|x| command_named(&format!("vkCmdSet{name}{x}")));
            let known = known.unwrap_or_else(|| panic!("{m}")).canonical;
            used.commands.insert(known, (1, known));
        }
        assert!(members().all(|m| matches!(used.feature(s, m), Use::By(_))));
    }

    #[test]
    fn what_calls_use_stays_and_is_said() {
        let features = "VkPhysicalDeviceFeatures";
        let all = [
            (Sort::DeviceExtension, "VK_EXT_device_fault"),
            (Sort::DeviceExtension, "VK_EXT_robustness2"),
            (Sort::Feature, "VkPhysicalDeviceFeatures.textureCompressionETC2"),
            (Sort::Feature, "VkPhysicalDeviceFeatures.robustBufferAccess"),
            (Sort::Feature, "VkPhysicalDeviceFeatures.shaderInt16"),
        ];
        let asked = {
            let mut all = asked(features, &["textureCompressionETC2", "robustBufferAccess", "shaderInt16"]);
            all.insert("VkPhysicalDeviceRobustness2FeaturesKHR", vec!["nullDescriptor".into()]);
            all
        };
        let mut used = Used::default();
        let mut lines = refused(&all);
        let u = Unused::of(&used, &mut lines, &asked);
        let left = |lines: &[Line]| lines.iter().map(|l| l.done == Done::Unused).collect::<Vec<_>>();
        assert_eq!(left(&lines), [true, false, true, false, true], "robust accesses leave no traces: {u:?}");
        assert!([1, 3].iter().all(|i| lines[*i].done == Done::Risked), "{lines:?}");
        assert!(u.extensions.contains("VK_EXT_robustness2") && u.features.contains("robustBufferAccess"));
        used.commands.insert("vkGetDeviceFaultInfoEXT", (7, "vkGetDeviceFaultInfoEXT"));
        used.values.insert(("VkFormat", 150), (9, "vkCreateImage"));
        let mut lines = refused(&all);
        Unused::of(&used, &mut lines, &asked);
        assert_eq!(left(&lines), [false, false, false, false, true]);
        assert_eq!(lines[2].asked, "used first in block 9, vkCreateImage");
    }

    #[test]
    fn what_shows_a_use_is_in_the_schema() {
        let core = &STRUCTS[usize::from(struct_named("VkPhysicalDeviceFeatures").expect("core"))];
        for (feature, signs) in SIGNS {
            assert!(core.members.iter().any(|m| m.name == *feature), "{feature}");
            for s in *signs {
                let known = match *s {
                    Sign::Value(of, from, to) => {
                        let values = enum_named(of).map_or(&[][..], |e| e.values);
                        [from, to].iter().all(|v| values.iter().any(|x| x.0 == *v))
                    }
                    Sign::State(name) => STRUCTS.iter().any(|d| d.members.iter().any(|m| m.name == name)),
                };
                assert!(known, "{feature}");
            }
        }
    }
}
