//! What was read of an image or buffer, with what is known of it: where texels lie in it, and of which format.
//!
//! Guarantees: every area that [`Content::new`] keeps lies within the bytes, and no two of them overlap. What no area covers is
//! memory of which nothing is known.

use super::format;
use super::read::Texels;
use replay::ash::vk;

/// Rows of texels within bytes.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Area {
    /// The first byte.
    pub offset: usize,
    /// Texels in a row.
    pub width: u32,
    /// Rows.
    pub height: u32,
    /// From row to row.
    pub row_bytes: usize,
    /// Of each texel.
    pub format: vk::Format,
}

impl Area {
    /// Bytes of the texels of a row.
    pub fn row_texels_bytes(&self) -> usize {
        self.width as usize * format::texel_bytes(self.format).unwrap_or(0)
    }

    /// The byte behind the last texel.
    pub fn end(&self) -> usize {
        let before = (self.height as usize).saturating_sub(1).saturating_mul(self.row_bytes);
        self.offset.saturating_add(before).saturating_add(self.row_texels_bytes())
    }
}

/// See the module's header.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Content {
    /// All of it, as it was stored.
    pub bytes: Vec<u8>,
    /// Where texels are.
    pub areas: Vec<Area>,
}

impl Content {
    /// Bytes and the areas that were written one after the other: a later one takes the place of those it overlaps.
    pub fn new(bytes: Vec<u8>, written: impl IntoIterator<Item = Area>) -> Self {
        let mut areas: Vec<Area> = vec![];
        for a in written {
            areas.retain(|b| b.end() <= a.offset || a.end() <= b.offset);
            let texels = a.row_texels_bytes();
            if texels > 0 && a.height > 0 && texels <= a.row_bytes && a.end() <= bytes.len() {
                areas.push(a);
            }
        }
        Content { bytes, areas }
    }

    /// What two contents have in common if they are the same.
    pub fn hash(&self) -> blake3::Hash {
        let mut hasher = blake3::Hasher::new();
        for a in &self.areas {
            let row = a.row_bytes as u64;
            hasher.update(&a.width.to_le_bytes()).update(&a.height.to_le_bytes()).update(&row.to_le_bytes());
        }
        hasher.update(&self.bytes).finalize()
    }
}

impl From<Texels> for Content {
    fn from(t: Texels) -> Self {
        let Texels { width, height, format, row_bytes, bytes } = t;
        Content::new(bytes, [Area { offset: 0, width, height, row_bytes, format }])
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn areas_lie_within_and_apart() {
        let area = |offset, width, height| {
            let format = vk::Format::R8G8B8A8_UNORM;
            Area { offset, width, height, row_bytes: 16, format }
        };
        let of = |all: &[Area]| Content::new(vec![0; 64], all.iter().copied()).areas;
        // 4 texels of 4 bytes are a row: four rows fill it, a fifth does not fit; three texels of the last row are enough.
        assert_eq!(of(&[area(0, 4, 4)]), [area(0, 4, 4)]);
        assert_eq!(of(&[area(0, 4, 5)]), []);
        assert_eq!(of(&[area(4, 3, 4)]), [area(4, 3, 4)]);
        // Wider than from row to row is no image.
        assert_eq!(of(&[area(0, 5, 1)]), []);
        // What is written later is what is there.
        assert_eq!(of(&[area(0, 4, 2), area(32, 4, 1), area(16, 4, 1)]), [area(32, 4, 1), area(16, 4, 1)]);
    }
}
