//! What rays begin with: the part of table `rays` that [`Events`] leaves out.
//!
//! Rows of begins, in the order of their invocation. Refuses a table that has others than were read before.

use super::place::Ray;
use crate::rays::events::{Events, Launch};
use std::collections::HashMap;
use trace::tables::{RAYS, RayEvent};
use trace::{Source, Unreadable};

/// A begin, as small as it may be.
#[derive(Clone, Copy, Debug, Default, PartialEq)]
pub struct Begin {
    origin: [f32; 3],
    direction: [f32; 3],
    range: [f32; 2],
    flags: u32,
    mask: u32,
}

impl Begin {
    /// In 64 bits.
    pub fn ray(&self) -> Ray {
        Ray {
            origin: self.origin.map(f64::from),
            direction: self.direction.map(f64::from),
            tmin: self.range[0].into(),
            tmax: self.range[1].into(),
            flags: self.flags,
            mask: self.mask,
        }
    }
}

/// The begins of a launch.
#[derive(Clone, Debug, Default)]
pub struct Begins {
    /// Where an invocation's begin; one more at the end.
    starts: Vec<usize>,
    all: Vec<Begin>,
}

impl Begins {
    /// Those of an invocation, in program order.
    pub fn of(&self, thread: usize) -> &[Begin] {
        &self.all[self.starts[thread]..self.starts[thread + 1]]
    }
}

#[cfg(feature = "model")]
impl Begins {
    /// Of rays that were traced here: origin, direction, tmin, tmax of each, in the order of invocations.
    pub fn of_rays(events: &Events, launch: &Launch, rays: &[[f32; 8]]) -> Begins {
        let mut begins = lay_out(events, launch);
        let kinds = launch.code.iter().map(|c| events.codes[usize::from(*c)].kind).filter(|k| k.begins());
        for ((to, r), kind) in begins.all.iter_mut().zip(rays).zip(kinds) {
            let flags = if kind == RayEvent::OcclusionBegin { 0b1100 } else { 0 };
            let [x, y, z, dx, dy, dz, tmin, tmax] = *r;
            *to =
                Begin { origin: [x, y, z], direction: [dx, dy, dz], range: [tmin, tmax], flags, mask: 0xFF };
        }
        begins
    }
}

const NUMBERS: [&str; 8] =
    ["origin_x", "origin_y", "origin_z", "direction_x", "direction_y", "direction_z", "tmin", "t"];

fn lay_out(events: &Events, launch: &Launch) -> Begins {
    let begins = |at: usize| events.codes[usize::from(launch.code[at])].kind.begins();
    let mut starts = vec![0];
    for thread in 0..launch.threads() {
        let count = launch.events(thread).filter(|at| begins(*at)).count();
        starts.push(starts[thread] + count);
    }
    let all = vec![Begin::default(); *starts.last().unwrap_or(&0)];
    Begins { starts, all }
}

/// Reads them, of every launch.
pub fn read(trace: &dyn Source, events: &Events) -> Result<Vec<Begins>, Unreadable> {
    let mut launches: Vec<Begins> = events.launches.iter().map(|l| lay_out(events, l)).collect();
    let mut next: Vec<Vec<usize>> =
        launches.iter().map(|l| l.starts[..l.starts.len() - 1].to_vec()).collect();
    let number: HashMap<(u64, u64), usize> =
        events.launches.iter().enumerate().map(|(n, l)| ((l.frame, l.launch), n)).collect();
    let columns = ["frame", "launch", "invocation", "kind", "flags", "cull_mask"];
    let changed = || Unreadable("table rays changed while it was read".into());
    trace.each_of(&RAYS, &[&columns[..], &NUMBERS].concat(), &mut |t| {
        let [frames, of, threads, kinds, flags, masks] = columns.map(|c| t.u64(c));
        let places = NUMBERS.map(|c| t.f64(c));
        for row in 0..t.len() {
            if !RayEvent::of(kinds[row]).is_some_and(RayEvent::begins) {
                continue;
            }
            let launch = *number.get(&(frames[row], of[row])).ok_or_else(changed)?;
            let thread = usize::try_from(threads[row]).unwrap_or(usize::MAX);
            let at = next[launch].get_mut(thread).ok_or_else(changed)?;
            if *at == launches[launch].starts[thread + 1] {
                return Err(changed());
            }
            let [x, y, z, dx, dy, dz, tmin, tmax] = places.map(|c| c[row] as f32);
            launches[launch].all[*at] = Begin {
                origin: [x, y, z],
                direction: [dx, dy, dz],
                range: [tmin, tmax],
                flags: flags[row] as u32,
                mask: masks[row] as u32,
            };
            *at += 1;
        }
        Ok(())
    })?;
    Ok(launches)
}
