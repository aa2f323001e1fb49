//! Which probe functions stay functions in a driver's compiler.
//!
//! Most compilers inline every call. In a shader with a few probes that is best for the time that it takes to run; with
//! hundreds, compiling takes many times as long as the application's own shader does. So a function whose copies would have
//! more than [`MOST_COPIED`] instructions together is marked `DontInline`, which NVIDIA's compiler heeds (llvmpipe's does
//! not). What such a function calls is inlined into it, and so is what seldom runs left behind where it is called first of
//! all: decided is for what is called before what calls it. Functions of [`MOST_BRIEF`] instructions are never kept: a call
//! has as many. Nor are those that ask the subgroup or the quad, themselves or in what is inlined into them: called from where a
//! subgroup has parted they hang on NVIDIA (H100, driver 580.159, pass `divergence` in pygfx's shaders: a ballot and two additions
//! are enough; inlined the same ends). Probes keep what asks short, and leave the rest to functions that one invocation calls.
//!
//! Guarantees: only what was imported is marked; what is marked is otherwise as it was.

use super::shader::Shader;
use crate::spirv::{Module, Op, Operand};
use rspirv::spirv::FunctionControl;
use std::collections::{HashMap, HashSet};

/// Instructions that all copies of one function may have. Measured on an NVIDIA H200 with pass `simt`: a loop over a switch
/// of 71 cases takes 12 times the frame with calls and 5 times without; copies into pygfx's shaders, which have half as many
/// places again, took the driver longer than anybody waits.
const MOST_COPIED: u64 = 96 * 32;

/// Instructions that a loop counts as, besides its own: copies of loops are what takes NVIDIA's compiler longest (H100, pass
/// `divergence` in a switch of 71 cases: 467 times as long as the application's own shader with 87 copies of a loop, 6 ms a frame more).
const LOOP: u64 = 32;

/// Instructions that are not worth a call.
const MOST_BRIEF: u64 = 8;

/// Marks the functions of the shader that are to be kept. To be called when everything is in its place.
pub fn keep(s: &mut Shader) {
    for f in kept(&s.module, &s.imported.functions) {
        let Some(f) = s.module.function(f) else { continue };
        if let Some(Operand::FunctionControl(control)) = s.module.functions[f].def.inst.operands.first_mut() {
            control.set(FunctionControl::DONT_INLINE, true);
            control.set(FunctionControl::INLINE, false);
        }
    }
}

/// Those of the imported functions whose copies would be too much.
fn kept(m: &Module, imported: &[u32]) -> Vec<u32> {
    let all: HashSet<u32> = imported.iter().copied().collect();
    // Of each imported function: its own instructions, and what it calls; and how often others call it.
    let mut own: HashMap<u32, (u64, Vec<u32>)> = HashMap::new();
    let mut calls: HashMap<u32, u64> = HashMap::new();
    let mut asking_itself: HashSet<u32> = HashSet::new();
    for f in &m.functions {
        if f.insts().any(|i| asks_others(i.op())) {
            asking_itself.insert(f.id());
        }
        let called = f.insts().filter(|i| i.op() == Op::FunctionCall).filter_map(|i| i.id_at(0));
        let called: Vec<u32> = called.filter(|c| all.contains(c)).collect();
        if all.contains(&f.id()) {
            let size = f.insts().map(|i| match i.op() {
                Op::LoopMerge => LOOP,
                op => u64::from(counts(op)),
            });
            own.insert(f.id(), (size.sum(), called));
        } else {
            called.into_iter().for_each(|c| *calls.entry(c).or_default() += 1);
        }
    }
    // What is called comes before what calls it.
    let (mut order, mut seen) = (Vec::new(), HashSet::new());
    imported.iter().for_each(|&f| visit(f, &own, &mut seen, &mut order));
    // Were everything inlined.
    let mut copies = calls;
    for f in order.iter().rev() {
        let of = copies.get(f).copied().unwrap_or(0);
        own[f].1.iter().for_each(|c| *copies.entry(*c).or_default() += of);
    }
    let (mut sizes, mut kept) = (HashMap::new(), Vec::new());
    for f in order {
        // (what is kept has no size here, and asks nobody)
        let inlined = own[&f].1.iter().filter_map(|c| sizes.get(c));
        let (inlined, asking) =
            inlined.fold((0, false), |all, of: &(u64, bool)| (all.0 + of.0, all.1 | of.1));
        let (size, asks) = (own[&f].0 + inlined, asking || asking_itself.contains(&f));
        if !asks && size > MOST_BRIEF && size * copies.get(&f).copied().unwrap_or(0) > MOST_COPIED {
            kept.push(f);
        } else {
            sizes.insert(f, (size, asks));
        }
    }
    kept
}

/// Whether anything is left of an instruction when variables are registers and ways that have no condition are straight.
fn counts(op: Op) -> bool {
    !matches!(
        op,
        Op::Variable
            | Op::Load
            | Op::Store
            | Op::FunctionCall
            | Op::SelectionMerge
            | Op::LoopMerge
            | Op::Branch
            | Op::Return
            | Op::ReturnValue
    )
}

/// Whether invocations beside one another have to be there together.
fn asks_others(op: Op) -> bool {
    let name = format!("{op:?}");
    // (of a ballot that is there already anybody may count the bits alone)
    let of_a_ballot = name.starts_with("GroupNonUniformBallot") && op != Op::GroupNonUniformBallot;
    let alone = of_a_ballot || op == Op::GroupNonUniformInverseBallot;
    (name.starts_with("Group")
        || name.starts_with("Subgroup")
        || name.starts_with("DP")
        || name.starts_with("Fwidth"))
        && !alone
}

fn visit(f: u32, own: &HashMap<u32, (u64, Vec<u32>)>, seen: &mut HashSet<u32>, order: &mut Vec<u32>) {
    if own.contains_key(&f) && seen.insert(f) {
        own[&f].1.iter().for_each(|&c| visit(c, own, seen, order));
        order.push(f);
    }
}

#[cfg(test)]
mod tests {
    use crate::passes::by_name;
    use crate::rewrite::Device;
    use crate::spirv::{Module, Op, Operand};
    use crate::testing::{glsl, rewritten};
    use rspirv::spirv::FunctionControl;

    /// A switch of so many cases.
    fn switch(cases: u32) -> String {
        let case = |n| format!("case {n}: x = x * {}u + 7u; break;\n", n + 3);
        format!("switch (x % 500u) {{ {} }}", (0..cases).map(case).collect::<String>())
    }

    /// So many questions, one after another.
    fn questions(number: u32) -> String {
        (0..number).map(|n| format!("if (x % {}u == 0u) x = x * 5u + 7u;\n", n + 3)).collect()
    }

    /// The names of the functions that are kept in a loop over this.
    fn kept(pass: &str, body: &str) -> Option<Vec<String>> {
        let source = format!(
            "#version 460
            layout(local_size_x = 64) in;
            layout(set = 0, binding = 0) buffer B {{ uint at[]; }};
            void main() {{
                uint x = at[gl_GlobalInvocationID.x];
                for (uint n = 0u; n < at[0]; n++)
                    {{ {body} }}
                at[gl_GlobalInvocationID.x] = x;
            }}"
        );
        let module = glsl("comp", &source, &["--target-env", "vulkan1.1"])?;
        let passes = vec![by_name(pass).expect("it is registered")];
        let v = rewritten("a switch", &module, "vulkan1.3", &passes, Device::default()).swap_remove(0);
        let m = Module::read(&v.words).expect("it is a module");
        let marked = |id: u32| {
            m.function(id).is_some_and(|f| {
                let control = FunctionControl::DONT_INLINE;
                m.functions[f].def.inst.operands[0] == Operand::FunctionControl(control)
            })
        };
        let mut names: Vec<String> = (m.names.iter())
            .filter(|n| n.op() == Op::Name && n.id_at(0).is_some_and(marked))
            .filter_map(|n| match &n.inst.operands[1] {
                Operand::LiteralString(name) => Some(name.clone()),
                _ => None,
            })
            .collect();
        names.sort();
        Some(names)
    }

    #[test]
    fn what_would_be_copied_too_often_is_kept() {
        let Some(few) = kept("simt", &switch(10)) else { return };
        assert!(few.is_empty(), "{few:?}");
        assert!(kept("simt", &switch(71)).is_some_and(|k| k.is_empty()));
        // What the function that is called at every place calls is kept first; what is left of it is brief enough.
        assert_eq!(kept("simt", &switch(150)), Some(vec!["simt_add".into()]));
        let called = vec!["divergence_flush".into(), "divergence_missing".into()];
        assert_eq!(kept("divergence:leaving=read", &questions(100)), Some(called));
    }

    #[test]
    fn what_asks_the_subgroup_is_never_kept() {
        // (so many that even what is left of the function at every place is too much)
        for (pass, asks) in [
            ("divergence", "divergence_once_all"),
            ("divergence:leaving=read", "divergence_once"),
            ("simt:placement=direct", "simt_here"),
        ] {
            let Some(kept) = kept(pass, &questions(600)) else { return };
            assert!(!kept.is_empty() && !kept.contains(&asks.to_owned()), "{pass}: {kept:?}");
        }
        let asks = [Op::GroupNonUniformBallot, Op::GroupNonUniformElect, Op::SubgroupBallotKHR, Op::DPdxFine];
        assert!(asks.into_iter().all(super::asks_others));
        let alone =
            [Op::GroupNonUniformBallotBitCount, Op::GroupNonUniformBallotFindLSB, Op::AtomicIAdd, Op::IAdd];
        assert!(!alone.into_iter().any(super::asks_others));
    }
}
