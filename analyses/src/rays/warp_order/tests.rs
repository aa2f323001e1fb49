use super::*;
use crate::rays::events::Launch;
use crate::rays::events::hash;
use crate::rays::events::model::{Model, Order};
use crate::report::text;

fn launch(width: u32, height: u32, order: Order) -> Launch {
    let (subgroup, lane) = order.assign(width, height);
    let n = order.warp[0] * order.warp[1];
    let starts = vec![0; (width * height) as usize + 1];
    Launch { size: [width, height, 1], n, starts, subgroup, lane, ..Launch::default() }
}

/// Subgroups that begin at about the same time get numbers in any order.
fn disorder_by(l: &mut Launch, disorder: u64) {
    let most = *l.subgroup.iter().max().unwrap() as usize + 1;
    let mut by: Vec<u32> = (0..most as u32).collect();
    by.sort_by_key(|s| u64::from(*s) + hash(5, u64::from(*s)) % disorder);
    let mut number = vec![0; most];
    by.iter().enumerate().for_each(|(n, s)| number[*s as usize] = n as u32);
    l.subgroup.iter_mut().for_each(|s| *s = number[*s as usize]);
}

/// Table 3.1's sizes and tiles, and both patterns: what was made is what is found, in order and in some disorder.
#[test]
fn what_was_made_is_found() {
    let sizes = [
        ([256, 256], 256, [8, 4], [2, 3, 1, 4]),
        ([1024, 500], 512, [4, 8], [2, 1, 3, 4]),
        ([1280, 720], 256, [8, 4], [2, 3, 1, 4]),
        ([1920, 1080], 256, [8, 4], [2, 3, 1, 4]),
        ([1024, 520], 32, [8, 4], [2, 3, 1, 4]),
        ([2048, 2048], 2048, [8, 4], [2, 3, 1, 4]),
        ([640, 400], 128, [4, 2], [3, 1, 4, 2]),
    ];
    for ([w, h], tile, warp, quadrants) in sizes {
        let mut l = launch(w, h, Order { warp, tile, quadrants });
        for disorder in [0, 8] {
            if disorder > 0 {
                disorder_by(&mut l, disorder);
                if tile <= 32 {
                    continue;
                }
            }
            let found = detect(&l);
            assert_eq!(found.rectangle, warp, "{w} x {h}");
            assert!(found.rectangle_agrees > 0.95, "{found:?}");
            let t = found.tile.unwrap_or_else(|| panic!("{w} x {h}, disorder {disorder}"));
            assert_eq!((t.size, t.quadrants), ([tile; 2], quadrants), "{w} x {h}, disorder {disorder}");
            assert!(t.agrees > 0.9 && t.quadrants_agree > 0.8, "{t:?}");
        }
    }
}

/// The sizes that are measured (scripts/warp-shapes) in tiles of several sides, subgroups of any rectangle; of the largest some.
#[test]
fn every_shape_is_found_at_every_size() {
    const SHAPES: [[u32; 2]; 5] = [[8, 4], [4, 8], [8, 1], [16, 2], [32, 1]];
    for ([w, h], shapes) in [
        ([256, 256], &SHAPES[..]),
        ([1024, 500], &SHAPES),
        ([1280, 720], &SHAPES),
        ([1920, 1080], &SHAPES[..2]),
        ([2048, 2048], &SHAPES[..1]),
    ] {
        let whole = u32::next_power_of_two(w.min(h));
        for &warp in shapes {
            // (at 256 x 256, tiles of 128 in Z are one of 256)
            let z = if warp[0] > warp[1] { [2, 3, 1, 4] } else { [2, 1, 3, 4] };
            for (tile, quadrants) in [([whole; 2], z), ([128; 2], [2, 3, 1, 4])] {
                let n = warp[0] * warp[1];
                let order = Order { warp, tile: 0, quadrants };
                let (subgroup, lane) = order.assign_tiles(w, h, tile);
                let starts = vec![0; (w * h) as usize + 1];
                let l = Launch { size: [w, h, 1], n, starts, subgroup, lane, ..Launch::default() };
                let found = detect(&l);
                assert_eq!(found.rectangle, warp, "{w} x {h}, tile {tile:?}");
                assert!(found.rectangle_agrees > 0.95, "{found:?}");
                let t = found.tile.unwrap_or_else(|| panic!("{w} x {h}, {warp:?}, tile {tile:?}: none"));
                assert_eq!((t.size, t.quadrants), (tile, quadrants), "{w} x {h}, {warp:?}");
                assert!(t.agrees > 0.99 && t.quadrants_agree > 0.99, "{t:?}");
            }
        }
    }
}

/// Subgroups that begin at the same time in any order, more of them than a tile holds: as an H200 has 256 x 256 and 1920 x 1080.
#[test]
fn tiles_in_great_disorder_are_seen_in_averages() {
    for ([w, h], tile, quadrants, disorder) in [
        ([1920, 1080], [128, 64], [2, 1, 3, 4], 900),
        ([1920, 1080], [64, 64], [2, 3, 1, 4], 300),
        ([256, 256], [256, 256], [2, 3, 1, 4], 900),
    ] {
        let order = Order { warp: [4, 8], tile: 0, quadrants };
        let (subgroup, lane) = order.assign_tiles(w, h, tile);
        let starts = vec![0; (w * h) as usize + 1];
        let mut l = Launch { size: [w, h, 1], n: 32, starts, subgroup, lane, ..Launch::default() };
        disorder_by(&mut l, disorder);
        let t = detect(&l).tile.unwrap_or_else(|| panic!("{w} x {h}: none"));
        assert_eq!((t.size, t.quadrants, t.averages), (tile, quadrants, true), "{w} x {h}: {t:?}");
        assert!(t.quadrants_agree < ENOUGH, "{t:?}");
    }
    // Rows in the same disorder are no tiles.
    let mut rows = launch(1920, 1080, Order { warp: [4, 8], tile: 0, quadrants: [2, 1, 3, 4] });
    disorder_by(&mut rows, 900);
    assert_eq!(detect(&rows).tile, None);
}

/// What the thesis saw at 1024 x 500, tiles of 256 x 512 in order 2-1-3-4, is the order of tiles of 512 x 512 in 2-3-1-4: the
/// same subgroups in the same places. It is called squares.
#[test]
fn high_tiles_are_squares_in_another_order() {
    let (w, h, warp) = (1024, 500, [4, 8]);
    let of = |quadrants, tile| Order { warp, tile: 0, quadrants }.assign_tiles(w, h, tile);
    let (subgroup, lane) = of([2, 1, 3, 4], [256, 512]);
    assert!((&subgroup, &lane) == (&of([2, 3, 1, 4], [512, 512]).0, &of([2, 3, 1, 4], [512, 512]).1));
    let starts = vec![0; (w * h) as usize + 1];
    let found = detect(&Launch { size: [w, h, 1], n: 32, starts, subgroup, lane, ..Launch::default() });
    let t = found.tile.expect("there is one");
    assert_eq!((found.rectangle, t.size, t.quadrants), (warp, [512, 512], [2, 3, 1, 4]));
}

#[test]
fn row_by_row_has_no_tiles() {
    for warp in [[8, 1], [8, 4], [2, 4]] {
        let found = detect(&launch(200, 120, Order { warp, tile: 0, quadrants: [2, 1, 3, 4] }));
        assert_eq!((found.rectangle, found.tile), (warp, None));
        assert!(found.rows_agree > 0.999, "{}", found.rows_agree);
    }
}

#[test]
fn no_order_is_none() {
    let mut l = launch(256, 128, Order::TILED);
    l.subgroup.iter_mut().for_each(|s| *s = (hash(3, u64::from(*s)) >> 40) as u32);
    let found = detect(&l);
    assert_eq!((found.rectangle, found.tile), ([8, 4], None));
    assert!(found.rows_agree < 0.1);
    assert_eq!(detect(&Launch::default()), Found::default());
}

#[test]
fn the_report_is_printed_as_it_was() {
    let made = Model { width: 64, height: 40, samples: 1, bounces: 1, ..Model::SMALL }.trace(true);
    let report = QUESTION.answer(&made.memory()).unwrap();
    assert_eq!((report.images[0].width, report.images[0].pixels[8]), (64, 4.0));
    let text = text::render(&report);
    crate::report::printed::hold("rays/warp_order/printed.txt", &text);
}
