//! Tests of the hook's own rules that need no device.

use super::held::shaped;
use super::*;

fn wish(what: What, frames: Option<Vec<(u64, u64)>>) -> Wish {
    Wish { what, frames, shape: None, watchdog_ns: 1 }
}

fn hook(what: What, frames: Option<Vec<(u64, u64)>>) -> ScreenshotHook {
    ScreenshotHook::new(wish(what, frames), Box::new(|_| Ok(()))).0
}

#[test]
fn frames() {
    let h = hook(What::Presented, Some(vec![(1, 1), (50, 52)]));
    let wanted: Vec<u64> = (0..100).filter(|f| h.wants_frame(*f)).collect();
    assert_eq!(wanted, [1, 50, 51, 52]);
    assert!(hook(What::Presented, None).wants_frame(7));
}

#[test]
fn commands_under_all_their_names() {
    let sees = |h: &ScreenshotHook, n: &str| {
        let c = gfxr_parse::schema::command_named(n).expect(n);
        h.wants().has(replay::hook::index_of(c))
    };
    let presented = hook(What::Presented, None);
    assert!(sees(&presented, "vkQueuePresentKHR") && !sees(&presented, "vkQueueSubmit"));
    assert!(!presented.needs().transfer_src);
    let copied = hook(What::CopiedOut, None);
    for n in
        ["vkQueueSubmit2KHR", "vkCmdCopyBuffer2KHR", "vkCmdPipelineBarrier2KHR", "vkTransitionImageLayoutEXT"]
    {
        assert!(sees(&copied, n), "{n}");
    }
    assert!(copied.needs().transfer_src && !sees(&copied, "vkQueuePresentKHR"));
}

#[test]
fn the_best_is_held_then_the_latest() {
    let mut h = hook(What::CopiedOut, None);
    let bytes = |buffer: u64| Ok(Contents::Bytes { buffer, bytes: vec![] });
    let holds = |h: &ScreenshotHook| match &h.held[..] {
        [Held { what: Contents::Bytes { buffer, .. }, .. }] => *buffer,
        _ => panic!("one buffer"),
    };
    h.hold(bytes(1), Rank::Image, None, 1);
    h.hold(bytes(2), Rank::Buffer, None, 1);
    assert_eq!(holds(&h), 1);
    h.hold(bytes(3), Rank::Image, None, 2);
    assert_eq!(holds(&h), 3);
    h.hold(Err("no".into()), Rank::Said, None, 2);
    assert_eq!((holds(&h), h.refused.as_deref()), (3, Some("no")));
}

#[test]
fn a_buffer_needs_a_shape() {
    let e = shaped(80, vec![0; 16], None).expect_err("none given");
    assert_eq!(
        e,
        "16 bytes were copied into VkBuffer 80, and nothing says what image they are; \
         say it with --as WxH:FORMAT, as in --as 640x320:R32_SFLOAT"
    );
    let e =
        shaped(80, vec![0; 16], Some("3x2:R32_SFLOAT".parse().expect("well-formed"))).expect_err("too small");
    assert_eq!(e, "3x2:R32_SFLOAT takes 24 bytes, VkBuffer 80 holds 16");
    let t = shaped(80, vec![0; 24], Some("3x2:R32_SFLOAT".parse().expect("well-formed"))).expect("fits");
    assert_eq!((t.width, t.height, t.row_bytes), (3, 2, 12));
}
