//! The mip levels and array layers that a view names, one by one; of 3D images the slices.
//!
//! Guarantees: each is one that the image has, level by level. Refuses nothing: a view of none of them names none.

use world::objects::{Image, ImageView, Subresources};

/// VK_IMAGE_TYPE_3D.
const IMAGE_3D: u32 = 2;
/// VK_IMAGE_VIEW_TYPE_3D.
const VIEW_3D: u32 = 2;

/// Views of one level and one layer or slice each.
pub fn each(image: &Image, view: &ImageView) -> Vec<ImageView> {
    let range = view.range;
    // (a count may say all that are left)
    let of = |first: u32, many: u32, there: u32| first..first.saturating_add(many).min(there);
    let one = |level, layer| {
        let range = Subresources { level, levels: 1, layer, layers: 1, ..range };
        ImageView { range, ..*view }
    };
    let layers = |level: u32| match image.kind {
        IMAGE_3D => {
            let slices = (image.extent[2] >> level.min(31)).max(1);
            // (views of other types name slices where those of other images name layers)
            if view.kind == VIEW_3D { 0..slices } else { of(range.layer, range.layers, slices) }
        }
        _ => of(range.layer, range.layers, image.layers),
    };
    let levels = of(range.level, range.levels, image.levels);
    levels.flat_map(|level| layers(level).map(move |layer| (level, layer))).map(|(v, y)| one(v, y)).collect()
}

#[cfg(test)]
mod tests {
    use super::*;

    /// Levels and layers of a view of this kind and range.
    fn named(
        image: &Image,
        kind: u32,
        (level, levels): (u32, u32),
        (layer, layers): (u32, u32),
    ) -> Vec<[u32; 2]> {
        let range = Subresources { aspects: 1, level, levels, layer, layers };
        let all = each(image, &ImageView { image: 7, kind, format: 37, range });
        let plain = |v: &ImageView| (v.image, v.format, v.range.aspects, v.range.levels, v.range.layers);
        assert!(all.iter().all(|v| plain(v) == (7, 37, 1, 1, 1)));
        all.iter().map(|v| [v.range.level, v.range.layer]).collect()
    }

    #[test]
    fn levels_and_layers_are_those_that_a_view_names() {
        let image = Image { kind: 1, extent: [20, 12, 1], levels: 3, layers: 4, ..Image::default() };
        assert_eq!(named(&image, 1, (0, 1), (0, 1)), [[0, 0]]);
        assert_eq!(named(&image, 5, (1, 2), (2, 2)), [[1, 2], [1, 3], [2, 2], [2, 3]]);
        assert_eq!(
            named(&image, 5, (2, u32::MAX), (1, u32::MAX)),
            [[2, 1], [2, 2], [2, 3]],
            "all that are left"
        );
        assert_eq!(named(&image, 1, (3, u32::MAX), (0, 1)), [[0; 2]; 0], "no such level");
    }

    #[test]
    fn of_3d_images_they_are_slices_which_levels_have_fewer_of() {
        let image = Image { kind: IMAGE_3D, extent: [8, 8, 4], levels: 4, layers: 1, ..Image::default() };
        let slices = [[1, 0], [1, 1], [2, 0], [3, 0]];
        assert_eq!(named(&image, VIEW_3D, (1, u32::MAX), (0, u32::MAX)), slices, "four, two, one, one");
        assert_eq!(
            named(&image, VIEW_3D, (1, 3), (0, 1)),
            slices,
            "a 3D view has one layer, and every slice"
        );
        assert_eq!(named(&image, 5, (0, 1), (2, u32::MAX)), [[0, 2], [0, 3]], "an array view of slices");
        assert_eq!(named(&image, 1, (1, 1), (1, 1)), [[1, 1]]);
    }
}
