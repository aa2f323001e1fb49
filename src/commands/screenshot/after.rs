//! `screenshot --after`: attachments as PNGs, and an index of them.
//!
//! Guarantees: the index, `frame_N_attachments.json`, is written last, and has a row for each attachment: where it was seen, its file, or why there
//! is none. Refuses more than one frame.

use crate::cli::ScreenshotArgs;
use crate::exit::{Exit, Failure, complain};
use crate::output;
use experiment::attachments::{After, Asked, Place, attachments};
use experiment::frames;
use experiment::replaying::options;
use experiment::shots::{encode, hash};
use gfxr_parse::container::Capture;
use profile::attachments::AttachmentShot;
use profile::hooks::screenshot::Shot;
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
                let (file, hash) = write(args, &place, &shot)?;
                row["file"] = file.into();
                row["blake3"] = hash.into();
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

/// Writes a picture, and says so: its file's name, and its hash.
fn write(args: &ScreenshotArgs, at: &Place, shot: &Shot) -> Result<(String, String), Failure> {
    let of = at.draw.map_or(format!("pass_{}", at.pass), |draw| format!("draw_{draw}"));
    let file = format!("frame_{}_{of}_{}.png", at.frame, at.attachment);
    let path = args.output.join(&file);
    let png = encode(shot, args.alpha).map_err(|e| Failure::new(format_args!("{}: {e}", path.display())))?;
    output::write_file(&path, &png)?;
    let hash = hash(shot, args.alpha).to_string();
    let before = if args.hash { format!("{hash}  ") } else { String::new() };
    output::print(format!("{before}{}\n", path.display()).as_bytes())?;
    Ok((file, hash))
}
