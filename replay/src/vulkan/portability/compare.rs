//! A comparison of what a capture asks for with a device, under way.

use super::line::{Done, Line};
use crate::options::Options;
use crate::preflight::asked::Asked;
use crate::preflight::stand_ins::Uses;
use crate::vulkan::gpu::Gpu;
use gfxr_parse::schema::StructId;
use std::collections::{BTreeMap, HashSet};

/// A comparison under way.
pub(super) struct Compare<'c> {
    pub(super) query: ash::khr::get_physical_device_properties2::Instance,
    pub(super) instance: &'c ash::Instance,
    pub(super) gpu: &'c Gpu,
    pub(super) asked: &'c Asked,
    pub(super) options: &'c Options,
    /// Structs of features as the device fills them in.
    pub(super) features: BTreeMap<StructId, Vec<u64>>,
    pub(super) lines: Vec<Line>,
    /// What is done with images of formats that something can stand in for, where one is missing.
    pub(super) uses: Uses,
    /// Images that are only asked about and cannot be made here.
    pub(super) unmade: HashSet<u64>,
}

impl Compare<'_> {
    pub(super) fn push(&mut self, line: Line) {
        if !self.lines.contains(&line) {
            self.lines.push(line);
        }
    }

    /// What cannot be left out.
    pub(super) fn must(&self, has: bool) -> Done {
        match has {
            true => Done::Kept,
            false if self.options.keep_going => Done::Removed,
            false => Done::Refused,
        }
    }
}
