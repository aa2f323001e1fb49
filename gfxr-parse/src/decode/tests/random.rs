//! Random valid encodings, made by walking the schema: what gfxreconstruct could have written for any command.
//!
//! Guarantees: the same seed gives the same bytes; what comes out is what the decoder must accept. Written from the
//! format's description, not from the decoder, so that the two check each other.

use crate::image::attrib::{ADDRESS, ARRAY, ARRAY2D, DATA, NULL, SINGLE, STRING, STRUCT, WSTRING};
use crate::names::NAMES;
use crate::schema::generated::{STRUCTS, STYPES};
use crate::schema::{CommandDef, Member, Shape, Special, StructDef, StructId, Ty};

/// SplitMix64.
pub struct Rng(pub u64);

impl Rng {
    pub fn next(&mut self) -> u64 {
        self.0 = self.0.wrapping_add(0x9E37_79B9_7F4A_7C15);
        let mut z = self.0;
        z = (z ^ z >> 30).wrapping_mul(0xBF58_476D_1CE4_E5B9);
        z = (z ^ z >> 27).wrapping_mul(0x94D0_49BB_1331_11EB);
        z ^ z >> 31
    }
    pub fn below(&mut self, n: u64) -> u64 {
        self.next() % n
    }
    fn chance(&mut self, percent: u64) -> bool {
        self.below(100) < percent
    }
}

/// How deep structs may nest before all pointers become null.
const DEEP: usize = 5;

pub struct Generator {
    rng: Rng,
    out: Vec<u8>,
    depth: usize,
}

impl Generator {
    pub fn new(seed: u64) -> Self {
        Generator { rng: Rng(seed), out: Vec::new(), depth: 0 }
    }

    /// The parameters of a call.
    pub fn call(mut self, c: &CommandDef) -> Vec<u8> {
        c.params.iter().for_each(|p| self.member(p));
        if c.trailing {
            self.template();
        }
        if let Some(ty) = c.ret {
            self.value(ty, None);
        }
        self.out
    }

    /// An array of this struct; none if nothing on the wire could say which member of a union is meant.
    pub fn struct_array(&mut self, id: StructId) -> Option<Vec<u8>> {
        if is_bare(Ty::Struct(id)) {
            return None;
        }
        let n = self.rng.below(3);
        self.preamble(ARRAY | STRUCT | DATA, Some(n));
        (0..n).for_each(|_| self.strukt(&STRUCTS[id as usize]));
        Some(std::mem::take(&mut self.out))
    }

    fn u32(&mut self, v: u32) {
        self.out.extend_from_slice(&v.to_le_bytes());
    }
    fn u64(&mut self, v: u64) {
        self.out.extend_from_slice(&v.to_le_bytes());
    }

    /// Attributes, perhaps an address, perhaps a length.
    fn preamble(&mut self, attributes: u32, length: Option<u64>) {
        let address = if self.rng.chance(90) { ADDRESS } else { 0 };
        self.u32(attributes | address);
        if address != 0 {
            let v = self.rng.next();
            self.u64(v);
        }
        if let Some(n) = length {
            self.u64(n);
        }
    }

    fn null(&mut self, kind: u32) {
        self.u32(NULL | kind);
    }

    fn wants_null(&mut self) -> bool {
        let percent = if self.depth > DEEP { 100 } else { 20 };
        self.rng.chance(percent)
    }

    /// Data are there; sometimes the capture left them out.
    fn wants_data(&mut self) -> bool {
        self.rng.chance(90)
    }

    fn member(&mut self, m: &Member) {
        let flag = if matches!(m.ty, Ty::Struct(_)) { STRUCT } else { 0 };
        match m.shape {
            Shape::Value => self.value(m.ty, None),
            Shape::Fixed(n) => self.fixed(m.ty, n.into()),
            Shape::Fixed2(n, k) => self.fixed(m.ty, u64::from(n) * u64::from(k)),
            Shape::FixedStr(n) => {
                let n = self.rng.below(u64::from(n));
                self.preamble(STRING | SINGLE | DATA, Some(n));
                self.letters(n, 1);
            }
            // Either kind of pointer may stand where the API has the other.
            Shape::Ptr if self.rng.chance(3) => self.array(m.ty, flag),
            Shape::Array if self.rng.chance(3) => self.single(m.ty, flag),
            Shape::Ptr => self.single(m.ty, flag),
            Shape::Array => self.array(m.ty, flag),
            Shape::Str => self.string(STRING, 1),
            Shape::WStr => self.string(WSTRING, 2),
            Shape::StrArray => self.strings(),
            Shape::Array2 => self.array2(m.ty, flag),
            Shape::PtrPtr => self.single(Ty::Opaque, 0),
            Shape::PNext => self.chain(),
            Shape::Absent => {}
            Shape::TemplateData => self.template(),
        }
    }

    fn value(&mut self, ty: Ty, forced: Option<u32>) {
        match (ty, forced) {
            (_, Some(v)) => self.u32(v),
            (Ty::Struct(id), _) => self.strukt(&STRUCTS[id as usize]),
            (Ty::Bits { width, .. }, _) => {
                let v = self.rng.next() as u32 & if width == 32 { u32::MAX } else { (1 << width) - 1 };
                self.u32(v);
            }
            (Ty::Enum(_) | Ty::Bool32, _) => {
                let v = if self.rng.chance(80) { self.rng.below(8) as u32 } else { self.rng.next() as u32 };
                self.u32(v);
            }
            (Ty::Handle(_) | Ty::ObjectHandle(_), _) => {
                let v = self.rng.below(5);
                self.u64(v);
            }
            // (so that some are lengths of the arrays beside them)
            (Ty::U32, _) if self.rng.chance(50) => {
                let v = self.rng.below(4) as u32;
                self.u32(v);
            }
            _ => {
                let v = self.rng.next() >> self.rng.below(64);
                self.out.extend_from_slice(&v.to_le_bytes()[..ty.c_layout().0]);
            }
        }
    }

    fn fixed(&mut self, ty: Ty, capacity: u64) {
        let n = if self.rng.chance(80) { capacity } else { self.rng.below(capacity + 1) };
        let flag = if matches!(ty, Ty::Struct(_)) { STRUCT } else { 0 };
        self.preamble(ARRAY | flag | DATA, Some(n));
        (0..n).for_each(|_| self.value(ty, None));
    }

    fn single(&mut self, ty: Ty, flag: u32) {
        if is_bare(ty) || self.wants_null() {
            return self.null(SINGLE | flag);
        }
        let data = if self.wants_data() { DATA } else { 0 };
        self.preamble(SINGLE | flag | data, None);
        if data != 0 {
            self.value(ty, None);
        }
    }

    fn array(&mut self, ty: Ty, flag: u32) {
        if is_bare(ty) || self.wants_null() {
            return self.null(ARRAY | flag);
        }
        self.some_array(ty, flag);
    }

    fn some_array(&mut self, ty: Ty, flag: u32) {
        let data = if self.wants_data() { DATA } else { 0 };
        let n = if data == 0 { self.rng.next() } else { self.rng.below(4) };
        self.preamble(ARRAY | flag | data, Some(n));
        if data != 0 {
            (0..n).for_each(|_| self.value(ty, None));
        }
    }

    fn letters(&mut self, n: u64, unit: usize) {
        for _ in 0..n {
            let c = if self.rng.chance(90) { b' ' + self.rng.below(95) as u8 } else { self.rng.next() as u8 };
            self.out.push(c);
            (1..unit).for_each(|_| self.out.push(0));
        }
    }

    fn string(&mut self, kind: u32, unit: usize) {
        if self.wants_null() {
            return self.null(SINGLE | kind);
        }
        let n = self.rng.below(20);
        self.preamble(SINGLE | kind | DATA, Some(n));
        self.letters(n, unit);
    }

    fn strings(&mut self) {
        if self.wants_null() {
            return self.null(ARRAY | STRING);
        }
        let n = self.rng.below(4);
        self.preamble(ARRAY | STRING | DATA, Some(n));
        (0..n).for_each(|_| self.string(STRING, 1));
    }

    fn array2(&mut self, ty: Ty, flag: u32) {
        if self.wants_null() {
            return self.null(ARRAY2D | flag);
        }
        let n = self.rng.below(4);
        self.preamble(ARRAY2D | flag | DATA, Some(n));
        for _ in 0..n {
            if is_bare(ty) || self.rng.chance(20) {
                self.null(ARRAY | flag);
                // The scalar writer's quirk: a null inner array still has a length.
                if flag == 0 {
                    let n = self.rng.below(9);
                    self.u64(n);
                }
            } else {
                self.some_array(ty, flag);
            }
        }
    }

    fn chain(&mut self) {
        if self.depth > DEEP || self.rng.chance(60) {
            return self.null(SINGLE | STRUCT);
        }
        let usable = |id: &StructId| !is_bare(Ty::Struct(*id));
        let id = loop {
            let (_, id) = STYPES[self.rng.below(STYPES.len() as u64) as usize];
            if usable(&id) {
                break id;
            }
        };
        self.preamble(SINGLE | STRUCT | DATA, None);
        self.strukt(&STRUCTS[id as usize]);
    }

    fn strukt(&mut self, def: &StructDef) {
        self.depth += 1;
        if def.special == Special::None {
            self.members(def.members, def, &[]);
        } else {
            self.special(def);
        }
        self.depth -= 1;
    }

    /// Members in order; those named in `forced` get that value.
    fn members(&mut self, members: &[Member], def: &StructDef, forced: &[(&str, u32)]) {
        for m in members {
            let forced = forced.iter().find(|f| f.0 == m.name).map(|f| f.1);
            match (m.name, def.stype) {
                ("sType", Some(stype)) => self.u32(stype),
                _ if forced.is_some() => self.value(m.ty, forced),
                _ => self.member(m),
            }
        }
    }

    /// Structs that are not their members one after the other, as the format's description has them.
    fn special(&mut self, def: &StructDef) {
        let m = def.members;
        let union = |m: &Member, i: u32| match m.ty {
            Ty::Struct(id) => STRUCTS[id as usize].members.get(i as usize),
            _ => None,
        };
        let named = |m: &Member, name: &str| match m.ty {
            Ty::Struct(id) => STRUCTS[id as usize].members.iter().find(|u| u.name == name),
            _ => None,
        };
        let kind = self.rng.below(4) as u32;
        match def.special {
            Special::None | Special::BareUnion => unreachable!("never asked for"),
            Special::ClearValue => self.fixed(Ty::U32, 4),
            Special::Union64 | Special::DeviceOrHostAddress => self.value(Ty::U64, None),
            Special::DescriptorImageInfo => self.members(m, def, &[]),
            Special::WriteDescriptorSet => {
                let types = [0, 1, 2, 3, 4, 5, 6, 7, 8, 9, 10, 1_000_138_000, 1_000_150_000, 77];
                let ty = types[self.rng.below(14) as usize];
                self.members(m, def, &[("descriptorType", ty)]);
            }
            Special::AccelerationStructureGeometry => {
                self.members(&m[..3], def, &[("geometryType", kind)]);
                if let Some(u) = union(&m[3], kind) {
                    self.value(u.ty, None);
                }
                self.members(&m[4..], def, &[]);
            }
            Special::MotionInstance => {
                self.members(&m[..2], def, &[("type", kind)]);
                if let Some(u) = union(&m[2], kind) {
                    self.value(u.ty, None);
                }
            }
            Special::PerformanceValue => {
                let kind = self.rng.below(6) as u32;
                self.u32(kind);
                if kind == 4 { self.string(STRING, 1) } else { self.value(Ty::U64, None) }
            }
            Special::DescriptorGetInfo => {
                let types = [0, 1, 2, 3, 4, 5, 6, 7, 8, 10, 1_000_150_000];
                let ty = types[self.rng.below(11) as usize];
                self.members(&m[..3], def, &[("type", ty)]);
                match ty {
                    0 => self.single(Ty::Handle(NAMES.sampler), 0),
                    1..=3 | 10 => self.only_single(Ty::Struct(NAMES.descriptor_image_info)),
                    4..=7 => {
                        let address = named(&m[3], "pUniformBuffer").expect("in the union");
                        self.single(address.ty, STRUCT);
                    }
                    1_000_150_000 => self.value(Ty::DeviceAddress, None),
                    _ => {}
                }
            }
            Special::IndirectExecutionSetCreateInfo => {
                self.members(&m[..3], def, &[("type", kind)]);
                if let Some(u) = union(&m[3], kind) {
                    self.single(u.ty, STRUCT);
                }
            }
            Special::IndirectCommandsLayoutToken => {
                let kind = self.rng.below(6) as u32;
                self.members(&m[..3], def, &[("type", kind)]);
                let names =
                    ["pExecutionSet", "pPushConstant", "pPushConstant", "pIndexBuffer", "pVertexBuffer"];
                if let Some(u) = names.get(kind as usize).and_then(|n| named(&m[3], n)) {
                    self.single(u.ty, STRUCT);
                }
                self.members(&m[4..], def, &[]);
            }
            Special::HostImageCopy => {
                self.members(&m[..2], def, &[]);
                if self.rng.chance(70) {
                    self.array(Ty::U8, 0);
                } else {
                    let address = self.rng.next() & !15; // as malloc returns them: aligned
                    self.u64(address);
                }
                self.members(&m[3..], def, &[]);
            }
            Special::LayerSetting => {
                let kind = self.rng.below(9) as u32;
                self.members(&m[..4], def, &[("type", kind)]);
                match kind {
                    0 => self.array(Ty::Bool32, 0),
                    1 => self.array(Ty::I32, 0),
                    2 => self.array(Ty::I64, 0),
                    3 => self.array(Ty::U32, 0),
                    4 => self.array(Ty::U64, 0),
                    5 => self.array(Ty::F32, 0),
                    6 => self.array(Ty::F64, 0),
                    7 => self.strings(),
                    _ => {}
                }
            }
            Special::DataGraphPipelineConstant => self.data_graph_constant(def),
        }
    }

    fn only_single(&mut self, ty: Ty) {
        if self.wants_null() {
            return self.null(SINGLE | STRUCT);
        }
        self.preamble(SINGLE | STRUCT | DATA, None);
        self.value(ty, None);
    }

    /// Its data are there only if the chain holds a VkTensorDescriptionARM.
    fn data_graph_constant(&mut self, def: &StructDef) {
        let stype = def.stype.expect("it has one");
        self.u32(stype);
        let tensor = self.rng.chance(50);
        if tensor {
            let (_, id) =
                STYPES[STYPES.iter().position(|s| s.0 == NAMES.tensor_description_stype).expect("known")];
            let tensor = &STRUCTS[id as usize];
            self.preamble(SINGLE | STRUCT | DATA, None);
            let stype = tensor.stype.expect("it has one");
            self.u32(stype);
            self.null(SINGLE | STRUCT);
            self.members(&tensor.members[2..], tensor, &[]);
        } else {
            self.null(SINGLE | STRUCT);
        }
        self.members(&def.members[2..3], def, &[]);
        if tensor {
            self.array(Ty::U8, 0);
        }
    }

    /// Update-template data: three counts, three lists, tails to the end.
    fn template(&mut self) {
        if self.rng.chance(10) {
            return self.null(SINGLE | STRUCT);
        }
        if self.rng.chance(5) {
            return self.preamble(ARRAY, Some(0));
        }
        self.preamble(SINGLE | STRUCT | DATA, None);
        let counts = [self.rng.below(3), self.rng.below(3), self.rng.below(3)];
        counts.iter().for_each(|&n| self.u64(n));
        for _ in 0..counts[0] {
            self.special(&STRUCTS[NAMES.descriptor_image_info as usize]);
        }
        for _ in 0..counts[1] {
            self.strukt(&STRUCTS[NAMES.descriptor_buffer_info as usize]);
        }
        for _ in 0..counts[2] {
            self.value(Ty::Handle(NAMES.buffer_view), None);
        }
        for _ in 0..self.rng.below(3) {
            let n = self.rng.below(5);
            self.u64(n);
            if self.rng.chance(50) {
                self.u32(1_000_150_000);
                (0..n).for_each(|_| self.value(Ty::Handle(NAMES.acceleration_structure), None));
            } else {
                self.u32(1_000_138_000);
                (0..n).for_each(|_| self.value(Ty::U8, None));
            }
        }
        if self.rng.chance(10) {
            self.u64(0); // stray bytes that some old captures end with
        }
    }
}

/// Does this hold, by value, a union nothing on the wire selects a member of?
fn is_bare(ty: Ty) -> bool {
    let Ty::Struct(id) = ty else { return false };
    let def = &STRUCTS[id as usize];
    match def.special {
        Special::BareUnion => true,
        Special::None => def
            .members
            .iter()
            .any(|m| matches!(m.shape, Shape::Value | Shape::Fixed(_) | Shape::Fixed2(..)) && is_bare(m.ty)),
        _ => false,
    }
}
