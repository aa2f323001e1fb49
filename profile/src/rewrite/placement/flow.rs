//! What decoding needs of a function whose counts follow from some: as words of a site, and back.
//!
//! Refuses words that are none.

use super::knuth::{From, Placement};
use super::shape::Known;

/// What a function's counts follow from: its placement, and where that wants to know it, the blocks that call it, each as often
/// as it does.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Flow {
    /// Where its counters are, and what follows.
    pub placement: Placement,
    /// Function and block of each call; none where entries are not known from them.
    pub calls: Vec<(u32, u32)>,
}

impl Flow {
    /// Of a function, its counters numbered from `first`.
    pub fn new(known: &Known, first: u32) -> Self {
        let placement = Placement::new(&known.shape, first);
        let asks = placement.links.iter().any(|l| l.count == From::Callers);
        Flow { placement, calls: if asks { known.callers.clone() } else { vec![] } }
    }

    /// As words of a site.
    pub fn words(&self) -> Vec<u32> {
        let calls = self.calls.iter().flat_map(|&(f, b)| [f, b]);
        std::iter::once(self.calls.len() as u32).chain(calls).chain(self.placement.words()).collect()
    }

    /// From such words; nothing if they are none.
    pub fn of_words(words: &[u32]) -> Option<Self> {
        let (&calls, rest) = words.split_first()?;
        let (calls, words) = rest.split_at_checked(2 * calls as usize)?;
        let calls = calls.chunks_exact(2).map(|c| (c[0], c[1])).collect();
        Some(Flow { placement: Placement::of_words(words)?, calls })
    }

    /// How often it was entered, by how often its callers' blocks were executed; nothing if that is not known of one.
    pub fn entered(&self, executed: impl Fn(u32, u32) -> Option<u64>) -> Option<u64> {
        self.calls.iter().map(|&(f, b)| executed(f, b)).sum()
    }
}
