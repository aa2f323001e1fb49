//! Checkpoints of VK_NV_device_diagnostic_checkpoints: a number for each command that does work, which a queue whose device is
//! lost still knows of the last command that had begun and the last that was done.
//!
//! Unlike marks they stand inside render passes, too. Guarantees: a number of the application's own is taken for none of ours.
//! Refuses nothing: a device without the extension, or one that is not lost, has none.

use replay::ash::{self, vk};
use replay::report::{Checkpoints, RecordedCommand};
use replay::vulkan::DeviceState;
use std::ffi::c_void;

/// The extension.
pub const EXTENSION: &str = "VK_NV_device_diagnostic_checkpoints";

/// What the upper bits of our numbers are: no address that an application would hand over as a pointer.
const OURS: u64 = 0xC4EC_0000_0000_0000;
const BLOCK: u64 = (1 << 48) - 1;

/// The extension's functions.
pub struct Functions(ash::nv::device_diagnostic_checkpoints::Device);

impl Functions {
    /// Those of a device, if it was made with the extension.
    pub fn of(d: &DeviceState, instance: &ash::Instance) -> Option<Self> {
        let has = d.extensions.iter().any(|e| e == EXTENSION);
        has.then(|| Functions(ash::nv::device_diagnostic_checkpoints::Device::new(instance, &d.ash)))
    }

    /// Records the checkpoint of the command that this block recorded.
    pub fn set(&self, cmd: vk::CommandBuffer, block: u64) {
        // SAFETY: recording; allowed inside and outside of render passes, and the pointer is never followed.
        unsafe { self.0.cmd_set_checkpoint(cmd, number(block) as *const c_void) };
    }

    /// What a queue reached: pipeline stages and numbers. Its device is lost.
    pub fn reached(&self, queue: vk::Queue) -> Vec<(vk::PipelineStageFlags, u64)> {
        // SAFETY: the caller's promise; arrays of as many as there are.
        unsafe {
            let mut all = vec![Default::default(); self.0.get_queue_checkpoint_data_len(queue)];
            self.0.get_queue_checkpoint_data(queue, &mut all);
            all.iter().map(|c| (c.stage, c.p_checkpoint_marker as u64)).collect()
        }
    }
}

fn number(block: u64) -> u64 {
    OURS | block & BLOCK
}

/// The block of one of our numbers.
fn block(number: u64) -> Option<u64> {
    (number & !BLOCK == OURS).then_some(number & BLOCK)
}

/// What numbers say: the command whose number has come to the top of the pipeline had begun, and what comes before the one
/// whose number has come to its bottom was done. `find` gives a block's command and the one that was marked before it.
pub fn told(
    reached: &[(vk::PipelineStageFlags, u64)],
    find: impl Fn(u64) -> Option<(RecordedCommand, Option<RecordedCommand>)>,
) -> Option<Checkpoints> {
    use vk::PipelineStageFlags as S;
    let at = |stage| reached.iter().filter(|r| r.0 == stage).find_map(|r| find(block(r.1)?));
    let (top, bottom) = (at(S::TOP_OF_PIPE), at(S::BOTTOM_OF_PIPE));
    let told = Checkpoints {
        begun: top.map(|t| t.0),
        not_done: bottom.map(|b| b.0),
        done: bottom.and_then(|b| b.1),
    };
    (told != Checkpoints::default()).then_some(told)
}

#[cfg(test)]
mod tests {
    use super::*;
    use vk::PipelineStageFlags as S;

    #[test]
    fn the_last_that_began_and_the_last_that_was_done() {
        let of = |index, command, block| RecordedCommand { command_buffer: 7, index, command, block };
        let (copy, draw) = (of(3, "vkCmdCopyBuffer", 100), of(5, "vkCmdDraw", 102));
        let last = of(6, "vkCmdDraw", 103);
        let find = |block| match block {
            100 => Some((copy, None)),
            102 => Some((draw, Some(copy))),
            103 => Some((last, Some(draw))),
            _ => None,
        };
        let both = [(S::TOP_OF_PIPE, number(103)), (S::BOTTOM_OF_PIPE, number(102))];
        let expected = Checkpoints { begun: Some(last), not_done: Some(draw), done: Some(copy) };
        assert_eq!(told(&both, find), Some(expected));
        // Nothing of this command buffer was done.
        let first = told(&[(S::BOTTOM_OF_PIPE, number(100))], find);
        assert_eq!(first, Some(Checkpoints { not_done: Some(copy), ..Checkpoints::default() }));
        // The application's own, recordings that are gone, and other stages say nothing.
        let others = [(S::TOP_OF_PIPE, 103), (S::TOP_OF_PIPE, number(99)), (S::VERTEX_SHADER, number(103))];
        assert_eq!(told(&others, find), None);
        // Ours is found behind the application's.
        let mixed = [(S::TOP_OF_PIPE, 0x7fff_0000_1000), both[0]];
        assert_eq!(told(&mixed, find).and_then(|t| t.begun), Some(last));
    }
}
