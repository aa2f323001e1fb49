//! What the calls before a looped frame leave behind that no driver can be asked for: what command buffers hold, which
//! binary semaphores are signalled, what descriptor sets are made of.
//!
//! Looks at decoded calls only. Guarantees: after [`Tracker::see`] of every call up to a point, the state is the one at
//! that point, provided that the device has finished. A recording is kept as its calls, so that it can be made again.

use super::ops::{Op, Value, of_call};
use gfxr_parse::ahead::Call;
use gfxr_parse::meta::Meta;
use gfxr_parse::schema::generated::COMMANDS;
use gfxr_parse::view::View;
use std::collections::{BTreeMap, HashMap, HashSet};
use std::rc::Rc;
use world::MetaBlock;

/// What a command buffer holds.
#[derive(Clone, Default)]
pub struct Recording {
    /// From vkBeginCommandBuffer on.
    pub calls: Vec<Call>,
    /// vkEndCommandBuffer was called.
    pub ended: bool,
}

impl Recording {
    /// Secondary command buffers that it executes, in order.
    pub fn executes(&self) -> impl Iterator<Item = u64> + '_ {
        let calls = self.calls.iter().filter(|c| c.command.name == "vkCmdExecuteCommands");
        calls.flat_map(|c| View::call(&c.image).u64s("pCommandBuffers"))
    }
}

/// A synchronisation object and how it was created.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Sync {
    /// Captured id of its device.
    pub device: u64,
    /// What it is.
    pub kind: SyncKind,
}

/// See [`Sync`].
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum SyncKind {
    /// A binary semaphore.
    Binary,
    /// A timeline semaphore, with the value it began with.
    Timeline(u64),
    /// A fence; whether it began signalled.
    Fence(bool),
    /// An event; whether only the device can see it.
    Event(bool),
}

/// One binding of a descriptor-set layout.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Binding {
    /// VkDescriptorType.
    pub ty: i32,
    /// Descriptors, or bytes of an inline uniform block.
    pub count: u32,
}

/// A descriptor-set layout.
#[derive(Clone, Debug, Default)]
pub struct Layout {
    /// By number.
    pub bindings: BTreeMap<u32, Binding>,
    /// VkDescriptorSetLayoutCreateFlags.
    pub flags: u32,
    /// The types that each mutable binding may take.
    pub mutable: BTreeMap<u32, Vec<i32>>,
}

/// A descriptor set.
#[derive(Clone)]
pub struct Set {
    /// Captured id of its device.
    pub device: u64,
    /// Captured id of its pool.
    pub pool: u64,
    /// What it is made of.
    pub layout: Rc<Layout>,
}

/// A query pool.
#[derive(Clone, Copy, Debug)]
pub struct Queries {
    /// Captured id of its device.
    pub device: u64,
    /// VkQueryType.
    pub ty: i32,
    /// How many it has.
    pub count: u32,
}

/// What one entry of an update template writes: binding, first element, count.
pub type TemplateEntry = (u32, u32, u32);

#[derive(Clone, Copy, PartialEq, Eq)]
enum Role {
    Nothing,
    Recorded,
    Other,
}

/// See the module's header.
pub struct Tracker {
    roles: Vec<Role>,
    /// By command buffer.
    pub recordings: HashMap<u64, Rc<Recording>>,
    /// Command buffer -> its pool and its device.
    pub pools: HashMap<u64, (u64, u64)>,
    /// Semaphores, fences, events.
    pub sync: HashMap<u64, Sync>,
    /// Binary semaphores that are signalled.
    pub signalled: HashSet<u64>,
    /// Timeline semaphores: the greatest value that something signals, and the greatest that something waits for.
    pub promised: HashMap<u64, (u64, u64)>,
    /// Descriptor-set layouts.
    pub layouts: HashMap<u64, Rc<Layout>>,
    /// Descriptor sets.
    pub sets: HashMap<u64, Set>,
    /// Update templates.
    pub templates: HashMap<u64, Rc<Vec<TemplateEntry>>>,
    /// Query pools.
    pub queries: HashMap<u64, Queries>,
}

/// Commands that [`Tracker::other`] looks at.
const OTHERS: &[&str] = &[
    "vkBeginCommandBuffer",
    "vkEndCommandBuffer",
    "vkResetCommandBuffer",
    "vkResetCommandPool",
    "vkDestroyCommandPool",
    "vkAllocateCommandBuffers",
    "vkFreeCommandBuffers",
    "vkCreateSemaphore",
    "vkCreateFence",
    "vkCreateEvent",
    "vkDestroySemaphore",
    "vkDestroyFence",
    "vkDestroyEvent",
    "vkQueueSubmit",
    "vkQueueSubmit2",
    "vkQueueBindSparse",
    "vkQueuePresentKHR",
    "vkAcquireNextImageKHR",
    "vkAcquireNextImage2KHR",
    "vkSignalSemaphore",
    "vkCreateDescriptorSetLayout",
    "vkAllocateDescriptorSets",
    "vkFreeDescriptorSets",
    "vkResetDescriptorPool",
    "vkDestroyDescriptorPool",
    "vkCreateDescriptorUpdateTemplate",
    "vkCreateQueryPool",
    "vkDestroyQueryPool",
];

impl Default for Tracker {
    fn default() -> Self {
        let role = |n: &str| match n {
            n if n.starts_with("vkCmd") => Role::Recorded,
            n if OTHERS.contains(&n) => Role::Other,
            _ => Role::Nothing,
        };
        Tracker {
            roles: COMMANDS.iter().map(|c| role(c.canonical)).collect(),
            recordings: HashMap::new(),
            pools: HashMap::new(),
            sync: HashMap::new(),
            signalled: HashSet::new(),
            promised: HashMap::new(),
            layouts: HashMap::new(),
            sets: HashMap::new(),
            templates: HashMap::new(),
            queries: HashMap::new(),
        }
    }
}

/// The ids that the capture gave to what a call creates.
pub fn created(call: &Call) -> Vec<u64> {
    call.image.handles.iter().filter(|h| h.out).map(|h| call.image.u64(h.at)).collect()
}

impl Tracker {
    /// One call that has happened.
    pub fn see(&mut self, call: &Call) {
        match self.roles[call.index] {
            Role::Nothing => {}
            Role::Recorded => self.record(call.image.u64(0), call),
            Role::Other => self.other(call),
        }
    }

    /// One metadata block that has happened.
    pub fn see_meta(&mut self, block: &MetaBlock<'_>) {
        if let Meta::SwapchainImages(m) = block.meta {
            let acquired = m.images.iter().filter(|i| i.acquired != 0);
            self.signalled.extend(acquired.map(|i| i.acquire_semaphore).filter(|s| *s != 0));
        }
    }

    fn record(&mut self, buffer: u64, call: &Call) {
        if let Some(r) = self.recordings.get_mut(&buffer) {
            Rc::make_mut(r).calls.push(call.clone());
        }
    }

    /// Command buffers allocated from a pool.
    pub fn of_pool(&self, pool: u64) -> impl Iterator<Item = u64> + '_ {
        self.pools.iter().filter(move |(_, p)| p.0 == pool).map(|(b, _)| *b)
    }

    fn other(&mut self, call: &Call) {
        let v = View::call(&call.image);
        let (first, second) = (call.image.u64(0), || call.image.u64(8));
        match call.command.canonical {
            "vkBeginCommandBuffer" => {
                self.recordings.insert(first, Rc::new(Recording { calls: vec![call.clone()], ended: false }));
            }
            "vkEndCommandBuffer" => {
                self.record(first, call);
                if let Some(r) = self.recordings.get_mut(&first) {
                    Rc::make_mut(r).ended = true;
                }
            }
            "vkResetCommandBuffer" => drop(self.recordings.remove(&first)),
            "vkResetCommandPool" => {
                for b in self.of_pool(second()).collect::<Vec<_>>() {
                    self.recordings.remove(&b);
                }
            }
            "vkDestroyCommandPool" => {
                for b in self.of_pool(second()).collect::<Vec<_>>() {
                    self.recordings.remove(&b);
                    self.pools.remove(&b);
                }
            }
            "vkAllocateCommandBuffers" => {
                let pool = v.one("pAllocateInfo").and_then(|i| i.u64("commandPool")).unwrap_or(0);
                self.pools.extend(created(call).into_iter().map(|b| (b, (pool, first))));
            }
            "vkFreeCommandBuffers" => {
                for b in v.u64s("pCommandBuffers") {
                    self.recordings.remove(&b);
                    self.pools.remove(&b);
                }
            }
            "vkCreateSemaphore" | "vkCreateFence" | "vkCreateEvent" => {
                let kind = sync_kind(call, v);
                self.sync.extend(created(call).into_iter().map(|id| (id, Sync { device: first, kind })));
            }
            "vkDestroySemaphore" | "vkDestroyFence" | "vkDestroyEvent" => {
                self.sync.remove(&second());
                self.signalled.remove(&second());
                self.promised.remove(&second());
            }
            "vkCreateDescriptorSetLayout" => {
                if let (Some(info), [id, ..]) = (v.one("pCreateInfo"), &created(call)[..]) {
                    self.layouts.insert(*id, Rc::new(layout(info)));
                }
            }
            "vkAllocateDescriptorSets" => {
                let Some(info) = v.one("pAllocateInfo") else { return };
                let pool = info.u64("descriptorPool").unwrap_or(0);
                for (set, layout) in created(call).into_iter().zip(info.u64s("pSetLayouts")) {
                    if let Some(layout) = self.layouts.get(&layout).filter(|_| set != 0) {
                        self.sets.insert(set, Set { device: first, pool, layout: layout.clone() });
                    }
                }
            }
            "vkFreeDescriptorSets" => v.u64s("pDescriptorSets").iter().for_each(|s| {
                self.sets.remove(s);
            }),
            "vkResetDescriptorPool" | "vkDestroyDescriptorPool" => {
                let pool = second();
                self.sets.retain(|_, s| s.pool != pool);
            }
            "vkCreateDescriptorUpdateTemplate" => {
                let Some(info) = v.one("pCreateInfo") else { return };
                let entries = info.structs("pDescriptorUpdateEntries").map(|e| {
                    let n = |name| e.u32(name).unwrap_or(0);
                    (n("dstBinding"), n("dstArrayElement"), n("descriptorCount"))
                });
                let entries = Rc::new(entries.collect());
                self.templates.extend(created(call).into_iter().map(|id| (id, Rc::clone(&entries))));
            }
            "vkCreateQueryPool" => {
                let n = |name| v.one("pCreateInfo").and_then(|i| i.u32(name)).unwrap_or(0);
                let pool = Queries { device: first, ty: n("queryType") as i32, count: n("queryCount") };
                self.queries.extend(created(call).into_iter().map(|id| (id, pool)));
            }
            "vkDestroyQueryPool" => drop(self.queries.remove(&second())),
            _ => of_call(call).into_iter().for_each(|op| self.signal(op)),
        }
    }

    /// A semaphore is waited for or signalled.
    fn signal(&mut self, op: Op) {
        match self.sync.get(&op.semaphore).map(|s| s.kind) {
            Some(SyncKind::Timeline(initial)) => {
                let (signals, waits) = self.promised.entry(op.semaphore).or_insert((initial, 0));
                match op.value {
                    Value::Signal(v) => *signals = v.max(*signals),
                    Value::Wait(v) => *waits = v.max(*waits),
                }
            }
            _ => match op.value {
                Value::Signal(_) => drop(self.signalled.insert(op.semaphore)),
                Value::Wait(_) => drop(self.signalled.remove(&op.semaphore)),
            },
        }
    }

    /// Timeline semaphores that something already submitted waits for and nothing submitted signals.
    pub fn stuck(&self) -> Option<(u64, u64)> {
        self.promised.iter().find(|(_, (signals, waits))| waits > signals).map(|(id, p)| (*id, p.1))
    }
}

fn sync_kind(call: &Call, v: View<'_>) -> SyncKind {
    let info = v.one("pCreateInfo");
    let flags = info.and_then(|i| i.u32("flags")).unwrap_or(0);
    match call.command.canonical {
        "vkCreateFence" => SyncKind::Fence(flags & 1 != 0),
        "vkCreateEvent" => SyncKind::Event(flags & 1 != 0),
        _ => match info.and_then(|i| i.next("VkSemaphoreTypeCreateInfo")) {
            Some(t) if t.u32("semaphoreType") == Some(1) => {
                SyncKind::Timeline(t.u64("initialValue").unwrap_or(0))
            }
            _ => SyncKind::Binary,
        },
    }
}

fn layout(info: View<'_>) -> Layout {
    let mut l = Layout { flags: info.u32("flags").unwrap_or(0), ..Layout::default() };
    let lists: Vec<Vec<i32>> = info.next("VkMutableDescriptorTypeCreateInfoEXT").map_or(Vec::new(), |m| {
        let list = |l: View<'_>| l.u64s("pDescriptorTypes").into_iter().map(|t| t as i32).collect();
        m.structs("pMutableDescriptorTypeLists").map(list).collect()
    });
    for (i, b) in info.structs("pBindings").enumerate() {
        let n = |name| b.u32(name).unwrap_or(0);
        let number = n("binding");
        l.bindings.insert(number, Binding { ty: n("descriptorType") as i32, count: n("descriptorCount") });
        if let Some(list) = lists.get(i).filter(|l| !l.is_empty()) {
            l.mutable.insert(number, list.clone());
        }
    }
    l
}
