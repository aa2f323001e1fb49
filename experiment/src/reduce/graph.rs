//! What stands in a capture, as far as leaving parts of it out has to know: which blocks use what others make, and what belongs together.
//!
//! A block uses an object if its call names it, or its data are the object's contents; the object is the one that was made last under that id.
//! A draw, dispatch or trace uses the constants that were pushed before it in its command buffer: without them its shaders may never end.
//! Guarantees: what is left out leaves no block behind that names what it made. Refuses captures of several files, and blocks that cannot be read.

use gfxr_parse::ahead::{Call, What, read};
use gfxr_parse::container::{Capture, FrameCounter, FrameRule, Scratch};
use gfxr_parse::meta::{Meta, id};
use gfxr_parse::view::View;
use std::collections::{BTreeMap, HashMap, HashSet};
use std::ops::Range;

/// See the module's header.
#[derive(Debug, Default)]
pub struct Graph {
    /// By block: those that use what it makes.
    users: Vec<Vec<u32>>,
    /// What belongs together, from large to small.
    pub levels: Vec<Level>,
}

/// Things of one size.
#[derive(Debug)]
pub struct Level {
    /// What they are, for people.
    pub name: &'static str,
    /// Their blocks.
    pub groups: Vec<Vec<u32>>,
}

/// Commands that begin what others end, in one command buffer.
const PAIRS: [(&str, &str); 3] = [
    ("vkCmdBeginDebugUtilsLabelEXT", "vkCmdEndDebugUtilsLabelEXT"),
    ("vkCmdBeginQuery", "vkCmdEndQuery"),
    ("vkCmdBeginConditionalRenderingEXT", "vkCmdEndConditionalRenderingEXT"),
];

/// Beginnings of the names of calls that have the device work, or wait for it. Many faults are there before it does; what is left then is quick, and waits for nothing.
const RUNS: [&str; 9] = [
    "vkQueue",
    "vkWaitFor",
    "vkWaitSemaphores",
    "vkSignalSemaphore",
    "vkAcquireNextImage",
    "vkDeviceWaitIdle",
    "vkGetFenceStatus",
    "vkResetFences",
    "vkGetQueryPoolResults",
];

/// What is being read.
#[derive(Default)]
struct Reading {
    of: Graph,
    /// By object: the block that made it last.
    made: HashMap<u64, u32>,
    runs: Vec<u32>,
    frames: BTreeMap<u64, Vec<u32>>,
    recordings: Vec<Vec<u32>>,
    passes: Vec<Vec<u32>>,
    pairs: Vec<Vec<u32>>,
    /// Pushes of constants.
    pushes: HashSet<u32>,
    /// By command buffer.
    open: HashMap<u64, Open>,
}

/// What is being recorded.
#[derive(Default)]
struct Open {
    /// The numbers of the recording and of its render pass.
    recording: usize,
    pass: Option<usize>,
    /// By what is to end it, what has begun.
    begun: Vec<(&'static str, u32)>,
    /// Pushes of constants that no later one is in place of.
    pushed: Vec<Push>,
}

/// Constants that are pushed: for which stages (VkShaderStageFlags), which bytes, and by which block.
struct Push {
    stages: u32,
    bytes: Range<u32>,
    at: u32,
}

/// Beginnings of the names of commands that run shaders, and of which stages (VkShaderStageFlags).
const ACTIONS: [(&str, u32); 5] = [
    ("vkCmdDraw", !(COMPUTE | RAYS)),
    ("vkCmdDispatch", COMPUTE),
    ("vkCmdTraceRays", RAYS),
    ("vkCmdExecuteGeneratedCommands", !0),
    ("vkCmdSubpassShading", !0),
];
const COMPUTE: u32 = 0x20;
const RAYS: u32 = 0x3f00;

impl Graph {
    /// Of a capture.
    pub fn of(capture: &Capture) -> Result<Graph, String> {
        let (mut scratch, mut frames) = (Scratch::new(), FrameCounter::with_rule(FrameRule::detect(capture)));
        let mut r = Reading::default();
        let mut blocks = capture.blocks_of_main_file();
        for block in &mut blocks {
            if block.meta_type() == Some(id::EXECUTE_BLOCKS) {
                return Err("a capture of several files; `compress` makes one of them".into());
            }
            let place = frames.feed(&block);
            let at = r.of.users.len() as u32;
            r.of.users.push(vec![]);
            let what = read(&block, place, None, &mut scratch).map_err(|e| e.to_string())?;
            r.frames.entry(place.frame).or_default().push(at);
            match what {
                What::Call(call) => r.call(&call, at),
                What::Meta(meta, _) => {
                    let of = match &meta.meta {
                        Meta::FillMemory(m) => Some(m.memory),
                        Meta::InitBuffer(m) => Some(m.buffer),
                        Meta::InitImage(m) => Some(m.image),
                        _ => None,
                    };
                    of.into_iter().for_each(|id| r.uses(id, at));
                }
                _ => {}
            }
        }
        if let Some(e) = blocks.truncated() {
            return Err(e.to_string());
        }
        Ok(r.finish())
    }

    /// How many blocks there are.
    pub fn blocks(&self) -> usize {
        self.users.len()
    }

    /// What is gone where nothing is submitted or waited for: the first level.
    pub fn idle(&self) -> Vec<bool> {
        let mut gone = vec![false; self.users.len()];
        let all = self.levels.first().into_iter().flat_map(|l| l.groups.iter().flatten().copied());
        self.with_users(all).into_iter().for_each(|b| gone[b as usize] = true);
        gone
    }

    /// These blocks, and all that cannot stay without them.
    pub fn with_users(&self, blocks: impl IntoIterator<Item = u32>) -> Vec<u32> {
        let mut all: Vec<u32> = blocks.into_iter().collect();
        let mut known = vec![false; self.users.len()];
        all.retain(|b| !std::mem::replace(&mut known[*b as usize], true));
        let mut next = 0;
        while next < all.len() {
            for &user in &self.users[all[next] as usize] {
                if !std::mem::replace(&mut known[user as usize], true) {
                    all.push(user);
                }
            }
            next += 1;
        }
        all
    }
}

impl Reading {
    fn uses(&mut self, id: u64, at: u32) {
        if let Some(maker) = self.made.get(&id).filter(|maker| **maker != at) {
            let users = &mut self.of.users[*maker as usize];
            if users.last() != Some(&at) {
                users.push(at);
            }
        }
    }

    fn call(&mut self, call: &Call, at: u32) {
        let id = |at: u32| call.image.u64(at);
        call.image.handles.iter().filter(|h| !h.out).for_each(|h| self.uses(id(h.at), at));
        for h in call.image.handles.iter().filter(|h| h.out) {
            // (what is asked for again, as a queue is, was made before)
            self.made.entry(id(h.at)).or_insert(at);
        }
        let name = call.command.canonical;
        if RUNS.iter().any(|r| name.starts_with(r)) {
            self.runs.push(at);
        }
        if name.starts_with("vkDestroy") || name.starts_with("vkFree") {
            // (its id may come again)
            // (of what is given back to a pool, the pool stays)
            let owners = if ["vkFreeCommandBuffers", "vkFreeDescriptorSets"].contains(&name) { 2 } else { 1 };
            for gone in call.image.handles.iter().skip(owners) {
                self.made.remove(&id(gone.at));
            }
        }
        if !name.starts_with("vkCmd") && !["vkBeginCommandBuffer", "vkEndCommandBuffer"].contains(&name) {
            return;
        }
        let buffer = id(0);
        if name == "vkBeginCommandBuffer" {
            self.recordings.push(vec![]);
            self.open.insert(buffer, Open { recording: self.recordings.len() - 1, ..Open::default() });
        }
        let Some(open) = self.open.get_mut(&buffer) else { return };
        self.recordings[open.recording].push(at);
        if name.starts_with("vkCmdBeginRender") {
            self.passes.push(vec![]);
            open.pass = Some(self.passes.len() - 1);
        }
        if let Some(pass) = open.pass {
            self.passes[pass].push(at);
        }
        if name.starts_with("vkCmdEndRender") {
            open.pass = None;
        }
        if name.starts_with("vkCmdPushConstants") {
            let v = View::call(&call.image);
            let v = v.one("pPushConstantsInfo").unwrap_or(v);
            let of = |name| v.u32(name).unwrap_or(0);
            let (stages, first) = (of("stageFlags"), of("offset"));
            let bytes = first..first.saturating_add(of("size"));
            let within = |p: &Push| {
                p.stages & !stages == 0 && bytes.start <= p.bytes.start && p.bytes.end <= bytes.end
            };
            open.pushed.retain(|p| !within(p));
            open.pushed.push(Push { stages, bytes, at });
            self.pushes.insert(at);
        }
        if let Some((_, stages)) = ACTIONS.iter().find(|a| name.starts_with(a.0)) {
            for push in open.pushed.iter().filter(|p| p.stages & stages != 0) {
                self.of.users[push.at as usize].push(at);
            }
        }
        if let Some(pair) = PAIRS.iter().find(|p| p.0 == name) {
            open.begun.push((pair.1, at));
        } else if let Some(first) = open.begun.iter().rposition(|b| b.0 == name) {
            let (_, first) = open.begun.remove(first);
            self.pairs.push(vec![first, at]);
        }
    }

    fn finish(mut self) -> Graph {
        let one = |blocks: Vec<u32>| blocks.into_iter().map(|b| vec![b]).collect();
        let all = 0..self.of.users.len() as u32;
        let makes = |b: &u32| !self.of.users[*b as usize].is_empty() && !self.pushes.contains(b);
        let makers = all.clone().filter(makes).collect();
        self.of.levels = vec![
            Level { name: "submissions and waits, at once", groups: vec![self.runs] },
            Level { name: "frames", groups: self.frames.into_values().collect() },
            Level { name: "command buffers", groups: self.recordings },
            Level { name: "render passes", groups: self.passes },
            Level { name: "objects", groups: one(makers) },
            Level { name: "labels and queries", groups: self.pairs },
            Level { name: "blocks", groups: one(all.collect()) },
        ];
        self.of
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use gfxr_parse::schema::command_named;
    use std::path::Path;

    #[test]
    fn without_its_constants_no_shader_runs() {
        let file = Path::new(env!("CARGO_MANIFEST_DIR")).join("../captures/samples/closed_compute.gfxr");
        let capture = Capture::new(std::fs::read(file).expect("a sample")).expect("a capture");
        let graph = Graph::of(&capture).expect("it is read");
        let of = |command: &str| command_named(command).map(|c| c.id);
        let places = |command: &str| -> Vec<u32> {
            let all = (0..).zip(capture.blocks());
            all.filter(|(_, b)| b.call_id().is_some() && b.call_id() == of(command)).map(|(n, _)| n).collect()
        };
        let (pushes, dispatches) = (places("vkCmdPushConstants"), places("vkCmdDispatch"));
        let first = *pushes.first().expect("constants are pushed");
        let gone = graph.with_users([first]);
        let next = *dispatches.iter().find(|d| **d > first).expect("a dispatch behind it");
        assert!(gone.contains(&next), "{gone:?}");
        assert!(gone.iter().all(|b| *b >= first));
        // The next push takes its place.
        let second = *pushes.iter().find(|p| **p > next).expect("another");
        let later = *dispatches.iter().find(|d| **d > second).expect("a dispatch behind that");
        assert!(!gone.contains(&later), "{gone:?}");
        assert!(
            graph.levels.iter().filter(|l| l.name == "objects").all(|l| !l.groups.contains(&vec![first]))
        );
    }

    #[test]
    fn what_goes_takes_its_users_and_nothing_that_is_left_names_what_is_gone() {
        let file = Path::new(env!("CARGO_MANIFEST_DIR")).join("../captures/samples/cubes.gfxr");
        let capture = Capture::new(std::fs::read(file).expect("a sample")).expect("a capture");
        let graph = Graph::of(&capture).expect("it is read");
        let names: Vec<Option<u32>> = capture.blocks().map(|b| b.call_id()).collect();
        let name = |b: u32| names[b as usize];
        let of = |command: &str| command_named(command).map(|c| c.id);
        let all: Vec<u32> = (0..graph.blocks() as u32).collect();
        let makes = all.iter().copied().find(|b| name(*b) == of("vkCreateInstance")).expect("an instance");
        // Of an instance everything lives that is not said of the file.
        let gone = graph.with_users([makes]);
        let left: Vec<u32> =
            all.iter().copied().filter(|b| name(*b).is_some() && !gone.contains(b)).collect();
        assert_eq!(left, [0; 0]);
        // Of a pipeline its binds live, and its end; not the draws.
        let pipeline =
            all.iter().copied().find(|b| name(*b) == of("vkCreateGraphicsPipelines")).expect("one");
        let gone = graph.with_users([pipeline]);
        let allowed = [
            "vkCreateGraphicsPipelines",
            "vkCmdBindPipeline",
            "vkDestroyPipeline",
            "vkSetDebugUtilsObjectNameEXT",
        ]
        .map(of);
        assert!(gone.len() > 30 && gone.iter().all(|b| allowed.contains(&name(*b))), "{}", gone.len());
        // Render passes begin and end within the recording of a command buffer.
        let level = |name: &str| graph.levels.iter().find(|l| l.name == name).expect("a level");
        let (recordings, passes) = (&level("command buffers").groups, &level("render passes").groups);
        assert_eq!(
            passes.len(),
            32,
            "the cubes are recorded twice, what is in front of them in each of 30 frames"
        );
        assert!(passes.iter().all(|p| recordings.iter().any(|r| p.iter().all(|b| r.contains(b)))));
    }
}
