//! What the device is given, as sequences of elements: calls of a frame, commands of a recording.
//!
//! An element has a hash of what it does, in which objects are called by the numbers that both captures have in common, and a weaker
//! key: its command and the labels around it. Guarantees: the commands of executed secondary command buffers follow the command that
//! executes them. Refuses nothing; secondaries within each other are followed to [`DEEPEST`].

use super::keys::{is_answer, is_means, mix, of_text};
use super::rows::{Call, Rows};
use std::collections::HashMap;
use std::rc::Rc;

/// Secondary command buffers within each other, at most.
const DEEPEST: usize = 8;
/// Commands of a recording with all that it executes, at most: a damaged capture may execute the same ones over and over.
const LONGEST: usize = 1 << 22;

/// A call as part of a sequence.
#[derive(Clone, Debug)]
pub struct Element {
    /// Which of [`Rows::calls`].
    pub call: u32,
    /// What it does.
    pub hash: u64,
    /// Its command and where it is.
    pub place: u64,
    /// Its command.
    pub kind: u64,
    /// The labels around it, with / between; else the pass.
    pub path: Rc<str>,
    /// Its place among the commands of its name and path, from 1.
    pub nth: u32,
}

/// Makes sequences; what was made once is kept.
pub struct Programs<'r> {
    rows: &'r Rows,
    ids: &'r [u64],
    names: Vec<u64>,
    means: Vec<bool>,
    recordings: HashMap<u64, Rc<Vec<Element>>>,
    hashes: HashMap<u64, u64>,
}

/// What a call is to a difference.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Role {
    /// The program's wish.
    Wish,
    /// What a driver answers, or what follows from that: where memory lies.
    Answer,
    /// Names, and what ends lives.
    Nothing,
}

/// What a command is to a difference.
pub fn role(name: &str) -> Role {
    let begins = |of: &[&str]| of.iter().any(|p| name.starts_with(p));
    let memory = [
        "vkAllocateMemory",
        "vkBindBufferMemory",
        "vkBindImageMemory",
        "vkBindAccelerationStructureMemory",
        "vkBindVideoSessionMemory",
        "vkBindTensorMemory",
        "vkMapMemory",
        "vkUnmapMemory",
        "vkFlush",
        "vkInvalidate",
    ];
    if is_answer(name) || begins(&memory) {
        Role::Answer
    } else if begins(&[
        "vkDestroy",
        "vkFree",
        "vkResetCommand",
        "vkResetDescriptorPool",
        "vkTrim",
        "vkBeginCommandBuffer",
        "vkEndCommandBuffer",
        "vkSetDebugUtilsObject",
        "vkDebugMarkerSetObject",
        "vkSubmitDebugUtilsMessage",
        "vkSetPrivateData",
        "vkMergePipelineCaches",
        "vkMergeValidationCaches",
    ]) {
        Role::Nothing
    } else {
        Role::Wish
    }
}

impl<'r> Programs<'r> {
    /// Of a capture, whose objects have these numbers.
    pub fn new(rows: &'r Rows, ids: &'r [u64]) -> Self {
        Programs {
            rows,
            ids,
            names: rows.names.iter().map(|n| of_text(n)).collect(),
            means: rows.objects.iter().map(|o| is_means(&o.ty)).collect(),
            recordings: HashMap::new(),
            hashes: HashMap::new(),
        }
    }

    /// What a call does.
    pub fn hash(&self, call: &Call) -> u64 {
        let given = self.rows.given(call).filter(|o| !self.means[*o as usize]);
        let name = self.rows.name(call);
        // (which image of a swapchain comes next is for the driver to say)
        let contents = if name == "vkQueuePresentKHR" { 0 } else { call.given };
        given.map(|o| self.ids[o as usize]).fold(mix(self.names[call.name as usize], contents), mix)
    }

    /// The calls of a frame that record and make nothing, by command; what each is about is its place.
    pub fn calls(&self, frame: u64) -> HashMap<u32, Vec<Element>> {
        let mut all: HashMap<u32, Vec<Element>> = HashMap::new();
        let Some(frame) = self.rows.frames.get(&frame) else { return all };
        let path: Rc<str> = "".into();
        for &i in &frame.calls {
            let call = &self.rows.calls[i as usize];
            if call.creates || role(self.rows.name(call)) != Role::Wish || self.failed(call) {
                continue;
            }
            let of = all.entry(call.name).or_default();
            let kind = self.names[call.name as usize];
            let nth = of.len() as u32 + 1;
            let about = self.rows.about(call).map_or(0, |o| self.ids[o as usize]);
            of.push(Element {
                call: i,
                hash: self.hash(call),
                place: mix(kind, about),
                kind,
                path: Rc::clone(&path),
                nth,
            });
        }
        all
    }

    /// A call that was to make something, and made nothing.
    fn failed(&self, call: &Call) -> bool {
        self.rows.name(call).starts_with("vkCreate")
    }

    /// What a recording holds.
    pub fn recording(&mut self, number: u64) -> Rc<Vec<Element>> {
        if let Some(there) = self.recordings.get(&number) {
            return Rc::clone(there);
        }
        let mut flat = Flat::default();
        self.flatten(number, 0, &mut flat);
        let all = Rc::new(flat.elements);
        self.recordings.insert(number, Rc::clone(&all));
        all
    }

    /// A hash of all that a recording does.
    pub fn recording_hash(&mut self, number: u64) -> u64 {
        if let Some(hash) = self.hashes.get(&number) {
            return *hash;
        }
        let hash = self.recording(number).iter().fold(7, |h, e| mix(h, e.hash));
        _ = self.hashes.insert(number, hash);
        hash
    }

    fn flatten(&self, number: u64, depth: usize, flat: &mut Flat) {
        let rows = self.rows;
        for &i in rows.recordings.get(&number).map_or(&[][..], Vec::as_slice) {
            let call = &rows.calls[i as usize];
            let name = rows.name(call);
            let label = rows.labels.get(&call.block);
            let ends_label = label.is_none() && name.contains("End") && name.contains("Label");
            if ends_label {
                _ = flat.labels.pop();
            }
            if name.starts_with("vkCmdEndRender") {
                flat.pass = None;
            }
            let path = flat.path();
            let kind = self.names[call.name as usize];
            let place = mix(kind, of_text(&path));
            let nth = flat.counts.entry(place).or_default();
            *nth += 1;
            let nth = *nth;
            flat.elements.push(Element { call: i, hash: self.hash(call), place, kind, path, nth });
            if let Some(text) = label.filter(|_| name.contains("Begin")) {
                flat.labels.push(text.clone());
                flat.now = None;
            }
            if ends_label {
                flat.now = None;
            }
            if name.starts_with("vkCmdBeginRender") {
                flat.passes += 1;
                let named = rows.given(call).map(|o| &rows.objects[o as usize]);
                let mut named = named.filter(|o| matches!(o.ty.as_str(), "VkRenderPass" | "VkFramebuffer"));
                let name = named.find_map(|o| o.name.clone());
                flat.pass = Some(name.unwrap_or_else(|| format!("pass {}", flat.passes)));
                flat.now = None;
            }
            if name == "vkCmdExecuteCommands" && depth < DEEPEST && flat.elements.len() < LONGEST {
                for buffer in rows.given(call) {
                    if flat.elements.len() >= LONGEST {
                        break;
                    }
                    let o = &rows.objects[buffer as usize];
                    // (the first is the one that executes)
                    let held = rows.held.get(&o.handle).map_or(&[][..], Vec::as_slice);
                    let behind = held.partition_point(|h| h.0 < call.block);
                    let last = behind.checked_sub(1).map(|n| held[n].1);
                    if let Some(inner) = last.filter(|r| *r != number) {
                        self.flatten(inner, depth + 1, flat);
                    }
                }
            }
        }
    }
}

#[derive(Default)]
struct Flat {
    elements: Vec<Element>,
    labels: Vec<String>,
    pass: Option<String>,
    passes: u32,
    now: Option<Rc<str>>,
    counts: HashMap<u64, u32>,
}

impl Flat {
    fn path(&mut self) -> Rc<str> {
        if let Some(now) = &self.now {
            return Rc::clone(now);
        }
        let text = match (self.labels.is_empty(), &self.pass) {
            (true, Some(pass)) => pass.clone(),
            _ => self.labels.join("/"),
        };
        let now: Rc<str> = text.into();
        self.now = Some(Rc::clone(&now));
        now
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn what_a_driver_says_is_no_wish() {
        for (name, is) in [
            ("vkGetBufferMemoryRequirements", Role::Answer),
            ("vkAcquireNextImageKHR", Role::Answer),
            ("vkBindImageMemory2", Role::Answer),
            ("vkQueueBindSparse", Role::Wish),
            ("vkUpdateDescriptorSets", Role::Wish),
            ("vkSetDebugUtilsObjectNameEXT", Role::Nothing),
            ("vkDestroyBuffer", Role::Nothing),
        ] {
            assert_eq!(role(name), is, "{name}");
        }
    }
}
