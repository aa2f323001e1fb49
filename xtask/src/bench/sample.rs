//! What one run of a program took.

/// What a run took.
#[derive(Clone, Copy, Debug, Default, PartialEq)]
pub struct Sample {
    /// From start to exit, in seconds.
    pub wall_s: f64,
    /// In user mode, all threads, in seconds.
    pub user_s: f64,
    /// In the kernel, all threads, in seconds.
    pub system_s: f64,
    /// Peak resident set, in KiB.
    pub peak_kib: u64,
}

impl Sample {
    /// User and kernel, in seconds.
    pub fn cpu_s(&self) -> f64 {
        self.user_s + self.system_s
    }
}
