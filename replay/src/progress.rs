//! Who is told how far a replay is.

/// Told how far a session is.
pub trait Progress {
    /// `bytes` of the file are behind, frame `frame` is running.
    fn at(&mut self, bytes: u64, frame: u64);
    /// `done` of `all` iterations of a looped frame are behind.
    fn iteration(&mut self, _done: u32, _all: u32) {}
    /// Whether a looped frame ran often enough, however often it was to run. Asked after each timed iteration.
    fn enough(&mut self) -> bool {
        false
    }
}

/// No one is told.
impl Progress for () {
    fn at(&mut self, _: u64, _: u64) {}
}
