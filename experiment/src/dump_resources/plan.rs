//! Which replays it takes, and whose what each of them reads is.
//!
//! Guarantees: no two replays leave out the same draws; no resource is copied twice at one place. Refuses nothing.

use crate::readback::{Replay, ends, later};
use profile::hooks::frame_actions::FrameWork;
use profile::hooks::resources::used::{At, Used};
use profile::readback::copies::Source;
use profile::readback::{Readback, Which};
use serde::{Deserialize, Serialize};
use std::collections::BTreeMap;

/// When a resource holds it.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Serialize, Deserialize)]
#[serde(rename_all = "lowercase")]
pub enum Moment {
    /// All the time: the command does not write it.
    Read,
    /// Before the command, which may write it.
    Before,
    /// Behind it.
    After,
}

/// A resource of a command: the command's row, when, and which of [`FrameWork::used`]; none for attachments.
type Reader = (usize, Moment, Option<usize>);

/// See the module's header.
#[derive(Debug, Default)]
pub struct Plan {
    /// Replays.
    pub replays: Vec<Replay>,
    /// By replay and block: who reads attachments, and what is asked for before and behind the command.
    readers: BTreeMap<(usize, u64), Readers>,
}

#[derive(Debug, Default)]
struct Readers {
    attachments: Vec<Reader>,
    before: Vec<Vec<Reader>>,
    after: Vec<Vec<Reader>>,
}

impl Plan {
    /// Of what chosen actions use; of images every level and layer that their views name, or the base alone.
    pub fn of(frame: &FrameWork, all_subresources: bool) -> Plan {
        let mut plan = Plan::default();
        for (&row, used) in &frame.used {
            let action = &frame.actions[row];
            if action.pass == 0 {
                let n = plan.replay(vec![]);
                for (of, u) in used.iter().enumerate() {
                    let first = if u.written() { Moment::Before } else { Moment::Read };
                    plan.reads(n, action.block, false, (row, first, Some(of)), u);
                    if u.written() {
                        plan.reads(n, action.block, true, (row, Moment::After, Some(of)), u);
                    }
                }
                continue;
            }
            let behind = later(frame, row);
            let before = [vec![row], behind.clone()].concat();
            for (left_out, moment) in [(before, Moment::Before), (behind, Moment::After)] {
                let n = plan.replay(left_out);
                for (block, spot) in ends(frame, action.pass) {
                    plan.replays[n].spots.entry(block).or_insert(spot).attachments = true;
                    let readers = plan.readers.entry((n, block)).or_default();
                    readers.attachments.push((row, moment, None));
                    for (of, u) in used.iter().enumerate() {
                        match (u.written(), moment) {
                            (false, Moment::After) => {
                                plan.reads(n, block, true, (row, Moment::Read, Some(of)), u);
                            }
                            (true, _) => plan.reads(n, block, true, (row, moment, Some(of)), u),
                            _ => {}
                        }
                    }
                }
            }
        }
        for spot in plan.replays.iter_mut().flat_map(|r| r.spots.values_mut()) {
            spot.all_subresources = all_subresources;
        }
        plan
    }

    /// The number of the replay without these.
    fn replay(&mut self, left_out: Vec<usize>) -> usize {
        self.replays.iter().position(|r| r.left_out == left_out).unwrap_or_else(|| {
            self.replays.push(Replay { left_out, ..Replay::default() });
            self.replays.len() - 1
        })
    }

    /// Something is read at a place.
    fn reads(&mut self, n: usize, block: u64, behind: bool, reader: Reader, of: &Used) {
        let Some(source) = source(of) else { return };
        let spot = self.replays[n].spots.entry(block).or_default();
        let readers = self.readers.entry((n, block)).or_default();
        let (all, of) = match behind {
            true => (&mut spot.after, &mut readers.after),
            false => (&mut spot.before, &mut readers.before),
        };
        let at = all.iter().position(|s| same(s, &source)).unwrap_or_else(|| {
            all.push(source);
            of.push(vec![]);
            all.len() - 1
        });
        of[at].push(reader);
    }

    /// Whose it is.
    pub fn readers(&self, replay: usize, read: &Readback) -> Vec<Reader> {
        let Some(of) = self.readers.get(&(replay, read.block)) else { return vec![] };
        match read.which {
            Which::Attachment(_) => of.attachments.clone(),
            Which::Before(n) => of.before[n].clone(),
            Which::After(n) => of.after[n].clone(),
        }
    }
}

/// What is copied of it.
fn source(of: &Used) -> Option<Source> {
    match &of.at {
        At::Buffer(id, offset, bytes) => Some(Source::Buffer(*id, *offset, *bytes)),
        At::Image(view, layout) => Some(Source::Image(*view, *layout)),
        At::Bytes(_) | At::Structure(_) | At::Unknown(_) => None,
    }
}

fn same(a: &Source, b: &Source) -> bool {
    match (a, b) {
        (Source::Buffer(a, from, n), Source::Buffer(b, other, m)) => (a, from, n) == (b, other, m),
        (Source::Image(a, layout), Source::Image(b, other)) => {
            (a.image, a.range, layout) == (b.image, b.range, other)
        }
        _ => false,
    }
}

/// Whether rays may be traced through it.
pub fn traces(of: &Used) -> bool {
    matches!(of.at, At::Structure(_))
}

#[cfg(test)]
mod tests {
    use super::*;
    use profile::hooks::frame_actions::FramePass;
    use trace::actions::Action;

    fn used(buffer: u64, access: &'static str) -> Used {
        let at = At::Buffer(buffer, 0, 64);
        Used { kind: "storage buffer", binding: None, slot: None, name: String::new(), access, at }
    }

    /// A block, how many are read before and behind it, and whether attachments are.
    type ReadAt = (u64, usize, usize, bool);

    /// By replay: what is left out, and of each block what is read before and behind, and whether attachments are.
    fn planned(frame: &FrameWork) -> Vec<(Vec<usize>, Vec<ReadAt>)> {
        let spots = |r: &Replay| {
            r.spots.iter().map(|(b, s)| (*b, s.before.len(), s.after.len(), s.attachments)).collect()
        };
        Plan::of(frame, false).replays.iter().map(|r| (r.left_out.clone(), spots(r))).collect()
    }

    #[test]
    fn neighbours_share_a_replay_and_what_is_only_read_is_read_once() {
        let action = |block, pass| Action { block, pass, ..Action::default() };
        let mut frame = FrameWork {
            actions: vec![action(5, 0), action(10, 1), action(11, 1), action(12, 1)],
            passes: vec![FramePass { number: 1, end: 15, ..FramePass::default() }],
            ..FrameWork::default()
        };
        frame.used.insert(0, vec![used(1, "read"), used(2, "read write"), used(1, "read")]);
        assert_eq!(planned(&frame), [(vec![], vec![(5, 2, 1, false)])]);
        frame.used.clear();
        frame.used.insert(1, vec![used(1, "read")]);
        frame.used.insert(2, vec![used(2, "write")]);
        let all = [
            (vec![1, 2, 3], vec![(15, 0, 0, true)]),
            (vec![2, 3], vec![(15, 0, 2, true)]),
            (vec![3], vec![(15, 0, 1, true)]),
        ];
        assert_eq!(planned(&frame), all);
        let plan = Plan::of(&frame, true);
        let mut spots = plan.replays.iter().flat_map(|r| r.spots.values());
        assert!(spots.all(|s| s.all_subresources), "in the same replays");
        let read = |which| Readback {
            block: 15,
            which,
            object: (0, String::new()),
            subresource: None,
            several: false,
            contents: Err(String::new()),
        };
        let attachment = || read(Which::Attachment("color0".into()));
        let whose = plan.readers(1, &attachment());
        assert_eq!(whose, [(1, Moment::After, None), (2, Moment::Before, None)]);
        assert_eq!(plan.readers(1, &read(Which::After(0))), [(1, Moment::Read, Some(0))]);
        assert_eq!(plan.readers(2, &read(Which::After(0))), [(2, Moment::After, Some(0))]);
        assert_eq!(plan.readers(7, &attachment()), []);
    }
}
