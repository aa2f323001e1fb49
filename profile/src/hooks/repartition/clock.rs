//! What calls about descriptors cost the CPU, by the replay's own clock.

use gfxr_parse::schema::generated::COMMANDS;
use std::collections::BTreeMap;
use std::time::Instant;

/// Calls and the time that they took, by command.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Clock {
    /// How many, and nanoseconds.
    pub calls: BTreeMap<&'static str, (u64, u64)>,
    since: Option<Instant>,
}

/// Beginnings of the names of calls that are counted.
const COUNTED: [&str; 7] = [
    "vkAllocateDescriptorSets",
    "vkFreeDescriptorSets",
    "vkResetDescriptorPool",
    "vkCreateDescriptorPool",
    "vkUpdateDescriptorSet",
    "vkCmdBindDescriptorSets",
    "vkCmdPushDescriptorSet",
];

impl Clock {
    /// The commands that are counted.
    pub fn commands() -> Vec<&'static str> {
        COMMANDS.iter().map(|c| c.name).filter(|n| COUNTED.iter().any(|c| n.starts_with(c))).collect()
    }

    /// A call begins.
    pub fn start(&mut self) {
        self.since = Some(Instant::now());
    }

    /// It has ended.
    pub fn stop(&mut self, command: &'static str) {
        if let Some(since) = self.since.take() {
            self.add(command, since);
        }
    }

    /// A call of ours that began then.
    pub fn add(&mut self, command: &'static str, since: Instant) {
        let entry = self.calls.entry(command).or_default();
        entry.0 += 1;
        entry.1 += since.elapsed().as_nanos() as u64;
    }

    /// All of them together.
    pub fn total(&self) -> (u64, u64) {
        self.calls.values().fold((0, 0), |all, c| (all.0 + c.0, all.1 + c.1))
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn calls_about_sets_are_counted() {
        let all = Clock::commands();
        for name in
            ["vkUpdateDescriptorSetWithTemplateKHR", "vkCmdBindDescriptorSets2", "vkCmdPushDescriptorSetKHR"]
        {
            assert!(all.contains(&name), "{name}");
        }
        assert!(!all.contains(&"vkCmdBindPipeline"));
        let mut clock = Clock::default();
        clock.start();
        clock.stop("vkCmdBindDescriptorSets");
        // Nothing was started.
        clock.stop("vkCmdBindDescriptorSets");
        assert_eq!(clock.total().0, 1);
    }
}
