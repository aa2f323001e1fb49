//! Render passes: attachments and subpasses that are named by number exist.
//!
//! Both versions of the create info have the same names. Guarantees: every index is below the count that it is an index
//! into, or says that it means none. Refuses the others, with the member's path.

use super::checker::{each, number};
use crate::error::{Error, Result};
use crate::view::View;

/// VK_ATTACHMENT_UNUSED, VK_SUBPASS_EXTERNAL.
const NONE: u32 = u32::MAX;

/// VkRenderPassCreateInfo, VkRenderPassCreateInfo2.
pub fn create(v: &View<'_>) -> Result<()> {
    let (attachments, subpasses) = (number(v, "attachmentCount"), number(v, "subpassCount"));
    each(v, "pSubpasses", |s| {
        for array in
            ["pInputAttachments", "pColorAttachments", "pResolveAttachments", "pDepthStencilAttachment"]
        {
            each(s, array, |r| {
                below(number(r, "attachment"), attachments, "attachments").map_err(|e| e.within("attachment"))
            })?;
        }
        for (i, kept) in s.u64s("pPreserveAttachments").into_iter().enumerate() {
            let index = u32::try_from(kept).unwrap_or(NONE);
            below(index, attachments, "attachments")
                .map_err(|e| e.within(&format!("[{i}]")).within("pPreserveAttachments"))?;
        }
        Ok(())
    })?;
    each(v, "pDependencies", |d| {
        for end in ["srcSubpass", "dstSubpass"] {
            below(number(d, end), subpasses, "subpasses").map_err(|e| e.within(end))?;
        }
        Ok(())
    })
}

fn below(index: u32, count: u32, what: &str) -> Result<()> {
    match index {
        NONE => Ok(()),
        i if i < count => Ok(()),
        i => Err(Error::malformed(format!("expected one of {count} {what}, found number {i}"))),
    }
}
