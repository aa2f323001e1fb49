use super::*;
use crate::changes::LIST;
use crate::changes::entry::Made;
use trace::plan::Use;
use world::bench::call;

fn change(name: &str) -> Change {
    let used: Use = name.parse().expect("a use");
    let entry = LIST.iter().find(|e| e.name == used.name).expect(name);
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
    let one_pixel = change("one-pixel");
    let edits = (one_pixel.dynamic[0].edits)(&one_pixel, View::call(&call.image));
    assert!(edit::apply(&mut call.image, &edits));
    assert!(!edit::apply(&mut call.image, &edits), "it is so already");
    assert_eq!(rectangles(&call), [([3, 4], [1, 0]), ([3, 4], [1, 0])]);
    let named = change("one-pixel:pixel=7,9");
    let mut call = scissor(0, 2);
    let edits = (named.dynamic[0].edits)(&named, View::call(&call.image));
    assert!(edit::apply(&mut call.image, &edits));
    assert_eq!(rectangles(&call), [([7, 9], [1, 1]); 2]);
    for wrong in ["one-pixel:pixel=7", "one-pixel:pixel=-1,2", "one-pixel:pixel=a,b"] {
        let used: Use = wrong.parse().expect("a use");
        let entry = LIST.iter().find(|e| e.name == used.name).expect(wrong);
        let why = (entry.make)(&used).err().expect(wrong);
        assert!(why.contains("say it as pixel=X,Y"), "{why}");
    }
}

/// Offset and extent of each scissor.
fn rectangles(call: &Call) -> Vec<([u32; 2], [u32; 2])> {
    let of = |r: View<'_>, part: &str, names: [&str; 2]| {
        names.map(|n| r.one(part).and_then(|p| p.u32(n)).expect("a rectangle"))
    };
    let all = View::call(&call.image).structs("pScissors");
    all.map(|r| (of(r, "offset", ["x", "y"]), of(r, "extent", ["width", "height"]))).collect()
}
