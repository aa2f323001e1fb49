//! What launches are given: tables in device memory, and for each recorded launch a word that says which is its own.
//!
//! A launch is numbered in its frame in the order of submission, command buffers and those that they execute gone through as
//! they run. Before it the address of its slot is pushed; where it is submitted, the slot is told where the launch's table is,
//! or that it has none. So a command buffer that runs again is right in each frame. A table lies in a buffer of its own, which
//! every set's table is written to in turn.
//!
//! Guarantees: a slot changes only while nothing runs that reads it. Refuses, by an error, a command buffer that one submission
//! executes as two launches which are given different tables. What no launch was given is said.

use super::memory::{Buffer, Where};
use super::slots::{Slot, Slots};
use crate::hooks::actions;
use crate::pass::{LaunchTable, Tables};
use gfxr_parse::ahead::Call;
use replay::ash::vk;
use replay::error::{Error, Kind, Result};
use replay::vulkan::Vulkan;
use std::collections::hash_map::Entry;
use std::collections::{BTreeMap, BTreeSet, HashMap};
use std::sync::Arc;
use std::sync::atomic::Ordering;
use world::World;
use world::commands::{Command, Recorded, Sizes};
use world::walk::{Step, submitted};

/// Words of a slot: `Given` in probes/swizzle.glsl.
const SLOT_WORDS: usize = 4;

/// Which launch: its frame, and its number there.
type Number = (u64, u64);

/// A launch of a recording that can be told something.
struct Launch {
    slot: Slot,
    /// What was said last.
    now: Option<[u64; SLOT_WORDS]>,
}

/// Those of a recording, by command.
#[derive(Default)]
struct Recording {
    device: u64,
    buffer: u64,
    launches: BTreeMap<u32, Launch>,
}

/// A launch's table on a device.
struct Place {
    buffer: Buffer,
    /// The set whose words are there.
    set: u32,
}

/// See the module's header.
pub struct Given {
    passes: Arc<crate::rewrite::Variants>,
    set: u32,
    recordings: HashMap<u64, Recording>,
    slots: HashMap<u64, Slots>,
    places: HashMap<(u64, Number), Place>,
    /// Launches of the running frame.
    launches: u64,
    /// Launches that were given a table.
    found: BTreeSet<Number>,
    /// Launches of another size than their tables.
    others: BTreeMap<Number, ([u32; 3], [u32; 3])>,
}

impl Given {
    /// For a plan's passes, if one of them has tables.
    pub fn new(passes: &Arc<crate::rewrite::Variants>) -> Option<Self> {
        let given = Given {
            passes: passes.clone(),
            set: 0,
            recordings: HashMap::new(),
            slots: HashMap::new(),
            places: HashMap::new(),
            launches: 0,
            found: BTreeSet::new(),
            others: BTreeMap::new(),
        };
        given.passes.passes().iter().any(|p| p.tables().is_some()).then(|| given.in_force())
    }

    /// With the set that is wanted now.
    fn in_force(mut self) -> Self {
        self.set = self.wanted();
        self
    }

    fn tables(&self) -> &Tables {
        self.passes.passes().iter().find_map(|p| p.tables()).expect("one has some")
    }

    fn wanted(&self) -> u32 {
        self.tables().set.load(Ordering::Acquire)
    }

    fn table(&self, (frame, launch): Number) -> Option<&LaunchTable> {
        let is = |t: &&LaunchTable| (t.set, t.frame, t.launch) == (self.set, frame, launch);
        self.tables().tables.iter().find(is)
    }

    /// A launch is recorded: the address to push, where it can be told something.
    pub fn launch(&mut self, vk: &Vulkan, of: actions::Place, told: bool) -> Result<Option<u64>> {
        if !told {
            return Ok(None);
        }
        let slots = self.slots.entry(of.device).or_insert_with(|| Slots::of(SLOT_WORDS));
        let slot = slots.take(vk.device(of.device)?)?;
        let r = self.recordings.entry(of.range).or_default();
        (r.device, r.buffer) = (of.device, of.buffer);
        r.launches.insert(of.index, Launch { slot, now: None });
        Ok(Some(slot.address))
    }

    /// Command buffers are submitted: each launch is told where its table is.
    pub fn submitting(&mut self, vk: &mut Vulkan, call: &Call, world: &World) -> Result<()> {
        let mut run = Vec::new();
        world.walk(&submitted(call), &mut |holder, step| {
            if let Step::Command(Recorded { index, command: Command::Invoke(i), .. }) = step
                && i.command.name.starts_with("vkCmdTraceRays")
            {
                let size = if let Sizes::Trace { size, .. } = i.sizes { Some(size) } else { None };
                run.push((holder.recording.number, *index, size));
            }
        });
        let mut before: HashMap<(u64, u32), [u64; SLOT_WORDS]> = HashMap::new();
        let mut idle = false;
        for (range, index, size) in run {
            let number = (call.frame, self.launches);
            self.launches += 1;
            let Some(r) = self.recordings.get(&range) else { continue };
            let (device, buffer) = (r.device, r.buffer);
            let Some(Launch { slot, now }) = r.launches.get(&index) else { continue };
            let (slot, now) = (*slot, *now);
            let words = self.words(vk, device, number, size)?;
            if before.insert((range, index), words).is_some_and(|b| b != words) {
                return Err(twice(buffer));
            }
            if now == Some(words) {
                continue;
            }
            if now.is_some() && !idle {
                // What runs may still read what was said.
                vk.device(device)?.wait_idle()?;
                idle = true;
            }
            let launch = self.recordings.get_mut(&range).and_then(|r| r.launches.get_mut(&index));
            if let (Some(launch), Some(slots)) = (launch, self.slots.get_mut(&device)) {
                launch.now = Some(words);
                slots.say_all(slot, &words);
            }
        }
        Ok(())
    }

    /// What a launch is told.
    fn words(
        &mut self,
        vk: &mut Vulkan,
        device: u64,
        number: Number,
        size: Option<[u32; 3]>,
    ) -> Result<[u64; SLOT_WORDS]> {
        let Some(table) = self.table(number) else { return Ok([0; SLOT_WORDS]) };
        let (bits, wanted, bytes) = (table.bits, table.size, (table.words.len() as u64 * 4).max(16));
        if let Some(size) = size.filter(|s| *s != wanted) {
            self.others.insert(number, (size, wanted));
            return Ok([0; SLOT_WORDS]);
        }
        self.found.insert(number);
        if let Entry::Vacant(place) = self.places.entry((device, number)) {
            let buffer = Buffer::new(vk.device(device)?, bytes, Where::Device).map_err(no_room)?;
            place.insert(Place { buffer, set: u32::MAX });
            self.fill(vk, device, number)?;
        }
        let address = self.places[&(device, number)].buffer.address;
        let [width, height, depth] = wanted.map(u64::from);
        Ok([address, bits.into(), width | height << 32, depth])
    }

    /// A table's place has the words of the set in force.
    fn fill(&mut self, vk: &mut Vulkan, device: u64, number: Number) -> Result<()> {
        let Some(table) = self.table(number) else { return Ok(()) };
        let bytes: Vec<u8> = table.words.iter().flat_map(|w| w.to_le_bytes()).collect();
        let set = self.set;
        if let Some(place) = self.places.get_mut(&(device, number)).filter(|p| p.set != set) {
            place.buffer.write(vk.device_mut(device)?, &bytes)?;
            place.set = set;
        }
        Ok(())
    }

    /// A frame has ended.
    pub fn frame_ends(&mut self) {
        self.launches = 0;
    }

    /// A frame or an iteration begins; where another set is wanted than before, the devices are idle.
    pub fn begins(&mut self, vk: &mut Vulkan) -> Result<()> {
        let wanted = self.wanted();
        if wanted == self.set {
            return Ok(());
        }
        self.set = wanted;
        let places: Vec<(u64, Number)> = self.places.keys().copied().collect();
        for (device, number) in places {
            vk.device(device)?.wait_idle()?;
            self.fill(vk, device, number)?;
        }
        Ok(())
    }

    /// A recording is no more.
    pub fn forget(&mut self, range: u64) {
        let Some(r) = self.recordings.remove(&range) else { return };
        let Some(slots) = self.slots.get_mut(&r.device) else { return };
        r.launches.into_values().for_each(|l| slots.give_back(l.slot));
    }

    /// A device goes; it is idle, and its recordings are forgotten.
    pub fn device_goes(&mut self, vk: &Vulkan, device: u64) -> Result<()> {
        let ash = &vk.device(device)?.ash;
        if let Some(slots) = self.slots.remove(&device) {
            slots.destroy(ash);
        }
        let (gone, stay): (Vec<_>, Vec<_>) =
            std::mem::take(&mut self.places).into_iter().partition(|p| p.0.0 == device);
        self.places = stay.into_iter().collect();
        gone.into_iter().for_each(|(_, place)| place.buffer.destroy(ash));
        Ok(())
    }

    /// What is to be said at the end.
    pub fn notes(&self) -> Vec<String> {
        let all: BTreeSet<Number> = self.tables().tables.iter().map(|t| (t.frame, t.launch)).collect();
        let shape = |[w, h, d]: [u32; 3]| format!("{w} x {h} x {d}");
        let say = |(frame, launch): &Number| match self.others.get(&(*frame, *launch)) {
            _ if self.found.contains(&(*frame, *launch)) => None,
            Some((is, wanted)) => Some(format!(
                "launch {launch} of frame {frame} is of {}, its swizzle of {}: it stayed as it is",
                shape(*is),
                shape(*wanted)
            )),
            None => Some(format!("frame {frame} has no launch {launch} that could be given its swizzle")),
        };
        all.iter().filter_map(say).collect()
    }
}

fn twice(buffer: u64) -> Error {
    let text = format!(
        "command buffer {buffer} runs more than once in a submission, as launches with different tables: what they are \
         given cannot differ"
    );
    Error::new(Kind::Unsupported, text)
}

fn no_room(e: vk::Result) -> Error {
    match e {
        vk::Result::ERROR_OUT_OF_DEVICE_MEMORY | vk::Result::ERROR_OUT_OF_HOST_MEMORY => {
            Error::new(Kind::Memory, "no memory is left for the tables of launches")
        }
        e => Error::driver("making the tables of launches", e),
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::passes::swizzle;
    use crate::rewrite::Variants;
    use trace::swizzle::Swizzle;

    fn given(swizzles: &[(u64, u64)]) -> Given {
        let of = |(frame, launch): &(u64, u64)| Swizzle {
            frame: *frame,
            launch: *launch,
            size: [2, 1, 1],
            method: "test".into(),
            seed: 0,
            indices: vec![1, 0],
        };
        let set = swizzles.iter().map(of).collect();
        let pass = swizzle::Pass::new(&[set], Arc::default()).expect("they are permutations");
        Given::new(&Arc::new(Variants::new(vec![Box::new(pass)], None))).expect("it has tables")
    }

    #[test]
    fn tables_are_found_by_frame_launch_and_set_and_what_found_no_launch_is_said() {
        let mut g = given(&[(2, 0), (2, 1), (3, 0)]);
        assert!(g.table((2, 1)).is_some() && g.table((3, 1)).is_none() && g.table((1, 0)).is_none());
        g.found.insert((2, 0));
        g.others.insert((2, 1), ([4, 4, 1], [2, 1, 1]));
        let said = g.notes();
        assert_eq!(said.len(), 2, "{said:?}");
        assert!(
            said[0].starts_with("launch 1 of frame 2 is of 4 x 4 x 1") && said[1].starts_with("frame 3"),
            "{said:?}"
        );
        g.set = 1;
        assert!(g.table((2, 0)).is_none(), "the second set has none");
        let none = Given::new(&Arc::new(Variants::new(vec![], None)));
        assert!(none.is_none());
    }
}
