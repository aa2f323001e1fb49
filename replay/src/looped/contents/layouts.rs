//! The layouts of an image, subresource by subresource.
//!
//! Guarantees: ranges with VK_REMAINING_* reach the last level or layer; depth and stencil are apart; what a range names
//! beyond the image is ignored. Refuses nothing.

use ash::vk;
use std::collections::BTreeMap;
use vk::ImageAspectFlags as A;
use world::objects::Subresources;

/// One mip level of one layer of one aspect (an index into the image's aspects).
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub struct Part {
    /// Index into [`Layouts::aspects`].
    pub aspect: usize,
    /// Mip level.
    pub level: u32,
    /// Array layer.
    pub layer: u32,
}

/// All of an image, in these aspects.
pub fn whole(aspects: A) -> Subresources {
    let all = vk::REMAINING_MIP_LEVELS;
    Subresources { aspects: aspects.as_raw(), level: 0, levels: all, layer: 0, layers: all }
}

/// See the module's header.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Layouts {
    aspects: &'static [A],
    levels: u32,
    layers: u32,
    of: Vec<vk::ImageLayout>,
}

/// A barrier's part of a plan: where, from which layout, to which.
pub type Move = (vk::ImageSubresourceRange, vk::ImageLayout, vk::ImageLayout);

impl Layouts {
    /// All of an image in one layout.
    pub fn new(aspects: &'static [A], levels: u32, layers: u32, layout: vk::ImageLayout) -> Self {
        let (levels, layers) = (levels.max(1), layers.max(1));
        let of = vec![layout; aspects.len() * levels as usize * layers as usize];
        Layouts { aspects, levels, layers, of }
    }
    /// Its aspects.
    pub fn aspects(&self) -> &'static [A] {
        self.aspects
    }
    fn index(&self, p: Part) -> usize {
        (p.aspect * self.levels as usize + p.level as usize) * self.layers as usize + p.layer as usize
    }
    /// Every subresource: by aspect, then level, then layer.
    pub fn parts(&self) -> impl Iterator<Item = Part> + use<> {
        let (levels, layers) = (self.levels, self.layers);
        (0..self.aspects.len()).flat_map(move |aspect| {
            (0..levels).flat_map(move |level| (0..layers).map(move |layer| Part { aspect, level, layer }))
        })
    }
    /// The layout of one.
    pub fn of(&self, p: Part) -> vk::ImageLayout {
        self.of[self.index(p)]
    }
    /// Whether there is something in it that a later use may rely on.
    pub fn defined(&self, p: Part) -> bool {
        is_defined(self.of(p))
    }
    /// A range is in this layout from now on.
    pub fn set(&mut self, range: Subresources, layout: vk::ImageLayout) {
        let span = |first: u32, count: u32, all: u32| first.min(all)..first.saturating_add(count).min(all);
        let levels = span(range.level, range.levels, self.levels);
        let layers = span(range.layer, range.layers, self.layers);
        let aspects = A::from_raw(range.aspects);
        for (aspect, a) in self.aspects.iter().enumerate() {
            let planes = A::PLANE_0 | A::PLANE_1 | A::PLANE_2;
            if !(aspects.intersects(*a) || aspects.contains(A::COLOR) && planes.contains(*a)) {
                continue;
            }
            for level in levels.clone() {
                for layer in layers.clone() {
                    let i = self.index(Part { aspect, level, layer });
                    self.of[i] = layout;
                }
            }
        }
    }

    /// Barriers that take parts from one layout to another, as few as plain merging finds: parts with the same move
    /// become one range over aspects, layers and levels. Moves to where a part already is are left out.
    pub fn moves(&self, parts: impl Iterator<Item = (Part, vk::ImageLayout, vk::ImageLayout)>) -> Vec<Move> {
        // Aspects that move alike within a subresource, then runs of layers, then runs of levels.
        let mut at: BTreeMap<(u32, u32), BTreeMap<(i32, i32), A>> = BTreeMap::new();
        for (p, from, to) in parts.filter(|m| m.1 != m.2) {
            let alike = at.entry((p.level, p.layer)).or_default();
            *alike.entry((from.as_raw(), to.as_raw())).or_default() |= self.aspects[p.aspect];
        }
        let mut rows: Vec<(vk::ImageSubresourceRange, i32, i32)> = Vec::new();
        for ((level, layer), alike) in at {
            for ((from, to), aspects) in alike {
                let aspect_mask = self.mask(aspects);
                let before = rows.iter_mut().rev().take(4).find(|(r, f, t)| {
                    (r.aspect_mask, *f, *t) == (aspect_mask, from, to)
                        && r.base_mip_level == level
                        && r.base_array_layer + r.layer_count == layer
                });
                match before {
                    Some((r, ..)) => r.layer_count += 1,
                    None => {
                        let range = vk::ImageSubresourceRange {
                            aspect_mask,
                            base_mip_level: level,
                            level_count: 1,
                            base_array_layer: layer,
                            layer_count: 1,
                        };
                        rows.push((range, from, to));
                    }
                }
            }
        }
        let mut merged: Vec<(vk::ImageSubresourceRange, i32, i32)> = Vec::new();
        for (r, from, to) in rows {
            let before = merged.iter_mut().rev().take(4).find(|(m, f, t)| {
                (m.aspect_mask, *f, *t) == (r.aspect_mask, from, to)
                    && (m.base_array_layer, m.layer_count) == (r.base_array_layer, r.layer_count)
                    && m.base_mip_level + m.level_count == r.base_mip_level
            });
            match before {
                Some((m, ..)) => m.level_count += 1,
                None => merged.push((r, from, to)),
            }
        }
        let layout = vk::ImageLayout::from_raw;
        merged.into_iter().map(|(r, from, to)| (r, layout(from), layout(to))).collect()
    }

    /// How barriers name these aspects: all planes of an image are its colour.
    fn mask(&self, aspects: A) -> A {
        let all = self.aspects.iter().fold(A::empty(), |all, a| all | *a);
        if aspects == all && aspects.contains(A::PLANE_0) { A::COLOR } else { aspects }
    }
}

/// A layout that images can be moved to, and whose contents are defined.
pub fn is_defined(layout: vk::ImageLayout) -> bool {
    layout != vk::ImageLayout::UNDEFINED && layout != vk::ImageLayout::PREINITIALIZED
}

#[cfg(test)]
mod tests {
    use super::*;
    use vk::ImageLayout as L;

    const DEPTH_STENCIL: &[A] = &[A::DEPTH, A::STENCIL];

    #[test]
    fn ranges_reach_the_end_and_no_further() {
        let mut l = Layouts::new(&[A::COLOR], 4, 6, L::UNDEFINED);
        l.set(Subresources { level: 2, layer: 5, ..whole(A::COLOR) }, L::GENERAL);
        let general: Vec<_> = l.parts().filter(|p| l.of(*p) == L::GENERAL).collect();
        let at = |level, layer| Part { aspect: 0, level, layer };
        assert_eq!(general, [at(2, 5), at(3, 5)]);
        l.set(Subresources { level: 9, levels: 1, layer: 9, layers: 1, ..whole(A::COLOR) }, L::GENERAL);
        assert_eq!(l.parts().filter(|p| l.defined(*p)).count(), 2);
    }

    #[test]
    fn depth_and_stencil_are_apart_and_colour_is_every_plane() {
        let mut l = Layouts::new(DEPTH_STENCIL, 1, 1, L::GENERAL);
        l.set(whole(A::STENCIL), L::STENCIL_READ_ONLY_OPTIMAL);
        let part = |aspect| Part { aspect, level: 0, layer: 0 };
        assert_eq!((l.of(part(0)), l.of(part(1))), (L::GENERAL, L::STENCIL_READ_ONLY_OPTIMAL));
        let mut planes = Layouts::new(&[A::PLANE_0, A::PLANE_1], 1, 1, L::UNDEFINED);
        planes.set(whole(A::COLOR), L::GENERAL);
        assert!(planes.parts().all(|p| planes.of(p) == L::GENERAL));
        let back = planes.moves(planes.parts().map(|p| (p, L::GENERAL, L::TRANSFER_SRC_OPTIMAL)));
        assert_eq!(back.len(), 1);
        assert_eq!(back[0].0.aspect_mask, A::COLOR);
    }

    #[test]
    fn barriers_are_merged_over_aspects_layers_and_levels() {
        let l = Layouts::new(DEPTH_STENCIL, 3, 4, L::GENERAL);
        let whole = l.moves(l.parts().map(|p| (p, L::GENERAL, L::TRANSFER_SRC_OPTIMAL)));
        assert_eq!(whole.len(), 1);
        let r = whole[0].0;
        assert_eq!((r.aspect_mask, r.level_count, r.layer_count), (A::DEPTH | A::STENCIL, 3, 4));
        // One layer of one level is elsewhere already.
        let some = l.moves(l.parts().map(|p| {
            let from = if (p.level, p.layer) == (1, 2) { L::TRANSFER_SRC_OPTIMAL } else { L::GENERAL };
            (p, from, L::TRANSFER_SRC_OPTIMAL)
        }));
        let covered: u32 = some.iter().map(|m| m.0.level_count * m.0.layer_count).sum();
        assert_eq!(covered, 11);
        assert!(some.iter().all(|m| m.1 == L::GENERAL));
        // Stencil alone.
        let one =
            l.moves(l.parts().filter(|p| p.aspect == 1).map(|p| (p, L::GENERAL, L::TRANSFER_DST_OPTIMAL)));
        assert_eq!((one.len(), one[0].0.aspect_mask), (1, A::STENCIL));
    }
}
