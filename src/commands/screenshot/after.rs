//! `screenshot --after`: attachments as PNGs, and an index of them.
//!
//! Guarantees: the index, `frame_N_attachments.json`, is written last, and has a row for each attachment: where it was seen, its file, or why there
//! is none. Refuses more than one frame.

use super::write::write;
use crate::cli::ScreenshotArgs;
use crate::exit::{Exit, Failure, complain};
use crate::output;
use experiment::attachments::{After, Asked, Place, attachments};
use experiment::frames;
use experiment::replaying::options;
use experiment::shots::hash;
use gfxr_parse::container::Capture;
use profile::attachments::AttachmentShot;
use serde_json::{Value, json};
use std::collections::BTreeMap;

/// Shows what was asked for.
pub fn run(args: &ScreenshotArgs, after: &After, capture: &Capture) -> Result<Exit, Failure> {
    let run = args.run.how();
    let there = frames::there(capture, &options(&run)?.frame_by);
    let asked = args.frames.as_ref().map(|f| f.all().to_vec());
    let frame = match (asked.as_deref(), there) {
        (Some(&[(a, b)]), _) if a == b => a,
        (None, Some((_, last))) => last,
        _ => return Err(Failure::usage("--after looks at one frame: say which, by --frames N")),
    };
    output::folder(&args.output)?;
    let (mut rows, mut unseen) = (vec![], BTreeMap::<String, u64>::new());
    let shown = |place: Place, seen: AttachmentShot| {
        let mut row = serde_json::to_value(&place).map_err(Failure::new)?;
        match seen.shot {
            Ok(shot) => {
                let of = place.draw.map_or(format!("pass_{}", place.pass), |draw| format!("draw_{draw}"));
                let file = format!("frame_{frame}_{of}_{}.png", place.attachment);
                let hash = hash(&shot, args.alpha).to_string();
                write(args, &file, &shot, args.hash.then_some(&hash))?;
                (row["file"], row["blake3"]) = (file.into(), hash.into());
                (row["width"], row["height"]) = (shot.width.into(), shot.height.into());
            }
            Err(why) => {
                row["not_shown"] = why.clone().into();
                *unseen.entry(format!("{} {why}", place.attachment)).or_default() += 1;
            }
        }
        rows.push(row);
        Ok(())
    };
    let kept = attachments(capture, &Asked { frame, after, changes: &args.change, run: &run }, shown)?;
    for (what, n) in unseen {
        complain(format_args!("not shown: {what} ({n})"));
    }
    let exit = match (kept, rows.iter().any(|r: &Value| r.get("file").is_some())) {
        (false, _) => Exit::Diverged,
        (_, true) => Exit::Done,
        _ => Exit::Failed,
    };
    let index = serde_json::to_vec_pretty(&json!({ "schema_version": 1, "attachments": rows }))
        .map_err(Failure::new)?;
    output::write_file(&args.output.join(format!("frame_{frame}_attachments.json")), &index)?;
    Ok(exit)
}
