//! Geometry: what the acceleration structures hold that a frame's launches trace rays through, as the application built them.
//!
//! The replay copies what each build reads, when it reads it ([`replay::vulkan::inputs`]); this hook follows which build
//! each structure comes from, through updates, copies, compaction and serialised copies, in the order of submission
//! (`follow`), and writes what measured frames could reach: once, at a frame's end, when the devices are idle (`decode` says
//! what bytes mean). Guarantees: a top level's instances stand for the bottom levels that were there when it was built;
//! what is not known is said in column `missing`. It belongs into a replay of its own: what it copies takes time.
//!
//! Not handled, and named there: motion, micromaps, geometry of the special extensions. Host builds and the builds of
//! NVIDIA's older extension are refused by the replay itself. Which of the top levels a launch uses is not known here.

mod decode;
mod follow;
#[cfg(test)]
mod tests;

use super::put::{Put, WantsFrame};
use decode::{Decoded, Instance};
use follow::{Content, Follow, Traced};
use gfxr_parse::ahead::Call;
use gfxr_parse::view::View;
use replay::error::Result;
use replay::exec::Executor;
use replay::hook::{Commands, Hook, Next};
use replay::vulkan::Vulkan;
use replay::vulkan::inputs::Build;
use std::collections::BTreeSet;
use std::rc::Rc;
use trace::tables::{BOXES, GEOMETRIES, INSTANCES, LAUNCH_STRUCTURES, NOT_KNOWN, STRUCTURES, TRIANGLES};
use trace::{Table, Value};
use world::{Depth, Frame, Outcome, World};

/// Calls that run something, and those that this depends on.
const SUBMITS: [&str; 3] = ["vkQueueSubmit", "vkQueueSubmit2", "vkQueueSubmit2KHR"];
const OTHERS: [&str; 13] = [
    "vkCreateDevice",
    "vkDestroyDevice",
    "vkCmdBuildAccelerationStructuresKHR",
    "vkCmdBuildAccelerationStructuresIndirectKHR",
    "vkCmdCopyAccelerationStructureKHR",
    "vkCmdCopyAccelerationStructureToMemoryKHR",
    "vkCmdCopyMemoryToAccelerationStructureKHR",
    "vkCopyAccelerationStructureKHR",
    "vkCopyAccelerationStructureToMemoryKHR",
    "vkCopyMemoryToAccelerationStructureKHR",
    "vkGetAccelerationStructureDeviceAddressKHR",
    "vkDestroyAccelerationStructureKHR",
    "vkFrameBoundaryANDROID",
];

/// See the module's header.
pub struct GeometryHook {
    put: Put,
    wants: WantsFrame,
    follow: Follow,
    /// Structures written so far.
    written: u64,
}

impl GeometryHook {
    /// One that writes what these frames trace through.
    pub fn new(put: Put, wants: WantsFrame) -> Self {
        GeometryHook { put, wants, follow: Follow::default(), written: 0 }
    }

    /// What the replay noted since it was asked last.
    fn noted(&mut self, world: &World, vk: &mut Vulkan) {
        for n in vk.noted_builds() {
            self.follow.noted(n, world, vk);
        }
    }

    /// Writes what a frame's launches could reach; the devices are idle.
    fn write(&mut self, vk: &mut Vulkan, frame: u64, traced: &[Traced]) -> Result<()> {
        for t in traced {
            // (copies are what they were copied from)
            let mut seen = BTreeSet::new();
            for top in &t.tops {
                let structure = self.structure(vk, top)?;
                if !seen.insert(structure) {
                    continue;
                }
                (self.put)(&LAUNCH_STRUCTURES, &[frame, t.command, t.run, structure].map(Value::U64))?;
            }
        }
        Ok(())
    }

    /// The number of a structure, which is written if it was not.
    fn structure(&mut self, vk: &mut Vulkan, c: &Rc<Content>) -> Result<u64> {
        if let Some(number) = c.number.get() {
            return Ok(number);
        }
        let number = self.written;
        self.written += 1;
        c.number.set(Some(number));
        let b = &c.build.what;
        let bytes = c.bytes(vk);
        let mut missing: BTreeSet<String> =
            b.geometries.iter().map(|g| g.missing.clone()).filter(|m| !m.is_empty()).collect();
        let (mut primitives, mut unknown) = (0u64, 0u64);
        for (n, (g, bytes)) in b.geometries.iter().zip(bytes.iter()).enumerate() {
            let Some(decoded) = decode::geometry(g, bytes.as_deref()) else {
                primitives += u64::from(g.most);
                if g.missing.is_empty() {
                    missing.insert("data that were not there any more".into());
                }
                if !b.top {
                    self.geometry(number, n, b, "other", u64::from(g.most))?;
                }
                continue;
            };
            primitives += decoded.len() as u64;
            match decoded {
                Decoded::Instances(all) => {
                    for (index, i) in all.iter().enumerate() {
                        let bottom = match c.bottom(i.reference) {
                            Some(bottom) => self.structure(vk, &bottom)?,
                            None => {
                                unknown += u64::from(i.reference != 0);
                                NOT_KNOWN
                            }
                        };
                        self.instance(number, index as u64, i, bottom)?;
                    }
                }
                Decoded::Boxes(all) => {
                    self.geometry(number, n, b, "boxes", all.len() as u64)?;
                    self.rows(&BOXES, number, n, &all)?;
                }
                Decoded::Triangles(all) => {
                    self.geometry(number, n, b, "triangles", all.len() as u64)?;
                    self.rows(&TRIANGLES, number, n, &all)?;
                }
            }
        }
        if unknown > 0 {
            missing.insert(format!("the bottom levels of {unknown} instances"));
        }
        let missing = missing.into_iter().collect::<Vec<_>>().join("; ");
        let built = match (c.in_snapshot, b.update) {
            (true, _) => "snapshot",
            (_, true) => "update",
            _ => "build",
        };
        let geometries = if b.top { 0 } else { b.geometries.len() as u64 };
        let row = [
            Value::U64(number),
            Value::U64(b.structure),
            Value::Text(if b.top { "top" } else { "bottom" }),
            Value::Text(built),
            Value::U64(b.flags.into()),
            Value::U64(b.command),
            Value::U64(geometries),
            Value::U64(primitives),
            Value::Text(&missing),
        ];
        (self.put)(&STRUCTURES, &row)?;
        c.forget();
        Ok(number)
    }

    fn geometry(&mut self, structure: u64, n: usize, of: &Build, kind: &str, count: u64) -> Result<()> {
        let flags = of.geometries[n].flags;
        let row = [
            Value::U64(structure),
            Value::U64(n as u64),
            Value::Text(kind),
            Value::U64((flags & 1).into()),
            Value::U64((flags >> 1 & 1).into()),
            Value::U64(count),
        ];
        (self.put)(&GEOMETRIES, &row)
    }

    /// Rows of active primitives.
    fn rows<const N: usize>(
        &mut self,
        table: &'static Table,
        structure: u64,
        geometry: usize,
        all: &[Option<[f64; N]>],
    ) -> Result<()> {
        for (primitive, place) in all.iter().enumerate() {
            let Some(place) = place else { continue };
            let mut row = [structure, geometry as u64, primitive as u64].map(Value::U64).to_vec();
            row.extend(place.map(Value::F64));
            (self.put)(table, &row)?;
        }
        Ok(())
    }

    fn instance(&mut self, structure: u64, index: u64, i: &Instance, bottom: u64) -> Result<()> {
        let numbers = [structure, index, i.custom_index, i.mask, i.sbt_offset, i.flags, bottom, i.reference];
        let mut row = numbers.map(Value::U64).to_vec();
        row.extend(i.transform.map(|x| Value::F64(x.into())));
        (self.put)(&INSTANCES, &row)
    }

    /// A frame's end, or that of the device that it ran on.
    fn ends(&mut self, world: &World, vk: &mut Vulkan, frame: u64, last: bool) -> Result<()> {
        self.noted(world, vk);
        let mut traced = self.follow.traced();
        if !(self.wants)(frame) {
            return Ok(());
        }
        if traced.is_empty() && last {
            traced.push(self.follow.now());
        }
        let devices: Vec<u64> = vk.devices().map(|d| d.0).collect();
        for d in devices {
            vk.device(d)?.wait_idle()?;
        }
        self.write(vk, frame, &traced)
    }
}

impl Hook for GeometryHook {
    fn name(&self) -> &'static str {
        "geometry"
    }

    fn follows(&self) -> Depth {
        Depth::Commands
    }

    fn wants(&self) -> Commands {
        Commands::named(&[&SUBMITS[..], &OTHERS].concat())
    }

    fn call(&mut self, cx: &mut Executor, call: &mut Call, next: Next) -> Result<Outcome> {
        let name = call.command.name;
        if name == "vkDestroyDevice"
            && let Some(vk) = cx.backend.vulkan()
        {
            self.ends(cx.objects.world(), vk, call.frame, false)?;
            self.follow.device_goes(call.image.u64(0), cx.objects.world(), vk);
        }
        if let Some(vk) = cx.backend.vulkan() {
            if name == "vkCreateDevice" {
                vk.watch_builds();
            }
            self.noted(cx.objects.world(), vk);
            if SUBMITS.contains(&name) || name == "vkFrameBoundaryANDROID" {
                // What the command buffers had copied before is read before they run again.
                let submitted = world::walk::submitted(call);
                self.follow.submitted(&submitted, cx.objects.world(), vk);
            }
        }
        let outcome = next.run(cx, call)?;
        if call.command.ret.is_some() && name.starts_with("vkC") && outcome.result() < 0 {
            return Ok(outcome);
        }
        let v = View::call(&call.image);
        match name {
            "vkGetAccelerationStructureDeviceAddressKHR" => {
                let id = v.one("pInfo").and_then(|i| i.u64("accelerationStructure")).unwrap_or(0);
                self.follow.addressed(id, call.image.u64(call.image.ret_at()));
            }
            "vkDestroyAccelerationStructureKHR" if !call.in_state => {
                self.follow.destroyed(world::destroyed(call));
            }
            _ => {}
        }
        if let Some(vk) = cx.backend.vulkan() {
            self.noted(cx.objects.world(), vk);
        }
        Ok(outcome)
    }

    fn frame(&mut self, cx: &mut Executor, frame: Frame) -> Result<()> {
        let Some(vk) = cx.backend.vulkan() else { return Ok(()) };
        self.ends(cx.objects.world(), vk, frame.number, true)?;
        self.follow.sweep(cx.objects.world(), vk);
        Ok(())
    }
}
