//! Mutations of the SPIR-V modules in a call, as words: the code keeps its size.
//!
//! Guarantees: the module still begins with the magic number, most of the time. Refuses nothing; a call without SPIR-V gives
//! nothing.

use super::super::calls::Edit;
use super::super::fields::Fields;
use super::super::rng::Rng;
use super::call::{Change, one};

const MAGIC: [u8; 4] = 0x0723_0203_u32.to_le_bytes();
/// Words before the first instruction.
const HEADER_WORDS: usize = 5;
/// OpNop, one word.
const NOP: u32 = 0x0001_0000;
/// OpTypeVoid .. OpTypePipe: types, whose result id is their first operand.
const TYPES: std::ops::RangeInclusive<u32> = 19..=38;

/// Changes one to four places of a module.
pub fn change(params: &[u8], fields: &Fields, rng: &mut Rng) -> Option<Change> {
    let code = |p: &&_| {
        let p: &super::super::fields::Pointer = p;
        params[p.data..p.end].starts_with(&MAGIC) && p.end - p.data > 4 * HEADER_WORDS
    };
    let modules: Vec<_> = fields.pointers.iter().filter(code).collect();
    let p = *one(&modules, rng)?;
    let words: Vec<u32> =
        params[p.data..p.end].chunks_exact(4).map(|w| u32::from_le_bytes([w[0], w[1], w[2], w[3]])).collect();
    let mut new = words.clone();
    let starts = instructions(&words);
    let mut texts = vec![];
    for _ in 0..1 + rng.below(4) / 2 {
        texts.push(one_change(&mut new, &starts, rng));
    }
    let bytes: Vec<u8> = new.iter().flat_map(|w| w.to_le_bytes()).collect();
    let end = p.data + bytes.len();
    let text = format!("{}.{}: {}", p.name.0, p.name.1, texts.join(", "));
    Some((vec![Edit { start: p.data, end, bytes }], text))
}

/// Where instructions begin.
fn instructions(words: &[u32]) -> Vec<usize> {
    let mut starts = vec![];
    let mut at = HEADER_WORDS;
    while at < words.len() {
        starts.push(at);
        at += (words[at] >> 16).max(1) as usize;
    }
    starts
}

fn one_change(words: &mut [u32], starts: &[usize], rng: &mut Rng) -> String {
    let Some(&at) = one(starts, rng) else { return String::new() };
    let n = ((words[at] >> 16).max(1) as usize).min(words.len() - at);
    let op = words[at] & 0xFFFF;
    match rng.below(12) {
        0 => {
            words[at..at + n].fill(NOP);
            format!("instruction {op} at word {at} is gone")
        }
        1 => {
            words[at] = words[at].wrapping_add((rng.below(5) as u32).wrapping_sub(2) << 16);
            format!("instruction {op} at word {at} has another length")
        }
        2 => {
            words[at] = words[at] & 0xFFFF_0000 | rng.below(400) as u32;
            format!("instruction {op} at word {at} is another")
        }
        3 => {
            // Of a type, its own id in place of what it is made of.
            let types: Vec<usize> = starts
                .iter()
                .copied()
                .filter(|&s| {
                    TYPES.contains(&(words[s] & 0xFFFF)) && words[s] >> 16 > 2 && s + 2 < words.len()
                })
                .collect();
            let Some(&at) = one(&types, rng) else { return String::new() };
            let n = ((words[at] >> 16) as usize).min(words.len() - at);
            words[at + 2 + rng.below(n - 2)] = words[at + 1];
            format!("type {} at word {at} is made of itself", words[at] & 0xFFFF)
        }
        4 => {
            let other = starts.get(rng.below(starts.len())).copied().unwrap_or(at);
            let m = ((words[other] >> 16) as usize).min(words.len() - other);
            if m == n {
                words.copy_within(other..other + m, at);
            }
            format!("instruction {op} at word {at} is that at word {other}")
        }
        5 => {
            words[3] = [0, 1, 3, u32::MAX, 0x40_0000, words[3] / 2][rng.below(6)];
            format!("bound is {}", words[3])
        }
        6 => {
            let i = rng.below(HEADER_WORDS);
            words[i] ^= 1 << rng.below(32);
            format!("header word {i} has another bit")
        }
        7 => {
            let i = rng.below(words.len());
            words[i] = rng.edge() as u32;
            format!("word {i} is {:#x}", words[i])
        }
        _ => {
            // An operand: an id, a literal, an enumerant.
            if n < 2 {
                return format!("instruction {op} at word {at} has no operands");
            }
            let i = at + 1 + rng.below(n - 1);
            words[i] = match rng.below(5) {
                0 => words[i].wrapping_add(1),
                1 => words[i].wrapping_sub(1),
                2 => 1 + rng.below(words[3].clamp(1, 1 << 20) as usize) as u32,
                3 => [0, 1, u32::MAX, 0x7FFF_FFFF, 0x8000_0000][rng.below(5)],
                _ => words[i] ^ 1 << rng.below(32),
            };
            format!("instruction {op} at word {at}: word {} is {:#x}", i - at, words[i])
        }
    }
}
