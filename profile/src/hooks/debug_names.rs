//! Names that the application gives to its objects, and what render passes are called.

use gfxr_parse::image::Image;
use gfxr_parse::view::View;

/// Commands that name an object (by their canonical names).
pub const COMMANDS: &[&str] = &["vkSetDebugUtilsObjectNameEXT", "vkDebugMarkerSetObjectNameEXT"];

/// A name.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Named {
    /// VkObjectType, or the older VkDebugReportObjectTypeEXT.
    pub kind: u32,
    /// Captured id.
    pub object: u64,
    /// Empty where the name is taken away.
    pub name: String,
}

/// What one of [`COMMANDS`] says.
pub fn named(image: &Image) -> Option<Named> {
    let info = View::call(image).one("pNameInfo")?;
    Some(Named {
        kind: info.u32("objectType")?,
        object: info.u64("objectHandle").or_else(|| info.u64("object"))?,
        name: info.text("pObjectName").map(|n| n.into_owned()).unwrap_or_default(),
    })
}

/// What a rendering is called.
pub fn rendering(width: u32, height: u32) -> String {
    format!("rendering {width}x{height}")
}

/// What a render pass is called: by its debug name, if it has one that is not empty.
pub fn render_pass(id: u64, name: Option<&str>) -> String {
    match name.filter(|n| !n.is_empty()) {
        Some(name) => format!("render pass '{name}'"),
        None => format!("render pass {id}"),
    }
}
