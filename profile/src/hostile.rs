//! Modules that were damaged: what passes the structural check, every reader and every pass takes or refuses, and none panics,
//! recurses without end or asks for more memory than there is.
//!
//! Seeded, so that a run says which mutant it was. `RERAY_MUTANTS` says how many there are (20,000), `RERAY_SEED` which come
//! first.

use crate::hooks::repartition::shaders::{Places, moved};
use crate::pass::{Pass, Sink};
use crate::passes::by_name;
use crate::reflect::{Specialization, reflect};
use crate::rewrite::{Device, entries, instrument, record_instructions};
use crate::testing::{captured, every_pass, scenes};
use crate::{ShaderHash, texts};
use pointers::{Capabilities, Checked};
use std::collections::HashMap;
use std::panic::{AssertUnwindSafe, catch_unwind};
use std::sync::atomic::{AtomicU64, Ordering};
use std::time::{Duration, Instant};

/// Takes whatever is written and keeps nothing.
struct Nowhere;

impl Sink for Nowhere {
    fn put(&mut self, _: &'static trace::Table, _: &[trace::Value<'_>]) {}
}

/// Everything that reads SPIR-V of a capture reads this: whether it passed the check. `turn` chooses the pass that is alone.
fn read_by_all(words: &[u32], passes: &[Box<dyn Pass>], turn: u64) -> bool {
    let Ok(code) = Checked::new(words) else { return false };
    let _ = pointers::may_have_pointers(code);
    let _ = pointers::Module::read(code);
    if let Ok(c) = Capabilities::of(code) {
        let all: Vec<&str> = c.declared.iter().map(String::as_str).collect();
        if let Some(less) = pointers::without(code, &all, &[]) {
            Checked::new(&less).expect("without capabilities a module is as sound as with them");
        }
    }
    assert!(pointers::entry_points(code).count() <= words.len());
    let hash = ShaderHash::of(words);
    let _ = texts::write(hash, words, &mut Nowhere);
    let _ = moved(words, &Places { to: HashMap::new(), nowhere: (7, 9) });
    let device = match turn % 2 {
        0 => Device { atomic_64: true, keep_calls: true, ..Device::default() },
        _ => Device::default(),
    };
    for (model, name, stage) in entries(words) {
        let _ = reflect(words, stage, &name, &Specialization::default());
        let _ = record_instructions(words, model, &name, 1, &mut Nowhere);
        let n = (turn / 2) as usize % (passes.len() + 1);
        let at_work = if n < passes.len() { &passes[n..=n] } else { passes };
        let _ = instrument(words, hash, model, &name, at_work, device);
    }
    true
}

/// A generator of numbers (xorshift).
struct Random(u64);

impl Random {
    fn below(&mut self, n: usize) -> usize {
        self.0 ^= self.0 << 13;
        self.0 ^= self.0 >> 7;
        self.0 ^= self.0 << 17;
        (self.0 >> 11) as usize % n.max(1)
    }
}

/// Where the instructions of a module begin.
fn begins(words: &[u32]) -> Vec<usize> {
    let mut all = vec![];
    let mut at = 5;
    while at < words.len() {
        all.push(at);
        at += ((words[at] >> 16) as usize).max(1);
    }
    all
}

/// A module with one to four changes.
fn mutant(original: &[u32], r: &mut Random) -> Vec<u32> {
    let mut words = original.to_vec();
    for _ in 0..1 + r.below(4) / 2 * r.below(3) {
        let all = begins(&words);
        let (a, b) = (all[r.below(all.len())], all[r.below(all.len())]);
        let len = |at: usize| ((words[at] >> 16) as usize).clamp(1, words.len() - at);
        let (la, lb) = (len(a), len(b));
        let bound = words[3];
        match r.below(12) {
            // An operand: an id, what is elsewhere, an extreme, a neighbour.
            0..=6 => {
                let at = if r.below(40) == 0 {
                    r.below(5)
                } else {
                    a + if la > 1 { 1 + r.below(la - 1) } else { 0 }
                };
                let there = words[r.below(words.len())];
                words[at] = match r.below(9) {
                    0..=3 => 1 + r.below(bound as usize) as u32,
                    4 => there,
                    5 => words[at].wrapping_add(1),
                    6 => words[at].wrapping_sub(1),
                    7 => [0, 1, 2, 32, 64, 0xffff, 0x7fff_ffff, u32::MAX, bound][r.below(9)],
                    _ => words[at] ^ 1 << r.below(32),
                };
            }
            // Another opcode of the same length, or another length.
            7 => words[a] = words[a] & 0xffff_0000 | words[b] & 0xffff,
            8 => words[a] = words[a].wrapping_add([1 << 16, u32::MAX << 16][r.below(2)]),
            9 => drop(words.drain(a..a + la)),
            // An instruction twice, or in another's place; its result is a new one.
            10 => {
                let mut copy = words[b..b + lb].to_vec();
                let result = copy.iter().position(|w| *w == bound.wrapping_sub(1)).unwrap_or(lb.min(3) - 1);
                copy[result] = bound;
                words[3] = bound.wrapping_add(1);
                words.splice(a..a, copy);
            }
            _ => {
                let copy = words[b..b + lb].to_vec();
                words.splice(a..a + la, copy);
            }
        }
    }
    words
}

fn number(name: &str, otherwise: u64) -> u64 {
    std::env::var(name).ok().map_or(otherwise, |v| v.parse().unwrap_or_else(|e| panic!("{name}: {e}")))
}

/// Modules to damage: small ones, as they are read faster, and all kinds of stages are among them.
fn originals() -> Vec<(String, Vec<u32>)> {
    let scenes = scenes().into_iter().map(|(p, w)| (p.display().to_string(), w));
    let mut all: Vec<_> = scenes.chain(captured()).collect();
    all.retain(|m| m.1.len() < 6000);
    assert!(all.len() > 15, "only {} modules", all.len());
    all
}

#[test]
fn what_passes_the_check_is_read_by_all_without_a_panic() {
    let (count, seed) = (number("RERAY_MUTANTS", 20_000), number("RERAY_SEED", 1));
    let (originals, next, accepted) = (originals(), AtomicU64::new(0), AtomicU64::new(0));
    let threads = std::thread::available_parallelism().map_or(1, |n| n.get()).min(4);
    let wrong: Vec<String> = std::thread::scope(|scope| {
        let run = || {
            let (mut wrong, mut passes) = (vec![], every_pass());
            // (hardly any mutant is decorated so that it does something without its option)
            passes.retain(|p| p.name() != "half-floats");
            passes.push(by_name("half-floats:all").expect("it is registered"));
            loop {
                let n = next.fetch_add(1, Ordering::Relaxed);
                if n >= count || wrong.len() > 20 {
                    return wrong;
                }
                let mut r = Random((seed + n).wrapping_mul(0x9e37_79b9_7f4a_7c15) | 1);
                (0..4).for_each(|_| _ = r.below(2));
                let (name, original) = &originals[r.below(originals.len())];
                let words = mutant(original, &mut r);
                let (begin, turn) = (Instant::now(), r.below(1 << 20) as u64);
                let read = catch_unwind(AssertUnwindSafe(|| read_by_all(&words, &passes, turn)));
                match read {
                    Ok(true) => _ = accepted.fetch_add(1, Ordering::Relaxed),
                    Ok(false) => {}
                    Err(_) => wrong.push(format!("RERAY_SEED={} (of {name}, pass {turn})", seed + n)),
                }
                if begin.elapsed() > Duration::from_secs(20) {
                    wrong.push(format!("RERAY_SEED={} took {:?}", seed + n, begin.elapsed()));
                }
            }
        };
        // Rayon's threads, which rewrite shaders, have as much stack.
        let spawn = |_| std::thread::Builder::new().stack_size(2 << 20).spawn_scoped(scope, run);
        let all: Vec<_> = (0..threads).map(|n| spawn(n).expect("a thread")).collect();
        all.into_iter().flat_map(|t| t.join().expect("panics are caught")).collect()
    });
    let accepted = accepted.into_inner();
    println!("{accepted} of {count} passed the check");
    assert!(wrong.is_empty(), "{} of {count}, each by RERAY_MUTANTS=1:\n{}", wrong.len(), wrong.join("\n"));
    assert!(count < 1000 || accepted > count / 20, "only {accepted} of {count} passed the check");
}
