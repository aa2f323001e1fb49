//! Types 9, 24, 35 and 10: an Android hardware buffer comes and goes.
//!
//! ```text
//! 9    memory | buffer | format | width | height | stride | u32 usage | layers | n | n x plane
//! 24   the same with u64 usage
//! 35   u64 device in front of that
//! ```
//!
//! Guarantees: all three forms are one struct that remembers which it was. Refuses nothing beyond missing bytes; nothing
//! here is replayed, callers warn.

use crate::container::fields::{Fields, Put};
use crate::error::Result;
use crate::meta::id;

/// How a create block was written; the older two are found in old files only.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum HardwareBufferForm {
    /// Type 9: usage cut to 32 bits, no device.
    Usage32,
    /// Type 24: no device.
    NoDevice,
    /// Type 35.
    Full,
}

impl HardwareBufferForm {
    pub(crate) fn of(ty: u16) -> Option<Self> {
        match ty {
            id::CREATE_HARDWARE_BUFFER_1 => Some(Self::Usage32),
            id::CREATE_HARDWARE_BUFFER_2 => Some(Self::NoDevice),
            id::CREATE_HARDWARE_BUFFER_3 => Some(Self::Full),
            _ => None,
        }
    }
    /// Its metadata type.
    pub fn id(self) -> u16 {
        match self {
            Self::Usage32 => id::CREATE_HARDWARE_BUFFER_1,
            Self::NoDevice => id::CREATE_HARDWARE_BUFFER_2,
            Self::Full => id::CREATE_HARDWARE_BUFFER_3,
        }
    }
}

flat! {
    /// One plane of a multi-planar buffer.
    pub struct Plane {
        /// From the start of the memory, in bytes.
        pub offset: u64,
        /// Between pixels, in bytes.
        pub pixel_stride: u32,
        /// Between rows, in bytes.
        pub row_pitch: u32,
    }
}

/// Bytes of one [`Plane`] in the file.
const PLANE_BYTES: u64 = 16;

/// Types 9, 24 and 35.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct CreateHardwareBuffer {
    /// Which of the three it is.
    pub form: HardwareBufferForm,
    /// VkDevice; 0 in the older forms.
    pub device: u64,
    /// The id under which fill-memory blocks write to it.
    pub memory: u64,
    /// Its address in the captured process: what names it.
    pub buffer: u64,
    /// AHARDWAREBUFFER_FORMAT.
    pub format: u32,
    /// In pixels.
    pub width: u32,
    /// In pixels.
    pub height: u32,
    /// Between rows, in pixels.
    pub stride: u32,
    /// AHARDWAREBUFFER_USAGE bits.
    pub usage: u64,
    /// Array layers.
    pub layers: u32,
    /// Its planes; none if they were not known.
    pub planes: Vec<Plane>,
}

impl CreateHardwareBuffer {
    pub(crate) fn read(form: HardwareBufferForm, f: &mut Fields) -> Result<Self> {
        let device = if form == HardwareBufferForm::Full { f.u64("device")? } else { 0 };
        let (memory, buffer) = (f.u64("memory")?, f.u64("buffer")?);
        let (format, width, height) = (f.u32("format")?, f.u32("width")?, f.u32("height")?);
        let stride = f.u32("stride")?;
        let usage = match form {
            HardwareBufferForm::Usage32 => f.u32("usage")?.into(),
            _ => f.u64("usage")?,
        };
        let (layers, n) = (f.u32("layers")?, f.u32("plane count")?);
        let planes = f.records(n, PLANE_BYTES, "planes", Plane::read)?;
        Ok(Self { form, device, memory, buffer, format, width, height, stride, usage, layers, planes })
    }
    /// Writes the fields.
    pub fn write(&self, out: &mut Vec<u8>) {
        if self.form == HardwareBufferForm::Full {
            out.put_u64(self.device);
        }
        out.put_u64(self.memory);
        out.put_u64(self.buffer);
        out.put_u32s(&[self.format, self.width, self.height, self.stride]);
        match self.form {
            HardwareBufferForm::Usage32 => out.put_u32(self.usage as u32),
            _ => out.put_u64(self.usage),
        }
        out.put_u32(self.layers);
        out.put_u32(self.planes.len() as u32);
        self.planes.iter().for_each(|p| p.write(out));
    }
}

flat! {
    /// Type 10.
    pub struct DestroyHardwareBuffer {
        /// Its address in the captured process.
        pub buffer: u64,
    }
}
