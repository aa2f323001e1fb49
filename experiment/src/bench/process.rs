//! A worker, as the one who gives turns sees it: `worker.rs` says what they tell each other.
//!
//! Guarantees: a worker that ends early, or says what nobody understands, is an error that names its plan, and its driver where
//! the plan has one; its exit code is kept.
//! A worker that is dropped is killed.

use super::worker::Found;
use crate::failure::{Exit, Failure};
use crate::how::{DRIVER, How};
use crate::itself::{last_line, program};
use serde_json::Value;
use std::fs::File;
use std::io::{BufRead, BufReader, Write};
use std::path::{Path, PathBuf};
use std::process::{Child, ChildStdin, ChildStdout, Stdio};
use trace::plan::{Passes, Plan};

/// What a worker is to replay.
pub struct Spec<'s> {
    /// The capture.
    pub capture: &'s Path,
    /// The frame to loop.
    pub frame: Option<u64>,
    /// Its plan.
    pub plan: &'s Plan,
    /// The plan's passes for this capture.
    pub passes: &'s Passes,
    /// Most turns, of both sorts.
    pub turns: [u32; 2],
    /// Milliseconds of work before each turn, if it was said.
    pub busy: Option<u64>,
    /// As of `bench`.
    pub assume_subgroups: bool,
    /// How to replay.
    pub run: &'s How,
    /// Signals that end programs are for who gives turns.
    pub spared: bool,
    /// Where what it says goes, instead of stderr.
    pub said: Option<PathBuf>,
}

/// See the module's header.
pub struct Process {
    child: Child,
    to: ChildStdin,
    from: BufReader<ChildStdout>,
    plan: String,
    said: Option<PathBuf>,
}

impl Process {
    /// Starts it; [`Process::ready`] returns when it waits for its first turn.
    pub fn start(spec: &Spec<'_>) -> Result<Process, Failure> {
        let mut command = program()?;
        command.arg("bench-worker").arg(spec.capture);
        if let Some(frame) = spec.frame {
            command.args(["--frame", &frame.to_string()]);
        }
        if !spec.passes.is_empty() {
            command.args(["--passes", &spec.passes.to_string()]);
        }
        for change in spec.plan.of_calls() {
            command.args(["--change", &change.to_string()]);
        }
        if let Some(sets) = &spec.plan.descriptors {
            command.args(["--descriptors", sets]);
        }
        command.args(["--turns", &spec.turns[0].to_string(), &spec.turns[1].to_string()]);
        if let Some(busy) = spec.busy {
            command.args(["--busy", &busy.to_string()]);
        }
        if spec.assume_subgroups {
            command.arg("--assume-subgroups");
        }
        command.args(spec.run.arguments(spec.plan.gpu.as_deref()));
        command.envs(&spec.plan.env);
        let mut plan = spec.plan.name.clone();
        if let Some(driver) = &spec.plan.driver {
            command.envs(DRIVER.map(|name| (name, driver)));
            plan.push_str(&format!(" (driver={driver})"));
        }
        command.stdin(Stdio::piped()).stdout(Stdio::piped());
        if spec.spared {
            command.arg("--spared");
        }
        if let Some(file) = &spec.said {
            let said =
                File::create(file).map_err(|e| Failure::new(format_args!("{}: {e}", file.display())))?;
            command.stderr(said);
        }
        let mut child = command.spawn().map_err(|e| Failure::new(format_args!("plan {plan}: {e}")))?;
        let (to, from) = (child.stdin.take(), child.stdout.take());
        let (Some(to), Some(from)) = (to, from) else {
            return Err(Failure::new(format_args!("plan {plan}: a process without pipes")));
        };
        Ok(Process { child, to, from: BufReader::new(from), plan, said: spec.said.clone() })
    }

    /// Waits until it waits for its first turn.
    pub fn ready(&mut self) -> Result<(), Failure> {
        self.answer().map(drop)
    }

    /// One turn; the latest time that is known: of the device where it has one, else of the CPU.
    pub fn turn(&mut self) -> Result<Option<f64>, Failure> {
        self.say("turn")?;
        let answer = self.answer()?;
        let of = |key: &str| answer["turn"][key].as_f64();
        Ok(of("gpu").or_else(|| of("cpu")))
    }

    /// One turn with finer timestamps.
    pub fn detail(&mut self) -> Result<(), Failure> {
        self.say("detail")?;
        self.answer().map(drop)
    }

    /// Lets it end.
    pub fn end(mut self) -> Result<Found, Failure> {
        self.say("end")?;
        let answer = self.answer()?;
        let found = serde_json::from_value(answer)
            .map_err(|e| Failure::new(format_args!("plan {}: {e}", self.plan)))?;
        let status = self.child.wait().map_err(Failure::new)?;
        match status.success() {
            true => Ok(found),
            false => Err(Failure::new(format_args!("plan {}: its process ended with {status}", self.plan))),
        }
    }

    /// What it said last, where that is kept.
    fn last_words(&self) -> Option<String> {
        last_line(&std::fs::read(self.said.as_ref()?).ok()?)
    }

    fn say(&mut self, word: &str) -> Result<(), Failure> {
        // (one that is gone has said why, and its exit code is in the answer that is missing)
        let _ = writeln!(self.to, "{word}").and_then(|()| self.to.flush());
        Ok(())
    }

    fn answer(&mut self) -> Result<Value, Failure> {
        let mut line = String::new();
        loop {
            line.clear();
            let n = self.from.read_line(&mut line).map_err(Failure::new)?;
            if n == 0 {
                let code = self.child.wait().ok().and_then(|s| s.code());
                let text = match self.last_words() {
                    Some(why) => format!("plan {}: {why}", self.plan),
                    None => format!("plan {}: its process ended early", self.plan),
                };
                return Err(Failure::with(Exit::of_failed(code), text));
            }
            // (a driver may print what it likes)
            if let Ok(value) = serde_json::from_str::<Value>(&line)
                && value.is_object()
            {
                return Ok(value);
            }
        }
    }
}

impl Drop for Process {
    fn drop(&mut self) {
        if let Ok(None) = self.child.try_wait() {
            let _ = self.child.kill();
            let _ = self.child.wait();
        }
    }
}
