//! Why a replay stopped. Context (block, command) is added by the executor, once. Guarantees: a line end in an error is ours, from
//! [`Error::with`]; one in a name or message from a capture is shown as `\n`.

use std::fmt;

/// `Result` of this crate.
pub type Result<T, E = Error> = std::result::Result<T, E>;

/// What is said where copies and fills of the replay's own wait in vain.
pub const OWN_COPY_HANGS: &str = "a copy of the replay's own did not finish";

/// What kind of stop it is; the command line turns it into an exit code.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Kind {
    /// The capture cannot be read.
    Capture,
    /// The replay did something else than the capture recorded.
    Divergence,
    /// This machine has no device that can run the capture.
    NoDevice,
    /// The device lacks something by name.
    Unsupported,
    /// The driver failed where it did not at capture, outside a captured call (our own objects).
    Driver,
    /// The GPU did not finish in the time that the watchdog gives it: nothing more may wait for it.
    Hang,
    /// The device is lost.
    Lost,
    /// No memory is left, on the device or on the host.
    Memory,
    /// A bug or a limit of this program.
    Internal,
}

/// See the module's header.
#[derive(Debug)]
pub struct Error(Box<(Kind, String, Option<String>)>);

impl Error {
    /// A new error.
    #[cold]
    pub fn new(kind: Kind, message: impl Into<String>) -> Self {
        Error(Box::new((kind, one_line(&message.into()), None)))
    }
    /// Our own call into the driver failed.
    #[cold]
    pub fn driver(what: &str, result: ash::vk::Result) -> Self {
        Self::failed(format!("{what} failed: {result:?}"), result)
            .unwrap_or_else(|text| Self::new(Kind::Driver, text))
    }
    /// The error of a result that means the same wherever it comes from: lost devices, no memory. Gives the text back
    /// for any other result.
    #[cold]
    pub fn failed(text: String, result: ash::vk::Result) -> Result<Self, String> {
        use ash::vk::Result as R;
        match result {
            R::ERROR_DEVICE_LOST => Ok(Self::new(Kind::Lost, text)),
            R::ERROR_OUT_OF_DEVICE_MEMORY => Ok(Self::new(
                Kind::Memory,
                text,
            )
            .with(
                "The device has no memory left for what the capture makes. Close what else uses it, replay fewer frames \
                 (--frames), or choose a device with more (--gpu, `reray-replay devices`)",
            )),
            R::ERROR_OUT_OF_HOST_MEMORY => Ok(Self::new(
                Kind::Memory,
                text,
            )
            .with("This machine has no memory left. Close other programs, or replay fewer frames (--frames)")),
            _ => Err(text),
        }
    }
    /// The watchdog's time is over. `what` did not happen.
    #[cold]
    pub fn hang(what: &str, watchdog_ns: u64) -> Self {
        Self::new(Kind::Hang, format!("{what} within {} s (--watchdog)", seconds(watchdog_ns)))
    }
    /// Adds a line.
    #[cold]
    pub fn with(mut self, line: &str) -> Self {
        self.0.1.push('\n');
        self.0.1.push_str(&one_line(line));
        self
    }
    /// The whole text, for lists of a line each.
    pub fn in_one_line(&self) -> String {
        self.to_string().replace('\n', "; ")
    }
    /// A divergence between capture and replay.
    #[cold]
    pub fn divergence(message: impl Into<String>) -> Self {
        Self::new(Kind::Divergence, message)
    }
    /// Says where, unless somebody further in already did.
    #[cold]
    pub fn at(mut self, place: impl FnOnce() -> String) -> Self {
        self.0.2.get_or_insert_with(|| one_line(&place()));
        self
    }
    /// Its kind.
    pub fn kind(&self) -> Kind {
        self.0.0
    }
    /// The device hangs or is lost: nothing may wait for it any more.
    pub fn is_gone(&self) -> bool {
        matches!(self.kind(), Kind::Hang | Kind::Lost)
    }
    /// The message without the place.
    pub fn message(&self) -> &str {
        &self.0.1
    }
}

/// Text without line ends.
fn one_line(text: &str) -> String {
    text.replace('\r', "\\r").replace('\n', "\\n")
}

/// Seconds as short as they can be said.
fn seconds(ns: u64) -> f64 {
    ns as f64 / 1e9
}

impl fmt::Display for Error {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match &self.0.2 {
            Some(place) => write!(f, "{place}: {}", self.0.1),
            None => f.write_str(&self.0.1),
        }
    }
}

impl std::error::Error for Error {}

impl From<gfxr_parse::error::Error> for Error {
    fn from(e: gfxr_parse::error::Error) -> Self {
        Error::new(Kind::Capture, e.to_string())
    }
}

/// `Ok` or our own driver error.
pub(crate) trait Vk<T> {
    /// Names the call that failed.
    fn what(self, call: &str) -> Result<T>;
}

impl<T> Vk<T> for ash::prelude::VkResult<T> {
    fn what(self, call: &str) -> Result<T> {
        self.map_err(|e: ash::vk::Result| Error::driver(call, e))
    }
}
