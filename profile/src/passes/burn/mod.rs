//! Pass `burn`: chosen shaders take longer, by work that is for nothing. It measures nothing and changes no picture; it is there
//! so that one can see whether a slowdown of known size is found, and where (`bench`, `compare`).
//!
//! Options, by commas or plus signs: `turns=N` says how many dependent steps of arithmetic (three xors and shifts each) every
//! invocation takes at the entry point, 100 if nothing is said; `shader=HASH` takes only shaders whose hash, as `extract` names
//! files, begins so; `stage=NAME` only those of a stage. What a step costs is the device's affair: calibrate with `bench`.
//!
//! Guarantees: the work cannot be left out by a compiler that keeps to the language: it begins with what is read from memory, and
//! its end decides whether something is written.

use crate::pass::{Change, Error, Pass, Result};
use crate::passes::which;
use crate::rewrite::{Probes, Shader};
use crate::{Needs, Stage};

static PROBES: Probes = crate::probes!("burn");

/// See the module's header.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Burn {
    turns: u32,
    shader: String,
    stage: Option<Stage>,
}

impl Burn {
    /// With the options of the command line.
    pub fn new(options: &[String]) -> std::result::Result<Self, String> {
        let mut new = Burn { turns: 100, shader: String::new(), stage: None };
        for option in options {
            if let Some(hash) = which::shader(option) {
                new.shader = hash;
            } else if let Some(stage) = which::stage(option) {
                new.stage = Some(stage);
            } else if let Some(turns) = option.strip_prefix("turns=").and_then(|n| n.parse().ok()) {
                new.turns = turns;
            } else {
                return Err(format!("pass burn: {option:?}: there are turns=N, shader=HASH and stage=NAME"));
            }
        }
        Ok(new)
    }
}

impl Pass for Burn {
    fn name(&self) -> &'static str {
        "burn"
    }

    fn key(&self) -> String {
        format!("burn 1 {} {} {:?}", self.turns, self.shader, self.stage)
    }

    fn needs(&self, stage: Stage) -> Option<Needs> {
        self.stage.is_none_or(|s| s == stage).then(Needs::default)
    }

    fn run(&self, shader: &mut Shader) -> Result<Change> {
        if !shader.hash.to_string().starts_with(&self.shader) {
            return Ok(Change::Unchanged);
        }
        let wrong = Error::shader(shader.hash);
        let burn = shader.import(&PROBES, "burn").map_err(&wrong)?;
        let (counter, _) = shader.reserve_counters(1).map_err(&wrong)?;
        let arguments = [counter, self.turns].map(|n| shader.constant(n));
        let call = shader.call(burn, &arguments);
        shader.at_begin(0, 0, vec![call]);
        Ok(Change::Changed)
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::spirv::Op;
    use crate::testing::everywhere;

    #[test]
    fn every_chosen_shader_burns_and_is_valid() {
        let of = |options: &'static str| {
            everywhere(&|| Box::new(Burn::new(&crate::passes::options(options)).expect("options")))
        };
        let calls = |v: &crate::rewrite::Variant| {
            let m = crate::spirv::Module::read(&v.words).expect("it is a module");
            let id = v.facts.functions[0].id;
            let f = m.functions.iter().find(|f| f.id() == id).expect("the entry point stays");
            f.blocks[0].body.iter().filter(|i| i.op() == Op::FunctionCall).count()
        };
        let all = of("turns=7");
        assert!(all.len() > 10 && all.iter().all(|v| calls(v) >= 1), "{}", all.len());
        let hash = all[0].shader.to_string();
        let one = Burn::new(&crate::passes::options(&format!("shader={}", &hash[..12]))).expect("options");
        assert!(one.needs(Stage::Vertex).is_some() && hash.starts_with(&one.shader));
    }

    #[test]
    fn options_are_read_and_wrong_ones_refused() {
        let b = Burn::new(&crate::passes::options("turns=30+stage=fragment+shader=AB12")).expect("options");
        assert_eq!((b.turns, &*b.shader, b.stage), (30, "ab12", Some(Stage::Fragment)));
        assert!(b.needs(Stage::Fragment).is_some() && b.needs(Stage::Compute).is_none());
        for wrong in ["turns=x", "turns", "shader=", "shader=xyz", "stage=pixel", "percent=3"] {
            assert!(Burn::new(&crate::passes::options(wrong)).is_err(), "{wrong}");
        }
        assert_ne!(
            Burn::new(&crate::passes::options("turns=1")).map(|b| b.key()),
            Burn::new(&crate::passes::options("turns=2")).map(|b| b.key())
        );
    }
}
