//! What was read of a frame and may become its shot.
//!
//! Refuses, with what to do about it: buffers whose contents nobody has given a shape.

use super::format::{self, Shape};
use super::read::{Read, Texels};
use super::wish::Shot;

/// How much like a screenshot something copied is; more wins, then later.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub enum Rank {
    /// A buffer that the application has not mapped, or uses for more than copies.
    Buffer,
    /// An image, into memory that the application has not mapped.
    Image,
    /// A buffer for copies alone, in memory that it has mapped.
    MappedBuffer,
    /// An image, into memory that it has mapped.
    MappedImage,
    /// The application said so: presented, named, or given to a frame boundary.
    Said,
}

impl Rank {
    /// The memory has been mapped.
    pub fn mapped(self) -> Rank {
        match self {
            Rank::Buffer => Rank::MappedBuffer,
            Rank::Image => Rank::MappedImage,
            other => other,
        }
    }
}

/// Something read that may become a shot.
pub struct Held {
    /// How good it is.
    pub rank: Rank,
    /// Captured memory it lies in.
    pub memory: Option<u64>,
    /// The frame it belongs to.
    pub frame: u64,
    /// Captured id of the swapchain that showed it.
    pub swapchain: u64,
    /// The contents.
    pub what: Contents,
}

/// An image, or bytes that may be one.
pub enum Contents {
    /// Whose format is known.
    Texels(Texels),
    /// Whose format is not.
    Bytes {
        /// Captured id of the buffer.
        buffer: u64,
        /// What was in it.
        bytes: Vec<u8>,
    },
}

impl Held {
    /// As it is handed over.
    pub fn shot(self, shape: Option<Shape>, several: bool) -> Read<Shot> {
        let t = match self.what {
            Contents::Texels(t) => t,
            Contents::Bytes { buffer, bytes } => shaped(buffer, bytes, shape)?,
        };
        let rgba = format::to_rgba8(t.format, &t.bytes, t.width, t.height, t.row_bytes)?;
        let swapchain = several.then_some(self.swapchain);
        let (width, height) = (t.width, t.height);
        Ok(Shot { frame: self.frame, swapchain, width, height, rgba, stored: t.into() })
    }
}

/// Bytes that hold no image, as the user says they are one.
pub fn shaped(buffer: u64, bytes: Vec<u8>, shape: Option<Shape>) -> Read<Texels> {
    let have = bytes.len();
    let Some(s) = shape else {
        return Err(format!(
            "{have} bytes were copied into VkBuffer {buffer}, and nothing says what image they are; \
             say it with --as WxH:FORMAT, as in --as 640x320:R32_SFLOAT"
        ));
    };
    let need = s.bytes();
    if need > have as u64 {
        let (w, h, f) = (s.width, s.height, format::name(s.format));
        return Err(format!("{w}x{h}:{f} takes {need} bytes, VkBuffer {buffer} holds {have}"));
    }
    let row_bytes = need as usize / s.height as usize;
    Ok(Texels { width: s.width, height: s.height, format: s.format, row_bytes, bytes })
}
