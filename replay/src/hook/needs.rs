//! What hooks ask of a device before there is one: extensions, features, uses of resources.
//!
//! Merged over all hooks, once, before vkCreateDevice. Refuses nothing: who makes the device says what it lacks.

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
    /// Attachments keep what passes leave in them, transient ones too, as far as the device has no memory that keeps nothing.
    pub kept_attachments: bool,
    /// Images and buffers need to be copied from and to, as far as the device can.
    pub restorable: bool,
    /// Images, render passes and pipelines have one sample for each pixel, whatever the capture says. The hook sees to what would be resolved.
    pub one_sample: bool,
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
        self.kept_attachments |= other.kept_attachments;
        self.restorable |= other.restorable;
        self.one_sample |= other.one_sample;
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
