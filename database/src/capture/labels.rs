//! Debug labels as the device meets them: those of queues, and those in command buffers where these are executed.
//!
//! A queue has one stack: a region that a command buffer begins may end in a later one. Guarantees: an end without a beginning
//! changes nothing. Refuses nothing.

use crate::error::Error;
use crate::schema;
use crate::table::Value;
use crate::writer::{TableId, Writer};
use gfxr_parse::ahead::Call;
use gfxr_parse::view::View;
use std::collections::HashMap;
use world::commands::Label;

/// Where a label stands.
#[derive(Clone, Copy)]
pub(super) struct Place {
    pub queue: u64,
    pub frame: u64,
    /// None for those of queues.
    pub submission: Option<u64>,
    /// The call that makes it.
    pub call: u64,
}

struct Region {
    number: u64,
    text: Box<str>,
    path: Box<str>,
    began: Place,
}

/// The regions that are open.
pub(super) struct Labels {
    table: TableId,
    count: u64,
    stacks: HashMap<u64, Vec<Region>>,
}

/// Regions within each other, at most; a damaged capture may begin any number.
const DEEPEST: usize = 256;

impl Labels {
    pub fn new(writer: &mut Writer) -> Result<Self, Error> {
        Ok(Labels { table: writer.table(schema::labels())?, count: 0, stacks: HashMap::new() })
    }

    /// The innermost region on a queue; NULL for none.
    pub fn innermost(&self, queue: u64) -> Value {
        self.stacks.get(&queue).and_then(|s| s.last()).map(|r| r.number).into()
    }

    /// A label that a call puts on a queue; none for other calls.
    pub fn call(&mut self, writer: &mut Writer, call: &Call) -> Result<(), Error> {
        let what = match call.command.canonical {
            "vkQueueBeginDebugUtilsLabelEXT" => Label::Begin,
            "vkQueueInsertDebugUtilsLabelEXT" => Label::Insert,
            "vkQueueEndDebugUtilsLabelEXT" => Label::End,
            _ => return Ok(()),
        };
        let info = View::call(&call.image).one("pLabelInfo");
        let text = info.and_then(|i| i.text("pLabelName")).unwrap_or_default();
        let place = Place { queue: call.image.u64(0), frame: call.frame, submission: None, call: call.block };
        self.met(writer, place, what, &text)
    }

    /// A label that the device meets.
    pub fn met(&mut self, writer: &mut Writer, place: Place, what: Label, text: &str) -> Result<(), Error> {
        let stack = self.stacks.entry(place.queue).or_default();
        if what == Label::End {
            let depth = stack.len();
            return match stack.pop() {
                Some(region) => {
                    let parent = stack.last().map(|r| r.number);
                    row(writer, self.table, &region, parent, depth - 1, "region", Some(place.call))
                }
                None => Ok(()),
            };
        }
        self.count += 1;
        let path = match stack.last() {
            Some(outer) => format!("{}/{text}", outer.path).into(),
            None => text.into(),
        };
        let region = Region { number: self.count, text: text.into(), path, began: place };
        if what == Label::Insert {
            let parent = stack.last().map(|r| r.number);
            return row(writer, self.table, &region, parent, stack.len(), "point", Some(place.call));
        }
        if stack.len() == DEEPEST {
            return Ok(());
        }
        stack.push(region);
        Ok(())
    }

    /// Writes down those that nothing ended.
    pub fn finish(self, writer: &mut Writer) -> Result<(), Error> {
        let mut queues: Vec<_> = self.stacks.into_iter().collect();
        queues.sort_by_key(|q| q.0);
        for (_, stack) in queues {
            for (depth, region) in stack.iter().enumerate() {
                let parent = depth.checked_sub(1).map(|d| stack[d].number);
                row(writer, self.table, region, parent, depth, "region", None)?;
            }
        }
        Ok(())
    }
}

fn row(
    writer: &mut Writer,
    table: TableId,
    region: &Region,
    parent: Option<u64>,
    depth: usize,
    kind: &'static str,
    ended: Option<u64>,
) -> Result<(), Error> {
    let began = region.began;
    writer.row(
        table,
        [
            region.number.into(),
            parent.into(),
            (*region.text).into(),
            (*region.path).into(),
            depth.into(),
            Value::Word(kind),
            Value::Word(if began.submission.is_some() { "command buffer" } else { "queue" }),
            began.queue.into(),
            began.frame.into(),
            began.submission.into(),
            began.call.into(),
            ended.into(),
        ],
    )
}
