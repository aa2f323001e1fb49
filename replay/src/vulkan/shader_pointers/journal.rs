//! Words that lie in captured ranges, wherever the host put them: what each was, what it is now, and whether it was
//! translated when it was written.
//!
//! Kept by buffer. Copies between buffers carry words along; until the submission with the copy has been handed over, a
//! word behind a copy is one with the word it comes from, so that it is translated there.

use std::collections::{BTreeMap, HashMap};

/// Words kept at most; beyond, new ones are forgotten.
const MOST_WORDS: usize = 1 << 20;

/// A word that lies in a captured range.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) struct Word {
    /// As captured.
    pub captured: u64,
    /// Where that is now.
    pub live: u64,
    /// The buffer holds the live one.
    pub done: bool,
    /// The word it will be copied from.
    from: Option<(u64, u64)>,
}

impl Word {
    /// A word the host wrote.
    pub fn new(captured: u64, live: u64, done: bool) -> Self {
        Word { captured, live, done, from: None }
    }
}

/// See the module's header.
#[derive(Default)]
pub(crate) struct Journal {
    buffers: HashMap<u64, BTreeMap<u64, Word>>,
    words: usize,
    /// Words that are not done.
    left: usize,
    /// Words that a copy of the submission at hand brings.
    coming: Vec<(u64, u64)>,
}

impl Journal {
    /// Nothing is kept.
    pub fn is_empty(&self) -> bool {
        self.words == 0
    }
    /// Some word was not translated.
    pub fn any_left(&self) -> bool {
        self.left != 0
    }
    /// The host, or a copy, writes these bytes of a buffer.
    pub fn overwritten(&mut self, buffer: u64, at: u64, len: u64) {
        let Some(words) = self.buffers.get_mut(&buffer) else { return };
        // A word that begins before and reaches in is broken, too.
        let gone: Vec<u64> =
            words.range(at.saturating_sub(7)..at.saturating_add(len).max(at)).map(|w| *w.0).collect();
        for at in gone {
            let w = words.remove(&at).expect("just seen");
            self.words -= 1;
            self.left -= usize::from(!w.done);
        }
    }
    /// A buffer is gone.
    pub fn forget(&mut self, buffer: u64) {
        for w in self.buffers.remove(&buffer).unwrap_or_default().into_values() {
            self.words -= 1;
            self.left -= usize::from(!w.done);
        }
    }
    /// A word is at this place of a buffer.
    pub fn put(&mut self, buffer: u64, at: u64, word: Word) {
        if self.words == MOST_WORDS {
            return;
        }
        self.words += 1;
        self.left += usize::from(!word.done);
        if let Some(old) = self.buffers.entry(buffer).or_default().insert(at, word) {
            self.words -= 1;
            self.left -= usize::from(!old.done);
        }
    }
    /// A copy that is about to be submitted; whether it brings any words.
    pub fn copied(&mut self, from: u64, to: u64, (at, target, len): (u64, u64, u64)) -> bool {
        let end = at.saturating_add(len);
        let words: Vec<(u64, Word)> = match self.buffers.get(&from) {
            Some(all) if at < end => {
                all.range(at..end).filter(|w| w.0.saturating_add(8) <= end).map(|(at, w)| (*at, *w)).collect()
            }
            _ => Vec::new(),
        };
        self.overwritten(to, target, len);
        let any = !words.is_empty();
        for (place, w) in words {
            let Some(there) = target.checked_add(place - at) else { continue };
            self.put(to, there, Word { from: Some((from, place)), ..w });
            self.coming.push((to, there));
        }
        any
    }
    /// The submission has been handed over: its copies happen.
    pub fn handed_over(&mut self) {
        for (buffer, at) in std::mem::take(&mut self.coming) {
            if let Some(w) = self.buffers.get_mut(&buffer).and_then(|b| b.get_mut(&at)) {
                w.from = None;
            }
        }
    }
    /// The words of a buffer from one place to before another.
    pub fn words(&self, buffer: u64, from: u64, to: u64) -> impl Iterator<Item = (u64, Word)> {
        let all = self.buffers.get(&buffer).filter(|_| from < to);
        all.into_iter().flat_map(move |b| b.range(from..to)).map(|(at, w)| (*at, *w))
    }
    /// The word at a place is a pointer: where the live one must be written, unless it is there.
    pub fn translate(&mut self, mut buffer: u64, mut at: u64) -> Option<(u64, u64, u64)> {
        let mut write = None;
        while let Some(w) = self.buffers.get_mut(&buffer).and_then(|b| b.get_mut(&at)) {
            if w.done {
                break;
            }
            w.done = true;
            self.left -= 1;
            write = Some((buffer, at, w.live));
            let Some(from) = w.from else { break };
            (buffer, at) = from;
        }
        write
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_word_behind_a_copy_is_translated_where_it_comes_from() {
        let mut j = Journal::default();
        j.put(1, 16, Word::new(0x10, 0x90, false));
        j.copied(1, 2, (8, 100, 24));
        j.copied(2, 3, (104, 0, 16));
        assert_eq!(j.translate(3, 4), Some((1, 16, 0x90)));
        assert_eq!(j.translate(2, 108), None, "it has been");
        assert!(!j.any_left());
    }

    #[test]
    fn a_word_that_was_copied_before_is_translated_in_place() {
        let mut j = Journal::default();
        j.put(1, 0, Word::new(0x10, 0x90, false));
        j.copied(1, 2, (0, 0, 8));
        j.handed_over();
        assert_eq!(j.translate(2, 0), Some((2, 0, 0x90)));
        assert!(j.any_left(), "the one that it was copied from");
        j.forget(1);
        assert!(!j.any_left());
    }

    #[test]
    fn what_is_written_over_is_forgotten() {
        let mut j = Journal::default();
        for at in [0, 8, 16, 24] {
            j.put(1, at, Word::new(at, at, false));
        }
        j.overwritten(1, 12, 8);
        assert_eq!(j.words(1, 0, 100).map(|w| w.0).collect::<Vec<_>>(), [0, 24]);
        j.overwritten(1, 0, 100);
        assert!(j.is_empty() && !j.any_left());
        j.copied(1, 2, (0, 0, 100));
        assert!(j.is_empty());
    }
}
