//! Queue families and their queues: those of the capture stand for those that are here.
//!
//! Asked for: the families and queues of vkCreateDevice, with the abilities that the captured device gave them, as far as work
//! is handed to them. Bridged: each captured family stands for the one here that can do its work and little more, several
//! captured queues for one in turns. Family indices are exchanged in every struct that has them; what was shared between
//! families that are one here is exclusive; a transfer of ownership between them is the barrier that releases, layouts
//! included, and its other half changes no layout. Where two captured queues are one queue here, [`super::held`] keeps their
//! order. Costs: a walk over those calls; nothing where families and queues are as captured. Refused: work of a kind
//! (graphics, compute, transfers) that no family here does.

use crate::options::Bridge;
use crate::preflight::asked::AskedDevice;
use crate::vulkan::portability::compare::Compare;
use crate::vulkan::portability::line::{Done, Line, Sort};
use ash::vk;
use gfxr_parse::image::Image;
use gfxr_parse::schema::{Member, StructDef};
use std::collections::{BTreeMap, BTreeSet};

/// Queues of one family that are told apart, at most; drivers have some dozens.
const MOST_QUEUES: u32 = 1024;
/// What a family can do that commands need.
const WORK: u32 = 0b111;
/// Graphics and compute queues can copy whether they say so or not.
const TRANSFER: u32 = 0b100;
/// VK_QUEUE_FAMILY_FOREIGN_EXT, VK_QUEUE_FAMILY_EXTERNAL and VK_QUEUE_FAMILY_IGNORED name no family of the device.
const FIRST_OF_NONE: u32 = vk::QUEUE_FAMILY_FOREIGN_EXT;

/// Where the queues of a captured device are here.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Folding {
    /// By captured family.
    families: BTreeMap<u32, u32>,
    /// By captured family and index: those here.
    queues: BTreeMap<(u32, u32), (u32, u32)>,
    /// What the device is made with: families and how many queues of each.
    pub made: Vec<(u32, u32)>,
    /// Some family or queue is another than in the capture.
    pub changed: bool,
    /// Two captured queues are one here.
    pub shares: bool,
}

fn able(flags: u32) -> u32 {
    flags & WORK | if flags & 0b011 != 0 { TRANSFER } else { 0 }
}

/// The family here for a captured one that can do `work`: itself if it can, else the one that can do it and least beyond.
/// If none can, the one that can do most.
fn family(captured: u32, work: u32, here: &[vk::QueueFamilyProperties]) -> u32 {
    let can = |f: &vk::QueueFamilyProperties| able(f.queue_flags.as_raw());
    if here.get(captured as usize).is_some_and(|f| f.queue_count > 0 && work & !can(f) == 0) {
        return captured;
    }
    let all = || (0..).zip(here).filter(|(_, f)| f.queue_count > 0);
    let least = all().filter(|(_, f)| work & !can(f) == 0).min_by_key(|(_, f)| can(f).count_ones());
    let most = || all().max_by_key(|(i, f)| (can(f).count_ones(), std::cmp::Reverse(*i)));
    least.or_else(most).map_or(0, |(i, _)| i)
}

impl Folding {
    /// For families and queues that vkCreateDevice asked for. `then`: the flags of the captured device's families, if the
    /// capture says.
    pub fn new(asked: &[(u32, u32)], then: Option<&[u32]>, here: &[vk::QueueFamilyProperties]) -> Self {
        let mut f = Folding::default();
        for &(captured, _) in asked {
            let flags = then.and_then(|t| t.get(captured as usize));
            f.families.insert(captured, family(captured, flags.map_or(0, |f| able(*f)), here));
        }
        let count = |family: u32| here.get(family as usize).map_or(1, |f| f.queue_count.max(1));
        // Those that stay where they were come first.
        let stays = |f: &Self, q: (u32, u32)| f.families[&q.0] == q.0 && q.1 < count(q.0);
        let queues = |&(f, n): &(u32, u32)| (0..n.min(MOST_QUEUES)).map(move |i| (f, i));
        let all: BTreeSet<(u32, u32)> = asked.iter().flat_map(queues).collect();
        let mut used: BTreeMap<u32, u32> = BTreeMap::new();
        for &q in &all {
            if !stays(&f, q) {
                continue;
            }
            f.queues.insert(q, q);
            *used.entry(q.0).or_default() += 1;
        }
        for &q in &all {
            if f.queues.contains_key(&q) {
                continue;
            }
            let family = f.families[&q.0];
            let next = used.entry(family).or_default();
            f.queues.insert(q, (family, *next % count(family)));
            *next += 1;
            f.changed = true;
        }
        f.made = used.iter().map(|(&family, &n)| (family, n.min(count(family)))).collect();
        f.shares = f.queues.values().collect::<BTreeSet<_>>().len() < f.queues.len();
        f
    }

    /// The family here.
    pub fn family(&self, captured: u32) -> u32 {
        self.families.get(&captured).copied().unwrap_or(captured)
    }

    /// The family and the index here.
    pub fn queue(&self, captured: (u32, u32)) -> (u32, u32) {
        self.queues.get(&captured).copied().unwrap_or(captured)
    }

    /// Priorities of the queues that the device is made with, by those that were asked for (family, priorities).
    pub fn priorities(&self, asked: &[(u32, Vec<f32>)]) -> Vec<Vec<f32>> {
        let mut all: Vec<Vec<f32>> = self.made.iter().map(|(_, n)| vec![0.0; *n as usize]).collect();
        for (captured, priorities) in asked {
            for (i, p) in (0..).zip(priorities) {
                let (family, index) = self.queue((*captured, i));
                let at = self.made.iter().position(|m| m.0 == family);
                if let Some(here) = at.and_then(|at| all[at].get_mut(index as usize)) {
                    *here = p.max(*here);
                }
            }
        }
        all
    }
}

impl Compare<'_> {
    pub(super) fn queues(&mut self, d: &AskedDevice) {
        let then = self.asked.families.get(&d.gpu).map(Vec::as_slice);
        let here = &self.gpu.families;
        let folding = Folding::new(&d.queues, then, here);
        let mut lines = Vec::new();
        for &(captured, count) in &d.queues {
            let asked = then.and_then(|f| f.get(captured as usize)).copied();
            let family = folding.family(captured);
            let found = here.get(family as usize).copied().unwrap_or_default();
            let work = asked.filter(|_| d.works.contains(&captured)).map_or(0, able);
            let (same, can) = (
                family == captured && found.queue_count >= count,
                work & !able(found.queue_flags.as_raw()) == 0,
            );
            let done = match (can, same, d.works.contains(&captured)) {
                (false, ..) => self.must(false),
                (true, true, _) => Done::Kept,
                (true, false, true) => Done::Replaced,
                (true, false, false) => Done::Unused,
            };
            let say = |n: u32, f: vk::QueueFlags| format!("{n} × {f:?}");
            let mut text = say(found.queue_count, found.queue_flags);
            if family != captured {
                text = format!("family {family}, {text}");
            }
            let line = Line::new(Sort::Queue, &format!("queue family {captured}"), same, done);
            let asked = asked.map_or(count.to_string(), |f| say(count, vk::QueueFlags::from_raw(f)));
            lines.push(line.by(Bridge::Queues).of(asked, text));
        }
        lines.into_iter().for_each(|l| self.push(l));
    }
}

/// Whether a member is the index of a family.
pub(super) fn is_index(m: &Member) -> bool {
    m.name.contains("ueueFamilyInd")
}

impl Folding {
    fn here(&self, captured: u32) -> u32 {
        if captured >= FIRST_OF_NONE { captured } else { self.family(captured) }
    }

    /// What a struct at an image offset has to hold here: where, and what. `family`: that of the command buffer that records.
    pub(super) fn in_struct(
        &self,
        family: Option<u32>,
        image: &Image,
        (def, at): (&'static StructDef, u32),
        all: &mut Vec<(u32, u32)>,
    ) {
        let member = |name: &str| def.members.iter().find(|m| m.name == name).map(|m| at + m.at);
        if let Some(at) = member("queueFamilyIndex") {
            all.push((at, self.here(image.u32(at))));
        }
        if let (Some(src), Some(dst)) = (member("srcQueueFamilyIndex"), member("dstQueueFamilyIndex")) {
            let layouts = member("oldLayout").zip(member("newLayout"));
            self.barrier(family, image, (src, dst), layouts, all);
        }
        let mode = member("sharingMode").or_else(|| member("imageSharingMode"));
        if let (Some(mode), Some(n), Some(list)) =
            (mode, member("queueFamilyIndexCount"), member("pQueueFamilyIndices"))
        {
            self.shared(image, (mode, n, list), all);
        }
    }

    fn barrier(
        &self,
        family: Option<u32>,
        image: &Image,
        (src, dst): (u32, u32),
        layouts: Option<(u32, u32)>,
        all: &mut Vec<(u32, u32)>,
    ) {
        let captured = (image.u32(src), image.u32(dst));
        let (mut from, mut to) = (self.here(captured.0), self.here(captured.1));
        if captured.0 != captured.1 && from == to {
            (from, to) = (vk::QUEUE_FAMILY_IGNORED, vk::QUEUE_FAMILY_IGNORED);
            // Releasing has changed the layout already.
            if let Some((old, new)) = layouts.filter(|_| family == Some(captured.1)) {
                all.push((old, image.u32(new)));
            }
        }
        all.extend([(src, from), (dst, to)]);
    }

    fn shared(&self, image: &Image, (mode, n, list): (u32, u32, u32), all: &mut Vec<(u32, u32)>) {
        const CONCURRENT: u32 = 1;
        let Some(p) = image.ptr(list).filter(|p| p.has_data() && image.u32(mode) == CONCURRENT) else {
            return;
        };
        let families: BTreeSet<u32> = image.u32s(list).map(|f| self.here(f)).collect();
        if families.len() == 1 {
            return all.extend([(mode, 0), (n, 0)]);
        }
        all.push((n, families.len() as u32));
        all.extend((p.to..).step_by(size_of::<u32>()).zip(families));
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn here(all: &[(u32, u32)]) -> Vec<vk::QueueFamilyProperties> {
        let one = |&(flags, count): &(u32, u32)| vk::QueueFamilyProperties {
            queue_flags: vk::QueueFlags::from_raw(flags),
            queue_count: count,
            ..Default::default()
        };
        all.iter().map(one).collect()
    }

    #[test]
    fn what_is_here_as_captured_stays() {
        let here = here(&[(0b1111, 16), (0b1100, 2), (0b1110, 8)]);
        let f = Folding::new(&[(0, 1), (2, 3)], Some(&[0b1111, 0b1100, 0b1110]), &here);
        assert!(!f.changed && !f.shares);
        assert_eq!((f.family(2), f.queue((2, 2)), &f.made[..]), (2, (2, 2), &[(0, 1), (2, 3)][..]));
    }

    #[test]
    fn families_are_folded_onto_what_can_do_their_work() {
        // Graphics, transfer, compute; here only one of all.
        let asked = [(0, 1), (1, 2), (2, 1)];
        let f = Folding::new(&asked, Some(&[0b111, 0b100, 0b110]), &here(&[(0b111, 1)]));
        assert!(f.changed && f.shares);
        assert_eq!(f.made, [(0, 1)]);
        assert_eq!([(0, 0), (1, 0), (1, 1), (2, 0)].map(|q| f.queue(q)), [(0, 0); 4]);
        assert_eq!(f.priorities(&[(0, vec![0.5]), (1, vec![0.25, 1.0]), (2, vec![0.0])]), [[1.0]]);
        // Another order of families, and enough queues.
        let f =
            Folding::new(&asked, Some(&[0b111, 0b100, 0b110]), &here(&[(0b110, 4), (0b111, 2), (0b100, 1)]));
        assert_eq!([0, 1, 2].map(|c| f.family(c)), [1, 1, 0], "what is there itself is not exchanged");
        assert!(f.changed && f.shares, "{:?}", f.queues);
        let f = Folding::new(
            &[(0, 1), (1, 1)],
            Some(&[0b111, 0b100]),
            &here(&[(0b111, 1), (0b010, 1), (0b100, 1)]),
        );
        assert_eq!((f.family(1), f.changed), (1, false), "compute queues copy, too");
    }
}
