//! Pass `wrong`: fragment, compute and ray-generation shaders do nothing at all. It measures nothing; it is there so that
//! tests can see that a changed picture is found, and whose fault it is. It is not listed, and stands behind all others,
//! whose blocks it takes away.

use crate::pass::{Change, Error, Pass, Result};
use crate::rewrite::Shader;
use crate::spirv::{Inst, Op};
use crate::{Needs, Stage};

/// See the module's header.
#[derive(Clone, Copy, Debug)]
pub struct Wrong;

impl Pass for Wrong {
    fn name(&self) -> &'static str {
        "wrong"
    }

    fn needs(&self, stage: Stage) -> Option<Needs> {
        matches!(stage, Stage::Fragment | Stage::Compute | Stage::RayGeneration).then(Needs::default)
    }

    fn run(&self, shader: &mut Shader) -> Result<Change> {
        // (an entry without counters has nothing that could be read)
        shader.reserve_counters(1).map_err(Error::shader(shader.hash))?;
        shader.do_instead(vec![Inst::new(Op::Return, None, None, vec![])]);
        Ok(Change::Changed)
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::passes::{PASSES, by_name};
    use crate::testing::everywhere;

    #[test]
    fn shaders_do_nothing_and_are_valid() {
        for v in everywhere(&|| Box::new(Wrong)) {
            let m = crate::spirv::Module::read(&v.words).expect("it is a module");
            let id = v.facts.functions[0].id;
            let f = m.functions.iter().find(|f| f.id() == id).expect("the entry point stays");
            assert_eq!(f.insts().map(Inst::op).collect::<Vec<_>>(), [Op::Return], "{}", v.name);
        }
    }

    #[test]
    fn it_is_not_listed() {
        assert!(by_name("wrong").is_ok() && PASSES.iter().all(|p| p.name != "wrong"));
    }
}
