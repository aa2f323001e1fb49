//! Push constants: what the shaders of a layout make of each word.

use crate::vulkan::shader_pointers::shaders::{Shaders, Stage};
use pointers::{Root, Target};

/// What a word of push constants is.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Verdict {
    /// A pointer for every shader that declares it.
    Pointer {
        /// To an acceleration structure, not to memory.
        structure: bool,
    },
    /// Shaders declare it, and none makes a pointer of it.
    Number,
    /// Nobody says.
    Open,
}

impl Shaders {
    /// What eight bytes at each of `places` (bytes from the first push constant) are, pushed for some stages.
    pub(crate) fn verdicts(&self, stages: u32, places: &[u32]) -> Vec<Verdict> {
        let seen = self.of_stages(stages);
        places.iter().map(|&at| verdict(&seen, self.open, at)).collect()
    }

    /// Where any of them says that pointers are, in `[from, from + len)`.
    pub(crate) fn pointer_places(&self, stages: u32, from: u32, len: u32) -> Vec<u32> {
        let seen = self.of_stages(stages);
        let end = from.saturating_add(len).saturating_sub(7);
        (from..end).step_by(4).filter(|at| seen.iter().any(|s| pointer_at(s, *at).is_some())).collect()
    }

    fn of_stages(&self, stages: u32) -> Vec<&Stage> {
        self.stages.iter().filter(|s| s.flags & stages != 0).collect()
    }
}

fn pointer_at(stage: &Stage, at: u32) -> Option<Target> {
    layout(stage)?.fields.iter().find(|f| f.is_at(u64::from(at))).map(|f| f.target)
}

fn layout(stage: &Stage) -> Option<&pointers::Layout> {
    let roots = &stage.module.entries.get(stage.entry)?.roots;
    let (_, layout) = roots.iter().find(|r| r.0 == Root::PushConstants)?;
    stage.module.layouts.get(*layout)
}

fn verdict(shaders: &[&Stage], open: bool, at: u32) -> Verdict {
    let (mut pointer, mut number) = (None, false);
    for s in shaders {
        if let Some(target) = pointer_at(s, at) {
            pointer = Some(target);
        } else if layout(s).is_some_and(|l| l.declared.iter().any(|d| d.0 < at + 8 && at < d.1)) {
            // A cast that could not be followed may be of this word.
            number |= s.module.untraced == 0;
        }
    }
    match (pointer, number) {
        (Some(target), false) => Verdict::Pointer { structure: target == Target::Structure },
        (None, true) if !open => Verdict::Number,
        // Two shaders of one layout see it otherwise, or one is not known.
        _ => Verdict::Open,
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use pointers::{Entry, Field, Layout, Module};
    use std::rc::Rc;

    fn stage(fields: &[u32], declared: &[(u32, u32)], untraced: u32) -> Stage {
        let fields =
            fields.iter().map(|&offset| Field { offset, dims: Vec::new(), target: Target::Structure });
        let layout = Layout { fields: fields.collect(), declared: declared.to_vec() };
        let entry = Entry { name: "main".into(), model: 5, roots: vec![(Root::PushConstants, 0)] };
        let module = Module { entries: vec![entry], layouts: vec![layout], untraced };
        Stage { flags: 1, module: Rc::new(module), entry: 0 }
    }

    #[test]
    fn shaders_say_what_a_word_is() {
        let reads = stage(&[0], &[(0, 8), (8, 16)], 0);
        assert_eq!(verdict(&[&reads], false, 0), Verdict::Pointer { structure: true });
        assert_eq!(verdict(&[&reads], false, 8), Verdict::Number);
        assert_eq!(verdict(&[&reads], false, 16), Verdict::Open, "nobody declares it");
        assert_eq!(verdict(&[&reads], true, 8), Verdict::Open, "another shader is not known");
        let other = stage(&[], &[(0, 4)], 0);
        assert_eq!(verdict(&[&reads, &other], false, 0), Verdict::Open, "they disagree");
        let lost = stage(&[], &[(0, 8)], 1);
        assert_eq!(verdict(&[&lost], false, 0), Verdict::Open, "a cast was not followed");
    }
}
