//! A display for programs that want one: an Xvfb of our own, for as long as it is held.
//!
//! Guarantees: a number that nobody else uses (Xvfb chooses it); it ends with the value. Refuses to start a second try.

use std::io::{BufRead, BufReader};
use std::process::{Child, Command, Stdio};

/// See the module's header.
pub struct Xvfb {
    child: Child,
    name: String,
}

impl Xvfb {
    /// Starts one; none if the program is not here.
    pub fn start() -> Result<Option<Self>, String> {
        let started = Command::new("Xvfb")
            .args(["-displayfd", "1", "-screen", "0", "1280x1024x24", "-nolisten", "tcp"])
            .stdin(Stdio::null())
            .stdout(Stdio::piped())
            .stderr(Stdio::null())
            .spawn();
        let mut child = match started {
            Ok(child) => child,
            Err(e) if e.kind() == std::io::ErrorKind::NotFound => return Ok(None),
            Err(e) => return Err(format!("Xvfb: {e}")),
        };
        let mut number = String::new();
        let read = child.stdout.take().map(|out| BufReader::new(out).read_line(&mut number));
        let mut xvfb = Xvfb { child, name: format!(":{}", number.trim()) };
        match read {
            Some(Ok(n)) if n > 0 && number.trim().parse::<u32>().is_ok() => Ok(Some(xvfb)),
            _ => {
                let _ = xvfb.child.kill();
                Err("Xvfb named no display".to_string())
            }
        }
    }
    /// What DISPLAY is to be.
    pub fn name(&self) -> &str {
        &self.name
    }
}

impl Drop for Xvfb {
    fn drop(&mut self) {
        let _ = self.child.kill();
        let _ = self.child.wait();
    }
}
