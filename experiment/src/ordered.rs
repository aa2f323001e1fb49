//! Work on many threads whose results are taken in order.
//!
//! Every thread of the pool takes the next piece, works on it, waits for its turn and hands the result over: so one
//! thread's writing overlaps the others' working, and no more results are in memory than there are threads. Pieces say
//! what memory they take: one that does not fit beside those that are worked on waits for them.
//!
//! Guarantees: `take` sees the results in the order in which `next` gave the pieces, one at a time. After a failure no
//! new piece is begun. A panic in `work` or `take` ends all threads and goes on in the caller.

use std::sync::{Condvar, Mutex, PoisonError};

/// Runs `work` on every piece that `next` gives, with one `local` a thread, and `take` on every result, in order.
/// `next` says what memory a piece takes until its result is taken; more than `most` together is not worked on at once.
pub fn run<P, R, L, E>(
    most: u64,
    next: impl FnMut() -> Option<(P, u64)> + Send,
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
        /// Memory of the pieces that are worked on.
        held: u64,
        failed: Option<E>,
        /// A thread panicked: its turn will never come.
        dead: bool,
    }
    let source = Mutex::new((0u64, next));
    let turn = Mutex::new(Turn { next: 0, take, held: 0, failed: None, dead: false });
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
            let (number, piece, bytes) = {
                let mut source = source.lock().unwrap_or_else(PoisonError::into_inner);
                let Some((piece, bytes)) = (source.1)() else { return };
                source.0 += 1;
                // Those that hold memory have earlier pieces, and wait for nobody who waits here.
                let mut turn = turn.lock().unwrap_or_else(PoisonError::into_inner);
                while turn.held > 0 && turn.held.saturating_add(bytes) > most && !turn.dead {
                    turn = moved.wait(turn).unwrap_or_else(PoisonError::into_inner);
                }
                turn.held = turn.held.saturating_add(bytes);
                (source.0 - 1, piece, bytes)
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
            turn.held = turn.held.saturating_sub(bytes);
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
            // Some do not fit beside others, and some not even alone.
            (n <= 500).then_some((n, u64::from(n % 12)))
        };
        let slow = |_: &mut (), n: u32| {
            (0..(n * 7919 % 97) * 100).fold(n, |a, b| std::hint::black_box(a ^ b ^ b));
            n
        };
        let take = |_: &mut (), n| {
            seen.push(n);
            Ok::<(), ()>(())
        };
        super::run(10, next, || (), slow, take).unwrap();
        assert_eq!(seen, (1..=500).collect::<Vec<_>>());
    }

    #[test]
    fn what_does_not_fit_waits() {
        use std::sync::atomic::{AtomicU64, Ordering::SeqCst};
        let (at_once, most) = (AtomicU64::new(0), AtomicU64::new(0));
        let mut n = 0u64;
        let next = || {
            n += 1;
            (n <= 200).then_some((n, 3))
        };
        let work = |_: &mut (), n| {
            most.fetch_max(at_once.fetch_add(3, SeqCst) + 3, SeqCst);
            (0..20_000).fold(n, |a: u64, b| std::hint::black_box(a ^ b ^ b))
        };
        let take = |_: &mut (), _| {
            at_once.fetch_sub(3, SeqCst);
            Ok::<(), ()>(())
        };
        super::run(7, next, || (), work, take).unwrap();
        assert!(most.into_inner() <= 6);
    }

    #[test]
    #[should_panic]
    fn a_panic_ends_it() {
        let mut n = 0u32;
        let next = || {
            n += 1;
            Some((n, 1))
        };
        let work = |_: &mut (), n| assert!(n != 10, "as intended");
        let _ = super::run(2, next, || (), work, |_, ()| Ok::<(), ()>(()));
    }

    #[test]
    fn a_failure_ends_it() {
        let mut n = 0u32;
        let next = || {
            n += 1;
            Some((n, 1))
        };
        let take = |_: &mut (), n| if n == 10 { Err(n) } else { Ok(()) };
        assert_eq!(super::run(2, next, || (), |_, n| n, take), Err(10));
    }
}
