//! A counting allocator: the largest single piece of memory a thread has asked for.
//!
//! Guarantees: counts every allocation made through Rust's global allocator, by the thread that makes it and over all
//! threads. Refuses nothing by itself: who counts decides what is too much. Not seen: what zstd's C code asks malloc
//! for (its window, at most 128 MiB, by the format's own limit).

use std::alloc::{GlobalAlloc, Layout, System};
use std::cell::Cell;
use std::sync::atomic::{AtomicU64, AtomicUsize, Ordering::Relaxed};

/// To be set as `#[global_allocator]`.
pub struct Counting;

thread_local! {
    static LARGEST: Cell<usize> = const { Cell::new(0) };
}
static LARGEST_OF_ALL: AtomicUsize = AtomicUsize::new(0);

/// More than this is not asked of the system: the process would end all the same, without a name for the input.
const MOST: usize = 16 << 30;
/// What the threads are at: the input's index, for the message before the end.
static INDEX: AtomicU64 = AtomicU64::new(u64::MAX);

/// Says which input runs (of several threads, the latest that began).
pub fn at(index: u64) {
    INDEX.store(index, Relaxed);
}

fn count(size: usize) {
    if size > MOST {
        eprintln!("asked for {size} bytes at once, by input {} or one beside it", INDEX.load(Relaxed));
    }
    // A thread at its end has no cell any more; nobody asks about it either.
    let _ = LARGEST.try_with(|largest| largest.set(largest.get().max(size)));
    LARGEST_OF_ALL.fetch_max(size, Relaxed);
}

/// The largest allocation of this thread since the last call, in bytes.
pub fn take_largest() -> usize {
    LARGEST.with(|largest| largest.replace(0))
}

/// The largest allocation of any thread since the last call, in bytes.
pub fn take_largest_of_all() -> usize {
    LARGEST_OF_ALL.swap(0, Relaxed)
}

// SAFETY: every call goes to the system's allocator unchanged; counting allocates nothing.
unsafe impl GlobalAlloc for Counting {
    unsafe fn alloc(&self, layout: Layout) -> *mut u8 {
        count(layout.size());
        // SAFETY: the caller keeps the contract of `alloc`.
        unsafe { System.alloc(layout) }
    }
    unsafe fn alloc_zeroed(&self, layout: Layout) -> *mut u8 {
        count(layout.size());
        // SAFETY: the caller keeps the contract of `alloc_zeroed`.
        unsafe { System.alloc_zeroed(layout) }
    }
    unsafe fn realloc(&self, at: *mut u8, layout: Layout, size: usize) -> *mut u8 {
        count(size);
        // SAFETY: the caller keeps the contract of `realloc`.
        unsafe { System.realloc(at, layout, size) }
    }
    unsafe fn dealloc(&self, at: *mut u8, layout: Layout) {
        // SAFETY: the caller keeps the contract of `dealloc`.
        unsafe { System.dealloc(at, layout) }
    }
}
