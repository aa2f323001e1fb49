//! The rewrite on an assembly and on every module there is; decoding by hand-made counters.

use super::*;
use crate::rewrite::Device;
use crate::testing::{entry, everywhere, frame, function_text, glsl, of_text, rewritten, rows};
use trace::Memory;

fn make(options: &str) -> Box<dyn crate::Pass> {
    Box::new(Pass::new(&crate::passes::options(options)).expect("it knows them"))
}

#[test]
fn every_module_is_rewritten_validly() {
    for options in ["", "sites=all", "sites=all:skip=static"] {
        let variants = everywhere(&|| make(options));
        assert!(variants.is_empty() || variants.len() > 40, "{}", variants.len());
    }
}

#[test]
fn golden() {
    let Some(v) = of_text(make(""), crate::testing::BRANCH) else { return };
    let text = function_text(&v.words, "main").expect("it has one");
    let path = concat!(env!("CARGO_MANIFEST_DIR"), "/src/passes/uniformity/after.spvasm");
    assert_eq!(text, std::fs::read_to_string(path).unwrap_or_default(), "{text}");
}

const SHADER: &str = "#version 450
    layout(local_size_x = 64) in;
    layout(binding = 0) uniform Block { uint n; float t[4]; mat4 a; } block;
    layout(binding = 1) uniform sampler2D images[2];
    layout(binding = 2) buffer Out { vec4 o[]; };
    void main() {
        vec4 v = vec4(0);
        for (uint i = 0; i < block.n; ++i) {
            if ((gl_LocalInvocationIndex & 1u) == i)
                v += block.a[i] * block.t[gl_LocalInvocationIndex & 3u];
        }
        o[gl_LocalInvocationIndex] = v + textureLod(images[block.n], v.xy, 0.0);
    }";

#[test]
fn sites_say_what_they_are_about() {
    let Some(w) = glsl("comp", SHADER, &["--target-env", "vulkan1.2"]) else { return };
    let v = &rewritten("SHADER", &w, "vulkan1.2", &[make("")], Device::default())[0];
    let said: Vec<String> = v.regions[0]
        .sites
        .iter()
        .map(|s| {
            let text = text_of(&s.data[1..]).replace('\n', " | ");
            format!("{} {} {text}", KINDS[s.kind as usize], s.data[0])
        })
        .collect();
    let expected = [
        "address 1 uniform | the address is constant | block.n",
        "value 1 uniform |  | block.n",
        "branch 1 control |  | BranchConditional",
        "branch 0 control |  | BranchConditional",
        "address 1 uniform |  | block.a[?]",
        "value 1 uniform |  | block.a[?]",
        "address 0 uniform |  | block.t[?]",
        "value 0 uniform |  | block.t[?]",
        "address 1 uniform | the address is constant | block.n",
        "value 1 uniform |  | block.n",
        "address 1 handle |  | images[?]",
        "address 0 texture |  | ImageSampleExplicitLod images[?]",
        "value 0 texture |  | ImageSampleExplicitLod images[?]",
    ];
    assert_eq!(said, expected);
    let skip = &rewritten("SHADER", &w, "vulkan1.2", &[make("skip=static")], Device::default())[0];
    let measured =
        |v: &crate::rewrite::Variant| v.regions[0].sites.iter().filter(|s| s.counter.is_some()).count();
    assert_eq!((measured(v), measured(skip)), (11, 5));
    assert_eq!(skip.counters, 15);
}

#[test]
fn decoding() {
    let Some(w) = glsl("comp", SHADER, &["--target-env", "vulkan1.2"]) else { return };
    let v = &rewritten("SHADER", &w, "vulkan1.2", &[make("")], Device::default())[0];
    let mut counters = vec![0; v.counters as usize];
    // The fourth site (the divergent branch) is the third that is measured.
    counters[6..9].copy_from_slice(&[10, 4, 30]);
    let (pass, mut out) = (Pass::default(), Memory::default());
    for _ in 0..2 {
        crate::Pass::decode(&pass, &frame(8, vec![entry(v, &counters)], vec![]), &mut out)
            .expect("it is readable");
    }
    assert_eq!(rows(&out, &trace::tables::UNIFORMITY), [[2, 3, 3, 10, 4, 30]; 2]);
    let sites = rows(&out, &trace::tables::UNIFORMITY_SITES);
    assert_eq!(sites.len(), 13, "said once");
    assert_eq!(sites[3][..4], [3, 3, 0, sites[3][3]]);
}

#[test]
fn options_that_are_not_known_are_refused() {
    let e = Pass::new(&crate::passes::options("skip=all")).err().expect("it is not known");
    assert!(e.contains("skip=static") && e.contains("\"skip=all\""), "{e}");
}
