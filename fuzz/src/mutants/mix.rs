//! What mutants are made of: the one table of classes, of ways to replay, and of seeds that are chosen rarely.

/// What is done to a capture.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub enum Class {
    /// A pointer is set to null; what counts its elements stays.
    Null,
    /// An array gets longer or shorter, and its count says so.
    Length,
    /// An array gets longer or shorter, or its count another value: they disagree.
    Count,
    /// A number becomes 0, 1, the largest, its neighbour, or another.
    Value,
    /// An enum becomes a neighbour or unknown; bits are set and cleared.
    Enum,
    /// A handle becomes another of the capture's ids, null, or one that was never made.
    Handle,
    /// A string is emptied, or its characters change.
    Text,
    /// A pNext chain is dropped, or a struct in it is doubled.
    Chain,
    /// Blocks are dropped, doubled, moved or swapped.
    Order,
    /// A field of a metadata block changes, or such a block is put there.
    Meta,
    /// Words of a SPIR-V module change.
    Spirv,
    /// The file ends early.
    Cut,
    /// A block's bytes are flipped, its header's too.
    Bytes,
    /// Two to four of the above.
    Several,
}

impl Class {
    /// Its name in tables.
    pub fn name(self) -> &'static str {
        const NAMES: [&str; 14] = [
            "null", "length", "count", "value", "enum", "handle", "text", "chain", "order", "meta", "spirv",
            "cut", "bytes", "several",
        ];
        NAMES[self as usize]
    }
}

/// Shares of the classes.
pub const CLASSES: [(Class, u32); 14] = [
    (Class::Null, 14),
    (Class::Length, 9),
    (Class::Count, 12),
    (Class::Value, 15),
    (Class::Enum, 8),
    (Class::Handle, 12),
    (Class::Text, 2),
    (Class::Chain, 5),
    (Class::Order, 9),
    (Class::Meta, 7),
    (Class::Spirv, 7),
    (Class::Cut, 1),
    (Class::Bytes, 3),
    (Class::Several, 6),
];

/// How a mutant is replayed.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub enum Way {
    /// As it is.
    Plain,
    /// Past what differs from the capture.
    KeepGoing,
    /// One frame again and again.
    Loop,
    /// With addresses translated.
    Translate,
    /// With memory of each resource's own.
    Rebind,
    /// With probes in its shaders.
    Profile,
    /// With every command timed.
    Times,
}

impl Way {
    /// Its name in tables.
    pub fn name(self) -> &'static str {
        ["plain", "keep-going", "loop", "translate", "rebind", "profile", "times"][self as usize]
    }
    /// It may be told to measure only some frames.
    pub fn takes_frames(self) -> bool {
        self != Way::Loop
    }
    /// The program's arguments; `{file}` and `{trace}` stand for paths, `{frame}` for a frame's number.
    pub fn arguments(self) -> &'static [&'static str] {
        match self {
            Way::Plain => &["{file}"],
            Way::KeepGoing => &["{file}", "--keep-going"],
            Way::Loop => &["{file}", "--loop-frame", "{frame}", "--iterations", "2", "--warmup", "1"],
            Way::Translate => &["{file}", "--addresses", "translate"],
            Way::Rebind => &["{file}", "--memory", "rebind"],
            Way::Profile => &[
                "profile",
                "{file}",
                "--passes",
                "simt",
                "--assume-subgroups",
                "--no-cache",
                "--log-bytes",
                "4194304",
                "-o",
                "{trace}",
            ],
            Way::Times => &["{file}", "--times", "command"],
        }
    }
}

/// Shares of the ways.
pub const WAYS: [(Way, u32); 7] = [
    (Way::Plain, 54),
    (Way::KeepGoing, 16),
    (Way::Loop, 8),
    (Way::Translate, 6),
    (Way::Rebind, 6),
    (Way::Profile, 6),
    (Way::Times, 4),
];

/// How often a capture is chosen that is not named below.
pub const USUAL: u32 = 16;

/// Captures that are chosen less often, since they take long or do not get far on a software device.
pub const RARE: [(&str, u32); 20] = [
    ("cubes.gfxr", 2),
    ("cubes_zlib.gfxr", 2),
    ("cubes_zstd.gfxr", 2),
    ("rays.gfxr", 4),
    ("recursion.gfxr", 4),
    ("rays_frames_4_5.gfxr", 6),
    ("builds.gfxr", 8),
    ("uniforms.gfxr", 8),
    ("sapien_rt_h200.gfxr", 2),
    ("sapien_rt_llvmpipe.gfxr", 5),
    ("sapien_rt_llvmpipe_105.gfxr", 5),
    ("rtiv_320.gfxr", 1),
    ("warzone_frames_1_6.gfxr", 2),
    // Refused before the first frame: what is asked of the device is not there.
    ("acquired-image.gfxr", 1),
    ("ahb.gfxr", 1),
    ("android_triangle_2025-06.gfxr", 1),
    ("deep-pnext-chain.gfxr", 1),
    ("multisample-depth.gfxr", 1),
    ("pipeline-binaries.gfxr", 1),
    ("wait-for-present_frame_2.gfxr", 1),
];

/// Captures of which only the first frames are replayed (their mutants are made of all blocks).
pub const FIRST_FRAMES: [(&str, &str); 2] = [("sapien_rt_h200.gfxr", "1-2"), ("rtiv_320.gfxr", "1-2")];

/// Folders whose captures are damaged already.
pub const LEFT_OUT: [&str; 1] = ["hostile"];
