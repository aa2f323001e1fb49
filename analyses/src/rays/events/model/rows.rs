//! What was made as rows of a trace's tables.

use super::{ANY_HIT, CLOSEST_HIT, INTERSECTION, MISS, Made, RAYGEN};
use crate::rays::events::NO;
use crate::rays::replayer::Replayer;
use trace::tables::{ENTRIES, FRAMES, NOT_KNOWN, PIPELINES, RAY_LAUNCHES, RAYS, RayEvent, WARPS};
use trace::{Memory, Table, Value};

impl Made {
    /// Puts all its rows. Subgroups' events are those of a device that keeps Replayer's rules.
    ///
    /// # Panics
    /// If it was traced without its rays.
    pub fn rows(&self, put: &mut dyn FnMut(&'static Table, &[Value<'_>])) {
        let launch = &self.events.launches[0];
        let [width, height, depth] = launch.size.map(u64::from);
        put(&FRAMES, &[1, launch.n.into(), width, height, 0, 0].map(Value::U64));
        put(&PIPELINES, &[Value::U64(8), Value::Text("ray-tracing"), Value::Text("model")]);
        let stages = [
            (RAYGEN, "ray-generation"),
            (INTERSECTION, "intersection"),
            (ANY_HIT, "any-hit"),
            (MISS, "miss"),
            (CLOSEST_HIT, "closest-hit"),
            (CLOSEST_HIT + 1, "closest-hit"),
            (CLOSEST_HIT + 2, "closest-hit"),
        ];
        for (entry, stage) in stages {
            let entry = u64::from(entry);
            let hash = format!("{entry:016x}");
            let words = [&*hash, "main", stage].map(Value::Text);
            let row: Vec<_> = [entry, 8, entry, entry].map(Value::U64).into_iter().chain(words).collect();
            put(&ENTRIES, &row);
        }
        let numbers = [1, 0, 8, 0, width, height, depth, 3, 0, 0].map(Value::U64);
        put(&RAY_LAUNCHES, &numbers.into_iter().chain([Value::Text("")]).collect::<Vec<_>>());
        let mut rays = self.rays.iter();
        for thread in 0..launch.threads() {
            let (subgroup, lane) = (launch.subgroup[thread], launch.lane[thread]);
            for at in launch.events(thread) {
                let code = self.events.codes[usize::from(launch.code[at])];
                let head = [
                    1,
                    0,
                    thread as u64,
                    subgroup.into(),
                    lane.into(),
                    code.kind as u64,
                    code.entry.into(),
                    code.place.into(),
                ];
                let ray = match code.kind.begins() {
                    true => rays.next().map(|r| r.map(f64::from)),
                    false => Some([0.0; 8]),
                };
                let [x, y, z, dx, dy, dz, tmin, _] =
                    ray.unwrap_or_else(|| panic!("it was traced without rays"));
                let flags = if code.kind == RayEvent::OcclusionBegin { 0b1100 } else { 0 };
                let mask = if code.kind.begins() { 0xff } else { 0 };
                let object = match launch.object[at] {
                    NO => [NOT_KNOWN; 4],
                    number => {
                        let o = self.events.objects[number as usize];
                        [o.instance, o.instance, o.geometry, o.primitive].map(u64::from)
                    }
                };
                let tail = [NOT_KNOWN, NOT_KNOWN, 0, NOT_KNOWN, NOT_KNOWN];
                let row: Vec<Value<'_>> = (head.map(Value::U64).into_iter())
                    .chain([f64::from(launch.t[at]), tmin, x, y, z, dx, dy, dz].map(Value::F64))
                    .chain([flags, mask, 0, 0, 0].map(Value::U64))
                    .chain(object.map(Value::U64))
                    .chain(tail.map(Value::U64))
                    .collect();
                put(&RAYS, &row);
            }
        }
        let replayer = Replayer::new(&self.events, launch);
        for members in launch.subgroups() {
            let subgroup = launch.subgroup[members[0] as usize];
            for e in replayer.warp(&members) {
                let code = self.events.codes[usize::from(e.code)];
                let lanes = (0..members.len()).filter(|slot| e.mask >> slot & 1 == 1);
                let mask = lanes.fold(0u128, |m, slot| m | 1 << launch.lane[members[slot] as usize]);
                let (kind, entry, place) = (code.kind as u64, code.entry.into(), code.place.into());
                let row = [1, 0, subgroup.into(), kind, entry, place, mask as u64, (mask >> 64) as u64];
                let row: Vec<_> = row.into_iter().chain([0, NOT_KNOWN, NOT_KNOWN]).map(Value::U64).collect();
                put(&WARPS, &row);
            }
        }
    }

    /// All its rows, in memory.
    pub fn memory(&self) -> Memory {
        let mut memory = Memory::default();
        self.rows(&mut |table, row| memory.put(table, row));
        memory
    }
}
