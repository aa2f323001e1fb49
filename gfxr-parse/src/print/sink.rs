//! What the printer writes into: a tree of values, in one pass, in order.
//!
//! `Json` and `Text` are the two sinks. Guarantees asked of a sink: a key that no value
//! follows reads as null; everything written after a [`Sink::mark`] can be taken back.

/// See the module's header.
pub trait Sink {
    /// An empty sink.
    fn new() -> Self;
    /// What was written so far; the caller empties it when it has taken it away.
    fn bytes(&mut self) -> &mut Vec<u8>;

    /// Starts the record of block `index`: its kind (`function`, `meta`, `annotation`) and its name, if it has one.
    fn begin_record(&mut self, index: u64, kind: &'static str, name: Option<&str>);
    /// Starts a record that no block index goes with (`header`, `state`, `frame`).
    fn begin_bare(&mut self, kind: &'static str);
    /// The thread that made the call.
    fn thread(&mut self, thread: u64);
    /// A running number whose value only the sequential part of the program knows: writes all but the number, and
    /// returns where in [`Sink::bytes`] it belongs.
    fn counter(&mut self, key: &'static str) -> usize;
    /// The call's result comes next.
    fn result(&mut self);
    /// The arguments come next, as members.
    fn begin_args(&mut self);
    /// They end.
    fn end_args(&mut self);
    /// Ends a record and its line.
    fn end_record(&mut self);

    /// A struct begins.
    fn begin_object(&mut self);
    /// It ends.
    fn end_object(&mut self);
    /// A member: its value comes next.
    fn key(&mut self, name: &str);
    /// A member whose name may hold anything.
    fn key_text(&mut self, name: &str);
    /// An array begins; `flat` if its elements are single values.
    fn begin_array(&mut self, flat: bool);
    /// An element: its value comes next.
    fn element(&mut self, index: u32);
    /// It ends.
    fn end_array(&mut self);

    /// No value.
    fn null(&mut self);
    /// True or false.
    fn bool(&mut self, v: bool);
    /// An integer.
    fn u64(&mut self, v: u64);
    /// An integer.
    fn i64(&mut self, v: i64);
    /// A 32-bit float.
    fn f32(&mut self, v: f32);
    /// A 64-bit float.
    fn f64(&mut self, v: f64);
    /// Text that needs no escaping: names of the API.
    fn name(&mut self, v: &str);
    /// Text that may hold anything.
    fn text(&mut self, v: &str);
    /// `0x…`, at least `width` digits.
    fn hex(&mut self, v: u64, width: usize);
    /// Sixteen or so bytes as one hexadecimal number, in their order.
    fn uuid(&mut self, v: &[u8]);

    /// Remembers this place.
    fn mark(&mut self) -> usize;
    /// Takes back what was written since.
    fn rollback(&mut self, mark: usize);
}
