//! `one-pixel`: scissors have one pixel, at their own offset or, with `pixel=X,Y`, that one. Primitives are set up and culled as
//! before; hardly a fragment is left.
//!
//! Guarantees: an empty scissor stays empty, unless a pixel is named. Refuses what is no pixel.

use super::change::{Change, Dynamic, dynamic_of};
use crate::changes::choice::{AT, LABEL, PIPELINE};
use crate::changes::edit::{Edit, set};
use crate::changes::entry::{Entry, Made, of_state};
use gfxr_parse::view::View;
use replay::ash::vk::DynamicState;
use trace::plan::Use;

const PIXEL: &str = "pixel=X,Y";

/// See the module's header.
pub const ENTRY: Entry = Entry {
    name: CHANGE.name,
    options: &[AT, LABEL, PIPELINE, PIXEL],
    about: "scissors, static or dynamic, are 1 × 1 at their own offset, or at the pixel",
    asks: "does time go to fragments and output, or to what is in front of them?",
    pictures_stay: false,
    make,
};

static CHANGE: Change = Change {
    name: "one-pixel",
    pixel: None,
    pipeline: |change, info| {
        let Some(state) = info.one("pViewportState") else { return vec![] };
        // (where commands set how many there are, they set which, too)
        let counted = dynamic_of(info).contains(&DynamicState::SCISSOR_WITH_COUNT);
        let edits = if counted { vec![] } else { small(change, state) };
        edits.into_iter().map(|e| (DynamicState::SCISSOR, e)).collect()
    },
    dynamic: &[
        Dynamic { command: "vkCmdSetScissor", state: DynamicState::SCISSOR, edits: small },
        Dynamic {
            command: "vkCmdSetScissorWithCount",
            state: DynamicState::SCISSOR_WITH_COUNT,
            edits: small,
        },
    ],
};

/// The rectangles of `pScissors`.
fn small(change: &Change, of: View<'_>) -> Vec<Edit> {
    let mut edits = vec![];
    for scissor in of.structs("pScissors") {
        if let (Some(offset), Some(at)) = (scissor.one("offset"), change.pixel) {
            edits.extend(["x", "y"].into_iter().zip(at).filter_map(|(side, to)| set(offset, side, to)));
        }
        if let Some(extent) = scissor.one("extent") {
            let to = |side| if change.pixel.is_some() { Some(1) } else { Some(extent.u32(side)?.min(1)) };
            edits.extend(["width", "height"].into_iter().filter_map(|side| set(extent, side, to(side)?)));
        }
    }
    edits
}

/// `X,Y`.
fn pixel(text: &str) -> Option<[u32; 2]> {
    let (x, y) = text.split_once(',')?;
    // (offset and extent together are a signed number)
    let number = |t: &str| t.trim().parse().ok().filter(|n| *n < i32::MAX as u32);
    Some([number(x)?, number(y)?])
}

fn make(of: &Use) -> Result<Made, String> {
    let (named, others): (Vec<&String>, Vec<&String>) =
        of.options.iter().partition(|o| o.starts_with("pixel="));
    let mut change = CHANGE;
    for option in named {
        let read = option.strip_prefix("pixel=").and_then(pixel);
        let wrong = || format!("change {}: {option}: say it as pixel=X,Y, pixel=320,200 for one", of.name);
        change.pixel = Some(read.ok_or_else(wrong)?);
    }
    of_state(&Use { options: others.into_iter().cloned().collect(), ..of.clone() }, &ENTRY, change)
}
