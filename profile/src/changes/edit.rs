//! Edits of a decoded call, by the names of its members.
//!
//! Guarantees: only 32-bit numbers are overwritten, where a [`View`] says that they lie; structs and code that are added lie behind all others. Refuses nothing: a member that is not there
//! is not edited.

use gfxr_parse::ahead::Call;
use gfxr_parse::image::{Image, Ptr, attrib};
use gfxr_parse::view::View;
use gfxr_parse::{member, size_of_struct};

/// A number to be put somewhere in a call's image.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Edit {
    /// Where.
    pub at: u32,
    /// What.
    pub value: u32,
}

/// The same value for a member that is a number.
pub fn set(of: View<'_>, name: &str, value: u32) -> Option<Edit> {
    of.definition(name).map(|(_, at)| Edit { at, value })
}

/// The same value for all elements of an array of 32-bit numbers.
pub fn set_all(of: View<'_>, name: &str, value: u32) -> Vec<Edit> {
    let (at, n) = of.array(name).unwrap_or((0, 0));
    (0..n as u32).map(|i| Edit { at: at + i * 4, value }).collect()
}

/// Makes edits; whether anything is another now.
pub fn apply(image: &mut Image, edits: &[Edit]) -> bool {
    let mut changed = false;
    for e in edits {
        if image.u32(e.at) != e.value {
            image.edit_u32(e.at, e.value);
            changed = true;
        }
    }
    changed
}

/// Where every struct's chain lies, and what is behind it.
const NEXT: u32 = member!("VkBaseInStructure", "pNext");
const HEAD: u32 = size_of_struct!("VkBaseInStructure");
/// Bytes of a number.
pub const WORD: u32 = size_of::<u32>() as u32;

/// Where a struct has the code of a shader: its pointer, its size in bytes, and how many bytes an element has.
#[derive(Clone, Copy, Debug)]
pub struct Code {
    pointer: u32,
    size: u32,
    element: usize,
}

impl Code {
    /// Of this struct, if it has such, and its words.
    pub fn of(info: View<'_>) -> Option<(Code, Vec<u32>)> {
        let (code, pointer) = info.definition("pCode")?;
        let (_, size) = info.definition("codeSize")?;
        let words = info.bytes("pCode")?.chunks_exact(size_of::<u32>());
        let words = words.map(|w| u32::from_le_bytes([w[0], w[1], w[2], w[3]])).collect();
        Some((Code { pointer, size, element: code.ty.c_layout().0 }, words))
    }

    /// Everything in a call: what modules and shader objects are made of, and what stages of pipelines have in their chains.
    pub fn all(call: &Call) -> Vec<(Code, Vec<u32>)> {
        let v = View::call(&call.image);
        let infos = v.one("pCreateInfo").into_iter().chain(v.structs("pCreateInfos"));
        let codes = infos.flat_map(|info| {
            let stages = info.structs("pStages").chain(info.structs("stage"));
            let inline = stages.filter_map(|s| s.next("VkShaderModuleCreateInfo"));
            inline.chain([info]).filter_map(Code::of).collect::<Vec<_>>()
        });
        codes.collect()
    }

    /// Puts other words in their place.
    pub fn set(self, image: &mut Image, words: &[u32]) {
        let bytes = size_of_val(words);
        let to = image.alloc(bytes);
        (0..).zip(words).for_each(|(i, word)| image.edit_u32(to + i * WORD, *word));
        let number = image.u64(self.pointer);
        if number != 0
            && let Some(pointer) = image.ptrs.get_mut(number as usize - 1)
        {
            (pointer.to, pointer.len) = (to, (bytes / self.element) as u64);
            image.edit_u64(self.size, bytes as u64);
        }
    }
}

/// Puts a struct of these words in front of a chain, whose head is in slot `next`.
pub fn chain(image: &mut Image, next: u32, stype: u32, words: &[u32]) {
    let at = image.alloc(HEAD as usize + size_of_val(words));
    image.edit_u32(at, stype);
    (0..).zip(words).for_each(|(i, word)| image.edit_u32(at + HEAD + i * WORD, *word));
    let number = image.u64(next);
    if number != 0
        && let Some(head) = image.ptrs.get_mut(number as usize - 1)
    {
        head.at = at + NEXT;
        image.edit_u64(at + NEXT, number);
    }
    let kind = attrib::SINGLE | attrib::STRUCT | attrib::ADDRESS | attrib::DATA;
    image.ptrs.push(Ptr {
        at: next,
        to: at,
        attrib: kind,
        inline: false,
        len: 1,
        addr: at.into(),
        out_size: 0,
    });
    let number = image.ptrs.len() as u64;
    image.edit_u64(next, number);
}
