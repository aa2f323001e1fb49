//! Descriptors: sets are bound where a layout has them, bindings and elements that are written exist, and are of that type.
//!
//! Guarantees: no descriptor outside of its set is written or copied, and no dynamic offset is missing. Refuses the others.

use super::check::{Check, Cx, at_most, each, n32, n64, within};
use super::memory;
use gfxr_parse::error::{Error, Result};
use gfxr_parse::view::View;
use std::rc::Rc;
use world::layouts::{SetLayout, ty};
use world::objects::Set;

/// By canonical name.
pub(super) const CHECKS: &[(&str, Check)] = &[
    ("vkAllocateDescriptorSets", |c, v| {
        let Some(info) = v.one("pAllocateInfo") else { return Ok(()) };
        variable_counts(c, info).map_err(|e| e.within("pAllocateInfo"))
    }),
    ("vkCmdBindDescriptorSets", bind),
    ("vkCmdBindDescriptorSets2", |c, v| {
        let Some(info) = v.one("pBindDescriptorSetsInfo") else { return Ok(()) };
        bind(c, info).map_err(|e| e.within("pBindDescriptorSetsInfo"))
    }),
    ("vkCmdPushConstants", |c, v| push_constants(c, v)),
    ("vkCmdPushDescriptorSet", push),
    ("vkCreateDescriptorSetLayout", |c, v| {
        let Some(info) = v.one("pCreateInfo") else { return Ok(()) };
        create_layout(c, info).map_err(|e| e.within("pCreateInfo"))
    }),
    ("vkCreatePipelineLayout", |c, v| {
        let Some(info) = v.one("pCreateInfo") else { return Ok(()) };
        pipeline_layout(c, info).map_err(|e| e.within("pCreateInfo"))
    }),
    ("vkUpdateDescriptorSets", update),
];

/// Types of descriptors that pBufferInfo describes.
const BUFFERS: std::ops::RangeInclusive<u32> = ty::UNIFORM_BUFFER..=ty::STORAGE_BUFFER_DYNAMIC;
/// Binding numbers beyond this are no program's: drivers make room for every number below the largest.
const MOST_BINDING: u32 = 1 << 20;
/// Descriptors of a binding beyond this are no device's (maxPerSetDescriptors is at most some millions).
const MOST_DESCRIPTORS: u32 = 1 << 24;

fn create_layout(_: &Cx<'_>, v: View<'_>) -> Result<()> {
    each(v, "pBindings", |b| {
        at_most(n32(b, "binding").into(), MOST_BINDING.into(), "bindings of a set")
            .map_err(|e| e.within("binding"))?;
        at_most(n32(b, "descriptorCount").into(), MOST_DESCRIPTORS.into(), "descriptors of a set")
            .map_err(|e| e.within("descriptorCount"))
    })
}

fn pipeline_layout(c: &Cx<'_>, v: View<'_>) -> Result<()> {
    let Some(limits) = c.limits else { return Ok(()) };
    at_most(
        n32(v, "setLayoutCount").into(),
        limits.max_bound_descriptor_sets.into(),
        "maxBoundDescriptorSets",
    )
    .map_err(|e| e.within("setLayoutCount"))?;
    each(v, "pPushConstantRanges", |r| {
        within(
            n32(r, "offset").into(),
            n32(r, "size").into(),
            limits.max_push_constants_size.into(),
            "device's push constants",
        )
        .map_err(|e| e.within("offset"))
    })
}

fn push_constants(c: &Cx<'_>, v: View<'_>) -> Result<()> {
    let (offset, size) = (u64::from(n32(v, "offset")), u64::from(n32(v, "size")));
    if let Some(layout) = c.world.pipeline_layouts.get(&n64(v, "layout")) {
        return within(offset, size, layout.push_bytes().into(), "layout's push constants")
            .map_err(|e| e.within("offset"));
    }
    match c.limits {
        Some(l) => within(offset, size, l.max_push_constants_size.into(), "device's push constants")
            .map_err(|e| e.within("offset")),
        None => Ok(()),
    }
}

fn variable_counts(c: &Cx<'_>, v: View<'_>) -> Result<()> {
    let Some(counts) = v.next("VkDescriptorSetVariableDescriptorCountAllocateInfo") else { return Ok(()) };
    for (i, (layout, count)) in v.u64s("pSetLayouts").iter().zip(counts.u64s("pDescriptorCounts")).enumerate()
    {
        if let Some(last) = c.world.set_layouts.get(layout).and_then(|l| l.bindings.last()) {
            at_most(count, last.count.into(), "the layout's last binding")
                .map_err(|e| e.within(&format!("[{i}]")).within("pDescriptorCounts"))?;
        }
    }
    Ok(())
}

fn bind(c: &Cx<'_>, v: View<'_>) -> Result<()> {
    let Some(layout) = c.world.pipeline_layouts.get(&n64(v, "layout")) else { return Ok(()) };
    let (first, sets) = (n32(v, "firstSet"), v.u64s("pDescriptorSets"));
    within(first.into(), sets.len() as u64, layout.sets.len() as u64, "layout's sets")
        .map_err(|e| e.within("firstSet"))?;
    let mut offsets = 0;
    for (i, id) in sets.iter().enumerate() {
        let Some(set) = c.world.sets.get(id) else { continue };
        offsets += u64::from(set.layout.dynamic);
        // Layouts that a pipeline library leaves out fit anything.
        if let Some(wanted) = layout.set(first as usize + i)
            && wanted.class != set.layout.class
        {
            let text = "expected a set whose layout is defined as the pipeline layout's".to_owned();
            return Err(Error::malformed(text).within(&format!("[{i}]")).within("pDescriptorSets"));
        }
    }
    let known = sets.iter().all(|id| *id == 0 || c.world.sets.contains_key(id));
    match u64::from(n32(v, "dynamicOffsetCount")) {
        n if known && n != offsets => {
            let text = format!("expected {offsets}, as the sets have dynamic descriptors, found {n}");
            Err(Error::malformed(text).within("dynamicOffsetCount"))
        }
        _ => Ok(()),
    }
}

fn push(c: &Cx<'_>, v: View<'_>) -> Result<()> {
    let Some(layout) = c.world.pipeline_layouts.get(&n64(v, "layout")) else { return Ok(()) };
    let set = n32(v, "set");
    within(set.into(), 1, layout.sets.len() as u64, "layout's sets").map_err(|e| e.within("set"))?;
    match layout.set(set as usize) {
        Some(layout) => each(v, "pDescriptorWrites", |w| {
            descriptors(layout, None, w, "dstBinding", "dstArrayElement", Some(n32(w, "descriptorType")))
        }),
        None => Ok(()),
    }
}

/// A set that was allocated, and not freed since.
fn set<'w>(c: &Cx<'w>, w: View<'_>, name: &str) -> Result<&'w Set> {
    let id = n64(w, name);
    c.world.sets.get(&id).ok_or_else(|| {
        Error::malformed(format!("expected a VkDescriptorSet that is allocated, found {id}")).within(name)
    })
}

fn update(c: &Cx<'_>, v: View<'_>) -> Result<()> {
    each(v, "pDescriptorWrites", |w| {
        let set = set(c, w, "dstSet")?;
        let ty = n32(w, "descriptorType");
        if BUFFERS.contains(&ty) {
            each(w, "pBufferInfo", |b| memory::buffer(c, n64(b, "buffer"), "buffer"))?;
        }
        descriptors(&set.layout, set.contents.variable, w, "dstBinding", "dstArrayElement", Some(ty))
    })?;
    each(v, "pDescriptorCopies", |w| {
        for (set, binding, element) in
            [("srcSet", "srcBinding", "srcArrayElement"), ("dstSet", "dstBinding", "dstArrayElement")]
        {
            let set = self::set(c, w, set)?;
            descriptors(&set.layout, set.contents.variable, w, binding, element, None)?;
        }
        Ok(())
    })
}

/// So many descriptors from a binding's element on: what is over goes on in the next binding, if that is like it.
fn descriptors(
    layout: &Rc<SetLayout>,
    variable: Option<u32>,
    w: View<'_>,
    binding: &str,
    element: &str,
    wanted: Option<u32>,
) -> Result<()> {
    let (number, mut first) = (n32(w, binding), u64::from(n32(w, element)));
    let mut left = u64::from(n32(w, "descriptorCount"));
    let Some(mut i) = layout.index_of(number) else {
        return Err(
            Error::malformed(format!("expected a binding of the set, found {number}")).within(binding)
        );
    };
    while let Some(b) = layout.bindings.get(i) {
        if let Some(ty) = wanted.filter(|ty| *ty != b.ty && b.ty != ty::MUTABLE) {
            let text = format!("expected {}, as binding {} is, found {ty}", b.ty, b.binding);
            return Err(Error::malformed(text).within("descriptorType"));
        }
        let is_last = i + 1 == layout.bindings.len();
        let has = u64::from(if is_last { variable.unwrap_or(b.count).min(b.count) } else { b.count });
        let here = left.min(has.saturating_sub(first));
        left -= here;
        if left == 0 && first <= has {
            return Ok(());
        }
        (first, i) = (first.saturating_sub(has), i + 1);
    }
    let text = format!("expected {} descriptors to lie within the set", n32(w, "descriptorCount"));
    Err(Error::malformed(text).within("descriptorCount"))
}
