//! What a capture says about its devices before it makes one, and whether it is trimmed.
//!
//! One pass over the blocks, until the first device of a whole capture, or the end of a trimmed one's snapshot. Refuses
//! nothing: what cannot be read is not known.

use gfxr_parse::ahead::{self, What};
use gfxr_parse::container::{Capture, FrameCounter, FrameRule, Scratch};
use gfxr_parse::meta::Meta;
use gfxr_parse::{member, param};
use std::collections::HashMap;

/// What the capture says about itself before its first device is made; collected by the session.
#[derive(Clone, Debug, Default)]
pub struct Prologue {
    /// Physical devices by captured id: name, vendor, device, driver version, type, pipeline-cache UUID.
    pub gpus: HashMap<u64, CapturedGpu>,
    /// Their memory types: (property flags, heap index).
    pub memory: HashMap<u64, Vec<u32>>,
    /// The capture begins with a state snapshot: contents arrive as init blocks.
    pub trimmed: bool,
    /// Where a snapshot's buffers and acceleration structures were, by captured id: it says so only after it has loaded
    /// the contents that point there.
    pub addresses: Vec<ObjectAddress>,
}

/// Where an object of a snapshot was.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct ObjectAddress {
    /// Captured id.
    pub object: u64,
    /// Captured address.
    pub address: u64,
    /// It is an acceleration structure, else a buffer.
    pub structure: bool,
}

/// A physical device as the capture recorded it.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct CapturedGpu {
    /// deviceName.
    pub name: String,
    /// vendorID.
    pub vendor: u32,
    /// deviceID.
    pub device: u32,
    /// driverVersion.
    pub driver: u32,
    /// VkPhysicalDeviceType.
    pub kind: i32,
    /// pipelineCacheUUID.
    pub cache_uuid: [u8; 16],
}

/// What the capture says about its devices before it makes one; and whether it is trimmed.
pub fn prologue(capture: &Capture) -> (Prologue, bool) {
    let mut p = Prologue::default();
    let mut scratch = Scratch::new();
    let mut boundary = false;
    let mut counter = FrameCounter::with_rule(FrameRule::Presents);
    for block in capture.blocks() {
        let place = counter.feed(&block);
        p.trimmed |= place.state;
        let wanted = matches!(block.meta_type(), Some(11 | 12))
            || block
                .call_id()
                .is_some_and(|id| id == create_device_id() || place.state && address_ids().contains(&id));
        if !wanted {
            if place.frame > 1 && !p.trimmed {
                break;
            }
            continue;
        }
        match ahead::read(&block, place, None, &mut scratch) {
            Ok(What::Meta(m, _)) => match &m.meta {
                Meta::DeviceProperties(d) => {
                    let gpu = CapturedGpu {
                        name: String::from_utf8_lossy(d.name.0).trim_end_matches('\0').to_string(),
                        vendor: d.vendor,
                        device: d.device,
                        driver: d.driver_version,
                        kind: d.device_type as i32,
                        cache_uuid: d.pipeline_cache_uuid,
                    };
                    p.gpus.insert(d.physical_device, gpu);
                }
                Meta::DeviceMemory(d) => {
                    p.memory.insert(d.physical_device, d.types.iter().map(|t| t.flags).collect());
                }
                _ => {}
            },
            Ok(What::Call(call)) if call.command.id != create_device_id() => {
                // (an acceleration structure is at the same place in its info)
                let info = call.image.target(param!("vkGetBufferDeviceAddress", "pInfo"));
                let object =
                    info.map_or(0, |to| call.image.u64(to + member!("VkBufferDeviceAddressInfo", "buffer")));
                let address = call.image.u64(call.image.ret_at());
                let structure = call.command.name == "vkGetAccelerationStructureDeviceAddressKHR";
                p.addresses.push(ObjectAddress { object, address, structure });
            }
            Ok(What::Call(call)) => {
                boundary |= call.image.bytes().windows(21).any(|w| w == b"VK_EXT_frame_boundary");
                if !p.trimmed {
                    break;
                }
            }
            _ => {}
        }
    }
    (p, boundary)
}

/// The calls that say at which addresses a snapshot's objects were.
fn address_ids() -> [u32; 4] {
    static IDS: std::sync::LazyLock<[u32; 4]> = std::sync::LazyLock::new(|| {
        [
            "vkGetBufferDeviceAddress",
            "vkGetBufferDeviceAddressKHR",
            "vkGetBufferDeviceAddressEXT",
            "vkGetAccelerationStructureDeviceAddressKHR",
        ]
        .map(|n| gfxr_parse::schema::command_named(n).expect("it is in the schema").id)
    });
    *IDS
}

fn create_device_id() -> u32 {
    gfxr_parse::schema::command_named("vkCreateDevice").expect("core").id
}
