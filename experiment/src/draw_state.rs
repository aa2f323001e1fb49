//! What the capture says of a frame's draws, dispatches and traces: the state that their pipelines or shader objects were made with, and what their
//! command buffer had set and bound before each.
//!
//! Guarantees: of a command the last call before the draw counts, of those that set a part of several (`firstViewport`, say) the last for each first
//! one. Descriptors are not here (the analyses' table `bound` has them). Refuses nothing: a call that cannot be read is left out.

use analyses::times::frame::state::{Setting, State};
use gfxr_parse::ahead::{Call, What, run};
use gfxr_parse::blocks::Blocks;
use gfxr_parse::container::Capture;
use gfxr_parse::leaves::Leaf;
use gfxr_parse::view::View;
use std::collections::{BTreeMap, BTreeSet, HashMap, HashSet};
use std::ops::ControlFlow::{Break, Continue};
use trace::actions::Action;

/// What commands begin with that set state or bind something other than descriptors and programs.
const SETS: [&str; 5] = [
    "vkCmdSet",
    "vkCmdBindVertexBuffers",
    "vkCmdBindIndexBuffer",
    "vkCmdPushConstants",
    "vkCmdBindTransformFeedback",
];
/// What those among them begin with that do not.
const OTHERS: [&str; 5] = [
    "vkCmdSetEvent",
    "vkCmdSetDeviceMask",
    "vkCmdSetCheckpoint",
    "vkCmdSetPerformance",
    "vkCmdSetDescriptorBufferOffsets",
];
/// What begins or ends what a command buffer has set.
const ENDS: [&str; 3] = ["vkBeginCommandBuffer", "vkEndCommandBuffer", "vkCmdExecuteCommands"];
/// The struct that names the libraries of a pipeline.
const LIBRARIES: &str = "VkPipelineLibraryCreateInfoKHR";
/// VK_STENCIL_FACE_FRONT_AND_BACK
const FRONT_AND_BACK: u32 = 3;
/// The call that makes shader objects, which are told by their ids.
const SHADER_OBJECTS: &str = "vkCreateShadersEXT";
/// Bytes that are shown of data.
const BYTES: usize = 64;

/// What a command sets, whatever its version, and which part of that.
type Part = (&'static str, u32);
/// By part, the block of the last call, and the command.
type Set = BTreeMap<Part, (u64, &'static str)>;

/// Calls to look into: those that made pipelines and shader objects, by their ids, with its place in the call; of pipelines their libraries; and of each draw's block what
/// was set before.
#[derive(Default)]
struct Wanted {
    made: HashMap<u64, (u64, usize)>,
    libraries: HashMap<u64, Vec<u64>>,
    set: HashMap<u64, Set>,
}

impl Wanted {
    /// What an action runs, and all that it was made of.
    fn parts(&self, action: &Action) -> Vec<u64> {
        let mut parts = program(action);
        let mut at = 0;
        while let Some(part) = parts.get(at) {
            let libraries = self.libraries.get(part).into_iter().flatten();
            let more: Vec<u64> = libraries.copied().filter(|p| !parts.contains(p)).collect();
            parts.extend(more);
            at += 1;
        }
        parts
    }
}

/// The state of these, of no more than so many commands that set it.
pub fn state(capture: &Capture, actions: &[Action], most: usize) -> State {
    let wanted = wanted(capture, actions);
    let (mut programs, mut told) = (HashSet::new(), HashSet::new());
    // By row, of the first action that runs them and is called by the same object.
    let mut parts: BTreeMap<usize, Vec<u64>> = BTreeMap::new();
    for (of, action) in actions.iter().enumerate().filter(|(_, a)| programs.insert(program(a))) {
        let new = |part: &u64| told.insert((action.pipeline, *part));
        parts.insert(of, wanted.parts(action).into_iter().filter(new).collect());
    }
    let made = parts.values().flatten().filter_map(|p| wanted.made.get(p)).map(|m| m.0);
    let blocks: BTreeSet<u64> =
        wanted.set.values().flat_map(|s| s.values()).map(|set| set.0).chain(made).collect();
    let found = Blocks::of(capture, &blocks);
    let shown = |(path, leaf)| Some((path, words(leaf)?));
    let values = |block: &u64| found.leaves(*block).into_iter().filter_map(shown).collect();
    let read: HashMap<u64, Vec<(String, String)>> =
        blocks.iter().map(|block| (*block, values(block))).collect();
    let mut all = State::default();
    for (of, action) in actions.iter().enumerate() {
        let parts = parts.get(&of).into_iter().flatten();
        for (part, (block, place)) in parts.filter_map(|p| Some((p, wanted.made.get(p)?))) {
            let prefix = format!("pCreateInfos[{place}].");
            let whose = match action.shader_objects.contains(part) {
                true => format!("shader object {part}: "),
                false => String::new(),
            };
            let members = read.get(block).into_iter().flatten();
            let members = members.filter_map(|(path, value)| Some((path.strip_prefix(&prefix)?, value)));
            for (what, value) in members.filter(|m| says(m.0) && m.1 != "null") {
                all.pipelines.push(Setting { of, what: format!("{whose}{what}"), value: value.clone() });
            }
        }
        let mut set: Vec<&(u64, &str)> =
            wanted.set.get(&action.block).into_iter().flat_map(|s| s.values()).collect();
        set.sort_unstable();
        for (block, command) in set {
            if all.draws.len() == most {
                all.lacking += 1;
                continue;
            }
            let of_call = read.get(block).into_iter().flatten();
            let values = of_call.filter(|v| v.0 != "commandBuffer" && v.1 != "null");
            let value = values.map(|(p, v)| format!("{p} {v}")).collect::<Vec<_>>().join(", ");
            all.draws.push(Setting { of, what: command.trim_start_matches("vkCmd").to_owned(), value });
        }
    }
    all
}

/// A pipeline, or shader objects.
fn program(action: &Action) -> Vec<u64> {
    match &*action.shader_objects {
        [] => vec![action.pipeline],
        all => all.to_vec(),
    }
}

fn wanted(capture: &Capture, actions: &[Action]) -> Wanted {
    let draws: HashSet<u64> = actions.iter().map(|a| a.block).collect();
    let mut recording: HashMap<u64, Set> = HashMap::new();
    let mut wanted = Wanted::default();
    let last = draws.iter().max().copied();
    run::<()>(capture, |item| {
        if last.is_none_or(|last| item.block > last) {
            return Break(());
        }
        let What::Call(call) = &item.what else { return Continue(()) };
        let (name, v) = (call.command.canonical, View::call(&call.image));
        if draws.contains(&call.block) {
            let set = recording.get(&call.image.u64(0)).cloned();
            wanted.set.insert(call.block, set.unwrap_or_default());
        } else if SETS.iter().any(|s| name.starts_with(s)) && !OTHERS.iter().any(|o| name.starts_with(o)) {
            let part = (whatever_version(name), first_of(call, &v));
            let set = recording.entry(call.image.u64(0)).or_default();
            // (it sets all parts)
            if name.contains("WithCount") || v.u32("faceMask") == Some(FRONT_AND_BACK) {
                set.retain(|other, _| other.0 != part.0);
            }
            set.insert(part, (call.block, name));
        } else if ENDS.contains(&name) {
            recording.remove(&call.image.u64(0));
        } else if name == SHADER_OBJECTS || name.starts_with("vkCreate") && name.contains("Pipelines") {
            let infos = v.structs("pCreateInfos").map(Some).chain(std::iter::repeat(None));
            let made = v.u64s(if name == SHADER_OBJECTS { "pShaders" } else { "pPipelines" });
            for ((place, id), info) in made.into_iter().enumerate().zip(infos) {
                if id == 0 {
                    continue;
                }
                wanted.made.insert(id, (call.block, place));
                let info = info.and_then(|i| i.next(LIBRARIES).or_else(|| i.one("pLibraryInfo")));
                let libraries = info.map_or_else(Vec::new, |i| i.u64s("pLibraries"));
                if !libraries.is_empty() {
                    wanted.libraries.insert(id, libraries);
                }
            }
        }
        Continue(())
    });
    wanted
}

/// A command's name without what tells its versions apart: vkCmdSetViewportWithCount sets what vkCmdSetViewport does.
fn whatever_version(name: &'static str) -> &'static str {
    let vendors = ["KHR", "EXT", "NV"];
    let name = vendors.iter().find_map(|v| name.strip_suffix(v)).unwrap_or(name);
    let name = name.trim_end_matches(|c: char| c.is_ascii_digit());
    name.strip_suffix("WithCount").unwrap_or(name)
}

/// The first of those that a call sets, where it sets some of several.
fn first_of(call: &Call, v: &View<'_>) -> u32 {
    if call.command.canonical.starts_with("vkCmdPushConstants") {
        let info = v.one("pPushConstantsInfo");
        return info.map_or_else(|| v.u32("offset"), |i| i.u32("offset")).unwrap_or(0);
    }
    let counts = |name: &str| name.starts_with("first") || name == "faceMask";
    let of = call.command.params.iter().find(|m| counts(m.name));
    of.and_then(|m| v.u32(m.name)).unwrap_or(0)
}

/// Of a pipeline's create info: what is neither a shader (those are told elsewhere) nor the way it was made.
fn says(path: &str) -> bool {
    let made = [
        "sType",
        "layout",
        "basePipelineHandle",
        "basePipelineIndex",
        "codeType",
        "codeSize",
        "pCode",
        "pName",
    ];
    let code = ["module", "pName", "sType", "pCode", "flags", "codeSize", "pNext"];
    match path.strip_prefix("pStages[").or_else(|| path.strip_prefix("stage.")) {
        Some(_) => !code.iter().any(|c| path.ends_with(c)),
        None => !made.contains(&path) && !path.ends_with(".sType") && !path.ends_with("pNext"),
    }
}

/// A value in words; none where there is nothing to say.
fn words(leaf: Leaf) -> Option<String> {
    Some(match leaf {
        Leaf::Plain(text) if text == "nothing" => return None,
        Leaf::Plain(text) => text,
        Leaf::Object(id) => id.to_string(),
        Leaf::Address => "an address".to_owned(),
        Leaf::Bytes(bytes) => {
            let mut text: String = bytes.iter().take(BYTES).map(|b| format!("{b:02x}")).collect();
            if bytes.len() > BYTES {
                text.push_str(&format!("… ({} bytes)", bytes.len()));
            }
            text
        }
    })
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn versions_of_a_command_set_the_same() {
        for (name, base) in [
            ("vkCmdSetViewportWithCount", "vkCmdSetViewport"),
            ("vkCmdBindVertexBuffers2", "vkCmdBindVertexBuffers"),
            ("vkCmdBindIndexBuffer3KHR", "vkCmdBindIndexBuffer"),
            ("vkCmdSetDepthBias2EXT", "vkCmdSetDepthBias"),
            ("vkCmdSetLineWidth", "vkCmdSetLineWidth"),
        ] {
            assert_eq!(whatever_version(name), base);
        }
    }

    #[test]
    fn libraries_of_libraries_are_parts_once_each() {
        let mut of = Wanted::default();
        of.libraries.extend([(1, vec![2, 3]), (2, vec![4]), (3, vec![4, 1])]);
        let by = |pipeline, objects: &[u64]| Action {
            pipeline,
            shader_objects: objects.to_vec(),
            ..Action::default()
        };
        assert_eq!(of.parts(&by(1, &[])), [1, 2, 3, 4]);
        assert_eq!(of.parts(&by(9, &[])), [9]);
        assert_eq!(of.parts(&by(8, &[7, 8])), [7, 8], "shader objects are each a part");
    }
}
