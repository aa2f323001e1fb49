//! Which APIs a capture is of: the layer records Direct3D and others in the same container.
//!
//! Guarantees: looks at block headers only. Refuses nothing.

use crate::container::Capture;
use std::collections::BTreeMap;

/// The API of a call, by the upper half of its id.
pub fn api_of(call_id: u32) -> &'static str {
    match call_id >> 16 {
        1 => "Vulkan",
        2 => "DXGI",
        3 => "Direct3D 12",
        4 => "AGS",
        5 => "Direct3D 11",
        6 => "Direct3D 11 on 12",
        7 => "OpenXR",
        _ => "an unknown API",
    }
}

/// Calls by API, those of Vulkan too.
pub fn apis(capture: &Capture) -> BTreeMap<&'static str, u64> {
    let mut found = BTreeMap::new();
    for id in capture.blocks().filter_map(|b| b.call_id()) {
        *found.entry(api_of(id)).or_default() += 1;
    }
    found
}

/// A sentence on calls that are not Vulkan's, if there are any.
pub fn others(apis: &BTreeMap<&'static str, u64>) -> Option<String> {
    let others: Vec<String> =
        apis.iter().filter(|a| *a.0 != "Vulkan").map(|(name, n)| format!("{n} of {name}")).collect();
    (!others.is_empty()).then(|| format!("it holds calls that are not Vulkan's ({})", others.join(", ")))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn apis_are_named_and_those_of_vulkan_are_no_others() {
        assert_eq!(
            (api_of(0x1_1000), api_of(0x3_0001), api_of(0xFF_0000)),
            ("Vulkan", "Direct3D 12", "an unknown API")
        );
        let all = BTreeMap::from([("Vulkan", 7), ("Direct3D 12", 3)]);
        assert_eq!(others(&all).as_deref(), Some("it holds calls that are not Vulkan's (3 of Direct3D 12)"));
        assert_eq!(others(&BTreeMap::from([("Vulkan", 7)])), None);
    }
}
