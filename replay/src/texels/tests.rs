use super::*;
use world::bytes::texels::Rows;

/// Bits from the lowest of the first byte on.
struct Bits(u128, u32);

impl Bits {
    fn put(&mut self, value: u128, bits: u32) {
        assert!(value >> bits == 0);
        self.0 |= value << self.1;
        self.1 += bits;
    }
    fn block(self) -> Vec<u8> {
        self.0.to_le_bytes().to_vec()
    }
}

/// One block of a format, whole, in its best stand-in.
fn block(format: u32, data: &[u8]) -> Vec<u8> {
    let codec = Codec::compressed(format).expect("it is compressed");
    assert_eq!(data.len(), codec.block_bytes());
    let (x, y) = codec.block();
    let rows = Rows { at: 0, bytes: data.len() as u64, stride: (data.len() as u64, 0), count: (1, 1) };
    codec.decode(stand_ins(format)[0], data, &rows, [x as u32, y as u32, 1])
}

/// The first texels of 8 bits a channel.
fn colours<const N: usize>(format: u32, data: &[u8]) -> [[u8; 4]; N] {
    let texels = block(format, data);
    std::array::from_fn(|i| texels[4 * i..4 * i + 4].try_into().expect("four"))
}

fn wide(format: u32, data: &[u8]) -> Vec<u16> {
    block(format, data).chunks_exact(2).map(|v| u16::from_le_bytes([v[0], v[1]])).collect()
}

#[test]
fn bc1_to_bc3_interpolate_between_two_colours() {
    // Red and blue of 5 bits; the first row has the indices 0, 1, 2, 3.
    let four = [0x00, 0xF8, 0x1F, 0x00, 0xE4, 0, 0, 0];
    let expected = [[255, 0, 0, 255], [0, 0, 255, 255], [170, 0, 85, 255], [85, 0, 170, 255]];
    assert_eq!(colours(131, &four), expected);
    assert_eq!(colours(134, &four), expected);
    // The other way round there are three and nothing.
    let three = [0x1F, 0x00, 0x00, 0xF8, 0xE4, 0, 0, 0];
    let [a, b, half, nothing] = colours(133, &three);
    assert_eq!((a, b, nothing), ([0, 0, 255, 255], [255, 0, 0, 255], [0; 4]));
    assert!(half[0].abs_diff(127) <= 1 && half[2].abs_diff(127) <= 1 && half[3] == 255, "{half:?}");
    assert_eq!(colours::<4>(131, &three)[3], [0, 0, 0, 255], "without alpha it is black");
    // BC2 says alphas: 0, 5, 10, 15 of 15.
    let bc2: Vec<u8> = [0x50, 0xFA, 0, 0, 0, 0, 0, 0].into_iter().chain(four).collect();
    assert_eq!(colours::<4>(135, &bc2).map(|c| c[3]), [0, 85, 170, 255]);
    // BC3 interpolates them: 255, 0, and one and two sevenths less than 255 (3 bits each, from the lowest on).
    let bc3: Vec<u8> = [255, 0, 0b1000_1000, 0b0110, 0, 0, 0, 0].into_iter().chain(four).collect();
    let alphas = colours::<4>(137, &bc3).map(|c| i32::from(c[3]));
    for (a, e) in alphas.into_iter().zip([255, 0, 219, 182]) {
        assert!((a - e).abs() <= 1, "{alphas:?}");
    }
}

#[test]
fn bc4_and_bc5_have_16_bits() {
    let half = [255, 0, 0b1000_1000, 0b0110, 0, 0, 0, 0];
    let expected = [65535, 0, 56173, 46811];
    for (a, e) in wide(139, &half).into_iter().zip(expected) {
        assert!(a.abs_diff(e) <= 1, "{a} {e}");
    }
    let signed = [127, 0x81, 0b1000_1000, 0b0110, 0, 0, 0, 0];
    let both: Vec<u8> = half.iter().chain(&half).copied().collect();
    assert_eq!(wide(141, &both)[..2], [65535, 65535]);
    let s: Vec<i16> = wide(140, &signed).into_iter().map(|v| v as i16).collect();
    assert_eq!(s[..2], [32767, -32767]);
    assert!((i32::from(s[2]) - 32767 * 5 / 7).abs() <= 2, "{s:?}");
    let narrow = |format, stand_in, data: &[u8]| {
        let rows = Rows { at: 0, bytes: 8, stride: (8, 0), count: (1, 1) };
        Codec::compressed(format).expect("known").decode(stand_in, data, &rows, [4, 4, 1])
    };
    assert_eq!(narrow(139, 9, &half)[..3], [255, 0, 219]);
    assert_eq!(narrow(140, 10, &signed)[..2], [127, 0x81]);
}

#[test]
fn bc6h_gives_half_floats_and_bc7_all_of_eight_bits() {
    // Mode 11: two colours of 10 bits and no partition; both are 512 of 1023 in red, nothing in green, 1023 in blue.
    let mut b = Bits(0, 0);
    b.put(0b00011, 5);
    for v in [512, 0, 1023, 512, 0, 1023] {
        b.put(v, 10);
    }
    // (512 << 16 + 32768 >> 10 is 32800, of which 31 of 64 parts are 15887; the largest is 65535, so 31743, the largest half)
    assert_eq!(wide(143, &b.block())[..4], [15887, 0, 31743, 0x3C00]);
    // Mode 6: seven bits and a common one for each end; the last texel has the highest index.
    let mut b = Bits(0, 0);
    b.put(1 << 6, 7);
    for v in [10, 100, 20, 20, 0, 127, 127, 127] {
        b.put(v, 7);
    }
    b.put(0b10, 2);
    b.put(0, 59);
    b.put(15, 4);
    let texels: [[u8; 4]; 16] = colours(145, &b.block());
    assert_eq!((texels[0], texels[15]), ([20, 40, 0, 254], [201, 41, 255, 255]));
}

#[test]
fn etc2_in_its_modes() {
    // Individual: both halves 8 of 15, the first table: 2 and 8 more and less; texels go down by columns.
    let individual = [0x88, 0x88, 0x88, 0, 0x00, 0x0C, 0x00, 0x0A];
    let t: [[u8; 4]; 16] = colours(147, &individual);
    let column: Vec<u8> = (0..4).map(|y| t[4 * y][0]).collect();
    assert_eq!(column, [138, 144, 134, 128]);
    assert!(t.iter().all(|t| t[3] == 255 && t[0] == t[1] && t[1] == t[2]));
    // Planar: nothing at the origin, the most of red at the right, of green below (6, 7 and 6 bits).
    let mut word = 0u64;
    let mut put = |value: u64, at: u32| word |= value << at;
    put(0b11111, 34);
    put(1, 32);
    put(1, 33);
    put(127, 6);
    // Blue has to leave its range, so that it is this mode: a base of 0 and a difference below nothing.
    put(0b100, 40);
    let t: [[u8; 4]; 16] = colours(147, &word.to_be_bytes());
    // The bit that makes it so is one of blue at the origin: 4 of 63.
    assert_eq!((t[0][0], t[1][0], t[2][0], t[3][0]), (0, 64, 128, 191));
    assert_eq!((t[4][1], t[8][1], t[12][1]), (64, 128, 191));
    // A bit of alpha: without the opaque bit the index 2 is a hole, and 0 is the colour itself.
    let differential = [0x80, 0x80, 0x80, 0, 0x00, 0x01, 0x00, 0x00];
    let t: [[u8; 4]; 16] = colours(149, &differential);
    assert_eq!((t[0][3], t[1]), (0, [132, 132, 132, 255]));
    let t: [[u8; 4]; 16] = colours(149, &[0x80, 0x80, 0x80, 2, 0, 1, 0, 0]);
    assert_eq!((t[0], t[1]), ([130, 130, 130, 255], [134, 134, 134, 255]));
    // In the mode of two colours (red leaves its range) index 2 is one, too, and black.
    let two = [0x04, 0x80, 0x80, 0, 0x00, 0x01, 0x00, 0x00];
    let t: [[u8; 4]; 16] = colours(149, &two);
    assert_eq!((t[0], t[1][3]), ([0; 4], 255));
    assert_ne!(colours::<1>(149, &[0x04, 0x80, 0x80, 2, 0, 1, 0, 0]), [[0; 4]], "which the opaque bit fills");
    // Eight bits: the base where the multiplier is nothing, and steps of the table from it.
    let plain: Vec<u8> = [77, 0, 0, 0, 0, 0, 0, 0].into_iter().chain(individual).collect();
    assert!(colours::<16>(152, &plain).iter().all(|t| t[3] == 77));
    let steps: Vec<u8> = [100, 0x20, 0b0001_1100, 0, 0, 0, 0, 0].into_iter().chain(individual).collect();
    let t: [[u8; 4]; 16] = colours(151, &steps);
    assert_eq!((t[0][3], t[4][3], t[8][3]), (94, 128, 94));
}

#[test]
fn eac_has_eleven_bits() {
    // Texel 0 the index 0 (-3), the one below it 7 (14); no multiplier, so that steps are of a bit.
    let b = [128, 0x00, 0b0001_1100, 0, 0, 0, 0, 0];
    let in_16 = |v: u16| v << 5 | v >> 6;
    let v = wide(153, &b);
    assert_eq!((v[0], v[4]), (in_16(128 * 8 + 4 - 3), in_16(128 * 8 + 4 + 14)));
    let v = wide(153, &[255, 0xF0, 0b1111_1100, 0, 0, 0, 0, 0]);
    assert_eq!((v[0], v[4], v[8]), (65535, 65535, in_16(2044 - 360)));
    let v: Vec<i16> = wide(154, &[0x80, 0xF0, 0, 0, 0, 0, 0, 0]).into_iter().map(|v| v as i16).collect();
    assert!(v.iter().all(|v| *v == -32767), "{v:?}");
    let two: Vec<u8> = b.into_iter().chain([0u8; 8]).collect();
    assert_eq!(wide(155, &two)[..2], [in_16(1025), in_16(1)]);
}

#[test]
fn astc_blocks_of_every_footprint() {
    let constant: Vec<u8> = [0xFC, 0xFD, 255, 255, 255, 255, 255, 255]
        .into_iter()
        .chain([0xFFFFu16, 0x8000, 0, 0x4040].into_iter().flat_map(u16::to_le_bytes))
        .collect();
    for format in 157..=184 {
        let (x, y) = Codec::compressed(format).expect("ASTC").block();
        let texels = block(format, &constant);
        assert_eq!(texels.len(), x * y * 4);
        assert!(texels.chunks_exact(4).all(|t| t == [255, 128, 0, 64]), "{format}");
        // A reserved mode is an error, which is magenta.
        assert!(block(format, &[0; 16]).chunks_exact(4).all(|t| t == [255, 0, 255, 255]), "{format}");
    }
    // 4 x 4 weights of two bits, two greys (mode 0: luminance), 0 and 255 in 8 bits, the weights from the highest bit down.
    let mut b = Bits(0, 0);
    // The block mode: A = 2 (rows: A + 2), B = 0 (columns: B + 4), a range of four: R = 100.
    b.put(0b000_0100_0010, 11);
    b.put(0, 2);
    b.put(0, 4);
    b.put(0, 8);
    b.put(255, 8);
    let mut block = b.0;
    for i in [1, 6, 15] {
        block |= 3 << (126 - 2 * i);
    }
    let t: [[u8; 4]; 16] = colours(157, &block.to_le_bytes());
    let white: Vec<usize> = (0..16).filter(|i| t[*i] == [255; 4]).collect();
    assert_eq!(white, [1, 6, 15], "{t:?}");
    assert!((0..16).filter(|i| !white.contains(i)).all(|i| t[i] == [0, 0, 0, 255]));
}

#[test]
fn boxes_are_cut_at_their_edges() {
    // 3 x 2 blocks of 4 x 4 in rows of four and slices of three rows: each of its own grey, that it says itself.
    let grey = |n: u8| -> Vec<u8> {
        let colour = u16::from(n) * 257;
        let all = [colour, colour, colour, 0xFFFF].into_iter().flat_map(u16::to_le_bytes);
        [0xFC, 0xFD, 255, 255, 255, 255, 255, 255].into_iter().chain(all).collect()
    };
    let source: Vec<u8> = (0..24).flat_map(|n| grey(n * 10)).collect();
    let rows = Rows { at: 0, bytes: 48, stride: (64, 192), count: (2, 2) };
    let codec = Codec::compressed(157).expect("ASTC");
    let out = codec.decode(37, &source, &rows, [9, 5, 2]);
    assert_eq!(out.len(), 9 * 5 * 2 * 4);
    for (i, t) in out.chunks_exact(4).enumerate() {
        let (x, y, z) = (i % 9, i / 9 % 5, i / 45);
        let n = (z * 12 + y / 4 * 4 + x / 4) * 10;
        assert_eq!(t, [n as u8, n as u8, n as u8, 255], "{x} {y} {z}");
    }
    assert!(codec.decode(37, &source, &rows, [0, 5, 2]).is_empty());
    let short = codec.decode(37, &source[..16], &rows, [5, 4, 1]);
    assert_eq!(
        (&short[..4], &short[16..20]),
        (&[0, 0, 0, 255][..], &[255, 0, 255, 255][..]),
        "missing: zeros"
    );
}

#[test]
fn any_bytes_are_blocks() {
    let mut state = 0x2545_F491_4F6C_DD1Du64;
    let mut next = || {
        state ^= state << 13;
        state ^= state >> 7;
        state ^= state << 17;
        state
    };
    for format in 131..=184 {
        for _ in 0..200 {
            let data: Vec<u8> = [next(), next()].into_iter().flat_map(u64::to_le_bytes).collect();
            let codec = Codec::compressed(format).expect("known");
            let data = &data[..codec.block_bytes()];
            for stand_in in stand_ins(format) {
                let rows = Rows { at: 0, bytes: 16, stride: (16, 0), count: (1, 1) };
                let texels = codec.decode(stand_in, data, &rows, [3, 3, 1]);
                assert_eq!(texels.len(), 9 * codec.texel_bytes(stand_in));
            }
        }
    }
}

#[test]
fn stand_ins_are_of_the_same_kind() {
    use gfxr_parse::schema::generated::ENUMS;
    let all = ENUMS.iter().find(|e| e.name == "VkFormat").expect("core").values;
    let name = |f: u32| all.iter().find(|v| v.0 == i64::from(f)).map(|v| v.1).expect("a format");
    let planes = |f: u32| world::formats::planes(f as i32);
    let mut formats: Vec<u32> = all.iter().map(|v| v.0 as u32).collect();
    formats.retain(|f| !stand_ins(*f).is_empty());
    // 54 compressed ones, 14 and 7 and 3 of three channels, 12 packed ones, 5 with depth.
    assert_eq!(formats.len(), 54 + 24 + 12 + 5);
    for format in formats {
        let kind = |n: &str| {
            let kinds = ["UNORM", "SNORM", "USCALED", "SSCALED", "UINT", "SINT", "SRGB", "FLOAT"];
            kinds.into_iter().find(|k| n.contains(k)).expect("one").to_owned()
        };
        let (compressed, depth) = (Codec::compressed(format).is_some(), (124..=130).contains(&format));
        assert_eq!(feature(format).is_some(), compressed);
        for s in stand_ins(format) {
            assert!(depth || kind(name(s)) == kind(name(format)), "{} for {}", name(s), name(format));
            // It has each aspect that the captured one has, and the codec says how large it is there.
            for (plane, captured) in planes(s).expect("known").iter().zip(planes(format).expect("known")) {
                assert_eq!(plane.aspect, captured.aspect);
                let codec = Codec::of(format, plane.aspect).expect("it has one");
                assert_eq!(codec.texel_bytes(s), plane.block_bytes as usize, "{}", name(s));
                assert_eq!(codec.block_bytes(), captured.block_bytes as usize, "{}", name(format));
                assert_eq!(codec.packing(s).is_some(), !compressed, "{}", name(format));
            }
            assert_eq!(planes(s).map(|p| p.len()), planes(format).map(|p| p.len()));
        }
        // Views may be of all of a family: it is the same for each of them, and their texels have as many bytes.
        assert!(family(format).contains(&format));
        for other in family(format) {
            assert_eq!(family(other), family(format));
            assert_eq!(planes(other), planes(format));
        }
    }
    // (stencil alone, an HDR profile, a format that everybody has)
    for format in [127, 1_000_066_000, 37] {
        assert!(stand_ins(format).is_empty() && family(format) == (format..=format));
    }
    assert!(Codec::of(127, world::formats::STENCIL).is_none() && feature(185).is_none());
}

/// Texels in the best stand-in, one behind the other.
fn texels(format: u32, aspect: u32, data: &[u8]) -> Vec<u8> {
    let codec = Codec::of(format, aspect).expect("it has a stand-in");
    let n = data.len() / codec.block_bytes();
    let rows = Rows { at: 0, bytes: data.len() as u64, stride: (data.len() as u64, 0), count: (1, 1) };
    codec.decode(stand_ins(format)[0], data, &rows, [n as u32, 1, 1])
}

#[test]
fn depths_of_24_bits_are_found_again_in_floats() {
    let depth = world::formats::DEPTH;
    let float = |bits: u32| {
        let bytes = texels(125, depth, &bits.to_le_bytes());
        f32::from_le_bytes(bytes.try_into().expect("four"))
    };
    // (the upper 8 bits mean nothing)
    assert_eq!((float(0), float(0xAB00_0000), float(0xFFFF_FFFF)), (0.0, 0.0, 1.0));
    assert_eq!(float(0x80_0000), 8_388_608.0 / 16_777_215.0);
    // Every depth is another float, and the nearest depth to that is itself.
    for bits in (0..1 << 24).step_by(8191).chain((1 << 24) - 5000..1 << 24) {
        assert_eq!((f64::from(float(bits)) * 16_777_215.0).round() as u32, bits);
    }
    // The other way it is the nearest, cut off.
    let of = |v: f32| u32::from_le_bytes(texels(126, depth, &v.to_le_bytes()).try_into().expect("four"));
    assert_eq!([of(0.0), of(1.0), of(7.0), of(-3.0), of(f32::NAN)], [0, 0xFF_FFFF, 0xFF_FFFF, 0, 0]);
    assert_eq!(of(0.25), 0x40_0000);
    // 16 bits in 24: 0x1234 of 65535 is 1193046.2 of 16777215.
    assert_eq!(texels(128, depth, &0x1234u16.to_le_bytes()), 0x12_3412u32.to_le_bytes());
    let stencil = world::formats::STENCIL;
    assert_eq!(texels(129, stencil, &[1, 200, 255]), [1, 200, 255]);
}

#[test]
fn three_channels_get_a_fourth_that_is_one() {
    let color = world::formats::COLOR;
    assert_eq!(texels(23, color, &[1, 2, 3, 4, 5, 6]), [1, 2, 3, 255, 4, 5, 6, 255]);
    // SNORM, UINT, SRGB; B8G8R8 in its own order.
    assert_eq!(texels(24, color, &[0x81, 2, 3]), [0x81, 2, 3, 127]);
    assert_eq!(texels(27, color, &[9, 8, 7]), [9, 8, 7, 1]);
    assert_eq!((stand_ins(29), stand_ins(30), stand_ins(36)), (vec![43], vec![44], vec![50]));
    let halves: Vec<u8> = [0x3C00u16, 0, 0xC000].into_iter().flat_map(u16::to_le_bytes).collect();
    assert_eq!(texels(90, color, &halves), [&halves[..], &[0, 0x3C]].concat());
    assert_eq!(texels(84, color, &halves)[6..], [255, 255]);
    let floats: Vec<u8> = [0.5f32, -2.0, 1e9].into_iter().flat_map(f32::to_le_bytes).collect();
    assert_eq!(texels(106, color, &floats), [&floats[..], &1.0f32.to_le_bytes()].concat());
    assert_eq!(texels(105, color, &floats)[12..], [1, 0, 0, 0]);
}

#[test]
fn packed_channels_are_where_their_names_say() {
    use gfxr_parse::schema::generated::ENUMS;
    let all = ENUMS.iter().find(|e| e.name == "VkFormat").expect("core").values;
    let mut seen = 0;
    for (format, name) in all.iter().map(|v| (v.0 as u32, v.1)) {
        let Some(Codec::Packed(_)) = Codec::of(format, world::formats::COLOR) else { continue };
        // The registry's names have the channels from the highest bit down: VK_FORMAT_B5G6R5_UNORM_PACK16.
        let body = name.trim_start_matches("VK_FORMAT_").split('_').next().expect("one");
        let mut bits: Vec<(char, u32)> = Vec::new();
        for c in body.chars() {
            match c.to_digit(10) {
                None => bits.push((c, 0)),
                Some(n) => bits.last_mut().expect("a channel").1 = n,
            }
        }
        let total: u32 = bits.iter().map(|b| b.1).sum();
        for (i, channel) in "RGBA".chars().enumerate() {
            let mut first = total;
            let place = bits.iter().find_map(|&(c, n)| {
                first -= n;
                (c == channel).then_some((first, n))
            });
            assert_eq!(channels(format)[i], place.is_some(), "{name}");
            let Some((first, n)) = place else { continue };
            for value in 0..1u32 << n {
                let word = value << first;
                let texel = texels(format, world::formats::COLOR, &word.to_le_bytes()[..total as usize / 8]);
                let most = f64::from((1u32 << n) - 1);
                assert_eq!(f64::from(texel[i]), (f64::from(value) * 255.0 / most).round(), "{name} {value}");
                let others = (0..4).filter(|o| *o != i && (*o != 3 || has_channel(&bits, 'A')));
                assert!(others.into_iter().all(|o| texel[o] == 0), "{name} {value}");
                assert!(has_channel(&bits, 'A') || texel[3] == 255, "{name}");
            }
        }
        seen += 1;
    }
    assert_eq!(seen, 12);
}

/// Whether there is such a channel.
fn has_channel(bits: &[(char, u32)], channel: char) -> bool {
    bits.iter().any(|b| b.0 == channel)
}
