use super::*;
use crate::changes::LIST;
use crate::changes::entry::Made;
use trace::plan::Use;
use world::bench::call;

fn change(name: &str) -> &'static Change {
    let used: Use = name.parse().expect("a use");
    let entry = LIST.iter().find(|e| e.name == name).expect(name);
    match (entry.make)(&used) {
        Ok(Made::State(change, _)) => change,
        _ => panic!("{name} is a change of state"),
    }
}

#[test]
fn every_command_of_a_change_is_of_the_schema() {
    for name in ["no-fragments", "one-pixel", "no-blend", "no-depth", "no-color"] {
        let dynamic = change(name).dynamic;
        assert!(!dynamic.is_empty(), "{name}");
        for d in dynamic {
            assert!(COMMANDS.iter().any(|c| c.canonical == d.command), "{}", d.command);
        }
    }
}

#[test]
fn what_sets_the_same_is_kept_once_and_is_edited_in_a_copy() {
    let scissor = |first: u32, n: u32| {
        call("vkCmdSetScissor", |w| {
            w.u64(1).u32(first).u32(n);
            w.structures(n as usize, |w, _| {
                w.i32(3).i32(4).u32(64).u32(0);
            });
        })
    };
    assert_eq!(slot(&scissor(0, 1)), slot(&scissor(0, 1)));
    assert_ne!(slot(&scissor(0, 1)), slot(&scissor(1, 1)));
    assert_ne!(slot(&scissor(0, 1)), slot(&scissor(0, 2)));
    let mut call = scissor(0, 2);
    let edits = (change("one-pixel").dynamic[0].edits)(View::call(&call.image));
    assert!(edit::apply(&mut call.image, &edits));
    assert!(!edit::apply(&mut call.image, &edits), "it is so already");
    let v = View::call(&call.image);
    let of = |r: View<'_>, part: &str, names: [&str; 2]| {
        names.map(|n| r.one(part).and_then(|p| p.u32(n)).expect("a rectangle"))
    };
    let all: Vec<_> = v
        .structs("pScissors")
        .map(|r| (of(r, "offset", ["x", "y"]), of(r, "extent", ["width", "height"])))
        .collect();
    assert_eq!(all, [([3, 4], [1, 0]), ([3, 4], [1, 0])]);
}
