//! Reading a decoded call by the names of its parameters and members.
//!
//! For code that looks at a few calls; what runs for every call walks (`crate::walk`) or uses constant offsets
//! ([`crate::member!`], [`crate::param!`]). Guarantees: a name the struct does not have, a null pointer and data the
//! capture left out all read as `None` (or nothing to iterate over). Refuses nothing.

use crate::image::Image;
use crate::schema::generated::STRUCTS;
use crate::schema::{Member, Shape, Ty, struct_by_stype};
use std::borrow::Cow;

/// A call's parameters, or a struct somewhere in its image.
#[derive(Clone, Copy)]
pub struct View<'i> {
    image: &'i Image,
    members: &'static [Member],
    at: u32,
    /// The struct's name, or the command's.
    pub name: &'static str,
}

impl<'i> View<'i> {
    /// The parameters of the call in `image`.
    pub fn call(image: &'i Image) -> Self {
        let (members, name) = image.command.map_or((&[][..], ""), |c| (c.params, c.name));
        View { image, members, at: 0, name }
    }

    /// The struct of type `id` at an offset.
    pub(crate) fn of(image: &'i Image, id: u16, at: u32) -> Self {
        let def = &STRUCTS[id as usize];
        View { image, members: def.members, at, name: def.name }
    }

    /// The definition of a member, and where it lies in the image.
    pub fn definition(&self, name: &str) -> Option<(&'static Member, u32)> {
        self.members.iter().find(|m| m.name == name).map(|m| (m, self.at + m.at))
    }

    /// Where a member's elements lie, and how many there are.
    fn elements(&self, name: &str) -> Option<(&'static Member, u32, u64)> {
        let (m, at) = self.definition(name)?;
        match m.shape {
            Shape::Value => Some((m, at, 1)),
            Shape::Fixed(_) | Shape::Fixed2(..) | Shape::FixedStr(_) => {
                let p = self.image.ptrs.iter().find(|p| p.inline && p.at == at && p.has_data())?;
                Some((m, at, p.len))
            }
            _ => self.image.ptr(at).filter(|p| p.has_data()).map(|p| (m, p.to, p.len)),
        }
    }

    /// A number, an enum, a handle: by value or behind a pointer; of an array the first.
    pub fn u64(&self, name: &str) -> Option<u64> {
        let (m, at, n) = self.elements(name)?;
        (n > 0).then(|| self.scalar(m.ty, at))
    }
    /// The same, cut to 32 bits.
    pub fn u32(&self, name: &str) -> Option<u32> {
        self.u64(name).map(|v| v as u32)
    }
    /// All elements of an array of numbers or handles.
    pub fn u64s(&self, name: &str) -> Vec<u64> {
        let Some((m, at, n)) = self.elements(name) else { return Vec::new() };
        let size = m.ty.c_layout().0 as u32;
        (0..n as u32).map(|i| self.scalar(m.ty, at + i * size)).collect()
    }

    fn scalar(&self, ty: Ty, at: u32) -> u64 {
        match ty.c_layout().0 {
            1 => self.image.u8(at).into(),
            2 => self.image.u16(at).into(),
            4 => self.image.u32(at).into(),
            _ => self.image.u64(at),
        }
    }

    /// The image it reads.
    pub fn image(&self) -> &'i Image {
        self.image
    }

    /// Where an array's first element lies in the image, and how many elements are there.
    pub fn array(&self, name: &str) -> Option<(u32, u64)> {
        self.elements(name).map(|(_, at, n)| (at, n))
    }

    /// The bytes of an array of numbers.
    pub fn bytes(&self, name: &str) -> Option<&'i [u8]> {
        let (m, at, n) = self.elements(name)?;
        let size = n as usize * m.ty.c_layout().0;
        self.image.bytes().get(at as usize..at as usize + size)
    }

    /// The bytes that a pointer leads to whose kind the capture says by itself (the host's memory of image copies).
    pub fn pointed(&self, name: &str) -> Option<&'i [u8]> {
        let (_, at) = self.definition(name)?;
        let p = self.image.ptr(at).filter(|p| p.has_data() && p.at == at)?;
        self.image.bytes().get(p.to as usize..p.to as usize + p.len as usize)
    }

    /// A text; what is not UTF-8 is replaced.
    pub fn text(&self, name: &str) -> Option<Cow<'i, str>> {
        let (_, at, n) = self.elements(name)?;
        self.image.bytes().get(at as usize..at as usize + n as usize).map(String::from_utf8_lossy)
    }

    /// An array of texts.
    pub fn texts(&self, name: &str) -> Vec<Cow<'i, str>> {
        let Some((_, at, n)) = self.elements(name) else { return Vec::new() };
        let one = |slot: u32| {
            let p = self.image.ptr(slot).filter(|p| p.has_data())?;
            let range = p.to as usize..p.to as usize + p.len as usize;
            self.image.bytes().get(range).map(String::from_utf8_lossy)
        };
        (0..n as u32).filter_map(|i| one(at + i * 8)).collect()
    }

    /// The structs of an array, behind a pointer, or the one that is embedded.
    pub fn structs(&self, name: &str) -> impl Iterator<Item = View<'i>> + use<'i> {
        let image = self.image;
        let found = self.elements(name).and_then(|(m, at, n)| match m.ty {
            Ty::Struct(id) => Some((id, at, n)),
            _ => None,
        });
        let (id, at, n) = found.unwrap_or((0, 0, 0));
        let size = STRUCTS[id as usize].size;
        (0..n as u32).map(move |i| View::of(image, id, at + i * size))
    }
    /// The first of them.
    pub fn one(&self, name: &str) -> Option<View<'i>> {
        self.structs(name).next()
    }

    /// The structs of the pNext chain.
    pub fn chain(&self) -> impl Iterator<Item = View<'i>> + use<'i> {
        let image = self.image;
        let mut slot = self.definition("pNext").map(|(_, at)| at);
        std::iter::from_fn(move || {
            let to = image.target(slot?)?;
            let id = struct_by_stype(image.u32(to))?;
            slot = Some(to + 8); // sType is padded to 8, then pNext
            Some(View::of(image, id, to))
        })
    }
    /// The struct of this name in the pNext chain.
    pub fn next(&self, name: &str) -> Option<View<'i>> {
        self.chain().find(|v| v.name == name)
    }
}

impl std::fmt::Debug for View<'_> {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        write!(f, "View({} at {})", self.name, self.at)
    }
}
