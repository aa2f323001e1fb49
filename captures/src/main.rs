//! `captures`: small Vulkan programs ("scenes") that exist to be recorded and replayed.
//!
//! `captures SCENE` runs a scene headless, from its first frame to its last. It opens no window, reads
//! no clock and draws nothing from chance: the same scene on the same driver gives the same images and
//! asks the driver for the same things. `captures/record SCENE` runs it under the capture layer.
//!
//! `--out DIR` writes reference images of some frames, read back from the swapchain. Without it, the
//! scene contains no read-back at all, so that a capture holds the scene and nothing else.
//!
//! A new scene is a folder under `scenes/` and one line in `scenes::SCENES`.

// A Vulkan client: every call into the driver is unsafe, and nothing here does anything else. The calls
// rest on three facts that `gpu` keeps: every handle comes from the one device that `gpu::Gpu` owns,
// lives until that device is idle and dropped, and is used from one thread only. That the calls are valid
// usage is shown by running the scenes under the validation layer (see README.md).
#![allow(clippy::undocumented_unsafe_blocks)]
#![allow(unsafe_code)]

mod error;
mod gpu;
mod math;
mod picture;
mod run;
#[cfg(test)]
mod samples;
mod scenes;

use std::path::PathBuf;
use std::process::ExitCode;

use clap::Parser;

use crate::scenes::SCENES;

/// Runs a sample scene, headless and deterministic.
#[derive(Parser)]
#[command(name = "captures", version)]
struct Options {
    /// The scene to run; `--list` names them.
    #[arg(required_unless_present = "list")]
    scene: Option<String>,

    /// Name the scenes and stop.
    #[arg(long)]
    list: bool,

    /// How many frames to run, instead of as many as the scene says.
    #[arg(long, value_name = "N", value_parser = clap::value_parser!(u32).range(1..))]
    frames: Option<u32>,

    /// The size of the picture, for a scene that has more than one.
    #[arg(long, value_name = "WxH", value_parser = size)]
    size: Option<(u32, u32)>,

    /// Samples a pixel, likewise.
    #[arg(long, value_name = "N", value_parser = clap::value_parser!(u32).range(1..=1024))]
    samples: Option<u32>,

    /// Write images of the presented frames into this directory, as SCENE_frame_N.png.
    #[arg(long, value_name = "DIR")]
    out: Option<PathBuf>,

    /// Which frames to write with --out, counted from 1; without it those that are committed, as far as the run goes.
    #[arg(long, value_name = "N,...", value_delimiter = ',', requires = "out")]
    images: Vec<u32>,
}

/// Reads `WxH`.
fn size(text: &str) -> std::result::Result<(u32, u32), String> {
    let number = |text: &str| text.parse().ok().filter(|n| (1..=16384).contains(n));
    let both = text.split_once('x').and_then(|(width, height)| number(width).zip(number(height)));
    both.ok_or_else(|| format!("'{text}' is no size; one is written 1280x720"))
}

fn main() -> ExitCode {
    let options = Options::parse();
    if options.list {
        for scene in SCENES {
            println!("{:12} {}", scene.name(), scene.about());
        }
        return ExitCode::SUCCESS;
    }
    match start(&options) {
        Ok(()) => ExitCode::SUCCESS,
        Err(error) => {
            eprintln!("captures: {error}");
            ExitCode::FAILURE
        }
    }
}

/// Finds the scene, runs it and says what it wrote.
fn start(options: &Options) -> error::Result<()> {
    let name = options.scene.as_deref().unwrap_or_default();
    let Some(mut scene) = SCENES.iter().copied().find(|scene| scene.name() == name) else {
        let known: Vec<_> = SCENES.iter().map(|scene| scene.name()).collect();
        return Err(error::Error::new(format!(
            "no scene is called '{name}'; there is: {}",
            known.join(", ")
        )));
    };
    let sized;
    if options.size.is_some() || options.samples.is_some() {
        let extent = options.size.map(|(width, height)| ash::vk::Extent2D { width, height });
        sized = scene.sized(extent, options.samples).ok_or_else(|| {
            error::Error::new(format!("'{name}' has neither another size nor other samples"))
        })?;
        scene = &*sized;
    }
    let frames = options.frames.unwrap_or(scene.frames());
    let mut wanted = options.images.clone();
    if wanted.is_empty() {
        wanted.extend(scene.pictured().iter().filter(|number| **number <= frames));
    }
    let images = options.out.as_deref().map(|dir| run::Images { dir, frames: &wanted });
    run::run(scene, frames, images)
}

#[cfg(test)]
mod tests {
    #[test]
    fn sizes_are_read() {
        assert_eq!(super::size("1280x720"), Ok((1280, 720)));
        for wrong in ["", "x", "12", "0x4", "4x0", "4x-1", "1x2x3", "99999x1"] {
            assert!(super::size(wrong).is_err(), "{wrong}");
        }
    }
}
