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
    for n in ["vkQueueSubmit2KHR", "vkTransitionImageLayoutEXT"] {
        assert!(sees(&copied, n), "{n}");
    }
    // What is recorded the world knows.
    assert!(!sees(&copied, "vkCmdCopyBuffer2KHR") && copied.follows() == Depth::Commands);
    assert_eq!(presented.follows(), Depth::Objects);
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

#[test]
fn several_swapchains_are_several_shots() {
    let taken = Rc::new(RefCell::new(Vec::new()));
    let to = taken.clone();
    let take = Box::new(move |s: Shot| {
        to.borrow_mut().push((s.frame, s.swapchain, s.rgba));
        Ok(())
    });
    let (mut h, seen) = ScreenshotHook::new(wish(What::Presented, Some(vec![(5, 5)])), take);
    let held = |swapchain, grey| {
        let texels =
            Texels { width: 1, height: 1, format: vk::Format::R8_UNORM, row_bytes: 1, bytes: vec![grey] };
        Held { rank: Rank::Said, memory: None, frame: 5, swapchain, what: Contents::Texels(texels) }
    };
    h.held = vec![held(3, 1), held(4, 2)];
    h.settle_frame(Some(5)).expect("the taker takes them");
    h.held = vec![held(3, 9)];
    h.refused = Some("VkImage 7 cannot be".into());
    h.settle_frame(Some(6)).expect("the taker takes it");
    h.settle_frame(Some(7)).expect("nothing to take");
    let px = |v: u8| vec![v, v, v, 255];
    assert_eq!(*taken.borrow(), [(5, Some(3), px(1)), (5, Some(4), px(2)), (5, None, px(9))]);
    assert_eq!(seen.borrow().problems, ["frame 6: VkImage 7 cannot be", "frame 7: nothing was presented"]);
}
