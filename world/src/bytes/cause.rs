//! Who wrote bytes, and why bytes are not known: the words that reports print.
//!
//! Guarantees: both are small and are copied freely; the texts are those of `uploads.cause` and of
//! `invocation_blocks.unknown`. Refuses nothing.

/// What put bytes where they are.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash, PartialOrd, Ord)]
pub enum Writer {
    /// The host, through a mapping.
    Mapped,
    /// The contents that a trimmed capture begins with.
    Snapshot,
    /// vkCmdUpdateBuffer.
    UpdateBuffer,
    /// vkCmdFillBuffer.
    FillBuffer,
    /// vkCmdCopyBuffer.
    CopyBuffer,
    /// vkCmdCopyImageToBuffer.
    CopyImageToBuffer,
    /// vkCmdCopyBufferToImage.
    CopyBufferToImage,
    /// vkCmdCopyImage.
    CopyImage,
    /// vkCmdCopyMemoryIndirect.
    CopyMemory,
    /// vkCmdWriteBufferMarkerAMD.
    Marker,
    /// vkCopyMemoryToImage, vkCopyImageToImage.
    HostCopy,
    /// Push constants.
    Push,
    /// Inline uniform blocks.
    Inline,
    /// Read back from a device, where a shader had written.
    ReadBack,
}

impl Writer {
    /// Its word in `uploads.cause`.
    pub fn word(self) -> &'static str {
        match self {
            Writer::Mapped => "mapped",
            Writer::Snapshot => "snapshot",
            Writer::UpdateBuffer => "UpdateBuffer",
            Writer::FillBuffer => "FillBuffer",
            Writer::CopyBuffer => "CopyBuffer",
            Writer::CopyImageToBuffer => "CopyImageToBuffer",
            Writer::CopyBufferToImage => "CopyBufferToImage",
            Writer::CopyImage => "CopyImage",
            Writer::CopyMemory => "CopyMemory",
            Writer::Marker => "WriteBufferMarker",
            Writer::HostCopy => "host copy",
            Writer::Push => "push",
            Writer::Inline => "inline",
            Writer::ReadBack => "read back",
        }
    }
}

/// Who wrote, in which block of the capture, and into what.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Cause {
    /// What wrote.
    pub by: Writer,
    /// The block of the capture: of the call, or of the recorded command.
    pub block: u64,
    /// The buffer that was written, by the capture's id; 0 where it is none, or not one alone.
    pub buffer: u64,
}

impl Cause {
    /// A cause.
    pub fn new(by: Writer, block: u64, buffer: u64) -> Self {
        Cause { by, block, buffer }
    }
}

/// Why bytes are not known.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Hash, PartialOrd, Ord)]
pub enum Reason {
    /// Nobody wrote them.
    #[default]
    NeverWritten,
    /// There is no memory behind the resource (any more), or none that the capture names.
    NoMemory,
    /// A shader may have written them.
    Shader,
    /// A shader may have written them through a pointer.
    Pointer,
    /// They belong to an attachment of a render pass.
    Attachment,
    /// They belong to a resolved image.
    Resolved,
    /// A blit wrote them.
    Blitted,
    /// A clear wrote them.
    Cleared,
    /// An acceleration structure was built there, or copied, or a micromap.
    Structure,
    /// Results of queries.
    Query,
    /// Transform feedback wrote them.
    Streamed,
    /// A video command wrote them.
    Video,
    /// Generated commands, or what was prepared for them.
    Generated,
    /// A copy or decompression whose parameters are in memory that is not known.
    Indirect,
    /// Decompressed by the device.
    Decompressed,
    /// An image whose texels lie in an order of the device's shares this memory.
    Image,
    /// Texels that a buffer of this memory was written over.
    Aliased,
    /// The contents went with a change from the layout UNDEFINED.
    Discarded,
    /// An image of the window system.
    Presented,
    /// Sparse memory that was bound anew.
    Rebound,
    /// The copy goes through a format, or a kind of image, whose texels this build does not lay out.
    Format,
    /// A command of an extension that this build does not look into.
    Extension,
    /// Another process or API may have written them.
    External,
}

impl Reason {
    /// The words of reports.
    pub fn words(self) -> &'static str {
        match self {
            Reason::NeverWritten => "never written",
            Reason::NoMemory => "no memory is bound",
            Reason::Shader => "written by a shader",
            Reason::Pointer => "perhaps written by a shader through a pointer",
            Reason::Attachment => "written as an attachment",
            Reason::Resolved => "written by a resolve",
            Reason::Blitted => "written by a blit",
            Reason::Cleared => "written by a clear",
            Reason::Structure => "written by an acceleration-structure command",
            Reason::Query => "written by queries",
            Reason::Streamed => "written by transform feedback",
            Reason::Video => "written by a video command",
            Reason::Generated => "written for generated commands",
            Reason::Indirect => "written by a command whose parameters are not known",
            Reason::Decompressed => "decompressed by the device",
            Reason::Image => "overwritten by an image in the same memory",
            Reason::Aliased => "overwritten by a buffer in the same memory",
            Reason::Discarded => "discarded with a layout",
            Reason::Presented => "belongs to the window system",
            Reason::Rebound => "bound anew",
            Reason::Format => "copied through a format that is not followed",
            Reason::Extension => "written by a command that is not followed",
            Reason::External => "perhaps written from outside",
        }
    }
}

/// Why, and since which block of the capture.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Why {
    /// Why.
    pub reason: Reason,
    /// The block of the call or of the recorded command; 0 where it is none.
    pub block: u32,
}

impl Why {
    /// A reason with its place.
    pub fn new(reason: Reason, block: u64) -> Self {
        Why { reason, block: block.min(u32::MAX.into()) as u32 }
    }
}
