//! How often an invocation may be expected to come by each block, from the shader alone.
//!
//! A guess, for choosing what to count where, never for a result: every loop goes round [`ROUNDS`] times, every way on from a
//! block inside of a loop is as likely as any other that stays in the loop, and where a loop is left the invocation
//! goes on as often as it came. Functions are come by as often as their calls.

use super::facts::FunctionFacts;
use super::shader::Shader;

/// How often a loop is taken to go round.
const ROUNDS: f64 = 8.0;

/// For each function of the facts, for each of its blocks, how often one invocation of the entry point comes by.
pub fn expected(s: &Shader) -> Vec<Vec<f64>> {
    let within: Vec<Vec<f64>> = s.facts.functions.iter().map(of_function).collect();
    let calls = s.calls();
    // SPIR-V for shaders has no recursion: so many times are enough.
    let mut runs = vec![0.0; within.len()];
    for _ in 0..within.len() {
        let mut next = vec![0.0; within.len()];
        next[0] = 1.0;
        calls
            .iter()
            .for_each(|&(caller, block, callee)| next[callee] += runs[caller] * within[caller][block]);
        if next == runs {
            break;
        }
        runs = next;
    }
    within.into_iter().zip(runs).map(|(w, runs)| w.into_iter().map(|b| b * runs).collect()).collect()
}

/// For each block, how often one run of the function comes by.
fn of_function(f: &FunctionFacts) -> Vec<f64> {
    let mut share = vec![0.0_f64; f.blocks.len()];
    share[0] = 1.0;
    // A block comes after its dominators; what leads back is the end of a round.
    for (b, block) in f.blocks.iter().enumerate().filter(|b| b.1.reached) {
        let on = || block.successors.iter().map(|s| *s as usize).filter(|&s| s > b);
        let stays = |s: usize| f.blocks[s].depth >= block.depth;
        let ways = on().filter(|&s| stays(s)).count().max(1) as f64;
        for s in on() {
            if stays(s) {
                share[s] = (share[s] + share[b] / ways).min(1.0);
            } else {
                share[s] = share[s].max(share[b]);
            }
        }
    }
    f.blocks.iter().zip(share).map(|(b, share)| share * ROUNDS.powi(b.depth as i32)).collect()
}

#[cfg(test)]
mod tests {
    use super::of_function;
    use crate::rewrite::{BlockFacts, FunctionFacts};

    fn function(blocks: &[(u32, &[u32])]) -> FunctionFacts {
        let block = |(n, (depth, to)): (usize, &(u32, &[u32]))| BlockFacts {
            label: n as u32 + 1,
            word_offset: 0,
            instructions: 1,
            depth: *depth,
            reached: true,
            successors: to.to_vec(),
            line: None,
        };
        let blocks = blocks.iter().enumerate().map(block).collect();
        FunctionFacts { id: 1, name: String::new(), blocks }
    }

    #[test]
    fn what_comes_by_in_each_round_is_told_from_what_seldom_does() {
        // A loop over a switch of four ways: entry, header, four cases, the end of the round, what follows the loop.
        let cases: &[u32] = &[6];
        let ways = [
            (0, &[1][..]),
            (1, &[2, 3, 4, 5, 7]),
            (1, cases),
            (1, cases),
            (1, cases),
            (1, cases),
            (1, &[1]),
            (0, &[]),
        ];
        let often = of_function(&function(&ways));
        assert_eq!(often, [1.0, 8.0, 2.0, 2.0, 2.0, 2.0, 8.0, 1.0]);
    }
}
