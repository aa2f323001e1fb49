//! What is printed of the structs and members with a form of their own, one line each.

use super::{Binaries, Counts, Form, Options, Printer};
use crate::container::{Block, Blocks, Compression, FunctionCall, Payload};
use crate::image::attrib::{ARRAY, ARRAY2D, DATA, SINGLE, STRING, STRUCT};
use crate::meta::{DeviceMemory, Environment, MemoryHeap, MemoryType, Meta, MetaBlock};
use crate::schema::command_named;
use crate::writer::ParamWriter;
use serde_json::{Value, json};

fn print(bytes: &[u8], options: Options) -> Value {
    let block: Block = Blocks::new(bytes, 0, Compression::None).next().expect("one block");
    let mut printer = Printer::new(Form::Json, options);
    printer.block(&block).unwrap_or_else(|e| panic!("{e}"));
    let mut out = Vec::new();
    printer.drain_into(&mut Counts::default(), &mut out);
    serde_json::from_slice(&out).expect("JSON")
}

fn call_with(options: Options, name: &str, params: impl FnOnce(&mut ParamWriter)) -> Value {
    let call_id = command_named(name).expect("a command").id;
    let mut w = ParamWriter::new();
    params(&mut w);
    let mut bytes = Vec::new();
    FunctionCall { call_id, thread: 9, payload: Payload::plain(w.as_bytes()) }.write(&mut bytes);
    print(&bytes, options)["function"].clone()
}

/// The arguments of a call with these parameters.
fn args(name: &str, params: impl FnOnce(&mut ParamWriter)) -> Value {
    call_with(Options::default(), name, params)["args"].clone()
}

#[test]
fn the_frame_of_a_call() {
    let f = call_with(Options::default(), "vkCmdDraw", |w| {
        w.u64(5).u32(3).u32(1).u32(0).u32(0);
    });
    let args = json!({"commandBuffer": 5, "vertexCount": 3, "instanceCount": 1, "firstVertex": 0, "firstInstance": 0});
    assert_eq!(f, json!({"name": "vkCmdDraw", "thread": 9, "cmd_index": 1, "args": args}));
    let f = call_with(Options::default(), "vkDeviceWaitIdle", |w| {
        w.u64(5).i32(-4);
    });
    assert_eq!(
        f,
        json!({"name": "vkDeviceWaitIdle", "thread": 9, "return": "VK_ERROR_DEVICE_LOST", "args": {"device": 5}})
    );
    let f = call_with(Options::default(), "vkDeviceWaitIdle", |w| {
        w.u64(5).i32(-77777);
    });
    assert_eq!(f["return"], "0xfffed02f");
}

#[test]
fn flags_by_number_and_by_name() {
    let barrier = |expand_flags| {
        let options = Options { expand_flags, ..Options::default() };
        call_with(options, "vkCmdPipelineBarrier", |w| {
            w.u64(1).u32(0x11).u32(0).u32(0x8000_0001);
            (0..3).for_each(|_| {
                w.u32(0).null_structs();
            });
        })["args"]
            .clone()
    };
    let plain = barrier(false);
    assert_eq!(plain["srcStageMask"], "0x00000011");
    assert_eq!(plain["dependencyFlags"], "0x80000001");
    let names = barrier(true);
    assert_eq!(
        names["srcStageMask"],
        "VK_PIPELINE_STAGE_TOP_OF_PIPE_BIT|VK_PIPELINE_STAGE_TESSELLATION_CONTROL_SHADER_BIT"
    );
    assert_eq!(names["dstStageMask"], "0x00000000");
    assert_eq!(names["dependencyFlags"], "VK_DEPENDENCY_BY_REGION_BIT|0x80000000");
    // Behind a pointer they are numbers, as upstream's are.
    let submit = args("vkQueueSubmit", |w| {
        w.u64(1).u32(1).structures(1, |w, _| {
            w.u32(4).null_struct().u32(2).u64_array(&[7, 8]).u32_array(&[16, 32]);
            w.u32(0).null_array().u32(0).null_array();
        });
        w.u64(0).u32(0);
    });
    assert_eq!(submit["pSubmits"][0]["pWaitDstStageMask"], json!([16, 32]));
    assert_eq!(submit["pSubmits"][0]["pWaitSemaphores"], json!([7, 8]));
    assert_eq!(submit["fence"], 0);
}

#[test]
fn clear_values_in_every_reading() {
    let a = args("vkCmdClearColorImage", |w| {
        w.u64(1).u64(2).u32(7);
        w.structure(|w| {
            w.u32_array(&[1.0f32.to_bits(), 0, u32::MAX, 0x8000_0000]);
        });
        w.u32(0).null_structs();
    });
    assert_eq!(
        a["pColor"],
        json!({"float32": [1.0, 0.0, null, -0.0], "int32": [1065353216, 0, -1, -2147483648],
               "uint32": [1065353216, 0, 4294967295u32, 2147483648u32]})
    );
    assert_eq!(a["imageLayout"], "VK_IMAGE_LAYOUT_TRANSFER_DST_OPTIMAL");
}

#[test]
fn descriptor_writes_show_the_array_they_use() {
    let write = |ty: u32, params: fn(&mut ParamWriter)| {
        args("vkUpdateDescriptorSets", |w| {
            w.u64(1).u32(1).structures(1, |w, _| {
                w.u32(35).null_struct().u64(3).u32(0).u32(0).u32(1).u32(ty);
                params(w);
            });
            w.u32(0).null_structs();
        })["pDescriptorWrites"][0]
            .clone()
    };
    let image = write(2, |w| {
        w.structures(1, |w, _| {
            w.u64(0).u64(6).u32(5);
        });
        w.null_structs().array_without_data(1);
    });
    let info =
        json!([{"sampler": 0, "imageView": 6, "imageLayout": "VK_IMAGE_LAYOUT_SHADER_READ_ONLY_OPTIMAL"}]);
    assert_eq!(image["pImageInfo"], info);
    assert!(image.get("pBufferInfo").is_none() && image.get("pTexelBufferView").is_none());
    let texel = write(5, |w| {
        w.array_without_data(1).null_structs().u64_array(&[8]);
    });
    assert_eq!(texel["pTexelBufferView"], json!([8]));
    assert!(texel.get("pImageInfo").is_none());
    let none = write(6, |w| {
        w.null_structs().null_structs().null_array();
    });
    assert_eq!(none["pBufferInfo"], Value::Null);
}

#[test]
fn unions_by_their_selector() {
    let build = args("vkCmdBuildAccelerationStructuresKHR", |w| {
        w.u64(1).u32(1);
        w.structures(1, |w, _| {
            w.u32(1_000_150_000).null_struct().u32(1).u32(0).u32(0).u64(0).u64(20).u32(1);
            w.structures(1, |w, _| {
                w.u32(1_000_150_006).null_struct().u32(2); // instances
                w.u32(1_000_150_004).null_struct().u32(1).u64(0xABC0);
                w.u32(1);
            });
            w.null(ARRAY2D | STRUCT).u64(0x1000);
        });
        w.preamble(ARRAY2D | STRUCT | DATA, Some(1));
        w.structures(1, |w, _| {
            w.u32(2).u32(0).u32(0).u32(0);
        });
    });
    let info = &build["pInfos"][0];
    assert_eq!(info["scratchData"], json!({"deviceAddress": "0x1000"}));
    assert_eq!(info["ppGeometries"], Value::Null);
    let instances = json!({"instances": {
        "sType": "VK_STRUCTURE_TYPE_ACCELERATION_STRUCTURE_GEOMETRY_INSTANCES_DATA_KHR", "pNext": null,
        "arrayOfPointers": true, "data": {"deviceAddress": "0xabc0"}}});
    assert_eq!(info["pGeometries"][0]["geometry"], instances);
    assert_eq!(info["pGeometries"][0]["flags"], "0x00000001");
    let range = json!({"primitiveCount": 2, "primitiveOffset": 0, "firstVertex": 0, "transformOffset": 0});
    assert_eq!(build["ppBuildRangeInfos"], json!([[range]]));

    let descriptor = args("vkGetDescriptorEXT", |w| {
        w.u64(1).structure(|w| {
            w.u32(1_000_316_004).null_struct().u32(0).u64_ptr(44);
        });
        w.u64(4).u8_array(&[1, 2, 3, 4]);
    });
    assert_eq!(descriptor["pDescriptorInfo"]["data"], json!({"pSampler": 44}));
    assert_eq!(descriptor["pDescriptor"], json!([1, 2, 3, 4]));

    let statistics = args("vkGetPipelineExecutableStatisticsKHR", |w| {
        w.u64(1).null_struct().u32_ptr(1);
        w.structures(1, |w, _| {
            w.u32(1_000_269_004).null_struct().string("SGPRs").string("").u32(2).u64(32);
        });
        w.i32(0);
    });
    assert_eq!(statistics["pStatistics"][0]["value"], json!({"u64": 32}));
    assert_eq!(statistics["pStatistics"][0]["format"], "VK_PIPELINE_EXECUTABLE_STATISTIC_FORMAT_UINT64_KHR");
}

#[test]
fn template_data_with_tails() {
    let a = args("vkUpdateDescriptorSetWithTemplate", |w| {
        w.u64(1).u64(2).u64(3).preamble(SINGLE | STRUCT | DATA, None);
        w.u64(0).u64(1).u64(0);
        w.u64(7).u64(0).u64(256);
        w.u64(1).u32(1_000_150_000).u64(30);
        w.u64(2).u32(1_000_138_000).bytes(&[5, 6]);
        w.u64(1).u32(1_000_150_000).u64(31);
    });
    let data = json!({"imageInfos": [], "bufferInfos": [{"buffer": 7, "offset": 0, "range": 256}],
                      "accelStructViews": [30, 31], "inlineUniformBlock": [5, 6]});
    assert_eq!(a["pData"], data);
    let a = args("vkCmdPushDescriptorSetWithTemplate2", |w| {
        w.u64(1).structure(|w| {
            w.u32(1_000_545_006).null_struct().u64(2).u64(3).u32(0);
        });
        w.preamble(SINGLE | STRUCT | DATA, None).u64(0).u64(0).u64(1).u64(8);
    });
    assert_eq!(a["pData"], json!({"imageInfos": [], "bufferInfos": [], "bufferViews": [8]}));
}

#[test]
fn pointers_and_bytes() {
    let map = args("vkMapMemory", |w| {
        w.u64(1).u64(2).u64(0).u64(u64::MAX).u32(0).preamble(SINGLE | DATA, None).u64(0x7F00).i32(0);
    });
    assert_eq!((&map["ppData"], &map["size"]), (&json!("0x7f00"), &json!(u64::MAX)));
    let push = |binaries| {
        let options = Options { binaries, ..Options::default() };
        call_with(options, "vkCmdPushConstants", |w| {
            w.u64(1).u64(2).u32(1).u32(0).u32(4).u8_array(&[1, 2, 3, 4]);
        })["args"]["pValues"]
            .clone()
    };
    assert_eq!(push(Binaries::Placeholder), "[Binary data]");
    assert_eq!(push(Binaries::Collect), "0_pushconstants.bin");
    let update = |binaries| {
        let options = Options { binaries, ..Options::default() };
        call_with(options, "vkCmdUpdateBuffer", |w| {
            w.u64(1).u64(2).u64(0).u64(4).u8_array(&[1, 2, 3, 4]);
        })["args"]["pData"]
            .clone()
    };
    assert_eq!(update(Binaries::Placeholder), json!([1, 2, 3, 4]));
    assert_eq!(update(Binaries::None), "[Binary data]");
    // An empty array reads as null, a missing one as well.
    let enumerate = |w: &mut ParamWriter, array: fn(&mut ParamWriter)| {
        w.u64(1).u32_ptr(0);
        array(w);
        w.i32(0);
    };
    let empty = args("vkEnumeratePhysicalDevices", |w| enumerate(w, |w| _ = w.u64_array(&[])));
    let missing = args("vkEnumeratePhysicalDevices", |w| enumerate(w, |w| _ = w.array_without_data(4)));
    assert_eq!((&empty["pPhysicalDevices"], &missing["pPhysicalDevices"]), (&Value::Null, &Value::Null));
}

#[test]
fn text_of_any_kind_is_valid_json() {
    let label = args("vkCmdBeginDebugUtilsLabelEXT", |w| {
        w.u64(1).structure(|w| {
            w.u32(1_000_128_002).null_struct();
            w.preamble(SINGLE | STRING | DATA, Some(8)).bytes(b"a\"\\\n\x01\xFF\xC3\xA9");
            w.preamble(ARRAY | DATA, Some(4)).bytes(&[0; 16]);
        });
    });
    assert_eq!(label["pLabelInfo"]["pLabelName"], "a\"\\\n\u{1}\u{FFFD}é");
    assert_eq!(label["pLabelInfo"]["color"], json!([0.0, 0.0, 0.0, 0.0]));
}

#[test]
fn metadata_have_upstreams_names() {
    let meta = |meta: Meta| {
        let mut bytes = Vec::new();
        MetaBlock::new(1, meta).write(&mut bytes);
        print(&bytes, Options::default())["meta"].clone()
    };
    let memory = meta(Meta::DeviceMemory(DeviceMemory {
        physical_device: 2,
        types: vec![MemoryType { flags: 7, heap: 0 }],
        heaps: vec![MemoryHeap { size: 1 << 40, flags: 1 }],
    }));
    assert_eq!(
        memory,
        json!({"name": "SetDeviceMemoryPropertiesCommand", "args": {"physical_device_id": 2,
            "memory_types": [{"property_flags": "0x00000007", "heap_index": 0}],
            "memory_heaps": [{"size": 1u64 << 40, "flags": "0x00000001"}]}})
    );
    let environment = meta(Meta::Environment(Environment { raw: "A=1\u{0}".into() }));
    assert_eq!(environment["args"], json!({"A": "1"}));
}
