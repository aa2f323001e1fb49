//! Type 15: the shader group handles a ray-tracing pipeline had in the capture.
//!
//! Stands before the call that creates the pipeline; what the application wrote into its shader binding tables are these
//! bytes. Refuses nothing beyond missing bytes.

use crate::container::fields::{Fields, Put};
use crate::error::Result;

/// Type 15.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct ShaderGroups<'a> {
    /// VkDevice.
    pub device: u64,
    /// VkPipeline.
    pub pipeline: u64,
    /// The handles, back to back, each `shaderGroupHandleSize` bytes of the captured device; never compressed.
    pub handles: &'a [u8],
}

impl<'a> ShaderGroups<'a> {
    pub(crate) fn read(f: &mut Fields<'a>) -> Result<Self> {
        let (device, pipeline) = (f.u64("device")?, f.u64("pipeline")?);
        let size = f.u64("data size")?;
        Ok(ShaderGroups { device, pipeline, handles: f.bytes(size, "shader group handles")? })
    }
    /// Writes the fields.
    pub fn write(&self, out: &mut Vec<u8>) {
        out.put_u64(self.device);
        out.put_u64(self.pipeline);
        out.put_u64(self.handles.len() as u64);
        out.put(self.handles);
    }
}
