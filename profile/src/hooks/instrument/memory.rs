//! What probes write to: counters of entry points, and the log, both in the device's own memory and reached by address.
//!
//! Counters are taken from chunks that grow in number; none is ever given back before its device goes, since code of a
//! pipeline library outlives the library. The log is one buffer with a header (`Log` in probes/common.glsl); entry points
//! whose probes append nothing get an empty header instead, so that no log is made for them. Guarantees: all of it is zero
//! when the first shader sees it. Refuses what the device's memory cannot hold, naming the flag that makes it smaller.

use replay::ash::{self, vk};
use replay::error::{Error, Kind, Result};
use replay::vulkan::DeviceState;

/// Bytes of the log's header, which the words follow.
pub const HEADER_BYTES: u64 = 64;

/// Least and usual bytes of a chunk.
const CHUNK_BYTES: u64 = 1 << 20;

/// The smallest log that is worth having.
const LEAST_LOG_BYTES: u64 = 1 << 16;

/// Words that a cursor can count beyond without passing around: what runs at one time appends no more than this.
const MOST_WORDS: u64 = 1 << 30;

/// Bytes that are copied out at once.
const READ_BYTES: u64 = 64 << 20;

/// Whose memory a buffer is to lie in.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Where {
    /// The device's own, if it has any.
    Device,
    /// What the host can write at any time: the device's own, if that can be.
    Host,
}

/// A buffer of ours.
pub struct Buffer {
    live: vk::Buffer,
    /// Its own.
    pub memory: vk::DeviceMemory,
    size: u64,
    /// For shaders.
    pub address: u64,
}

impl Buffer {
    /// A buffer of so many bytes.
    pub fn new(d: &DeviceState, size: u64, place: Where) -> Result<Self, vk::Result> {
        let usage = vk::BufferUsageFlags::STORAGE_BUFFER
            | vk::BufferUsageFlags::SHADER_DEVICE_ADDRESS
            | vk::BufferUsageFlags::TRANSFER_SRC
            | vk::BufferUsageFlags::TRANSFER_DST;
        // SAFETY: plain creations on a live device that has buffer addresses turned on; what is made before a failure is
        // destroyed.
        unsafe {
            let live = d.ash.create_buffer(&vk::BufferCreateInfo::default().size(size).usage(usage), None)?;
            let need = d.ash.get_buffer_memory_requirements(live);
            let mut flags =
                vk::MemoryAllocateFlagsInfo::default().flags(vk::MemoryAllocateFlags::DEVICE_ADDRESS);
            let info = vk::MemoryAllocateInfo::default()
                .allocation_size(need.size)
                .memory_type_index(memory_type(&d.gpu.memory, need.memory_type_bits, place))
                .push_next(&mut flags);
            let memory = match d.ash.allocate_memory(&info, None) {
                Ok(memory) => memory,
                Err(e) => {
                    d.ash.destroy_buffer(live, None);
                    return Err(e);
                }
            };
            let buffer = Buffer { live, memory, size, address: 0 };
            if let Err(e) = d.ash.bind_buffer_memory(live, memory, 0) {
                buffer.destroy(&d.ash);
                return Err(e);
            }
            Ok(Buffer { address: d.address_of(live), ..buffer })
        }
    }

    /// Gives it back.
    pub fn destroy(self, d: &ash::Device) {
        // SAFETY: ours, and nothing of it is in flight.
        unsafe {
            d.destroy_buffer(self.live, None);
            d.free_memory(self.memory, None);
        }
    }

    /// Writes its first bytes; nothing that runs reads them.
    pub fn write(&self, d: &mut DeviceState, bytes: &[u8]) -> Result<()> {
        d.write_buffer_at(self.live, 0, bytes)
    }

    fn read(&self, d: &mut DeviceState, from: u64, bytes: u64) -> Result<Vec<u8>> {
        let mut out = Vec::with_capacity(bytes as usize);
        while (out.len() as u64) < bytes {
            let done = out.len() as u64;
            out.extend(d.read_buffer(self.live, from + done, READ_BYTES.min(bytes - done))?);
        }
        Ok(out)
    }
}

/// The device's own memory where the buffer may lie there, or what the host can write.
fn memory_type(props: &vk::PhysicalDeviceMemoryProperties, bits: u32, place: Where) -> u32 {
    let types = &props.memory_types[..props.memory_type_count as usize];
    let odd = vk::MemoryPropertyFlags::PROTECTED
        | vk::MemoryPropertyFlags::LAZILY_ALLOCATED
        | vk::MemoryPropertyFlags::DEVICE_COHERENT_AMD
        | vk::MemoryPropertyFlags::DEVICE_UNCACHED_AMD;
    let fits = |i: &u32| bits >> i & 1 != 0 && !types[*i as usize].property_flags.intersects(odd);
    let (own, host) = (
        vk::MemoryPropertyFlags::DEVICE_LOCAL,
        // Every device has such a type for buffers.
        vk::MemoryPropertyFlags::HOST_VISIBLE | vk::MemoryPropertyFlags::HOST_COHERENT,
    );
    let wanted = match place {
        Where::Device => [own; 2],
        Where::Host => [own | host, host],
    };
    let all = || (0..types.len() as u32).filter(fits);
    let of = |flags| all().find(|i| types[*i as usize].property_flags.contains(flags));
    of(wanted[0]).or_else(|| of(wanted[1])).or_else(|| all().next()).unwrap_or(0)
}

struct Chunk {
    buffer: Buffer,
    used: u64,
}

/// Where an entry point's counters are.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Place {
    chunk: usize,
    offset: u64,
    /// For the shader.
    pub address: u64,
}

/// The log as it was read back.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct LogWords {
    /// What was written, in the order in which room was taken.
    pub words: Vec<u32>,
    /// Words that probes wanted to append.
    pub wanted: u64,
    /// Those of them that did not fit. Then the last of `words` may have holes.
    pub lost: u64,
    /// Subgroups that got a number so far.
    pub subgroups: u32,
}

/// A device's memory for probes.
#[derive(Default)]
pub struct Memory {
    chunks: Vec<Chunk>,
    log: Option<Buffer>,
    nothing: Option<Place>,
    /// What the next frame's first subgroup is numbered with.
    pub first_subgroup: u32,
}

impl Memory {
    /// So many counters.
    pub fn counters(&mut self, d: &mut DeviceState, counters: u64) -> Result<Place> {
        self.take(d, counters.max(1) * 8)
    }

    /// The address of the log, or of an empty header if nothing is going to be appended; the log is made when first asked
    /// for, of so many bytes or of as many as there are.
    pub fn log(&mut self, d: &mut DeviceState, appends: bool, bytes: u64, window: (u32, u32)) -> Result<u64> {
        if !appends {
            if self.nothing.is_none() {
                self.nothing = Some(self.take(d, HEADER_BYTES)?);
            }
            return Ok(self.nothing.expect("just made").address);
        }
        if self.log.is_none() {
            let most = HEADER_BYTES + MOST_WORDS * 4;
            let mut size = bytes.max(HEADER_BYTES + 64).min(most).next_multiple_of(4);
            self.log = Some(loop {
                match Buffer::new(d, size, Where::Device) {
                    Ok(b) => break b,
                    Err(vk::Result::ERROR_OUT_OF_DEVICE_MEMORY) if size / 2 >= LEAST_LOG_BYTES => {
                        size = (size / 2).next_multiple_of(4)
                    }
                    Err(e) => return Err(no_room(e, "the log of probes")),
                }
            });
            self.restart_log(d, window)?;
        }
        Ok(self.log.as_ref().expect("just made").address)
    }

    /// The log.
    pub fn log_buffer(&self) -> Option<vk::Buffer> {
        self.log.as_ref().map(|l| l.live)
    }

    /// Words that the log holds.
    pub fn log_capacity(&self) -> u64 {
        self.log.as_ref().map_or(0, |l| (l.size - HEADER_BYTES) / 4)
    }

    fn take(&mut self, d: &mut DeviceState, bytes: u64) -> Result<Place> {
        let bytes = bytes.next_multiple_of(16);
        let room = |c: &Chunk| c.used + bytes <= c.buffer.size;
        let at = match self.chunks.iter().rposition(room) {
            Some(at) => at,
            None => {
                let buffer = Buffer::new(d, bytes.max(CHUNK_BYTES), Where::Device)
                    .map_err(|e| no_room(e, "the counters of probes"))?;
                d.clear_buffers(&[(buffer.live, buffer.size)])?;
                self.chunks.push(Chunk { buffer, used: 0 });
                self.chunks.len() - 1
            }
        };
        let chunk = &mut self.chunks[at];
        let offset = chunk.used;
        chunk.used += bytes;
        Ok(Place { chunk: at, offset, address: chunk.buffer.address + offset })
    }

    /// All that is there is zero again; invocations whose work ids are in the window record.
    pub fn restart(&mut self, d: &mut DeviceState, window: (u32, u32)) -> Result<()> {
        let used: Vec<_> = self.chunks.iter().map(|c| (c.buffer.live, c.used)).collect();
        if !used.is_empty() {
            d.clear_buffers(&used)?;
        }
        self.restart_log(d, window)
    }

    fn restart_log(&mut self, d: &mut DeviceState, window: (u32, u32)) -> Result<()> {
        let Some(log) = &self.log else { return Ok(()) };
        let mut header = [0u32; HEADER_BYTES as usize / 4];
        header[1] = ((log.size - HEADER_BYTES) / 4) as u32;
        header[4] = self.first_subgroup;
        (header[5], header[6]) = window;
        let bytes: Vec<u8> = header.iter().flat_map(|w| w.to_le_bytes()).collect();
        d.write_buffer_at(log.live, 0, &bytes)
    }

    /// All counters, by chunk; to be taken apart with [`Memory::part`].
    pub fn read_counters(&self, d: &mut DeviceState) -> Result<Vec<Vec<u64>>> {
        let of = |c: &Chunk| {
            let bytes = c.buffer.read(d, 0, c.used)?;
            let words = bytes.chunks_exact(8).map(|b| u64::from_le_bytes(b.try_into().expect("8 bytes")));
            Ok(words.collect())
        };
        self.chunks.iter().map(of).collect()
    }

    /// One entry point's.
    pub fn part(read: &[Vec<u64>], place: Place, counters: u32) -> &[u64] {
        let first = place.offset as usize / 8;
        &read[place.chunk][first..first + counters as usize]
    }

    /// What was appended.
    pub fn read_log(&self, d: &mut DeviceState) -> Result<LogWords> {
        let Some(log) = &self.log else { return Ok(LogWords::default()) };
        let words = |bytes: Vec<u8>| -> Vec<u32> {
            bytes.chunks_exact(4).map(|b| u32::from_le_bytes(b.try_into().expect("4 bytes"))).collect()
        };
        let header = words(log.read(d, 0, HEADER_BYTES)?);
        let (cursor, capacity) = (u64::from(header[0]), u64::from(header[1]));
        let wanted = cursor + (u64::from(header[2]) | u64::from(header[3]) << 32);
        let there = cursor.min(capacity);
        let words = if there == 0 { vec![] } else { words(log.read(d, HEADER_BYTES, there * 4)?) };
        Ok(LogWords { words, wanted, lost: wanted - there, subgroups: header[4] })
    }

    /// Gives it back; the device is idle.
    pub fn destroy(self, d: &ash::Device) {
        self.chunks.into_iter().map(|c| c.buffer).chain(self.log).for_each(|b| b.destroy(d));
    }
}

fn no_room(e: vk::Result, what: &str) -> Error {
    match e {
        vk::Result::ERROR_OUT_OF_DEVICE_MEMORY | vk::Result::ERROR_OUT_OF_HOST_MEMORY => Error::new(
            Kind::Memory,
            format!(
                "no memory is left for {what}; --log-bytes makes the log smaller, --stages, --pipelines and --shaders \
                 instrument less"
            ),
        ),
        e => Error::driver(&format!("making {what}"), e),
    }
}
