//! The machine of `machine.frag` on the CPU: what each pixel is, and which instructions ran how often.

use super::{INSTRUCTIONS, Instruction, RUNS};

/// How many operations there are: cases of the shader's one switch.
pub const OPERATIONS: usize = 71;

/// What an operation makes of its sources, its constant and its own number in the program.
fn operation(what: u32, a: u32, b: u32, c: u32, n: u32) -> u32 {
    match what {
        0 => a,
        1 => b,
        2 => c,
        3 => n,
        4 => !a,
        5 => a.wrapping_add(b),
        6 => a.wrapping_add(c),
        7 => b.wrapping_add(c),
        8 => a.wrapping_sub(b),
        9 => a.wrapping_sub(c),
        10 => b.wrapping_sub(c),
        11 => a.wrapping_mul(b),
        12 => a.wrapping_mul(c),
        13 => b.wrapping_mul(c),
        14 => a & b,
        15 => a & c,
        16 => !a & b,
        17 => a & n,
        18 => a | b,
        19 => a | c,
        20 => !a | b,
        21 => a | n,
        22 => a ^ b,
        23 => a ^ c,
        24 => !a ^ b,
        25 => a ^ n,
        26 => a << (b & 31),
        27 => a >> (b & 31),
        28 => a << (c & 31),
        29 => a >> (c & 31),
        30 => a / (b | 1),
        31 => a % (b | 1),
        32 => a / (c | 1),
        33 => a % (c | 1),
        34 => a.min(b),
        35 => a.max(b),
        36 => a.min(c),
        37 => a.max(c),
        38 => u32::from(a == b),
        39 => u32::from(a == c),
        40 => u32::from(a != b),
        41 => u32::from(a != c),
        42 => u32::from(a < b),
        43 => u32::from(a < c),
        44 => u32::from(a > b),
        45 => u32::from(a > c),
        46 => u32::from(a <= b),
        47 => u32::from(a <= c),
        48 => u32::from(a >= b),
        49 => u32::from(a >= c),
        50 => {
            if a < b {
                c
            } else {
                n
            }
        }
        51 => {
            if a < c {
                b
            } else {
                n
            }
        }
        52 => a.count_ones(),
        53 => a.reverse_bits(),
        54 => (a | 0x8000_0000).trailing_zeros(),
        55 => 31 - (a | 1).leading_zeros(),
        56 => a >> 8 & 0xff,
        57 => a >> 16 & 0xff,
        58 => a.rotate_left(8),
        59 => a.rotate_left(16),
        60 => a.wrapping_mul(b).wrapping_add(c),
        61 => a.wrapping_mul(c).wrapping_add(b),
        62 => a.wrapping_add(b).wrapping_add(n),
        63 => (a ^ a >> 15).wrapping_mul(c),
        64 => (a & c) | (b & !c),
        65 => a.wrapping_add(b) >> 1,
        66 => a.wrapping_mul(a),
        67 => a ^ b ^ c,
        68 => n.wrapping_mul(c),
        69 => n ^ a,
        70 => a.wrapping_add(n.wrapping_mul(c)),
        _ => 0,
    }
}

/// Runs a program for a pixel: the colour's bytes, red first, and how often each operation ran.
pub fn run(program: &[Instruction; INSTRUCTIONS], x: u32, y: u32) -> ([u8; 3], [u64; OPERATIONS]) {
    let mut registers = [x, y, 1, 0];
    let mut ran = [0; OPERATIONS];
    for _ in 0..RUNS {
        for (n, i) in (0..).zip(program) {
            let (a, b) = (registers[i.sources[0] as usize], registers[i.sources[1] as usize]);
            registers[i.target as usize] = operation(i.operation, a, b, i.constant, n);
            ran[i.operation as usize] += 1;
        }
    }
    let [red, green, blue, _] = registers.into_iter().fold(0, |a, b| a ^ b).to_le_bytes();
    ([red, green, blue], ran)
}
