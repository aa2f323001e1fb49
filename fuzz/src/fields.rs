//! Where everything lies in a call's parameters: what mutations aim at.
//!
//! A walk over the decoded call that counts bytes as the encoder would write them. Guarantees: the places tile the
//! parameters ([`Fields::bytes`] equals their length). Refuses nothing: it is asked about calls that decode.

use gfxr_parse::image::{Image, Ptr, attrib};
use gfxr_parse::schema::{Special, StructDef, StructId, Ty};
use gfxr_parse::walk::{Pointee, Visitor, walk_call, walk_struct_array};

/// What lies in a place.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum What {
    /// A value, or the elements of an array of values.
    Value,
    /// The attributes of a pointer.
    Attributes,
    /// The application's address of what it points to.
    Address,
    /// How many elements follow.
    Length,
    /// Characters.
    Text,
}

/// A place in the parameters.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Place {
    /// Its first byte.
    pub start: usize,
    /// The byte after its last.
    pub end: usize,
    /// What lies there.
    pub what: What,
}

/// An array with data: where its length is written, and each of its elements.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Array {
    /// First byte of the length, 8 bytes; none for a single struct.
    pub length: Option<usize>,
    /// First byte of each element; one more for the end.
    pub elements: Vec<usize>,
}

/// A pointer whose data begin next: first byte of its preamble, and of its data.
type Pending = Option<(usize, usize)>;

/// See the module's header.
#[derive(Clone, Debug, Default)]
pub struct Fields {
    /// Everything, in order.
    pub places: Vec<Place>,
    /// Arrays that have data, inner ones before the ones around them.
    pub arrays: Vec<Array>,
    /// Structs whose members lie here one after the other: (definition, first byte, end).
    pub structs: Vec<(&'static StructDef, usize, usize)>,
    /// Links of pNext chains, preambles included; null ones as well.
    pub links: Vec<(usize, usize)>,
    /// Pointers with data: first byte of the preamble, of the data, and the end.
    pub pointers: Vec<(usize, usize, usize)>,
    at: usize,
    length: Option<usize>,
    template: usize,
    open_structs: Vec<(usize, Option<usize>, Pending)>,
    open_arrays: Vec<(Array, Pending)>,
    link: Option<usize>,
    pointer: Pending,
}

impl Fields {
    /// Those of the call in `image`.
    pub fn of_call(image: &Image) -> Self {
        let mut fields = Fields::default();
        walk_call(image, &mut fields);
        fields
    }
    /// Those of an array of structs in a metadata block.
    pub fn of_structs(image: &Image, id: StructId, twice: bool) -> Self {
        let mut fields = Fields::default();
        walk_struct_array(image, id, twice, &mut fields);
        fields
    }
    /// How many bytes they cover.
    pub fn bytes(&self) -> usize {
        self.at
    }
    /// The data of a pointer end here.
    fn close(&mut self, pointer: Pending) {
        self.pointers.extend(pointer.map(|(start, data)| (start, data, self.at)));
    }
    fn put(&mut self, bytes: usize, what: What) {
        let start = self.at;
        self.at += bytes;
        if bytes > 0 {
            self.places.push(Place { start, end: self.at, what });
        }
    }
}

impl Visitor for Fields {
    fn value(&mut self, _: &Image, ty: Ty, _: u32) {
        self.put(ty.c_layout().0, What::Value);
        let pointer = self.pointer.take();
        self.close(pointer);
    }
    fn values(&mut self, _: &Image, ty: Ty, _: u32, n: u64) {
        let size = ty.c_layout().0;
        let elements = (0..=n as usize).map(|i| self.at + i * size).collect();
        self.arrays.push(Array { length: self.length, elements });
        self.put(n as usize * size, What::Value);
        let pointer = self.pointer.take();
        self.close(pointer);
    }
    fn text(&mut self, _: &Image, _: u32, n: u64, unit: u32) {
        let elements = (0..=n as usize).map(|i| self.at + i * unit as usize).collect();
        self.arrays.push(Array { length: self.length, elements });
        self.put(n as usize * unit as usize, What::Text);
        let pointer = self.pointer.take();
        self.close(pointer);
    }
    fn pointer(&mut self, _: &Image, p: &Ptr, what: Pointee) {
        let start = self.at;
        self.length = None;
        if what == Pointee::Bare {
            return self.put(8, What::Value);
        }
        self.put(4, What::Attributes);
        let counted = p.attrib & attrib::KINDS != attrib::SINGLE;
        let inner_null = matches!(what, Pointee::Inner(ty) if !matches!(ty, Ty::Struct(_)));
        if !p.is_null() && p.attrib & attrib::ADDRESS != 0 {
            self.put(8, What::Address);
        }
        if (!p.is_null() && counted) || (p.is_null() && inner_null) {
            self.length = Some(self.at);
            self.put(8, What::Length);
        }
        self.pointer = (p.has_data() && what != Pointee::Template).then_some((start, self.at));
        if what == Pointee::Chain {
            if p.has_data() {
                self.link = Some(start);
            } else {
                self.links.push((start, self.at));
            }
        }
    }
    fn begin_array(&mut self, _: u64) {
        self.open_arrays.push((Array { length: self.length, elements: vec![] }, self.pointer.take()));
    }
    fn element(&mut self, _: u32) {
        let at = self.at;
        if let Some((array, _)) = self.open_arrays.last_mut() {
            array.elements.push(at);
        }
    }
    fn end_array(&mut self) {
        let (mut array, pointer) = self.open_arrays.pop().expect("an array is open");
        array.elements.push(self.at);
        self.arrays.push(array);
        self.close(pointer);
    }
    fn begin_struct(&mut self, _: &Image, _: &'static StructDef, _: u32) {
        self.open_structs.push((self.at, self.link.take(), self.pointer.take()));
    }
    fn end_struct(&mut self, def: &'static StructDef) {
        let (start, link, pointer) = self.open_structs.pop().expect("a struct is open");
        if def.special != Special::BareUnion {
            self.structs.push((def, start, self.at));
        }
        if let Some(link) = link {
            self.links.push((link, self.at));
        }
        self.close(pointer);
    }
    fn template_counts(&mut self, _: [u64; 3]) {
        self.template = self.at;
        (0..3).for_each(|_| self.put(8, What::Length));
    }
    fn template_part(&mut self, kind: usize, _: u64) {
        self.length = Some(self.template + 8 * kind);
    }
    fn template_tail(&mut self, _: u64, ty: u64) {
        self.length = Some(self.at);
        self.put(8, What::Length);
        if ty != u64::MAX {
            self.put(4, What::Value);
        }
    }
}
