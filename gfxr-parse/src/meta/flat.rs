//! A macro for metadata types that are just fields of fixed size, one after the other.
//!
//! Guarantees: the order in the struct is the order in the file; reading and writing cannot differ. Refuses fields that
//! are not `u32` or `u64`.

/// Declares a struct whose fields lie in the file in this order, with `read` and `write`.
macro_rules! flat {
    (
        $( #[$doc:meta] )*
        pub struct $name:ident { $( $( #[$fdoc:meta] )* pub $field:ident: $ty:ident, )* }
    ) => {
        $( #[$doc] )*
        #[derive(Clone, Copy, Debug, PartialEq, Eq, Default)]
        pub struct $name { $( $( #[$fdoc] )* pub $field: $ty, )* }

        impl $name {
            pub(crate) fn read(f: &mut $crate::container::Fields) -> $crate::error::Result<Self> {
                Ok($name { $( $field: f.$ty(stringify!($field))?, )* })
            }
            /// Writes the fields.
            pub fn write(&self, out: &mut Vec<u8>) {
                $( out.extend_from_slice(&self.$field.to_le_bytes()); )*
            }
        }
    };
}
