//! The arguments of every command that replays: how it does. What words stand for is read where the replay's options are made
//! (`experiment::replaying`), which refuses those that it does not know.

use super::memory::MemoryArgs;
use clap::Args;
use clap::builder::{PossibleValue, PossibleValuesParser, TypedValueParser};
use experiment::how::{How, Way};
use experiment::values::seconds;
use replay::options::Bridge;
use std::time::Duration;

/// How to replay: shared by every sub-command that does.
#[derive(Clone, Debug, Args)]
pub struct RunArgs {
    /// The device: its number in `reray-replay devices`, or part of its name [default: the one most like the capture's]
    #[arg(long, value_name = "N|NAME")]
    pub gpu: Option<String>,
    /// Captured memory: none (as it was), remap (other memory types), rebind (every resource gets its own), auto
    #[arg(short, long, visible_alias = "memory-translation", value_name = "MODE", default_value = "auto")]
    pub memory: String,
    /// Device addresses and shader-group handles: exact (as captured; the capture's own driver, with captureReplay
    /// features), translate (wherever they are, rewritten), known (the same, but nothing is guessed from what words look
    /// like), auto
    #[arg(long, value_name = "MODE", default_value = "auto")]
    pub addresses: String,
    /// What ends a frame: present, boundary (VK_EXT_frame_boundary), submit, cycle (the last submission of each cycle that they
    /// repeat in), label:NAME, file, auto
    #[arg(long, value_name = "RULE", default_value = "auto")]
    pub frame_by: String,
    /// Go on when the replay diverges from the capture; the exit code is 5 all the same
    #[arg(long)]
    pub keep_going: bool,
    /// Make calls whose values break Vulkan's rules (unknown enumerants, null handles) instead of refusing them; drivers may
    /// crash on such
    #[arg(long)]
    pub trust_capture: bool,
    /// Drop features and extensions that the device lacks, instead of refusing
    #[arg(long)]
    pub remove_unsupported: bool,
    /// Fill new memory with zeros, so that what no call writes is the same in every replay
    #[arg(long)]
    pub zero_memory: bool,
    /// Run under the Khronos validation layer and print what it says
    #[arg(long)]
    pub validate: bool,
    /// Seconds to wait for the GPU before giving up (fractions too); what had finished until then is reported, exit code 6
    #[arg(long, value_name = "SECONDS", default_value = "120", value_parser = seconds)]
    pub watchdog: Duration,
    /// Print on stderr what the capture asks of the device, what is here, and what was done (as `check` does)
    #[arg(long)]
    pub negotiation: bool,
    /// Mark each command on the GPU, so that a hang or a lost device names the command; slow: commands run one by one
    #[arg(long)]
    pub breadcrumbs: bool,
    /// How much memory reading may take.
    #[command(flatten)]
    pub reading: MemoryArgs,
    /// Refuse this difference between the captured device and this one instead of bridging it; `check` names what bridges what
    #[arg(long, value_name = "NAME", value_delimiter = ',', value_parser = bridges())]
    pub no_bridge: Vec<Bridge>,
    /// For tests: take the ways that another driver would make necessary
    #[arg(long, hide = true, value_name = "WAY", value_delimiter = ',', value_parser = ways())]
    pub rehearse: Vec<Way>,
}

/// The names of what can be bridged.
fn bridges() -> impl TypedValueParser<Value = Bridge> {
    let named = |name: String| Bridge::ALL.into_iter().find(|b| b.name() == name).expect("it is one of them");
    PossibleValuesParser::new(Bridge::ALL.map(Bridge::name)).map(named)
}

/// The names of what can be rehearsed.
fn ways() -> impl TypedValueParser<Value = Way> {
    let named = |name: String| Way::ALL.into_iter().find(|w| w.name() == name).expect("it is one of them");
    let all = Way::ALL.map(|w| PossibleValue::new(w.name()).help(w.about()));
    PossibleValuesParser::new(all).map(named)
}

impl RunArgs {
    /// The same, as the crates below take it.
    pub fn how(&self) -> How {
        How {
            gpu: self.gpu.clone(),
            memory: self.memory.clone(),
            addresses: self.addresses.clone(),
            frame_by: self.frame_by.clone(),
            keep_going: self.keep_going,
            trust_capture: self.trust_capture,
            remove_unsupported: self.remove_unsupported,
            zero_memory: self.zero_memory,
            validate: self.validate,
            watchdog: self.watchdog,
            negotiation: self.negotiation,
            breadcrumbs: self.breadcrumbs,
            reading: self.reading.into(),
            no_bridge: self.no_bridge.clone(),
            rehearse: self.rehearse.clone(),
        }
    }
}

#[cfg(test)]
mod tests {
    use crate::cli::{Cli, Command};
    use clap::Parser;
    use experiment::how::How;

    fn of(words: &[&str]) -> How {
        match Cli::try_parse_from(words).expect("flags").command {
            Some(Command::BenchWorker(args)) => args.run.how(),
            other => panic!("{other:?}"),
        }
    }

    #[test]
    fn flags_that_are_said_again_mean_the_same() {
        let first = ["x", "bench-worker", "a.gfxr", "--turns", "1", "0"];
        let more = [
            "--gpu=1",
            "--memory=remap",
            "--addresses=known",
            "--frame-by=label:x y",
            "--keep-going",
            "--validate",
            "--watchdog=2.5",
            "--max-memory=3G",
            "--remove-unsupported",
            "--zero-memory",
            "--negotiation",
            "--breadcrumbs",
            "--rehearse=growth,bare",
            "--no-bridge=texels",
        ];
        let run = of(&[&first[..], &more].concat());
        let again = run.arguments(None);
        let again: Vec<&str> = again.iter().map(String::as_str).collect();
        assert_eq!(format!("{run:?}"), format!("{:?}", of(&[&first[..], &again].concat())));
        assert!(run.arguments(Some("other")).contains(&"--gpu=other".into()));
    }

    #[test]
    fn what_nobody_says_is_what_flags_say_by_themselves() {
        let said = of(&["x", "bench-worker", "a.gfxr", "--turns", "1", "0"]);
        assert_eq!(format!("{said:?}"), format!("{:?}", How::default()));
    }
}
