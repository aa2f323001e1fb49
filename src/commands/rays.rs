//! `rays dump`: events of rays and subgroups of a trace, for reading.
//!
//! Guarantees: events are written as they are read, so that the first come at once and memory is bounded; a closed pipe ends it.
//! Refuses kinds that it does not know.

use crate::cli::{DumpForm, RaysDumpArgs};
use crate::exit::{Exit, Failure, complain};
use crate::mmap;
use crate::output::Output;
use crate::select::Ranges;
use analyses::ray_dump::{Chosen, Form, Invocations, rays, warps};
use trace::dir::Dir;
use trace::tables::RayEvent;

/// Text that is written at once.
const PIECE: usize = 1 << 16;

/// Runs it.
pub fn run(args: &RaysDumpArgs) -> Result<Exit, Failure> {
    let chosen = chosen(args)?;
    let dir = Dir::open_with(&args.trace, mmap::open_plain).map_err(Failure::new)?;
    dir.warnings().iter().for_each(|w| complain(format_args!("warning: {w}")));
    let mut out = Output::create(args.output.as_deref())?;
    let (mut piece, mut failed) = (String::new(), None);
    let mut take = |text: &str| {
        piece.push_str(text);
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
    Ok(Exit::Done)
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
