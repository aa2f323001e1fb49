//! What happens to memory: the effect of every call, metadata block and executed command on [`Bytes`](super::bytes::Bytes).
//!
//! Calls and blocks take effect when they happen ([`call`], [`meta`]), commands when they are executed ([`command`]), what
//! shaders write behind each invocation ([`World::wrote`]). Guarantees: bytes that something may have written of which the
//! capture does not hold the value are known no longer; nothing that the capture's data does not give is ever known. Where
//! it is not known how much is written, all of what could be is. Images of optimal tiling have texels of their own, so that
//! what goes into an image by a copy comes out of it by another; in the memory behind them nothing is known. Refuses
//! nothing: what names objects that do not exist has no effect.

mod calls;
mod images;
mod other;
mod places;
pub(super) mod shaders;
#[cfg(test)]
mod tests;

pub use calls::{Binds, call, meta};
pub use other::{FOLLOWED, NOTHING};
pub use shaders::Written;

use super::bytes::{Cause, Reason, Why, Writer};
use super::commands::{Command, ImageCopyKind, Pass, Use};
use super::observe::At;
use super::world::World;

/// An executed command, but for draws, dispatches and traces: their shaders' writes are [`World::wrote`].
pub fn command(w: &mut World, at: &At, command: &Command) {
    let block = at.block;
    match command {
        Command::Invoke(i) => w.streamed(i, block),
        Command::BeginPass(p) => pass(w, p, block),
        Command::Barrier(b) => discards(w, std::slice::from_ref(&**b), block),
        Command::WaitEvents { barriers, .. } => discards(w, barriers, block),
        Command::CopyBuffer(c) => {
            let cause = Cause::new(Writer::CopyBuffer, block, c.dst);
            for &(from, to, size) in &c.regions {
                w.copy_buffer((c.src, from), (c.dst, to), size, cause);
            }
        }
        Command::CopyBufferToImage(c) => {
            c.regions.iter().for_each(|r| w.buffer_to_image(c, r, block));
        }
        Command::CopyImageToBuffer(c) => {
            c.regions.iter().for_each(|r| w.image_to_buffer(c, r, block));
        }
        Command::CopyImage(c) => {
            for r in &c.regions {
                match c.kind {
                    ImageCopyKind::Copy => w.image_to_image(c.src, c.dst, r, Writer::CopyImage, block),
                    kind => {
                        let blit = kind == ImageCopyKind::Blit;
                        let reason = if blit { Reason::Blitted } else { Reason::Resolved };
                        w.forget_image(c.dst, &r.dst, Why::new(reason, block));
                    }
                }
            }
        }
        Command::UpdateBuffer { buffer, offset, data } => {
            w.write_buffer(*buffer, *offset, data, Cause::new(Writer::UpdateBuffer, block, *buffer));
        }
        Command::FillBuffer { buffer, offset, size, word } => {
            let cause = Cause::new(Writer::FillBuffer, block, *buffer);
            // All that is left: whole words of it.
            let size = if *size == u64::MAX { w.range_of(*buffer, *offset, *size) & !3 } else { *size };
            w.fill_buffer(*buffer, *offset, size, *word, cause);
        }
        Command::ClearImage { image, ranges, .. } => {
            ranges.iter().for_each(|r| w.forget_image(*image, r, Why::new(Reason::Cleared, block)));
        }
        Command::Other(image) => other::other(w, image, block),
        Command::NextSubpass
        | Command::EndPass
        | Command::SetEvent { .. }
        | Command::ResetEvent { .. }
        | Command::Execute(_)
        | Command::Label { .. } => {}
    }
}

/// Attachments are loaded, cleared, drawn to, resolved: nothing of them is known from the pass's beginning on.
fn pass(w: &mut World, p: &Pass, block: u64) {
    for a in p.attachments.iter().filter(|a| a.what != Use::Rate) {
        for view in [a.view, a.resolve_view] {
            w.forget_view(view, Why::new(Reason::Attachment, block));
        }
    }
}

/// From the layout UNDEFINED texels need not survive.
fn discards(w: &mut World, barriers: &[super::commands::Barrier], block: u64) {
    for b in barriers.iter().flat_map(|b| &b.images) {
        if b.old_layout == 0 && b.new_layout != 0 {
            w.forget_image(b.image, &b.range, Why::new(Reason::Discarded, block));
        }
    }
}
