//! What a difference is found from: the rows of a capture's database, in memory, a few numbers each.
//!
//! Guarantees: memory is proportional to the rows (about 40 bytes a call and 4 an object that a call names); arguments and contents
//! stay where they are until something differs. Refuses databases that miss tables of this version.

use crate::error::Error;
use crate::query::Database;
use rusqlite::{Connection, Row};
use std::collections::{BTreeMap, HashMap};

/// A call.
#[derive(Clone, Copy, Debug)]
pub struct Call {
    /// The index of its block.
    pub block: u64,
    /// Which of [`Rows::names`].
    pub name: u32,
    /// The frame.
    pub frame: u64,
    /// The hash of what the program gave.
    pub given: u64,
    /// The hash of what the driver answered.
    pub answered: u64,
    /// It was recorded into a command buffer.
    pub recorded: bool,
    /// It made an object.
    pub creates: bool,
    inputs: (u32, u32),
}

/// An object.
#[derive(Clone, Debug)]
pub struct Object {
    /// The capture's id.
    pub handle: u64,
    /// VkBuffer, …
    pub ty: String,
    /// The name that the program gave it.
    pub name: Option<String>,
    /// The device, pool or swapchain.
    pub parent: u64,
    /// The block that made it.
    pub created_by: u64,
    /// Its place among what that block made.
    pub index: u64,
    /// Its place among those of its type, from 1.
    pub nth: u64,
}

/// Bytes that the program wrote.
#[derive(Clone, Copy, Debug)]
pub struct Written {
    /// The block that has them.
    pub block: u64,
    /// Which object, or none that is known.
    pub object: Option<u32>,
    /// Of an image.
    pub aspect: u64,
    /// Where in the object.
    pub offset: u64,
    /// How many.
    pub bytes: u64,
    /// Where in the block's data.
    pub at: u64,
    /// Of the bytes.
    pub hash: u64,
}

/// A frame.
#[derive(Clone, Debug, Default)]
pub struct Frame {
    /// Its calls that record nothing.
    pub calls: Vec<u32>,
    /// Its submissions: what their command buffers held.
    pub submissions: Vec<Vec<u64>>,
    /// What was written to memory.
    pub writes: Vec<Written>,
}

/// All of it.
#[derive(Default)]
pub struct Rows {
    /// Names of commands.
    pub names: Vec<String>,
    /// In the file's order.
    pub calls: Vec<Call>,
    inputs: Vec<u32>,
    /// In the order in which they were made.
    pub objects: Vec<Object>,
    lives: HashMap<u64, Vec<u32>>,
    /// What each holds: places in `calls`.
    pub recordings: HashMap<u64, Vec<u32>>,
    /// By command buffer: from which block on it held which.
    pub held: HashMap<u64, Vec<(u64, u64)>>,
    /// What calls that begin labels say.
    pub labels: HashMap<u64, String>,
    /// By number.
    pub frames: BTreeMap<u64, Frame>,
    /// The number of what follows the end of the last frame, where something does and frames end at all: it is none itself.
    pub tail: Option<u64>,
    /// Device addresses that the driver told, with the object that lies there.
    pub addresses: Vec<(u64, u32)>,
    /// Mean GPU times of commands in nanoseconds, by the call that recorded them.
    pub times: HashMap<u64, f64>,
}

fn unsigned(row: &Row<'_>, i: usize) -> rusqlite::Result<u64> {
    Ok(row.get::<_, Option<i64>>(i)?.unwrap_or(0).cast_unsigned())
}

impl Rows {
    /// Reads them.
    pub fn read(db: &Database) -> Result<Rows, Error> {
        let mut rows = Rows::default();
        rows.all(db.connection()).map_err(|e| Error::new(e.to_string()))?;
        Ok(rows)
    }

    fn all(&mut self, db: &Connection) -> rusqlite::Result<()> {
        self.calls(db)?;
        self.objects(db)?;
        self.inputs(db)?;
        self.recordings(db)?;
        self.frames(db)?;
        self.writes(db)?;
        self.tail(db)?;
        self.addresses(db)?;
        self.times(db)
    }

    fn calls(&mut self, db: &Connection) -> rusqlite::Result<()> {
        let mut numbers: HashMap<String, u32> = HashMap::new();
        let mut all = db.prepare("SELECT call, frame, given, answered, name FROM calls ORDER BY call")?;
        let mut rows = all.query([])?;
        while let Some(row) = rows.next()? {
            let name = row.get_ref(4)?.as_str()?;
            let name = match numbers.get(name) {
                Some(n) => *n,
                None => {
                    let n = numbers.len() as u32;
                    _ = numbers.insert(name.to_owned(), n);
                    self.names.push(name.to_owned());
                    n
                }
            };
            self.calls.push(Call {
                block: unsigned(row, 0)?,
                name,
                frame: unsigned(row, 1)?,
                given: unsigned(row, 2)?,
                answered: unsigned(row, 3)?,
                recorded: false,
                creates: false,
                inputs: (0, 0),
            });
        }
        Ok(())
    }

    fn objects(&mut self, db: &Connection) -> rusqlite::Result<()> {
        let sql = "SELECT handle, parent, created_by, created_index, type, name FROM objects ORDER BY object";
        let mut all = db.prepare(sql)?;
        let mut rows = all.query([])?;
        let mut counts: HashMap<String, u64> = HashMap::new();
        while let Some(row) = rows.next()? {
            let ty: String = row.get(4)?;
            let nth = counts.entry(ty.clone()).or_default();
            *nth += 1;
            let o = Object {
                handle: unsigned(row, 0)?,
                nth: *nth,
                ty,
                name: row.get(5)?,
                parent: unsigned(row, 1)?,
                created_by: unsigned(row, 2)?,
                index: unsigned(row, 3)?,
            };
            self.lives.entry(o.handle).or_default().push(self.objects.len() as u32);
            if let Some(i) = self.call_at(o.created_by) {
                self.calls[i].creates = true;
            }
            self.objects.push(o);
        }
        Ok(())
    }

    /// The capture was trimmed: it begins with the calls of a state.
    pub fn begins_with_state(&self) -> bool {
        self.frames.get(&0).is_some_and(|f| !f.calls.is_empty())
    }

    /// Which call a block is.
    pub fn call_at(&self, block: u64) -> Option<usize> {
        self.calls.binary_search_by_key(&block, |c| c.block).ok()
    }

    /// Which object an id was when a block came: the last that was made with it until then.
    pub fn object(&self, handle: u64, block: u64) -> Option<u32> {
        let all = self.lives.get(&handle)?;
        let behind = all.partition_point(|o| self.objects[*o as usize].created_by <= block);
        all.get(behind.checked_sub(1)?).copied()
    }

    fn inputs(&mut self, db: &Connection) -> rusqlite::Result<()> {
        let mut all = db.prepare("SELECT call, handle FROM call_objects WHERE made = 0 ORDER BY rowid")?;
        let mut rows = all.query([])?;
        let mut at = 0;
        while let Some(row) = rows.next()? {
            let (block, handle) = (unsigned(row, 0)?, unsigned(row, 1)?);
            while self.calls.get(at).is_some_and(|c| c.block < block) {
                at += 1;
            }
            let found = self.object(handle, block);
            let Some(call) = self.calls.get_mut(at).filter(|c| c.block == block) else { continue };
            if call.inputs.1 == 0 {
                call.inputs.0 = self.inputs.len() as u32;
            }
            call.inputs.1 += 1;
            self.inputs.push(found.unwrap_or(u32::MAX));
        }
        Ok(())
    }

    /// The objects that a call was given, but for those that nothing made.
    pub fn given(&self, call: &Call) -> impl Iterator<Item = u32> + '_ {
        let (from, n) = (call.inputs.0 as usize, call.inputs.1 as usize);
        self.inputs[from..from + n].iter().copied().filter(|o| *o != u32::MAX)
    }

    fn recordings(&mut self, db: &Connection) -> rusqlite::Result<()> {
        let mut all = db.prepare("SELECT call, recording FROM commands ORDER BY recording, command")?;
        let mut rows = all.query([])?;
        while let Some(row) = rows.next()? {
            let Some(i) = self.call_at(unsigned(row, 0)?) else { continue };
            self.calls[i].recorded = true;
            self.recordings.entry(unsigned(row, 1)?).or_default().push(i as u32);
        }
        let mut all =
            db.prepare("SELECT command_buffer, begin_call, recording FROM recordings ORDER BY recording")?;
        let mut rows = all.query([])?;
        while let Some(row) = rows.next()? {
            let begun = (unsigned(row, 1)?, unsigned(row, 2)?);
            self.held.entry(unsigned(row, 0)?).or_default().push(begun);
        }
        self.held.values_mut().for_each(|all| all.sort_unstable());
        let mut all = db.prepare("SELECT DISTINCT begin_call, text FROM labels WHERE text IS NOT NULL")?;
        let mut rows = all.query([])?;
        while let Some(row) = rows.next()? {
            _ = self.labels.insert(unsigned(row, 0)?, row.get(1)?);
        }
        Ok(())
    }

    fn frames(&mut self, db: &Connection) -> rusqlite::Result<()> {
        for (i, call) in self.calls.iter().enumerate() {
            let frame = self.frames.entry(call.frame).or_default();
            if !call.recorded {
                frame.calls.push(i as u32);
            }
        }
        let sql = "SELECT s.frame, s.submission, c.recording FROM submissions s JOIN submission_command_buffers c \
                   ON c.submission = s.submission WHERE c.recording IS NOT NULL ORDER BY s.submission, c.position";
        let mut all = db.prepare(sql)?;
        let mut rows = all.query([])?;
        let mut last = None;
        while let Some(row) = rows.next()? {
            let (frame, submission) = (unsigned(row, 0)?, unsigned(row, 1)?);
            let frame = self.frames.entry(frame).or_default();
            if last != Some(submission) {
                frame.submissions.push(vec![]);
                last = Some(submission);
            }
            if let Some(s) = frame.submissions.last_mut() {
                s.push(unsigned(row, 2)?);
            }
        }
        Ok(())
    }

    fn tail(&mut self, db: &Connection) -> rusqlite::Result<()> {
        let sql = "SELECT max(frame) FROM frames WHERE complete = 1";
        let last: Option<i64> = db.query_row(sql, [], |row| row.get(0))?;
        let behind = |last: u64| self.frames.keys().next_back().copied().filter(|n| *n > last);
        self.tail = last.map(i64::cast_unsigned).and_then(behind);
        Ok(())
    }

    fn writes(&mut self, db: &Connection) -> rusqlite::Result<()> {
        let sql = "SELECT frame, block, handle, aspect, offset, bytes, data_offset, hash FROM memory_writes ORDER BY rowid";
        let mut all = db.prepare(sql)?;
        let mut rows = all.query([])?;
        while let Some(row) = rows.next()? {
            let block = unsigned(row, 1)?;
            let written = Written {
                block,
                object: self.object(unsigned(row, 2)?, block),
                aspect: unsigned(row, 3)?,
                offset: unsigned(row, 4)?,
                bytes: unsigned(row, 5)?,
                at: unsigned(row, 6)?,
                hash: unsigned(row, 7)?,
            };
            self.frames.entry(unsigned(row, 0)?).or_default().writes.push(written);
        }
        Ok(())
    }

    fn addresses(&mut self, db: &Connection) -> rusqlite::Result<()> {
        let sql =
            "SELECT call, result FROM calls WHERE name GLOB 'vkGet*DeviceAddress*' AND result IS NOT NULL";
        let mut all = db.prepare(sql)?;
        let mut rows = all.query([])?;
        while let Some(row) = rows.next()? {
            let Some(i) = self.call_at(unsigned(row, 0)?) else { continue };
            let text = row.get_ref(1)?.as_str()?;
            let address = match text.strip_prefix("0x") {
                Some(digits) => u64::from_str_radix(digits, 16).ok(),
                None => text.parse().ok(),
            };
            // (the device comes first, the buffer last)
            let of = self.given(&self.calls[i]).last();
            if let (Some(address), Some(of)) = (address.filter(|a| *a != 0), of) {
                self.addresses.push((address, of));
            }
        }
        self.addresses.sort_unstable();
        self.addresses.dedup_by_key(|a| a.0);
        Ok(())
    }

    fn times(&mut self, db: &Connection) -> rusqlite::Result<()> {
        let there = db.prepare("SELECT 1 FROM sqlite_master WHERE name = 'execution_times'")?.exists([])?;
        if there {
            let mut all = db.prepare(
                "SELECT call, avg(time_ns) FROM execution_times WHERE time_ns IS NOT NULL GROUP BY call",
            )?;
            let mut rows = all.query([])?;
            while let Some(row) = rows.next()? {
                _ = self.times.insert(unsigned(row, 0)?, row.get(1)?);
            }
        }
        Ok(())
    }

    /// What a call is about, besides the device and the like.
    pub fn about(&self, call: &Call) -> Option<u32> {
        let general = ["VkDevice", "VkQueue", "VkInstance", "VkPhysicalDevice", "VkCommandBuffer"];
        self.given(call).find(|o| !general.contains(&self.objects[*o as usize].ty.as_str()))
    }

    /// A command's name.
    pub fn name(&self, call: &Call) -> &str {
        &self.names[call.name as usize]
    }

    /// How an object is called in sentences.
    pub fn called(&self, object: u32) -> String {
        let o = &self.objects[object as usize];
        match &o.name {
            Some(name) => format!("{} \"{name}\"", o.ty),
            None => format!("{} {}", o.ty, o.nth),
        }
    }
}
