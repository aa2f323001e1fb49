//! Which launch of a frame it is that begins in a log.
//!
//! A log's header says which action runs and where the log ended when it began: a new pair is the next launch of that action, in
//! the order of submission. Refuses one that the frame did not submit.

use crate::pass::Launch;
use std::collections::HashMap;

/// Part of the log, action, and where the log ended when it began.
pub type Key = (u32, u32, u32);

/// See the module's header.
#[derive(Debug, Default)]
pub struct Begun {
    /// Indices of launches.
    known: HashMap<Key, usize>,
    /// How many launches of an action a part has.
    ran: HashMap<(u32, u32), usize>,
    /// The launch that runs, and its key.
    now: Option<(Key, usize)>,
}

impl Begun {
    /// The index of the launch that has this key: it is the one that runs now.
    pub fn at(&mut self, launches: &[Launch], key: Key) -> Result<usize, String> {
        let launch = match (self.now, self.known.get(&key)) {
            (Some(now), _) if now.0 == key => now.1,
            (_, Some(l)) => *l,
            _ => self.next(launches, key)?,
        };
        self.now = Some((key, launch));
        Ok(launch)
    }

    /// The one that runs.
    pub fn now(&self) -> Option<usize> {
        self.now.map(|n| n.1)
    }

    fn next(&mut self, launches: &[Launch], key: Key) -> Result<usize, String> {
        let (part, action, _) = key;
        let before = self.ran.entry((part, action)).or_default();
        let mut of_action = (0..launches.len()).filter(|l| launches[*l].action == action);
        let launch = of_action
            .nth(*before)
            .ok_or_else(|| format!("launch {before} of action {action}, which the frame did not submit"))?;
        *before += 1;
        self.known.insert(key, launch);
        Ok(launch)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_new_key_is_the_next_launch_of_its_action() {
        let launches = [7, 8, 7].map(|action| Launch { action, ..Launch::default() });
        let mut begun = Begun::default();
        assert_eq!(begun.now(), None);
        let mut at = |key| begun.at(&launches, key);
        assert_eq!(
            [at((0, 7, 0)), at((0, 8, 9)), at((0, 7, 0)), at((0, 7, 20))],
            [Ok(0), Ok(1), Ok(0), Ok(2)]
        );
        // Another part counts for itself.
        assert_eq!(at((1, 7, 0)), Ok(0));
        let why = at((0, 7, 30)).expect_err("there are two");
        assert_eq!(why, "launch 2 of action 7, which the frame did not submit");
        assert_eq!(begun.now(), Some(0));
    }
}
