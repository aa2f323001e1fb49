//! Function pointers by command, loaded when first called: by its name, or by another name of the same command (core, KHR,
//! EXT) where the driver has only that.
//!
//! With one device its own pointers are used; with several the loader's trampolines, which find the device from the
//! first argument.

use crate::generated::Command;
use ash::vk::{self, Handle};
use gfxr_parse::schema::generated::COMMANDS;
use gfxr_parse::schema::{CommandDef, Dispatch};
use std::ffi::CString;

#[derive(Clone, Copy)]
enum Slot {
    Unknown,
    Missing,
    At(Command),
}

/// See the module's header.
pub struct Table {
    slots: Vec<Slot>,
    instance: u64,
    device: Option<u64>,
}

impl Default for Table {
    fn default() -> Self {
        Table { slots: vec![Slot::Unknown; COMMANDS.len()], instance: 0, device: None }
    }
}

impl Table {
    /// Another instance or another set of devices: forget everything.
    pub fn reset(&mut self, instance: u64, device: Option<u64>) {
        *self = Table { instance, device, ..Table::default() };
    }

    /// The live instance and device pointers come from.
    pub fn source(&self) -> (u64, Option<u64>) {
        (self.instance, self.device)
    }

    /// The command's function, if the driver has it.
    #[inline]
    pub fn get(&mut self, entry: &ash::Entry, c: &CommandDef, index: usize) -> Option<Command> {
        match self.slots[index] {
            Slot::At(f) => Some(f),
            Slot::Missing => None,
            Slot::Unknown => self.load(entry, c, index),
        }
    }

    #[cold]
    fn load(&mut self, entry: &ash::Entry, c: &CommandDef, index: usize) -> Option<Command> {
        let same = |d: &&CommandDef| d.canonical == c.canonical && d.abi == c.abi && d.name != c.name;
        let others = || COMMANDS.iter().filter(same).find_map(|d| self.find(entry, d));
        let f = self.find(entry, c).or_else(others);
        self.slots[index] = f.map_or(Slot::Missing, Slot::At);
        f
    }

    fn find(&self, entry: &ash::Entry, c: &CommandDef) -> Option<Command> {
        let name = CString::new(c.name).expect("command names hold no zero");
        let instance = if c.dispatch == Dispatch::Global { 0 } else { self.instance };
        // SAFETY: the instance and device are alive (the table is reset when they go) and the name is a C string.
        unsafe {
            match (c.dispatch, self.device) {
                (Dispatch::Device, Some(device)) => {
                    let get = entry.get_instance_proc_addr(
                        vk::Instance::from_raw(self.instance),
                        c"vkGetDeviceProcAddr".as_ptr(),
                    );
                    let get: Option<vk::PFN_vkGetDeviceProcAddr> = std::mem::transmute(get);
                    get.and_then(|get| get(vk::Device::from_raw(device), name.as_ptr()))
                }
                _ => entry.get_instance_proc_addr(vk::Instance::from_raw(instance), name.as_ptr()),
            }
        }
    }
}
