//! Memory: captured memory objects and what they are here.
//!
//! `none` and `remap` pass memory through, the latter with the type index translated. `rebind` gives each resource
//! memory of its own; the captured memory object becomes a shadow that knows which resources lie where in it, so that
//! a fill finds them. Refuses in `rebind`: disjoint planes of linear images (by name).

mod calls;
mod coherent;
mod contents;
mod mapped;
pub(super) mod mode;
mod place;
pub(super) mod pool;
mod rebind;
mod rows;
pub(crate) mod state;
mod zeros;

pub use calls::{allocate, bind, bind2, flush, free, map, shadow_query, subresource_layout, unmap};
pub(crate) use contents::{fill, mapped_at, read, write_resource, write_within};
pub(crate) use mapped::Mapped;
pub(crate) use pool::{Alloc, AllocKind};
pub use pool::{Pool, best_type};
pub(crate) use rows::Rows;
