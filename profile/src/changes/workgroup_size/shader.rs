//! Which compute shaders may run in workgroups of another size, and what becomes of them.
//!
//! Guarantees: such a shader neither shares memory nor waits within its workgroup, asks nothing of its subgroup, and knows of workgroups neither their
//! size nor their number nor its place in one. Refuses, as staying: all others, sizes that are specialised, odd sizes that would be halved.

use crate::spirv::{Inst, Module, Op, Operand};
use rspirv::spirv::{BuiltIn, Capability, Decoration, ExecutionMode, ExecutionModel, StorageClass};

/// How large workgroups become.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum By {
    /// Half of it.
    Half,
    /// Twice as large.
    Double,
}

/// What becomes of a shader module.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Resized {
    /// It has no compute shader.
    NoCompute,
    /// It may not.
    Not,
    /// This, whose workgroups have another size along one axis, and are of this size.
    To { words: Vec<u32>, axis: usize, size: [u32; 3] },
}

/// What says a size of the workgroup, or a place in one.
const KNOWN: [BuiltIn; 8] = [
    BuiltIn::WorkgroupId,
    BuiltIn::NumWorkgroups,
    BuiltIn::LocalInvocationId,
    BuiltIn::LocalInvocationIndex,
    BuiltIn::SubgroupId,
    BuiltIn::NumSubgroups,
    BuiltIn::SubgroupSize,
    BuiltIn::SubgroupLocalInvocationId,
];

/// Whether a capability is about what invocations of a workgroup do together.
fn together(c: &Inst) -> bool {
    let Some(Operand::Capability(c)) = c.inst.operands.first() else { return true };
    // (by their names, as extensions bring more of them)
    let name = format!("{c:?}");
    let of = ["Group", "Subgroup", "Cooperative", "ComputeDerivative", "WorkgroupMemory"];
    *c != Capability::Shader && of.iter().any(|n| name.starts_with(n))
}

/// Whether an instruction decorates something as this built-in value.
fn is_built_in(i: &Inst, which: &[BuiltIn]) -> bool {
    i.inst.operands.contains(&Operand::Decoration(Decoration::BuiltIn))
        && i.inst.operands.iter().any(|o| matches!(o, Operand::BuiltIn(b) if which.contains(b)))
}

/// Whether a module's workgroups are nothing but a number of invocations.
fn divisible(m: &Module) -> bool {
    let shared = |i: &Inst| {
        i.op() == Op::Variable
            && i.inst.operands.first() == Some(&Operand::StorageClass(StorageClass::Workgroup))
    };
    let waits = |i: &Inst| matches!(i.op(), Op::ControlBarrier | Op::MemoryBarrier);
    !m.capabilities.iter().any(together)
        && !m.annotations.iter().any(|i| is_built_in(i, &KNOWN))
        && !m.globals.iter().any(shared)
        && !m.functions.iter().flat_map(|f| f.insts()).any(waits)
}

/// The size as its mode says it: the mode's index, and the three numbers.
fn local_size(m: &Module) -> Option<(usize, [u32; 3])> {
    let is = |i: &Inst| i.inst.operands.get(1) == Some(&Operand::ExecutionMode(ExecutionMode::LocalSize));
    let at = m.modes.iter().position(is)?;
    let number = |n: usize| match m.modes[at].inst.operands.get(2 + n) {
        Some(Operand::LiteralBit32(n)) => Some(*n),
        _ => None,
    };
    Some((at, [number(0)?, number(1)?, number(2)?]))
}

/// Takes away what says the size in addition to its mode: a constant that nothing uses. Not if something does, it is specialised, or of another size.
fn without_constant(m: &mut Module, size: [u32; 3]) -> bool {
    let Some(at) = m.annotations.iter().position(|i| is_built_in(i, &[BuiltIn::WorkgroupSize])) else {
        return true;
    };
    let Some(id) = m.annotations[at].id_at(0) else { return false };
    let part = |i: &Inst, n: usize| match m.global(i.id_at(n)?)?.inst.operands.first() {
        Some(Operand::LiteralBit32(n)) => Some(*n),
        _ => None,
    };
    let plain = m
        .global(id)
        .is_some_and(|i| i.op() == Op::ConstantComposite && (0..3).all(|n| part(i, n) == Some(size[n])));
    let uses = |i: &Inst| i.inst.operands.contains(&Operand::IdRef(id));
    let used = m.functions.iter().flat_map(|f| f.insts()).chain(&m.globals).any(uses);
    if plain && !used {
        m.annotations.remove(at);
    }
    plain && !used
}

/// What becomes of a shader module.
pub fn resized(words: &[u32], by: By) -> Resized {
    let Ok(mut m) = Module::read(words) else { return Resized::NoCompute };
    let computes =
        |e: &Inst| e.inst.operands.first() == Some(&Operand::ExecutionModel(ExecutionModel::GLCompute));
    if !m.entry_points.iter().any(computes) {
        return Resized::NoCompute;
    }
    let Some((mode, mut size)) = local_size(&m).filter(|_| m.entry_points.len() == 1) else {
        return Resized::Not;
    };
    let axis = match by {
        // The largest that can be halved; of equal ones the last, as neighbours in a row stay together.
        By::Half => (0..3).filter(|a| size[*a].is_multiple_of(2) && size[*a] > 0).max_by_key(|a| size[*a]),
        By::Double => Some(0),
    };
    let Some(axis) = axis.filter(|_| divisible(&m) && without_constant(&mut m, size)) else {
        return Resized::Not;
    };
    size[axis] = match by {
        By::Half => size[axis] / 2,
        By::Double => size[axis].saturating_mul(2),
    };
    m.modes[mode].inst.operands[2 + axis] = Operand::LiteralBit32(size[axis]);
    Resized::To { words: m.words(), axis, size }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::testing::assembled;

    /// A shader that writes where its global id says.
    const TEXT: &str = "\
OpCapability Shader
OpMemoryModel Logical GLSL450
OpEntryPoint GLCompute %main \"main\" %id
OpExecutionMode %main LocalSize 8 8 1
OpDecorate %id BuiltIn GlobalInvocationId
OpDecorate %size BuiltIn WorkgroupSize
%void = OpTypeVoid
%to = OpTypeFunction %void
%uint = OpTypeInt 32 0
%uint3 = OpTypeVector %uint 3
%in = OpTypePointer Input %uint3
%id = OpVariable %in Input
%one = OpConstant %uint 1
%eight = OpConstant %uint 8
%size = OpConstantComposite %uint3 %eight %eight %one
%main = OpFunction %void None %to
%first = OpLabel
%where = OpLoad %uint3 %id
OpReturn
OpFunctionEnd
";

    fn of(text: &str, by: By) -> Option<Resized> {
        Some(resized(&assembled(text, "vulkan1.2")?, by))
    }

    #[test]
    fn workgroups_that_share_nothing_are_halved_and_doubled() {
        for (by, becomes, along) in [(By::Half, [8, 4, 1], 1), (By::Double, [16, 8, 1], 0)] {
            let Some(Resized::To { words, axis, size }) = of(TEXT, by) else { panic!("it may") };
            assert_eq!((axis, size), (along, becomes));
            let m = Module::read(&words).expect("a module");
            assert_eq!(local_size(&m).map(|l| l.1), Some(becomes));
            assert!(
                !m.annotations.iter().any(|i| is_built_in(i, &[BuiltIn::WorkgroupSize])),
                "one size alone"
            );
        }
    }

    #[test]
    fn workgroups_that_are_more_than_a_number_of_invocations_stay() {
        for (from, to) in [
            ("BuiltIn GlobalInvocationId", "BuiltIn WorkgroupId"),
            ("BuiltIn GlobalInvocationId", "BuiltIn LocalInvocationIndex"),
            (
                "%where = OpLoad %uint3 %id",
                "%where = OpLoad %uint3 %id\nOpControlBarrier %eight %eight %eight",
            ),
            ("%where = OpLoad %uint3 %id", "%where = OpIAdd %uint3 %size %size"),
            ("OpCapability Shader", "OpCapability Shader\nOpCapability GroupNonUniform"),
            (
                "%one = OpConstant",
                "%shared = OpTypePointer Workgroup %uint\n%s = OpVariable %shared Workgroup\n%one = OpConstant",
            ),
            (
                "%eight %eight %one\n",
                "%eight %eight %one\n%spec = OpSpecConstantComposite %uint3 %eight %eight %one\n",
            ),
        ] {
            let text = TEXT.replace(from, to);
            let text =
                if to.contains("%spec") { text.replace("%size BuiltIn", "%spec BuiltIn") } else { text };
            assert_eq!(of(&text, By::Half), Some(Resized::Not), "{to}");
        }
        let vertex = TEXT.replace("GLCompute", "Fragment").replace("LocalSize 8 8 1", "OriginUpperLeft");
        assert_eq!(of(&vertex, By::Half), Some(Resized::NoCompute));
        let odd = TEXT.replace("LocalSize 8 8 1", "LocalSize 7 5 1");
        assert_eq!(of(&odd, By::Half), Some(Resized::Not));
    }
}
