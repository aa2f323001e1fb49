//! Tests.

use super::*;
use crate::testing::glsl;

/// Reflects a shader of one entry point.
fn of(stage: &str, source: &str, constants: &Specialization) -> Option<Reflection> {
    let words = glsl(stage, source, &["--target-env", "vulkan1.2"])?;
    let stage = crate::rewrite::entries(&words)[0].2;
    Some(reflect(&words, stage, "main", constants).expect("it is a module"))
}

/// Members as text, a line each: name, type, offset, bytes, strides, what is done.
fn members(b: &Block) -> Vec<String> {
    let strides = |m: &Member| m.arrays.iter().map(|a| a.0.to_string()).collect::<Vec<_>>().join("/");
    let line = |m: &Member| {
        let mut line = format!("{} {} @{} {}", m.name, m.full_type(), m.offset, m.bytes);
        if !m.arrays.is_empty() {
            line += &format!(" by {}", strides(m));
        }
        if m.matrix_stride > 0 {
            line += &format!(" matrix {}{}", m.matrix_stride, if m.row_major { " rows" } else { "" });
        }
        line + if m.read { " read" } else { "" } + if m.written { " written" } else { "" }
    };
    b.members.iter().map(line).collect()
}

#[test]
fn a_block_is_taken_apart() {
    let source = "#version 460
        struct Bone { mat4x3 turn; float weights[3]; };
        layout(constant_id = 7) const int SIZE = 3;
        layout(set = 1, binding = 4, std140) uniform Block {
            float time; vec3 sun; uvec2 sizes[2]; Bone bones[10]; float grid[2][3]; bool on; float table[SIZE];
            layout(row_major) mat3x4 other[2];
        } b;
        layout(location = 0) out vec4 o;
        void main() { o = vec4(b.sun.y + b.bones[3].weights[1] + b.sizes[1].x + b.table[0] + b.other[1][1][2]); }";
    let Some(r) = of("frag", source, &Specialization(vec![(7, 9)])) else { return };
    assert_eq!(r.slots.len(), 1);
    let slot = &r.slots[0];
    assert_eq!((slot.set, slot.binding, &slot.name[..], slot.used), (1, 4, "b", true));
    assert_eq!((slot.count, slot.access.text(), slot.elements.text()), (Some(1), "read", "0".to_owned()));
    let block = &slot.blocks[0];
    let wanted = [
        "time float @0 4",
        "sun vec3 @16 12 read",
        "sizes uvec2[2] @32 24 by 16 read",
        "bones[].turn mat4x3[10] @64 1068 by 112 matrix 16",
        "bones[].weights float[10][3] @128 1044 by 112/16 read",
        "grid float[2][3] @1184 84 by 48/16",
        "on uint @1280 4",
        "table float[9] @1296 132 by 16 read",
        "other mat3x4[2] @1440 124 by 64 matrix 16 rows read",
    ];
    assert_eq!(members(block), wanted);
    assert_eq!(block.bytes, 1564);
    // (the third row of the second matrix, its second column)
    let other = 1440 + 64 + 2 * 16 + 4;
    assert_eq!(block.read, [(20, 24), (48, 52), (480, 484), (1296, 1300), (other, other + 4)]);
}
