//! Mutations of metadata blocks: a field by its place, the data's size, the structs of a build, or a block made up.
//!
//! Guarantees: a changed size of data is the block's size as well, so that the block is still read; a changed field is
//! nothing but that. Refuses nothing; a block that has nothing to change gives nothing.

use gfxr_parse::container::{Blocks, Payload, Scratch};
use gfxr_parse::decode::decode_struct_array;
use gfxr_parse::image::Image;
use gfxr_parse::meta::id;
use gfxr_parse::schema::struct_named;

use super::super::blocks;
use super::super::calls::apply;
use super::super::fields::Fields;
use super::super::rng::Rng;
use super::call::{Call, one, other_number};
use super::mix::{CLASSES, Class};
use super::seed::Seed;

/// Fields of so many bytes each, in the order of the file.
type Layout = &'static [(&'static str, usize)];

/// What lies behind the id (and the thread) of the types that replay obeys.
const LAYOUTS: [(u16, Layout); 17] = [
    (id::FILL_MEMORY, &[("memory", 8), ("offset", 8), ("size", 8)]),
    (id::RESIZE_WINDOW, &[("surface", 8), ("width", 4), ("height", 4)]),
    (
        id::SWAPCHAIN_IMAGES,
        &[
            ("device", 8),
            ("swapchain", 8),
            ("last presented", 4),
            ("image count", 4),
            ("image", 8),
            ("index", 4),
            ("layout", 4),
            ("acquired", 4),
            ("acquire device mask", 4),
            ("acquire semaphore", 8),
            ("acquire fence", 8),
            ("last presented queue", 8),
        ],
    ),
    (id::BEGIN_RESOURCE_INIT, &[("device", 8), ("total bytes", 8), ("largest bytes", 8)]),
    (id::END_RESOURCE_INIT, &[("device", 8)]),
    (id::INIT_BUFFER, &[("device", 8), ("buffer", 8), ("size", 8)]),
    (
        id::INIT_IMAGE,
        &[
            ("device", 8),
            ("image", 8),
            ("size", 8),
            ("aspect", 4),
            ("layout", 4),
            ("level count", 4),
            ("bytes of level 0", 8),
            ("bytes of level 1", 8),
        ],
    ),
    (
        id::DEVICE_PROPERTIES,
        &[
            ("physical device", 8),
            ("API version", 4),
            ("driver version", 4),
            ("vendor", 4),
            ("device id", 4),
            ("device type", 4),
        ],
    ),
    (
        id::DEVICE_MEMORY,
        &[
            ("physical device", 8),
            ("type count", 4),
            ("heap count", 4),
            ("flags of type 0", 4),
            ("heap of type 0", 4),
            ("flags of type 1", 4),
            ("heap of type 1", 4),
        ],
    ),
    (id::RESIZE_WINDOW_2, &[("surface", 8), ("width", 4), ("height", 4), ("pre-transform", 4)]),
    (id::OPAQUE_ADDRESS, &[("device", 8), ("object", 8), ("address", 8)]),
    (id::SHADER_GROUPS, &[("device", 8), ("pipeline", 8), ("size", 8), ("handle", 8), ("handle", 8)]),
    (id::PARENT_TO_CHILD, &[("kind", 4), ("parent", 8), ("child count", 4), ("child", 8)]),
    (id::BUILD_ACCELERATION, &[("device", 8)]),
    (id::COPY_ACCELERATION, &[("device", 8)]),
    (id::WRITE_ACCELERATION, &[("device", 8), ("query type", 4), ("acceleration structure", 8)]),
    (id::INIT_TENSOR, &[("device", 8), ("tensor", 8), ("size", 8)]),
];

/// Bytes of a block header and a metadata id.
const BEFORE: usize = 12 + 4;

/// The block with one thing changed, and what that is.
pub fn change(block: &[u8], seed: &Seed, rng: &mut Rng) -> Option<(Vec<u8>, String)> {
    let parsed = Blocks::new(block, 0, seed.codec).next()?;
    let ty = parsed.meta_type()?;
    let name = gfxr_parse::meta::name(ty).unwrap_or("unknown");
    let said = |(bytes, text)| (bytes, format!("{name}: {text}"));
    if matches!(ty, id::BUILD_ACCELERATION | id::COPY_ACCELERATION) && rng.chance(7, 8) {
        return structs(block, ty, seed, rng).map(said);
    }
    if parsed.kind().ok()?.payload().is_some() && rng.chance(1, 5) {
        return resized(block, seed, rng).map(said);
    }
    field(block, ty, seed, rng).map(said)
}

/// A block made up, with an id of the capture's where one goes.
pub fn made_up(rng: &mut Rng) -> (Vec<u8>, String) {
    let mut block = vec![];
    blocks::meta(rng.below(blocks::METAS), rng, &mut block);
    (block, "a metadata block of any type".to_string())
}

fn field(block: &[u8], ty: u16, seed: &Seed, rng: &mut Rng) -> Option<(Vec<u8>, String)> {
    let layout = LAYOUTS.iter().find(|l| l.0 == ty)?.1;
    let threadless = [id::BUILD_ACCELERATION, id::COPY_ACCELERATION, id::WRITE_ACCELERATION].contains(&ty);
    let which = rng.below(layout.len());
    let (name, width) = layout[which];
    let start = BEFORE + if threadless { 0 } else { 8 } + layout[..which].iter().map(|f| f.1).sum::<usize>();
    let mut old = [0; 8];
    old[..width].copy_from_slice(block.get(start..start + width)?);
    let old = u64::from_le_bytes(old);
    let new = if width == 8 && seed.made.values().any(|ids| ids.contains(&old)) && rng.chance(2, 3) {
        let all: Vec<u64> = seed.made.values().flatten().copied().collect();
        *one(&all, rng)?
    } else {
        other_number(old, width, rng)
    };
    let mut out = block.to_vec();
    out[start..start + width].copy_from_slice(&new.to_le_bytes()[..width]);
    Some((out, format!("{name} is {new:#x} instead of {old:#x}")))
}

/// More or fewer data, as declared.
fn resized(block: &[u8], seed: &Seed, rng: &mut Rng) -> Option<(Vec<u8>, String)> {
    let parsed = Blocks::new(block, 0, seed.codec).next()?;
    let mut kind = parsed.kind().ok()?;
    let mut scratch = Scratch::new();
    let mut data = kind.payload()?.bytes(&mut scratch).ok()?.to_vec();
    let n = data.len();
    match rng.below(4) {
        0 => data.clear(),
        1 => data.truncate(n / 2),
        2 => data.extend(rng.bytes(4)),
        _ => data.resize(n + 1 + rng.below(1 << 16), 0xA5),
    }
    *kind.payload_mut()? = Payload::plain(&data);
    let mut out = vec![];
    kind.write(&mut out);
    Some((out, format!("{} bytes of data instead of {n}", data.len())))
}

/// Other structs in a build or a copy.
fn structs(block: &[u8], ty: u16, seed: &Seed, rng: &mut Rng) -> Option<(Vec<u8>, String)> {
    const START: usize = BEFORE + 8; // the device
    let name = match ty {
        id::BUILD_ACCELERATION => "VkAccelerationStructureBuildGeometryInfoKHR",
        _ => "VkCopyAccelerationStructureInfoKHR",
    };
    let id = struct_named(name)?;
    let mut image = Image::default();
    let encoded = block.get(START..)?;
    let used = decode_struct_array(id, encoded, &mut image).ok()?;
    let fields = Fields::of_structs(&image, id, false);
    let call = Call { params: &encoded[..used], fields: &fields, seed };
    let (edits, text) = (0..16).find_map(|_| {
        let class = CLASSES[rng.below(CLASSES.len())].0;
        (class != Class::Chain).then(|| call.change(class, rng)).flatten()
    })?;
    let mut out = block[..START].to_vec();
    out.extend(apply(&encoded[..used], edits));
    out.extend_from_slice(&encoded[used..]);
    let size = (out.len() - 12) as u64;
    out[..8].copy_from_slice(&size.to_le_bytes());
    Some((out, text))
}
