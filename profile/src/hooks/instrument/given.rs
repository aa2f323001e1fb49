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
use crate::hooks::screenshot::submitted;
use crate::pass::{LaunchTable, Tables};
use gfxr_parse::ahead::Call;
use replay::ash::vk;
use replay::error::{Error, Kind, Result};
use replay::vulkan::Vulkan;
use std::collections::hash_map::Entry;
use std::collections::{BTreeMap, BTreeSet, HashMap};
use std::sync::Arc;
use std::sync::atomic::Ordering;

/// Words of a slot: `Given` in probes/swizzle.glsl.
const SLOT_WORDS: usize = 4;

/// Which launch: its frame, and its number there.
type Number = (u64, u64);

/// Something in a command buffer.
enum Event {
    Launch(Launch),
    /// Executes others: numbers of recordings.
    Execute(Vec<u64>),
}

struct Launch {
    /// Where it can be told something.
    slot: Option<Slot>,
    /// Width, height and depth, where the command says them.
    size: Option<[u32; 3]>,
    /// What was said last.
    now: Option<[u64; SLOT_WORDS]>,
}

#[derive(Default)]
struct Recording {
    device: u64,
    buffer: u64,
    events: Vec<Event>,
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

    /// A launch is recorded; `of` is the recording's number, its device, its command buffer. The address to push, where it can
    /// be told something.
    pub fn launch(
        &mut self,
        vk: &Vulkan,
        of: (u64, u64, u64),
        call: &Call,
        told: bool,
    ) -> Result<Option<u64>> {
        let slots = self.slots.entry(of.1).or_insert_with(|| Slots::of(SLOT_WORDS));
        let slot = if told { Some(slots.take(vk.device(of.1)?)?) } else { None };
        let v = gfxr_parse::view::View::call(&call.image);
        let sides = ["width", "height", "depth"].map(|n| v.u32(n));
        let size = if let [Some(w), Some(h), Some(d)] = sides { Some([w, h, d]) } else { None };
        self.push(of, Event::Launch(Launch { slot, size, now: None }));
        Ok(slot.map(|s| s.address))
    }

    /// Other command buffers are executed: numbers of their recordings.
    pub fn executes(&mut self, of: (u64, u64, u64), others: Vec<u64>) {
        self.push(of, Event::Execute(others));
    }

    fn push(&mut self, (range, device, buffer): (u64, u64, u64), event: Event) {
        let r = self.recordings.entry(range).or_default();
        (r.device, r.buffer) = (device, buffer);
        r.events.push(event);
    }

    /// Command buffers are submitted: each launch is told where its table is.
    pub fn submitting(
        &mut self,
        vk: &mut Vulkan,
        call: &Call,
        range_of: impl Fn(u64) -> Option<u64>,
    ) -> Result<()> {
        let mut run = Vec::new();
        for range in submitted(call).into_iter().filter_map(range_of) {
            self.play(range, &mut run);
        }
        let mut before: HashMap<(u64, usize), [u64; SLOT_WORDS]> = HashMap::new();
        let mut idle = false;
        for (range, at) in run {
            let number = (call.frame, self.launches);
            self.launches += 1;
            let Some(r) = self.recordings.get(&range) else { continue };
            let (device, buffer) = (r.device, r.buffer);
            let Some(Event::Launch(Launch { slot: Some(slot), size, now })) = r.events.get(at) else {
                continue;
            };
            let (slot, now, size) = (*slot, *now, *size);
            let words = self.words(vk, device, number, size)?;
            if before.insert((range, at), words).is_some_and(|b| b != words) {
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
            let r = self.recordings.get_mut(&range).and_then(|r| r.events.get_mut(at));
            if let (Some(Event::Launch(launch)), Some(slots)) = (r, self.slots.get_mut(&device)) {
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

    /// The launches of a recording, in the order in which they run.
    fn play(&self, range: u64, out: &mut Vec<(u64, usize)>) {
        let Some(r) = self.recordings.get(&range) else { return };
        for (at, event) in r.events.iter().enumerate() {
            match event {
                Event::Launch(_) => out.push((range, at)),
                Event::Execute(others) => others.iter().for_each(|&o| self.play(o, out)),
            }
        }
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
        for e in r.events {
            if let Event::Launch(Launch { slot: Some(slot), .. }) = e {
                slots.give_back(slot);
            }
        }
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

    fn launch() -> Event {
        Event::Launch(Launch { slot: None, size: None, now: None })
    }

    #[test]
    fn launches_are_gone_through_as_they_run() {
        let mut g = given(&[]);
        // Recording 7 launches, executes 8 twice and 9, and launches; 8 executes 9.
        for (range, events) in [
            (7, vec![launch(), Event::Execute(vec![8, 9, 8]), launch()]),
            (8, vec![launch(), Event::Execute(vec![9])]),
            (9, vec![launch()]),
        ] {
            events.into_iter().for_each(|e| g.push((range, 1, 2), e));
        }
        let mut run = vec![];
        g.play(7, &mut run);
        g.play(99, &mut run);
        assert_eq!(run, [(7, 0), (8, 0), (9, 0), (9, 0), (8, 0), (9, 0), (7, 2)]);
        g.forget(8);
        run.clear();
        g.play(7, &mut run);
        assert_eq!(run, [(7, 0), (9, 0), (7, 2)]);
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
