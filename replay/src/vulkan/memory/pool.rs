//! Memory of our own: blocks cut into pieces.
//!
//! Drivers allow few allocations (often 4096), captures bind many thousand resources: pieces are cut first-fit from
//! blocks, one list of blocks for each memory type, kind (buffers and linear images apart from optimal images, so that
//! bufferImageGranularity never matters) and use of device addresses. Host-visible blocks stay mapped.

use super::mapped::Mapped;
use crate::error::{Error, Kind, Result};
use ash::vk;
use std::collections::BTreeMap;
use std::sync::{Arc, Mutex};
use world::span::Span;

/// Size of a block unless a piece wants more.
const BLOCK_BYTES: u64 = 32 << 20;

/// What a piece is for.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub(crate) enum AllocKind {
    /// Buffers and linear images.
    Linear,
    /// Optimal images.
    Optimal,
}

type Key = (u32, AllocKind, bool);

struct Block {
    memory: vk::DeviceMemory,
    size: u64,
    mapped: Option<Arc<Mapped>>,
    /// Free ranges: offset -> size.
    free: BTreeMap<u64, u64>,
    /// From here on no piece was cut yet.
    untouched: u64,
}

/// See the module's header.
#[derive(Default)]
pub struct Pool {
    blocks: BTreeMap<Key, Vec<Arc<Mutex<Block>>>>,
    /// Those of one resource each; freed when another is made and theirs is gone.
    dedicated: Vec<Arc<Mutex<Block>>>,
    /// Where the last piece lies, if something else may have lain there or its block is new.
    last: Option<Cut>,
}

/// A part of a block that a piece was cut from.
#[derive(Clone, Copy, Debug)]
pub(super) struct Cut {
    /// The block's memory, its type and its size.
    pub memory: vk::DeviceMemory,
    pub ty: u32,
    pub size: u64,
    /// The first byte and how many: all of a new block.
    pub part: (u64, u64),
}

/// The resource that memory is dedicated to.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Only {
    /// An image.
    Image(vk::Image),
    /// A buffer.
    Buffer(vk::Buffer),
}

/// A piece. The last clone gives it back.
#[derive(Clone)]
pub(crate) struct Alloc(Arc<Piece>, u64);

struct Piece {
    block: Arc<Mutex<Block>>,
    memory: vk::DeviceMemory,
    offset: u64,
    size: u64,
    /// The block, where the host sees it.
    mapped: Option<Arc<Mapped>>,
    /// Memory type, and whether it may have device addresses.
    ty: u32,
    addresses: bool,
}

impl Drop for Piece {
    fn drop(&mut self) {
        if let Ok(mut b) = self.block.lock() {
            b.give_back(self.offset, self.size);
        }
    }
}

impl Alloc {
    pub fn memory(&self) -> vk::DeviceMemory {
        self.0.memory
    }
    pub fn offset(&self) -> u64 {
        self.0.offset + self.1
    }
    /// The part of it that begins at `rel`, for a resource that lay there in captured memory, if it suits.
    pub fn part(
        &self,
        rel: u64,
        need: vk::MemoryRequirements,
        visible: bool,
        addresses: bool,
    ) -> Option<Self> {
        let at = self.1.checked_add(rel)?;
        let suits = need.memory_type_bits >> self.0.ty & 1 != 0
            && Span::within(at, need.size, self.0.size).is_some()
            && (self.0.offset + at).is_multiple_of(need.alignment.max(1))
            && (!visible || self.0.mapped.is_some())
            && (!addresses || self.0.addresses);
        suits.then(|| Alloc(self.0.clone(), at))
    }
    /// Where in the block `len` bytes from `at` on lie, if they lie in the piece.
    fn place(&self, at: u64, len: u64) -> Option<u64> {
        let span = Span::within(self.1.checked_add(at)?, len, self.0.size)?;
        Some(self.0.offset + span.start())
    }
    /// Copies `data` to `at`; false if the memory is not visible to the host or too small.
    pub fn write(&self, at: u64, data: &[u8]) -> bool {
        let place = self.place(at, data.len() as u64);
        place.zip(self.0.mapped.as_ref()).is_some_and(|(at, mapped)| mapped.write(at, data))
    }
    /// A copy of `len` bytes from `at` on, where the host sees them.
    pub fn read(&self, at: u64, len: u64) -> Option<Vec<u8>> {
        self.0.mapped.as_ref()?.read(self.place(at, len)?, len)
    }
    /// The first `len` bytes, where the host sees them.
    ///
    /// # Safety
    /// Nobody writes them while they are borrowed, neither the device nor `write`.
    pub unsafe fn bytes(&self, len: u64) -> Option<&[u8]> {
        // SAFETY: the caller's.
        unsafe { self.0.mapped.as_ref()?.bytes(self.place(0, len)?, len) }
    }
    /// Reads 32 bits at `at`; 0 if the memory is not visible to the host.
    pub fn read_u32(&self, at: u64) -> u32 {
        self.place(at, 4).and_then(|at| self.0.mapped.as_ref()?.word(at)).unwrap_or(0)
    }
}

impl Block {
    /// One, mapped where the host can see it.
    fn allocate(
        device: &ash::Device,
        props: &vk::PhysicalDeviceMemoryProperties,
        (ty, size): (u32, u64),
        addresses: bool,
        only: Option<Only>,
    ) -> Result<Self> {
        fits(props, ty, size)?;
        let mut address_info =
            vk::MemoryAllocateFlagsInfo::default().flags(vk::MemoryAllocateFlags::DEVICE_ADDRESS);
        let mut dedicated = match only {
            Some(Only::Image(i)) => vk::MemoryDedicatedAllocateInfo::default().image(i),
            Some(Only::Buffer(b)) => vk::MemoryDedicatedAllocateInfo::default().buffer(b),
            None => Default::default(),
        };
        let mut info = vk::MemoryAllocateInfo::default().allocation_size(size).memory_type_index(ty);
        if addresses {
            info = info.push_next(&mut address_info);
        }
        if only.is_some() {
            info = info.push_next(&mut dedicated);
        }
        // SAFETY: a plain allocation on a live device, for a live resource if for any.
        let memory = unsafe { device.allocate_memory(&info, None) }
            .map_err(|e| Error::driver("vkAllocateMemory", e))?;
        let visible =
            props.memory_types[ty as usize].property_flags.contains(vk::MemoryPropertyFlags::HOST_VISIBLE);
        let mapped = if visible {
            // SAFETY: just allocated, not mapped; it stays mapped as long as its device lives.
            Some(Arc::new(unsafe {
                let pointer = device
                    .map_memory(memory, 0, vk::WHOLE_SIZE, vk::MemoryMapFlags::empty())
                    .map_err(|e| Error::driver("vkMapMemory", e))?;
                Mapped::new(pointer.cast(), 0, size)
            }))
        } else {
            None
        };
        Ok(Block { memory, size, mapped, free: BTreeMap::from([(0, size)]), untouched: 0 })
    }

    /// Nothing lies in it.
    fn is_unused(&self) -> bool {
        self.free.get(&0) == Some(&self.size)
    }

    fn take(&mut self, size: u64, align: u64) -> Option<u64> {
        let (start, len) = self.free.iter().map(|(a, b)| (*a, *b)).find(|(start, len)| {
            // (what a driver asks for is believed, what follows from it is not)
            let at = start.checked_next_multiple_of(align);
            at.and_then(|at| at.checked_add(size)).is_some_and(|end| end <= start + len)
        })?;
        let at = start.next_multiple_of(align);
        self.free.remove(&start);
        if at > start {
            self.free.insert(start, at - start);
        }
        if at + size < start + len {
            self.free.insert(at + size, start + len - at - size);
        }
        Some(at)
    }

    fn give_back(&mut self, mut at: u64, mut size: u64) {
        if let Some((&before, &len)) = self.free.range(..at).next_back()
            && before + len == at
        {
            self.free.remove(&before);
            (at, size) = (before, size + len);
        }
        if let Some(len) = self.free.remove(&(at + size)) {
            size += len;
        }
        self.free.insert(at, size);
    }
}

/// The memory type among `allowed` that has all of `must` and most of `like`.
pub fn best_type(
    props: &vk::PhysicalDeviceMemoryProperties,
    allowed: u32,
    must: vk::MemoryPropertyFlags,
    like: vk::MemoryPropertyFlags,
) -> Option<u32> {
    (0..props.memory_type_count)
        .filter(|i| allowed >> i & 1 != 0 && props.memory_types[*i as usize].property_flags.contains(must))
        .max_by_key(|i| {
            let flags = props.memory_types[*i as usize].property_flags;
            let wanted = must | like;
            let extra = (flags.as_raw() & !wanted.as_raw()).count_ones();
            ((flags & like).as_raw().count_ones(), std::cmp::Reverse(extra), std::cmp::Reverse(*i))
        })
}

impl Pool {
    /// A piece for these requirements.
    pub(super) fn alloc(
        &mut self,
        device: &ash::Device,
        props: &vk::PhysicalDeviceMemoryProperties,
        need: vk::MemoryRequirements,
        flags: (vk::MemoryPropertyFlags, vk::MemoryPropertyFlags),
        kind: AllocKind,
        addresses: bool,
    ) -> Result<Alloc> {
        let (must, like) = flags;
        let ty = best_type(props, need.memory_type_bits, must, like).ok_or_else(|| {
            Error::new(Kind::Unsupported, format!("no memory type here suits the resource and has {must:?}"))
        })?;
        let blocks = self.blocks.entry((ty, kind, addresses)).or_default();
        for b in blocks.iter() {
            let mut block = b.lock().expect("no panic while holding it");
            if let Some(offset) = block.take(need.size, need.alignment) {
                let (memory, mapped) = (block.memory, block.mapped.clone());
                let again = offset < block.untouched;
                self.last = again.then_some(Cut { memory, ty, size: block.size, part: (offset, need.size) });
                block.untouched = block.untouched.max(offset + need.size);
                drop(block);
                return Ok(piece(b, (memory, offset, need.size), mapped, (ty, addresses)));
            }
        }
        let size = need.size.max(BLOCK_BYTES.min(heap_share(props, ty)));
        let mut block = Block::allocate(device, props, (ty, size), addresses, None)?;
        let (memory, mapped) = (block.memory, block.mapped.clone());
        self.last = Some(Cut { memory, ty, size, part: (0, size) });
        let offset = block.take(need.size, need.alignment).expect("a new block is large enough");
        block.untouched = offset + need.size;
        debug_assert!(offset + need.size <= block.size);
        let block = Arc::new(Mutex::new(block));
        blocks.push(block.clone());
        Ok(piece(&block, (memory, offset, need.size), mapped, (ty, addresses)))
    }

    /// What is to be filled with zeros where the last piece lies, once.
    pub(super) fn cut(&mut self) -> Option<Cut> {
        self.last.take()
    }

    /// An allocation for one resource and no other.
    pub(super) fn dedicated(
        &mut self,
        device: &ash::Device,
        props: &vk::PhysicalDeviceMemoryProperties,
        need: vk::MemoryRequirements,
        flags: (vk::MemoryPropertyFlags, vk::MemoryPropertyFlags),
        only: Only,
        addresses: bool,
    ) -> Result<Alloc> {
        let (must, like) = flags;
        let ty = best_type(props, need.memory_type_bits, must, like).ok_or_else(|| {
            Error::new(Kind::Unsupported, format!("no memory type here suits the resource and has {must:?}"))
        })?;
        self.dedicated.retain(|b| {
            let b = b.lock().expect("no panic while holding it");
            if !b.is_unused() {
                return true;
            }
            // SAFETY: ours, and its resource is gone: it held the piece.
            unsafe { device.free_memory(b.memory, None) };
            false
        });
        let mut block = Block::allocate(device, props, (ty, need.size), addresses, Some(only))?;
        let (memory, mapped) = (block.memory, block.mapped.clone());
        block.free.clear();
        let block = Arc::new(Mutex::new(block));
        self.dedicated.push(block.clone());
        Ok(piece(&block, (memory, 0, need.size), mapped, (ty, addresses)))
    }

    /// How many allocations are one resource's.
    pub(crate) fn dedicated_allocations(&self) -> usize {
        self.dedicated.len()
    }

    /// Frees everything; pieces still around must not be used any more.
    pub fn destroy(&mut self, device: &ash::Device) {
        let blocks = std::mem::take(&mut self.blocks).into_values().flatten();
        for b in blocks.chain(std::mem::take(&mut self.dedicated)) {
            let memory = b.lock().expect("no panic while holding it").memory;
            // SAFETY: ours; the resources bound to it are gone or die with the device.
            unsafe { device.free_memory(memory, None) };
        }
    }
}

fn piece(
    block: &Arc<Mutex<Block>>,
    (memory, offset, size): (vk::DeviceMemory, u64, u64),
    mapped: Option<Arc<Mapped>>,
    (ty, addresses): (u32, bool),
) -> Alloc {
    Alloc(Arc::new(Piece { block: block.clone(), memory, offset, size, mapped, ty, addresses }), 0)
}

/// An eighth of the type's heap: small heaps are not swallowed whole.
fn heap_share(props: &vk::PhysicalDeviceMemoryProperties, ty: u32) -> u64 {
    let heap = props.memory_types[ty as usize].heap_index as usize;
    (props.memory_heaps[heap].size / 8).max(1 << 20)
}

/// More than a heap holds is refused here: software drivers have been seen to crash.
pub(crate) fn fits(props: &vk::PhysicalDeviceMemoryProperties, ty: u32, size: u64) -> Result<()> {
    let heap = props.memory_types.get(ty as usize).map_or(0, |t| t.heap_index) as usize;
    let most = props.memory_heaps.get(heap).map_or(0, |h| h.size);
    if size <= most {
        return Ok(());
    }
    let text = format!("{size} bytes are allocated at once, the memory has {most}");
    Err(Error::failed(text, vk::Result::ERROR_OUT_OF_DEVICE_MEMORY).unwrap_or_else(Error::divergence))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_part_is_given_where_it_suits() {
        let block = Block {
            memory: vk::DeviceMemory::null(),
            size: 4096,
            mapped: None,
            free: BTreeMap::new(),
            untouched: 0,
        };
        let block = Arc::new(Mutex::new(block));
        let a = piece(&block, (vk::DeviceMemory::null(), 1024, 512), None, (2, false));
        let need = |size, alignment, bits| vk::MemoryRequirements { size, alignment, memory_type_bits: bits };
        let part = a.part(256, need(256, 256, 0b100), false, false).expect("it suits");
        assert_eq!(part.offset(), 1280);
        assert_eq!(part.part(64, need(64, 64, 0b100), false, false).map(|p| p.offset()), Some(1344));
        assert!(a.part(256, need(257, 1, 0b100), false, false).is_none(), "too large");
        assert!(a.part(0, need(1, 4096, 0b100), false, false).is_none(), "alignment");
        assert!(a.part(0, need(1, 1, 0b011), false, false).is_none(), "memory type");
        assert!(a.part(0, need(1, 1, 0b100), true, false).is_none(), "not visible to the host");
        assert!(a.part(0, need(1, 1, 0b100), false, true).is_none(), "no addresses");
        assert!(
            a.part(u64::MAX - 255, need(256, 1, 0b100), false, false).is_none(),
            "an end that would wrap"
        );
        assert!(part.part(u64::MAX, need(1, 1, 0b100), false, false).is_none(), "an offset that would");
        drop((a, part));
        assert_eq!(block.lock().expect("free").free, BTreeMap::from([(1024, 512)]), "given back once");
    }

    #[test]
    fn a_piece_is_written_inside_itself_and_nowhere_else() {
        let mut memory = vec![0u8; 4096];
        // SAFETY: `memory` is looked at after the last use only.
        let mapped = unsafe { Mapped::new(memory.as_mut_ptr(), 0, 4096) };
        let block = Block {
            memory: vk::DeviceMemory::null(),
            size: 4096,
            mapped: None,
            free: BTreeMap::new(),
            untouched: 0,
        };
        let block = Arc::new(Mutex::new(block));
        let a = piece(&block, (vk::DeviceMemory::null(), 1024, 512), Some(Arc::new(mapped)), (2, false));
        assert!(a.write(508, &[1; 4]) && !a.write(509, &[2; 4]) && !a.write(u64::MAX - 1, &[3; 4]));
        assert_eq!(a.read(508, 4), Some(vec![1; 4]));
        assert_eq!(
            (a.read(509, 4), a.read(0, u64::MAX), a.read_u32(508), a.read_u32(512)),
            (None, None, 0x0101_0101, 0)
        );
        drop(a);
        assert_eq!(memory.iter().filter(|b| **b != 0).count(), 4);
    }

    #[test]
    fn pieces_come_back_whole() {
        let mut b = Block {
            memory: vk::DeviceMemory::null(),
            size: 1024,
            mapped: None,
            free: BTreeMap::from([(0, 1024)]),
            untouched: 0,
        };
        let a = b.take(100, 64).expect("room");
        let c = b.take(100, 64).expect("room");
        let d = b.take(700, 256).expect("room");
        assert_eq!((a, c, d), (0, 128, 256));
        assert_eq!(b.take(200, 1), None);
        b.give_back(c, 100);
        b.give_back(a, 100);
        b.give_back(d, 700);
        assert_eq!(b.free, BTreeMap::from([(0, 1024)]));
    }

    #[test]
    fn types_are_chosen_by_what_they_must_be_then_by_likeness() {
        let f = vk::MemoryPropertyFlags::from_raw;
        let mut memory = vk::PhysicalDeviceMemoryProperties { memory_type_count: 4, ..Default::default() };
        for (t, flags) in memory.memory_types.iter_mut().zip([0b0001, 0b0110, 0b0111, 0b1110]) {
            t.property_flags = f(flags);
        }
        assert_eq!(best_type(&memory, u32::MAX, f(0b0110), f(0)), Some(1));
        assert_eq!(best_type(&memory, u32::MAX, f(0b0110), f(0b0001)), Some(2));
        assert_eq!(best_type(&memory, 0b1000, f(0b0110), f(0b0001)), Some(3));
        assert_eq!(best_type(&memory, 0b0001, f(0b0110), f(0)), None);
    }
}
