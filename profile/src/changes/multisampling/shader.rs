//! What shaders that read several samples of a pixel become where there is one: they read that, whichever they ask for.
//!
//! Types of images lose their samples; of two types that are then the same, one is left, as SPIR-V wants it. Guarantees: shaders without such
//! images stay as they are. Refuses shaders that read how samples are packed (SPV_AMD_shader_fragment_mask).

use crate::spirv::{Inst, Module, Op, Operand, Types};
use rspirv::spirv::ImageOperands;
use std::collections::HashMap;

/// Operands of OpTypeImage: samples, and how it is used.
const SAMPLES: usize = 4;
const SAMPLED: usize = 5;
/// Used with a sampler.
const BY_SAMPLER: Operand = Operand::LiteralBit32(1);

/// Whether a type is one of images with several samples.
fn has_samples(i: &Inst) -> bool {
    i.op() == Op::TypeImage && i.inst.operands.get(SAMPLES) == Some(&Operand::LiteralBit32(1))
}

/// Types of which no two may be the same, of those that images are part of.
fn unique(op: Op) -> bool {
    matches!(op, Op::TypeImage | Op::TypeSampledImage | Op::TypeFunction)
}

/// All instructions that may name a type or a value.
fn all_mut(m: &mut Module) -> impl Iterator<Item = &mut Inst> {
    let functions = m.functions.iter_mut().flat_map(|f| {
        let blocks = f.blocks.iter_mut().flat_map(|b| &mut b.body);
        [&mut f.def].into_iter().chain(&mut f.params).chain(blocks)
    });
    m.entry_points
        .iter_mut()
        .chain(&mut m.names)
        .chain(&mut m.annotations)
        .chain(&mut m.globals)
        .chain(functions)
}

/// Names others where an instruction names an id.
fn rename(i: &mut Inst, others: &HashMap<u32, u32>) {
    let other = |id: &mut u32| *id = others.get(id).copied().unwrap_or(*id);
    i.inst.result_type.iter_mut().for_each(other);
    for o in &mut i.inst.operands {
        if let Operand::IdRef(id) = o {
            other(id);
        }
    }
}

/// Leaves one of types that have become the same.
fn merge(m: &mut Module) {
    let mut others: HashMap<u32, u32> = HashMap::new();
    let mut kept: HashMap<(Op, Vec<Operand>), u32> = HashMap::new();
    m.globals.retain_mut(|i| {
        rename(i, &others);
        let Some(id) = i.id().filter(|_| unique(i.op())) else { return true };
        match kept.get(&(i.op(), i.inst.operands.clone())) {
            Some(first) => {
                others.insert(id, *first);
                false
            }
            None => {
                kept.insert((i.op(), i.inst.operands.clone()), id);
                true
            }
        }
    });
    // (such types have names alone)
    let gone = |i: &Inst| i.id_at(0).is_some_and(|id| others.contains_key(&id));
    m.names.retain(|i| !gone(i));
    m.annotations.retain(|i| !gone(i));
    all_mut(m).for_each(|i| rename(i, &others));
}

/// Takes the sample out of what an instruction says of its image; `level`: what it says in its place, if it has to say a level.
fn without_sample(i: &mut Inst, level: Option<u32>) {
    let Some(at) = i.inst.operands.iter().position(|o| matches!(o, Operand::ImageOperands(_))) else {
        return;
    };
    let Operand::ImageOperands(mut mask) = i.inst.operands[at] else { return };
    if !mask.contains(ImageOperands::SAMPLE) {
        return;
    }
    // (in the order of their bits; of those before it a gradient has two)
    let before = mask.bits() & (ImageOperands::SAMPLE.bits() - 1);
    let two = u32::from(mask.contains(ImageOperands::GRAD));
    i.inst.operands.remove(at + 1 + (before.count_ones() + two) as usize);
    mask.remove(ImageOperands::SAMPLE);
    if let Some(level) = level {
        mask.insert(ImageOperands::LOD);
        i.inst.operands.insert(at + 1, Operand::IdRef(level));
    }
    i.inst.operands[at] = Operand::ImageOperands(mask);
    if mask.is_empty() {
        i.inst.operands.remove(at);
    }
}

/// What a shader becomes, if it is another: with one sample.
pub fn one_sample(words: &[u32]) -> Result<Option<Vec<u32>>, &'static str> {
    let Ok(mut m) = Module::read(words) else { return Ok(None) };
    if !m.globals.iter().any(has_samples) {
        return Ok(None);
    }
    let mut types = Types::new(&m);
    let zero = types.u32(&mut m, 0);
    // Images that a sampler reads have levels from now on: the types, and what is of them.
    let levels: Vec<u32> = m
        .globals
        .iter()
        .filter(|i| has_samples(i) && i.inst.operands.get(SAMPLED) == Some(&BY_SAMPLER))
        .filter_map(Inst::id)
        .collect();
    let values = m.functions.iter().flat_map(|f| f.insts().chain(&f.params));
    let with_levels: Vec<u32> = values
        .filter(|i| i.inst.result_type.is_some_and(|t| levels.contains(&t)))
        .filter_map(Inst::id)
        .collect();
    let ones: HashMap<u32, u32> = {
        let asked = m.functions.iter().flat_map(|f| f.insts()).filter(|i| i.op() == Op::ImageQuerySamples);
        let of: Vec<u32> = asked.filter_map(|i| i.inst.result_type).collect();
        let one = |ty: u32| (ty, types.get(&mut m, Op::Constant, Some(ty), vec![Operand::LiteralBit32(1)]));
        of.into_iter().map(one).collect()
    };
    for i in m.functions.iter_mut().flat_map(|f| &mut f.blocks).flat_map(|b| &mut b.body) {
        match i.op() {
            Op::ImageFetch | Op::ImageSparseFetch => without_sample(i, Some(zero)),
            Op::ImageRead | Op::ImageWrite | Op::ImageSparseRead => without_sample(i, None),
            Op::ImageTexelPointer => i.inst.operands[2] = Operand::IdRef(zero),
            Op::ImageQuerySize if i.id_at(0).is_some_and(|id| with_levels.contains(&id)) => {
                let operands = vec![i.inst.operands[0].clone(), Operand::IdRef(zero)];
                *i = Inst::new(Op::ImageQuerySizeLod, i.inst.result_type, i.id(), operands);
            }
            Op::ImageQuerySamples => {
                let one = i.inst.result_type.and_then(|t| ones.get(&t)).copied().unwrap_or(zero);
                *i = Inst::new(Op::CopyObject, i.inst.result_type, i.id(), vec![Operand::IdRef(one)]);
            }
            Op::FragmentMaskFetchAMD | Op::FragmentFetchAMD => {
                return Err("a shader reads how samples are packed (SPV_AMD_shader_fragment_mask)");
            }
            _ => {}
        }
    }
    for i in m.globals.iter_mut().filter(|i| has_samples(i)) {
        i.inst.operands[SAMPLES] = Operand::LiteralBit32(0);
    }
    merge(&mut m);
    Ok(Some(m.words()))
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::testing::{assembled, disassembled, invalid};

    /// Reads a sample of a sampled image, of an attachment and of a storage image, and asks for sizes; another image has one sample already.
    const TEXT: &str = "\
OpCapability Shader
OpCapability InputAttachment
OpCapability ImageQuery
OpCapability StorageImageMultisample
OpMemoryModel Logical GLSL450
OpEntryPoint Fragment %main \"main\" %a %b %c %d
OpExecutionMode %main OriginUpperLeft
OpDecorate %a DescriptorSet 0
OpDecorate %a Binding 0
OpDecorate %b DescriptorSet 0
OpDecorate %b Binding 1
OpDecorate %b InputAttachmentIndex 0
OpDecorate %c DescriptorSet 0
OpDecorate %c Binding 2
OpDecorate %d DescriptorSet 0
OpDecorate %d Binding 3
%void = OpTypeVoid
%to = OpTypeFunction %void
%int = OpTypeInt 32 1
%int2 = OpTypeVector %int 2
%float = OpTypeFloat 32
%float4 = OpTypeVector %float 4
%one = OpTypeImage %float 2D 0 0 0 1 Unknown
%onep = OpTypePointer UniformConstant %one
%many = OpTypeImage %float 2D 0 0 1 1 Unknown
%manyp = OpTypePointer UniformConstant %many
%input = OpTypeImage %float SubpassData 0 0 1 2 Unknown
%inputp = OpTypePointer UniformConstant %input
%storage = OpTypeImage %float 2D 0 0 1 2 Rgba8
%storagep = OpTypePointer UniformConstant %storage
%a = OpVariable %manyp UniformConstant
%b = OpVariable %inputp UniformConstant
%c = OpVariable %storagep UniformConstant
%d = OpVariable %onep UniformConstant
%three = OpConstant %int 3
%at = OpConstantComposite %int2 %three %three
%main = OpFunction %void None %to
%first = OpLabel
%1 = OpLoad %many %a
%2 = OpImageFetch %float4 %1 %at Sample %three
%3 = OpImageQuerySize %int2 %1
%4 = OpImageQuerySamples %int %1
%5 = OpLoad %input %b
%6 = OpImageRead %float4 %5 %at Sample %three
%7 = OpLoad %storage %c
%8 = OpImageQuerySize %int2 %7
OpImageWrite %7 %at %6 Sample %three
%9 = OpLoad %one %d
%10 = OpImageFetch %float4 %9 %at Lod %three
OpReturn
OpFunctionEnd
";

    #[test]
    fn one_sample_is_read_whichever_is_asked_for() {
        let Some(words) = assembled(TEXT, "vulkan1.2") else { return };
        let words = one_sample(&words).expect("it can be").expect("another");
        assert_eq!(invalid(&words, "vulkan1.2"), None);
        let text = disassembled(&words).expect("spirv-dis");
        assert!(!text.contains("Sample %") && !text.contains("OpImageQuerySamples"), "{text}");
        assert!(!text.contains(" 0 0 1 1 ") && !text.contains(" 0 0 1 2 "), "no image has several\n{text}");
        assert_eq!(text.matches("OpTypeImage").count(), 3, "two of four are the same\n{text}");
        for (what, n) in [("OpImageQuerySizeLod", 1), (" Lod %", 2), ("OpCopyObject", 1), ("OpImageFetch", 2)]
        {
            assert_eq!(text.matches(what).count(), n, "{what}\n{text}");
        }
        assert_eq!(one_sample(&words), Ok(None), "nothing is left");
    }
}
