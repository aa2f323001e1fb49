//! Each rule, on shaders that say themselves what is to come out: what is given to `U` is uniform, what is given to `D`
//! is not called so. As a compiler leaves it (everything in variables) and optimised (everything in OpPhi); optimised
//! modules are only asked for `U`, since an optimiser may find out more. Last, every module of the scenes and the corpus.

use super::Uniformity;
use crate::spirv::{Module, Op, Operand};
use crate::testing::{assembled, bytes, glsl, scenes, tool, words};

const HEAD: &str = "#version 460
    #extension GL_KHR_shader_subgroup_arithmetic : require
    #extension GL_KHR_shader_subgroup_ballot : require
    #extension GL_KHR_shader_subgroup_vote : require
    #extension GL_KHR_shader_subgroup_shuffle : require
    #extension GL_KHR_shader_subgroup_clustered : require
    #extension GL_EXT_nonuniform_qualifier : require
    layout(local_size_x = 64) in;
    layout(binding = 0) buffer MustU { uint must_u[]; };
    layout(binding = 1) buffer MustD { uint must_d[]; };
    layout(binding = 2) uniform Block { uint n; uint m; float f; vec4 v; mat4 a; uint t[16]; } block;
    layout(binding = 3) readonly buffer Read { uint r[]; };
    layout(binding = 4) buffer Written { uint w[]; };
    layout(binding = 5) uniform sampler2D image;
    layout(binding = 6) uniform sampler2D images[4];
    layout(binding = 7, r32ui) uniform uimage2D storage;
    layout(binding = 8, r32ui) uniform readonly uimage2D readable;
    layout(push_constant) uniform Push { uint p; vec2 q[4]; };
    layout(constant_id = 0) const uint spec = 3;
    shared uint common_memory[64];
    #define me gl_LocalInvocationIndex
    #define U(e) must_u[me] = uint(e)
    #define D(e) must_d[me] = uint(e)
    ";

/// What is wrong with a module whose stores say what is to come out, and how many stores there were.
fn asked(w: &[u32], both: bool) -> (usize, Vec<String>) {
    let m = Module::read(w).expect("a module");
    let entry = m.entries()[0].clone();
    let u = Uniformity::of(&m, &entry).expect("it is well formed");
    let named = |what: &str| {
        let is = |n: &&crate::spirv::Inst| match &n.inst.operands[..] {
            [Operand::IdRef(_), Operand::LiteralString(s)] => s == what,
            _ => false,
        };
        let ty = m.names.iter().find(is).and_then(|n| n.id_at(0))?;
        // The variable of a pointer to this struct.
        let pointers: Vec<u32> = m
            .globals
            .iter()
            .filter(|g| g.op() == Op::TypePointer && g.id_at(1) == Some(ty))
            .filter_map(|g| g.id())
            .collect();
        let v = m
            .globals
            .iter()
            .find(|g| g.op() == Op::Variable && pointers.contains(&g.inst.result_type.unwrap_or(0)));
        v.and_then(|v| v.id())
    };
    let (must_u, must_d) = (named("MustU"), named("MustD"));
    let (mut seen, mut wrong) = (0, vec![]);
    for f in m.reachable(entry.function) {
        let chains: std::collections::HashMap<u32, u32> = m.functions[f]
            .insts()
            .filter(|i| matches!(i.op(), Op::AccessChain | Op::InBoundsAccessChain))
            .filter_map(|i| Some((i.id()?, i.id_at(0)?)))
            .collect();
        for (b, block) in m.functions[f].blocks.iter().enumerate() {
            for i in block.body.iter().filter(|i| i.op() == Op::Store) {
                let Some(&to) = chains.get(&i.id_at(0).unwrap_or(0)) else { continue };
                let is = u.is_uniform(i.id_at(1).expect("a value"), f, b);
                seen += usize::from(Some(to) == must_u || Some(to) == must_d);
                if Some(to) == must_u && !is || both && Some(to) == must_d && is {
                    wrong.push(format!(
                        "%{} in block %{} of %{}",
                        i.id_at(1).unwrap_or(0),
                        block.label,
                        m.functions[f].id()
                    ));
                }
            }
        }
    }
    (seen, wrong)
}

/// Compiles a main (and what stands before it), and asks.
fn ask(before: &str, main: &str) {
    let source = format!("{HEAD}\n{before}\nvoid main() {{ {main} }}");
    let env = ["--target-env", "vulkan1.2"];
    let Some(w) = glsl("comp", &source, &env) else { return };
    check(&w, &source);
}

fn check(w: &[u32], source: &str) {
    let (seen, wrong) = asked(w, true);
    assert!(
        seen > 0 && wrong.is_empty(),
        "{source}\n{wrong:?}\n{}",
        crate::testing::disassembled(w).unwrap_or_default()
    );
    let at = crate::testing::tempfile();
    std::fs::write(&at.0, bytes(w)).expect("a temporary file");
    let path = at.0.to_str().expect("it is text");
    let passes = [
        "--inline-entry-points-exhaustive",
        "--eliminate-local-single-block",
        "--ssa-rewrite",
        "--target-env=vulkan1.2",
    ];
    let to = crate::testing::tempfile();
    let args: Vec<&str> =
        passes.iter().copied().chain([path, "-o", to.0.to_str().expect("it is text")]).collect();
    let Some(made) = tool("spirv-opt", &args, &[]) else { return };
    made.expect("it takes what is valid");
    let w = words(&std::fs::read(&to.0).expect("it was written"));
    let (_, wrong) = asked(&w, false);
    if !wrong.is_empty() {
        panic!("{source}\noptimised: {wrong:?}\n{}", crate::testing::disassembled(&w).unwrap_or_default());
    }
}

#[test]
fn data_dependence() {
    ask(
        "",
        "U(block.n + spec * 2u); U(block.v.x * block.f); D(me); D(me * 0u); D(block.n + me); U(block.n == 3u ? 1 : 2);",
    );
    ask(
        "",
        "U(dot(block.v, block.v)); U((block.a * block.v).y); D((block.a * vec4(me)).y); U(floatBitsToUint(block.f) >> 3);",
    );
    ask(
        "",
        "U(sin(block.f) + max(block.f, 2.0)); D(sin(float(me))); U(bitfieldExtract(block.n, 3, 4)); U(packHalf2x16(block.v.xy));",
    );
    ask(
        "",
        "vec4 x = vec4(block.f, 1, 2, 3); U(x.x); U(x.zyx.y); vec4 y = vec4(float(me), 1, 2, 3); D(y.x);",
    );
}

#[test]
fn loads_at_uniform_addresses() {
    ask(
        "",
        "U(block.t[block.n]); D(block.t[me]); U(p); U(q[block.n].x); D(q[me & 3].x); U(r[block.m]); D(r[me]);",
    );
    ask("", "D(w[0]); U(r.length()); common_memory[me] = 1u; D(common_memory[0]);");
    // Without a store to storage it would be another matter; here there are U and D.
    ask("", "D(atomicAdd(w[0], 1u)); D(imageAtomicAdd(storage, ivec2(0), 1u));");
}

#[test]
fn images() {
    ask(
        "",
        "U(textureLod(image, block.v.xy, 0.0).x); D(textureLod(image, vec2(me), 0.0).x); U(texelFetch(image, ivec2(block.n), 0).x);",
    );
    ask(
        "",
        "U(texelFetch(images[block.n], ivec2(1), 0).x); D(texelFetch(images[nonuniformEXT(me & 3)], ivec2(1), 0).x); U(textureSize(image, 0).x);",
    );
    ask(
        "",
        "U(imageLoad(readable, ivec2(1)).x); D(imageLoad(readable, ivec2(me)).x); D(imageLoad(storage, ivec2(1)).x); imageStore(storage, ivec2(0), uvec4(1)); ",
    );
}

#[test]
fn built_ins_of_compute() {
    ask(
        "",
        "U(gl_WorkGroupID.x); U(gl_NumWorkGroups.y); U(gl_WorkGroupSize.x); U(gl_SubgroupSize); U(gl_SubgroupID); U(gl_NumSubgroups);",
    );
    ask(
        "",
        "D(gl_LocalInvocationID.x); D(gl_GlobalInvocationID.y); D(gl_SubgroupInvocationID); D(gl_SubgroupEqMask.x);",
    );
}

#[test]
fn subgroup_operations() {
    ask(
        "",
        "U(subgroupBroadcastFirst(me)); U(subgroupBroadcast(me, 2)); U(subgroupBallot(me > 3).x); U(subgroupAdd(me)); U(subgroupMin(me)); D(subgroupInclusiveAdd(me)); D(subgroupExclusiveMax(me));",
    );
    ask(
        "",
        "U(subgroupAny(me > 2)); U(subgroupAll(me > 2)); U(subgroupAllEqual(me)); D(subgroupElect()); D(subgroupShuffle(me, 1)); D(subgroupClusteredAdd(me, 4));",
    );
    ask(
        "",
        "uvec4 b = subgroupBallot(me > 1); U(subgroupBallotBitCount(b)); U(subgroupBallotFindLSB(b)); D(subgroupBallotInclusiveBitCount(b)); D(subgroupInverseBallot(b)); U(subgroupBallotBitExtract(b, block.n)); D(subgroupBallotBitExtract(b, me));",
    );
}

#[test]
fn where_ways_meet() {
    ask("", "uint x = 1u; if (me > 3u) x = 2u; D(x);");
    ask("", "uint x = 1u; if (block.n > 3u) x = 2u; U(x);");
    ask("", "uint x = 1u; if (me > 3u) { x = 2u; U(x); x = 1u; } D(x);");
    ask("", "uint x; if (me > 3u) { x = block.n; U(x); } else { x = block.m; U(x); } D(x); x = 7u; U(x);");
    ask("", "uint x = block.n; if (me > 3u) { if (block.n > 2u) x = 5u; else x = 6u; U(x); } D(x);");
    ask(
        "",
        "uint x = 0u; switch (block.n) { case 0u: x = 1u; break; case 1u: x = 2u; case 2u: x += 3u; break; default: x = 9u; } U(x);",
    );
    ask(
        "",
        "uint x = 0u; switch (me) { case 0u: x = 1u; break; case 1u: x = 2u; case 2u: x += 3u; break; default: x = 9u; } D(x); U(block.n);",
    );
    ask("", "bool b = me > 3u && block.n > 2u; D(b); bool c = block.m > 3u || block.n > 2u; U(c);");
    // Beside a divergent branch, and after it, uniform control flow is uniform.
    ask("", "uint x = 0u; if (me > 3u) must_d[0] = me; if (block.n > 1u) x = 1u; U(x);");
}

#[test]
fn lanes_that_are_gone_do_not_matter() {
    ask("", "uint x = 1u; if (me > 9u) return; x = block.n; U(x);");
    ask("", "uint x = 1u; for (uint i = 0u; i < block.n; ++i) { if (me == i) return; x += i; } U(x);");
}

#[test]
fn loops() {
    ask("", "uint s = 0u; for (uint i = 0u; i < block.n; ++i) { s += i; U(i); U(s); } U(s);");
    // Divergent trip count: in an iteration all are alike, behind the loop not.
    ask("", "uint s = 0u; for (uint i = 0u; i < me; ++i) { s += i; U(i); U(s); } D(s);");
    ask("", "uint s = 0u; for (uint i = 0u; i < block.n; ++i) { if (me == i) break; s += 2u; U(s); } D(s);");
    ask(
        "",
        "uint s = 0u; uint i = 0u; for (; i < block.n; ++i) { if (me == i) continue; s += 2u; } D(s); U(i);",
    );
    // Skipping an iteration before the loop's only exit parts lanes as well.
    ask("", "uint i = 0u; while (true) { ++i; if (me == i) continue; if (i > block.n) break; } D(i);");
    ask(
        "",
        "uint i = 0u; while (true) { ++i; if (me == i) { must_d[me] = me; } if (i > block.n) break; } U(i);",
    );
    ask(
        "",
        "uint s = 0u; for (uint i = 0u; i < block.n; ++i) { for (uint j = 0u; j < me; ++j) { s += j; U(j); D(s); } U(i); } D(s);",
    );
    ask(
        "",
        "uint t = 0u; for (uint i = 0u; i < block.n; ++i) { uint s = 0u; for (uint j = 0u; j < i; ++j) { s += j; U(s); } t += s; } U(t);",
    );
    // Two exits in one loop: by which one is left says when.
    ask(
        "",
        "uint x = 0u; for (uint i = 0u; ; ++i) { if (i == block.n) { x = 1u; break; } if (i == me) { x = 2u; break; } } D(x);",
    );
    // An exit by a uniform condition is no uniform exit where lanes come to it in different iterations.
    ask(
        "",
        "uint k = 0u; for (uint i = 0u; i < block.n; ++i) { bool stop = false; for (uint j = 0u; j < block.m; ++j) { if (j == me) continue; if (j == 3u) { stop = true; break; } } if (stop) break; k = i; } D(k);",
    );
}

#[test]
fn waterfall() {
    ask(
        "",
        "for (;;) { uint first = subgroupBroadcastFirst(me & 3u); U(first); if (first == (me & 3u)) { U(block.t[first]); D(me); break; } }",
    );
}

#[test]
fn functions() {
    ask("uint f(uint a) { return a * 2u; }", "U(f(block.n)); U(f(p));");
    ask("uint f(uint a) { return a * 2u; }", "D(f(block.n)); D(f(me));");
    ask("uint f(uint a) { if (a > 2u) return 1u; return 2u; }", "U(f(block.n));");
    ask("uint f(uint a) { if (a > 2u) return 1u; return 2u; }", "D(f(me));");
    ask("uint f() { U(block.n); return block.m; } uint g() { return f() + 1u; }", "if (me > 2u) U(g());");
    ask(
        "void f(out uint a, inout uint b, uint c) { a = c; b += 1u; }",
        "uint x, y = block.n; f(x, y, block.m); U(x); U(y);",
    );
    ask(
        "void f(out uint a, inout uint b, uint c) { a = c; b += 1u; }",
        "uint x, y = me; f(x, y, block.m); U(x); D(y);",
    );
    ask("void f(inout uint a) { if (a > 3u) { a = 1u; return; } a = 2u; }", "uint x = me; f(x); D(x);");
    ask("void f(inout uint a) { if (a > 3u) { a = 1u; return; } a = 2u; }", "uint x = block.n; f(x); U(x);");
    ask(
        "uint f(uint a[4], uint i) { return a[i]; }",
        "uint a[4] = uint[4](1u, block.n, 3u, 4u); U(f(a, block.n));",
    );
    ask(
        "uint f(uint a[4], uint i) { return a[i]; }",
        "uint a[4] = uint[4](1u, block.n, 3u, 4u); D(f(a, me));",
    );
}

#[test]
fn memory_of_an_invocation() {
    ask("", "uint x; D(x); x = 1u; U(x);");
    ask(
        "",
        "uint a[4] = uint[4](1u, 2u, 3u, block.n); U(a[block.m]); D(a[me]); a[block.m] = 7u; U(a[1]); a[me] = 7u; D(a[1]);",
    );
    ask(
        "struct S { uint a; uint b; vec2 c; };",
        "S s; s.a = 1u; s.b = me; s.c = block.v.xy; U(s.a); D(s.b); U(s.c.y); D(s.c.x + float(s.b));",
    );
    ask(
        "struct S { uint a; uint b; };",
        "S s = S(block.n, me); S t; t.a = block.n; t.b = p; s = t; U(s.a); U(s.b);",
    );
    ask("", "vec4 c; c.x = block.f; c.y = float(me); c.zw = block.v.xy; U(c.x); D(c.y);");
    ask(
        "",
        "float whole; float part = modf(block.f, whole); U(part); U(whole); part = modf(float(me), whole); D(part); D(whole);",
    );
    ask("uint g; void set(uint v) { g = v; }", "set(block.n); D(g);");
    ask("uint g = 5u; void set(uint v) { g = v; } uint get() { return g; }", "set(block.n); U(get());");
    ask(
        "uint g = 5u; void set(uint v) { g = v; } uint get() { return g; }",
        "if (me > 2u) set(block.n); D(get());",
    );
    ask("uint g = 5u; void set(uint v) { g = v; } uint get() { return g; }", "set(me); D(get());");
    ask("uint g;", "g = block.n; U(g); if (me > 2u) g = 1u; D(g);");
}

const PHI: &str = "
    OpCapability Shader
    OpMemoryModel Logical GLSL450
    OpEntryPoint GLCompute %main \"main\" %index %u %d
    OpExecutionMode %main LocalSize 64 1 1
    OpName %MustU \"MustU\"
    OpName %MustD \"MustD\"
    OpDecorate %index BuiltIn LocalInvocationIndex
    OpDecorate %array ArrayStride 4
    OpDecorate %MustU Block
    OpMemberDecorate %MustU 0 Offset 0
    OpDecorate %u Binding 0
    OpDecorate %u DescriptorSet 0
    OpDecorate %MustD Block
    OpMemberDecorate %MustD 0 Offset 0
    OpDecorate %d Binding 1
    OpDecorate %d DescriptorSet 0
    %void = OpTypeVoid
    %f = OpTypeFunction %void
    %bool = OpTypeBool
    %uint = OpTypeInt 32 0
    %0 = OpConstant %uint 0
    %1 = OpConstant %uint 1
    %2 = OpConstant %uint 2
    %spec = OpSpecConstant %uint 2
    %nothing = OpUndef %uint
    %true = OpConstantTrue %bool
    %array = OpTypeRuntimeArray %uint
    %MustU = OpTypeStruct %array
    %MustD = OpTypeStruct %array
    %pu = OpTypePointer StorageBuffer %MustU
    %pd = OpTypePointer StorageBuffer %MustD
    %pw = OpTypePointer StorageBuffer %uint
    %pi = OpTypePointer Input %uint
    %u = OpVariable %pu StorageBuffer
    %d = OpVariable %pd StorageBuffer
    %index = OpVariable %pi Input
    %main = OpFunction %void None %f
    %entry = OpLabel
    %me = OpLoad %uint %index
    %atu = OpAccessChain %pw %u %0 %0
    %atd = OpAccessChain %pw %d %0 %0
    %odd = OpUGreaterThan %bool %me %spec
    %even = OpUGreaterThan %bool %spec %2
";

/// Ends as HEAD begins: a whole main behind [`PHI`].
fn ask_phi(body: &str) {
    let text = format!("{PHI}{body} OpReturn\n OpFunctionEnd");
    let Some(w) = assembled(&text, "vulkan1.2") else { return };
    check(&w, &text);
}

#[test]
fn phis_and_undefined_values() {
    let diamond = |on: &str, a: &str, b: &str, to: &str| {
        format!(
            "OpSelectionMerge %m None\nOpBranchConditional {on} %a %b\n%a = OpLabel\nOpBranch %m\n%b = OpLabel\nOpBranch %m
             %m = OpLabel\n%x = OpPhi %uint {a} %a {b} %b\nOpStore {to} %x\n"
        )
    };
    ask_phi(&diamond("%odd", "%1", "%2", "%atd"));
    ask_phi(&diamond("%odd", "%1", "%1", "%atu"));
    ask_phi(&diamond("%even", "%1", "%2", "%atu"));
    ask_phi(&diamond("%even", "%1", "%me", "%atd"));
    ask_phi(&diamond("%even", "%1", "%nothing", "%atd"));
    ask_phi("%y = OpIAdd %uint %nothing %1\nOpStore %atd %y\n");
    ask_phi("%y = OpUndef %uint\nOpStore %atd %y\n");
    ask_phi("%y = OpIMul %uint %spec %spec\nOpStore %atu %y\n");
    ask_phi("%y = OpLoad %uint %index Volatile\nOpStore %atd %y\n");
}

/// A value of a loop that is left at different times, seen where it was computed and behind.
#[test]
fn temporal_divergence_of_values() {
    ask_phi(
        "OpBranch %head
        %head = OpLabel
        %i = OpPhi %uint %0 %entry %next %cont
        %twice = OpIMul %uint %i %2
        OpLoopMerge %out %cont None
        OpBranchConditional %true %body %out
        %body = OpLabel
        OpStore %atu %twice
        %gone = OpUGreaterThan %bool %i %me
        OpBranchConditional %gone %out %cont
        %cont = OpLabel
        %next = OpIAdd %uint %i %1
        OpBranch %head
        %out = OpLabel
        OpStore %atd %twice
        ",
    );
}

#[test]
fn a_read_only_shader_reads_storage_uniformly_and_a_volatile_one_does_not() {
    let source = |how: &str| {
        format!(
            "#version 460\nlayout(binding = 0) {how} buffer A {{ uint a[]; }};
             layout(location = 0) flat in uint x; layout(location = 0) out float o;
             void main() {{ if (a[3] > 2u) o = 1.0; else o = 2.0; }}"
        )
    };
    for (how, expected) in [("", true), ("readonly", true), ("volatile", false), ("coherent", false)] {
        let Some(w) = glsl("frag", &source(how), &["--target-env", "vulkan1.2"]) else { return };
        let m = Module::read(&w).expect("a module");
        let u = Uniformity::of(&m, &m.entries()[0]).expect("well formed");
        let f = m.reachable(m.entries()[0].function)[0];
        let on = m.functions[f].blocks[0].end().id_at(0).expect("a condition");
        assert_eq!(u.is_uniform(on, f, 0), expected, "{how}");
    }
}

/// After a call of another shader other invocations may be around.
#[test]
fn rays_may_gather_others() {
    let source = |trace: &str| {
        format!(
            "#version 460\n#extension GL_EXT_ray_tracing : require\n#extension GL_KHR_shader_subgroup_ballot : require
            layout(binding = 0) uniform accelerationStructureEXT s;
            layout(binding = 1) uniform B {{ uint n; }};
            layout(binding = 2) buffer MustU {{ uint must_u[]; }};
            layout(binding = 3) buffer MustD {{ uint must_d[]; }};
            layout(location = 0) rayPayloadEXT vec4 payload;
            void main() {{
                uint first = subgroupBroadcastFirst(gl_LaunchIDEXT.x);
                for (uint i = 0u; i < n; ++i) {{ {trace} }}
                must_u[0] = gl_LaunchSizeEXT.x;
                must_u[0] = n;
                must_d[0] = uint(payload.x);
                must_d[0] = gl_LaunchIDEXT.x;
            }}"
        )
    };
    let call = "traceRayEXT(s, 0, 255, 0, 0, 0, vec3(0), 0.0, vec3(1), 9.0, 0);";
    let with = source(&format!("{call} must_d[0] = i; must_d[0] = first;"));
    let without = source("must_u[0] = i; must_u[0] = first;");
    for text in [with, without] {
        let Some(w) = glsl("rgen", &text, &["--target-env", "vulkan1.2"]) else { return };
        let (seen, wrong) = asked(&w, true);
        assert!(seen == 6 && wrong.is_empty(), "{text}\n{wrong:?}");
    }
}

/// Every module there is: nothing panics, and something is found in each that branches.
#[test]
fn every_scene_is_looked_at() {
    let (mut uniform, mut all) = (0, 0);
    for (path, w) in scenes() {
        let m = Module::read(&w).unwrap_or_else(|e| panic!("{}: {e}", path.display()));
        for entry in m.entries() {
            let u = Uniformity::of(&m, &entry).unwrap_or_else(|e| panic!("{}: {e}", path.display()));
            for f in m.reachable(entry.function) {
                for (b, block) in m.functions[f].blocks.iter().enumerate() {
                    let end = block.end();
                    if matches!(end.op(), Op::BranchConditional | Op::Switch) {
                        all += 1;
                        uniform += usize::from(u.is_uniform(end.id_at(0).expect("a selector"), f, b));
                    }
                }
            }
        }
    }
    assert!(all > 20 && uniform > 0 && uniform < all, "{uniform} of {all} branches");
}
