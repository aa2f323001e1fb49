//! Types 28, 29 and 30: how a trimmed capture makes its acceleration structures again. No thread in front.
//!
//! What follows the device in 28 and 29 is encoded as the parameters of a call are:
//!
//! ```text
//! 28   array of VkAccelerationStructureBuildGeometryInfoKHR | array of arrays of VkAccelerationStructureBuildRangeInfoKHR
//! 29   array of VkCopyAccelerationStructureInfoKHR
//! ```
//!
//! Guarantees: those bytes are kept as they are, for the decoder of parameters. Refuses nothing beyond missing bytes.

use crate::container::fields::{Fields, Put};
use crate::error::Result;

macro_rules! encoded {
    ($( #[$doc:meta] )* $name:ident) => {
        $( #[$doc] )*
        #[derive(Clone, Copy, Debug, PartialEq, Eq)]
        pub struct $name<'a> {
            /// VkDevice.
            pub device: u64,
            /// The structs, in parameter encoding.
            pub encoded: &'a [u8],
            /// File offset of `encoded`, for errors about it (0 for new data).
            pub offset: u64,
        }

        impl<'a> $name<'a> {
            pub(crate) fn read(f: &mut Fields<'a>) -> Result<Self> {
                let device = f.u64("device")?;
                let offset = f.offset();
                Ok($name { device, encoded: f.rest(), offset })
            }
            /// Writes the fields.
            pub fn write(&self, out: &mut Vec<u8>) {
                out.put_u64(self.device);
                out.put(self.encoded);
            }
        }
    };
}

encoded! {
    /// Type 28: build them.
    BuildAcceleration
}

encoded! {
    /// Type 29: copy (or compact) them.
    CopyAcceleration
}

flat! {
    /// Type 30: ask for a property of one, as the application had done.
    pub struct WriteAcceleration {
        /// VkDevice.
        pub device: u64,
        /// VkQueryType.
        pub query_type: u32,
        /// VkAccelerationStructureKHR.
        pub acceleration_structure: u64,
    }
}
