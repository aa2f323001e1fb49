//! The tables that the translating shaders read, kept up to date.
//!
//! Written by the host, only when something changed and only while nothing runs. Refuses captures with more entries
//! than a table holds (tens of thousands).

use crate::error::{Error, Kind, Result};
use crate::vulkan::Vulkan;
use crate::vulkan::ray::patcher::{HANDLE_BYTES, RANGE_BYTES, REFERENCE_BYTES, with_patcher};
use crate::vulkan::ray::state::Patcher;

/// Before a submission: what it will read must be there.
pub(crate) fn refresh(vk: &mut Vulkan) -> Result<()> {
    if !(vk.ray.dirty || vk.addresses.changed) || vk.ray.patchers.is_empty() {
        return Ok(());
    }
    let devices: Vec<u64> = vk.ray.patchers.keys().copied().collect();
    for id in devices {
        vk.device(id)?.wait_idle()?;
        with_patcher(vk, id, |vk, p| write(vk, p))?;
    }
    vk.ray.dirty = false;
    vk.addresses.changed = false;
    Ok(())
}

fn write(vk: &Vulkan, p: &mut Patcher) -> Result<()> {
    let references = vk.ray.references.iter().map(|(c, l)| (*c, 1, *l));
    p.references.write(0, &fitting(address_table(references), REFERENCE_BYTES, "acceleration structures")?);
    p.ranges
        .write(0, &fitting(address_table(vk.addresses.segments()), RANGE_BYTES, "buffers with addresses")?);
    let mut table = Vec::new();
    table.extend_from_slice(&(vk.ray.handles.len() as u64).to_le_bytes());
    for (captured, live) in &vk.ray.handles {
        table.extend_from_slice(captured);
        table.extend_from_slice(live);
    }
    p.handles.write(0, &fitting(table, HANDLE_BYTES, "shader groups")?);
    Ok(())
}

fn address_table(entries: impl Iterator<Item = (u64, u64, u64)>) -> Vec<u8> {
    let mut table = vec![0; 8];
    let mut n = 0u32;
    for (captured, size, live) in entries {
        for word in [captured, size, live] {
            table.extend_from_slice(&word.to_le_bytes());
        }
        n += 1;
    }
    table[..4].copy_from_slice(&n.to_le_bytes());
    table
}

fn fitting(table: Vec<u8>, room: u64, what: &str) -> Result<Vec<u8>> {
    if table.len() as u64 > room {
        return Err(Error::new(
            Kind::Unsupported,
            format!("the capture has more {what} than the translation tables hold"),
        ));
    }
    Ok(table)
}
