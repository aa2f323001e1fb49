//! Subgroups' events as text: who takes part, lane by lane.

use super::text::clock;
use crate::context::Context;
use trace::Columns;
use trace::tables::RayEvent;

/// `subgroup 3  ####..#.  4 of 8  closest-hit #5`
pub fn line(context: &Context, t: &Columns, row: usize, kind: RayEvent) -> String {
    let n = |name: &str| t.u64(name)[row];
    let mask = u128::from(n("mask")) | u128::from(n("mask_high")) << 64;
    let size = context.subgroup_size(n("frame")).unwrap_or(0).min(128) as u32;
    let lanes = size.max(128 - mask.leading_zeros());
    let drawn: String = (0..lanes).map(|lane| if mask >> lane & 1 == 1 { '#' } else { '.' }).collect();
    format!(
        "  subgroup {:<6} {drawn}  {:>3} of {size}  {} #{}{}\n",
        n("subgroup"),
        mask.count_ones(),
        kind.name(),
        n("entry"),
        clock(["clock", "sm", "warp"].map(n))
    )
}
