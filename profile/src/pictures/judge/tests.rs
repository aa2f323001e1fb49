//! The judge's own rules, without a device: replays are made up, and say what each side shows.

use super::*;
use replay::error::Error;

/// A content of memory, of so many bytes.
fn memory(value: u8, bytes: usize) -> Content {
    Content::new(vec![value; bytes], [])
}

fn pictures(all: &[(u64, Content)]) -> Pictures {
    all.iter().map(|(frame, c)| ((*frame, None), (c.hash(), c.bytes.len() as u64))).collect()
}

fn asked() -> Asked {
    Asked { compare: Compare::Shown, frames: vec![(1, 9)], watchdog_ns: 1 }
}

#[test]
fn what_is_alike_is_not_looked_at_again() {
    let mut again = |_: Side<'_>, _: Vec<Box<dyn Hook>>, _: &'static str| -> Result<(), Error> {
        panic!("nothing differs")
    };
    let all = pictures(&[(1, memory(1, 4)), (2, memory(2, 4))]);
    let mut judge = Judge { asked: asked(), tolerance: Tolerance::default(), passes: &[], again: &mut again };
    let v = judge.judge(&all, &all).expect("no replay is made");
    assert!(!v.failed() && v.compared == 2 && v.frames == 2 && v.first("before").is_none());
}

#[test]
fn a_picture_that_is_not_steady_is_not_judged() {
    // (a replay as captured that shows nothing any more shows another thing than before)
    let mut replays = vec![];
    let mut again = |side: Side<'_>, _: Vec<Box<dyn Hook>>, _: &'static str| -> Result<(), Error> {
        replays.push(format!("{side:?}"));
        Ok(())
    };
    let (plain, now) = (pictures(&[(1, memory(1, 4)), (2, memory(2, 4))]), pictures(&[(2, memory(2, 4))]));
    let mut judge = Judge { asked: asked(), tolerance: Tolerance::default(), passes: &[], again: &mut again };
    let v = judge.judge(&plain, &now).expect("replays are made up");
    assert!(!v.failed() && v.unsteady == 1 && v.compared == 1);
    assert_eq!(replays, ["Plain"]);
    assert!(v.remarks()[0].contains("1 pictures are another one in each replay without probes"));
}

#[test]
fn only_so_much_is_held() {
    let size = MOST_BYTES / 2 + 1;
    let of = |n: u64, bytes: u64| ((n, None), (blake3::hash(&n.to_le_bytes()), bytes));
    let all =
        Pictures::from([of(1, 10), of(2, size), of(3, size), of(4, 10), of(5, 3 * MOST_BYTES), of(6, 1)]);
    let frames: Vec<Vec<u64>> = batches(&all).iter().map(|b| b.iter().map(|at| at.0).collect()).collect();
    assert_eq!(frames, [vec![1, 2], vec![3, 4], vec![5], vec![6]]);
    assert!(batches(&Pictures::new()).is_empty());
}

#[test]
fn words_say_how_far_and_whose_fault_it_is() {
    let area = |bytes: &[u8]| {
        let format = replay::ash::vk::Format::R8G8B8A8_UNORM;
        let a = crate::hooks::screenshot::Area { offset: 0, width: 2, height: 1, row_bytes: 8, format };
        Content::new(bytes.to_vec(), [a])
    };
    let (plain, near, far) =
        (area(&[9; 8]), area(&[9, 9, 9, 9, 9, 9, 10, 9]), area(&[9, 9, 9, 9, 9, 9, 90, 9]));
    let of = |c: &Content| Difference::of(&plain, c, Tolerance::default()).expect("it differs");
    let differs = |frame, c| Differs { at: (frame, None), difference: of(c) };
    let mut v = Verdict {
        compare: Compare::Shown,
        tolerance: Tolerance::default(),
        frames: 3,
        compared: 3,
        unsteady: 0,
        differs: vec![differs(1, &near)],
        guilty: vec![],
    };
    assert!(!v.failed());
    assert_eq!(
        v.first("without probes").as_deref(),
        Some(
            "frame 1 shows another picture than without probes, first at pixel (1, 0): [9, 9, 10, 9] and not [9, 9, 9, 9]; 1 \
             of 8 values differs by up to 1 step of R8G8B8A8_UNORM (within the tolerance, 64)"
        )
    );
    v.differs.push(differs(2, &far));
    v.guilty.push("wrong".into());
    assert!(v.failed());
    let said = v.first("without probes").expect("two differ");
    assert!(
        said.starts_with(
            "frame 2 shows another picture than without probes, because of pass wrong, first at"
        ),
        "{said}"
    );
    assert!(
        said.ends_with(
            "by up to 81 steps of R8G8B8A8_UNORM (beyond the tolerance, 64); another picture differs, too"
        ),
        "{said}"
    );
}
