//! The swizzles that plans with a method follow, for every launch of the frame: made from a trace's rays, and written down.

use super::settings::Prepared;
use crate::failure::Failure;
use crate::files::mmap;
use crate::files::output::write_file;
use analyses::context::Context;
use analyses::rays::events::{Launch, Wants, read};
use analyses::rays::repack::{Method, Options, Swizzle, Work};
use analyses::rays::replayer::Efficiency;
use std::collections::BTreeMap;
use std::path::Path;
use trace::dir::Dir;

/// What a plan wants.
pub struct Wanted {
    /// The plan.
    pub plan: String,
    /// Its method.
    pub method: &'static dyn Method,
    /// With these options.
    pub options: Options,
}

/// A name that can be a file's.
pub fn plain(name: &str) -> String {
    name.chars().map(|c| if c.is_ascii_alphanumeric() || c == '-' { c } else { '_' }).collect()
}

/// Makes them, and writes them to a folder; by plan. Launches are numbered as pass `swizzle` numbers them: those of ray-tracing
/// pipelines alone.
pub fn made(
    rays: &Path,
    frame: u64,
    wanted: &[Wanted],
    to: &Path,
) -> Result<BTreeMap<String, Prepared>, Failure> {
    let dir = Dir::open_with(rays, mmap::open_plain).map_err(Failure::new)?;
    let context = Context::read(&dir).map_err(Failure::new)?;
    let events = read(&dir, &context, Wants::default()).map_err(Failure::new)?;
    let mut made: Vec<(Vec<Swizzle>, Efficiency)> =
        wanted.iter().map(|_| (vec![], Efficiency::default())).collect();
    let traces = |l: &&Launch| {
        l.frame == frame && context.pipeline(l.pipeline).is_none_or(|p| &*p.kind == "ray-tracing")
    };
    let mut launches: Vec<&Launch> = events.launches.iter().filter(traces).collect();
    launches.sort_by_key(|l| l.launch);
    for (number, launch) in (0..).zip(launches) {
        let work = Work::new(&events, launch);
        for (w, (swizzles, sum)) in wanted.iter().zip(&mut made) {
            let (swizzle, packing) = work.packing(w.method, &w.options);
            *sum = std::mem::take(sum).and(&work.replayer.efficiency(&packing));
            swizzles.push(Swizzle { launch: number, ..swizzle });
        }
    }
    if made.iter().all(|m| m.0.is_empty()) {
        return Err(Failure::new(format_args!("frame {frame} traces no rays with vkCmdTraceRays*")));
    }
    std::fs::create_dir_all(to).map_err(|e| Failure::new(format_args!("{}: {e}", to.display())))?;
    let mut all = BTreeMap::new();
    for (w, (swizzles, sum)) in wanted.iter().zip(made) {
        let mut one = Prepared { synthetic: sum.percent(), ..Prepared::default() };
        for s in &swizzles {
            let stem = to.join(format!("{}_frame{}_launch{}", plain(&w.plan), s.frame, s.launch));
            write_file(&stem.with_extension("npy"), &s.npy())?;
            let file = stem.with_extension("swizzle");
            write_file(&file, &s.bytes())?;
            one.swizzles.push(file);
        }
        all.insert(w.plan.clone(), one);
    }
    Ok(all)
}
