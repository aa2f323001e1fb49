//! What the grammar of SPIR-V says about the words of an instruction, in a form that is walked without making anything.
//!
//! Guarantees: one form for each opcode that the grammar of this build has. What enumerants bring with them is known of
//! memory operands and image operands; behind any other that may bring something, the words are not looked at.

use rspirv::grammar::{INSTRUCTION_TABLE, OperandKind, OperandQuantifier};
use rspirv::spirv::Op;
use std::sync::LazyLock;

/// What an operand is.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Kind {
    /// The type of the result.
    Type,
    /// The result.
    Result,
    /// An id.
    Id,
    /// A word that is no id.
    Word,
    /// A literal string.
    String,
    /// As many words as the type of the result wants.
    Number,
    /// As many words as the selector's type wants, and a label.
    Case,
    /// An id and a word.
    IdWord,
    /// Two ids.
    IdId,
    /// An opcode, and operands of it.
    Nested,
    /// Memory operands.
    Memory,
    /// Image operands.
    Image,
    /// A word that may bring others: what follows is not looked at.
    Open,
}

/// How often an operand is there.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Count {
    One,
    AtMostOne,
    Any,
}

/// The operands of an opcode.
#[derive(Debug)]
pub(super) struct Form {
    /// Its operation.
    pub op: Op,
    /// In order.
    pub operands: Vec<(Kind, Count)>,
    /// Its ids may be defined behind it.
    pub looks_ahead: bool,
    /// It may stand inside OpSpecConstantOp, as far as its words say.
    pub nests: bool,
}

/// By opcode, one more than the index of its form; and the forms.
static FORMS: LazyLock<(Vec<u16>, Vec<Form>)> = LazyLock::new(|| {
    let (mut at, mut forms) = (Vec::new(), Vec::new());
    for i in INSTRUCTION_TABLE.iter() {
        let opcode = i.opcode as usize;
        if at.len() <= opcode {
            at.resize(opcode + 1, 0);
        }
        let mut operands: Vec<(Kind, Count)> =
            i.operands.iter().map(|o| (kind(o.kind), count(o.quantifier))).collect();
        if i.opcode == Op::ExtInst || i.opcode == Op::ExtInstWithForwardRefsKHR {
            // The operands of some sets are literals (OpenCL.DebugInfo.100).
            operands.truncate(4);
        }
        let whole = |k: &(Kind, Count)| matches!(k.0, Kind::Number | Kind::Case | Kind::Nested);
        let nests = !operands.iter().any(whole);
        forms.push(Form { op: i.opcode, operands, looks_ahead: looks_ahead(i), nests });
        at[opcode] = forms.len() as u16;
    }
    (at, forms)
});

/// The form of an opcode; none if the grammar does not have it.
pub(super) fn of(opcode: u32) -> Option<&'static Form> {
    let (at, forms) = &*FORMS;
    let n = *at.get(opcode as usize)?;
    forms.get(usize::from(n).checked_sub(1)?)
}

fn count(q: OperandQuantifier) -> Count {
    match q {
        OperandQuantifier::One => Count::One,
        OperandQuantifier::ZeroOrOne => Count::AtMostOne,
        OperandQuantifier::ZeroOrMore => Count::Any,
    }
}

fn kind(k: OperandKind) -> Kind {
    use OperandKind as K;
    match k {
        K::IdResultType => Kind::Type,
        K::IdResult => Kind::Result,
        K::IdRef | K::IdScope | K::IdMemorySemantics => Kind::Id,
        K::LiteralString => Kind::String,
        K::LiteralContextDependentNumber => Kind::Number,
        K::PairLiteralIntegerIdRef => Kind::Case,
        K::PairIdRefLiteralInteger => Kind::IdWord,
        K::PairIdRefIdRef => Kind::IdId,
        K::LiteralSpecConstantOpInteger => Kind::Nested,
        K::MemoryAccess => Kind::Memory,
        K::ImageOperands => Kind::Image,
        // Without parameters, whatever their value is.
        K::LiteralInteger
        | K::LiteralExtInstInteger
        | K::SelectionControl
        | K::FunctionControl
        | K::SourceLanguage
        | K::ExecutionModel
        | K::AddressingModel
        | K::MemoryModel
        | K::StorageClass
        | K::Dim
        | K::SamplerAddressingMode
        | K::SamplerFilterMode
        | K::ImageFormat
        | K::AccessQualifier
        | K::GroupOperation
        | K::Capability
        | K::RayQueryIntersection
        | K::PackedVectorFormat
        | K::FPEncoding => Kind::Word,
        _ => Kind::Open,
    }
}

/// Names, decorations, modes, branches, calls and what OpPhi merges speak of what may come later. So do instructions that
/// take functions, and those of other worlds than Vulkan's, which nothing here follows.
fn looks_ahead(i: &rspirv::grammar::Instruction<'static>) -> bool {
    let elsewhere = |c: &rspirv::spirv::Capability| {
        let name = format!("{c:?}");
        ["Kernel", "INTEL", "ARM", "ALTERA", "DeviceEnqueue", "Graph"].iter().any(|x| name.contains(x))
    };
    matches!(
        i.opcode,
        Op::EntryPoint
            | Op::ExecutionMode
            | Op::ExecutionModeId
            | Op::Name
            | Op::MemberName
            | Op::Branch
            | Op::BranchConditional
            | Op::Switch
            | Op::SelectionMerge
            | Op::LoopMerge
            | Op::FunctionCall
            | Op::Phi
            | Op::ExtInst
            | Op::ExtInstWithForwardRefsKHR
            | Op::TypeForwardPointer
            | Op::CooperativeMatrixReduceNV
            | Op::CooperativeMatrixPerElementOpNV
            | Op::CooperativeMatrixLoadTensorNV
    ) || i.opcode.is_annotation()
        || i.capabilities.iter().any(elsewhere)
}
