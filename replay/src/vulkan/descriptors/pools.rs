//! Descriptor pools that hold as much as the capture's driver let them hold.
//!
//! Some drivers count a pool's sets and descriptors, others do not; programs that ask for more than they reserved then
//! work on the one and not on the other. Where an allocation that succeeded at capture finds its pool full here, the set
//! comes from another pool made like it, which is freed from, reset and destroyed with the first. Refuses nothing: a pool
//! with structs that are not known here (mutable descriptor types) stays alone, and the allocation fails as it did.

use crate::error::Result;
use crate::link::Linked;
use crate::vulkan::descriptors::state::Pool;
use crate::vulkan::linked_call::LinkedCall;
use crate::vulkan::state::Vulkan;
use ash::vk::{self, Handle};
use gfxr_parse::ahead::Call;
use gfxr_parse::{argument, member, param};
use world::Outcome;

/// vkCreateDescriptorPool.
pub fn create(c: &mut LinkedCall<'_>, outcome: Outcome) -> Result<()> {
    let LinkedCall { vk, call, linked, .. } = c;
    if outcome.result() >= 0 {
        created(vk, call, linked);
    }
    Ok(())
}

/// One was made.
fn created(vk: &mut Vulkan, call: &Call, linked: &mut Linked) {
    const INFO: usize = argument!("vkCreateDescriptorPool", "pCreateInfo");
    let Ok((id, _)) = crate::vulkan::new_object(call) else { return };
    let Some(info) = linked.param::<vk::DescriptorPoolCreateInfo<'_>>(INFO).copied() else { return };
    let known = vk::StructureType::DESCRIPTOR_POOL_INLINE_UNIFORM_BLOCK_CREATE_INFO;
    if linked.chain(info.p_next).any(|s| s.1 != known) {
        return;
    }
    let blocks = linked.in_chain::<vk::DescriptorPoolInlineUniformBlockCreateInfo<'_>>(info.p_next);
    let inline_blocks = blocks.map_or(0, |b| b.max_inline_uniform_block_bindings);
    let Some(sizes) = linked.all(info.p_pool_sizes, info.pool_size_count) else { return };
    let pool = Pool {
        flags: info.flags,
        sets: info.max_sets,
        sizes: sizes.to_vec(),
        inline_blocks,
        more: Vec::new(),
    };
    vk.pools.by_id.insert(id, pool);
}

/// vkAllocateDescriptorSets.
pub fn allocate(c: &mut LinkedCall<'_>) -> Result<Outcome> {
    let LinkedCall { vk, call, linked, report, .. } = c;
    vk.pools.allocations += 1;
    // A rehearsal finds every other pool full.
    let full = vk.options.rehearse.bare && vk.pools.allocations.is_multiple_of(2);
    if !full {
        let outcome = vk.raw(call, linked, report)?;
        if !matches!(
            vk::Result::from_raw(outcome.result()),
            vk::Result::ERROR_OUT_OF_POOL_MEMORY | vk::Result::ERROR_FRAGMENTED_POOL
        ) || call.image.ret().is_some_and(|r| r < 0)
        {
            return Ok(outcome);
        }
    }
    let id = call
        .image
        .target(param!("vkAllocateDescriptorSets", "pAllocateInfo"))
        .map_or(0, |info| call.image.u64(info + member!("VkDescriptorSetAllocateInfo", "descriptorPool")));
    type Info = vk::DescriptorSetAllocateInfo<'static>;
    const INFO: usize = argument!("vkAllocateDescriptorSets", "pAllocateInfo");
    let Some(info) = linked.param::<Info>(INFO).copied() else { return vk.raw(call, linked, report) };
    let Some(pool) = vk.pools.by_id.get(&id) else { return vk.raw(call, linked, report) };
    let (tried, first) = (pool.more.clone(), info.descriptor_pool);
    let made = tried.len();
    let choose = |linked: &mut Linked, from| {
        if let Some(info) = linked.param_mut::<Info>(INFO) {
            info.descriptor_pool = from;
        }
    };
    for i in 0..=made {
        let from = match tried.get(i) {
            Some(p) => *p,
            None => another(vk, call.image.u64(0), id)?,
        };
        choose(linked, from);
        let outcome = vk.raw(call, linked, report)?;
        if outcome.result() >= 0 {
            report.note("descriptor sets that did not fit into their pools, from pools of our own");
            let live = linked.arg(argument!("vkAllocateDescriptorSets", "pDescriptorSets"));
            let live = linked.all(live as *const u64, info.descriptor_set_count).unwrap_or_default();
            vk.pools.elsewhere.extend(live.iter().map(|s| (*s, from)));
            return Ok(outcome);
        }
    }
    choose(linked, first);
    vk.raw(call, linked, report)
}

/// A pool like the captured one, with room for a set of any of its layouts.
fn another(vk: &mut Vulkan, device: u64, id: u64) -> Result<vk::DescriptorPool> {
    let d = vk.devices.get(&device).map(|d| d.ash.clone());
    let d = d.ok_or_else(|| crate::error::Error::divergence("the device of a descriptor pool is gone"))?;
    let pool = vk.pools.by_id.get_mut(&id);
    let pool = pool.ok_or_else(|| crate::error::Error::divergence("a descriptor pool is gone"))?;
    let mut blocks = vk::DescriptorPoolInlineUniformBlockCreateInfo::default()
        .max_inline_uniform_block_bindings(pool.inline_blocks);
    let mut info =
        vk::DescriptorPoolCreateInfo::default().flags(pool.flags).max_sets(pool.sets).pool_sizes(&pool.sizes);
    if pool.inline_blocks > 0 {
        info = info.push_next(&mut blocks);
    }
    // SAFETY: a plain creation on a live device.
    let made = unsafe { d.create_descriptor_pool(&info, None) };
    let made = made.map_err(|e| crate::error::Error::driver("vkCreateDescriptorPool", e))?;
    pool.more.push(made);
    Ok(made)
}

/// vkFreeDescriptorSets.
pub fn free(c: &mut LinkedCall<'_>) -> Result<()> {
    let LinkedCall { vk, call, linked, .. } = c;
    const SETS: usize = argument!("vkFreeDescriptorSets", "pDescriptorSets");
    const COUNT: usize = argument!("vkFreeDescriptorSets", "descriptorSetCount");
    if !vk.pools.elsewhere.is_empty()
        && let Some(sets) = linked.params_mut::<u64>(SETS, COUNT)
        && let Some(d) = vk.devices.get(&call.image.u64(0))
    {
        for s in sets {
            if let Some(pool) = vk.pools.elsewhere.remove(s) {
                let one = [vk::DescriptorSet::from_raw(*s)];
                // SAFETY: it came from that pool; the application frees it now. A null handle is freed as nothing.
                unsafe { d.ash.free_descriptor_sets(pool, &one) }
                    .map_err(|e| crate::error::Error::driver("vkFreeDescriptorSets", e))?;
                *s = 0;
            }
        }
    }
    Ok(())
}

/// vkResetDescriptorPool, vkDestroyDescriptorPool.
pub fn empty(c: &mut LinkedCall<'_>) -> Result<()> {
    let LinkedCall { vk, call, .. } = c;
    emptied(vk, call);
    Ok(())
}

/// Before a pool is reset or destroyed.
fn emptied(vk: &mut Vulkan, call: &Call) {
    let destroyed = call.command.name == "vkDestroyDescriptorPool";
    let id = call.image.u64(param!("vkResetDescriptorPool", "descriptorPool"));
    let Some(pool) = vk.pools.by_id.get(&id) else { return };
    if let Some(d) = vk.devices.get(&call.image.u64(0)) {
        for p in &pool.more {
            vk.pools.elsewhere.retain(|_, from| from != p);
            // SAFETY: ours; the application says that its sets are no longer used.
            unsafe {
                if destroyed {
                    d.ash.destroy_descriptor_pool(*p, None);
                } else {
                    let _ = d.ash.reset_descriptor_pool(*p, vk::DescriptorPoolResetFlags::empty());
                }
            }
        }
    }
    if destroyed {
        vk.pools.by_id.remove(&id);
    }
}
