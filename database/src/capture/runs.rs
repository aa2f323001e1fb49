//! What was recorded, and what the device runs of it: `world` tells, in its order, and here are the rows.
//!
//! Guarantees: submissions, recordings, passes and draws have the numbers that `world` gives them, which are those of
//! `bindings`. Refuses nothing.

use super::inputs::Bound;
use super::labels::{Labels, Place};
use super::passes::Passes;
use crate::error::Error;
use crate::schema;
use crate::table::{Value, id};
use crate::words::bits;
use crate::writer::{TableId, Writer};
use gfxr_parse::ahead::Call;
use std::collections::HashMap;
use world::commands::{self, Command, Indirect, Invoke, Label, Place as Source, Sizes};
use world::objects::BindPoint;
use world::recording::Recording;
use world::{At, Invocation, Observer, SemaphoreUse, Submission, World};

/// Recordings and their commands.
pub(super) struct Recordings {
    recordings: TableId,
    commands: TableId,
}

impl Recordings {
    pub fn new(writer: &mut Writer) -> Result<Self, Error> {
        Ok(Recordings {
            recordings: writer.table(schema::recordings())?,
            commands: writer.table(schema::commands())?,
        })
    }

    /// A call that is followed next: what records is a command of what the command buffer holds by now.
    pub fn before(&self, writer: &mut Writer, world: &World, call: &Call) -> Result<(), Error> {
        let buffer = call.image.u64(0);
        if !call.command.name.starts_with("vkCmd") || !world.is_recording(buffer) {
            return Ok(());
        }
        let Some(r) = world.recording(buffer) else { return Ok(()) };
        writer.row(self.commands, [call.block.into(), r.number.into(), r.count.into()])
    }

    /// A call that was followed: what ends a recording writes it down.
    pub fn after(&self, writer: &mut Writer, world: &World, call: &Call) -> Result<(), Error> {
        if call.command.canonical != "vkEndCommandBuffer" {
            return Ok(());
        }
        let buffer = call.image.u64(0);
        let Some(b) = world.command_buffers.get(&buffer) else { return Ok(()) };
        let Some(r) = b.recording.as_ref().filter(|_| !world.is_recording(buffer)) else { return Ok(()) };
        writer.row(
            self.recordings,
            [
                r.number.into(),
                buffer.into(),
                Value::Word(if b.secondary { "secondary" } else { "primary" }),
                id(b.pool),
                r.block.into(),
                call.block.into(),
                call.frame.into(),
                bits("VkCommandBufferUsageFlagBits", r.flags.into()),
                r.count.into(),
            ],
        )
    }
}

/// How much ran.
#[derive(Default)]
pub(super) struct Ran {
    pub invocations: u64,
    /// Draws, dispatches, traces.
    pub by_frame: HashMap<u64, [u64; 3]>,
}

/// What the device runs.
pub(super) struct Runs {
    submissions: TableId,
    semaphores: TableId,
    buffers: TableId,
    executions: TableId,
    draws: TableId,
    executed: u64,
    passes: Passes,
    labels: Labels,
    bound: Bound,
    ran: Ran,
    /// Nothing is told from a function that cannot fail.
    failed: Option<Error>,
}

impl Runs {
    pub fn new(writer: &mut Writer) -> Result<Self, Error> {
        Ok(Runs {
            submissions: writer.table(schema::submissions())?,
            semaphores: writer.table(schema::submission_semaphores())?,
            buffers: writer.table(schema::submission_command_buffers())?,
            executions: writer.table(schema::executions())?,
            draws: writer.table(schema::draws())?,
            executed: 0,
            passes: Passes::new(writer)?,
            labels: Labels::new(writer)?,
            bound: Bound::new(writer)?,
            ran: Ran::default(),
            failed: None,
        })
    }

    /// Who is told, and writes.
    pub fn told<'a>(&'a mut self, writer: &'a mut Writer) -> ToldOf<'a> {
        ToldOf { runs: self, writer }
    }

    /// A call that was followed.
    pub fn call(&mut self, writer: &mut Writer, call: &Call) -> Result<(), Error> {
        self.failed.take().map_or(Ok(()), Err)?;
        self.labels.call(writer, call)
    }

    /// The capture has ended.
    pub fn finish(mut self, writer: &mut Writer) -> Result<Ran, Error> {
        self.failed.take().map_or(Ok(()), Err)?;
        self.labels.finish(writer)?;
        Ok(self.ran)
    }

    fn execution(
        &mut self,
        writer: &mut Writer,
        at: &At,
        kind: &'static str,
        invocation: Option<u64>,
    ) -> Result<(), Error> {
        let within = at.pass > 0;
        let number = self.executed;
        self.executed += 1;
        writer.row(
            self.executions,
            [
                number.into(),
                at.submission.into(),
                at.frame.into(),
                at.command_buffer.into(),
                at.recording.into(),
                at.command.into(),
                at.block.into(),
                Value::Word(kind),
                id(at.pass),
                within.then_some(at.subpass).into(),
                self.labels.innermost(at.queue),
                invocation.into(),
            ],
        )
    }

    fn command(
        &mut self,
        writer: &mut Writer,
        world: &World,
        at: &At,
        command: &Command,
    ) -> Result<(), Error> {
        if let Command::Label { what, text } = command {
            let place =
                Place { queue: at.queue, frame: at.frame, submission: Some(at.submission), call: at.block };
            if *what != Label::End {
                self.labels.met(writer, place, *what, text)?;
                return self.execution(writer, at, kind(command), None);
            }
            self.execution(writer, at, kind(command), None)?;
            return self.labels.met(writer, place, *what, text);
        }
        if let Command::BeginPass(pass) = command {
            self.passes.begins(writer, world, at, pass, self.labels.innermost(at.queue))?;
        }
        self.execution(writer, at, kind(command), None)
    }

    fn invocation(
        &mut self,
        writer: &mut Writer,
        world: &World,
        at: &At,
        number: u64,
        invoke: &Invoke,
    ) -> Result<(), Error> {
        self.execution(writer, at, invoke.kind(), Some(number))?;
        self.ran.invocations += 1;
        let of = match invoke.kind() {
            k if k.starts_with("TraceRays") => 2,
            k if k.starts_with("Dispatch") => 1,
            _ => 0,
        };
        let of_frame = self.ran.by_frame.entry(at.frame).or_default();
        of_frame[of] += 1;
        let draw: u64 = of_frame.iter().sum();
        let inputs = match &invoke.inputs {
            Some(inputs) => self.bound.inputs(writer, world, inputs)?,
            None => Value::Null,
        };
        let push = self.bound.push(writer, &invoke.bindings.push)?;
        let place = [
            number.into(),
            at.frame.into(),
            draw.into(),
            at.submission.into(),
            at.command_buffer.into(),
            at.recording.into(),
            at.command.into(),
            at.block.into(),
            id(at.pass),
            (at.pass > 0).then_some(at.subpass).into(),
            self.labels.innermost(at.queue),
            Value::Word(invoke.kind()),
            Value::Word(match invoke.bind_point {
                BindPoint::Graphics => "graphics",
                BindPoint::Compute => "compute",
                BindPoint::RayTracing => "ray tracing",
                BindPoint::Other => "other",
            }),
            id(invoke.bindings.program.id()),
            invoke.is_indirect().into(),
        ];
        let all = place
            .into_iter()
            .chain(sizes(&invoke.sizes, invoke.kind().contains("Indexed")))
            .chain([inputs, push]);
        writer.values(self.draws, all)
    }

    fn submission(&mut self, writer: &mut Writer, world: &World, s: &Submission) -> Result<(), Error> {
        let family = world.queues.get(&s.queue).map(|q| q.family);
        writer.row(
            self.submissions,
            [
                s.number.into(),
                s.block.into(),
                s.batch.0.into(),
                s.frame.into(),
                s.queue.into(),
                family.into(),
                id(s.fence),
            ],
        )?;
        let waits = s.waits.iter().map(|u| ("wait", u));
        for (what, u) in waits.chain(s.signals.iter().map(|u| ("signal", u))) {
            let SemaphoreUse { semaphore, value, stages } = *u;
            let stages = bits("VkPipelineStageFlagBits2", stages);
            writer.row(
                self.semaphores,
                [s.number.into(), Value::Word(what), semaphore.into(), value.into(), stages],
            )?;
        }
        for (i, &buffer) in s.command_buffers.iter().enumerate() {
            let held = world.command_buffers.get(&buffer).and_then(|b| b.recording.as_ref());
            let held = held.map(|r: &std::rc::Rc<Recording>| r.number);
            writer.row(self.buffers, [s.number.into(), i.into(), buffer.into(), held.into()])?;
        }
        Ok(())
    }

    fn note(&mut self, done: Result<(), Error>) {
        if let Err(e) = done {
            self.failed.get_or_insert(e);
        }
    }
}

/// See [`Runs::told`].
pub(super) struct ToldOf<'a> {
    runs: &'a mut Runs,
    writer: &'a mut Writer,
}

impl Observer for ToldOf<'_> {
    fn invocation(&mut self, world: &World, at: &At, i: &Invocation<'_>) {
        let done = self.runs.invocation(self.writer, world, at, i.number, i.invoke);
        self.runs.note(done);
    }
    fn invoked(&mut self, _: &mut World, _: &At, _: &Invocation<'_>) {
        // (nobody here asks what memory contains)
    }
    fn command(&mut self, world: &World, at: &At, command: &Command) {
        let done = self.runs.command(self.writer, world, at, command);
        self.runs.note(done);
    }
    fn submission(&mut self, world: &World, submission: &Submission) {
        let done = self.runs.submission(self.writer, world, submission);
        self.runs.note(done);
    }
}

/// What a command is: its name without vkCmd and suffixes, and one word for those that do the same.
fn kind(command: &Command) -> &'static str {
    use commands::ImageCopyKind as Copy;
    match command {
        Command::Invoke(i) => i.kind(),
        Command::BeginPass(_) => "BeginPass",
        Command::NextSubpass => "NextSubpass",
        Command::EndPass => "EndPass",
        Command::Barrier(_) => "Barrier",
        Command::SetEvent { .. } => "SetEvent",
        Command::ResetEvent { .. } => "ResetEvent",
        Command::WaitEvents { .. } => "WaitEvents",
        Command::CopyBuffer(_) => "CopyBuffer",
        Command::CopyBufferToImage(_) => "CopyBufferToImage",
        Command::CopyImageToBuffer(_) => "CopyImageToBuffer",
        Command::CopyImage(c) => match c.kind {
            Copy::Copy => "CopyImage",
            Copy::Blit => "BlitImage",
            Copy::Resolve => "ResolveImage",
        },
        Command::UpdateBuffer { .. } => "UpdateBuffer",
        Command::FillBuffer { .. } => "FillBuffer",
        Command::ClearImage { .. } => "ClearImage",
        Command::Execute(_) => "ExecuteCommands",
        Command::Label { what: Label::Begin, .. } => "BeginLabel",
        Command::Label { what: Label::Insert, .. } => "InsertLabel",
        Command::Label { what: Label::End, .. } => "EndLabel",
        Command::Other(image) => image.command.map_or("Other", |c| commands::kind(c.canonical)),
    }
}

/// From `vertices` to `indirect_address` in the table of draws; of several draws it is not in the sizes whether they are
/// indexed.
fn sizes(of: &Sizes, indexed: bool) -> [Value; 17] {
    let mut v = [const { Value::Null }; 17];
    let [vertices, indices, instances, first_vertex, first_index, vertex_offset, first_instance] =
        [0, 1, 2, 3, 4, 5, 6];
    let (groups, trace, draws, memory) = (7, 10, 13, 14);
    match of {
        Sizes::Draw { vertices: n, instances: i, first_vertex: f, first_instance: fi } => {
            v[vertices] = (*n).into();
            v[instances] = (*i).into();
            v[first_vertex] = (*f).into();
            v[first_instance] = (*fi).into();
            v[draws] = 1u32.into();
        }
        Sizes::DrawIndexed {
            indices: n,
            instances: i,
            first_index: f,
            vertex_offset: o,
            first_instance: fi,
        } => {
            v[indices] = (*n).into();
            v[instances] = (*i).into();
            v[first_index] = (*f).into();
            v[vertex_offset] = (*o).into();
            v[first_instance] = (*fi).into();
            v[draws] = 1u32.into();
        }
        Sizes::Multi { draws: all, instances: i, first_instance: fi } => {
            v[if indexed { indices } else { vertices }] =
                all.iter().map(|d| u64::from(d.1)).sum::<u64>().into();
            v[instances] = (*i).into();
            v[first_instance] = (*fi).into();
            v[draws] = all.len().into();
        }
        Sizes::Groups { count, .. } => {
            (0..3).for_each(|i| v[groups + i] = count[i].into());
        }
        Sizes::Trace { size, .. } => {
            (0..3).for_each(|i| v[trace + i] = size[i].into());
        }
        Sizes::Indirect(Indirect { place, draws: n, .. }) => {
            v[draws] = (*n).into();
            source(&mut v, memory, *place);
        }
        Sizes::ByteCount { counter, instances: i, first_instance: fi, .. } => {
            v[instances] = (*i).into();
            v[first_instance] = (*fi).into();
            v[draws] = 1u32.into();
            source(&mut v, memory, *counter);
        }
        Sizes::Generated { sequences, .. } => v[draws] = (*sequences).into(),
        Sizes::Unknown => {}
    }
    v
}

/// Where sizes come from.
fn source(v: &mut [Value; 17], at: usize, place: Source) {
    match place {
        Source::Buffer { buffer, offset } => {
            v[at] = id(buffer);
            v[at + 1] = offset.into();
        }
        Source::Address(address) => v[at + 2] = id(address),
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::schema::draws;

    #[test]
    fn sizes_stand_in_their_columns() {
        let table = draws();
        let first = table.columns.iter().position(|c| c.name == "vertices").expect("a column");
        let of = |sizes: &Sizes| {
            let named = super::sizes(sizes, false).into_iter().zip(&table.columns[first..]);
            let there = named.filter(|v| v.0 != Value::Null);
            there.map(|(v, c)| (c.name.to_string(), v)).collect::<Vec<_>>()
        };
        let is = |name: &str, n: i64| (name.to_owned(), Value::Integer(n));
        let draw = Sizes::DrawIndexed {
            indices: 3,
            instances: 4,
            first_index: 5,
            vertex_offset: -6,
            first_instance: 7,
        };
        assert_eq!(
            of(&draw),
            [
                is("indices", 3),
                is("instances", 4),
                is("first_index", 5),
                is("vertex_offset", -6),
                is("first_instance", 7),
                is("draws", 1)
            ]
        );
        let groups = Sizes::Groups { base: [9; 3], count: [1, 2, 3] };
        assert_eq!(of(&groups), [is("groups_x", 1), is("groups_y", 2), is("groups_z", 3)]);
        let place = Source::Buffer { buffer: 8, offset: 16 };
        let indirect = Indirect { place, draws: 2, stride: 16, size: 16, counter: None };
        assert_eq!(
            of(&Sizes::Indirect(indirect)),
            [is("draws", 2), is("indirect_buffer", 8), is("indirect_offset", 16)]
        );
        let place = Source::Address(64);
        assert_eq!(
            of(&Sizes::Indirect(Indirect { place, ..indirect })),
            [is("draws", 2), is("indirect_address", 64)]
        );
    }
}
