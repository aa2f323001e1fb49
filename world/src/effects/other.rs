//! Commands that are seldom seen and have a meaning of their own, read by name from what was decoded.
//!
//! Guarantees: every command of the registry that writes memory is here or has a kind of its own; a test holds
//! [`FOLLOWED`] and [`NOTHING`] against the schema. What they write the capture does not hold, but for copies, fills and
//! markers by address: it is known no longer. Not looked into, and so a reason to forget everything: data graphs, copies of
//! tensors, optical flow.

use super::super::bytes::{Cause, Reason, Why, Writer};
use super::super::commands::{BufferImageCopies, BufferImageRegion, Invoke, Place, Sizes};
use super::super::objects::Subresources;
use super::super::read::{extent, n32, n64, offset, subresources};
use crate::World;
use gfxr_parse::image::Image;
use gfxr_parse::view::View;
use gfxr_parse::{member, size_of_struct};

/// Commands that are followed here, by their canonical names.
pub const FOLLOWED: &[&str] = &[
    "vkCmdBuildAccelerationStructureNV",
    "vkCmdBuildAccelerationStructuresIndirectKHR",
    "vkCmdBuildAccelerationStructuresKHR",
    "vkCmdBuildMicromapsEXT",
    "vkCmdBuildPartitionedAccelerationStructuresNV",
    "vkCmdConvertCooperativeVectorMatrixNV",
    "vkCmdCopyAccelerationStructureKHR",
    "vkCmdCopyAccelerationStructureNV",
    "vkCmdCopyAccelerationStructureToMemoryKHR",
    "vkCmdCopyImageToMemoryKHR",
    "vkCmdCopyMemoryIndirectKHR",
    "vkCmdCopyMemoryKHR",
    "vkCmdCopyMemoryToAccelerationStructureKHR",
    "vkCmdCopyMemoryToImageIndirectKHR",
    "vkCmdCopyMemoryToImageKHR",
    "vkCmdCopyMemoryToMicromapEXT",
    "vkCmdCopyMicromapEXT",
    "vkCmdCopyMicromapToMemoryEXT",
    "vkCmdCopyQueryPoolResults",
    "vkCmdCopyQueryPoolResultsToMemoryKHR",
    "vkCmdCopyTensorARM",
    "vkCmdDecodeVideoKHR",
    "vkCmdDecompressMemoryEXT",
    "vkCmdDecompressMemoryIndirectCountEXT",
    "vkCmdEncodeVideoKHR",
    "vkCmdEndTransformFeedback2EXT",
    "vkCmdEndTransformFeedbackEXT",
    "vkCmdFillMemoryKHR",
    "vkCmdOpticalFlowExecuteNV",
    "vkCmdPreprocessGeneratedCommandsEXT",
    "vkCmdPreprocessGeneratedCommandsNV",
    "vkCmdUpdateMemoryKHR",
    "vkCmdUpdatePipelineIndirectBufferNV",
    "vkCmdWriteBufferMarker2AMD",
    "vkCmdWriteBufferMarkerAMD",
    "vkCmdWriteMarkerToMemoryAMD",
];

/// Commands that write no memory whose bytes are followed: state, queries (until they are copied), attachments of passes
/// (which are not known anyway), the ends of things.
pub const NOTHING: &[&str] = &[
    "vkCmdBeginConditionalRendering2EXT",
    "vkCmdBeginConditionalRenderingEXT",
    "vkCmdBeginCustomResolveEXT",
    "vkCmdBeginGpaSampleAMD",
    "vkCmdBeginGpaSessionAMD",
    "vkCmdBeginPerTileExecutionQCOM",
    "vkCmdBeginQuery",
    "vkCmdBeginQueryIndexedEXT",
    "vkCmdBeginTransformFeedback2EXT",
    "vkCmdBeginTransformFeedbackEXT",
    "vkCmdBeginVideoCodingKHR",
    "vkCmdClearAttachments",
    "vkCmdControlVideoCodingKHR",
    "vkCmdCopyGpaSessionResultsAMD",
    "vkCmdEndConditionalRenderingEXT",
    "vkCmdEndGpaSampleAMD",
    "vkCmdEndGpaSessionAMD",
    "vkCmdEndPerTileExecutionQCOM",
    "vkCmdEndQuery",
    "vkCmdEndQueryIndexedEXT",
    "vkCmdEndVideoCodingKHR",
    "vkCmdResetQueryPool",
    "vkCmdWriteAccelerationStructuresPropertiesKHR",
    "vkCmdWriteAccelerationStructuresPropertiesNV",
    "vkCmdWriteMicromapsPropertiesEXT",
    "vkCmdWriteTimestamp",
    "vkCmdWriteTimestamp2",
];

/// To the end of the buffer.
const REST: u64 = u64::MAX;

/// One of them; also the calls of the same meaning that the host executes.
pub(super) fn other(w: &mut World, image: &Image, block: u64) {
    let v = View::call(image);
    let Some(command) = image.command else { return };
    let why = |reason| Why::new(reason, block);
    match command.canonical {
        n if n.contains("AccelerationStructure") => structures(w, n, v, why(Reason::Structure)),
        n if n.contains("Micromap") => micromaps(w, n, v, why(Reason::Structure)),
        "vkCmdCopyQueryPoolResults" => {
            let (count, stride) = (n64(v, "queryCount"), n64(v, "stride"));
            let bytes = query_bytes(count, stride);
            w.forget_buffer(n64(v, "dstBuffer"), n64(v, "dstOffset"), bytes, why(Reason::Query));
        }
        "vkCmdCopyQueryPoolResultsToMemoryKHR" => {
            let Some((address, size)) = range(v, "pDstRange") else { return };
            w.forget_address(address, size, why(Reason::Query));
        }
        "vkCmdEndTransformFeedbackEXT" => {
            let offsets = v.u64s("pCounterBufferOffsets");
            for (i, buffer) in v.u64s("pCounterBuffers").into_iter().enumerate() {
                w.forget_buffer(buffer, offsets.get(i).copied().unwrap_or(0), 4, why(Reason::Streamed));
            }
        }
        "vkCmdEndTransformFeedback2EXT" => {
            for (address, size) in v.structs("pCounterInfos").filter_map(|i| range(i, "addressRange")) {
                w.forget_address(address, size, why(Reason::Streamed));
            }
        }
        "vkCmdWriteBufferMarkerAMD" | "vkCmdWriteBufferMarker2AMD" => {
            let (buffer, marker) = (n64(v, "dstBuffer"), n32(v, "marker").to_le_bytes());
            w.write_buffer(buffer, n64(v, "dstOffset"), &marker, Cause::new(Writer::Marker, block, buffer));
        }
        "vkCmdWriteMarkerToMemoryAMD" => {
            let Some(i) = v.one("pInfo") else { return };
            let Some((address, _)) = range(i, "dstRange") else { return };
            match w.at_address(address) {
                Some((buffer, at)) => {
                    let cause = Cause::new(Writer::Marker, block, buffer);
                    w.write_buffer(buffer, at, &n32(i, "marker").to_le_bytes(), cause);
                }
                None => w.forget_address(address, 4, why(Reason::Extension)),
            }
        }
        "vkCmdFillMemoryKHR" | "vkCmdUpdateMemoryKHR" => {
            let Some((address, size)) = range(v, "pDstRange") else { return };
            let Some((buffer, at)) = w.at_address(address) else {
                return w.forget_address(address, size, why(Reason::NoMemory));
            };
            match v.bytes("pData") {
                Some(data) => {
                    w.write_buffer(buffer, at, data, Cause::new(Writer::UpdateBuffer, block, buffer));
                }
                None if command.canonical == "vkCmdFillMemoryKHR" => {
                    let cause = Cause::new(Writer::FillBuffer, block, buffer);
                    w.fill_buffer(buffer, at, size & !3, n32(v, "data"), cause);
                }
                None => w.forget_buffer(buffer, at, size, why(Reason::Extension)),
            }
        }
        "vkCmdCopyMemoryKHR" => {
            let Some(i) = v.one("pCopyMemoryInfo") else { return };
            for r in i.structs("pRegions") {
                let (Some(from), Some(to)) = (range(r, "srcRange"), range(r, "dstRange")) else { continue };
                copy(w, from.0, to.0, from.1.min(to.1), Writer::CopyBuffer, block);
            }
        }
        "vkCmdCopyMemoryToImageKHR" | "vkCmdCopyImageToMemoryKHR" => {
            memory_image(w, v, command.canonical == "vkCmdCopyMemoryToImageKHR", block);
        }
        "vkCmdCopyMemoryIndirectKHR" => copy_indirect(w, v, block),
        "vkCmdCopyMemoryToImageIndirectKHR" => {
            let Some(i) = v.one("pCopyMemoryToImageIndirectInfo") else { return };
            for part in i.structs("pImageSubresources").map(subresources) {
                w.forget_image(n64(i, "dstImage"), &part, why(Reason::Indirect));
            }
        }
        "vkCmdDecompressMemoryEXT" => {
            let Some(i) = v.one("pDecompressMemoryInfoEXT") else { return };
            for r in i.structs("pRegions") {
                let (address, size) = (n64(r, "dstAddress"), n64(r, "decompressedSize"));
                w.forget_address(address, size, why(Reason::Decompressed));
            }
        }
        "vkCmdDecompressMemoryIndirectCountEXT" => w.forget_addressed(why(Reason::Decompressed)),
        "vkCmdDecodeVideoKHR" => {
            let Some(i) = v.one("pDecodeInfo") else { return };
            pictures(w, i, why(Reason::Video));
        }
        "vkCmdEncodeVideoKHR" => {
            let Some(i) = v.one("pEncodeInfo") else { return };
            let (at, size) = (n64(i, "dstBufferOffset"), n64(i, "dstBufferRange"));
            w.forget_buffer(n64(i, "dstBuffer"), at, size, why(Reason::Video));
            pictures(w, i, why(Reason::Video));
        }
        "vkCmdPreprocessGeneratedCommandsEXT" => {
            let Some(i) = v.one("pGeneratedCommandsInfo") else { return };
            let (address, size) = (n64(i, "preprocessAddress"), n64(i, "preprocessSize"));
            w.forget_address(address, size, why(Reason::Generated));
        }
        "vkCmdPreprocessGeneratedCommandsNV" => {
            let Some(i) = v.one("pGeneratedCommandsInfo") else { return };
            let (at, size) = (n64(i, "preprocessOffset"), n64(i, "preprocessSize"));
            w.forget_buffer(n64(i, "preprocessBuffer"), at, size, why(Reason::Generated));
        }
        "vkCmdUpdatePipelineIndirectBufferNV" => w.forget_addressed(why(Reason::Generated)),
        "vkCmdConvertCooperativeVectorMatrixNV" => {
            for i in v.structs("pInfos") {
                let size = i.u64("pDstSize").unwrap_or(REST);
                w.forget_address(address(i, "dstData"), size, why(Reason::Extension));
            }
        }
        "vkCmdCopyTensorARM" | "vkCmdOpticalFlowExecuteNV" => {
            w.bytes.forget_everything(why(Reason::Extension));
        }
        _ => {}
    }
}

/// Bytes that results of so many queries take: no result is larger than 256 bytes (32 statistics of 8).
fn query_bytes(count: u64, stride: u64) -> u64 {
    count.saturating_sub(1).saturating_mul(stride).saturating_add(256.min(stride.max(8)))
}

/// A VkDeviceAddressRange.
fn range(v: View<'_>, name: &str) -> Option<(u64, u64)> {
    v.one(name).map(|r| (n64(r, "address"), n64(r, "size")))
}

/// A VkDeviceOrHostAddress.
fn address(v: View<'_>, name: &str) -> u64 {
    v.one(name).map_or(0, |a| n64(a, "deviceAddress"))
}

fn structures(w: &mut World, name: &str, v: View<'_>, why: Why) {
    let structure = |w: &mut World, id: u64| {
        if let Some(s) = w.structures.get(&id).copied() {
            w.forget_buffer(s.buffer, s.offset, s.size, why);
        }
    };
    if name.ends_with("ToMemoryKHR") {
        // On the host it goes to the host's memory.
        if let Some(i) = v.one("pInfo").filter(|_| name.starts_with("vkCmd")) {
            w.forget_address(address(i, "dst"), REST, why);
        }
    } else if name == "vkCmdBuildPartitionedAccelerationStructuresNV" {
        let Some(i) = v.one("pBuildInfo") else { return };
        w.forget_address(n64(i, "dstAccelerationStructureData"), REST, why);
        w.forget_address(n64(i, "scratchData"), REST, why);
    } else if name.contains("Build") {
        for i in v.structs("pInfos") {
            structure(w, n64(i, "dstAccelerationStructure"));
            if name.starts_with("vkCmd") {
                w.forget_address(address(i, "scratchData"), REST, why);
            }
        }
        if name.ends_with("NV") {
            structure(w, n64(v, "dst"));
            w.forget_buffer(n64(v, "scratch"), n64(v, "scratchOffset"), REST, why);
        }
    } else if name.contains("Copy") {
        let dst = v.one("pInfo").map_or_else(|| n64(v, "dst"), |i| n64(i, "dst"));
        structure(w, dst);
    }
}

fn micromaps(w: &mut World, name: &str, v: View<'_>, why: Why) {
    let forget = |w: &mut World, id: u64| {
        if let Some((buffer, at, size)) = w.micromap(id) {
            w.forget_buffer(buffer, at, size, why);
        }
    };
    if name.contains("Build") {
        for i in v.structs("pInfos") {
            forget(w, n64(i, "dstMicromap"));
            if name.starts_with("vkCmd") {
                w.forget_address(address(i, "scratchData"), REST, why);
            }
        }
    } else if let Some(i) = v.one("pInfo") {
        match name {
            "vkCmdCopyMicromapToMemoryEXT" => w.forget_address(address(i, "dst"), REST, why),
            "vkCopyMicromapToMemoryEXT" => {}
            _ => forget(w, n64(i, "dst")),
        }
    }
}

/// From address to address.
fn copy(w: &mut World, from: u64, to: u64, size: u64, by: Writer, block: u64) {
    match (w.at_address(from), w.at_address(to)) {
        (Some(from), Some(to)) => w.copy_buffer(from, to, size, Cause::new(by, block, to.0)),
        (_, Some(to)) => w.forget_buffer(to.0, to.1, size, Why::new(Reason::NoMemory, block)),
        (_, None) => w.forget_address(to, size, Why::new(Reason::Indirect, block)),
    }
}

/// vkCmdCopyMemoryIndirectKHR: what is copied is in memory.
fn copy_indirect(w: &mut World, v: View<'_>, block: u64) {
    let why = Why::new(Reason::Indirect, block);
    let Some(i) = v.one("pCopyMemoryIndirectInfo") else { return };
    let Some(r) = i.one("copyAddressRange") else { return };
    let (count, stride) = (n64(i, "copyCount"), n64(r, "stride"));
    let Some((buffer, at)) = w.at_address(n64(r, "address")) else { return w.forget_addressed(why) };
    for n in 0..count {
        let mut bytes = Vec::new();
        let size = size_of_struct!("VkCopyMemoryIndirectCommandKHR");
        if !w.read_buffer(buffer, at.saturating_add(n * stride), size.into(), &mut bytes).all() {
            return w.forget_addressed(why);
        }
        let word = |at: u32| u64::from_le_bytes(bytes[at as usize..][..8].try_into().expect("8 bytes"));
        let src = word(member!("VkCopyMemoryIndirectCommandKHR", "srcAddress"));
        let dst = word(member!("VkCopyMemoryIndirectCommandKHR", "dstAddress"));
        let size = word(member!("VkCopyMemoryIndirectCommandKHR", "size"));
        copy(w, src, dst, size, Writer::CopyMemory, block);
    }
}

/// Copies between addresses and an image.
fn memory_image(w: &mut World, v: View<'_>, to_image: bool, block: u64) {
    let Some(i) = v.one("pCopyMemoryInfo") else { return };
    for r in i.structs("pRegions") {
        let part = r.one("imageSubresource").map_or(Subresources::ALL, subresources);
        let Some((address, size)) = range(r, "addressRange") else { continue };
        let Some((buffer, at)) = w.at_address(address) else {
            let why = Why::new(Reason::Indirect, block);
            match to_image {
                true => w.forget_image(n64(i, "image"), &part, why),
                false => w.forget_address(address, size, why),
            }
            continue;
        };
        let c = BufferImageCopies { buffer, image: n64(i, "image"), layout: 0, regions: Box::default() };
        let region = BufferImageRegion {
            offset: at,
            row_length: n32(r, "addressRowLength"),
            image_height: n32(r, "addressImageHeight"),
            part,
            at: r.one("imageOffset").map_or([0; 3], offset),
            extent: extent(r, "imageExtent"),
        };
        match to_image {
            true => w.buffer_to_image(&c, &region, block),
            false => w.image_to_buffer(&c, &region, block),
        }
    }
}

/// Pictures that a video command writes.
fn pictures(w: &mut World, v: View<'_>, why: Why) {
    let setup = v.one("pSetupReferenceSlot").and_then(|s| s.one("pPictureResource"));
    for p in [v.one("dstPictureResource"), setup].into_iter().flatten() {
        w.forget_view(n64(p, "imageViewBinding"), why);
    }
}

impl World {
    /// What an invocation writes beside its shaders: streams of transform feedback, what generating commands leaves.
    pub(super) fn streamed(&mut self, invoke: &Invoke, block: u64) {
        if let Some(inputs) = &invoke.inputs {
            for s in inputs.feedback.iter().flatten() {
                if let Some((buffer, at)) = self.place(s.place) {
                    self.forget_buffer(buffer, at, s.size, Why::new(Reason::Streamed, block));
                }
            }
        }
        if matches!(invoke.sizes, Sizes::Generated { .. }) {
            self.forget_addressed(Why::new(Reason::Generated, block));
        }
        if invoke.command.canonical == "vkCmdDispatchDataGraphARM" {
            self.bytes.forget_everything(Why::new(Reason::Extension, block));
        }
    }
}

impl World {
    /// The buffer and the first byte of a place.
    fn place(&self, p: Place) -> Option<(u64, u64)> {
        match p {
            Place::Buffer { buffer, offset } => Some((buffer, offset)),
            Place::Address(a) => self.at_address(a),
        }
    }
}
