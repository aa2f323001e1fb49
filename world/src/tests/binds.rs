//! What is bound at an invocation.

use crate::bench::*;
use crate::layouts::ty;

/// Two set layouts that differ, and pipelines with layouts made of them: 30 [one, two], 31 [one, one], 32 [one alike, two].
fn layouts(push: &[(u32, u32, u32)]) -> Bench {
    let mut b = Bench::new();
    b.set_layout(20, 0, &[(0, ty::UNIFORM_BUFFER, 1)], &[]);
    b.set_layout(21, 0, &[(0, ty::STORAGE_BUFFER, 1)], &[]);
    b.set_layout(22, 0, &[(0, ty::UNIFORM_BUFFER, 1)], &[]);
    b.pipeline_layout(30, &[20, 21], push);
    b.pipeline_layout(31, &[20, 20], push);
    b.pipeline_layout(32, &[22, 21], push);
    for (pipeline, layout) in [(40, 30), (41, 31), (42, 32)] {
        b.compute_pipeline(pipeline, layout);
    }
    b.sets(&[50, 51, 52], &[20, 21, 20]);
    b.write(&[
        (50, 0, 0, ty::UNIFORM_BUFFER, &[500]),
        (51, 0, 0, ty::STORAGE_BUFFER, &[510]),
        (52, 0, 0, ty::UNIFORM_BUFFER, &[520]),
    ]);
    b
}

fn set(id: u64) -> Bound {
    Bound::Set(id, vec![(0, 0, id * 10)], vec![])
}

#[test]
fn sets_stay_bound_across_compatible_layouts_only() {
    let mut b = layouts(&[]);
    b.begin(9);
    b.bind(9, 40);
    b.bind_sets(9, 30, 0, &[50, 51], &[]);
    b.dispatch(9);
    b.bind(9, 42); // alike: both stay
    b.dispatch(9);
    b.bind(9, 41); // differs from set 1 on
    b.dispatch(9);
    b.bind_sets(9, 31, 1, &[52], &[]); // set 0 stays
    b.dispatch(9);
    b.bind(9, 40); // set 1 is of the other layout now
    b.dispatch(9);
    b.end(9);
    b.submit(&[9], &[], &[]);
    assert_eq!(
        b.told_sets(),
        [
            [set(50), set(51)],
            [set(50), set(51)],
            [set(50), Bound::Nothing],
            [set(50), set(52)],
            [set(50), Bound::Nothing],
        ]
    );
}

#[test]
fn a_bind_below_disturbs_what_is_above() {
    let mut b = layouts(&[]);
    b.pipeline_layout(33, &[21, 21], &[]);
    b.begin(9);
    b.bind(9, 40);
    b.bind_sets(9, 30, 0, &[50, 51], &[]);
    b.bind_sets(9, 33, 0, &[51], &[]); // not alike at 0: set 1 goes
    b.bind_sets(9, 30, 0, &[50], &[]);
    b.dispatch(9);
    b.bind_sets(9, 30, 1, &[51], &[]);
    b.bind_sets(9, 32, 0, &[50], &[]); // alike: set 1 stays
    b.dispatch(9);
    b.end(9);
    b.submit(&[9], &[], &[]);
    assert_eq!(b.told_sets(), [[set(50), Bound::Nothing], [set(50), set(51)]]);
}

#[test]
fn dynamic_offsets_go_to_the_sets_that_take_them() {
    let mut b = Bench::new();
    b.set_layout(20, 0, &[(4, ty::UNIFORM_BUFFER_DYNAMIC, 2), (1, ty::STORAGE_BUFFER_DYNAMIC, 1)], &[]);
    b.set_layout(21, 0, &[(0, ty::UNIFORM_BUFFER, 1)], &[]);
    b.pipeline_layout(30, &[20, 21, 20], &[]);
    b.compute_pipeline(40, 30);
    b.sets(&[50, 51, 52], &[20, 21, 20]);
    b.begin(9);
    b.bind(9, 40);
    b.bind_sets(9, 30, 0, &[50, 51, 52], &[256, 512, 768, 0, 64, 128]);
    b.dispatch(9);
    b.end(9);
    b.submit(&[9], &[], &[]);
    let of = |id, offsets: &[u32]| Bound::Set(id, vec![], offsets.to_vec());
    assert_eq!(b.told_sets(), [[of(50, &[256, 512, 768]), of(51, &[]), of(52, &[0, 64, 128])]]);
    // By binding: 1 comes first, then both of 4.
    let layout = b.follow.world().set_layouts[&20].clone();
    assert_eq!(layout.binding(4).map(|b| (b.dynamic_start, b.start)), Some((1, 1)));
}

#[test]
fn push_constants_are_those_of_the_moment() {
    let mut b = layouts(&[(0x20, 0, 16)]);
    let push = |b: &mut Bench, offset: u32, data: &[u8]| {
        b.see("vkCmdPushConstants", |w| {
            w.u64(9).u64(30).u32(0x20).u32(offset).u32(data.len() as u32).u8_array(data);
        });
    };
    b.begin(9);
    b.bind(9, 40);
    push(&mut b, 4, &[1, 2, 3, 4]);
    b.dispatch(9);
    push(&mut b, 0, &[9; 4]);
    b.dispatch(9);
    b.dispatch(9);
    b.end(9);
    b.submit(&[9], &[], &[]);
    let told = b.told();
    let pushed: Vec<_> = told.iter().map(|t| t.push.clone()).collect();
    assert_eq!(pushed, [vec![0, 0, 0, 0, 1, 2, 3, 4], vec![9, 9, 9, 9, 1, 2, 3, 4], pushed[1].clone()]);
}

#[test]
fn the_newer_commands_say_the_same() {
    let mut b = layouts(&[(0x20, 0, 16)]);
    b.begin(9);
    b.bind(9, 40);
    b.see("vkCmdBindDescriptorSets2", |w| {
        w.u64(9);
        w.structure(|w| {
            w.u32(stype("VkBindDescriptorSetsInfo")).null_struct().u32(0x20).u64(30).u32(0).u32(2);
            w.u64_array(&[50, 51]).u32(0).null_array();
        });
    });
    b.see("vkCmdPushConstants2", |w| {
        w.u64(9);
        w.structure(|w| {
            w.u32(stype("VkPushConstantsInfo")).null_struct().u64(30).u32(0x20).u32(0).u32(4);
            w.u8_array(&[7; 4]);
        });
    });
    b.dispatch(9);
    b.end(9);
    b.submit(&[9], &[], &[]);
    let told = b.told();
    assert_eq!((&told[0].sets[..], &told[0].push[..]), (&[set(50), set(51)][..], &[7; 4][..]));
}

/// A graphics pipeline: stages, the parts of a library (0 for all), libraries, layout.
fn graphics(b: &mut Bench, id: u64, stages: &[u32], parts: u32, libraries: &[u64], layout: u64) {
    b.see("vkCreateGraphicsPipelines", |w| {
        w.u64(DEVICE).u64(0).u32(1);
        w.structures(1, |w, _| {
            w.u32(28);
            w.structure(|w| {
                if parts != 0 {
                    w.u32(stype("VkGraphicsPipelineLibraryCreateInfoEXT")).null_struct().u32(parts);
                } else {
                    w.u32(stype("VkPipelineLibraryCreateInfoKHR")).null_struct();
                    w.u32(libraries.len() as u32).u64_array(libraries);
                }
            });
            w.u32(0).u32(stages.len() as u32);
            w.structures(stages.len(), |w, i| {
                w.u32(18).null_struct().u32(0).u32(stages[i]).u64(77).string("main").null_struct();
            });
            for _ in 0..9 {
                w.null_struct();
            }
            w.u64(layout).u64(0).u32(0).u64(0).i32(-1);
        });
        w.null_struct().u64_array(&[id]).i32(0);
    });
}

#[test]
fn linked_pipelines_have_what_their_libraries_bring() {
    let mut b = layouts(&[]);
    b.pipeline_layout(33, &[20, 0], &[]);
    b.pipeline_layout(34, &[0, 21], &[]);
    graphics(&mut b, 45, &[1, 0x10], 2, &[], 33); // the fragment stage is none of its parts
    graphics(&mut b, 46, &[0x10], 4, &[], 34);
    graphics(&mut b, 47, &[], 0, &[45, 46], 0);
    graphics(&mut b, 48, &[], 0, &[45, 46], 32);
    let w = b.follow.world();
    let stages = |id: u64| w.pipelines[&id].stages.iter().map(|s| s.stage).collect::<Vec<_>>();
    assert_eq!((stages(45), stages(46), stages(47)), (vec![1], vec![0x10], vec![1, 0x10]));
    assert_eq!((stages(48), w.pipelines[&47].kind()), (vec![1, 0x10], "graphics"));
    let layout = |id: u64| w.pipelines[&id].layout.clone().expect("it has one");
    assert!(layout(47).compatible(&w.pipeline_layouts[&30], 1), "both sets, one from each");
    assert!(!layout(45).compatible(&layout(47), 1));
    assert_eq!(layout(48).id, 32);
    b.begin(9);
    b.see("vkCmdBindPipeline", |w| {
        w.u64(9).u32(0).u64(47);
    });
    b.see("vkCmdBindDescriptorSets", |w| {
        w.u64(9).u32(0).u64(30).u32(0).u32(2).u64_array(&[50, 51]).u32(0).null_array();
    });
    b.see("vkCmdDraw", |w| {
        w.u64(9).u32(3).u32(1).u32(0).u32(0);
    });
    b.end(9);
    b.submit(&[9], &[], &[]);
    assert_eq!(b.told_sets(), [[set(50), set(51)]]);
}

#[test]
fn shader_objects_are_combinations() {
    let mut b = layouts(&[]);
    b.see("vkCreateShadersEXT", |w| {
        w.u64(DEVICE).u32(3);
        w.structures(3, |w, i| {
            let (stage, next) = [(1u32, 0x10u32), (0x10, 0), (0x20, 0)][i];
            w.u32(stype("VkShaderCreateInfoEXT")).null_struct().u32(0).u32(stage).u32(next).u32(1);
            w.u64(4).u8_array(&[1, 2, 3, 4]).string("main").u32(2).u64_array(&[20, 21]);
            w.u32(0).null_structs().null_struct();
        });
        w.null_struct().u64_array(&[60, 61, 62]).i32(0);
    });
    b.begin(9);
    b.see("vkCmdBindShadersEXT", |w| {
        w.u64(9).u32(3).u32_array(&[1, 0x10, 0x20]).u64_array(&[60, 61, 62]);
    });
    b.bind_sets(9, 30, 0, &[50, 51], &[]);
    b.dispatch(9);
    let draw = |b: &mut Bench| {
        b.see("vkCmdDraw", |w| {
            w.u64(9).u32(3).u32(1).u32(0).u32(0);
        })
    };
    draw(&mut b);
    b.see("vkCmdBindShadersEXT", |w| {
        w.u64(9).u32(1).u32_array(&[0x10]).null_array();
    });
    draw(&mut b);
    b.bind(9, 40);
    b.dispatch(9);
    b.end(9);
    b.submit(&[9], &[], &[]);
    let told = b.told();
    let first = crate::objects::FIRST_COMBINATION;
    let programs: Vec<u64> = told.iter().map(|t| t.program).collect();
    assert_eq!(programs, [first, first + 1, first + 2, 40]);
    assert_eq!(
        told[0].sets,
        [set(50), set(51)],
        "the layout of a shader object is compatible with one like it"
    );
    assert_eq!(told[1].sets, [Bound::Nothing, Bound::Nothing], "bound for dispatches only");
    let of = |n: usize| b.follow.world().combinations[n].stages.iter().map(|s| s.stage).collect::<Vec<_>>();
    assert_eq!((of(0), of(1), of(2)), (vec![0x20], vec![1, 0x10], vec![1]));
    // They are called by the fragment shader's object, or by what there is.
    let called = |n: usize| {
        let all = &b.follow.world().combinations[n];
        let id = crate::commands::Program::Shaders(all.clone()).called();
        all.shaders.iter().find(|s| s.id == id).map(|s| s.stage.stage)
    };
    assert_eq!([0, 1, 2].map(called), [Some(0x20), Some(0x10), Some(1)]);
}
