//! Work on many threads whose results are taken in order.
//!
//! Every thread of the pool takes the next piece, works on it, waits for its turn and hands the result over: so one
//! thread's writing overlaps the others' working, and no more results are in memory than there are threads.
//!
//! Guarantees: `take` sees the results in the order in which `next` gave the pieces, one at a time. After a failure no
//! new piece is begun. A panic in `work` or `take` ends all threads and goes on in the caller.

use std::sync::{Condvar, Mutex, PoisonError};

/// Runs `work` on every piece that `next` gives, with one `local` a thread, and `take` on every result, in order.
pub fn run<P, R, L, E>(
    next: impl FnMut() -> Option<P> + Send,
    local: impl Fn() -> L + Sync,
    work: impl Fn(&mut L, P) -> R + Sync,
    take: impl FnMut(&mut L, R) -> Result<(), E> + Send,
) -> Result<(), E>
where
    E: Send,
{
    struct Turn<T, E> {
        next: u64,
        take: T,
        failed: Option<E>,
        /// A thread panicked: its turn will never come.
        dead: bool,
    }
    let source = Mutex::new((0u64, next));
    let turn = Mutex::new(Turn { next: 0, take, failed: None, dead: false });
    let moved = Condvar::new();
    /// Lets the others go if this thread panics.
    struct Alarm<F: Fn()>(F);
    impl<F: Fn()> Drop for Alarm<F> {
        fn drop(&mut self) {
            if std::thread::panicking() {
                (self.0)();
            }
        }
    }
    rayon::broadcast(|_| {
        let _alarm = Alarm(|| {
            turn.lock().unwrap_or_else(PoisonError::into_inner).dead = true;
            moved.notify_all();
        });
        let mut local = local();
        loop {
            let (number, piece) = {
                let mut source = source.lock().unwrap_or_else(PoisonError::into_inner);
                let Some(piece) = (source.1)() else { return };
                source.0 += 1;
                (source.0 - 1, piece)
            };
            let result = work(&mut local, piece);
            let mut turn = turn.lock().unwrap_or_else(PoisonError::into_inner);
            while turn.next != number && !turn.dead {
                turn = moved.wait(turn).unwrap_or_else(PoisonError::into_inner);
            }
            if turn.dead {
                return;
            }
            if turn.failed.is_none()
                && let Err(e) = (turn.take)(&mut local, result)
            {
                turn.failed = Some(e);
            }
            turn.next += 1;
            let failed = turn.failed.is_some();
            drop(turn);
            moved.notify_all();
            if failed {
                return;
            }
        }
    });
    let turn = turn.into_inner().unwrap_or_else(PoisonError::into_inner);
    turn.failed.map_or(Ok(()), Err)
}

#[cfg(test)]
mod tests {
    #[test]
    fn results_come_in_order() {
        let (mut n, mut seen) = (0u32, Vec::new());
        let next = || {
            n += 1;
            (n <= 500).then_some(n)
        };
        let slow = |_: &mut (), n: u32| {
            (0..(n * 7919 % 97) * 100).fold(n, |a, b| std::hint::black_box(a ^ b ^ b));
            n
        };
        let take = |_: &mut (), n| {
            seen.push(n);
            Ok::<(), ()>(())
        };
        super::run(next, || (), slow, take).unwrap();
        assert_eq!(seen, (1..=500).collect::<Vec<_>>());
    }

    #[test]
    #[should_panic]
    fn a_panic_ends_it() {
        let mut n = 0u32;
        let next = || {
            n += 1;
            Some(n)
        };
        let work = |_: &mut (), n| assert!(n != 10, "as intended");
        let _ = super::run(next, || (), work, |_, ()| Ok::<(), ()>(()));
    }

    #[test]
    fn a_failure_ends_it() {
        let mut n = 0u32;
        let next = || {
            n += 1;
            Some(n)
        };
        let take = |_: &mut (), n| if n == 10 { Err(n) } else { Ok(()) };
        assert_eq!(super::run(next, || (), |_, n| n, take), Err(10));
    }
}
