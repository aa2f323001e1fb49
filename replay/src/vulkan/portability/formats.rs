//! Formats and images, with what they are used for.
//!
//! Refused by name: a format, a size or a layout that this device does not have for that use. An image that never has memory is
//! only asked about: where it cannot be made, the capture answers. What stands in for formats that are not
//! here: `stand_ins/`.

use super::Samples;
use super::stand_ins::{StandIns, how, replaced};
use super::unused::Unused;
use crate::options::Bridge;
use crate::preflight::asked::{ImageKind, ImageSizes};
use crate::vulkan::portability::compare::Compare;
use crate::vulkan::portability::line::{Done, Line, Sort};
use ash::vk;
use gfxr_parse::schema::enum_named;

impl Compare<'_> {
    pub(super) fn formats(&mut self, samples: &Samples, found: &StandIns, unused: &Unused) {
        for (asked, sizes) in &self.asked.images {
            let wish = &ImageKind {
                flags: unused.without("VkImageCreateFlagBits", asked.flags),
                usage: unused.without("VkImageUsageFlagBits", asked.usage),
                ..*asked
            };
            let others = samples.iter().filter(|s| sizes.samples & s.0 != 0);
            let others: Vec<String> = others.map(|(then, now)| format!("{now} samples for {then}")).collect();
            let stand_in = found.get(&wish.format).copied();
            let here = stand_in.map_or(*wish, |s| replaced(wish, s));
            let needed = || self.format_needed(wish.format).filter(|_| self.options.bridges(Bridge::Texels));
            let refusal = self.image(&here, sizes, samples).map(|why| needed().unwrap_or(why));
            let others = match stand_in {
                Some(s) => vec![format!("{}, {}", format_name(s), how(wish.format))],
                None => others,
            };
            let (has, bridged) = (refusal.is_none() && others.is_empty(), refusal.is_none());
            let refusal = refusal.map(|why| placed(why, sizes));
            let done = if has || !bridged { self.must(has) } else { Done::Replaced };
            let line = Line::new(Sort::Format, &image_text(wish, sizes.samples), has, done);
            self.push(line.by(if stand_in.is_some() { Bridge::Texels } else { Bridge::Samples }).of(
                sizes_text(sizes),
                refusal.unwrap_or(if has { "yes".into() } else { others.join(", ") }),
            ));
        }
        for (wish, (sizes, ids)) in &self.asked.unbound_images {
            let Some(refusal) = self.image(wish, sizes, samples) else { continue };
            let line = Line::new(Sort::Format, &image_text(wish, sizes.samples), false, Done::Unused);
            self.push(line.by(Bridge::Unused).of(format!("{}, without memory", sizes_text(sizes)), refusal));
            self.unmade.extend(ids);
        }
        let features = |format: u32| {
            // SAFETY: a query.
            unsafe {
                self.instance.get_physical_device_format_properties(
                    self.gpu.handle,
                    vk::Format::from_raw(format as i32),
                )
            }
            .buffer_features
        };
        use vk::FormatFeatureFlags as F;
        let texels = self.asked.texel_buffers.iter().map(|(&(f, storage), first)| {
            let (what, flag) = match storage {
                true => ("storage texel buffer", F::STORAGE_TEXEL_BUFFER),
                false => ("uniform texel buffer", F::UNIFORM_TEXEL_BUFFER),
            };
            (f, what, flag, first)
        });
        let vertices = self.asked.vertices.iter().map(|(&f, n)| (f, "vertex attribute", F::VERTEX_BUFFER, n));
        let lines: Vec<Line> = texels
            .chain(vertices)
            .map(|(f, what, flag, (block, command))| {
                let has = features(f).contains(flag);
                let line =
                    Line::new(Sort::Format, &format!("{} as {what}", format_name(f)), has, self.must(has));
                match has {
                    true => line,
                    false => line.of(format!("first in block {block}, {command}"), "not supported".into()),
                }
            })
            .collect();
        lines.into_iter().for_each(|l| self.push(l));
        if self.asked.external_formats > 0 {
            let line = Line::new(Sort::Format, "external formats (Android)", false, self.must(false));
            self.push(line.of(format!("{} images", self.asked.external_formats), String::new()));
        }
    }

    /// Why there can be no such image, if there cannot.
    pub(super) fn image(&self, w: &ImageKind, s: &ImageSizes, samples: &Samples) -> Option<String> {
        let bridged = samples.keys().fold(0, |all, n| all | n);
        const DRM: i32 = 1_000_158_000;
        if w.tiling as i32 == DRM {
            return Some("layouts of other devices (DRM modifiers) are not made here".into());
        }
        let most = match self.limits_of(w) {
            Ok(most) => most,
            Err(vk::Result::ERROR_FORMAT_NOT_SUPPORTED) => return Some("not supported".into()),
            Err(e) => return Some(format!("{e:?}")),
        };
        let extent = most.max_extent;
        let fits = s.extent[0] <= extent.width && s.extent[1] <= extent.height && s.extent[2] <= extent.depth;
        match () {
            () if !fits => Some(format!("at most {}×{}×{}", extent.width, extent.height, extent.depth)),
            () if s.levels > most.max_mip_levels => Some(format!("at most {} levels", most.max_mip_levels)),
            () if s.layers > most.max_array_layers => {
                Some(format!("at most {} layers", most.max_array_layers))
            }
            () if s.samples & !bridged & !most.sample_counts.as_raw() != 0 => {
                Some(format!("not with {} samples", s.samples & !bridged & !most.sample_counts.as_raw()))
            }
            () => None,
        }
    }
}

/// A refusal, with the call that it is first about.
fn placed(why: String, sizes: &ImageSizes) -> String {
    match sizes.first {
        (block, command) if !why.contains("first in block") => {
            format!("{why}, first in block {block}, {command}")
        }
        _ => why,
    }
}

fn format_name(f: u32) -> String {
    enum_named("VkFormat").and_then(|e| e.value(f)).map_or_else(|| format!("VkFormat {f}"), str::to_owned)
}

/// How large the images of a kind are, and how many.
fn sizes_text(s: &ImageSizes) -> String {
    let times = if s.count == 1 { String::new() } else { format!(", {} images", s.count) };
    let [w, h, d] = s.extent;
    if d > 1 { format!("{w}×{h}×{d}{times}") } else { format!("{w}×{h}{times}") }
}

/// An image in words: format, kind where it is not the usual one, what it is for.
fn image_text(w: &ImageKind, samples: u32) -> String {
    let mut t = format_name(w.format);
    let kind = |t: &mut String, what: &str| {
        *t += " ";
        *t += what;
    };
    match w.kind {
        0 => kind(&mut t, "1D"),
        2 => kind(&mut t, "3D"),
        _ => {}
    }
    if w.tiling == 1 {
        kind(&mut t, "linear");
    }
    if samples > 1 {
        let counts: Vec<String> =
            (0..7).map(|b| 1 << b).filter(|n| samples & n != 0).map(|n| n.to_string()).collect();
        kind(&mut t, &format!("{} samples", counts.join(", ")));
    }
    let bits = |of: &str, prefix: &str, v: u32| {
        let names = (0..32).filter(|b| v >> b & 1 != 0).map(|b| {
            let name = enum_named(of).and_then(|e| e.bit(1 << b)).unwrap_or("?");
            name.trim_start_matches(prefix).trim_end_matches("_BIT").to_owned()
        });
        names.collect::<Vec<_>>().join(" | ")
    };
    if w.flags != 0 {
        kind(&mut t, &bits("VkImageCreateFlagBits", "VK_IMAGE_CREATE_", w.flags));
    }
    format!("{t} for {}", bits("VkImageUsageFlagBits", "VK_IMAGE_USAGE_", w.usage))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn an_image_is_named_by_what_makes_it_special() {
        let w = ImageKind { format: 37, kind: 1, tiling: 0, usage: 0x14, flags: 0 };
        assert_eq!(image_text(&w, 1), "VK_FORMAT_R8G8B8A8_UNORM for SAMPLED | COLOR_ATTACHMENT");
        let odd = ImageKind { kind: 2, tiling: 1, flags: 1, usage: 8, ..w };
        assert_eq!(
            image_text(&odd, 5),
            "VK_FORMAT_R8G8B8A8_UNORM 3D linear 1, 4 samples SPARSE_BINDING for STORAGE"
        );
    }
}
