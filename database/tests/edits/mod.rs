//! Captures with edits that are known: samples of which single blocks are written otherwise, by the project's own decoder and encoder.
//!
//! Guarantees: what an edit says is expected was read from the sample, not from what `diff` says. Refuses nothing: an edit that finds
//! nothing to edit fails its test.

use gfxr_parse::ahead::{Call, What, read};
use gfxr_parse::container::{Block, BlockKind, Capture, FrameCounter, Payload, Scratch};
use gfxr_parse::encode::encode_call;
use gfxr_parse::meta::Meta;
use gfxr_parse::view::View;
use gfxr_parse::writer::Writer;
use serde_json::Value;
use std::path::Path;

/// What becomes of a block.
pub enum Then {
    /// As it is.
    Keep,
    /// The call as it was edited.
    Edited,
    /// Left out.
    Gone,
    /// There twice.
    Twice,
}

/// One change that is expected.
#[derive(Clone, Copy, Debug)]
pub struct Expected {
    /// changed, added, removed.
    pub what: &'static str,
    /// command, call, object, contents.
    pub kind: &'static str,
    /// The subject begins with it.
    pub subject: &'static str,
    /// The place: labels, or what it is about.
    pub place: &'static str,
    /// Members: what each path begins with, before, after; texts that end in … are beginnings.
    pub members: &'static [(&'static str, &'static str, &'static str)],
    /// In how many frames of A (or of B, where it is added).
    pub frames: usize,
}

/// An edited pair.
pub struct Edit {
    /// What it is.
    pub name: &'static str,
    /// Of which sample.
    pub sample: &'static str,
    /// Makes the other capture.
    pub make: fn(&[u8]) -> Vec<u8>,
    /// All that it changes.
    pub expected: &'static [Expected],
}

/// A sample.
pub fn sample(root: &Path, name: &str) -> Vec<u8> {
    std::fs::read(root.join(format!("captures/samples/{name}.gfxr"))).expect("a sample")
}

/// A capture whose blocks go through these hands.
pub fn rewritten(
    bytes: &[u8],
    mut call: impl FnMut(&mut Call) -> Then,
    mut fill: impl FnMut(&mut Meta<'_>, &mut Vec<u8>) -> bool,
) -> Vec<u8> {
    let capture = Capture::new(bytes.to_vec()).expect("a capture");
    let mut w = Writer::new(vec![], capture.header()).expect("memory");
    let (mut scratch, mut frames) = (Scratch::new(), FrameCounter::new(capture.header()));
    let mut edits = 0;
    for block in capture.blocks() {
        let place = frames.feed(&block);
        if let Ok(What::Call(mut c)) = read(&block, place, None, &mut scratch) {
            let put = |w: &mut Writer<Vec<u8>>, c: &Call| {
                let mut params = vec![];
                encode_call(&c.image, &mut params);
                w.call(c.command.id, c.thread, &params).expect("memory");
            };
            let then = call(&mut c);
            edits += u32::from(!matches!(then, Then::Keep));
            match then {
                Then::Keep => w.raw(&block).expect("memory"),
                Then::Edited => put(&mut w, &c),
                Then::Gone => {}
                Then::Twice => (0..2).for_each(|_| w.raw(&block).expect("memory")),
            }
        } else if !written(&block, &mut w, &mut fill, &mut edits) {
            w.raw(&block).expect("memory");
        }
    }
    assert!(edits > 0, "nothing was edited");
    w.finish().expect("memory")
}

fn written(
    block: &Block<'_>,
    w: &mut Writer<Vec<u8>>,
    fill: &mut impl FnMut(&mut Meta<'_>, &mut Vec<u8>) -> bool,
    edits: &mut u32,
) -> bool {
    let Ok(BlockKind::Meta(mut meta)) = block.kind() else { return false };
    let Some(payload) = meta.meta.payload() else { return false };
    let mut data = payload.to_vec(&mut Scratch::new()).expect("data");
    if !fill(&mut meta.meta, &mut data) {
        return false;
    }
    *edits += 1;
    if let Some(payload) = meta.meta.payload_mut() {
        *payload = Payload::plain(&data);
    }
    w.block(&BlockKind::Meta(meta)).expect("memory");
    true
}

/// The same capture, of which the n-th call of a name is edited.
fn nth(bytes: &[u8], name: &str, n: u32, mut edit: impl FnMut(&mut Call) -> Then) -> Vec<u8> {
    let mut seen = 0;
    let at = |call: &mut Call| {
        if call.command.name != name {
            return Then::Keep;
        }
        seen += 1;
        if seen == n { edit(call) } else { Then::Keep }
    };
    rewritten(bytes, at, |_, _| false)
}

/// Where a member lies.
fn place(v: &View<'_>, name: &str) -> u32 {
    v.definition(name).expect("a member").1
}

fn parameter(call: &Call, name: &str) -> u32 {
    place(&View::call(&call.image), name)
}

/// The same capture, whose ids are all others and whose device addresses moved.
pub fn renumbered(bytes: &[u8]) -> Vec<u8> {
    // (what is no id, as a member that nobody reads, may be any number)
    let other = |handle: u64| handle.wrapping_mul(3).wrapping_add(70_000);
    let moved = 0x7000_0000u64;
    let mut addresses = vec![];
    let capture = Capture::new(bytes.to_vec()).expect("a capture");
    let mut frames = FrameCounter::new(capture.header());
    for block in capture.blocks() {
        let place = frames.feed(&block);
        if let Ok(What::Call(c)) = read(&block, place, None, &mut Scratch::new())
            && c.command.name.contains("DeviceAddress")
        {
            addresses.push(c.image.u64(c.image.ret_at()));
        }
    }
    let is_address = |word: u64| addresses.iter().any(|a| *a != 0 && word >= *a && word - a < 1 << 20);
    let call = |c: &mut Call| {
        for h in c.image.handles.clone() {
            let handle = c.image.u64(h.at);
            if handle != 0 {
                c.image.edit_u64(h.at, other(handle));
            }
        }
        // (the id that a name is given to is a number to the schema)
        let info = View::call(&c.image).one("pNameInfo").or_else(|| View::call(&c.image).one("pTagInfo"));
        let named = info.and_then(|i| i.definition("objectHandle").or_else(|| i.definition("object")));
        if let Some((_, at)) = named
            && !c.image.handles.iter().any(|h| h.at == at)
        {
            let handle = c.image.u64(at);
            c.image.edit_u64(at, other(handle));
        }
        for at in c.image.addresses.clone() {
            let address = c.image.u64(at);
            c.image.edit_u64(at, address + moved);
        }
        if c.command.name.contains("DeviceAddress") {
            let at = c.image.ret_at();
            let address = c.image.u64(at);
            c.image.edit_u64(at, address + moved);
        }
        Then::Edited
    };
    rewritten(bytes, call, |meta, data| {
        match meta {
            Meta::FillMemory(m) => m.memory = other(m.memory),
            Meta::InitBuffer(m) => m.buffer = other(m.buffer),
            Meta::InitImage(m) => m.image = other(m.image),
            _ => return false,
        }
        for word in data.chunks_exact_mut(8) {
            let value = u64::from_le_bytes(word.try_into().expect("8 bytes"));
            if is_address(value) {
                word.copy_from_slice(&(value + moved).to_le_bytes());
            }
        }
        true
    })
}

/// Edits of which each is one.
pub const EDITS: &[Edit] = &[
    Edit {
        name: "vertexCount of a draw that each frame records",
        sample: "cubes",
        make: |bytes| {
            rewritten(
                bytes,
                |c| {
                    if c.command.name != "vkCmdDraw" {
                        return Then::Keep;
                    }
                    let at = parameter(c, "vertexCount");
                    c.image.edit_u32(at, 6);
                    Then::Edited
                },
                |_, _| false,
            )
        },
        expected: &[Expected {
            what: "changed",
            kind: "command",
            subject: "vkCmdDraw 1",
            place: "develop",
            members: &[("vertexCount", "3", "6")],
            frames: 30,
        }],
    },
    Edit {
        name: "a draw is gone",
        sample: "cubes",
        make: |bytes| nth(bytes, "vkCmdDraw", 4, |_| Then::Gone),
        expected: &[Expected {
            what: "removed",
            kind: "command",
            subject: "vkCmdDraw 1",
            place: "develop",
            members: &[],
            frames: 1,
        }],
    },
    Edit {
        name: "a dispatch is there twice",
        sample: "closed_compute",
        make: |bytes| nth(bytes, "vkCmdDispatch", 9, |_| Then::Twice),
        expected: &[Expected {
            what: "added",
            kind: "command",
            subject: "vkCmdDispatch",
            place: "*",
            members: &[],
            frames: 1,
        }],
    },
    Edit {
        name: "cull mode of a pipeline",
        sample: "cubes",
        make: |bytes| {
            nth(bytes, "vkCreateGraphicsPipelines", 1, |c| {
                let info = View::call(&c.image).one("pCreateInfos").expect("an info");
                let state = info.one("pRasterizationState").expect("a state");
                let (at, old) = (place(&state, "cullMode"), state.u32("cullMode").expect("a mode"));
                c.image.edit_u32(at, old ^ 3);
                Then::Edited
            })
        },
        expected: &[Expected {
            what: "changed",
            kind: "object",
            subject: "VkPipeline",
            place: "",
            members: &[("pCreateInfos.pRasterizationState.cullMode", "*", "*")],
            frames: 1,
        }],
    },
    Edit {
        name: "a constant of a shader",
        sample: "cubes",
        make: |bytes| {
            nth(bytes, "vkCreateShaderModule", 2, |c| {
                let info = View::call(&c.image).one("pCreateInfo").expect("an info");
                let (at, words) = info.array("pCode").expect("code");
                let of = |i: u32| c.image.u32(at + i * 4);
                let mut i = 5;
                let mut found = None;
                while u64::from(i) < words {
                    // (OpConstant of one word)
                    if of(i) == 4 << 16 | 43 {
                        found = Some(at + (i + 3) * 4);
                    }
                    i += (of(i) >> 16).max(1);
                }
                let at = found.expect("a constant");
                let old = c.image.u32(at);
                c.image.edit_u32(at, old + 1);
                Then::Edited
            })
        },
        expected: &[Expected {
            what: "changed",
            kind: "object",
            subject: "VkShaderModule \"screen.vert\"",
            place: "",
            members: &[("pCreateInfo.pCode", "1584 bytes", "1584 bytes, 4 of them different")],
            frames: 1,
        }],
    },
    Edit {
        name: "the range of a descriptor",
        sample: "cubes",
        make: |bytes| {
            nth(bytes, "vkUpdateDescriptorSets", 2, |c| {
                let write = View::call(&c.image).one("pDescriptorWrites").expect("a write");
                let at = place(&write.one("pBufferInfo").expect("a buffer"), "range");
                c.image.edit_u64(at, 25_600);
                Then::Edited
            })
        },
        expected: &[Expected {
            what: "changed",
            kind: "call",
            subject: "vkUpdateDescriptorSets",
            place: "VkDescriptorSet \"animate set 0\"",
            members: &[("pDescriptorWrites[0].pBufferInfo[0].range", "51200", "25600")],
            frames: 1,
        }],
    },
    Edit {
        name: "a push constant",
        sample: "cubes",
        make: |bytes| {
            nth(bytes, "vkCmdPushConstants", 5, |c| {
                let (at, _) = View::call(&c.image).array("pValues").expect("values");
                c.image.edit_u32(at, 0x4049_0FDB);
                Then::Edited
            })
        },
        expected: &[Expected {
            what: "changed",
            kind: "command",
            subject: "vkCmdPushConstants",
            place: "*",
            members: &[("pValues, bytes 0–3", "*", "0x40490fdb (3.1415927)")],
            frames: 1,
        }],
    },
    Edit {
        name: "a value of a uniform buffer",
        sample: "cubes",
        make: |bytes| {
            let mut seen = 0;
            rewritten(
                bytes,
                |_| Then::Keep,
                |_, data| {
                    seen += u32::from(data.len() == 96);
                    let it = data.len() == 96 && seen == 3;
                    if it {
                        data[64..68].copy_from_slice(&123.5f32.to_le_bytes());
                    }
                    it
                },
            )
        },
        expected: &[Expected {
            what: "changed",
            kind: "contents",
            subject: "VkBuffer \"camera 0\"",
            place: "",
            members: &[("*bytes 64–67", "*", "0x42f70000 (123.5)")],
            frames: 1,
        }],
    },
    Edit {
        name: "the extent of an image",
        sample: "cubes",
        make: |bytes| {
            nth(bytes, "vkCreateImage", 1, |c| {
                let info = View::call(&c.image).one("pCreateInfo").expect("an info");
                let at = place(&info.one("extent").expect("an extent"), "height");
                let old = c.image.u32(at);
                c.image.edit_u32(at, old * 2);
                Then::Edited
            })
        },
        expected: &[Expected {
            what: "changed",
            kind: "object",
            subject: "VkImage",
            place: "",
            members: &[("pCreateInfo.extent.height", "*", "*")],
            frames: 1,
        }],
    },
    Edit {
        name: "a barrier's access mask",
        sample: "closed_compute",
        make: |bytes| {
            nth(bytes, "vkCmdPipelineBarrier", 6, |c| {
                let at = parameter(c, "dstStageMask");
                c.image.edit_u32(at, 0x0001_0000);
                Then::Edited
            })
        },
        expected: &[Expected {
            what: "changed",
            kind: "command",
            subject: "vkCmdPipelineBarrier",
            place: "*",
            members: &[("dstStageMask", "*", "VK_PIPELINE_STAGE_ALL_COMMANDS_BIT")],
            frames: 1,
        }],
    },
    Edit {
        name: "the name of an object",
        sample: "cubes",
        make: |bytes| {
            rewritten(
                bytes,
                |c| {
                    let info = View::call(&c.image).one("pNameInfo");
                    let Some((at, n)) = info
                        .filter(|i| i.text("pObjectName").is_some_and(|t| t == "camera 0"))
                        .and_then(|i| i.array("pObjectName"))
                    else {
                        return Then::Keep;
                    };
                    // (the last 4 letters: "ra 0")
                    let last = at + n as u32 - 4;
                    let word = u32::from_le_bytes(*b"ra 9");
                    assert!(last.is_multiple_of(4));
                    c.image.edit_u32(last, word);
                    Then::Edited
                },
                |_, _| false,
            )
        },
        expected: &[Expected {
            what: "changed",
            kind: "object",
            subject: "VkBuffer \"camera 0\"",
            place: "",
            members: &[("name", "\"camera 0\"", "\"camera 9\"")],
            frames: 1,
        }],
    },
];

/// Whether a text is as expected: * stands for any beginning, or for all.
fn is(expected: &str, found: &str) -> bool {
    match expected.strip_prefix('*') {
        Some(end) => found.ends_with(end),
        None => found == expected,
    }
}

/// Whether a change, as JSON, is the expected one.
pub fn fits(expected: &Expected, found: &Value) -> bool {
    let text = |v: &Value| v.as_str().unwrap_or_default().to_owned();
    let members = found["members"].as_array().cloned().unwrap_or_default();
    let fit = |(e, m): (&(&str, &str, &str), &Value)| {
        is(e.0, &text(&m["path"])) && is(e.1, &text(&m["a"])) && is(e.2, &text(&m["b"]))
    };
    let side = if expected.what == "added" { "b" } else { "a" };
    text(&found["what"]) == expected.what
        && text(&found["kind"]) == expected.kind
        && text(&found["subject"]).starts_with(expected.subject)
        && is(expected.place, &text(&found["place"]))
        && members.len() == expected.members.len()
        && expected.members.iter().zip(&members).all(fit)
        && found["frames"][side].as_array().map(Vec::len) == Some(expected.frames)
}
