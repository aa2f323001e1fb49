//! Which semaphores a call waits for and signals, in the order in which it does.

use gfxr_parse::ahead::Call;
use gfxr_parse::view::View;

/// One of them.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Op {
    /// Captured id.
    pub semaphore: u64,
    /// What is done; the number means something for timeline semaphores only.
    pub value: Value,
}

/// See [`Op`].
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Value {
    /// It is waited for.
    Wait(u64),
    /// It is signalled.
    Signal(u64),
}

/// What a call does to semaphores once everything has finished.
pub fn of_call(call: &Call) -> Vec<Op> {
    let v = View::call(&call.image);
    let mut ops = Vec::new();
    let mut push = |semaphore: Option<u64>, value: Value| {
        if let Some(semaphore) = semaphore.filter(|s| *s != 0) {
            ops.push(Op { semaphore, value });
        }
    };
    match call.command.canonical {
        "vkQueueSubmit" => {
            for s in v.structs("pSubmits") {
                batch(s, &mut push);
            }
        }
        "vkQueueBindSparse" => {
            for s in v.structs("pBindInfo") {
                batch(s, &mut push);
            }
        }
        "vkQueueSubmit2" => {
            for s in v.structs("pSubmits") {
                for w in s.structs("pWaitSemaphoreInfos") {
                    push(w.u64("semaphore"), Value::Wait(w.u64("value").unwrap_or(0)));
                }
                for w in s.structs("pSignalSemaphoreInfos") {
                    push(w.u64("semaphore"), Value::Signal(w.u64("value").unwrap_or(0)));
                }
            }
        }
        "vkQueuePresentKHR" => {
            for s in v.one("pPresentInfo").map_or(Vec::new(), |p| p.u64s("pWaitSemaphores")) {
                push(Some(s), Value::Wait(0));
            }
        }
        "vkAcquireNextImageKHR" if acquired(call) => push(v.u64("semaphore"), Value::Signal(0)),
        "vkAcquireNextImage2KHR" if acquired(call) => {
            push(v.one("pAcquireInfo").and_then(|i| i.u64("semaphore")), Value::Signal(0));
        }
        "vkSignalSemaphore" => {
            if let Some(i) = v.one("pSignalInfo") {
                push(i.u64("semaphore"), Value::Signal(i.u64("value").unwrap_or(0)));
            }
        }
        _ => {}
    }
    ops
}

/// Success, or suboptimal.
fn acquired(call: &Call) -> bool {
    const SUBOPTIMAL: i32 = 1_000_001_003;
    matches!(call.image.ret(), Some(0 | SUBOPTIMAL))
}

/// VkSubmitInfo or VkBindSparseInfo.
fn batch(s: View<'_>, push: &mut impl FnMut(Option<u64>, Value)) {
    let timeline = s.next("VkTimelineSemaphoreSubmitInfo");
    let values = |name| timeline.map_or(Vec::new(), |t| t.u64s(name));
    let (waits, signals) = (values("pWaitSemaphoreValues"), values("pSignalSemaphoreValues"));
    for (i, w) in s.u64s("pWaitSemaphores").into_iter().enumerate() {
        push(Some(w), Value::Wait(waits.get(i).copied().unwrap_or(0)));
    }
    for (i, w) in s.u64s("pSignalSemaphores").into_iter().enumerate() {
        push(Some(w), Value::Signal(signals.get(i).copied().unwrap_or(0)));
    }
}
