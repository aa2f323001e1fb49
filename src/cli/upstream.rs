//! Names that gfxrecon-replay has for what a replay does here, too, so that its users' scripts go on working.
//!
//! Guarantees: a name is here only if it means the same; a value that would mean something else is refused, and the
//! message says what there is instead. Frames are counted from 1 here, also in a trimmed capture, as there; all other
//! flags count as the capture does. (`--gpu`, `--validate`, `--remove-unsupported` and `-m` are in [`super::RunArgs`].)

use crate::select::Ranges;
use clap::{Args, ValueEnum};
use std::path::PathBuf;

/// See the module's header.
#[derive(Clone, Debug, Args)]
#[command(
    next_help_heading = "As gfxrecon-replay names them (frames count from 1, in a trimmed capture, too)"
)]
pub struct UpstreamArgs {
    /// Write what these frames show, as `screenshot` does (N, A-B, lists with commas), while the capture is replayed
    #[arg(long, value_name = "N1[-N2],…", conflicts_with_all = ["echo", "loop_frame"])]
    pub screenshots: Option<Ranges>,
    /// Write what every frame shows; --screenshots is ignored
    #[arg(long, conflicts_with_all = ["echo", "loop_frame"])]
    pub screenshot_all: bool,
    /// The folder for screenshots; made if it is not there
    #[arg(long, value_name = "DIR", default_value = ".", hide_default_value = true)]
    pub screenshot_dir: PathBuf,
    /// What screenshots' names begin with: PREFIX_frame_N.bmp [default: screenshot]
    #[arg(long, value_name = "PREFIX", default_value = "screenshot", hide_default_value = true)]
    pub screenshot_prefix: String,
    /// The form of screenshots; bmp has the alpha channel as well
    #[arg(long, value_name = "FORMAT", default_value = "bmp")]
    pub screenshot_format: ShotFormat,
    /// Measure frames a second from the first of these frames to before the last, and write --measurement-file
    #[arg(long, visible_alias = "mfr", value_name = "START-END", value_parser = measured, conflicts_with_all = ["echo", "loop_frame", "repeat"])]
    pub measurement_frame_range: Option<(u64, u64)>,
    /// Where to write that, as JSON with gfxrecon-replay's names [default: gfxrecon-measurements.json]
    #[arg(long, value_name = "FILE", requires = "measurement_frame_range")]
    pub measurement_file: Option<PathBuf>,
    /// Replay nothing after that range
    #[arg(long, visible_alias = "qamr", requires = "measurement_frame_range", conflicts_with = "frames")]
    pub quit_after_measurement_range: bool,
    /// Wait for the GPU where that range begins and where it ends
    #[arg(long, visible_alias = "fmr", requires = "measurement_frame_range")]
    pub flush_measurement_range: bool,
    /// How frames are shown: offscreen (nothing is ever shown on a window here)
    #[arg(long, value_name = "MODE", value_parser = swapchain)]
    pub swapchain: Option<()>,
}

/// `--screenshot-format`
#[derive(Clone, Copy, Debug, PartialEq, Eq, ValueEnum)]
pub enum ShotFormat {
    /// Bitmap, 32 bits a pixel
    Bmp,
    /// Portable Network Graphics
    Png,
}

fn swapchain(text: &str) -> Result<(), String> {
    match text {
        "offscreen" => Ok(()),
        "virtual" | "captured" => Err("there are no windows here; frames are replayed offscreen".into()),
        _ => Err("expected offscreen".into()),
    }
}

/// First frame, and the one before which measuring ends.
fn measured(text: &str) -> Result<(u64, u64), String> {
    let number = |t: &str| t.trim().parse::<u64>().map_err(|_| format!("\"{t}\" is not a number"));
    let (a, b) = text.split_once('-').ok_or("expected START-END; the end is not measured any more")?;
    match (number(a)?, number(b)?) {
        (a, b) if a < b => Ok((a, b)),
        _ => Err("nothing is in it: the end is not measured any more".into()),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn what_would_mean_something_else_is_refused() {
        assert_eq!(measured("10-20"), Ok((10, 20)));
        for wrong in ["10", "10-10", "20-10", "a-3", "-"] {
            assert!(measured(wrong).is_err(), "{wrong}");
        }
        assert!(swapchain("offscreen").is_ok() && swapchain("virtual").is_err() && swapchain("x").is_err());
    }
}
