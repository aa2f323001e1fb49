//! The simulation, window by window.

use crate::rays::events::{Events, Launch, NO};
use crate::rays::replayer::{Efficiency, Packing, Replayer};
use rayon::prelude::*;
use std::ops::Range;
use trace::tables::RayEvent;

/// Which bits are hints.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Hints {
    /// None.
    None,
    /// So many low bits of the instance that was hit.
    Instance(u32),
    /// So many low bits of the geometry.
    Geometry(u32),
    /// So many low bits of the primitive.
    Primitive(u32),
}

impl Hints {
    /// `none`, `instance:8`, `geometry:2`, `primitive:4`; 1 to 32 bits.
    pub fn parse(text: &str) -> Option<Hints> {
        if text == "none" {
            return Some(Hints::None);
        }
        let (name, bits) = text.split_once(':')?;
        let bits = bits.parse().ok().filter(|b| (1..=32).contains(b))?;
        match name {
            "instance" => Some(Hints::Instance(bits)),
            "geometry" => Some(Hints::Geometry(bits)),
            "primitive" => Some(Hints::Primitive(bits)),
            _ => None,
        }
    }

    /// In words.
    pub fn words(self) -> String {
        match self {
            Hints::None => "–".into(),
            Hints::Instance(n) => format!("{n} bits of the instance"),
            Hints::Geometry(n) => format!("{n} bits of the geometry"),
            Hints::Primitive(n) => format!("{n} bits of the primitive"),
        }
    }

    fn of(self, events: &Events, object: u32) -> u32 {
        let Some(o) = events.objects.get(object as usize) else { return 0 };
        let low = |n: u32, bits: u32| n & 1u32.checked_shl(bits).map_or(u32::MAX, |b| b - 1);
        match self {
            Hints::None => 0,
            Hints::Instance(n) => low(o.instance, n),
            Hints::Geometry(n) => low(o.geometry, n),
            Hints::Primitive(n) => low(o.primitive, n),
        }
    }
}

/// What a user may say.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Options {
    /// Subgroups whose invocations mix; none: all of the launch.
    pub window: Option<usize>,
    /// Bits of hints.
    pub hints: Hints,
    /// A cell's side; 0: the place that was hit is not looked at.
    pub cell: f32,
}

/// An invocation's piece in a lane.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Placed {
    /// The invocation.
    pub thread: u32,
    /// Its events in this stage.
    pub events: Range<usize>,
}

/// A subgroup: what is in each lane.
type Lanes = Vec<Option<u32>>;

/// Where an invocation is cut: events, and steps of the stream.
#[derive(Default)]
struct Cuts {
    events: Vec<usize>,
    steps: Vec<usize>,
}

fn cuts(events: &Events, launch: &Launch, replayer: &Replayer, thread: u32) -> Cuts {
    let ends = |k: RayEvent| matches!(k, RayEvent::Miss | RayEvent::ClosestHit);
    let kind = |code: u16| events.codes[usize::from(code)].kind;
    let stream = replayer.stream_of(thread as usize);
    let calls = replayer.calls(thread as usize);
    Cuts {
        events: launch.events(thread as usize).filter(|at| ends(kind(launch.code[*at]))).collect(),
        steps: stream.zip(calls).filter(|(_, s)| ends(kind(**s))).map(|s| s.0).collect(),
    }
}

/// How many stages a launch takes.
pub fn stages(launch: &Launch, events: &Events) -> u64 {
    let ends = |at: &usize| {
        matches!(events.codes[usize::from(launch.code[*at])].kind, RayEvent::Miss | RayEvent::ClosestHit)
    };
    let most = (0..launch.threads()).into_par_iter().map(|t| launch.events(t).filter(ends).count()).max();
    1 + most.unwrap_or(0) as u64
}

/// The efficiency with reordering.
pub fn simulate(events: &Events, launch: &Launch, replayer: &Replayer, options: &Options) -> Efficiency {
    let recorded = Packing::recorded(launch);
    let window = options.window.unwrap_or(recorded.len()).max(1);
    (0..recorded.len().div_ceil(window))
        .into_par_iter()
        .map_init(
            || replayer.scratch(),
            |scratch, number| {
                let mut sum = replayer.nothing();
                let mut w = Window::new(events, launch, replayer, &recorded, number * window, window);
                while w.stage(options) {
                    for lanes in &w.warps {
                        let parts: Vec<_> = lanes.iter().map(|t| t.map_or(0..0, |t| w.steps(t))).collect();
                        replayer.run(&parts, scratch, |event| replayer.add(&mut sum, event));
                    }
                }
                sum
            },
        )
        .reduce(|| replayer.nothing(), |a, b| a.and(&b))
}

/// Invocations that mix.
pub struct Window<'a> {
    events: &'a Events,
    launch: &'a Launch,
    replayer: &'a Replayer,
    warps: Vec<Lanes>,
    /// Of each invocation in the window, by number there.
    cuts: Vec<Cuts>,
    /// The number of an invocation in the window.
    number: std::collections::HashMap<u32, usize>,
    /// How many stages have been; 0 before the first.
    stage: usize,
}

impl<'a> Window<'a> {
    /// So many recorded subgroups, from this one on.
    pub fn new(
        events: &'a Events,
        launch: &'a Launch,
        replayer: &'a Replayer,
        recorded: &Packing,
        from: usize,
        count: usize,
    ) -> Window<'a> {
        let mut warps = vec![];
        let mut all = vec![];
        for warp in from..(from + count).min(recorded.len()) {
            let members = recorded.warp(warp);
            let most = members.iter().map(|&t| usize::from(launch.lane[t as usize]) + 1).max().unwrap_or(0);
            let mut lanes: Lanes = vec![None; most.max(launch.n as usize)];
            members.iter().for_each(|&t| lanes[usize::from(launch.lane[t as usize])] = Some(t));
            warps.push(lanes);
            all.extend(members);
        }
        let cuts = all.par_iter().map(|&t| cuts(events, launch, replayer, t)).collect();
        let number = all.iter().enumerate().map(|(n, &t)| (t, n)).collect();
        Window { events, launch, replayer, warps, cuts, number, stage: 0 }
    }

    /// Goes on to the next stage; false when nobody has anything more to do.
    pub fn stage(&mut self, options: &Options) -> bool {
        self.stage += 1;
        if self.stage == 1 {
            return true;
        }
        let done = self.stage - 2;
        let n = self.launch.n as usize;
        // (in the order of subgroups and lanes: the sort is stable)
        let mut on: Vec<(Key, usize, u32)> = vec![];
        for lanes in &self.warps {
            for (lane, thread) in lanes.iter().enumerate() {
                if let Some(thread) = thread
                    && let Some(&at) = self.cuts[self.number[thread]].events.get(done)
                {
                    on.push((self.key(options, *thread, at, done), lane, *thread));
                }
            }
        }
        on.sort_by_key(|o| o.0);
        self.warps = on.chunks(n.max(1)).map(|c| place(c, n)).collect();
        !self.warps.is_empty()
    }

    fn key(&self, options: &Options, thread: u32, at: usize, done: usize) -> Key {
        let code = self.launch.code[at];
        let object = self.launch.object[at];
        let hint = if object == NO { 0 } else { options.hints.of(self.events, object) };
        let place = (self.launch.place_starts.get(thread as usize))
            .filter(|_| options.cell > 0.0)
            .and_then(|start| self.launch.places.get(start + done));
        // (codes stand in the order of kinds, then of shaders)
        (code, hint, place.map_or(0, |p| morton(*p, options.cell)))
    }

    fn piece<T: Copy>(&self, cuts: &[T], whole: Range<T>) -> Range<T> {
        let begin = if self.stage < 2 { whole.start } else { cuts[self.stage - 2] };
        begin..cuts.get(self.stage - 1).copied().unwrap_or(whole.end)
    }

    fn steps(&self, thread: u32) -> Range<usize> {
        self.piece(&self.cuts[self.number[&thread]].steps, self.replayer.stream_of(thread as usize))
    }

    /// What is in each lane of each subgroup in this stage.
    pub fn placed(&self) -> Vec<Vec<Option<Placed>>> {
        let of = |thread: u32| Placed {
            thread,
            events: self.piece(&self.cuts[self.number[&thread]].events, self.launch.events(thread as usize)),
        };
        self.warps.iter().map(|lanes| lanes.iter().map(|t| t.map(of)).collect()).collect()
    }
}

/// Shader, hint, cell.
type Key = (u16, u32, u64);

/// Everyone in their own lane, as long as it is free.
fn place(of: &[(Key, usize, u32)], n: usize) -> Lanes {
    let mut lanes: Lanes = vec![None; n];
    let mut others = vec![];
    for &(_, lane, thread) in of {
        match lanes.get_mut(lane) {
            Some(free @ None) => *free = Some(thread),
            _ => others.push(thread),
        }
    }
    let mut others = others.into_iter();
    for free in lanes.iter_mut().filter(|l| l.is_none()) {
        *free = others.next();
    }
    lanes
}

/// The number of a cell, in Morton order; cells beyond a million from the middle are as those at it.
fn morton(place: [f32; 3], cell: f32) -> u64 {
    let spread = |x: f32| {
        let i = ((x / cell).floor().clamp(-1_048_576.0, 1_048_575.0) as i64 + 1_048_576) as u64;
        (0..21).fold(0u64, |s, b| s | (i >> b & 1) << (3 * b))
    };
    spread(place[0]) | spread(place[1]) << 1 | spread(place[2]) << 2
}
