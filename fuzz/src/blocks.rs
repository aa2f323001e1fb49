//! Blocks of every kind, made up: what real captures rarely or never hold must be tried, too.
//!
//! Guarantees: every block type and every metadata type occurs ([`METAS`] of the latter, by number); lengths in them
//! are right, so that it takes a mutation to make them wrong. Refuses nothing.

use gfxr_parse::annotation::{Annotation, AnnotationKind};
use gfxr_parse::container::{
    BlockKind, FunctionCall, Marker, MarkerKind, MethodCall, Payload, Text, Unknown,
};
use gfxr_parse::meta::*;
use gfxr_parse::schema::generated::{COMMANDS, UNDECODABLE};
use gfxr_parse::schema::struct_named;

use super::rng::Rng;
use super::synth;

/// The name under which a capture finds itself as a sibling file.
pub const ITSELF: &str = "itself.gfxr";
/// How many metadata types [`meta`] knows.
pub const METAS: usize = 29;

/// A call of any command, parameters included; `compress` is handed what may be compressed.
pub fn call(rng: &mut Rng) -> (u32, Vec<u8>) {
    if rng.chance(1, 60) {
        let id = rng.pick(&UNDECODABLE).0;
        let n = rng.below(40);
        return (id, rng.bytes(n));
    }
    let command = rng.pick(&COMMANDS);
    (command.id, synth::call(command, rng).unwrap_or_default())
}

/// Any block but a call, uncompressed.
pub fn other(rng: &mut Rng, out: &mut Vec<u8>) {
    let kind = |rng: &mut Rng| match rng.below(5) {
        0 => MarkerKind::Begin,
        1 => MarkerKind::Other(rng.u64() as u32 | 4),
        _ => MarkerKind::End,
    };
    let n = rng.below(40);
    let bytes = rng.bytes(n);
    match rng.below(12) {
        0 => BlockKind::FrameMarker(Marker { kind: kind(rng), frame: rng.edge() }).write(out),
        1 => BlockKind::StateMarker(Marker { kind: kind(rng), frame: rng.edge() }).write(out),
        2 => annotation(rng).write(out),
        3 => BlockKind::Method(MethodCall {
            call_id: rng.edge() as u32,
            object: rng.edge(),
            thread: 1,
            payload: Payload::plain(&bytes),
        })
        .write(out),
        4 => BlockKind::Unknown(Unknown { ty: 7 + rng.below(90) as u32, body: &bytes }).write(out),
        _ => {
            let which = rng.below(METAS);
            meta(which, rng, out);
        }
    }
}

/// A call block around these parameters.
pub fn call_block(call_id: u32, parameters: &[u8], out: &mut Vec<u8>) {
    BlockKind::Call(FunctionCall { call_id, thread: 1, payload: Payload::plain(parameters) }).write(out);
}

fn annotation(rng: &mut Rng) -> BlockKind<'static> {
    let kind = *rng.pick(&[
        AnnotationKind::Text,
        AnnotationKind::Json,
        AnnotationKind::Xml,
        AnnotationKind::Other(9),
    ]);
    let data = *rng.pick(&[
        r#"{"tool":"capture","gfxrecon-version":"1.0.5-dev (dev:1)","vulkan-version":"1.4.300"}"#,
        r#"{"gfxrecon-version":"0.9.18"}"#,
        r#"{"gfxrecon-version":[[[[[[[["#,
        "",
        "99999999999999999999.1.1",
    ]);
    let kind = if data.starts_with('{') { AnnotationKind::Json } else { kind };
    BlockKind::Annotation(Annotation::new(kind, ["operation", "label", ""][rng.below(3)], data))
}

/// A metadata block of type number `which`, below [`METAS`].
pub fn meta(which: usize, rng: &mut Rng, out: &mut Vec<u8>) {
    let n = rng.below(40);
    let bytes = rng.bytes(n);
    let data = Payload::plain(&bytes);
    let text = [vec![b'a'; 250], vec![0; 774]].concat();
    let short = Text(&text[..256]);
    let (id, a, b) = (1 + rng.below(40) as u64, rng.edge(), rng.edge() as u32);
    let n = rng.below(4);
    let encoded;
    let meta = match which {
        0 => Meta::DisplayMessage(DisplayMessage { message: Text(&bytes) }),
        1 => Meta::FillMemory(FillMemory { memory: id, offset: a, data }),
        2 => Meta::ResizeWindow(ResizeWindow { surface: id, width: b, height: 480 }),
        3 => {
            let image = SwapchainImage { image: a, index: b, layout: 5, ..SwapchainImage::default() };
            Meta::SwapchainImages(SwapchainImages {
                device: id,
                swapchain: a,
                last_presented: b,
                images: vec![image; n],
            })
        }
        4 => Meta::BeginResourceInit(BeginResourceInit { device: id, total_bytes: a, max_bytes: a }),
        5 => Meta::EndResourceInit(EndResourceInit { device: id }),
        6 => Meta::InitBuffer(InitBuffer { device: id, buffer: a, data }),
        7 => {
            let level_bytes = vec![a; n];
            Meta::InitImage(InitImage { device: id, image: a, aspect: 1, layout: b, level_bytes, data })
        }
        8..=10 => Meta::CreateHardwareBuffer(CreateHardwareBuffer {
            form: [HardwareBufferForm::Usage32, HardwareBufferForm::NoDevice, HardwareBufferForm::Full]
                [which - 8],
            device: id,
            memory: a,
            buffer: a,
            format: b,
            width: b,
            height: b,
            stride: b,
            usage: a,
            layers: 1,
            planes: vec![Plane { offset: a, pixel_stride: b, row_pitch: b }; n],
        }),
        11 => Meta::DestroyHardwareBuffer(DestroyHardwareBuffer { buffer: a }),
        12 => Meta::DeviceProperties(DeviceProperties {
            physical_device: id,
            api_version: b,
            driver_version: b,
            vendor: b,
            device: b,
            device_type: 1,
            pipeline_cache_uuid: [7; 16],
            name: Text(&bytes),
        }),
        13 => Meta::DeviceMemory(DeviceMemory {
            physical_device: id,
            types: vec![MemoryType { flags: b, heap: 0 }; n],
            heaps: vec![MemoryHeap { size: a, flags: 1 }; n],
        }),
        14 => Meta::ResizeWindow2(ResizeWindow2 { surface: id, width: b, height: 480, pre_transform: 1 }),
        15 => Meta::OpaqueAddress(OpaqueAddress { device: id, object: a, address: a }),
        16 => Meta::ShaderGroups(ShaderGroups { device: id, pipeline: a, handles: &bytes }),
        17 => Meta::ExeInfo(ExeInfo {
            product_version: short,
            file_version: short,
            app_version: [b; 4],
            app_name: short,
            company_name: Text(&text[250..506]),
            file_description: short,
            internal_name: short,
            original_filename: short,
            product_name: short,
        }),
        18 => Meta::DriverInfo(DriverInfo { text: Text(&text) }),
        19 => Meta::ParentToChild(ParentToChild { kind: 1, parent: a, children: vec![id; n] }),
        20 => {
            let array = |name, twice, rng: &mut Rng| {
                synth::structures(struct_named(name).expect("in the registry"), twice, rng)
                    .unwrap_or_default()
            };
            let infos = array("VkAccelerationStructureBuildGeometryInfoKHR", false, rng);
            let ranges = array("VkAccelerationStructureBuildRangeInfoKHR", true, rng);
            encoded = [infos, ranges].concat();
            Meta::BuildAcceleration(BuildAcceleration { device: id, encoded: &encoded, offset: 0 })
        }
        21 => {
            let info = struct_named("VkCopyAccelerationStructureInfoKHR").expect("in the registry");
            encoded = synth::structures(info, false, rng).unwrap_or_default();
            Meta::CopyAcceleration(CopyAcceleration { device: id, encoded: &encoded, offset: 0 })
        }
        22 => Meta::WriteAcceleration(WriteAcceleration {
            device: id,
            query_type: b,
            acceleration_structure: a,
        }),
        23 => Meta::Environment(Environment { raw: Text(b"A=1\xFFB\xFF=\xFF\0C=\"\x01\0") }),
        24 => {
            let file = *rng.pick(&[ITSELF, ITSELF, "other.gfxr", "../up.gfxr", "", "a/b"]);
            let offset = *rng.pick(&[24, 16, 0, a as i64]);
            Meta::ExecuteBlocks(ExecuteBlocks { blocks: rng.below(4) as u32, offset, file: file.into() })
        }
        25 => Meta::OpaqueDescriptor(OpaqueDescriptor { device: id, object: a, data: &bytes }),
        26 => Meta::InitTensor(InitTensor { device: id, tensor: a, data }),
        27 => Meta::Other(Other { id: 16 + rng.below(25) as u16, compressed: false, raw: &bytes }),
        _ => Meta::Other(Other { id: rng.u64() as u16, compressed: rng.chance(1, 2), raw: &bytes }),
    };
    BlockKind::Meta(MetaBlock::new(1, meta)).write(out);
}
