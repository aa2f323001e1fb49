//! What the fragment shader of a draw reads at one pixel, on both sides: pass `values`, with a scissor of that pixel.
//!
//! Guarantees: other draws of the same pass and pipeline are left out, so that what is recorded is this draw's. The quad around the pixel
//! may run with it, as helpers: they are not recorded. Refuses nothing: what cannot be recorded is the error of `profile`.

use super::side::Side;
use crate::failure::Failure;
use crate::files::mmap;
use analyses::shaders::values::{Given, given};
use profile::hooks::frame_actions::FrameWork;
use serde::Serialize;
use trace::dir::Dir;

/// What the fragment shader read at a place, by side; none where it was not recorded.
#[derive(Clone, Debug, Serialize)]
pub struct ReadAt {
    /// What is read.
    pub read: String,
    /// Where in the shader.
    pub place: String,
    /// The kind of memory.
    pub memory: String,
    /// Its values at the pixel.
    pub here: Option<String>,
    /// The same on the other side.
    pub there: Option<String>,
}

/// What the fragment shader of a draw reads at a pixel, on both sides.
pub fn read_at(
    here: &Side<'_>,
    there: Option<&Side<'_>>,
    frame: &FrameWork,
    draw: u64,
    [x, y]: [u32; 2],
) -> Result<Vec<ReadAt>, Failure> {
    let action = &frame.actions[draw as usize - 1];
    let mut words = vec![
        format!("--frames={}", here.of.frame),
        "--passes=values:changes=no".to_owned(),
        "--stages=fragment".to_owned(),
        format!("--render-pass-numbers={}", action.pass),
        "--no-verify-image".to_owned(),
        "--assume-subgroups".to_owned(),
        format!("--change=one-pixel:at={0}-{0}+pixel={x},{y}", action.block),
    ];
    if action.pipeline != 0 {
        words.push(format!("--pipelines={}", action.pipeline));
    }
    // Other draws that run the same shaders would be recorded, too.
    let others = frame.actions.iter().filter(|a| a.pass == action.pass && a.pipeline == action.pipeline);
    let at: Vec<String> = others.filter(|a| a.block != action.block).map(|a| a.block.to_string()).collect();
    if !at.is_empty() {
        words.push(format!("--change=skip:at={}", at.join(",")));
    }
    let recorded = |side: &Side<'_>| -> Result<Vec<Given>, Failure> {
        let folder = side.of.output.join(format!("values-{}", side.name));
        let words: Vec<String> =
            words.iter().cloned().chain([format!("--output={}", folder.display())]).collect();
        let failed = side.run("profile", &words)?;
        // (what diverged, or was recorded in part, is a trace all the same)
        let trace =
            Dir::open_with(&folder, mmap::open_plain).map_err(|e| failed.unwrap_or(Failure::new(e)))?;
        given(&trace).map_err(Failure::new)
    };
    let ours = recorded(here)?;
    let theirs = there.map(&recorded).transpose()?.unwrap_or_default();
    let row = |g: &Given, here: Option<&Given>, there: Option<&Given>| ReadAt {
        read: g.name.clone(),
        place: g.place.clone(),
        memory: g.memory.clone(),
        here: here.map(|g| g.values.clone()),
        there: there.map(|g| g.values.clone()),
    };
    let same =
        |g: &Given, of: &[Given]| of.iter().find(|o| (&o.name, &o.place) == (&g.name, &g.place)).cloned();
    let only = theirs.iter().filter(|g| same(g, &ours).is_none()).map(|g| row(g, None, Some(g)));
    Ok(ours.iter().map(|g| row(g, Some(g), same(g, &theirs).as_ref())).chain(only).collect())
}
