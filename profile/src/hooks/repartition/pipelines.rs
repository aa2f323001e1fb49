//! Pipelines of repartitioned layouts, as they are made.
//!
//! Guarantees: modules of ours go once the pipelines are made. Refuses a shader that is not known or cannot be read.

use super::{RepartitionHook, internal, shaders, words_of};
use crate::hooks::instrument::stages::{Stage, infos};
use gfxr_parse::ahead::Call;
use gfxr_parse::view::View;
use replay::ash::vk;
use replay::error::{Error, Result};
use replay::link::Linked;
use replay::vulkan::Vulkan;
use std::borrow::Cow;
use world::World;

impl RepartitionHook {
    /// Pipelines of layouts of ours get these, and shaders that fit.
    pub(super) fn pipelines(
        &mut self,
        vk: &Vulkan,
        world: &World,
        call: &Call,
        linked: &mut Linked,
    ) -> Result<()> {
        let v = View::call(&call.image);
        let ids = v.u64s("pPipelines");
        let device = call.image.u64(0);
        self.kept.0 = device;
        let Some((_, all)) = infos(call, linked) else { return Ok(()) };
        for (n, (info, captured)) in all.into_iter().zip(v.structs("pCreateInfos")).enumerate() {
            let Some(&pipeline) = ids.get(n) else { continue };
            let Some(&id) = self.plan.pipelines.get(&pipeline) else { continue };
            let Some(layout) = self.layouts.get(&id).cloned() else { continue };
            self.then.extend(world.pipeline_layouts.get(&id).map(|l| (id, l.clone())));
            if let Some(to) = linked.one_mut(info.layout) {
                *to = layout.live;
            }
            let stages = captured.structs("pStages").chain(captured.structs("stage"));
            let mut own = info.stages(linked);
            for (stage, then) in own.iter_mut().zip(stages) {
                self.stage((vk, world), linked, stage, then, id)?;
            }
            info.put_back(linked, &own);
            self.pipelines.insert(pipeline, id);
            self.out.borrow_mut().pipelines += 1;
        }
        Ok(())
    }

    fn stage(
        &mut self,
        (vk, world): (&Vulkan, &World),
        linked: &mut Linked,
        stage: &mut Stage,
        then: View<'_>,
        layout: u64,
    ) -> Result<()> {
        let places = &self.plan.places[&layout];
        let module = then.u64("module").filter(|m| *m != 0);
        let words = match (module, then.next("VkShaderModuleCreateInfo")) {
            (Some(m), _) => world.modules.get(&m).map(|m| Cow::Borrowed(&m.words[..])),
            (None, Some(info)) => info.bytes("pCode").map(|b| words_of(b).into()),
            (None, None) => None,
        };
        let words = words.ok_or_else(|| internal("a shader is not known"))?;
        let moved = shaders::moved(&words, places).map_err(|e| internal(format!("a shader: {e}")))?;
        let Some(moved) = moved else { return Ok(()) };
        let moved = vk.without_unused(&moved).unwrap_or(moved);
        if module.is_some() {
            let info = vk::ShaderModuleCreateInfo::default().code(&moved);
            // SAFETY: a plain creation; the words are the application's but for numbers of sets and bindings.
            let made = unsafe { vk.device(self.kept.0)?.ash.create_shader_module(&info, None) };
            let made = made.map_err(|e| Error::driver("vkCreateShaderModule", e))?;
            self.kept.1.push(made);
            stage.module = made;
            return Ok(());
        }
        // (the words live until the call was made)
        if let Some(info) = linked.in_chain::<vk::ShaderModuleCreateInfo<'_>>(stage.p_next) {
            (info.code_size, info.p_code) = (size_of_val(&moved[..]), moved.as_ptr());
        }
        self.kept.2.push(moved);
        Ok(())
    }
}
