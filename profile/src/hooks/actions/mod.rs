//! Actions: draws, dispatches and traces, by the recording of a command buffer that holds them.
//!
//! What a recording holds is the executor's to know ([`world::recording`]): its number there is the `range` of table `actions`,
//! and its actions are counted from 0 in it, instrumented or not. What a recording leaves belongs to the frames that execute it.
//! Guarantees: recordings that are replaced, freed or reset are kept until their frame's end, so that what they left can still
//! be read. Not handled, and named where they occur: commands that the device generates itself.

use super::command_times::commands::bind_point;
use super::numbering::{Met, Numbering};
use gfxr_parse::ahead::Call;
use gfxr_parse::schema::CommandDef;
use gfxr_parse::schema::generated::COMMANDS;
use replay::objects::Objects;
use std::collections::{BTreeMap, HashMap};
use std::rc::Rc;
use trace::{Table, Value};
use world::World;
use world::commands::Command;
use world::objects::BindPoint;
use world::walk::submitted;

/// Takes records.
pub type Put<'p> = &'p mut dyn FnMut(&'static Table, &[Value<'_>]);

/// An action command of a recording.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Action {
    /// Which of the recording's commands.
    pub index: u32,
    /// Its name.
    pub command: &'static str,
    /// The pipeline that it runs, or the shader object that those are called by.
    pub pipeline: u64,
    /// Its number in the running frame, from 1, as it was executed first.
    pub draw: u64,
    /// Why it is not counted.
    pub uncounted: Option<&'static str>,
}

/// A recording that was executed in the running frame.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Recording {
    /// Its number.
    pub range: u64,
    /// The command buffer, by captured id.
    pub buffer: u64,
    /// Its device.
    pub device: u64,
    /// Its actions, by result index.
    pub actions: Vec<Action>,
    /// How often it was submitted in the frame.
    pub executions: u64,
}

impl Recording {
    /// Writes its actions.
    pub fn put(&self, frame: u64, out: Put<'_>) {
        for (n, a) in self.actions.iter().enumerate() {
            out(
                &trace::tables::ACTIONS,
                &[
                    Value::U64(self.range),
                    Value::U64(n as u64),
                    Value::U64(frame),
                    Value::U64(a.draw),
                    Value::U64(self.buffer),
                    Value::U64(a.index.into()),
                    Value::Text(a.command),
                    Value::U64(a.pipeline),
                    Value::U64(self.executions),
                    Value::Text(a.uncounted.unwrap_or_default()),
                ],
            );
        }
    }
}

/// Where the next command of a command buffer will be.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Place {
    /// The recording.
    pub range: u64,
    /// Its device.
    pub device: u64,
    /// Its command buffer.
    pub buffer: u64,
    /// Which of the recording's commands.
    pub index: u32,
}

/// What is kept of a recording.
#[derive(Default)]
struct Kept {
    buffer: u64,
    device: u64,
    /// By action: why it is not counted.
    uncounted: Vec<Option<&'static str>>,
    /// In the running frame: how often, and what it holds.
    executions: u64,
    executed: Option<Rc<world::recording::Recording>>,
    /// Of its commands, numbers of draws, dispatches and traces in the running frame, as they were executed first.
    draws: HashMap<u32, u64>,
}

/// See the module's header.
#[derive(Default)]
pub struct Actions {
    /// Recordings that something was asked about, by number.
    kept: BTreeMap<u64, Kept>,
    numbering: Numbering,
    /// Device-generated commands that were seen.
    generated: u64,
}

fn is_generated(name: &str) -> bool {
    name.starts_with("vkCmdExecuteGeneratedCommands")
}

impl Actions {
    /// The calls that it has to see.
    pub fn wants() -> Vec<&'static str> {
        let seen = |c: &&'static CommandDef| {
            bind_point(c).is_some() || is_generated(c.name) || c.canonical.starts_with("vkQueueSubmit")
        };
        COMMANDS.iter().filter(seen).map(|c| c.name).collect()
    }

    /// Where the next command of a command buffer that is being recorded will be.
    pub fn place(&mut self, objects: &Objects, buffer: u64) -> Option<Place> {
        let recording = objects.world().recording(buffer)?;
        let device = objects.any(buffer).map_or(0, |e| e.owner);
        self.kept.entry(recording.number).or_insert(Kept { buffer, device, ..Kept::default() });
        Some(Place { range: recording.number, device, buffer, index: recording.count })
    }

    /// A call is about to be made: where its pipeline is bound, where it is, and which of the recording's actions it is, if it
    /// is one.
    pub fn see(&mut self, objects: &Objects, call: &Call) -> Option<(BindPoint, Place, u32)> {
        if call.command.canonical.starts_with("vkQueueSubmit") {
            let kept = &mut self.kept;
            let mut each = |met: Met<'_>| match met {
                Met::Enters(recording) => {
                    if let Some(k) = kept.get_mut(&recording.number) {
                        k.executions += 1;
                        k.executed = Some(Rc::clone(recording));
                    }
                }
                Met::Executes(at) => {
                    if let (1.., Some(k)) = (at.action, kept.get_mut(&at.recording)) {
                        k.draws.entry(at.recorded.index).or_insert(at.action);
                    }
                }
            };
            self.numbering.submit(objects.world(), call.image.u64(0), &submitted(call), &mut each);
            return None;
        }
        self.generated += u64::from(is_generated(call.command.name));
        let point = bind_point(call.command)?;
        let place = self.place(objects, call.image.u64(0))?;
        let kept = self.kept.get_mut(&place.range)?;
        kept.uncounted.push(None);
        Some((point, place, kept.uncounted.len() as u32 - 1))
    }

    /// Says of an action why it is not counted, or that it is; what was counted in the running frame once is counted.
    pub fn uncounted(&mut self, range: u64, action: u32, why: Option<&'static str>) {
        let Some(k) = self.kept.get_mut(&range) else { return };
        if let Some(a) = k.uncounted.get_mut(action as usize)
            && (why.is_none() || k.executions <= 1)
        {
            *a = why;
        }
    }

    /// Those that the running frame executed, by number.
    pub fn executed(&self) -> impl Iterator<Item = Recording> + '_ {
        let of = |(&range, k): (&u64, &Kept)| {
            let mut why = k.uncounted.iter();
            let commands = &k.executed.as_ref()?.commands;
            let actions = commands.iter().filter_map(|c| match &c.command {
                Command::Invoke(i) if bind_point(i.command).is_some() => Some(Action {
                    index: c.index,
                    command: i.command.name,
                    pipeline: i.bindings.program.called(),
                    draw: k.draws.get(&c.index).copied().unwrap_or(0),
                    uncounted: why.next().copied().flatten(),
                }),
                _ => None,
            });
            let (actions, executions) = (actions.collect(), k.executions);
            Some(Recording { range, buffer: k.buffer, device: k.device, actions, executions })
        };
        self.kept.iter().filter_map(of)
    }

    fn forget(&mut self, gone: impl Fn(u64, &Kept) -> bool) -> Vec<u64> {
        let gone: Vec<u64> = self.kept.iter().filter(|(range, k)| gone(**range, k)).map(|k| *k.0).collect();
        gone.iter().for_each(|range| drop(self.kept.remove(range)));
        gone
    }

    /// A frame has ended: recordings that are no more are forgotten; their numbers.
    pub fn restart(&mut self, world: &World) -> Vec<u64> {
        self.numbering.restart();
        self.kept.values_mut().for_each(|k| (k.executions, k.executed, k.draws) = (0, None, HashMap::new()));
        self.forget(|range, k| world.recording(k.buffer).is_none_or(|r| r.number != range))
    }

    /// A device goes, with all of its command buffers; the numbers of their recordings.
    pub fn device_gone(&mut self, device: u64) -> Vec<u64> {
        self.forget(|_, k| k.device == device)
    }

    /// What is to be said at the end.
    pub fn notes(&self) -> Vec<String> {
        match self.generated {
            0 => vec![],
            n => vec![format!("{n} commands whose actions the device generates itself are not counted")],
        }
    }
}
