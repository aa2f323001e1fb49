//! Which capabilities a module declares, and which of them its instructions need.
//!
//! Compilers declare what might be used: taichi's modules all declare floating-point minimum and maximum atomics, whether
//! they have one or not. Guarantees: what [`Capabilities::needed`] leaves out is named by no instruction and no operand of
//! the module, by the grammar of SPIR-V, or another that is declared does as well. Refuses modules with opcodes that the
//! grammar does not have.

use crate::Checked;
use rspirv::binary::{Consumer, ParseAction, parse_words};
use rspirv::dr::{Instruction, ModuleHeader, Operand};
use rspirv::spirv::{Capability, Op};
use std::collections::BTreeSet;
use std::str::FromStr;

/// See the module's header. By the names of the SPIR-V specification.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Capabilities {
    /// Declared by OpCapability.
    pub declared: BTreeSet<String>,
    /// Needed by an instruction or an operand, declared or implied by what is declared.
    pub needed: BTreeSet<String>,
}

#[derive(Default)]
struct Reader {
    declared: BTreeSet<u32>,
    needed: BTreeSet<u32>,
}

fn name(c: u32) -> Option<String> {
    Capability::from_u32(c).map(|c| format!("{c:?}"))
}

impl Capabilities {
    /// Of a module.
    pub fn of(code: Checked<'_>) -> Result<Self, String> {
        let mut r = Reader::default();
        parse_words(code.words(), &mut r).map_err(|e| e.to_string())?;
        let names = |set: BTreeSet<u32>| set.into_iter().filter_map(name).collect();
        Ok(Capabilities { declared: names(r.declared), needed: names(r.needed) })
    }
}

impl Reader {
    /// One of these is needed. Declarations come first in a module.
    fn one_of(&mut self, any: &[Capability]) {
        let declared = || any.iter().map(|c| *c as u32).filter(|c| self.declared.contains(c));
        match declared().count() {
            // What is declared implies one of them.
            0 => self.needed.extend(any.iter().map(|c| *c as u32)),
            1 => {
                let one = declared().next();
                self.needed.extend(one);
            }
            _ => {}
        }
    }
}

impl Consumer for Reader {
    fn initialize(&mut self) -> ParseAction {
        ParseAction::Continue
    }
    fn finalize(&mut self) -> ParseAction {
        ParseAction::Continue
    }
    fn consume_header(&mut self, _: ModuleHeader) -> ParseAction {
        ParseAction::Continue
    }
    fn consume_instruction(&mut self, i: Instruction) -> ParseAction {
        if i.class.opcode == Op::Capability {
            if let Some(Operand::Capability(c)) = i.operands.first() {
                self.declared.insert(*c as u32);
            }
            return ParseAction::Continue;
        }
        self.one_of(i.class.capabilities);
        for o in &i.operands {
            self.one_of(&o.required_capabilities());
        }
        ParseAction::Continue
    }
}

/// The module without these capabilities and SPIR-V extensions; `None` if it declares none of them.
pub fn without(code: Checked<'_>, capabilities: &[&str], extensions: &[&str]) -> Option<Vec<u32>> {
    let gone: Vec<u32> =
        capabilities.iter().filter_map(|c| Capability::from_str(c).ok()).map(|c| c as u32).collect();
    let words = code.words();
    let mut out = words.get(..5)?.to_vec();
    for (_, inst) in code.instructions() {
        let op = inst[0] & 0xffff;
        let drop = match op {
            x if x == Op::Capability as u32 => inst.get(1).is_some_and(|c| gone.contains(c)),
            x if x == Op::Extension as u32 => {
                let bytes: Vec<u8> = inst[1..].iter().flat_map(|w| w.to_le_bytes()).collect();
                let text = bytes.split(|b| *b == 0).next().unwrap_or_default();
                extensions.iter().any(|e| e.as_bytes() == text)
            }
            _ => false,
        };
        if !drop {
            out.extend_from_slice(inst);
        }
    }
    (out.len() != words.len()).then_some(out)
}

#[cfg(test)]
mod tests {
    use super::*;

    /// OpCapability Shader, AtomicFloat32MinMaxEXT; OpExtension; OpMemoryModel Logical GLSL450.
    fn module() -> Vec<u32> {
        let mut words = vec![0x0723_0203, 0x0001_0300, 0, 10, 0];
        words.extend([0x0002_0011, Capability::Shader as u32]);
        words.extend([0x0002_0011, Capability::AtomicFloat32MinMaxEXT as u32]);
        let name = b"SPV_EXT_shader_atomic_float_min_max\0";
        words.push((1 + name.len().div_ceil(4) as u32) << 16 | Op::Extension as u32);
        words.extend(name.chunks(4).map(|c| {
            let mut w = [0; 4];
            w[..c.len()].copy_from_slice(c);
            u32::from_le_bytes(w)
        }));
        words.extend([0x0003_000e, 0, 1]);
        words
    }

    fn checked(words: &[u32]) -> Checked<'_> {
        Checked::new(words).expect("its structure is sound")
    }

    #[test]
    fn what_is_declared_and_not_needed_goes() {
        let words = module();
        let c = Capabilities::of(checked(&words)).expect("a module");
        assert_eq!(c.declared.iter().collect::<Vec<_>>(), ["AtomicFloat32MinMaxEXT", "Shader"]);
        assert!(
            !c.needed.contains("AtomicFloat32MinMaxEXT") && c.needed.contains("Shader"),
            "{:?}",
            c.needed
        );
        let less =
            without(checked(&words), &["AtomicFloat32MinMaxEXT"], &["SPV_EXT_shader_atomic_float_min_max"])
                .expect("less");
        assert_eq!(less[5..], [0x0002_0011, 1, 0x0003_000e, 0, 1]);
        assert_eq!(without(checked(&less), &["AtomicFloat32MinMaxEXT"], &[]), None);
    }

    #[test]
    fn an_instruction_needs_its_capability() {
        let mut words = module();
        // OpTypeFloat %1 32; OpUndef %1 %3; OpAtomicFMinEXT %1 %2 %3 %3 %3 %3: in no function, which does not matter here.
        words.extend([3 << 16 | Op::TypeFloat as u32, 1, 32, 3 << 16 | Op::Undef as u32, 1, 3]);
        words.extend([7 << 16 | Op::AtomicFMinEXT as u32, 1, 2, 3, 3, 3, 3]);
        let c = Capabilities::of(checked(&words)).expect("a module");
        assert!(c.needed.contains("AtomicFloat32MinMaxEXT"), "{:?}", c.needed);
    }
}
