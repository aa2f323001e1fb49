//! Hooks: what may stand between the capture's calls and the driver.
//!
//! An onion: a hook's [`Hook::call`] runs `next` zero, one or several times, so that a call it injects passes only the
//! stages further in. [`Hook::linked`] and [`Hook::invoked`] stand directly around the driver, where arguments are live
//! addresses: timestamps go there, so that nobody times another hook's work. A hook's own objects go straight to `ash`
//! and never enter the object table.

use crate::error::{Error, Result};
use crate::exec::Executor;
use crate::link::Linked;
use crate::report::InFlight;
use gfxr_parse::ahead::Call;
use gfxr_parse::schema::{CommandDef, command_named, generated::COMMANDS};
use world::{Depth, Frame, MetaBlock, Outcome};

/// What a hook asks of the device, merged once before vkCreateDevice.
#[derive(Clone, Debug, Default)]
pub struct Needs {
    /// Device extensions by name; a missing one refuses the plan.
    pub device_extensions: Vec<&'static str>,
    /// Device extensions that are used where they are.
    pub optional_device_extensions: Vec<&'static str>,
    /// Instance extensions by name.
    pub instance_extensions: Vec<&'static str>,
    /// Images and buffers need to be copied from.
    pub transfer_src: bool,
    /// Images and buffers need to be copied from and to, as far as the device can.
    pub restorable: bool,
    /// Pipeline statistics, as far as the device has them.
    pub statistics: bool,
    /// Features that it cannot do without. They are turned on unasked: the hook asks the device for them first
    /// ([`crate::vulkan::Vulkan::lacks`]) and refuses one that lacks any.
    pub features: Vec<Feature>,
    /// Features that are turned on where the device has them.
    pub optional_features: Vec<Feature>,
    /// The Vulkan version that instances are made for, where the application asks for less.
    pub api: u32,
}

/// A feature of a device.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Feature {
    /// The struct that has it: `VkPhysicalDeviceFeatures` for those of Vulkan 1.0.
    pub structure: &'static str,
    /// Its name there.
    pub member: &'static str,
    /// The extension that brings the struct; empty where none does.
    pub extension: &'static str,
    /// The Vulkan version that needs no extension for it; 0 if none does.
    pub core: u32,
}

impl Needs {
    /// What another hook asks for, too.
    pub fn add(&mut self, other: Needs) {
        self.device_extensions.extend(other.device_extensions);
        self.optional_device_extensions.extend(other.optional_device_extensions);
        self.instance_extensions.extend(other.instance_extensions);
        self.transfer_src |= other.transfer_src;
        self.restorable |= other.restorable;
        self.statistics |= other.statistics;
        for (all, more) in
            [(&mut self.features, other.features), (&mut self.optional_features, other.optional_features)]
        {
            more.into_iter().for_each(|f| {
                if !all.contains(&f) {
                    all.push(f);
                }
            });
        }
        self.api = self.api.max(other.api);
    }
}

/// Which commands a hook sees. The others cost it nothing.
#[derive(Clone, Debug, Default)]
pub struct Commands {
    bits: Vec<u64>,
}

impl Commands {
    /// None.
    pub fn none() -> Self {
        Self::default()
    }
    /// All.
    pub fn all() -> Self {
        Commands { bits: vec![u64::MAX; COMMANDS.len().div_ceil(64)] }
    }
    /// These; a name the schema does not have is a bug and panics.
    pub fn named(names: &[&str]) -> Self {
        let mut c = Commands { bits: vec![0; COMMANDS.len().div_ceil(64)] };
        for n in names {
            let i = index_of(command_named(n).unwrap_or_else(|| panic!("{n} is not in the schema")));
            c.bits[i / 64] |= 1 << (i % 64);
        }
        c
    }
    /// Whether it sees the command with this index.
    pub fn has(&self, index: usize) -> bool {
        self.bits.get(index / 64).is_some_and(|w| w >> (index % 64) & 1 != 0)
    }
}

/// A command's index in the schema's table.
pub fn index_of(c: &'static CommandDef) -> usize {
    COMMANDS.binary_search_by_key(&c.id, |d| d.id).expect("it is from the table")
}

/// The rest of the chain.
#[derive(Clone, Copy)]
pub struct Next(pub(crate) usize);

impl Next {
    /// Runs the call through the stages further in.
    pub fn run(self, cx: &mut Executor, call: &mut Call) -> Result<Outcome> {
        cx.run_from(self.0, call)
    }
}

/// See the module's header.
pub trait Hook {
    /// Its name, for messages.
    fn name(&self) -> &'static str;
    /// What it asks of the device.
    fn needs(&self) -> Needs {
        Needs::default()
    }
    /// How deep it looks into [`crate::objects::Objects::world`].
    fn follows(&self) -> Depth {
        Depth::default()
    }
    /// Which commands go through [`Hook::call`].
    fn wants(&self) -> Commands {
        Commands::none()
    }
    /// Which commands go through [`Hook::linked`] and [`Hook::invoked`].
    fn wants_linked(&self) -> Commands {
        Commands::none()
    }
    /// Sees a call before it is linked; must run `next` for it to happen.
    fn call(&mut self, cx: &mut Executor, call: &mut Call, next: Next) -> Result<Outcome> {
        next.run(cx, call)
    }
    /// Sees a metadata block before the backend does: what a mapping was filled with, what a snapshot's resources hold.
    fn meta(&mut self, _cx: &mut Executor, _block: &MetaBlock<'_>) -> Result<()> {
        Ok(())
    }
    /// Directly before the driver is called; may change arguments.
    fn linked(&mut self, _cx: &mut Executor, _call: &Call, _linked: &mut Linked) -> Result<()> {
        Ok(())
    }
    /// Directly after.
    fn invoked(&mut self, _cx: &mut Executor, _call: &Call, _linked: &mut Linked, _ret: u64) -> Result<()> {
        Ok(())
    }
    /// An iteration of a looped frame begins: the devices are idle, nothing is timed yet.
    fn frame_begins(&mut self, _cx: &mut Executor) -> Result<()> {
        Ok(())
    }
    /// A frame has ended.
    fn frame(&mut self, _cx: &mut Executor, _frame: Frame) -> Result<()> {
        Ok(())
    }
    /// The replay stops early. What of the device's work is not done, if the hook knows: with a hang or a lost device
    /// nothing may wait for it any more.
    fn stopped(&mut self, _cx: &mut Executor, _e: &Error) -> Vec<InFlight> {
        Vec::new()
    }
    /// The replay has ended; nothing more is called. Devices may already be gone.
    fn finish(&mut self, _cx: &mut Executor) -> Result<()> {
        Ok(())
    }
}
