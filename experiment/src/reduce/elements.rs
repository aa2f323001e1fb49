//! Elements of arrays that calls were given and that do not depend on each other: descriptors of descriptor writes, descriptor copies, regions of copies,
//! memory barriers.
//!
//! Guarantees: what is left of a call is what it had, but for counts, and for descriptor writes of which descriptors between others went: these are several
//! writes then (`gfxr_parse::elements`). Where a command needs one element, and of each descriptor write, one stays, whichever. Refuses blocks that cannot be read.

use super::graph::Level;
use super::parts::{Parts, STAGES, each, graph, levels, rewritten};
use crate::failure::Failure;
use gfxr_parse::container::Capture;
use gfxr_parse::elements::{Array, encode_arrays, units, without};
use std::collections::{BTreeMap, HashSet};
use std::ops::Range;

/// What stays of an array at least.
#[derive(Clone, Copy, PartialEq, Eq)]
enum Least {
    Nothing,
    One,
    /// Of what each element has, one: shaders read what a binding without a descriptor says.
    OneOfEach,
}

/// Of an array whose elements do not depend on each other, what stays at least.
fn least(array: &str) -> Option<Least> {
    match array {
        "pRegions" => Some(Least::One),
        "pDescriptorWrites" => Some(Least::OneOfEach),
        "pDescriptorCopies" => Some(Least::Nothing),
        "pMemoryBarriers" | "pBufferMemoryBarriers" | "pImageMemoryBarriers" => Some(Least::Nothing),
        _ => None,
    }
}

/// A call whose arrays have such elements, as it was read.
struct Call {
    id: u32,
    thread: u64,
    parameters: Vec<u8>,
    arrays: Vec<Array>,
}

/// What can go of one call.
#[derive(Default)]
struct Units {
    /// Array and element, as `without` wants them.
    units: Vec<(usize, usize)>,
    /// Those of each element: of a descriptor write its descriptors.
    elements: Vec<Range<usize>>,
    /// Those of which one stays.
    needed: Vec<Range<usize>>,
}

impl Units {
    fn of(arrays: &[Array]) -> Units {
        let mut of = Units::default();
        for (n, array) in arrays.iter().enumerate() {
            let Some(least) = least(array.name) else { continue };
            let elements = units(arrays, n);
            let first = of.units.len();
            // (one that is needed cannot go)
            if least == Least::One && elements.iter().flatten().nth(1).is_none() {
                continue;
            }
            for element in elements {
                if least == Least::OneOfEach {
                    if element.len() < 2 {
                        continue;
                    }
                    of.needed.push(of.units.len()..of.units.len() + element.len());
                }
                of.elements.push(of.units.len()..of.units.len() + element.len());
                of.units.extend(element);
            }
            if least == Least::One {
                of.needed.push(first..of.units.len());
            }
        }
        of
    }
}

/// See the module's header.
pub struct Elements<'c> {
    capture: &'c Capture,
    /// By block.
    calls: BTreeMap<u64, Call>,
    /// The block, which of its arrays, and which of that one's elements.
    units: Vec<(u64, usize, usize)>,
    /// Units of which one stays.
    needed: Vec<Range<usize>>,
    levels: Vec<Level>,
}

impl<'c> Elements<'c> {
    /// Those of a capture.
    pub fn of(capture: &'c Capture) -> Result<Self, Failure> {
        let (mut calls, mut all, mut needed) = (BTreeMap::new(), vec![], vec![]);
        let (mut of_calls, mut of_elements) = (vec![], vec![]);
        let by_address = graph(capture)?.by_address;
        each(capture, &mut |block, call| {
            // (without these a GPU may never end)
            if by_address.contains(&(block as u32)) {
                return;
            }
            let (parameters, arrays) = encode_arrays(&call.image);
            let of = Units::of(&arrays);
            if of.units.is_empty() {
                return;
            }
            let first = all.len();
            let group = |r: &Range<usize>| (r.start + first..r.end + first).map(|u| u as u32).collect();
            of_calls.push(group(&(0..of.units.len())));
            of_elements.extend(of.elements.iter().map(group));
            needed.extend(of.needed.iter().map(|r| r.start + first..r.end + first));
            all.extend(of.units.into_iter().map(|(array, element)| (block, array, element)));
            calls.insert(block, Call { id: call.command.id, thread: call.thread, parameters, arrays });
        })?;
        let together = [("arrays of calls", of_calls), ("descriptor writes and other elements", of_elements)];
        let levels = levels(together, "descriptors and other elements", all.len());
        Ok(Elements { capture, calls, units: all, needed, levels })
    }
}

impl Parts for Elements<'_> {
    fn name(&self) -> &'static str {
        STAGES[1]
    }

    fn units(&self) -> usize {
        self.units.len()
    }

    fn levels(&self) -> &[Level] {
        &self.levels
    }

    fn keep(&self, before: &[bool], gone: &mut [bool]) {
        keep_one(&self.needed, before, gone);
    }

    fn written(&self, gone: &[bool]) -> Result<Vec<u8>, Failure> {
        let mut blocks: BTreeMap<u64, HashSet<(usize, usize)>> = BTreeMap::new();
        for ((block, array, element), _) in self.units.iter().zip(gone).filter(|u| *u.1) {
            blocks.entry(*block).or_default().insert((*array, *element));
        }
        rewritten(self.capture, |writer, block| {
            let Some((gone, call)) = blocks.get(&block.index).zip(self.calls.get(&block.index)) else {
                return writer.raw(block).map_err(Failure::new);
            };
            let left =
                without(&call.parameters, &call.arrays, |array, element| gone.contains(&(array, element)));
            writer.call(call.id, call.thread, &left).map_err(Failure::new)
        })
    }
}

/// Where nothing of some units would be left, one stays of those that were.
fn keep_one(needed: &[Range<usize>], before: &[bool], gone: &mut [bool]) {
    for units in needed {
        if units.clone().all(|u| gone[u])
            && let Some(one) = units.clone().find(|u| !before[*u])
        {
            gone[one] = false;
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use gfxr_parse::ahead;

    /// What can go of a call: how many units, those of each element, and those of which one stays.
    fn units_of(call: &ahead::Call) -> (usize, Vec<usize>, Vec<usize>) {
        let (_, arrays) = encode_arrays(&call.image);
        let of = Units::of(&arrays);
        let sizes = |of: Vec<Range<usize>>| of.iter().map(Range::len).collect();
        (of.units.len(), sizes(of.elements), sizes(of.needed))
    }

    #[test]
    fn one_region_of_a_copy_stays_and_it_may_be_any() {
        let copy = |regions| {
            let call = ahead::Call::written("vkCmdCopyBuffer", |w| {
                w.u64(1).u64(2).u64(3).u32(regions).structures(regions as usize, |w, i| {
                    w.u64(i as u64).u64(0).u64(4);
                });
            });
            units_of(&call.expect("a call"))
        };
        assert_eq!(copy(1), (0, vec![], vec![]));
        assert_eq!(copy(3), (3, vec![1; 3], vec![3]));
        let kept = |before: [bool; 4], mut gone: [bool; 4]| {
            keep_one(std::slice::from_ref(&(0..3)), &before, &mut gone);
            gone
        };
        let (no, all) = ([false; 4], [true; 4]);
        assert_eq!(kept(no, all), [false, true, true, true]);
        // (not one that went before)
        assert_eq!(kept([true, false, false, false], all), [true, false, true, true]);
        assert_eq!(kept([true, true, false, false], all), [true, true, false, true]);
        assert_eq!(kept(no, [true, true, false, true]), [true, true, false, true]);
    }

    #[test]
    fn descriptors_go_one_by_one_and_one_of_each_write_stays() {
        const WRITE: u32 = 35;
        const UNIFORM_BUFFER: u32 = 6;
        let writes = |w: &mut gfxr_parse::writer::ParamWriter| {
            w.u32(2).structures(2, |w, binding| {
                w.u32(WRITE).null_struct().u64(50).u32(binding as u32).u32(0).u32(3).u32(UNIFORM_BUFFER);
                w.null_structs().structures(3, |w, d| {
                    w.u64(60).u64(256 * d as u64).u64(256);
                });
                w.null_array();
            });
        };
        let update = ahead::Call::written("vkUpdateDescriptorSets", |w| {
            w.u64(1);
            writes(w);
            w.u32(0).null_structs();
        });
        assert_eq!(units_of(&update.expect("a call")), (6, vec![3, 3], vec![3, 3]));
        let push = ahead::Call::written("vkCmdPushDescriptorSetKHR", |w| {
            w.u64(1).u32(0).u64(3).u32(0);
            writes(w);
        });
        assert_eq!(units_of(&push.expect("a call")), (6, vec![3, 3], vec![3, 3]));
    }
}
