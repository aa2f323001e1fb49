//! Where most of what is inactive is: the headline that questions `simt` and `divergence` share.
//!
//! Guarantees: sums are those of the questions' tables. Refuses nothing: where nothing is inactive, nothing is said.

use crate::context::Context;
use crate::report::{most, share};
use std::collections::BTreeMap;

/// Which entry point has most of the inactive slots, how many these are of its own, and which of its blocks has most. `of`: slots that
/// were inactive, and all.
pub fn headline<S>(
    context: &Context,
    entries: &BTreeMap<u64, S>,
    blocks: &BTreeMap<(u64, u64, u64), S>,
    of: impl Fn(&S) -> [u128; 2],
) -> Option<String> {
    let all: u128 = entries.values().map(|s| of(s)[0]).sum();
    let (&entry, sums) = most(entries, |e| of(e.1)[0])?;
    let [inactive, slots] = of(sums);
    let block = most(blocks.iter().filter(|b| b.0.0 == entry), |b| of(b.1)[0]);
    let block = block.map_or_else(String::new, |(&(entry, function, block), sums)| {
        format!(
            "; {} of all inactive ones in {}",
            share(of(sums)[0], all),
            context.block_words(entry, function, block)
        )
    });
    let whose = context.whose_words(entry);
    let (part, own) = (share(inactive, all), share(inactive, slots));
    Some(format!("{part} of the inactive ones are in {whose}, of whose own {own} are inactive{block}."))
}
