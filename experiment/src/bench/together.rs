//! Processes of one number: those of some plans, beside one of the first plan, are alive together and take turns.
//!
//! Guarantees: one worker works at a time; as many start at once as there are processors. An experiment that fails is refused, and the
//! others go on; what ends the device ends everything.

use super::order::shuffled;
use super::process::{Process, Spec};
use super::settings::{Prepared, Settings};
use super::state;
use super::worker::Found;
use crate::failure::{Exit, Failure};
use crate::interrupt::Interrupt;
use analyses::verdict::settled;
use indicatif::ProgressBar;
use oorandom::Rand64;
use std::collections::HashMap;
use std::path::{Path, PathBuf};
use std::time::{Duration, Instant};
use trace::Nanos;
use trace::run::{CallSample, FrameSample, Place, RefusedPlan, Run, RunNote, SpanSample, Worker};

/// How many turns.
#[derive(Clone, Copy)]
pub(super) struct Turns {
    pub(super) iterations: u32,
    pub(super) warmup: u32,
    pub(super) detailed: u32,
}

/// What processes are started of, and what they have found.
pub(super) struct Together<'t> {
    pub(super) settings: &'t Settings,
    pub(super) interrupt: &'t Interrupt,
    /// By capture and plan.
    pub(super) prepared: &'t [Vec<Prepared>],
    pub(super) turns: Turns,
    /// The run's folder.
    pub(super) to: &'t Path,
    pub(super) bar: &'t ProgressBar,
    /// The number that comes next.
    pub(super) number: u32,
    /// Processes that were started.
    pub(super) started: u32,
    pub(super) random: Rand64,
    pub(super) known: HashMap<Place, usize>,
    pub(super) run: Run,
}

impl Together<'_> {
    /// One number of processes of each capture: of these plans that were not refused, and of the first. Of plans that were all refused, none.
    /// Whether they took all of their turns: who is asked to end leaves them where they are, and keeps nothing of this number.
    pub(super) fn number_of(&mut self, some: &[usize]) -> Result<bool, Failure> {
        let before =
            [self.run.note.workers.len(), self.run.frames.len(), self.run.spans.len(), self.run.calls.len()];
        let note = &self.run.note;
        let left =
            some.iter().copied().filter(|p| note.refused.iter().all(|r| r.plan != note.plans[*p].name));
        let plans: Vec<usize> = [0].into_iter().chain(left).collect();
        if plans.len() > 1 || some.is_empty() {
            for capture in shuffled(self.prepared.len(), &mut self.random) {
                let whole = match self.block(capture, &plans) {
                    // (what ended a process ends this one, too)
                    Err(_) if self.interrupt.asked_by_now() => false,
                    done => done?,
                };
                if !whole {
                    let [workers, frames, spans, calls] = before;
                    self.run.note.workers.truncate(workers);
                    self.run.frames.truncate(frames);
                    self.run.spans.truncate(spans);
                    self.run.calls.truncate(calls);
                    return Ok(false);
                }
            }
            self.number += 1;
        }
        self.bar.inc(1);
        Ok(true)
    }

    /// What a process took, of those that were started since then.
    pub(super) fn took(&self, measured: &Instant) -> Duration {
        measured.elapsed() / self.started.max(1)
    }

    /// Plans of one capture; whether they took all of their turns.
    fn block(&mut self, capture: usize, plans: &[usize]) -> Result<bool, Failure> {
        let (settings, turns, to, number) = (self.settings, self.turns, self.to, self.number);
        let (prepared, random, run) = (&self.prepared[capture], &mut self.random, &mut self.run);
        let mut alive: Vec<Alive> = vec![];
        // (as many start at once as there are processors; nothing is timed meanwhile)
        let at_once = std::thread::available_parallelism().map_or(1, usize::from);
        let order: Vec<usize> = shuffled(plans.len(), random).into_iter().map(|n| plans[n]).collect();
        for some in order.chunks(at_once) {
            if self.interrupt.asked() {
                return Ok(false);
            }
            let started = Instant::now();
            let first = alive.len();
            for &plan in some {
                self.started += 1;
                let started = Process::start(&Spec {
                    capture: &settings.captures[capture],
                    frame: settings.frame,
                    plan: &run.note.plans[plan],
                    passes: &prepared[plan].passes,
                    // (a time is known a turn later, so that one more may warm up)
                    turns: [
                        turns.warmup + turns.iterations + 1,
                        if turns.detailed > 0 { turns.detailed + 1 } else { 0 },
                    ],
                    busy: settings.busy,
                    assume_subgroups: settings.assume_subgroups,
                    run: &settings.run,
                    spared: self.interrupt.listens(),
                    said: settings.experiments.then(|| said_by(to, plan)),
                });
                let process = match started {
                    Ok(process) => process,
                    Err(why) => {
                        refuse(settings, &mut run.note, plan, why)?;
                        continue;
                    }
                };
                alive.push(Alive {
                    process,
                    plan,
                    startup: Nanos(0),
                    seen: vec![],
                    settled: false,
                    positions: vec![],
                });
            }
            for mut a in alive.split_off(first) {
                match a.process.ready() {
                    Ok(()) => alive.push(Alive { startup: Nanos(started.elapsed().as_nanos() as u64), ..a }),
                    Err(why) => refuse(settings, &mut run.note, a.plan, why)?,
                }
            }
        }
        if self.interrupt.asked() {
            return Ok(false);
        }
        let before = state::device();
        let mut position = run.frames.iter().map(|f| f.position + 1).max().unwrap_or(0);
        // (of all together, as what pairs of processes differ by is of the same rounds then)
        let mut warmup = None;
        for round in 0.. {
            if warmup.is_none() {
                alive.iter_mut().for_each(|a| a.settled = settled(&a.seen));
                warmup = (alive.iter().all(|a| a.settled) || round >= turns.warmup).then_some(round);
            }
            if warmup.is_some_and(|w| round >= w + turns.iterations) {
                break;
            }
            if self.interrupt.asked() {
                return Ok(false);
            }
            let mut failed = vec![];
            for at in shuffled(alive.len(), random) {
                let a = &mut alive[at];
                match a.process.turn() {
                    Ok(time) => a.seen.extend(time),
                    Err(why) => {
                        refuse(settings, &mut run.note, a.plan, why)?;
                        failed.push(a.plan);
                    }
                }
                a.positions.push(position);
                position += 1;
            }
            alive.retain(|a| !failed.contains(&a.plan));
        }
        // (the first of these makes what the others use, and is left out)
        for _ in 0..if turns.detailed > 0 { turns.detailed + 1 } else { 0 } {
            for at in shuffled(alive.len(), random) {
                alive[at].process.detail()?;
            }
        }
        let after = state::device();
        alive.sort_by_key(|a| a.plan);
        for a in alive {
            let plan = a.plan;
            let found = match a.process.end() {
                Ok(found) => found,
                Err(why) => {
                    refuse(settings, &mut run.note, plan, why)?;
                    continue;
                }
            };
            let worker = Worker {
                capture,
                plan,
                process: number,
                warmup: warmup.unwrap_or_default(),
                settled: a.settled,
                startup: a.startup,
                device: found.device.clone(),
                before: before.clone(),
                after: after.clone(),
                hashes: found.hashes.clone(),
                notes: found.notes.clone(),
            };
            add(run, worker, &a.positions, found, &mut self.known);
        }
        Ok(true)
    }
}

/// A worker that takes its turns.
struct Alive {
    process: Process,
    plan: usize,
    startup: Nanos,
    /// Times that are known, by turn.
    seen: Vec<f64>,
    /// Whether they had settled when its warm-up ended.
    settled: bool,
    /// The position of each of its turns in the whole run.
    positions: Vec<u64>,
}

/// Where the processes of an experiment say what is wrong.
pub(super) fn said_by(to: &Path, plan: usize) -> PathBuf {
    to.join(format!("said-{plan}.txt"))
}

/// Refuses an experiment that failed: the others go on. What ends the device ends everything.
fn refuse(settings: &Settings, note: &mut RunNote, plan: usize, why: Failure) -> Result<(), Failure> {
    if !settings.experiments || plan == 0 || why.0 == Exit::Gone {
        return Err(why);
    }
    let plan = note.plans[plan].name.clone();
    let why = why.1.strip_prefix(&format!("plan {plan}: ")).unwrap_or(&why.1).to_owned();
    note.refused.push(RefusedPlan { plan, why, instead: None });
    Ok(())
}

/// What a worker found, as rows.
fn add(run: &mut Run, worker: Worker, positions: &[u64], found: Found, known: &mut HashMap<Place, usize>) {
    let (at, capture, warmup) = (run.note.workers.len(), worker.capture, u64::from(worker.warmup));
    run.note.workers.push(worker);
    for (turn, frame, load, gpu, cpu) in found.frames {
        run.frames.push(FrameSample {
            worker: at,
            position: positions.get(turn as usize).copied().unwrap_or_default(),
            turn,
            timed: turn >= warmup,
            frame,
            load,
            gpu: gpu.map(Nanos),
            cpu: Nanos(cpu),
        });
    }
    let places: Vec<usize> = found
        .places
        .into_iter()
        .map(|p| {
            let place = Place { capture, ..p };
            let next = run.places.len();
            *known.entry(place).or_insert_with_key(|p| {
                run.places.push(p.clone());
                next
            })
        })
        .collect();
    run.spans.extend(found.spans.into_iter().filter_map(|(turn, place, time)| {
        Some(SpanSample { worker: at, turn, place: *places.get(place)?, time: Nanos(time) })
    }));
    run.calls.extend(found.calls.into_iter().map(|(turn, kind, calls, time)| CallSample {
        worker: at,
        turn,
        kind,
        calls,
        time: Nanos(time),
    }));
}
