//! A module's words by what they define: types, constants, decorations, the instructions of functions.
//!
//! Guarantees: what is found is what the words say. Refuses nothing: the words were checked.

use crate::Checked;
use std::collections::HashMap;

pub(crate) const PHYSICAL_STORAGE_BUFFER: u32 = 5347;
/// RayQueryKHR: structures may be made from addresses. (RayTracingKHR is 4479.)
pub(crate) const RAY_QUERY_FROM_ADDRESS: u32 = 4472;

/// Opcodes, by their names in the specification.
pub(crate) mod op {
    pub const ENTRY_POINT: u16 = 15;
    pub const CAPABILITY: u16 = 17;
    pub const TYPE_INT: u16 = 21;
    pub const TYPE_FLOAT: u16 = 22;
    pub const TYPE_VECTOR: u16 = 23;
    pub const TYPE_MATRIX: u16 = 24;
    pub const TYPE_ARRAY: u16 = 28;
    pub const TYPE_RUNTIME_ARRAY: u16 = 29;
    pub const TYPE_STRUCT: u16 = 30;
    pub const TYPE_POINTER: u16 = 32;
    pub const CONSTANT: u16 = 43;
    pub const SPEC_CONSTANT: u16 = 50;
    pub const FUNCTION: u16 = 54;
    pub const FUNCTION_PARAMETER: u16 = 55;
    pub const FUNCTION_END: u16 = 56;
    pub const FUNCTION_CALL: u16 = 57;
    pub const VARIABLE: u16 = 59;
    pub const LOAD: u16 = 61;
    pub const STORE: u16 = 62;
    pub const ACCESS_CHAIN: u16 = 65;
    pub const IN_BOUNDS_ACCESS_CHAIN: u16 = 66;
    pub const PTR_ACCESS_CHAIN: u16 = 67;
    pub const IN_BOUNDS_PTR_ACCESS_CHAIN: u16 = 70;
    pub const DECORATE: u16 = 71;
    pub const MEMBER_DECORATE: u16 = 72;
    pub const VECTOR_SHUFFLE: u16 = 79;
    pub const COMPOSITE_CONSTRUCT: u16 = 80;
    pub const COMPOSITE_EXTRACT: u16 = 81;
    pub const COPY_OBJECT: u16 = 83;
    pub const U_CONVERT: u16 = 113;
    pub const CONVERT_U_TO_PTR: u16 = 120;
    pub const BITCAST: u16 = 124;
    pub const I_ADD: u16 = 128;
    pub const I_SUB: u16 = 130;
    pub const SELECT: u16 = 169;
    pub const SHIFT_LEFT_LOGICAL: u16 = 196;
    pub const BITWISE_OR: u16 = 197;
    pub const PHI: u16 = 245;
    pub const RETURN_VALUE: u16 = 254;
    pub const COPY_LOGICAL: u16 = 400;
    pub const CONVERT_U_TO_ACCELERATION_STRUCTURE: u16 = 4447;
    pub const TYPE_ACCELERATION_STRUCTURE: u16 = 5341;
}

/// An entry point.
pub(crate) struct EntryPoint {
    pub name: String,
    pub model: u32,
    pub interface: Vec<u32>,
}

/// See the module's header.
pub(crate) struct Index<'w> {
    words: &'w [u32],
    /// By id, where the defining instruction's first word stands; 0 if none is kept.
    defs: Vec<u32>,
    pub entries: Vec<EntryPoint>,
    /// From version 1.4 on, interfaces list every global variable.
    pub lists_all_variables: bool,
    /// Module-scope variables.
    pub globals: Vec<u32>,
    pub member_offset: HashMap<(u32, u32), u32>,
    pub matrix_stride: HashMap<(u32, u32), u32>,
    pub array_stride: HashMap<u32, u32>,
    pub set: HashMap<u32, u32>,
    pub binding: HashMap<u32, u32>,
    /// Values stored, by the pointer they are stored to: (pointer, value).
    pub stores: Vec<(u32, u32)>,
    /// Arguments, by function.
    pub calls: HashMap<u32, Vec<&'w [u32]>>,
    /// Values returned, by function.
    pub returns: HashMap<u32, Vec<u32>>,
    /// The function and place of a parameter.
    pub parameters: HashMap<u32, (u32, usize)>,
    /// Instructions that make pointers or structures of values.
    pub casts: Vec<&'w [u32]>,
}

/// The opcode of an instruction.
pub(crate) fn opcode(words: &[u32]) -> u16 {
    words.first().map_or(0, |w| *w as u16)
}

/// The capabilities, which stand first.
pub(crate) fn capabilities(code: Checked<'_>) -> impl Iterator<Item = u32> {
    code.instructions()
        .map(|(_, i)| i)
        .take_while(|i| opcode(i) == op::CAPABILITY)
        .filter_map(|i| i.get(1).copied())
}

/// A literal string, and how many words it takes.
pub(crate) fn string(words: &[u32]) -> (String, usize) {
    let bytes: Vec<u8> = words.iter().flat_map(|w| w.to_le_bytes()).collect();
    let n = bytes.iter().position(|b| *b == 0).unwrap_or(bytes.len());
    (String::from_utf8_lossy(&bytes[..n]).into_owned(), n / 4 + 1)
}

impl<'w> Index<'w> {
    pub fn read(code: Checked<'w>) -> Self {
        let mut i = Index {
            words: code.words(),
            defs: vec![0; code.bound() as usize],
            entries: Vec::new(),
            lists_all_variables: code.version() >= 0x0001_0400,
            globals: Vec::new(),
            member_offset: HashMap::new(),
            matrix_stride: HashMap::new(),
            array_stride: HashMap::new(),
            set: HashMap::new(),
            binding: HashMap::new(),
            stores: Vec::new(),
            calls: HashMap::new(),
            returns: HashMap::new(),
            parameters: HashMap::new(),
            casts: Vec::new(),
        };
        let (mut function, mut parameter) = (0, 0);
        for (at, found) in code.instructions() {
            i.instruction(at, found, &mut function, &mut parameter);
        }
        i
    }

    fn instruction(&mut self, at: usize, w: &'w [u32], function: &mut u32, parameter: &mut usize) {
        let code = opcode(w);
        match (code, w) {
            (op::ENTRY_POINT, [_, model, _, rest @ ..]) => {
                let (name, n) = string(rest);
                let interface = rest.get(n..).unwrap_or_default().to_vec();
                self.entries.push(EntryPoint { name, model: *model, interface });
            }
            (op::DECORATE, [_, target, 6, n, ..]) => drop(self.array_stride.insert(*target, *n)),
            (op::DECORATE, [_, target, 33, n, ..]) => drop(self.binding.insert(*target, *n)),
            (op::DECORATE, [_, target, 34, n, ..]) => drop(self.set.insert(*target, *n)),
            (op::MEMBER_DECORATE, [_, s, m, 35, n, ..]) => drop(self.member_offset.insert((*s, *m), *n)),
            (op::MEMBER_DECORATE, [_, s, m, 7, n, ..]) => drop(self.matrix_stride.insert((*s, *m), *n)),
            (op::STORE, [_, to, value, ..]) => self.stores.push((*to, *value)),
            (op::RETURN_VALUE, [_, value, ..]) => self.returns.entry(*function).or_default().push(*value),
            (19..=38 | op::TYPE_ACCELERATION_STRUCTURE, [_, id, ..]) => self.define(*id, at),
            (op::FUNCTION, [_, _, id, ..]) => (*function, *parameter) = (*id, 0),
            (op::FUNCTION_END, _) => *function = 0,
            (op::FUNCTION_PARAMETER, [_, _, id, ..]) => {
                self.parameters.insert(*id, (*function, *parameter));
                *parameter += 1;
                self.define(*id, at);
            }
            (op::VARIABLE, [_, _, id, ..]) => {
                if *function == 0 {
                    self.globals.push(*id);
                }
                self.define(*id, at);
            }
            (op::FUNCTION_CALL, [_, _, id, callee, arguments @ ..]) => {
                self.calls.entry(*callee).or_default().push(arguments);
                self.define(*id, at);
            }
            (op::CONVERT_U_TO_PTR | op::BITCAST | op::CONVERT_U_TO_ACCELERATION_STRUCTURE, [_, _, id, _]) => {
                self.casts.push(w);
                self.define(*id, at);
            }
            (
                op::CONSTANT
                | op::SPEC_CONSTANT
                | op::LOAD
                | op::ACCESS_CHAIN
                | op::IN_BOUNDS_ACCESS_CHAIN
                | op::PTR_ACCESS_CHAIN
                | op::IN_BOUNDS_PTR_ACCESS_CHAIN
                | op::VECTOR_SHUFFLE
                | op::COMPOSITE_CONSTRUCT
                | op::COMPOSITE_EXTRACT
                | op::COPY_OBJECT
                | op::U_CONVERT
                | op::I_ADD
                | op::I_SUB
                | op::SELECT
                | op::SHIFT_LEFT_LOGICAL
                | op::BITWISE_OR
                | op::PHI
                | op::COPY_LOGICAL,
                [_, _, id, ..],
            ) => self.define(*id, at),
            _ => {}
        }
    }

    fn define(&mut self, id: u32, at: usize) {
        if let Some(d) = self.defs.get_mut(id as usize) {
            *d = at as u32;
        }
    }

    /// The instruction that defines an id; empty if none is kept.
    pub fn def(&self, id: u32) -> &'w [u32] {
        match self.defs.get(id as usize).map_or(0, |at| *at as usize) {
            0 => &[],
            at => &self.words[at..at + (self.words[at] >> 16) as usize],
        }
    }
    /// A constant's low word.
    pub fn constant(&self, id: u32) -> Option<u32> {
        match self.def(id) {
            w @ [_, _, _, value, ..] if matches!(opcode(w), op::CONSTANT | op::SPEC_CONSTANT) => Some(*value),
            _ => None,
        }
    }
    /// The type of a value.
    pub fn type_of(&self, value: u32) -> u32 {
        match self.def(value) {
            [_, ty, _, ..] => *ty,
            _ => 0,
        }
    }
    /// Storage class and pointee of a pointer type.
    pub fn pointer(&self, ty: u32) -> Option<(u32, u32)> {
        match self.def(ty) {
            w @ [_, _, class, to, ..] if opcode(w) == op::TYPE_POINTER => Some((*class, *to)),
            _ => None,
        }
    }
}
