//! The flags of `screenshot`.

use super::RunArgs;
use crate::select::Ranges;
use clap::Args;
use experiment::attachments::After;
use experiment::attachments::compare::Other;
use profile::hooks::screenshot::Shape;
use profile::pictures::Tolerance;
use std::path::PathBuf;
use trace::plan::Use;

/// `screenshot`
#[derive(Debug, Args)]
#[command(after_help = "\
Files are named frame_N.png, or frame_N_swapchain_ID.png where a frame presents several swapchains; their names are
printed, one a line. A frame shows the image it presents. In a capture that never presents it shows the last image or
buffer it copied to where the application can read it. Replaying ends after the last frame asked for.

Examples:
  reray-replay screenshot cap.gfxr --frames 1,50-52 -o shots
  reray-replay screenshot compute.gfxr --as 640x320:R32_SFLOAT
  reray-replay screenshot cap.gfxr --frames 10 --image 'shadow map'
  reray-replay screenshot cap.gfxr --frames 10 --after pass -o passes
  reray-replay screenshot cap.gfxr --frames 10 --compare llvmpipe -o compared")]
pub struct ScreenshotArgs {
    /// The capture
    pub file: PathBuf,
    /// Which frames (N, A-B, A-, lists with commas) [default: the last]
    #[arg(long, value_name = "A-B")]
    pub frames: Option<Ranges>,
    /// The folder to write to; made if it is not there
    #[arg(short, long, value_name = "DIR", default_value = ".")]
    pub output: PathBuf,
    /// Instead of what was presented: this image at the frame's end, by its captured id or its debug name
    #[arg(long, value_name = "ID|NAME")]
    pub image: Option<String>,
    /// Instead of what was presented: what attachments hold behind each render pass of one frame, behind each draw (or those of these numbers),
    /// or behind the last draw of a label: pass, draw, draw:A-B, label:NAME. Behind draws, the capture is replayed once for each
    #[arg(long, value_name = "WHAT", conflicts_with_all = ["image", "shape"])]
    pub after: Option<After>,
    /// With --after or --compare, write texels as they are stored, too, row by row (.bin)
    #[arg(long)]
    pub texels: bool,
    /// Find the first draw of a frame behind which attachments differ on another device (its number, or part of its name), with
    /// another driver (its manifest) or from what --after wrote to a folder; -o names a new folder, and exit code 5 says that they do
    #[arg(long, value_name = "GPU|DRIVER|DIR", conflicts_with_all = ["image", "shape", "hash"])]
    pub compare: Option<Other>,
    /// With --compare: by how much texels may differ: exact, or how many units in the last place of a 32-bit float shaders' results
    /// may be off
    #[arg(long, value_name = "ULPS|exact", default_value = "exact", requires = "compare")]
    pub image_tolerance: Tolerance,
    /// What a copied-out buffer (or one chosen with --image) holds, as in 640x320:R32_SFLOAT
    #[arg(long = "as", value_name = "WxH:FORMAT")]
    pub shape: Option<Shape>,
    /// Keep the alpha channel; without it images are opaque, as on a screen
    #[arg(long)]
    pub alpha: bool,
    /// Change calls on their way to the driver, for experiments (NAME:OPTION+…; docs/runs.md lists what there is); again and
    /// again, the first outermost
    #[arg(long, value_name = "CHANGE")]
    pub change: Vec<Use>,
    /// Print before each name the BLAKE3 of the image: width, height (32 bits each) and the bytes of its pixels
    #[arg(long)]
    pub hash: bool,
    /// How to replay.
    #[command(flatten)]
    pub run: RunArgs,
}
