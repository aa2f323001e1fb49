//! Options that say which shaders a pass takes: `shader=HASH` and `stage=NAME`.
//!
//! Guarantees: a hash is in lower case, as shaders' own are written. Refuses nothing: what is neither is none, and the pass says what
//! options it has.

use crate::Stage;

/// How the hashes of the shaders that are taken begin, of `shader=HASH`.
pub fn shader(option: &str) -> Option<String> {
    let hash = option.strip_prefix("shader=")?;
    let is_one = !hash.is_empty() && hash.bytes().all(|b| b.is_ascii_hexdigit());
    is_one.then(|| hash.to_ascii_lowercase())
}

/// The stage that is taken, of `stage=NAME`.
pub fn stage(option: &str) -> Option<Stage> {
    let name = option.strip_prefix("stage=")?;
    Stage::ALL.into_iter().find(|s| s.name() == name)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn what_is_no_hash_and_no_stage_is_none() {
        assert_eq!(shader("shader=0Ab9").as_deref(), Some("0ab9"));
        for wrong in ["shader=", "shader=xyz", "shader", "stage=fragment"] {
            assert_eq!(shader(wrong), None, "{wrong}");
        }
        for s in Stage::ALL {
            assert_eq!(stage(&format!("stage={}", s.name())), Some(s));
        }
        for wrong in ["stage=", "stage=pixel", "shader=0ab9"] {
            assert_eq!(stage(wrong), None, "{wrong}");
        }
    }
}
