//! Stacks of ray-tracing pipelines: an application that sets the size itself adds up what its driver said of each shader;
//! another driver's shaders take more or less.
//!
//! The sum is not known here, only its terms: a shader's captured size, times how often it stands on the stack. So the
//! captured sum grows as the term that grows most; and for shaders that took nothing and take something now, by as much
//! as there can be of them. A stack is never made smaller. An application that never asked keeps its number.

/// Shaders on a stack at most: the deepest recursion of any device (31), a ray generation shader, two callable ones.
pub(super) const MOST_FRAMES: u64 = 34;

/// What was learnt of shaders' stacks.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Stacks {
    /// Live and captured bytes of the shader that grew most.
    pub(super) growth: Option<(u64, u64)>,
    /// The most that a shader takes now that took nothing.
    pub(super) from_nothing: u64,
}

impl Stacks {
    pub(super) fn learn(&mut self, captured: u64, live: u64) {
        if captured == 0 {
            self.from_nothing = self.from_nothing.max(live);
        } else if live > captured {
            let more =
                |(l, c): (u64, u64)| u128::from(live) * u128::from(c) > u128::from(l) * u128::from(captured);
            if self.growth.is_none_or(more) {
                self.growth = Some((live, captured));
            }
        }
    }
    /// What a captured sum has to be here.
    pub(super) fn sum(&self, captured: u32) -> u32 {
        let grown = match self.growth {
            Some((live, then)) => (u128::from(captured) * u128::from(live)).div_ceil(u128::from(then)),
            None => captured.into(),
        };
        let most = grown + u128::from(self.from_nothing) * u128::from(MOST_FRAMES);
        u32::try_from(most).unwrap_or(u32::MAX)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn learnt(pairs: &[(u64, u64)]) -> Stacks {
        let mut s = Stacks::default();
        pairs.iter().for_each(|(captured, live)| s.learn(*captured, *live));
        s
    }

    #[test]
    fn a_stack_holds_what_its_shaders_take_here() {
        // Ray generation 100 -> 150, hit 40 -> 20, miss 10 -> 30, callable 8 -> 8; depth 3, two callables.
        let s = learnt(&[(100, 150), (40, 20), (10, 30), (8, 8)]);
        let (then, now) = (100 + 3 * 40 + 2 * 8, 150 + 3 * 30 + 2 * 8);
        assert_eq!(s.sum(then), 3 * then);
        assert!(s.sum(then) >= now);
    }

    #[test]
    fn where_nothing_grew_nothing_changes() {
        assert_eq!(learnt(&[]).sum(77), 77);
        assert_eq!(learnt(&[(64, 64), (128, 16), (0, 0)]).sum(300), 300);
    }

    #[test]
    fn shaders_that_took_nothing_may_take_something() {
        assert_eq!(learnt(&[(0, 16), (0, 8)]).sum(0), 34 * 16);
        assert_eq!(learnt(&[(1, u64::MAX)]).sum(u32::MAX), u32::MAX);
    }
}
