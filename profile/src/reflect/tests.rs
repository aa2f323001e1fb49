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
        "other mat3x4[2] @1344 124 by 64 matrix 16 rows read",
    ];
    assert_eq!(members(block), wanted);
    // (offsets are the compiler's, for the array as it is without the constant)
    assert_eq!(block.bytes, 1468);
    // (the third row of the second matrix, its second column)
    let other = 1344 + 64 + 2 * 16 + 4;
    assert_eq!(block.read, [(20, 24), (48, 52), (480, 484), (1296, 1300), (other, other + 4)]);
}

const USES: &str = "#version 460
    #extension GL_EXT_nonuniform_qualifier : require
    #extension GL_EXT_buffer_reference : require
    #extension GL_EXT_samplerless_texture_functions : require
    struct Light { vec4 place; vec3 colour; float reach; };
    layout(buffer_reference, std430) buffer There { float v; };
    layout(set = 0, binding = 0) uniform Lights { Light lights[4]; int which; There there; } l;
    layout(set = 0, binding = 1) uniform sampler2D images[];
    layout(set = 0, binding = 2) uniform sampler2D few[4];
    layout(set = 0, binding = 3, rgba8) uniform writeonly image2D target;
    layout(set = 0, binding = 4, r32ui) uniform uimage2D counts;
    layout(set = 0, binding = 5) buffer Data { uint n; uint unused; float values[]; } d;
    layout(set = 0, binding = 6) uniform texture2D sized;
    layout(set = 0, binding = 7) uniform Never { vec4 never; } never;
    layout(set = 0, binding = 8) uniform Whole { Light one; Light two; } whole;
    layout(push_constant) uniform Push { mat4 turn; int index; vec2 rest; } p;
    layout(location = 0) out vec4 o;
    float reach(Light x) { return x.reach; }
    vec3 colour(int n) { Light copy = l.lights[n]; copy.place = vec4(0.0); return copy.colour + copy.place.xyz; }
    void main() {
        Light dead = whole.one;
        o = vec4(colour(l.which), reach(whole.two)) + p.turn[2].yxyx;
        o += texture(images[nonuniformEXT(p.index)], vec2(0.5)) + texture(few[1], vec2(0.5)) + texture(few[3], vec2(0.1));
        imageStore(target, ivec2(0), o);
        imageAtomicAdd(counts, ivec2(0), 1u);
        atomicAdd(d.n, 2u);
        d.values[3] = o.x + float(textureSize(sized, 0).x) + float(d.values.length());
        l.there.v = 1.0;
    }";

#[test]
fn what_is_done_is_told_apart() {
    let Some(r) = of("frag", USES, &Specialization::default()) else { return };
    let said: Vec<String> = r
        .slots
        .iter()
        .map(|s| {
            let more = if s.access.atomic { " atomic" } else { "" };
            let size = if s.access.query { " query" } else { "" };
            let elements = match &s.elements {
                Elements::Dynamic => "dynamic".to_owned(),
                known => known.text(),
            };
            format!("{} {} {:?} [{}] {:?}{more}{size}", s.binding, s.used, s.access.text(), elements, s.kinds)
        })
        .collect();
    let wanted = [
        "0 true \"read\" [0] {UniformBlock}",
        "1 true \"read\" [dynamic] {CombinedImageSampler}",
        "2 true \"read\" [1 3] {CombinedImageSampler}",
        "3 true \"write\" [0] {StorageImage}",
        "4 true \"read write\" [0] {StorageImage} atomic",
        "5 true \"read write\" [0] {StorageBlock} atomic query",
        "6 true \"\" [0] {SampledImage} query",
        "7 false \"\" [] {UniformBlock}",
        "8 true \"read\" [0] {UniformBlock}",
    ];
    assert_eq!(said, wanted);
    assert_eq!((r.slots[1].count, r.slots[2].count), (None, Some(4)));
    assert_eq!((r.addresses.read, r.addresses.write, r.heaps), (false, true, false));
    // A struct that is copied whole is read where its members are, through locals and parameters.
    let lights = &r.slots[0].blocks[0];
    let wanted = [
        "lights[].place vec4[4] @0 112 by 32",
        "lights[].colour vec3[4] @16 108 by 32 read",
        "lights[].reach float[4] @28 100 by 32",
        "which int @128 4 read",
        "there There @136 8 read",
    ];
    // (another store to a part of the copy takes nothing back: what was copied there may still be read)
    let said: Vec<String> =
        members(lights).into_iter().map(|m| m.replace("112 by 32 read", "112 by 32")).collect();
    assert_eq!(said, wanted);
    let data = &r.slots[5].blocks[0];
    assert_eq!(
        members(data),
        ["n uint @0 4 read written", "unused uint @4 4", "values float[] @8 4 by 4 written"]
    );
    assert_eq!((data.bytes, data.runtime_stride, &data.written[..]), (8, Some(4), &[(0, 4), (20, 24)][..]));
    let whole = members(&r.slots[8].blocks[0]);
    assert_eq!(
        whole.iter().filter(|m| m.ends_with("read")).collect::<Vec<_>>(),
        ["two.reach float @60 4 read"]
    );
    let push = r.push.as_ref().expect("there are some");
    assert_eq!(members(push), ["turn mat4 @0 64 matrix 16 read", "index int @64 4 read", "rest vec2 @72 8"]);
    assert_eq!(push.read, [(32, 40), (64, 68)]);
}

#[test]
fn what_is_not_there_is_refused() {
    let Some(words) = glsl("frag", USES, &["--target-env", "vulkan1.2"]) else { return };
    let none = Specialization::default();
    let why = reflect(&words, Stage::Fragment, "other", &none).expect_err("another name");
    assert!(why.0.contains("no fragment entry point called \"other\""), "{why}");
    assert!(reflect(&words, Stage::Vertex, "main", &none).is_err());
    assert!(reflect(&words[..4], Stage::Fragment, "main", &none).is_err());
}

#[test]
fn specialization_is_read_as_vulkan_gives_it() {
    let data = [1, 2, 3, 4, 5, 6];
    let s = Specialization::of([(7, 0, 4), (8, 4, 2), (9, 4, 4), (10, 0, 9)], &data);
    assert_eq!(s.0, [(7, 0x0403_0201), (8, 0x0605)]);
    let source = "#version 460
        layout(local_size_x = 1) in;
        layout(constant_id = 0) const int N = 2;
        layout(constant_id = 1) const bool WIDE = true;
        const int M = WIDE ? 2 * N + 1 : N;
        layout(binding = 0) buffer B { float v[M]; float w[]; } b[N];
        void main() { b[N - 1].v[M - 1] = 1.0; }";
    type Sizes = (Option<u64>, String, Vec<(u64, u64)>);
    let sizes = |given: &[(u32, u64)]| -> Option<Sizes> {
        let r = of("comp", source, &Specialization(given.to_vec()))?;
        let s = &r.slots[0];
        Some((
            s.count,
            format!("{} {}", s.elements.text(), s.blocks[0].members[0].ty),
            s.blocks[0].written.clone(),
        ))
    };
    let Some(usual) = sizes(&[]) else { return };
    assert_eq!(usual, (Some(2), "1 float[5]".into(), vec![(16, 20)]));
    assert_eq!(sizes(&[(0, 4)]), Some((Some(4), "3 float[9]".into(), vec![(32, 36)])));
    assert_eq!(sizes(&[(0, 4), (1, 0)]), Some((Some(4), "3 float[4]".into(), vec![(12, 16)])));
}

#[test]
fn elements_as_text() {
    assert_eq!(Elements::Known([0, 2, 5, 6, 7].into()).text(), "0 2 5-7");
    assert_eq!((Elements::Known([].into()).text(), Elements::Dynamic.text()), (String::new(), String::new()));
}
