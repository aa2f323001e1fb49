//! Descriptors that the frame writes over, kept in sets of our own and copied back; and pools for the sets that the
//! frame allocates.
//!
//! Copying needs no knowledge of what a descriptor holds, only of its type. A set of our own has the bindings that the
//! frame writes, with the same types, and as many elements as it reaches.

use crate::error::{Result, Vk};
use crate::looped::plan::{Plan, Span};
use crate::objects::Objects;
use crate::vulkan::Vulkan;
use ash::vk::{self, Handle};
use std::collections::{BTreeMap, HashMap};
use world::layouts::{Binding, SetLayout, ty};

/// Sets with kept descriptors, by device.
#[derive(Default)]
pub struct Descriptors {
    kept: HashMap<u64, Vec<Kept>>,
}

struct Kept {
    theirs: vk::DescriptorSet,
    ours: vk::DescriptorSet,
    spans: Vec<(u32, Span)>,
}

impl Kept {
    fn copies(&self, back: bool) -> impl Iterator<Item = vk::CopyDescriptorSet<'static>> + '_ {
        let (src, dst) = if back { (self.ours, self.theirs) } else { (self.theirs, self.ours) };
        self.spans.iter().map(move |&(binding, (from, to))| {
            vk::CopyDescriptorSet::default()
                .src_set(src)
                .src_binding(binding)
                .src_array_element(from)
                .dst_set(dst)
                .dst_binding(binding)
                .dst_array_element(from)
                .descriptor_count(to - from)
        })
    }
}

impl Descriptors {
    /// Before the frame.
    pub fn take(vk: &Vulkan, objects: &Objects, plan: &Plan) -> Result<Self> {
        type Wanted = (vk::DescriptorSet, SetLayout, Vec<(u32, Span)>);
        let mut wanted: HashMap<u64, Vec<Wanted>> = HashMap::new();
        for (id, written) in &plan.descriptors {
            let (Some((live, device)), Some(layout)) = (objects.live_of(*id), plan.sets.get(id)) else {
                continue;
            };
            let spans = written.iter().map(|(b, s)| (*b, *s)).collect();
            let ours = reduced(layout, written);
            wanted.entry(device).or_default().push((vk::DescriptorSet::from_raw(live), ours, spans));
        }
        let mut kept: HashMap<u64, Vec<Kept>> = HashMap::new();
        for (device, sets) in wanted {
            let d = &vk.device(device)?.ash;
            let pool = pool(d, sets.iter().map(|s| &s.1))?;
            for (theirs, layout, spans) in sets {
                let made = [set_layout(d, &layout)?];
                let info = vk::DescriptorSetAllocateInfo::default().descriptor_pool(pool).set_layouts(&made);
                // SAFETY: live objects; the pool was made for these sets.
                let ours = unsafe { d.allocate_descriptor_sets(&info) }.what("vkAllocateDescriptorSets")?[0];
                kept.entry(device).or_default().push(Kept { theirs, ours, spans });
            }
        }
        let kept = Descriptors { kept };
        kept.copy(vk, false)?;
        Ok(kept)
    }

    fn copy(&self, vk: &Vulkan, back: bool) -> Result<u64> {
        let mut n = 0;
        for (device, kept) in &self.kept {
            let copies: Vec<_> = kept.iter().flat_map(|k| k.copies(back)).collect();
            n += copies.iter().map(|c| u64::from(c.descriptor_count)).sum::<u64>();
            // SAFETY: idle; both sets have these elements, of the same types.
            unsafe { vk.device(*device)?.ash.update_descriptor_sets(&[], &copies) };
        }
        Ok(n)
    }

    /// Copies them back.
    pub fn restore(&self, vk: &Vulkan) -> Result<u64> {
        self.copy(vk, true)
    }
}

/// Of a layout what is written.
fn reduced(layout: &SetLayout, written: &BTreeMap<u32, Span>) -> SetLayout {
    let ours = written.iter().filter_map(|(number, (_, to))| {
        let b = layout.binding(*number)?;
        Some(Binding { count: *to, immutable: Vec::new(), ..b.clone() })
    });
    SetLayout::new(0, layout.flags, ours.collect())
}

fn set_layout(d: &ash::Device, layout: &SetLayout) -> Result<vk::DescriptorSetLayout> {
    let ty = |raw: u32| vk::DescriptorType::from_raw(raw as i32);
    let binding = |b: &Binding| {
        let stages = match ty(b.ty) {
            vk::DescriptorType::INPUT_ATTACHMENT => vk::ShaderStageFlags::FRAGMENT,
            _ => vk::ShaderStageFlags::ALL,
        };
        vk::DescriptorSetLayoutBinding::default()
            .binding(b.binding)
            .descriptor_type(ty(b.ty))
            .descriptor_count(b.count)
            .stage_flags(stages)
    };
    let bindings: Vec<_> = layout.bindings.iter().map(binding).collect();
    let types: Vec<Vec<_>> =
        layout.bindings.iter().map(|b| b.mutable.iter().map(|t| ty(*t)).collect()).collect();
    let lists: Vec<_> =
        types.iter().map(|t| vk::MutableDescriptorTypeListEXT::default().descriptor_types(t)).collect();
    let mut mutable = vk::MutableDescriptorTypeCreateInfoEXT::default().mutable_descriptor_type_lists(&lists);
    let mut info = vk::DescriptorSetLayoutCreateInfo::default()
        .flags(vk::DescriptorSetLayoutCreateFlags::from_raw(layout.flags))
        .bindings(&bindings);
    if types.iter().any(|t| !t.is_empty()) {
        info = info.push_next(&mut mutable);
    }
    // SAFETY: a plain creation on a live device, with types that the application uses.
    unsafe { d.create_descriptor_set_layout(&info, None) }.what("vkCreateDescriptorSetLayout")
}

/// A pool that holds one set of each of these layouts.
pub fn pool<'l>(d: &ash::Device, layouts: impl Iterator<Item = &'l SetLayout>) -> Result<vk::DescriptorPool> {
    let (mut sizes, mut sets, mut flags, mut inline) = (BTreeMap::<u32, u32>::new(), 0, 0, 0);
    for layout in layouts {
        sets += 1;
        flags |= layout.flags;
        for b in layout.bindings.iter().filter(|b| b.count > 0) {
            let n = sizes.entry(b.ty).or_default();
            *n = n.saturating_add(b.count);
            inline += u32::from(b.ty == ty::INLINE_UNIFORM_BLOCK);
        }
    }
    if sizes.is_empty() {
        sizes.insert(ty::SAMPLER, 1);
    }
    let sizes: Vec<_> = sizes
        .into_iter()
        .map(|(ty, descriptor_count)| vk::DescriptorPoolSize {
            ty: vk::DescriptorType::from_raw(ty as i32),
            descriptor_count,
        })
        .collect();
    let of_layout = vk::DescriptorSetLayoutCreateFlags::from_raw(flags);
    let mut of_pool = vk::DescriptorPoolCreateFlags::empty();
    if of_layout.contains(vk::DescriptorSetLayoutCreateFlags::UPDATE_AFTER_BIND_POOL) {
        of_pool |= vk::DescriptorPoolCreateFlags::UPDATE_AFTER_BIND;
    }
    if of_layout.contains(vk::DescriptorSetLayoutCreateFlags::HOST_ONLY_POOL_EXT) {
        of_pool |= vk::DescriptorPoolCreateFlags::HOST_ONLY_EXT;
    }
    let mut blocks =
        vk::DescriptorPoolInlineUniformBlockCreateInfo::default().max_inline_uniform_block_bindings(inline);
    let mut info =
        vk::DescriptorPoolCreateInfo::default().flags(of_pool).max_sets(sets.max(1)).pool_sizes(&sizes);
    if inline > 0 {
        info = info.push_next(&mut blocks);
    }
    // SAFETY: a plain creation on a live device.
    unsafe { d.create_descriptor_pool(&info, None) }.what("vkCreateDescriptorPool")
}
