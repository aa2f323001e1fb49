//! What the driver says of the pipelines that it compiled: VK_KHR_pipeline_executable_properties.
//!
//! Every pipeline is made with its statistics kept, and asked when it is there. Pipelines that were made of rewritten
//! modules say so ([`ExecutablesHook::instrumented`]): their numbers are those of the probes, too. Guarantees: whatever a
//! driver names is recorded as it names it. Refuses a device without the extension. Shader objects have no executables,
//! nor has a pipeline of NVIDIA's older ray-tracing extension that the driver does not report.

use super::pipeline_flags::{self, CREATE};
use super::put::Put;
use gfxr_parse::ahead::Call;
use replay::ash::{self, vk};
use replay::error::{Error, Kind, Result};
use replay::exec::Executor;
use replay::hook::{Commands, Feature, Hook, Needs};
use replay::link::Linked;
use std::collections::HashMap;
use std::ffi::{CStr, c_char};
use trace::{Value, tables};

/// The feature.
pub const FEATURE: Feature = Feature {
    structure: "VkPhysicalDevicePipelineExecutablePropertiesFeaturesKHR",
    member: "pipelineExecutableInfo",
    extension: "VK_KHR_pipeline_executable_properties",
    core: 0,
};

const STATISTICS: u64 = vk::PipelineCreateFlags::CAPTURE_STATISTICS_KHR.as_raw() as u64;

/// See the module's header.
pub struct ExecutablesHook {
    out: Put,
    /// Whether pipelines are made of rewritten modules.
    pub instrumented: bool,
    functions: HashMap<u64, ash::khr::pipeline_executable_properties::Device>,
}

impl ExecutablesHook {
    /// One that hands records on.
    pub fn new(out: Put, instrumented: bool) -> Self {
        ExecutablesHook { out, instrumented, functions: HashMap::new() }
    }

    fn pipeline(&mut self, device: u64, id: u64, live: vk::Pipeline, kind: &str) -> Result<()> {
        let Some(f) = self.functions.get(&device) else { return Ok(()) };
        let wrong = |what: &'static str| move |e| Error::driver(what, e);
        let info = vk::PipelineInfoKHR::default().pipeline(live);
        // SAFETY: a live pipeline that was made with its statistics kept, on a device with the feature.
        let all = unsafe { f.get_pipeline_executable_properties(&info) }
            .map_err(wrong("vkGetPipelineExecutablePropertiesKHR"))?;
        for (n, e) in all.iter().enumerate() {
            let info = vk::PipelineExecutableInfoKHR::default().pipeline(live).executable_index(n as u32);
            // SAFETY: as above; there are as many executables.
            let found = unsafe { f.get_pipeline_executable_statistics(&info) }
                .map_err(wrong("vkGetPipelineExecutableStatisticsKHR"))?;
            let (name, about) = (text(&e.name), text(&e.description));
            let mut put = |statistic: &str, statistic_about: &str, format: &str, value: f64| {
                (self.out)(
                    &tables::EXECUTABLES,
                    &[
                        Value::U64(id),
                        Value::Text(kind),
                        Value::U64(n as u64),
                        Value::Text(&name),
                        Value::Text(&about),
                        Value::U64(e.stages.as_raw().into()),
                        Value::U64(e.subgroup_size.into()),
                        Value::U64(self.instrumented.into()),
                        Value::Text(statistic),
                        Value::Text(statistic_about),
                        Value::Text(format),
                        Value::F64(value),
                    ],
                )
            };
            if found.is_empty() {
                put("", "", "", 0.0)?;
            }
            for s in &found {
                let (format, value) = value(s);
                put(&text(&s.name), &text(&s.description), format, value)?;
            }
        }
        Ok(())
    }
}

fn text(chars: &[c_char]) -> String {
    let bytes: Vec<u8> = chars.iter().map(|c| *c as u8).collect();
    CStr::from_bytes_until_nul(&bytes)
        .map_or_else(|_| String::from_utf8_lossy(&bytes).into_owned(), |c| c.to_string_lossy().into_owned())
}

/// Whole numbers beyond 2⁵³ lose their last digits: no register count comes near.
fn value(s: &vk::PipelineExecutableStatisticKHR<'_>) -> (&'static str, f64) {
    use vk::PipelineExecutableStatisticFormatKHR as F;
    // SAFETY: the format says which member was written.
    unsafe {
        match s.format {
            F::BOOL32 => ("bool", f64::from(u32::from(s.value.b32 != 0))),
            F::INT64 => ("i64", s.value.i64 as f64),
            F::UINT64 => ("u64", s.value.u64 as f64),
            _ => ("f64", s.value.f64),
        }
    }
}

impl Hook for ExecutablesHook {
    fn name(&self) -> &'static str {
        "executables"
    }

    fn needs(&self) -> Needs {
        Needs { features: vec![FEATURE], ..Needs::default() }
    }

    fn wants_linked(&self) -> Commands {
        Commands::named(&[&CREATE[..], &["vkCreateDevice", "vkDestroyDevice"]].concat())
    }

    fn linked(&mut self, cx: &mut Executor, call: &Call, linked: &mut Linked) -> Result<()> {
        match call.command.name {
            "vkCreateDevice" => {
                let Some(vk) = cx.backend.vulkan() else { return Ok(()) };
                let gpu = call.image.u64(0);
                if vk.lacks(gpu, &[FEATURE]).is_empty() {
                    return Ok(());
                }
                let name = vk.gpu(gpu).map_or_else(String::new, |g| g.name());
                let text = format!(
                    "{name} does not say what it compiled pipelines to: it lacks VK_KHR_pipeline_executable_properties, \
                     which pass registers asks for"
                );
                Err(Error::new(Kind::Unsupported, text))
            }
            "vkDestroyDevice" => {
                self.functions.remove(&call.image.u64(0));
                Ok(())
            }
            _ => {
                pipeline_flags::add(call, linked, STATISTICS);
                Ok(())
            }
        }
    }

    fn invoked(&mut self, cx: &mut Executor, call: &Call, linked: &mut Linked, ret: u64) -> Result<()> {
        let kind = match call.command.name {
            "vkCreateDevice" | "vkDestroyDevice" => return Ok(()),
            "vkCreateGraphicsPipelines" => "graphics",
            "vkCreateComputePipelines" => "compute",
            _ => "ray-tracing",
        };
        if (ret as u32 as i32) < 0 {
            return Ok(());
        }
        let device = call.image.u64(0);
        let Some(vk) = cx.backend.vulkan() else { return Ok(()) };
        if let (Ok(d), Some(i)) = (vk.device(device), vk.instance_of(device)) {
            self.functions
                .entry(device)
                .or_insert_with(|| ash::khr::pipeline_executable_properties::Device::new(i, &d.ash));
        }
        for (id, live) in pipeline_flags::made(call, linked) {
            self.pipeline(device, id, live, kind)?;
        }
        Ok(())
    }
}
