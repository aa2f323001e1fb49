//! The object table: the capture's handle ids -> live handles, and what the capture's calls have made of them.
//!
//! gfxreconstruct counts ids from 1 and never shares one between types, so the table is an array. An id that comes again
//! (a trimmed capture's temporary objects) replaces what it named. Guarantees: a look-up with the wrong type fails as
//! an unknown one does. Refuses nothing.

use gfxr_parse::schema::HandleId;
use std::collections::HashMap;
use world::{Depth, Follow, World};

/// Ids beyond this go to a map: no capture needs them, a damaged one may hold them.
const DENSE: u64 = 1 << 22;

/// What an id names now.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Entry {
    /// The driver's handle; for virtual objects a number of our own, never passed to the driver.
    pub live: u64,
    /// Index into the schema's handles.
    pub ty: HandleId,
    /// There is no such object in the driver (a surface, a swapchain, a shadow of a memory object).
    pub virt: bool,
    /// The id of the pool it dies with, or 0.
    pub pool: u64,
    /// The id of the device (or the instance, for what is of an instance) whose calls may name it, and that it dies with; a
    /// device's and an instance's own. 0 if that is not known.
    pub owner: u64,
    /// What has come until now; whoever keeps an object to an order (`vulkan/order.rs`) says what it means.
    pub state: u32,
    alive: bool,
}

/// See the module's header.
#[derive(Default)]
pub struct Objects {
    dense: Vec<Entry>,
    sparse: HashMap<u64, Entry>,
    children: HashMap<u64, Vec<u64>>,
    world: Follow,
}

impl Objects {
    /// What the capture's calls until now have made, by captured ids: nobody else follows them.
    #[inline]
    pub fn world(&self) -> &World {
        self.world.world()
    }
    /// The calls from here on are followed at least so deep.
    pub fn follow_to(&mut self, depth: Depth) {
        self.world.deepen(depth);
    }
    /// What follows them.
    #[inline]
    pub fn follow(&mut self) -> &mut Follow {
        &mut self.world
    }
    /// Names a live object.
    pub fn insert(&mut self, id: u64, live: u64, ty: HandleId) {
        self.put(id, Entry { live, ty, alive: true, ..Entry::default() });
    }
    /// Names an object that exists only in this program.
    pub fn insert_virtual(&mut self, id: u64, ty: HandleId) {
        self.put(id, Entry { live: id, ty, virt: true, alive: true, ..Entry::default() });
    }
    /// Names an object allocated from a pool.
    pub fn insert_in_pool(&mut self, id: u64, live: u64, ty: HandleId, pool: u64) {
        self.put(id, Entry { live, ty, pool, alive: true, ..Entry::default() });
        let children = self.children.entry(pool).or_default();
        children.push(id);
        // Applications that allocate and free every frame would leave a long list of the dead.
        if children.len() >= 1024 && children.len().is_power_of_two() {
            let mut children = std::mem::take(children);
            children.retain(|&c| self.any(c).is_some_and(|e| e.pool == pool));
            self.children.insert(pool, children);
        }
    }
    fn put(&mut self, id: u64, mut e: Entry) {
        if id == 0 {
            return;
        }
        // One that is put in another's place (a loop restores it, a structure grows) has the same owner.
        e.owner = self.entry(id).filter(|old| old.ty == e.ty).map_or(0, |old| old.owner);
        if id < DENSE {
            let i = id as usize;
            if i >= self.dense.len() {
                self.dense.resize((i + 1).next_power_of_two().max(1024), Entry::default());
            }
            self.dense[i] = e;
        } else {
            self.sparse.insert(id, e);
        }
    }
    /// What an id names, whatever its type.
    #[inline]
    pub fn any(&self, id: u64) -> Option<&Entry> {
        let e = if id < DENSE { self.dense.get(id as usize) } else { self.far(id) };
        e.filter(|e| e.alive)
    }
    #[cold]
    fn far(&self, id: u64) -> Option<&Entry> {
        self.sparse.get(&id)
    }
    /// What an id names, if it is of that type.
    #[inline]
    pub fn get(&self, id: u64, ty: HandleId) -> Option<&Entry> {
        self.any(id).filter(|e| e.ty == ty)
    }
    /// The live handle, or 0 if there is none.
    pub fn live(&self, id: u64) -> u64 {
        self.any(id).filter(|e| !e.virt).map_or(0, |e| e.live)
    }
    /// The live handle and the device that it belongs to; none if there is no handle.
    pub fn live_of(&self, id: u64) -> Option<(u64, u64)> {
        self.any(id).filter(|e| !e.virt && e.live != 0).map(|e| (e.live, e.owner))
    }
    /// Says whose an object is.
    pub fn belongs_to(&mut self, id: u64, owner: u64) {
        if let Some(e) = self.entry(id) {
            e.owner = owner;
        }
    }
    /// An object's state, to change.
    #[inline]
    pub fn state(&mut self, id: u64) -> Option<&mut u32> {
        self.entry(id).filter(|e| e.alive).map(|e| &mut e.state)
    }
    #[inline]
    fn entry(&mut self, id: u64) -> Option<&mut Entry> {
        if id < DENSE { self.dense.get_mut(id as usize) } else { self.sparse.get_mut(&id) }
    }
    /// Lets an id name another live object of its kind for a while; what it named before.
    pub fn swap(&mut self, id: u64, live: u64) -> u64 {
        self.entry(id).map_or(0, |e| std::mem::replace(&mut e.live, live))
    }
    /// Forgets an object and everything allocated from it.
    pub fn remove(&mut self, id: u64) {
        self.remove_children(id);
        if id < DENSE {
            if let Some(e) = self.dense.get_mut(id as usize) {
                e.alive = false;
            }
        } else {
            self.sparse.remove(&id);
        }
    }
    /// Forgets a device or an instance, and everything that is its.
    pub fn remove_owner(&mut self, owner: u64) {
        self.remove(owner);
        self.dense.iter_mut().filter(|e| e.owner == owner).for_each(|e| e.alive = false);
        self.sparse.retain(|_, e| e.owner != owner);
    }
    /// What was allocated from a pool, as far as it lives.
    pub fn of_pool(&self, pool: u64) -> Vec<u64> {
        let all = self.children.get(&pool).into_iter().flatten();
        all.copied().filter(|&c| self.any(c).is_some_and(|e| e.pool == pool)).collect()
    }
    /// Forgets what was allocated from a pool (it was reset or destroyed).
    pub fn remove_children(&mut self, pool: u64) {
        for id in self.children.remove(&pool).unwrap_or_default() {
            if self.any(id).is_some_and(|e| e.pool == pool) {
                self.remove(id);
            }
        }
    }
    /// The id under which a live handle of this type is known. Linear; for error messages only.
    pub fn id_of(&self, live: u64, ty: HandleId) -> Option<u64> {
        self.dense.iter().position(|e| e.alive && e.ty == ty && e.live == live).map(|i| i as u64)
    }
    /// Every live object: (id, entry).
    pub fn alive(&self) -> impl Iterator<Item = (u64, &Entry)> {
        self.dense.iter().enumerate().map(|(i, e)| (i as u64, e)).filter(|(_, e)| e.alive)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn types_are_kept_apart_and_pools_take_their_children_along() {
        let mut o = Objects::default();
        o.insert(1, 0xAA, 3);
        assert_eq!(o.get(1, 3).map(|e| e.live), Some(0xAA));
        assert_eq!(o.get(1, 4), None);
        o.insert(5, 0x50, 7);
        o.insert_in_pool(6, 0x60, 8, 5);
        o.insert_in_pool(7, 0x70, 8, 5);
        o.insert(6, 0x61, 9); // the id came again as something else: the pool no longer owns it
        o.remove(5);
        assert_eq!(o.any(7), None);
        assert_eq!(o.get(6, 9).map(|e| e.live), Some(0x61));
    }

    #[test]
    fn what_is_a_device_s_goes_with_it() {
        let mut o = Objects::default();
        for (id, owner) in [(1, 1), (2, 1), (3, 3), (4, 3), (u64::MAX, 1), (6, 0)] {
            o.insert(id, id, 9);
            o.belongs_to(id, owner);
        }
        o.insert(4, 0x44, 9);
        assert_eq!(o.any(4).map(|e| (e.live, e.owner)), Some((0x44, 3)), "in another's place");
        o.remove_owner(1);
        assert_eq!(
            [1, 2, 3, 4, u64::MAX, 6].map(|id| o.any(id).is_some()),
            [false, false, true, true, false, true]
        );
        o.insert(2, 2, 8);
        assert_eq!(o.any(2).map(|e| e.owner), Some(0), "the id came again as something else");
    }

    #[test]
    fn an_id_can_name_another_for_a_while() {
        let mut o = Objects::default();
        o.insert_in_pool(6, 0x60, 8, 5);
        assert_eq!(o.swap(6, 0x61), 0x60);
        assert_eq!((o.live(6), o.any(6).map(|e| e.pool)), (0x61, Some(5)));
        assert_eq!(o.swap(6, 0x60), 0x61);
        assert_eq!(o.swap(7, 1), 0);
    }

    #[test]
    fn the_freed_do_not_pile_up_in_their_pool() {
        let mut o = Objects::default();
        for id in 10..100_000 {
            o.insert_in_pool(id, id, 8, 5);
            o.remove(id);
        }
        assert!(o.children[&5].len() < 2048, "{}", o.children[&5].len());
    }

    #[test]
    fn large_ids_do_not_grow_the_array() {
        let mut o = Objects::default();
        o.insert(u64::MAX, 9, 1);
        assert_eq!(o.live(u64::MAX), 9);
        o.remove(u64::MAX);
        assert_eq!(o.live(u64::MAX), 0);
        assert!(o.dense.is_empty());
    }
}
