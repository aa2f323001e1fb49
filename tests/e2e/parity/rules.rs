//! The one table of differences from gfxrecon-convert 0.9.18 that are tolerated, each with its reason.
//!
//! A rule sees the member's name and both values, and applies only if, apart from what it is about, they say the same.

use serde_json::Value;

/// What differs.
#[derive(Debug)]
pub enum Side<'v> {
    /// The same member with another value; `expanded` is ours with flags by name.
    Both { ours: &'v Value, expanded: &'v Value, theirs: &'v Value },
    /// A member that only we write.
    Ours(&'v Value),
    /// A member that only they write.
    Theirs(&'v Value),
}

/// See the module's header.
pub struct Rule {
    /// What it is called in the test's report.
    pub name: &'static str,
    /// Why the difference is right.
    #[allow(dead_code, reason = "it is for whoever reads this table")]
    pub why: &'static str,
    /// Does it apply to this member?
    pub applies: fn(&str, &Side) -> bool,
    /// It explains an array around the value only: the first element is compared.
    pub look_inside: bool,
}

macro_rules! rules {
    ($( $name:literal, $why:literal, $applies:expr; )*) => {
        /// All of them, the first that applies counts.
        pub const RULES: &[Rule] = &[
            $( Rule { name: $name, why: $why, applies: $applies, look_inside: false }, )*
            Rule {
                name: "single struct",
                why: "A trimmed capture's snapshot holds single structs where the API has arrays; the newest convert \
                      writes what is there, 0.9.18 made an array of it.",
                applies: single_struct,
                look_inside: true,
            },
        ];
    };
}

rules! {
    "thread and running numbers",
        "The newest convert writes the thread, and the place of commands and submissions; 0.9.18 did not.",
        |name, side| matches!(side, Side::Ours(Value::Number(_))) && ["thread", "cmd_index", "sub_index"].contains(&name);
    "booleans",
        "The newest convert writes VkBool32 as true and false; 0.9.18 wrote a number.",
        |_, side| both(side, |o, _, t| o.as_bool().is_some_and(|b| t.as_u64() == Some(b.into())));
    "flags",
        "The newest convert writes flags as 0x and 8 or 16 digits; 0.9.18 wrote a number.",
        |_, side| both(side, |o, _, t| hex(o, &[8, 16]).is_some_and(|v| t.as_u64() == Some(v)));
    "flags of 64 bits",
        "The newest convert writes them like other flags; 0.9.18 wrote the names of their bits (compared with ours \
         under --expand-flags), and \"Unhandled …\" for those its registry did not have.",
        |_, side| both(side, |o, e, t| hex(o, &[16]).is_some() && same_bits(e, t));
    "addresses",
        "The newest convert writes device addresses as 0x…; 0.9.18 wrote some as numbers.",
        |name, side| both(side, |o, _, t| {
            name.to_lowercase().ends_with("address") && hex(o, &[]).is_some_and(|v| t.as_u64() == Some(v))
        });
    "opaque pointers",
        "The newest convert writes pointers that are not followed as numbers; 0.9.18 wrote 0x….",
        |_, side| both(side, |o, _, t| hex(t, &[]).is_some() && o.as_u64() == hex(t, &[]));
    "floats",
        "The newest convert writes enough digits to get the same float back; 0.9.18 wrote six after the point.",
        |_, side| both(side, |o, _, t| match (o.as_f64(), t.as_f64()) {
            (Some(a), Some(b)) => (o.is_f64() || t.is_f64()) && (a - b).abs() <= 0.5001e-6,
            _ => false,
        });
    "null handles",
        "The newest convert writes every handle as a number; 0.9.18 wrote null ones as VK_NULL_HANDLE.",
        |_, side| both(side, |o, _, t| t == "VK_NULL_HANDLE" && o.as_u64() == Some(0));
    "handles in build infos",
        "0.9.18 looked for these in the wrong struct and always wrote VK_NULL_HANDLE; the newest convert writes the id.",
        |name, side| both(side, |o, _, t| {
            ["srcAccelerationStructure", "dstAccelerationStructure"].contains(&name) && t == "VK_NULL_HANDLE" && o.is_u64()
        });
    "UUIDs",
        "The newest convert writes hexadecimal digits (without leading zeros, so that nobody can read them back; we \
         write two digits a byte); 0.9.18 wrote decimal numbers with hyphens.",
        |name, side| both(side, |o, _, t| {
            let bytes: Option<Vec<u8>> = t.as_str().and_then(|t| t.split('-').map(|n| n.parse().ok()).collect());
            let hex = |b: Vec<u8>| b.iter().map(|b| format!("{b:02x}")).collect::<String>();
            (name.ends_with("UUID") || name.ends_with("LUID")) && bytes.map(hex).as_deref() == o.as_str()
        });
    "bytes",
        "The newest convert writes \"[Binary data]\", or the bytes; 0.9.18 wrote the address they had in its own memory.",
        |_, side| both(side, |o, _, t| hex(t, &[]).is_some_and(|v| v != 0) && (o == "[Binary data]" || o.is_array()));
    "no bytes",
        "The same where there are none: null, and 0x0.",
        |_, side| both(side, |o, _, t| t == "0x0" && o.is_null());
    "mapped pointers",
        "What vkMapMemory returned: the newest convert writes the application's address, 0.9.18 one of its own.",
        |name, side| both(side, |o, _, t| name == "ppData" && hex(o, &[]).is_some() && hex(t, &[]).is_some());
    "host addresses",
        "The union of a device and a host address is one number in the capture; 0.9.18 wrote it twice.",
        |name, side| matches!(side, Side::Theirs(t) if name == "hostAddress" && hex(t, &[]).is_some());
    "promoted names",
        "A value that a newer registry than 0.9.18's knows by the name it was promoted to.",
        |_, side| both(side, |o, _, t| match (o.as_str(), t.as_str()) {
            (Some(o), Some(t)) => o.starts_with("VK_") && t.starts_with("VK_") && unpromoted(o) == unpromoted(t),
            _ => false,
        });
    "data of templates",
        "What a descriptor update template reads: the newest convert writes image and buffer infos and texel buffer views; \
         0.9.18 wrote a VkWriteDescriptorSet in which nothing but the number of image infos is right.",
        template_data;
    "set of pushed templates",
        "0.9.18 left the set out where a template's descriptors are pushed.",
        |name, side| matches!(side, Side::Ours(Value::Number(_))) && name == "set";
    "sample masks",
        "0.9.18 wrote null for every pSampleMask; the newest convert writes the words.",
        |name, side| both(side, |o, _, t| name == "pSampleMask" && o.is_array() && t.is_null());
}

/// The rules that only captures outside the repository and `../shared` need.
pub const ELSEWHERE: [&str; 2] = ["flags of 64 bits", "sample masks"];

fn template_data(name: &str, side: &Side) -> bool {
    match side {
        Side::Ours(o) => ["imageInfos", "bufferInfos", "texelBufferViews"].contains(&name) && o.is_array(),
        Side::Theirs(t) => match name {
            "sType" => *t == "VK_STRUCTURE_TYPE_WRITE_DESCRIPTOR_SET",
            "dstSet" => *t == "VK_NULL_HANDLE",
            "descriptorType" => *t == "VK_DESCRIPTOR_TYPE_SAMPLER",
            "dstBinding" | "dstArrayElement" => **t == 0,
            "descriptorCount" => t.is_u64(),
            "pImageInfo" => t.is_null() || t.is_array(),
            "pNext" | "pBufferInfo" | "pTexelBufferView" => t.is_null(),
            _ => false,
        },
        Side::Both { .. } => false,
    }
}

fn single_struct(_: &str, side: &Side) -> bool {
    both(side, |o, _, t| o.is_object() && t.as_array().is_some_and(|t| t.len() == 1))
}

fn both(side: &Side, f: impl Fn(&Value, &Value, &Value) -> bool) -> bool {
    matches!(side, Side::Both { ours, expanded, theirs } if f(ours, expanded, theirs))
}

/// The same names of bits, as far as they knew them.
fn same_bits(ours: &Value, theirs: &Value) -> bool {
    let (Some(ours), Some(theirs)) = (ours.as_str(), theirs.as_str()) else { return false };
    let (ours, theirs): (Vec<_>, Vec<_>) = (ours.split('|').collect(), theirs.split('|').collect());
    ours.len() == theirs.len() && ours.iter().zip(theirs).all(|(o, t)| *o == t || t.starts_with("Unhandled "))
}

/// The number in a `0x…` text with one of these numbers of digits (any, if none is given).
fn hex(v: &Value, digits: &[usize]) -> Option<u64> {
    let text = v.as_str()?.strip_prefix("0x")?;
    (digits.is_empty() || digits.contains(&text.len())).then(|| u64::from_str_radix(text, 16).ok())?
}

/// A name without the vendor at its end.
fn unpromoted(name: &str) -> &str {
    ["_EXT", "_KHR", "_NV", "_ARM", "_QCOM", "_VALVE", "_AMD", "_INTEL"]
        .iter()
        .find_map(|vendor| name.strip_suffix(vendor))
        .unwrap_or(name)
}
