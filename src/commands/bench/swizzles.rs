//! The methods' swizzles for every launch of the frame, made from a trace's rays or read from files, and written down.

use super::traces::rays;
use crate::cli::BenchArgs;
use crate::commands::repack::methods;
use crate::exit::Failure;
use crate::output::write_file;
use crate::{mmap, progress};
use analyses::bench::IDENTITY;
use analyses::context::Context;
use analyses::events::{Launch, Wants, read};
use analyses::repack::{Method, Options, Swizzle, Work, by_name};
use analyses::replayer::Efficiency;
use std::path::{Path, PathBuf};
use trace::dir::Dir;

/// What a method made.
pub struct Made {
    /// The method.
    pub method: String,
    /// A swizzle for each launch.
    pub swizzles: Vec<Swizzle>,
    /// Synthetic SIMT efficiency of all launches, in percent.
    pub synthetic: Option<f64>,
}

/// The methods' swizzles; those of identity come first.
pub fn made(args: &BenchArgs, to: &Path) -> Result<Vec<Made>, Failure> {
    if !wanted(args) {
        return Ok(vec![]);
    }
    let all = args.methods.iter().any(|m| m == "all");
    let mut made = match (&args.swizzles, &args.trace) {
        (Some(folder), _) => of_files(folder, args.frame, &|m| all || args.methods.iter().any(|n| n == m))?,
        (None, trace) => {
            let mut chosen = if all { methods(&[])? } else { methods(&args.methods)? };
            if chosen.iter().all(|m| m.name() != IDENTITY) {
                chosen.extend(by_name(IDENTITY));
            }
            let folder = match trace {
                Some(folder) => folder.clone(),
                None => {
                    progress::step("recording rays");
                    let folder = to.join("rays");
                    rays(args, &folder)?;
                    folder
                }
            };
            let options = Options { tile: args.tile, seed: args.seed };
            of_trace(&folder, args.frame, &options, &chosen)?
        }
    };
    match made.iter().position(|m| m.method == IDENTITY) {
        Some(at) => made[..=at].rotate_right(1),
        None => made.insert(0, identity(&made[0])),
    }
    Ok(made)
}

/// Whether some plans swizzle.
pub fn wanted(args: &BenchArgs) -> bool {
    args.ab.is_empty() && args.methods != ["none"]
}

/// From the rays of a trace. Launches are numbered as pass `swizzle` numbers them: those of ray-tracing pipelines alone.
pub fn of_trace(
    folder: &Path,
    frame: u64,
    options: &Options,
    methods: &[&'static dyn Method],
) -> Result<Vec<Made>, Failure> {
    let dir = Dir::open_with(folder, mmap::open_plain).map_err(Failure::new)?;
    let context = Context::read(&dir).map_err(Failure::new)?;
    let events = read(&dir, &context, Wants::default()).map_err(Failure::new)?;
    let mut made: Vec<(Vec<Swizzle>, Efficiency)> =
        methods.iter().map(|_| (vec![], Efficiency::default())).collect();
    let traces = |l: &&Launch| {
        l.frame == frame && context.pipeline(l.pipeline).is_none_or(|p| &*p.kind == "ray-tracing")
    };
    let mut launches: Vec<&Launch> = events.launches.iter().filter(traces).collect();
    launches.sort_by_key(|l| l.launch);
    for (number, launch) in (0..).zip(launches) {
        let work = Work::new(&events, launch);
        for (method, (swizzles, sum)) in methods.iter().zip(&mut made) {
            let (swizzle, packing) = work.packing(*method, options);
            *sum = std::mem::take(sum).and(&work.replayer.efficiency(&packing));
            swizzles.push(Swizzle { launch: number, ..swizzle });
        }
    }
    if made.iter().all(|m| m.0.is_empty()) {
        let text = format!("{}: frame {frame} has no rays there", folder.display());
        return Err(Failure::new(text));
    }
    let named = methods.iter().zip(made);
    Ok(named
        .map(|(m, (swizzles, sum))| Made { method: m.name().into(), swizzles, synthetic: sum.percent() })
        .collect())
}

/// From files of a folder, those of the frame; the methods as the files name them, in the order of their names.
pub fn of_files(folder: &Path, frame: u64, wanted: &dyn Fn(&str) -> bool) -> Result<Vec<Made>, Failure> {
    let fail = |e: std::io::Error| Failure::new(format_args!("{}: {e}", folder.display()));
    let files = folder.read_dir().map_err(fail)?.filter_map(Result::ok).map(|f| f.path());
    let mut files: Vec<PathBuf> = files.filter(|f| f.extension().is_some_and(|e| e == "swizzle")).collect();
    files.sort();
    let mut all: Vec<Made> = Vec::new();
    for file in files {
        let bytes = std::fs::read(&file).map_err(fail)?;
        let s =
            Swizzle::of_bytes(&bytes).map_err(|e| Failure::new(format_args!("{}: {e}", file.display())))?;
        if s.frame != frame || !wanted(&s.method) {
            continue;
        }
        match all.iter_mut().find(|m| m.method == s.method) {
            Some(m) => m.swizzles.push(s),
            None => all.push(Made { method: s.method.clone(), swizzles: vec![s], synthetic: None }),
        }
    }
    if all.is_empty() {
        let text = format!("{}: no swizzle there is for frame {frame}", folder.display());
        return Err(Failure::new(text));
    }
    Ok(all)
}

/// The identity of every launch that a method has a swizzle for.
pub fn identity(of: &Made) -> Made {
    let same = |s: &Swizzle| Swizzle {
        method: analyses::bench::IDENTITY.into(),
        seed: 0,
        indices: (0..s.indices.len() as u32).collect(),
        ..s.clone()
    };
    Made {
        method: analyses::bench::IDENTITY.into(),
        swizzles: of.swizzles.iter().map(same).collect(),
        synthetic: None,
    }
}

/// Writes them to a folder; the files of each method, our own form.
pub fn write(folder: &Path, made: &[Made]) -> Result<Vec<Vec<PathBuf>>, Failure> {
    std::fs::create_dir_all(folder).map_err(|e| Failure::new(format_args!("{}: {e}", folder.display())))?;
    let mut all = Vec::new();
    for m in made {
        let mut files = Vec::new();
        for s in &m.swizzles {
            let stem = folder.join(format!("{}_frame{}_launch{}", s.method, s.frame, s.launch));
            write_file(&stem.with_extension("npy"), &s.npy())?;
            let file = stem.with_extension("swizzle");
            write_file(&file, &s.bytes())?;
            files.push(file);
        }
        all.push(files);
    }
    Ok(all)
}
