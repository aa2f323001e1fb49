//! The Vulkan backend: calls the driver, with the few commands that mean something of their own handled by name.
//!
//! Most calls are linked and invoked through the function table and nothing else. A table of handlers (`handlers.rs`), built once from
//! names, says for each command whether it is answered from the capture, has a typed handler, or is plain. State that
//! handlers need (devices, memory, images, swapchains) lives here by captured id. Our own objects are made with `ash`
//! directly and never enter the object table.
#![allow(unsafe_code)]

mod addresses;
mod cleanup;
mod clocks;
pub mod contents;
pub mod crash;
mod debug;
mod debug_names;
mod descriptors;
mod device;
pub mod driver;
mod exact;
mod features;
mod gpu;
mod handlers;
mod init;
mod init_draw;
pub mod inspect;
mod instance;
pub(crate) mod looped;
pub mod memory;
mod order;
#[cfg(target_os = "linux")]
mod pin;
mod pipeline;
mod pools;
pub mod portability;
mod queue;
mod ray;
mod region;
mod resources;
mod shader_pointers;
mod statistics;
mod surface;
mod swapchain;
mod table;
mod template;
mod upload;
mod wait;
pub mod watchdog;

pub use clocks::{Clocks, Reading};
pub use device::{DeviceState, QueueState};
pub use exact::Counts as ExactCounts;
pub use gpu::{Gpu, list_gpus};
pub use ray::{Counters, inputs};
pub use resources::{BufferState, ImageState};
pub use statistics::Statistics;
pub use swapchain::{SwapchainState, presented};

use crate::backend::Backend;
use crate::error::{Error, Kind, Result};
use crate::hook::Needs;
use crate::link::Linked;
use crate::objects::Objects;
use crate::options::Options;
use crate::report::{InFlight, Report};
use crate::under_way::{self, UnderWay};
use ash::vk;
use gfxr_parse::ahead::Call;
use gfxr_parse::schema::{HandleId, handle_named};
use handlers::{Handler, Handlers, Patience};
use std::collections::HashMap;
use table::Table;
use world::Frame;
use world::Ids;
use world::MetaBlock;
use world::Outcome;

/// What the capture says about itself before its first device is made; collected by the session.
#[derive(Clone, Debug, Default)]
pub struct Prologue {
    /// Physical devices by captured id: name, vendor, device, driver version, type, pipeline-cache UUID.
    pub gpus: HashMap<u64, CapturedGpu>,
    /// Their memory types: (property flags, heap index).
    pub memory: HashMap<u64, Vec<u32>>,
    /// The capture begins with a state snapshot: contents arrive as init blocks.
    pub trimmed: bool,
    /// Where a snapshot's buffers and acceleration structures were, by captured id: it says so only after it has loaded
    /// the contents that point there.
    pub addresses: Vec<ObjectAddress>,
}

/// Where an object of a snapshot was.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct ObjectAddress {
    /// Captured id.
    pub object: u64,
    /// Captured address.
    pub address: u64,
    /// It is an acceleration structure, else a buffer.
    pub structure: bool,
}

/// A physical device as the capture recorded it.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct CapturedGpu {
    /// deviceName.
    pub name: String,
    /// vendorID.
    pub vendor: u32,
    /// deviceID.
    pub device: u32,
    /// driverVersion.
    pub driver: u32,
    /// VkPhysicalDeviceType.
    pub kind: i32,
    /// pipelineCacheUUID.
    pub cache_uuid: [u8; 16],
}

/// Handle types that handlers ask for.
#[derive(Clone, Copy)]
pub(crate) struct Types {
    pub physical_device: HandleId,
    pub queue: HandleId,
    pub image: HandleId,
    pub memory: HandleId,
    pub surface: HandleId,
    pub swapchain: HandleId,
    pub semaphore: HandleId,
    pub fence: HandleId,
    pub command_buffer: HandleId,
}

impl Types {
    fn new() -> Self {
        let h = |n| handle_named(n).unwrap_or_else(|| panic!("{n} is missing from the schema"));
        Types {
            physical_device: h("VkPhysicalDevice"),
            queue: h("VkQueue"),
            image: h("VkImage"),
            memory: h("VkDeviceMemory"),
            surface: h("VkSurfaceKHR"),
            swapchain: h("VkSwapchainKHR"),
            semaphore: h("VkSemaphore"),
            fence: h("VkFence"),
            command_buffer: h("VkCommandBuffer"),
        }
    }
}

/// See the module's header.
pub struct Vulkan {
    pub(crate) entry: ash::Entry,
    pub(crate) options: Options,
    pub(crate) prologue: Prologue,
    pub(crate) needs: Needs,
    pub(crate) types: Types,
    handlers: Handlers,
    order: order::Order,
    table: Table,
    pub(crate) instances: HashMap<u64, instance::InstanceState>,
    pub(crate) gpus: HashMap<u64, Gpu>,
    pub(crate) devices: Ids<DeviceState>,
    pub(crate) queues: Ids<QueueState>,
    pub(crate) memory: memory::Memories,
    /// Which resources shared memory at capture; of use where it is rebound.
    pub sharing: crate::preflight::sharing::Sharing,
    /// Where the capture's builds have their scratch memory; of use on another driver than the captured one.
    pub scratch: crate::preflight::scratch::Scratch,
    pub(crate) images: Ids<ImageState>,
    pub(crate) buffers: Ids<BufferState>,
    pub(crate) swapchains: Ids<SwapchainState>,
    /// A present's wait semaphores that nothing has waited for yet; see `swapchain.rs`.
    pub(crate) presented: Option<swapchain::Presented>,
    pub(crate) addresses: addresses::Addresses,
    pub(crate) ray: ray::Ray,
    pub(crate) exact: exact::Exact,
    pub(crate) shader_pointers: shader_pointers::ShaderPointers,
    pub(crate) descriptors: descriptors::Descriptors,
    pub(crate) messages: debug::Messages,
    pub(crate) watch: watchdog::Watch,
    under_way: &'static UnderWay,
    /// The device hangs or is lost: nothing waits for it any more.
    pub abandoned: bool,
    /// The negotiation was about all of the capture.
    whole_table: bool,
    /// How many devices there were.
    devices_made: u32,
    /// What no shader needs and this device lacks.
    unused: portability::Unused,
    pools: pools::Pools,
    held: portability::Held,
    /// Some device has its queues in other families than at capture.
    folded: bool,
    /// Numbers of samples that are others here.
    samples: portability::Samples,
    /// Buffers whose uniform descriptors name a copy.
    realigned: portability::Realigned,
    /// Flags of the captured devices' queue families, by physical device, where the capture says.
    captured_families: HashMap<u64, Vec<u32>>,
    /// Modules without that, for the call under way.
    stripped: Vec<Vec<u32>>,
    /// What the negotiation decided, for `-v` and the JSON.
    pub negotiation: Vec<portability::Line>,
    /// Name of the physical device the latest device was made on.
    pub last_gpu: Option<String>,
    /// The memory mode in force, once a device exists.
    pub memory_mode: Option<crate::options::MemoryMode>,
}

impl Vulkan {
    /// Loads the Vulkan loader.
    pub fn new(options: Options, prologue: Prologue, needs: Needs) -> Result<Self> {
        // SAFETY: loading the system's Vulkan loader runs its initialisers, which is what the user asked for.
        let entry = unsafe { ash::Entry::load() }.map_err(|e| {
            Error::new(
                Kind::NoDevice,
                format!("no Vulkan loader on this machine ({e}); on Debian: apt-get install libvulkan1 mesa-vulkan-drivers"),
            )
        })?;
        driver::watch(options.watchdog_ns())?;
        Ok(Vulkan {
            entry,
            options,
            prologue,
            needs,
            types: Types::new(),
            handlers: Handlers::new(),
            order: order::Order::new(),
            table: Table::default(),
            instances: HashMap::new(),
            gpus: HashMap::new(),
            devices: Ids::default(),
            queues: Ids::default(),
            memory: memory::Memories::default(),
            sharing: Default::default(),
            scratch: Default::default(),
            images: Ids::default(),
            buffers: Ids::default(),
            swapchains: Ids::default(),
            presented: None,
            addresses: addresses::Addresses::default(),
            ray: ray::Ray::default(),
            exact: exact::Exact::default(),
            shader_pointers: shader_pointers::ShaderPointers::default(),
            descriptors: descriptors::Descriptors::default(),
            messages: debug::Messages::default(),
            watch: watchdog::Watch::default(),
            under_way: under_way::here(),
            abandoned: false,
            whole_table: false,
            devices_made: 0,
            unused: Default::default(),
            pools: pools::Pools::default(),
            held: portability::Held::default(),
            folded: false,
            samples: Default::default(),
            realigned: Default::default(),
            captured_families: HashMap::new(),
            stripped: Vec::new(),
            negotiation: Vec::new(),
            memory_mode: None,
            last_gpu: None,
        })
    }

    /// Calls the driver's function for this call with the linked arguments.
    pub(crate) fn raw(&mut self, call: &Call, linked: &Linked, report: &mut Report) -> Result<Outcome> {
        let Some(f) = self.table.get(&self.entry, call.command, call.index) else {
            if handlers::may_be_missing(call.command.name) {
                report.note(&format!("{} skipped: not available here", call.command.name));
                return Ok(Outcome::captured(call));
            }
            return Err(Error::new(
                Kind::Unsupported,
                format!("this device and driver have no {}", call.command.name),
            ));
        };
        // SAFETY: the shape belongs to the command, and the arguments were linked against live objects. The executor has
        // checked that the call keeps to the promise of `gfxr_parse::valid`: arrays are **counted**, pointers **present**,
        // strings **ended**, unions **chosen**.
        let invoke = || unsafe { crate::generated::invoke(call.command.abi, f, linked.words()) };
        let ret = match self.handlers.patience(call.index) {
            Patience::Queues => self.under_way.in_driver(invoke),
            Patience::Submits if !self.watch.is_long() => driver::submission(invoke)?,
            Patience::Submits | Patience::Waits => driver::bounded(self.options.watchdog_ns(), invoke)?,
            Patience::Compiles(count) => {
                let each = u64::from(linked.arg(count.into()) as u32).max(1);
                driver::bounded(self.options.watchdog_ns().saturating_mul(each), invoke)?
            }
        };
        Ok(Outcome { ret, called: true })
    }

    /// A call came out of order: what the replay does instead where it goes on.
    #[cold]
    fn refused(
        &mut self,
        why: Error,
        objects: &mut Objects,
        call: &Call,
        linked: &mut Linked,
        report: &mut Report,
    ) -> Error {
        if self.options.keep_going
            && call.command.name.starts_with("vkQueueSubmit")
            && let Err(e) = queue::submit_nothing(self, objects, call, linked, report)
        {
            return e;
        }
        why
    }

    /// Whether the capture was taken on another driver than the one it will run on; none before that is known.
    pub fn is_foreign(&self) -> Option<bool> {
        if self.gpus.is_empty() {
            return None;
        }
        let same = |(id, g): (&u64, &Gpu)| self.prologue.gpus.get(id).is_some_and(|then| g.is_same(then));
        Some(!self.gpus.iter().all(same))
    }

    /// Whether memory will be rebound, as far as is known before there is a device.
    pub fn may_rebind(&self) -> bool {
        match self.options.memory {
            crate::options::MemoryMode::Auto => self.is_foreign() == Some(true),
            mode => mode == crate::options::MemoryMode::Rebind,
        }
    }

    /// What the user chose.
    pub fn options(&self) -> &Options {
        &self.options
    }

    /// Compares all that the capture asks for with the device; refuses what is not here. False if the device that the
    /// capture uses has not been enumerated yet (programs look around with an instance of its own first).
    pub fn compare(
        &mut self,
        asked: &crate::preflight::asked::Asked,
        used: impl FnOnce() -> crate::preflight::used::Used,
    ) -> Result<bool> {
        let id = asked.devices.first().map_or(0, |d| d.gpu);
        let Some(gpu) = self.gpus.get(&id).cloned() else { return Ok(false) };
        let Some(instance) = self.instances.get(&gpu.instance) else { return Ok(false) };
        let (prologue, options) = (&self.prologue, &self.options);
        let (mut lines, samples, realigned) =
            portability::table(&self.entry, &instance.ash, &gpu, asked, prologue, options)?;
        self.samples = samples;
        // What commands write to a buffer is copied out of it.
        self.needs.transfer_src |= !realigned.is_empty();
        self.realigned = realigned;
        self.unused = portability::forgive(&mut lines, asked, used);
        self.whole_table = true;
        self.captured_families.clone_from(&asked.families);
        self.negotiation = lines;
        portability::refuse(&self.negotiation, &gpu)?;
        Ok(true)
    }

    /// The only device, or the one with this captured id.
    pub fn device(&self, id: u64) -> Result<&DeviceState> {
        self.devices.get(&id).ok_or_else(|| {
            Error::divergence(format!("VkDevice {id} was never created, or is already destroyed"))
        })
    }

    /// The device with this captured id, to change: copies out of its memory use a staging buffer of its own.
    pub fn device_mut(&mut self, id: u64) -> Result<&mut DeviceState> {
        self.devices.get_mut(&id).ok_or_else(|| {
            Error::divergence(format!("VkDevice {id} was never created, or is already destroyed"))
        })
    }

    /// Waits on the GPU for what the last present waited for; whoever reads what was presented does so first.
    pub fn finish_present(&mut self) -> Result<()> {
        swapchain::settle(self)
    }

    /// Where a captured device address is here, if that is known.
    pub fn translate(&self, captured: u64) -> Option<u64> {
        self.addresses.known(captured)
    }
    /// Addresses passed to the driver that no known range holds.
    pub fn unknown_addresses(&self) -> u64 {
        self.addresses.unknown.get()
    }
    /// Devices by captured id.
    pub fn devices(&self) -> impl Iterator<Item = (u64, &DeviceState)> {
        self.devices.iter().map(|(&id, d)| (id, d))
    }
    /// A function of an instance by its name, for extensions that `ash` does not know.
    pub fn instance_function(
        &self,
        instance: &ash::Instance,
        name: &std::ffi::CStr,
    ) -> Option<unsafe extern "system" fn()> {
        // SAFETY: a live instance and a C string.
        unsafe { self.entry.get_instance_proc_addr(instance.handle(), name.as_ptr()) }
    }
    /// The instance that a device was made from.
    pub fn instance_of(&self, device: u64) -> Option<&ash::Instance> {
        let d = self.devices.get(&device)?;
        self.instances.get(&d.instance_id).map(|i| &i.ash)
    }
    /// Physical devices by captured id.
    pub fn gpu(&self, id: u64) -> Option<&Gpu> {
        self.gpus.get(&id)
    }
    /// Instances by captured id.
    pub fn instance(&self, id: u64) -> Option<&ash::Instance> {
        self.instances.get(&id).map(|i| &i.ash)
    }
    /// A module without the capabilities that it declares, no shader of the capture uses, and this device lacks; none if
    /// it has no such, or cannot be read.
    pub fn without_unused(&self, words: &[u32]) -> Option<Vec<u32>> {
        if self.unused.is_empty() {
            return None;
        }
        let words = pointers::Checked::new(words).ok()?;
        pointers::without(words, &self.unused.capabilities, &self.unused.spirv_extensions)
    }
    /// A queue family here, by the captured one.
    pub fn queue_family(&self, device: u64, captured: u32) -> u32 {
        self.devices.get(&device).map_or(captured, |d| d.folding.family(captured))
    }
    /// Queues by captured id.
    pub fn queue(&self, id: u64) -> Option<&QueueState> {
        self.queues.get(&id)
    }
    /// Images by captured id.
    pub fn image(&self, id: u64) -> Option<&ImageState> {
        self.images.get(&id)
    }
    /// Buffers by captured id.
    pub fn buffer(&self, id: u64) -> Option<&BufferState> {
        self.buffers.get(&id)
    }
    /// Swapchains by captured id.
    pub fn swapchain(&self, id: u64) -> Option<&SwapchainState> {
        self.swapchains.get(&id)
    }
}

impl Backend for Vulkan {
    fn name(&self) -> &'static str {
        "vulkan"
    }

    fn limits(&self) -> Option<&vk::PhysicalDeviceLimits> {
        self.devices.values().next().map(|d| &d.gpu.properties.limits)
    }

    fn answer(&mut self, objects: &mut Objects, call: &Call, report: &mut Report) -> Result<Option<Outcome>> {
        match self.handlers.of(call.index) {
            Handler::Captured => Ok(Some(Outcome::captured(call))),
            Handler::Answer(f) => f(self, objects, call, report),
            _ => Ok(None),
        }
    }

    fn link(&mut self, objects: &Objects, call: &Call, linked: &mut Linked) -> Result<()> {
        let lenience = self.handlers.lenience(call.index);
        linked.link(&call.image, objects, lenience, |a| self.addresses.map(a))?;
        linked.stamp(call.command, &call.image);
        if !self.unused.is_empty() {
            portability::strip(self, call, linked);
        }
        if !self.realigned.is_empty() {
            portability::realign(self, objects.world(), call, linked);
        }
        if self.folded || !self.samples.is_empty() {
            portability::exchange(self, objects, call, linked);
        }
        if let Some(slot) = self.handlers.allocator_slot(call.index) {
            linked.set_arg(slot, 0);
        }
        Ok(())
    }

    fn invoke(
        &mut self,
        objects: &mut Objects,
        call: &Call,
        linked: &mut Linked,
        report: &mut Report,
    ) -> Result<Outcome> {
        let more = match order::before(&mut self.order, objects, call) {
            Ok(more) => more,
            Err(e) => return Err(self.refused(e, objects, call, linked, report)),
        };
        let outcome = match self.handlers.of(call.index) {
            Handler::Typed(f) => f(self, objects, call, linked, report),
            _ => self.raw(call, linked, report),
        };
        if !self.realigned.is_empty() && outcome.is_ok() {
            portability::recorded(self, objects, call, linked);
        }
        if more && let Ok(outcome) = &outcome {
            order::after(&mut self.order, objects, call, *outcome);
        }
        outcome
    }

    fn left_out(&mut self, objects: &mut Objects, call: &Call) {
        order::left_out(&mut self.order, objects, call);
    }

    fn meta(&mut self, objects: &mut Objects, meta: &mut MetaBlock<'_>, report: &mut Report) -> Result<()> {
        init::meta(self, objects, meta, report)
    }

    fn state(&mut self, objects: &mut Objects, begins: bool, report: &mut Report) -> Result<()> {
        if begins { Ok(()) } else { init::state_ends(self, objects, report) }
    }

    fn frame(&mut self, _frame: Frame) -> Result<()> {
        Ok(())
    }

    fn finish(&mut self, report: &mut Report) -> Result<()> {
        swapchain::settle(self)?;
        if self.held.len() > 0 {
            report.note("submissions that wait for what nothing signals: not made");
        }
        for d in self.devices.values() {
            d.wait_idle()?;
        }
        ray::collect(self)?;
        report.validation.extend(self.messages.take());
        Ok(())
    }

    fn give_back(&mut self, objects: &mut Objects) {
        cleanup::give_back(self, objects);
    }

    fn in_flight(&mut self) -> Vec<InFlight> {
        watchdog::in_flight(self)
    }

    fn as_any(&mut self) -> Option<&mut dyn std::any::Any> {
        Some(self)
    }
}

impl dyn Backend {
    /// The Vulkan backend, if it is one: hooks that need a device ask for it.
    pub fn vulkan(&mut self) -> Option<&mut Vulkan> {
        self.as_any()?.downcast_mut()
    }
}

impl Drop for Vulkan {
    /// A device that is still there (`cleanup.rs` says when) dies with the process, as others' objects may be on it.
    fn drop(&mut self) {
        for d in self.devices.values().filter(|_| !self.abandoned) {
            let _ = d.wait_idle();
        }
    }
}

/// `Ok` or our own driver error.
pub(crate) trait Vk<T> {
    /// Names the call that failed.
    fn what(self, call: &str) -> Result<T>;
}

impl<T> Vk<T> for ash::prelude::VkResult<T> {
    fn what(self, call: &str) -> Result<T> {
        self.map_err(|e: vk::Result| Error::driver(call, e))
    }
}

/// For handlers whose linking is lenient because some of their objects may be virtual: everything else must exist.
pub(crate) fn require_handles(objects: &Objects, call: &Call, virtual_ok: &[HandleId]) -> Result<()> {
    for h in call.image.handles.iter().filter(|h| !h.out && !h.lenient && !virtual_ok.contains(&h.ty)) {
        let id = call.image.u64(h.at);
        if objects.get(id, h.ty).is_none_or(|e| e.virt) {
            let name = gfxr_parse::schema::generated::HANDLES[h.ty as usize].name;
            return Err(Error::divergence(format!("{name} {id} was never created, or is already destroyed")));
        }
    }
    Ok(())
}
