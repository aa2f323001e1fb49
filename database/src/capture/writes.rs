//! What the program wrote to memory, by the buffer or image that lies there.
//!
//! Guarantees: a row for each buffer or image that a block of contents reaches, with a hash of the bytes that are its own; where
//! none lies there, the memory has the row. Where an image ends in memory only a driver knows: it ends where the next resource
//! begins, or with what was written. Refuses nothing.

use super::contents::hash;
use crate::error::Error;
use crate::schema;
use crate::table::Value;
use crate::writer::{TableId, Writer};
use gfxr_parse::ahead::Call;
use gfxr_parse::meta::Meta;
use std::collections::HashMap;
use world::World;

/// A resource in memory: where it begins, where it ends, its id, its type.
type Resource = (u64, u64, u64, &'static str);

/// The table.
pub(super) struct Writes {
    table: TableId,
    /// By memory; none where it has to be made anew.
    lies: Option<HashMap<u64, Vec<Resource>>>,
}

impl Writes {
    pub fn new(writer: &mut Writer) -> Result<Self, Error> {
        Ok(Writes { table: writer.table(schema::memory_writes())?, lies: None })
    }

    /// A call that was followed: it may change what lies where.
    pub fn call(&mut self, call: &Call) {
        let name = call.command.canonical;
        if name.starts_with("vkBind") || matches!(name, "vkDestroyBuffer" | "vkDestroyImage" | "vkFreeMemory")
        {
            self.lies = None;
        }
    }

    /// A block that is no call.
    pub fn meta(
        &mut self,
        writer: &mut Writer,
        world: &World,
        at: (u64, u64),
        meta: &Meta<'_>,
        data: &[u8],
    ) -> Result<(), Error> {
        match meta {
            Meta::FillMemory(m) => {
                let mapped = world.memories.get(&m.memory).and_then(|m| m.mapped).unwrap_or(0);
                self.fill(writer, world, at, m.memory, mapped.saturating_add(m.offset), data)
            }
            Meta::InitBuffer(m) => self.row(writer, at, (m.buffer, "VkBuffer", 0), 0, data),
            Meta::InitImage(m) if !data.is_empty() => {
                self.row(writer, at, (m.image, "VkImage", u64::from(m.aspect)), 0, data)
            }
            _ => Ok(()),
        }
    }

    fn fill(
        &mut self,
        writer: &mut Writer,
        world: &World,
        at: (u64, u64),
        memory: u64,
        offset: u64,
        data: &[u8],
    ) -> Result<(), Error> {
        let lies = self.lies.get_or_insert_with(|| resources(world));
        let end = offset.saturating_add(data.len() as u64);
        let found: Vec<Resource> = lies.get(&memory).map_or_else(Vec::new, |all| {
            // (they are sorted by where they begin)
            let behind = all.partition_point(|r| r.0 < end);
            all[..behind].iter().filter(|r| r.1 > offset && r.1 > r.0).copied().collect()
        });
        if found.is_empty() {
            return self.row(writer, at, (memory, "VkDeviceMemory", 0), offset, data);
        }
        for (from, to, handle, ty) in found {
            let (first, last) = (from.max(offset), to.min(end));
            let own = (first - offset) as usize..(last - offset) as usize;
            let place = Place { resource: first - from, data: first - offset };
            self.part(writer, at, (handle, ty, 0), place, &data[own])?;
        }
        Ok(())
    }

    fn row(
        &self,
        writer: &mut Writer,
        at: (u64, u64),
        of: (u64, &'static str, u64),
        offset: u64,
        data: &[u8],
    ) -> Result<(), Error> {
        self.part(writer, at, of, Place { resource: offset, data: 0 }, data)
    }

    fn part(
        &self,
        writer: &mut Writer,
        (block, frame): (u64, u64),
        (handle, ty, aspect): (u64, &'static str, u64),
        place: Place,
        data: &[u8],
    ) -> Result<(), Error> {
        writer.row(
            self.table,
            [
                block.into(),
                frame.into(),
                handle.into(),
                Value::Word(ty),
                aspect.into(),
                place.resource.into(),
                data.len().into(),
                place.data.into(),
                hash(data).into(),
            ],
        )
    }
}

/// Where bytes lie in their resource, and in what was written.
struct Place {
    resource: u64,
    data: u64,
}

fn resources(world: &World) -> HashMap<u64, Vec<Resource>> {
    let mut all: HashMap<u64, Vec<Resource>> = HashMap::new();
    for (&handle, b) in world.buffers.iter() {
        if let Some(bound) = &b.bound {
            let end = bound.offset.saturating_add(b.size);
            all.entry(bound.memory).or_default().push((bound.offset, end, handle, "VkBuffer"));
        }
    }
    for (&handle, i) in world.images.iter() {
        for bound in &i.bound {
            all.entry(bound.memory).or_default().push((bound.offset, u64::MAX, handle, "VkImage"));
        }
    }
    for lies in all.values_mut() {
        lies.sort_unstable();
        for i in 0..lies.len() {
            if lies[i].1 == u64::MAX {
                let next = lies[i + 1..].iter().map(|r| r.0).find(|next| *next > lies[i].0);
                lies[i].1 = next.unwrap_or(u64::MAX);
            }
        }
    }
    all
}
