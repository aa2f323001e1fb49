//! Which frame a block belongs to.
//!
//! Frames are numbered as in the application, from 1. Where one ends is said in one of three ways:
//!
//! | rule | who writes it | a frame ends at |
//! |---|---|---|
//! | [`FrameRule::Markers`] | file version 0.1, or an `operation` annotation of 1.0.1 or newer | its end marker |
//! | [`FrameRule::Presents`] | everybody before | vkQueuePresentKHR, vkFrameBoundaryANDROID |
//! | markers, unannounced | some builds of 2023 | its end marker, once the first one has been seen |
//!
//! In a trimmed capture the blocks between the state markers make up the objects that frame needs; the first captured
//! frame's number is on the markers.
//!
//! Guarantees: the block that ends a frame belongs to it; a malformed marker changes nothing. Refuses nothing.

use crate::container::block::{Block, BlockKind, MarkerKind};
use crate::container::framing::block_type;
use crate::container::{Capture, FileHeader, Marker};

/// ApiCallId of vkQueuePresentKHR.
pub const CALL_QUEUE_PRESENT: u32 = 0x1_10AE;
/// ApiCallId of vkFrameBoundaryANDROID.
pub const CALL_FRAME_BOUNDARY_ANDROID: u32 = 0x1_12DC;
/// Presents after which [`FrameRule::detect`] stops looking for an unannounced marker.
const DETECT_PRESENTS: u32 = 64;

/// What ends a frame.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum FrameRule {
    /// vkQueuePresentKHR or vkFrameBoundaryANDROID.
    Presents,
    /// A frame marker block.
    Markers,
}

impl FrameRule {
    /// Looks ahead for what a [`FrameCounter`] would otherwise notice only at the first marker: so a frame that presents
    /// more than once is counted right from the start in files whose header does not announce markers.
    pub fn detect(capture: &Capture) -> FrameRule {
        let mut presents = 0;
        if capture.header().explicit_frames() {
            return FrameRule::Markers;
        }
        for block in capture.blocks() {
            if is_present(&block) {
                presents += 1;
                if presents == DETECT_PRESENTS {
                    break;
                }
            } else if announces_markers(&block) || frame_end(&block).is_some() {
                return FrameRule::Markers;
            }
        }
        FrameRule::Presents
    }
}

/// Where a block is in time.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Place {
    /// The frame's number, from 1.
    pub frame: u64,
    /// In the snapshot at the head of a trimmed capture, markers included.
    pub state: bool,
    /// The frame ends with this block.
    pub ends_frame: bool,
}

/// Fed every block in order, says where each is.
#[derive(Clone, Debug)]
pub struct FrameCounter {
    frame: u64,
    state: bool,
    rule: FrameRule,
}

impl FrameCounter {
    /// One that starts with what the header announces and switches to markers when it sees reason to.
    pub fn new(header: &FileHeader) -> Self {
        Self::with_rule(if header.explicit_frames() { FrameRule::Markers } else { FrameRule::Presents })
    }
    /// One that starts with a rule known before, from [`FrameRule::detect`].
    pub fn with_rule(rule: FrameRule) -> Self {
        FrameCounter { frame: 1, state: false, rule }
    }
    /// The rule in force.
    pub fn rule(&self) -> FrameRule {
        self.rule
    }
    /// The frame that the next block will belong to, unless that block says otherwise.
    pub fn frame(&self) -> u64 {
        self.frame
    }
    /// Places the next block.
    #[inline]
    pub fn feed(&mut self, block: &Block) -> Place {
        let presents = self.rule == FrameRule::Presents;
        match block.base_type() {
            block_type::FUNCTION_CALL if presents && is_present(block) => return self.end_frame(),
            block_type::FRAME_MARKER => {
                if let Some(frame) = frame_end(block) {
                    return self.marked_end(frame);
                }
            }
            block_type::STATE_MARKER => {
                if let Ok(BlockKind::StateMarker(marker)) = block.kind() {
                    return self.state_marker(marker);
                }
            }
            block_type::ANNOTATION if presents && announces_markers(block) => {
                self.rule = FrameRule::Markers;
            }
            _ => {}
        }
        self.here(false)
    }

    fn here(&self, ends_frame: bool) -> Place {
        Place { frame: self.frame, state: self.state, ends_frame }
    }

    fn end_frame(&mut self) -> Place {
        let place = self.here(true);
        self.frame = self.frame.saturating_add(1);
        place
    }

    /// The marker's number is the application's own; a file somebody cut frames out of stays right.
    fn marked_end(&mut self, frame: u64) -> Place {
        // In a file that did not announce its markers the frame's present may just have ended this very frame.
        let twice = self.rule == FrameRule::Presents && frame.checked_add(1) == Some(self.frame);
        self.rule = FrameRule::Markers;
        self.frame = frame;
        let place = self.end_frame();
        Place { ends_frame: !twice, ..place }
    }

    fn state_marker(&mut self, marker: Marker) -> Place {
        match marker.kind {
            MarkerKind::Begin => {
                self.frame = marker.frame;
                self.state = true;
                self.here(false)
            }
            MarkerKind::End => {
                self.frame = marker.frame;
                self.state = false;
                Place { state: true, ..self.here(false) }
            }
            MarkerKind::Other(_) => self.here(false),
        }
    }
}

#[inline]
fn is_present(block: &Block) -> bool {
    matches!(block.call_id(), Some(CALL_QUEUE_PRESENT | CALL_FRAME_BOUNDARY_ANDROID))
}

fn announces_markers(block: &Block) -> bool {
    if block.base_type() != block_type::ANNOTATION {
        return false;
    }
    let Ok(BlockKind::Annotation(annotation)) = block.kind() else { return false };
    annotation.operation().is_some_and(|o| o.explicit_frames())
}

/// The number on a frame's end marker.
fn frame_end(block: &Block) -> Option<u64> {
    if block.base_type() != block_type::FRAME_MARKER {
        return None;
    }
    match block.kind() {
        Ok(BlockKind::FrameMarker(Marker { kind: MarkerKind::End, frame })) => Some(frame),
        _ => None,
    }
}
