//! Parameters of any command, made from the schema: random values in the right shape.
//!
//! Guarantees: what is written is what gfxreconstruct's encoder could have written, so the decoder takes it and the
//! encoder gives it back (a test says so for every command). Refuses (gives none) commands that hold a union by value
//! of which no capture says which member is meant.

use std::sync::LazyLock;

use gfxr_parse::image::attrib;
use gfxr_parse::schema::generated::{ENUMS, STRUCTS, STYPES};
use gfxr_parse::schema::{CommandDef, Member, Shape, Special, StructDef, StructId, Ty, struct_named};

use super::rng::Rng;

/// Most pointers with data in one call, roughly: what is nested deeper is null.
const POINTERS: u32 = 60;
/// Deepest nesting of pointers with data.
const DEPTH: u32 = 7;
/// VK_DESCRIPTOR_TYPE_ACCELERATION_STRUCTURE_KHR.
const ACCELERATION_STRUCTURE: u32 = 1_000_150_000;
/// VK_DESCRIPTOR_TYPE_INLINE_UNIFORM_BLOCK.
const INLINE_UNIFORM_BLOCK: u32 = 1_000_138_000;

/// By struct: it holds by value a union of which nobody says which member is meant.
static BARE: LazyLock<Vec<bool>> = LazyLock::new(|| {
    fn holds(def: &StructDef) -> bool {
        let inner = |m: &Member| matches!((m.shape, m.ty), (Shape::Value, Ty::Struct(id)) if holds(&STRUCTS[id as usize]));
        def.special == Special::BareUnion || (def.special == Special::None && def.members.iter().any(inner))
    }
    STRUCTS.iter().map(holds).collect()
});

fn is_bare(ty: Ty) -> bool {
    matches!(ty, Ty::Struct(id) if BARE[id as usize])
}

/// The parameters of `command`; none if it cannot be written (see the header).
pub fn call(command: &CommandDef, rng: &mut Rng) -> Option<Vec<u8>> {
    let mut s = Synth::new(rng);
    for p in command.params {
        s.member(p, None);
    }
    if command.trailing {
        s.template();
    }
    if let Some(ty) = command.ret {
        s.value(ty);
    }
    s.done()
}

/// One struct, without a preamble; none if it cannot be written.
pub fn structure(def: &'static StructDef, rng: &mut Rng) -> Option<Vec<u8>> {
    let mut s = Synth::new(rng);
    s.budget = POINTERS / 4;
    s.structure(def);
    s.done()
}

/// A pNext chain of one struct, its preamble included.
pub fn chain(rng: &mut Rng) -> Vec<u8> {
    let mut s = Synth::new(rng);
    s.budget = POINTERS / 4;
    s.link();
    s.done().unwrap_or_else(|| (attrib::STRUCT | attrib::SINGLE | attrib::NULL).to_le_bytes().to_vec())
}

/// An array of structs, its preamble included (`twice`: an array of arrays of them); none if it cannot be written.
pub fn structures(id: StructId, twice: bool, rng: &mut Rng) -> Option<Vec<u8>> {
    let mut s = Synth::new(rng);
    if twice {
        s.array2(Ty::Struct(id))
    } else {
        s.array(Ty::Struct(id))
    }
    s.done()
}

struct Synth<'r> {
    rng: &'r mut Rng,
    out: Vec<u8>,
    budget: u32,
    depth: u32,
    failed: bool,
}

impl<'r> Synth<'r> {
    fn new(rng: &'r mut Rng) -> Self {
        Synth { rng, out: Vec::new(), budget: POINTERS, depth: 0, failed: false }
    }
    fn done(self) -> Option<Vec<u8>> {
        (!self.failed).then_some(self.out)
    }
    fn u32(&mut self, v: u32) {
        self.out.extend_from_slice(&v.to_le_bytes());
    }
    fn u64(&mut self, v: u64) {
        self.out.extend_from_slice(&v.to_le_bytes());
    }

    /// `kinds` with data, with an address as most have; or null, or without data. True if data are to follow.
    fn preamble(&mut self, kinds: u32, counted: Option<u64>) -> bool {
        let here = self.budget > 0 && self.depth < DEPTH;
        let bits = match self.rng.below(16) {
            _ if !here => attrib::NULL,
            0 | 1 => attrib::NULL,
            2 => attrib::ADDRESS,
            3 => attrib::DATA,
            _ => attrib::ADDRESS | attrib::DATA,
        };
        self.u32(kinds | bits);
        if bits == attrib::NULL {
            return false;
        }
        self.budget -= 1;
        if bits & attrib::ADDRESS != 0 {
            let address = self.rng.edge();
            self.u64(address);
        }
        if let Some(n) = counted {
            self.u64(n);
        }
        bits & attrib::DATA != 0
    }
    /// The same for arrays inside a struct, which are never null.
    fn inline_preamble(&mut self, kinds: u32, n: u64) {
        self.u32(kinds | attrib::ADDRESS | attrib::DATA);
        self.u64(0x1000);
        self.u64(n);
    }

    fn member(&mut self, m: &Member, owner: Option<&StructDef>) {
        match m.shape {
            Shape::Value => match owner.and_then(|o| o.stype) {
                Some(stype) if m.name == "sType" => self.u32(stype),
                _ => self.value(m.ty),
            },
            Shape::Fixed(n) => self.fixed(m.ty, n.into()),
            Shape::Fixed2(n, k) => self.fixed(m.ty, usize::from(n) * usize::from(k)),
            Shape::FixedStr(n) => {
                let n = self.rng.below(usize::from(n) + 1);
                self.inline_preamble(attrib::STRING, n as u64);
                self.text(n);
            }
            Shape::Ptr => self.single(m.ty),
            Shape::PtrPtr => self.single(Ty::Opaque),
            Shape::Array => self.array(m.ty),
            Shape::Str => self.string(attrib::STRING, 1),
            Shape::WStr => self.string(attrib::WSTRING, 2),
            Shape::StrArray => self.strings(),
            Shape::Array2 => self.array2(m.ty),
            Shape::PNext => {
                if self.rng.chance(1, 3) {
                    self.link();
                } else {
                    self.u32(attrib::STRUCT | attrib::SINGLE | attrib::NULL);
                }
            }
            Shape::Absent => {}
            Shape::TemplateData => self.template(),
        }
    }
    fn each(&mut self, def: &StructDef, members: &[Member]) {
        for m in members {
            self.member(m, Some(def));
        }
    }

    fn value(&mut self, ty: Ty) {
        let v = self.rng.edge();
        match ty {
            Ty::Struct(id) => self.structure(&STRUCTS[id as usize]),
            Ty::Bits { width, .. } => {
                self.u32(if width == 32 { v as u32 } else { v as u32 & ((1 << width) - 1) })
            }
            Ty::Enum(id) => {
                let values = ENUMS[id as usize].values;
                let known = !values.is_empty() && !self.rng.chance(1, 8);
                let v = if known { self.rng.pick(values).0 as u32 } else { v as u32 };
                self.u32(v);
            }
            Ty::Bool32 => self.u32((v & 1) as u32),
            Ty::Handle(_) => self.u64(v % 50),
            _ => {
                let n = ty.c_layout().0;
                self.out.extend_from_slice(&v.to_le_bytes()[..n]);
            }
        }
    }
    fn text(&mut self, n: usize) {
        for _ in 0..n {
            let c =
                if self.rng.chance(1, 40) { self.rng.u64() as u8 } else { b' ' + self.rng.below(95) as u8 };
            self.out.push(c);
        }
    }
    fn elements(&mut self, ty: Ty, n: usize) {
        self.depth += 1;
        (0..n).for_each(|_| self.value(ty));
        self.depth -= 1;
    }
    fn count(&mut self) -> usize {
        match self.rng.below(8) {
            0 => 0,
            1..=4 => 1,
            n => n - 3,
        }
    }

    fn single(&mut self, ty: Ty) {
        if is_bare(ty) {
            return self.u32(attrib::SINGLE | attrib::STRUCT | attrib::NULL);
        }
        if self.preamble(attrib::SINGLE | structs(ty), None) {
            self.elements(ty, 1);
        }
    }
    fn array(&mut self, ty: Ty) {
        if is_bare(ty) {
            return self.u32(attrib::ARRAY | attrib::STRUCT | attrib::NULL);
        }
        let n = self.count();
        if self.preamble(attrib::ARRAY | structs(ty), Some(n as u64)) {
            self.elements(ty, n);
        }
    }
    fn fixed(&mut self, ty: Ty, capacity: usize) {
        let n = if self.rng.chance(1, 2) { capacity } else { self.rng.below(capacity + 1) };
        self.inline_preamble(attrib::ARRAY | structs(ty), n as u64);
        self.elements(ty, n);
    }
    fn string(&mut self, kind: u32, unit: usize) {
        let n = self.rng.below(20);
        if self.preamble(attrib::SINGLE | kind, Some(n as u64)) {
            self.text(n * unit);
        }
    }
    fn strings(&mut self) {
        let n = self.count();
        if self.preamble(attrib::STRING | attrib::ARRAY, Some(n as u64)) {
            (0..n).for_each(|_| self.string(attrib::STRING, 1));
        }
    }
    fn array2(&mut self, ty: Ty) {
        let n = self.count();
        if self.preamble(attrib::ARRAY2D | structs(ty), Some(n as u64)) {
            self.depth += 1;
            for _ in 0..n {
                if structs(ty) == 0 && self.rng.chance(1, 4) {
                    self.u32(attrib::ARRAY | attrib::NULL);
                    self.u64(3); // the writer of scalar inner arrays puts a length down even here
                } else if structs(ty) != 0 || (self.budget > 0 && self.depth < DEPTH) {
                    self.inner(ty);
                } else {
                    self.inline_preamble(attrib::ARRAY, 0);
                }
            }
            self.depth -= 1;
        }
    }
    fn inner(&mut self, ty: Ty) {
        if structs(ty) != 0 {
            return self.array(ty);
        }
        let n = self.count();
        self.inline_preamble(attrib::ARRAY, n as u64);
        self.elements(ty, n);
    }

    /// A pNext chain that begins with any struct that has an sType.
    fn link(&mut self) {
        let id = self.rng.pick(&STYPES).1;
        if self.budget == 0 || self.depth >= DEPTH || BARE[id as usize] {
            return self.u32(attrib::STRUCT | attrib::SINGLE | attrib::NULL);
        }
        let def = &STRUCTS[id as usize];
        self.budget -= 1;
        self.u32(attrib::STRUCT | attrib::SINGLE | attrib::ADDRESS | attrib::DATA);
        self.u64(0x2000);
        self.depth += 1;
        self.structure(def);
        self.depth -= 1;
    }

    fn structure(&mut self, def: &'static StructDef) {
        let m = def.members;
        match def.special {
            Special::None | Special::DescriptorImageInfo | Special::WriteDescriptorSet => self.each(def, m),
            Special::ClearValue => self.fixed(Ty::U32, 4),
            Special::Union64 | Special::DeviceOrHostAddress => self.value(Ty::U64),
            Special::BareUnion => self.failed = true,
            Special::AccelerationStructureGeometry => {
                self.each(def, &m[..2]);
                let kind = self.selector(3);
                if let Some(u) = members(m[3].ty).get(kind as usize) {
                    self.value(u.ty);
                }
                self.each(def, &m[4..]);
            }
            Special::MotionInstance => {
                let kind = self.selector(3);
                self.each(def, &m[1..2]);
                if let Some(u) = members(m[2].ty).get(kind as usize) {
                    self.value(u.ty);
                }
            }
            Special::PerformanceValue => {
                if self.selector(5) == 4 {
                    self.string(attrib::STRING, 1)
                } else {
                    self.value(Ty::U64)
                }
            }
            Special::DescriptorGetInfo => {
                self.each(def, &m[..2]);
                let acceleration_structure = self.rng.chance(1, 8);
                if acceleration_structure {
                    self.u32(ACCELERATION_STRUCTURE);
                    return self.u64(0x1_0000);
                }
                match self.selector(11) {
                    0 => self.single(Ty::U64),
                    1..=3 | 10 => self.single(Ty::Struct(named("VkDescriptorImageInfo"))),
                    4..=7 => self.single(named_member(m[3].ty, "pUniformBuffer").ty),
                    _ => {}
                }
            }
            Special::IndirectExecutionSetCreateInfo => {
                self.each(def, &m[..2]);
                let kind = self.selector(2);
                if let Some(u) = members(m[3].ty).get(kind as usize) {
                    self.single(u.ty);
                }
            }
            Special::IndirectCommandsLayoutToken => {
                self.each(def, &m[..2]);
                let name = match self.selector(6) {
                    0 => "pExecutionSet",
                    1 | 2 => "pPushConstant",
                    3 => "pIndexBuffer",
                    4 => "pVertexBuffer",
                    _ => "",
                };
                if !name.is_empty() {
                    self.single(named_member(m[3].ty, name).ty);
                }
                self.each(def, &m[4..]);
            }
            Special::HostImageCopy => {
                self.each(def, &m[..2]);
                if self.rng.chance(1, 2) {
                    self.array(Ty::U8);
                } else {
                    self.u64(0x7F00_1234_5000);
                }
                self.each(def, &m[3..]);
            }
            Special::LayerSetting => {
                self.each(def, &m[..2]);
                let kind = self.selector(8);
                self.each(def, &m[3..4]);
                let types = [Ty::Bool32, Ty::I32, Ty::I64, Ty::U32, Ty::U64, Ty::F32, Ty::F64];
                match types.get(kind as usize) {
                    Some(&ty) => self.array(ty),
                    None if kind == 7 => self.strings(),
                    None => {}
                }
            }
            Special::DataGraphPipelineConstant => {
                self.each(def, &m[..1]);
                let tensor = self.rng.chance(1, 2) && self.budget > 0;
                if tensor {
                    self.u32(attrib::STRUCT | attrib::SINGLE | attrib::DATA);
                    self.structure(&STRUCTS[named("VkTensorDescriptionARM") as usize]);
                } else {
                    self.u32(attrib::STRUCT | attrib::SINGLE | attrib::NULL);
                }
                self.each(def, &m[2..3]);
                if tensor {
                    self.array(Ty::U8);
                }
            }
        }
    }

    /// Writes a value that says which member of a union is meant: below `n` most of the time.
    fn selector(&mut self, n: u32) -> u32 {
        let v = if self.rng.chance(1, 16) { 0x7FFF_FFF0 } else { self.rng.below(n as usize) as u32 };
        self.u32(v);
        v
    }

    fn template(&mut self) {
        if self.rng.chance(1, 8) || self.budget == 0 {
            return self.u32(attrib::ARRAY | attrib::NULL);
        }
        self.u32(attrib::STRUCT | attrib::SINGLE | attrib::ADDRESS | attrib::DATA);
        self.u64(0x3000);
        let counts = [self.rng.below(4), self.rng.below(4), self.rng.below(4)];
        counts.iter().for_each(|&n| self.u64(n as u64));
        for (n, ty) in counts.into_iter().zip([
            Ty::Struct(named("VkDescriptorImageInfo")),
            Ty::Struct(named("VkDescriptorBufferInfo")),
            Ty::U64,
        ]) {
            self.elements(ty, n);
        }
        // Nothing bounds the tails but the end of the parameters: commands with a template return nothing.
        while self.rng.chance(1, 3) {
            let n = self.rng.below(4);
            self.u64(n as u64);
            match self.rng.below(4) {
                0 | 1 => {
                    self.u32(ACCELERATION_STRUCTURE);
                    self.elements(Ty::U64, n);
                }
                2 => {
                    self.u32(INLINE_UNIFORM_BLOCK);
                    self.elements(Ty::U8, n);
                }
                _ => return, // the stray count that some old captures end with
            }
        }
    }
}

/// The attribute bit of a pointer to structs.
fn structs(ty: Ty) -> u32 {
    if matches!(ty, Ty::Struct(_)) { attrib::STRUCT } else { 0 }
}

fn members(union: Ty) -> &'static [Member] {
    match union {
        Ty::Struct(id) => STRUCTS[id as usize].members,
        _ => &[],
    }
}

fn named_member(union: Ty, name: &str) -> &'static Member {
    members(union).iter().find(|m| m.name == name).expect("a member of that name")
}

fn named(name: &str) -> StructId {
    struct_named(name).expect("a struct of that name")
}
