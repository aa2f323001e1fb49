//! Looks again at pictures that are others: holds those of a replay as captured, and compares those of a changed one with them.

use super::Tolerance;
use super::asked::{Asked, At, Compare, MOST_BYTES, Pictures};
use super::difference::Difference;
use super::verdict::{Differs, Verdict};
use crate::hooks::screenshot::Content;
use replay::hook::Hook;
use std::cell::RefCell;
use std::collections::{BTreeMap, BTreeSet};
use std::rc::Rc;

/// Which replay is to be made.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Side<'s> {
    /// As captured.
    Plain,
    /// Changed, as the one that was measured.
    Changed,
    /// Changed by one of several passes alone.
    Pass(&'s str),
}

/// Makes a replay with these hooks inside of what the side changes.
pub type Again<'j, E> = dyn FnMut(Side<'_>, Vec<Box<dyn Hook>>, &'static str) -> Result<(), E> + 'j;

/// See the module's header.
pub struct Judge<'j, E> {
    /// Which pictures.
    pub asked: Asked,
    /// How far they may be off.
    pub tolerance: Tolerance,
    /// Passes of which one may be to blame.
    pub passes: &'j [String],
    /// Makes replays.
    pub again: &'j mut Again<'j, E>,
}

/// Contents by picture.
type Held = BTreeMap<At, Content>;

/// What a picture turned out to be when it was looked at again: whether all of its bytes were the same, and else what differs.
type Found = BTreeMap<At, (bool, Option<Difference>)>;

impl<E> Judge<'_, E> {
    /// Compares the pictures of a replay as captured with those of a changed one.
    pub fn judge(&mut self, plain: &Pictures, now: &Pictures) -> Result<Verdict, E> {
        let compare = self.asked.compare;
        let mut verdict = Verdict {
            compare,
            tolerance: self.tolerance,
            frames: plain.keys().map(|at| at.0).collect::<BTreeSet<_>>().len(),
            compared: plain.len(),
            unsteady: 0,
            differs: vec![],
            guilty: vec![],
        };
        let others: Pictures = plain
            .iter()
            .filter(|(at, (hash, _))| now.get(at).map(|n| n.0) != Some(*hash))
            .map(|(at, p)| (*at, *p))
            .collect();
        let mut blame: Option<(At, Content)> = None;
        for batch in batches(&others) {
            let held = self.hold(&batch)?;
            let steady: Held = held
                .into_iter()
                .filter(|(at, content)| others.get(at).map(|o| o.0) == Some(content.hash()))
                .collect();
            verdict.unsteady += batch.len() - steady.len();
            if steady.is_empty() {
                continue;
            }
            let held = Rc::new(steady);
            let found = self.compare(Side::Changed, &held)?;
            for at in held.keys() {
                let difference = match (now.contains_key(at), found.get(at)) {
                    (false, _) | (_, None) => Difference::whole("it is not there"),
                    (true, Some((false, None))) => continue, // (bits that are no value of its format)
                    (true, Some((false, Some(d)))) => d.clone(),
                    (true, Some((true, _))) => Difference::whole(
                        "it was another one when it was measured, and was not when it was looked at again",
                    ),
                };
                if !difference.within && blame.is_none() {
                    blame = held.get(at).map(|content| (*at, content.clone()));
                }
                verdict.differs.push(Differs { at: *at, difference });
            }
        }
        verdict.compared -= verdict.unsteady;
        if let Some((at, content)) = blame {
            let held = Rc::new(Held::from([(at, content)]));
            for pass in self.passes {
                let found = self.compare(Side::Pass(pass), &held)?;
                let same = |f: &(bool, Option<Difference>)| f.1.as_ref().is_none_or(|d| d.within);
                if !found.get(&at).is_some_and(same) {
                    verdict.guilty.push(pass.clone());
                }
            }
        }
        Ok(verdict)
    }

    /// Contents of a replay as captured.
    fn hold(&mut self, wanted: &BTreeSet<At>) -> Result<Held, E> {
        let held = Rc::new(RefCell::new(Held::new()));
        let (into, wanted_too) = (held.clone(), wanted.clone());
        let take = move |at, content| {
            if wanted_too.contains(&at) {
                into.borrow_mut().insert(at, content);
            }
        };
        self.replay(Side::Plain, wanted.iter().copied(), Box::new(take))?;
        Ok(held.take())
    }

    /// Compares a replay's contents with these.
    fn compare(&mut self, side: Side<'_>, held: &Rc<Held>) -> Result<Found, E> {
        let found = Rc::new(RefCell::new(Found::new()));
        let (into, before, tolerance) = (found.clone(), held.clone(), self.tolerance);
        let take = move |at, content: Content| {
            if let Some(b) = before.get(&at) {
                let looked = (b.bytes == content.bytes, Difference::of(b, &content, tolerance));
                into.borrow_mut().insert(at, looked);
            }
        };
        self.replay(side, held.keys().copied(), Box::new(take))?;
        Ok(found.take())
    }

    fn replay(
        &mut self,
        side: Side<'_>,
        wanted: impl Iterator<Item = At>,
        take: Box<dyn FnMut(At, Content)>,
    ) -> Result<(), E> {
        let frames: BTreeSet<u64> = wanted.map(|at| at.0).collect();
        // (what a frame leaves is told by what was there before it: all frames are asked for that were)
        let frames = match self.asked.compare {
            Compare::Shown => frames.into_iter().map(|f| (f, f)).collect(),
            Compare::Left => self.asked.frames.clone(),
        };
        let hook = Asked { frames, ..self.asked.clone() }.hook(take);
        let what = match side {
            Side::Plain | Side::Changed => "measuring how pictures differ",
            Side::Pass(_) => "looking for the pass that changes the picture",
        };
        (self.again)(side, vec![hook], what)
    }
}

/// Pictures that are held at one time.
fn batches(of: &Pictures) -> Vec<BTreeSet<At>> {
    let (mut all, mut bytes) = (vec![], MOST_BYTES);
    for (at, (_, size)) in of {
        if bytes.saturating_add(*size) > MOST_BYTES {
            all.push(BTreeSet::new());
            bytes = 0;
        }
        bytes += size;
        all.last_mut().expect("just made").insert(*at);
    }
    all
}

#[cfg(test)]
mod tests;
