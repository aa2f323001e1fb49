//! What is uploaded and drawn, where what is copied out goes, and what all of it is in the end, by arithmetic.

/// A side of the images.
pub const SIDE: u32 = 16;
/// Texels of an image.
pub const TEXELS: u32 = SIDE * SIDE;
/// Texels from row to row where depths are copied out, and where three channels are.
pub const ROWS: [u32; 2] = [20, 17];
/// What stands where nothing is copied out.
pub const UNTOUCHED: u32 = 0xDEAD_BEEF;
/// The reference of stencil, which has to be less.
pub const REFERENCE: u32 = 100;
/// What is drawn over, 4 bits a channel: red, green, blue, alpha.
pub const CLEARED: [u32; 4] = [2, 2, 2, 15];
/// What draws, four rows each: the colour of 4 bits a channel, and the depth.
pub const DRAWS: [([u32; 4], f32); 4] =
    [([15, 3, 0, 15], 0.4), ([1, 15, 4, 10], 0.71), ([6, 2, 15, 5], 0.2), ([9, 12, 3, 15], 0.91)];
/// Rows of a draw.
pub const BAND: u32 = SIDE / DRAWS.len() as u32;

/// What the mixing shader is told, in each frame another.
pub const fn key(frame: u32) -> u32 {
    0x0055_AA00 + frame
}

/// What is copied out, in this order.
#[derive(Clone, Copy)]
pub enum Part {
    Depth,
    Shallow,
    Stencil,
    Vector,
    Cleared,
    Bits,
    Drawn,
    End,
}

/// The first word of a part; of [`Part::End`], all words.
pub const fn first(part: Part) -> u32 {
    let words = [
        ROWS[0] * (SIDE - 1) + SIDE,
        TEXELS,
        TEXELS / 4,
        (ROWS[1] * (SIDE - 1) + SIDE) * 3,
        TEXELS * 3,
        TEXELS / 2,
        TEXELS / 2,
    ];
    let (mut at, mut i) = (0, 0);
    while i < part as usize {
        at += words[i];
        i += 1;
    }
    at
}

/// Numbers without a pattern.
fn noise(seed: u64, n: u32) -> u64 {
    let mut z = seed.wrapping_mul(0x9E37_79B9_7F4A_7C15).wrapping_add(u64::from(n) << 32 | u64::from(n));
    z = (z ^ z >> 30).wrapping_mul(0xBF58_476D_1CE4_E5B9);
    z = (z ^ z >> 27).wrapping_mul(0x94D0_49BB_1331_11EB);
    z ^ z >> 31
}

/// What a frame uploads: depth (the upper 8 bits mean nothing) and stencil, which are drawn over.
pub fn changing(frame: u32) -> (Vec<u32>, Vec<u8>) {
    let of = |seed: u32| move |n| noise(u64::from(seed + frame * 2), n);
    ((0..TEXELS).map(of(10)).map(|n| n as u32).collect(), (0..TEXELS).map(of(11)).map(|n| n as u8).collect())
}

/// What is uploaded before the first frame: depths alone, three floats a texel, 5, 6 and 5 bits of blue, green and red.
pub fn lasting() -> (Vec<u32>, Vec<f32>, Vec<u16>) {
    let depths = (0..TEXELS).map(|n| noise(1, n) as u32).collect();
    let floats = (0..TEXELS * 3).map(|n| f32::from(noise(2, n) as u8) / 255.0).collect();
    (depths, floats, (0..TEXELS).map(|n| noise(3, n) as u16).collect())
}

/// What a frame clears an image of three channels to; alpha is not there.
pub fn clear(frame: u32) -> [f32; 4] {
    [(51 * frame) as f32 / 255.0, 0.4, 0.8, 0.25]
}

#[cfg(test)]
pub mod expected {
    use super::*;

    /// A pixel of the picture.
    pub type Rgb = [u8; 3];

    fn bytes(word: u32) -> Rgb {
        [(word ^ word >> 24) as u8, (word >> 8) as u8, (word >> 16) as u8]
    }

    /// Texels of the depth buffer, of stencil and of colour, 4 bits a channel, once all is drawn.
    fn drawn(frame: u32) -> (Vec<u32>, Vec<u8>, Vec<[u32; 4]>) {
        let (mut depths, mut stencil) = changing(frame);
        let mut colours = vec![CLEARED; TEXELS as usize];
        for n in 0..TEXELS as usize {
            depths[n] &= 0xFF_FFFF;
            let (colour, depth) = DRAWS[n / SIDE as usize / BAND as usize];
            let depth = (f64::from(depth) * 16_777_215.0).round() as u32;
            if REFERENCE >= u32::from(stencil[n]) {
                continue;
            }
            match depth < depths[n] {
                true => {
                    (depths[n], colours[n]) = (depth, colour);
                    stencil[n] = stencil[n].wrapping_add(1);
                }
                false => stencil[n] = !stencil[n],
            }
        }
        (depths, stencil, colours)
    }

    /// All that is copied out.
    pub fn copied(frame: u32) -> Vec<u32> {
        let (depths, stencil, colours) = drawn(frame);
        let (shallow, vector, bits) = lasting();
        let mut all = vec![UNTOUCHED; first(Part::End) as usize];
        for n in 0..TEXELS {
            let (x, y, i) = (n % SIDE, n / SIDE, n as usize);
            let mut put = |at: u32, word: u32| all[at as usize] = word;
            put(first(Part::Depth) + y * ROWS[0] + x, depths[i]);
            put(first(Part::Shallow) + n, shallow[i] & 0xFF_FFFF);
            for c in 0..3 {
                let word = vector[i * 3 + c as usize].to_bits();
                put(first(Part::Vector) + (y * ROWS[1] + x) * 3 + c, word);
                put(first(Part::Cleared) + n * 3 + c, clear(frame)[c as usize].to_bits());
            }
            let mut part = |first: u32, bits: u32, value: u32| {
                let (at, shift) = ((first * 32 + n * bits) / 32, n * bits % 32);
                let word = &mut all[at as usize];
                *word = if shift == 0 { value } else { *word | value << shift };
            };
            part(first(Part::Stencil), 8, stencil[i].into());
            part(first(Part::Bits), 16, bits[i].into());
            let [r, g, b, a] = colours[i];
            part(first(Part::Drawn), 16, b << 12 | g << 8 | r << 4 | a);
        }
        all
    }

    /// A pixel.
    pub fn pixel(frame: u32, x: u32, y: u32) -> Rgb {
        let i = (y * SIDE + x % SIDE) as usize;
        let (depths, stencil, colours) = drawn(frame);
        let (shallow, vector, bits) = lasting();
        let round = |v: f64| (v * 255.0).round() as u8;
        let depth = |bits: u32| {
            let value = f64::from(bits) / 16_777_215.0;
            [value, (value * 16.0).fract(), 1.0 - value].map(round)
        };
        match x / SIDE {
            0 => {
                let [r, g, b, a] = colours[i].map(f64::from);
                [r, g, b].map(|c| round(c * a / 225.0))
            }
            1 => depth(depths[i]),
            2 => [stencil[i]; 3],
            3 => depth(shallow[i] & 0xFF_FFFF),
            4 => std::array::from_fn(|c| round(vector[i * 3 + c].into())),
            5 => [round(clear(frame)[0].into()), round(clear(frame)[1].into()), 255],
            6 => {
                let part = |first: u32, most: u16| f64::from(bits[i] >> first & most) / f64::from(most);
                [round(part(0, 31)), round(part(5, 63)), round(part(11, 31))]
            }
            _ => {
                let word = ((x - 7 * SIDE) * SIDE + y) as usize;
                copied(frame).get(word).map_or([0; 3], |w| bytes(w ^ key(frame)))
            }
        }
    }
}
