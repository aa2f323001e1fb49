//! Calls that repeat: what the same bytes were decoded to before.
//!
//! Frame by frame an application waits for the same fences and binds the same pipelines: of the calls of recorded
//! programs, a third (taichi), half (pygfx, a game) or three quarters (vkd3d-gears, vkcube) have parameters that came
//! before, byte for byte, a short while ago. Copying an image costs an eighth of decompressing and decoding the bytes.
//!
//! A table of a fixed number of places. A call that falls on a place for the second time in a row is kept there, so that
//! calls that never come again push nothing out. Guarantees: an image is given only for the same command and the same
//! bytes, stored the same way (decoding depends on nothing else); memory is bounded by the constants below.

use crate::container::FunctionCall;
use crate::image::Image;

/// Places in the table, a power of two.
const PLACES: usize = 1024;
/// Largest parameters that are kept, as they lie in the file.
const MOST_BYTES: usize = 512;
/// Largest image that is kept.
const MOST_IMAGE_BYTES: usize = 4096;

/// See the module's header.
pub struct Repeats(Vec<Place>);

#[derive(Clone, Default)]
struct Place {
    /// The hash of the call that was last decoded here.
    last: u64,
    /// The call that is kept: command, size once decompressed (none if it is not compressed), bytes, image.
    call_id: u32,
    size: Option<u64>,
    raw: Vec<u8>,
    image: Image,
}

impl Default for Repeats {
    fn default() -> Self {
        Repeats(vec![Place::default(); PLACES])
    }
}

impl Repeats {
    /// The image of this call's parameters: a copy of an earlier one's, or what `decode` makes of them.
    #[inline]
    pub fn image<E>(
        &mut self,
        call: &FunctionCall<'_>,
        image: &mut Image,
        decode: impl FnOnce(&mut Image) -> Result<(), E>,
    ) -> Result<(), E> {
        let raw = call.payload.raw();
        if raw.len() > MOST_BYTES {
            return decode(image);
        }
        let hash = hash(call.call_id, raw);
        let size = call.payload.is_compressed().then(|| call.payload.size());
        let place = &mut self.0[(hash >> (u64::BITS - PLACES.ilog2())) as usize];
        if place.call_id == call.call_id && place.size == size && place.raw == raw && !place.image.is_empty()
        {
            image.copy_from(&place.image);
            return Ok(());
        }
        decode(image)?;
        if place.last == hash && image.len() <= MOST_IMAGE_BYTES {
            (place.call_id, place.size) = (call.call_id, size);
            place.raw.clear();
            place.raw.extend_from_slice(raw);
            place.image.copy_from(image);
        }
        place.last = hash;
        Ok(())
    }
}

/// Eight bytes at a time; two calls with the same hash only share a place.
#[inline]
fn hash(call_id: u32, raw: &[u8]) -> u64 {
    let mix = |h: u64, word: u64| (h.rotate_left(5) ^ word).wrapping_mul(0x9E37_79B9_7F4A_7C15);
    let start = mix(u64::from(call_id), raw.len() as u64);
    let (words, rest) = raw.as_chunks::<8>();
    let h = words.iter().fold(start, |h, word| mix(h, u64::from_le_bytes(*word)));
    // The last eight bytes once more, some of which no word held.
    match (rest, raw.last_chunk::<8>()) {
        ([], _) => h,
        (_, Some(word)) => mix(h, u64::from_le_bytes(*word)),
        (rest, None) => rest.iter().fold(h, |h, &byte| mix(h, u64::from(byte))),
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::container::{Compression, Payload};

    /// Runs a call and says whether it was decoded; what is "decoded" is its first byte.
    fn decoded(repeats: &mut Repeats, id: u32, payload: Payload<'_>) -> bool {
        let call = FunctionCall { call_id: id, thread: 0, payload };
        let (mut image, mut ran) = (Image::default(), false);
        let made = repeats.image(&call, &mut image, |image| {
            ran = true;
            let at = image.alloc(8);
            image.edit_u64(at, u64::from(payload.raw()[0]));
            Ok::<(), ()>(())
        });
        assert_eq!((made, image.u64(0)), (Ok(()), u64::from(payload.raw()[0])));
        ran
    }

    #[test]
    fn the_third_of_the_same_is_not_decoded() {
        let mut r = Repeats::default();
        let bytes = [7, 1, 2, 3, 4, 5, 6, 7, 8, 9, 10];
        let times: Vec<bool> = (0..4).map(|_| decoded(&mut r, 5, Payload::plain(&bytes))).collect();
        assert_eq!(times, [true, true, false, false]);
        // Another command, other bytes, other lengths, and the same bytes stored otherwise.
        assert!(decoded(&mut r, 6, Payload::plain(&bytes)));
        assert!(decoded(&mut r, 5, Payload::plain(&bytes[..10])));
        let mut other = bytes;
        other[10] = 11;
        assert!(decoded(&mut r, 5, Payload::plain(&other)));
        for size in [20, 21] {
            let compressed = Payload::compressed(&bytes, Compression::Lz4, size, 0, 0);
            assert!(decoded(&mut r, 5, compressed), "{size}");
        }
    }

    #[test]
    fn what_fails_or_is_large_is_not_kept() {
        let mut r = Repeats::default();
        let bytes = vec![3; MOST_BYTES + 1];
        for _ in 0..4 {
            assert!(decoded(&mut r, 1, Payload::plain(&bytes)));
            let small = FunctionCall { call_id: 2, thread: 0, payload: Payload::plain(&bytes[..9]) };
            assert_eq!(r.image(&small, &mut Image::default(), |_| Err("no")), Err("no"));
            let mut image = Image::default();
            let mut ran = false;
            let large = FunctionCall { call_id: 3, ..small };
            let made = r.image(&large, &mut image, |image| {
                ran = true;
                image.alloc(MOST_IMAGE_BYTES + 8);
                Ok::<(), ()>(())
            });
            assert!(ran && made.is_ok());
        }
    }
}
