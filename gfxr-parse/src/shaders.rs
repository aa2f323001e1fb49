//! Where a capture holds SPIR-V: shader modules, modules inside pipeline stages, shader objects.
//!
//! Guarantees: the bytes are those of the capture. Refuses nothing; this crate does not look into SPIR-V.

use crate::image::Image;
use crate::view::View;

/// How the code came to the driver.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub enum Origin {
    /// vkCreateShaderModule.
    Module,
    /// A VkShaderModuleCreateInfo in the pNext chain of a pipeline's stage.
    Stage,
    /// vkCreateShadersEXT.
    Object,
}

/// One piece of SPIR-V in a call.
#[derive(Clone, Debug)]
pub struct Shader<'i> {
    /// How it came.
    pub origin: Origin,
    /// The handle id made of it: of the module, the shader object or the pipeline; 0 if the call failed.
    pub handle: u64,
    /// The code, `codeSize` bytes.
    pub code: &'i [u8],
    /// VkShaderStageFlagBits, where the call says it.
    pub stage: Option<u32>,
    /// The entry point, where the call says it.
    pub entry: Option<String>,
    /// The name a VkDebugUtilsObjectNameInfoEXT beside it gives it.
    pub name: Option<String>,
}

/// A pipeline's stage that uses a module.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Use {
    /// VkShaderModule.
    pub module: u64,
    /// VkPipeline; 0 if the call failed.
    pub pipeline: u64,
    /// VkShaderStageFlagBits.
    pub stage: u32,
    /// The entry point.
    pub entry: String,
}

/// Could this command hold SPIR-V or use modules?
pub fn concerns(command: &str) -> bool {
    matches!(command, "vkCreateShaderModule" | "vkCreateShadersEXT") || is_pipeline_creation(command)
}

/// Does this command create pipelines from stages?
pub fn is_pipeline_creation(command: &str) -> bool {
    matches!(
        command,
        "vkCreateGraphicsPipelines"
            | "vkCreateComputePipelines"
            | "vkCreateRayTracingPipelinesKHR"
            | "vkCreateRayTracingPipelinesNV"
    )
}

/// The stages of a pipeline-creating call, with the pipeline each belongs to.
fn stages(call: View<'_>) -> Vec<(u64, View<'_>)> {
    if !is_pipeline_creation(call.name) {
        return Vec::new();
    }
    let pipelines = call.u64s("pPipelines");
    let mut out = Vec::new();
    for (i, info) in call.structs("pCreateInfos").enumerate() {
        let pipeline = pipelines.get(i).copied().unwrap_or(0);
        out.extend(info.structs("pStages").chain(info.structs("stage")).map(|s| (pipeline, s)));
    }
    out
}

/// One piece: the code in `holder`, as `stage` (or, without one, the holder itself) says it is used.
fn shader<'i>(origin: Origin, handle: u64, holder: View<'i>, stage: Option<View<'i>>) -> Option<Shader<'i>> {
    let label =
        |v: View| v.next("VkDebugUtilsObjectNameInfoEXT")?.text("pObjectName").map(|t| t.into_owned());
    let about = stage.unwrap_or(holder);
    let code = holder.bytes("pCode")?;
    let size = usize::try_from(holder.u64("codeSize")?).ok()?;
    Some(Shader {
        origin,
        handle,
        code: &code[..size.min(code.len())],
        stage: about.u32("stage"),
        entry: about.text("pName").map(|t| t.into_owned()),
        name: label(holder).or_else(|| label(about)),
    })
}

/// All SPIR-V in the call.
pub fn shaders(image: &Image) -> Vec<Shader<'_>> {
    let call = View::call(image);
    match call.name {
        "vkCreateShaderModule" => {
            let handle = call.u64("pShaderModule").unwrap_or(0);
            call.structs("pCreateInfo")
                .filter_map(|info| shader(Origin::Module, handle, info, None))
                .collect()
        }
        "vkCreateShadersEXT" => {
            let handles = call.u64s("pShaders");
            let spirv = |(_, info): &(usize, View)| info.u32("codeType") == Some(1); // VK_SHADER_CODE_TYPE_SPIRV_EXT
            let infos = call.structs("pCreateInfos").enumerate().filter(spirv);
            infos
                .filter_map(|(i, v)| shader(Origin::Object, handles.get(i).copied().unwrap_or(0), v, None))
                .collect()
        }
        _ => stages(call)
            .into_iter()
            .filter_map(|(pipeline, stage)| {
                shader(Origin::Stage, pipeline, stage.next("VkShaderModuleCreateInfo")?, Some(stage))
            })
            .collect(),
    }
}

/// The stages of the call that use modules created before.
pub fn uses(image: &Image) -> Vec<Use> {
    let one = |(pipeline, stage): (u64, View)| {
        let module = stage.u64("module").filter(|&m| m != 0)?;
        let entry = stage.text("pName").map(|t| t.into_owned()).unwrap_or_default();
        Some(Use { module, pipeline, stage: stage.u32("stage").unwrap_or(0), entry })
    };
    stages(View::call(image)).into_iter().filter_map(one).collect()
}
