//! Which commands are timed, and what the others mean to those that are.

use gfxr_parse::schema::CommandDef;

/// What a recorded command is to the hook.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Role {
    /// Does work: timed.
    Work(Bind),
    /// Runs secondary command buffers: timed as one.
    Execute,
    BeginPass,
    NextSubpass,
    EndPass,
    BeginLabel,
    EndLabel,
    BindPipeline,
    /// Counted only.
    Other,
}

/// The bind point whose pipeline a command runs.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Bind {
    None,
    Graphics,
    Compute,
    RayTracing,
}

/// Beginnings of the names of commands that do work, and the pipeline they run.
const WORK: &[(&str, Bind)] = &[
    ("vkCmdDraw", Bind::Graphics),
    ("vkCmdDispatch", Bind::Compute),
    ("vkCmdTraceRays", Bind::RayTracing),
    ("vkCmdBuild", Bind::None),
    ("vkCmdWriteAccelerationStructures", Bind::None),
    ("vkCmdWriteMicromaps", Bind::None),
    ("vkCmdCopy", Bind::None),
    ("vkCmdBlit", Bind::None),
    ("vkCmdClear", Bind::None),
    ("vkCmdResolve", Bind::None),
    ("vkCmdUpdateBuffer", Bind::None),
    ("vkCmdUpdateMemory", Bind::None),
    ("vkCmdFill", Bind::None),
    ("vkCmdDecompress", Bind::None),
    ("vkCmdConvert", Bind::None),
    ("vkCmdPipelineBarrier", Bind::None),
    ("vkCmdWaitEvents", Bind::None),
    ("vkCmdExecuteGeneratedCommands", Bind::None),
    ("vkCmdPreprocessGeneratedCommands", Bind::None),
];

/// The role of a command; none for what is not recorded into a command buffer.
pub fn role(command: &CommandDef) -> Option<Role> {
    if !command.name.starts_with("vkCmd") {
        return None;
    }
    Some(match command.canonical {
        "vkCmdExecuteCommands" => Role::Execute,
        "vkCmdBeginRenderPass" | "vkCmdBeginRenderPass2" | "vkCmdBeginRendering" => Role::BeginPass,
        "vkCmdNextSubpass" | "vkCmdNextSubpass2" => Role::NextSubpass,
        "vkCmdEndRenderPass" | "vkCmdEndRenderPass2" | "vkCmdEndRendering" => Role::EndPass,
        n if n.starts_with("vkCmdEndRendering2") => Role::EndPass,
        "vkCmdBeginDebugUtilsLabelEXT" | "vkCmdDebugMarkerBeginEXT" => Role::BeginLabel,
        "vkCmdEndDebugUtilsLabelEXT" | "vkCmdDebugMarkerEndEXT" => Role::EndLabel,
        "vkCmdBindPipeline" => Role::BindPipeline,
        name => WORK.iter().find(|w| name.starts_with(w.0)).map_or(Role::Other, |w| Role::Work(w.1)),
    })
}

#[cfg(test)]
mod tests {
    use super::*;
    use gfxr_parse::schema::command_named;

    #[test]
    fn commands_have_their_roles() {
        let of = |n: &str| role(command_named(n).expect("in the schema"));
        assert_eq!(of("vkQueueSubmit"), None);
        assert_eq!(of("vkCmdDrawIndexedIndirectCountKHR"), Some(Role::Work(Bind::Graphics)));
        assert_eq!(of("vkCmdDispatchBaseKHR"), Some(Role::Work(Bind::Compute)));
        assert_eq!(of("vkCmdTraceRaysIndirect2KHR"), Some(Role::Work(Bind::RayTracing)));
        assert_eq!(of("vkCmdPipelineBarrier2KHR"), Some(Role::Work(Bind::None)));
        assert_eq!(of("vkCmdBeginRenderingKHR"), Some(Role::BeginPass));
        assert_eq!(of("vkCmdEndRenderingKHR"), Some(Role::EndPass));
        assert_eq!(of("vkCmdBindPipeline"), Some(Role::BindPipeline));
        assert_eq!(of("vkCmdPushConstants"), Some(Role::Other));
        assert_eq!(of("vkCmdSetViewport"), Some(Role::Other));
    }
}
