//! Linking: a decoded call's symbols become addresses, in a copy of its image.
//!
//! Guarantees: after [`Linked::link`] every pointer slot holds null or an address inside memory this object owns, every
//! handle slot a live handle or null, every slot that held a pointer of the captured process null. Refuses: handles
//! that name nothing (unless the application may leave rubbish there), arrays shorter than their counts, virtual
//! objects in calls that go to the driver.

mod plain;
mod typed;

pub use plain::Plain;

use crate::error::{Error, Kind, Result};
use crate::objects::Objects;
use gfxr_parse::image::Image;
use gfxr_parse::schema::generated::{HANDLES, STRUCTS};
use gfxr_parse::schema::{CommandDef, Ty};
use gfxr_parse::valid::{self, Level};

/// Most memory set aside for results whose contents the capture left out.
const MAX_SPARE: u64 = 256 << 20;

/// A call ready for the driver. Reused from call to call.
#[derive(Default)]
pub struct Linked {
    words: Vec<u64>,
    spare: Vec<Vec<u64>>,
}

/// What linking may leave to a handler that knows better.
#[derive(Clone, Copy, Default)]
pub struct Lenience {
    /// Unknown and virtual handles become null instead of an error.
    pub handles: bool,
    /// The only type whose unknown handles become null: pipelines are the same without a cache.
    pub hint: Option<u16>,
}

impl Linked {
    /// Links `image` against `objects`. `map_address` turns a captured device address into a live one.
    pub fn link(
        &mut self,
        image: &Image,
        objects: &Objects,
        lenience: Lenience,
        map_address: impl Fn(u64) -> u64,
    ) -> Result<()> {
        valid::check_again(image, Level::Memory).map_err(invalid)?;
        self.words.clear();
        self.words.extend_from_slice(image.words());
        if !self.spare.is_empty() {
            self.spare.clear();
        }
        let base = self.words.as_ptr() as u64;
        for p in &image.ptrs {
            if p.inline || p.is_null() {
                continue; // a null pointer's slot is 0 already
            }
            let slot = p.at as usize / 8;
            self.words[slot] = if p.to != 0 {
                base + u64::from(p.to)
            } else if p.out_size != 0 && p.len != 0 {
                let bytes = p.len.saturating_mul(u64::from(p.out_size));
                if bytes > MAX_SPARE {
                    return Err(Error::new(
                        Kind::Capture,
                        format!("a result of {bytes} bytes is larger than the limit"),
                    ));
                }
                self.spare.push(vec![0; bytes.div_ceil(8) as usize]);
                self.spare.last().expect("just pushed").as_ptr() as u64
            } else {
                0
            };
        }
        let mut owner = 0;
        for h in &image.handles {
            if h.out {
                continue;
            }
            let slot = h.at as usize / 8;
            let id = self.words[slot];
            self.words[slot] = match objects.get(id, h.ty) {
                // The first is the one that the call is made on.
                Some(e) if !e.virt && (owner == 0 || e.owner == owner || e.owner == 0) => {
                    owner = owner.max(e.owner);
                    e.live
                }
                _ if h.lenient || lenience.handles || lenience.hint == Some(h.ty) => 0,
                Some(e) if !e.virt => return Err(foreign_handle(id, h.ty, e.owner, owner)),
                found => return Err(unknown_handle(id, h.ty, found.is_some())),
            };
        }
        for &at in &image.addresses {
            let slot = at as usize / 8;
            self.words[slot] = map_address(self.words[slot]);
        }
        for &at in &image.opaque {
            self.words[at as usize / 8] = 0;
        }
        Ok(())
    }

    /// Gives structs whose contents the capture left out (the call failed then) the sType that the driver reads. To be
    /// called after [`Linked::link`], with the same call.
    pub fn stamp(&mut self, command: &CommandDef, image: &Image) {
        if self.spare.is_empty() {
            return;
        }
        let mut spare = self.spare.iter_mut();
        // `spare` holds one piece for each of these, in this order.
        let missing = image
            .ptrs
            .iter()
            .filter(|p| !p.inline && p.to == 0 && p.out_size != 0 && p.len != 0 && !p.is_null());
        for (p, piece) in missing.zip(&mut spare) {
            let param = command.params.iter().find(|m| m.at == p.at);
            let Some(Ty::Struct(id)) = param.map(|m| m.ty) else { continue };
            if let Some(stype) = STRUCTS[id as usize].stype {
                piece.iter_mut().step_by(p.out_size as usize / 8).for_each(|w| *w = u64::from(stype));
            }
        }
    }

    /// The argument slots (and everything behind them).
    pub fn words(&self) -> &[u64] {
        &self.words
    }
    /// The argument in slot `i`.
    pub fn arg(&self, i: usize) -> u64 {
        self.words[i]
    }
    /// Replaces the argument in slot `i`.
    pub fn set_arg(&mut self, i: usize, v: u64) {
        self.words[i] = v;
    }
    /// The argument in slot `i` as a pointer to `T`, for handlers that know the parameter's type.
    pub fn ptr<T>(&mut self, i: usize) -> *mut T {
        self.words[i] as *mut T
    }
    /// The 8 bytes at image offset `at`, as the driver left them.
    pub fn word_at(&self, at: u32) -> u64 {
        self.words[at as usize / 8]
    }
    /// Replaces the 8 bytes at image offset `at`.
    pub fn set_word_at(&mut self, at: u32, v: u64) {
        self.words[at as usize / 8] = v;
    }
    /// The 4 bytes at image offset `at`.
    pub fn u32_at(&self, at: u32) -> u32 {
        (self.words[at as usize / 8] >> (at % 8 * 8)) as u32
    }
    /// Replaces the 4 bytes at image offset `at`.
    pub fn set_u32_at(&mut self, at: u32, v: u32) {
        let shift = at % 8 * 8;
        let w = &mut self.words[at as usize / 8];
        *w = *w & !(0xFFFF_FFFF << shift) | u64::from(v) << shift;
    }
    /// `len` bytes from image offset `at` on, as the driver left them.
    pub fn bytes_at(&self, at: u32, len: usize) -> Vec<u8> {
        let bytes = (at as usize..).take(len);
        bytes.map(|at| (self.words[at / 8] >> (at % 8 * 8)) as u8).collect()
    }
    /// Replaces the bytes from image offset `at` on.
    pub fn set_bytes_at(&mut self, at: u32, bytes: &[u8]) {
        for (at, b) in (at as usize..).zip(bytes) {
            let shift = at % 8 * 8;
            let w = &mut self.words[at / 8];
            *w = *w & !(0xFF << shift) | u64::from(*b) << shift;
        }
    }
    /// The live address of image offset `at`.
    pub fn address_of(&self, at: u32) -> u64 {
        self.words.as_ptr() as u64 + u64::from(at)
    }
}

/// A call that is not made, as the driver would read what is not there.
#[cold]
pub fn invalid(e: gfxr_parse::error::Error) -> Error {
    Error::divergence(format!("{e}: the call is not valid, and is not made"))
}

#[cold]
fn unknown_handle(id: u64, ty: u16, virt: bool) -> Error {
    let name = HANDLES[ty as usize].name;
    if virt {
        Error::new(
            Kind::Unsupported,
            format!("{name} {id} exists only in the replayer, and this command has no handler for it"),
        )
    } else {
        Error::divergence(format!("{name} {id} was never created, or is already destroyed"))
    }
}

#[cold]
fn foreign_handle(id: u64, ty: u16, owner: u64, caller: u64) -> Error {
    let name = HANDLES[ty as usize].name;
    Error::divergence(format!("{name} {id} belongs to device {owner}, the call is made on device {caller}"))
}

#[cfg(test)]
mod tests {
    use super::*;
    use gfxr_parse::decode::decode_call;
    use gfxr_parse::image::attrib;
    use gfxr_parse::schema::command_named;

    #[test]
    fn a_handle_of_another_device_is_refused() {
        use gfxr_parse::schema::handle_named;
        let c = command_named("vkDestroyBuffer").expect("core");
        // device, buffer, no allocator.
        let mut bytes = Vec::new();
        bytes.extend(1u64.to_le_bytes());
        bytes.extend(2u64.to_le_bytes());
        bytes.extend((attrib::NULL | attrib::SINGLE | attrib::STRUCT).to_le_bytes());
        let mut image = Image::default();
        decode_call(c, &bytes, &mut image).expect("as the layer writes it");
        let mut objects = Objects::default();
        for (id, name) in [(1, "VkDevice"), (2, "VkBuffer")] {
            objects.insert(id, id + 0x10, handle_named(name).expect("core"));
        }
        let link = |objects: &Objects| {
            Linked::default().link(&image, objects, Lenience::default(), |a| a).map_err(|e| e.to_string())
        };
        objects.belongs_to(1, 1);
        assert_eq!(link(&objects), Ok(()), "whose the buffer is is not known");
        objects.belongs_to(2, 1);
        assert_eq!(link(&objects), Ok(()));
        objects.belongs_to(2, 3);
        let text = "VkBuffer 2 belongs to device 3, the call is made on device 1";
        assert_eq!(link(&objects), Err(text.to_owned()));
    }

    #[test]
    fn results_that_the_capture_left_out_have_their_type() {
        let c = command_named("vkGetPhysicalDeviceFormatProperties2").expect("core");
        let mut bytes = vec![0u8; 12];
        bytes.extend((attrib::SINGLE | attrib::STRUCT | attrib::ADDRESS).to_le_bytes());
        bytes.extend(0x7000u64.to_le_bytes());
        let mut image = Image::default();
        decode_call(c, &bytes, &mut image).expect("as the layer writes what it has no answer to");
        let mut linked = Linked::default();
        linked.link(&image, &Objects::default(), Lenience::default(), |a| a).expect("nothing unknown");
        linked.stamp(c, &image);
        let first: *const u64 = linked.ptr(2);
        assert!(!first.is_null());
        assert_eq!(linked.spare[0], [1_000_059_002, 0, 0, 0]);
    }
}
