//! Counters from VK_ARM_shader_instrumentation: each draw, dispatch and trace with the driver's own metrics.
//!
//! Every pipeline and shader object is created with the flag; each recording of a command buffer has instrumentation
//! objects of its own, active around each of its action commands, so that no rule about passes and secondary command
//! buffers can be broken; the driver's result indices become those of the recording's actions. At a frame's end the device is waited for; what the
//! objects hold is read and cleared. Guarantees: no shader is rewritten; where a metric's array grows while it is read it is
//! read again. Refuses a device without the extension (`--counters portable` does without). What a command buffer that is
//! submitted several times in a frame leaves is a sum, as the extension has it; table `actions` says of how many.

mod abi;
mod device;

use super::actions::{Actions, Place};
use super::pipeline_flags::{self, CREATE};
use super::put::{Put, WantsFrame};
use crate::passes::counters::source::{CounterSource, Metric, Results, write_metrics, write_results};
use device::Functions;
use gfxr_parse::ahead::Call;
use replay::ash::vk::{self, Handle};
use replay::error::{Error, Kind, Result};
use replay::exec::Executor;
use replay::hook::{Commands, Feature, Hook, Needs, Next};
use replay::link::Linked;
use std::cell::RefCell;
use std::collections::HashMap;
use std::rc::Rc;
use trace::{Table, Value};
use world::objects::BindPoint;
use world::{Depth, Frame, Outcome};

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

/// An instrumentation object, and the actions that it was active around: the driver counts these from 0.
struct Object {
    device: u64,
    handle: u64,
    actions: Vec<u32>,
    /// The replay may have put commands of its own before the one action, which take indices, too.
    alone: bool,
}

/// The driver, as somebody who counts.
struct Source<'s> {
    functions: &'s Functions,
    objects: &'s HashMap<u64, Vec<Object>>,
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
        let mut all = Vec::new();
        for o in self.objects.get(&range).into_iter().flatten() {
            for r in self.functions.values(o.handle)? {
                // Commands of the replay's own are not instrumented: they have no values.
                let at = if o.alone { 0 } else { r.result_index as usize };
                let Some(&result_index) = o.actions.get(at) else {
                    let text = format!("the driver has values of action {at}, of {}", o.actions.len());
                    return Err(Error::new(Kind::Unsupported, text));
                };
                all.push(Results { result_index, ..r });
            }
        }
        Ok(all)
    }
}

/// See the module's header.
pub struct ArmCountersHook {
    out: Put,
    wants_frame: WantsFrame,
    actions: Actions,
    /// Instrumentation objects by recording.
    objects: HashMap<u64, Vec<Object>>,
    devices: HashMap<u64, Functions>,
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
            notes: notes.clone(),
        };
        (hook, notes)
    }

    /// The instrumentation object of an action of a recording: one for all of them, and one for each trace of rays, before
    /// which the replay may record commands of its own.
    fn object(&mut self, cx: &mut Executor, of: Place, action: u32, alone: bool) -> Result<Option<u64>> {
        let Place { range, device, .. } = of;
        if let Some(o) = self.objects.entry(range).or_default().iter_mut().find(|o| !o.alone && !alone) {
            o.actions.push(action);
            return Ok(Some(o.handle));
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
        let new = Object { device, handle: object, actions: vec![action], alone };
        self.objects.entry(range).or_default().push(new);
        Ok(Some(object))
    }

    /// Reads and clears what a frame left.
    fn read(&mut self, frame: u64, wanted: bool) -> Result<()> {
        let mut failed = Ok(());
        for r in self.actions.executed().filter(|r| !r.actions.is_empty()) {
            let mut put = |t: &'static Table, v: &[Value<'_>]| {
                if failed.is_ok() {
                    failed = (self.out)(t, v);
                }
            };
            let Some(objects) = self.objects.get(&r.range) else { continue };
            let Some(functions) = self.devices.get(&r.device) else { continue };
            if wanted {
                r.put(frame, &mut put);
                let source = Source { functions, objects: &self.objects };
                write_results(&source, frame, r.range, &mut put)?;
            }
            objects.iter().for_each(|o| functions.clear(o.handle));
        }
        failed
    }

    fn forget(&mut self, ranges: impl IntoIterator<Item = u64>) {
        for range in ranges {
            for o in self.objects.remove(&range).unwrap_or_default() {
                if let Some(f) = self.devices.get(&o.device) {
                    f.destroy(o.handle);
                }
            }
        }
    }

    fn device_goes(&mut self, cx: &mut Executor, device: u64, frame: u64) -> Result<()> {
        let Some(vk) = cx.backend.vulkan() else { return Ok(()) };
        let Ok(d) = vk.device(device) else { return Ok(()) };
        d.wait_idle()?;
        self.read(frame, (self.wants_frame)(frame))?;
        let gone = self.actions.device_gone(device);
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

    fn follows(&self) -> Depth {
        Depth::Commands
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
        let Some((point, of, action)) = self.actions.see(&cx.objects, call) else {
            return next.run(cx, call);
        };
        let live = vk::CommandBuffer::from_raw(cx.objects.live(of.buffer));
        let object = self.object(cx, of, action, point == BindPoint::RayTracing)?;
        let Some(object) = object.filter(|_| !live.is_null()) else { return next.run(cx, call) };
        self.devices[&of.device].begin(live, object);
        let outcome = next.run(cx, call);
        self.devices[&of.device].end(live);
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
                pipeline_flags::add(call, linked, abi::INSTRUMENT_PIPELINE);
                Ok(())
            }
        }
    }

    fn frame(&mut self, cx: &mut Executor, frame: Frame) -> Result<()> {
        let Some(vk) = cx.backend.vulkan() else { return Ok(()) };
        for &device in self.devices.keys() {
            vk.device(device)?.wait_idle()?;
        }
        self.read(frame.number, (self.wants_frame)(frame.number))?;
        let gone = self.actions.restart(cx.objects.world());
        self.forget(gone);
        Ok(())
    }

    fn finish(&mut self, cx: &mut Executor) -> Result<()> {
        // Devices that are still there are idle; objects of those that are gone went with them.
        if let Some(vk) = cx.backend.vulkan() {
            self.objects.values_mut().for_each(|o| o.retain(|o| vk.device(o.device).is_ok()));
            let ranges: Vec<u64> = self.objects.keys().copied().collect();
            self.forget(ranges);
        }
        self.notes.borrow_mut().extend(self.actions.notes());
        Ok(())
    }
}
