//! Pipelines: the slots of their layouts, and the members of the blocks that their shaders declare.
//!
//! Guarantees: pipelines by id, each once; slots by set and binding, members by block and offset. Refuses set numbers, blocks and
//! members above what `limits.rs` says.

use crate::limits;
use std::sync::Arc;
use trace::names;
use trace::tables::{RESOURCE_MEMBERS, RESOURCE_PIPELINES, RESOURCE_SLOTS, RESOURCE_STAGES};
use trace::{Source, Unreadable};

/// What is asked of a binding's flags.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Flags {
    /// Descriptors may change after they are bound.
    pub update_after_bind: bool,
    /// Its count is said when a set is allocated.
    pub variable_count: bool,
    /// Its set is pushed.
    pub push: bool,
}

/// A binding of a pipeline's layout.
#[derive(Clone, Debug)]
pub struct Slot {
    /// The set.
    pub set: u32,
    /// The binding.
    pub binding: u32,
    /// The descriptor type.
    pub kind: Arc<str>,
    /// Descriptors of the layout; bytes of an inline uniform block.
    pub count: u64,
    /// See [`Flags`].
    pub flags: Flags,
    /// Stages whose shaders use it.
    pub used: Arc<str>,
    /// What they do with it.
    pub access: Arc<str>,
    /// The shader's name for it.
    pub name: Arc<str>,
    /// Of the block that is declared there.
    pub block_bytes: u64,
}

impl Slot {
    /// Whether it is an inline uniform block, whose count is bytes.
    pub fn inline(&self) -> bool {
        self.kind.starts_with("inline uniform")
    }

    /// Whether its offset is said when its set is bound.
    pub fn dynamic(&self) -> bool {
        self.kind.ends_with("dynamic")
    }

    /// How many descriptors it takes in a set.
    pub fn descriptors(&self) -> u64 {
        if self.inline() { 1 } else { self.count }
    }

    /// `0.3 albedo`
    pub fn words(&self) -> String {
        let blank = if self.name.is_empty() { "" } else { " " };
        format!("{}.{}{blank}{}", self.set, self.binding, self.name)
    }
}

/// A member of a uniform block or of push constants.
#[derive(Clone, Debug)]
pub struct Member {
    /// Whether of push constants.
    pub push: bool,
    /// The set.
    pub set: u32,
    /// The binding.
    pub binding: u32,
    /// Its path.
    pub name: Arc<str>,
    /// As GLSL writes it.
    pub kind: Arc<str>,
    /// From the beginning of the block.
    pub offset: u64,
    /// To behind its last byte.
    pub bytes: u64,
    /// Between elements; 0 where it is no array.
    pub array_stride: u64,
    /// Between columns or rows; 0 where it is no matrix.
    pub matrix_stride: u64,
    /// Whether between rows.
    pub row_major: bool,
    /// Stages whose shaders read it.
    pub used: Arc<str>,
}

/// What is bound to be run.
#[derive(Clone, Debug)]
pub struct Pipeline {
    /// The capture's id, or the number of a combination of shader objects.
    pub id: u64,
    /// The id that it is called by; 0 where an older trace does not say.
    pub called: u64,
    /// graphics, mesh, compute, ray tracing.
    pub kind: Arc<str>,
    /// The application's name for it.
    pub name: Arc<str>,
    /// The pipeline layout's id; 0 where there is none.
    pub layout: u64,
    /// Equal where set layouts and push constants are.
    pub compatible: Arc<str>,
    /// maxBoundDescriptorSets; 0 if not known.
    pub max_sets: u64,
    /// Of push constants in the layout.
    pub push_bytes: u64,
    /// maxPushConstantsSize; 0 if not known.
    pub max_push_bytes: u64,
    /// Whether it takes descriptors from descriptor buffers.
    pub descriptor_buffer: bool,
    /// Whether a module of it could not be reflected.
    pub unreadable: bool,
    /// By set and binding.
    pub slots: Vec<Slot>,
    /// By block and offset.
    pub members: Vec<Member>,
}

impl Pipeline {
    /// `pipeline 17 "sky"`
    pub fn words(&self) -> String {
        // (numbers from 2^48 on stand for combinations of shader objects; older traces do not say what those are called by)
        match (self.id >> 48, self.called) {
            (0, _) => names::object("pipeline", self.id, &self.name),
            (_, 0) => format!("shader objects {}", self.id & ((1 << 48) - 1)),
            (_, called) => names::object("shader object", called, &self.name),
        }
    }

    /// Which of its slots it is.
    pub fn slot(&self, set: u32, binding: u32) -> Option<usize> {
        self.slots.binary_search_by_key(&(set, binding), |s| (s.set, s.binding)).ok()
    }
}

/// Reads the tables of pipelines.
pub(super) fn pipelines(trace: &dyn Source) -> Result<Vec<Pipeline>, Unreadable> {
    let t = trace.read(&RESOURCE_PIPELINES)?;
    let mut all: Vec<Pipeline> = (0..t.len())
        .map(|r| Pipeline {
            id: t.u64("pipeline")[r],
            called: t.u64("called")[r],
            kind: t.text("kind")[r].clone(),
            name: t.text("name")[r].clone(),
            layout: t.u64("layout")[r],
            compatible: t.text("compatible")[r].clone(),
            max_sets: t.u64("max_sets")[r],
            push_bytes: t.u64("push_bytes")[r],
            max_push_bytes: t.u64("max_push_bytes")[r],
            descriptor_buffer: t.u64("descriptor_buffer")[r] != 0,
            unreadable: false,
            slots: vec![],
            members: vec![],
        })
        .collect();
    all.sort_by_key(|p| p.id);
    all.dedup_by_key(|p| p.id);
    let find = |id: u64| all.binary_search_by_key(&id, |p| p.id).ok();
    let t = trace.read(&RESOURCE_STAGES)?;
    let unreadable: Vec<usize> = (0..t.len())
        .filter(|&r| t.u64("unreadable")[r] != 0)
        .filter_map(|r| find(t.u64("pipeline")[r]))
        .collect();
    let t = trace.read(&RESOURCE_SLOTS)?;
    let slots: Vec<(usize, Slot)> =
        (0..t.len()).filter_map(|r| Some((find(t.u64("pipeline")[r])?, slot(&t, r)))).collect();
    let t = trace.read(&RESOURCE_MEMBERS)?;
    let members: Vec<(usize, Member)> =
        (0..t.len()).filter_map(|r| Some((find(t.u64("pipeline")[r])?, member(&t, r)))).collect();
    if let Some((p, s)) = slots.iter().find(|(_, s)| s.set >= limits::SETS) {
        let (pipeline, set, most) = (all[*p].id, s.set, limits::SETS);
        return Err(Unreadable(format!(
            "table resource_slots, pipeline {pipeline}: set {set}; there are {most} at most"
        )));
    }
    let mut bytes = 0u64;
    for (p, m) in &members {
        let wrong = |what: &str, most: u64| {
            let pipeline = all[*p].id;
            Unreadable(format!("table resource_members, pipeline {pipeline}: {what} {most} bytes"))
        };
        let end = m.offset.saturating_add(m.bytes);
        if end.max(m.array_stride).max(m.matrix_stride) > limits::BLOCK_BYTES {
            return Err(wrong("a member's offset, length or stride is above", limits::BLOCK_BYTES));
        }
        bytes += m.bytes;
        if bytes > limits::MEMBER_BYTES {
            return Err(wrong("members of all pipelines have more than", limits::MEMBER_BYTES));
        }
    }
    unreadable.into_iter().for_each(|p| all[p].unreadable = true);
    slots.into_iter().for_each(|(p, s)| all[p].slots.push(s));
    members.into_iter().for_each(|(p, m)| all[p].members.push(m));
    for p in &mut all {
        p.slots.sort_by_key(|s| (s.set, s.binding));
        p.slots.dedup_by_key(|s| (s.set, s.binding));
        p.members.sort_by_key(|m| (m.push, m.set, m.binding, m.offset));
    }
    Ok(all)
}

fn slot(t: &trace::Columns, r: usize) -> Slot {
    let flags = &t.text("flags")[r];
    let has = |flag: &str| flags.split_whitespace().any(|f| f == flag);
    Slot {
        set: t.u64("set")[r] as u32,
        binding: t.u64("binding")[r] as u32,
        kind: t.text("type")[r].clone(),
        count: t.u64("count")[r],
        flags: Flags {
            update_after_bind: has("update-after-bind"),
            variable_count: has("variable-count"),
            push: has("push"),
        },
        used: t.text("used")[r].clone(),
        access: t.text("access")[r].clone(),
        name: t.text("name")[r].clone(),
        block_bytes: t.u64("block_bytes")[r],
    }
}

fn member(t: &trace::Columns, r: usize) -> Member {
    Member {
        push: &*t.text("space")[r] == "push",
        set: t.u64("set")[r] as u32,
        binding: t.u64("binding")[r] as u32,
        name: t.text("name")[r].clone(),
        kind: t.text("type")[r].clone(),
        offset: t.u64("offset")[r],
        bytes: t.u64("bytes")[r],
        array_stride: t.u64("array_stride")[r],
        matrix_stride: t.u64("matrix_stride")[r],
        row_major: t.u64("row_major")[r] != 0,
        used: t.text("used")[r].clone(),
    }
}
