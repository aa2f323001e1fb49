//! What came of a comparison, in words.

use super::Tolerance;
use super::asked::{At, Compare};
use super::difference::Difference;

/// A picture that is another one.
#[derive(Clone, Debug, PartialEq)]
pub struct Differs {
    /// Which.
    pub at: At,
    /// How.
    pub difference: Difference,
}

/// See the module's header.
#[derive(Clone, Debug, PartialEq)]
pub struct Verdict {
    /// What was compared.
    pub compare: Compare,
    /// How far values could be off.
    pub tolerance: Tolerance,
    /// Frames of which pictures were compared.
    pub frames: usize,
    /// Pictures that were compared.
    pub compared: usize,
    /// Those that are another one in each replay as captured, and so were not.
    pub unsteady: usize,
    /// Those that differ, in the order of frames.
    pub differs: Vec<Differs>,
    /// Passes that alone change one of those beyond the bound.
    pub guilty: Vec<String>,
}

impl Verdict {
    /// Whether something differs beyond the bound.
    pub fn failed(&self) -> bool {
        self.differs.iter().any(|d| !d.difference.within)
    }

    /// The first picture that differs beyond the bound, or else the first that differs, as a sentence without its end; `than` is
    /// what it was compared with.
    pub fn first(&self, than: &str) -> Option<String> {
        let beyond = self.differs.iter().find(|d| !d.difference.within);
        let d = beyond.or(self.differs.first())?;
        let (frame, of) = d.at;
        let what = match (self.compare, of) {
            (Compare::Left, Some(id)) => format!("leaves something else in the buffer or image {id}"),
            _ => "shows another picture".to_owned(),
        };
        let who = match (&self.guilty[..], beyond) {
            (_, None) => String::new(),
            ([], _) => ", no pass alone changes it".to_owned(),
            (some, _) => format!(", because of pass {}", some.join(" and of pass ")),
        };
        let bound = match (d.difference.within, self.tolerance) {
            (true, t) => format!(" (within the tolerance, {t})"),
            (false, t) => format!(" (beyond the tolerance, {t})"),
        };
        let more = match self.differs.len() - 1 {
            0 => String::new(),
            1 => "; another picture differs, too".to_owned(),
            n => format!("; {n} more pictures differ"),
        };
        Some(format!("frame {frame} {what} than {than}{who}, {}{bound}{more}", d.difference))
    }

    /// What is to be said beside differences: what was compared instead of pictures, what was not.
    pub fn remarks(&self) -> Vec<String> {
        let mut all = vec![];
        match (self.compare, self.compared + self.unsteady) {
            (Compare::Shown, _) => {}
            (Compare::Left, 0) => all.push(
                "warning: measured frames present, copy out and change nothing: images were not verified"
                    .to_owned(),
            ),
            (Compare::Left, n) => all.push(format!(
                "nothing is presented: what {} frames leave in memory was compared instead ({n} contents)",
                self.frames
            )),
        }
        if self.unsteady > 0 {
            all.push(format!(
                "warning: {} pictures are another one in each replay without probes, and were not verified",
                self.unsteady
            ));
        }
        all
    }
}
