//! Calls as they are printed, the objects that they name, and blocks that are no calls.
//!
//! Guarantees: a call's arguments and its result are the very bytes that `dump` prints. Refuses nothing.

use super::contents::Hasher;
use crate::error::Error;
use crate::schema;
use crate::table::{Value, id};
use crate::writer::{TableId, Writer};
use gfxr_parse::ahead::Call;
use gfxr_parse::meta::Meta;
use gfxr_parse::print::{Counts, Form, Options, Printer};
use gfxr_parse::schema::generated::HANDLES;

/// What stands before a call's arguments, and before its result, in a printed line.
const ARGS: &str = ",\"args\":";
const RESULT: &str = ",\"return\":";

/// The tables.
pub(super) struct Calls {
    calls: TableId,
    objects: TableId,
    metadata: TableId,
    printer: Printer,
    counts: Counts,
    line: Vec<u8>,
    hasher: Hasher,
}

impl Calls {
    pub fn new(writer: &mut Writer) -> Result<Self, Error> {
        Ok(Calls {
            calls: writer.table(schema::calls())?,
            objects: writer.table(schema::call_objects())?,
            metadata: writer.table(schema::metadata())?,
            printer: Printer::new(Form::Json, Options::default()),
            counts: Counts::default(),
            line: vec![],
            hasher: Hasher::default(),
        })
    }

    /// A call.
    pub fn call(&mut self, writer: &mut Writer, call: &mut Call) -> Result<(), Error> {
        self.line.clear();
        self.printer.call(call);
        self.printer.drain_into(&mut self.counts, &mut self.line);
        let line = String::from_utf8_lossy(&self.line);
        let (result, args) = parts(&line);
        let contents = self.hasher.of(&call.image);
        let handles = &call.image.handles;
        let object = handles.first().filter(|h| h.at == 0 && !h.out).map(|h| call.image.u64(h.at));
        let created = handles.iter().find(|h| h.out).map(|h| call.image.u64(h.at));
        writer.row(
            self.calls,
            [
                call.block.into(),
                Value::Word(call.command.name),
                call.frame.into(),
                call.thread.into(),
                result.into(),
                object.into(),
                created.map_or(Value::Null, id),
                args.into(),
                contents.given.into(),
                contents.answered.into(),
            ],
        )?;
        for (i, h) in handles.iter().enumerate() {
            let handle = call.image.u64(h.at);
            // (an array that the driver was to fill may be longer than what it did)
            if handle != 0 {
                let ty = Value::Word(HANDLES[h.ty as usize].name);
                writer.row(self.objects, [call.block.into(), i.into(), handle.into(), ty, h.out.into()])?;
            }
        }
        Ok(())
    }

    /// A block that is none.
    pub fn meta(
        &mut self,
        writer: &mut Writer,
        block: u64,
        frame: u64,
        name: Option<&'static str>,
        meta: &Meta<'_>,
        bytes: usize,
    ) -> Result<(), Error> {
        let handle = match meta {
            Meta::FillMemory(m) => m.memory,
            Meta::InitBuffer(m) => m.buffer,
            Meta::InitImage(m) => m.image,
            _ => 0,
        };
        let name = name.map_or(Value::Null, Value::Word);
        writer.row(self.metadata, [block.into(), name, frame.into(), bytes.into(), id(handle)])
    }
}

/// The result and the arguments of a printed call: `{…,"return":RESULT,"args":ARGS}}`.
fn parts(line: &str) -> (Option<&str>, &str) {
    // (a result is a number or a name: nothing in it looks like arguments)
    let (head, args) = line.split_once(ARGS).unwrap_or((line, ""));
    let result = head.split_once(RESULT).map(|r| r.1.trim_matches('"'));
    let args = args.trim_end();
    (result, args.strip_suffix("}}").unwrap_or(args))
}

#[cfg(test)]
mod tests {
    use super::parts;

    #[test]
    fn a_printed_call_has_a_result_and_arguments() {
        let line = "{\"index\":2,\"function\":{\"name\":\"vkX\",\"thread\":1,\"return\":\"VK_SUCCESS\",\"args\":{\"a\":{\"b\":1}}}}\n";
        assert_eq!(parts(line), (Some("VK_SUCCESS"), "{\"a\":{\"b\":1}}"));
        let line = "{\"index\":2,\"function\":{\"name\":\"vkX\",\"thread\":1,\"cmd_index\":3,\"args\":{\"args\":\",\\\"args\\\":\"}}}\n";
        assert_eq!(parts(line), (None, "{\"args\":\",\\\"args\\\":\"}"));
    }
}
