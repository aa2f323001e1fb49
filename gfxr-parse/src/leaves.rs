//! What a call gave, value by value, each with its path: for those who hold a few calls against each other, or show them.
//!
//! Guarantees: outputs, pointers and device addresses are left out; arrays of bytes and long arrays of numbers are one value. Refuses
//! nothing.

use crate::image::{Image, Ptr};
use crate::schema::generated::ENUMS;
use crate::schema::{EnumDef, Member, StructDef, Ty};
use crate::walk::{Masks, Outputs, Pointee, Visitor, walk_call};

/// Numbers of an array that are values of their own, at most.
const SHORT: u64 = 16;

/// A value.
#[derive(Clone, Debug, PartialEq)]
pub enum Leaf {
    /// A number, a name, a text, as it is shown.
    Plain(String),
    /// An object, by the capture's id.
    Object(u64),
    /// Bytes, or a long array.
    Bytes(Vec<u8>),
    /// A device address: whether there is one.
    Address,
}

/// All of a call, in the order of its parameters.
pub fn leaves(image: &Image) -> Vec<(String, Leaf)> {
    let mut walk = Walk {
        masks: Masks::of(image),
        outputs: Outputs::default(),
        levels: vec![Level::default()],
        leaves: vec![],
    };
    walk_call(image, &mut walk);
    walk.leaves
}

#[derive(Default)]
struct Level {
    name: String,
    at: Vec<u32>,
}

struct Walk {
    masks: Masks,
    outputs: Outputs,
    levels: Vec<Level>,
    leaves: Vec<(String, Leaf)>,
}

impl Walk {
    fn path(&self) -> String {
        let mut path = String::new();
        for level in &self.levels {
            // (structs that are one array have no name of their own)
            if !path.is_empty() && !level.name.is_empty() {
                path.push('.');
            }
            path.push_str(&level.name);
            level.at.iter().for_each(|i| path.push_str(&format!("[{i}]")));
        }
        path
    }

    fn leaf(&mut self, leaf: Leaf) {
        if !self.outputs.here() {
            let path = self.path();
            self.leaves.push((path, leaf));
        }
    }

    fn top(&mut self) -> &mut Level {
        if self.levels.is_empty() {
            self.levels.push(Level::default());
        }
        let last = self.levels.len() - 1;
        &mut self.levels[last]
    }
}

impl Visitor for Walk {
    fn value(&mut self, image: &Image, ty: Ty, at: u32) {
        let leaf = match ty {
            Ty::Handle(_) | Ty::ObjectHandle(_) if self.masks.is_rubbish(at) => return,
            Ty::Handle(_) | Ty::ObjectHandle(_) => Leaf::Object(image.u64(at)),
            Ty::Opaque => return,
            _ if self.masks.is_address(ty, at) => match image.u64(at) {
                0 => Leaf::Plain("0".into()),
                _ => Leaf::Address,
            },
            _ => Leaf::Plain(plain(image, ty, at)),
        };
        self.leaf(leaf);
    }

    fn values(&mut self, image: &Image, ty: Ty, at: u32, n: u64) {
        let size = ty.c_layout().0;
        let objects = matches!(ty, Ty::Handle(_) | Ty::ObjectHandle(_) | Ty::Opaque | Ty::DeviceAddress);
        if !objects && (size == 1 || n > SHORT) {
            let bytes = &image.bytes()[at as usize..at as usize + n as usize * size];
            return self.leaf(Leaf::Bytes(bytes.to_vec()));
        }
        self.begin_array(n);
        for i in 0..n as u32 {
            self.element(i);
            self.value(image, ty, at + i * size as u32);
        }
        self.end_array();
    }

    fn pointer(&mut self, _: &Image, p: &Ptr, what: Pointee) {
        if p.is_null() && what != Pointee::Chain {
            self.leaf(Leaf::Plain("null".into()));
        }
    }

    fn text(&mut self, image: &Image, at: u32, n: u64, unit: u32) {
        let bytes = &image.bytes()[at as usize..at as usize + n as usize * unit as usize];
        let text = if unit == 1 {
            String::from_utf8_lossy(bytes).into_owned()
        } else {
            let units: Vec<u16> = bytes.chunks_exact(2).map(|c| u16::from_le_bytes([c[0], c[1]])).collect();
            String::from_utf16_lossy(&units)
        };
        self.leaf(Leaf::Plain(format!("{text:?}")));
    }

    fn begin_array(&mut self, n: u64) {
        self.top().at.push(0);
        if n == 0 {
            self.leaf(Leaf::Plain("nothing".into()));
        }
    }

    fn element(&mut self, i: u32) {
        if let Some(last) = self.top().at.last_mut() {
            *last = i;
        }
    }

    fn end_array(&mut self) {
        _ = self.top().at.pop();
    }

    fn begin_struct(&mut self, _: &Image, def: &'static StructDef, _: u32) {
        self.outputs.begin();
        if self.top().name == "pNext" {
            self.top().name = format!("pNext<{}>", def.name);
        }
        self.levels.push(Level::default());
    }

    fn end_struct(&mut self, _: &'static StructDef) {
        self.outputs.end();
        _ = self.levels.pop();
    }

    fn member(&mut self, m: &'static Member) {
        self.outputs.member(m);
        let top = self.top();
        m.name.clone_into(&mut top.name);
        top.at.clear();
    }

    fn ret(&mut self) {
        self.outputs.result();
    }

    fn template_part(&mut self, kind: usize, _: u64) {
        let name = ["pData.images", "pData.buffers", "pData.views"].get(kind).copied().unwrap_or("pData");
        name.clone_into(&mut self.top().name);
    }
}

fn plain(image: &Image, ty: Ty, at: u32) -> String {
    match ty {
        Ty::U8 | Ty::Char => image.u8(at).to_string(),
        Ty::I8 => image.u8(at).cast_signed().to_string(),
        Ty::U16 => image.u16(at).to_string(),
        Ty::I16 => image.u16(at).cast_signed().to_string(),
        Ty::I32 => image.u32(at).cast_signed().to_string(),
        Ty::I64 => image.u64(at).cast_signed().to_string(),
        Ty::F32 => format!("{:?}", image.f32(at)),
        Ty::F64 => format!("{:?}", f64::from_bits(image.u64(at))),
        Ty::Bool32 => (image.u32(at) != 0).to_string(),
        Ty::Enum(id) => named(&ENUMS[id as usize], image.u32(at)),
        Ty::Flags(id) => bits(&ENUMS[id as usize], image.u32(at).into()),
        Ty::Flags64(id) => bits(&ENUMS[id as usize], image.u64(at)),
        Ty::U64 | Ty::Size | Ty::DeviceSize | Ty::DeviceAddress => match image.u64(at) {
            u64::MAX => "all that is left".into(),
            n => n.to_string(),
        },
        Ty::Bits { shift, width } => {
            let mask = if width >= 32 { u32::MAX } else { (1 << width) - 1 };
            (image.u32(at) >> shift & mask).to_string()
        }
        _ => image.u32(at).to_string(),
    }
}

fn named(of: &EnumDef, value: u32) -> String {
    of.value(value).map_or_else(|| value.to_string(), str::to_owned)
}

fn bits(of: &EnumDef, value: u64) -> String {
    let names: Vec<&str> = of.bits(value).collect();
    let known = value & !of.mask == 0;
    if names.is_empty() || !known { format!("{value:#x}") } else { names.join("|") }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::ahead::Call;

    #[test]
    fn values_have_their_paths() {
        let call = Call::written("vkCmdDraw", |w| {
            w.u64(7);
            for n in [36, 1, 0, 0] {
                _ = w.u32(n);
            }
        });
        let all = leaves(&call.expect("a call").image);
        assert_eq!(all[0], ("commandBuffer".into(), Leaf::Object(7)));
        assert_eq!(all[1], ("vertexCount".into(), Leaf::Plain("36".into())));
        assert_eq!(all.len(), 5);
    }
}
