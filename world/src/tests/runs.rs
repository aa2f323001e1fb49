//! What the device runs, and when.

use crate::bench::*;
use crate::layouts::ty;
use crate::objects::BindPoint;
use crate::recording::Scope;
use crate::walk::Step;

fn one() -> Bench {
    let mut b = Bench::new();
    b.set_layout(20, 0, &[(0, ty::UNIFORM_BUFFER, 2)], &[]);
    b.pipeline_layout(30, &[20], &[]);
    b.compute_pipeline(40, 30);
    b.sets(&[50], &[20]);
    b
}

fn set(buffers: &[(u32, u32, u64)]) -> Vec<Vec<Bound>> {
    vec![vec![Bound::Set(50, buffers.to_vec(), vec![])]]
}

#[test]
fn sets_are_as_they_are_at_the_submission() {
    let mut b = one();
    b.once(9, 40, 30, &[50]);
    b.write(&[(50, 0, 0, ty::UNIFORM_BUFFER, &[7])]);
    assert!(b.told().is_empty(), "nothing runs before it is submitted");
    b.submit(&[9], &[], &[]);
    assert_eq!(b.told_sets(), set(&[(0, 0, 7)]));
    b.write(&[(50, 0, 1, ty::UNIFORM_BUFFER, &[8])]);
    b.submit(&[9], &[], &[]);
    assert_eq!(b.told_sets(), set(&[(0, 0, 7), (0, 1, 8)]));
    b.see("vkFreeDescriptorSets", |w| {
        w.u64(DEVICE).u64(POOL).u32(1).u64_array(&[50]).i32(0);
    });
    b.submit(&[9], &[], &[]);
    assert_eq!(b.told_sets(), [[Bound::Nothing]]);
}

#[test]
fn every_command_counts_and_every_recording_has_its_number() {
    let mut b = one();
    for round in 0..2 {
        b.begin(9);
        b.see("vkCmdSetViewport", |w| {
            w.u64(9).u32(0).u32(0).null_structs();
        });
        b.bind(9, 40);
        b.dispatch(9);
        b.dispatch(9);
        b.end(9);
        b.submit(&[9, 9], &[], &[]);
        let told = b.told();
        let at: Vec<_> = told.iter().map(|t| (t.at.recording, t.at.command, t.at.submission)).collect();
        assert_eq!(at, [(round, 2, round), (round, 3, round), (round, 2, round), (round, 3, round)]);
        assert_eq!(told[0].at.block + 1, told[1].at.block);
        assert_eq!(told[0].kind, "Dispatch");
    }
    b.see("vkResetCommandBuffer", |w| {
        w.u64(9).u32(0).i32(0);
    });
    b.submit(&[9], &[], &[]);
    assert!(b.told().is_empty());
    assert_eq!(b.ear.submissions.len(), 3);
}

#[test]
fn a_call_that_failed_did_nothing() {
    let mut b = one();
    b.once(9, 40, 30, &[50]);
    b.see("vkQueueSubmit", |w| {
        w.u64(QUEUE).u32(1);
        w.structures(1, |w, _| {
            w.u32(4)
                .null_struct()
                .u32(0)
                .null_array()
                .null_array()
                .u32(1)
                .u64_array(&[9])
                .u32(0)
                .null_array();
        });
        w.u64(0).i32(-4);
    });
    assert!(b.told().is_empty() && b.ear.submissions.is_empty());
}

#[test]
fn secondaries_run_where_they_are_executed_in_the_pass_of_the_primary() {
    let mut b = one();
    let (begin, end) = ("vkCmdBeginRendering", "vkCmdEndRendering");
    let pass = |b: &mut Bench, flags: u32| {
        b.see(begin, |w| {
            w.u64(8);
            w.structure(|w| {
                w.u32(stype("VkRenderingInfo")).null_struct().u32(flags).i32(0).i32(0).u32(4).u32(4);
                w.u32(1).u32(0).u32(0).null_structs().null_struct().null_struct();
            });
        });
    };
    let end = |b: &mut Bench| {
        b.see(end, |w| {
            w.u64(8);
        })
    };
    b.once(9, 40, 30, &[50]);
    b.begin(8);
    b.bind(8, 40);
    pass(&mut b, 1);
    b.see("vkCmdExecuteCommands", |w| {
        w.u64(8).u32(2).u64_array(&[9, 9]);
    });
    end(&mut b);
    b.dispatch(8);
    pass(&mut b, 2); // suspends
    end(&mut b);
    pass(&mut b, 4); // resumes
    b.dispatch(8);
    end(&mut b);
    b.end(8);
    b.submit(&[8], &[], &[]);
    b.submit(&[8], &[], &[]);
    let told = b.told();
    let at: Vec<_> =
        told.iter().map(|t| (t.at.command_buffer, t.at.holder, t.at.command, t.at.pass, t.program)).collect();
    // Behind secondaries nothing is bound any more.
    let round = |p: u64| [(8, 9, 2, p, 40), (8, 9, 2, p, 40), (8, 8, 4, 0, 0), (8, 8, 8, p + 1, 0)];
    assert_eq!(at, [round(1), round(3)].concat());
    let names: Vec<&str> = b.ear.commands.iter().map(|c| &c.1[..]).collect();
    assert_eq!(names[..4], ["BeginPass", "Execute", "EndPass", "BeginPass"]);
    assert_eq!(b.ear.commands[2].0.pass, 1, "the end is part of it");
}

#[test]
fn a_command_buffer_that_executes_itself_ends() {
    let mut b = one();
    b.begin(9);
    b.dispatch(9);
    b.see("vkCmdExecuteCommands", |w| {
        w.u64(9).u32(1).u64_array(&[9]);
    });
    b.end(9);
    b.submit(&[9], &[], &[]);
    assert_eq!(b.told().len(), 16);
}

fn execute(b: &mut Bench, cmd: u64, secondaries: &[u64]) {
    b.see("vkCmdExecuteCommands", |w| {
        w.u64(cmd).u32(secondaries.len() as u32).u64_array(secondaries);
    });
}

#[test]
fn command_buffers_are_gone_through_as_they_would_run() {
    let mut b = one();
    // 7 dispatches, executes 8 twice and 9, and dispatches; 8 executes 9, which executes itself.
    b.begin(9);
    b.dispatch(9);
    execute(&mut b, 9, &[9]);
    b.end(9);
    b.begin(8);
    b.dispatch(8);
    execute(&mut b, 8, &[9]);
    b.end(8);
    b.begin(7);
    b.dispatch(7);
    execute(&mut b, 7, &[8, 9, 8]);
    b.dispatch(7);
    let walked = |b: &Bench, buffers: &[u64]| {
        let (mut all, mut depth) = (vec![], 0);
        b.follow.world().walk(buffers, &mut |h, step| match step {
            Step::Enters => depth += 1,
            Step::Leaves => depth -= 1,
            Step::Command(c) if !matches!(c.command, crate::Command::Execute(_)) => {
                all.push((h.buffer, c.index, depth));
            }
            Step::Command(_) => {}
        });
        all
    };
    assert_eq!(walked(&b, &[7]), [], "it is not recorded yet");
    b.end(7);
    let eight = [(8, 0, 2), (9, 0, 3)];
    let all = [&[(7, 0, 1)][..], &eight, &[(9, 0, 2)], &eight, &[(7, 2, 1)]].concat();
    assert_eq!(walked(&b, &[7, 99]), all);
    b.see("vkResetCommandBuffer", |w| {
        w.u64(8).u32(0).i32(0);
    });
    assert_eq!(walked(&b, &[7]), [(7, 0, 1), (9, 0, 2), (7, 2, 1)]);
}

#[test]
fn what_is_being_recorded_is_known_as_far_as_it_is() {
    let mut b = one();
    let of = |b: &Bench| {
        let w = b.follow.world();
        (
            w.recording(9).map(|r| (r.number, r.count)),
            w.program(9, BindPoint::Compute),
            w.bound(9, BindPoint::Compute).len(),
        )
    };
    assert_eq!(of(&b), (None, vec![], 0));
    b.begin(9);
    b.bind(9, 40);
    b.bind_sets(9, 30, 0, &[50], &[]);
    assert_eq!(of(&b), (Some((0, 2)), vec![40], 1));
    let scope = |b: &Bench| b.follow.world().recording(9).expect("it is recorded").scope;
    for (flags, behind) in [(0, Scope::Outside), (2, Scope::Suspended), (4, Scope::Outside)] {
        b.see("vkCmdBeginRendering", |w| {
            w.u64(9);
            w.structure(|w| {
                w.u32(stype("VkRenderingInfo")).null_struct().u32(flags).i32(0).i32(0).u32(4).u32(4);
                w.u32(1).u32(0).u32(0).null_structs().null_struct().null_struct();
            });
        });
        assert_eq!(scope(&b), Scope::Pass { suspends: flags == 2 });
        b.see("vkCmdEndRendering", |w| {
            w.u64(9);
        });
        assert_eq!(scope(&b), behind);
    }
    b.end(9);
    assert_eq!(of(&b), (Some((0, 8)), vec![], 0));
    b.begin(9);
    assert_eq!(of(&b), (Some((1, 0)), vec![], 0));
    assert_eq!(Scope::first(3), Scope::Pass { suspends: false }, "one that goes on with a render pass");
}

/// Semaphore 70, a timeline that begins at 3.
fn timeline(b: &mut Bench) {
    b.see("vkCreateSemaphore", |w| {
        w.u64(DEVICE);
        w.structure(|w| {
            w.u32(9);
            w.structure(|w| {
                w.u32(stype("VkSemaphoreTypeCreateInfo")).null_struct().u32(1).u64(3);
            });
            w.u32(0);
        });
        w.null_struct().u64_ptr(70).i32(0);
    });
}

fn signal(b: &mut Bench, value: u64) {
    b.see("vkSignalSemaphore", |w| {
        w.u64(DEVICE);
        w.structure(|w| {
            w.u32(stype("VkSemaphoreSignalInfo")).null_struct().u64(70).u64(value);
        });
        w.i32(0);
    });
}

/// The driver signals it at the end of a sleep.
fn sleep(b: &mut Bench, value: u64) {
    b.see("vkLatencySleepNV", |w| {
        w.u64(DEVICE).u64(110);
        w.structure(|w| {
            w.u32(stype("VkLatencySleepInfoNV")).null_struct().u64(70).u64(value);
        });
        w.i32(0);
    });
}

/// A page of buffer 80 to memory 90, behind a value of the timeline; signals the next.
fn bind_page(b: &mut Bench, behind: u64, at: u64) {
    b.see("vkQueueBindSparse", |w| {
        w.u64(QUEUE).u32(1);
        w.structures(1, |w, _| {
            w.u32(7);
            w.structure(|w| {
                w.u32(stype("VkTimelineSemaphoreSubmitInfo")).null_struct();
                w.u32(1).u64_array(&[behind]).u32(1).u64_array(&[behind + 1]);
            });
            w.u32(1).u64_array(&[70]).u32(1);
            w.structures(1, |w, _| {
                w.u64(80).u32(1);
                w.structures(1, |w, _| {
                    w.u64(0).u64(100).u64(90).u64(at).u32(0);
                });
            });
            w.u32(0).null_structs().u32(0).null_structs().u32(1).u64_array(&[70]);
        });
        w.u64(0).i32(0);
    });
}

#[test]
fn sparse_memory_is_bound_in_its_turn() {
    let mut b = one();
    timeline(&mut b);
    b.once(10, 40, 30, &[50]);
    b.once(11, 40, 30, &[50]);
    let bound = |b: &Bench| b.follow.world().bytes.residents.sparse.get(&80).map(|p| format!("{p:?}"));
    bind_page(&mut b, 3, 1000);
    let first = bound(&b).expect("nothing to wait for");
    b.submit(&[10], &[(70, 5)], &[]);
    // Behind a batch that waits, whatever it waits for itself.
    bind_page(&mut b, 4, 2000);
    assert_eq!(bound(&b), Some(first.clone()));
    b.submit(&[11], &[(70, 5)], &[]);
    assert!(b.told().is_empty(), "it waits for the binding, and that for the batch");
    signal(&mut b, 5);
    let ran: Vec<u64> = b.told().iter().map(|t| t.at.command_buffer).collect();
    assert_eq!(ran, [10, 11]);
    assert_ne!(bound(&b), Some(first));
    assert_eq!(b.ear.submissions.len(), 2, "a binding is no submission");
}

#[test]
fn a_batch_that_waits_runs_when_it_may() {
    let mut b = one();
    timeline(&mut b);
    for cmd in [10, 11, 12, 13] {
        b.once(cmd, 40, 30, &[50]);
    }
    let ran = |b: &mut Bench| b.told().iter().map(|t| t.at.command_buffer).collect::<Vec<_>>();
    b.submit(&[10], &[(70, 3)], &[]);
    assert_eq!(ran(&mut b), [10], "it had that value from the beginning");
    b.submit(&[11], &[(70, 4)], &[(70, 5)]);
    b.submit(&[12], &[], &[]);
    assert_eq!(ran(&mut b), [0; 0], "what is behind it waits, too");
    // What the host writes in between is seen.
    b.write(&[(50, 0, 0, ty::UNIFORM_BUFFER, &[7])]);
    signal(&mut b, 4);
    assert_eq!(b.ear.told[0].sets, set(&[(0, 0, 7)])[0]);
    assert_eq!(ran(&mut b), [11, 12]);
    b.once(14, 40, 30, &[50]);
    b.submit(&[14], &[(70, 6)], &[]);
    assert_eq!(ran(&mut b), [0; 0]);
    sleep(&mut b, 6);
    assert_eq!(ran(&mut b), [14]);
    b.submit(&[13], &[(70, 9)], &[]);
    assert_eq!(ran(&mut b), [0; 0]);
    b.see("vkDeviceWaitIdle", |w| {
        w.u64(DEVICE).i32(0);
    });
    assert_eq!(ran(&mut b), [13]);
}

#[test]
fn what_is_followed_before_it_is_made_runs_once() {
    let mut b = one();
    timeline(&mut b);
    [10, 11].into_iter().for_each(|cmd| b.once(cmd, 40, 30, &[50]));
    b.early = true;
    let ran = |b: &mut Bench| b.told().iter().map(|t| t.at.command_buffer).collect::<Vec<_>>();
    b.submit(&[10], &[], &[]);
    assert_eq!((ran(&mut b), b.ear.submissions.len()), (vec![10], 1));
    b.submit(&[11], &[(70, 4)], &[]);
    assert_eq!(ran(&mut b), [0; 0]);
    signal(&mut b, 4);
    assert_eq!(ran(&mut b), [11], "before the signal is made, and not again behind it");
    // Where execution is not followed, nothing is.
    let mut objects = Bench { follow: crate::Follow::default(), early: true, ..Bench::new() };
    objects.submit(&[10], &[], &[]);
    assert!(objects.ear.submissions.is_empty());
}

/// A layout of the older extension with tokens of these types.
fn generating(b: &mut Bench, id: u64, tokens: &[u32]) {
    b.see("vkCreateIndirectCommandsLayoutNV", |w| {
        w.u64(DEVICE);
        w.structure(|w| {
            w.u32(stype("VkIndirectCommandsLayoutCreateInfoNV")).null_struct().u32(0).u32(1);
            w.u32(tokens.len() as u32);
            w.structures(tokens.len(), |w, i| {
                w.u32(stype("VkIndirectCommandsLayoutTokenNV")).null_struct();
                w.u32(tokens[i]).u32(0).u32(4 * i as u32).u32(0).u32(0);
                w.u64(30).u32(0x20).u32(0).u32(4).u32(0).u32(0).null_array().null_array();
            });
            w.u32(0).null_array();
        });
        w.null_struct().u64_ptr(id).i32(0);
    });
}

#[test]
fn generated_commands_bind_what_their_tokens_say() {
    let mut b = Bench::new();
    b.set_layout(20, 0, &[(0, ty::UNIFORM_BUFFER, 2)], &[]);
    b.pipeline_layout(30, &[20], &[(0x20, 0, 16)]);
    b.compute_pipeline(40, 30);
    let (pipeline, push, dispatch) = (1_000_428_003, 4, 1_000_428_004);
    generating(&mut b, 61, &[dispatch]);
    generating(&mut b, 62, &[push, dispatch]);
    generating(&mut b, 63, &[pipeline, dispatch]);
    b.begin(9);
    b.bind(9, 40);
    b.see("vkCmdPushConstants", |w| {
        w.u64(9).u64(30).u32(0x20).u32(0).u32(4).u8_array(&[1, 2, 3, 4]);
    });
    for layout in [61, 62, 63, 64] {
        b.see("vkCmdExecuteGeneratedCommandsNV", |w| {
            w.u64(9).u32(0);
            w.structure(|w| {
                w.u32(stype("VkGeneratedCommandsInfoNV")).null_struct().u32(1).u64(40).u64(layout);
                w.u32(0).null_structs().u32(5).u64(0).u64(0).u64(0).u64(0).u64(0).u64(0).u64(0);
            });
        });
    }
    b.dispatch(9);
    b.end(9);
    b.submit(&[9], &[], &[]);
    let told: Vec<_> = b.told().iter().map(|t| (t.program, t.pushed)).collect();
    // A layout that is not known may do anything; what was bound before is so afterwards.
    assert_eq!(told, [(40, true), (40, false), (0, true), (0, false), (40, true)]);
}

#[test]
fn kept_calls_can_be_told_ahead_and_made_again() {
    let mut b = Bench::new();
    b.follow = crate::Follow::default();
    b.follow.keep_calls(true);
    timeline(&mut b);
    b.see("vkCreateSemaphore", |w| {
        w.u64(DEVICE).structure(|w| {
            w.u32(9).null_struct().u32(0);
        });
        w.null_struct().u64_ptr(71).i32(0);
    });
    b.once(10, 40, 30, &[50]);
    b.begin(11);
    b.dispatch(11);
    let names = |f: &crate::Follow, id| {
        let calls = f.world().recording(id).expect("it holds something").calls.clone();
        calls.iter().map(|c| c.command.name).collect::<Vec<_>>()
    };
    let ten = [
        "vkBeginCommandBuffer",
        "vkCmdBindPipeline",
        "vkCmdBindDescriptorSets",
        "vkCmdDispatch",
        "vkEndCommandBuffer",
    ];
    assert_eq!(names(&b.follow, 10), ten);
    let is = |f: &crate::Follow| [10, 11].map(|id| f.world().is_recording(id));
    assert_eq!((names(&b.follow, 11).len(), is(&b.follow)), (2, [false, true]));
    // What comes is told to a copy.
    let ahead = b.follow.ahead();
    let mut copied = std::mem::replace(&mut b.follow, ahead);
    b.end(11);
    b.begin(10);
    b.submit(&[11], &[(70, 4)], &[(71, 0)]);
    assert_eq!((names(&b.follow, 11).len(), is(&b.follow)), (3, [true, false]));
    assert_eq!((names(&copied, 11).len(), is(&copied)), (2, [false, true]));
    let of = |f: &crate::Follow| (f.semaphores().stuck(), f.semaphores().signalled.contains(&71));
    assert_eq!((of(&b.follow), of(&copied)), ((Some((70, 4)), true), (None, false)));
    signal(&mut b, 4);
    b.submit(&[11], &[(71, 0)], &[]);
    assert_eq!(of(&b.follow), (None, false));
    // Nobody else asked for commands.
    copied.keep_calls(false);
    assert!(copied.world().recording(10).is_none());
}
