//! `draws FILE.gfxr`: how many draws each frame submits, by a hook; nothing is asked of a device.
//!
//! Guarantees: draws in secondary command buffers count where these are executed. Refuses captures that cannot be replayed.

use gfxr_parse::ahead::Call;
use gfxr_parse::container::{Capture, read_file};
use replay::error::Result;
use replay::exec::{Executor, Next};
use replay::hook::{Commands, Hook};
use replay::options::Options;
use replay::session::{On, replay};
use std::path::Path;
use world::commands::Command;
use world::walk::{Step, submitted};
use world::{Depth, Frame, Outcome};

/// Counts draws as they are submitted.
#[derive(Default)]
struct Draws(u64);

impl Hook for Draws {
    fn name(&self) -> &'static str {
        "draws"
    }

    fn wants(&self) -> Commands {
        Commands::named(&["vkQueueSubmit", "vkQueueSubmit2", "vkQueueSubmit2KHR"])
    }

    fn follows(&self) -> Depth {
        Depth::Commands
    }

    fn call(&mut self, cx: &mut Executor, call: &mut Call, next: Next) -> Result<Outcome> {
        cx.objects.world().walk(&submitted(call), &mut |_, step| {
            if let Step::Command(recorded) = step
                && let Command::Invoke(invoke) = &recorded.command
            {
                self.0 += u64::from(invoke.kind().starts_with("Draw"));
            }
        });
        next.run(cx, call)
    }

    fn frame(&mut self, _: &mut Executor, frame: Frame) -> Result<()> {
        println!("{}\t{}", frame.number, std::mem::take(&mut self.0));
        Ok(())
    }
}

fn main() -> std::result::Result<(), Box<dyn std::error::Error>> {
    let file = std::env::args().nth(1).ok_or("draws FILE.gfxr")?;
    let capture = Capture::open(Path::new(&file), read_file)?;
    replay(&capture, &Options::default(), On::Echo, vec![Box::new(Draws::default())], 0, &mut ())?;
    Ok(())
}
