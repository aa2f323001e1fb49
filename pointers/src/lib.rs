//! Where a SPIR-V module finds pointers: in push constants, uniform and storage buffers, shader records, and behind
//! other pointers.
//!
//! A pointer is a member of type pointer to PhysicalStorageBuffer, or 64 bits (an integer, or two words) that the module
//! turns into such a pointer, or into an acceleration structure. Members are found by their types, casts by going from
//! each cast back to the loads that its value comes from, through copies, arithmetic, selections, local variables and
//! calls.
//!
//! Guarantees: offsets and strides are those that the module declares; every layout is listed once, so that linked
//! structures end. Knows no driver, and no capture. Refuses nothing: it reads [`Checked`] words, and only these. A cast whose
//! value comes from elsewhere (an image, a constant, arithmetic that it does not follow) is counted, not guessed.

mod capabilities;
mod check;
mod entries;
mod error;
mod fields;
mod index;
mod layouts;
pub mod limits;
mod trace;
pub mod written;

pub use capabilities::{Capabilities, without};
pub use check::Checked;
pub use entries::entry_points;
pub use error::Error;
pub use fields::{Dim, Field, Layout, Root, Target};

/// An entry point and what it is given.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Entry {
    /// Its name.
    pub name: String,
    /// SPIR-V's number of its execution model.
    pub model: u32,
    /// What it reads, as indices into [`Module::layouts`].
    pub roots: Vec<(Root, usize)>,
}

/// What is known of a module.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Module {
    /// Its entry points.
    pub entries: Vec<Entry>,
    /// Layouts by index.
    pub layouts: Vec<Layout>,
    /// Casts to pointers whose values come from where this does not follow.
    pub untraced: u32,
}

/// Whether a module may have pointers at all; looks at its first instructions only.
pub fn may_have_pointers(code: Checked<'_>) -> bool {
    index::capabilities(code)
        .any(|c| c == index::PHYSICAL_STORAGE_BUFFER || c == index::RAY_QUERY_FROM_ADDRESS)
}

impl Module {
    /// Reads a module; one without pointers only as far as its push constants.
    pub fn read(code: Checked<'_>) -> Self {
        let index = index::Index::read(code);
        let mut layouts = layouts::Layouts::new(&index);
        let roots = layouts.roots();
        let untraced = trace::casts(&mut layouts);
        let layouts = layouts.finish();
        let entries = index
            .entries
            .iter()
            .map(|e| Entry {
                name: e.name.clone(),
                model: e.model,
                roots: roots
                    .iter()
                    .filter(|r| !index.lists_all_variables || e.interface.contains(&r.0))
                    .map(|r| (r.1, r.2))
                    .collect(),
            })
            .collect();
        Module { entries, layouts, untraced }
    }

    /// An entry point by name.
    pub fn entry(&self, name: &str) -> Option<&Entry> {
        self.entries.iter().find(|e| e.name == name)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn elements_of_arrays_are_found_by_their_place() {
        let dim = |stride, count| Dim { stride, count };
        let field = |dims| Field { offset: 8, dims, target: Target::Structure };
        let one = field(vec![]);
        assert!(one.is_at(8) && !one.is_at(0) && !one.is_at(16));
        let open = field(vec![dim(24, None)]);
        assert!(open.is_at(8) && open.is_at(8 + 24 * 1000) && !open.is_at(20));
        let two = field(vec![dim(64, Some(2)), dim(8, Some(3))]);
        let hits: Vec<u64> = (0..200).filter(|at| two.is_at(*at)).collect();
        assert_eq!(hits, [8, 16, 24, 72, 80, 88]);
    }

    /// A shader of one of the sample scenes.
    fn shader(name: &str) -> Vec<u32> {
        let path = format!("{}/../captures/src/scenes/{name}.spv", env!("CARGO_MANIFEST_DIR"));
        let bytes = std::fs::read(&path).unwrap_or_else(|e| panic!("{path}: {e}"));
        bytes.chunks_exact(4).map(|b| u32::from_le_bytes(b.try_into().expect("4 bytes"))).collect()
    }

    fn checked(words: &[u32]) -> Checked<'_> {
        Checked::new(words).expect("SPIR-V")
    }

    fn read(words: &[u32]) -> Module {
        Module::read(checked(words))
    }

    #[test]
    fn what_is_declared_as_only_read_is_not_written() {
        let of = |name| written::descriptors(checked(&shader(name)));
        assert_eq!(of("offsets/double.comp"), [((0, 0), false), ((0, 1), true)].into());
        // (an image that is sampled is none that is written, which its descriptor says)
        assert_eq!(of("offsets/texels.comp"), [((0, 0), true), ((0, 1), true)].into());
        assert_eq!(of("closed_compute/show.comp"), [((0, 0), true), ((0, 1), true)].into());
    }

    fn layout_of(m: &Module, root: Root) -> &Layout {
        let (_, layout) = m.entries[0].roots.iter().find(|r| r.0 == root).expect("the root is there");
        &m.layouts[*layout]
    }

    fn offsets(l: &Layout) -> Vec<u32> {
        let mut at: Vec<u32> = l.fields.iter().map(|f| f.offset).collect();
        at.sort_unstable();
        at
    }

    #[test]
    fn pointers_behind_pointers_are_found() {
        let m = read(&shader("rays/move.comp"));
        let push = layout_of(&m, Root::PushConstants);
        assert_eq!(offsets(push), [0]);
        assert_eq!(push.declared, [(0, 8), (8, 12)]);
        let Target::Layout(motion) = push.fields[0].target else { panic!("a pointer to memory") };
        // The reference at 16 is two words that nothing here makes a pointer of.
        assert_eq!(offsets(&m.layouts[motion]), [0, 8]);
        assert_eq!(m.untraced, 0);
    }

    #[test]
    fn linked_structures_come_back_to_themselves() {
        let m = read(&shader("rays/mesh.rchit"));
        let record = layout_of(&m, Root::Record);
        assert_eq!(offsets(record), [16, 24]);
        let material = record.fields.iter().find(|f| f.offset == 16).expect("material");
        let Target::Layout(material) = material.target else { panic!("a pointer to memory") };
        let next = &m.layouts[material].fields;
        assert_eq!(next.len(), 1);
        assert_eq!((next[0].offset, next[0].target), (32, Target::Layout(material)));
    }

    #[test]
    fn a_module_without_pointers_says_so() {
        let words = shader("cubes/animate.comp");
        assert!(
            !may_have_pointers(checked(&words)) && may_have_pointers(checked(&shader("rays/camera.rgen")))
        );
        let m = read(&words);
        assert!(m.layouts.iter().all(|l| l.fields.is_empty()));
        assert!(m.entry("main").is_some_and(|e| !e.roots.is_empty()));
    }
}
