//! Queries that the frame writes without a reset are reset; those whose results it reads and then resets get results
//! again, so that reading them does not wait for ever. Their values cannot come back; the plan counts them.

use crate::error::Result;
use crate::looped::plan::Plan;
use crate::objects::Objects;
use crate::vulkan::Vulkan;
use ash::vk::{self, Handle};
use std::collections::BTreeMap;

/// Does both, and says how many queries there were.
pub fn restore(vk: &mut Vulkan, objects: &Objects, plan: &Plan) -> Result<u64> {
    let mut by_device: BTreeMap<u64, Vec<(vk::QueryPool, u32, Option<vk::QueryType>)>> = BTreeMap::new();
    for (which, revive) in [(&plan.reset, false), (&plan.revive, true)] {
        for (pool, queries) in which {
            let (Some((live, device)), Some(p)) = (objects.live_of(*pool), plan.pools.get(pool)) else {
                continue;
            };
            let ty = revive.then(|| vk::QueryType::from_raw(p.ty as i32));
            let all = queries.iter().map(|q| (vk::QueryPool::from_raw(live), *q, ty));
            by_device.entry(device).or_default().extend(all);
        }
    }
    let mut n = 0;
    for (device, queries) in by_device {
        n += queries.len() as u64;
        vk.device_mut(device)?.run(|d, cmd| {
            for &(pool, q, ty) in &queries {
                // SAFETY: recording; live pools with that many queries, idle.
                unsafe {
                    d.cmd_reset_query_pool(cmd, pool, q, 1);
                    match ty {
                        Some(vk::QueryType::TIMESTAMP) => {
                            let stage = vk::PipelineStageFlags::BOTTOM_OF_PIPE;
                            d.cmd_write_timestamp(cmd, stage, pool, q);
                        }
                        Some(vk::QueryType::OCCLUSION | vk::QueryType::PIPELINE_STATISTICS) => {
                            d.cmd_begin_query(cmd, pool, q, vk::QueryControlFlags::empty());
                            d.cmd_end_query(cmd, pool, q);
                        }
                        _ => {}
                    }
                }
            }
        })?;
    }
    Ok(n)
}
