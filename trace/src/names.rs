//! How people read what things are called, the same wherever they do: frames, passes, draws, pipelines, shaders, objects.
//!
//! | thing | form |
//! |---|---|
//! | draw, dispatch or trace | `frame 20 · pass 2 "shadow" · draw 12 (DrawIndexed)` |
//! | render pass | `pass 2 "shadow"`: by its number in the frame and the debug labels around it, else by its debug name |
//! | pipeline, shader object, buffer, image, queue … | `pipeline 37 "lit cube"`: by its captured id and its debug name |
//! | shader | `fragment main (sky.frag, 1f2e3d4c)`: by stage, entry point, source file and the first digits of its code's hash |
//!
//! Guarantees: what is not known is left out, with what would stand around it. Refuses nothing.

/// Between what holds something and that.
pub const WITHIN: &str = " › ";
/// Shaders of a pipeline that are named behind it, at most.
const SHADERS: usize = 3;

/// A kind of object, its id, and its debug name, which may be empty.
pub fn object(kind: &str, id: u64, name: &str) -> String {
    match name {
        "" => format!("{kind} {id}"),
        name => format!("{kind} {id} \"{name}\""),
    }
}

/// A pass's own name, out of what records have: its debug name, or what it is.
pub fn pass_name(name: &str) -> &str {
    name.strip_prefix("render pass '").and_then(|n| n.strip_suffix('\'')).unwrap_or(name)
}

/// Labels from outside in, without one that counts frames: that number is said already.
fn path(labels: &[String]) -> String {
    let counts = |l: &str| l.strip_prefix("frame ").is_some_and(is_number);
    labels.iter().map(String::as_str).filter(|l| !counts(l)).collect::<Vec<_>>().join(WITHIN)
}

fn is_number(text: &str) -> bool {
    !text.is_empty() && text.bytes().all(|b| b.is_ascii_digit())
}

/// A render pass by its number in the frame, the labels around it, and its name as records have it.
pub fn pass(number: u64, labels: &[String], name: &str) -> String {
    let own = pass_name(name);
    match path(labels) {
        path if !path.is_empty() => format!("pass {number} \"{path}\""),
        _ if own.is_empty() => format!("pass {number}"),
        _ if own == name => format!("pass {number} ({name})"),
        _ => format!("pass {number} \"{own}\""),
    }
}

/// A pipeline, or a shader object; 0 is none that is known.
pub fn pipeline(id: u64, name: &str, is_shader_object: bool) -> String {
    match (id, is_shader_object) {
        (0, _) => "no known pipeline".to_owned(),
        (id, true) => object("shader object", id, name),
        (id, false) => object("pipeline", id, name),
    }
}

/// A pipeline as runs of `bench` have it: its debug name, or its id behind `#`.
pub fn recorded_pipeline(text: &str) -> String {
    match text.strip_prefix('#').filter(|id| is_number(id)) {
        Some(id) => format!("pipeline {id}"),
        None if text.is_empty() => String::new(),
        None => format!("pipeline \"{text}\""),
    }
}

/// What is around a command: its pass in words, or outside of passes the labels; none of neither. Labels are those around the pass.
pub fn around(number: u64, labels: &[String], name: &str) -> Option<String> {
    match number {
        0 => Some(path(labels)).filter(|p| !p.is_empty()).map(|p| format!("\"{p}\"")),
        _ => Some(pass(number, labels, name)),
    }
}

/// Of what is around a command, as records have it from outside in: the labels around the pass, and the pass's name. Secondary command
/// buffers are none of both.
pub fn of_path<'p>(parts: &[&'p str]) -> (Vec<String>, &'p str) {
    let sized = |s: &str| s.split_once('x').is_some_and(|(w, h)| is_number(w) && is_number(h));
    let called = |s: &str| is_number(s) || s.len() > 1 && s.starts_with('\'') && s.ends_with('\'');
    let is_pass = |p: &&str| {
        p.strip_prefix("rendering ").is_some_and(sized) || p.strip_prefix("render pass ").is_some_and(called)
    };
    let is_secondary = |p: &str| p.strip_prefix("secondary ").is_some_and(called);
    let at = parts.iter().position(is_pass).unwrap_or(parts.len());
    let labels = parts[..at].iter().filter(|p| !p.is_empty() && !is_secondary(p));
    (labels.map(|p| (*p).to_owned()).collect(), parts.get(at).copied().unwrap_or_default())
}

/// A draw, dispatch or trace: its frame, what is around it, its number in the frame, and what it is, with or without vkCmd.
pub fn draw(frame: Option<u64>, around: Option<&str>, number: u64, kind: &str) -> String {
    let frame = frame.map(|n| format!("frame {n}"));
    let kind = kind.strip_prefix("vkCmd").unwrap_or(kind);
    let own = if kind.is_empty() { format!("draw {number}") } else { format!("draw {number} ({kind})") };
    let parts = [frame, around.map(str::to_owned), Some(own)];
    parts.into_iter().flatten().collect::<Vec<_>>().join(" · ")
}

/// A shader: its stage, its entry point, its source file, and the hash of its code.
pub fn shader(stage: &str, entry: &str, file: &str, hash: &str) -> String {
    let file = file.rsplit(['/', '\\']).next().unwrap_or(file);
    let of: Vec<&str> = [file, digits(hash)].into_iter().filter(|p| !p.is_empty()).collect();
    let of = if of.is_empty() { String::new() } else { format!("({})", of.join(", ")) };
    let parts = [stage, entry, &of].into_iter().filter(|p| !p.is_empty());
    parts.collect::<Vec<_>>().join(" ")
}

/// Shaders of a pipeline, each by its stage and hash.
pub fn shaders<'s>(all: impl IntoIterator<Item = (&'s str, &'s str)>) -> Vec<String> {
    all.into_iter().map(|(stage, hash)| format!("{stage} {}", digits(hash))).collect()
}

/// The same, of what runs have: `vert:5e13c19e9c699f02 frag:…`.
pub fn recorded_shaders(text: &str) -> Vec<String> {
    shaders(text.split(' ').filter_map(|s| s.split_once(':')))
}

/// A pipeline in words, and behind it its first shaders.
pub fn with_shaders(pipeline: &str, all: &[String]) -> String {
    let first = all[..all.len().min(SHADERS)].join(", ");
    match all.len() {
        0 => pipeline.to_owned(),
        n if n > SHADERS => format!("{pipeline} ({first} +{})", n - SHADERS),
        _ => format!("{pipeline} ({first})"),
    }
}

/// As many digits of a hash as tell shaders apart for people.
pub fn digits(hash: &str) -> &str {
    hash.get(..8).unwrap_or(hash)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn what_is_not_known_is_left_out() {
        let recorded = ["#85", "#sky", ""].map(recorded_pipeline);
        assert_eq!(recorded, ["pipeline 85", "pipeline \"#sky\"", ""]);
        assert_eq!(pipeline(51, "flat", true), "shader object 51 \"flat\"");
        assert_eq!(pipeline(0, "", false), "no known pipeline");
        assert_eq!(object("pipeline", 37, "lit cube"), "pipeline 37 \"lit cube\"");
        assert_eq!(object("buffer", 71, ""), "buffer 71");
        assert_eq!(
            shader("fragment", "main", "src/sky.frag", "1f2e3d4c5b6a7988"),
            "fragment main (sky.frag, 1f2e3d4c)"
        );
        assert_eq!(shader("fragment", "main", "", "1f2e3d4c5b6a7988"), "fragment main (1f2e3d4c)");
        assert_eq!(shader("compute", "", "", ""), "compute");
        assert_eq!(
            draw(Some(20), Some("pass 2 \"shadow\""), 12, "DrawIndexed"),
            "frame 20 · pass 2 \"shadow\" · draw 12 (DrawIndexed)"
        );
        assert_eq!(draw(None, None, 3, "vkCmdDispatch"), "draw 3 (Dispatch)");
        assert_eq!(draw(Some(1), None, 3, ""), "frame 1 · draw 3");
    }

    #[test]
    fn passes_are_called_by_labels_then_by_their_names() {
        let labels = |of: &[&str]| of.iter().map(|l| (*l).to_owned()).collect::<Vec<_>>();
        assert_eq!(
            pass(2, &labels(&["frame 15", "world", "shadow"]), "render pass 'x'"),
            "pass 2 \"world › shadow\""
        );
        assert_eq!(pass(2, &labels(&["frame 15"]), "render pass 'x'"), "pass 2 \"x\"");
        assert_eq!(pass(2, &[], "render pass 39"), "pass 2 (render pass 39)");
        assert_eq!(pass(2, &labels(&["frame of a picture"]), ""), "pass 2 \"frame of a picture\"");
        assert_eq!(pass(2, &[], ""), "pass 2");
        let of = |path: &'static str| of_path(&path.split(WITHIN).collect::<Vec<_>>());
        assert_eq!(
            of("frame 15 › world › rendering 64x16 › band 7"),
            (labels(&["frame 15", "world"]), "rendering 64x16")
        );
        assert_eq!(
            of("rendering opaque › secondary 12 › render pass 39"),
            (labels(&["rendering opaque"]), "render pass 39")
        );
        assert_eq!(
            of("render pass main › render pass 'x'"),
            (labels(&["render pass main"]), "render pass 'x'")
        );
        assert_eq!(around(0, &labels(&["frame 15", "upload"]), ""), Some("\"upload\"".into()));
        assert_eq!(
            (around(0, &labels(&["frame 15"]), ""), around(3, &[], "")),
            (None, Some("pass 3".into()))
        );
        assert_eq!(of("upload"), (labels(&["upload"]), ""));
        assert_eq!(of(""), (vec![], ""));
    }

    #[test]
    fn of_many_shaders_the_first_are_named() {
        let all = shaders([("vert", "5e13c19e9c699f02"), ("frag", "07d5"), ("geom", "1"), ("tesc", "2")]);
        assert_eq!(with_shaders("pipeline 3", &all), "pipeline 3 (vert 5e13c19e, frag 07d5, geom 1 +1)");
        assert_eq!(with_shaders("pipeline 3", &all[..1]), "pipeline 3 (vert 5e13c19e)");
        assert_eq!(with_shaders("pipeline 3", &[]), "pipeline 3");
        assert_eq!(recorded_shaders("vert:5e13c19e9c699f02 frag:07d5"), all[..2]);
        assert_eq!(recorded_shaders(""), [""; 0]);
    }
}
