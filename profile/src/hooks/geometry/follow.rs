//! Which build each acceleration structure comes from, in the order in which command buffers are submitted.
//!
//! What command buffers hold is the executor's to know ([`world::walk`]); here is kept what the replay noted of their builds.
//! Guarantees: what a build copied is kept until nobody can ask for it; it is read before its command buffer runs again and
//! copies anew. Not known: what a command buffer copies that is submitted again while it runs.

use replay::vulkan::Vulkan;
use replay::vulkan::inputs::{Build, Event, Noted};
use std::cell::{Cell, RefCell};
use std::collections::{BTreeMap, HashMap};
use std::rc::{Rc, Weak};
use world::World;
use world::commands::Command;
use world::walk;

/// Commands that trace rays.
const TRACES: [&str; 3] = ["vkCmdTraceRaysKHR", "vkCmdTraceRaysIndirectKHR", "vkCmdTraceRaysIndirect2KHR"];

/// A build as it was recorded, and the buffers that it copies to.
pub struct Recorded {
    /// What is built.
    pub what: Build,
    /// What its last run built.
    latest: RefCell<Weak<Content>>,
}

/// A geometry's bytes, if it has any.
pub type Bytes = Vec<Option<Vec<u8>>>;

/// What one run of a build left in a structure.
pub struct Content {
    /// The build.
    pub build: Rc<Recorded>,
    /// The capture's snapshot says that it was built.
    pub in_snapshot: bool,
    /// Its number in the trace, once it is written.
    pub number: Cell<Option<u64>>,
    device: u64,
    bytes: RefCell<Option<Rc<Bytes>>>,
    /// Of a top level: what was there when it was built.
    there: RefCell<There>,
}

/// Bottom levels by id, and ids by address. (Top levels are not among them: each would keep the one before it.)
#[derive(Clone, Default)]
struct There {
    bottoms: Rc<HashMap<u64, Rc<Content>>>,
    addresses: Rc<HashMap<u64, u64>>,
}

impl Content {
    /// What the build read; it is done.
    pub fn bytes(&self, vk: &Vulkan) -> Rc<Bytes> {
        let read = || {
            let geometries = self.build.what.geometries.iter();
            Rc::new(geometries.map(|g| g.buffer.and_then(|b| vk.read_input(b))).collect())
        };
        self.bytes.borrow_mut().get_or_insert_with(read).clone()
    }

    /// The bottom level that an instance refers to.
    pub fn bottom(&self, reference: u64) -> Option<Rc<Content>> {
        let there = self.there.borrow();
        let id = there.addresses.get(&reference)?;
        there.bottoms.get(id).cloned()
    }

    /// It is written: what it is made of is not needed any more.
    pub fn forget(&self) {
        *self.bytes.borrow_mut() = Some(Rc::default());
        *self.there.borrow_mut() = There::default();
    }
}

/// Something that fills structures, or looks at them.
#[derive(Clone)]
enum Step {
    Build(Rc<Recorded>),
    /// Not a build.
    Other(Event),
    Trace(u64),
}

/// A command that traced rays.
pub struct Traced {
    /// The capture's number of its call.
    pub command: u64,
    /// Which of its executions in the frame.
    pub run: u64,
    /// The top levels that were there.
    pub tops: Vec<Rc<Content>>,
}

/// See the module's header.
#[derive(Default)]
pub struct Follow {
    /// By recording: its command buffer, and what its commands do.
    noted: HashMap<u64, (u64, BTreeMap<u32, Vec<Step>>)>,
    there: There,
    tops: HashMap<u64, Rc<Content>>,
    serials: HashMap<(bool, u64), Rc<Content>>,
    traced: Vec<Traced>,
    runs: HashMap<u64, u64>,
    builds: Vec<(u64, Rc<Recorded>)>,
}

impl Follow {
    /// The replay noted something of the call that runs.
    pub fn noted(&mut self, n: Noted, world: &World, vk: &Vulkan) {
        let step = match n.event {
            Event::Build(what) => {
                let build = Rc::new(Recorded { what, latest: RefCell::default() });
                self.builds.push((n.device, build.clone()));
                Step::Build(build)
            }
            other => Step::Other(other),
        };
        let Some(buffer) = n.command_buffer else { return self.run(&step, n.device, true, vk) };
        if let Some(r) = world.recording(buffer) {
            let (_, all) = self.noted.entry(r.number).or_insert((buffer, BTreeMap::new()));
            all.entry(r.count).or_default().push(step);
        }
    }

    /// A structure's address, as instances refer to it.
    pub fn addressed(&mut self, id: u64, address: u64) {
        if self.there.addresses.get(&address) != Some(&id) {
            Rc::make_mut(&mut self.there.addresses).insert(address, id);
        }
    }

    /// A structure is gone.
    pub fn destroyed(&mut self, id: u64) {
        self.set(id, None);
    }

    fn set(&mut self, id: u64, content: Option<Rc<Content>>) {
        self.tops.remove(&id);
        if self.there.bottoms.contains_key(&id) || content.as_ref().is_some_and(|c| !c.build.what.top) {
            Rc::make_mut(&mut self.there.bottoms).remove(&id);
        }
        match content {
            Some(c) if c.build.what.top => self.tops.insert(id, c),
            Some(c) => Rc::make_mut(&mut self.there.bottoms).insert(id, c),
            None => None,
        };
    }

    fn get(&self, id: u64) -> Option<&Rc<Content>> {
        self.tops.get(&id).or_else(|| self.there.bottoms.get(&id))
    }

    /// These command buffers run.
    pub fn submitted(&mut self, command_buffers: &[u64], world: &World, vk: &Vulkan) {
        let mut steps = vec![];
        world.walk(command_buffers, &mut |holder, step| {
            let walk::Step::Command(c) = step else { return };
            match &c.command {
                Command::Invoke(i) if TRACES.contains(&i.command.name) => steps.push(Step::Trace(c.block)),
                Command::Other(_) => {
                    let noted = self.noted.get(&holder.recording.number);
                    steps.extend(noted.and_then(|n| n.1.get(&c.index)).into_iter().flatten().cloned());
                }
                _ => {}
            }
        });
        steps.iter().for_each(|step| self.run(step, 0, false, vk));
    }

    fn run(&mut self, step: &Step, device: u64, in_snapshot: bool, vk: &Vulkan) {
        match step {
            Step::Build(build) => {
                // (what its last run copied is about to be overwritten, and that run is over)
                if let Some(before) = build.latest.borrow().upgrade() {
                    before.bytes(vk);
                }
                let of = self.builds.iter().rev().find(|b| Rc::ptr_eq(&b.1, build)).map_or(device, |b| b.0);
                let content = Rc::new(Content {
                    build: build.clone(),
                    in_snapshot,
                    number: Cell::new(None),
                    device: of,
                    bytes: RefCell::new(None),
                    there: RefCell::new(if build.what.top { self.there.clone() } else { There::default() }),
                });
                *build.latest.borrow_mut() = Rc::downgrade(&content);
                self.set(build.what.structure, Some(content));
            }
            Step::Other(Event::Copy { from, to }) => {
                let content = self.get(*from).cloned();
                self.set(*to, content);
            }
            Step::Other(Event::Serialise { from, at }) => {
                if let Some(c) = self.get(*from).cloned() {
                    self.serials.insert(*at, c);
                }
            }
            Step::Other(Event::Deserialise { at, to }) => {
                let content = self.serials.get(at).cloned();
                self.set(*to, content);
            }
            Step::Other(Event::Build(_)) => {}
            Step::Trace(command) => {
                let run = self.runs.entry(*command).or_default();
                let traced = Traced { command: *command, run: *run, tops: vec![] };
                *run += 1;
                let tops = self.now().tops;
                self.traced.push(Traced { tops, ..traced });
            }
        }
    }

    /// The top levels that are there now, by id.
    pub fn now(&self) -> Traced {
        let mut tops: Vec<_> = self.tops.iter().collect();
        tops.sort_by_key(|c| *c.0);
        Traced { command: 0, run: 0, tops: tops.into_iter().map(|c| c.1.clone()).collect() }
    }

    /// What the frame traced so far.
    pub fn traced(&mut self) -> Vec<Traced> {
        self.runs.clear();
        std::mem::take(&mut self.traced)
    }

    /// Everything of a device is forgotten.
    pub fn device_goes(&mut self, device: u64, world: &World, vk: &mut Vulkan) {
        let all = self.tops.iter().chain(self.there.bottoms.iter());
        let gone: Vec<u64> = all.filter(|c| c.1.device == device).map(|c| *c.0).collect();
        gone.into_iter().for_each(|id| self.set(id, None));
        self.serials.retain(|_, c| c.device != device);
        self.sweep(world, vk);
    }

    /// Gives back what nobody can ask for any more.
    pub fn sweep(&mut self, world: &World, vk: &mut Vulkan) {
        self.noted
            .retain(|number, (buffer, _)| world.recording(*buffer).is_some_and(|r| r.number == *number));
        self.builds.retain(|(_, build)| {
            let used = Rc::strong_count(build) > 1;
            if !used {
                build.what.geometries.iter().filter_map(|g| g.buffer).for_each(|b| vk.drop_input(b));
            }
            used
        });
    }
}
