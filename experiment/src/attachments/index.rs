//! Attachments as files: a PNG each, their contents as stored if that is asked for, and an index of them.
//!
//! Guarantees: the index, `frame_N_attachments.json`, is written last, and has a row for each attachment: where it was seen, its files, or why there
//! are none. What is read again is what was written. Refuses indices of another version.

use super::{After, Place, attachments};
use crate::failure::Failure;
use crate::files::output;
use crate::readback::Asked;
use crate::shots::{encode, hash};
use gfxr_parse::container::Capture;
use profile::hooks::screenshot::format::{name, named, texel_bytes};
use profile::hooks::screenshot::{Area, Content, Shot};
use serde::{Deserialize, Serialize};
use std::path::{Path, PathBuf};

/// The version of the index's shape.
const SCHEMA_VERSION: u32 = 1;

/// An attachment.
#[derive(Clone, Debug, Serialize, Deserialize)]
pub struct Row {
    /// Where it was seen.
    #[serde(flatten)]
    pub place: Place,
    /// What was written of it; none where it is not shown.
    #[serde(flatten)]
    pub written: Option<Written>,
    /// Why it is not shown.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub not_shown: Option<String>,
}

/// The files of an attachment.
#[derive(Clone, Debug, Serialize, Deserialize)]
pub struct Written {
    /// The PNG, in the folder.
    pub file: String,
    /// The BLAKE3 of width, height and the PNG's pixels.
    pub blake3: String,
    /// In pixels.
    pub width: u32,
    /// In pixels.
    pub height: u32,
    /// The format of its texels.
    pub format: String,
    /// The BLAKE3 of its texels as they are stored, row by row.
    pub texels_blake3: String,
    /// The file of these, if that was asked for.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub texels: Option<String>,
}

/// The index.
#[derive(Clone, Debug, Serialize, Deserialize)]
pub struct Index {
    /// The version of its shape.
    pub schema_version: u32,
    /// Behind what attachments were looked at: pass, draw, draw:A-B, label:NAME.
    #[serde(default)]
    pub after: String,
    /// The device.
    #[serde(default)]
    pub device: String,
    /// A row for each, in the order in which passes were recorded.
    pub attachments: Vec<Row>,
}

/// What is written.
pub struct To<'a> {
    /// Where to.
    pub folder: &'a Path,
    /// PNGs keep their alpha channel.
    pub alpha: bool,
    /// Texels are written as they are stored, too.
    pub texels: bool,
}

/// The index's file.
pub fn file(folder: &Path, frame: u64) -> PathBuf {
    folder.join(format!("frame_{frame}_attachments.json"))
}

/// Writes what was asked for, and says each row once its files are there; whether the replay kept to the capture, and the index.
pub fn write(
    capture: &Capture,
    asked: &Asked<'_>,
    after: &After,
    to: &To<'_>,
    said: impl Fn(&Row) -> Result<(), Failure> + Sync,
) -> Result<(bool, Index), Failure> {
    output::folder(to.folder)?;
    // (an index that was there is not of what is written now)
    let _ = std::fs::remove_file(file(to.folder, asked.frame));
    let mut rows = vec![];
    let (kept, device) = attachments(capture, asked, after, |place, shot| {
        let (written, not_shown) = match shot {
            Ok(shot) => (Some(save(to, &place, &shot)?), None),
            Err(why) => (None, Some(why)),
        };
        let row = Row { place, written, not_shown };
        said(&row)?;
        rows.push(row);
        Ok(())
    })?;
    let index = Index { schema_version: SCHEMA_VERSION, after: after.to_string(), device, attachments: rows };
    let json = serde_json::to_vec_pretty(&index).map_err(Failure::new)?;
    output::write_file(&file(to.folder, asked.frame), &json)?;
    Ok((kept, index))
}

fn save(to: &To<'_>, place: &Place, shot: &Shot) -> Result<Written, Failure> {
    let of = place.draw.map_or(format!("pass_{}", place.pass), |draw| format!("draw_{draw}"));
    let stem = format!("frame_{}_{of}_{}", place.frame, place.attachment);
    let file = format!("{stem}.png");
    let path = to.folder.join(&file);
    let png = encode(shot, to.alpha).map_err(|e| Failure::new(format_args!("{}: {e}", path.display())))?;
    output::write_file(&path, &png)?;
    let texels = to.texels.then(|| format!("{stem}.bin"));
    if let Some(file) = &texels {
        output::write_file(&to.folder.join(file), &shot.stored.bytes)?;
    }
    Ok(Written {
        file,
        blake3: hash(shot, to.alpha).to_string(),
        width: shot.width,
        height: shot.height,
        format: shot.stored.areas.first().map_or(String::new(), |a| name(a.format)),
        texels_blake3: blake3::hash(&shot.stored.bytes).to_string(),
        texels,
    })
}

/// The index that lies in a folder.
pub fn read(folder: &Path, frame: u64) -> Result<Index, Failure> {
    let file = file(folder, frame);
    let wrong = |e: &dyn std::fmt::Display| {
        Failure::new(format_args!(
            "{}: {e}; `screenshot --frames {frame} --after … --texels -o {}` writes it",
            file.display(),
            folder.display()
        ))
    };
    let json = std::fs::read(&file).map_err(|e| wrong(&e))?;
    let index: Index = serde_json::from_slice(&json).map_err(|e| wrong(&e))?;
    match index.schema_version {
        SCHEMA_VERSION => Ok(index),
        other => Err(wrong(&format_args!("it is of version {other}, and {SCHEMA_VERSION} is read"))),
    }
}

impl Written {
    /// Its texels, where they were written.
    pub fn content(&self, folder: &Path) -> Option<Content> {
        let bytes = std::fs::read(folder.join(self.texels.as_ref()?)).ok()?;
        let format = named(&self.format)?;
        let row_bytes = self.width as usize * texel_bytes(format)?;
        let (width, height) = (self.width, self.height);
        Some(Content::new(bytes, [Area { offset: 0, width, height, row_bytes, format }]))
    }
}
