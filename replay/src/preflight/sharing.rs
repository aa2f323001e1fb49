//! Which resources share captured memory, known before any of it is replayed.
//!
//! `rebind` gives resources other memory than they had. Those that alias each other must go on doing so, also where the
//! first one bound is not the one that reaches furthest: so the calls that bind are looked at ahead. Guarantees: resources
//! are in one group only if some of them lay on the same bytes of one memory object at one time (memory that is used
//! again after a resource is gone makes no group). Refuses nothing: a call that cannot be decoded binds nothing here.

use gfxr_parse::container::{BlockKind, Capture, Scratch};
use gfxr_parse::decode::decode_found;
use gfxr_parse::image::Image;
use gfxr_parse::schema::command;
use gfxr_parse::schema::generated::COMMANDS;
use gfxr_parse::view::View;
use std::collections::{BTreeMap, HashMap, HashSet};

/// See the module's header.
#[derive(Clone, Debug, Default)]
pub struct Sharing {
    by_resource: HashMap<u64, Share>,
    groups: Vec<Group>,
    /// Bytes that the captured driver wanted for an image, where the program asked.
    images: HashMap<u64, u64>,
}

/// A resource that shares memory.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Share {
    /// Its group.
    pub group: usize,
    /// Bytes from its beginning to the next resource of the group that lay behind it.
    pub room: u64,
}

/// Resources that share memory.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Group {
    /// Offset of its first byte in the captured memory object.
    pub from: u64,
    /// Offset behind its last byte.
    pub to: u64,
    /// There are images among them, which may be larger here.
    pub images: bool,
    /// A buffer of them has an address.
    pub addresses: bool,
}

impl Sharing {
    /// Where a resource lay, if it shared its memory.
    pub fn of(&self, resource: u64) -> Option<(Share, Group)> {
        let place = *self.by_resource.get(&resource)?;
        Some((place, self.groups[place.group]))
    }

    /// How many bytes an image took at capture, where the capture says.
    pub fn image_size(&self, image: u64) -> Option<u64> {
        self.images.get(&image).copied()
    }
}

/// Commands that are looked at, without the suffix of an extension.
const LOOKED_AT: &[&str] = &[
    "vkCreateBuffer",
    "vkCreateImage",
    "vkGetBufferMemoryRequirements",
    "vkGetBufferMemoryRequirements2",
    "vkGetImageMemoryRequirements",
    "vkGetImageMemoryRequirements2",
    "vkBindBufferMemory",
    "vkBindBufferMemory2",
    "vkBindImageMemory",
    "vkBindImageMemory2",
    "vkDestroyBuffer",
    "vkDestroyImage",
    "vkFreeMemory",
];

/// VK_BUFFER_USAGE_SHADER_DEVICE_ADDRESS_BIT.
const ADDRESS: u32 = 0x20000;

/// Looks through a capture.
pub fn scan(capture: &Capture) -> Sharing {
    let plain = |name: &'static str| name.strip_suffix("KHR").unwrap_or(name);
    let ids: HashMap<u32, &str> =
        COMMANDS.iter().map(|c| (c.id, plain(c.name))).filter(|(_, name)| LOOKED_AT.contains(name)).collect();
    let mut seen = Seen::default();
    let (mut scratch, mut image) = (Scratch::new(), Image::default());
    for block in capture.blocks() {
        let Some(name) = block.call_id().and_then(|id| ids.get(&id)) else { continue };
        if let Ok(BlockKind::Call(call)) = block.kind()
            && let Some(c) = command(call.call_id)
            && decode_found(c, &block, &call, &mut scratch, &mut image).is_ok()
            && image.ret().is_none_or(|r| r >= 0)
        {
            seen.call(name, &image);
        }
    }
    seen.places()
}

#[derive(Clone, Copy, Default)]
struct Kind {
    size: u64,
    image: bool,
    addresses: bool,
}

/// Where a resource was bound.
#[derive(Clone, Copy)]
struct Bound {
    memory: u64,
    offset: u64,
    kind: Kind,
    /// Another one that it shares bytes with, or itself: a tree with a root a group.
    with: u64,
}

/// What lies in one memory object at the moment.
#[derive(Default)]
struct There {
    /// Sizes, by offset and resource.
    sizes: BTreeMap<(u64, u64), u64>,
    /// The largest of them.
    largest: u64,
}

#[derive(Default)]
struct Seen {
    kinds: HashMap<u64, Kind>,
    bound: HashMap<u64, Bound>,
    /// What lies in a memory object at the moment.
    there: HashMap<u64, There>,
    shared: HashSet<u64>,
    images: HashMap<u64, u64>,
}

impl Seen {
    fn call(&mut self, name: &str, image: &Image) {
        let v = View::call(image);
        let id = |n| v.u64(n).unwrap_or(0);
        match name {
            "vkCreateBuffer" | "vkCreateImage" => {
                let made = image.handles.iter().find(|h| h.out).map_or(0, |h| image.u64(h.at));
                let Some(info) = v.one("pCreateInfo") else { return };
                let kind = match name {
                    "vkCreateImage" => Kind { size: 1, image: true, addresses: false },
                    _ => Kind {
                        size: info.u64("size").unwrap_or(1),
                        image: false,
                        addresses: info.u32("usage").unwrap_or(0) & ADDRESS != 0,
                    },
                };
                self.kinds.insert(made, kind);
            }
            n if n.starts_with("vkGetImageMemoryRequirements") => {
                let info = v.one("pInfo").unwrap_or(v);
                let need = v.one("pMemoryRequirements");
                let size = need.and_then(|n| n.one("memoryRequirements").unwrap_or(n).u64("size"));
                let kind = info.u64("image").and_then(|i| self.kinds.get_mut(&i));
                if let (Some(kind), Some(size)) = (kind, size) {
                    kind.size = size;
                    self.images.extend(info.u64("image").map(|i| (i, size)));
                }
            }
            // A buffer's bytes are those it was made with.
            n if n.starts_with("vkGetBuffer") => {}
            "vkDestroyBuffer" => self.gone(id("buffer")),
            "vkDestroyImage" => self.gone(id("image")),
            "vkFreeMemory" => drop(self.there.remove(&id("memory"))),
            _ => {
                let resource = if name.starts_with("vkBindImage") { "image" } else { "buffer" };
                let one = |v: View<'_>| {
                    let id = |n| v.u64(n).unwrap_or(0);
                    (id(resource), id("memory"), id("memoryOffset"))
                };
                let all: Vec<_> = match name.ends_with('2') {
                    true => v.structs("pBindInfos").map(one).collect(),
                    false => vec![one(v)],
                };
                all.into_iter().for_each(|(resource, memory, offset)| self.bind(resource, memory, offset));
            }
        }
    }

    fn gone(&mut self, resource: u64) {
        self.kinds.remove(&resource);
        if let Some(b) = self.bound.get(&resource)
            && let Some(there) = self.there.get_mut(&b.memory)
        {
            there.sizes.remove(&(b.offset, resource));
        }
    }

    fn root(&self, mut resource: u64) -> u64 {
        while self.bound[&resource].with != resource {
            resource = self.bound[&resource].with;
        }
        resource
    }

    fn bind(&mut self, resource: u64, memory: u64, offset: u64) {
        let Some(&kind) = self.kinds.get(&resource).filter(|_| memory != 0) else { return };
        let there = self.there.entry(memory).or_default();
        let end = offset.saturating_add(kind.size);
        let from = offset.saturating_sub(there.largest);
        let on_it: Vec<u64> = there
            .sizes
            .range((from, 0)..(end, 0))
            .filter(|((at, _), size)| at.saturating_add(**size) > offset)
            .map(|((_, other), _)| *other)
            .collect();
        there.sizes.insert((offset, resource), kind.size);
        there.largest = kind.size.max(there.largest);
        self.bound.insert(resource, Bound { memory, offset, kind, with: resource });
        for other in on_it {
            self.shared.extend([resource, other]);
            let (a, b) = (self.root(resource), self.root(other));
            // The older one is the root: trees stay flat.
            self.bound.get_mut(&a).expect("bound").with = b;
        }
    }

    fn places(self) -> Sharing {
        let mut members: BTreeMap<u64, Vec<(u64, Bound)>> = BTreeMap::new();
        for &resource in &self.shared {
            members.entry(self.root(resource)).or_default().push((resource, self.bound[&resource]));
        }
        let mut out = Sharing { images: self.images, ..Sharing::default() };
        for mut all in members.into_values() {
            all.sort_unstable_by_key(|(resource, b)| (b.offset, *resource));
            let end = |b: &Bound| b.offset.saturating_add(b.kind.size);
            let group = out.groups.len();
            for (resource, b) in &all {
                let next = all.partition_point(|(_, o)| o.offset < end(b));
                let room = all.get(next).map_or(u64::MAX, |(_, o)| o.offset - b.offset);
                out.by_resource.insert(*resource, Share { group, room });
            }
            out.groups.push(Group {
                from: all[0].1.offset,
                to: all.iter().map(|(_, b)| end(b)).max().unwrap_or(0),
                images: all.iter().any(|(_, b)| b.kind.image),
                addresses: all.iter().any(|(_, b)| b.kind.addresses),
            });
        }
        out
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn seen(resources: &[(u64, u64)]) -> Seen {
        let kind = |size| Kind { size, image: false, addresses: false };
        Seen { kinds: resources.iter().map(|&(id, size)| (id, kind(size))).collect(), ..Default::default() }
    }

    #[test]
    fn a_group_reaches_as_far_as_its_furthest() {
        let mut s = seen(&[(1, 100), (2, 300), (3, 50), (4, 10), (5, 10)]);
        s.bind(1, 9, 100);
        s.bind(2, 9, 0);
        s.bind(3, 9, 290);
        s.bind(4, 9, 340);
        s.bind(5, 8, 100);
        let p = s.places();
        let group = Group { from: 0, to: 340, images: false, addresses: false };
        assert_eq!(p.of(1), Some((Share { group: 0, room: 190 }, group)));
        assert_eq!(p.of(2), Some((Share { group: 0, room: u64::MAX }, group)));
        assert_eq!(p.of(3), Some((Share { group: 0, room: u64::MAX }, group)));
        assert_eq!((p.of(4), p.of(5)), (None, None), "beside them, and in other memory");
    }

    #[test]
    fn memory_that_is_used_again_makes_no_group() {
        let mut s = seen(&[(1, 100), (2, 100), (3, 100)]);
        s.bind(1, 9, 0);
        s.gone(1);
        s.bind(2, 9, 50);
        let mut freed = seen(&[(1, 100), (2, 100)]);
        freed.bind(1, 9, 0);
        freed.there.remove(&9);
        freed.bind(2, 9, 0);
        assert!(s.places().by_resource.is_empty() && freed.places().by_resource.is_empty());
    }

    #[test]
    fn groups_that_meet_become_one() {
        let mut s = seen(&[(1, 10), (2, 10), (3, 10), (4, 10), (5, 20)]);
        s.bind(1, 9, 0);
        s.bind(2, 9, 5);
        s.bind(3, 9, 20);
        s.bind(4, 9, 25);
        s.bind(5, 9, 8);
        let p = s.places();
        assert_eq!(p.groups.len(), 1);
        assert_eq!((p.groups[0].from, p.groups[0].to), (0, 35));
        assert_eq!(p.of(1).map(|(place, _)| place.room), Some(20), "the next that shares no byte with it");
    }
}
