//! What came of a trim: as text, and as JSON.
//!
//! Guarantees: members of the JSON have names, and `schema_version` goes up when one changes its meaning or goes.

use analyses::report::counted;
use serde::Serialize;
use std::collections::BTreeMap;
use std::fmt;

/// See the module's header.
#[derive(Clone, Debug, Serialize)]
pub struct Trimmed {
    /// The version of its shape.
    pub schema_version: u32,
    /// Bytes of the files.
    pub bytes: Bytes,
    /// The first of the frames.
    pub first_frame: FirstFrame,
    /// Blocks before the frames.
    pub blocks_before_the_frames: Blocks,
    /// Blocks of the frames.
    pub blocks_of_the_frames: u64,
    /// Blocks that edits and changes made others.
    pub blocks_changed: u64,
    /// What begins with contents.
    pub contents: Contents,
    /// Images that begin with contents though Vulkan lets drivers discard these before they are read, as without any of these contents pictures differ: by
    /// debug name and id.
    pub discarded_but_kept: Vec<String>,
    /// What is not in the result, and how often.
    pub lacks: BTreeMap<String, u64>,
    /// None where pictures were not compared.
    pub pictures: Option<Pictures>,
}

/// Of the files.
#[derive(Clone, Copy, Debug, Default, Serialize)]
pub struct Bytes {
    /// Of the capture.
    pub capture: u64,
    /// Of the result.
    pub trim: u64,
}

/// A frame by its number in both files.
#[derive(Clone, Copy, Debug, Default, Serialize)]
pub struct FirstFrame {
    /// In the capture.
    pub capture: u64,
    /// In the result.
    pub trim: u64,
}

/// Blocks before the frames.
#[derive(Clone, Copy, Debug, Default, Serialize)]
pub struct Blocks {
    /// In the capture.
    pub total: u64,
    /// Those of them that are in the result.
    pub kept: u64,
}

/// What begins with contents.
#[derive(Clone, Copy, Debug, Default, Serialize)]
pub struct Contents {
    /// How many of them.
    pub buffers: u64,
    /// How many of them.
    pub images: u64,
    /// Of all of them, before compression.
    pub bytes: u64,
}

/// Pictures that the frames show.
#[derive(Clone, Copy, Debug, Default, Serialize)]
pub struct Pictures {
    /// Those of the capture.
    pub compared: u64,
    /// How many of them the result shows otherwise.
    pub differing: u64,
}

impl Default for Trimmed {
    fn default() -> Self {
        Trimmed {
            schema_version: 1,
            bytes: Bytes::default(),
            first_frame: FirstFrame::default(),
            blocks_before_the_frames: Blocks::default(),
            blocks_of_the_frames: 0,
            blocks_changed: 0,
            contents: Contents::default(),
            discarded_but_kept: vec![],
            lacks: BTreeMap::new(),
            pictures: None,
        }
    }
}

impl fmt::Display for Trimmed {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let Bytes { capture, trim } = self.bytes;
        let share = 100.0 * trim as f64 / capture.max(1) as f64;
        writeln!(f, "{trim} of {capture} bytes ({share:.1} %).")?;
        writeln!(
            f,
            "Of {} before the frames {} are kept; the frames are {}.",
            counted(self.blocks_before_the_frames.total, "block"),
            self.blocks_before_the_frames.kept,
            self.blocks_of_the_frames
        )?;
        let Contents { buffers, images, bytes } = self.contents;
        writeln!(
            f,
            "{} and {} begin with contents, {bytes} bytes before compression.",
            counted(buffers, "buffer"),
            counted(images, "image")
        )?;
        let FirstFrame { capture, trim } = self.first_frame;
        if capture != trim {
            writeln!(
                f,
                "The frames count anew, as no presents number them: frame {capture} of the capture is frame {trim} of the result."
            )?;
        }
        if self.blocks_changed > 0 {
            writeln!(f, "{} changed.", counted(self.blocks_changed, "block"))?;
        }
        if let Some(Pictures { compared: of, differing: 0 }) = self.pictures
            && of > 0
        {
            let with = if self.blocks_changed > 0 { " with these changes" } else { "" };
            let are = if of == 1 { "is that" } else { "are those" };
            writeln!(f, "{} of the frames {are} of the capture{with}.", counted(of, "picture"))?;
        }
        if !self.discarded_but_kept.is_empty() {
            writeln!(
                f,
                "The program relies on contents that Vulkan lets the driver discard (by a transition from VK_IMAGE_LAYOUT_UNDEFINED, or a load \
                 that does not keep them); without any of them pictures differ, so they are kept: {}.",
                self.discarded_but_kept.join(", ")
            )?;
        }
        Ok(())
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn what_is_said_is_said_where_it_is_so() {
        let mut of = Trimmed {
            first_frame: FirstFrame { capture: 9, trim: 9 },
            pictures: Some(Pictures { compared: 2, differing: 0 }),
            ..Trimmed::default()
        };
        let text = of.to_string();
        assert!(text.contains("2 pictures of the frames are those of the capture.\n"), "{text}");
        assert!(!text.contains("anew") && !text.contains("discard"), "{text}");
        of.first_frame.trim = 1;
        of.discarded_but_kept = vec!["sky (image 7)".into(), "image 8".into()];
        of.pictures = Some(Pictures { compared: 2, differing: 1 });
        let text = of.to_string();
        assert!(text.contains("frame 9 of the capture is frame 1 of the result."), "{text}");
        assert!(text.ends_with("so they are kept: sky (image 7), image 8.\n"), "{text}");
        assert!(!text.contains("are those of the capture"), "{text}");
    }
}
