//! What `profile --geometry` reads back: the acceleration structures that launches trace rays through, as the application
//! built them: instances, boxes, triangles.

use crate::Table;
use crate::table::{Column, Kind, count, text};

/// A number's column.
const fn number(name: &'static str, unit: &'static str, about: &'static str) -> Column {
    Column { name, kind: Kind::F64, unit, about, since: 1 }
}

const BOTTOM: &str = "units of the bottom level";
const ELEMENT: &str = "of the transform from the bottom level to the world, row by row";

/// Acceleration structures.
pub static STRUCTURES: Table = Table {
    name: "structures",
    about: "an acceleration structure as one build left it; one that is built again is another row",
    version: 1,
    columns: &[
        count("structure", "number", "its number, from 0"),
        count("id", "id", "the capture's id; of a copy, that of what was built and copied"),
        text("kind", "top or bottom"),
        text("built", "build, update or snapshot (as the capture's snapshot says that it was built)"),
        count("flags", "VkBuildAccelerationStructureFlagsKHR", "of the build"),
        count("command", "number", "the capture's number of the build's call; 0 for snapshots"),
        count("geometries", "geometries", "a row of `geometries` each; 0 for top levels"),
        count("primitives", "primitives", "of all its geometries, or instances"),
        text("missing", "what of it is not in these tables, in words; empty where all is"),
    ],
};

/// Geometries of bottom levels.
pub static GEOMETRIES: Table = Table {
    name: "geometries",
    about: "a geometry of a bottom level",
    version: 1,
    columns: &[
        count("structure", "number", "a row of `structures`"),
        count("geometry", "index", "which of its geometries"),
        text("kind", "triangles or boxes; other: of no kind that these tables hold"),
        count(
            "opaque",
            "0 or 1",
            "whether the geometry is opaque: no any-hit shaders, unless instances or rays say otherwise",
        ),
        count(
            "no_duplicates",
            "0 or 1",
            "whether any-hit shaders may be entered no more than once for a primitive",
        ),
        count("primitives", "primitives", "how many it was built of, inactive ones included"),
    ],
};

/// Instances of top levels.
pub static INSTANCES: Table = Table {
    name: "instances",
    about: "an instance of a top level",
    version: 1,
    columns: &[
        count("structure", "number", "a row of `structures`"),
        count("instance", "index", "InstanceId: which of the top level's instances"),
        count("custom_index", "number", "InstanceCustomIndex"),
        count("mask", "bits", "rays whose cull mask has none of them pass it by"),
        count("sbt_offset", "records", "instanceShaderBindingTableRecordOffset"),
        count(
            "flags",
            "VkGeometryInstanceFlagsKHR",
            "1 no culling by facing, 2 facing flipped, 4 opaque, 8 not opaque",
        ),
        count(
            "bottom",
            "number",
            "the bottom level, a row of `structures`; 4294967295 where it is inactive or what it refers to is not known",
        ),
        count(
            "reference",
            "address",
            "what the capture refers to its bottom level by; 0 where it is inactive",
        ),
        number("m00", "ratio", ELEMENT),
        number("m01", "ratio", ELEMENT),
        number("m02", "ratio", ELEMENT),
        number("m03", "world", ELEMENT),
        number("m10", "ratio", ELEMENT),
        number("m11", "ratio", ELEMENT),
        number("m12", "ratio", ELEMENT),
        number("m13", "world", ELEMENT),
        number("m20", "ratio", ELEMENT),
        number("m21", "ratio", ELEMENT),
        number("m22", "ratio", ELEMENT),
        number("m23", "world", ELEMENT),
    ],
};

/// Boxes of bottom levels.
pub static BOXES: Table = Table {
    name: "boxes",
    about: "an active box of a bottom level",
    version: 1,
    columns: &[
        count("structure", "number", "a row of `structures`"),
        count("geometry", "index", "which of its geometries"),
        count("primitive", "index", "PrimitiveId: which of the geometry's boxes"),
        number("low_x", BOTTOM, "the least x"),
        number("low_y", BOTTOM, "the least y"),
        number("low_z", BOTTOM, "the least z"),
        number("high_x", BOTTOM, "the greatest x"),
        number("high_y", BOTTOM, "the greatest y"),
        number("high_z", BOTTOM, "the greatest z"),
    ],
};

/// Triangles of bottom levels.
pub static TRIANGLES: Table = Table {
    name: "triangles",
    about: "an active triangle of a bottom level, the geometry's own transform applied",
    version: 1,
    columns: &[
        count("structure", "number", "a row of `structures`"),
        count("geometry", "index", "which of its geometries"),
        count("primitive", "index", "PrimitiveId: which of the geometry's triangles"),
        number("a_x", BOTTOM, "the first corner"),
        number("a_y", BOTTOM, "the first corner"),
        number("a_z", BOTTOM, "the first corner"),
        number("b_x", BOTTOM, "the second corner"),
        number("b_y", BOTTOM, "the second corner"),
        number("b_z", BOTTOM, "the second corner"),
        number("c_x", BOTTOM, "the third corner"),
        number("c_y", BOTTOM, "the third corner"),
        number("c_z", BOTTOM, "the third corner"),
    ],
};

/// What there was when rays were traced.
pub static LAUNCH_STRUCTURES: Table = Table {
    name: "launch_structures",
    about: "a top level that was there when a command traced rays",
    version: 1,
    columns: &[
        count("frame", "number", "the capture's number of the frame"),
        count(
            "command",
            "number",
            "the capture's number of the command's call; 0: the frame's end, in a frame without such commands",
        ),
        count("run", "index", "which of its executions in the frame, from 0"),
        count("structure", "number", "the top level, a row of `structures`"),
    ],
};
