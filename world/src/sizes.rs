//! What an invocation runs whose sizes are in memory, as that memory is at the submission.
//!
//! Guarantees: sizes are given only where every byte that says them is known. Refuses, with the reason: what the device
//! generates itself, and memory that is not known.

use super::commands::{Indirect, Invoke, Place, Sizes, Table};
use super::invoke::{DRAW, DRAW_INDEXED, MESH_NV, TRACE_2};
use super::world::World;
use gfxr_parse::member;

/// Draws of one indirect command that are looked at, at most: devices allow 2^32, a damaged capture may say so.
const MOST_DRAWS: u32 = 1 << 20;

impl World {
    /// What an invocation runs now: one element for each of its draws, dispatches or traces; itself where it is not
    /// indirect.
    pub fn sizes(&self, invoke: &Invoke) -> Result<Vec<Sizes>, &'static str> {
        match &invoke.sizes {
            Sizes::Indirect(i) => self.indirect(invoke.command.canonical, i),
            Sizes::ByteCount { counter, offset, stride, instances, first_instance } => {
                let bytes = self.word(*counter)?.saturating_sub(*offset);
                Ok(vec![Sizes::Draw {
                    vertices: bytes.checked_div(*stride).unwrap_or(0),
                    instances: *instances,
                    first_vertex: 0,
                    first_instance: *first_instance,
                }])
            }
            Sizes::Generated { .. } => Err("the device generates it"),
            Sizes::Unknown => Err("it has no sizes of its own"),
            direct => Ok(vec![direct.clone()]),
        }
    }

    fn indirect(&self, name: &str, i: &Indirect) -> Result<Vec<Sizes>, &'static str> {
        let draws = match i.counter {
            Some(counter) => self.word(counter)?.min(i.draws),
            None => i.draws,
        };
        if draws > MOST_DRAWS {
            return Err("more draws than are looked at");
        }
        let one = |n: u32| {
            let bytes = self.known(i.place, u64::from(n).saturating_mul(i.stride), i.size)?;
            Ok(parse(name, i.size, &bytes))
        };
        (0..draws).map(one).collect()
    }

    fn word(&self, at: Place) -> Result<u32, &'static str> {
        let b = self.known(at, 0, 4)?;
        Ok(u32::from_le_bytes([b[0], b[1], b[2], b[3]]))
    }

    /// Bytes behind a place, all of them known.
    fn known(&self, place: Place, behind: u64, size: u64) -> Result<Vec<u8>, &'static str> {
        let (buffer, offset) = match place {
            Place::Buffer { buffer, offset } => (buffer, offset),
            Place::Address(a) => self.at_address(a).ok_or("an address of no buffer")?,
        };
        let mut bytes = Vec::new();
        let known = self.read_buffer(buffer, offset.saturating_add(behind), size, &mut bytes);
        match known.holes.first() {
            None => Ok(bytes),
            Some(hole) => Err(hole.why.reason.words()),
        }
    }
}

/// One command as it lies in memory.
fn parse(name: &str, size: u64, bytes: &[u8]) -> Sizes {
    let u32 = |at: u32| u32::from_le_bytes(bytes[at as usize..][..4].try_into().expect("4 bytes"));
    let u64 = |at: u32| u64::from_le_bytes(bytes[at as usize..][..8].try_into().expect("8 bytes"));
    match size {
        TRACE_2 => {
            macro_rules! of {
                ($($member:expr),+) => {
                    member!("VkTraceRaysIndirectCommand2KHR", concat!($($member),+))
                };
            }
            macro_rules! table {
                ($kind:literal, $stride:expr) => {
                    Table {
                        place: Place::Address(u64(of!($kind, "Address"))),
                        size: u64(of!($kind, "Size")),
                        stride: $stride,
                    }
                };
                ($kind:literal) => {
                    table!($kind, u64(of!($kind, "Stride")))
                };
            }
            Sizes::Trace {
                size: [u32(of!("width")), u32(of!("height")), u32(of!("depth"))],
                tables: [
                    table!("raygenShaderRecord", 0),
                    table!("missShaderBindingTable"),
                    table!("hitShaderBindingTable"),
                    table!("callableShaderBindingTable"),
                ],
            }
        }
        DRAW_INDEXED => Sizes::DrawIndexed {
            indices: u32(member!("VkDrawIndexedIndirectCommand", "indexCount")),
            instances: u32(member!("VkDrawIndexedIndirectCommand", "instanceCount")),
            first_index: u32(member!("VkDrawIndexedIndirectCommand", "firstIndex")),
            vertex_offset: u32(member!("VkDrawIndexedIndirectCommand", "vertexOffset")) as i32,
            first_instance: u32(member!("VkDrawIndexedIndirectCommand", "firstInstance")),
        },
        DRAW => Sizes::Draw {
            vertices: u32(member!("VkDrawIndirectCommand", "vertexCount")),
            instances: u32(member!("VkDrawIndirectCommand", "instanceCount")),
            first_vertex: u32(member!("VkDrawIndirectCommand", "firstVertex")),
            first_instance: u32(member!("VkDrawIndirectCommand", "firstInstance")),
        },
        MESH_NV => Sizes::Groups {
            base: [u32(member!("VkDrawMeshTasksIndirectCommandNV", "firstTask")), 0, 0],
            count: [u32(member!("VkDrawMeshTasksIndirectCommandNV", "taskCount")), 1, 1],
        },
        _ => {
            // VkTraceRaysIndirectCommandKHR and VkDrawMeshTasksIndirectCommandEXT have the same three numbers.
            let three = [
                u32(member!("VkDispatchIndirectCommand", "x")),
                u32(member!("VkDispatchIndirectCommand", "y")),
                u32(member!("VkDispatchIndirectCommand", "z")),
            ];
            if name.starts_with("vkCmdTraceRays") {
                let none = Table { place: Place::Address(0), stride: 0, size: 0 };
                Sizes::Trace { size: three, tables: [none; 4] }
            } else {
                Sizes::Groups { base: [0; 3], count: three }
            }
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_longer_trace_has_its_tables_in_memory() {
        let mut bytes = Vec::new();
        (1..=11u64).for_each(|n| bytes.extend((n * 16).to_le_bytes()));
        [7u32, 8, 9, 0].iter().for_each(|n| bytes.extend(n.to_le_bytes()));
        assert_eq!(bytes.len() as u64, TRACE_2);
        let Sizes::Trace { size, tables } = parse("vkCmdTraceRaysIndirect2KHR", TRACE_2, &bytes) else {
            panic!("a trace");
        };
        let as_numbers = tables.map(|t| {
            let Place::Address(a) = t.place else { panic!("an address") };
            (a, t.size, t.stride)
        });
        assert_eq!(size, [7, 8, 9]);
        assert_eq!(as_numbers, [(16, 32, 0), (48, 64, 80), (96, 112, 128), (144, 160, 176)]);
    }

    #[test]
    fn words_are_in_the_order_of_the_structs() {
        let bytes: Vec<u8> = [5u32, 6, 7, u32::MAX, 9].iter().flat_map(|w| w.to_le_bytes()).collect();
        let indexed = Sizes::DrawIndexed {
            indices: 5,
            instances: 6,
            first_index: 7,
            vertex_offset: -1,
            first_instance: 9,
        };
        assert_eq!(parse("vkCmdDrawIndexedIndirect", 20, &bytes), indexed);
        let mesh = Sizes::Groups { base: [6, 0, 0], count: [5, 1, 1] };
        assert_eq!(parse("vkCmdDrawMeshTasksIndirectNV", 8, &bytes[..8]), mesh);
        let groups = Sizes::Groups { base: [0; 3], count: [5, 6, 7] };
        assert_eq!(parse("vkCmdDispatchIndirect", 12, &bytes[..12]), groups);
        let trace = parse("vkCmdTraceRaysIndirectKHR", 12, &bytes[..12]);
        assert!(matches!(trace, Sizes::Trace { size: [5, 6, 7], .. }), "{trace:?}");
    }
}
