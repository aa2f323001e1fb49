//! What is wrong with a capture, and whether another one has it still: a process of this program, or a script, says so.
//!
//! Guarantees: what is asked runs in a process of its own, and is ended when its time is over, or at Ctrl-C. Refuses words that name no fault.

use crate::failure::{Exit, Failure};
use crate::how::DRIVER;
use crate::interrupt::Interrupt;
use crate::itself;
use serde_json::Value;
use std::fmt::{self, Display, Formatter};
use std::io::Read;
use std::path::Path;
use std::process::{Child, Command, Stdio};
use std::str::FromStr;
use std::time::{Duration, Instant};

/// A fault.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Still {
    /// A replay ends by a signal.
    Crash,
    /// The GPU does not finish.
    Hang,
    /// The device is lost.
    Lost,
    /// A frame takes long: at least this many percent of the time that the longest one took.
    Slow(u32),
    /// The validation layer says this.
    Validation(String),
    /// A replay says this on stderr.
    Says(String),
    /// Another driver (its manifest) shows another picture.
    ImageDiffers(String),
    /// A command of a shell ends with 0; the capture is its `$1`.
    Script(String),
}

const EXPECTED: &str = "expected crash, hang, lost, slow[:PERCENT], validation:TEXT, says:TEXT, image-differs:DRIVER or script:COMMAND";

impl FromStr for Still {
    type Err = String;

    fn from_str(text: &str) -> Result<Still, String> {
        let (what, of) = text.split_once(':').map_or((text, None), |(what, of)| (what, Some(of)));
        let of = of.filter(|of| !of.is_empty()).map(str::to_owned);
        Ok(match (what, of) {
            ("crash", None) => Still::Crash,
            ("hang", None) => Still::Hang,
            ("lost", None) => Still::Lost,
            ("slow", None) => Still::Slow(50),
            ("slow", Some(percent)) => {
                let n = percent
                    .trim_end_matches('%')
                    .parse()
                    .map_err(|_| format!("{percent:?} is no number of percent"));
                Still::Slow(n?)
            }
            ("validation", Some(text)) => Still::Validation(text),
            ("says", Some(text)) => Still::Says(text),
            ("image-differs", Some(driver)) => Still::ImageDiffers(driver),
            ("script", Some(command)) => Still::Script(command),
            _ => return Err(EXPECTED.into()),
        })
    }
}

impl Still {
    /// Whether there is what it names.
    pub fn can_be_asked(&self) -> Result<(), Failure> {
        match self {
            Still::ImageDiffers(driver) if !Path::new(driver).is_file() => {
                let wanted =
                    "image-differs:DRIVER wants a driver's manifest (*_icd.json), as VK_DRIVER_FILES does";
                Err(Failure::usage(format_args!("--still: {driver}: there is no such file; {wanted}")))
            }
            _ => Ok(()),
        }
    }
}

impl Display for Still {
    fn fmt(&self, f: &mut Formatter<'_>) -> fmt::Result {
        match self {
            Still::Crash => f.write_str("crash"),
            Still::Hang => f.write_str("hang"),
            Still::Lost => f.write_str("lost"),
            Still::Slow(percent) => write!(f, "slow:{percent}%"),
            Still::Validation(text) => write!(f, "validation:{text}"),
            Still::Says(text) => write!(f, "says:{text}"),
            Still::ImageDiffers(driver) => write!(f, "image-differs:{driver}"),
            Still::Script(command) => write!(f, "script:{command}"),
        }
    }
}

impl Still {
    /// Whether the GPU may be of no use any more behind a trial that ended so. A script says for itself what is wrong.
    pub fn may_have_ended_the_gpu(&self, seen: &Seen) -> bool {
        let is = |exit: Exit| seen.code == Some(exit as i32);
        match self {
            Still::Script(_) => false,
            Still::Hang | Still::Lost => seen.late || is(Exit::Gone) || is(Exit::NoDevice),
            _ => seen.late || is(Exit::Gone),
        }
    }
}

/// Who asks.
pub struct Oracle<'o> {
    /// What is wrong.
    pub still: &'o Still,
    /// Flags of a replay.
    pub flags: &'o [String],
    /// Whether it is to end.
    pub interrupt: &'o Interrupt,
    /// How long a process may take.
    pub patience: Duration,
    /// What was seen of the whole capture.
    pub seen: Option<Seen>,
}

impl Seen {
    /// A replay waited in vain for its own copies and fills.
    pub fn filled_nothing(&self) -> bool {
        self.err.contains(replay::error::OWN_COPY_HANGS)
    }

    /// The process did all that it was to do, whatever came of it.
    pub fn ended_well(&self) -> bool {
        let ended = [Exit::Done, Exit::Diverged].map(|exit| Some(exit as i32));
        ended.contains(&self.code) && !self.late
    }
}

/// How long a process is waited for behind one that took so long: four times that, and half a second at least.
pub fn patience(seen: &Seen) -> Duration {
    Duration::from_millis(500).max(seen.took * 4)
}

/// What a process came to.
#[derive(Clone, Debug, Default)]
pub struct Seen {
    /// Its exit code; none if a signal ended it.
    code: Option<i32>,
    /// Whether it was ended as it took too long.
    late: bool,
    out: String,
    err: String,
    /// The longest frame, in nanoseconds of the GPU and of the CPU, where it is asked for.
    longest: [Option<u64>; 2],
    /// How long it took.
    pub took: Duration,
}

impl Oracle<'_> {
    /// What a capture does.
    pub fn look(&self, capture: &Path) -> Result<Seen, Failure> {
        let us = itself::program()?;
        let replay = |words: &[&str]| {
            let mut command = Command::new(us.get_program());
            command.args(words).arg("--quiet").args(self.flags).arg("--").arg(capture);
            command
        };
        match self.still {
            Still::Script(text) => {
                let mut command = Command::new("sh");
                command.args(["-c", text, "sh"]).arg(capture);
                self.run(command)
            }
            Still::Validation(_) => {
                let asked = self.flags.iter().any(|f| f == "--validate");
                self.run(replay(if asked { &["replay"] } else { &["replay", "--validate"] }))
            }
            Still::Slow(_) => {
                let once = || {
                    let mut seen = self.run(replay(&["replay", "--json"]))?;
                    let said: Value = serde_json::from_str(&seen.out).unwrap_or_default();
                    seen.longest = longest(&said);
                    Ok::<Seen, Failure>(seen)
                };
                let mut seen = once()?;
                // (a frame that was slow by chance would lead the search astray: it is seldom so twice)
                if self.is(&seen) {
                    let again = once()?;
                    let shorter = seen.longest.min(again.longest);
                    // (what did not end well the second time did not)
                    if !again.ended_well() {
                        seen = again;
                    }
                    seen.longest = shorter;
                }
                Ok(seen)
            }
            Still::ImageDiffers(driver) => {
                let folder = tempfile::tempdir()
                    .map_err(|e| Failure::new(format_args!("no folder for pictures: {e}")))?;
                let to = folder.path().display().to_string();
                let shown = |driver: Option<&str>| {
                    let mut command = replay(&["screenshot", "--hash", "--frames", "1-", "-o", &to]);
                    if let Some(driver) = driver {
                        command.envs(DRIVER.map(|name| (name, driver)));
                    }
                    self.run(command)
                };
                let (here, there) = (shown(None)?, shown(Some(driver))?);
                // (what has failed shows nothing)
                let shows = |s: &Seen| !s.late && s.code == Some(0);
                Ok(match shows(&here) && shows(&there) {
                    true => Seen { err: there.out, ..here },
                    false => Seen { out: String::new(), ..here },
                })
            }
            _ => self.run(replay(&["replay"])),
        }
    }

    /// Whether the GPU is of use still, behind a trial that may have ended that: a capture is replayed that is known to end well. What is left out of a trial may
    /// make a shader loop for ever, whatever is looked for.
    pub fn works(&self, behind: &Seen, known: &Path) -> Result<bool, Failure> {
        if !self.still.may_have_ended_the_gpu(behind) {
            return Ok(true);
        }
        let patience = self.seen.as_ref().map_or(Duration::MAX, patience);
        let seen = Oracle { patience, seen: None, ..*self }.look(known)?;
        Ok(!self.still.may_have_ended_the_gpu(&seen))
    }

    /// Whether that is the fault.
    pub fn is(&self, seen: &Seen) -> bool {
        let first = self.seen.as_ref();
        match self.still {
            Still::Crash => {
                let died = |s: &Seen| !s.late && s.code.is_none_or(|c| c >= 128);
                died(seen) && first.is_none_or(|f| without_numbers(&f.err) == without_numbers(&seen.err))
            }
            Still::Hang => seen.code == Some(Exit::Gone as i32) && !lost(seen),
            Still::Lost => seen.code == Some(Exit::Gone as i32) && lost(seen),
            Still::Slow(percent) => {
                // (by the clock that the whole capture has, as what nothing is submitted of may take the CPU as long)
                let clock = usize::from(first.unwrap_or(seen).longest[0].is_none());
                let of = |s: &Seen| s.longest[clock].unwrap_or(0);
                let least = first.map_or(0, |f| of(f).saturating_mul(u64::from(*percent)) / 100);
                of(seen) >= least.max(1)
            }
            Still::Validation(text) | Still::Says(text) => seen.err.contains(text.as_str()),
            Still::ImageDiffers(_) => !seen.out.is_empty() && !seen.err.is_empty() && seen.out != seen.err,
            Still::Script(_) => !seen.late && seen.code == Some(0),
        }
    }

    fn run(&self, mut command: Command) -> Result<Seen, Failure> {
        let began = Instant::now();
        // (what a script starts ends with it)
        #[cfg(unix)]
        std::os::unix::process::CommandExt::process_group(&mut command, 0);
        let started = command.stdin(Stdio::null()).stdout(Stdio::piped()).stderr(Stdio::piped()).spawn();
        let mut child =
            started.map_err(|e| Failure::new(format_args!("{:?}: {e}", command.get_program())))?;
        let out = child.stdout.take().map(reader);
        let err = child.stderr.take().map(reader);
        let (code, late) = self.wait(&mut child, began)?;
        // (what it has left behind would keep what it says open)
        end(&mut child);
        let text =
            |r: Option<std::thread::JoinHandle<String>>| r.and_then(|r| r.join().ok()).unwrap_or_default();
        Ok(Seen { code, late, out: text(out), err: text(err), longest: [None; 2], took: began.elapsed() })
    }

    fn wait(&self, child: &mut Child, began: Instant) -> Result<(Option<i32>, bool), Failure> {
        loop {
            let ended = child.try_wait().map_err(Failure::new)?;
            // (it is of a process group of its own, to which a terminal sends no signal; what came to its end meanwhile may have heard one all the same)
            if self.interrupt.asked() {
                end(child);
                let _ = child.wait();
                return Err(Failure::new("interrupted: a trial was ended, and nothing is written"));
            }
            if let Some(ended) = ended {
                return Ok((ended.code().filter(|code| !is_exception(*code)), false));
            }
            if began.elapsed() > self.patience {
                end(child);
                let _ = child.wait();
                return Ok((None, true));
            }
            std::thread::sleep(Duration::from_millis(5));
        }
    }
}

/// Windows, which has no signals, ends a process that crashes with the number of an exception: the two highest bits are set.
fn is_exception(code: i32) -> bool {
    cfg!(windows) && code as u32 >> 30 == 3
}

fn lost(seen: &Seen) -> bool {
    seen.err.to_ascii_lowercase().contains("lost")
}

/// Ends a process and, where there are groups of them, what it has started.
fn end(child: &mut Child) {
    #[cfg(unix)]
    if let Some(group) = rustix::process::Pid::from_raw(child.id() as i32) {
        let _ = rustix::process::kill_process_group(group, rustix::process::Signal::KILL);
    }
    let _ = child.kill();
}

/// Most of what is kept of a stream.
const MOST_READ: u64 = 4 << 20;

fn reader(mut from: impl Read + Send + 'static) -> std::thread::JoinHandle<String> {
    std::thread::spawn(move || {
        let mut bytes = vec![];
        let _ = (&mut from).take(MOST_READ).read_to_end(&mut bytes);
        let _ = std::io::copy(&mut from, &mut std::io::sink());
        String::from_utf8_lossy(&bytes).into_owned()
    })
}

/// The same words, wherever in the capture they are about.
fn without_numbers(text: &str) -> String {
    text.chars().filter(|c| !c.is_ascii_digit()).collect()
}

/// The longest frame that a replay's JSON has, on the GPU and on the CPU.
fn longest(said: &Value) -> [Option<u64>; 2] {
    let frames = said["frame_times"].as_array().map_or(&[][..], Vec::as_slice);
    ["gpu", "cpu"].map(|key| frames.iter().filter_map(|f| f[key].as_u64()).max())
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn faults_are_written_as_they_are_read() {
        for text in [
            "crash",
            "hang",
            "lost",
            "slow:80%",
            "validation:VUID-x",
            "says:a: b",
            "image-differs:/a.json",
            "script:./a \"$1\"",
        ] {
            assert_eq!(text.parse::<Still>().expect("a fault").to_string(), text);
        }
        assert_eq!("slow".parse(), Ok(Still::Slow(50)));
        for wrong in ["", "crash:x", "validation", "validation:", "slow:x", "broken"] {
            assert!(wrong.parse::<Still>().is_err(), "{wrong}");
        }
    }

    #[test]
    fn a_fault_is_the_first_ones() {
        let seen = |code, err: &str, gpu| Seen {
            code,
            err: err.into(),
            longest: [gpu, Some(1000)],
            ..Seen::default()
        };
        let is = |still: &Still, first: Seen, now: Seen| {
            let oracle = Oracle {
                still,
                flags: &[],
                interrupt: &Interrupt::default(),
                patience: Duration::ZERO,
                seen: Some(first),
            };
            oracle.is(&now)
        };
        let crash = |err| seen(None, err, None);
        assert!(is(&Still::Crash, crash("in block 95, vkCmdDraw"), crash("in block 4, vkCmdDraw")));
        assert!(!is(&Still::Crash, crash("in block 95, vkCmdDraw"), crash("in block 95, vkQueueSubmit")));
        assert!(!is(&Still::Crash, crash("x"), seen(Some(0), "x", None)));
        assert!(!is(&Still::Crash, crash("x"), Seen { late: true, ..crash("x") }));
        let slow = |gpu| is(&Still::Slow(80), seen(Some(0), "", Some(100)), seen(Some(0), "", gpu));
        assert_eq!([slow(Some(79)), slow(Some(80)), slow(None)], [false, true, false]);
        assert!(is(&Still::Slow(80), seen(Some(0), "", None), seen(Some(0), "", None)));
        // (the whole capture, before which nothing was seen)
        let slow = Oracle {
            still: &Still::Slow(80),
            flags: &[],
            interrupt: &Interrupt::default(),
            patience: Duration::ZERO,
            seen: None,
        };
        assert!(slow.is(&seen(Some(0), "", None)) && slow.is(&seen(Some(0), "", Some(5))));
        assert!(is(&Still::Hang, Seen::default(), seen(Some(6), "did not finish", None)));
        assert!(!is(&Still::Hang, Seen::default(), seen(Some(6), "the device is lost", None)));
        assert!(is(&Still::Lost, Seen::default(), seen(Some(6), "the device is lost", None)));
        assert!(is(&Still::Says("b c".into()), Seen::default(), seen(Some(1), "a b c", None)));
    }

    #[cfg(unix)]
    #[test]
    fn ctrl_c_ends_the_process_that_is_asked() {
        let folder = tempfile::tempdir().expect("a folder");
        let said = folder.path().join("pid");
        let pid = || std::fs::read_to_string(&said).ok()?.trim().parse::<i32>().ok();
        let mut command = Command::new("sh");
        command.args(["-c", "echo $$ > \"$1\".part; mv \"$1\".part \"$1\"; exec sleep 600", "sh"]).arg(&said);
        let (interrupt, came) = Interrupt::tried();
        let oracle = Oracle {
            still: &Still::Crash,
            flags: &[],
            interrupt: &interrupt,
            patience: Duration::MAX,
            seen: None,
        };
        std::thread::scope(|scope| {
            scope.spawn(|| {
                while !said.exists() {
                    std::thread::sleep(Duration::from_millis(5));
                }
                came.store(true, std::sync::atomic::Ordering::Relaxed);
            });
            let failure = oracle.run(command).expect_err("it has shown nothing");
            assert!(failure.to_string().contains("interrupted"), "{failure}");
        });
        let pid = pid().and_then(rustix::process::Pid::from_raw).expect("a process");
        assert!(rustix::process::test_kill_process(pid).is_err(), "it is there still");
    }

    #[test]
    fn what_had_to_be_ended_may_have_ended_the_gpu_whatever_is_looked_for() {
        let ended = |text: &str, code: Option<Exit>, late| {
            let seen = Seen { code: code.map(|c| c as i32), late, ..Seen::default() };
            text.parse::<Still>().expect("a fault").may_have_ended_the_gpu(&seen)
        };
        for text in ["hang", "lost", "slow", "crash", "validation:x", "says:x", "image-differs:/a.json"] {
            let all =
                [Some(Exit::Gone), Some(Exit::Done), Some(Exit::Failed)].map(|code| ended(text, code, false));
            assert_eq!((ended(text, None, true), all), (true, [true, false, false]), "{text}");
        }
        // A device that is not there any more is one that is gone, if it was one that hung.
        assert_eq!(
            ["hang", "lost", "says:x"].map(|t| ended(t, Some(Exit::NoDevice), false)),
            [true, true, false]
        );
        assert!(!ended("script:x", None, true), "it says for itself what is wrong");
    }
}
