//! Which object of one capture is which of the other, and what both are called in common.
//!
//! Objects of a type are aligned in the order in which they were made: first by name and by all that they were made of, down to the
//! last object; then by name; then without names; then by what their own call gave; last by their order. What is left is looked for in
//! any order. Where objects are alike, those of the same id are paired first, if ids mean the same on both sides (`ids`); ids that
//! differ play no part. Images of a
//! swapchain are one and the same, as a driver chooses which comes when, and so are views and framebuffers that differ in nothing
//! else. Guarantees: each object has one partner at most. Refuses nothing.

use super::align::by_tiers;
use super::ids::by_ids;
use super::rows::Rows;
use std::collections::{BTreeMap, BTreeSet, HashMap};

/// Two numbers as one that looks like chance.
pub fn mix(a: u64, b: u64) -> u64 {
    let mut z = (a.rotate_left(17) ^ b).wrapping_add(0x9E37_79B9_7F4A_7C15);
    z = (z ^ z >> 30).wrapping_mul(0xBF58_476D_1CE4_E5B9);
    z = (z ^ z >> 27).wrapping_mul(0x94D0_49BB_1331_11EB);
    z ^ z >> 31
}

/// A text as a number.
pub fn of_text(text: &str) -> u64 {
    crate::capture::contents::hash(text.as_bytes())
}

/// Types whose objects are means and no contents: which of them is used makes no difference.
pub fn is_means(ty: &str) -> bool {
    matches!(ty, "VkCommandBuffer" | "VkCommandPool" | "VkDeviceMemory" | "VkPhysicalDevice" | "VkQueue")
}

/// What objects of both captures have to do with each other.
pub struct Matched {
    /// For each object a number; partners have the same one.
    pub ids: [Vec<u64>; 2],
    /// Partners.
    pub pairs: Vec<(u32, u32)>,
    /// Those that only the first has, and only the second.
    pub alone: [Vec<u32>; 2],
    /// Some type has too many objects to be aligned well.
    pub coarse: bool,
}

/// The last of the keys by which objects are aligned: what made them.
const LAST: usize = 5;

/// Of an object: the keys by which it is aligned.
struct Keys {
    named: u64,
    deep: u64,
    /// The same without names.
    plain: u64,
    shallow: u64,
    call: u64,
}

fn keys(rows: &Rows) -> Vec<Keys> {
    let names: Vec<u64> = rows.names.iter().map(|n| of_text(n)).collect();
    let mut all: Vec<Keys> = Vec::with_capacity(rows.objects.len());
    for o in &rows.objects {
        let call = rows.call_at(o.created_by).map(|i| &rows.calls[i]);
        let name = o.name.as_deref().map_or(0, of_text);
        let (how, shallow) = match call {
            Some(c) if is_answer(rows.name(c)) => (names[c.name as usize], names[c.name as usize]),
            Some(c) => {
                let how = names[c.name as usize];
                (how, mix(mix(how, c.given), o.index))
            }
            None => (1, 1),
        };
        let (mut deep, mut plain) = (mix(shallow, name), shallow);
        // (those that it is made of were made before it)
        for input in call.into_iter().flat_map(|c| rows.given(c)) {
            let made_of = &rows.objects[input as usize];
            if let Some(k) = all.get(input as usize).filter(|_| !is_means(&made_of.ty)) {
                deep = mix(deep, k.deep);
                plain = mix(plain, k.plain);
            }
        }
        all.push(Keys { named: name, deep, plain, shallow, call: how });
    }
    all
}

/// What is asked of a driver: what it says is no wish of the program.
pub fn is_answer(command: &str) -> bool {
    ["vkGet", "vkEnumerate", "vkAcquire"].iter().any(|p| command.starts_with(p))
}

impl Matched {
    /// Finds them.
    pub fn of(a: &Rows, b: &Rows) -> Matched {
        let keys = [keys(a), keys(b)];
        let mut types: BTreeMap<&str, [Vec<u32>; 2]> = BTreeMap::new();
        for (side, rows) in [a, b].into_iter().enumerate() {
            for (i, o) in rows.objects.iter().enumerate() {
                types.entry(&o.ty).or_default()[side].push(i as u32);
            }
        }
        let mut m = Matched {
            ids: [vec![0; a.objects.len()], vec![0; b.objects.len()]],
            pairs: vec![],
            alone: [vec![], vec![]],
            coarse: false,
        };
        for [of_a, of_b] in types.into_values() {
            let tiers = |side: usize, of: &[u32]| -> Vec<Vec<u64>> {
                let one = |i: &u32| {
                    let k = &keys[side][*i as usize];
                    vec![k.deep, mix(k.named, k.shallow), k.named, k.plain, k.shallow, k.call]
                };
                of.iter().map(one).collect()
            };
            let mut tiers = [tiers(0, &of_a), tiers(1, &of_b)];
            // (a trim builds structures again in a command buffer of its own, whose id its source may give to something later)
            let known = |side: usize, id: u64| {
                let rows = [a, b][side];
                let ty = rows.object(id, u64::MAX).map(|o| rows.objects[o as usize].ty.as_str());
                ty.is_some_and(|ty| !matches!(ty, "VkCommandBuffer" | "VkCommandPool"))
            };
            let ids = [(a, &of_a), (b, &of_b)]
                .map(|(rows, of)| of.iter().map(|i| rows.objects[*i as usize].handle).collect::<Vec<_>>());
            // (objects of two names that share nothing are two objects)
            let name = |side: usize, i: u32| keys[side][i as usize].named;
            let two = |i: u32, j: u32| ![0, name(1, j)].contains(&name(0, i)) && name(1, j) != 0;
            let is_pair = |&(i, j, tier): &(usize, usize, usize)| tier < LAST || !two(of_a[i], of_b[j]);
            let mut same = by_ids([&ids[0], &ids[1]], &tiers, &known);
            same.retain(is_pair);
            // (with a key of their own they still part what lies between them)
            for (n, &(i, j, _)) in (1u64..).zip(&same) {
                for (side, place) in [i, j].into_iter().enumerate() {
                    tiers[side][place].fill(0);
                    tiers[side][place][0] = mix(n, 7);
                }
            }
            let (found, coarse) = by_tiers(&tiers[0], &tiers[1]);
            m.coarse |= coarse;
            let all = same.iter().chain(found.iter().filter(|p| is_pair(p)));
            let mut pairs: BTreeSet<(u32, u32)> = all.map(|p| (of_a[p.0], of_b[p.1])).collect();
            let mut left = [of_a, of_b];
            for (side, of) in left.iter_mut().enumerate() {
                let with: std::collections::HashSet<u32> =
                    pairs.iter().map(|p| if side == 0 { p.0 } else { p.1 }).collect();
                of.retain(|i| !with.contains(i));
            }
            pairs.extend(in_another_order(&keys, &mut left));
            m.pairs.extend(pairs);
            let [only_a, only_b] = left;
            m.alone[0].extend(only_a);
            m.alone[1].extend(only_b);
        }
        m.pairs.sort_unstable();
        m.alone.iter_mut().for_each(|of| of.sort_unstable());
        m.number(a, b);
        m
    }

    fn number(&mut self, a: &Rows, b: &Rows) {
        for (n, (i, j)) in (1u64..).zip(&self.pairs) {
            let id = mix(n, 2);
            self.ids[0][*i as usize] = id;
            self.ids[1][*j as usize] = id;
        }
        for (side, rows) in [a, b].into_iter().enumerate() {
            for (n, i) in (1u64..).zip(&self.alone[side]) {
                self.ids[side][*i as usize] = mix(n, 3 + side as u64);
            }
            one_of_a_swapchain(rows, &mut self.ids[side]);
        }
    }
}

/// Those that are the same but were made in another order, as a trimmed capture makes its objects.
fn in_another_order(keys: &[Vec<Keys>; 2], left: &mut [Vec<u32>; 2]) -> Vec<(u32, u32)> {
    let mut pairs = vec![];
    let named = |k: &Keys| if k.named == 0 { 0 } else { mix(k.named, k.call) };
    for by in [|k: &Keys| k.deep, named, |k: &Keys| k.plain] {
        let mut there: HashMap<u64, Vec<u32>> = HashMap::new();
        for j in left[1].iter().rev() {
            there.entry(by(&keys[1][*j as usize])).or_default().push(*j);
        }
        let mut taken = std::collections::HashSet::new();
        left[0].retain(|i| {
            let key = by(&keys[0][*i as usize]);
            match there.get_mut(&key).filter(|_| key != 0).and_then(Vec::pop) {
                Some(j) => {
                    pairs.push((*i, j));
                    _ = taken.insert(j);
                    false
                }
                None => true,
            }
        });
        left[1].retain(|j| !taken.contains(j));
    }
    pairs
}

/// Gives images of a swapchain, and what is made of them alike, one number.
fn one_of_a_swapchain(rows: &Rows, ids: &mut [u64]) {
    let mut of_chain = vec![false; ids.len()];
    for (i, o) in rows.objects.iter().enumerate() {
        match o.ty.as_str() {
            "VkImage" => {
                let chain = rows.object(o.parent, o.created_by).map(|p| p as usize);
                let chain = chain.filter(|p| rows.objects[*p].ty == "VkSwapchainKHR");
                if let Some(chain) = chain {
                    ids[i] = mix(ids[chain], 5);
                    of_chain[i] = true;
                }
            }
            "VkImageView" | "VkFramebuffer" => {
                let Some(call) = rows.call_at(o.created_by).map(|c| &rows.calls[c]) else { continue };
                if rows.given(call).any(|input| of_chain[input as usize]) {
                    let made_of = rows.given(call).map(|input| ids[input as usize]);
                    ids[i] = made_of.fold(mix(call.given, 6), mix);
                    of_chain[i] = true;
                }
            }
            _ => {}
        }
    }
}
