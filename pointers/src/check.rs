//! Whether words are a SPIR-V module that can be walked: checked once, before anything walks it or a driver is given it.
//!
//! What [`check`] accepts keeps to this, and whoever reads it afterwards may rely on it: every instruction lies within the
//! module and has the words that its opcode needs, strings end in their instruction, ids are below the bound and defined
//! once, types are made of types defined before them (but for pointers that are declared ahead) and nest no deeper than
//! [`DEEPEST_TYPE`], functions begin and end, entry points name functions that there are, and no function calls itself, by
//! whatever way. It is one pass over the words. What only a validator knows (types of operands, control flow,
//! capabilities) is not looked at, nor are opcodes that have no line here.

use crate::Error;
use crate::index::{MAGIC, MAX_IDS, instructions, op, opcode};
use rspirv::spirv::Op;
use std::collections::HashMap;

/// Deepest nesting of types; SPIR-V's universal limit for structs is 255.
pub const DEEPEST_TYPE: u32 = 255;

/// Opcodes that only this looks at.
mod more {
    pub const SOURCE_CONTINUED: u16 = 2;
    pub const NAME: u16 = 5;
    pub const MEMBER_NAME: u16 = 6;
    pub const STRING: u16 = 7;
    pub const EXTENSION: u16 = 10;
    pub const EXT_INST_IMPORT: u16 = 11;
    pub const EXT_INST: u16 = 12;
    pub const EXECUTION_MODE: u16 = 16;
    pub const TYPE_VOID: u16 = 19;
    pub const TYPE_IMAGE: u16 = 25;
    pub const TYPE_SAMPLER: u16 = 26;
    pub const TYPE_SAMPLED_IMAGE: u16 = 27;
    pub const TYPE_FUNCTION: u16 = 33;
    pub const TYPE_FORWARD_POINTER: u16 = 39;
    pub const CONSTANT_TRUE: u16 = 41;
    pub const SPEC_CONSTANT_OP: u16 = 52;
    pub const LABEL: u16 = 248;
    pub const BRANCH: u16 = 249;
}

/// What an opcode's words are, as far as it matters here.
#[derive(Clone, Copy)]
enum Form {
    /// So many words, the first among them.
    Words(usize),
    /// A result without a type.
    Result(usize),
    /// A type, then a result.
    Typed(usize),
    /// A type, whose operands from this word on are types (one, or all that are left).
    Type(usize, Types),
    /// A string begins at this word.
    Text(usize),
}

#[derive(Clone, Copy)]
enum Types {
    None,
    One,
    All,
}

fn form(code: u16) -> Option<Form> {
    use Form::{Result, Text, Type, Typed, Words};
    Some(match code {
        more::SOURCE_CONTINUED | more::EXTENSION => Text(1),
        more::NAME => Text(2),
        more::MEMBER_NAME => Text(3),
        more::STRING | more::EXT_INST_IMPORT => Text(2),
        op::ENTRY_POINT => Text(3),
        more::EXECUTION_MODE => Words(3),
        op::CAPABILITY => Words(2),
        more::TYPE_VOID | 20 | more::TYPE_SAMPLER | op::TYPE_ACCELERATION_STRUCTURE => Type(2, Types::None),
        op::TYPE_FLOAT => Type(3, Types::None),
        op::TYPE_INT => Type(4, Types::None),
        op::TYPE_VECTOR | op::TYPE_MATRIX => Type(2, Types::One),
        more::TYPE_IMAGE | more::TYPE_SAMPLED_IMAGE | op::TYPE_ARRAY | op::TYPE_RUNTIME_ARRAY => {
            Type(2, Types::One)
        }
        op::TYPE_STRUCT | more::TYPE_FUNCTION => Type(2, Types::All),
        op::TYPE_POINTER => Type(3, Types::One),
        more::TYPE_FORWARD_POINTER => Words(3),
        op::CONSTANT | op::SPEC_CONSTANT => Typed(4),
        more::CONSTANT_TRUE..=more::SPEC_CONSTANT_OP => Typed(3),
        op::FUNCTION => Typed(5),
        op::FUNCTION_PARAMETER => Typed(3),
        op::FUNCTION_END => Words(1),
        op::FUNCTION_CALL | op::VARIABLE | op::LOAD | op::ACCESS_CHAIN | op::IN_BOUNDS_ACCESS_CHAIN => {
            Typed(4)
        }
        op::PTR_ACCESS_CHAIN | op::IN_BOUNDS_PTR_ACCESS_CHAIN | more::EXT_INST => Typed(5),
        op::STORE | op::DECORATE => Words(3),
        op::MEMBER_DECORATE => Words(4),
        more::LABEL => Result(2),
        more::BRANCH | op::RETURN_VALUE => Words(2),
        op::COPY_OBJECT | op::BITCAST | op::CONVERT_U_TO_PTR | op::U_CONVERT | op::COPY_LOGICAL => Typed(4),
        op::I_ADD | op::I_SUB | op::SHIFT_LEFT_LOGICAL | op::BITWISE_OR => Typed(5),
        op::SELECT => Typed(6),
        _ if OTHER_TYPES.contains(&code) => Type(2, Types::None),
        _ => return None,
    })
}

/// Types that other types may be made of, and that are not walked into: opaque ones, events, pipes; ray queries, hit objects,
/// tensors, cooperative matrices and vectors, untyped pointers and others of extensions.
const OTHER_TYPES: &[u16] = &[
    31, 34, 35, 36, 37, 38, 322, 327, 4163, 4190, 4417, 4456, 4472, 5076, 5115, 5281, 5288, 5313, 5358, 5370,
    5371, 6086,
];

/// See the module's header.
pub fn check(words: &[u32]) -> Result<(), Error> {
    let &[magic, version, _, bound, schema, ..] = words else {
        return Err(Error { word: words.len(), what: "expected a header of 5 words" });
    };
    let header = |word, what| Err(Error { word, what });
    match () {
        () if magic != MAGIC => {
            return header(0, "expected SPIR-V's magic number, in this machine's byte order");
        }
        () if version >> 16 != 1 => return header(1, "expected version 1"),
        () if bound == 0 || bound > MAX_IDS => return header(3, "expected a bound of 1 to 4,194,304 ids"),
        () if schema != 0 => return header(4, "expected schema 0"),
        () => {}
    }
    let mut c = Checker {
        depth: vec![UNDEFINED; bound as usize],
        entries: Vec::new(),
        calls: HashMap::new(),
        functions: Vec::new(),
        function: None,
        newer: false,
    };
    let mut at = 5;
    for found in instructions(words) {
        let w = found?;
        c.instruction(w).map_err(|what| Error { word: at, what })?;
        at += w.len();
    }
    c.end().map_err(|what| Error { word: words.len(), what })
}

/// The entry points of a checked module: execution model and name.
pub fn entry_points(words: &[u32]) -> impl Iterator<Item = (u32, String)> {
    instructions(words).map_while(Result::ok).take_while(|w| opcode(w) != op::FUNCTION).filter_map(
        |w| match (opcode(w), w) {
            (op::ENTRY_POINT, [_, model, _, name @ ..]) => Some((*model, crate::index::string(name).0)),
            _ => None,
        },
    )
}

/// The descriptors that an entry point of a checked module uses: set and binding of each variable that an instruction of a
/// function which it calls, by whatever way, reads, writes or points into.
pub fn descriptors(words: &[u32], model: u32, name: &str) -> Vec<(u32, u32)> {
    let (mut sets, mut bindings, mut entry) = (HashMap::new(), HashMap::new(), None);
    let mut bodies: HashMap<u32, (Vec<u32>, Vec<u32>)> = HashMap::new();
    let mut function = 0;
    for w in instructions(words).map_while(Result::ok) {
        let (_, used) = bodies.entry(function).or_default();
        match (opcode(w), w) {
            (op::ENTRY_POINT, [_, m, id, text @ ..])
                if *m == model && crate::index::string(text).0 == name =>
            {
                entry = Some(*id);
            }
            (op::DECORATE, [_, target, 33, n, ..]) => drop(bindings.insert(*target, *n)),
            (op::DECORATE, [_, target, 34, n, ..]) => drop(sets.insert(*target, *n)),
            (op::FUNCTION, [_, _, id, ..]) => function = *id,
            (op::FUNCTION_CALL, [_, _, _, callee, arguments @ ..]) => {
                used.extend(arguments);
                bodies.entry(function).or_default().0.push(*callee);
            }
            (op::STORE, [_, to, ..]) => used.push(*to),
            // Loads, access chains, copies; pointers to texels, lengths of arrays.
            (op::LOAD | 60 | 65..=70 | op::COPY_OBJECT, [_, _, _, from, ..]) => used.push(*from),
            _ => {}
        }
    }
    let (mut open, mut seen, mut found) = (Vec::from_iter(entry), Vec::new(), Vec::new());
    while let Some(f) = open.pop() {
        if seen.contains(&f) {
            continue;
        }
        seen.push(f);
        let Some((calls, used)) = bodies.get(&f) else { continue };
        open.extend(calls);
        found.extend(used.iter().filter_map(|id| Some((*sets.get(id)?, *bindings.get(id)?))));
    }
    found.sort_unstable();
    found.dedup();
    found
}

/// Of an id that nothing has defined yet.
const UNDEFINED: u32 = u32::MAX;
/// Of a pointer type that is declared ahead.
const AHEAD: u32 = u32::MAX - 1;
/// Of an id that is no type.
const VALUE: u32 = u32::MAX - 2;
/// Of an id that an unknown opcode must have defined: it may not be defined again, so that types stay without circles.
const ELSEWHERE: u32 = u32::MAX - 3;

struct Checker {
    /// By id: how deep the type nests, or one of the above.
    depth: Vec<u32>,
    /// The functions of entry points.
    entries: Vec<u32>,
    /// By function, the functions that it calls.
    calls: HashMap<u32, Vec<u32>>,
    functions: Vec<u32>,
    /// The function that is open.
    function: Option<u32>,
    /// It has an opcode that the grammar of this build does not: perhaps one that defines types.
    newer: bool,
}

impl Checker {
    fn instruction(&mut self, w: &[u32]) -> Result<(), &'static str> {
        let code = opcode(w);
        let Some(form) = form(code) else {
            self.newer |= Op::from_u32(code.into()).is_none();
            return Ok(());
        };
        let least = match form {
            Form::Words(n) | Form::Result(n) | Form::Typed(n) => n,
            Form::Type(n, Types::None | Types::All) => n,
            Form::Type(n, Types::One) => n + 1,
            Form::Text(n) => n + 1,
        };
        if w.len() < least {
            return Err("the instruction has fewer words than its opcode needs");
        }
        match form {
            Form::Words(_) => {}
            Form::Result(_) => self.define(w[1], VALUE)?,
            Form::Typed(_) => {
                self.known(w[1])?;
                self.define(w[2], VALUE)?;
            }
            Form::Type(first, operands) => {
                let operands = match operands {
                    Types::None => &[][..],
                    Types::One => &w[first..=first],
                    Types::All => &w[first..],
                };
                let mut depth = 0;
                for ty in operands {
                    depth = depth.max(self.type_of(*ty)? + 1);
                }
                if depth > DEEPEST_TYPE {
                    return Err("types nest deeper than SPIR-V allows");
                }
                self.define(w[1], depth)?;
            }
            Form::Text(n) => {
                let ends = w[n..].iter().any(|word| word.to_le_bytes().contains(&0));
                if !ends {
                    return Err("a string does not end within its instruction");
                }
                if matches!(code, more::STRING | more::EXT_INST_IMPORT) {
                    self.define(w[1], VALUE)?;
                }
            }
        }
        self.function_of(code, w)
    }

    /// Functions, their blocks and their calls.
    fn function_of(&mut self, code: u16, w: &[u32]) -> Result<(), &'static str> {
        match (code, self.function) {
            (op::ENTRY_POINT, _) => self.entries.push(w[2]),
            (more::TYPE_FORWARD_POINTER, _) => {
                let at = self.at(w[1])?;
                if self.depth[at] == UNDEFINED {
                    self.depth[at] = AHEAD;
                }
            }
            (op::FUNCTION, None) => {
                self.function = Some(w[2]);
                self.functions.push(w[2]);
            }
            (op::FUNCTION, Some(_)) => return Err("a function begins within another"),
            (op::FUNCTION_END, Some(_)) => self.function = None,
            (op::FUNCTION_END | op::FUNCTION_PARAMETER | more::LABEL, None) => {
                return Err("expected a function around it");
            }
            (op::FUNCTION_CALL, Some(caller)) => self.calls.entry(caller).or_default().push(w[3]),
            (op::FUNCTION_CALL, None) => return Err("expected a function around it"),
            _ => {}
        }
        Ok(())
    }

    fn at(&self, id: u32) -> Result<usize, &'static str> {
        match id {
            0 => Err("id 0 is no id"),
            id if (id as usize) < self.depth.len() => Ok(id as usize),
            _ => Err("an id is not below the bound"),
        }
    }

    fn define(&mut self, id: u32, depth: u32) -> Result<(), &'static str> {
        let at = self.at(id)?;
        match self.depth[at] {
            UNDEFINED | AHEAD => self.depth[at] = depth,
            _ => return Err("an id is defined twice"),
        }
        Ok(())
    }

    /// Of a value's type.
    fn known(&mut self, ty: u32) -> Result<(), &'static str> {
        let at = self.at(ty)?;
        match self.depth[at] {
            UNDEFINED if self.newer => self.depth[at] = ELSEWHERE,
            UNDEFINED | AHEAD => return Err("the type is not defined before it"),
            _ => {}
        }
        Ok(())
    }

    /// How deep a type nests that another is made of.
    fn type_of(&mut self, ty: u32) -> Result<u32, &'static str> {
        let at = self.at(ty)?;
        match self.depth[at] {
            UNDEFINED if self.newer => {
                self.depth[at] = ELSEWHERE;
                Ok(0)
            }
            UNDEFINED => Err("a type is made of one that is not defined before it"),
            AHEAD | ELSEWHERE => Ok(0),
            VALUE => Err("a type is made of what is no type"),
            depth => Ok(depth),
        }
    }

    fn end(&self) -> Result<(), &'static str> {
        if self.function.is_some() {
            return Err("expected the end of a function");
        }
        if self.entries.iter().any(|f| !self.functions.contains(f)) {
            return Err("an entry point is no function of the module");
        }
        // Depth first, without recursion of our own: a function met while it is open calls itself.
        let mut done: HashMap<u32, bool> = HashMap::new();
        for &function in &self.functions {
            let mut open = vec![(function, 0)];
            while let Some((f, next)) = open.last_mut() {
                let callees = self.calls.get(f).map_or(&[][..], |c| c);
                if *next == 0 && done.insert(*f, false) == Some(true) {
                    done.insert(*f, true);
                    open.pop();
                    continue;
                }
                match callees.get(*next) {
                    None => {
                        done.insert(*f, true);
                        open.pop();
                    }
                    Some(callee) => {
                        *next += 1;
                        match done.get(callee) {
                            Some(true) => {}
                            Some(false) => return Err("a function calls itself"),
                            None => open.push((*callee, 0)),
                        }
                    }
                }
            }
        }
        Ok(())
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn inst(code: u16, operands: &[u32]) -> Vec<u32> {
        let mut w = vec![(operands.len() as u32 + 1) << 16 | u32::from(code)];
        w.extend(operands);
        w
    }

    fn module(instructions: &[Vec<u32>]) -> Vec<u32> {
        let mut words = vec![MAGIC, 0x0001_0500, 0, 20, 0];
        words.extend(instructions.concat());
        words
    }

    fn refused(instructions: &[Vec<u32>]) -> String {
        check(&module(instructions)).expect_err("refused").to_string()
    }

    const FLOAT: [u32; 2] = [1, 32];

    #[test]
    fn types_are_made_of_types_before_them() {
        let float = inst(op::TYPE_FLOAT, &FLOAT);
        let vector = |of| inst(op::TYPE_VECTOR, &[2, of, 4]);
        assert_eq!(check(&module(&[float.clone(), vector(1)])), Ok(()));
        assert_eq!(
            refused(&[float.clone(), vector(2)]),
            "word 8: a type is made of one that is not defined before it"
        );
        assert_eq!(refused(&[float.clone(), float.clone()]), "word 8: an id is defined twice");
        assert_eq!(refused(&[inst(op::TYPE_FLOAT, &[20, 32])]), "word 5: an id is not below the bound");
        assert_eq!(refused(&[inst(op::TYPE_FLOAT, &[0, 32])]), "word 5: id 0 is no id");
        // A list: its pointer is declared ahead.
        let ahead = inst(more::TYPE_FORWARD_POINTER, &[5, 5349]);
        let (node, pointer) = (inst(op::TYPE_STRUCT, &[4, 1, 5]), inst(op::TYPE_POINTER, &[5, 5349, 4]));
        assert_eq!(check(&module(&[float.clone(), ahead, node.clone(), pointer.clone()])), Ok(()));
        assert!(refused(&[float, node, pointer]).starts_with("word 8: a type is made of"));
    }

    #[test]
    fn what_newer_opcodes_define_is_taken_as_defined_and_not_defined_again() {
        let newer = inst(9999, &[7, 1]);
        let vector = inst(op::TYPE_VECTOR, &[2, 7, 4]);
        assert_eq!(check(&module(&[newer.clone(), vector.clone()])), Ok(()));
        assert!(refused(&[vector.clone()]).contains("not defined before it"));
        let circle = inst(op::TYPE_VECTOR, &[7, 2, 4]);
        assert!(refused(&[newer, vector, circle]).ends_with("an id is defined twice"));
    }

    #[test]
    fn descriptors_are_those_that_reachable_functions_use() {
        let decorate = |id, set, binding| {
            [inst(op::DECORATE, &[id, 34, set]), inst(op::DECORATE, &[id, 33, binding])].concat()
        };
        let function = |id, body: &[Vec<u32>]| {
            [inst(op::FUNCTION, &[1, id, 0, 2]), body.concat(), inst(op::FUNCTION_END, &[])].concat()
        };
        let words = module(&[
            inst(op::ENTRY_POINT, &[5, 3, 0x006e_6961]),
            decorate(10, 0, 4),
            decorate(11, 1, 5),
            decorate(12, 2, 6),
            function(3, &[inst(op::LOAD, &[1, 14, 10]), inst(op::FUNCTION_CALL, &[1, 15, 4])]),
            function(4, &[inst(op::ACCESS_CHAIN, &[1, 16, 11, 12])]),
            function(5, &[inst(op::LOAD, &[1, 17, 12])]),
        ]);
        // An index is no use of what has its number.
        assert_eq!(descriptors(&words, 5, "ain"), [(0, 4), (1, 5)]);
        assert_eq!(descriptors(&words, 4, "ain"), []);
    }

    #[test]
    fn types_nest_only_so_deep() {
        let deep = |n: u32| {
            let mut words = vec![MAGIC, 0x0001_0500, 0, n + 2, 0];
            words.extend(inst(op::TYPE_FLOAT, &FLOAT));
            (2..n + 2).for_each(|i| words.extend(inst(op::TYPE_STRUCT, &[i, i - 1])));
            check(&words)
        };
        assert_eq!(deep(DEEPEST_TYPE), Ok(()));
        assert_eq!(
            deep(DEEPEST_TYPE + 1).expect_err("too deep").what,
            "types nest deeper than SPIR-V allows"
        );
    }

    #[test]
    fn instructions_lie_in_the_module_and_have_their_words() {
        assert_eq!(refused(&[vec![9 << 16 | 21, 1]]), "word 5: an instruction's length leaves the module");
        assert_eq!(refused(&[vec![0]]), "word 5: an instruction's length leaves the module");
        assert_eq!(
            refused(&[inst(op::TYPE_INT, &[1])]),
            "word 5: the instruction has fewer words than its opcode needs"
        );
        assert_eq!(
            refused(&[inst(op::ENTRY_POINT, &[0, 3, 0x6e69_616d])]),
            "word 5: a string does not end within its instruction"
        );
        assert_eq!(check(&[MAGIC]).expect_err("short").to_string(), "word 1: expected a header of 5 words");
        let mut swapped = module(&[]);
        swapped[0] = MAGIC.swap_bytes();
        assert_eq!(check(&swapped).expect_err("swapped").word, 0);
    }

    #[test]
    fn functions_end_and_do_not_call_themselves() {
        let types = [inst(more::TYPE_VOID, &[1]), inst(more::TYPE_FUNCTION, &[2, 1])];
        let function = |id, callees: &[u32]| {
            let mut w = inst(op::FUNCTION, &[1, id, 0, 2]);
            w.extend(inst(more::LABEL, &[id + 1]));
            callees
                .iter()
                .zip(0..)
                .for_each(|(c, n)| w.extend(inst(op::FUNCTION_CALL, &[1, id + 2 + n, *c])));
            w.extend(inst(op::FUNCTION_END, &[]));
            w
        };
        let with = |functions: &[Vec<u32>]| check(&module(&[&types[..], functions].concat()));
        let what = |r: Result<(), Error>| r.expect_err("refused").what;
        assert_eq!(with(&[function(3, &[7, 7]), function(7, &[11]), function(11, &[])]), Ok(()));
        assert_eq!(what(with(&[function(3, &[7]), function(7, &[3])])), "a function calls itself");
        assert_eq!(what(with(&[function(3, &[3])])), "a function calls itself");
        let mut open = function(3, &[]);
        open.pop();
        assert_eq!(what(with(&[open])), "expected the end of a function");
        let entry = inst(op::ENTRY_POINT, &[5, 9, 0x006e_696d]);
        assert_eq!(
            what(check(&module(&[&[entry][..], &types, &[function(3, &[])]].concat()))),
            "an entry point is no function of the module"
        );
        assert_eq!(what(with(&[inst(more::LABEL, &[9])])), "expected a function around it");
    }
}
