//! What is drawn arrives (see `bits.rs`).

mod bits;
