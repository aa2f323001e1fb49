//! Blocks of EAC with 11 bits a channel (R11 and RG11), in 16 bits: decoders that are made for 8 bits lose three of them.
//!
//! The arithmetic is that of the Khronos data format specification: a base, a table of eight modifiers, a multiplier, and three
//! bits a texel that choose among the modifiers, column by column. Refuses nothing: every block is one.

/// The modifiers by table, then by a texel's bits.
const MODIFIERS: [[i32; 8]; 16] = [
    [-3, -6, -9, -15, 2, 5, 8, 14],
    [-3, -7, -10, -13, 2, 6, 9, 12],
    [-2, -5, -8, -13, 1, 4, 7, 12],
    [-2, -4, -6, -13, 1, 3, 5, 12],
    [-3, -6, -8, -12, 2, 5, 7, 11],
    [-3, -7, -9, -11, 2, 6, 8, 10],
    [-4, -7, -8, -11, 3, 6, 7, 10],
    [-3, -5, -8, -11, 2, 4, 7, 10],
    [-2, -6, -8, -10, 1, 5, 7, 9],
    [-2, -5, -8, -10, 1, 4, 7, 9],
    [-2, -4, -8, -10, 1, 3, 7, 9],
    [-2, -5, -7, -10, 1, 4, 6, 9],
    [-3, -4, -7, -10, 2, 3, 6, 9],
    [-1, -2, -3, -10, 0, 1, 2, 9],
    [-4, -6, -8, -9, 3, 5, 7, 8],
    [-3, -5, -7, -9, 2, 4, 6, 8],
];

/// The 16 texels of a block of 8 bytes, row by row: from 0 to 65535, or from -32767 to 32767.
pub fn values(block: &[u8], signed: bool) -> [i32; 16] {
    let bits = block.iter().take(8).fold(0u64, |all, b| all << 8 | u64::from(*b));
    let (multiplier, table) = ((bits >> 52 & 15) as i32, (bits >> 48 & 15) as usize);
    let base = match signed {
        // (-128 means -127)
        true => i32::from((bits >> 56) as u8 as i8).max(-127) * 8,
        false => (bits >> 56) as i32 * 8 + 4,
    };
    std::array::from_fn(|texel| {
        let (across, down) = (texel % 4, texel / 4);
        let index = (bits >> (45 - 3 * (across * 4 + down)) & 7) as usize;
        let step = MODIFIERS[table][index] * if multiplier == 0 { 1 } else { multiplier * 8 };
        let value = base + step;
        if !signed {
            let v = value.clamp(0, 2047);
            return v << 5 | v >> 6;
        }
        let v = value.clamp(-1023, 1023);
        let positive = v.abs() << 5 | v.abs() >> 5;
        if v < 0 { -positive } else { positive }
    })
}
