//! One subgroup, call by call.
//!
//! Of each call the invocations that have it next, and those that still come to it at all, are masks; so is who has the most
//! of it left. Time is in proportion to the invocations' calls, and the choices that there are.

use super::calls::Replayer;
use std::cmp::Reverse;
use std::ops::Range;

/// The most invocations of a subgroup.
const MOST: usize = 128;

/// A synthetic event: bits of `mask` are places in the subgroup.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Synthetic {
    /// The call.
    pub code: u16,
    /// Who executes it.
    pub mask: u128,
    /// Whether it is one of the events that the call takes in any order.
    pub needed: bool,
}

/// What is known of a call.
#[derive(Clone, Copy, Debug, Default)]
struct Call {
    /// Who has it next.
    next: u128,
    /// Who comes to it, now or later.
    left: u128,
    /// How often whoever comes to it most does; those are the `most`.
    times: u32,
    most: u128,
}

/// Memory that is used again for the next subgroup.
#[derive(Clone, Debug)]
pub struct Scratch {
    /// By code.
    calls: Vec<Call>,
    /// Of each code and place: how often it still comes.
    remaining: Vec<u32>,
    /// Codes that anyone has next.
    heads: Vec<u16>,
    at: [usize; MOST],
    end: [usize; MOST],
}

impl Scratch {
    /// For so many codes.
    pub fn new(codes: usize) -> Scratch {
        Scratch {
            calls: vec![Call::default(); codes],
            remaining: vec![0; codes * MOST],
            heads: vec![],
            at: [0; MOST],
            end: [0; MOST],
        }
    }

    /// A place comes to a call once more than was known.
    fn expect(&mut self, lane: usize, code: u16) {
        let times = &mut self.remaining[usize::from(code) * MOST + lane];
        *times += 1;
        let call = &mut self.calls[usize::from(code)];
        call.left |= 1 << lane;
        if *times > call.times {
            (call.times, call.most) = (*times, 0);
        }
        call.most |= u128::from(*times == call.times) << lane;
    }

    /// Those who have a call next do it; whether all who came to it most are among them.
    fn done(&mut self, code: u16, mask: u128) -> bool {
        let call = &mut self.calls[usize::from(code)];
        let remaining = &mut self.remaining[usize::from(code) * MOST..][..MOST];
        call.next = 0;
        for lane in lanes(mask) {
            remaining[lane] -= 1;
            call.left &= !(u128::from(remaining[lane] == 0) << lane);
        }
        call.most &= !mask;
        let needed = call.most == 0;
        if needed {
            call.times -= 1;
            for lane in lanes(call.left) {
                call.most |= u128::from(remaining[lane] == call.times) << lane;
            }
        }
        needed
    }
}

impl Replayer {
    /// Executes parts of the stream together, one for each place of a subgroup; `take` is told each event.
    ///
    /// # Panics
    /// If there are more than 128 places.
    pub fn run(&self, parts: &[Range<usize>], s: &mut Scratch, mut take: impl FnMut(Synthetic)) {
        assert!(parts.len() <= MOST, "a subgroup of {} invocations", parts.len());
        for (lane, part) in parts.iter().enumerate() {
            (s.at[lane], s.end[lane]) = (part.start, part.end);
            self.stream[part.clone()].iter().for_each(|code| s.expect(lane, *code));
            self.arrive(lane, s);
        }
        while let Some(place) = self.choose(s) {
            let code = s.heads.swap_remove(place);
            let mask = s.calls[usize::from(code)].next;
            let needed = s.done(code, mask);
            take(Synthetic { code, mask, needed });
            for lane in lanes(mask) {
                s.at[lane] += 1;
                self.arrive(lane, s);
            }
        }
    }

    /// A place has another call next, if it has one.
    fn arrive(&self, lane: usize, s: &mut Scratch) {
        if s.at[lane] == s.end[lane] {
            return;
        }
        let code = self.stream[s.at[lane]];
        let call = &mut s.calls[usize::from(code)];
        if call.next == 0 {
            s.heads.push(code);
        }
        call.next |= 1 << lane;
    }

    /// Which of the heads is executed next: rules 1 to 5 of the header above.
    fn choose(&self, s: &Scratch) -> Option<usize> {
        let key = |code: u16| {
            let call = &s.calls[usize::from(code)];
            let early = call.most & !call.next != 0;
            let wait = (call.left & !call.next).count_ones();
            let (heads, first) = (call.next.count_ones(), call.next.trailing_zeros());
            (early, self.classes[usize::from(code)], wait, Reverse(heads), first)
        };
        (0..s.heads.len()).min_by_key(|place| key(s.heads[*place]))
    }
}

fn lanes(mut mask: u128) -> impl Iterator<Item = usize> {
    std::iter::from_fn(move || {
        let lane = (mask != 0).then(|| mask.trailing_zeros() as usize)?;
        mask &= mask - 1;
        Some(lane)
    })
}
