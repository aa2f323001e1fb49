//! What each draw, dispatch and trace of a frame had bound: descriptors, down to resources and ranges.
//!
//! *Input.* The tables that command `bindings` records (`trace::tables` on resources). Draws are numbered as everywhere: `invocations` has them in the
//! order of execution. Guarantees: dynamic offsets are added. Refuses nothing: of more than [`MOST_ROWS`] rows the first are given, and the
//! number of the others is known.

use super::columns::BOUND;
use crate::report::{Cell, MOST_ROWS, Table};
use std::collections::{BTreeMap, HashMap, HashSet};
use std::sync::Arc;
use trace::tables::{
    DESCRIPTORS, DYNAMIC_OFFSETS, INVOCATION_SETS, INVOCATIONS, RESOURCE_BUFFERS, SET_CONTENTS,
};
use trace::{Source, Unreadable};

/// A descriptor in words: its type, what it is of, where in that, how much; and why it is not known.
struct Descriptor {
    kind: Arc<str>,
    buffer: u64,
    offset: u64,
    range: u64,
    others: String,
    unknown: Arc<str>,
}

/// The table, and how many rows it lacks.
pub fn bound(trace: &dyn Source, frame: u64) -> Result<(Table, usize), Unreadable> {
    let draws = draws(trace, frame)?;
    // Draw, set, contents, offsets.
    let mut sets: Vec<[u64; 4]> = vec![];
    trace.each(&INVOCATION_SETS, &mut |t| {
        for row in 0..t.len() {
            if let Some(draw) = draws.get(&t.u64("invocation")[row]) {
                let [set, contents, offsets] = ["set", "contents", "offsets"].map(|c| t.u64(c)[row]);
                sets.push([*draw, set, contents, offsets]);
            }
        }
        Ok(())
    })?;
    sets.sort_unstable();
    let used: HashSet<u64> = sets.iter().map(|s| s[2]).collect();
    // By contents: binding, element, descriptor.
    let mut contents: HashMap<u64, Vec<[u64; 3]>> = HashMap::new();
    trace.each(&SET_CONTENTS, &mut |t| {
        for row in (0..t.len()).filter(|row| used.contains(&t.u64("contents")[*row])) {
            let of = ["binding", "element", "descriptor"].map(|c| t.u64(c)[row]);
            contents.entry(t.u64("contents")[row]).or_default().push(of);
        }
        Ok(())
    })?;
    contents.values_mut().for_each(|of| of.sort_unstable());
    let mut dynamic: HashMap<[u64; 3], u64> = HashMap::new();
    let t = trace.read(&DYNAMIC_OFFSETS)?;
    for row in 0..t.len() {
        let key = ["offsets", "binding", "element"].map(|c| t.u64(c)[row]);
        dynamic.insert(key, t.u64("offset")[row]);
    }
    let used: HashSet<u64> = contents.values().flatten().map(|of| of[2]).collect();
    let descriptors = descriptors(trace, &used)?;
    let names: HashMap<u64, Arc<str>> = {
        let t = trace.read(&RESOURCE_BUFFERS)?;
        (0..t.len()).map(|row| (t.u64("buffer")[row], t.text("name")[row].clone())).collect()
    };
    let (mut rows, mut more) = (vec![], 0);
    for [draw, set, of, offsets] in sets {
        for &[binding, element, descriptor] in contents.get(&of).into_iter().flatten() {
            if rows.len() == MOST_ROWS {
                more += 1;
                continue;
            }
            let place = if element == 0 { binding.to_string() } else { format!("{binding}[{element}]") };
            let mut row: Vec<Cell> = vec![Cell::Count(draw), Cell::Count(set), place.into()];
            match descriptors.get(&descriptor) {
                Some(d) if !d.unknown.is_empty() => {
                    row.extend([(&*d.kind).into(), format!("not known: {}", d.unknown).into()]);
                    row.extend([Cell::Missing, Cell::Missing]);
                }
                Some(d) if d.buffer != 0 => {
                    let moved = dynamic.get(&[offsets, binding, element]).copied().unwrap_or(0);
                    let name = names.get(&d.buffer).map_or("", |n| n);
                    let buffer = trace::names::object("buffer", d.buffer, name);
                    row.extend([(&*d.kind).into(), buffer.into()]);
                    row.extend([Cell::Count(d.offset.saturating_add(moved)), Cell::Count(d.range)]);
                }
                Some(d) => {
                    row.extend([(&*d.kind).into(), d.others.as_str().into(), Cell::Missing, Cell::Missing])
                }
                None => row.extend(["never written".into(), Cell::Missing, Cell::Missing, Cell::Missing]),
            }
            rows.push(row);
        }
    }
    Ok((BOUND.table(rows), more))
}

/// The number in the frame of each invocation that is of it.
fn draws(trace: &dyn Source, frame: u64) -> Result<BTreeMap<u64, u64>, Unreadable> {
    let mut of = vec![];
    trace.each(&INVOCATIONS, &mut |t| {
        let rows = (0..t.len()).filter(|row| t.u64("frame")[*row] == frame);
        of.extend(rows.map(|row| t.u64("invocation")[row]));
        Ok(())
    })?;
    of.sort_unstable();
    Ok(of.into_iter().zip(1..).collect())
}

fn descriptors(trace: &dyn Source, used: &HashSet<u64>) -> Result<HashMap<u64, Descriptor>, Unreadable> {
    let mut all = HashMap::new();
    trace.each(&DESCRIPTORS, &mut |t| {
        for row in (0..t.len()).filter(|row| used.contains(&t.u64("descriptor")[*row])) {
            let is =
                [("image", "image"), ("view", "view"), ("sampler", "sampler"), ("structure", "structure")];
            let named = is.into_iter().map(|(column, word)| (word, t.u64(column)[row]));
            let mut others: Vec<String> =
                named.filter(|n| n.1 != 0).map(|(word, id)| format!("{word} {id}")).collect();
            let layout = &t.text("layout")[row];
            if !layout.is_empty() {
                others.push(layout.to_lowercase().replace('_', " "));
            }
            let [buffer, offset, range] = ["buffer", "offset", "range"].map(|c| t.u64(c)[row]);
            let (kind, unknown) = (t.text("type")[row].clone(), t.text("unknown")[row].clone());
            let d = Descriptor { kind, buffer, offset, range, others: others.join(", "), unknown };
            all.insert(t.u64("descriptor")[row], d);
        }
        Ok(())
    })?;
    Ok(all)
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::bindings::resources::sample::Sample;

    #[test]
    fn draws_of_a_frame_have_what_was_bound() {
        let mut s = Sample::default();
        s.frame = 1;
        s.descriptor(1, 40, 256, 64);
        s.draw(7);
        s.set(0, 90, &[(0, &[1])]);
        s.frame = 2;
        s.draw(7);
        s.set_at(0, 90, &[(0, &[1])], &[(0, 512)]);
        s.draw(7);
        s.set(1, 91, &[(3, &[1, 0])]);
        let (table, more) = bound(&s.memory, 2).expect("a whole trace");
        let row = |draw: u64, set: u64, place: &str, at: u64| -> Vec<Cell> {
            let of = ["uniform buffer".into(), "buffer 40".into(), Cell::Count(at), Cell::Count(64)];
            [vec![Cell::Count(draw), Cell::Count(set), place.into()], of.to_vec()].concat()
        };
        assert_eq!(table.rows[..2], [row(1, 0, "0", 768), row(2, 1, "3", 256)]);
        assert_eq!(table.rows[2][2..4], ["3[1]".into(), "never written".into()]);
        assert_eq!((table.rows.len(), more), (3, 0));
        assert!(bound(&s.memory, 3).expect("nothing").0.rows.is_empty());
    }
}
