//! Calls out of order: a sample with one block left out, or one twice, is refused at the block that should not have come,
//! and never crashes.

use crate::device::device;
use crate::support::{Scratch, root, run, text};
use gfxr_parse::container::Capture;
use gfxr_parse::schema::command;

/// What is done with the nth call of a command.
enum Change {
    Left,
    Twice,
}

/// The sample changed; the block that is left out, or that comes a second time.
fn changed(name: &str, call: &str, nth: usize, change: &Change, to: &std::path::Path) -> u64 {
    let bytes = std::fs::read(root().join("captures/samples").join(name)).expect("a sample");
    let capture = Capture::new(bytes.clone()).expect("a capture");
    let mut named =
        capture.blocks().filter(|b| b.call_id().and_then(command).is_some_and(|c| c.name == call));
    let block = named.nth(nth - 1).unwrap_or_else(|| panic!("{call} {nth} in {name}"));
    let (from, len) = (block.offset as usize, block.raw().len());
    let kept = match change {
        Change::Left => &bytes[from + len..],
        Change::Twice => &bytes[from..],
    };
    std::fs::write(
        to,
        [&bytes[..from + if matches!(change, Change::Left) { 0 } else { len }], kept].concat(),
    )
    .expect("written");
    block.index
}

#[test]
fn what_comes_out_of_order_is_a_divergence() {
    if !device("what_comes_out_of_order") {
        return;
    }
    let scratch = Scratch::new("order");
    let file = scratch.path("changed.gfxr");
    let (left, twice) = (Change::Left, Change::Twice);
    for (call, nth, change, then) in [
        ("vkBeginCommandBuffer", 2, &left, "is not being recorded"),
        ("vkBeginCommandBuffer", 2, &twice, "is already being recorded"),
        ("vkEndCommandBuffer", 2, &twice, "is not being recorded"),
        ("vkEndCommandBuffer", 2, &left, "being recorded"),
        ("vkCmdBindPipeline", 1, &left, "bound in VkCommandBuffer"),
        ("vkBindBufferMemory", 1, &twice, "is bound to memory already"),
        ("vkMapMemory", 1, &twice, "is already mapped"),
        ("vkFreeMemory", 1, &twice, "was never created, or is already destroyed"),
        ("vkDestroyBuffer", 1, &twice, "was never created, or is already destroyed"),
        ("vkDestroyDevice", 1, &twice, "was never created, or is already destroyed"),
        ("vkDestroyInstance", 1, &twice, "was never created, or is already destroyed"),
        ("vkCreateDevice", 1, &left, "was never created, or is already destroyed"),
    ] {
        let block = changed("steps.gfxr", call, nth, change, &file);
        for flags in [&[][..], &["--keep-going"]] {
            let out = run([file.as_os_str()].into_iter().chain(flags.iter().map(std::ffi::OsStr::new)));
            let err = text(&out.stderr);
            assert_eq!(out.status.code(), Some(5), "{call} {flags:?}: {err}");
            if flags.is_empty() {
                assert!(err.contains(then), "{call}: {err}\nexpected {then}");
                if matches!(change, Change::Twice) {
                    assert!(err.contains(&format!("block {}, {call}: ", block + 1)), "{call}: {err}");
                }
            }
        }
    }
}

/// Programs that are killed, or sloppy, leave devices; their instance may go all the same.
#[test]
fn an_instance_may_go_before_its_device() {
    if !device("an_instance_may_go") {
        return;
    }
    let scratch = Scratch::new("order-instance");
    let file = scratch.path("changed.gfxr");
    changed("steps.gfxr", "vkDestroyDevice", 1, &Change::Left, &file);
    let out = run([file.as_os_str()]);
    assert!(out.status.success(), "{}", text(&out.stderr));
}

/// What destructors free when the device is gone has gone with it.
#[test]
fn what_went_with_its_device_need_not_be_freed() {
    if !device("what_went_with_its_device") {
        return;
    }
    let scratch = Scratch::new("order-device");
    let bytes = std::fs::read(root().join("captures/samples/steps.gfxr")).expect("a sample");
    let capture = Capture::new(bytes.clone()).expect("a capture");
    let place = |call: &str| {
        let is = |id| command(id).is_some_and(|c| c.name == call);
        let block = capture.blocks().find(|b| b.call_id().is_some_and(is)).expect("it is there");
        block.offset as usize..block.offset as usize + block.raw().len()
    };
    let (free, destroy) = (place("vkFreeMemory"), place("vkDestroyDevice"));
    assert!(free.end <= destroy.start);
    let parts =
        [&bytes[..free.start], &bytes[free.end..destroy.end], &bytes[free.clone()], &bytes[destroy.end..]];
    let file = scratch.path("late.gfxr");
    std::fs::write(&file, parts.concat()).expect("written");
    let out = run(["--verbose".as_ref(), file.as_os_str()]);
    assert!(out.status.success(), "{}", text(&out.stderr));
    assert!(text(&out.stderr).contains("went with their device"), "{}", text(&out.stderr));
}
