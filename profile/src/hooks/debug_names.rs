//! Names that the application gives to its objects.

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
