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

#[cfg(test)]
mod tests {
    use super::*;
    use crate::decode::decode_call;
    use crate::schema::command_named;
    use crate::writer::ParamWriter;

    fn decode(name: &str, params: impl FnOnce(&mut ParamWriter)) -> Image {
        let mut w = ParamWriter::new();
        params(&mut w);
        let mut image = Image::default();
        decode_call(command_named(name).expect("a command"), w.as_bytes(), &mut image)
            .unwrap_or_else(|e| panic!("{e}"));
        image
    }

    /// VkShaderModuleCreateInfo from its sType on.
    fn module(w: &mut ParamWriter, code: &[u32]) {
        w.u32(16).null_struct().u32(0).u64(code.len() as u64 * 4).u32_array(code);
    }

    #[test]
    fn modules() {
        let image = decode("vkCreateShaderModule", |w| {
            w.u64(1).structure(|w| module(w, &[1, 2])).null_struct().u64_ptr(77).i32(0);
        });
        let found = shaders(&image);
        assert_eq!((found.len(), found[0].origin, found[0].handle), (1, Origin::Module, 77));
        assert_eq!(found[0].code, [1, 0, 0, 0, 2, 0, 0, 0]);
    }

    #[test]
    fn modules_in_stages_and_uses() {
        let image = decode("vkCreateComputePipelines", |w| {
            w.u64(1).u64(0).u32(2).structures(2, |w, i| {
                w.u32(29).null_struct().u32(0);
                w.u32(18);
                if i == 0 {
                    w.structure(|w| module(w, &[9]));
                } else {
                    w.null_struct();
                }
                w.u32(0).u32(0x20).u64(if i == 0 { 0 } else { 55 }).string("main").null_struct();
                w.u64(3).u64(0).i32(-1);
            });
            w.null_struct().u64_array(&[100, 101]).i32(0);
        });
        let found = shaders(&image);
        assert_eq!((found.len(), found[0].origin, found[0].handle), (1, Origin::Stage, 100));
        assert_eq!((found[0].stage, found[0].entry.as_deref()), (Some(0x20), Some("main")));
        let want = Use { module: 55, pipeline: 101, stage: 0x20, entry: "main".to_string() };
        assert_eq!(uses(&image), [want]);
    }

    #[test]
    fn shader_objects_of_spirv_alone() {
        let image = decode("vkCreateShadersEXT", |w| {
            w.u64(1).u32(2).structures(2, |w, i| {
                w.u32(1_000_482_002).null_struct().u32(0).u32(1).u32(0).u32(i as u32);
                w.u64(4).u8_array(&[7, 0, 0, 0]).string("main");
                w.u32(0).null_array().u32(0).null_structs().null_struct();
            });
            w.null_struct().u64_array(&[60, 61]).i32(0);
        });
        let found = shaders(&image);
        assert_eq!((found.len(), found[0].origin, found[0].handle), (1, Origin::Object, 61));
        assert_eq!((found[0].code, found[0].stage), (&[7, 0, 0, 0][..], Some(1)));
    }
}
