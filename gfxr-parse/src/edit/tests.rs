//! Edits of calls, held against what is printed of them again.

use super::*;
use crate::container::Capture;
use crate::encode::encode_call;
use crate::schema::Member;
use crate::schema::generated::{COMMANDS, STRUCTS};
use std::collections::BTreeSet;
use std::ops::ControlFlow;
use std::sync::LazyLock;

fn draw() -> Call {
    let call = Call::written("vkCmdDraw", |w| {
        w.u64(7);
        for n in [36, 1, 0, 0] {
            _ = w.u32(n);
        }
    });
    call.expect("a call")
}

#[test]
fn a_changed_value_goes_back() {
    let (mut editor, mut call) = (Editor::default(), draw());
    let mut wanted = editor.printed(&mut call).expect("printed");
    assert_eq!(editor.edit(&mut call, &wanted).expect("nothing to do"), 0);
    // (firstVertex and firstInstance are both 0)
    wanted["args"]["firstInstance"] = 5.into();
    wanted["args"]["vertexCount"] = 3.into();
    assert_eq!(editor.edit(&mut call, &wanted).expect("edited"), 2);
    let words: Vec<u32> = (0..4).map(|i| call.image.u32(8 + 8 * i)).collect();
    assert_eq!(words, [3, 1, 0, 5]);
    let now = editor.printed(&mut call).expect("printed");
    assert_eq!(now["args"], wanted["args"]);
}

#[test]
fn what_cannot_go_back_is_refused_and_says_where() {
    let (mut editor, mut call) = (Editor::default(), draw());
    let own = editor.printed(&mut call).expect("printed");
    for (key, value, says) in [
        ("vertexCount", Value::from("many"), "/args/vertexCount cannot be edited so: expected a"),
        ("vertexCount", Value::from(1_u64 << 40), "/args/vertexCount cannot be edited so: expected a"),
        ("vertexCount", Value::Null, "/args/vertexCount cannot be edited so: expected a"),
        ("more", Value::from(1), "/args/more cannot be edited so: there is no such member"),
    ] {
        let mut wanted = own.clone();
        wanted["args"][key] = value;
        let e = editor.edit(&mut call, &wanted).expect_err("refused").to_string();
        assert!(e.contains(says), "{e}");
    }
    for (key, value) in [("name", Value::from("vkCmdDispatch")), ("thread", Value::from(9))] {
        let mut other = own.clone();
        other[key] = value;
        assert!(editor.edit(&mut call, &other).is_err(), "{key}");
    }
}

#[test]
fn readings_of_the_same_bytes_follow_each_other() {
    let bytes = std::fs::read("../captures/samples/cubes.gfxr").expect("a sample");
    let capture = Capture::new(bytes).expect("a capture");
    let found = crate::ahead::run(&capture, |item| match &item.what {
        crate::ahead::What::Call(call) if call.command.name == "vkCmdBeginRenderPass" => {
            std::ops::ControlFlow::Break((**call).clone())
        }
        _ => std::ops::ControlFlow::Continue(()),
    });
    let (mut editor, mut call) = (Editor::default(), found.expect("a render pass begins"));
    let own = editor.printed(&mut call).expect("printed");
    let place = "/args/pRenderPassBegin/pClearValues/0/color";
    let edited = |of: &str, value: Value| {
        let mut wanted = own.clone();
        *wanted.pointer_mut(&format!("{place}/{of}")).expect("it is printed") = value;
        wanted
    };
    let mut again = call.clone();
    assert_eq!(editor.edit(&mut again, &edited("float32/1", 0.5.into())).expect("edited"), 1);
    let now = editor.printed(&mut again).expect("printed");
    let of = |path: &str| now.pointer(&format!("{place}/{path}")).and_then(Value::as_u64);
    assert_eq!(of("uint32/1"), Some(0.5_f32.to_bits().into()));
    assert_eq!(of("uint32/0"), own.pointer(&format!("{place}/uint32/0")).and_then(Value::as_u64));
    assert_eq!(editor.edit(&mut call.clone(), &edited("uint32/2", 7.into())).expect("edited"), 1);
    let mut again = call.clone();
    assert_eq!(editor.edit(&mut again, &edited("int32/2", (-1).into())).expect("edited"), 1);
    let now = editor.printed(&mut again).expect("printed");
    let of = now.pointer(&format!("{place}/uint32/2")).and_then(Value::as_u64);
    assert_eq!(of, Some(u32::MAX.into()));
    // What says how the rest is read stays.
    let mut other = own.clone();
    other["args"]["pRenderPassBegin"]["sType"] = "VK_STRUCTURE_TYPE_SUBMIT_INFO".into();
    let e = editor.edit(&mut call, &other).expect_err("refused").to_string();
    assert!(e.contains("/args/pRenderPassBegin/sType cannot be edited so"), "{e}");
}

/// Every whole number among the arguments of a real capture's calls can be edited, but for those that count what is there.
#[test]
fn values_of_a_real_capture_can_be_edited() {
    let bytes = std::fs::read("../captures/samples/triangle_1.gfxr").expect("a sample");
    let capture = Capture::new(bytes).expect("a capture");
    let (mut editor, mut edited, mut refused) = (Editor::default(), 0, std::collections::BTreeMap::new());
    crate::ahead::run::<()>(&capture, |item| {
        if let crate::ahead::What::Call(call) = &item.what {
            let mut call = (**call).clone();
            let own = editor.printed(&mut call).expect("printed");
            for path in numbers(&own) {
                let mut wanted = own.clone();
                let old = own.pointer(&path).expect("it is there");
                let new = if *old == 1 { Value::from(2) } else { Value::from(1) };
                if let Some(v) = wanted.pointer_mut(&path) {
                    *v = new;
                }
                let mut other = call.clone();
                match editor.edit(&mut other, &wanted) {
                    Ok(n) => {
                        let now = editor.printed(&mut other).expect("printed");
                        assert_eq!((n, now.pointer(&path)), (1, wanted.pointer(&path)), "{path}");
                        edited += 1;
                    }
                    Err(_) => {
                        _ = refused.insert(path.split('/').next_back().unwrap_or_default().to_owned(), path)
                    }
                }
            }
        }
        std::ops::ControlFlow::Continue(())
    });
    assert!(edited > 1000, "{edited}");
    // (a count says how many elements there are, and there are as many as before)
    refused.retain(|name, _| !COUNTS.contains(name.as_str()));
    assert_eq!(refused.into_values().collect::<Vec<_>>(), Vec::<String>::new());
}

/// JSON pointers of all whole numbers among the arguments.
fn numbers(of: &Value) -> Vec<String> {
    fn all(v: &Value, path: &str, to: &mut Vec<String>) {
        match v {
            Value::Object(o) => o.iter().for_each(|(k, v)| all(v, &format!("{path}/{k}"), to)),
            Value::Array(a) => a.iter().enumerate().for_each(|(i, v)| all(v, &format!("{path}/{i}"), to)),
            Value::Number(n) if n.is_u64() => to.push(path.to_owned()),
            _ => {}
        }
    }
    let mut paths = vec![];
    all(&of["args"], "/args", &mut paths);
    paths
}

/// Each array among the arguments of a real capture's calls can be one shorter and one longer, each text another, each struct of a chain away: the print
/// says what was wanted, and put back as it was, the call has the bytes that it had.
#[test]
fn forms_of_a_real_capture_can_be_edited() {
    let mut seen = Seen::default();
    for sample in ["triangle_1", "rays", "objects"] {
        let bytes = std::fs::read(format!("../captures/samples/{sample}.gfxr")).expect("a sample");
        let capture = Capture::new(bytes).expect("a capture");
        crate::ahead::run::<()>(&capture, |item| {
            if let crate::ahead::What::Call(call) = &item.what {
                seen.call(call);
            }
            ControlFlow::Continue(())
        });
    }
    // (most of them are arrays whose count follows)
    assert!(seen.done > 1200, "{}", seen.done);
    // What has as many elements as its struct or is one of several readings, and arrays of which others have to have as many.
    let reasons = ["it is embedded", "as its count says", "/color/"];
    let others = seen.refused.iter().filter(|r| reasons.iter().all(|why| !r.contains(why)));
    assert_eq!(others.collect::<Vec<_>>(), [""; 0]);
}

#[derive(Default)]
struct Seen {
    editor: Editor,
    done: usize,
    refused: BTreeSet<String>,
}

impl Seen {
    fn call(&mut self, call: &Call) {
        let mut call = call.clone();
        let own = self.editor.printed(&mut call).expect("printed");
        let mut before = vec![];
        encode_call(&call.image, &mut before);
        let mut edits = vec![];
        wanted_forms(&own["args"], "/args", &mut edits);
        for (path, value) in edits {
            let mut wanted = own.clone();
            *wanted.pointer_mut(&path).expect("it is there") = value.clone();
            let mut edited = call.clone();
            if let Err(e) = self.editor.edit(&mut edited, &wanted) {
                self.refused.insert(format!("{}: {e}", own["name"]));
                continue;
            }
            let now = self.editor.printed(&mut edited).expect("printed");
            let says = now.pointer(&path).unwrap_or(&Value::Null);
            assert!(equal(says, &value), "{}{path}: {says} instead of {value}", own["name"]);
            // Nothing else is another but what counts the elements.
            let mut others = vec![];
            differences(&now["args"], &wanted["args"], "", &mut others).expect("the same form");
            let count = |c: &Change| COUNTS.contains(c.path.rsplit('/').next().unwrap_or_default());
            assert!(others.iter().all(count), "{}{path}", own["name"]);
            // (elements that are gone come back as zeros, then with their values; made of nothing, addresses of pointers are others)
            if value
                .as_array()
                .zip(own.pointer(&path).and_then(Value::as_array))
                .is_some_and(|(a, b)| a.len() > b.len())
            {
                self.editor.edit(&mut edited, &own).expect("put back");
                let mut after = vec![];
                encode_call(&edited.image, &mut after);
                assert!(after == before, "{}{path}", own["name"]);
            }
            self.done += 1;
        }
    }
}

/// Other forms of what is printed: one element fewer, one more, another text, no chain.
fn wanted_forms(of: &Value, path: &str, to: &mut Vec<(String, Value)>) {
    match of {
        Value::Object(members) => {
            for (key, value) in members {
                let path = format!("{path}/{key}");
                if key == "pNext" && value.is_object() {
                    to.push((path.clone(), value["pNext"].clone()));
                }
                wanted_forms(value, &path, to);
            }
        }
        Value::Array(elements) => {
            if let [.., last] = &elements[..] {
                to.push((path.to_owned(), elements[..elements.len() - 1].into()));
                to.push((path.to_owned(), [&elements[..], std::slice::from_ref(last)].concat().into()));
            }
            // (elements are alike)
            if let Some(first) = elements.first() {
                wanted_forms(first, &format!("{path}/0"), to);
            }
        }
        Value::String(text) if path.contains("Name") && !text.starts_with("VK_") => {
            to.push((path.to_owned(), format!("{text}, changed").into()));
        }
        _ => {}
    }
}

/// A device's chain: features taken out, put in and turned on; what others there are stay.
#[test]
fn chains_gain_and_lose_structs() {
    let mut call = first("../captures/samples/rays.gfxr", "vkCreateDevice");
    let mut editor = Editor::default();
    let own = editor.printed(&mut call).expect("printed");
    let chain = &own["args"]["pCreateInfo"]["pNext"];
    let names = |of: &Value| {
        let (mut all, mut at) = (vec![], of);
        while let Some(name) = at["sType"].as_str() {
            all.push(name.to_owned());
            at = &at["pNext"];
        }
        all
    };
    let before = names(chain);
    assert!(before.len() > 2, "{before:?}");
    // The second is gone, and one of zeros is in front, but for one bit.
    let mut rest = chain.clone();
    let second = rest["pNext"].take();
    rest["pNext"] = second["pNext"].clone();
    let mut wanted = own.clone();
    wanted["args"]["pCreateInfo"]["pNext"] = serde_json::json!({
        "sType": "VK_STRUCTURE_TYPE_PHYSICAL_DEVICE_MULTIVIEW_FEATURES",
        "pNext": rest,
        "multiview": false,
        "multiviewGeometryShader": true,
        "multiviewTessellationShader": false,
    });
    let mut edited = call.clone();
    editor.edit(&mut edited, &wanted).expect("edited");
    let now = editor.printed(&mut edited).expect("printed");
    assert_eq!(now, wanted);
    assert_eq!(names(&now["args"]["pCreateInfo"]["pNext"]).len(), before.len());
    // What no struct is called is refused, with its place.
    wanted["args"]["pCreateInfo"]["pNext"]["sType"] = "VK_STRUCTURE_TYPE_NONE_SUCH".into();
    let e = editor.edit(&mut edited, &wanted).expect_err("refused").to_string();
    assert!(e.contains("/args/pCreateInfo/pNext cannot be edited so: expected the sType"), "{e}");
}

/// A count follows its array, and a count that says something else is refused, as is an array beside it that has other elements.
#[test]
fn counts_follow_their_arrays() {
    let mut call = first("../captures/samples/triangle_1.gfxr", "vkCmdSetViewport");
    let mut editor = Editor::default();
    let own = editor.printed(&mut call).expect("printed");
    let mut wanted = own.clone();
    let viewports = wanted["args"]["pViewports"].as_array_mut().expect("viewports");
    viewports.push(viewports[0].clone());
    viewports[1]["width"] = 7.0.into();
    let mut edited = call.clone();
    editor.edit(&mut edited, &wanted).expect("edited");
    let now = editor.printed(&mut edited).expect("printed");
    assert_eq!(now["args"]["viewportCount"], 2);
    assert_eq!(now["args"]["pViewports"], wanted["args"]["pViewports"]);
    wanted["args"]["viewportCount"] = 3.into();
    let e = editor.edit(&mut call.clone(), &wanted).expect_err("refused").to_string();
    assert!(
        e.contains("/args/viewportCount cannot be edited so: it says 3, and /args/pViewports wants 2"),
        "{e}"
    );
    wanted["args"] = own["args"].clone();
    wanted["args"]["viewportCount"] = 2.into();
    assert!(editor.edit(&mut call.clone(), &wanted).is_err(), "one viewport, and two are counted");
    // From nothing: the struct is made of zeros, then has its values.
    let mut none = own.clone();
    none["args"]["pViewports"] = serde_json::json!([]);
    editor.edit(&mut call, &none).expect("edited");
    assert_eq!(editor.printed(&mut call).expect("printed")["args"]["viewportCount"], 0);
    editor.edit(&mut call, &own).expect("edited");
    assert_eq!(editor.printed(&mut call).expect("printed"), own);
}

fn first(file: &str, name: &str) -> Call {
    let capture = Capture::new(std::fs::read(file).expect("a sample")).expect("a capture");
    let found = crate::ahead::run(&capture, |item| match &item.what {
        crate::ahead::What::Call(call) if call.command.name == name => ControlFlow::Break((**call).clone()),
        _ => ControlFlow::Continue(()),
    });
    found.expect("the call is there")
}

/// Members and parameters that say how many elements an array beside them has.
static COUNTS: LazyLock<BTreeSet<&str>> = LazyLock::new(|| {
    let of = |members: &'static [Member]| {
        members.iter().filter_map(|m| Some(members[usize::from(m.len.counter()?)].name))
    };
    STRUCTS.iter().flat_map(|s| of(s.members)).chain(COMMANDS.iter().flat_map(|c| of(c.params))).collect()
});

/// A descriptor write of another kind: the array that it does not use goes, and the one that it uses comes.
#[test]
fn descriptor_writes_become_others() {
    let call = Call::written("vkUpdateDescriptorSets", |w| {
        w.u64(7).u32(1);
        w.structures(1, |w, _| {
            w.u32(35).null_struct().u64(9).u32(0).u32(0).u32(1).u32(6).null_structs();
            w.structures(1, |w, _| {
                w.u64(11).u64(0).u64(64);
            });
            w.null_array();
        });
        w.u32(0).null_structs();
    });
    let (mut call, mut editor) = (call.expect("a call"), Editor::default());
    let own = editor.printed(&mut call).expect("printed");
    let mut wanted = own.clone();
    let write = wanted["args"]["pDescriptorWrites"][0].as_object_mut().expect("a write");
    write.remove("pBufferInfo").expect("it was there");
    write.insert("descriptorType".into(), "VK_DESCRIPTOR_TYPE_COMBINED_IMAGE_SAMPLER".into());
    let info =
        serde_json::json!([{ "sampler": 5, "imageView": 6, "imageLayout": "VK_IMAGE_LAYOUT_GENERAL" }]);
    write.insert("pImageInfo".into(), info);
    editor.edit(&mut call, &wanted).expect("edited");
    assert_eq!(editor.printed(&mut call).expect("printed")["args"], wanted["args"]);
    // An array of none is what is not there.
    let mut more = wanted.clone();
    more["args"]["pDescriptorWrites"][0]["pBufferInfo"] = serde_json::json!([]);
    assert_eq!(editor.edit(&mut call, &more).expect("nothing to do"), 0);
}
