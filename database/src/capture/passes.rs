//! Render passes and renderings, and their attachments, as the device runs them.
//!
//! Refuses nothing: views and images that are not known have no format.

use crate::error::Error;
use crate::schema;
use crate::table::{Value, id};
use crate::words::{bits, value};
use crate::writer::{TableId, Writer};
use std::collections::HashMap;
use world::commands::{Attachment, Pass, Use};
use world::{At, World};

/// The tables.
pub(super) struct Passes {
    passes: TableId,
    attachments: TableId,
    /// The last that was written.
    last: u64,
    /// How many each frame has had.
    of_frame: HashMap<u64, u64>,
}

impl Passes {
    pub fn new(writer: &mut Writer) -> Result<Self, Error> {
        Ok(Passes {
            passes: writer.table(schema::passes())?,
            attachments: writer.table(schema::pass_attachments())?,
            last: 0,
            of_frame: HashMap::new(),
        })
    }

    /// One begins; one that is resumed has begun already.
    pub fn begins(
        &mut self,
        writer: &mut Writer,
        world: &World,
        at: &At,
        pass: &Pass,
        label: Value,
    ) -> Result<(), Error> {
        if at.pass <= self.last {
            return Ok(());
        }
        self.last = at.pass;
        let number = self.of_frame.entry(at.frame).or_default();
        *number += 1;
        let dynamic = pass.render_pass == 0;
        let [x, y, width, height] = pass.area;
        let subpasses = pass.made_of.as_ref().map_or(1, |r| r.subpasses.len());
        writer.row(
            self.passes,
            [
                at.pass.into(),
                at.submission.into(),
                at.frame.into(),
                (*number).into(),
                at.recording.into(),
                at.block.into(),
                label,
                id(pass.render_pass),
                id(pass.framebuffer),
                subpasses.into(),
                x.into(),
                y.into(),
                width.into(),
                height.into(),
                dynamic.then_some(pass.layers).into(),
                dynamic.then_some(pass.view_mask).into(),
                bits("VkRenderingFlagBits", pass.flags.into()),
            ],
        )?;
        let all = pass.attachments.iter().enumerate();
        all.filter(|a| a.1.view != 0 || !dynamic)
            .try_for_each(|(i, a)| self.attachment(writer, world, at.pass, i, a))
    }

    fn attachment(
        &self,
        writer: &mut Writer,
        world: &World,
        pass: u64,
        index: usize,
        a: &Attachment,
    ) -> Result<(), Error> {
        let view = world.image_views.get(&a.view);
        let image = view.and_then(|v| world.images.get(&v.image));
        let subpasses = a.what == Use::Subpasses;
        let layout = |of: u32| value("VkImageLayout", of);
        let only = |there: bool, v: Value| if there { v } else { Value::Null };
        writer.row(
            self.attachments,
            [
                pass.into(),
                index.into(),
                Value::Word(a.what.words()),
                id(a.view),
                view.map_or(Value::Null, |v| id(v.image)),
                view.map_or(Value::Null, |v| value("VkFormat", v.format)),
                image.map(|i| i.extent[0]).into(),
                image.map(|i| i.extent[1]).into(),
                image.map_or(Value::Null, |i| value("VkSampleCountFlagBits", i.samples)),
                value("VkAttachmentLoadOp", a.load),
                value("VkAttachmentStoreOp", a.store),
                only(!subpasses, layout(a.layout)),
                only(subpasses, layout(a.initial_layout)),
                only(subpasses, layout(a.final_layout)),
                id(a.resolve_view),
            ],
        )
    }
}
