//! Tiles whose descriptors come in other ways than a written set.

use ash::vk;

use super::plain::only;
use super::station::{FRAGMENT, Maker, SAMPLED, Station, UNIFORM, bytes};
use crate::error::Result;
use crate::gpu::pipeline::Resource;
use crate::gpu::sets::slot;
use crate::scenes::monolithic::pixel;

/// Bytes between the blocks of a buffer with dynamic offsets.
const STRIDE: u32 = 256;

/// The dynamic offsets of the draws, by binding.
pub const OFFSETS: [[u32; 3]; 4] = [[0, 256, 0], [256, 256, 0], [512, 256, 512], [768, 256, 512]];

/// Four draws with one set, whose three descriptors have dynamic offsets; the layout names them in another order.
pub fn dynamic(maker: &Maker) -> Result<Station> {
    let gpu = maker.gpu;
    let (near, store) =
        (vk::DescriptorType::UNIFORM_BUFFER_DYNAMIC, vk::DescriptorType::STORAGE_BUFFER_DYNAMIC);
    let bindings = [slot(2, store, 1, FRAGMENT), slot(0, near, 1, FRAGMENT), slot(1, near, 1, FRAGMENT)];
    let set_layout = gpu.set_layout("dynamic", &bindings)?;
    let layout = gpu.pipeline_layout("dynamic", &[set_layout], &[])?;
    let pipeline = maker.pipeline("dynamic", spirv!("dynamic.frag"), layout)?;
    let set = gpu.empty_set("dynamic", maker.pool, set_layout)?;
    for (binding, kind) in [(0, near), (1, near), (2, store)] {
        let words: Vec<u32> =
            (0..4).flat_map(|part| words_of(dynamic_number(binding, part * STRIDE))).collect();
        let usage = match binding {
            2 => vk::BufferUsageFlags::STORAGE_BUFFER,
            _ => vk::BufferUsageFlags::UNIFORM_BUFFER,
        };
        let name = ["near", "far", "store"][binding as usize];
        let buffer = gpu.host_buffer(name, u64::from(4 * STRIDE), usage)?;
        buffer.write(&bytes(&words));
        gpu.write_set(set, (binding, 0), kind, &[Resource::Buffer(buffer.range(16))]);
    }
    Ok(Station {
        first: Some(Box::new(move |gpu, at| {
            at.pipeline(gpu, pipeline);
            for (strip, offsets) in (0..).zip(&OFFSETS) {
                at.sets(gpu, layout, 0, &[set], offsets);
                at.draw(gpu, Some(strip));
            }
        })),
        ..Station::default()
    })
}

/// What lies there.
pub fn dynamic_number(binding: u32, offset: u32) -> u32 {
    [110, 120, 130][binding as usize] + offset / STRIDE
}

fn words_of(number: u32) -> Vec<u32> {
    let mut words = vec![0; STRIDE as usize / 4];
    words[0] = number;
    words
}

/// A set that a template updates in each frame: its two buffers change places.
pub fn template(maker: &Maker) -> Result<Station> {
    let gpu = maker.gpu;
    let set_layout =
        gpu.set_layout("template", &[slot(0, UNIFORM, 2, FRAGMENT), slot(1, SAMPLED, 1, FRAGMENT)])?;
    let layout = gpu.pipeline_layout("template", &[set_layout], &[])?;
    let pipeline = maker.pipeline("template", spirv!("template.frag"), layout)?;
    let buffers = [maker.number("left", 140)?.whole(), maker.number("right", 145)?.whole()];
    let image = pixel(gpu, "template image", 5)?.sampler(maker.sampler);
    let set = gpu.empty_set("template", maker.pool, set_layout)?;

    #[repr(C)]
    struct Data {
        image: vk::DescriptorImageInfo,
        buffers: [vk::DescriptorBufferInfo; 2],
    }
    let entry = vk::DescriptorUpdateTemplateEntry::default();
    let entries = [
        entry
            .dst_binding(0)
            .descriptor_count(2)
            .descriptor_type(UNIFORM)
            .offset(std::mem::offset_of!(Data, buffers))
            .stride(size_of::<vk::DescriptorBufferInfo>()),
        entry
            .dst_binding(1)
            .descriptor_count(1)
            .descriptor_type(SAMPLED)
            .offset(std::mem::offset_of!(Data, image))
            .stride(size_of::<vk::DescriptorImageInfo>()),
    ];
    let info = vk::DescriptorUpdateTemplateCreateInfo::default()
        .descriptor_update_entries(&entries)
        .template_type(vk::DescriptorUpdateTemplateType::DESCRIPTOR_SET)
        .descriptor_set_layout(set_layout);
    let made = unsafe { gpu.device.create_descriptor_update_template(&info, None) }?;
    let template = gpu.adopt(made, "template");
    let mut station = only(pipeline, layout, vec![set]);
    station.host = Some(Box::new(move |gpu, at| {
        let [left, right] = buffers;
        let buffers = if at.frame % 2 == 1 { [left, right] } else { [right, left] };
        let data = Data { image, buffers };
        unsafe {
            gpu.device.update_descriptor_set_with_template(set, template, std::ptr::from_ref(&data).cast());
        }
    }));
    Ok(station)
}

/// Four draws with push descriptors, the last by a template; beside them a set that is none.
pub fn pushed(maker: &Maker) -> Result<Station> {
    let gpu = maker.gpu;
    let bindings = [slot(0, UNIFORM, 1, FRAGMENT)];
    let info = vk::DescriptorSetLayoutCreateInfo::default()
        .bindings(&bindings)
        .flags(vk::DescriptorSetLayoutCreateFlags::PUSH_DESCRIPTOR_KHR);
    let set_layout = gpu.set_layout_of("pushed", info)?;
    let beside_layout = gpu.set_layout("beside", &bindings)?;
    let layout = gpu.pipeline_layout("pushed", &[set_layout, beside_layout], &[])?;
    let pipeline = maker.pipeline("pushed", spirv!("pushed.frag"), layout)?;
    let buffers = [maker.number("pushed 0", 150)?.whole(), maker.number("pushed 1", 155)?.whole()];
    let beside = maker.uniform_set("beside", beside_layout, &[maker.number("beside", 3)?])?;
    let push = gpu.extension(ash::khr::push_descriptor::Device::new);
    let entries = [vk::DescriptorUpdateTemplateEntry::default()
        .descriptor_count(1)
        .descriptor_type(UNIFORM)
        .stride(size_of::<vk::DescriptorBufferInfo>())];
    let info = vk::DescriptorUpdateTemplateCreateInfo::default()
        .descriptor_update_entries(&entries)
        .template_type(vk::DescriptorUpdateTemplateType::PUSH_DESCRIPTORS_KHR)
        .pipeline_bind_point(vk::PipelineBindPoint::GRAPHICS)
        .pipeline_layout(layout);
    let made = unsafe { gpu.device.create_descriptor_update_template(&info, None) }?;
    let template = gpu.adopt(made, "push template");
    Ok(Station {
        first: Some(Box::new(move |gpu, at| {
            at.pipeline(gpu, pipeline);
            at.sets(gpu, layout, 1, &[beside], &[]);
            for (strip, which) in (0..).zip(PUSHED) {
                let info = [buffers[which]];
                let write = vk::WriteDescriptorSet::default().descriptor_type(UNIFORM).buffer_info(&info);
                let (commands, point) = (at.commands, vk::PipelineBindPoint::GRAPHICS);
                unsafe {
                    if strip < 3 {
                        push.cmd_push_descriptor_set(commands, point, layout, 0, &[write]);
                    } else {
                        let data = std::ptr::from_ref(&info).cast();
                        push.cmd_push_descriptor_set_with_template(commands, template, layout, 0, data);
                    }
                }
                at.draw(gpu, Some(strip));
            }
        })),
        ..Station::default()
    })
}

/// Which of the two buffers each draw has.
pub const PUSHED: [usize; 4] = [0, 1, 0, 1];

/// An inline uniform block, written in each frame.
pub fn inline(maker: &Maker) -> Result<Station> {
    let gpu = maker.gpu;
    let kind = vk::DescriptorType::INLINE_UNIFORM_BLOCK;
    let bindings = [slot(0, kind, INLINE_BYTES, FRAGMENT)];
    let set_layout = gpu.set_layout("inline", &bindings)?;
    let layout = gpu.pipeline_layout("inline", &[set_layout], &[])?;
    let pipeline = maker.pipeline("inline", spirv!("inline.frag"), layout)?;
    let sizes = [vk::DescriptorPoolSize { ty: kind, descriptor_count: INLINE_BYTES }];
    let mut most =
        vk::DescriptorPoolInlineUniformBlockCreateInfo::default().max_inline_uniform_block_bindings(1);
    let info = vk::DescriptorPoolCreateInfo::default().max_sets(1).pool_sizes(&sizes).push_next(&mut most);
    let pool = gpu.adopt(unsafe { gpu.device.create_descriptor_pool(&info, None) }?, "inline pool");
    let set = gpu.empty_set("inline", pool, set_layout)?;
    let mut station = only(pipeline, layout, vec![set]);
    station.host = Some(Box::new(move |gpu, at| {
        let content = bytes(&[160, 161, 162, 163, at.frame, 0, 164]);
        let mut block = vk::WriteDescriptorSetInlineUniformBlock::default().data(&content);
        let write = vk::WriteDescriptorSet::default()
            .dst_set(set)
            .descriptor_type(kind)
            .descriptor_count(INLINE_BYTES)
            .push_next(&mut block);
        unsafe { gpu.device.update_descriptor_sets(&[write], &[]) };
    }));
    Ok(station)
}

const INLINE_BYTES: u32 = 28;

/// A set that is updated when all is recorded; an array of which two elements are written and used; one without an end.
pub fn late(maker: &Maker) -> Result<Station> {
    let gpu = maker.gpu;
    let bindings =
        [slot(0, UNIFORM, 1, FRAGMENT), slot(1, UNIFORM, 4, FRAGMENT), slot(2, UNIFORM, 8, FRAGMENT)];
    let (after, part) =
        (vk::DescriptorBindingFlags::UPDATE_AFTER_BIND, vk::DescriptorBindingFlags::PARTIALLY_BOUND);
    let flags = [after, part, part | vk::DescriptorBindingFlags::VARIABLE_DESCRIPTOR_COUNT];
    let mut flags = vk::DescriptorSetLayoutBindingFlagsCreateInfo::default().binding_flags(&flags);
    let info = vk::DescriptorSetLayoutCreateInfo::default()
        .bindings(&bindings)
        .flags(vk::DescriptorSetLayoutCreateFlags::UPDATE_AFTER_BIND_POOL)
        .push_next(&mut flags);
    let set_layout = gpu.set_layout_of("late", info)?;
    let push = vk::PushConstantRange { stage_flags: FRAGMENT, offset: 0, size: 4 };
    let layout = gpu.pipeline_layout("late", &[set_layout], &[push])?;
    let pipeline = maker.pipeline("late", spirv!("late.frag"), layout)?;

    let sizes = [vk::DescriptorPoolSize { ty: UNIFORM, descriptor_count: 13 }];
    let info = vk::DescriptorPoolCreateInfo::default()
        .max_sets(1)
        .pool_sizes(&sizes)
        .flags(vk::DescriptorPoolCreateFlags::UPDATE_AFTER_BIND);
    let pool = gpu.adopt(unsafe { gpu.device.create_descriptor_pool(&info, None) }?, "late pool");
    let (layouts, counts) = ([set_layout], [MANY]);
    let mut count =
        vk::DescriptorSetVariableDescriptorCountAllocateInfo::default().descriptor_counts(&counts);
    let info = vk::DescriptorSetAllocateInfo::default()
        .descriptor_pool(pool)
        .set_layouts(&layouts)
        .push_next(&mut count);
    let set = unsafe { gpu.device.allocate_descriptor_sets(&info) }?[0];
    gpu.name(set, "late");
    let lates = [maker.number("late odd", 170)?.whole(), maker.number("late even", 171)?.whole()];
    for (element, number) in [(0, 172), (2, 173)] {
        let buffer = maker.number(&format!("part {element}"), number)?;
        gpu.write_set(set, (1, element), UNIFORM, &[Resource::Buffer(buffer.whole())]);
    }
    for element in 0..MANY {
        let buffer = maker.number(&format!("many {element}"), MANY_FIRST + element)?;
        gpu.write_set(set, (2, element), UNIFORM, &[Resource::Buffer(buffer.whole())]);
    }
    Ok(Station {
        first: Some(Box::new(move |gpu, at| {
            let index = bytes(&[at.frame % MANY]);
            at.pipeline(gpu, pipeline);
            at.sets(gpu, layout, 0, &[set], &[]);
            unsafe { gpu.device.cmd_push_constants(at.commands, layout, FRAGMENT, 0, &index) };
            at.draw(gpu, None);
        })),
        late: Some(Box::new(move |gpu, at| {
            let buffer = lates[(at.frame as usize + 1) % 2];
            gpu.write_set(set, (0, 0), UNIFORM, &[Resource::Buffer(buffer)]);
        })),
        ..Station::default()
    })
}

/// How many descriptors the array has that has no end in the shader.
pub const MANY: u32 = 3;
/// What the first of them says.
pub const MANY_FIRST: u32 = 175;

/// A layout with a sampler of its own.
pub fn fixed(maker: &Maker) -> Result<Station> {
    let gpu = maker.gpu;
    let samplers = [maker.sampler];
    let bindings = [slot(0, SAMPLED, 1, FRAGMENT).immutable_samplers(&samplers)];
    let set_layout = gpu.set_layout("fixed", &bindings)?;
    let layout = gpu.pipeline_layout("fixed", &[set_layout], &[])?;
    let pipeline = maker.pipeline("fixed", spirv!("fixed.frag"), layout)?;
    let set = gpu.empty_set("fixed", maker.pool, set_layout)?;
    gpu.write_set(set, (0, 0), SAMPLED, &[Resource::Image(pixel(gpu, "fixed image", 180)?)]);
    Ok(only(pipeline, layout, vec![set]))
}
