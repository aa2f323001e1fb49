//! What a capture uses, as against what it has turned on: commands, structs, enumerants, states, and what its shaders need.
//!
//! One pass that decodes everything, made only where something is missing that may not be used. Guarantees: queries of the
//! physical device, the creation of the instance and of devices, and what the capture itself answers use nothing; a call that failed at capture uses nothing; a
//! capability counts as needed if an instruction or operand of any module names it, or if a module could not be read. Refuses
//! nothing.

use gfxr_parse::container::{BlockKind, Capture, Scratch};
use gfxr_parse::decode::decode_found;
use gfxr_parse::image::{Image, Ptr};
use gfxr_parse::schema::generated::{ENUMS, SHADER_FEATURES};
use gfxr_parse::schema::{Member, StructDef, Ty, command};
use gfxr_parse::shaders::{concerns, shaders};
use gfxr_parse::walk::{Pointee, Visitor, walk_call};
use pointers::{Capabilities, Checked};
use std::collections::{BTreeSet, HashMap};

/// The first call that uses something: its block and its command.
pub type First = (u64, &'static str);

/// See the module's header.
#[derive(Clone, Debug, Default)]
pub struct Used {
    /// Commands by canonical name.
    pub commands: HashMap<&'static str, First>,
    /// Structs by name.
    pub structs: HashMap<&'static str, First>,
    /// Enumerants and single bits: (enum, value).
    pub values: HashMap<(&'static str, i64), First>,
    /// Members and parameters that are turned on somewhere: of type VkBool32, or numbers that are not the only ones without a
    /// feature.
    pub states: HashMap<&'static str, First>,
    /// Capabilities that shaders need.
    pub capabilities: BTreeSet<String>,
    /// A module could not be read: every capability counts as needed.
    pub unknown_shaders: bool,
}

/// Commands that only ask what there is, or turn it on.
fn asks(name: &str) -> bool {
    name.starts_with("vkGetPhysicalDevice")
        || name.starts_with("vkEnumerate")
        || matches!(name, "vkCreateInstance" | "vkCreateDevice")
}

/// Looks through a capture; `answered`: commands that no driver is asked, and that use nothing.
pub fn scan(capture: &Capture, answered: fn(&str) -> bool) -> Used {
    let (mut used, mut scratch, mut image) = (Used::default(), Scratch::new(), Image::default());
    for block in capture.blocks() {
        let Some(c) = block.call_id().and_then(command).filter(|c| !asks(c.name) && !answered(c.name)) else {
            continue;
        };
        let Ok(BlockKind::Call(call)) = block.kind() else { continue };
        if decode_found(c, &block, &call, &mut scratch, &mut image).is_err()
            || image.ret().is_some_and(|r| r < 0)
        {
            continue;
        }
        let first = (block.index, c.name);
        used.commands.entry(c.canonical).or_insert(first);
        walk_call(&image, &mut Sight { used: &mut used, first, member: "" });
        if concerns(c.name) {
            used.shaders(&image);
        }
    }
    used
}

/// What one call uses.
struct Sight<'u> {
    used: &'u mut Used,
    first: First,
    member: &'static str,
}

impl Visitor for Sight<'_> {
    fn value(&mut self, image: &Image, ty: Ty, at: u32) {
        let (values, first) = (&mut self.used.values, self.first);
        match ty {
            Ty::Enum(id) => {
                let v = i64::from(image.u32(at) as i32);
                values.entry((ENUMS[usize::from(id)].name, v)).or_insert(first);
            }
            Ty::Flags(id) | Ty::Flags64(id) => {
                let wide = matches!(ty, Ty::Flags64(_));
                let mut bits = if wide { image.u64(at) } else { image.u32(at).into() };
                while bits != 0 {
                    let bit = bits & bits.wrapping_neg();
                    values.entry((ENUMS[usize::from(id)].name, bit as i64)).or_insert(first);
                    bits ^= bit;
                }
            }
            Ty::Bool32 if image.u32(at) != 0 => drop(self.used.states.entry(self.member).or_insert(first)),
            // What these are without the features that let them be something else.
            Ty::F32 if self.member == "lineWidth" && ![0.0, 1.0].contains(&f32::from_bits(image.u32(at))) => {
                self.used.states.entry(self.member).or_insert(first);
            }
            Ty::U32 if self.member == "viewportCount" && image.u32(at) > 1 => {
                self.used.states.entry(self.member).or_insert(first);
            }
            _ => {}
        }
    }
    fn pointer(&mut self, _: &Image, _: &Ptr, _: Pointee) {}
    fn text(&mut self, _: &Image, _: u32, _: u64, _: u32) {}
    fn member(&mut self, m: &'static Member) {
        self.member = m.name;
    }
    fn begin_struct(&mut self, _: &Image, def: &'static StructDef, _: u32) {
        self.used.structs.entry(def.name).or_insert(self.first);
    }
}

impl Used {
    /// The modules of a call.
    fn shaders(&mut self, image: &Image) {
        for s in shaders(image) {
            let words: Vec<u32> =
                s.code.chunks_exact(4).map(|w| u32::from_le_bytes([w[0], w[1], w[2], w[3]])).collect();
            match Checked::new(&words).ok().and_then(|w| Capabilities::of(w).ok()) {
                Some(c) => self.capabilities.extend(c.needed),
                None => self.unknown_shaders = true,
            }
        }
    }

    /// Whether any shader needs a feature that only shaders use; none if it is not one of those.
    pub fn by_shaders(&self, feature: &str) -> Option<bool> {
        let needs = |c: &&str| self.capabilities.contains(*c);
        capabilities(feature).map(|c| self.unknown_shaders || c.iter().any(needs))
    }
}

/// The capabilities that a feature lets shaders have; none if the feature is not about shaders alone.
pub fn capabilities(feature: &str) -> Option<&'static [&'static str]> {
    SHADER_FEATURES.binary_search_by_key(&feature, |f| f.0).ok().map(|i| SHADER_FEATURES[i].1)
}
