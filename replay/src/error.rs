//! Why a replay stopped. Context (block, command) is added by the executor, once.

use std::fmt;

/// `Result` of this crate.
pub type Result<T, E = Error> = std::result::Result<T, E>;

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
        Error(Box::new((kind, message.into(), None)))
    }
    /// Our own call into the driver failed.
    #[cold]
    pub fn driver(what: &str, result: ash::vk::Result) -> Self {
        Self::new(Kind::Driver, format!("{what} failed: {result:?}"))
    }
    /// A divergence between capture and replay.
    #[cold]
    pub fn divergence(message: impl Into<String>) -> Self {
        Self::new(Kind::Divergence, message)
    }
    /// Says where, unless somebody further in already did.
    #[cold]
    pub fn at(mut self, place: impl FnOnce() -> String) -> Self {
        self.0.2.get_or_insert_with(place);
        self
    }
    /// Its kind.
    pub fn kind(&self) -> Kind {
        self.0.0
    }
    /// The message without the place.
    pub fn message(&self) -> &str {
        &self.0.1
    }
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
