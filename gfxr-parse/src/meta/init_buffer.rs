//! Types 7 and 39: a buffer's or a tensor's contents at the start of a trimmed capture.
//!
//! Refuses nothing beyond missing bytes.

use crate::container::fields::{Fields, Put};
use crate::container::payload::Payload;
use crate::error::Result;

macro_rules! init {
    ($( #[$doc:meta] )* $name:ident, $field:ident, $handle:literal) => {
        $( #[$doc] )*
        #[derive(Clone, Copy, Debug, PartialEq)]
        pub struct $name<'a> {
            /// VkDevice.
            pub device: u64,
            #[doc = $handle]
            pub $field: u64,
            /// Its contents, from its first byte on.
            pub data: Payload<'a>,
        }

        impl<'a> $name<'a> {
            pub(crate) fn read(f: &mut Fields<'a>) -> Result<Self> {
                let (device, $field) = (f.u64("device")?, f.u64(stringify!($field))?);
                let size = f.u64("data size")?;
                Ok($name { device, $field, data: f.payload(size, concat!(stringify!($field), " contents"))? })
            }
            /// Writes the fields.
            pub fn write(&self, out: &mut Vec<u8>) {
                out.put_u64(self.device);
                out.put_u64(self.$field);
                out.put_u64(self.data.size());
                out.put(self.data.raw());
            }
        }
    };
}

init! {
    /// Type 7.
    InitBuffer, buffer, "VkBuffer."
}

init! {
    /// Type 39.
    InitTensor, tensor, "VkTensorARM."
}
