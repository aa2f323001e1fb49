//! What each instruction makes of what it is given: the opcodes whose results are the same wherever their operands are.
//!
//! An opcode that is not named here is taken to differ between invocations.

use super::module_facts::ModuleFacts;
use crate::Stage;
use crate::spirv::{Inst, Op, Operand};
use rspirv::spirv::{BuiltIn, Decoration, Dim, GroupOperation, StorageClass};

/// How an instruction's result comes about.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Rule {
    /// Alike where its operands are.
    Pure,
    /// Alike for all that execute it together, whatever its operands are: it is of the subgroup.
    Subgroup,
    /// Alike for all that execute it together where its operands from this one on are.
    SubgroupIf(usize),
    /// May differ.
    Differs,
}

/// The rule of an instruction that is no phi, call or load.
pub(super) fn rule(m: &ModuleFacts<'_>, i: &Inst) -> Rule {
    use Op::*;
    match i.op() {
        // Pointers and composites.
        AccessChain
        | InBoundsAccessChain
        | PtrAccessChain
        | InBoundsPtrAccessChain
        | ArrayLength
        | CopyObject
        | CopyLogical
        | PtrEqual
        | PtrNotEqual
        | PtrDiff
        | ConvertPtrToU
        | ConvertUToPtr
        | VectorExtractDynamic
        | VectorInsertDynamic
        | VectorShuffle
        | CompositeConstruct
        | CompositeExtract
        | CompositeInsert
        | Transpose
        | CompositeConstructReplicateEXT
        | ConvertUToAccelerationStructureKHR => Rule::Pure,
        // Conversions.
        ConvertFToU | ConvertFToS | ConvertSToF | ConvertUToF | UConvert | SConvert | FConvert
        | QuantizeToF16 | SatConvertSToU | SatConvertUToS | Bitcast => Rule::Pure,
        // Arithmetic.
        SNegate | FNegate | IAdd | FAdd | ISub | FSub | IMul | FMul | UDiv | SDiv | FDiv | UMod | SRem
        | SMod | FRem | FMod | VectorTimesScalar | MatrixTimesScalar | VectorTimesMatrix
        | MatrixTimesVector | MatrixTimesMatrix | OuterProduct | Dot | IAddCarry | ISubBorrow
        | UMulExtended | SMulExtended | SDot | UDot | SUDot | SDotAccSat | UDotAccSat | SUDotAccSat
        | FmaKHR => Rule::Pure,
        // Bits.
        ShiftRightLogical | ShiftRightArithmetic | ShiftLeftLogical | BitwiseOr | BitwiseXor | BitwiseAnd
        | Not | BitFieldInsert | BitFieldSExtract | BitFieldUExtract | BitReverse | BitCount => Rule::Pure,
        // Logic and comparisons.
        Any
        | All
        | IsNan
        | IsInf
        | IsFinite
        | IsNormal
        | SignBitSet
        | LessOrGreater
        | Ordered
        | Unordered
        | LogicalEqual
        | LogicalNotEqual
        | LogicalOr
        | LogicalAnd
        | LogicalNot
        | Select
        | IEqual
        | INotEqual
        | UGreaterThan
        | SGreaterThan
        | UGreaterThanEqual
        | SGreaterThanEqual
        | ULessThan
        | SLessThan
        | ULessThanEqual
        | SLessThanEqual
        | FOrdEqual
        | FUnordEqual
        | FOrdNotEqual
        | FUnordNotEqual
        | FOrdLessThan
        | FUnordLessThan
        | FOrdGreaterThan
        | FUnordGreaterThan
        | FOrdLessThanEqual
        | FUnordLessThanEqual
        | FOrdGreaterThanEqual
        | FUnordGreaterThanEqual => Rule::Pure,
        // Images that are only read. Not where the level of detail is implicit: it comes from the quad, helper
        // invocations among it, whose coordinates may be others.
        SampledImage
        | Image
        | ImageFetch
        | ImageSampleExplicitLod
        | ImageSampleDrefExplicitLod
        | ImageSampleProjExplicitLod
        | ImageSampleProjDrefExplicitLod
        | ImageGather
        | ImageDrefGather
        | ImageSparseFetch
        | ImageSparseSampleExplicitLod
        | ImageSparseSampleDrefExplicitLod
        | ImageSparseGather
        | ImageSparseDrefGather
        | ImageSparseTexelsResident
        | ImageQuerySizeLod
        | ImageQuerySize
        | ImageQueryLevels
        | ImageQuerySamples => Rule::Pure,
        ImageRead | ImageSparseRead => image_read(m, i),
        ExtInst if m.is_glsl(i) => match i.inst.operands.get(1) {
            // InterpolateAtCentroid, InterpolateAtSample, InterpolateAtOffset.
            Some(Operand::LiteralExtInstInteger(76..=78)) | None => Rule::Differs,
            _ => Rule::Pure,
        },
        // Of the subgroup: execution scope first, then the operands.
        GroupNonUniformBroadcastFirst
        | GroupNonUniformAll
        | GroupNonUniformAny
        | GroupNonUniformAllEqual
        | GroupNonUniformBallot
        | SubgroupBallotKHR
        | SubgroupFirstInvocationKHR
        | SubgroupAllKHR
        | SubgroupAnyKHR
        | SubgroupAllEqualKHR => Rule::Subgroup,
        GroupNonUniformBroadcast => Rule::SubgroupIf(2),
        SubgroupReadInvocationKHR => Rule::SubgroupIf(1),
        // What a ballot says is arithmetic, if not counted up to this invocation.
        GroupNonUniformBallotBitExtract | GroupNonUniformBallotFindLSB | GroupNonUniformBallotFindMSB => {
            Rule::Pure
        }
        GroupNonUniformBallotBitCount if operation(i) == Some(GroupOperation::Reduce) => Rule::Pure,
        GroupNonUniformIAdd
        | GroupNonUniformFAdd
        | GroupNonUniformIMul
        | GroupNonUniformFMul
        | GroupNonUniformSMin
        | GroupNonUniformUMin
        | GroupNonUniformFMin
        | GroupNonUniformSMax
        | GroupNonUniformUMax
        | GroupNonUniformFMax
        | GroupNonUniformBitwiseAnd
        | GroupNonUniformBitwiseOr
        | GroupNonUniformBitwiseXor
        | GroupNonUniformLogicalAnd
        | GroupNonUniformLogicalOr
        | GroupNonUniformLogicalXor
            if operation(i) == Some(GroupOperation::Reduce) =>
        {
            Rule::Subgroup
        }
        _ => Rule::Differs,
    }
}

fn operation(i: &Inst) -> Option<GroupOperation> {
    i.inst.operands.iter().find_map(|o| match o {
        Operand::GroupOperation(g) => Some(*g),
        _ => None,
    })
}

fn image_read(m: &ModuleFacts<'_>, i: &Inst) -> Rule {
    let Some(image) = i.id_at(0) else { return Rule::Differs };
    if m.dim(image).is_none_or(|d| d == Dim::DimSubpassData || d == Dim::DimTileImageDataEXT) {
        return Rule::Differs;
    }
    let Some(v) = m.image_variable(image) else { return Rule::Differs };
    let shared = m.is(v, Decoration::Volatile) || m.is(v, Decoration::Coherent);
    let never_written = m.is(v, Decoration::NonWritable) && !m.is(v, Decoration::Aliased);
    if !shared && (never_written || !m.writes_images && !m.writes_storage) {
        Rule::Pure
    } else {
        Rule::Differs
    }
}

/// Whether a shader call may gather invocations of several subgroups into one, or part them.
pub(super) fn repacks(op: Op) -> bool {
    use Op::*;
    matches!(
        op,
        TraceRayKHR
            | TraceNV
            | TraceMotionNV
            | TraceRayMotionNV
            | ExecuteCallableKHR
            | ExecuteCallableNV
            | ReportIntersectionKHR
            | ReorderThreadWithHintNV
            | ReorderThreadWithHitObjectNV
            | ReorderThreadWithHintEXT
            | ReorderThreadWithHitObjectEXT
            | HitObjectTraceRayNV
            | HitObjectTraceRayMotionNV
            | HitObjectExecuteShaderNV
            | HitObjectTraceRayEXT
            | HitObjectTraceRayMotionEXT
            | HitObjectExecuteShaderEXT
            | HitObjectReorderExecuteShaderEXT
            | HitObjectTraceReorderExecuteEXT
            | HitObjectTraceMotionReorderExecuteEXT
    )
}

/// Whether memory of a class that nobody follows holds the same for all who read it at one address together.
pub(super) fn class_is_read_only(
    m: &ModuleFacts<'_>,
    pointer: u32,
    class: StorageClass,
    stage: Stage,
) -> bool {
    match class {
        StorageClass::UniformConstant | StorageClass::PushConstant => true,
        StorageClass::Uniform => m.is_uniform_block(pointer) || m.is_read_only(pointer),
        StorageClass::StorageBuffer | StorageClass::PhysicalStorageBuffer => m.is_read_only(pointer),
        // Each hit group, miss or callable shader may have many records; a launch has one ray-generation record.
        StorageClass::ShaderRecordBufferKHR => stage == Stage::RayGeneration,
        StorageClass::TaskPayloadWorkgroupEXT => stage == Stage::Mesh,
        StorageClass::Input => m.built_in(m.root(pointer).0).is_some_and(|b| built_in_is_uniform(b, stage)),
        _ => false,
    }
}

/// Built-ins that all of a subgroup share. A subgroup may hold vertices or fragments of several draws, instances,
/// primitives and views, but invocations of one workgroup or one launch only.
fn built_in_is_uniform(b: BuiltIn, stage: Stage) -> bool {
    let in_workgroup = matches!(stage, Stage::Compute | Stage::Task | Stage::Mesh);
    match b {
        BuiltIn::SubgroupSize | BuiltIn::DeviceIndex => true,
        BuiltIn::WorkgroupId
        | BuiltIn::NumWorkgroups
        | BuiltIn::WorkgroupSize
        | BuiltIn::SubgroupId
        | BuiltIn::NumSubgroups => in_workgroup,
        BuiltIn::DrawIndex => matches!(stage, Stage::Task | Stage::Mesh),
        BuiltIn::LaunchSizeKHR => stage.is_ray_tracing(),
        _ => false,
    }
}
