//! Which attachments a render pass has, and how it leaves them.
//!
//! Guarantees: names within a pass differ. Refuses nothing; of several subpasses, an attachment is what the first that writes it makes of it.

use crate::changes::edit;
use gfxr_parse::ahead::Call;
use gfxr_parse::view::View;
use std::rc::Rc;
use world::World;
use world::commands::{Attachment, Command, Pass, Use};
use world::objects::ImageView;
use world::passes::RenderPass;

/// The pass that a command buffer has ended last.
pub fn ended(world: &World, buffer: u64) -> Option<Pass> {
    let begun = |c: &Command| if let Command::BeginPass(pass) = c { Some((**pass).clone()) } else { None };
    world.recording(buffer)?.commands.iter().rev().find_map(|r| begun(&r.command))
}

/// What an attachment of a render pass is, in the first subpass that writes it.
fn role(of: &RenderPass, attachment: u32) -> Option<String> {
    of.subpasses.iter().find_map(|s| {
        let at = |all: &[(u32, u32)]| all.iter().position(|r| r.0 == attachment);
        let is = |one: &Option<(u32, u32)>| one.is_some_and(|r| r.0 == attachment);
        at(&s.colours)
            .map(|n| format!("color{n}"))
            .or_else(|| at(&s.resolves).map(|n| format!("resolve{n}")))
            .or_else(|| is(&s.depth).then(|| "depth".to_owned()))
            .or_else(|| is(&s.depth_resolve).then(|| "depth-resolve".to_owned()))
    })
}

/// An attachment as the pass leaves it.
pub struct InPass {
    /// `color0`, `depth`, `resolve0`, …
    pub name: String,
    /// What of the image.
    pub view: ImageView,
    /// VkImageLayout behind the pass.
    pub layout: u32,
    /// Its stencil is left in another layout.
    pub apart: bool,
}

/// What a pass draws to or reads as attachments, and the layouts that it leaves these in.
pub fn layouts(world: &World, pass: &Pass) -> Vec<(ImageView, u32)> {
    let of_view = |view: u64| world.image_views.get(&view).copied();
    let of = |a: &Attachment| {
        let layout = if a.what == Use::Subpasses { a.final_layout } else { a.layout };
        [(a.view, layout), (a.resolve_view, a.resolve_layout)]
    };
    let all = pass.attachments.iter().flat_map(of);
    all.filter_map(|(view, layout)| Some((of_view(view)?, layout))).collect()
}

/// The layout that what a view shows first is left in, if it is among these.
pub fn left_in(all: &[(ImageView, u32)], view: &ImageView) -> Option<u32> {
    let within = |from: u32, many: u32, n: u32| n >= from && n - from < many;
    let is = |of: &ImageView| {
        let (of, own) = (&of.range, &view.range);
        within(of.level, of.levels, own.level) && within(of.layer, of.layers, own.layer)
    };
    all.iter().find(|(of, _)| of.image == view.image && is(of)).map(|l| l.1)
}

/// What is to be seen of a pass, by names that are different.
pub fn seen(world: &World, pass: &Pass) -> Vec<InPass> {
    let mut all: Vec<(String, u64, u32, bool)> = vec![];
    let stencil = pass.attachments.iter().find(|a| a.what == Use::Stencil && a.view != 0);
    let mut colours = 0;
    for (n, a) in pass.attachments.iter().enumerate() {
        let resolved =
            |what: String| (a.resolve_view != 0).then_some((what, a.resolve_view, a.resolve_layout, false));
        match a.what {
            Use::Subpasses => {
                let role = pass.made_of.as_ref().and_then(|p: &Rc<RenderPass>| role(p, n as u32));
                let apart = a.stencil_final_layout != a.final_layout;
                // (what no subpass writes is not the pass's)
                all.extend(role.map(|role| (role, a.view, a.final_layout, apart)));
            }
            Use::Colour => {
                all.push((format!("color{colours}"), a.view, a.layout, false));
                all.extend(resolved(format!("resolve{colours}")));
                colours += 1;
            }
            Use::Depth => {
                let apart = stencil.is_some_and(|s| s.view == a.view && s.layout != a.layout);
                all.push(("depth".to_owned(), a.view, a.layout, apart));
                all.extend(resolved("depth-resolve".to_owned()));
            }
            Use::Stencil | Use::Rate => {}
        }
    }
    let mut named: Vec<InPass> = vec![];
    for (name, id, layout, apart) in all {
        let Some(&view) = world.image_views.get(&id) else { continue };
        // (of several subpasses, the first has the plain name)
        let taken = |name: &str| named.iter().any(|n| n.name == name);
        let other = || (2..).map(|n| format!("{name}-{n}")).find(|name| !taken(name)).unwrap_or_default();
        let name = if taken(&name) { other() } else { name.clone() };
        named.push(InPass { name, view, layout, apart });
    }
    named
}

/// VkAttachmentStoreOp.
const STORE: u32 = 0;
const DONT_CARE: u32 = 1;

/// VK_IMAGE_USAGE_TRANSIENT_ATTACHMENT_BIT.
const TRANSIENT: u32 = 0x40;

/// Has attachments stored that would not be, and views not say that their images are transient.
pub fn stored(call: &mut Call) {
    let v = View::call(&call.image);
    let mut edits = vec![];
    if call.command.canonical == "vkCreateImageView" {
        let usage = v.one("pCreateInfo").and_then(|info| info.next("VkImageViewUsageCreateInfo"));
        edits.extend(usage.and_then(|u| edit::set(u, "usage", u.u32("usage")? & !TRANSIENT)));
        edit::apply(&mut call.image, &edits);
        return;
    }
    let mut all = |a: View<'_>| {
        let ops = ["storeOp", "stencilStoreOp"].into_iter().filter(|op| a.u32(op) == Some(DONT_CARE));
        edits.extend(ops.filter_map(|op| edit::set(a, op, STORE)));
    };
    if let Some(info) = v.one("pCreateInfo") {
        info.structs("pAttachments").for_each(&mut all);
    }
    if let Some(info) = v.one("pRenderingInfo") {
        info.structs("pColorAttachments").for_each(&mut all);
        ["pDepthAttachment", "pStencilAttachment"].into_iter().filter_map(|n| info.one(n)).for_each(all);
    }
    edit::apply(&mut call.image, &edits);
}

/// Calls that say what is stored.
pub const MAKES: [&str; 4] =
    ["vkCreateRenderPass", "vkCreateRenderPass2", "vkCmdBeginRendering", "vkCreateImageView"];

#[cfg(test)]
mod tests {
    use super::*;
    use world::objects::Subresources;

    #[test]
    fn a_level_or_layer_that_is_no_attachment_keeps_its_layout() {
        let view = |image, level, layer, layers| {
            let range = Subresources { aspects: 1, level, levels: 1, layer, layers };
            ImageView { image, range, ..ImageView::default() }
        };
        let left = [(view(7, 2, 0, 1), 2), (view(8, 0, 3, u32::MAX), 5)];
        assert_eq!(left_in(&left, &view(7, 2, 0, 1)), Some(2));
        assert_eq!(left_in(&left, &view(7, 1, 0, 1)), None, "another level");
        assert_eq!(left_in(&left, &view(8, 0, 4, 1)), Some(5), "all layers that are left");
        assert_eq!(left_in(&left, &view(8, 0, 2, 1)), None, "another layer");
        assert_eq!(left_in(&left, &view(9, 2, 0, 1)), None);
    }
}
