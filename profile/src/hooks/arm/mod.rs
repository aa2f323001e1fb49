//! Counters from VK_ARM_shader_instrumentation: each draw, dispatch and trace with the driver's own metrics.
//!
//! Every pipeline and shader object is created with the flag; each recording of a command buffer has an instrumentation
//! object of its own, active around each of its action commands, so that a result index counts the recording's actions and
//! no rule about passes and secondary command buffers can be broken. At a frame's end the device is waited for; what the
//! objects hold is read and cleared. Guarantees: no shader is rewritten; where a metric's array grows while it is read it is
//! read again. Refuses a device without the extension (`--counters portable` does without). What a command buffer that is
//! submitted several times in a frame leaves is a sum, as the extension has it; table `actions` says of how many.

mod abi;
mod device;

use super::actions::{Actions, Seen};
use super::pipeline_flags::{self, CREATE, Kept};
use crate::passes::counters::source::{CounterSource, Metric, Results, write_metrics, write_results};
use device::Functions;
use replay::ash::vk::{self, Handle};
use replay::error::{Error, Kind, Result};
use replay::exec::{Call, Executor, Outcome};
use replay::hook::{Commands, Feature, Frame, Hook, Needs, Next};
use replay::link::Linked;
use std::cell::RefCell;
use std::collections::HashMap;
use std::rc::Rc;
use trace::{Table, Value};

/// What a device has to have: the extension, and flags of more than 32 bits.
pub const FEATURES: [Feature; 2] = [
    Feature {
        structure: "VkPhysicalDeviceShaderInstrumentationFeaturesARM",
        member: "shaderInstrumentation",
        extension: "VK_ARM_shader_instrumentation",
        core: 0,
    },
    Feature {
        structure: "VkPhysicalDeviceMaintenance5Features",
        member: "maintenance5",
        extension: "VK_KHR_maintenance5",
        core: vk::make_api_version(0, 1, 4, 0),
    },
];

/// Takes records.
pub type Put = Box<dyn FnMut(&'static Table, &[Value<'_>]) -> Result<()>>;

/// Chooses frames.
pub type WantsFrame = Box<dyn Fn(u64) -> bool>;

/// The driver, as somebody who counts.
struct Source<'s> {
    functions: &'s Functions,
    objects: &'s HashMap<u64, (u64, u64)>,
}

impl CounterSource for Source<'_> {
    type Error = Error;

    fn name(&self) -> &'static str {
        "arm"
    }

    fn metrics(&self) -> Vec<Metric> {
        self.functions.metrics().to_vec()
    }

    fn results(&self, range: u64) -> Result<Vec<Results>> {
        self.objects.get(&range).map_or(Ok(vec![]), |o| self.functions.values(o.1))
    }
}

/// See the module's header.
pub struct ArmCountersHook {
    out: Put,
    wants_frame: WantsFrame,
    actions: Actions,
    /// Instrumentation objects by recording: device, handle.
    objects: HashMap<u64, (u64, u64)>,
    devices: HashMap<u64, Functions>,
    kept: Kept,
    notes: Rc<RefCell<Vec<String>>>,
}

impl ArmCountersHook {
    /// One that hands records on; and what it has to say at the end.
    pub fn new(out: Put, wants_frame: WantsFrame) -> (Self, Rc<RefCell<Vec<String>>>) {
        let notes = Rc::new(RefCell::new(Vec::new()));
        let hook = ArmCountersHook {
            out,
            wants_frame,
            actions: Actions::default(),
            objects: HashMap::new(),
            devices: HashMap::new(),
            kept: Kept::default(),
            notes: notes.clone(),
        };
        (hook, notes)
    }

    /// The instrumentation object of a command buffer's recording, made when it is first needed.
    fn object(&mut self, cx: &mut Executor, buffer: u64) -> Result<Option<(u64, u64)>> {
        let Some(r) = self.actions.of(buffer) else { return Ok(None) };
        let (range, device) = (r.range, r.device);
        if let Some(found) = self.objects.get(&range) {
            return Ok(Some(*found));
        }
        if !self.devices.contains_key(&device) {
            let Some(vk) = cx.backend.vulkan() else { return Ok(None) };
            let functions = Functions::new(vk, device)?;
            let mut failed = Ok(());
            let source = Source { functions: &functions, objects: &self.objects };
            write_metrics(&source, &mut |t, v| {
                if failed.is_ok() {
                    failed = (self.out)(t, v);
                }
            });
            failed?;
            self.devices.insert(device, functions);
        }
        let object = self.devices[&device].create()?;
        self.objects.insert(range, (device, object));
        Ok(Some((device, object)))
    }

    /// Reads and clears what a frame left.
    fn read(&mut self, frame: u64, wanted: bool) -> Result<()> {
        let mut failed = Ok(());
        for r in self.actions.all().into_iter().filter(|r| r.executions > 0 && !r.actions.is_empty()) {
            let mut put = |t: &'static Table, v: &[Value<'_>]| {
                if failed.is_ok() {
                    failed = (self.out)(t, v);
                }
            };
            let Some(&(device, object)) = self.objects.get(&r.range) else { continue };
            let Some(functions) = self.devices.get(&device) else { continue };
            if wanted {
                r.put(frame, &mut put);
                let source = Source { functions, objects: &self.objects };
                write_results(&source, frame, r.range, &mut put)?;
            }
            functions.clear(object);
        }
        failed
    }

    fn forget(&mut self, ranges: impl IntoIterator<Item = u64>) {
        for range in ranges {
            if let Some((device, object)) = self.objects.remove(&range)
                && let Some(f) = self.devices.get(&device)
            {
                f.destroy(object);
            }
        }
    }

    fn device_goes(&mut self, cx: &mut Executor, device: u64, frame: u64) -> Result<()> {
        let Some(vk) = cx.backend.vulkan() else { return Ok(()) };
        let Ok(d) = vk.device(device) else { return Ok(()) };
        d.wait_idle()?;
        self.read(frame, (self.wants_frame)(frame))?;
        let gone: Vec<u64> = self.actions.device_gone(device).iter().map(|r| r.range).collect();
        self.forget(gone);
        self.devices.remove(&device);
        Ok(())
    }
}

impl Hook for ArmCountersHook {
    fn name(&self) -> &'static str {
        "arm-counters"
    }

    fn needs(&self) -> Needs {
        Needs { features: FEATURES.to_vec(), api: vk::API_VERSION_1_1, ..Needs::default() }
    }

    fn wants(&self) -> Commands {
        Commands::named(&[&Actions::wants()[..], &["vkDestroyDevice"]].concat())
    }

    fn wants_linked(&self) -> Commands {
        Commands::named(&[&CREATE[..], &["vkCreateDevice", "vkCreateShadersEXT"]].concat())
    }

    fn call(&mut self, cx: &mut Executor, call: &mut Call, next: Next) -> Result<Outcome> {
        if call.command.name == "vkDestroyDevice" {
            self.device_goes(cx, call.image.u64(0), call.frame)?;
            return next.run(cx, call);
        }
        let Seen::Action(_) = self.actions.see(call) else { return next.run(cx, call) };
        let buffer = call.image.u64(0);
        let live = cx.objects.any(buffer).map(|e| vk::CommandBuffer::from_raw(e.live));
        let (Some(live), Some((device, object))) = (live, self.object(cx, buffer)?) else {
            return next.run(cx, call);
        };
        self.devices[&device].begin(live, object);
        let outcome = next.run(cx, call);
        self.devices[&device].end(live);
        outcome
    }

    fn linked(&mut self, cx: &mut Executor, call: &Call, linked: &mut Linked) -> Result<()> {
        match call.command.name {
            "vkCreateDevice" => {
                let Some(vk) = cx.backend.vulkan() else { return Ok(()) };
                let gpu = call.image.u64(0);
                let missing = vk.lacks(gpu, &FEATURES);
                if missing.is_empty() {
                    return Ok(());
                }
                let name = vk.gpu(gpu).map_or_else(String::new, |g| g.name());
                let names: Vec<&str> = missing.iter().map(|f| f.extension).collect();
                let text = format!(
                    "{name} lacks {}, which --counters arm asks for; --counters portable counts with shaders of our own",
                    names.join(", ")
                );
                Err(Error::new(Kind::Unsupported, text))
            }
            "vkCreateShadersEXT" => {
                pipeline_flags::add_to_objects(linked, abi::INSTRUMENT_SHADER);
                Ok(())
            }
            _ => {
                pipeline_flags::add(call, linked, abi::INSTRUMENT_PIPELINE, &mut self.kept);
                Ok(())
            }
        }
    }

    fn invoked(&mut self, _: &mut Executor, _: &Call, _: &mut Linked, _: u64) -> Result<()> {
        self.kept.clear();
        Ok(())
    }

    fn frame(&mut self, cx: &mut Executor, frame: Frame) -> Result<()> {
        let Some(vk) = cx.backend.vulkan() else { return Ok(()) };
        for &device in self.devices.keys() {
            vk.device(device)?.wait_idle()?;
        }
        self.read(frame.number, (self.wants_frame)(frame.number))?;
        let gone: Vec<u64> = self.actions.restart().iter().map(|r| r.range).collect();
        self.forget(gone);
        Ok(())
    }

    fn finish(&mut self, cx: &mut Executor) -> Result<()> {
        // Devices that are still there are idle; objects of those that are gone went with them.
        if let Some(vk) = cx.backend.vulkan() {
            self.objects.retain(|_, o| vk.device(o.0).is_ok());
            let ranges: Vec<u64> = self.objects.keys().copied().collect();
            self.forget(ranges);
        }
        self.notes.borrow_mut().extend(self.actions.notes());
        Ok(())
    }
}
