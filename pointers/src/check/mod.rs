//! SPIR-V that may be walked: the one place that looks at a module's structure before anybody reads it.
//!
//! What [`Checked`] guarantees, and readers of modules may assume:
//! - the header is that of SPIR-V 1, in this byte order, and its bound is at most [`limits::MOST_IDS`];
//! - every instruction lies in the module, and has all words that the grammar wants of it; literal strings end inside it;
//! - every id is above 0 and below the bound, results are there once, types of results are types;
//! - what is used is defined before it, but for what the specification lets look ahead: labels, functions, OpPhi, names,
//!   decorations, modes, debug information, and pointers that OpTypeForwardPointer declares. So following operands ends;
//! - what a function's body defines is used in that function alone;
//! - types consist of types before them, no deeper than [`limits::DEEPEST_TYPE`], and of no more members than
//!   [`limits::MOST_MEMBERS`] however they are nested; vectors are of scalars, matrices of vectors; numbers have 1 to 64
//!   bits, and constants as many words as their type wants;
//! - functions are whole: labels and terminators take turns, branches and OpPhi name labels of their function, calls name
//!   functions and give them as many arguments as they take, no function calls itself by whatever way, entry points name
//!   functions.
//!
//! Of opcodes that the grammar of this build does not have, only the length is looked at; they may define whatever is used
//! and not defined. Refuses what does not keep this: such a module is invalid whatever the device is, or larger than
//! anything that compilers write. Does not say that a module is valid: what is left only spirv-val and drivers find.
//!
//! One pass over the words, and one over the calls; both are linear.

mod forms;
mod functions;
mod state;
#[cfg(test)]
mod tests;
mod types;

use crate::{Error, limits};
use forms::{Count, Form, Kind};
use rspirv::spirv::Op;
use state::{Check, Functions, Types};

const MAGIC: u32 = 0x0723_0203;
const HEADER: usize = 5;

/// Words of a module whose structure was checked. See the module's header.
#[derive(Clone, Copy, Debug)]
pub struct Checked<'w>(&'w [u32]);

impl<'w> Checked<'w> {
    /// Checks a module.
    pub fn new(words: &'w [u32]) -> Result<Self, Error> {
        let bound = header(words)?;
        let mut check = Check {
            words,
            defs: vec![0; bound as usize],
            types: Types::default(),
            functions: Functions::default(),
            strangers: false,
        };
        let mut at = HEADER;
        while let Some(&first) = words.get(at) {
            let count = (first >> 16) as usize;
            let Some(inst) = words.get(at..at + count).filter(|i| !i.is_empty()) else {
                return Err(match count {
                    0 => Error::new(at, "an instruction of no words"),
                    _ => Error::new(
                        at,
                        format!("an instruction of {count} words, and {} are left", words.len() - at),
                    ),
                });
            };
            check.instruction(at, inst)?;
            at += count;
        }
        check.finish()?;
        Ok(Checked(words))
    }

    /// The words.
    pub fn words(self) -> &'w [u32] {
        self.0
    }

    /// Its instructions, each with its first word, and where they stand.
    pub(crate) fn instructions(self) -> impl Iterator<Item = (usize, &'w [u32])> {
        let (words, mut next) = (self.0, HEADER);
        std::iter::from_fn(move || {
            let at = next;
            next += (words.get(at)? >> 16) as usize;
            Some((at, words.get(at..next)?))
        })
    }

    /// One more than its largest id.
    pub(crate) fn bound(self) -> u32 {
        self.0[3]
    }

    /// Its version, as the header has it.
    pub(crate) fn version(self) -> u32 {
        self.0[1]
    }
}

/// The bound of ids.
fn header(words: &[u32]) -> Result<u32, Error> {
    let &[magic, version, _, bound, schema, ..] = words else {
        return Err(Error::new(
            words.len(),
            format!("{} words are no SPIR-V module: its header has {HEADER}", words.len()),
        ));
    };
    if magic == MAGIC.swap_bytes() {
        return Err(Error::new(
            0,
            "SPIR-V of the other byte order, which Vulkan does not take: swap the bytes of each word",
        ));
    }
    if magic != MAGIC {
        return Err(Error::new(0, format!("{magic:#010x} is not SPIR-V's magic number, {MAGIC:#010x}")));
    }
    if version & 0xffff_00ff != 0x0001_0000 {
        return Err(Error::new(1, format!("{version:#010x} is no version of SPIR-V 1, 0x0001NN00")));
    }
    if bound == 0 || bound > limits::MOST_IDS {
        return Err(Error::new(
            3,
            format!("a bound of {bound} ids: SPIR-V allows 1 to {}", limits::MOST_IDS),
        ));
    }
    if schema != 0 {
        return Err(Error::new(4, format!("the schema is {schema}: SPIR-V has only 0")));
    }
    if words.len() > limits::MOST_WORDS {
        return Err(Error::new(
            limits::MOST_WORDS,
            format!("a module of {} words: at most {} are read", words.len(), limits::MOST_WORDS),
        ));
    }
    Ok(bound)
}

impl<'w> Check<'w> {
    /// The instruction that defines an id; empty if none has come.
    fn def(&self, id: u32) -> &'w [u32] {
        let at = self.defs.get(id as usize).map_or(0, |at| *at as usize);
        if at == 0 {
            return &[];
        }
        &self.words[at..at + (self.words[at] >> 16) as usize]
    }

    fn instruction(&mut self, at: usize, inst: &'w [u32]) -> Result<(), Error> {
        let Some(form) = forms::of(inst[0] & 0xffff) else {
            self.strangers = true;
            self.functions.stranger();
            return Ok(());
        };
        let (result, ends) = self.operands(at, inst, form)?;
        self.types(at, inst, form.op)?;
        self.function(at, inst, form.op)?;
        if let Some(id) = result {
            let def = &mut self.defs[id as usize];
            if *def != 0 {
                return Err(Error::new(
                    ends,
                    format!("Op{:?} defines %{id}, which word {def} has defined", form.op),
                ));
            }
            *def = at as u32;
        }
        Ok(())
    }

    /// Goes through the operands; the result and where it stands.
    #[inline]
    fn operands(&self, at: usize, inst: &[u32], form: &Form) -> Result<(Option<u32>, usize), Error> {
        let mut result = (None, at);
        let mut i = 1;
        for &(kind, count) in &form.operands {
            loop {
                let Some(&word) = inst.get(i) else {
                    if count == Count::One {
                        return Err(cut(at, inst, form.op));
                    }
                    break;
                };
                match kind {
                    Kind::Id => self.id(at + i, word, form)?,
                    Kind::Type => self.is_type(at + i, word, form)?,
                    Kind::Result => {
                        self.in_bound(at + i, word, form.op)?;
                        result = (Some(word), at + i);
                    }
                    Kind::Word => {}
                    Kind::String => match inst[i..].iter().position(|w| ends_text(*w)) {
                        Some(n) => i += n,
                        None => {
                            return Err(Error::new(
                                at + i,
                                format!("the text of Op{:?} does not end inside it", form.op),
                            ));
                        }
                    },
                    Kind::IdWord | Kind::IdId => {
                        self.id(at + i, word, form)?;
                        i += 1;
                        let Some(&second) = inst.get(i) else { return Err(cut(at, inst, form.op)) };
                        if kind == Kind::IdId {
                            self.id(at + i, second, form)?;
                        }
                    }
                    Kind::Memory => i = self.memory(at, inst, i, form)?,
                    Kind::Image => i = self.image(at, inst, i, form)?,
                    Kind::Nested => {
                        if forms::of(word).is_none_or(|f| !f.nests) {
                            return Err(Error::new(
                                at + i,
                                format!("opcode {word} is none that Op{:?} may compute", form.op),
                            ));
                        }
                        i = inst.len();
                    }
                    // How many there are, the types say.
                    Kind::Number | Kind::Case | Kind::Open => i = inst.len(),
                }
                i += 1;
                if count != Count::Any {
                    break;
                }
            }
        }
        Ok(result)
    }

    /// Memory operands: a mask, and what its bits bring. The last word of them.
    fn memory(&self, at: usize, inst: &[u32], mut i: usize, form: &Form) -> Result<usize, Error> {
        const ALIGNED: u32 = 0x2;
        // MakePointerAvailable, MakePointerVisible, AliasScopeINTELMask, NoAliasINTELMask.
        const WITH_ID: u32 = 0x8 | 0x10 | 0x1_0000 | 0x2_0000;
        const PLAIN: u32 = 0x1 | 0x4 | 0x20;
        let mask = inst[i];
        if mask & !(ALIGNED | WITH_ID | PLAIN) != 0 {
            return Ok(inst.len());
        }
        let words = (mask & ALIGNED).count_ones() + (mask & WITH_ID).count_ones();
        if inst.len() - i <= words as usize {
            return Err(cut(at, inst, form.op));
        }
        i += (mask & ALIGNED).count_ones() as usize;
        for _ in 0..(mask & WITH_ID).count_ones() {
            i += 1;
            self.id(at + i, inst[i], form)?;
        }
        Ok(i)
    }

    /// Image operands: a mask, and ids for its bits. The last word of them.
    fn image(&self, at: usize, inst: &[u32], i: usize, form: &Form) -> Result<usize, Error> {
        const GRAD: u32 = 0x4;
        // Bias, Lod, Grad, ConstOffset, Offset, ConstOffsets, Sample, MinLod, MakeTexelAvailable, MakeTexelVisible, Offsets.
        const WITH_ID: u32 = 0x3ff | 0x1_0000;
        // NonPrivateTexel, VolatileTexel, SignExtend, ZeroExtend, Nontemporal.
        const PLAIN: u32 = 0x7c00;
        let mask = inst[i];
        if mask & !(WITH_ID | PLAIN) != 0 {
            return Ok(inst.len());
        }
        let words = ((mask & WITH_ID).count_ones() + (mask & GRAD).count_ones()) as usize;
        let Some(ids) = inst.get(i + 1..i + 1 + words) else { return Err(cut(at, inst, form.op)) };
        for (n, id) in ids.iter().enumerate() {
            self.id(at + i + 1 + n, *id, form)?;
        }
        Ok(i + words)
    }

    fn in_bound(&self, at: usize, id: u32, op: Op) -> Result<(), Error> {
        if id == 0 || id as usize >= self.defs.len() {
            return Err(Error::new(
                at,
                format!("%{id} of Op{op:?} is no id: the bound is {}", self.defs.len()),
            ));
        }
        Ok(())
    }

    fn id(&self, at: usize, id: u32, form: &Form) -> Result<(), Error> {
        if let Some(def) = self.defs.get(id as usize).filter(|def| **def != 0) {
            if self.functions.sees(*def, self.words) {
                return Ok(());
            }
            let text = format!("Op{:?} uses %{id}, which is of a function before this one", form.op);
            return Err(Error::new(at, text));
        }
        self.in_bound(at, id, form.op)?;
        if form.looks_ahead || self.strangers || form.op.is_type() && self.types.is_ahead(id) {
            return Ok(());
        }
        Err(Error::new(at, format!("Op{:?} uses %{id}, which nothing before it defines", form.op)))
    }

    /// The type of a result.
    fn is_type(&self, at: usize, id: u32, form: &Form) -> Result<(), Error> {
        self.in_bound(at, id, form.op)?;
        match self.def(id) {
            [] if self.strangers => Ok(()),
            [] => Err(Error::new(
                at,
                format!("Op{:?} is of type %{id}, which nothing before it defines", form.op),
            )),
            [first, ..] if forms::of(first & 0xffff).is_some_and(|f| f.op.is_type()) => Ok(()),
            _ => Err(Error::new(at, format!("Op{:?} is of type %{id}, which is no type", form.op))),
        }
    }

    fn finish(&mut self) -> Result<(), Error> {
        self.types.finish(self.strangers, self.words.len())?;
        self.functions_end()
    }
}

/// The last word of a literal string: one of its bytes is 0.
fn ends_text(word: u32) -> bool {
    word.to_le_bytes().contains(&0)
}

#[cold]
fn cut(at: usize, inst: &[u32], op: Op) -> Error {
    Error::new(at, format!("Op{op:?} has {} words, which are too few", inst.len()))
}
