//! Linking in this device's terms: where it differs from the captured one, arguments are exchanged.

use super::{alignment, exchange, strip};
use crate::error::Result;
use crate::link::{Lenience, Linked};
use crate::objects::Objects;
use crate::options::Bridge;
use crate::vulkan::state::Vulkan;
use gfxr_parse::ahead::Call;

/// Links a call, in this device's terms.
pub(in crate::vulkan) fn link(
    vk: &mut Vulkan,
    objects: &Objects,
    call: &Call,
    lenience: Lenience,
    linked: &mut Linked,
) -> Result<()> {
    linked.link(&call.image, objects, lenience, |a| vk.addresses.map(a))?;
    linked.stamp(call.command, &call.image);
    if vk.differs {
        exchange_arguments(vk, objects, call, linked);
    }
    Ok(())
}

/// What is another here, or is not here. Apart, so that where nothing is, nothing of it is in the way.
#[inline(never)]
fn exchange_arguments(vk: &mut Vulkan, objects: &Objects, call: &Call, linked: &mut Linked) {
    if !vk.unused.is_empty() && strip::strip(vk, call, linked) {
        vk.cost(Bridge::Unused).changed += 1;
    }
    if !vk.realigned.is_empty() && alignment::in_call(vk, objects.world(), call, linked) {
        vk.cost(Bridge::Alignment).changed += 1;
    }
    if let Some(bridge) = exchange::exchange(vk, objects, call, linked) {
        vk.cost(bridge).changed += 1;
    }
}
