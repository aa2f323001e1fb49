//! How long the driver may have a command for itself.

use gfxr_parse::schema::CommandDef;

/// How long the driver may have a call for itself.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Patience {
    /// It does not wait for the GPU: the replay calls it without more ado.
    Queues,
    /// It hands work to the GPU: the watchdog's time, where the driver may be the GPU or wait for it.
    Submits,
    /// It waits for the GPU: the watchdog's time.
    Waits,
    /// It may compile: the watchdog's time for each of as many as this parameter says.
    Compiles(u8),
}

/// How long the driver may have a command.
pub fn patience_with(c: &CommandDef) -> Patience {
    let name = c.name;
    if name.starts_with("vkQueueSubmit") || name == "vkQueueBindSparse" {
        return Patience::Submits;
    }
    if name.ends_with("WaitIdle") {
        return Patience::Waits;
    }
    if name.starts_with("vkCreate")
        && let Some(count) = c.params.iter().position(|p| p.name == "createInfoCount")
    {
        return Patience::Compiles(count as u8);
    }
    Patience::Queues
}

#[cfg(test)]
mod tests {
    use super::*;
    use gfxr_parse::schema::generated::COMMANDS;

    #[test]
    fn what_may_take_long_is_not_waited_for_without_end() {
        let of = |n: &str| patience_with(gfxr_parse::schema::command_named(n).expect("in the registry"));
        for n in ["vkQueueSubmit", "vkQueueSubmit2KHR", "vkQueueBindSparse"] {
            assert_eq!(of(n), Patience::Submits, "{n}");
        }
        for n in ["vkQueueWaitIdle", "vkDeviceWaitIdle"] {
            assert_eq!(of(n), Patience::Waits, "{n}");
        }
        for (n, count) in [
            ("vkCreateGraphicsPipelines", 2),
            ("vkCreateComputePipelines", 2),
            ("vkCreateRayTracingPipelinesKHR", 3),
            ("vkCreateRayTracingPipelinesNV", 2),
            ("vkCreateShadersEXT", 1),
        ] {
            assert_eq!(of(n), Patience::Compiles(count), "{n}");
        }
        for n in ["vkCmdDraw", "vkCreateBuffer", "vkWaitForFences", "vkCreateShaderModule"] {
            assert_eq!(of(n), Patience::Queues, "{n}");
        }
        let compiles = COMMANDS.iter().filter(|c| matches!(patience_with(c), Patience::Compiles(_)));
        let names: Vec<_> = compiles.map(|c| c.name).collect();
        assert!(names.len() < 9, "others take it for theirs: {names:?}");
    }
}
