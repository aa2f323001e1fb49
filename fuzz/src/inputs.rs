//! From an index to an input, and from an input to a target.
//!
//! Guarantees: target, seed, index and the seeds' files name an input for ever. Refuses target names it does not know.

use gfxr_parse::decode::decode_call;
use gfxr_parse::image::Image;
use gfxr_parse::schema::CommandDef;
use gfxr_parse::schema::generated::COMMANDS;

use super::calls::{self, Care};
use super::fields::Fields;
use super::files::Files;
use super::rng::Rng;
use super::seeds::Seeds;
use super::synth;
use super::targets::{Ran, Targets};

/// See `targets.rs`.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub enum Target {
    /// A file, read whole.
    Container,
    /// A call's parameters, roughly mutated; printed, too.
    Call,
    /// A call's parameters, mutated so that most still decode.
    RoundTrip,
    /// A file, run on its own answers.
    Echo,
    /// A file, of which is said what it binds and reads.
    Resources,
    /// A trace's folder, or its records.
    Trace,
    /// A run's folder, a suite, a swizzle, a profile, a partition.
    Run,
}

impl Target {
    /// All there are.
    pub const ALL: [Target; 7] =
        [Self::Container, Self::Call, Self::RoundTrip, Self::Echo, Self::Resources, Self::Trace, Self::Run];
    /// Its name on the command line.
    pub fn name(self) -> &'static str {
        ["container", "call", "round-trip", "echo", "resources", "trace", "run"][self as usize]
    }
    /// The one of this name.
    pub fn named(name: &str) -> Option<Self> {
        Self::ALL.into_iter().find(|t| t.name() == name)
    }
    /// Its inputs are files.
    pub fn is_file(self) -> bool {
        matches!(self, Self::Container | Self::Echo | Self::Resources)
    }
}

/// An input.
#[derive(Clone, Debug)]
pub enum Input {
    /// A capture, more or less.
    File(Vec<u8>),
    /// A call: its command, and its parameters, more or less.
    Call(&'static CommandDef, Vec<u8>),
}

impl Input {
    /// Its bytes.
    pub fn bytes(&self) -> &[u8] {
        match self {
            Input::File(bytes) | Input::Call(_, bytes) => bytes,
        }
    }
    /// How the name of a file with these bytes ends.
    pub fn suffix(&self) -> String {
        match self {
            Input::File(_) => ".gfxr".to_string(),
            Input::Call(command, _) => format!(".{}", command.name),
        }
    }
}

/// Makes and runs inputs; one a thread.
#[derive(Default)]
pub struct Inputs {
    files: Files,
    targets: Targets,
    image: Image,
}

impl Inputs {
    /// Input number `index`.
    pub fn make(&mut self, target: Target, seeds: &Seeds, seed: u64, index: u64) -> Input {
        let mut rng = Rng::new(seed ^ (target as u64) << 56, index);
        if target.is_file() {
            return Input::File(self.files.file(seeds, &mut rng));
        }
        let care = match target {
            Target::RoundTrip => Care::Gentle,
            _ if rng.chance(1, 4) => Care::Gentle,
            _ => Care::Rough,
        };
        loop {
            let (command, params) = if seeds.calls.is_empty() || rng.chance(1, 2) {
                let command = &COMMANDS[rng.below(COMMANDS.len())];
                let Some(params) = synth::call(command, &mut rng) else { continue };
                (command, params)
            } else {
                let call = rng.pick(&seeds.calls);
                (call.command, call.params.clone())
            };
            let decoded = decode_call(command, &params, &mut self.image);
            assert!(decoded.is_ok(), "{}: made from the schema: {decoded:?}", command.name);
            let fields = Fields::of_call(&self.image);
            assert_eq!(fields.bytes(), params.len(), "{}", command.name);
            return Input::Call(command, calls::mutate(&params, &fields, care, &mut rng));
        }
    }

    /// Runs it on a target of `targets.rs`.
    pub fn run(&mut self, target: Target, input: &Input, index: u64) -> Ran {
        if index.is_multiple_of(16) {
            self.targets.forget();
        }
        match input {
            Input::Call(command, params) => self.targets.call(command, params, target == Target::Call),
            Input::File(file) => self.targets.container(file, index.is_multiple_of(32)),
        }
    }
}
