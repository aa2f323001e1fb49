//! Where everything lies in a call's parameters: what mutations aim at.
//!
//! A walk over the decoded call that counts bytes as the encoder would write them. Guarantees: the places tile the
//! parameters ([`Fields::bytes`] equals their length). Refuses nothing: it is asked about calls that decode.

use gfxr_parse::image::{Image, Ptr, attrib};
use gfxr_parse::schema::generated::STRUCTS;
use gfxr_parse::schema::{Len, Member, Shape, Special, StructDef, StructId, Ty};
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
    /// Of values: what an element is.
    pub ty: Option<Ty>,
    /// Of values: where they lie in the decoded call.
    pub at: u32,
    /// The member they belong to.
    pub name: Name,
}

/// A member's name, behind that of its struct or command.
pub type Name = (&'static str, &'static str);

/// An array with data: where its length is written, and each of its elements.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Array {
    /// First byte of the length, 8 bytes; none for a single struct.
    pub length: Option<usize>,
    /// First byte of each element; one more for the end.
    pub elements: Vec<usize>,
    /// Where in the decoded call the member lies that says how many there are.
    pub count: Option<u32>,
    /// The member it is.
    pub name: Name,
}

/// A pointer with data.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Pointer {
    /// First byte of its preamble.
    pub start: usize,
    /// First byte of its data.
    pub data: usize,
    /// The byte after its last.
    pub end: usize,
    /// Written as null, a length follows all the same.
    pub null_has_length: bool,
    /// A pointer in C, and not an array in its struct.
    pub real: bool,
    /// The member it is.
    pub name: Name,
}

/// A pointer whose data begin next.
type Pending = Option<Pointer>;

/// A struct that is open: where it lies in the decoded call, its members, and what was known outside of it.
#[derive(Clone, Debug)]
struct Open {
    start: usize,
    link: Option<usize>,
    pointer: Pending,
    scope: Scope,
}

/// Whose members come: of a command or of a struct.
#[derive(Clone, Copy, Debug, Default)]
struct Scope {
    owner: &'static str,
    members: &'static [Member],
    base: u32,
    member: Option<&'static Member>,
}

impl Scope {
    fn name(&self) -> Name {
        (self.owner, self.member.map_or("", |m| m.name))
    }
    /// Where in the decoded call the length of the member at hand lies.
    fn count(&self, image: &Image) -> Option<u32> {
        let slot = |i: u8| {
            let m = self.members.get(usize::from(i))?;
            let at = self.base + m.at;
            if m.shape == Shape::Ptr { image.target(at) } else { (m.shape == Shape::Value).then_some(at) }
        };
        match self.member?.len {
            Len::Member(i) | Len::MemberDiv(i, _) => slot(i),
            Len::Field(i, field) => {
                let Ty::Struct(id) = self.members.get(usize::from(i))?.ty else { return None };
                Some(slot(i)? + STRUCTS[usize::from(id)].members.get(usize::from(field))?.at)
            }
            Len::None | Len::Const(_) | Len::Other => None,
        }
    }
}

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
    /// Pointers with data, inner ones before those around them.
    pub pointers: Vec<Pointer>,
    at: usize,
    length: Option<usize>,
    template: usize,
    open_structs: Vec<Open>,
    open_arrays: Vec<(Array, Pending)>,
    link: Option<usize>,
    pointer: Pending,
    scope: Scope,
    count: Option<u32>,
}

impl Fields {
    /// Those of the call in `image`.
    pub fn of_call(image: &Image) -> Self {
        let mut fields = Fields::default();
        if let Some(c) = image.command {
            fields.scope = Scope { owner: c.name, members: c.params, base: 0, member: None };
        }
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
        self.pointers.extend(pointer.map(|p| Pointer { end: self.at, ..p }));
    }
    fn put(&mut self, bytes: usize, what: What) {
        self.put_values(bytes, what, None, 0);
    }
    fn put_values(&mut self, bytes: usize, what: What, ty: Option<Ty>, at: u32) {
        let start = self.at;
        self.at += bytes;
        if bytes > 0 {
            self.places.push(Place { start, end: self.at, what, ty, at, name: self.scope.name() });
        }
    }
    fn array(&self, elements: Vec<usize>) -> Array {
        Array { length: self.length, elements, count: self.count, name: self.scope.name() }
    }
    /// The place of the value that lies there in the decoded call.
    pub fn value_at(&self, at: u32) -> Option<&Place> {
        self.places.iter().find(|p| p.what == What::Value && p.ty.is_some() && p.at == at)
    }
}

impl Visitor for Fields {
    fn value(&mut self, _: &Image, ty: Ty, at: u32) {
        self.put_values(ty.c_layout().0, What::Value, Some(ty), at);
        let pointer = self.pointer.take();
        self.close(pointer);
    }
    fn values(&mut self, _: &Image, ty: Ty, at: u32, n: u64) {
        let size = ty.c_layout().0;
        let elements = (0..=n as usize).map(|i| self.at + i * size).collect();
        self.arrays.push(self.array(elements));
        self.put_values(n as usize * size, What::Value, Some(ty), at);
        let pointer = self.pointer.take();
        self.close(pointer);
    }
    fn text(&mut self, _: &Image, _: u32, n: u64, unit: u32) {
        let elements = (0..=n as usize).map(|i| self.at + i * unit as usize).collect();
        self.arrays.push(self.array(elements));
        self.put(n as usize * unit as usize, What::Text);
        let pointer = self.pointer.take();
        self.close(pointer);
    }
    fn pointer(&mut self, image: &Image, p: &Ptr, what: Pointee) {
        let start = self.at;
        self.length = None;
        // Strings have a length of their own, and inner arrays are not counted by what counts the outer one.
        let counted = matches!(what, Pointee::Array | Pointee::Strs | Pointee::Array2 | Pointee::Fixed);
        self.count = if counted { self.scope.count(image) } else { None };
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
        self.pointer = (p.has_data() && what != Pointee::Template).then_some(Pointer {
            start,
            data: self.at,
            end: self.at,
            null_has_length: inner_null,
            real: !p.inline,
            name: self.scope.name(),
        });
        if what == Pointee::Chain {
            if p.has_data() {
                self.link = Some(start);
            } else {
                self.links.push((start, self.at));
            }
        }
    }
    fn begin_array(&mut self, _: u64) {
        self.open_arrays.push((self.array(vec![]), self.pointer.take()));
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
    fn member(&mut self, m: &'static Member) {
        self.scope.member = Some(m);
    }
    fn begin_struct(&mut self, _: &Image, def: &'static StructDef, at: u32) {
        let (link, pointer, scope) = (self.link.take(), self.pointer.take(), self.scope);
        self.open_structs.push(Open { start: self.at, link, pointer, scope });
        self.scope = Scope { owner: def.name, members: def.members, base: at, member: None };
    }
    fn end_struct(&mut self, def: &'static StructDef) {
        let Open { start, link, pointer, scope } = self.open_structs.pop().expect("a struct is open");
        self.scope = scope;
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
