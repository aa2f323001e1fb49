//! What may be asked of pass `blocks`: `blocks:mode=lane+flush=exit`, options with plus signs between them.
//!
//! | option | values, the default first |
//! |---|---|
//! | `mode` | `lanes`: invocations, one of a subgroup adds for all; `lane`: invocations, each adds for itself (no subgroup operations are needed); `subgroup`: comings-by of subgroups |
//! | `add` | `atomic`; `plain`: without atomics, two that add at once may count as one, so that counts are too low |
//! | `sample` | `1`; `k`: one subgroup in k counts (with `mode=lane` one invocation), chosen by its work |
//! | `placement` | `knuth`: as few places as give all counts; `direct`: every block |
//! | `flush` | `exit`: what is in a loop is counted in registers and added where invocations leave; `direct`: at once |
//! | `merge` | with `mode=lanes`: `auto`: what is added at once each invocation adds for itself (GPUs merge additions of one number to one address), and what few loops hold is summed by the subgroup, what many hold is not; `subgroup`: one of the subgroup adds everything; `device`: as auto, but all that is held is summed |
//! | `held` | `all`; `n`: at most n counts are held in registers, those that are expected to be raised most often |
//! | `copies` | `1`; `n`: n copies of all counters, so that not all subgroups add to one |
//! | `early` | `keep`: depth and stencil tests that drivers make before a fragment shader stay there; `off`: they come after it |
//! | `as` | a name of its own in the trace, so that one plan may have the pass twice |
//!
//! Refuses what is not listed, and what has no meaning together.

use std::fmt::Write;

/// What is counted.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Default)]
pub enum Mode {
    /// Invocations; each adds for itself.
    Lane,
    /// Invocations; one of a subgroup adds for all that are there.
    #[default]
    Lanes,
    /// How often a subgroup comes by with any invocation.
    Subgroup,
}

/// Who merges the additions of a subgroup's invocations, with [`Mode::Lanes`].
#[derive(Clone, Copy, Debug, PartialEq, Eq, Default)]
pub enum Merge {
    /// As [`Merge::Device`], but what many loops hold is added by each invocation for itself, too: so many sums cost more
    /// than they save.
    #[default]
    Auto,
    /// One of the subgroup adds.
    Subgroup,
    /// The device, for what is added at once: it is one number to one address. What is held is summed by the subgroup.
    Device,
}

/// Which places have counters.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Default)]
pub enum Places {
    /// As few as give all counts.
    #[default]
    Knuth,
    /// Every block.
    Direct,
}

/// See the module's header.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Options {
    /// What is counted.
    pub mode: Mode,
    /// Without atomics.
    pub plain: bool,
    /// One in so many counts.
    pub every: u32,
    /// Which places have counters.
    pub places: Places,
    /// What loops repeat is held in registers until invocations leave.
    pub hold: bool,
    /// How many are held at most.
    pub most_held: usize,
    /// Who merges the additions of a subgroup's invocations.
    pub merge: Merge,
    /// Copies of the counters.
    pub copies: u32,
    /// Tests before fragment shaders stay there.
    pub early: bool,
    /// The pass's name.
    pub name: &'static str,
}

impl Default for Options {
    fn default() -> Self {
        Options {
            mode: Mode::default(),
            plain: false,
            every: 1,
            places: Places::default(),
            hold: true,
            most_held: usize::MAX,
            merge: Merge::default(),
            copies: 1,
            early: true,
            name: "blocks",
        }
    }
}

impl Options {
    /// Reads them.
    pub fn read(options: &[String]) -> Result<Self, String> {
        let mut o = Options::default();
        for option in options {
            let (key, value) = option.split_once('=').unwrap_or((option.as_str(), ""));
            match (key, value) {
                ("mode", "lanes") => o.mode = Mode::Lanes,
                ("mode", "lane") => o.mode = Mode::Lane,
                ("mode", "subgroup") => o.mode = Mode::Subgroup,
                ("add", "atomic") => o.plain = false,
                ("add", "plain") => o.plain = true,
                ("sample", k) if k.parse::<u32>().is_ok_and(|k| k > 0) => {
                    o.every = k.parse().expect("it was tried");
                }
                ("placement", "knuth") => o.places = Places::Knuth,
                ("placement", "direct") => o.places = Places::Direct,
                ("flush", "exit") => o.hold = true,
                ("flush", "direct") => o.hold = false,
                ("held", "all") => o.most_held = usize::MAX,
                ("held", n) if n.parse::<usize>().is_ok() => o.most_held = n.parse().expect("it was tried"),
                ("merge", "auto") => o.merge = Merge::Auto,
                ("merge", "subgroup") => o.merge = Merge::Subgroup,
                ("merge", "device") => o.merge = Merge::Device,
                ("copies", n) if n.parse::<u32>().is_ok_and(|n| (1..=1024).contains(&n)) => {
                    o.copies = n.parse().expect("it was tried");
                }
                ("early", "keep") => o.early = true,
                ("early", "off") => o.early = false,
                ("as", name) if !name.is_empty() => o.name = Box::leak(name.to_owned().into_boxed_str()),
                _ => {
                    return Err(format!(
                        "pass blocks has no option {option:?}; it has mode=lanes|lane|subgroup, \
                         add=atomic|plain, sample=K, placement=knuth|direct, flush=exit|direct, held=all|N, merge=auto|subgroup|device, copies=1..1024, \
                         early=keep|off and as=NAME, with + between them"
                    ));
                }
            }
        }
        if o.plain && o.every > 1 {
            return Err(
                "pass blocks: sample=K and add=plain do not go together: a sample is scaled, and lost \
                        additions are not"
                    .into(),
            );
        }
        Ok(o)
    }

    /// What the rewrite depends on.
    pub fn key(&self) -> String {
        let mut key = format!("blocks 3 {:?} {:?} every {}", self.mode, self.places, self.every);
        let _ = write!(key, " copies {}", self.copies);
        key.push_str(if self.plain { " plain" } else { "" });
        key.push_str(if self.hold { " hold" } else { "" });
        if self.most_held != usize::MAX {
            let _ = write!(key, " held {}", self.most_held);
        }
        let _ = write!(key, " merge {:?}", self.merge);
        key.push_str(if self.early { " early" } else { "" });
        let _ = write!(key, " as {}", self.name);
        key
    }

    /// What a count is of.
    pub fn unit(&self) -> &'static str {
        match self.mode {
            Mode::Lane | Mode::Lanes => "invocations",
            Mode::Subgroup => "subgroups",
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn options_are_read_or_refused() {
        assert_eq!(Options::read(&crate::passes::options("")), Ok(Options::default()));
        let o = Options::read(&crate::passes::options(
            "mode=lane:placement=direct+flush=direct:sample=8:copies=4:as=other",
        ))
        .expect("ok");
        assert_eq!((o.mode, o.places, o.hold, o.every), (Mode::Lane, Places::Direct, false, 8));
        assert_eq!((o.copies, o.name, o.unit()), (4, "other", "invocations"));
        assert_ne!(o.key(), Options::default().key());
        for wrong in
            ["mode=warp", "sample=0", "copies=0", "copies=5000", "as=", "plain", "add=plain:sample=2"]
        {
            assert!(Options::read(&crate::passes::options(wrong)).is_err(), "{wrong}");
        }
    }
}
