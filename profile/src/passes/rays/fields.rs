//! What a record's words are: fields of table `rays`, one a word, or two in one.

use trace::tables::NOT_KNOWN;

/// A field of an event, in the order of the table's columns from `t` on.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
#[repr(u8)]
pub enum Field {
    T,
    Tmin,
    OriginX,
    OriginY,
    OriginZ,
    DirectionX,
    DirectionY,
    DirectionZ,
    Flags,
    CullMask,
    SbtOffset,
    SbtStride,
    MissIndex,
    Instance,
    CustomIndex,
    Geometry,
    Primitive,
    HitKind,
    /// The lowest eight bits of the flags, and the next eight.
    FlagsLow,
    FlagsHigh,
}

/// [`crate::rewrite::Site::kind`] of where launches begin; others are the events' numbers.
pub const ENTER: u32 = 100;

/// The last that is a column.
const COLUMNS: usize = Field::HitKind as usize + 1;
/// Those that are numbers with fractions.
pub const FLOATS: usize = Field::DirectionZ as usize + 1;
/// No second field.
const NONE: u32 = 0xff;
/// What stands for a number that does not fit 24 bits.
const TOO_LARGE: u32 = 0xff_ffff;

/// What is known of one event.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Values {
    /// Column by column, as the bits that were recorded.
    bits: [u32; COLUMNS],
}

impl Values {
    /// Nothing.
    pub fn new() -> Self {
        let mut bits = [0; COLUMNS];
        for f in [Field::Instance, Field::CustomIndex, Field::Geometry, Field::Primitive, Field::HitKind]
            .map(|f| f as usize)
        {
            bits[f] = NOT_KNOWN as u32;
        }
        Values { bits }
    }

    /// A field's.
    pub fn bits(&self, f: Field) -> u32 {
        self.bits[f as usize]
    }

    /// The columns that have fractions.
    pub fn floats(&self) -> impl Iterator<Item = f64> + '_ {
        self.bits[..FLOATS].iter().map(|b| f32::from_bits(*b).into())
    }

    /// The others.
    pub fn numbers(&self) -> impl Iterator<Item = u64> + '_ {
        self.bits[FLOATS..].iter().map(|b| u64::from(*b))
    }

    fn set(&mut self, field: u32, bits: u32) {
        match field {
            f if f == Field::FlagsLow as u32 => self.bits[Field::Flags as usize] |= bits & 0xff,
            f if f == Field::FlagsHigh as u32 => self.bits[Field::Flags as usize] |= (bits & 0xff) << 8,
            f => {
                if let Some(to) = self.bits.get_mut(f as usize) {
                    *to = bits;
                }
            }
        }
    }
}

/// How the records of one site are laid out; kept in the site's data.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Layout {
    /// Words of a mask.
    pub lanes: u32,
    /// A clock follows the mask.
    pub clock: bool,
    /// The multiprocessor and the place on it follow.
    pub sm: bool,
    /// Words that follow then.
    pub more: u32,
    /// One invocation writes for itself, and no subgroup's event is known.
    pub alone: bool,
    /// Invocations name themselves by where in the log their entry is, and not by their work ids.
    pub placed: bool,
    /// An invocation's words behind its work id: a field, or one of 24 bits and one of 8.
    pub words: Vec<(u8, Option<u8>)>,
    /// What is the same in every record.
    pub constants: Vec<(u8, u32)>,
}

impl Layout {
    /// Words of a record before its invocations', behind the probe's number.
    pub fn head(&self) -> u32 {
        self.lanes + 2 * u32::from(self.clock) + u32::from(self.sm) + self.more
    }

    /// Words of an invocation.
    pub fn each(&self) -> u32 {
        1 + self.words.len() as u32
    }

    /// As a site's data.
    pub fn data(&self) -> Vec<u32> {
        let bits = u32::from(self.clock)
            | u32::from(self.sm) << 1
            | u32::from(self.alone) << 2
            | u32::from(self.placed) << 3;
        let words = self.words.iter().map(|(a, b)| u32::from(*a) | b.map_or(NONE, u32::from) << 8);
        let constants = self.constants.iter().flat_map(|(f, v)| [u32::from(*f), *v]);
        [self.lanes, bits, self.more, self.words.len() as u32]
            .into_iter()
            .chain(words)
            .chain(constants)
            .collect()
    }

    /// From a site's data.
    pub fn of(data: &[u32]) -> Option<Self> {
        let [lanes, bits, more, n, rest @ ..] = data else { return None };
        let (words, constants) = rest.split_at_checked(*n as usize)?;
        Some(Layout {
            lanes: *lanes,
            clock: bits & 1 != 0,
            sm: bits & 2 != 0,
            alone: bits & 4 != 0,
            placed: bits & 8 != 0,
            more: *more,
            words: words
                .iter()
                .map(|w| (*w as u8, Some((w >> 8) as u8).filter(|b| u32::from(*b) != NONE)))
                .collect(),
            constants: constants.chunks_exact(2).map(|c| (c[0] as u8, c[1])).collect(),
        })
    }

    /// What an invocation's words say, its work id left out.
    pub fn values(&self, words: &[u32]) -> Values {
        let mut values = Values::new();
        for (field, bits) in &self.constants {
            values.set((*field).into(), *bits);
        }
        for ((field, second), word) in self.words.iter().zip(words) {
            let Some(second) = second else {
                values.set((*field).into(), *word);
                continue;
            };
            let wide = word & 0xff_ffff;
            // (custom indices have no more bits)
            let cut = wide == TOO_LARGE && *field != Field::CustomIndex as u8;
            values.set((*field).into(), if cut { NOT_KNOWN as u32 } else { wide });
            values.set((*second).into(), word >> 24);
        }
        values
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn layouts_are_read_as_they_were_written() {
        let layout = Layout {
            lanes: 2,
            clock: true,
            sm: true,
            more: 3,
            alone: false,
            placed: true,
            words: vec![
                (Field::T as u8, None),
                (Field::Instance as u8, Some(Field::FlagsLow as u8)),
                (Field::CustomIndex as u8, Some(Field::HitKind as u8)),
                (Field::Geometry as u8, Some(Field::FlagsHigh as u8)),
            ],
            constants: vec![(Field::Tmin as u8, 1f32.to_bits())],
        };
        assert_eq!(Layout::of(&layout.data()), Some(layout.clone()));
        assert_eq!((layout.head(), layout.each()), (8, 5));
        let v =
            layout.values(&[2.5f32.to_bits(), 7 | 0x85 << 24, 0xff_ffff | 0xfe << 24, 0xff_ffff | 0x1 << 24]);
        assert_eq!(v.floats().take(2).collect::<Vec<_>>(), [2.5, 1.0]);
        assert_eq!((v.bits(Field::Instance), v.bits(Field::Flags)), (7, 0x185));
        assert_eq!((v.bits(Field::CustomIndex), v.bits(Field::HitKind)), (0xff_ffff, 0xfe));
        assert_eq!((v.bits(Field::Geometry), v.bits(Field::Primitive)), (u32::MAX, u32::MAX));
        assert_eq!(Layout::of(&[1, 0, 0, 5, 1]), None);
    }
}
