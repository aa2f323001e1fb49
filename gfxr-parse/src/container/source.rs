//! Where the bytes of a file come from.

use std::fmt;
use std::sync::Arc;

/// Bytes that live somewhere: a `Vec`, a memory map, a test's constant.
pub type Bytes = Arc<dyn AsRef<[u8]> + Send + Sync>;

/// A file's bytes and its name for messages.
#[derive(Clone)]
pub struct Source {
    name: Arc<str>,
    bytes: Bytes,
}

impl Source {
    /// Bytes under a name.
    pub fn new(name: &str, bytes: impl AsRef<[u8]> + Send + Sync + 'static) -> Self {
        Self::shared(name, Arc::new(bytes))
    }
    /// Bytes somebody else holds, too.
    pub fn shared(name: &str, bytes: Bytes) -> Self {
        Source { name: name.into(), bytes }
    }
    /// The name.
    pub fn name(&self) -> &str {
        &self.name
    }
    /// The bytes.
    pub fn bytes(&self) -> &[u8] {
        (*self.bytes).as_ref()
    }
    pub(crate) fn into_bytes(self) -> Bytes {
        self.bytes
    }
}

impl From<Vec<u8>> for Source {
    /// Without a name.
    fn from(bytes: Vec<u8>) -> Self {
        Source::new("", bytes)
    }
}

impl fmt::Debug for Source {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "Source({:?}, {} bytes)", self.name, self.bytes().len())
    }
}
