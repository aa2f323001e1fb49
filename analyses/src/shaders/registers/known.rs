//! Statistics that drivers are known to give, by name. Compared without case, spaces and punctuation; what is not here is
//! listed and not summarised.

use crate::report::Unit;

/// The columns of the summary, and the names that mean them.
pub const SUMMARY: [(&str, Unit, &[&str]); 7] = [
    (
        "registers",
        Unit::Count,
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
    ),
    (
        "spills",
        Unit::Count,
        &[
            "spillcount",
            "spills",
            "spilledvgprs",
            "spilledsgprs",
            "spilledregisters",
            "spillsize",
            "tmuspills",
        ],
    ),
    (
        "occupancy",
        Unit::Count,
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
    ),
    ("instructions", Unit::Instructions, &["instructioncount", "instructions"]),
    ("code", Unit::Bytes, &["binarysize", "codesize", "sizebytes", "programsize", "shadersize"]),
    (
        "scratch",
        Unit::Bytes,
        &[
            "stacksize",
            "localmemorysize",
            "scratchsize",
            "scratchmemorysize",
            "scratchmemusageinbytes",
            "privatememory",
        ],
    ),
    (
        "shared memory",
        Unit::Bytes,
        &[
            "sharedmemorysize",
            "sharedmemory",
            "ldssize",
            "ldssizeperlocalworkgroup",
            "workgroupmemorysize",
            "localsharedsize",
        ],
    ),
];

/// Which column a statistic belongs to.
pub fn recognise(name: &str) -> Option<usize> {
    let plain: String = name.chars().filter(char::is_ascii_alphanumeric).collect();
    let plain = plain.to_ascii_lowercase();
    SUMMARY.iter().position(|s| s.2.contains(&plain.as_str()))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn names_of_drivers_are_recognised_and_mean_one_thing() {
        let named = |n| recognise(n).map(|c| SUMMARY[c].0);
        assert_eq!(named("Register Count"), Some("registers"));
        assert_eq!(named("Spilled VGPRs"), Some("spills"));
        assert_eq!(named("numUsedVgprs"), Some("registers"));
        assert_eq!(named("Subgroups per SIMD"), Some("occupancy"));
        assert_eq!(named("Instruction Count"), Some("instructions"));
        assert_eq!(named("Stack Size"), Some("scratch"));
        assert_eq!(named("Latency"), None);
        let all: Vec<&str> = SUMMARY.iter().flat_map(|s| s.2).copied().collect();
        for (n, name) in all.iter().enumerate() {
            assert!(!all[..n].contains(name), "{name} twice");
            assert!(name.chars().all(|c| c.is_ascii_lowercase() || c.is_ascii_digit()), "{name}");
        }
    }
}
