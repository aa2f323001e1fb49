//! Tests of `format`: every family of the table once, and what it refuses.

use super::*;

fn one(format: F, texel: &[u8]) -> [u8; 4] {
    assert_eq!(texel_bytes(format), Some(texel.len()), "{format:?}");
    to_rgba8(format, texel, 1, 1, texel.len()).expect("it is in the table").try_into().expect("one texel")
}

fn f32s(v: &[f32]) -> Vec<u8> {
    v.iter().flat_map(|f| f.to_le_bytes()).collect()
}

#[test]
fn bytes_are_put_in_order_and_srgb_stays_as_it_is() {
    for f in [F::R8G8B8A8_UNORM, F::R8G8B8A8_SRGB, F::A8B8G8R8_UNORM_PACK32, F::A8B8G8R8_SRGB_PACK32] {
        assert_eq!(one(f, &[1, 2, 3, 4]), [1, 2, 3, 4]);
    }
    for f in [F::B8G8R8A8_UNORM, F::B8G8R8A8_SRGB] {
        assert_eq!(one(f, &[1, 2, 3, 4]), [3, 2, 1, 4]);
    }
    assert_eq!(one(F::R8_UNORM, &[7]), [7, 7, 7, 255]);
    assert_eq!(one(F::R8G8_UNORM, &[7, 8]), [7, 8, 0, 255]);
    assert_eq!(one(F::R8G8B8_UNORM, &[7, 8, 9]), [7, 8, 9, 255]);
    assert_eq!(one(F::B8G8R8_SRGB, &[7, 8, 9]), [9, 8, 7, 255]);
}

#[test]
fn bit_fields() {
    let word = |v: u32| v.to_le_bytes();
    let (r, g, b) = (1023, 512, 3);
    assert_eq!(one(F::A2B10G10R10_UNORM_PACK32, &word(r | g << 10 | b << 20 | 1 << 30)), [255, 128, 1, 85]);
    assert_eq!(one(F::A2R10G10B10_UNORM_PACK32, &word(r << 20 | g << 10 | b | 3 << 30)), [255, 128, 1, 255]);
    let short = |v: u16| v.to_le_bytes();
    assert_eq!(one(F::R5G6B5_UNORM_PACK16, &short(31 << 11 | 32 << 5 | 1)), [255, 130, 8, 255]);
    assert_eq!(one(F::B5G6R5_UNORM_PACK16, &short(31 << 11 | 32 << 5 | 1)), [8, 130, 255, 255]);
    assert_eq!(one(F::A1R5G5B5_UNORM_PACK16, &short(31 << 10)), [255, 0, 0, 0]);
    assert_eq!(one(F::R4G4B4A4_UNORM_PACK16, &short(0xF80A)), [255, 136, 0, 170]);
    assert_eq!(one(F::X8_D24_UNORM_PACK32, &word(0xAB80_0000)), [128, 128, 128, 255]);
}

#[test]
fn sixteen_bits_and_halves() {
    let shorts = |v: [u16; 4]| v.iter().flat_map(|s| s.to_le_bytes()).collect::<Vec<u8>>();
    assert_eq!(one(F::R16G16B16A16_UNORM, &shorts([65535, 257, 128, 129])), [255, 1, 0, 1]);
    // 1, 0.5, -2, NaN.
    assert_eq!(one(F::R16G16B16A16_SFLOAT, &shorts([0x3C00, 0x3800, 0xC000, 0x7E00])), [255, 128, 0, 0]);
    // Infinity, the smallest number there is, 1/255 rounded to a half, 0.25.
    assert_eq!(one(F::R16G16B16A16_SFLOAT, &shorts([0x7C00, 1, 0x1C04, 0x3400])), [255, 0, 1, 64]);
    assert_eq!(one(F::R16_SFLOAT, &[0, 0x3C]), [255; 4]);
    assert_eq!(one(F::D16_UNORM, &[0, 0x80]), [128, 128, 128, 255]);
}

#[test]
fn floats_are_clamped_and_rounded() {
    assert_eq!(one(F::R32G32B32A32_SFLOAT, &f32s(&[0.5, 1.5, f32::NAN, -1.0])), [128, 255, 0, 0]);
    assert_eq!(one(F::R32G32B32_SFLOAT, &f32s(&[0.1, 0.2, 0.3])), [26, 51, 76, 255]);
    assert_eq!(one(F::D32_SFLOAT, &f32s(&[0.98])), [250, 250, 250, 255]);
}

#[test]
fn small_floats() {
    // Exponent 15 is 1: in 11 bits 0x3C0, in 10 bits 0x1E0; 0x380 and 0x1C0 are a half.
    assert_eq!(
        one(F::B10G11R11_UFLOAT_PACK32, &(0x3C0u32 | 0x380 << 11 | 0x1C0 << 22).to_le_bytes()),
        [255, 128, 128, 255]
    );
    // 256 * 2^(e - 24) with e = 16 is 1.
    let word: u32 = 256 | 128 << 9 | 64 << 18 | 16 << 27;
    assert_eq!(one(F::E5B9G9R9_UFLOAT_PACK32, &word.to_le_bytes()), [255, 128, 64, 255]);
}

#[test]
fn rows_keep_their_distance_and_what_is_missing_is_nothing() {
    let data = [1, 2, 99, 3, 4, 99, 5];
    let out = to_rgba8(F::R8_UNORM, &data, 2, 3, 3).expect("in the table");
    let reds: Vec<u8> = out.iter().step_by(4).copied().collect();
    assert_eq!(reds, [1, 2, 3, 4, 5, 0]);
    assert_eq!(out[5 * 4 + 3], 0);
    assert!(to_rgba8(F::R8_UNORM, &[], 0, 0, 0).expect("empty").is_empty());
}

#[test]
fn depth_and_stencil_are_two_formats() {
    use vk::ImageAspectFlags as A;
    assert_eq!(of_aspect(F::D24_UNORM_S8_UINT, A::DEPTH), F::X8_D24_UNORM_PACK32);
    assert_eq!(of_aspect(F::D24_UNORM_S8_UINT, A::STENCIL), F::S8_UINT);
    assert_eq!(of_aspect(F::D32_SFLOAT_S8_UINT, A::DEPTH), F::D32_SFLOAT);
    assert_eq!(of_aspect(F::R8_UNORM, A::COLOR), F::R8_UNORM);
}

#[test]
fn names_and_refusals() {
    assert_eq!(name(F::B8G8R8A8_UNORM), "B8G8R8A8_UNORM");
    assert_eq!(named("vk_format_r32_sfloat"), Some(F::R32_SFLOAT));
    assert_eq!(name(F::from_raw(12345)), "VkFormat 12345");
    let e = to_rgba8(F::BC7_UNORM_BLOCK, &[], 4, 4, 16).expect_err("compressed");
    assert_eq!(e, "BC7_UNORM_BLOCK cannot be shown as 8-bit colours");
    assert!(to_rgba8(F::R32_UINT, &[], 1, 1, 4).is_err());
}

#[test]
fn shapes() {
    let s: Shape = "640x320:R32_SFLOAT".parse().expect("well-formed");
    assert_eq!((s.width, s.height, s.format, s.bytes()), (640, 320, F::R32_SFLOAT, 819_200));
    let no = |t: &str| t.parse::<Shape>().expect_err(t);
    assert_eq!(no("640"), "expected WxH:FORMAT, as in 640x320:R32_SFLOAT");
    assert_eq!(no("0x5:R8_UNORM"), "\"0\" is no width or height (1 to 65536)");
    assert_eq!(no("5x5:RGB"), "\"RGB\" is no VkFormat; R32_SFLOAT or R8G8B8A8_UNORM is");
    assert_eq!(no("5x5:R32_UINT"), "R32_UINT cannot be shown as 8-bit colours");
}
