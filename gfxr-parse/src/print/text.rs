//! Indented text, for reading.
//!
//! ```text
//! #2 vkCreateInstance (thread 1) = VK_SUCCESS
//!     pCreateInfo:
//!         sType: VK_STRUCTURE_TYPE_INSTANCE_CREATE_INFO
//!         ppEnabledExtensionNames: "VK_KHR_surface", "VK_KHR_xcb_surface"
//!     pInstance: 1
//! ```
//!
//! Guarantees: the same values as the JSON, in the same order; every record starts in the first column with `#` and
//! its block's index (or with its kind, where no index goes with it), all else is indented. Text is quoted and escaped.

use super::sink::Sink;
use std::io::Write;

/// See the module's header.
#[derive(Debug, Default)]
pub struct Text {
    out: Vec<u8>,
    depth: usize,
    /// A key was written and no value yet.
    owed: bool,
    /// For each open array: its elements are single values on one line.
    flat: Vec<bool>,
    head: bool,
}

impl Text {
    fn line(&mut self) {
        if self.owed {
            self.out.extend_from_slice(b" null");
        }
        self.owed = false;
        self.out.push(b'\n');
        self.out.resize(self.out.len() + 4 * self.depth, b' ');
    }
    /// Before a single value: the blank after a key's colon.
    fn value(&mut self) {
        if self.owed {
            self.out.push(b' ');
        }
        self.owed = false;
    }
    fn put(&mut self, v: std::fmt::Arguments) {
        self.value();
        self.out.write_fmt(v).expect("writing to memory");
    }
}

impl Sink for Text {
    fn new() -> Self {
        Self::default()
    }
    fn bytes(&mut self) -> &mut Vec<u8> {
        &mut self.out
    }

    fn begin_record(&mut self, index: u64, kind: &'static str, name: Option<&str>) {
        self.put(format_args!("#{index} {}", name.unwrap_or(kind)));
        self.depth = 1;
        self.head = true;
    }
    fn begin_bare(&mut self, kind: &'static str) {
        self.put(format_args!("{kind}"));
        self.depth = 1;
    }
    fn thread(&mut self, thread: u64) {
        self.put(format_args!(" (thread {thread})"));
    }
    fn counter(&mut self, key: &'static str) -> usize {
        self.put(format_args!(" {key} "));
        self.out.len()
    }
    fn result(&mut self) {
        self.out.extend_from_slice(b" = ");
    }
    fn begin_args(&mut self) {
        self.head = false;
    }
    fn end_args(&mut self) {}
    fn end_record(&mut self) {
        self.depth = 0;
        self.line();
    }

    fn begin_object(&mut self) {
        self.owed = false;
        self.depth += 1;
    }
    fn end_object(&mut self) {
        if self.owed {
            self.out.extend_from_slice(b" null");
            self.owed = false;
        }
        self.depth -= 1;
    }
    fn key(&mut self, name: &str) {
        self.line();
        self.out.extend_from_slice(name.as_bytes());
        self.out.push(b':');
        self.owed = true;
    }
    fn key_text(&mut self, name: &str) {
        self.key(&name.escape_debug().to_string());
    }
    fn begin_array(&mut self, flat: bool) {
        self.flat.push(flat);
        if flat {
            self.value();
            self.out.push(b'[');
        } else {
            self.owed = false;
            self.depth += 1;
        }
    }
    fn element(&mut self, index: u32) {
        if self.flat.last() == Some(&true) {
            if index != 0 {
                self.out.extend_from_slice(b", ");
            }
        } else {
            self.line();
            write!(self.out, "[{index}]:").expect("writing to memory");
            self.owed = true;
        }
    }
    fn end_array(&mut self) {
        if self.flat.pop() == Some(true) {
            self.out.push(b']');
        } else {
            self.depth -= 1;
        }
    }

    fn null(&mut self) {
        self.put(format_args!("null"));
    }
    fn bool(&mut self, v: bool) {
        self.put(format_args!("{v}"));
    }
    fn u64(&mut self, v: u64) {
        self.put(format_args!("{v}"));
    }
    fn i64(&mut self, v: i64) {
        self.put(format_args!("{v}"));
    }
    fn f32(&mut self, v: f32) {
        self.put(format_args!("{v:?}"));
    }
    fn f64(&mut self, v: f64) {
        self.put(format_args!("{v:?}"));
    }
    fn name(&mut self, v: &str) {
        self.put(format_args!("{v}"));
    }
    fn text(&mut self, v: &str) {
        self.put(format_args!("{v:?}"));
    }
    fn hex(&mut self, v: u64, width: usize) {
        self.put(format_args!("0x{v:0width$x}"));
    }
    fn uuid(&mut self, v: &[u8]) {
        self.value();
        for b in v {
            write!(self.out, "{b:02x}").expect("writing to memory");
        }
    }

    fn mark(&mut self) -> usize {
        self.out.len()
    }
    fn rollback(&mut self, mark: usize) {
        self.out.truncate(mark);
        self.owed = false;
    }
}
