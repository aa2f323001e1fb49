//! The bytes that blocks held, four at a time; words that are not known are absent.

use super::numbers::{NOTHING, Numbers};
use trace::tables::CONTENT_WORDS;
use trace::{Source, Unreadable};

/// All contents.
#[derive(Debug, Default)]
pub struct Words {
    by_number: Numbers<u32>,
    /// Where each begins; those of the next are behind it.
    first: Vec<u32>,
    offsets: Vec<u32>,
    words: Vec<u32>,
}

impl Words {
    pub(super) fn read(trace: &dyn Source) -> Result<Words, Unreadable> {
        let mut rows: Vec<(u64, u32, u32)> = vec![];
        trace.each_of(&CONTENT_WORDS, &["contents", "offset", "word"], &mut |t| {
            let (c, o, w) = (t.u64("contents"), t.u64("offset"), t.u64("word"));
            rows.extend((0..t.len()).map(|r| (c[r], o[r] as u32, w[r] as u32)));
            Ok(())
        })?;
        if !rows.is_sorted_by_key(|r| (r.0, r.1)) {
            rows.sort_by_key(|r| (r.0, r.1));
        }
        let mut all = Words::default();
        for of in rows.chunk_by(|a, b| a.0 == b.0) {
            all.by_number.insert(of[0].0, all.first.len() as u32);
            all.first.push(all.words.len() as u32);
            all.offsets.extend(of.iter().map(|r| r.1));
            all.words.extend(of.iter().map(|r| r.2));
        }
        Ok(all)
    }

    /// The index of these contents.
    pub(super) fn index(&self, number: u64) -> u32 {
        self.by_number.get(&number).copied().unwrap_or(NOTHING)
    }

    /// The word at this offset in bytes, a multiple of four; `None` where it is not known.
    pub fn word(&self, contents: u32, offset: u32) -> Option<u32> {
        let begin = *self.first.get(contents as usize)? as usize;
        let end = self.first.get(contents as usize + 1).map_or(self.words.len(), |e| *e as usize);
        let offsets = &self.offsets[begin..end];
        // (where nothing is missing before it, it is where it would be)
        let guess = offset as usize / 4;
        let at = match offsets.get(guess) {
            Some(o) if *o == offset => guess,
            _ => offsets.binary_search(&offset).ok()?,
        };
        Some(self.words[begin + at])
    }
}
