//! The text assembles to the same words; the source is what the compiler was given.

use super::write;
use crate::ShaderHash;
use crate::testing::{scenes, tool, words};
use trace::tables::{SOURCE_TEXT, SPIRV_TEXT};
use trace::{Memory, Source};

const SHADER: &str = "#version 450
layout(location=0) in vec2 uv;
layout(location=0) out vec4 o;
float shade(float x) {
  float s = -0.5;
  for (int i = -4; i < 4; i++)
    s += sqrt(x) * float(i);
  return s;
}
void main() {
  if (uv.x > 0.5)
    o = vec4(shade(uv.x));
  else
    o = vec4(1e30);
}
";

fn texts(words: &[u32]) -> Memory {
    let mut m = Memory::default();
    write(ShaderHash::of(words), words, &mut m).unwrap();
    m
}

fn compile(flag: &str) -> Option<Vec<u32>> {
    let folder = std::env::temp_dir().join(format!("reray-texts-{}{flag}", std::process::id()));
    std::fs::create_dir_all(&folder).unwrap();
    let (from, to) = (folder.join("sky.frag"), folder.join("sky.spv"));
    std::fs::write(&from, SHADER).unwrap();
    let args = ["-V", flag, from.to_str().unwrap(), "-o", to.to_str().unwrap()];
    let made = tool("glslangValidator", &args, b"").map(|r| {
        r.unwrap();
        words(&std::fs::read(&to).unwrap())
    });
    std::fs::remove_dir_all(&folder).unwrap();
    made
}

/// The instructions behind the header (which says who made it) but those whose strings may be shortened: OpSource,
/// OpSourceContinued, OpString.
fn without_long(words: &[u32]) -> Vec<&[u32]> {
    let (mut at, mut all) = (5, vec![]);
    while at < words.len() {
        let i = &words[at..at + (words[at] >> 16) as usize];
        at += i.len();
        if ![2, 3, 7].contains(&(i[0] & 0xffff)) {
            all.push(i);
        }
    }
    all
}

#[test]
fn the_text_assembles_to_the_module() {
    let mut assembled = 0;
    for (path, module) in scenes() {
        let m = texts(&module);
        let t = m.read(&SPIRV_TEXT).unwrap();
        let lines: Vec<&str> = t.text("text").iter().map(|l| &**l).collect();
        let text = lines.join("\n");
        let target = format!("spv1.{}", (module[1] >> 8) & 0xff);
        let args = ["--preserve-numeric-ids", "--target-env", &target, "-o", "-", "-"];
        let Some(again) = tool("spirv-as", &args, text.as_bytes()) else { return };
        let again = words(&again.unwrap_or_else(|e| panic!("{}: {e}\n{text}", path.display())));
        assert!(without_long(&again) == without_long(&module), "{}", path.display());
        assembled += 1;
        // Every offset is where an instruction begins.
        for (&at, line) in t.u64("word_offset").iter().zip(&lines).filter(|l| *l.0 != 0) {
            let opcode = module[at as usize] & 0xffff;
            assert_eq!(line.contains("OpLabel"), opcode == 248, "{}: word {at}: {line}", path.display());
        }
    }
    assert!(assembled > 15);
}

#[test]
fn sources_are_what_was_compiled() {
    for flag in ["-g", "-gVS"] {
        let Some(module) = compile(flag) else { return };
        let t = texts(&module).read(&SOURCE_TEXT).unwrap();
        let text: Vec<&str> = t.text("text").iter().map(|l| &**l).collect();
        assert_eq!(text, SHADER.lines().collect::<Vec<_>>(), "{flag}");
        assert_eq!(t.u64("line"), (1..=15).collect::<Vec<u64>>(), "{flag}");
        assert!(t.text("file").iter().all(|f| f.ends_with("sky.frag")), "{flag}: {:?}", t.text("file"));
    }
}

#[test]
fn what_is_no_module_is_refused() {
    let mut m = Memory::default();
    assert!(write(ShaderHash([0; 32]), &[1, 2, 3], &mut m).is_err());
    let (_, mut module) = scenes().swap_remove(0);
    // In the middle of the first instruction.
    module.truncate(6);
    assert!(write(ShaderHash([0; 32]), &module, &mut m).is_err());
}

#[test]
fn floats_have_as_few_digits_as_they_need() {
    // (of 32 and of 64 bits: OpTypeFloat and OpConstant of each)
    let [low, high] = [0.1f64.to_bits() as u32, (0.1f64.to_bits() >> 32) as u32];
    let single = [3 << 16 | 22, 1, 32, 4 << 16 | 43, 1, 2, 0.424f32.to_bits()];
    let double = [3 << 16 | 22, 3, 64, 5 << 16 | 43, 3, 4, low, high];
    let module = [&[0x0723_0203, 0x0001_0000, 0, 5, 0][..], &single, &double].concat();
    let t = texts(&module).read(&SPIRV_TEXT).unwrap();
    let constants: Vec<&str> =
        t.text("text").iter().filter_map(|l| l.split_once("OpConstant ").map(|l| l.1)).collect();
    assert_eq!(constants, ["%1 0.424", "%3 0.1"]);
}
