//! Every metadata type as hand-written bytes: parsed, its fields checked, written again, cut off at every byte.

use gfxr_parse::container::{BlockKind, Compression, Payload, Scratch, Text};
use gfxr_parse::error::Kind;
use gfxr_parse::meta::*;
use gfxr_parse::writer::frame_block;

use crate::common::{hex, only_block, pad};

const PLAIN: u32 = 3;
const COMPRESSED: u32 = 0x8000_0003;

/// Id (Vulkan's family) and thread 5.
fn head(ty: u16) -> String {
    format!("{:02X}{:02X}0100 | 0500000000000000 |", ty & 0xFF, ty >> 8)
}

/// Parses a body, compares, writes again; then the body cut off after each byte, which must be an error unless the rest
/// is data of any length.
fn golden_body(ty: u32, body: &[u8], want: &MetaBlock) {
    let bytes = frame_block(ty, body);
    let block = only_block(&bytes);
    let kind = block.kind().expect("a good block");
    let BlockKind::Meta(meta) = &kind else { panic!("not metadata: {kind:?}") };
    assert_eq!(meta, want);
    assert_eq!(meta.is_compressed(), ty == COMPRESSED);
    let mut out = vec![];
    kind.write(&mut out);
    assert_eq!(out, bytes);
    let fixed = ty == PLAIN
        && !matches!(
            want.meta,
            Meta::DisplayMessage(_) | Meta::BuildAcceleration(_) | Meta::CopyAcceleration(_) | Meta::Other(_)
        );
    for n in 0..body.len() {
        let short = frame_block(ty, &body[..n]);
        match only_block(&short).kind() {
            Err(e) => assert_eq!((e.kind(), e.block()), (Kind::Truncated, Some(0)), "{e}"),
            Ok(_) => assert!(!fixed, "cut at {n} of {}", body.len()),
        }
    }
}

/// Fields in hex after id and thread, plain.
fn golden(fields: &str, want: Meta) {
    let body = hex(&format!("{}{fields}", head(want.id())));
    golden_body(PLAIN, &body, &MetaBlock::new(5, want.clone()));
    // The same in an old file without a family, and with bytes nobody knows at its end.
    let mut old = body.clone();
    old[2] = 0;
    golden_body(PLAIN, &old, &MetaBlock { family: 0, ..MetaBlock::new(5, want.clone()) });
    if want.payload().is_none() && !matches!(want, Meta::DisplayMessage(_)) {
        let longer = [&body[..], b"tail"].concat();
        let block = MetaBlock { tail: b"tail", ..MetaBlock::new(5, want) };
        if !matches!(block.meta, Meta::CreateHardwareBuffer(_) | Meta::DestroyHardwareBuffer(_)) {
            assert_eq!(block.warning().unwrap(), "4 bytes after the last known field, skipped");
        }
        golden_tail(&longer, &block);
        // And a compressed block of a type that is never compressed.
        let bytes = frame_block(COMPRESSED, &body);
        let error = only_block(&bytes).kind().unwrap_err();
        assert_eq!(error.kind(), Kind::Malformed);
        assert!(error.to_string().contains("never compressed, found a compressed block"), "{error}");
    }
}

/// As [`golden_body`], for a body whose last bytes may be missing.
fn golden_tail(body: &[u8], want: &MetaBlock) {
    let bytes = frame_block(PLAIN, body);
    let kind = only_block(&bytes).kind().expect("a good block");
    assert_eq!(kind, BlockKind::Meta(want.clone()));
    let mut out = vec![];
    kind.write(&mut out);
    assert_eq!(out, bytes);
}

/// 26 times 0x07, as in the test of blocks.
const LZ4: &str = "1F 07 0100 01 | 50 0707070707";

/// Fields in hex, the data's size 26 among them, then the data in LZ4.
fn golden_compressed(fields: &str, want: impl FnOnce(Payload<'static>) -> Meta<'static>) {
    let raw: &'static [u8] = hex(LZ4).leak();
    let want = want(Payload::compressed(raw, Compression::Lz4, 26, 0, 0));
    let body = hex(&format!("{}{fields}{LZ4}", head(want.id())));
    golden_body(COMPRESSED, &body, &MetaBlock::new(5, want));
    let bytes = frame_block(COMPRESSED, &body);
    let BlockKind::Meta(block) = only_block(&bytes).kind().unwrap() else { panic!() };
    let payload = block.meta.payload().unwrap();
    assert_eq!(payload.offset() as usize, 16 + 12 + body.len() - raw.len());
    assert_eq!(payload.bytes(&mut Scratch::new()).unwrap(), [7; 26]);
}

#[test]
fn t01_display_message() {
    golden("48692021", Meta::DisplayMessage(DisplayMessage { message: "Hi !".into() }));
    golden("", Meta::DisplayMessage(DisplayMessage { message: "".into() }));
}

#[test]
fn t02_fill_memory() {
    let data = Payload::plain(&[0xAA, 0xBB, 0xCC]);
    golden(
        "0900000000000000 | 1000000000000000 | 0300000000000000 | AABBCC",
        Meta::FillMemory(FillMemory { memory: 9, offset: 16, data }),
    );
    golden_compressed("0900000000000000 | 1000000000000000 | 1A00000000000000 |", |data| {
        Meta::FillMemory(FillMemory { memory: 9, offset: 16, data })
    });
    // Plain data end where their size says; what follows is kept.
    let body = hex(&format!("{}0900000000000000 1000000000000000 0200000000000000 AABB CC", head(2)));
    let meta = Meta::FillMemory(FillMemory { memory: 9, offset: 16, data: Payload::plain(&[0xAA, 0xBB]) });
    golden_tail(&body, &MetaBlock { tail: &[0xCC], ..MetaBlock::new(5, meta) });
}

#[test]
fn t03_resize_window() {
    golden(
        "0300000000000000 | 80020000 | E0010000",
        Meta::ResizeWindow(ResizeWindow { surface: 3, width: 640, height: 480 }),
    );
}

#[test]
fn t04_swapchain_images() {
    let image = SwapchainImage {
        image: 0x21,
        index: 1,
        layout: 1000001002,
        acquired: 1,
        acquire_device_mask: 3,
        acquire_semaphore: 0x22,
        acquire_fence: 0x23,
        last_presented_queue: 0x24,
    };
    golden(
        "0200000000000000 | 0400000000000000 | FFFFFFFF | 02000000 |
         2100000000000000 01000000 EACD9A3B 01000000 03000000 2200000000000000 2300000000000000 2400000000000000 |
         0000000000000000 00000000 00000000 00000000 00000000 0000000000000000 0000000000000000 0000000000000000",
        Meta::SwapchainImages(SwapchainImages {
            device: 2,
            swapchain: 4,
            last_presented: u32::MAX,
            images: vec![image, SwapchainImage::default()],
        }),
    );
}

#[test]
fn t05_t06_resource_init() {
    golden(
        "0200000000000000 | 0000000001000000 | 0010000000000000",
        Meta::BeginResourceInit(BeginResourceInit { device: 2, total_bytes: 1 << 32, max_bytes: 4096 }),
    );
    golden("0200000000000000", Meta::EndResourceInit(EndResourceInit { device: 2 }));
}

#[test]
fn t07_t39_init_buffer_and_tensor() {
    let data = Payload::plain(b"abc");
    let fields = "0200000000000000 | 0800000000000000 | 0300000000000000 | 616263";
    golden(fields, Meta::InitBuffer(InitBuffer { device: 2, buffer: 8, data }));
    golden(fields, Meta::InitTensor(InitTensor { device: 2, tensor: 8, data }));
    let fields = "0200000000000000 | 0800000000000000 | 1A00000000000000 |";
    golden_compressed(fields, |data| Meta::InitBuffer(InitBuffer { device: 2, buffer: 8, data }));
    golden_compressed(fields, |data| Meta::InitTensor(InitTensor { device: 2, tensor: 8, data }));
}

#[test]
fn t08_init_image() {
    let image = |level_bytes, data| {
        Meta::InitImage(InitImage { device: 2, image: 8, aspect: 1, layout: 5, level_bytes, data })
    };
    golden(
        "0200000000000000 | 0800000000000000 | 0300000000000000 | 01000000 | 05000000 | 02000000 |
         0200000000000000 0100000000000000 | 616263",
        image(vec![2, 1], Payload::plain(b"abc")),
    );
    golden(
        "0200000000000000 | 0800000000000000 | 0000000000000000 | 01000000 | 05000000 | 00000000",
        image(vec![], Payload::plain(b"")),
    );
    golden_compressed(
        "0200000000000000 | 0800000000000000 | 1A00000000000000 | 01000000 | 05000000 | 01000000 |
         1A00000000000000 |",
        |data| image(vec![26], data),
    );
}

#[test]
fn t09_t24_t35_t10_hardware_buffers() {
    let full = CreateHardwareBuffer {
        form: HardwareBufferForm::Full,
        device: 2,
        memory: 3,
        buffer: 0x7000,
        format: 1,
        width: 64,
        height: 32,
        stride: 80,
        usage: 0x1_0000_0003,
        layers: 1,
        planes: vec![Plane { offset: 16, pixel_stride: 4, row_pitch: 320 }],
    };
    let first = "0300000000000000 | 0070000000000000 | 01000000 40000000 20000000 50000000 |";
    let last = "01000000 | 01000000 | 1000000000000000 04000000 40010000";
    let meta = Meta::CreateHardwareBuffer;
    golden(&format!("0200000000000000 | {first} 0300000001000000 | {last}"), meta(full.clone()));
    let older = CreateHardwareBuffer { form: HardwareBufferForm::NoDevice, device: 0, ..full };
    golden(&format!("{first} 0300000001000000 | {last}"), meta(older.clone()));
    let oldest = CreateHardwareBuffer { form: HardwareBufferForm::Usage32, usage: 3, ..older };
    golden(&format!("{first} 03000000 | {last}"), meta(oldest.clone()));
    let no_planes = CreateHardwareBuffer { planes: vec![], ..oldest };
    golden(&format!("{first} 03000000 | 01000000 | 00000000"), meta(no_planes.clone()));
    golden("0070000000000000", Meta::DestroyHardwareBuffer(DestroyHardwareBuffer { buffer: 0x7000 }));
    assert_eq!(
        MetaBlock::new(0, meta(no_planes)).warning().unwrap(),
        "Android hardware buffers are not replayed"
    );
}

#[test]
fn t11_device_properties() {
    golden(
        "0300000000000000 | 00304000 | 2A000000 | DE100000 | 0F230000 | 02000000 |
         000102030405060708090A0B0C0D0E0F | 03000000 | 475055",
        Meta::DeviceProperties(DeviceProperties {
            physical_device: 3,
            api_version: 0x403000,
            driver_version: 42,
            vendor: 0x10DE,
            device: 0x230F,
            device_type: 2,
            pipeline_cache_uuid: std::array::from_fn(|i| i as u8),
            name: "GPU".into(),
        }),
    );
}

#[test]
fn t12_device_memory() {
    golden(
        "0300000000000000 | 02000000 | 01000000 | 01000000 00000000 | 06000000 00000000 | 0000000004000000 01000000",
        Meta::DeviceMemory(DeviceMemory {
            physical_device: 3,
            types: vec![MemoryType { flags: 1, heap: 0 }, MemoryType { flags: 6, heap: 0 }],
            heaps: vec![MemoryHeap { size: 16 << 30, flags: 1 }],
        }),
    );
}

#[test]
fn t13_resize_window_2() {
    golden(
        "0300000000000000 | 80020000 | E0010000 | 01000000",
        Meta::ResizeWindow2(ResizeWindow2 { surface: 3, width: 640, height: 480, pre_transform: 1 }),
    );
}

#[test]
fn t14_t37_opaque() {
    golden(
        "0200000000000000 | 0800000000000000 | 000000A000000000",
        Meta::OpaqueAddress(OpaqueAddress { device: 2, object: 8, address: 0xA000_0000 }),
    );
    golden(
        "0200000000000000 | 0800000000000000 | 03000000 | 010203",
        Meta::OpaqueDescriptor(OpaqueDescriptor { device: 2, object: 8, data: &[1, 2, 3] }),
    );
}

#[test]
fn t15_shader_groups() {
    golden(
        "0200000000000000 | 0900000000000000 | 0400000000000000 | DEADBEEF",
        Meta::ShaderGroups(ShaderGroups { device: 2, pipeline: 9, handles: &[0xDE, 0xAD, 0xBE, 0xEF] }),
    );
}

#[test]
fn t18_exe_info() {
    let names = ["1.2", "1.2.3", "cube", "Khronos", "a cube", "cube.x", "cube.exe", "Cubes"];
    let texts: Vec<Vec<u8>> = names.map(|n| pad(n, 256)).to_vec();
    let mut body = hex(&head(18));
    body.extend(texts[0].iter().chain(&texts[1]));
    body.extend(hex("01000000 02000000 03000000 04000000"));
    texts[2..].iter().for_each(|t| body.extend(t));
    // What lies behind a NUL is kept.
    let last = body.len() - 1;
    body[last] = 0x5A;
    let mut product_name = texts[7].clone();
    product_name[255] = 0x5A;
    let info = ExeInfo {
        product_version: Text(&texts[0]),
        file_version: Text(&texts[1]),
        app_version: [1, 2, 3, 4],
        app_name: Text(&texts[2]),
        company_name: Text(&texts[3]),
        file_description: Text(&texts[4]),
        internal_name: Text(&texts[5]),
        original_filename: Text(&texts[6]),
        product_name: Text(&product_name),
    };
    golden_body(PLAIN, &body, &MetaBlock::new(5, Meta::ExeInfo(info)));
    assert_eq!(info.product_name.until_nul().text(), "Cubes");
    // Short texts are padded when written.
    let mut out = vec![];
    Meta::ExeInfo(ExeInfo { app_name: "cube".into(), ..Default::default() }).write(&mut out);
    assert_eq!(out.len(), 2064);
    assert_eq!(&out[528..533], b"cube\0");
}

#[test]
fn t22_driver_info() {
    let text = pad("llvmpipe", 1024);
    let body = [hex(&head(22)), text.clone()].concat();
    golden_body(PLAIN, &body, &MetaBlock::new(5, Meta::DriverInfo(DriverInfo { text: Text(&text) })));
}

#[test]
fn t27_parent_to_child() {
    golden(
        "01000000 | 0900000000000000 | 02000000 | 0700000000000000 0800000000000000",
        Meta::ParentToChild(ParentToChild {
            kind: dependency::ACCELERATION_STRUCTURES,
            parent: 9,
            children: vec![7, 8],
        }),
    );
}

#[test]
fn t28_t29_t30_acceleration_structures_have_no_thread() {
    let no_thread = |meta| MetaBlock::new(0, meta);
    let (device, encoded, offset) = (2, &[0x25, 0, 0, 0][..], 16 + 12 + 12);
    golden_body(
        PLAIN,
        &hex("1C000100 | 0200000000000000 | 25000000"),
        &no_thread(Meta::BuildAcceleration(BuildAcceleration { device, encoded, offset })),
    );
    golden_body(
        PLAIN,
        &hex("1D000100 | 0200000000000000 | 25000000"),
        &no_thread(Meta::CopyAcceleration(CopyAcceleration { device, encoded, offset })),
    );
    golden_body(
        PLAIN,
        &hex("1E000100 | 0200000000000000 | F0AD9A3B | 0900000000000000"),
        &no_thread(Meta::WriteAcceleration(WriteAcceleration {
            device,
            query_type: 0x3B9A_ADF0,
            acceleration_structure: 9,
        })),
    );
}

#[test]
fn t32_environment() {
    let environment = Environment { raw: Text(b"A=1\xFFPATH=/x=y\xFFEMPTY\0") };
    golden(
        "1400000000000000 | 413D31 FF 504154483D2F783D79 FF 454D505459 00",
        Meta::Environment(environment),
    );
    let text = |(name, value): (Text, Text)| (name.to_string(), value.to_string());
    let variables: Vec<_> = environment.variables().map(text).collect();
    let want = [("A", "1"), ("PATH", "/x=y"), ("EMPTY", "")];
    assert_eq!(variables, want.map(|(n, v)| (n.to_string(), v.to_string())));
}

#[test]
fn t34_execute_blocks() {
    golden(
        "02000000 | 1800000000000000 | 06000000 | 612E67667861",
        Meta::ExecuteBlocks(ExecuteBlocks { blocks: 2, offset: 24, file: "a.gfxa".into() }),
    );
    golden(
        "00000000 | FFFFFFFFFFFFFFFF | 00000000",
        Meta::ExecuteBlocks(ExecuteBlocks { blocks: 0, offset: -1, file: "".into() }),
    );
}

#[test]
fn other_types_are_data() {
    let types = [
        (17u16, "metadata type 17 (init subresource) is not Vulkan's, skipped"),
        (33, "metadata type 33 (view-relative location) is not Vulkan's, skipped"),
        (23, "metadata type 23 is not known to this build, skipped"),
        (40, "metadata type 40 is not known to this build, skipped"),
        (0x8001, "metadata type 0x8001 is experimental, skipped"),
    ];
    for (id, warning) in types {
        let body = [&id.to_le_bytes()[..], &[3, 0], b"anything"].concat();
        for ty in [PLAIN, COMPRESSED] {
            let other = Other { id, compressed: ty == COMPRESSED, raw: b"anything" };
            let block = MetaBlock { family: 3, thread: 0, meta: Meta::Other(other), tail: &[] };
            assert_eq!(block.warning().as_deref(), Some(warning));
            golden_body(ty, &body, &block);
        }
    }
}

#[test]
fn error_texts() {
    let error = |ty, body: &str| {
        let bytes = frame_block(ty, &hex(body));
        only_block(&bytes).kind().unwrap_err().to_string()
    };
    assert_eq!(error(PLAIN, "020001"), "block 0, offset 0x1c: metadata id: expected 4 more bytes, found 3");
    assert_eq!(
        error(PLAIN, "02000100 05"),
        "block 0, offset 0x20: thread id: expected 8 more bytes, found 1"
    );
    assert_eq!(
        error(PLAIN, "02000100 0500000000000000 0900000000000000 1000000000000000 0400000000000000 AABBCC"),
        "block 0, offset 0x40: memory contents: expected 4 more bytes, found 3"
    );
    assert_eq!(
        error(PLAIN, "04000100 0500000000000000 0200000000000000 0400000000000000 00000000 FFFFFFFF 00"),
        "block 0, offset 0x40: swapchain images: expected 206158430160 more bytes, found 1"
    );
    assert_eq!(
        error(COMPRESSED, "03000100 0500000000000000"),
        "block 0, offset 0x1c: metadata type 3 (resize window): never compressed, found a compressed block"
    );
}
