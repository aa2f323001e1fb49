use super::*;
use crate::context::sample;
use crate::report::text;
use trace::{Memory, Value};

/// N = 8. frame, entry, function, block, executions, active, early, indirect, not launched, control flow, helper,
/// unattributed
fn known() -> Memory {
    let mut m = sample::trace();
    for row in [
        [1, 0, 0, 0, 4, 28, 0, 0, 0, 0, 4, 0],
        [1, 0, 1, 1, 4, 8, 4, 0, 0, 16, 4, 0],
        [1, 1, 0, 0, 2, 10, 0, 6, 6, 0, 0, 0],
    ] {
        m.put(&DIVERGENCE, &row.map(Value::U64));
    }
    m
}

#[test]
fn golden_text() {
    // Instructions: 10, 4 and 20. Inactive: 4 + 24 + 6 = 34 of 80; weighted 40 + 96 + 120 = 256 of 320 + 128 + 320, of which the
    // fragment shader has 136 of 448.
    let expected = "\
Divergence by cause

33.33 % of the instruction slots of subgroups were inactive: indirect call 15.62 %, control flow 8.33 %, helper 7.29 %, early return 2.08 %.
53.12 % of the inactive ones are in fragment main (sky.frag, 1f2e3d4c) of pipeline 7 \"sky\", of whose own 30.36 % are inactive; 37.50 % of all inactive ones in fragment main (sky.frag, 1f2e3d4c), function shade, block 1 (%45), sky.frag:17.

cause                             slots  of inactive  of all         slots  of inactive, weighted  of all, weighted
                                                   %       %  instructions                      %                 %
early return                          4        11.76    5.00            16                   6.25              2.08
indirect call                         6        17.65    7.50           120                  46.88             15.62
control flow                         16        47.06   20.00            64                  25.00              8.33
helper                                8        23.53   10.00            56                  21.88              7.29
all inactive                         34       100.00   42.50           256                 100.00             33.33
(of indirect call: not launched)      6        17.65    7.50           120                  46.88             15.62

stage     slots  inactive  early return  indirect call  control flow  helper      inactive  early return, weighted  indirect call, weighted  control flow, weighted  helper, weighted
                                                                              instructions                       %                        %                       %                 %
compute      16         6             0              6             0       0           120                    0.00                   100.00                    0.00              0.00
fragment     64        28             4              0            16       8           136                   11.76                     0.00                   47.06             41.18

pipeline          slots  inactive  early return  indirect call  control flow  helper      inactive  early return, weighted  indirect call, weighted  control flow, weighted  helper, weighted
                                                                                      instructions                       %                        %                       %                 %
pipeline 7 \"sky\"     64        28             4              0            16       8           136                   11.76                     0.00                   47.06             41.18
pipeline 8           16         6             0              6             0       0           120                    0.00                   100.00                    0.00              0.00

pipeline  stage     shader            entry  slots  inactive  early return  indirect call  control flow  helper      inactive  early return, weighted  indirect call, weighted  control flow, weighted  helper, weighted
                                                                                                                 instructions                       %                        %                       %                 %
       7  fragment  1f2e3d4c00112233  main      64        28             4              0            16       8           136                   11.76                     0.00                   47.06             41.18
       8  compute   99aabbccddeeff00  work      16         6             0              6             0       0           120                    0.00                   100.00                    0.00              0.00

frame  slots  inactive  early return  indirect call  control flow  helper      inactive  early return, weighted  indirect call, weighted  control flow, weighted  helper, weighted
                                                                           instructions                       %                        %                       %                 %
    1     80        34             4              6            16       8           256                    6.25                    46.88                   25.00             21.88

pipeline  stage     shader            entry  function    block  label  source       slots  inactive  early return  indirect call  control flow  helper      inactive  early return, weighted  indirect call, weighted  control flow, weighted  helper, weighted
                                                                                                                                                        instructions                       %                        %                       %                 %
       8  compute   99aabbccddeeff00  work   work            0  %3     –               16         6             0              6             0       0           120                    0.00                   100.00                    0.00              0.00
       7  fragment  1f2e3d4c00112233  main   shade(vf3;      1  %45    sky.frag:17     32        24             4              0            16       4            96                   16.67                     0.00                   66.67             16.67
       7  fragment  1f2e3d4c00112233  main   main            0  %5     –               32         4             0              0             0       4            40                    0.00                     0.00                    0.00            100.00

Cost of measuring: not known, the frame was not timed without the probes
";
    assert_eq!(text::render(&QUESTION.answer(&known()).unwrap()), expected);
}

#[test]
fn causes_sum_to_all_inactive_slots() {
    let report = QUESTION.answer(&known()).unwrap();
    let causes = &report.tables[0];
    let slots = |i: usize| match causes.rows[i][1] {
        Cell::Count(n) => n,
        _ => panic!("{:?}", causes.rows[i]),
    };
    assert_eq!((slots(0), slots(1), slots(2), slots(3)), (4, 6, 16, 8));
    assert_eq!((slots(4), slots(5)), (34, 6));
    assert!(report.notes.is_empty());
}

#[test]
fn loss_and_damage_are_said() {
    let mut m = known();
    m.put(&DIVERGENCE, &[1, 1, 0, 0, 1, 3, 0, 0, 0, 0, 0, 5].map(Value::U64));
    m.put(&DIVERGENCE, &[1, 1, 0, 0, 1, 3, 0, 0, 0, 1, 0, 0].map(Value::U64));
    let notes = QUESTION.answer(&m).unwrap().notes;
    assert!(notes[0].starts_with("5 inactive slots have no cause"), "{notes:?}");
    assert!(notes[1].starts_with("1 rows do not sum"), "{notes:?}");
    let notes = QUESTION.answer(&Memory::default()).unwrap().notes;
    assert_eq!(notes, ["No instrumented basic block was executed."]);
}
