use super::super::bytes::residents::Resident;
use super::super::commands::{
    Attachment, BufferCopies, BufferImageCopies, BufferImageRegion, ImageCopies, ImageRegion,
};
use super::super::objects::{Bound, Buffer, Image, ImageView, Memory};
use super::*;
use crate::objects::Subresources;
use gfxr_parse::schema::generated::COMMANDS;
use std::collections::BTreeSet;

/// A world with memory 1 of 64 KiB.
fn world() -> World {
    let mut w = World::default();
    w.memories.insert(1, Memory { size: 1 << 16, ..Memory::default() });
    w.bytes.allocate(1, 1 << 16);
    w
}

fn buffer(w: &mut World, id: u64, offset: u64, size: u64) {
    let bound = Some(Bound { memory: 1, offset });
    w.buffers.insert(id, Buffer { size, bound, ..Buffer::default() });
    w.bytes.residents.bind(1, Resident { id, image: false, from: offset, to: offset + size });
}

/// An image of 4 x 4 texels of 4 bytes, of two levels.
fn image(w: &mut World, id: u64, offset: u64) {
    let bound = vec![Bound { memory: 1, offset }];
    let i = Image {
        kind: 1,
        format: 37,
        extent: [4, 4, 1],
        levels: 2,
        layers: 1,
        samples: 1,
        bound,
        ..Image::default()
    };
    w.images.insert(id, i);
    let to = offset + w.image_bytes(id);
    w.bytes.residents.bind(1, Resident { id, image: true, from: offset, to });
}

fn run(w: &mut World, c: Command) {
    command(w, &At { block: 77, ..At::default() }, &c);
}

fn update(w: &mut World, buffer: u64, data: &[u8]) {
    run(w, Command::UpdateBuffer { buffer, offset: 0, data: data.into() });
}

/// Bytes and the first reason why some are not known.
fn read(w: &World, buffer: u64, offset: u64, size: u64) -> (Vec<u8>, Option<Reason>) {
    let mut bytes = Vec::new();
    let known = w.read_buffer(buffer, offset, size, &mut bytes);
    (bytes, known.holes.first().map(|h| h.why.reason))
}

const LEVEL: Subresources = Subresources { aspects: 1, level: 0, levels: 1, layer: 0, layers: 1 };

fn copies(image: u64, buffer: u64, offset: u64, at: [i32; 3], extent: [u32; 3]) -> Box<BufferImageCopies> {
    let r = BufferImageRegion { offset, part: LEVEL, at, extent, ..BufferImageRegion::default() };
    Box::new(BufferImageCopies { buffer, image, layout: 7, regions: Box::new([r]) })
}

#[test]
fn texels_go_in_and_come_out() {
    let mut w = world();
    buffer(&mut w, 2, 0, 256);
    buffer(&mut w, 3, 256, 256);
    image(&mut w, 4, 1024);
    image(&mut w, 5, 2048);
    let texels: Vec<u8> = (0..64).collect();
    update(&mut w, 2, &texels);
    run(&mut w, Command::CopyBufferToImage(copies(4, 2, 0, [0; 3], [4, 4, 1])));
    let r = ImageRegion { src: LEVEL, dst: LEVEL, extent: [4, 4, 1], ..ImageRegion::default() };
    let kind = ImageCopyKind::Copy;
    run(
        &mut w,
        Command::CopyImage(Box::new(ImageCopies {
            kind,
            src: 4,
            dst: 5,
            regions: Box::new([r]),
            ..Default::default()
        })),
    );
    run(&mut w, Command::CopyImageToBuffer(copies(5, 3, 16, [1, 2, 0], [2, 2, 1])));
    let expected = [&texels[36..44], &texels[52..60]].concat();
    assert_eq!(read(&w, 3, 16, 16), (expected, None));
    assert_eq!(read(&w, 3, 15, 2).1, Some(Reason::NeverWritten));
    // The memory behind the image is its own affair.
    let mut behind = Vec::new();
    assert_eq!(w.bytes.read(1, 1024, 64, &mut behind).unknown(), 64);
    // A blit, a pass, a discard: nothing is known.
    for (n, reason) in [Reason::Blitted, Reason::Attachment, Reason::Discarded].into_iter().enumerate() {
        run(&mut w, Command::CopyBufferToImage(copies(5, 2, 0, [0; 3], [4, 4, 1])));
        run(&mut w, Command::CopyImageToBuffer(copies(5, 3, 0, [0; 3], [4, 4, 1])));
        assert_eq!(read(&w, 3, 0, 64), (texels.clone(), None));
        match n {
            0 => {
                let kind = ImageCopyKind::Blit;
                let c = ImageCopies { kind, src: 4, dst: 5, regions: Box::new([r]), ..Default::default() };
                run(&mut w, Command::CopyImage(Box::new(c)));
            }
            1 => {
                w.image_views.insert(6, ImageView { image: 5, kind: 1, format: 37, range: LEVEL });
                let attachments = vec![Attachment { view: 6, ..Attachment::default() }];
                run(&mut w, Command::BeginPass(Box::new(Pass { attachments, ..Pass::default() })));
            }
            _ => {
                let b = super::super::commands::ImageBarrier {
                    image: 5,
                    new_layout: 7,
                    range: Subresources::ALL,
                    ..Default::default()
                };
                let b = super::super::commands::Barrier { images: vec![b], ..Default::default() };
                run(&mut w, Command::Barrier(Box::new(b)));
            }
        }
        run(&mut w, Command::CopyImageToBuffer(copies(5, 3, 0, [0; 3], [4, 4, 1])));
        assert_eq!(read(&w, 3, 0, 64).1, Some(reason));
    }
}

#[test]
fn what_shares_memory_is_overwritten() {
    let mut w = world();
    buffer(&mut w, 2, 0, 256);
    buffer(&mut w, 3, 1000, 100);
    image(&mut w, 4, 1024);
    let texels = [7; 64];
    update(&mut w, 2, &texels);
    update(&mut w, 3, &texels);
    run(&mut w, Command::CopyBufferToImage(copies(4, 2, 0, [0; 3], [4, 4, 1])));
    assert_eq!(read(&w, 3, 0, 24), (vec![7; 24], None), "before the image");
    assert_eq!(read(&w, 3, 24, 8).1, Some(Reason::Image));
    run(&mut w, Command::FillBuffer { buffer: 3, offset: 0, size: u64::MAX, word: 1 });
    assert_eq!(read(&w, 3, 96, 4), (vec![1, 0, 0, 0], None));
    run(&mut w, Command::CopyImageToBuffer(copies(4, 2, 0, [0; 3], [4, 4, 1])));
    assert_eq!(read(&w, 2, 0, 64).1, Some(Reason::Aliased));
    // Two buffers on the same bytes are one another.
    buffer(&mut w, 5, 1000, 100);
    update(&mut w, 5, &[3; 4]);
    assert_eq!(read(&w, 3, 0, 5), (vec![3, 3, 3, 3, 1], None));
}

#[test]
fn sparse_buffers_are_where_their_pieces_are() {
    let mut w = world();
    buffer(&mut w, 2, 0, 300);
    w.buffers.insert(3, Buffer { size: 300, flags: 1, ..Buffer::default() });
    w.bytes.residents.bind_sparse(3, 0, 100, Some((1, 5000)));
    w.bytes.residents.bind_sparse(3, 200, 100, Some((1, 4000)));
    let data: Vec<u8> = (0..=255).chain(0..44).collect();
    update(&mut w, 2, &data);
    run(
        &mut w,
        Command::CopyBuffer(Box::new(BufferCopies { src: 2, dst: 3, regions: Box::new([(0, 0, 300)]) })),
    );
    let mut bytes = Vec::new();
    assert!(w.bytes.read(1, 5000, 100, &mut bytes).all() && w.bytes.read(1, 4000, 100, &mut bytes).all());
    assert_eq!(bytes, [&data[..100], &data[200..]].concat());
    let (bytes, why) = read(&w, 3, 90, 120);
    assert_eq!((&bytes[..10], &bytes[110..], why), (&data[90..100], &data[200..210], Some(Reason::NoMemory)));
    // And back: what is bound to nothing is not known.
    run(
        &mut w,
        Command::CopyBuffer(Box::new(BufferCopies { src: 3, dst: 2, regions: Box::new([(50, 0, 200)]) })),
    );
    let (bytes, why) = read(&w, 2, 0, 200);
    assert_eq!((&bytes[..50], &bytes[150..], why), (&data[50..100], &data[200..250], Some(Reason::NoMemory)));
    assert_eq!(read(&w, 2, 150, 50).1, None);
}

#[test]
fn addresses_stand_for_their_buffers() {
    let mut w = world();
    buffer(&mut w, 2, 0, 256);
    buffer(&mut w, 3, 256, 256);
    w.addresses.insert(0x1000, 2, 256, ());
    w.addresses.insert(0x2000, 3, 256, ());
    update(&mut w, 2, &[1; 256]);
    update(&mut w, 3, &[2; 256]);
    w.forget_address(0x1080, 16, Why::new(Reason::Query, 1));
    assert_eq!((read(&w, 2, 0x80, 1).1, read(&w, 2, 0x90, 1).1), (Some(Reason::Query), None));
    w.forget_address(0x9000, 16, Why::new(Reason::Structure, 1));
    assert_eq!(
        (read(&w, 2, 0, 1).1, read(&w, 3, 0, 1).1),
        (Some(Reason::Structure), Some(Reason::Structure))
    );
    update(&mut w, 2, &[1; 256]);
    w.forget_addressed(Why::new(Reason::Pointer, 2));
    assert_eq!(read(&w, 2, 0, 1).1, Some(Reason::Pointer));
}

/// The commands that have a kind of their own, by canonical name.
const PARSED: &[&str] = &[
    "vkCmdBeginRenderPass",
    "vkCmdBeginRenderPass2",
    "vkCmdBeginRendering",
    "vkCmdBlitImage",
    "vkCmdBlitImage2",
    "vkCmdClearColorImage",
    "vkCmdClearDepthStencilImage",
    "vkCmdCopyBuffer",
    "vkCmdCopyBuffer2",
    "vkCmdCopyBufferToImage",
    "vkCmdCopyBufferToImage2",
    "vkCmdCopyImage",
    "vkCmdCopyImage2",
    "vkCmdCopyImageToBuffer",
    "vkCmdCopyImageToBuffer2",
    "vkCmdEndRenderPass",
    "vkCmdEndRenderPass2",
    "vkCmdEndRendering",
    "vkCmdEndRendering2KHR",
    "vkCmdExecuteCommands",
    "vkCmdFillBuffer",
    "vkCmdNextSubpass",
    "vkCmdNextSubpass2",
    "vkCmdPipelineBarrier",
    "vkCmdPipelineBarrier2",
    "vkCmdResetEvent",
    "vkCmdResetEvent2",
    "vkCmdResolveImage",
    "vkCmdResolveImage2",
    "vkCmdSetEvent",
    "vkCmdSetEvent2",
    "vkCmdUpdateBuffer",
    "vkCmdWaitEvents",
    "vkCmdWaitEvents2",
];

/// Beginnings of names of commands that set state, or that are draws, dispatches, traces or labels.
const FAMILIES: &[&str] = &[
    "vkCmdSet",
    "vkCmdBind",
    "vkCmdDraw",
    "vkCmdDispatch",
    "vkCmdTrace",
    "vkCmdPush",
    "vkCmdDebugMarker",
    "vkCmdBeginDebug",
    "vkCmdEndDebug",
    "vkCmdInsertDebug",
    "vkCmdExecuteGenerated",
    "vkCmdSubpassShading",
    "vkCmdInitializeGraph",
    "vkCmdCudaLaunch",
    "vkCmdCuLaunch",
];

#[test]
fn every_command_of_the_registry_has_its_place() {
    let known: BTreeSet<&str> = [PARSED, FOLLOWED, other::NOTHING].concat().into_iter().collect();
    let names: BTreeSet<&str> =
        COMMANDS.iter().map(|c| c.canonical).filter(|n| n.starts_with("vkCmd")).collect();
    let missing: Vec<&&str> = names
        .iter()
        .filter(|n| {
            !known.contains(**n) && (PARSED.contains(*n) || !FAMILIES.iter().any(|f| n.starts_with(f)))
        })
        .collect();
    assert!(missing.is_empty(), "what do these do to memory? {missing:?}");
    let gone: Vec<_> = known.difference(&names).collect();
    assert!(gone.is_empty(), "not in the schema: {gone:?}");
    let twice: Vec<_> =
        FOLLOWED.iter().filter(|n| other::NOTHING.contains(n) || PARSED.contains(n)).collect();
    assert!(twice.is_empty(), "{twice:?}");
}
