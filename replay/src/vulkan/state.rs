//! What the Vulkan backend knows: the driver's objects by the capture's ids, and every part's state.
//!
//! Parts (`memory/`, `ray/`, `portability/` …) keep their own; here they are side by side, as handlers work on several. Our
//! own objects are made with `ash` directly and never enter the object table. Refuses nothing but a machine without Vulkan.

use super::addresses::Addresses;
use super::answered::may_be_missing;
use super::debug::Messages;
use super::descriptors::state::{Descriptors, Pools};
use super::driver;
use super::exact::Exact;
use super::gpu::Gpu;
use super::live::{
    BufferState, DeviceState, ImageState, InstanceState, Presented, QueueState, SwapchainState,
};
use super::patience::{Patience, patience_with};
use super::portability::descriptor_buffers::DescriptorBuffers;
use super::portability::samples::{self, Samples};
use super::portability::stand_ins::state::StandInImages;
use super::portability::unused::Unused;
use super::ray::state::{Ray, Structure};
use super::table::Table;
use super::watch::Watch;
use crate::backend::Backend;
use crate::error::{Error, Kind, Result};
use crate::hook::Needs;
use crate::link::Linked;
use crate::options::{Bridge, MemoryMode, Options};
use crate::preflight::prologue::Prologue;
use crate::report::{BridgeCost, Report};
use crate::under_way::{self, UnderWay};
use crate::vulkan::memory::state::Memories;
use crate::vulkan::portability::aligned::Realigned;
use crate::vulkan::portability::line::Line;
use crate::vulkan::portability::waiting::Held;
use crate::vulkan::shader_pointers::shaders::ShaderPointers;
use gfxr_parse::ahead::Call;
use gfxr_parse::schema::generated::COMMANDS;
use gfxr_parse::schema::{HandleId, handle_named};
use std::collections::{BTreeMap, HashMap, HashSet};
use world::{Ids, Outcome};

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
    pub(super) fn new() -> Self {
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
    /// How long the driver may have each command, by index.
    pub(super) patience: Vec<Patience>,
    pub(super) table: Table,
    pub(crate) instances: HashMap<u64, InstanceState>,
    pub(crate) gpus: HashMap<u64, Gpu>,
    pub(crate) devices: Ids<DeviceState>,
    pub(crate) queues: Ids<QueueState>,
    pub(crate) memory: Memories,
    /// Which resources shared memory at capture; of use where it is rebound.
    pub sharing: crate::preflight::sharing::Sharing,
    /// Where the capture's builds have their scratch memory; of use on another driver than the captured one.
    pub scratch: crate::preflight::scratch::Scratch,
    pub(crate) images: Ids<ImageState>,
    pub(crate) buffers: Ids<BufferState>,
    pub(crate) swapchains: Ids<SwapchainState>,
    /// A present's wait semaphores that nothing has waited for yet; see `swapchain.rs`.
    pub(crate) presented: Option<Presented>,
    pub(crate) addresses: Addresses,
    pub(crate) ray: Ray,
    pub(crate) exact: Exact,
    pub(crate) shader_pointers: ShaderPointers,
    pub(crate) descriptors: Descriptors,
    pub(crate) messages: Messages,
    pub(crate) watch: Watch,
    pub(super) under_way: &'static UnderWay,
    /// The device hangs or is lost: nothing waits for it any more.
    pub abandoned: bool,
    /// The negotiation was about all of the capture.
    pub(super) whole_table: bool,
    /// How many devices there were.
    pub(super) devices_made: u32,
    /// What no shader needs and this device lacks.
    pub(super) unused: Unused,
    pub(super) pools: Pools,
    pub(super) held: Held,
    /// Binary semaphores that others may signal and wait for, by captured ids.
    pub(super) shared_semaphores: HashSet<u64>,
    /// Calls name what is another here, or is not here: queue families, formats, numbers of samples, places of buffers, images,
    /// what is left out. Else no call is looked at for it.
    pub(super) differs: bool,
    /// Numbers of samples that are others here.
    pub(super) samples: Samples,
    /// Images of formats that this device lacks.
    pub(super) stand_ins: StandInImages,
    /// Descriptor buffers that this device reads elsewhere.
    pub(super) descriptor_buffers: DescriptorBuffers,
    /// Buffers whose uniform descriptors name a copy.
    pub(super) realigned: Realigned,
    /// What bridges took so far.
    pub(super) bridges: BTreeMap<Bridge, BridgeCost>,
    /// Captured images that cannot be made here and are only asked about: the capture answers what names them.
    pub(super) unmade: HashSet<u64>,
    /// Flags of the captured devices' queue families, by physical device, where the capture says.
    pub(super) captured_families: HashMap<u64, Vec<u32>>,
    /// Modules without that, for the call under way.
    pub(super) stripped: Vec<Vec<u32>>,
    /// What the negotiation decided, for `-v` and the JSON.
    pub negotiation: Vec<Line>,
    /// Name of the physical device the latest device was made on.
    pub last_gpu: Option<String>,
    /// The memory mode in force, once a device exists.
    pub memory_mode: Option<MemoryMode>,
}

impl Vulkan {
    /// What a bridge took so far.
    pub(super) fn cost(&mut self, bridge: Bridge) -> &mut BridgeCost {
        self.bridges.entry(bridge).or_default()
    }

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
            types: Types::new(),
            patience: COMMANDS.iter().map(patience_with).collect(),
            table: Table::default(),
            instances: HashMap::new(),
            gpus: HashMap::new(),
            devices: Ids::default(),
            queues: Ids::default(),
            memory: Memories::default(),
            sharing: Default::default(),
            scratch: Default::default(),
            images: Ids::default(),
            buffers: Ids::default(),
            swapchains: Ids::default(),
            presented: None,
            addresses: Addresses::default(),
            ray: Ray::default(),
            exact: Exact::default(),
            shader_pointers: ShaderPointers::default(),
            descriptors: Descriptors::default(),
            messages: Messages::default(),
            watch: Watch::default(),
            under_way: under_way::here(),
            abandoned: false,
            whole_table: false,
            devices_made: 0,
            unused: Default::default(),
            pools: Pools::default(),
            held: Held::default(),
            shared_semaphores: HashSet::new(),
            differs: needs.one_sample,
            samples: if needs.one_sample { samples::one() } else { Samples::new() },
            needs,
            stand_ins: StandInImages::default(),
            descriptor_buffers: DescriptorBuffers::default(),
            realigned: Default::default(),
            unmade: Default::default(),
            bridges: Default::default(),
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
            if may_be_missing(call.command.name) {
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
        let ret = match self.patience[call.index] {
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
            MemoryMode::Auto => self.is_foreign() == Some(true) || self.options.rehearse.compression,
            mode => mode == MemoryMode::Rebind,
        }
    }

    /// What the user chose.
    pub fn options(&self) -> &Options {
        &self.options
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
    /// Acceleration structures by captured id.
    pub fn structure(&self, id: u64) -> Option<&Structure> {
        self.ray.structures.get(&id)
    }
    /// Swapchains by captured id.
    pub fn swapchain(&self, id: u64) -> Option<&SwapchainState> {
        self.swapchains.get(&id)
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

impl dyn Backend {
    /// The Vulkan backend, if it is one: hooks that need a device ask for it.
    pub fn vulkan(&mut self) -> Option<&mut Vulkan> {
        self.as_any()?.downcast_mut()
    }
}
