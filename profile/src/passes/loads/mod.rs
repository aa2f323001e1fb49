//! Where a shader reads memory, and what from: for passes that look at addresses and values.
//!
//! A load site is a load through a pointer, or an image operation that gives texels. Only instructions of the original
//! count, in blocks that are reached. Loads of handles (images, samplers, acceleration structures) are sites of class
//! `handle`: they have an address (which descriptor), and no value that a shader could see.

mod defs;
mod names;
mod words;

pub use defs::Defs;
pub use words::Emitter;

use crate::rewrite::Shader;
use crate::spirv::{Op, Operand};
use names::Names;
use rspirv::spirv::StorageClass;

/// What memory a load reads.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash, PartialOrd, Ord)]
pub enum Class {
    /// Uniform blocks.
    Uniform,
    /// Push constants.
    Push,
    /// Storage buffers, by descriptor or by address.
    Storage,
    /// Texels: sampled, fetched, gathered, read.
    Texture,
    /// Memory of a workgroup.
    Workgroup,
    /// Shader records.
    Record,
    /// What task shaders hand to mesh shaders.
    TaskPayload,
    /// Payloads, hit attributes and callable data.
    Ray,
    /// Arrays of an invocation's own, at an index that is no constant.
    Scratch,
    /// Inputs of the stage, built-in or not.
    Input,
    /// Everything else of an invocation's own: compilers keep it in registers.
    Own,
    /// Handles.
    Handle,
}

impl Class {
    /// In records and on the command line.
    pub fn name(self) -> &'static str {
        match self {
            Class::Uniform => "uniform",
            Class::Push => "push",
            Class::Storage => "storage",
            Class::Texture => "texture",
            Class::Workgroup => "workgroup",
            Class::Record => "record",
            Class::TaskPayload => "task-payload",
            Class::Ray => "ray",
            Class::Scratch => "scratch",
            Class::Input => "input",
            Class::Own => "own",
            Class::Handle => "handle",
        }
    }
}

/// A place where memory is read.
#[derive(Clone, Debug)]
pub struct Load {
    /// The function and block, as indices into the facts.
    pub function: u32,
    /// The block.
    pub block: u32,
    /// Where it stands in the module now: function, block, instruction.
    pub at: (usize, usize, usize),
    /// Where it stood in the original.
    pub word_offset: u32,
    /// What is read.
    pub class: Class,
    /// The result and its type.
    pub result: u32,
    /// Its type.
    pub ty: u32,
    /// What its address is made of.
    pub address: Address,
    /// What it reads, in words: `camera.view[2].x`, `ImageFetch albedo`.
    pub name: String,
}

/// What an address is made of.
#[derive(Clone, Debug, Default)]
pub struct Address {
    /// What it depends on: it is uniform where all of these are.
    pub depends: Vec<u32>,
    /// Values that say which word or texel: indices that are no constants, coordinates, physical pointers.
    pub parts: Vec<u32>,
    /// It starts from a pointer that a function was given, which a probe cannot see.
    pub hidden: bool,
}

impl Defs {
    fn address(&self, pointer: u32) -> Address {
        let (root, mut indices) = self.chain(pointer);
        indices.reverse();
        let mut parts: Vec<u32> = indices.into_iter().filter(|i| !self.constants.contains(i)).collect();
        let variable =
            self.get(root).is_some_and(|i| matches!(i.op(), Op::Variable | Op::UntypedVariableKHR));
        let physical = self.class_of(root) == Some(StorageClass::PhysicalStorageBuffer);
        if !variable && physical {
            parts.insert(0, root);
        }
        Address { depends: vec![pointer], parts, hidden: !variable && !physical }
    }

    /// The pointer that an image was loaded through.
    fn image_pointer(&self, image: u32) -> Option<u32> {
        let mut i = self.get(image)?;
        while matches!(i.op(), Op::SampledImage | Op::Image | Op::CopyObject) {
            i = self.get(i.id_at(0)?)?;
        }
        i.id_at(0).filter(|_| i.op() == Op::Load)
    }

    fn is_handle(&self, ty: u32) -> bool {
        let Some(t) = self.get(ty) else { return true };
        match t.op() {
            Op::TypeArray | Op::TypeRuntimeArray => t.id_at(0).is_none_or(|of| self.is_handle(of)),
            Op::TypeBool | Op::TypeInt | Op::TypeFloat | Op::TypeVector | Op::TypeMatrix | Op::TypeStruct => {
                false
            }
            Op::TypePointer => false,
            _ => true,
        }
    }

    /// What a load reads; `None` if it reads nothing that is known of.
    fn class_of_load(&self, pointer: u32, ty: u32, dynamic: bool) -> Option<Class> {
        if self.is_handle(ty) {
            return Some(Class::Handle);
        }
        Some(match self.class_of(pointer)? {
            StorageClass::Uniform if self.is_block(pointer) => Class::Uniform,
            StorageClass::Uniform | StorageClass::StorageBuffer | StorageClass::PhysicalStorageBuffer => {
                Class::Storage
            }
            StorageClass::PushConstant => Class::Push,
            StorageClass::UniformConstant => Class::Handle,
            StorageClass::Workgroup => Class::Workgroup,
            StorageClass::ShaderRecordBufferKHR => Class::Record,
            StorageClass::TaskPayloadWorkgroupEXT => Class::TaskPayload,
            StorageClass::RayPayloadKHR
            | StorageClass::IncomingRayPayloadKHR
            | StorageClass::HitAttributeKHR
            | StorageClass::CallableDataKHR
            | StorageClass::IncomingCallableDataKHR => Class::Ray,
            StorageClass::Function | StorageClass::Private if dynamic => Class::Scratch,
            StorageClass::Input => Class::Input,
            _ => Class::Own,
        })
    }

    fn is_block(&self, pointer: u32) -> bool {
        let (root, _) = self.chain(pointer);
        let mut ty = self.type_of(root).and_then(|p| p.id_at(1));
        while let Some(t) = ty.and_then(|t| self.get(t)) {
            if !matches!(t.op(), Op::TypeArray | Op::TypeRuntimeArray) {
                return t.id().is_some_and(|t| self.blocks.contains(&t));
            }
            ty = t.id_at(0);
        }
        false
    }
}

fn is_texel(op: Op) -> bool {
    use Op::*;
    matches!(
        op,
        ImageSampleImplicitLod
            | ImageSampleExplicitLod
            | ImageSampleDrefImplicitLod
            | ImageSampleDrefExplicitLod
            | ImageSampleProjImplicitLod
            | ImageSampleProjExplicitLod
            | ImageSampleProjDrefImplicitLod
            | ImageSampleProjDrefExplicitLod
            | ImageFetch
            | ImageGather
            | ImageDrefGather
            | ImageRead
            | ImageSparseSampleImplicitLod
            | ImageSparseSampleExplicitLod
            | ImageSparseSampleDrefImplicitLod
            | ImageSparseSampleDrefExplicitLod
            | ImageSparseFetch
            | ImageSparseGather
            | ImageSparseDrefGather
            | ImageSparseRead
    )
}

/// Every load site, in the order of functions, blocks and instructions.
pub fn loads(shader: &Shader, defs: &Defs) -> Vec<Load> {
    let names = Names::of(&shader.original);
    let mut out = Vec::new();
    for (function, block) in shader.blocks() {
        let (f, b) = shader.block(function, block);
        for (n, i) in shader.module.functions[f].blocks[b].body.iter().enumerate() {
            let (Some(word_offset), Some(result), Some(ty)) = (i.at, i.id(), i.inst.result_type) else {
                continue;
            };
            let (class, address, name) = match i.op() {
                Op::Load => {
                    let Some(pointer) = i.id_at(0) else { continue };
                    let address = defs.address(pointer);
                    let dynamic = !address.parts.is_empty();
                    let Some(class) = defs.class_of_load(pointer, ty, dynamic) else { continue };
                    (class, address, names.path(defs, pointer))
                }
                op if is_texel(op) => {
                    let image = i.id_at(0).and_then(|image| defs.image_pointer(image));
                    let mut address = image.map(|p| defs.address(p)).unwrap_or_default();
                    address.depends = i.inst.operands.iter().filter_map(Operand::id_ref_any).collect();
                    let rest = i.inst.operands[1..].iter().filter_map(Operand::id_ref_any);
                    address.parts.extend(rest.filter(|id| !defs.constants.contains(id)));
                    let of = image.map(|p| names.path(defs, p)).unwrap_or_default();
                    (Class::Texture, address, format!("{op:?} {of}").trim_end().to_owned())
                }
                _ => continue,
            };
            out.push(Load { function, block, at: (f, b, n), word_offset, class, result, ty, address, name });
        }
    }
    out
}

/// A text as words of a site's data.
pub fn words_of_text(text: &str) -> impl Iterator<Item = u32> + '_ {
    text.bytes().map(u32::from)
}

/// The text again.
pub fn text_of(words: &[u32]) -> String {
    let bytes: Vec<u8> = words.iter().map(|&b| b as u8).collect();
    String::from_utf8_lossy(&bytes).into_owned()
}
