//! What draws have beside descriptors: vertex, index and transform-feedback buffers, push constants.
//!
//! Guarantees: equal ones have one number, and are written once. Refuses nothing.

use crate::error::Error;
use crate::schema;
use crate::table::{Value, id, rest};
use crate::words::{hex, value};
use crate::writer::{TableId, Writer};
use std::collections::HashMap;
use std::rc::Rc;
use world::World;
use world::commands::{Inputs, Place, Push, Stream};

/// Use, binding, buffer, offset, address, bytes, index type.
type Line = (&'static str, usize, u64, u64, u64, u64, u32);

/// The tables.
pub(super) struct Bound {
    buffers: TableId,
    pushes: TableId,
    /// Lists of buffers by what is in them; and the last that was asked for.
    lists: HashMap<Vec<Line>, u64>,
    last: Option<(Rc<Inputs>, u64)>,
    /// Push constants by what they are; and by their version, which changes with them.
    contents: HashMap<(Vec<u8>, Vec<bool>), u64>,
    versions: HashMap<u64, u64>,
}

impl Bound {
    pub fn new(writer: &mut Writer) -> Result<Self, Error> {
        Ok(Bound {
            buffers: writer.table(schema::input_buffers())?,
            pushes: writer.table(schema::push_constants())?,
            lists: HashMap::new(),
            last: None,
            contents: HashMap::new(),
            versions: HashMap::new(),
        })
    }

    /// The number of these buffers; NULL where there are none.
    pub fn inputs(
        &mut self,
        writer: &mut Writer,
        world: &World,
        inputs: &Rc<Inputs>,
    ) -> Result<Value, Error> {
        if let Some((last, number)) = &self.last
            && Rc::ptr_eq(last, inputs)
        {
            return Ok(id(*number));
        }
        let number = self.list(writer, lines(world, inputs))?;
        self.last = Some((Rc::clone(inputs), number));
        Ok(id(number))
    }

    fn list(&mut self, writer: &mut Writer, lines: Vec<Line>) -> Result<u64, Error> {
        if lines.is_empty() {
            return Ok(0);
        }
        if let Some(number) = self.lists.get(&lines) {
            return Ok(*number);
        }
        let number = self.lists.len() as u64 + 1;
        for &(what, binding, buffer, offset, address, bytes, index) in &lines {
            writer.row(
                self.buffers,
                [
                    number.into(),
                    Value::Word(what),
                    binding.into(),
                    id(buffer),
                    offset.into(),
                    id(address),
                    rest(bytes),
                    if what == "index" { value("VkIndexType", index) } else { Value::Null },
                ],
            )?;
        }
        self.lists.insert(lines, number);
        Ok(number)
    }

    /// The number of these push constants; NULL where none were pushed.
    pub fn push(&mut self, writer: &mut Writer, push: &Push) -> Result<Value, Error> {
        if push.bytes.is_empty() {
            return Ok(Value::Null);
        }
        if let Some(number) = self.versions.get(&push.version) {
            return Ok((*number).into());
        }
        let next = self.contents.len() as u64 + 1;
        let number = *self.contents.entry((push.bytes.clone(), push.pushed.clone())).or_insert(next);
        if number == next {
            let words = hex(&push.bytes, &push.pushed);
            writer.row(self.pushes, [number.into(), push.bytes.len().into(), words])?;
        }
        self.versions.insert(push.version, number);
        Ok(number.into())
    }
}

fn lines(world: &World, inputs: &Inputs) -> Vec<Line> {
    let line = |what, binding, s: &Stream, index| {
        let (buffer, offset, address) = match s.place {
            Place::Buffer { buffer, offset } => (buffer, offset, 0),
            Place::Address(a) => {
                world.at_address(a).map_or((0, 0, a), |(buffer, offset)| (buffer, offset, a))
            }
        };
        (what, binding, buffer, offset, address, s.size, index)
    };
    let of = |what, all: &[Option<Stream>]| -> Vec<Line> {
        all.iter().enumerate().filter_map(|(i, s)| s.as_ref().map(|s| line(what, i, s, 0))).collect()
    };
    let mut all = of("vertex", &inputs.vertices);
    all.extend(inputs.indices.as_ref().map(|(s, ty)| line("index", 0, s, *ty)));
    all.extend(of("feedback", &inputs.feedback));
    all
}
