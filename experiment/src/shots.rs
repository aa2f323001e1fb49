//! What frames show: what there is to see, shots as PNG, and their hashes.

use crate::failure::Failure;
use crate::replaying::replay_with_bar;
use gfxr_parse::container::Capture;
use gfxr_parse::schema::command_named;
use profile::hooks::screenshot::{ScreenshotHook, Shot, What, Wish};
use replay::error::{Error, Kind};
use replay::hook::Hook;
use replay::options::Options;
use replay::session::On;
use std::cell::RefCell;
use std::rc::Rc;
use std::sync::mpsc::{SyncSender, sync_channel};

/// What there is to see without a name: what is presented, or where nothing is, what is copied out.
pub fn watched(capture: &Capture) -> What {
    let present = command_named("vkQueuePresentKHR").map(|c| c.id);
    let presents = capture.blocks().any(|b| present.is_some() && b.call_id() == present);
    if presents { What::Presented } else { What::CopiedOut }
}

/// A frame, the swapchain if the frame presented more than one, and what it showed.
pub type Shown = (u64, Option<u64>, blake3::Hash);

/// Replays up to the last of these frames, with changes; what each showed, in their order. Frames that show nothing are not among them.
pub fn shown(
    capture: &Capture,
    options: &Options,
    frames: (u64, u64),
    changes: Vec<Box<dyn Hook>>,
) -> Result<Vec<Shown>, Failure> {
    let found = Rc::new(RefCell::new(vec![]));
    let to = found.clone();
    let take = move |s: Shot| {
        to.borrow_mut().push((s.frame, s.swapchain, hash(&s, true)));
        Ok(())
    };
    let wish = Wish {
        what: watched(capture),
        frames: Some(vec![frames]),
        shape: None,
        watchdog_ns: options.watchdog_ns(),
    };
    let (hook, _) = ScreenshotHook::new(wish, Box::new(take));
    let options = Options { frames: Some(frames), ..options.clone() };
    let mut hooks = changes;
    hooks.push(Box::new(hook));
    replay_with_bar(capture, &options, On::Vulkan, hooks, 0, "replaying")?;
    let found = std::mem::take(&mut *found.borrow_mut());
    Ok(found)
}

/// The way to a writer that runs beside a replay.
#[derive(Debug)]
pub struct ToWriter<T>(SyncSender<Option<T>>);

impl<T> Clone for ToWriter<T> {
    fn clone(&self) -> Self {
        ToWriter(self.0.clone())
    }
}

impl<T> ToWriter<T> {
    /// Hands one over; waits while as many as may wait do. The writer is gone only if it failed, and then says why itself.
    pub fn send(&self, picture: T) -> replay::error::Result<()> {
        let gone = |_| Error::new(Kind::Internal, "a picture cannot be written");
        self.0.send(Some(picture)).map_err(gone)
    }
}

/// Runs something that hands over pictures, while a thread writes them, of which so many may wait: what came of both. A GPU that hangs
/// keeps its hooks, and with them the way to the writer: it ends all the same.
pub fn written_beside<T: Send, R>(
    waiting: usize,
    write: impl FnMut(T) -> Result<(), Failure> + Send,
    run: impl FnOnce(ToWriter<T>) -> R,
) -> (R, Result<(), Failure>) {
    let (to, from) = sync_channel::<Option<T>>(waiting);
    std::thread::scope(|scope| {
        let writer = scope.spawn(move || from.iter().map_while(|picture| picture).try_for_each(write));
        let done = run(ToWriter(to.clone()));
        let _ = to.send(None);
        (done, writer.join().unwrap_or_else(|_| Err(Failure::new("writing pictures failed"))))
    })
}

/// What two runs have in common if they show the same.
pub fn hash(shot: &Shot, alpha: bool) -> blake3::Hash {
    let mut hasher = blake3::Hasher::new();
    hasher.update(&shot.width.to_le_bytes()).update(&shot.height.to_le_bytes());
    if alpha {
        hasher.update(&shot.rgba)
    } else {
        hasher.update(&rgb(shot))
    };
    hasher.finalize()
}

fn rgb(shot: &Shot) -> Vec<u8> {
    shot.rgba.chunks_exact(4).flat_map(|t| &t[..3]).copied().collect()
}

/// As PNG.
pub fn encode(shot: &Shot, alpha: bool) -> Result<Vec<u8>, png::EncodingError> {
    let mut bytes = Vec::new();
    let mut encoder = png::Encoder::new(&mut bytes, shot.width, shot.height);
    encoder.set_color(if alpha { png::ColorType::Rgba } else { png::ColorType::Rgb });
    encoder.set_depth(png::BitDepth::Eight);
    let mut writer = encoder.write_header()?;
    if alpha {
        writer.write_image_data(&shot.rgba)?;
    } else {
        writer.write_image_data(&rgb(shot))?;
    }
    writer.finish()?;
    Ok(bytes)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_writer_ends_where_its_sender_is_kept_and_says_why_it_failed() {
        let mut seen = vec![];
        let (kept, written) = written_beside(
            1,
            |n: u32| {
                let _: () = seen.push(n);
                Ok(())
            },
            |to| to.send(1).map(|()| to),
        );
        assert!(kept.is_ok() && written.is_ok());
        assert_eq!(seen, [1]);
        let fails = |_: u32| Err(Failure::new("full"));
        let (sent, written) = written_beside(0, fails, |to| (0..9).try_for_each(|n| to.send(n)));
        assert!(sent.is_err());
        assert_eq!(written.expect_err("it failed").1, "full");
    }

    #[test]
    fn an_opaque_png_and_one_with_alpha() {
        let (rgba, stored) = (vec![1, 2, 3, 4, 5, 6, 7, 8], Default::default());
        let shot = Shot { frame: 1, swapchain: None, width: 2, height: 1, rgba, stored };
        let decode = |bytes: Vec<u8>| {
            let mut reader = png::Decoder::new(std::io::Cursor::new(bytes)).read_info().expect("a PNG");
            let mut pixels = vec![0; reader.output_buffer_size().expect("it is small")];
            reader.next_frame(&mut pixels).expect("whole");
            pixels
        };
        assert_eq!(decode(encode(&shot, false).expect("encodes")), [1, 2, 3, 5, 6, 7]);
        assert_eq!(decode(encode(&shot, true).expect("encodes")), shot.rgba);
    }
}
