//! JSON Lines: one object a block, in the shape of the newest `gfxrecon-convert`.
//!
//! ```text
//! {"index":2,"function":{"name":"vkCreateInstance","thread":1,"return":"VK_SUCCESS","args":{…}}}
//! {"index":9,"meta":{"name":"FillMemoryCommand","args":{…}}}
//! {"index":1,"annotation":{…}}       {"state":{…}}       {"frame":{…}}       {"header":{…}}
//! ```
//!
//! Guarantees: every line is valid JSON in UTF-8 whatever the capture holds: text that is not UTF-8 gets replacement
//! characters, floats without a JSON form (NaN, infinities) become null. 32-bit floats are written as the 64-bit
//! number they are equal to, as upstream does.

use super::sink::Sink;

/// See the module's header.
#[derive(Debug, Default)]
pub struct Json {
    out: Vec<u8>,
}

const HEX: &[u8; 16] = b"0123456789abcdef";

impl Json {
    /// A comma, unless this is the first of its object or array, or a null that was owed.
    #[inline]
    fn separate(&mut self) {
        match self.out.last() {
            Some(b'{' | b'[' | b'\n') | None => {}
            Some(b':') => self.out.extend_from_slice(b"null,"),
            _ => self.out.push(b','),
        }
    }
    /// A null for a key that got no value.
    #[inline]
    fn settle(&mut self) {
        if self.out.last() == Some(&b':') {
            self.out.extend_from_slice(b"null");
        }
    }
    fn close(&mut self, n: usize) {
        self.settle();
        self.out.resize(self.out.len() + n, b'}');
    }
    #[cold]
    fn escape(&mut self, text: &str) {
        for c in text.bytes() {
            match c {
                b'"' => self.out.extend_from_slice(b"\\\""),
                b'\\' => self.out.extend_from_slice(b"\\\\"),
                b'\n' => self.out.extend_from_slice(b"\\n"),
                b'\r' => self.out.extend_from_slice(b"\\r"),
                b'\t' => self.out.extend_from_slice(b"\\t"),
                0x08 => self.out.extend_from_slice(b"\\b"),
                0x0C => self.out.extend_from_slice(b"\\f"),
                0..0x20 => {
                    self.out.extend_from_slice(b"\\u00");
                    self.out.push(HEX[usize::from(c >> 4)]);
                    self.out.push(HEX[usize::from(c & 15)]);
                }
                _ => self.out.push(c),
            }
        }
    }
}

impl Sink for Json {
    fn new() -> Self {
        Self::default()
    }
    fn bytes(&mut self) -> &mut Vec<u8> {
        &mut self.out
    }

    #[inline]
    fn begin_record(&mut self, index: u64, kind: &'static str, name: Option<&str>) {
        self.out.extend_from_slice(b"{\"index\":");
        self.u64(index);
        self.out.extend_from_slice(b",\"");
        self.out.extend_from_slice(kind.as_bytes());
        self.out.extend_from_slice(b"\":{");
        if let Some(name) = name {
            self.out.extend_from_slice(b"\"name\":\"");
            self.out.extend_from_slice(name.as_bytes());
            self.out.push(b'"');
        }
    }
    fn begin_bare(&mut self, kind: &'static str) {
        self.out.extend_from_slice(b"{\"");
        self.out.extend_from_slice(kind.as_bytes());
        self.out.extend_from_slice(b"\":{");
    }
    #[inline]
    fn thread(&mut self, thread: u64) {
        self.out.extend_from_slice(b",\"thread\":");
        self.u64(thread);
    }
    #[inline]
    fn counter(&mut self, key: &'static str) -> usize {
        self.out.extend_from_slice(b",\"");
        self.out.extend_from_slice(key.as_bytes());
        self.out.extend_from_slice(b"\":");
        self.out.len()
    }
    #[inline]
    fn result(&mut self) {
        self.out.extend_from_slice(b",\"return\":");
    }
    #[inline]
    fn begin_args(&mut self) {
        self.out.extend_from_slice(b",\"args\":{");
    }
    #[inline]
    fn end_args(&mut self) {
        self.close(1);
    }
    #[inline]
    fn end_record(&mut self) {
        self.close(2);
        self.out.push(b'\n');
    }

    #[inline]
    fn begin_object(&mut self) {
        self.out.push(b'{');
    }
    #[inline]
    fn end_object(&mut self) {
        self.close(1);
    }
    #[inline]
    fn key(&mut self, name: &str) {
        self.separate();
        let name = name.as_bytes();
        self.out.reserve(name.len() + 3);
        self.out.push(b'"');
        self.out.extend_from_slice(name);
        self.out.extend_from_slice(b"\":");
    }
    fn key_text(&mut self, name: &str) {
        self.separate();
        self.text(name);
        self.out.push(b':');
    }
    #[inline]
    fn begin_array(&mut self, _flat: bool) {
        self.out.push(b'[');
    }
    #[inline]
    fn element(&mut self, index: u32) {
        if index != 0 {
            self.out.push(b',');
        }
    }
    #[inline]
    fn end_array(&mut self) {
        self.out.push(b']');
    }

    #[inline]
    fn null(&mut self) {
        self.out.extend_from_slice(b"null");
    }
    #[inline]
    fn bool(&mut self, v: bool) {
        self.out.extend_from_slice(if v { b"true" } else { b"false" });
    }
    #[inline]
    fn u64(&mut self, v: u64) {
        if v < 10 {
            return self.out.push(b'0' + v as u8);
        }
        let mut digits = itoa::Buffer::new();
        self.out.extend_from_slice(digits.format(v).as_bytes());
    }
    #[inline]
    fn i64(&mut self, v: i64) {
        let mut digits = itoa::Buffer::new();
        self.out.extend_from_slice(digits.format(v).as_bytes());
    }
    fn f32(&mut self, v: f32) {
        self.f64(f64::from(v));
    }
    fn f64(&mut self, v: f64) {
        if !v.is_finite() {
            return self.null();
        }
        if v.fract() == 0.0 && v.abs() < 1e15 && (v != 0.0 || v.is_sign_positive()) {
            self.i64(v as i64);
            return self.out.extend_from_slice(b".0");
        }
        let mut digits = ryu::Buffer::new();
        self.out.extend_from_slice(digits.format_finite(v).as_bytes());
    }
    #[inline]
    fn name(&mut self, v: &str) {
        let v = v.as_bytes();
        self.out.reserve(v.len() + 2);
        self.out.push(b'"');
        self.out.extend_from_slice(v);
        self.out.push(b'"');
    }
    fn text(&mut self, v: &str) {
        if v.bytes().any(|c| c < 0x20 || c == b'"' || c == b'\\') {
            self.out.push(b'"');
            self.escape(v);
            self.out.push(b'"');
        } else {
            self.name(v);
        }
    }
    #[inline]
    fn hex(&mut self, v: u64, width: usize) {
        let mut text = *b"\"0x0000000000000000\"";
        for k in 0..16 {
            text[3 + k] = HEX[(v >> (60 - 4 * k)) as usize & 15];
        }
        let digits = width.max(16 - v.leading_zeros() as usize / 4).max(1);
        self.out.extend_from_slice(b"\"0x");
        self.out.extend_from_slice(&text[19 - digits..]);
    }
    fn uuid(&mut self, v: &[u8]) {
        self.out.push(b'"');
        for &b in v {
            self.out.push(HEX[usize::from(b >> 4)]);
            self.out.push(HEX[usize::from(b & 15)]);
        }
        self.out.push(b'"');
    }

    #[inline]
    fn mark(&mut self) -> usize {
        self.out.len()
    }
    #[inline]
    fn rollback(&mut self, mark: usize) {
        self.out.truncate(mark);
    }
}
