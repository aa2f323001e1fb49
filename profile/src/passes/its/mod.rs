//! Pass `its`: how often the subgroups of a stage enter their entry point and how often they leave it (Vulkan Vision,
//! "Independent thread scheduling"): more exits than entries are subgroups that were split.
//!
//! One counter of subgroups and one of invocations at the entry, and at each place where invocations leave: returns of
//! the entry point's function, kills, terminations. At exits one more: how often all that entered together leave
//! together. A subgroup that leaves whole leaves once, so entries − whole exits is the exact number of subgroups that
//! were split, whether by returns at several places (each exit counts by itself) or by the device's scheduling.
//!
//! A demotion is no exit here: its invocation goes on, as a helper that nobody counts. So fragment subgroups of which every
//! invocation was demoted have no exit.

use crate::pass::{Change, Error, FrameData, Pass, Result, Sink};
use crate::rewrite::{ExitKind, Probes, Shader, Site};
use crate::{Needs, Stage};
use trace::Value;

static PROBES: Probes = crate::probes!("its");

/// The names of [`Site::kind`].
const KINDS: [&str; 6] =
    ["entry", "return", "kill", "ignore-intersection", "terminate-ray", "emit-mesh-tasks"];

fn kind(of: ExitKind) -> Option<u32> {
    match of {
        ExitKind::Return => Some(1),
        ExitKind::Kill => Some(2),
        ExitKind::Demote => None,
        ExitKind::IgnoreIntersection => Some(3),
        ExitKind::TerminateRay => Some(4),
        ExitKind::EmitMeshTasks => Some(5),
    }
}

/// See the module's header.
#[derive(Clone, Copy, Debug)]
pub struct Its;

impl Pass for Its {
    fn name(&self) -> &'static str {
        "its"
    }

    fn needs(&self, _: Stage) -> Option<Needs> {
        Some(Needs { subgroups: true, ..Needs::default() })
    }

    fn run(&self, shader: &mut Shader) -> Result<Change> {
        let wrong = Error::shader(shader.hash);
        let exit = shader.import(&PROBES, "its_exit").map_err(&wrong)?;
        let mut calls = vec![];
        for (spot, of) in shader.leaving() {
            let Some(kind) = kind(of) else { continue };
            let (counter, in_region) = shader.reserve_counters(3).map_err(&wrong)?;
            let first = shader.constant(counter);
            let call = shader.call(exit, &[first]);
            shader.site(Site { counter: Some(in_region), ..spot.site(kind) });
            calls.push((spot, vec![call]));
        }
        shader.at_spots(calls);
        let enter = shader.import(&PROBES, "its_enter").map_err(&wrong)?;
        let (counter, in_region) = shader.reserve_counters(3).map_err(&wrong)?;
        let first = shader.constant(counter);
        let call = shader.call(enter, &[first]);
        shader.at_begin(0, 0, vec![call]);
        let site = shader.block_site(0, 0, 0);
        shader.site(Site { counter: Some(in_region), ..site });
        Ok(Change::Changed)
    }

    fn decode(&self, frame: &FrameData<'_>, out: &mut dyn Sink) -> Result<()> {
        for e in &frame.entries {
            for site in &e.region.sites {
                let at = site.counter.unwrap_or(u32::MAX) as usize;
                let (Some(&[executions, invocations, whole]), Some(kind)) =
                    (e.counters.get(at..at.saturating_add(3)), KINDS.get(site.kind as usize))
                else {
                    let why = format!("the counters of block {} are not there", site.block);
                    return Err(Error::Record { word_offset: at, why });
                };
                // Exits that nobody takes are kept: that they are there is worth knowing.
                out.put(
                    &trace::tables::ITS,
                    &[
                        Value::U64(frame.frame),
                        Value::U64(e.entry.into()),
                        Value::U64(site.function.into()),
                        Value::U64(site.block.into()),
                        Value::U64(site.word_offset.into()),
                        Value::Text(kind),
                        Value::U64(executions),
                        Value::U64(invocations),
                        Value::U64(if site.kind == 0 { executions } else { whole }),
                    ],
                );
            }
        }
        Ok(())
    }
}

#[cfg(test)]
mod tests;
