//! Pass `ser`: shader execution reordering (Cheung, §3.7.4). A ray generation shader's OpTraceRayKHR becomes three
//! instructions: the ray is traced into a hit object (any-hit and intersection shaders run), the invocations are reordered by
//! it, and its closest-hit or miss shader is executed with the same payload. It measures nothing, and runs behind all other
//! passes: what they put before a trace call comes before the ray, what they put behind it comes behind the ray's last shader.
//!
//! Options, joined by `+`: `reorder=no` leaves the reordering out, so that what hit objects cost by themselves is seen;
//! `hints=instance:4` (`geometry`, `primitive`; 1 to 16 bits, `hints=4` are the instance's) hands the lowest bits of what was
//! hit to the reordering, 0 for a miss; `api=nv` and `api=ext` want one of the two extensions, SPV_NV_shader_invocation_reorder
//! and SPV_EXT_shader_invocation_reorder, and else the first is taken where the device has both.
//!
//! A ray whose flags skip closest-hit shaders must not execute one. The extensions do not say whether a hit object remembers
//! its ray's flags, so the shader is executed by a function that looks: of a miss, or where the flag is not there. Where the
//! flags are a constant without it, the instruction stands by itself.
//!
//! Guarantees: the same shaders run with the same values, so that images stay as they were; blocks stay as they were. Left as
//! they are: closest-hit and miss shaders (hit objects are allowed there, reordering is not), and OpTraceNV, whose payload
//! is a number. Devices without either extension are refused before anything runs.

mod rewrite;
#[cfg(test)]
mod tests;

use crate::pass::{Change, Error, FrameData, Pass, Result, Sink};
use crate::rewrite::Shader;
use crate::{Needs, Stage};
use rewrite::{Api, Hint, Rewrite};

const HINTS: [(&str, Hint); 3] =
    [("instance", Hint::Instance), ("geometry", Hint::Geometry), ("primitive", Hint::Primitive)];

/// See the module's header.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Ser {
    reorder: bool,
    /// And how many bits.
    hint: Option<(Hint, u32)>,
    /// The first that the device has, if none is wanted.
    api: Option<Api>,
}

impl Ser {
    /// With the options of the command line.
    pub fn new(options: &[String]) -> std::result::Result<Self, String> {
        let mut new = Ser { reorder: true, hint: None, api: None };
        for option in options {
            match option.split_once('=') {
                Some(("reorder", "yes")) => new.reorder = true,
                Some(("reorder", "no")) => new.reorder = false,
                Some(("api", "auto")) => new.api = None,
                Some(("api", "nv")) => new.api = Some(Api::Nv),
                Some(("api", "ext")) => new.api = Some(Api::Ext),
                Some(("hints", hint)) if self::hint(hint).is_some() => new.hint = self::hint(hint),
                _ => {
                    return Err(format!(
                        "pass ser has no option {option:?}; it has reorder=no, hints=instance:N, geometry:N or primitive:N \
                         with 1 to 16 bits, api=nv, api=ext, joined by +"
                    ));
                }
            }
        }
        if new.hint.is_some() && !new.reorder {
            return Err("pass ser: hints are for reordering, which reorder=no leaves out".into());
        }
        Ok(new)
    }
}

/// `instance:4`, or `4`.
fn hint(text: &str) -> Option<(Hint, u32)> {
    let (name, bits) = text.split_once(':').unwrap_or((HINTS[0].0, text));
    let bits = bits.parse().ok().filter(|b| (1..=16).contains(b))?;
    HINTS.iter().find(|h| h.0 == name).map(|h| (h.1, bits))
}

impl Pass for Ser {
    fn name(&self) -> &'static str {
        "ser"
    }

    fn key(&self) -> String {
        let reorder = if self.reorder { "reorder" } else { "stay" };
        let hint = self.hint.map_or(String::new(), |(h, bits)| format!(" {h:?} {bits}"));
        let api = self.api.map_or(String::new(), |a| format!(" {a:?}"));
        format!("ser 1 {reorder}{hint}{api}")
    }

    fn needs(&self, stage: Stage) -> Option<Needs> {
        (stage == Stage::RayGeneration).then_some(Needs {
            reorder: self.api.is_none(),
            unordered_hits: !self.reorder,
            reorder_nv: self.api == Some(Api::Nv),
            reorder_ext: self.api == Some(Api::Ext),
            ..Needs::default()
        })
    }

    fn is_last(&self) -> bool {
        true
    }

    fn run(&self, shader: &mut Shader) -> Result<Change> {
        let api = self.api.unwrap_or(if shader.device.reorder_ext { Api::Ext } else { Api::Nv });
        if !Rewrite::new(api, self.reorder, self.hint).all(shader) {
            return Ok(Change::Unchanged);
        }
        // (an entry without counters has nothing that could be read)
        shader.reserve_counters(1).map_err(Error::shader(shader.hash))?;
        Ok(Change::Changed)
    }

    fn decode(&self, _: &FrameData<'_>, _: &mut dyn Sink) -> Result<()> {
        Ok(())
    }
}
