use super::decode::{Decoded, geometry};
use replay::ash::vk::Format as F;
use replay::vulkan::inputs::{DATA, Geometry, Kind, TRANSFORM};

/// A geometry's buffer: how many primitives, the transform, the data.
fn buffer(count: u32, transform: [f32; 12], data: &[u8]) -> Vec<u8> {
    let mut bytes = vec![0; DATA];
    bytes[..4].copy_from_slice(&count.to_le_bytes());
    let transform: Vec<u8> = transform.iter().flat_map(|x| x.to_le_bytes()).collect();
    bytes[TRANSFORM..TRANSFORM + 48].copy_from_slice(&transform);
    bytes.extend(data);
    bytes
}

fn of(kind: Kind, most: u32) -> Geometry {
    Geometry { kind, flags: 0, most, buffer: Some(1), missing: String::new() }
}

fn corner(format: F, data: &[u8]) -> [f64; 3] {
    let words = data.len().div_ceil(4);
    let mut one = data.to_vec();
    one.resize(words * 4, 0xEE);
    let kind = Kind::Triangles { format, words: words as u32, transform: false };
    let Some(Decoded::Triangles(all)) = geometry(&of(kind, 1), Some(&buffer(1, [0.0; 12], &one.repeat(3))))
    else {
        panic!("triangles")
    };
    let all = all[0].expect("it is active");
    assert!(all[3..6] == all[..3] && all[6..] == all[..3]);
    [all[0], all[1], all[2]]
}

#[test]
fn corners_of_every_format() {
    let f = |all: &[f32]| all.iter().flat_map(|x| x.to_le_bytes()).collect::<Vec<u8>>();
    let s = |all: &[u16]| all.iter().flat_map(|x| x.to_le_bytes()).collect::<Vec<u8>>();
    let d: Vec<u8> = [1.5f64, -2.0, 1e300].iter().flat_map(|x| x.to_le_bytes()).collect();
    assert_eq!(corner(F::R32G32_SFLOAT, &f(&[1.5, -2.0])), [1.5, -2.0, 0.0]);
    assert_eq!(corner(F::R32G32B32_SFLOAT, &f(&[1.5, -2.0, 3.0])), [1.5, -2.0, 3.0]);
    assert_eq!(corner(F::R32G32B32A32_SFLOAT, &f(&[1.5, -2.0, 3.0, 9.0])), [1.5, -2.0, 3.0]);
    assert_eq!(corner(F::R64G64B64_SFLOAT, &d), [1.5, -2.0, 1e300]);
    // 1, -2 and the least that is not 0.
    assert_eq!(corner(F::R16G16B16_SFLOAT, &s(&[0x3C00, 0xC000, 1])), [1.0, -2.0, 2f64.powi(-24)]);
    assert_eq!(corner(F::R16G16B16A16_SFLOAT, &s(&[0x3C00, 0xC000, 0, 9])), [1.0, -2.0, 0.0]);
    assert_eq!(corner(F::R16G16_SFLOAT, &s(&[0x3C00, 0xC000])), [1.0, -2.0, 0.0]);
    assert_eq!(corner(F::R16G16B16_SNORM, &s(&[0x7FFF, 0x8000, 0])), [1.0, -1.0, 0.0]);
    assert_eq!(corner(F::R16G16B16A16_SNORM, &s(&[0x7FFF, 0x8001, 0, 5])), [1.0, -1.0, 0.0]);
    assert_eq!(corner(F::R16G16_SNORM, &s(&[0, 0x8001])), [0.0, -1.0, 0.0]);
    assert_eq!(corner(F::R16G16B16_UNORM, &s(&[0xFFFF, 0, 13107])), [1.0, 0.0, 0.2]);
    assert_eq!(corner(F::R16G16B16A16_UNORM, &s(&[0xFFFF, 0, 13107, 5])), [1.0, 0.0, 0.2]);
    assert_eq!(corner(F::R16G16_UNORM, &s(&[0xFFFF, 13107])), [1.0, 0.2, 0.0]);
    assert_eq!(corner(F::R8G8B8_SNORM, &[127, 0x80, 0]), [1.0, -1.0, 0.0]);
    assert_eq!(corner(F::R8G8B8A8_SNORM, &[127, 0x81, 0, 7]), [1.0, -1.0, 0.0]);
    assert_eq!(corner(F::R8G8_SNORM, &[127, 0x80]), [1.0, -1.0, 0.0]);
    assert_eq!(corner(F::R8G8B8_UNORM, &[255, 0, 51]), [1.0, 0.0, 0.2]);
    assert_eq!(corner(F::R8G8B8A8_UNORM, &[255, 0, 51, 7]), [1.0, 0.0, 0.2]);
    assert_eq!(corner(F::R8G8_UNORM, &[255, 51]), [1.0, 0.2, 0.0]);
    let packed = |x: u32, y: u32, z: u32| (x | y << 10 | z << 20 | 3 << 30).to_le_bytes();
    assert_eq!(corner(F::A2B10G10R10_UNORM_PACK32, &packed(1023, 0, 341)), [1.0, 0.0, 1.0 / 3.0]);
    assert_eq!(corner(F::A2B10G10R10_SNORM_PACK32, &packed(511, 512, 0x3FF)), [1.0, -1.0, -1.0 / 511.0]);
}

#[test]
fn triangles_are_moved_and_those_that_are_no_numbers_are_inactive() {
    let corners = [[0.0f32, 0.0, 0.0], [1.0, 0.0, 0.0], [0.0, 1.0, 2.0]].concat();
    let mut bytes: Vec<u8> = corners.iter().flat_map(|x| x.to_le_bytes()).collect();
    bytes.extend([f32::NAN; 9].iter().flat_map(|x| x.to_le_bytes()));
    bytes.extend([7; 36]);
    let kind = Kind::Triangles { format: F::R32G32B32_SFLOAT, words: 3, transform: true };
    // Twice as large, x and y in each other's place, 10 up.
    let moved = [0.0, 2.0, 0.0, 0.0, 2.0, 0.0, 0.0, 0.0, 0.0, 0.0, 2.0, 10.0];
    // (there is room for three, of which two stand in memory)
    let all = geometry(&of(kind, 3), Some(&buffer(2, moved, &bytes)));
    let first = [0.0, 0.0, 10.0, 0.0, 2.0, 10.0, 2.0, 0.0, 14.0];
    assert_eq!(all, Some(Decoded::Triangles(vec![Some(first), None])));
    assert_eq!(geometry(&of(kind, 3), None), None);
    assert_eq!(geometry(&of(kind, 0), None), Some(Decoded::Triangles(vec![])));
    assert_eq!(geometry(&of(Kind::Other, 1), Some(&bytes)), None);
}

#[test]
fn instances_have_their_bits() {
    let mut bytes: Vec<u8> = (0..12).flat_map(|n| (n as f32).to_le_bytes()).collect();
    bytes.extend((0xAB00_0001u32 | 2 << 8).to_le_bytes());
    bytes.extend((0x0500_0003u32).to_le_bytes());
    bytes.extend(0x1234_5678_9ABC_DEF0u64.to_le_bytes());
    let Some(Decoded::Instances(all)) =
        geometry(&of(Kind::Instances, 1), Some(&buffer(1, [0.0; 12], &bytes)))
    else {
        panic!("instances")
    };
    let i = all[0];
    assert_eq!((i.custom_index, i.mask, i.sbt_offset, i.flags), (0x201, 0xAB, 3, 5));
    assert_eq!((i.reference, i.transform[11]), (0x1234_5678_9ABC_DEF0, 11.0));
}
