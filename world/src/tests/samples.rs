//! The committed samples, against a count that knows nothing of what is followed.

use crate::MetaBlock;
use crate::Outcome;
use crate::bench::Ear;
use crate::commands::{RENDERING_RESUMING, Sizes};
use crate::{At, AtSet, Command, Follow, Invocation, Observer, World};
use gfxr_parse::ahead::Call;
use gfxr_parse::ahead::{self, What};
use gfxr_parse::container::{Capture, read_file};
use gfxr_parse::view::View;
use std::collections::HashMap;
use std::ops::ControlFlow;
use std::path::PathBuf;

/// A tile of the sample `uniforms`, in pixels.
const TILE: u32 = 16;

/// The samples, and those in the folders of `RERAY_CAPTURES`.
fn samples() -> Vec<PathBuf> {
    let mut folders = vec![PathBuf::from(env!("CARGO_MANIFEST_DIR")).join("../captures/samples")];
    if let Some(more) = std::env::var_os("RERAY_CAPTURES") {
        folders.extend(std::env::split_paths(&more));
    }
    let files = |f: PathBuf| std::fs::read_dir(f).expect("a folder").map(|e| e.expect("a file").path());
    let mut all: Vec<_> = folders.into_iter().flat_map(files).collect();
    all.retain(|p| p.extension().is_some_and(|e| e == "gfxr"));
    all.sort();
    all
}

/// Follows a whole capture; every call is shown to `each` as well.
fn follow(capture: &Capture, to: &mut dyn Observer, mut each: impl FnMut(&Call, u64)) -> Follow {
    let mut f = Follow::new();
    let stopped = ahead::run(capture, |item| {
        match &mut item.what {
            What::Call(call) => {
                each(call, item.place.frame);
                f.call(call, Outcome::captured(call), to);
            }
            What::Meta(m, data) => {
                let block = MetaBlock { meta: &m.meta, data: data.bytes(), block: item.block };
                f.meta(&block);
            }
            What::Bad(e) | What::CutOff(e) => panic!("{e}"),
            _ => {}
        }
        ControlFlow::<()>::Continue(())
    });
    assert_eq!(stopped, None);
    f.finish(to);
    f
}

/// Invocations and copies that submits run, counted by the names of calls and what command buffers execute.
#[derive(Default)]
struct Count {
    /// By command buffer: invocations by name, secondaries.
    buffers: HashMap<u64, (Vec<&'static str>, Vec<u64>)>,
    run: HashMap<&'static str, u64>,
}

impl Count {
    fn see(&mut self, call: &Call) {
        let (name, id) = (call.command.canonical, call.image.u64(0));
        let v = View::call(&call.image);
        match name {
            "vkBeginCommandBuffer" => drop(self.buffers.insert(id, Default::default())),
            "vkCmdExecuteCommands" => {
                let b = self.buffers.entry(id).or_default();
                b.1.extend(v.u64s("pCommandBuffers"));
            }
            "vkQueueSubmit" | "vkQueueSubmit2" => {
                for s in v.structs("pSubmits") {
                    let two = s.structs("pCommandBufferInfos").filter_map(|i| i.u64("commandBuffer"));
                    for b in s.u64s("pCommandBuffers").into_iter().chain(two) {
                        self.execute(b);
                    }
                }
            }
            n if n.starts_with("vkCmd") => self.buffers.entry(id).or_default().0.push(n),
            _ => {}
        }
    }
    fn execute(&mut self, id: u64) {
        let Some((names, others)) = self.buffers.get(&id).cloned() else { return };
        for n in names {
            *self.run.entry(n).or_default() += 1;
        }
        others.into_iter().for_each(|o| self.execute(o));
    }
}

/// Counts what is told by the command's name, and what is not resolved.
#[derive(Default)]
struct Told {
    run: HashMap<&'static str, u64>,
    invocations: u64,
    no_program: u64,
    no_words: u64,
    sets: u64,
    unbound: u64,
    other: HashMap<&'static str, u64>,
    passes: u64,
    resumed: u64,
    /// Written descriptors that name objects which are not there.
    dangling: u64,
    descriptors: u64,
}

impl Observer for Told {
    fn invocation(&mut self, w: &World, at: &At, i: &Invocation<'_>) {
        assert_eq!(i.number, self.invocations);
        self.invocations += 1;
        *self.run.entry(i.invoke.command.canonical).or_default() += 1;
        let program = &i.invoke.bindings.program;
        self.no_program += u64::from(program.id() == 0);
        self.no_words +=
            program.stages().iter().filter(|s| s.module.words.first() != Some(&0x0723_0203)).count() as u64;
        if at.pass == 0 {
            assert!(!i.invoke.command.name.contains("Draw"), "draws are in passes");
        }
        for n in 0..program.layout().map_or(0, |l| l.sets.len()) {
            self.sets += 1;
            let contents = match w.set(i.invoke, n) {
                AtSet::Set { contents, .. } | AtSet::Push { contents } => contents,
                AtSet::Nothing => {
                    let empty = program.layout().and_then(|l| l.set(n)).is_none_or(|s| s.slots == 0);
                    self.unbound += u64::from(!empty);
                    continue;
                }
                _ => continue,
            };
            for b in &contents.layout.bindings {
                for (_, d) in contents.written(b.binding) {
                    use crate::sets::Descriptor as D;
                    let there = match d {
                        D::Buffer { buffer, .. } => w.buffers.contains_key(&buffer),
                        D::Image { view, .. } => {
                            w.image_views.get(&view).is_some_and(|v| w.images.contains_key(&v.image))
                        }
                        D::Texel { view, .. } => {
                            w.buffer_views.get(&view).is_some_and(|v| w.buffers.contains_key(&v.buffer))
                        }
                        D::Structure { structure } => w.structures.contains_key(&structure),
                        _ => true,
                    };
                    self.descriptors += 1;
                    self.dangling += u64::from(!there);
                }
            }
        }
    }
    fn command(&mut self, _: &World, at: &At, command: &Command) {
        match command {
            Command::Other(image) => {
                *self.other.entry(image.command.expect("it has one").canonical).or_default() += 1;
            }
            Command::BeginPass(pass) => {
                self.passes += 1;
                self.resumed += u64::from(pass.flags & RENDERING_RESUMING != 0);
                assert_eq!(at.pass, self.passes - self.resumed);
            }
            _ => {}
        }
    }
}

#[test]
fn every_sample_runs_what_its_calls_say() {
    let mut all = 0;
    for path in samples() {
        let capture = Capture::open(&path, read_file).expect("a capture");
        let (mut told, mut count) = (Told::default(), Count::default());
        follow(&capture, &mut told, |call, _| count.see(call));
        let name = path.file_name().expect("a name").to_string_lossy().into_owned();
        let expected: HashMap<&str, u64> = count
            .run
            .iter()
            .filter(|(n, _)| crate::invoke::is_invocation(n))
            .map(|(n, c)| (*n, *c))
            .collect();
        assert_eq!(told.run, expected, "{name}");
        for (kept, n) in &told.other {
            assert_eq!(Some(n), count.run.get(kept), "{name}: {kept}");
        }
        let begins = ["vkCmdBeginRenderPass", "vkCmdBeginRenderPass2", "vkCmdBeginRendering"];
        let begun: u64 = begins.iter().filter_map(|b| count.run.get(b)).sum();
        assert_eq!(told.passes, begun, "{name}");
        let (n, sets, descriptors) = (told.invocations, told.sets, told.descriptors);
        println!("{name}: {n} invocations, {sets} sets, {descriptors} descriptors, {begun} passes");
        // Programs are right: everything that they use is there.
        assert_eq!((told.no_program, told.no_words, told.unbound, told.dangling), (0, 0, 0, 0), "{name}");
        all += told.invocations;
    }
    assert!(all > 500, "{all}");
}

/// Descriptors as the writes of the capture say them, in words: set and binding, then element.
type Written = HashMap<(u64, u32), std::collections::BTreeMap<u32, [u64; 3]>>;

/// vkUpdateDescriptorSets alone, without layouts: what is written, copied and freed.
fn write_down(call: &Call, all: &mut Written) {
    let v = View::call(&call.image);
    if call.command.name == "vkAllocateDescriptorSets" {
        let made = v.u64s("pDescriptorSets");
        all.retain(|(set, _), _| !made.contains(set));
    }
    if call.command.name != "vkUpdateDescriptorSets" {
        return;
    }
    for w in v.structs("pDescriptorWrites") {
        let n = |name| w.u64(name).unwrap_or(0);
        let words: Vec<[u64; 3]> = match n("descriptorType") {
            1 | 2 | 3 | 10 => {
                let of = |i: View<'_>| {
                    [i.u64("imageView"), i.u64("imageLayout"), None].map(Option::unwrap_or_default)
                };
                w.structs("pImageInfo").map(of).collect()
            }
            6..=9 => {
                let of = |i: View<'_>| {
                    [i.u64("buffer"), i.u64("offset"), i.u64("range")].map(Option::unwrap_or_default)
                };
                w.structs("pBufferInfo").map(of).collect()
            }
            4 | 5 => w.u64s("pTexelBufferView").into_iter().map(|t| [t, 0, 0]).collect(),
            _ => continue,
        };
        let to = all.entry((n("dstSet"), n("dstBinding") as u32)).or_default();
        to.extend((n("dstArrayElement") as u32..).zip(words));
    }
    for c in v.structs("pDescriptorCopies") {
        let n = |name| c.u64(name).unwrap_or(0);
        let from = all.get(&(n("srcSet"), n("srcBinding") as u32)).cloned().unwrap_or_default();
        let to = all.entry((n("dstSet"), n("dstBinding") as u32)).or_default();
        for k in 0..n("descriptorCount") as u32 {
            let (src, dst) = (n("srcArrayElement") as u32 + k, n("dstArrayElement") as u32 + k);
            match from.get(&src) {
                Some(words) => drop(to.insert(dst, *words)),
                None => drop(to.remove(&dst)),
            }
        }
    }
}

#[test]
fn descriptors_are_those_of_the_captures_own_writes() {
    use crate::sets::Descriptor as D;
    struct Compare(std::rc::Rc<std::cell::RefCell<Written>>, u64);
    impl Observer for Compare {
        fn invocation(&mut self, w: &World, _: &At, i: &Invocation<'_>) {
            let written = self.0.borrow();
            for n in 0..i.invoke.bindings.program.layout().map_or(0, |l| l.sets.len()) {
                let AtSet::Set { set, contents, .. } = w.set(i.invoke, n) else { continue };
                for b in &contents.layout.bindings {
                    let Some(expected) = written.get(&(set, b.binding)) else { continue };
                    let words = |d| match d {
                        D::Image { view, layout, .. } => [view, layout.into(), 0],
                        D::Buffer { buffer, offset, range, .. } => [buffer, offset, range],
                        D::Texel { view, .. } => [view, 0, 0],
                        other => panic!("{other:?}"),
                    };
                    let found: std::collections::BTreeMap<u32, [u64; 3]> =
                        contents.written(b.binding).map(|(e, d)| (e, words(d))).collect();
                    assert_eq!(found, *expected, "set {set}, binding {}", b.binding);
                    self.1 += found.len() as u64;
                }
            }
        }
        fn invoked(&mut self, _: &mut World, _: &At, _: &Invocation<'_>) {}
    }
    let mut compared = 0;
    for path in samples() {
        let capture = Capture::open(&path, read_file).expect("a capture");
        let written = std::rc::Rc::<std::cell::RefCell<Written>>::default();
        let mut compare = Compare(std::rc::Rc::clone(&written), 0);
        follow(&capture, &mut compare, |call, _| write_down(call, &mut written.borrow_mut()));
        println!("{}: {} descriptors are as written", path.display(), compare.1);
        compared += compare.1;
    }
    assert!(compared > 1000, "{compared}");
}

#[test]
fn vertex_and_index_buffers_are_there() {
    let path = samples().into_iter().find(|p| p.ends_with("cubes.gfxr")).expect("it is committed");
    let capture = Capture::open(&path, read_file).expect("a capture");
    struct Inputs(u64, u64);
    impl Observer for Inputs {
        fn invocation(&mut self, _: &World, _: &At, i: &Invocation<'_>) {
            let Some(inputs) = &i.invoke.inputs else { return };
            self.0 += inputs.vertices.iter().flatten().count() as u64;
            self.1 += u64::from(inputs.indices.is_some());
        }
    }
    let mut seen = Inputs(0, 0);
    let (mut binds, mut draws) = (0, 0);
    follow(&capture, &mut seen, |call, _| {
        binds += u64::from(call.command.name.starts_with("vkCmdBindVertexBuffers"));
        draws += u64::from(call.command.name == "vkCmdDrawIndexed");
    });
    assert!(binds > 0 && seen.0 > 0, "{binds} binds, {} vertex buffers", seen.0);
    assert!(draws > 0 && seen.1 >= draws, "{draws} draws, {} with indices", seen.1);
    let mut ear = Ear::default();
    follow(&capture, &mut ear, |_, _| {});
    assert!(ear.commands.iter().any(|c| c.1 == "BeginPass"));
}

#[test]
fn indirect_sizes_of_the_sample_are_those_that_its_source_plants() {
    let path = samples().into_iter().find(|p| p.ends_with("uniforms.gfxr")).expect("it is committed");
    let capture = Capture::open(&path, read_file).expect("a capture");
    #[derive(Default)]
    struct Indirect(HashMap<&'static str, Vec<Result<Vec<Sizes>, &'static str>>>);
    impl Observer for Indirect {
        fn invocation(&mut self, w: &World, _: &At, i: &Invocation<'_>) {
            if i.invoke.is_indirect() {
                self.0.entry(i.invoke.kind()).or_default().push(w.sizes(i.invoke));
            }
        }
        // What its shaders write is an image.
        fn invoked(&mut self, _: &mut World, _: &At, _: &Invocation<'_>) {}
    }
    let mut seen = Indirect::default();
    follow(&capture, &mut seen, |_, _| {});
    let draw = Sizes::Draw { vertices: 3, instances: 1, first_vertex: 0, first_instance: 0 };
    let indexed =
        Sizes::DrawIndexed { indices: 3, instances: 1, first_index: 0, vertex_offset: 0, first_instance: 0 };
    let groups = Sizes::Groups { base: [0; 3], count: [TILE / 8, TILE / 8, 1] };
    let expected = [
        ("DrawIndirect", draw.clone()),
        ("DrawIndexedIndirect", indexed.clone()),
        ("DrawIndirectCount", draw),
        ("DrawIndexedIndirectCount", indexed),
        ("DispatchIndirect", groups),
    ];
    assert_eq!(seen.0.len(), expected.len(), "{:?}", seen.0.keys());
    for (kind, sizes) in expected {
        let found = &seen.0[kind];
        assert_eq!(found.len(), 4, "{kind}, once a frame");
        assert!(found.iter().all(|f| *f == Ok(vec![sizes.clone()])), "{kind}: {found:?}");
    }
}
