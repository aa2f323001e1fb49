//! Blocks edited as JSON: what somebody has changed in what was printed of a block goes back into its bytes.
//!
//! A value is found by what it prints as: it is the one that, changed, makes the print say what is wanted. Of those that hold the same, halves are
//! tried, so that a call is printed a few times for each edit. Before the values, elements, structs and texts are added and taken away (`form`); blocks
//! that are no calls have a search of their own (`blocks`). Guarantees: printed again, the block says
//! what was wanted wherever it was edited, and but for counts of arrays its other values are as they were. Where several readings of the same bytes are printed (clear
//! values), the others follow. Refuses what says which member of a union comes (`geometryType`), and what leaves pointers without what their counts promise.

mod blank;
mod blocks;
mod form;
mod paths;
mod places;
#[cfg(test)]
mod tests;

use crate::ahead::Call;
use crate::decode::decode_call;
use crate::error::Error;
use crate::parts::Encoded;
use crate::print::{Counts, Form, Options, Printer};
use crate::schema::Ty;
use crate::valid::{self, Level};
use crate::walk::walk_call;
use paths::{MOST, below, contradicted, is_nothing, refused, too_many};
use places::{Places, bits, read, write};
use serde_json::Value;
use std::path::PathBuf;

/// Parts of a printed call that can be edited.
const PARTS: [&str; 2] = ["args", "return"];
/// What has to stay as it was printed.
const SAME: [&str; 2] = ["name", "thread"];

/// Edits calls; keeps its memory between them.
#[derive(Debug)]
pub struct Editor {
    /// Where files with contents lie.
    folder: PathBuf,
    printer: Printer,
    line: Vec<u8>,
}

/// A value that is to be another one.
struct Change {
    /// Where it is printed, as a JSON pointer.
    path: String,
    was: Value,
    wanted: Value,
}

/// A value that may be the one: what it holds, and what it would hold.
struct Place {
    ty: Ty,
    at: u32,
    old: u64,
    new: u64,
}

impl Default for Editor {
    fn default() -> Self {
        Editor::new(PathBuf::new())
    }
}

impl Editor {
    /// One that finds the files which `wanted` names in this folder: contents of memory and the like, as `Binaries::Collect` gives them.
    pub fn new(folder: PathBuf) -> Editor {
        Editor { folder, printer: Printer::new(Form::Json, Options::default()), line: vec![] }
    }

    /// Makes of a call what `wanted` says, the object `function` of a printed line; how much of it is changed.
    pub fn edit(&mut self, call: &mut Call, wanted: &Value) -> Result<u64, Error> {
        let own = self.printed(call)?;
        for key in SAME {
            if own[key] != wanted[key] {
                return Err(refused(&format!("/{key}"), "only arguments and results can be others"));
            }
        }
        // (numbers of commands in their buffers are not of the call)
        if PARTS.iter().all(|part| own[part] == wanted[part]) {
            return Ok(0);
        }
        let (mut edited, mut wanted) = (call.clone(), wanted.clone());
        let done = self.forms(&mut edited, own, &mut wanted)? + self.values(&mut edited, &wanted)?;
        if valid::check(&mut call.image, Level::Memory).is_ok() {
            valid::check(&mut edited.image, Level::Memory)?;
        }
        *call = edited;
        Ok(done)
    }

    /// Adds and takes away what is wanted so, which `own` lacks or has; how often.
    fn forms(&mut self, call: &mut Call, mut own: Value, wanted: &mut Value) -> Result<u64, Error> {
        let (part, mut last) = (PARTS[0], String::new());
        let mut done = 0;
        while done <= MOST as u64 {
            let parts = Encoded::with_paths(&call.image);
            let place = form::differs(&own[part], &wanted[part], &format!("/{part}"), &parts);
            let Some(path) = place else { return Ok(done) };
            if path == last {
                return Err(refused(&path, "it cannot be written so that it is read again like that"));
            }
            let bytes = form::changed(&parts, &path, &own, wanted, &self.folder)?;
            if bytes == parts.bytes {
                last = path;
                continue;
            }
            decode_call(call.command, &bytes, &mut call.image).map_err(|e| refused(&path, &e.to_string()))?;
            own = self.printed(call)?;
            last = path;
            done += 1;
        }
        Err(too_many("arrays, structs and strings", "call"))
    }

    /// Gives values what is wanted; how many.
    fn values(&mut self, call: &mut Call, wanted: &Value) -> Result<u64, Error> {
        let own = self.printed(call)?;
        let mut changes = vec![];
        for part in PARTS {
            differences(&own[part], &wanted[part], &format!("/{part}"), &mut changes)?;
        }
        // (each prints the call some times)
        if changes.len() > MOST {
            return Err(too_many("values", "call"));
        }
        if changes.is_empty() {
            return Ok(0);
        }
        let mut places = Places::default();
        walk_call(&call.image, &mut places);
        let mut done = vec![];
        for change in &changes {
            done.extend(self.change(call, &places, change)?.map(|ty| (change, ty)));
        }
        // (two readings of the same bytes may have been edited)
        let now = self.printed(call)?;
        for (c, ty) in &done {
            if now.pointer(&c.path).and_then(|v| bits(*ty, v)) != bits(*ty, &c.wanted) {
                return Err(contradicted(&c.path));
            }
        }
        // (floats are rounded, and flags and enumerants are written in several ways)
        let differs = |c: &&Change| {
            let is = now.pointer(&c.path).unwrap_or(&Value::Null);
            !equal(is, &c.wanted) && !c.was.is_string() && done.iter().all(|(d, _)| d.path != c.path)
        };
        match changes.iter().find(differs) {
            Some(lost) => Err(contradicted(&lost.path)),
            None => Ok(done.len() as u64),
        }
    }

    /// Writes one value to where it is printed from; its type, or none where it is there already.
    fn change(&mut self, call: &mut Call, places: &Places, change: &Change) -> Result<Option<Ty>, Error> {
        let Change { path, was, wanted } = change;
        // (another reading of the same bytes may have been edited alike)
        if self.printed(call)?.pointer(path).is_some_and(|now| equal(now, wanted)) {
            return Ok(None);
        }
        for all in [&places.values, &places.floats, &places.signed] {
            let holds = |&(ty, at): &(Ty, u32)| {
                let (old, new) = (bits(ty, was)?, bits(ty, wanted)?);
                (read(&call.image, ty, at) == old).then_some(Place { ty, at, old, new })
            };
            let (same, of): (Vec<Place>, Vec<Place>) =
                all.iter().filter_map(holds).partition(|p| p.old == p.new);
            // (the same value, written another way)
            if of.is_empty() && !same.is_empty() && (was.is_string() || wanted.is_string()) {
                return Ok(None);
            }
            let mut some = &of[..];
            while some.len() > 1 {
                let (half, others) = some.split_at(some.len() / 2);
                some = if self.says(call, half, path)? { half } else { others };
            }
            if let [one] = some
                && self.says(call, some, path)?
            {
                write(&mut call.image, one.ty, one.at, one.new);
                return Ok(Some(one.ty));
            }
        }
        Err(refused(path, "expected another value of its kind and range"))
    }

    /// Whether the print says what is wanted if these places have it.
    fn says(&mut self, call: &mut Call, some: &[Place], path: &str) -> Result<bool, Error> {
        some.iter().for_each(|p| write(&mut call.image, p.ty, p.at, p.new));
        let now = self.printed(call);
        some.iter().rev().for_each(|p| write(&mut call.image, p.ty, p.at, p.old));
        let now = now?;
        let said = now.pointer(path);
        Ok(some.iter().any(|p| said.and_then(|v| bits(p.ty, v)) == Some(p.new)))
    }

    fn printed(&mut self, call: &mut Call) -> Result<Value, Error> {
        self.printer.call(call);
        Ok(self.drained()?["function"].take())
    }

    /// What was printed last.
    fn drained(&mut self) -> Result<Value, Error> {
        self.line.clear();
        self.printer.drain_into(&mut Counts::default(), &mut self.line);
        serde_json::from_slice(&self.line).map_err(|e| Error::malformed(e.to_string()))
    }
}

/// Whether two values are the same, whatever a float is written like.
fn equal(a: &Value, b: &Value) -> bool {
    let float = |v: &Value| v.as_f64().map(f64::to_bits);
    match (a, b) {
        _ if a.is_f64() => float(a) == float(b),
        (Value::Null, b) => is_nothing(b),
        _ => a == b,
    }
}

/// Single values that differ; trees that have other branches are refused.
fn differences(own: &Value, wanted: &Value, path: &str, to: &mut Vec<Change>) -> Result<(), Error> {
    match (own, wanted) {
        (Value::Object(a), Value::Object(b)) => {
            // (null is what is not there)
            if let Some((key, _)) = b.iter().find(|(k, v)| !is_nothing(v) && !a.contains_key(*k)) {
                return Err(refused(&below(path, key), "there is no such member"));
            }
            for (key, value) in a {
                let path = below(path, key);
                let wanted = match b.get(key) {
                    Some(wanted) => wanted,
                    None if value.is_null() => value,
                    None => return Err(refused(&path, "the member is missing")),
                };
                differences(value, wanted, &path, to)?;
            }
            Ok(())
        }
        (Value::Array(a), Value::Array(b)) if a.len() == b.len() => {
            let all = a.iter().zip(b).enumerate();
            all.into_iter().try_for_each(|(i, (a, b))| differences(a, b, &format!("{path}/{i}"), to))
        }
        (Value::Array(a), Value::Array(b)) => {
            Err(refused(path, &format!("expected {} elements, found {}", a.len(), b.len())))
        }
        (a, b) if equal(a, b) => Ok(()),
        (Value::Object(_) | Value::Array(_) | Value::Null, _)
        | (_, Value::Object(_) | Value::Array(_) | Value::Null) => {
            Err(refused(path, "expected a value of the same kind"))
        }
        (was, wanted) => {
            to.push(Change { path: path.to_owned(), was: was.clone(), wanted: wanted.clone() });
            Ok(())
        }
    }
}
