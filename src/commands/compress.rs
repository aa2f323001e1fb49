//! `compress`: the same capture, compressed another way.
//!
//! Guarantees: every call and every metadata block has the same bytes once decompressed; the file appears whole or not
//! at all. Refuses nothing of its own.

use crate::cli::CompressArgs;
use crate::exit::{Exit, Failure, complain};
use crate::input;
use crate::output::{self, Output};
use gfxr_parse::writer::transcode;
use std::io;

/// Runs it.
pub fn run(args: &CompressArgs) -> Result<Exit, Failure> {
    let capture = input::open(&args.file, args.memory)?;
    let out = Output::create(Some(&args.output))?;
    let mut sink = Sink(Some(out), None);
    let done = transcode(&capture, args.to, io::BufWriter::with_capacity(1 << 20, &mut sink));
    if let Some(failure) = sink.1.take() {
        return Err(failure);
    }
    let done = done?;
    if let Some(out) = sink.0.take() {
        out.finish()?;
    }
    for e in &done.damaged {
        complain(format_args!("{}: {e}; passed on as it was", capture.name()));
    }
    if let Some(e) = &done.truncated {
        complain(format_args!("{}: warning: {e}; everything before it was written", capture.name()));
    }
    let said = format!("{} {} blocks, {} bytes\n", args.output.display(), done.blocks, done.bytes);
    output::print(said.as_bytes())?;
    Ok(if done.damaged.is_empty() { Exit::Done } else { Exit::Failed })
}

/// An [`Output`] as the library's writer wants it, keeping our own error.
struct Sink(Option<Output>, Option<Failure>);

impl io::Write for Sink {
    fn write(&mut self, bytes: &[u8]) -> io::Result<usize> {
        let Some(out) = &mut self.0 else { return Ok(bytes.len()) };
        match out.write(bytes) {
            Ok(()) => Ok(bytes.len()),
            Err(failure) => {
                self.1 = Some(failure);
                Err(io::Error::other("the output failed"))
            }
        }
    }
    fn flush(&mut self) -> io::Result<()> {
        Ok(())
    }
}
