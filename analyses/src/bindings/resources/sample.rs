//! Tables made by hand, for tests of questions about resources: rows by the names of their columns, what is not said is 0 or empty.

use std::collections::BTreeMap;
use trace::tables::*;
use trace::{Kind, Memory, Table, Value};

/// A trace being made.
#[derive(Default)]
pub struct Sample {
    /// What was put in.
    pub memory: Memory,
    invocations: u64,
    contents: BTreeMap<Vec<(u64, Vec<u64>)>, u64>,
    words: BTreeMap<Vec<Option<u32>>, u64>,
    offsets: BTreeMap<Vec<(u64, u64)>, u64>,
    /// Where the next draw is.
    pub frame: u64,
    /// The recording that it is of.
    pub recording: u64,
    /// Its pass.
    pub pass: u64,
}

/// A row.
pub fn row(memory: &mut Memory, table: &'static Table, numbers: &[(&str, u64)], texts: &[(&str, &str)]) {
    let known = |name: &str| assert!(table.columns.iter().any(|c| c.name == name), "{}.{name}", table.name);
    numbers.iter().for_each(|n| known(n.0));
    texts.iter().for_each(|t| known(t.0));
    let of = |c: &trace::Column| match c.kind {
        Kind::Text => Value::Text(texts.iter().find(|t| t.0 == c.name).map_or("", |t| t.1)),
        Kind::F64 => Value::F64(0.0),
        Kind::U64 => Value::U64(numbers.iter().find(|n| n.0 == c.name).map_or(0, |n| n.1)),
    };
    memory.put(table, &table.columns.iter().map(of).collect::<Vec<_>>());
}

impl Sample {
    /// A graphics pipeline of this layout; the words are what it is compatible with.
    pub fn pipeline(&mut self, id: u64, layout: u64, compatible: &str) {
        row(
            &mut self.memory,
            &RESOURCE_PIPELINES,
            &[("pipeline", id), ("layout", layout), ("max_sets", 8), ("max_push_bytes", 128)],
            &[("kind", "graphics"), ("compatible", compatible)],
        );
    }

    /// A binding: pipeline, set, binding, descriptors; then type, flags, name.
    pub fn slot(&mut self, [pipeline, set, binding, count]: [u64; 4], [kind, flags, name]: [&str; 3]) {
        self.block([pipeline, set, binding, count, 0], [kind, flags, name]);
    }

    /// The same, with the bytes of the block that is declared there.
    pub fn block(
        &mut self,
        [pipeline, set, binding, count, bytes]: [u64; 5],
        [kind, flags, name]: [&str; 3],
    ) {
        row(
            &mut self.memory,
            &RESOURCE_SLOTS,
            &[
                ("pipeline", pipeline),
                ("set", set),
                ("binding", binding),
                ("count", count),
                ("block_bytes", bytes),
            ],
            &[
                ("type", kind),
                ("flags", flags),
                ("name", name),
                ("used", "fragment"),
                ("access", "read"),
                ("stages", "fragment"),
            ],
        );
    }

    /// A member: pipeline, set, binding, offset, bytes; then name, type, and the stages that use it.
    pub fn member(&mut self, at: [u64; 5], [name, kind, used]: [&str; 3]) {
        let [pipeline, set, binding, offset, bytes] = at;
        let matrix = if kind.contains("mat") { 16 } else { 0 };
        let array = if kind.contains('[') { 16 } else { 0 };
        row(
            &mut self.memory,
            &RESOURCE_MEMBERS,
            &[
                ("pipeline", pipeline),
                ("set", set),
                ("binding", binding),
                ("offset", offset),
                ("bytes", bytes),
                ("matrix_stride", matrix),
                ("array_stride", array),
            ],
            &[("space", "block"), ("name", name), ("type", kind), ("used", used)],
        );
    }

    /// A uniform buffer's descriptor.
    pub fn descriptor(&mut self, number: u64, buffer: u64, offset: u64, range: u64) {
        row(
            &mut self.memory,
            &DESCRIPTORS,
            &[("descriptor", number), ("buffer", buffer), ("offset", offset), ("range", range)],
            &[("type", "uniform buffer")],
        );
    }

    /// A draw. Its sets come with [`Sample::set`].
    pub fn draw(&mut self, pipeline: u64) -> u64 {
        let n = self.invocations;
        self.invocations += 1;
        let numbers = [
            ("invocation", n),
            ("frame", self.frame),
            ("submission", self.frame),
            ("command_buffer", 50),
            ("recording", self.recording),
            ("command", n),
            ("pass", self.pass),
            ("pipeline", pipeline),
        ];
        row(&mut self.memory, &INVOCATIONS, &numbers, &[("kind", "Draw")]);
        n
    }

    /// A set of the last draw: number, handle, and descriptors by binding.
    pub fn set(&mut self, set: u64, handle: u64, bindings: &[(u64, &[u64])]) {
        self.set_at(set, handle, bindings, &[]);
    }

    /// The same, with dynamic offsets by binding.
    pub fn set_at(&mut self, set: u64, handle: u64, bindings: &[(u64, &[u64])], offsets: &[(u64, u64)]) {
        let key: Vec<(u64, Vec<u64>)> = bindings.iter().map(|(b, d)| (*b, d.to_vec())).collect();
        let next = self.contents.len() as u64 + 1;
        let contents = *self.contents.entry(key).or_insert(next);
        if contents == next {
            for (binding, descriptors) in bindings {
                for (element, d) in descriptors.iter().enumerate() {
                    let numbers = [
                        ("contents", contents),
                        ("binding", *binding),
                        ("element", element as u64),
                        ("descriptor", *d),
                    ];
                    row(&mut self.memory, &SET_CONTENTS, &numbers, &[]);
                }
            }
        }
        let mut list = 0;
        if !offsets.is_empty() {
            let next = self.offsets.len() as u64 + 1;
            list = *self.offsets.entry(offsets.to_vec()).or_insert(next);
            for (binding, offset) in offsets.iter().filter(|_| list == next) {
                let numbers = [("offsets", list), ("binding", *binding), ("offset", *offset)];
                row(&mut self.memory, &DYNAMIC_OFFSETS, &numbers, &[]);
            }
        }
        let numbers = [
            ("invocation", self.invocations - 1),
            ("set", set),
            ("handle", handle),
            ("contents", contents),
            ("offsets", list),
        ];
        row(&mut self.memory, &INVOCATION_SETS, &numbers, &[]);
    }

    /// The bytes of a block at the last draw: set, binding, buffer, offset; words that are not known are `None`.
    pub fn bytes(&mut self, [set, binding, buffer, offset]: [u64; 4], words: &[Option<u32>]) {
        let next = self.words.len() as u64 + 1;
        let contents = *self.words.entry(words.to_vec()).or_insert(next);
        if contents == next {
            for (n, w) in words.iter().enumerate().filter_map(|(n, w)| w.map(|w| (n as u64, w))) {
                let numbers = [("contents", contents), ("offset", 4 * n), ("word", w.into())];
                row(&mut self.memory, &CONTENT_WORDS, &numbers, &[]);
            }
        }
        let known = words.iter().filter(|w| w.is_some()).count() as u64 * 4;
        let unknown = if known == 4 * words.len() as u64 { "" } else { "written by a shader" };
        let numbers = [
            ("invocation", self.invocations - 1),
            ("set", set),
            ("binding", binding),
            ("contents", contents),
            ("known_bytes", known),
            ("buffer", buffer),
            ("offset", offset),
        ];
        row(&mut self.memory, &INVOCATION_BLOCKS, &numbers, &[("space", "block"), ("unknown", unknown)]);
    }
}
