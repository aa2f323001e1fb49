//! What is asked of the hook, and what it answers.

use super::content::Content;
use super::format::Shape;
use replay::error::Result;

/// Most lines in [`Seen::problems`].
const MOST_PROBLEMS: usize = 20;

/// What is to be shown of a frame.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum What {
    /// The images it presents.
    Presented,
    /// The last thing it copies to where the application can read it.
    CopiedOut,
    /// The image (with a shape: or buffer) of this id or name.
    Named(String),
}

/// What is wanted.
#[derive(Clone, Debug)]
pub struct Wish {
    /// Of each frame.
    pub what: What,
    /// Which frames, as ranges; without: only the last that shows anything.
    pub frames: Option<Vec<(u64, u64)>>,
    /// How to show a buffer.
    pub shape: Option<Shape>,
    /// How long to wait for the GPU.
    pub watchdog_ns: u64,
}

/// What a frame showed.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Shot {
    /// The frame.
    pub frame: u64,
    /// The captured id of the swapchain, if the frame presented more than one.
    pub swapchain: Option<u64>,
    /// In texels.
    pub width: u32,
    /// Rows.
    pub height: u32,
    /// Four bytes a texel, rows from the top.
    pub rgba: Vec<u8>,
    /// The same as it was stored.
    pub stored: Content,
}

/// Who takes the shots.
pub type Taker = Box<dyn FnMut(Shot) -> Result<()>>;

/// What the hook found on its way.
#[derive(Debug, Default)]
pub struct Seen {
    /// The last frame that ended.
    pub last_frame: u64,
    /// Frames that copied something out, in [`What::CopiedOut`].
    pub copied: Vec<u64>,
    /// Why wanted frames have no shot.
    pub problems: Vec<String>,
}

impl Seen {
    pub(super) fn copies_out(&mut self, frame: u64) {
        if self.copied.last() != Some(&frame) {
            self.copied.push(frame);
        }
    }

    pub(super) fn problem(&mut self, why: String) {
        if self.problems.len() < MOST_PROBLEMS {
            self.problems.push(why);
        }
    }
}
