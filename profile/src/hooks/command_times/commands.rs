//! Which commands are timed, and what the others mean to those that are.
//!
//! Guarantees: every vkCmd* of the schema is either timed, or means something to the spans, or is listed by name as
//! setting state only; a test walks the schema, so that a new registry's commands cannot be passed over.

use gfxr_parse::schema::CommandDef;
use world::objects::BindPoint;

/// What a recorded command is to the hook.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Role {
    /// Does work: timed. Where the pipeline is bound that it runs.
    Work(Option<BindPoint>),
    /// Runs secondary command buffers.
    Execute,
    BeginPass,
    NextSubpass,
    EndPass,
    BeginLabel,
    EndLabel,
    BindPipeline,
    BindShaders,
    BeginQuery,
    EndQuery,
    /// From here on nothing may be injected, and from here on again.
    BeginTiles,
    EndTiles,
    /// Sets state, or signals: counted only.
    State,
}

/// Beginnings of the names of commands that do work, and the pipeline they run.
const WORK: &[(&str, Option<BindPoint>)] = &[
    ("vkCmdDraw", Some(BindPoint::Graphics)),
    ("vkCmdDispatchDataGraph", None),
    ("vkCmdDispatchTile", None),
    ("vkCmdDispatch", Some(BindPoint::Compute)),
    ("vkCmdTraceRays", Some(BindPoint::RayTracing)),
    ("vkCmdBuild", None),
    ("vkCmdWriteAccelerationStructures", None),
    ("vkCmdWriteMicromaps", None),
    ("vkCmdCopy", None),
    ("vkCmdBlit", None),
    ("vkCmdClear", None),
    ("vkCmdResolve", None),
    ("vkCmdUpdateBuffer", None),
    ("vkCmdUpdateMemory", None),
    ("vkCmdUpdatePipelineIndirectBuffer", None),
    ("vkCmdFill", None),
    ("vkCmdDecompress", None),
    ("vkCmdConvert", None),
    ("vkCmdPipelineBarrier", None),
    ("vkCmdWaitEvents", None),
    ("vkCmdExecuteGeneratedCommands", None),
    ("vkCmdPreprocessGeneratedCommands", None),
    ("vkCmdOpticalFlowExecute", None),
    ("vkCmdDecodeVideo", None),
    ("vkCmdEncodeVideo", None),
];

/// Beginnings of the names of commands that set state, signal, or write a mark: the device has next to nothing to do.
const STATE: &[&str] = &[
    "vkCmdSet",
    "vkCmdBind",
    "vkCmdPush",
    "vkCmdInsertDebugUtilsLabel",
    "vkCmdDebugMarkerInsert",
    "vkCmdResetEvent",
    "vkCmdResetQueryPool",
    "vkCmdWriteTimestamp",
    "vkCmdWriteBufferMarker",
    "vkCmdWriteMarkerToMemory",
    "vkCmdBeginConditionalRendering",
    "vkCmdEndConditionalRendering",
    "vkCmdBeginTransformFeedback",
    "vkCmdEndTransformFeedback",
    "vkCmdBeginCustomResolve",
    "vkCmdBeginVideoCoding",
    "vkCmdEndVideoCoding",
    "vkCmdControlVideoCoding",
    "vkCmdBeginGpa",
    "vkCmdEndGpa",
];

/// The role of a command; none for what is not recorded into a command buffer.
pub fn role(command: &CommandDef) -> Option<Role> {
    if !command.name.starts_with("vkCmd") {
        return None;
    }
    known(command.canonical).or(Some(Role::State))
}

/// Where the pipeline is bound that an action runs: a draw, a dispatch, a trace. None for other commands.
pub fn bind_point(command: &CommandDef) -> Option<BindPoint> {
    match role(command) {
        Some(Role::Work(point)) => point,
        _ => None,
    }
}

fn known(name: &str) -> Option<Role> {
    Some(match name {
        "vkCmdExecuteCommands" => Role::Execute,
        "vkCmdBeginRenderPass" | "vkCmdBeginRenderPass2" | "vkCmdBeginRendering" => Role::BeginPass,
        "vkCmdNextSubpass" | "vkCmdNextSubpass2" => Role::NextSubpass,
        "vkCmdEndRenderPass" | "vkCmdEndRenderPass2" => Role::EndPass,
        n if n.starts_with("vkCmdEndRendering") => Role::EndPass,
        "vkCmdBeginDebugUtilsLabelEXT" | "vkCmdDebugMarkerBeginEXT" => Role::BeginLabel,
        "vkCmdEndDebugUtilsLabelEXT" | "vkCmdDebugMarkerEndEXT" => Role::EndLabel,
        "vkCmdBindPipeline" => Role::BindPipeline,
        "vkCmdBindShadersEXT" => Role::BindShaders,
        "vkCmdBeginQuery" | "vkCmdBeginQueryIndexedEXT" => Role::BeginQuery,
        "vkCmdEndQuery" | "vkCmdEndQueryIndexedEXT" => Role::EndQuery,
        "vkCmdBeginPerTileExecutionQCOM" => Role::BeginTiles,
        "vkCmdEndPerTileExecutionQCOM" => Role::EndTiles,
        name => match WORK.iter().find(|w| name.starts_with(w.0)) {
            Some(w) => Role::Work(w.1),
            None if STATE.iter().any(|s| name.starts_with(s)) => Role::State,
            None => return None,
        },
    })
}

#[cfg(test)]
mod tests {
    use super::*;
    use gfxr_parse::schema::command_named;
    use gfxr_parse::schema::generated::COMMANDS;

    #[test]
    fn commands_have_their_roles() {
        let of = |n: &str| role(command_named(n).expect("in the schema"));
        assert_eq!(of("vkQueueSubmit"), None);
        assert_eq!(of("vkCmdDrawIndexedIndirectCountKHR"), Some(Role::Work(Some(BindPoint::Graphics))));
        assert_eq!(of("vkCmdDrawMeshTasksEXT"), Some(Role::Work(Some(BindPoint::Graphics))));
        assert_eq!(of("vkCmdDispatchBaseKHR"), Some(Role::Work(Some(BindPoint::Compute))));
        assert_eq!(of("vkCmdTraceRaysIndirect2KHR"), Some(Role::Work(Some(BindPoint::RayTracing))));
        assert_eq!(of("vkCmdPipelineBarrier2KHR"), Some(Role::Work(None)));
        assert_eq!(of("vkCmdExecuteGeneratedCommandsEXT"), Some(Role::Work(None)));
        assert_eq!(of("vkCmdDecodeVideoKHR"), Some(Role::Work(None)));
        assert_eq!(of("vkCmdBeginRenderingKHR"), Some(Role::BeginPass));
        assert_eq!(of("vkCmdEndRenderingKHR"), Some(Role::EndPass));
        assert_eq!(of("vkCmdEndRendering2KHR"), Some(Role::EndPass));
        assert_eq!(of("vkCmdBindPipeline"), Some(Role::BindPipeline));
        assert_eq!(of("vkCmdPushConstants"), Some(Role::State));
        assert_eq!(of("vkCmdSetViewport"), Some(Role::State));
    }

    #[test]
    fn every_recorded_command_of_the_schema_is_classified() {
        let recorded = || COMMANDS.iter().filter(|c| c.name.starts_with("vkCmd"));
        assert!(recorded().count() > 290);
        let unknown: Vec<&str> =
            recorded().filter(|c| known(c.canonical).is_none()).map(|c| c.name).collect();
        assert_eq!(unknown, [] as [&str; 0], "timed, or state? See WORK and STATE");
    }

    #[test]
    fn no_list_holds_what_the_schema_has_not() {
        for beginning in WORK.iter().map(|w| w.0).chain(STATE.iter().copied()) {
            assert!(COMMANDS.iter().any(|c| c.canonical.starts_with(beginning)), "{beginning}");
        }
    }

    #[test]
    fn what_takes_a_barrier_or_a_shader_is_not_on_the_list_of_states() {
        // A beginning that is too short would swallow commands that do work.
        let works =
            ["Draw", "Dispatch", "Trace", "Copy", "Blit", "Build", "Execute", "Resolve", "Clear", "Video"];
        for c in COMMANDS.iter().filter(|c| role(c) == Some(Role::State)) {
            let verb = &c.name["vkCmd".len()..];
            assert!(!works.iter().any(|w| verb.starts_with(w)), "{}", c.name);
        }
    }
}
