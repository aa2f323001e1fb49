//! What the scene presents, by arithmetic on the CPU: what its shaders compute, a texel of a tile at a time.
//!
//! Holds the committed pictures to it. Siblings compute the same where nothing but a cause parts them.

use super::work::*;
use super::*;

fn scrambled(value: u32, rounds: u32) -> u32 {
    (0..rounds).fold(value, round)
}

fn round(value: u32, n: u32) -> u32 {
    (value ^ value >> 15).wrapping_mul(739_982_445).wrapping_add(n)
}

fn colour(value: u32) -> [u8; 3] {
    let [r, g, b, _] = value.to_le_bytes();
    [r, g, b]
}

/// The place of a pixel, as one number.
fn place(x: u32, y: u32) -> u32 {
    x.wrapping_mul(40503).wrapping_add(y)
}

/// The pixel of a full-screen target that a tile shows.
fn shown(at: u32) -> u32 {
    at * 15 + 7
}

fn shaded(x: u32, y: u32, rounds: u32) -> [u8; 3] {
    colour(scrambled(place(shown(x), shown(y)).wrapping_add(SEED), rounds))
}

fn textured(x: u32, y: u32, of: vk::Extent2D) -> [u8; 3] {
    let start = scrambled(place(shown(x), shown(y)).wrapping_add(SEED), 2);
    let (_, sum) = (0..TEXELS).fold((start, [0u8; 3]), |(at, sum), n| {
        let at = round(at, n);
        let (x, y) = (at & (of.width - 1), at >> 16 & (of.height - 1));
        let texel = colour(scrambled(place(x % PATTERN, y % PATTERN), PATTERN_ROUNDS));
        (at, std::array::from_fn(|c| sum[c].wrapping_add(texel[c])))
    });
    sum
}

fn row(x: u32, y: u32) -> [u8; 3] {
    colour(scrambled(place(x, y).wrapping_add(SEED), ROW_ROUNDS))
}

/// Of the first so many triangles.
fn dotted(x: u32, y: u32, triangles: u32) -> [u8; 3] {
    let pixel = y * TILE + x;
    match pixel.is_multiple_of(3) && pixel / 3 < triangles {
        true => colour(scrambled(pixel / 3 + SEED, DOT_ROUNDS)),
        false => CLEARED_BYTES,
    }
}

#[test]
fn the_pictures_are_what_arithmetic_says() {
    for frame in Causes.pictured() {
        let path = format!("{}/samples/causes_frame_{frame}.png", env!("CARGO_MANIFEST_DIR"));
        let (extent, pixels) = crate::picture::read_png(&path);
        assert_eq!(extent, EXTENT);
        for (at, rgb) in (0..).zip(pixels.chunks_exact(3)) {
            let (tile, x, y) = (at % EXTENT.width / TILE, at % TILE, at / EXTENT.width);
            let expected = match tile {
                0 => textured(x, y, LARGE),
                1 => textured(x, y, SMALL),
                2 => shaded(x, y, DEAR_ROUNDS),
                3 => shaded(x, y, PLAIN_ROUNDS),
                4 => shaded(x, y, PASS_ROUNDS),
                5 | 6 => row(x, y),
                7 | 8 => dotted(x, y, DRAWS),
                _ => dotted(x, y, 1),
            };
            assert_eq!(rgb, expected, "frame {frame}, tile {tile}, pixel {x}, {y}");
        }
    }
}

#[test]
fn what_shaders_take_for_granted_is_so() {
    assert!([LARGE, SMALL].iter().all(|t| t.width.is_power_of_two() && t.height.is_power_of_two()));
    assert!([LARGE.width, LARGE.height].iter().all(|side| side.is_multiple_of(PATTERN)));
    assert!(include_str!("fill.comp").contains(&format!("at.y * {PATTERN}u")));
    assert!(include_str!("rows.comp").contains(&format!("local_size_x = {TILE}, local_size_y = {ROWS}")));
    assert!(include_str!("dots.vert").contains(&format!("pixel % {TILE}u")));
    const { assert!(DRAWS * 3 <= TILE * TILE) };
}
