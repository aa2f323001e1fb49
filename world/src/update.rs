//! Descriptor sets: pools, allocation, writes, copies, templates, and the bytes of descriptors for descriptor buffers.
//!
//! Guarantees: writes that run over the end of a binding go on in the next, as the API says; immutable samplers stay.
//! Refuses nothing: sets that are not known are passed over.

use super::layouts::{SetLayout, ty};
use super::objects::*;
use super::read::{created, destroyed, gone, n32, n64};
use super::sets::{Contents, Descriptor};
use super::world::Handler;
use super::world::World;
use gfxr_parse::ahead::Call;
use gfxr_parse::decode::template as packed;
use gfxr_parse::image::Image;
use gfxr_parse::view::View;
use gfxr_parse::{member, param, size_of_struct};
use std::rc::Rc;

/// Bytes of the elements of pImageInfo, pBufferInfo, and of views and structures.
const IMAGE_INFO: u32 = size_of_struct!("VkDescriptorImageInfo");
const BUFFER_INFO: u32 = size_of_struct!("VkDescriptorBufferInfo");
const HANDLE: u32 = size_of::<u64>() as u32;

/// Calls that are about descriptors, by canonical name.
pub(super) const HANDLERS: &[(&str, Handler)] = &[
    ("vkCreateDescriptorPool", pool),
    ("vkResetDescriptorPool", reset_pool),
    ("vkDestroyDescriptorPool", destroy_pool),
    ("vkAllocateDescriptorSets", allocate),
    ("vkFreeDescriptorSets", free),
    ("vkUpdateDescriptorSets", update),
    ("vkCreateDescriptorUpdateTemplate", template),
    ("vkDestroyDescriptorUpdateTemplate", |w, c| gone(w.templates.remove(&destroyed(c)))),
    ("vkUpdateDescriptorSetWithTemplate", update_with_template),
    ("vkGetDescriptorEXT", get_descriptor),
    ("vkGetDescriptorSetLayoutBindingOffsetEXT", binding_offset),
];

/// Calls that only change what sets contain.
pub(super) fn is_of_contents(name: &str) -> bool {
    matches!(name, "vkUpdateDescriptorSets" | "vkUpdateDescriptorSetWithTemplate" | "vkGetDescriptorEXT")
}

fn pool(w: &mut World, call: &Call) {
    w.descriptor_pools.insert(created(call), DescriptorPool::default());
}

/// Where the calls that reset and destroy a pool name it.
const POOL: u32 = param!("vkResetDescriptorPool", "descriptorPool");

fn reset_pool(w: &mut World, call: &Call) {
    let Some(pool) = w.descriptor_pools.get_mut(&call.image.u64(POOL)) else { return };
    for set in std::mem::take(&mut pool.sets) {
        w.sets.remove(&set);
    }
}

fn destroy_pool(w: &mut World, call: &Call) {
    reset_pool(w, call);
    w.descriptor_pools.remove(&call.image.u64(POOL));
}

fn allocate(w: &mut World, call: &Call) {
    let v = View::call(&call.image);
    let Some(info) = v.one("pAllocateInfo") else { return };
    let pool = n64(info, "descriptorPool");
    let counts = info.next("VkDescriptorSetVariableDescriptorCountAllocateInfo");
    let counts = counts.map_or(vec![], |c| c.u64s("pDescriptorCounts"));
    let made = v.u64s("pDescriptorSets").into_iter().zip(info.u64s("pSetLayouts")).enumerate();
    for (i, (set, layout)) in made.filter(|m| m.1.0 != 0) {
        let Some(layout) = w.set_layouts.get(&layout).cloned() else { continue };
        let has = |b: &super::layouts::Binding| b.flags & super::layouts::binding_flags::VARIABLE_COUNT != 0;
        // A layout with a variable count and no number for it gets none.
        let variable =
            layout.bindings.last().filter(|b| has(b)).map(|_| counts.get(i).copied().unwrap_or(0) as u32);
        w.version += 1;
        let contents = Contents::new(Rc::clone(&layout), variable, w.version);
        w.sets.insert(set, Set { pool, layout, born: w.version, contents });
        let pool = w.descriptor_pools.entry(pool).or_default();
        pool.sets.push(set);
        // Programs that allocate and free every frame would leave a long list of the dead.
        if pool.sets.len() >= 1024 && pool.sets.len().is_power_of_two() {
            let sets = &w.sets;
            pool.sets.retain(|s| sets.contains_key(s));
        }
    }
}

fn free(w: &mut World, call: &Call) {
    for set in View::call(&call.image).u64s("pDescriptorSets") {
        w.sets.remove(&set);
    }
}

/// vkUpdateDescriptorSets: writes, then copies.
fn update(w: &mut World, call: &Call) {
    let v = View::call(&call.image);
    let mut version = w.version;
    for write in v.structs("pDescriptorWrites") {
        if let Some(set) = w.sets.get_mut(&n64(write, "dstSet")) {
            self::write(&mut set.contents, write, &mut version);
        }
    }
    for copy in v.structs("pDescriptorCopies") {
        let n = |name| n32(copy, name);
        let (src, dst) = (n64(copy, "srcSet"), n64(copy, "dstSet"));
        let from = (n("srcBinding"), n("srcArrayElement"));
        let to = (n("dstBinding"), n("dstArrayElement"));
        // Taken out and put back: a set may be copied to itself, then from a copy of it.
        let Some(source) = (if src == dst {
            w.sets.get(&src).map(|s| s.contents.clone())
        } else {
            w.sets.get_mut(&src).map(|s| std::mem::replace(&mut s.contents, empty(&s.layout)))
        }) else {
            continue;
        };
        if let Some(set) = w.sets.get_mut(&dst) {
            set.contents.copy(&source, from, to, n("descriptorCount"), &mut version);
        }
        if src != dst
            && let Some(s) = w.sets.get_mut(&src)
        {
            s.contents = source;
        }
    }
    w.version = version;
}

fn empty(layout: &Rc<SetLayout>) -> Contents {
    Contents::new(Rc::clone(layout), None, 0)
}

/// Applies a VkWriteDescriptorSet.
pub(super) fn write(contents: &mut Contents, v: View<'_>, version: &mut u64) {
    let (kind, count) = (n32(v, "descriptorType"), n32(v, "descriptorCount"));
    let at = (n32(v, "dstBinding"), n32(v, "dstArrayElement"));
    let image = v.image();
    // What the capture left out is written, but not known.
    let elements = |name: &str, size: u32| {
        let found = v.array(name);
        let unknown = Descriptor::Unknown { ty: kind, why: "the capture left it out" };
        (0..count).map(move |i| match found {
            Some((to, n)) if u64::from(i) < n => Ok(to + i * size),
            _ => Err(unknown),
        })
    };
    let flat = |r: Result<u32, Descriptor>, f: &dyn Fn(u32) -> Descriptor| r.map_or_else(|d| d, f);
    match kind {
        ty::SAMPLER
        | ty::COMBINED_IMAGE_SAMPLER
        | ty::SAMPLED_IMAGE
        | ty::STORAGE_IMAGE
        | ty::INPUT_ATTACHMENT
        | ty::SAMPLE_WEIGHT_IMAGE_QCOM
        | ty::BLOCK_MATCH_IMAGE_QCOM => {
            let values =
                elements("pImageInfo", IMAGE_INFO).map(|r| flat(r, &|to| image_info(image, kind, to)));
            contents.write(at, values, version);
        }
        ty::UNIFORM_TEXEL_BUFFER | ty::STORAGE_TEXEL_BUFFER => {
            let texel = |to| Descriptor::Texel { ty: kind, view: image.u64(to) };
            contents.write(at, elements("pTexelBufferView", HANDLE).map(|r| flat(r, &texel)), version);
        }
        ty::UNIFORM_BUFFER | ty::STORAGE_BUFFER | ty::UNIFORM_BUFFER_DYNAMIC | ty::STORAGE_BUFFER_DYNAMIC => {
            let values =
                elements("pBufferInfo", BUFFER_INFO).map(|r| flat(r, &|to| buffer_info(image, kind, to)));
            contents.write(at, values, version);
        }
        ty::INLINE_UNIFORM_BLOCK => {
            let data = v.next("VkWriteDescriptorSetInlineUniformBlock").and_then(|b| b.bytes("pData"));
            contents.write_inline(at.0, at.1, data.unwrap_or_default(), version);
        }
        ty::ACCELERATION_STRUCTURE_KHR | ty::ACCELERATION_STRUCTURE_NV => {
            let chained = v
                .next("VkWriteDescriptorSetAccelerationStructureKHR")
                .or_else(|| v.next("VkWriteDescriptorSetAccelerationStructureNV"));
            let ids = chained.map_or(vec![], |c| c.u64s("pAccelerationStructures"));
            let values = ids.into_iter().map(|structure| Descriptor::Structure { structure });
            contents.write(at, values, version);
        }
        _ => {
            let unknown = Descriptor::Unknown { ty: kind, why: "a type of descriptor that is not followed" };
            contents.write(at, (0..count).map(|_| unknown), version);
        }
    }
}

/// A VkDescriptorImageInfo.
fn image_info(image: &Image, kind: u32, at: u32) -> Descriptor {
    let sampler = image.u64(at + member!("VkDescriptorImageInfo", "sampler"));
    let view = image.u64(at + member!("VkDescriptorImageInfo", "imageView"));
    let layout = image.u32(at + member!("VkDescriptorImageInfo", "imageLayout"));
    match kind {
        ty::SAMPLER => Descriptor::Sampler { sampler },
        ty::COMBINED_IMAGE_SAMPLER => Descriptor::Image { ty: kind, view, sampler, layout },
        _ => Descriptor::Image { ty: kind, view, sampler: 0, layout },
    }
}

/// A VkDescriptorBufferInfo.
fn buffer_info(image: &Image, kind: u32, at: u32) -> Descriptor {
    Descriptor::Buffer {
        ty: kind,
        buffer: image.u64(at + member!("VkDescriptorBufferInfo", "buffer")),
        offset: image.u64(at + member!("VkDescriptorBufferInfo", "offset")),
        range: image.u64(at + member!("VkDescriptorBufferInfo", "range")),
    }
}

fn template(w: &mut World, call: &Call) {
    let id = created(call);
    let Some(info) = View::call(&call.image).one("pCreateInfo").filter(|_| id != 0) else { return };
    let entry = |e: View<'_>| TemplateEntry {
        binding: n32(e, "dstBinding"),
        element: n32(e, "dstArrayElement"),
        count: n32(e, "descriptorCount"),
        ty: n32(e, "descriptorType"),
    };
    let template = Template {
        entries: info.structs("pDescriptorUpdateEntries").map(entry).collect(),
        bind_point: n32(info, "pipelineBindPoint"),
        set_layout: if n32(info, "templateType") == 0 { n64(info, "descriptorSetLayout") } else { 0 },
    };
    w.templates.insert(id, Rc::new(template));
}

fn update_with_template(w: &mut World, call: &Call) {
    let image = &call.image;
    let Some((template, data)) = templated(call) else { return };
    let Some(template) = w.templates.get(&template).cloned() else { return };
    let mut version = w.version;
    if let Some(set) =
        w.sets.get_mut(&image.u64(param!("vkUpdateDescriptorSetWithTemplate", "descriptorSet")))
    {
        apply(&mut set.contents, &template, image, data, &mut version);
    }
    w.version = version;
}

/// The template of a call that writes descriptors with one, and where its data lie in the call.
pub fn templated(call: &Call) -> Option<(u64, u32)> {
    let image = &call.image;
    let v = match call.command.canonical {
        "vkUpdateDescriptorSetWithTemplate" | "vkCmdPushDescriptorSetWithTemplate" => View::call(image),
        "vkCmdPushDescriptorSetWithTemplate2" => {
            View::call(image).one("pPushDescriptorSetWithTemplateInfo")?
        }
        _ => return None,
    };
    let (_, at) = v.definition("pData")?;
    Some((n64(v, "descriptorUpdateTemplate"), image.target(at)?))
}

/// Where each VkDescriptorBufferInfo of a template's data at `at` lies, with its VkDescriptorType.
pub fn templated_buffers(template: &Template, image: &Image, at: u32) -> Vec<(u32, u32)> {
    let [images, buffers, ..] = packed::counts(image, at);
    let first = at + packed::HEADER_BYTES as u32 + images as u32 * IMAGE_INFO;
    let kinds = template.entries.iter().filter(|e| IS_BUFFER.contains(&e.ty));
    let kinds = kinds.flat_map(|e| std::iter::repeat_n(e.ty, e.count as usize));
    kinds.zip((0..buffers as u32).map(|n| first + n * BUFFER_INFO)).collect()
}

/// Types of descriptors that are buffers.
const IS_BUFFER: std::ops::RangeInclusive<u32> = ty::UNIFORM_BUFFER..=ty::STORAGE_BUFFER_DYNAMIC;

/// Writes what a template says from the data at `at`: a header of counts, then images, buffers and texel buffers, then a
/// tail for each kind that has no fixed size.
pub(super) fn apply(contents: &mut Contents, template: &Template, image: &Image, at: u32, version: &mut u64) {
    let [images, buffers, texels, tails] = packed::counts(image, at);
    let first = at + packed::HEADER_BYTES as u32;
    let after_images = first + images as u32 * IMAGE_INFO;
    let after_buffers = after_images + buffers as u32 * BUFFER_INFO;
    let mut next = [first, after_images, after_buffers];
    let end = [next[1], next[2], next[2] + texels as u32 * HANDLE];
    // Tails: {count, type, payload padded to 8 bytes}, one for each kind.
    let (mut structures, mut inline) = ((0, 0), (0, 0));
    let mut tail = end[2];
    for _ in 0..tails {
        let (count, kind) = packed::tail(image, tail);
        let (count, body) = (count as u32, tail + packed::TAIL_HEADER_BYTES as u32);
        tail = body;
        if kind == u64::from(ty::ACCELERATION_STRUCTURE_KHR) {
            structures = (body, body + count * HANDLE);
            tail += count * HANDLE;
        } else if kind == u64::from(ty::INLINE_UNIFORM_BLOCK) {
            inline = (body, body + count);
            tail += count.next_multiple_of(8);
        }
    }
    for e in &template.entries {
        let to = (e.binding, e.element);
        let (k, size) = match e.ty {
            ty::UNIFORM_TEXEL_BUFFER | ty::STORAGE_TEXEL_BUFFER => (2, HANDLE),
            kind if IS_BUFFER.contains(&kind) => (1, BUFFER_INFO),
            ty::INLINE_UNIFORM_BLOCK => {
                let stop = inline.0.saturating_add(e.count).min(inline.1);
                let data = image.bytes().get(inline.0 as usize..stop as usize).unwrap_or_default();
                contents.write_inline(e.binding, e.element, data, version);
                inline.0 = stop;
                continue;
            }
            ty::ACCELERATION_STRUCTURE_KHR => {
                let stop = structures.0.saturating_add(e.count.saturating_mul(HANDLE)).min(structures.1);
                let ids = (structures.0..stop).step_by(HANDLE as usize).map(|at| image.u64(at));
                contents.write(to, ids.map(|structure| Descriptor::Structure { structure }), version);
                structures.0 = stop;
                continue;
            }
            _ => (0, IMAGE_INFO),
        };
        let stop = next[k].saturating_add(e.count.saturating_mul(size)).min(end[k]);
        let values = (next[k]..stop).step_by(size as usize).map(|at| match k {
            0 => image_info(image, e.ty, at),
            1 => buffer_info(image, e.ty, at),
            _ => Descriptor::Texel { ty: e.ty, view: image.u64(at) },
        });
        contents.write(to, values, version);
        next[k] = stop;
    }
}

/// vkGetDescriptorEXT(device, pDescriptorInfo, dataSize, pDescriptor): these bytes mean this descriptor.
fn get_descriptor(w: &mut World, call: &Call) {
    let v = View::call(&call.image);
    let (Some(info), Some(bytes)) = (v.one("pDescriptorInfo"), v.bytes("pDescriptor")) else { return };
    let kind = n32(info, "type");
    let Some(data) = info.one("data") else { return };
    let image_member = |name: &str| {
        data.array(name).map_or(Descriptor::Image { ty: kind, view: 0, sampler: 0, layout: 0 }, |(to, _)| {
            image_info(&call.image, kind, to)
        })
    };
    let address = |name: &str| {
        let a = data.one(name);
        Descriptor::Address {
            ty: kind,
            format: a.map_or(0, |a| n32(a, "format")),
            address: a.map_or(0, |a| n64(a, "address")),
            range: a.map_or(0, |a| n64(a, "range")),
        }
    };
    let descriptor = match kind {
        ty::SAMPLER => Descriptor::Sampler { sampler: n64(data, "pSampler") },
        ty::COMBINED_IMAGE_SAMPLER => image_member("pCombinedImageSampler"),
        ty::INPUT_ATTACHMENT => image_member("pInputAttachmentImage"),
        ty::SAMPLED_IMAGE => image_member("pSampledImage"),
        ty::STORAGE_IMAGE => image_member("pStorageImage"),
        ty::UNIFORM_TEXEL_BUFFER => address("pUniformTexelBuffer"),
        ty::STORAGE_TEXEL_BUFFER => address("pStorageTexelBuffer"),
        ty::UNIFORM_BUFFER => address("pUniformBuffer"),
        ty::STORAGE_BUFFER => address("pStorageBuffer"),
        ty::ACCELERATION_STRUCTURE_KHR => {
            let address = n64(data, "accelerationStructure");
            Descriptor::Address { ty: kind, format: 0, address, range: 0 }
        }
        _ => Descriptor::Unknown { ty: kind, why: "a type of descriptor that is not followed" },
    };
    w.descriptor_sizes.insert(kind, bytes.len() as u64);
    w.descriptor_bytes.insert(bytes.into(), descriptor);
}

fn binding_offset(w: &mut World, call: &Call) {
    let layout = call.image.u64(param!("vkGetDescriptorSetLayoutBindingOffsetEXT", "layout"));
    let binding = call.image.u32(param!("vkGetDescriptorSetLayoutBindingOffsetEXT", "binding"));
    let Some(layout) = w.set_layouts.get(&layout) else { return };
    if let Some(offset) = View::call(&call.image).u64("pOffset") {
        w.binding_offsets.insert((layout.class, binding), offset);
    }
}

impl World {
    /// A descriptor of a set that lies in a descriptor buffer at `address`.
    ///
    /// What its bytes mean is known from vkGetDescriptorEXT, where its binding lies from
    /// vkGetDescriptorSetLayoutBindingOffsetEXT: as the program used them. Arrays of combined image samplers are read as one
    /// array; devices that keep images and samplers apart are rare.
    pub fn in_descriptor_buffer(
        &self,
        address: u64,
        layout: &SetLayout,
        binding: u32,
        element: u32,
    ) -> Descriptor {
        let Some(b) = layout.binding(binding) else { return Descriptor::Unwritten };
        let unknown = |why| Descriptor::Unknown { ty: b.ty, why };
        // The first binding of a layout lies at its beginning unless the program was told otherwise.
        let first = layout.bindings.first().is_some_and(|f| f.binding == binding);
        let offset = self.binding_offsets.get(&(layout.class, binding)).copied();
        let Some(offset) = offset.or(first.then_some(0)) else {
            return unknown("the program never asked where the binding lies");
        };
        if !b.immutable.is_empty() && b.ty == ty::SAMPLER {
            return b
                .immutable
                .get(element as usize)
                .map_or(Descriptor::Unwritten, |s| Descriptor::Sampler { sampler: *s });
        }
        if b.ty == ty::INLINE_UNIFORM_BLOCK {
            return Descriptor::Address {
                ty: b.ty,
                format: 0,
                address: address.saturating_add(offset),
                range: b.count.into(),
            };
        }
        // A mutable one has room for the largest of its types.
        let types = if b.ty == ty::MUTABLE { &b.mutable[..] } else { std::slice::from_ref(&b.ty) };
        let sizes: Option<Vec<u64>> = types.iter().map(|t| self.descriptor_sizes.get(t).copied()).collect();
        let Some(size) = sizes.and_then(|s| s.into_iter().max()) else {
            return unknown("the program never asked for a descriptor of this type");
        };
        let behind = offset.saturating_add(u64::from(element).saturating_mul(size));
        let at = address.saturating_add(behind);
        let Some((buffer, at)) = self.at_address(at) else { return unknown("an address that is not known") };
        let mut bytes = Vec::new();
        if let Some(hole) = self.read_buffer(buffer, at, size, &mut bytes).holes.first() {
            return unknown(hole.why.reason.words());
        }
        if b.ty == ty::MUTABLE {
            // Shorter ones leave what is behind them as it was.
            let mut lengths = types.iter().filter_map(|t| self.descriptor_sizes.get(t));
            if let Some(d) =
                lengths.find_map(|n| self.descriptor_bytes.get(bytes.get(..*n as usize)?).copied())
            {
                return d;
            }
        }
        self.descriptor_bytes.get(&bytes[..]).copied().unwrap_or(match bytes.iter().all(|b| *b == 0) {
            true => Descriptor::Unwritten,
            false => unknown("bytes that no descriptor was got for"),
        })
    }
}
