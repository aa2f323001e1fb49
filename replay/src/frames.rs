//! What ends a frame at replay: the user's rule over the stream of blocks.
//!
//! Labels in command buffers count where they are recorded, not where they execute. Refuses a label that never comes, and a
//! cycle where submissions repeat in none; another rule that never fires leaves the whole file one frame.

use crate::error::{Error, Kind, Result};
use crate::options::FrameBy;
use gfxr_parse::ahead::Call;
use gfxr_parse::container::{Capture, Place};
use gfxr_parse::cycle::{Cycle, submissions, submits};
use gfxr_parse::image::{Image, attrib};
use gfxr_parse::schema::{command_named, struct_named};
use gfxr_parse::{member, param};
use std::collections::BTreeSet;

/// Labels that are named where none is the one that was asked for.
const MOST_LABELS: usize = 12;

/// Whether a block begins or ends a frame.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Edge {
    /// A frame ends before this block.
    pub before: bool,
    /// A frame ends after this block.
    pub after: bool,
}

/// Counts frames by one rule.
#[derive(Debug)]
pub struct Framer {
    rule: FrameBy,
    number: u64,
    boundary_stype: u32,
    submissions: u64,
    seen_label: bool,
    /// Names of labels, some of those that there are.
    labels: BTreeSet<String>,
}

impl Framer {
    /// One for a rule that is not `Auto` any more (see [`resolve`]).
    pub fn new(rule: FrameBy) -> Self {
        let boundary = struct_named("VkFrameBoundaryEXT").expect("in the registry");
        let boundary_stype =
            gfxr_parse::schema::generated::STRUCTS[boundary as usize].stype.expect("it has one");
        let labels = BTreeSet::new();
        Framer { rule, number: 1, boundary_stype, submissions: 0, seen_label: false, labels }
    }

    /// The rule.
    pub fn rule(&self) -> &FrameBy {
        &self.rule
    }

    /// The frame that the next block belongs to.
    pub fn number(&self, place: Place) -> u64 {
        if place.state {
            return 0;
        }
        match self.rule {
            FrameBy::Auto | FrameBy::Present => place.frame,
            _ => self.number,
        }
    }

    /// The frame that ends with this block; [`Framer::edge`] has seen it already.
    pub fn ended(&self, place: Place) -> u64 {
        match self.rule {
            FrameBy::Auto | FrameBy::Present => place.frame,
            _ => self.number - 1,
        }
    }

    /// Looks at a block.
    pub fn edge(&mut self, place: Place, call: Option<&Call>) -> Edge {
        if place.state {
            return Edge::default();
        }
        let edge = match (&self.rule, call) {
            (FrameBy::Auto | FrameBy::Present, _) => return Edge { before: false, after: place.ends_frame },
            (FrameBy::Submit, Some(c)) => Edge { before: false, after: submits(c.command.name) },
            (FrameBy::Cycle(Some(cycle)), Some(c)) => {
                let submits = submits(c.command.name);
                self.submissions += u64::from(submits);
                Edge { before: false, after: submits && cycle.ends(self.submissions) }
            }
            (FrameBy::Boundary, Some(c)) => Edge { before: false, after: self.ends_at_boundary(c) },
            (FrameBy::Label(name), Some(c)) => {
                let label = label(c);
                let here = label.is_some_and(|l| l == name.as_bytes());
                if let Some(other) = label.filter(|_| !here && self.labels.len() < MOST_LABELS) {
                    self.labels.insert(String::from_utf8_lossy(other).into_owned());
                }
                // What comes before the first label is no frame of its own but the beginning of the first.
                let before = here && self.seen_label;
                self.seen_label |= here;
                Edge { before, after: false }
            }
            _ => Edge::default(),
        };
        self.number += u64::from(edge.before) + u64::from(edge.after);
        edge
    }

    /// What is wrong with a rule that never fired, if that is an error.
    pub fn never_fired(&self) -> Option<String> {
        let FrameBy::Label(name) = &self.rule else { return None };
        let others: Vec<&str> = self.labels.iter().map(String::as_str).collect();
        let there = match others[..] {
            [] => "it has no labels".to_owned(),
            _ => format!(
                "there are {}{}",
                others.join(", "),
                if others.len() < MOST_LABELS { "" } else { " …" }
            ),
        };
        let wrong = format!("--frame-by label:{name}: no label of the capture has that name; {there}");
        (!self.seen_label).then_some(wrong)
    }

    fn ends_at_boundary(&self, call: &Call) -> bool {
        const FRAME_END: u32 = 1;
        if !call.command.name.starts_with("vkQueue") {
            return false;
        }
        // Only a pNext link leads to a struct with this sType.
        call.image.ptrs.iter().any(|p| {
            p.has_data()
                && p.to != 0
                && p.attrib & attrib::STRUCT != 0
                && call.image.u32(p.to) == self.boundary_stype
                && call.image.u32(p.to + member!("VkFrameBoundaryEXT", "flags")) & FRAME_END != 0
        })
    }
}

/// The text of a debug label that a call begins or inserts.
pub fn label(call: &Call) -> Option<&[u8]> {
    match call.command.name {
        "vkQueueBeginDebugUtilsLabelEXT"
        | "vkQueueInsertDebugUtilsLabelEXT"
        | "vkCmdBeginDebugUtilsLabelEXT"
        | "vkCmdInsertDebugUtilsLabelEXT"
        | "vkCmdDebugMarkerBeginEXT"
        | "vkCmdDebugMarkerInsertEXT" => {}
        _ => return None,
    }
    // (a VkDebugMarkerMarkerInfoEXT has its name at the same place)
    let info = call.image.target(param!("vkCmdBeginDebugUtilsLabelEXT", "pLabelInfo"))?;
    text(&call.image, info + member!("VkDebugUtilsLabelEXT", "pLabelName"))
}

/// The string that the pointer in slot `at` leads to.
pub fn text(image: &Image, at: u32) -> Option<&[u8]> {
    let p = image.ptr(at).filter(|p| p.has_data())?;
    image.bytes().get(p.to as usize..p.to as usize + p.len as usize)
}

/// The last frame of a capture, where the rule ends frames at submits.
pub fn last_submit(rule: &FrameBy, capture: &Capture, uses_boundary: bool) -> Option<u64> {
    match resolve(rule, capture, uses_boundary) {
        Ok(FrameBy::Cycle(Some(cycle))) => Some(cycle.frames),
        Ok(FrameBy::Submit) => Some(submissions(capture).len() as u64).filter(|n| *n > 0),
        _ => None,
    }
}

/// What `Auto` means for a capture: presents or frame markers if it has any; else VK_EXT_frame_boundary if its device
/// has that on; else submits; else the whole file. A cycle is looked for.
pub fn resolve(rule: &FrameBy, capture: &Capture, uses_boundary: bool) -> Result<FrameBy> {
    match rule {
        FrameBy::Auto => {}
        FrameBy::Cycle(None) => {
            let none = "--frame-by cycle: submissions repeat in no cycle of several; --frame-by submit makes a frame of each";
            let cycle = Cycle::of(capture).ok_or_else(|| Error::new(Kind::Capture, none))?;
            return Ok(FrameBy::Cycle(Some(cycle)));
        }
        other => return Ok(other.clone()),
    }
    let id = |n: &str| command_named(n).map(|c| c.id);
    let presents = [id("vkQueuePresentKHR"), id("vkFrameBoundaryANDROID")];
    let submits = [id("vkQueueSubmit"), id("vkQueueSubmit2"), id("vkQueueSubmit2KHR")];
    let mut submitted = false;
    for block in capture.blocks() {
        if block.base_type() == gfxr_parse::container::block::block_type::FRAME_MARKER {
            return Ok(FrameBy::Present);
        }
        let call = block.call_id();
        if call.is_some() && presents.contains(&call) {
            return Ok(FrameBy::Present);
        }
        submitted |= call.is_some() && submits.contains(&call);
    }
    Ok(match (uses_boundary, submitted) {
        (true, _) => FrameBy::Boundary,
        (false, true) => FrameBy::Submit,
        (false, false) => FrameBy::File,
    })
}
