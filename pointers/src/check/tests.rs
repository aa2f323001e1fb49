//! Modules made by hand, each with one thing wrong.

use super::*;
use rspirv::spirv::StorageClass::PhysicalStorageBuffer;

fn inst(op: Op, operands: &[u32]) -> Vec<u32> {
    let mut w = vec![(operands.len() as u32 + 1) << 16 | op as u32];
    w.extend(operands);
    w
}

fn module(instructions: &[Vec<u32>]) -> Vec<u32> {
    let mut words = vec![MAGIC, 0x0001_0500, 0, 60, 0];
    words.extend(instructions.concat());
    words
}

fn accepted(instructions: &[Vec<u32>]) {
    let words = module(instructions);
    Checked::new(&words).unwrap_or_else(|e| panic!("{e}"));
}

#[track_caller]
fn refused(instructions: &[Vec<u32>], says: &str) {
    let words = module(instructions);
    assert_eq!(Checked::new(&words).expect_err("it is wrong").to_string(), says);
}

/// %1 void, %2 its function type, %3 float, %4 uint, %5 a constant 7 of it, %6 bool, %7 true.
fn types() -> Vec<Vec<u32>> {
    vec![
        inst(Op::TypeVoid, &[1]),
        inst(Op::TypeFunction, &[2, 1]),
        inst(Op::TypeFloat, &[3, 32]),
        inst(Op::TypeInt, &[4, 32, 0]),
        inst(Op::Constant, &[4, 5, 7]),
        inst(Op::TypeBool, &[6]),
        inst(Op::ConstantTrue, &[6, 7]),
    ]
}

/// Types, and more; they end at word 26.
fn with(more: &[Vec<u32>]) -> Vec<Vec<u32>> {
    [types(), more.to_vec()].concat()
}

/// Function 10 with block 11: its body begins at word 33.
fn body(more: &[Vec<u32>]) -> Vec<Vec<u32>> {
    let begin = [inst(Op::Function, &[1, 10, 0, 2]), inst(Op::Label, &[11])];
    with(&[&begin[..], more, &[inst(Op::FunctionEnd, &[])]].concat())
}

#[test]
fn headers() {
    let says = |words: &[u32]| Checked::new(words).expect_err("it is wrong").to_string();
    let good = [MAGIC, 0x0001_0600, 0, 9, 0];
    assert!(Checked::new(&good).is_ok());
    let but = |at: usize, word: u32| {
        let mut words = good;
        words[at] = word;
        says(&words)
    };
    assert_eq!(says(&[1, 2]), "word 2: 2 words are no SPIR-V module: its header has 5");
    assert_eq!(but(0, 1), "word 0: 0x00000001 is not SPIR-V's magic number, 0x07230203");
    assert_eq!(
        but(0, 0x0302_2307),
        "word 0: SPIR-V of the other byte order, which Vulkan does not take: swap the bytes of each word"
    );
    assert_eq!(but(1, 0x0002_0000), "word 1: 0x00020000 is no version of SPIR-V 1, 0x0001NN00");
    assert_eq!(but(3, 0), "word 3: a bound of 0 ids: SPIR-V allows 1 to 4194303");
    assert_eq!(but(3, 4_194_304), "word 3: a bound of 4194304 ids: SPIR-V allows 1 to 4194303");
    assert_eq!(but(4, 1), "word 4: the schema is 1: SPIR-V has only 0");
}

#[test]
fn instructions_lie_in_the_module_and_have_their_words() {
    refused(&[vec![9 << 16 | 21, 1]], "word 5: an instruction of 9 words, and 2 are left");
    refused(&[vec![0]], "word 5: an instruction of no words");
    refused(&[inst(Op::TypeInt, &[1])], "word 5: OpTypeInt has 2 words, which are too few");
    refused(&[inst(Op::Name, &[1, 0x6e69_616d])], "word 7: the text of OpName does not end inside it");
    // Aligned, and no alignment.
    let load = inst(Op::Load, &[4, 12, 5, 2]);
    refused(&body(&[load]), "word 33: OpLoad has 5 words, which are too few");
}

#[test]
fn ids_are_below_the_bound_defined_once_and_before_they_are_used() {
    accepted(&types());
    refused(&[inst(Op::TypeFloat, &[60, 32])], "word 6: %60 of OpTypeFloat is no id: the bound is 60");
    refused(&[inst(Op::TypeFloat, &[0, 32])], "word 6: %0 of OpTypeFloat is no id: the bound is 60");
    refused(&with(&[inst(Op::TypeBool, &[3])]), "word 27: OpTypeBool defines %3, which word 10 has defined");
    refused(
        &body(&[inst(Op::IAdd, &[4, 12, 5, 13])]),
        "word 37: OpIAdd uses %13, which nothing before it defines",
    );
    refused(
        &body(&[inst(Op::CopyObject, &[4, 12, 12])]),
        "word 36: OpCopyObject uses %12, which nothing before it defines",
    );
    refused(&body(&[inst(Op::Undef, &[5, 12])]), "word 34: OpUndef is of type %5, which is no type");
    // Names and decorations speak of what comes later.
    accepted(&[inst(Op::Name, &[3, 0]), inst(Op::Decorate, &[3, 0])]);
}

#[test]
fn types_are_made_of_types_before_them() {
    let vector = |id, of| inst(Op::TypeVector, &[id, of, 4]);
    accepted(&with(&[vector(12, 3)]));
    refused(&with(&[vector(12, 12)]), "word 28: OpTypeVector uses %12, which nothing before it defines");
    refused(
        &with(&[vector(12, 3), vector(13, 12)]),
        "word 32: OpTypeVector is made of %12, which is no scalar",
    );
    refused(
        &with(&[inst(Op::TypeMatrix, &[12, 3, 4])]),
        "word 28: OpTypeMatrix is made of %3, which is no vector",
    );
    refused(&with(&[inst(Op::TypeVector, &[12, 3, 0])]), "word 29: 0 components: there are 1 to 65536");
    refused(&[inst(Op::TypeInt, &[1, 0, 0])], "word 7: a number of 0 bits: there are 1 to 64");
    // A list: its pointer is declared ahead.
    let ahead = inst(Op::TypeForwardPointer, &[15, PhysicalStorageBuffer as u32]);
    let node = inst(Op::TypeStruct, &[14, 3, 15]);
    let pointer = inst(Op::TypePointer, &[15, PhysicalStorageBuffer as u32, 14]);
    accepted(&with(&[ahead.clone(), node.clone(), pointer.clone()]));
    refused(
        &with(&[node.clone(), pointer]),
        "word 29: OpTypeStruct uses %15, which nothing before it defines",
    );
    refused(
        &with(&[ahead.clone(), node.clone(), vector(15, 3)]),
        "word 33: %15 was used before OpTypeVector: only pointers may be, by OpTypeForwardPointer",
    );
    refused(&with(&[ahead, node]), "word 33: %15 is declared by OpTypeForwardPointer and never defined");
}

#[test]
fn types_nest_so_deep_and_have_so_many_members() {
    let check = |words: &[u32]| Checked::new(words).map(drop).map_err(|e| e.what);
    let nested = |n: u32, times: usize| {
        let mut words = vec![MAGIC, 0x0001_0500, 0, n + 2, 0];
        words.extend(inst(Op::TypeFloat, &[1, 32]));
        (2..n + 2)
            .for_each(|i| words.extend(inst(Op::TypeStruct, &[&[i][..], &vec![i - 1; times]].concat())));
        words
    };
    assert_eq!(check(&nested(255, 1)), Ok(()));
    assert_eq!(check(&nested(256, 1)), Err("%257 has more than 255 types in one another".into()));
    // 2 to the 14th members are the most.
    assert_eq!(check(&nested(14, 2)), Ok(()));
    assert_eq!(
        check(&nested(60, 2)),
        Err("%16 has more than 16384 members, those of its structs counted".into())
    );
    // 17 pointers to 2 to the 14th members each.
    let mut many = nested(14, 2);
    many[3] = 60;
    (20..37).for_each(|p| many.extend(inst(Op::TypePointer, &[p, 2, 15])));
    assert_eq!(check(&many), Err("variables and pointers lead to more than 262144 members".into()));
}

#[test]
fn what_newer_opcodes_define_is_not_defined_again() {
    // As no grammar has it: it may define %17.
    let newer = vec![3 << 16 | 0xfff0, 17, 1];
    let vector = inst(Op::TypeVector, &[12, 17, 4]);
    accepted(&with(&[newer.clone(), vector.clone()]));
    refused(
        &with(std::slice::from_ref(&vector)),
        "word 28: OpTypeVector uses %17, which nothing before it defines",
    );
    let circle = inst(Op::TypeStruct, &[17, 12]);
    refused(
        &with(&[newer, vector, circle]),
        "word 33: %17 was used before OpTypeStruct: only pointers may be, by OpTypeForwardPointer",
    );
}

#[test]
fn constants_are_as_wide_as_their_types() {
    let wide = inst(Op::TypeInt, &[12, 64, 0]);
    accepted(&with(&[wide.clone(), inst(Op::Constant, &[12, 13, 1, 0])]));
    refused(
        &with(&[wide.clone(), inst(Op::Constant, &[12, 13, 1])]),
        "word 30: OpConstant has a number of 1 words, its type has 2",
    );
    refused(
        &with(&[inst(Op::Constant, &[6, 13, 1])]),
        "word 27: OpConstant has a number, and %6 is no type of numbers",
    );
    // Of an opcode whose words depend on a type: rspirv does not take it.
    refused(
        &with(&[inst(Op::SpecConstantOp, &[4, 13, Op::Constant as u32, 1])]),
        "word 29: opcode 43 is none that OpSpecConstantOp may compute",
    );
}

#[test]
fn functions_have_blocks_that_end() {
    let (end, ret, label) = (inst(Op::FunctionEnd, &[]), inst(Op::Return, &[]), |id| inst(Op::Label, &[id]));
    accepted(&body(std::slice::from_ref(&ret)));
    refused(&body(&[]), "word 33: OpFunctionEnd in a block that has not ended");
    refused(&body(&[label(12)]), "word 33: OpLabel in a block that has not ended");
    refused(&body(&[ret.clone(), ret.clone()]), "word 34: OpReturn between the blocks of a function");
    refused(&with(std::slice::from_ref(&ret)), "word 26: OpReturn outside a function");
    refused(&with(&[end]), "word 26: OpFunctionEnd outside a function");
    refused(&with(&[label(12)]), "word 26: OpLabel outside a function");
    let begin = inst(Op::Function, &[1, 10, 0, 2]);
    refused(&with(std::slice::from_ref(&begin)), "word 31: function %10, begun at word 26, has no end");
    refused(&with(&[begin.clone(), begin]), "word 31: OpFunction inside a function");
    refused(
        &[vec![inst(Op::EntryPoint, &[5, 9, 0])], types()].concat(),
        "word 7: an entry point is %9, which is no function",
    );
}

#[test]
fn branches_and_what_is_merged_name_labels_of_their_function() {
    let (ret, label) = (inst(Op::Return, &[]), |id| inst(Op::Label, &[id]));
    accepted(&body(&[inst(Op::Branch, &[12]), label(12), ret.clone()]));
    refused(&body(&[inst(Op::Branch, &[5])]), "word 34: %5 is no label of function %10");
    refused(
        &body(&[inst(Op::SelectionMerge, &[13, 0]), inst(Op::BranchConditional, &[7, 11, 11])]),
        "word 34: %13 is no label of function %10",
    );
    let another = [
        inst(Op::Return, &[]),
        inst(Op::FunctionEnd, &[]),
        inst(Op::Function, &[1, 20, 0, 2]),
        label(21),
        inst(Op::Branch, &[11]),
    ];
    refused(&body(&another), "word 43: OpBranch uses %11, which is of a function before this one");
    let phi = |operands: &[u32]| {
        body(&[
            inst(Op::Branch, &[12]),
            label(12),
            inst(Op::Phi, &[&[4, 13], operands].concat()),
            ret.clone(),
        ])
    };
    accepted(&phi(&[5, 11]));
    // (of a loop, it may merge itself)
    accepted(&phi(&[13, 11]));
    refused(&phi(&[5]), "word 37: OpPhi has 4 words, which are too few");
    refused(&phi(&[17, 11]), "word 40: OpPhi merges %17, which function %10 does not define");
    refused(&phi(&[5, 5]), "word 41: %5 is no label of function %10");
    let switch =
        |operands: &[u32]| body(&[inst(Op::Switch, &[&[5], operands].concat()), label(12), ret.clone()]);
    accepted(&switch(&[12, 3, 12, 4, 12]));
    refused(&switch(&[12, 3]), "word 33: OpSwitch has 1 words of cases, each case has 2");
    refused(&switch(&[12, 3, 5]), "word 37: %5 is no label of function %10");
    refused(
        &body(&[inst(Op::Switch, &[7, 12])]),
        "word 34: OpSwitch has a number, and %6 is no type of numbers",
    );
}

#[test]
fn calls_name_functions_and_end() {
    let function = |id: u32, callees: &[u32]| {
        let calls = callees.iter().zip(0..).map(|(c, n)| inst(Op::FunctionCall, &[1, id + 2 + n, *c]));
        let begin = [inst(Op::Function, &[1, id, 0, 2]), inst(Op::Label, &[id + 1])];
        let end = [inst(Op::Return, &[]), inst(Op::FunctionEnd, &[])];
        begin.into_iter().chain(calls).chain(end).collect::<Vec<_>>().concat()
    };
    accepted(&with(&[function(20, &[30, 30]), function(30, &[40]), function(40, &[])]));
    refused(
        &with(&[function(20, &[30]), function(30, &[20])]),
        "word 49: %20 is called from itself, which SPIR-V does not allow",
    );
    refused(&with(&[function(20, &[20])]), "word 36: %20 is called from itself, which SPIR-V does not allow");
    refused(&with(&[function(20, &[5])]), "word 36: a call of %5, which is no function");
    let call = [inst(Op::FunctionCall, &[1, 22, 30, 5]), inst(Op::Return, &[]), inst(Op::FunctionEnd, &[])];
    let begin = [inst(Op::Function, &[1, 20, 0, 2]), inst(Op::Label, &[21])];
    refused(
        &with(&[&begin[..], &call, &[function(30, &[])]].concat()),
        "word 36: a call of %30 with 1 arguments, it has 0 parameters",
    );
}
