//! The limits of this crate: what a module may ask of those who read it.
//!
//! Those of the SPIR-V specification are its universal limits (section 2.17), which every valid module keeps. The others
//! are this program's own, far above what compilers write; each says what it protects.

/// Words of a module: 64 MiB. Offsets fit in 32 bits, and tables of them in memory.
pub const MOST_WORDS: usize = 1 << 24;
/// The largest bound of ids (universal limit). Ids index tables.
pub const MOST_IDS: u32 = 4_194_303;
/// Structs, arrays, matrices and vectors in one another (universal limit). Readers of types recurse so deep.
pub const DEEPEST_TYPE: u16 = 255;
/// Members of a struct (universal limit).
pub const MOST_STRUCT_MEMBERS: usize = 16_383;
/// Members of a type with those of its structs in place of the structs. A few structs of each other twice have more members
/// than there is memory.
pub const MOST_MEMBERS: u64 = 1 << 14;
/// Such members of everything that the variables and pointers of a module lead to. Layouts list them all.
pub const MOST_MEMBERS_IN_ALL: u64 = 1 << 18;
/// Components of a vector and columns of a matrix: the most that vectors may have (SPV_EXT_long_vector has them by another
/// instruction). Sizes are their products.
pub const MOST_COMPONENTS: u32 = 1 << 16;
/// Bits of an integer or a floating-point number.
pub const MOST_BITS: u32 = 64;
/// Parameters of a function, and arguments of a call (universal limit).
pub const MOST_PARAMETERS: usize = 255;
/// Steps into a value's parts that are followed: as deep as types are.
pub const DEEPEST_PATH: usize = DEEPEST_TYPE as usize;
/// Values looked at for one cast. The walk is recursive, and threads have stacks of 2 MiB.
pub const MOST_VALUES: usize = 1024;
/// Values looked at for all casts of a module.
pub const MOST_VALUES_IN_ALL: usize = 1 << 20;
/// Pointers made from pointers that are followed.
pub const DEEPEST_PLACE: u32 = 256;
