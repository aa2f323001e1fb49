//! Reflection held against two others', over every module of the scenes, the corpus and the sample captures (and of the
//! captures in the folder that `RERAY_CAPTURES` names).
//!
//! `spirv-cross --reflect` says how blocks lie: every member with its type, offset, strides and order must be the same, every
//! slot with its kind. `spirv-opt --eliminate-dead-members` says what is used: once of the module as it is, where a struct that
//! is loaded whole counts as used whole; once of the module with everything inlined and copies resolved. What we say is
//! read or written lies between the two; what is known of the optimizer and accepted is said where it is.

use super::*;
use crate::rewrite::entries;
use crate::testing::{bytes, captured, corpus, invalid, scenes, tool, words};
use serde_json::Value;
use std::collections::{BTreeMap, BTreeSet};
use std::path::PathBuf;

fn all() -> Vec<(String, Vec<u32>)> {
    let named = |(path, m): (PathBuf, Vec<u32>)| (path.display().to_string(), m);
    let mut all: Vec<_> = scenes().into_iter().chain(corpus()).map(named).chain(captured()).collect();
    all.retain(|(_, m)| invalid(m, "vulkan1.3").is_none());
    all
}

/// What SPIRV-Cross of this version cannot read, with the reason it gives.
const UNREAD: [&str; 3] = ["Cannot parse", "Unsupported", "not supported"];

/// Members of a type of SPIRV-Cross's, down to those that are no structs.
fn flat(types: &Value, ty: &str, prefix: &str, base: u64, outer: &[(u64, u64)], out: &mut BTreeSet<String>) {
    for m in types[ty]["members"].as_array().expect("a struct has members") {
        let name = m["name"].as_str().unwrap_or_default();
        // (a name that is lost is _m0 there)
        let lost = name.strip_prefix("_m").filter(|n| n.bytes().all(|b| b.is_ascii_digit()));
        let name = lost.map_or_else(|| name.to_owned(), |n| format!("_{n}"));
        let name = if prefix.is_empty() { name } else { format!("{prefix}.{name}") };
        let offset = base + m["offset"].as_u64().unwrap_or(0);
        // The innermost array comes first there.
        let sizes: Vec<u64> = m["array"].as_array().into_iter().flatten().filter_map(Value::as_u64).collect();
        let stride = m["array_stride"].as_u64();
        let inner = m["type"].as_str().unwrap_or_default();
        let mut arrays = outer.to_vec();
        // (it says the outermost array's stride alone)
        arrays.extend(
            sizes.iter().enumerate().map(|(n, s)| (if n == 0 { stride.unwrap_or(0) } else { 0 }, *s)),
        );
        if types.get(inner).is_some_and(|t| t.get("members").is_some()) && m.get("physical_pointer").is_none()
        {
            let name = if sizes.is_empty() { name } else { name + &"[]".repeat(sizes.len()) };
            flat(types, inner, &name, offset, &arrays, out);
            continue;
        }
        // (an address: the name of what lies there)
        let inner = types[inner]["name"].as_str().unwrap_or(inner);
        let strides: Vec<String> = arrays.iter().map(|(s, n)| format!("{s}x{n}")).collect();
        let matrix = m["matrix_stride"].as_u64().unwrap_or(0);
        let rows = m["row_major"].as_bool().unwrap_or(false);
        out.insert(format!("{name} @{offset} {strides:?} {inner} {matrix} {rows}"));
    }
}

/// The same of ours.
fn ours(b: &Block) -> BTreeSet<String> {
    let line = |m: &Member| {
        let n = m.outer_arrays;
        let stride = |(k, (s, n)): (usize, &(u64, u64)), own: usize| {
            // (only the outermost of the arrays that are the member's own)
            format!("{}x{n}", if k <= own { *s } else { 0 })
        };
        let strides: Vec<String> = m.arrays.iter().enumerate().map(|a| stride(a, n)).collect();
        let ty = m.ty.split('[').next().unwrap_or_default();
        format!("{} @{} {strides:?} {ty} {} {}", m.name, m.offset, m.matrix_stride, m.row_major)
    };
    b.members.iter().map(line).collect()
}

fn kinds(list: &str) -> Option<&'static [Kind]> {
    Some(match list {
        "ubos" => &[Kind::UniformBlock],
        "ssbos" => &[Kind::StorageBlock],
        "textures" => &[Kind::CombinedImageSampler, Kind::UniformTexelBuffer],
        "separate_images" => &[Kind::SampledImage, Kind::UniformTexelBuffer],
        "separate_samplers" => &[Kind::Sampler],
        "images" => &[Kind::StorageImage, Kind::StorageTexelBuffer],
        "subpass_inputs" => &[Kind::InputAttachment],
        "acceleration_structures" => &[Kind::AccelerationStructure],
        _ => return None,
    })
}

#[test]
fn blocks_lie_where_another_reflection_has_them() {
    let (mut blocks, mut slots, mut unread) = (0, 0, vec![]);
    for (what, module) in all() {
        let file = crate::testing::tempfile();
        std::fs::write(&file.0, bytes(&module)).expect("a file");
        let path = file.0.to_str().expect("it is text").to_owned();
        for (_, name, stage) in entries(&module) {
            if entries(&module).len() > 1 {
                // (it takes the first of several unless it is told its stage in words of its own)
                continue;
            }
            let Some(made) = tool("spirv-cross", &[&path, "--reflect"], &[]) else { return };
            let text = match made {
                Ok(text) => text,
                Err(why) if UNREAD.iter().any(|u| why.contains(u)) => {
                    unread.push(format!("{what}: {why}"));
                    continue;
                }
                Err(why) => panic!("{what}: {why}"),
            };
            let json: Value = serde_json::from_slice(&text).expect("it is JSON");
            let r = reflect(&module, stage, &name, &Specialization::default()).expect("it is a module");
            let mut seen = BTreeSet::new();
            for (list, resources) in json.as_object().expect("an object") {
                let is_push = list == "push_constants";
                let Some(kinds) = kinds(list).or(is_push.then_some(&[][..])) else { continue };
                for resource in resources.as_array().expect("a list") {
                    let place = ["set", "binding"].map(|k| resource[k].as_u64().unwrap_or(0) as u32);
                    let block = if is_push {
                        r.push.as_ref()
                    } else {
                        let Some(slot) = r.slot(place[0], place[1]) else {
                            panic!("{what} {name}: {place:?} is not there")
                        };
                        seen.insert(place);
                        slots += 1;
                        assert!(slot.kinds.iter().any(|k| kinds.contains(k)), "{what}: {place:?} {slot:?}");
                        let mut known = slot.blocks.iter();
                        let ty = resource["type"].as_str().unwrap_or_default();
                        let theirs = json["types"][ty]["name"].as_str();
                        known
                            .find(|b| slot.blocks.len() == 1 || theirs.is_none_or(|n| n.starts_with(&b.name)))
                    };
                    let ty = resource["type"].as_str().expect("a type");
                    if json["types"][ty]["members"].is_null() {
                        continue;
                    }
                    let mut theirs = BTreeSet::new();
                    flat(&json["types"], ty, "", 0, &[], &mut theirs);
                    let own = ours(block.unwrap_or_else(|| panic!("{what}: {place:?} has no block")));
                    assert_eq!(own, theirs, "{what} {name}: {place:?}");
                    blocks += 1;
                }
            }
            for slot in &r.slots {
                assert!(seen.contains(&[slot.set, slot.binding]), "{what}: {slot:?} is ours alone");
            }
        }
    }
    assert!(blocks > 25 && slots > 40, "{blocks} blocks, {slots} slots");
    eprintln!(
        "{blocks} blocks and {slots} slots are alike; {} modules are not read there: {unread:?}",
        unread.len()
    );
}

/// Extensions with which the optimizer takes no dead code away.
const UNKNOWN: [&str; 2] = ["SPV_EXT_shader_atomic_float_add", "SPV_EXT_shader_atomic_float_min_max"];

/// Offsets of the members that are left of each block: by where it is bound.
type Left = BTreeMap<Option<(u32, u32)>, BTreeSet<u64>>;

/// The members that are left when `spirv-opt` has run with these passes, as our own layout has them.
fn left(module: &[u32], stage: Stage, name: &str, passes: &[&str]) -> Option<(Left, bool)> {
    let file = crate::testing::tempfile();
    let to = file.0.to_str().expect("it is text").to_owned();
    let mut arguments = vec!["--preserve-bindings", "--target-env=vulkan1.3"];
    arguments.extend(passes);
    arguments.extend(["-", "-o", &to]);
    tool("spirv-opt", &arguments, &bytes(module))?.unwrap_or_else(|e| panic!("{e}"));
    let made = words(&std::fs::read(&to).expect("it was written"));
    let r = reflect(&made, stage, name, &Specialization::default()).expect("it is a module");
    let offsets = |b: &Block| b.members.iter().map(|m| m.offset).collect::<BTreeSet<u64>>();
    let mut out = Left::new();
    for s in &r.slots {
        for b in &s.blocks {
            out.entry(Some((s.set, s.binding))).or_default().extend(offsets(b));
        }
    }
    out.extend(r.push.iter().map(|b| (None, offsets(b))));
    // (of a struct whose load is still whole it keeps all)
    let m = Module::read(&made).expect("it is a module");
    let is_struct = |t: u32| m.global(t).is_some_and(|t| t.op() == crate::spirv::Op::TypeStruct);
    let mut loads = m.functions.iter().flat_map(|f| f.insts()).filter(|i| i.op() == crate::spirv::Op::Load);
    let whole = loads.any(|i| i.inst.result_type.is_some_and(is_struct));
    Some((out, whole))
}

#[test]
fn members_are_used_where_an_optimizer_keeps_them() {
    let (mut used, mut unused, mut better) = (0, 0, 0);
    for (what, module) in all() {
        for (_, name, stage) in entries(&module) {
            let r = reflect(&module, stage, &name, &Specialization::default()).expect("it is a module");
            let one = {
                let mut m = Module::read(&module).expect("it is a module");
                let model = entries(&module).iter().find(|e| e.1 == name && e.2 == stage).map(|e| e.0);
                m.ungroup();
                m.isolate(model.expect("it is there"), &name).expect("it is there");
                m.words()
            };
            let dead = ["--eliminate-dead-functions", "--eliminate-dead-members"];
            let Some((most, _)) = left(&one, stage, &name, &dead) else { return };
            let resolved = [
                "--inline-entry-points-exhaustive",
                "--eliminate-dead-functions",
                "--private-to-local",
                "--scalar-replacement=0",
                "--ssa-rewrite",
                "--eliminate-dead-code-aggressive",
                "--eliminate-dead-members",
            ];
            let (least, whole) = left(&one, stage, &name, &resolved).expect("it was there before");
            // It leaves dead code where it does not know an extension, so that loads that nobody uses count.
            let leaves = Module::read(&module).expect("it is a module").extensions.iter().any(|e| {
                matches!(e.inst.operands.first(), Some(crate::spirv::Operand::LiteralString(s)) if UNKNOWN.contains(&&s[..]))
            });
            // (it keeps all of a storage block)
            let uniform = |s: &&Slot| s.kinds.iter().all(|k| *k == Kind::UniformBlock) && s.blocks.len() == 1;
            let bound = r.slots.iter().filter(uniform);
            let bound = bound.flat_map(|s| s.blocks.iter().map(move |b| (Some((s.set, s.binding)), b)));
            let none = BTreeSet::new();
            for (place, block) in bound.chain(r.push.iter().map(|b| (None, b))) {
                let [most, least] = [&most, &least].map(|l| l.get(&place).unwrap_or(&none));
                for m in &block.members {
                    let ours = m.read || m.written;
                    let (may, must) = (most.contains(&m.offset), least.contains(&m.offset));
                    assert!(!ours || may, "{what} {name}: {place:?} {m:?} is used by us alone");
                    let whole = whole && m.name.contains('.');
                    assert!(
                        ours || !must || leaves || whole,
                        "{what} {name}: {place:?} {m:?} is used by others alone"
                    );
                    used += usize::from(ours);
                    unused += usize::from(!ours);
                    better += usize::from(may && !ours);
                }
            }
        }
    }
    assert!(used > 100 && unused > 5, "{used} used, {unused} unused");
    eprintln!(
        "{used} members are used, {unused} are not: {better} of these are in structs that are loaded whole"
    );
}
