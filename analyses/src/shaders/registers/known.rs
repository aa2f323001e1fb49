//! Statistics that drivers are known to give, by name. Compared without case, spaces and punctuation; what is not here is
//! listed and not summarised.

use super::columns::SUMMARY;

/// The names that mean each column of [`SUMMARY`], in its order.
const NAMES: [&[&str]; SUMMARY.len()] = [
    // NVIDIA; RADV and AMDVLK; ANV; Turnip; V3DV.
    &[
        "registercount",
        "registers",
        "vgprs",
        "sgprs",
        "numusedvgprs",
        "numusedsgprs",
        "maxliveregisters",
        "registersused",
        "grfregisters",
        "temps",
    ],
    &["spillcount", "spills", "spilledvgprs", "spilledsgprs", "spilledregisters", "spillsize", "tmuspills"],
    &[
        "occupancy",
        "subgroupspersimd",
        "maxwaves",
        "maxwavespercore",
        "warpspersm",
        "theoreticaloccupancy",
        "threads",
        "maxdispatchwidth",
    ],
    &["instructioncount", "instructions"],
    &["binarysize", "codesize", "sizebytes", "programsize", "shadersize"],
    &[
        "stacksize",
        "localmemorysize",
        "scratchsize",
        "scratchmemorysize",
        "scratchmemusageinbytes",
        "privatememory",
    ],
    &[
        "sharedmemorysize",
        "sharedmemory",
        "ldssize",
        "ldssizeperlocalworkgroup",
        "workgroupmemorysize",
        "localsharedsize",
    ],
];

/// Which column a statistic belongs to.
pub fn recognise(name: &str) -> Option<usize> {
    let plain: String = name.chars().filter(char::is_ascii_alphanumeric).collect();
    let plain = plain.to_ascii_lowercase();
    NAMES.iter().position(|names| names.contains(&plain.as_str()))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn names_of_drivers_are_recognised_and_mean_one_thing() {
        let named = |n| recognise(n).map(|c| SUMMARY[c].name);
        assert_eq!(named("Register Count"), Some("registers"));
        assert_eq!(named("Spilled VGPRs"), Some("spills"));
        assert_eq!(named("numUsedVgprs"), Some("registers"));
        assert_eq!(named("Subgroups per SIMD"), Some("occupancy"));
        assert_eq!(named("Instruction Count"), Some("instructions"));
        assert_eq!(named("Stack Size"), Some("scratch"));
        assert_eq!(named("Latency"), None);
        let all: Vec<&str> = NAMES.into_iter().flatten().copied().collect();
        for (n, name) in all.iter().enumerate() {
            assert!(!all[..n].contains(name), "{name} twice");
            assert!(name.chars().all(|c| c.is_ascii_lowercase() || c.is_ascii_digit()), "{name}");
        }
    }
}
