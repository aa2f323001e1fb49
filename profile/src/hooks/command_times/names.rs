//! Names that times refer to: debug names, labels of queues, shaders.

use super::super::debug_names;
use super::state::CommandTimesHook;
use gfxr_parse::ahead::Call;
use gfxr_parse::image::Image;
use gfxr_parse::shaders;
use gfxr_parse::view::View;

/// Commands that [`CommandTimesHook::remember`] wants to see.
pub const REMEMBERED: &[&str] = &[
    "vkSetDebugUtilsObjectNameEXT",
    "vkDebugMarkerSetObjectNameEXT",
    "vkQueueBeginDebugUtilsLabelEXT",
    "vkQueueEndDebugUtilsLabelEXT",
    "vkCreateShaderModule",
    "vkCreateShadersEXT",
    "vkCreateGraphicsPipelines",
    "vkCreateComputePipelines",
    "vkCreateRayTracingPipelinesKHR",
    "vkCreateRayTracingPipelinesNV",
];

/// A shader stage in short.
fn stage(bit: u32) -> &'static str {
    const NAMES: [&str; 14] = [
        "vert", "tesc", "tese", "geom", "frag", "comp", "task", "mesh", "rgen", "rahit", "rchit", "rmiss",
        "rint", "rcall",
    ];
    NAMES.get(bit.trailing_zeros() as usize).copied().unwrap_or("shader")
}

impl CommandTimesHook {
    /// A call that has succeeded.
    pub(super) fn remember(&mut self, call: &Call) {
        let v = View::call(&call.image);
        match call.command.canonical {
            "vkSetDebugUtilsObjectNameEXT" | "vkDebugMarkerSetObjectNameEXT" => {
                let Some(n) = debug_names::named(&call.image) else { return };
                self.out.borrow_mut().names.objects.insert(n.object, n.name);
            }
            "vkQueueBeginDebugUtilsLabelEXT" => {
                let Some(queue) = v.u64("queue") else { return };
                let name = v.one("pLabelInfo").and_then(|l| l.text("pLabelName")).unwrap_or_default();
                let open = self.queue_labels.entry(queue).or_default();
                let parent = open.last().copied().unwrap_or(0);
                open.push(self.out.borrow_mut().names.node(parent, &name));
            }
            "vkQueueEndDebugUtilsLabelEXT" => {
                if let Some(open) = v.u64("queue").and_then(|q| self.queue_labels.get_mut(&q)) {
                    open.pop();
                }
            }
            _ => self.shaders(&call.image),
        }
    }

    /// What pipelines and shader objects are made of.
    fn shaders(&mut self, image: &Image) {
        let names = &mut self.out.borrow_mut().names;
        let found = &mut names.shaders;
        for s in shaders::shaders(image) {
            let hash = (self.settings.hash)(s.code);
            match s.origin {
                shaders::Origin::Module => {
                    self.modules.insert(s.handle, hash);
                }
                _ => {
                    let stage = stage(s.stage.unwrap_or(0));
                    names.shader_objects.insert(s.handle);
                    found.entry(s.handle).or_default().push((stage.to_owned(), hash));
                }
            }
        }
        for u in shaders::uses(image) {
            if let Some(hash) = self.modules.get(&u.module) {
                found.entry(u.pipeline).or_default().push((stage(u.stage).to_owned(), hash.clone()));
            }
        }
        let v = View::call(image);
        if !shaders::is_pipeline_creation(v.name) {
            return;
        }
        // What a pipeline takes from libraries is a part of it.
        let pipelines = v.u64s("pPipelines");
        for (info, pipeline) in v.structs("pCreateInfos").zip(pipelines) {
            let libraries = info.next("VkPipelineLibraryCreateInfoKHR").or_else(|| info.one("pLibraryInfo"));
            for library in libraries.map(|l| l.u64s("pLibraries")).unwrap_or_default() {
                let of = found.get(&library).cloned().unwrap_or_default();
                found.entry(pipeline).or_default().extend(of);
            }
        }
        for pipeline in v.u64s("pPipelines") {
            if let Some(stages) = found.get_mut(&pipeline) {
                // Ray-tracing pipelines name a module once a group.
                let mut seen = Vec::new();
                stages.retain(|s| {
                    !seen.contains(s) && {
                        seen.push(s.clone());
                        true
                    }
                });
            }
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use gfxr_parse::schema::command_named;

    #[test]
    fn stages_in_short() {
        assert_eq!(
            [1, 0x10, 0x20, 0x80, 0x100, 0x2000].map(stage),
            ["vert", "frag", "comp", "mesh", "rgen", "rcall"]
        );
        assert_eq!(stage(0), "shader");
    }

    #[test]
    fn what_is_remembered_is_in_the_schema() {
        for n in REMEMBERED {
            assert!(command_named(n).is_some(), "{n}");
        }
    }
}
