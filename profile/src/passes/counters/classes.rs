//! Which class every SPIR-V instruction is of, in the terms of VK_ARM_shader_instrumentation's proposal: fma, cvt, sfu, ls,
//! tex, var.
//!
//! The proposal names the classes and not what is in them; Arm's description of the units they are called after is
//! followed. `fma`: floating-point additions and multiplications, integer multiplications, what is made of them (dot
//! products, matrices, derivatives). `cvt`: conversions, integer additions, comparisons, logic, shifts, selections, and
//! what subgroups compute together. `sfu`: divisions, roots, transcendental functions. `ls`: memory: buffers, push
//! constants, shared memory, payloads, outputs, inputs that nobody interpolates, storage images, atomics. `tex`: sampling,
//! gathering, fetching. `var`: interpolated inputs of fragment shaders.
//!
//! An instruction counts once, however many components it computes: it is what SPIR-V says, not what a compiler makes of
//! it. What has no class is listed with the reason: moves, addresses, control flow, barriers, ray tracing, and what no
//! shader may use. A test walks the grammar, so that none is passed over; instructions of a later grammar, and of extended
//! sets other than GLSL.std.450, are `Unknown` and named in the trace.

use crate::Stage;
use crate::spirv::{Inst, Module, Op, Operand};
use rspirv::grammar::{GLSL_STD_450_INSTRUCTION_TABLE, INSTRUCTION_TABLE};
use rspirv::spirv::{Decoration, StorageClass};
use std::collections::{HashMap, HashSet};
use std::sync::LazyLock;

/// See the module's header.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
#[expect(missing_docs, reason = "the classes are described at the head of the file")]
pub enum Class {
    Fma,
    Cvt,
    Sfu,
    Ls,
    Tex,
    Var,
    /// None of them, and why.
    None,
    /// Nothing is known of it.
    Unknown,
    /// `Ls`, `Var` or none, by what the pointer points to.
    ByPointer,
}

/// The classes that are counted, in the table's order: name, description.
pub const CLASSES: [(&str, &str); 6] = [
    ("fma", "Fused multiply accumulate operations"),
    ("cvt", "Arithmetic convert operations"),
    ("sfu", "Special functions operations"),
    ("ls", "Load/store operations"),
    ("tex", "Texture operations"),
    ("var", "Varying operations"),
];

impl Class {
    /// Which of [`CLASSES`].
    pub fn index(self) -> Option<usize> {
        match self {
            Class::Fma => Some(0),
            Class::Cvt => Some(1),
            Class::Sfu => Some(2),
            Class::Ls => Some(3),
            Class::Tex => Some(4),
            Class::Var => Some(5),
            _ => None,
        }
    }
}

/// Names of opcodes without `Op`; a star stands for any rest. What is named without a star counts before what is not,
/// and a longer beginning before a shorter.
type Rules = &'static [(Class, &'static str)];

/// The core grammar.
const CORE: Rules = &[
    (
        Class::Fma,
        "FAdd FSub FMul FNegate FmaKHR VectorTimesScalar MatrixTimes* VectorTimesMatrix OuterProduct Dot IMul \
         UMulExtended SMulExtended SDot* UDot* SUDot* DPdx* DPdy* Fwidth* CooperativeMatrixMulAdd* \
         CooperativeVectorMatrixMul* CooperativeVectorOuterProductAccumulateNV CooperativeVectorReduceSumAccumulateNV \
         CooperativeMatrixReduceNV UMul32x16INTEL IMul32x16INTEL",
    ),
    (
        Class::Cvt,
        "ConvertFToU ConvertFToS ConvertSToF ConvertUToF UConvert SConvert FConvert QuantizeToF16 SatConvert* \
         ConvertFToBF16INTEL ConvertBF16ToFINTEL RoundFToTF32INTEL CooperativeMatrixConvertNV SNegate IAdd ISub \
         IAddCarry ISubBorrow Any All IsNan IsInf IsFinite IsNormal SignBitSet LessOrGreater Ordered Unordered Logical* \
         Select IEqual INotEqual UGreater* SGreater* ULess* SLess* FOrd* FUnord* Shift* Bitwise* Not BitField* \
         BitReverse BitCount UCount* AbsISubINTEL AbsUSubINTEL IAddSatINTEL UAddSatINTEL IAverage* UAverage* ISubSatINTEL \
         USubSatINTEL PtrEqual PtrNotEqual PtrDiff GroupNonUniform* GroupAll GroupAny GroupBroadcast GroupIAdd* GroupFAdd* \
         GroupFMin* GroupUMin* GroupSMin* GroupFMax* GroupUMax* GroupSMax* GroupIMulKHR GroupFMulKHR GroupBitwise* \
         GroupLogical* SubgroupBallotKHR SubgroupFirstInvocationKHR SubgroupAllKHR SubgroupAnyKHR SubgroupAllEqualKHR \
         SubgroupReadInvocationKHR SubgroupShuffle*",
    ),
    (Class::Sfu, "UDiv SDiv FDiv UMod SRem SMod FRem FMod"),
    (Class::ByPointer, "Load Store CopyMemory CopyMemorySized"),
    (
        Class::Ls,
        "Atomic* ImageRead ImageWrite ImageSparseRead ImageQuery* ArrayLength UntypedArrayLengthKHR EmitVertex \
         EmitStreamVertex WritePackedPrimitiveIndices4x8NV CooperativeMatrixLoad* CooperativeMatrixStore* \
         CooperativeVectorLoadNV CooperativeVectorStoreNV TensorReadARM TensorWriteARM TensorQuerySizeARM \
         ColorAttachmentReadEXT DepthAttachmentReadEXT StencilAttachmentReadEXT UntypedPrefetchKHR SubgroupBlockReadINTEL \
         SubgroupBlockWriteINTEL SubgroupImageBlock* SubgroupImageMediaBlock* FetchMicroTriangle* MaskedGatherINTEL \
         MaskedScatterINTEL Subgroup2DBlock* SubgroupBlockPrefetchINTEL",
    ),
    (
        Class::Tex,
        "ImageSample* ImageFetch ImageGather ImageDrefGather ImageSparseSample* ImageSparseFetch ImageSparseGather \
         ImageSparseDrefGather ImageQueryLod ImageBoxFilterQCOM ImageBlockMatch* FragmentMaskFetchAMD FragmentFetchAMD",
    ),
    // Moves between registers, and what only renames a value.
    (
        Class::None,
        "Nop Undef Phi Variable VectorExtractDynamic VectorInsertDynamic VectorShuffle Composite* CopyObject CopyLogical \
         Transpose Bitcast BitCastArrayQCOM ExtractSubArrayQCOM CooperativeMatrixLengthKHR CooperativeMatrixLengthNV \
         CooperativeMatrixTransposeNV CooperativeMatrixPerElementOpNV SampledImage Image ImageSparseTexelsResident \
         IsHelperInvocationEXT SizeOf ArithmeticFenceEXT ReadClockKHR ExpectKHR AssumeTrueKHR BitwiseFunctionINTEL \
         ConditionalCopyObjectINTEL FPGARegALTERA",
    ),
    // Addresses.
    (
        Class::None,
        "AccessChain InBoundsAccessChain PtrAccessChain InBoundsPtrAccessChain UntypedAccessChainKHR \
         UntypedInBoundsAccessChainKHR UntypedPtrAccessChainKHR UntypedInBoundsPtrAccessChainKHR RawAccessChainNV \
         ImageTexelPointer UntypedImageTexelPointerEXT ConvertPtrToU ConvertUToPtr ConvertUToAccelerationStructureKHR \
         ConvertUTo* ConvertImageToUNV ConvertSamplerToUNV ConvertSampledImageToUNV ConvertHandle* BufferPointerEXT \
         SamplerImageAddressingModeNV UntypedVariableKHR CreateTensor* TensorLayout* TensorView* PtrCast* GenericCast* \
         GenericPtrMemSemantics CrossWorkgroupCastToPtrALTERA",
    ),
    // Control flow, barriers, and what begins or ends invocations and primitives.
    (
        Class::None,
        "Function* LoopMerge SelectionMerge Label Branch* Switch Kill Return* Unreachable TerminateInvocation \
         DemoteToHelperInvocation ControlBarrier* MemoryBarrier Lifetime* BeginInvocationInterlockEXT \
         EndInvocationInterlockEXT EndPrimitive EndStreamPrimitive EmitMeshTasksEXT SetMeshOutputsEXT ReorderThread*",
    ),
    // Ray tracing: done by units of its own.
    (
        Class::None,
        "Trace* ExecuteCallable* IgnoreIntersection* TerminateRay* ReportIntersectionKHR RayQuery* HitObject*",
    ),
    // Extended instructions: by their set.
    (Class::Unknown, "ExtInst ExtInstWithForwardRefsKHR"),
    // What is said and not done.
    (
        Class::None,
        "Source* Name MemberName String Line NoLine Extension ExtInstImport MemoryModel EntryPoint ExecutionMode* \
         Capability Type* Constant* SpecConstant* Decorat* MemberDecorate* GroupDecorate GroupMemberDecorate \
         ModuleProcessed Conditional* Graph* Alias* LoopControlINTEL",
    ),
    // What only kernels may use, and node payloads, of which nobody says how they work.
    (
        Class::None,
        "GroupAsyncCopy UntypedGroupAsyncCopyKHR GroupWaitEvents *Pipe* EnqueueMarker EnqueueKernel GetKernel* RetainEvent \
         ReleaseEvent CreateUserEvent IsValidEvent SetUserEventStatus CaptureEventProfilingInfo GetDefaultQueue \
         BuildNDRange IsValidReserveId NamedBarrierInitialize MemoryNamedBarrier SubgroupAvc* VmeImageINTEL \
         VariableLengthArrayINTEL UntypedVariableLengthArrayINTEL SaveMemoryINTEL RestoreMemoryINTEL ArbitraryFloat* Fixed* \
         TaskSequence* AsmTargetINTEL AsmINTEL AsmCallINTEL SubgroupMatrixMultiplyAccumulateINTEL AllocateNodePayloadsAMDX \
         EnqueueNodePayloadsAMDX FinishWritingNodePayloadAMDX NodePayloadArrayLengthAMDX IsNodePayloadValidAMDX",
    ),
];

/// GLSL.std.450.
const GLSL: Rules = &[
    (Class::Fma, "Fma FMix IMix Determinant Cross FaceForward Reflect Radians Degrees Step SmoothStep"),
    (
        Class::Cvt,
        "Round RoundEven Trunc FAbs SAbs FSign SSign Floor Ceil Fract FMin UMin SMin FMax UMax SMax FClamp UClamp SClamp \
         NMin NMax NClamp Pack* Unpack* FindILsb FindSMsb FindUMsb Ldexp Frexp FrexpStruct Modf ModfStruct",
    ),
    (
        Class::Sfu,
        "Sin Cos Tan Asin Acos Atan Sinh Cosh Tanh Asinh Acosh Atanh Atan2 Pow Exp Log Exp2 Log2 Sqrt InverseSqrt \
         MatrixInverse Length Distance Normalize Refract",
    ),
    (Class::Var, "InterpolateAt*"),
];

/// How well a pattern fits a name: nothing where it does not.
fn fits(pattern: &str, name: &str) -> Option<usize> {
    match (pattern.strip_prefix('*'), pattern.strip_suffix('*')) {
        (Some(inner), Some(_)) => name.contains(inner.trim_end_matches('*')).then_some(0),
        (None, Some(beginning)) => name.starts_with(beginning).then_some(beginning.len()),
        _ => (pattern == name).then_some(usize::MAX),
    }
}

fn by_rules(rules: Rules, name: &str) -> Option<Class> {
    let all = rules.iter().flat_map(|(class, names)| names.split_whitespace().map(move |n| (*class, n)));
    all.filter_map(|(class, n)| fits(n, name).map(|f| (f, class))).max_by_key(|f| f.0).map(|f| f.1)
}

static CORE_CLASSES: LazyLock<HashMap<Op, Class>> = LazyLock::new(|| {
    let of = |i: &rspirv::grammar::Instruction<'static>| Some((i.opcode, by_rules(CORE, i.opname)?));
    INSTRUCTION_TABLE.iter().filter_map(of).collect()
});

static GLSL_CLASSES: LazyLock<HashMap<u32, Class>> = LazyLock::new(|| {
    GLSL_STD_450_INSTRUCTION_TABLE
        .iter()
        .filter_map(|i| Some((i.opcode.into(), by_rules(GLSL, i.opname)?)))
        .collect()
});

/// What of a module tells instructions' classes.
pub struct Classes<'m> {
    module: &'m Module,
    stage: Stage,
    /// The extended instruction set GLSL.std.450.
    glsl: HashSet<u32>,
    built_ins: HashSet<u32>,
    /// Types of results, and where pointers come from.
    defined: HashMap<u32, (Op, Option<u32>, Option<u32>)>,
}

impl<'m> Classes<'m> {
    /// Of an untouched module.
    pub fn new(module: &'m Module, stage: Stage) -> Self {
        let is_glsl = |i: &&Inst| match i.inst.operands.first() {
            Some(Operand::LiteralString(s)) => s == "GLSL.std.450",
            _ => false,
        };
        let mut built_ins = HashSet::new();
        let built_in = Operand::Decoration(Decoration::BuiltIn);
        for a in &module.annotations {
            match a.op() {
                Op::Decorate if a.inst.operands.get(1) == Some(&built_in) => built_ins.extend(a.id_at(0)),
                // A block of built-ins, as gl_PerVertex is.
                Op::MemberDecorate if a.inst.operands.get(2) == Some(&built_in) => {
                    built_ins.extend(a.id_at(0));
                }
                _ => {}
            }
        }
        let functions = module.functions.iter().flat_map(|f| f.params.iter().chain(f.insts()));
        let define = |i: &Inst| Some((i.id()?, (i.op(), i.inst.result_type, i.id_at(0))));
        Classes {
            module,
            stage,
            glsl: module.imports.iter().filter(is_glsl).filter_map(Inst::id).collect(),
            built_ins,
            defined: module.globals.iter().chain(functions).filter_map(define).collect(),
        }
    }

    /// The class of an instruction.
    pub fn of(&self, i: &Inst) -> Class {
        match i.op() {
            Op::ExtInst => match (i.id_at(0), i.inst.operands.get(1)) {
                (Some(set), Some(Operand::LiteralExtInstInteger(n))) if self.glsl.contains(&set) => {
                    GLSL_CLASSES.get(n).copied().unwrap_or(Class::Unknown)
                }
                _ => Class::Unknown,
            },
            op => match CORE_CLASSES.get(&op).copied().unwrap_or(Class::Unknown) {
                Class::ByPointer => self.by_pointer(i),
                class => class,
            },
        }
    }

    /// A copy is as its dearer side.
    fn by_pointer(&self, i: &Inst) -> Class {
        let sides = if matches!(i.op(), Op::CopyMemory | Op::CopyMemorySized) { 2 } else { 1 };
        let all = (0..sides).filter_map(|n| i.id_at(n)).map(|p| self.pointer(p));
        let cost = |c: &Class| match c {
            Class::None => 0,
            Class::Var => 1,
            _ => 2,
        };
        all.max_by_key(cost).unwrap_or(Class::Unknown)
    }

    fn pointer(&self, pointer: u32) -> Class {
        // Up to the variable that it is of, where it is of one.
        let mut at = pointer;
        let mut through_built_in = false;
        while let Some((op, ty, base)) = self.defined.get(&at) {
            through_built_in |= self.is_built_in_block(*ty);
            match op {
                Op::AccessChain | Op::InBoundsAccessChain | Op::CopyObject => match base {
                    Some(b) => at = *b,
                    None => break,
                },
                _ => break,
            }
        }
        let ty = self.defined.get(&pointer).and_then(|d| d.1).and_then(|t| self.module.global(t));
        let Some(Operand::StorageClass(class)) = ty.and_then(|t| t.inst.operands.first()) else {
            return Class::Unknown;
        };
        let built_in = through_built_in || self.built_ins.contains(&at);
        match class {
            // Registers, and what is only named by a pointer: images, samplers, acceleration structures.
            StorageClass::Function | StorageClass::Private | StorageClass::UniformConstant => Class::None,
            StorageClass::Input if built_in => Class::None,
            StorageClass::Input if self.stage == Stage::Fragment => Class::Var,
            _ => Class::Ls,
        }
    }

    /// A pointer to a block whose members are built-ins, or to an array of such.
    fn is_built_in_block(&self, pointer: Option<u32>) -> bool {
        let mut ty = pointer.and_then(|t| self.module.global(t)).and_then(|p| p.id_at(1));
        while let Some(t) = ty {
            if self.built_ins.contains(&t) {
                return true;
            }
            ty = self.module.global(t).filter(|t| t.op() == Op::TypeArray).and_then(|t| t.id_at(0));
        }
        false
    }

    /// What an instruction is called: of an extended one its set and number.
    pub fn name(&self, i: &Inst) -> String {
        if i.op() != Op::ExtInst {
            return format!("Op{:?}", i.op());
        }
        let set = self.module.imports.iter().find(|s| s.id() == i.id_at(0));
        let set = match set.and_then(|s| s.inst.operands.first()) {
            Some(Operand::LiteralString(s)) => s.as_str(),
            _ => "an extended set",
        };
        match i.inst.operands.get(1) {
            Some(Operand::LiteralExtInstInteger(n)) => format!("{set} {n}"),
            _ => set.to_owned(),
        }
    }
}

/// How many instructions of each class a block has, those without one, and the names of those that are unknown.
pub fn of_block<'i>(
    classes: &Classes<'_>,
    body: impl Iterator<Item = &'i Inst>,
) -> ([u32; 6], u32, Vec<String>) {
    let (mut counts, mut rest, mut unknown) = ([0; 6], 0, Vec::new());
    for i in body {
        let class = classes.of(i);
        match class.index() {
            Some(n) => counts[n] += 1,
            None => rest += 1,
        }
        if class == Class::Unknown {
            unknown.push(classes.name(i));
        }
    }
    unknown.sort();
    unknown.dedup();
    (counts, rest, unknown)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn every_instruction_of_the_grammar_has_one_class() {
        let missing: Vec<_> = INSTRUCTION_TABLE
            .iter()
            .filter(|i| !CORE_CLASSES.contains_key(&i.opcode))
            .map(|i| i.opname)
            .collect();
        assert_eq!(missing, [] as [&str; 0]);
        assert!(CORE_CLASSES.len() > 850, "{}", CORE_CLASSES.len());
        let missing: Vec<_> = GLSL_STD_450_INSTRUCTION_TABLE
            .iter()
            .filter(|i| !GLSL_CLASSES.contains_key(&i.opcode.into()))
            .map(|i| i.opname)
            .collect();
        assert_eq!(missing, [] as [&str; 0]);
    }

    #[test]
    fn no_rule_is_there_for_nothing_and_none_twice() {
        let core: Vec<&str> = INSTRUCTION_TABLE.iter().map(|i| i.opname).collect();
        let glsl: Vec<&str> = GLSL_STD_450_INSTRUCTION_TABLE.iter().map(|i| i.opname).collect();
        for (rules, names) in [(CORE, core), (GLSL, glsl)] {
            let mut seen = HashSet::new();
            for pattern in rules.iter().flat_map(|r| r.1.split_whitespace()) {
                assert!(names.iter().any(|n| fits(pattern, n).is_some()), "{pattern} fits nothing");
                assert!(seen.insert(pattern), "{pattern} twice");
            }
            // Where two rules of different classes fit a name equally well, the table would not say what it means.
            for n in names {
                let all = rules.iter().flat_map(|r| r.1.split_whitespace().map(|p| (r.0, p)));
                let mut fit: Vec<_> = all.filter_map(|(c, p)| fits(p, n).map(|f| (f, c))).collect();
                fit.sort_by_key(|f| std::cmp::Reverse(f.0));
                if let [a, b, ..] = fit[..] {
                    assert!(a.0 != b.0 || a.1 == b.1, "{n}: {a:?}, {b:?}");
                }
            }
        }
    }

    #[test]
    fn examples() {
        for (op, class) in [
            (Op::FAdd, Class::Fma),
            (Op::IMul, Class::Fma),
            (Op::IAdd, Class::Cvt),
            (Op::ConvertSToF, Class::Cvt),
            (Op::ConvertUToImageNV, Class::None),
            (Op::FDiv, Class::Sfu),
            (Op::AtomicIAdd, Class::Ls),
            (Op::ImageQueryLod, Class::Tex),
            (Op::ImageQuerySize, Class::Ls),
            (Op::ImageSampleDrefExplicitLod, Class::Tex),
            (Op::TraceRayKHR, Class::None),
            (Op::BranchConditional, Class::None),
        ] {
            assert_eq!(CORE_CLASSES[&op], class, "{op:?}");
        }
        // Sqrt, Fma.
        assert_eq!(GLSL_CLASSES[&31], Class::Sfu);
        assert_eq!(GLSL_CLASSES[&50], Class::Fma);
    }
}
