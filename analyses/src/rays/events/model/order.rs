//! Which invocation is in which lane of which subgroup, as devices do it: rectangles of pixels, square tiles row by row, and
//! in each tile the quadrants in some order, again and again down to the rectangles.

/// How a device makes subgroups of an image.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Order {
    /// Width and height of a subgroup's rectangle, powers of two.
    pub warp: [u32; 2],
    /// The tile's side, a power of two; 0: rectangles row by row.
    pub tile: u32,
    /// Quadrants in their order: 1 upper right, 2 upper left, 3 lower left, 4 lower right.
    pub quadrants: [u8; 4],
}

impl Order {
    /// Rectangles of 8 × 4 in tiles of 256 × 256, quadrants 2-3-1-4.
    pub const TILED: Order = Order { warp: [8, 4], tile: 256, quadrants: [2, 3, 1, 4] };

    /// Subgroup and lane of each invocation, row by row.
    pub fn assign(&self, width: u32, height: u32) -> (Vec<u32>, Vec<u8>) {
        let tile = if self.tile == 0 { self.warp } else { [self.tile; 2] };
        self.assign_tiles(width, height, tile)
    }

    /// The same in tiles of any two powers of two.
    pub fn assign_tiles(&self, width: u32, height: u32, tile: [u32; 2]) -> (Vec<u32>, Vec<u8>) {
        let pixels = width as usize * height as usize;
        let (mut subgroup, mut lane) = (vec![0; pixels], vec![0; pixels]);
        let mut next = 0;
        let mut put = |left: u32, top: u32| {
            if left >= width || top >= height {
                return;
            }
            for y in top..(top + self.warp[1]).min(height) {
                for x in left..(left + self.warp[0]).min(width) {
                    let at = y as usize * width as usize + x as usize;
                    subgroup[at] = next;
                    lane[at] = ((y - top) * self.warp[0] + x - left) as u8;
                }
            }
            next += 1;
        };
        for top in (0..height).step_by(tile[1] as usize) {
            for left in (0..width).step_by(tile[0] as usize) {
                self.quadrant(left, top, tile, &mut put);
            }
        }
        (subgroup, lane)
    }

    fn quadrant(&self, left: u32, top: u32, size: [u32; 2], put: &mut impl FnMut(u32, u32)) {
        if size[0] <= self.warp[0] && size[1] <= self.warp[1] {
            return put(left, top);
        }
        let half = [size[0] / 2, size[1] / 2];
        // (a side that is a rectangle's already is not halved any more)
        let splits = [half[0] >= self.warp[0], half[1] >= self.warp[1]];
        let size = [if splits[0] { half[0] } else { size[0] }, if splits[1] { half[1] } else { size[1] }];
        for q in self.quadrants {
            let right = matches!(q, 1 | 4);
            let lower = matches!(q, 3 | 4);
            if (right && !splits[0]) || (lower && !splits[1]) {
                continue;
            }
            let (x, y) = (left + if right { size[0] } else { 0 }, top + if lower { size[1] } else { 0 });
            self.quadrant(x, y, size, put);
        }
    }
}

#[cfg(test)]
mod tests {
    use super::Order;

    #[test]
    fn a_tile_of_four_rectangles() {
        let order = Order { warp: [2, 1], tile: 4, quadrants: [2, 3, 1, 4] };
        // Quadrants of 2 × 2, two rectangles each; the second tile is cut off by the image.
        let (subgroup, lane) = order.assign(5, 4);
        #[rustfmt::skip]
        assert_eq!(subgroup, [
            0, 0, 4, 4, 8,
            1, 1, 5, 5, 9,
            2, 2, 6, 6, 10,
            3, 3, 7, 7, 11,
        ]);
        assert_eq!(lane[..5], [0, 1, 0, 1, 0]);
    }

    #[test]
    fn every_pixel_has_a_lane_of_its_own() {
        for (width, height) in [(1, 1), (37, 21), (64, 64), (300, 40)] {
            let (subgroup, lane) = Order::TILED.assign(width, height);
            let mut all: Vec<_> = subgroup.iter().zip(&lane).collect();
            all.sort();
            all.dedup();
            assert_eq!(all.len(), (width * height) as usize);
            assert!(lane.iter().all(|l| *l < 32));
        }
    }
}
