use super::*;
use crate::decode::decode_call;
use crate::encode::encode_call;
use crate::image::attrib::{ARRAY, ARRAY2D, DATA, NULL, SINGLE, STRING, STRUCT};
use crate::schema::{command_named, generated::COMMANDS};
use crate::writer::ParamWriter;

/// Decodes, encodes to the same bytes, and checks.
fn checked(command: &str, params: &ParamWriter, level: Level) -> Result<(), String> {
    let mut image = Image::default();
    decode_call(command_named(command).expect("a command"), params.as_bytes(), &mut image)
        .expect("it decodes");
    let mut again = Vec::new();
    encode_call(&image, &mut again);
    assert_eq!(again, params.as_bytes(), "what is refused encodes all the same");
    let first = check(&mut image, level).map_err(|e| e.to_string());
    assert_eq!(check_again(&image, level).map_err(|e| e.to_string()), first, "the same when asked again");
    first
}

fn refused(command: &str, params: &ParamWriter, level: Level) -> String {
    checked(command, params, level).expect_err("it must be refused")
}

/// vkResetFences with a count, and with so many fences or null.
fn reset_fences(count: u32, fences: Option<&[u64]>) -> ParamWriter {
    let mut w = ParamWriter::new();
    w.u64(1).u32(count);
    match fences {
        None => w.u32(ARRAY | NULL),
        Some(f) => {
            w.preamble(ARRAY | DATA, Some(f.len() as u64));
            f.iter().fold(&mut w, |w, f| w.u64(*f))
        }
    };
    w.u32(0);
    w
}

#[test]
fn arrays_are_as_long_as_their_counts_say() {
    let all = |count, fences| checked("vkResetFences", &reset_fences(count, fences), Level::Memory);
    assert_eq!(all(2, Some(&[5, 6])), Ok(()));
    assert_eq!(all(0, None), Ok(()));
    assert_eq!(all(0, Some(&[])), Ok(()));
    let error = |count, fences| all(count, fences).expect_err("refused");
    assert_eq!(error(3, Some(&[5, 6])), "pFences: expected 3 elements, as its count says, found 2");
    assert_eq!(error(2, Some(&[5, 6, 7])), "pFences: expected 2 elements, as its count says, found 3");
    assert_eq!(error(1, None), "pFences: expected 1 element, as its count says, found null");
    assert_eq!(error(1, Some(&[5, 6])), "pFences: expected 1 element, as its count says, found 2");
    assert_eq!(error(1, Some(&[])), "pFences: expected 1 element, as its count says, found null");
}

#[test]
fn a_null_handle_is_a_matter_of_usage() {
    let w = reset_fences(2, Some(&[5, 0]));
    assert_eq!(checked("vkResetFences", &w, Level::Memory), Ok(()));
    assert_eq!(
        refused("vkResetFences", &w, Level::Usage),
        "pFences[1]: expected a VkFence, found VK_NULL_HANDLE"
    );
}

#[test]
fn inner_arrays_are_as_long_as_the_array_beside_them_says() {
    // One structure of two geometries, whose ranges are one, two or null.
    let build = |ranges: Option<u64>| {
        let mut w = ParamWriter::new();
        w.u64(1).u32(1).preamble(ARRAY | STRUCT | DATA, Some(1));
        w.u32(1_000_150_000).u32(NULL).u32(0).u32(0).u32(0).u64(0).u64(9);
        w.u32(2).preamble(ARRAY | STRUCT | DATA, Some(2));
        for _ in 0..2 {
            w.u32(1_000_150_006).u32(NULL).u32(2); // instances
            w.u32(1_000_150_004).u32(NULL).u32(0).u64(0x1000).u32(0);
        }
        w.u32(ARRAY2D | STRUCT | NULL).u64(0);
        w.preamble(ARRAY2D | STRUCT | DATA, Some(1));
        match ranges {
            None => w.u32(ARRAY | STRUCT | NULL),
            Some(n) => {
                w.preamble(ARRAY | STRUCT | DATA, Some(n));
                (0..4 * n).fold(&mut w, |w, _| w.u32(0))
            }
        };
        w
    };
    let command = "vkCmdBuildAccelerationStructuresKHR";
    assert_eq!(checked(command, &build(Some(2)), Level::Usage), Ok(()));
    assert_eq!(
        refused(command, &build(Some(1)), Level::Memory),
        "ppBuildRangeInfos[0]: expected 2 elements, as its count says, found 1"
    );
    assert_eq!(
        refused(command, &build(None), Level::Memory),
        "ppBuildRangeInfos[0]: expected 2 elements, as its count says, found null"
    );
}

#[test]
fn pointers_strings_and_enumerants() {
    // vkCreateShaderModule(device, pCreateInfo, pAllocator, pShaderModule)
    let module = |code_size: u64, words: u64| {
        let mut w = ParamWriter::new();
        w.u64(1).preamble(SINGLE | STRUCT | DATA, None).u32(16).u32(NULL).u32(0).u64(code_size);
        w.preamble(ARRAY | DATA, Some(words));
        (0..words).fold(&mut w, |w, _| w.u32(0)).u32(SINGLE | STRUCT | NULL);
        w.preamble(SINGLE | DATA, None).u64(7).u32(0);
        w
    };
    assert_eq!(checked("vkCreateShaderModule", &module(8, 2), Level::Usage), Ok(()));
    assert_eq!(
        refused("vkCreateShaderModule", &module(9, 2), Level::Memory),
        "pCreateInfo.pCode: expected 3 elements, as its count says, found 2"
    );
    let mut w = ParamWriter::new();
    w.u64(1).u32(SINGLE | STRUCT | NULL).u32(SINGLE | STRUCT | NULL).u32(SINGLE | NULL).u32(0);
    assert_eq!(
        refused("vkCreateShaderModule", &w, Level::Memory),
        "pCreateInfo: expected one element, found null"
    );
    let mut w = ParamWriter::new();
    w.u64(1).u32(STRING | NULL).u64(0);
    assert_eq!(refused("vkGetDeviceProcAddr", &w, Level::Memory), "pName: expected a string, found null");
    let bind = |point: u32| {
        let mut w = ParamWriter::new();
        w.u64(1).u32(point).u64(2);
        w
    };
    assert_eq!(checked("vkCmdBindPipeline", &bind(1_000_165_000), Level::Usage), Ok(()));
    assert_eq!(checked("vkCmdBindPipeline", &bind(77), Level::Memory), Ok(()));
    assert_eq!(
        refused("vkCmdBindPipeline", &bind(77), Level::Usage),
        "pipelineBindPoint: expected a value of VkPipelineBindPoint, found 77 (0x4d; registry 1.4.363)"
    );
}

#[test]
fn bits_that_do_not_exist_or_may_not_be_none() {
    let reset = |flags: u32| {
        let mut w = ParamWriter::new();
        w.u64(1).u32(flags).u32(0);
        w
    };
    assert_eq!(checked("vkResetCommandBuffer", &reset(1), Level::Usage), Ok(()));
    assert_eq!(checked("vkResetCommandBuffer", &reset(0), Level::Usage), Ok(()));
    assert_eq!(
        refused("vkResetCommandBuffer", &reset(0x101), Level::Usage),
        "flags: expected bits of VkCommandBufferResetFlags, found 0x100 beside them (registry 1.4.363)"
    );
    let mut w = ParamWriter::new();
    w.u64(1).u64(2).u32(0).u32(0).u32(4).preamble(ARRAY | DATA, Some(4)).u32(7);
    assert_eq!(
        refused("vkCmdPushConstants", &w, Level::Usage),
        "stageFlags: expected bits of VkShaderStageFlags, found none"
    );
}

#[test]
fn a_struct_that_does_not_say_what_it_is() {
    let mut w = ParamWriter::new();
    w.u64(1).u32(1).preamble(ARRAY | STRUCT | DATA, Some(1)).u32(0).u32(NULL);
    w.u32(0)
        .u32(ARRAY | NULL)
        .u32(ARRAY | NULL)
        .u32(0)
        .u32(ARRAY | NULL)
        .u32(0)
        .u32(ARRAY | NULL)
        .u64(0)
        .u32(0);
    assert_eq!(checked("vkQueueSubmit", &w, Level::Memory), Ok(()));
    assert_eq!(
        refused("vkQueueSubmit", &w, Level::Usage),
        "pSubmits[0].sType: expected the sType of VkSubmitInfo (4), found 0"
    );
}

#[test]
fn editing_takes_the_promise_back() {
    let mut image = Image::default();
    let w = reset_fences(2, Some(&[5, 6]));
    decode_call(command_named("vkResetFences").expect("core"), w.as_bytes(), &mut image).expect("whole");
    check(&mut image, Level::Memory).expect("valid");
    let copy = image.clone();
    assert!(check_again(&copy, Level::Memory).is_ok());
    image.edit_u32(8, 3);
    assert!(check(&mut image, Level::Memory).is_err(), "three fences, and two are there");
}

#[test]
fn every_pointer_of_the_schema_is_looked_at() {
    for c in &COMMANDS {
        for (i, m) in c.params.iter().enumerate() {
            let pointer = !matches!(m.shape, Shape::Value | Shape::TemplateData | Shape::Absent);
            assert!(!pointer || c.looked_at.contains(&(i as u8)), "{}.{}", c.name, m.name);
        }
    }
    for s in &STRUCTS {
        for (i, m) in s.members.iter().enumerate() {
            let pointer = matches!(
                m.shape,
                Shape::Ptr | Shape::Array | Shape::Array2 | Shape::Str | Shape::StrArray | Shape::PNext
            );
            assert!(!pointer || s.looked_at.contains(&(i as u8)), "{}.{}", s.name, m.name);
        }
    }
}

#[test]
fn rules_name_what_the_schema_has() {
    for (name, _) in rules::STRUCTS_WITH_RULES {
        assert!(STRUCTS.iter().any(|s| s.name == *name), "{name}");
    }
    for (name, _) in rules::COMMANDS_WITH_RULES {
        assert!(COMMANDS.iter().any(|c| c.canonical == *name), "{name}");
    }
}
