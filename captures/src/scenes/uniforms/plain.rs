//! Tiles whose sets are plain: what is in blocks, and how sets are shared.

use ash::vk;

use super::station::{At, FRAGMENT, Maker, Station, UNIFORM, bytes};
use crate::error::Result;
use crate::gpu::Gpu;
use crate::gpu::pipeline::Resource;
use crate::gpu::sets::slot;

/// Where each draw's block of `members` begins.
const STRIDE: usize = 256;

/// A block that changes in every way: four draws, two in each of two passes; the layout's second binding no shader reads.
pub fn members(maker: &Maker) -> Result<Station> {
    let gpu = maker.gpu;
    let both = vk::ShaderStageFlags::VERTEX | FRAGMENT;
    let set = gpu.set_layout("members", &[slot(0, UNIFORM, 1, both), slot(1, UNIFORM, 1, FRAGMENT)])?;
    let layout = gpu.pipeline_layout("members", &[set], &[])?;
    let (vertex, fragment) = (spirv!("members.vert"), spirv!("members.frag"));
    let pipeline = maker.pipeline_of("members", vertex, fragment, layout)?;
    let objects = maker.block("objects", &[0; 4 * STRIDE / 4])?;
    let spare = maker.number("spare", 101)?;
    let mut sets = Vec::new();
    for draw in 0..4 {
        let made = maker.uniform_set(&format!("object {draw}"), set, &[objects, spare])?;
        let part =
            vk::DescriptorBufferInfo { buffer: objects.handle, offset: (draw * STRIDE) as u64, range: 128 };
        gpu.write_set(made, (0, 0), UNIFORM, &[Resource::Buffer(part)]);
        sets.push(made);
    }
    let draw = move |gpu: &Gpu, at: At, draws: [usize; 2]| {
        at.aim(gpu, None);
        at.pipeline(gpu, pipeline);
        for draw in draws {
            at.sets(gpu, layout, 0, &sets[draw..=draw], &[]);
            unsafe { gpu.device.cmd_draw(at.commands, 6, 1, 0, 0) };
        }
    };
    let (first, second) = (draw.clone(), draw);
    Ok(Station {
        host: Some(Box::new(move |_, at| {
            objects.write(&(0..4).flat_map(|draw| object(at.frame, draw)).collect::<Vec<_>>())
        })),
        first: Some(Box::new(move |gpu, at| first(gpu, at, [0, 1]))),
        second: Some(Box::new(move |gpu, at| second(gpu, at, [2, 3]))),
        ..Station::default()
    })
}

/// The block of a draw.
fn object(frame: u32, draw: u32) -> Vec<u8> {
    let x = -1.0 + 0.5 * draw as f32;
    let place = [[0.5, 0.0, 0.0, 0.0], [0.0, 2.0, 0.0, 0.0], [0.0, 0.0, 1.0, 0.0], [x, -1.0, 0.0, 1.0f32]];
    let mut words: Vec<u32> = place.into_iter().flatten().map(f32::to_bits).collect();
    words.extend([OBJECT_TINT, 11, 12, 13, 0, 0, 0, 0]);
    words.extend([(draw + 1) as f32, 0.0, 0.0, 1.0].map(f32::to_bits));
    words.extend([frame, draw, draw / 2 + 1]);
    words.resize(STRIDE / 4, 0);
    bytes(&words)
}

/// What the tile's pixels are made of besides frame, draw and pass.
pub const OBJECT_TINT: u32 = 3;

/// Three draws, three buffers, the same bytes.
pub fn duplicates(maker: &Maker) -> Result<Station> {
    let layout = maker.uniforms("duplicates", 1)?;
    let pipeline = maker.pipeline("duplicates", spirv!("duplicates.frag"), layout.pipeline)?;
    let mut sets = Vec::new();
    for lamp in 0..3 {
        let buffer = maker.block(&format!("lamp {lamp}"), &[21, 22, 23, 24])?;
        sets.push(maker.uniform_set(&format!("lamp {lamp}"), layout.set, &[buffer])?);
    }
    Ok(Station {
        first: Some(Box::new(move |gpu, at| {
            at.pipeline(gpu, pipeline);
            for (strip, set) in (0..).zip(&sets) {
                at.sets(gpu, layout.pipeline, 0, &[*set], &[]);
                at.draw(gpu, Some(strip));
            }
        })),
        ..Station::default()
    })
}

/// What a block may be made of.
pub fn shapes(maker: &Maker) -> Result<Station> {
    let layout = maker.uniforms("shapes", 1)?;
    let pipeline = maker.pipeline("shapes", spirv!("shapes.frag"), layout.pipeline)?;
    // In words: two rows of a mat3x2, an array of four with a stride of 16 bytes, three structures of eight words, …
    let mut words = vec![0; 4 * 2 + 4 * 4 + 3 * 8];
    words[4..7].copy_from_slice(&[1.0f32, 2.0, 30.0].map(f32::to_bits));
    for (index, value) in (0..).zip([31, 32, 33, 34]) {
        words[8 + index * 4] = value;
    }
    for (light, values) in
        [[41, 42, 43, 44, 45], [51, 52, 53, 54, 55], [61, 62, 63, 64, 65]].iter().enumerate()
    {
        words[24 + light * 8..][..5].copy_from_slice(values);
    }
    words.extend([71, 72, 73, 74]);
    words.extend([1.5f32.to_bits(); 16]);
    words.extend([2, 0, 0, 0]);
    let set = maker.uniform_set("shapes", layout.set, &[maker.block("shapes", &words)?])?;
    Ok(only(pipeline, layout.pipeline, vec![set]))
}

/// A tile that is one draw with these sets.
pub fn only(pipeline: vk::Pipeline, layout: vk::PipelineLayout, sets: Vec<vk::DescriptorSet>) -> Station {
    Station {
        first: Some(Box::new(move |gpu, at| {
            at.pipeline(gpu, pipeline);
            at.sets(gpu, layout, 0, &sets, &[]);
            at.draw(gpu, None);
        })),
        ..Station::default()
    }
}

/// Four draws, told apart by push constants.
pub fn constants(maker: &Maker) -> Result<Station> {
    let push = vk::PushConstantRange { stage_flags: FRAGMENT, offset: 0, size: 16 };
    let layout = maker.gpu.pipeline_layout("constants", &[], &[push])?;
    let pipeline = maker.pipeline("constants", spirv!("constants.frag"), layout)?;
    Ok(Station {
        first: Some(Box::new(move |gpu, at| {
            at.pipeline(gpu, pipeline);
            for draw in 0..4 {
                let words = bytes(&[draw + 1, 80, 0, 81 + draw]);
                unsafe { gpu.device.cmd_push_constants(at.commands, layout, FRAGMENT, 0, &words) };
                at.draw(gpu, Some(draw));
            }
        })),
        ..Station::default()
    })
}

/// A set whose descriptor was copied from another, which no draw has.
pub fn copied(maker: &Maker) -> Result<Station> {
    let layout = maker.uniforms("copied", 1)?;
    let pipeline = maker.pipeline("copied", spirv!("copied.frag"), layout.pipeline)?;
    let source = maker.uniform_set("copied from", layout.set, &[maker.number("copied", 90)?])?;
    let set = maker.gpu.empty_set("copied to", maker.pool, layout.set)?;
    let copy = vk::CopyDescriptorSet::default().src_set(source).dst_set(set).descriptor_count(1);
    unsafe { maker.gpu.device.update_descriptor_sets(&[], &[copy]) };
    Ok(only(pipeline, layout.pipeline, vec![set]))
}

/// Two pipelines; the set of the first stays bound for the second, whose layout is another one that begins alike.
pub fn shared(maker: &Maker) -> Result<Station> {
    let first = maker.uniforms("shared first", 1)?;
    let own = maker.uniforms("shared own", 1)?;
    let second = maker.gpu.pipeline_layout("shared second", &[first.set, own.set], &[])?;
    let pipelines = [
        maker.pipeline("shared first", spirv!("shared_first.frag"), first.pipeline)?,
        maker.pipeline("shared second", spirv!("shared_second.frag"), second)?,
    ];
    let common = maker.uniform_set("shared", first.set, &[maker.number("common", 100)?])?;
    let own = maker.uniform_set("shared own", own.set, &[maker.number("own", 7)?])?;
    Ok(Station {
        first: Some(Box::new(move |gpu, at| {
            at.pipeline(gpu, pipelines[0]);
            at.sets(gpu, first.pipeline, 0, &[common], &[]);
            at.draw(gpu, Some(0));
            at.pipeline(gpu, pipelines[1]);
            at.sets(gpu, second, 1, &[own], &[]);
            at.draw(gpu, Some(1));
        })),
        ..Station::default()
    })
}
