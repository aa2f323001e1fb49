//! `cleared`: attachments that would be loaded are cleared instead: colours to zero, depth to 1, stencil to 0.
//!
//! A render pass is made once more beside the original, with other load operations, and begun in its place: passes that differ in
//! these alone are compatible. Guarantees: what is cleared already keeps its value. Refuses, by a count: attachments in a layout that is
//! read only, and those that are an input before they are written, as such may not be cleared.

use super::beside::Beside;
use super::choice::{AT, Choice, Chooser, LABEL};
use super::edit::{self, Edit, set};
use super::entry::{Entry, Made, no_others};
use super::tally::Tally;
use gfxr_parse::ahead::Call;
use gfxr_parse::image::{Image, Ptr, attrib};
use gfxr_parse::schema::CommandDef;
use gfxr_parse::schema::generated::COMMANDS;
use gfxr_parse::view::View;
use replay::ash::{self, vk};
use replay::error::Result;
use replay::exec::Executor;
use replay::hook::{Commands, Hook, Next};
use std::collections::HashMap;
use trace::plan::Use;
use world::{Depth, Outcome};

/// See the module's header.
pub const ENTRY: Entry = Entry {
    name: "cleared",
    options: &[AT, LABEL],
    about: "attachments that a render pass or rendering loads are cleared instead",
    asks: "does time go to loading attachments?",
    pictures_stay: false,
    make,
};

fn make(of: &Use) -> std::result::Result<Made, String> {
    let (choice, others) = Choice::read(of, ENTRY.options)?;
    no_others(&ENTRY, &others)?;
    let (chooser, tally) = (Chooser::new(choice), Tally::new(ENTRY.name));
    let passes = Beside::new(ash::Device::destroy_render_pass);
    Ok(Made::Hook(Box::new(Cleared { chooser, tally, passes, loads: HashMap::new() })))
}

struct Cleared {
    chooser: Chooser,
    tally: Tally,
    passes: Beside<vk::RenderPass>,
    /// By render pass of which there is another: its attachments, and which of them are cleared in that.
    loads: HashMap<u64, Vec<Option<Clear>>>,
}

/// VkClearValue, in words.
type Clear = [u32; 4];

const LOAD: u32 = 0;
const CLEAR: u32 = 1;
/// What a colour, and what depth and stencil become.
const ZERO: Clear = [0; 4];
const FAR: Clear = [1f32.to_bits(), 0, 0, 0];

const CANNOT: &str = "loaded attachments that may not be cleared (read only, or an input first) are loaded";
const DONE: &str = "attachments cleared that were loaded";

/// VkImageLayouts in which nothing is written.
const READ_ONLY: [u32; 7] = [4, 5, 1_000_117_000, 1_000_117_001, 1_000_241_001, 1_000_241_003, 1_000_314_000];

/// VK_IMAGE_ASPECT_COLOR_BIT, VK_IMAGE_ASPECT_STENCIL_BIT.
const COLOUR: u32 = 1;
const STENCIL: u32 = 4;

/// Whether an attachment of a render pass is first written, in a layout that allows it; one that no subpass uses is not.
fn first_written(info: View<'_>, attachment: u32) -> bool {
    for subpass in info.structs("pSubpasses") {
        let of = |name: &str| -> Vec<u32> {
            let references = subpass.structs(name);
            let its = references.filter(|r| r.u32("attachment") == Some(attachment));
            its.filter_map(|r| r.u32("layout")).collect()
        };
        let written = [of("pColorAttachments"), of("pDepthStencilAttachment")].concat();
        if !written.is_empty() || !of("pResolveAttachments").is_empty() {
            return !written.iter().any(|l| READ_ONLY.contains(l));
        }
        if !of("pInputAttachments").is_empty() {
            return false;
        }
    }
    false
}

/// What is edited so that a render pass clears what it loads; which of its attachments; how many cannot be.
fn of_pass(info: View<'_>) -> (Vec<Edit>, Vec<Option<Clear>>, u64) {
    let (mut edits, mut cleared, mut cannot) = (vec![], vec![], 0);
    for (n, a) in info.structs("pAttachments").enumerate() {
        let aspects = a.u32("format").map_or(&[][..], |f| world::formats::aspects(f as i32));
        let (colour, stencil) = (aspects.contains(&COLOUR), aspects.contains(&STENCIL));
        let ops = [("loadOp", colour || aspects != [STENCIL]), ("stencilLoadOp", stencil)];
        let loads: Vec<&str> =
            ops.iter().filter(|(op, counts)| *counts && a.u32(op) == Some(LOAD)).map(|o| o.0).collect();
        if loads.is_empty() {
            cleared.push(None);
        } else if first_written(info, n as u32) {
            edits.extend(loads.iter().filter_map(|op| set(a, op, CLEAR)));
            cleared.push(Some(if colour { ZERO } else { FAR }));
        } else {
            cannot += 1;
            cleared.push(None);
        }
    }
    (edits, cleared, cannot)
}

/// Gives a call that begins a render pass values for what it clears in addition.
pub fn values(image: &mut Image, cleared: &[Option<Clear>]) {
    let v = View::call(image);
    let Some(begin) = v.one("pRenderPassBegin") else { return };
    let (Some((_, slot)), Some((_, count))) =
        (begin.definition("pClearValues"), begin.definition("clearValueCount"))
    else {
        return;
    };
    let (from, had) = begin.array("pClearValues").unwrap_or((0, 0));
    let needed = cleared.iter().rposition(Option::is_some).map_or(0, |last| last + 1);
    let n = (had as usize).max(needed);
    let to = image.alloc(n * size_of::<Clear>());
    for i in 0..n {
        let at = |base: u32, word: usize| base + (i * 16 + word * 4) as u32;
        for word in 0..4 {
            let own = cleared.get(i).copied().flatten().map(|c| c[word]);
            let value = own.unwrap_or_else(|| if i < had as usize { image.u32(at(from, word)) } else { 0 });
            image.edit_u32(at(to, word), value);
        }
    }
    let kind = attrib::ARRAY | attrib::STRUCT | attrib::ADDRESS | attrib::DATA;
    let pointer =
        Ptr { at: slot, to, attrib: kind, inline: false, len: n as u64, addr: u64::from(to), out_size: 0 };
    match image.u64(slot) {
        0 => {
            image.ptrs.push(pointer);
            let number = image.ptrs.len() as u64;
            image.edit_u64(slot, number);
        }
        number => {
            if let Some(old) = image.ptrs.get_mut(number as usize - 1) {
                *old = pointer;
            }
        }
    }
    image.edit_u32(count, n as u32);
}

/// The same for a rendering: what is edited, how many attachments are cleared, and how many cannot be.
fn of_rendering(info: View<'_>) -> (Vec<Edit>, u64, u64) {
    let colours = info.structs("pColorAttachments").map(|a| (a, ZERO));
    let others = ["pDepthAttachment", "pStencilAttachment"].into_iter().filter_map(|n| info.one(n));
    let (mut edits, mut done, mut cannot) = (vec![], 0, 0);
    for (a, value) in colours.chain(others.map(|a| (a, FAR))) {
        if a.u32("loadOp") != Some(LOAD) || a.u64("imageView").unwrap_or(0) == 0 {
            continue;
        }
        if a.u32("imageLayout").is_some_and(|l| READ_ONLY.contains(&l)) {
            cannot += 1;
            continue;
        }
        done += 1;
        edits.extend(set(a, "loadOp", CLEAR));
        if let Some((_, at)) = a.definition("clearValue") {
            // (of depth and of stencil each its own is read)
            edits.extend((0..).zip(value).map(|(word, value)| Edit { at: at + word * 4, value }));
        }
    }
    (edits, done, cannot)
}

const OTHERS: [&str; 2] = ["vkDestroyRenderPass", "vkDestroyDevice"];

fn makes(c: &CommandDef) -> bool {
    ["vkCreateRenderPass", "vkCreateRenderPass2"].contains(&c.canonical)
}

fn begins(c: &CommandDef) -> bool {
    ["vkCmdBeginRenderPass", "vkCmdBeginRenderPass2", "vkCmdBeginRendering"].contains(&c.canonical)
}

impl Cleared {
    fn create(&mut self, cx: &mut Executor, call: &mut Call, next: Next) -> Result<Outcome> {
        let v = View::call(&call.image);
        let ids = v.u64s("pRenderPass");
        let Some(info) = v.one("pCreateInfo") else { return next.run(cx, call) };
        let (edits, cleared, cannot) = of_pass(info);
        ids.iter().for_each(|id| {
            self.passes.forget(*id);
            self.loads.remove(id);
        });
        if cannot > 0 {
            self.tally.beyond(CANNOT, cannot);
        }
        let mut edited = call.clone();
        if edit::apply(&mut edited.image, &edits) && self.passes.make(cx, (&mut edited, &ids), &[], next)? {
            self.loads.extend(ids.iter().map(|id| (*id, cleared.clone())));
        }
        next.run(cx, call)
    }

    fn begin(&mut self, cx: &mut Executor, call: &mut Call, next: Next) -> Result<Outcome> {
        let v = View::call(&call.image);
        let mut edited = call.clone();
        if let Some(info) = v.one("pRenderingInfo") {
            let (edits, done, cannot) = of_rendering(info);
            if cannot > 0 {
                self.tally.beyond(CANNOT, cannot);
            }
            (0..done).for_each(|_| self.tally.done(DONE));
            edit::apply(&mut edited.image, &edits);
            return next.run(cx, &mut edited);
        }
        let id = v.one("pRenderPassBegin").and_then(|b| b.u64("renderPass")).unwrap_or(0);
        let Some(cleared) = self.loads.get(&id) else { return next.run(cx, call) };
        cleared.iter().flatten().for_each(|_| self.tally.done(DONE));
        values(&mut edited.image, cleared);
        self.passes.within(cx, &[id], |cx| next.run(cx, &mut edited))
    }
}

impl Hook for Cleared {
    fn name(&self) -> &'static str {
        "change cleared"
    }

    fn follows(&self) -> Depth {
        Depth::Commands
    }

    fn wants(&self) -> Commands {
        let all =
            COMMANDS.iter().filter(|c| makes(c) || begins(c) || OTHERS.contains(&c.name)).map(|c| c.name);
        let all: Vec<&str> = all.chain(self.chooser.wants().iter().copied()).collect();
        Commands::named(&all)
    }

    fn call(&mut self, cx: &mut Executor, call: &mut Call, next: Next) -> Result<Outcome> {
        let world = cx.objects.world();
        self.chooser.see(world, call, &mut self.tally);
        match call.command.name {
            _ if makes(call.command) => return self.create(cx, call, next),
            _ if begins(call.command) && self.chooser.chosen(world, call, None) => {
                return self.begin(cx, call, next);
            }
            "vkDestroyRenderPass" => {
                let id = View::call(&call.image).u64("renderPass").unwrap_or(0);
                self.loads.remove(&id);
                return self.passes.destroyed(cx, call, id, next);
            }
            "vkDestroyDevice" => self.passes.give_back(cx, Some(call.image.u64(0)))?,
            _ => {}
        }
        next.run(cx, call)
    }

    fn finish(&mut self, cx: &mut Executor) -> Result<()> {
        self.tally.say(cx);
        self.passes.give_back(cx, None)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    const COLOUR: u32 = 37; // R8G8B8A8_UNORM
    const DEPTH: u32 = 129; // D24_UNORM_S8_UINT
    const ATTACHMENT: u32 = 2; // COLOR_ATTACHMENT_OPTIMAL

    /// A render pass with one subpass: a colour that is loaded, another that is an input alone, and depth in this layout.
    fn pass(depth: u32) -> Call {
        Call::written("vkCreateRenderPass", |w| {
            w.u64(1);
            w.structure(|w| {
                w.u32(38).null_struct().u32(0).u32(3);
                w.structures(3, |w, i| {
                    let format = if i == 2 { DEPTH } else { COLOUR };
                    w.u32(0).u32(format).u32(1).u32(LOAD).u32(0).u32(LOAD).u32(0).u32(1).u32(1);
                });
                w.u32(1);
                w.structures(1, |w, _| {
                    w.u32(0).u32(0).u32(1);
                    w.structures(1, |w, _| {
                        w.u32(1).u32(5);
                    });
                    w.u32(1);
                    w.structures(1, |w, _| {
                        w.u32(0).u32(ATTACHMENT);
                    });
                    w.null_structs();
                    w.structure(|w| {
                        w.u32(2).u32(depth);
                    });
                    w.u32(0).null_array();
                });
                w.u32(0).null_structs();
            });
            w.null_struct().u64_ptr(7).i32(0);
        })
        .expect("a call")
    }

    #[test]
    fn what_may_be_cleared_is_and_the_stencil_only_where_there_is_one() {
        let mut call = pass(3); // DEPTH_STENCIL_ATTACHMENT_OPTIMAL
        let info = View::call(&call.image).one("pCreateInfo").expect("there");
        let (edits, cleared, cannot) = of_pass(info);
        assert_eq!((cleared, cannot), (vec![Some(ZERO), None, Some(FAR)], 1));
        assert!(edit::apply(&mut call.image, &edits));
        let info = View::call(&call.image).one("pCreateInfo").expect("there");
        let ops: Vec<_> =
            info.structs("pAttachments").map(|a| (a.u32("loadOp"), a.u32("stencilLoadOp"))).collect();
        let [load, clear] = [Some(LOAD), Some(CLEAR)];
        assert_eq!(ops, [(clear, load), (load, load), (clear, clear)]);
        // Depth that is read only may not be cleared.
        let call = pass(4);
        let (_, cleared, cannot) = of_pass(View::call(&call.image).one("pCreateInfo").expect("there"));
        assert_eq!((cleared, cannot), (vec![Some(ZERO), None, None], 2));
    }

    #[test]
    fn values_are_added_behind_those_that_are_there() {
        for had in [0u32, 1, 2] {
            let mut call = Call::written("vkCmdBeginRenderPass", |w| {
                w.u64(1);
                w.structure(|w| {
                    w.u32(43).null_struct().u64(7).u64(8).i32(0).i32(0).u32(4).u32(4).u32(had);
                    if had == 0 {
                        w.null_structs();
                    } else {
                        w.structures(had as usize, |w, i| {
                            w.u32_array(&[100, 101, 102, 103].map(|n| n * (i as u32 + 1)));
                        });
                    }
                });
                w.u32(0);
            })
            .expect("a call");
            values(&mut call.image, &[None, Some(FAR), Some(ZERO)]);
            let v = View::call(&call.image).one("pRenderPassBegin").expect("there");
            let (at, n) = v.array("pClearValues").expect("an array");
            let words: Vec<u32> = (0..n as u32 * 4).map(|i| call.image.u32(at + i * 4)).collect();
            let first = if had > 0 { [100, 101, 102, 103] } else { ZERO };
            assert_eq!((v.u32("clearValueCount"), words), (Some(3), [first, FAR, ZERO].concat()), "{had}");
        }
    }
}
