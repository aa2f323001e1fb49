//! A call as parameter bytes, and where its structs, pointers and elements lie in them and in print.
//!
//! Guarantees: the bytes are those of `encode_call`; a part's path is the JSON pointer of what its pointer leads to, as `print` writes the call, but in
//! unions that print names and the walk does not (`VkDescriptorDataEXT`) and in data of update templates. Refuses nothing.

use crate::encode::Encoder;
use crate::image::{Image, Ptr};
use crate::print::rules::names_its_union;
use crate::schema::{Member, Special, StructDef, Ty};
use crate::walk::{Pointee, Visitor, walk_call};
use std::ops::Range;

/// The bytes of a call, and their parts.
#[derive(Default)]
pub(crate) struct Encoded {
    pub(crate) bytes: Vec<u8>,
    /// In wire order: what others lead to comes behind these.
    pub(crate) parts: Vec<Part>,
    /// The parameters, then structs in wire order.
    pub(crate) structs: Vec<Struct>,
    /// Where members of structs begin.
    at: Vec<usize>,
    with_paths: bool,
    /// Parts whose data have not ended, innermost last.
    open: Vec<usize>,
    levels: Vec<Level>,
}

/// Members of a struct, or parameters.
pub(crate) struct Struct {
    pub(crate) members: &'static [Member],
    pub(crate) special: Special,
    /// Where it begins, in bytes.
    pub(crate) begins: usize,
    /// Where its members do, in `Encoded::at`.
    first: usize,
}

/// A member that is not there.
const NOWHERE: usize = usize::MAX;

/// A pointer and its data.
pub(crate) struct Part {
    /// Empty unless paths are asked for.
    pub(crate) path: String,
    pub(crate) ptr: Ptr,
    pub(crate) what: Pointee,
    /// Which member it is, and of which struct.
    pub(crate) member: Option<&'static Member>,
    pub(crate) of: usize,
    /// Where its preamble begins, where its data do and where they end, in bytes.
    pub(crate) head: usize,
    pub(crate) data: usize,
    pub(crate) end: usize,
    /// What an element was read as; none where there is none.
    pub(crate) ty: Option<Ty>,
    /// Bytes of an element, if all have as many.
    size: usize,
    /// Where each of its elements begins, but for those of a fixed size, which follow each other from the first on.
    begins: Vec<usize>,
    level: usize,
}

/// A struct, an array or the call itself, around the current place.
#[derive(Clone, Copy)]
struct Level {
    /// Where in it: a member's name, and that of a union's member in it.
    member: Option<&'static Member>,
    of_union: &'static str,
    element: Option<u32>,
    of: usize,
}

impl Encoded {
    /// Those of a call.
    pub(crate) fn of(image: &Image) -> Encoded {
        Encoded::walked(image, false)
    }

    /// The same, with paths.
    pub(crate) fn with_paths(image: &Image) -> Encoded {
        Encoded::walked(image, true)
    }

    fn walked(image: &Image, with_paths: bool) -> Encoded {
        let mut all = Encoded { with_paths, ..Encoded::default() };
        all.begin(image.command.map_or(&[][..], |c| c.params), Special::None);
        walk_call(image, &mut all);
        all.close();
        all
    }

    /// What is printed at this path.
    pub(crate) fn part(&self, path: &str) -> Option<&Part> {
        self.parts.iter().find(|p| p.path == path)
    }

    /// Where member `n` of a struct begins, if it is there.
    pub(crate) fn at(&self, of: &Struct, n: usize) -> Option<usize> {
        self.at.get(of.first + n).copied().filter(|at| *at != NOWHERE)
    }

    /// The bytes with others in place of a part.
    pub(crate) fn with(&self, part: &Part, instead: &[u8]) -> Vec<u8> {
        [&self.bytes[..part.head], instead, &self.bytes[part.end..]].concat()
    }

    fn path(&self) -> String {
        let mut path = String::new();
        for level in self.levels.iter().filter(|_| self.with_paths) {
            path += if path.is_empty() { "/args" } else { "" };
            if let Some(i) = level.element {
                path += &format!("/{i}");
            } else if let Some(m) = level.member {
                path += &format!("/{}", m.name);
                if !level.of_union.is_empty() {
                    path += &format!("/{}", level.of_union);
                }
            }
        }
        path
    }

    /// What was led to from this level or from within it has ended.
    fn close(&mut self) {
        while let Some(&i) = self.open.last()
            && self.parts[i].level >= self.levels.len()
        {
            self.parts[i].end = self.bytes.len();
            self.open.pop();
        }
    }

    fn encoder(&mut self) -> Encoder<'_> {
        Encoder { out: &mut self.bytes }
    }

    /// The array whose elements come on the level that many levels up.
    fn array(&mut self, up: usize) -> Option<&mut Part> {
        let part = &mut self.parts[*self.open.last()?];
        let is_array = matches!(part.what, Pointee::Strs | Pointee::Array2) || part.ptr.is_array();
        (is_array && part.level + up == self.levels.len()).then_some(part)
    }

    fn begin(&mut self, members: &'static [Member], special: Special) {
        let of = self.structs.len();
        self.structs.push(Struct { members, special, begins: self.bytes.len(), first: self.at.len() });
        self.at.resize(self.at.len() + members.len(), NOWHERE);
        self.levels.push(Level { member: None, of_union: "", element: None, of });
    }

    fn end(&mut self) {
        self.close();
        self.levels.pop();
    }
}

impl Visitor for Encoded {
    fn value(&mut self, image: &Image, ty: Ty, at: u32) {
        self.encoder().value(image, ty, at);
    }
    fn values(&mut self, image: &Image, ty: Ty, at: u32, n: u64) {
        let size = ty.c_layout().0;
        self.encoder().values(image, ty, at, n);
        if let Some(part) = self.array(0) {
            (part.ty, part.size) = (Some(ty), size);
        }
    }
    fn pointer(&mut self, image: &Image, p: &Ptr, what: Pointee) {
        let (path, head, level) = (self.path(), self.bytes.len(), self.levels.len());
        self.encoder().pointer(image, p, what);
        let data = self.bytes.len();
        let (member, of) = self.levels.last().map_or((None, 0), |l| (l.member, l.of));
        self.open.push(self.parts.len());
        self.parts.push(Part {
            path,
            ptr: *p,
            what,
            member,
            of,
            head,
            data,
            end: data,
            ty: None,
            size: 0,
            begins: vec![],
            level,
        });
    }
    fn text(&mut self, image: &Image, at: u32, n: u64, unit: u32) {
        self.encoder().text(image, at, n, unit);
    }
    fn begin_array(&mut self, _: u64) {
        // (arrays of arrays: the inner ones are of the same member)
        let level = self.levels.last().copied();
        self.levels.extend(level);
    }
    fn element(&mut self, i: u32) {
        self.close();
        let start = self.bytes.len();
        if let Some(part) = self.array(1) {
            part.begins.push(start);
        }
        if let Some(level) = self.levels.last_mut() {
            level.element = Some(i);
        }
    }
    fn end_array(&mut self) {
        self.end();
    }
    fn begin_struct(&mut self, _: &Image, def: &'static StructDef, _: u32) {
        self.begin(def.members, def.special);
    }
    fn end_struct(&mut self, _: &'static StructDef) {
        self.end();
    }
    fn member(&mut self, m: &'static Member) {
        self.close();
        let begins = self.bytes.len();
        if let Some(level) = self.levels.last_mut() {
            (level.member, level.of_union) = (Some(m), "");
            let of = &self.structs[level.of];
            if let Some(n) = of.members.iter().position(|o| std::ptr::eq(o, m)) {
                self.at[of.first + n] = begins;
            }
        }
    }
    fn union_member(&mut self, m: &'static Member) {
        if let Some(level) = self.levels.last_mut()
            && names_its_union(self.structs[level.of].special)
        {
            level.of_union = m.name;
        }
    }
    fn ret(&mut self) {
        self.close();
    }
    fn template_counts(&mut self, counts: [u64; 3]) {
        self.encoder().template_counts(counts);
    }
    fn template_tail(&mut self, count: u64, ty: u64) {
        self.encoder().template_tail(count, ty);
    }
}

impl Part {
    /// How many elements it has.
    pub(crate) fn elements(&self) -> usize {
        (self.end - self.data).checked_div(self.size).unwrap_or(self.begins.len())
    }

    /// Where element `i` lies.
    pub(crate) fn element(&self, i: usize) -> Range<usize> {
        if self.size > 0 {
            let at = self.data + i * self.size;
            return at..at + self.size;
        }
        self.begins[i]..self.begins.get(i + 1).copied().unwrap_or(self.end)
    }
}
