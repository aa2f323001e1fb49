//! `rays dump`: events of rays and subgroups of a trace, for reading.
//!
//! Guarantees: events are written as they are read, so that the first come at once and memory is bounded; a closed pipe ends it.
//! Refuses kinds that it does not know, and traces without rays.

use crate::cli::{DumpForm, RaysDumpArgs};
use crate::exit::{Exit, Failure, note};
use crate::input;
use crate::output::Output;
use crate::select::Ranges;
use analyses::rays::ray_dump::{Chosen, Form, Invocations, rays, warps};
use trace::dir::Dir;
use trace::tables::{RAYS, RayEvent, WARPS};

/// Text that is written at once.
const PIECE: usize = 1 << 16;

/// Runs it.
pub fn run(args: &RaysDumpArgs) -> Result<Exit, Failure> {
    let chosen = chosen(args)?;
    let dir = input::trace(&args.trace, "rays")?;
    if dir.rows(if args.warps { &WARPS } else { &RAYS }).is_none_or(|n| n == 0) {
        return Err(none(&dir));
    }
    let mut out = Output::create(args.output.as_deref())?;
    let (mut piece, mut failed, mut events) = (String::new(), None, 0u64);
    let mut take = |text: &str| {
        piece.push_str(text);
        events += 1;
        if piece.len() >= PIECE {
            failed = out.write(piece.as_bytes()).err();
            piece.clear();
        }
        failed.is_none() && !out.unread()
    };
    let form = match args.format {
        DumpForm::Text => Form::Text,
        DumpForm::Json => Form::Json,
        DumpForm::Csv => Form::Csv,
    };
    let what = if args.warps { warps } else { rays };
    let read = what(&dir, &chosen, form, &mut take);
    if let Some(failure) = failed {
        return Err(failure);
    }
    out.write(piece.as_bytes())?;
    read.map_err(Failure::new)?;
    out.finish()?;
    // (CSV has its line of names)
    if events <= u64::from(form == Form::Csv) {
        note(format_args!("{}: no event of its rays is of what was chosen", dir.folder().display()));
    }
    Ok(Exit::Done)
}

/// What is said of a trace without rays.
pub fn none(dir: &Dir) -> Failure {
    let capture = &dir.manifest().capture.name;
    let file = if capture.is_empty() { "CAPTURE" } else { capture };
    Failure::new(format_args!(
        "{}: the trace has no rays; record them: reray-replay profile {file} --passes rays -o rays-trace",
        dir.folder().display()
    ))
}

fn chosen(args: &RaysDumpArgs) -> Result<Chosen, Failure> {
    let kind = |name: &String| {
        RayEvent::ALL.into_iter().find(|k| k.name() == name).ok_or_else(|| {
            let known = RayEvent::ALL.map(RayEvent::name).join(", ");
            Failure::usage(format_args!("--kind: there is no event {name:?}; there are {known}"))
        })
    };
    let ranges = |r: &Option<Ranges>| r.as_ref().map(|r| r.all().to_vec());
    let invocations = match (&args.invocation, &args.at) {
        (Some(r), _) => Some(Invocations::Ranges(r.all().to_vec())),
        (None, Some(at)) => Some(Invocations::At(*at)),
        (None, None) => None,
    };
    Ok(Chosen {
        frames: ranges(&args.frame),
        launches: ranges(&args.launch),
        invocations,
        kinds: args.kind.iter().map(kind).collect::<Result<_, _>>()?,
        limit: args.limit,
    })
}
