//! Rows of linear images that a host writes: where they lay at capture, and where they lie here.
//!
//! An application places its rows by what vkGetImageSubresourceLayout answered at capture; another driver answers
//! otherwise. Guarantees: every byte of a row that both layouts have goes to its row here, what lay between rows goes
//! nowhere. Where the layouts are the same, nothing is kept and bytes are copied as they come. Refuses nothing: of an
//! image whose layout the capture never asked for, the rows are taken to lie as here.

use ash::vk::SubresourceLayout;
use world::span::extent;

/// The rows of one mip level of one array layer.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Rows {
    /// That level.
    pub mip: u32,
    /// As the capture says.
    pub then: SubresourceLayout,
    /// As this driver says.
    pub now: SubresourceLayout,
    /// Texels high, and deep.
    pub height: u32,
    /// Slices of a 3D image.
    pub depth: u32,
}

impl Rows {
    /// Whether nothing is elsewhere.
    pub(super) fn same(&self) -> bool {
        let place = |l: &SubresourceLayout| {
            let depth_pitch = if self.depth > 1 { l.depth_pitch } else { 0 };
            (l.offset, if self.height > 1 { l.row_pitch } else { 0 }, depth_pitch)
        };
        place(&self.then) == place(&self.now)
    }

    /// Rows of texel blocks in a slice.
    fn count(&self) -> u64 {
        let slice = if self.depth > 1 { self.then.depth_pitch } else { self.then.size };
        slice.div_ceil(self.then.row_pitch.max(1)).min(self.height.into())
    }

    /// Calls `to` with (offset in the image here, range of `data`) for each row of which `data` holds some, which begins
    /// at `at` of the image as it was.
    fn each(&self, at: u64, len: u64, mut to: impl FnMut(u64, std::ops::Range<usize>)) {
        let (then, now) = (&self.then, &self.now);
        let row_bytes = then.row_pitch.min(now.row_pitch);
        let end = at.saturating_add(len);
        // What the capture says of its layout may be anything: a place beyond all numbers is behind every end.
        let place = |first: u64, pitch: u64, n: u64| first.saturating_add(pitch.saturating_mul(n));
        for slice in 0..u64::from(self.depth.max(1)) {
            let first = place(then.offset, then.depth_pitch, slice);
            let count = self.count();
            if first >= end || place(first, then.row_pitch, count) <= at {
                continue;
            }
            let from = at.saturating_sub(first) / then.row_pitch.max(1);
            for row in from..count {
                let begin = place(first, then.row_pitch, row);
                if begin >= end {
                    break;
                }
                let here = place(place(now.offset, now.depth_pitch, slice), now.row_pitch, row);
                // The last row ends where the texels do.
                let bytes = row_bytes
                    .min(extent(then.offset, then.size).end.saturating_sub(begin))
                    .min(extent(now.offset, now.size).end.saturating_sub(here));
                let (lo, hi) = (begin.max(at), begin.saturating_add(bytes).min(end));
                if lo < hi {
                    to(here.saturating_add(lo - begin), (lo - at) as usize..(hi - at) as usize);
                }
            }
        }
    }
}

/// What of `data`, which begins at `at` of captured memory, goes where in an image that lay at `offset` of it.
pub(super) fn rewrite<'d>(rows: &[Rows], offset: u64, at: u64, data: &'d [u8]) -> Vec<(u64, &'d [u8])> {
    let skipped = offset.saturating_sub(at).min(data.len() as u64);
    let data = &data[skipped as usize..];
    let at = at.saturating_add(skipped).saturating_sub(offset);
    let mut out = Vec::new();
    for r in rows {
        r.each(at, data.len() as u64, |to, range| out.push((to, &data[range])));
    }
    out
}

#[cfg(test)]
mod tests {
    use super::*;

    fn layout(offset: u64, row_pitch: u64, array_pitch: u64, size: u64) -> SubresourceLayout {
        SubresourceLayout { offset, size, row_pitch, array_pitch, depth_pitch: array_pitch }
    }

    fn flat(then: SubresourceLayout, now: SubresourceLayout, height: u32) -> Rows {
        Rows { mip: 0, then, now, height, depth: 1 }
    }

    #[test]
    fn rows_go_where_they_lie_here() {
        // Three rows of 12 bytes, 16 apart at capture and 20 here, behind 8 bytes.
        let rows = [flat(layout(0, 16, 0, 48), layout(8, 20, 0, 60), 3)];
        let data: Vec<u8> = (0..48).collect();
        let parts = |offset, at, data| {
            let all = rewrite(&rows, offset, at, data);
            all.iter().map(|(to, d)| (*to, d.len(), d[0])).collect::<Vec<_>>()
        };
        assert_eq!(parts(0, 0, &data), [(8, 16, 0), (28, 16, 16), (48, 16, 32)]);
        assert_eq!(parts(100, 100, &data), parts(0, 0, &data), "the image lay at an offset");
        assert_eq!(
            parts(0, 10, &data[..14]),
            [(18, 6, 0), (28, 8, 6)],
            "from within a row to within the next"
        );
        assert_eq!(parts(4, 0, &data[..22]), [(8, 16, 4), (28, 2, 20)], "from before the image");
        assert_eq!(parts(0, 48, &data), [], "behind it");
        assert_eq!(parts(64, 0, &data), [], "before it");
    }

    #[test]
    fn padding_that_is_smaller_here_is_left_out() {
        let rows = [flat(layout(0, 64, 0, 64 + 40), layout(0, 40, 0, 80), 2)];
        let data = [7; 128];
        let parts: Vec<_> = rewrite(&rows, 0, 0, &data).iter().map(|(to, d)| (*to, d.len())).collect();
        assert_eq!(parts, [(0, 40), (40, 40)], "the second row ends where the image does");
    }

    #[test]
    fn a_layout_that_no_driver_says_leads_nowhere() {
        let data = [1u8; 64];
        for then in [
            layout(u64::MAX, 16, 0, 48),
            layout(0, u64::MAX, u64::MAX, u64::MAX),
            layout(8, 0, 0, u64::MAX),
            SubresourceLayout { row_pitch: 16, depth_pitch: u64::MAX, size: 16, ..Default::default() },
        ] {
            let rows = Rows { depth: 3, ..flat(then, layout(0, 16, 0, 48), 3) };
            let parts = rewrite(&[rows], 0, 0, &data);
            assert!(parts.iter().all(|(to, d)| to + d.len() as u64 <= 64), "{then:?}: {parts:?}");
        }
    }

    #[test]
    fn layers_and_slices_have_their_own_rows() {
        let layer = |then, now| flat(layout(then, 16, 64, 32), layout(now, 32, 256, 64), 2);
        let data = [1; 128];
        let parts = |rows: &[Rows]| {
            let all = rewrite(rows, 0, 0, &data);
            all.iter().map(|(to, d)| (*to, d.len())).collect::<Vec<_>>()
        };
        let layers = [layer(0, 0), layer(64, 256)];
        assert_eq!(parts(&layers), [(0, 16), (32, 16), (256, 16), (288, 16)]);
        let solid = Rows { depth: 2, ..flat(layout(0, 16, 64, 128), layout(0, 32, 256, 512), 2) };
        assert_eq!(parts(&[solid]), parts(&layers));
    }

    #[test]
    fn what_is_where_it_was_needs_no_rows() {
        assert!(flat(layout(0, 16, 0, 48), layout(0, 16, 512, 60), 3).same());
        assert!(flat(layout(0, 16, 0, 16), layout(0, 64, 0, 64), 1).same(), "there is but one");
        assert!(!flat(layout(0, 16, 0, 48), layout(0, 20, 0, 60), 3).same());
        assert!(!flat(layout(0, 16, 0, 48), layout(4, 16, 0, 48), 3).same());
    }
}
