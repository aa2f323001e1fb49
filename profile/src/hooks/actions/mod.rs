//! Actions: draws, dispatches and traces, by the recording of a command buffer that holds them.
//!
//! A recording begins where its command buffer does and is numbered through the replay: its number is the `range` of table
//! `actions`, and its actions are counted from 0 in it, instrumented or not. What a recording leaves belongs to the frames
//! that execute it. Guarantees: recordings that are replaced, freed or reset are kept until their frame's end, so that what
//! they left can still be read. Not handled, and named where they occur: commands that the device generates itself.

use super::command_times::commands::{Bind, Role, role};
use gfxr_parse::ahead::Call;
use gfxr_parse::schema::generated::COMMANDS;
use gfxr_parse::view::View;
use std::collections::{BTreeMap, HashMap};
use trace::{Table, Value};

/// Takes records.
pub type Put<'p> = &'p mut dyn FnMut(&'static Table, &[Value<'_>]);

/// An action command of a recording.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Action {
    /// Which of the recording's commands.
    pub index: u32,
    /// Its name.
    pub command: &'static str,
    /// The pipeline that it runs; 0 for shader objects.
    pub pipeline: u64,
    /// Why it is not counted.
    pub uncounted: Option<&'static str>,
}

/// What a command buffer holds since it was begun.
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
    /// How often it was submitted in the running frame.
    pub executions: u64,
    /// Commands so far.
    commands: u32,
    /// Ranges of secondary command buffers that it executes, with repetitions.
    secondaries: Vec<u64>,
    /// Pipelines bound for drawing, computing, tracing; 0 where shader objects are.
    pipelines: [u64; 3],
    /// Shader objects by stage.
    objects: BTreeMap<u32, u64>,
}

/// Where a command's pipeline is bound.
fn slot(bind: Bind) -> Option<usize> {
    match bind {
        Bind::None => None,
        Bind::Graphics => Some(0),
        Bind::Compute => Some(1),
        Bind::RayTracing => Some(2),
    }
}

const COMPUTE_STAGE: u32 = 0x20;

impl Recording {
    /// What runs in an action that is recorded now: the pipeline, or the shader objects of its stages.
    pub fn shaders(&self, bind: Bind) -> Vec<u64> {
        let Some(slot) = slot(bind) else { return vec![] };
        if self.pipelines[slot] != 0 {
            return vec![self.pipelines[slot]];
        }
        let compute = bind == Bind::Compute;
        let of = |o: &(&u32, &u64)| (*o.0 == COMPUTE_STAGE) == compute && *o.1 != 0;
        self.objects.iter().filter(of).map(|o| *o.1).collect()
    }

    /// Writes its actions.
    pub fn put(&self, frame: u64, out: Put<'_>) {
        for (n, a) in self.actions.iter().enumerate() {
            out(
                &trace::tables::ACTIONS,
                &[
                    Value::U64(self.range),
                    Value::U64(n as u64),
                    Value::U64(frame),
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

/// What a call means to the hook that tracks actions.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Seen {
    /// Nothing more.
    Nothing,
    /// An action command, which is the newest of its recording.
    Action(Bind),
    /// A command buffer begins: what it held is among the retired.
    Begins,
}

/// See the module's header.
pub struct Actions {
    roles: Vec<Option<Role>>,
    buffers: HashMap<u64, Recording>,
    /// Replaced or freed since the frame began.
    retired: Vec<Recording>,
    /// Command pool and device of command buffers.
    pools: HashMap<u64, (u64, u64)>,
    next: u64,
    /// Device-generated commands that were seen.
    generated: u64,
}

impl Default for Actions {
    fn default() -> Self {
        Actions {
            roles: COMMANDS.iter().map(role).collect(),
            buffers: HashMap::new(),
            retired: Vec::new(),
            pools: HashMap::new(),
            next: 0,
            generated: 0,
        }
    }
}

/// Calls that are no commands of command buffers.
const OTHERS: &[&str] = &[
    "vkAllocateCommandBuffers",
    "vkFreeCommandBuffers",
    "vkDestroyCommandPool",
    "vkBeginCommandBuffer",
    "vkQueueSubmit",
    "vkQueueSubmit2",
    "vkQueueSubmit2KHR",
];

/// What a captured command buffer id and the bound shaders of an action come to.
impl Actions {
    /// The calls that it has to see.
    pub fn wants() -> Vec<&'static str> {
        let recorded = COMMANDS.iter().map(|c| c.name).filter(|n| n.starts_with("vkCmd"));
        OTHERS.iter().copied().chain(recorded).collect()
    }

    /// The recording of a command buffer.
    pub fn of(&mut self, buffer: u64) -> Option<&mut Recording> {
        self.buffers.get_mut(&buffer)
    }

    /// Its number.
    pub fn range(&self, buffer: u64) -> Option<u64> {
        self.buffers.get(&buffer).map(|r| r.range)
    }

    /// What a call means.
    pub fn see(&mut self, call: &Call) -> Seen {
        let Some(role) = self.roles[call.index] else {
            return self.other(call);
        };
        let view = View::call(&call.image);
        let id = call.image.u64(0);
        let executed: Vec<u64> = match role {
            Role::Execute => {
                let ids = view.u64s("pCommandBuffers");
                ids.into_iter().filter_map(|i| self.buffers.get(&i)).map(|b| b.range).collect()
            }
            _ => vec![],
        };
        let Some(b) = self.buffers.get_mut(&id) else { return Seen::Nothing };
        let index = b.commands;
        b.commands += 1;
        match role {
            Role::Execute => b.secondaries.extend(executed),
            Role::BindPipeline => {
                let at = match view.u32("pipelineBindPoint") {
                    Some(0) => 0,
                    Some(1) => 1,
                    Some(1_000_165_000) => 2,
                    _ => return Seen::Nothing,
                };
                b.pipelines[at] = view.u64("pipeline").unwrap_or(0);
            }
            Role::BindShaders => {
                let shaders = view.u64s("pShaders");
                for (n, stage) in view.u64s("pStages").into_iter().enumerate() {
                    b.pipelines[usize::from(stage as u32 == COMPUTE_STAGE)] = 0;
                    b.objects.insert(stage as u32, shaders.get(n).copied().unwrap_or(0));
                }
            }
            Role::Work(bind) if slot(bind).is_some() => {
                let pipeline = slot(bind).map_or(0, |s| b.pipelines[s]);
                b.actions.push(Action { index, command: call.command.name, pipeline, uncounted: None });
                return Seen::Action(bind);
            }
            Role::Work(_) if call.command.name.starts_with("vkCmdExecuteGeneratedCommands") => {
                self.generated += 1;
            }
            _ => {}
        }
        Seen::Nothing
    }

    fn other(&mut self, call: &Call) -> Seen {
        let view = View::call(&call.image);
        match call.command.name {
            "vkAllocateCommandBuffers" => {
                let pool = view.one("pAllocateInfo").and_then(|i| i.u64("commandPool")).unwrap_or(0);
                let device = call.image.u64(0);
                let made = call.image.handles.iter().filter(|h| h.out).map(|h| call.image.u64(h.at));
                self.pools.extend(made.map(|b| (b, (pool, device))));
            }
            "vkFreeCommandBuffers" => view.u64s("pCommandBuffers").into_iter().for_each(|b| self.gone(b)),
            "vkDestroyCommandPool" => {
                let pool = view.u64("commandPool").unwrap_or(0);
                let of: Vec<u64> = self.pools.iter().filter(|p| p.1.0 == pool).map(|p| *p.0).collect();
                of.into_iter().for_each(|b| self.gone(b));
            }
            "vkBeginCommandBuffer" => {
                let buffer = call.image.u64(0);
                let device = self.pools.get(&buffer).map_or(0, |p| p.1);
                let range = self.next;
                self.next += 1;
                let new = Recording { range, buffer, device, ..Recording::default() };
                self.retired.extend(self.buffers.insert(buffer, new));
                return Seen::Begins;
            }
            _ => {
                for s in view.structs("pSubmits") {
                    let two = s.structs("pCommandBufferInfos").filter_map(|i| i.u64("commandBuffer"));
                    for b in s.u64s("pCommandBuffers").into_iter().chain(two) {
                        if let Some(range) = self.buffers.get(&b).map(|b| b.range) {
                            self.executed(range);
                        }
                    }
                }
            }
        }
        Seen::Nothing
    }

    fn gone(&mut self, buffer: u64) {
        self.pools.remove(&buffer);
        self.retired.extend(self.buffers.remove(&buffer));
    }

    fn executed(&mut self, range: u64) {
        let all = self.buffers.values_mut().chain(&mut self.retired);
        let Some(r) = all.into_iter().find(|r| r.range == range) else { return };
        r.executions += 1;
        for s in r.secondaries.clone() {
            self.executed(s);
        }
    }

    /// Says of an action why it is not counted, or that it is; what was counted in the running frame once is counted.
    pub fn uncounted(&mut self, range: u64, index: u32, why: Option<&'static str>) {
        let Some(r) = self.buffers.values_mut().find(|r| r.range == range) else { return };
        if let Some(a) = r.actions.get_mut(index as usize)
            && (why.is_none() || r.executions <= 1)
        {
            a.uncounted = why;
        }
    }

    /// Everything that there is, by number.
    pub fn all(&self) -> Vec<&Recording> {
        let mut all: Vec<&Recording> = self.buffers.values().chain(&self.retired).collect();
        all.sort_by_key(|r| r.range);
        all
    }

    /// A frame has ended: what is retired is forgotten; those recordings.
    pub fn restart(&mut self) -> Vec<Recording> {
        self.buffers.values_mut().for_each(|r| r.executions = 0);
        std::mem::take(&mut self.retired)
    }

    /// A device goes, with all of its command buffers; their recordings.
    pub fn device_gone(&mut self, device: u64) -> Vec<Recording> {
        let of: Vec<u64> = self.pools.iter().filter(|p| p.1.1 == device).map(|p| *p.0).collect();
        of.into_iter().for_each(|b| self.gone(b));
        let (gone, stay) = std::mem::take(&mut self.retired).into_iter().partition(|r| r.device == device);
        self.retired = stay;
        gone
    }

    /// What is to be said at the end.
    pub fn notes(&self) -> Vec<String> {
        match self.generated {
            0 => vec![],
            n => vec![format!("{n} commands whose actions the device generates itself are not counted")],
        }
    }
}
