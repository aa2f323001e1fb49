//! The tracer itself: nothing is in doubt, orders do not show, the pictures are right, and what is wrong is found.

use super::event::{BOUND, Event};
use super::geometry::Margin;
use super::run::Order;
use super::*;
use ::trace::tables::RayEvent;

fn all() -> Vec<(&'static str, Known)> {
    SCENES.iter().flat_map(|scene| known(scene).into_iter().map(move |k| (*scene, k))).collect()
}

#[test]
fn nothing_is_decided_by_less_than_floats_may_be_off() {
    for (_, known) in all() {
        let margin = Margin::default();
        let program = known.program(&margin);
        let mut events = 0;
        for order in [Order::Near, Order::Far, Order::Mixed] {
            events += known.places().map(|at| program.predict(at, order).events.len()).sum::<usize>();
        }
        eprintln!("{}: {events} events, the least margin is {}", known.pipeline, margin.least());
        assert!(margin.least() > 100.0 * BOUND, "{}: {}", known.pipeline, margin.least());
    }
}

/// What is seen does not depend on the order, which events there are does.
#[test]
fn whatever_the_order_the_picture_is_the_same() {
    for (_, known) in all() {
        let margin = Margin::default();
        let program = known.program(&margin);
        let mut other_events = false;
        for at in known.places() {
            let near = program.predict(at, Order::Near);
            for order in [Order::Far, Order::Mixed] {
                let other = program.predict(at, order);
                assert_eq!(near.payload, other.payload, "{} {at:?} {order:?}", known.pipeline);
                other_events |= near.events != other.events;
                // Any order is one that a driver may choose.
                let checked = program.check(at, &other.events);
                assert!(checked.is_ok(), "{} {at:?} {order:?}: {:?}", known.pipeline, checked.err());
            }
        }
        assert!(other_events, "{}", known.pipeline);
    }
}

/// The scenes show everything: each kind of event that a pipeline's rays have, four traces deep.
#[test]
fn everything_happens() {
    let (mut kinds, mut deepest) = (std::collections::BTreeSet::new(), 0);
    for (_, known) in all() {
        let margin = Margin::default();
        let program = known.program(&margin);
        for at in known.places() {
            let mut depth = 0;
            for event in program.predict(at, Order::Near).events {
                kinds.insert(event.kind);
                depth += i32::from(event.kind.begins()) - i32::from(event.kind == RayEvent::End);
                deepest = deepest.max(depth);
            }
            assert_eq!(depth, 0);
        }
    }
    assert_eq!(kinds.into_iter().collect::<Vec<_>>(), RayEvent::ALL[..=RayEvent::End as usize]);
    assert_eq!(deepest, 4);
}

/// One by one, every field of every event of some places is made wrong, left out or said twice: each is found.
#[test]
fn what_is_wrong_is_found() {
    let wrong: [fn(&mut Event) -> bool; 12] = [
        |e| e.t.as_mut().map(|t| *t += 4.0 * BOUND * t.abs().max(1.0)).is_some(),
        |e| e.flags.as_mut().map(|f| *f ^= 16).is_some(),
        |e| e.hit_kind.as_mut().map(|k| *k ^= 1).is_some(),
        |e| e.object.as_mut().map(|o| o.instance += 1).is_some(),
        |e| e.object.as_mut().map(|o| o.custom_index += 1).is_some(),
        |e| e.object.as_mut().map(|o| o.geometry += 1).is_some(),
        |e| e.object.as_mut().map(|o| o.primitive += 1).is_some(),
        |e| e.call.as_mut().map(|c| c.origin[1] += 1e-3).is_some(),
        |e| e.call.as_mut().map(|c| c.direction[2] += 1e-3).is_some(),
        |e| e.call.as_mut().map(|c| c.miss_index += 1).is_some(),
        |e| {
            e.stage += 1;
            true
        },
        |e| {
            e.group ^= 1;
            true
        },
    ];
    let mut found = 0;
    for (_, known) in all() {
        let margin = Margin::default();
        let program = known.program(&margin);
        for at in known.places().step_by(7) {
            let right = program.predict(at, Order::Near).events;
            let mut refused = |events: &[Event], what: String| {
                assert!(program.check(at, events).is_err(), "{} {at:?}: {what}", known.pipeline);
                found += 1;
            };
            let ends = [RayEvent::OcclusionBegin, RayEvent::TerminateRay];
            let ends_at_once = right.iter().any(|e| ends.contains(&e.kind));
            for i in 0..right.len() {
                for (w, change) in wrong.iter().enumerate() {
                    let mut events = right.clone();
                    if change(&mut events[i]) {
                        refused(&events, format!("change {w} of event {i}: {:?}", right[i]));
                    }
                }
                let mut events = right.clone();
                events.insert(i, right[i].clone());
                refused(&events, format!("event {i} twice: {:?}", right[i]));
                // A box that leads to nothing need not have been come to before a ray that ends at once ends.
                if right[i].kind != RayEvent::Intersection || !ends_at_once {
                    let mut events = right.clone();
                    let gone = events.remove(i);
                    refused(&events, format!("no event {i}: {gone:?}"));
                }
            }
            refused(&[right.as_slice(), &right].concat(), "everything twice".to_owned());
        }
    }
    eprintln!("{found} wrong traces were found");
    assert!(found > 10_000, "{found}");
}
