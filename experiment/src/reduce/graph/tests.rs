//! What goes with what, on samples.

use super::*;
use gfxr_parse::schema::command_named;
use std::path::Path;

fn sample(name: &str) -> (Capture, Graph) {
    let file = Path::new(env!("CARGO_MANIFEST_DIR")).join("../captures/samples").join(name);
    let capture = Capture::new(std::fs::read(file).expect("a sample")).expect("a capture");
    let graph = Graph::of(&capture).expect("it is read");
    (capture, graph)
}

/// The blocks of a command.
fn places(capture: &Capture, command: &str) -> Vec<u32> {
    let id = command_named(command).map(|c| c.id);
    let all = (0..).zip(capture.blocks());
    all.filter(|(_, b)| b.call_id().is_some() && b.call_id() == id).map(|(n, _)| n).collect()
}

#[test]
fn what_a_trace_reads_by_address_stays_with_it() {
    let (capture, graph) = sample("closed_rays.gfxr");
    let traces = places(&capture, "vkCmdTraceRaysKHR");
    let goes = |b: u32| {
        let gone = graph.with_users(&vec![false; graph.blocks()], [b]);
        traces.iter().any(|t| gone.contains(t))
    };
    for query in ["vkGetRayTracingShaderGroupHandlesKHR", "vkGetAccelerationStructureDeviceAddressKHR"] {
        assert!(goes(*places(&capture, query).first().expect(query)), "{query}");
    }
    let kinds: Vec<_> = capture.blocks().map(|b| b.meta_type()).collect();
    let filled = graph.by_address.iter().filter(|b| kinds[**b as usize] == Some(id::FILL_MEMORY));
    assert!(filled.count() > 1, "{:?}", graph.by_address);
    let submissions = places(&capture, "vkQueueSubmit");
    assert!(submissions.iter().filter(|s| goes(**s)).count() > 1, "those that build, too");
    let kept: Vec<u32> = graph.by_address.iter().copied().filter(|b| !goes(*b)).collect();
    assert_eq!(kept, [0; 0], "each is needed by a trace");
    assert!(sample("cubes.gfxr").1.by_address.is_empty());
}

/// Without the first block of one command, the next of another goes.
fn goes_with(name: &str, needed: &str, user: &str) {
    let (capture, graph) = sample(name);
    let first = places(&capture, needed)[0];
    let next = places(&capture, user).into_iter().find(|u| *u > first).expect("one behind it");
    assert!(
        graph.with_users(&vec![false; graph.blocks()], [first]).contains(&next),
        "{name}: {needed} {first} without {user} {next}"
    );
}

#[test]
fn what_is_behind_addresses_in_constants_and_buffers_stays() {
    goes_with("pointers.gfxr", "vkGetBufferDeviceAddress", "vkCmdDispatch");
    goes_with("pointers.gfxr", "vkCmdCopyBuffer", "vkCmdDispatch");
    goes_with("rays.gfxr", "vkCreateBuffer", "vkCmdDispatch");
}

#[test]
fn what_dispatches_write_stays_with_what_reads_it_by_address() {
    goes_with("pointers.gfxr", "vkCmdDispatch", "vkCmdDispatch");
    goes_with("rays.gfxr", "vkCmdDispatch", "vkCmdTraceRaysIndirectKHR");
}

#[test]
fn structures_that_ray_queries_read_stay() {
    goes_with("recursion.gfxr", "vkCmdBuildAccelerationStructuresKHR", "vkCmdDispatch");
}

#[test]
fn without_its_constants_no_shader_runs() {
    let (capture, graph) = sample("closed_compute.gfxr");
    let places = |command| places(&capture, command);
    let (pushes, dispatches) = (places("vkCmdPushConstants"), places("vkCmdDispatch"));
    let first = *pushes.first().expect("constants are pushed");
    let gone = graph.with_users(&vec![false; graph.blocks()], [first]);
    let next = *dispatches.iter().find(|d| **d > first).expect("a dispatch behind it");
    assert!(gone.contains(&next), "{gone:?}");
    assert!(gone.iter().all(|b| *b >= first));
    // The next push takes its place.
    let second = *pushes.iter().find(|p| **p > next).expect("another");
    let later = *dispatches.iter().find(|d| **d > second).expect("a dispatch behind that");
    assert!(!gone.contains(&later), "{gone:?}");
    assert!(graph.levels.iter().filter(|l| l.name == "objects").all(|l| !l.groups.contains(&vec![first])));
}

#[test]
fn what_goes_takes_its_users_and_nothing_that_is_left_names_what_is_gone() {
    let (capture, graph) = sample("cubes.gfxr");
    let names: Vec<Option<u32>> = capture.blocks().map(|b| b.call_id()).collect();
    let name = |b: u32| names[b as usize];
    let of = |command: &str| command_named(command).map(|c| c.id);
    let all: Vec<u32> = (0..graph.blocks() as u32).collect();
    let makes = all.iter().copied().find(|b| name(*b) == of("vkCreateInstance")).expect("an instance");
    // Of an instance everything lives that is not said of the file.
    let gone = graph.with_users(&vec![false; graph.blocks()], [makes]);
    let left: Vec<u32> = all.iter().copied().filter(|b| name(*b).is_some() && !gone.contains(b)).collect();
    assert_eq!(left, [0; 0]);
    // Of a pipeline its binds live, its draws, and its end.
    let pipeline = all.iter().copied().find(|b| name(*b) == of("vkCreateGraphicsPipelines")).expect("one");
    let gone = graph.with_users(&vec![false; graph.blocks()], [pipeline]);
    let allowed = [
        "vkCreateGraphicsPipelines",
        "vkCmdBindPipeline",
        "vkCmdDraw",
        "vkCmdDrawIndexed",
        "vkDestroyPipeline",
        "vkSetDebugUtilsObjectNameEXT",
    ]
    .map(of);
    assert!(gone.len() > 30 && gone.iter().all(|b| allowed.contains(&name(*b))), "{}", gone.len());
    // Render passes begin and end within the recording of a command buffer.
    let level = |name: &str| graph.levels.iter().find(|l| l.name == name).expect("a level");
    let (recordings, passes) = (&level("command buffers").groups, &level("render passes").groups);
    assert_eq!(
        passes.len(),
        32,
        "the cubes are recorded twice, what is in front of them in each of 30 frames"
    );
    assert!(passes.iter().all(|p| recordings.iter().any(|r| p.iter().all(|b| r.contains(b)))));
}
