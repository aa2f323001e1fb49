//! How much a recorded invocation runs, read from whatever parameters its command has.
//!
//! One reader for every vkCmdDraw…, vkCmdDispatch…, vkCmdTraceRays… and vkCmdExecuteGenerated… of the registry: a test holds
//! it against the schema. Refuses nothing: what has no sizes that can be read says [`Sizes::Unknown`].

use super::commands::{Indirect, Place, Sizes, Table};
use super::objects::BindPoint;
use super::read::{n32, n64};
use gfxr_parse::size_of_struct;
use gfxr_parse::view::View;

/// Whether a command (by canonical name) is an invocation.
pub(super) fn is_invocation(name: &str) -> bool {
    ["vkCmdDraw", "vkCmdDispatch", "vkCmdTraceRays", "vkCmdExecuteGeneratedCommands"]
        .iter()
        .any(|p| name.starts_with(p))
}

/// Where the pipeline of an invocation is bound.
pub(super) fn bind_point(name: &str, v: View<'_>) -> BindPoint {
    match name {
        "vkCmdDispatchDataGraphARM" => BindPoint::Other,
        "vkCmdExecuteGeneratedCommandsNV" => {
            let info = v.one("pGeneratedCommandsInfo");
            BindPoint::of(info.map_or(0, |i| n32(i, "pipelineBindPoint")))
        }
        "vkCmdExecuteGeneratedCommandsEXT" => {
            let stages = v.one("pGeneratedCommandsInfo").map_or(0, |i| n32(i, "shaderStages"));
            BindPoint::of_stages(stages).next().unwrap_or(BindPoint::Graphics)
        }
        n if n.starts_with("vkCmdDispatch") => BindPoint::Compute,
        n if n.starts_with("vkCmdTraceRays") => BindPoint::RayTracing,
        _ => BindPoint::Graphics,
    }
}

/// Bytes of one command in memory.
fn size_of(name: &str) -> u64 {
    match name {
        "vkCmdTraceRaysIndirect2KHR" => TRACE_2,
        "vkCmdDrawMeshTasksIndirectNV" | "vkCmdDrawMeshTasksIndirectCountNV" => MESH_NV,
        n if n.starts_with("vkCmdDrawIndexed") => DRAW_INDEXED,
        n if n.starts_with("vkCmdDrawIndirect") => DRAW,
        _ => size_of_struct!("VkDispatchIndirectCommand").into(),
    }
}

/// Bytes of commands in memory, padding included.
pub(super) const TRACE_2: u64 = size_of_struct!("VkTraceRaysIndirectCommand2KHR") as u64;
pub(super) const MESH_NV: u64 = size_of_struct!("VkDrawMeshTasksIndirectCommandNV") as u64;
pub(super) const DRAW_INDEXED: u64 = size_of_struct!("VkDrawIndexedIndirectCommand") as u64;
pub(super) const DRAW: u64 = size_of_struct!("VkDrawIndirectCommand") as u64;

/// How much an invocation runs.
pub(super) fn sizes(name: &str, v: View<'_>) -> Sizes {
    let n = |name| n32(v, name);
    match name {
        "vkCmdDraw" => Sizes::Draw {
            vertices: n("vertexCount"),
            instances: n("instanceCount"),
            first_vertex: n("firstVertex"),
            first_instance: n("firstInstance"),
        },
        "vkCmdDrawIndexed" => Sizes::DrawIndexed {
            indices: n("indexCount"),
            instances: n("instanceCount"),
            first_index: n("firstIndex"),
            vertex_offset: n("vertexOffset") as i32,
            first_instance: n("firstInstance"),
        },
        "vkCmdDrawMultiEXT" => {
            let draws = v.structs("pVertexInfo").map(|d| (n32(d, "firstVertex"), n32(d, "vertexCount"), 0));
            multi(v, draws.collect())
        }
        "vkCmdDrawMultiIndexedEXT" => {
            let common = v.u32("pVertexOffset");
            let draws = v.structs("pIndexInfo").map(|d| {
                let offset = common.unwrap_or_else(|| n32(d, "vertexOffset"));
                (n32(d, "firstIndex"), n32(d, "indexCount"), offset as i32)
            });
            multi(v, draws.collect())
        }
        "vkCmdDrawMeshTasksNV" => {
            Sizes::Groups { base: [n("firstTask"), 0, 0], count: [n("taskCount"), 1, 1] }
        }
        "vkCmdTraceRaysKHR" => {
            Sizes::Trace { size: [n("width"), n("height"), n("depth")], tables: tables(v) }
        }
        "vkCmdTraceRaysNV" => Sizes::Trace {
            size: [n("width"), n("height"), n("depth")],
            tables: ["raygen", "miss", "hit", "callable"].map(|t| {
                let of = |what: &str| n64(v, &format!("{t}ShaderBinding{what}"));
                let place = Place::Buffer { buffer: of("TableBuffer"), offset: of("Offset") };
                Table { place, stride: of("Stride"), size: 0 }
            }),
        },
        "vkCmdDrawIndirectByteCountEXT" | "vkCmdDrawIndirectByteCount2EXT" => byte_count(v),
        n if n.starts_with("vkCmdExecuteGeneratedCommands") => {
            let info = v.one("pGeneratedCommandsInfo");
            let of = |name: &str| info.map_or(0, |i| n32(i, name));
            Sizes::Generated {
                layout: info.map_or(0, |i| n64(i, "indirectCommandsLayout")),
                sequences: of("maxSequenceCount").max(of("sequencesCount")),
                made_of: None,
            }
        }
        _ => indirect(name, v).or_else(|| groups(v)).unwrap_or(Sizes::Unknown),
    }
}

fn multi(v: View<'_>, draws: Box<[(u32, u32, i32)]>) -> Sizes {
    Sizes::Multi { draws, instances: n32(v, "instanceCount"), first_instance: n32(v, "firstInstance") }
}

/// The shader binding tables of a trace.
pub(super) fn tables(v: View<'_>) -> [Table; 4] {
    ["Raygen", "Miss", "Hit", "Callable"].map(|t| region(v, t))
}

fn region(v: View<'_>, table: &str) -> Table {
    let r = v.one(&format!("p{table}ShaderBindingTable"));
    let of = |n: &str| r.map_or(0, |r| n64(r, n));
    Table { place: Place::Address(of("deviceAddress")), stride: of("stride"), size: of("size") }
}

fn byte_count(v: View<'_>) -> Sizes {
    let counter = match v.one("pCounterInfo").and_then(|i| i.one("addressRange")) {
        Some(range) => Place::Address(n64(range, "address")),
        None => Place::Buffer { buffer: n64(v, "counterBuffer"), offset: n64(v, "counterBufferOffset") },
    };
    Sizes::ByteCount {
        counter,
        offset: n32(v, "counterOffset"),
        stride: n32(v, "vertexStride"),
        instances: n32(v, "instanceCount"),
        first_instance: n32(v, "firstInstance"),
    }
}

fn groups(v: View<'_>) -> Option<Sizes> {
    let count = [v.u32("groupCountX")?, v.u32("groupCountY")?, v.u32("groupCountZ")?];
    Some(Sizes::Groups { base: ["baseGroupX", "baseGroupY", "baseGroupZ"].map(|n| n32(v, n)), count })
}

fn indirect(name: &str, v: View<'_>) -> Option<Sizes> {
    let mut i =
        Indirect { place: Place::Address(0), draws: 1, stride: 0, size: size_of(name), counter: None };
    if let Some(info) = v.one("pInfo").filter(|i| i.one("addressRange").is_some()) {
        let range = info.one("addressRange")?;
        i.place = Place::Address(n64(range, "address"));
        i.stride = n64(range, "stride");
        i.draws = info.u32("maxDrawCount").or_else(|| info.u32("drawCount")).unwrap_or(1);
        i.counter = info.one("countAddressRange").map(|r| Place::Address(n64(r, "address")));
    } else if let Some(address) = v.u64("indirectDeviceAddress") {
        i.place = Place::Address(address);
    } else {
        i.place = Place::Buffer { buffer: v.u64("buffer")?, offset: n64(v, "offset") };
        i.stride = n64(v, "stride");
        i.draws = v.u32("maxDrawCount").or_else(|| v.u32("drawCount")).unwrap_or(1);
        i.counter =
            v.u64("countBuffer").map(|buffer| Place::Buffer { buffer, offset: n64(v, "countBufferOffset") });
    }
    Some(Sizes::Indirect(i))
}

#[cfg(test)]
mod tests {
    use super::*;
    use gfxr_parse::image::Image;
    use gfxr_parse::schema::generated::COMMANDS;

    /// An image of a command whose parameter n is 100 + n, and whose pointers lead nowhere.
    fn numbered(name: &str) -> Image {
        let c = gfxr_parse::schema::command_named(name).expect(name);
        let mut image = Image::default();
        image.command = Some(c);
        image.alloc(c.params.len() * 8 + 8);
        for (n, p) in c.params.iter().enumerate() {
            if p.shape == gfxr_parse::schema::Shape::Value {
                image.edit_u64(8 * n as u32, 100 + n as u64);
            }
        }
        image
    }

    #[test]
    fn every_invocation_of_the_registry_is_read() {
        let names: std::collections::BTreeSet<&str> =
            COMMANDS.iter().map(|c| c.canonical).filter(|n| is_invocation(n)).collect();
        assert!(names.len() >= 36, "{}", names.len());
        // Tiles and data graphs have no sizes of their own; those with only an info struct need that.
        let sizeless = ["vkCmdDispatchTileQCOM", "vkCmdDispatchDataGraphARM"];
        for name in names {
            let image = numbered(name);
            let found = sizes(name, View::call(&image));
            let by_struct = image.command.is_some_and(|c| c.params.iter().any(|p| p.name == "pInfo"));
            assert_eq!(found == Sizes::Unknown, sizeless.contains(&name) || by_struct, "{name}: {found:?}");
            let point = bind_point(name, View::call(&image));
            let expected = match name {
                "vkCmdDispatchDataGraphARM" => BindPoint::Other,
                n if n.contains("Dispatch") => BindPoint::Compute,
                n if n.contains("Trace") => BindPoint::RayTracing,
                _ => BindPoint::Graphics,
            };
            assert_eq!(point, expected, "{name}");
        }
    }

    #[test]
    fn parameters_are_read_by_their_names() {
        let image = numbered("vkCmdDrawIndexedIndirectCount");
        let want = Indirect {
            place: Place::Buffer { buffer: 101, offset: 102 },
            draws: 105,
            stride: 106,
            size: 20,
            counter: Some(Place::Buffer { buffer: 103, offset: 104 }),
        };
        assert_eq!(sizes("vkCmdDrawIndexedIndirectCount", View::call(&image)), Sizes::Indirect(want));
        let image = numbered("vkCmdDispatchBase");
        let want = Sizes::Groups { base: [101, 102, 103], count: [104, 105, 106] };
        assert_eq!(sizes("vkCmdDispatchBase", View::call(&image)), want);
        let image = numbered("vkCmdTraceRaysIndirectKHR");
        let Sizes::Indirect(i) = sizes("vkCmdTraceRaysIndirectKHR", View::call(&image)) else { panic!() };
        assert_eq!((i.place, i.size, i.draws), (Place::Address(105), 12, 1));
        let image = numbered("vkCmdTraceRaysNV");
        let Sizes::Trace { size, tables } = sizes("vkCmdTraceRaysNV", View::call(&image)) else { panic!() };
        assert_eq!((size, tables[2].stride), ([112, 113, 114], 108));
    }
}
