//! Lists of draws in one call (VK_EXT_multi_draw), whose entries may lie further apart than they are long.
//!
//! The capture layer keeps as many bytes as that many entries side by side would have, whatever their stride: of entries that lie
//! apart the last are missing. Guarantees: no more is drawn than the capture holds, and what is left out is counted. Refuses nothing.

use crate::error::Result;
use crate::vulkan::linked_call::{LinkedCall, Subscription::Before, Subscriptions};
use gfxr_parse::{argument, size_of_struct};

pub(super) const SUBSCRIPTIONS: Subscriptions =
    &[(&["vkCmdDrawMulti"], Before(draws)), (&["vkCmdDrawMultiIndexed"], Before(indexed_draws))];

fn draws(c: &mut LinkedCall<'_>) -> Result<()> {
    const COUNT: usize = argument!("vkCmdDrawMultiEXT", "drawCount");
    const STRIDE: usize = argument!("vkCmdDrawMultiEXT", "stride");
    limit(c, (COUNT, STRIDE), size_of_struct!("VkMultiDrawInfoEXT").into())
}

fn indexed_draws(c: &mut LinkedCall<'_>) -> Result<()> {
    const COUNT: usize = argument!("vkCmdDrawMultiIndexedEXT", "drawCount");
    const STRIDE: usize = argument!("vkCmdDrawMultiIndexedEXT", "stride");
    limit(c, (COUNT, STRIDE), size_of_struct!("VkMultiDrawIndexedInfoEXT").into())
}

fn limit(c: &mut LinkedCall<'_>, (count, stride): (usize, usize), size: u64) -> Result<()> {
    let number = |slot| c.linked.arg(slot) & u64::from(u32::MAX);
    let (asked, held) = (number(count), held(number(count), number(stride), size));
    if held < asked {
        c.linked.set_arg(count, held);
        c.report.note("calls whose list of draws the capture holds in part: the rest is not drawn");
    }
    Ok(())
}

/// How many of `count` entries, so many bytes apart, lie whole in the bytes of `count` entries side by side.
fn held(count: u64, stride: u64, size: u64) -> u64 {
    match count {
        0 => 0,
        _ if stride <= size => count,
        _ => (count - 1) * size / stride + 1,
    }
}

#[cfg(test)]
mod tests {
    use super::held;

    #[test]
    fn entries_further_apart_than_they_are_long_are_fewer() {
        assert_eq!([held(0, 12, 8), held(1, 12, 8), held(6, 8, 8), held(6, 0, 8)], [0, 1, 6, 6]);
        for (count, stride) in [(2, 12), (3, 12), (4, 12), (1000, 12), (7, 4000)] {
            let n = held(count, stride, 8);
            assert!((n - 1) * stride + 8 <= count * 8, "{n} of {count} lie in it");
            assert!(n * stride + 8 > count * 8, "one more of {count} would not");
        }
    }
}
