//! Calls of a sample with bytes changed: nothing that decodes does harm.

use crate::Outcome;
use crate::bench::Ear;
use crate::{At, Command, Follow, Invocation, Observer, World};
use gfxr_parse::ahead::Call;
use gfxr_parse::ahead::{self, What};
use gfxr_parse::container::{Capture, read_file};
use gfxr_parse::decode::decode_call;
use gfxr_parse::encode::encode_call;
use std::ops::ControlFlow;
use std::panic::{AssertUnwindSafe, catch_unwind};

/// Looks at everything that it is told.
#[derive(Default)]
struct All(Ear, u64);

impl Observer for All {
    fn invocation(&mut self, w: &World, at: &At, i: &Invocation<'_>) {
        // (the ear knows only what right captures bind)
        self.1 += w.sizes(i.invoke).map_or(0, |s| s.len() as u64);
        for n in 0..i.invoke.bindings.program.layout().map_or(0, |l| l.sets.len()) {
            let crate::AtSet::Set { contents, .. } = w.set(i.invoke, n) else { continue };
            for b in &contents.layout.bindings {
                self.1 += contents.written(b.binding).take(1000).count() as u64;
                self.1 += contents.inline_bytes(b.binding).0.len() as u64;
            }
        }
        let _ = at;
    }
    fn command(&mut self, w: &World, at: &At, command: &Command) {
        self.0.command(w, at, command);
    }
}

/// Numbers that are always the same.
struct Dice(u64);

impl Dice {
    fn roll(&mut self, below: usize) -> usize {
        self.0 ^= self.0 << 13;
        self.0 ^= self.0 >> 7;
        self.0 ^= self.0 << 17;
        (self.0 % below.max(1) as u64) as usize
    }
}

/// The call with a few bytes changed, if it can still be read.
fn damaged(call: &Call, dice: &mut Dice, bytes: &mut Vec<u8>) -> Option<Call> {
    bytes.clear();
    encode_call(&call.image, bytes);
    for _ in 0..=dice.roll(3) {
        let at = dice.roll(bytes.len());
        *bytes.get_mut(at)? = [0, 1, 2, 7, 0x7F, 0xFF, dice.roll(256) as u8][dice.roll(7)];
    }
    let mut image = gfxr_parse::image::Image::default();
    decode_call(call.command, bytes, &mut image).ok()?;
    Some(Call { image, ..call.clone() })
}

#[test]
fn changed_bytes_do_no_harm() {
    let folder = std::path::Path::new(env!("CARGO_MANIFEST_DIR")).join("../captures/samples");
    let (mut dice, mut bytes, mut changed) = (Dice(0x9E37_79B9_7F4A_7C15), Vec::new(), 0);
    let mut harmed = std::collections::BTreeSet::new();
    for name in ["uniforms", "nested", "rays_frames_4_5", "msaa_frames_10_12"] {
        let capture = Capture::open(&folder.join(format!("{name}.gfxr")), read_file).expect("a capture");
        for _ in 0..8 {
            let (mut follow, mut all) = (Follow::new(), All::default());
            ahead::run(&capture, |item| {
                if let What::Call(call) = &item.what {
                    let other = match dice.roll(4) {
                        0 => damaged(call, &mut dice, &mut bytes),
                        _ => None,
                    };
                    changed += u64::from(other.is_some());
                    let call = other.as_ref().unwrap_or(call);
                    let run = || follow.call(call, Outcome::captured(call), &mut all);
                    if catch_unwind(AssertUnwindSafe(run)).is_err() {
                        harmed.insert(call.command.name);
                        return ControlFlow::Break(());
                    }
                }
                ControlFlow::Continue(())
            });
        }
    }
    assert!(harmed.is_empty(), "{harmed:?}");
    assert!(changed > 1000, "{changed}");
}
