use super::*;
use crate::rays::events::model::Model;
use crate::report::text;

#[test]
fn the_report_is_printed_as_it_was() {
    let made = Model { width: 8, height: 4, samples: 1, ..Model::SMALL }.trace(true);
    let text = text::render(&QUESTION.answer(&made.memory()).unwrap());
    crate::report::printed::hold("rays/outcomes/printed.txt", &text);
}

/// Every number that the model counted while it traced.
#[test]
fn counts_are_the_model_s() {
    for nested in [false, true] {
        let made = Model { nested, shadows: !nested, ..Model::SMALL }.trace(true);
        let stats = Stats::of(&made.events, &made.events.launches[0]);
        let counts: Vec<u64> = stats.kinds.iter().map(|k| k.count).collect();
        assert_eq!(counts, made.counts.events);
        let mut depths = [0; 4];
        for (depth, s) in stats.depths.iter().enumerate() {
            depths[depth.min(3)] += s.rays();
        }
        assert_eq!(depths, made.counts.depths);
        let sum = |i: usize| stats.depths.iter().map(|d| d.outcomes[i]).sum::<u64>();
        let [miss, closest, occluded] = [0, 1, 2].map(sum);
        assert_eq!((miss, closest), (counts[7], counts[8]));
        assert_eq!((occluded, sum(3)), (made.counts.occluded, 0));
        let mut all = stats::Tests::default();
        stats.objects.iter().for_each(|o| all.add(o));
        assert_eq!(
            [all.tested, all.reported, all.any_hits, all.closest_hits],
            [counts[2], counts[3], counts[4], counts[8]]
        );
        assert!(all.reported < all.tested);
        assert_eq!(stats.of_invocations.values().sum::<u64>(), 48 * 32);
        assert_eq!(stats.of_invocations.iter().map(|(k, n)| k * n).sum::<u64>(), stats.rays());
        assert_eq!(stats.hits.values().sum::<u64>(), closest);
    }
}

#[test]
fn buckets_hold_their_beginnings() {
    for t in [0.001f32, 0.9, 1.0, 1.3, 77.0, 10_000.0] {
        let b = stats::bucket(t);
        assert!(stats::bucket_begin(b) <= f64::from(t) && f64::from(t) < stats::bucket_begin(b + 1), "{t}");
    }
    assert_eq!(stats::bucket_begin(stats::bucket(-1.0)), 0.0);
}

/// A broken law is a failed check, whether the log held all at once or the frame ran again in windows.
#[test]
fn broken_laws_fail() {
    let made = Model { width: 8, height: 4, samples: 1, ..Model::SMALL }.trace(true);
    for breaks in [false, true] {
        let mut memory = trace::Memory::default();
        let mut dropped = !breaks;
        made.rows(&mut |table, row| {
            let is_end = table.name == "rays" && row[5] == trace::Value::U64(RayEvent::End as u64);
            if table.name == "frames" {
                let mut row = row.to_vec();
                row[5] = trace::Value::U64(7);
                memory.put(table, &row);
            } else if !is_end || std::mem::replace(&mut dropped, true) {
                memory.put(table, row);
            }
        });
        let report = QUESTION.answer(&memory).unwrap();
        assert_eq!(report.failures.is_empty(), !breaks, "{:?}", report.failures);
    }
}
