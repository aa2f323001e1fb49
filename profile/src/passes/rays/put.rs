//! Puts the probes of pass `rays` in: what each event records, and where.

use super::fields::{ENTER, Field, Layout};
use super::options::Options;
use crate::Stage;
use crate::passes::loads::{Defs, Emitter};
use crate::rewrite::built_ins::{load_as, workgroup_sides};
use crate::rewrite::{Probes, Shader, Site, Spot};
use crate::spirv::{Inst, Op, Operand, Result, malformed};
use rspirv::spirv::{BuiltIn, Capability, StorageClass};
use trace::tables::RayEvent;

static PLAIN: Probes = crate::probes!("rays");
static SM: Probes = crate::probes!("rays_sm");
static CLOCK: Probes = crate::probes!("rays_clock");
static CLOCK_SM: Probes = crate::probes!("rays_clock_sm");

/// Whether shaders of the stage run amid a ray's traversal.
pub fn amid_traversal(stage: Stage) -> bool {
    matches!(stage, Stage::AnyHit | Stage::Intersection)
}

/// What a word of an event is made of.
pub(super) enum Word {
    /// A value of the shader, which may have several words: a field each.
    Value(u32, Vec<Field>),
    /// A built-in input, of 32 bits.
    Input(BuiltIn, Field),
    /// Two built-in inputs: 24 bits of the first, 8 of the second from this bit on.
    Two((BuiltIn, Field), (BuiltIn, Field), u32),
}

/// A call that traces, and where its operands are: (what it is, the first operand, whether shaders of the hit run in it).
pub fn trace_call(op: Op) -> Option<(usize, bool)> {
    match op {
        Op::TraceRayKHR | Op::TraceNV | Op::TraceRayMotionNV | Op::TraceMotionNV => Some((0, true)),
        Op::HitObjectTraceReorderExecuteEXT | Op::HitObjectTraceMotionReorderExecuteEXT => Some((1, true)),
        Op::HitObjectTraceRayNV
        | Op::HitObjectTraceRayMotionNV
        | Op::HitObjectTraceRayEXT
        | Op::HitObjectTraceRayMotionEXT => Some((1, false)),
        _ => None,
    }
}

/// Calls that run the shaders of a hit object.
fn executes(op: Op) -> bool {
    matches!(
        op,
        Op::HitObjectExecuteShaderNV | Op::HitObjectExecuteShaderEXT | Op::HitObjectReorderExecuteShaderEXT
    )
}

/// Puts everything in; false if there is nothing.
pub fn put(o: &Options, s: &mut Shader) -> Result<bool> {
    let mut p = Put::new(o, s);
    let mut calls = p.calls()?;
    calls.extend(p.queries()?);
    let entered = match p.s.stage.is_ray_tracing() || calls.is_empty() {
        true => p.entered()?,
        false => Some(p.work()?),
    };
    if calls.is_empty() && entered.is_none() {
        return Ok(false);
    }
    p.s.at_spots(calls);
    if let Some(insts) = entered {
        p.s.at_begin(0, 0, insts);
    }
    Ok(true)
}

pub(super) struct Put<'p> {
    pub(super) s: &'p mut Shader,
    pub(super) defs: Defs,
    probes: &'static Probes,
    lanes: u32,
    /// Which clock is read, if one is: the subgroup's, or the device's.
    own_clock: Option<bool>,
    sm: bool,
    probe_triangles: bool,
    /// Subgroups cannot be asked here.
    alone: bool,
    /// Invocations are told apart by where in the log their entry is.
    placed: bool,
}

impl<'p> Put<'p> {
    fn new(o: &Options, s: &'p mut Shader) -> Self {
        let sm = o.sm.unwrap_or(s.device.sm_builtins);
        let alone = s.device.lone_any_hits && amid_traversal(s.stage);
        // What the invocations that ran together have in common, where they cannot ask each other.
        let own_clock = match o.clock {
            _ if alone => s.device.subgroup_clock.then_some(true),
            Some(own) => Some(own.unwrap_or(s.device.own_clock)),
            None => None,
        };
        let probes = match (own_clock.is_some(), sm) {
            (false, false) => &PLAIN,
            (false, true) => &SM,
            (true, false) => &CLOCK,
            (true, true) => &CLOCK_SM,
        };
        let lanes = match (o.lanes, s.device.subgroup_size) {
            (Some(lanes), _) => lanes.words(),
            (None, 0) => 2,
            (None, 1..=32) => 1,
            (None, 33..=64) => 2,
            (None, _) => 4,
        };
        let defs = Defs::of(&s.module);
        let placed = !s.stage.is_ray_tracing();
        Put { s, defs, probes, lanes, own_clock, sm, probe_triangles: o.probe_triangles, alone, placed }
    }

    /// Events at instructions.
    fn calls(&mut self) -> Result<Vec<(Spot, Vec<Inst>)>> {
        let mut all = vec![];
        // The shaders of a hit object run where it is executed; if that is nowhere, its call is all there is of its ray.
        let executed = self.s.before_each(|i| executes(i.op()));
        for spot in self.s.before_each(|i| trace_call(i.op()).is_some()) {
            let i = self.s.at_spot(&spot).clone();
            let Some((first, runs)) = trace_call(i.op()) else { continue };
            let mut begin = self.begin(&spot, &i, first)?;
            if self.probe_triangles {
                self.ask(&spot, i.id_at(first + 1).unwrap_or(0), first + 1, &mut begin)?;
            }
            all.push((spot.clone(), begin));
            if runs || executed.is_empty() {
                let end = self.event(&spot, RayEvent::End, vec![])?;
                all.push((spot.behind(), end));
            }
        }
        for spot in executed {
            let end = self.event(&spot, RayEvent::End, vec![])?;
            all.push((spot.behind(), end));
        }
        let kind = |op: Op| match op {
            Op::ReportIntersectionKHR => Some(RayEvent::ReportIntersection),
            Op::IgnoreIntersectionKHR | Op::IgnoreIntersectionNV => Some(RayEvent::IgnoreIntersection),
            Op::TerminateRayKHR | Op::TerminateRayNV => Some(RayEvent::TerminateRay),
            _ => None,
        };
        for spot in self.s.before_each(|i| kind(i.op()).is_some()) {
            let i = self.s.at_spot(&spot).clone();
            let Some(kind) = kind(i.op()) else { continue };
            let words = match (kind, i.id_at(0), i.id_at(1)) {
                (RayEvent::ReportIntersection, Some(t), Some(hit)) => {
                    vec![Word::Value(t, vec![Field::T]), Word::Value(hit, vec![Field::HitKind])]
                }
                _ => vec![],
            };
            let insts = self.event(&spot, kind, words)?;
            all.push((spot, insts));
        }
        Ok(all)
    }

    /// Before a call that traces.
    fn begin(&mut self, spot: &Spot, i: &Inst, first: usize) -> Result<Vec<Inst>> {
        use Field::*;
        let fields: [&[Field]; 9] = [
            &[Flags],
            &[CullMask],
            &[SbtOffset],
            &[SbtStride],
            &[MissIndex],
            &[OriginX, OriginY, OriginZ],
            &[Tmin],
            &[DirectionX, DirectionY, DirectionZ],
            &[T],
        ];
        let mut words = vec![];
        for (n, fields) in fields.iter().enumerate() {
            let Some(id) = i.id_at(first + 1 + n) else {
                return malformed(format!("Op{:?} has too few operands", i.op()));
            };
            words.push(Word::Value(id, fields.to_vec()));
        }
        self.event(spot, RayEvent::Begin, words)
    }

    /// Has a call trace with flags that ask any-hit shaders, where the launch wants it.
    fn ask(&mut self, spot: &Spot, flags: u32, operand: usize, insts: &mut Vec<Inst>) -> Result<()> {
        let uint = self.s.types.uvec(&mut self.s.module, 1);
        let Some(own) = self.defs.get(flags).and_then(|i| i.inst.result_type) else {
            return malformed(format!("{flags} has no type"));
        };
        let given = self.cast(own, uint, flags, insts);
        let f = self.s.import(self.probes, "rays_flags")?;
        let (call, asks) = self.s.call_for(f, uint, &[given]);
        insts.push(call);
        let asks = self.cast(uint, own, asks, insts);
        self.s.set_operand(spot, operand, Operand::IdRef(asks));
        Ok(())
    }

    /// A number as one of another type of as many bits.
    fn cast(&mut self, from: u32, to: u32, id: u32, insts: &mut Vec<Inst>) -> u32 {
        if from == to {
            return id;
        }
        let cast = self.s.module.fresh();
        insts.push(Inst::new(Op::Bitcast, Some(to), Some(cast), vec![Operand::IdRef(id)]));
        cast
    }

    /// An event at an instruction.
    pub(super) fn event(&mut self, spot: &Spot, kind: RayEvent, words: Vec<Word>) -> Result<Vec<Inst>> {
        self.record(spot.site(kind as u32), words)
    }

    /// Where the entry point begins: its event, or its launch's.
    fn entered(&mut self) -> Result<Option<Vec<Inst>>> {
        use BuiltIn as B;
        let kind = match self.s.stage {
            Stage::RayGeneration => return self.launched().map(Some),
            Stage::Intersection => RayEvent::Intersection,
            Stage::AnyHit => RayEvent::AnyHit,
            Stage::Miss => RayEvent::Miss,
            Stage::ClosestHit => RayEvent::ClosestHit,
            Stage::Callable => RayEvent::Callable,
            _ => return Ok(None),
        };
        let t = Word::Input(B::RayTmaxKHR, Field::T);
        let flags = |of: (BuiltIn, Field), part, bit| Word::Two(of, (B::IncomingRayFlagsKHR, part), bit);
        let instance = (B::InstanceId, Field::Instance);
        let words = match kind {
            RayEvent::Callable => vec![],
            RayEvent::Miss => vec![t, Word::Input(B::IncomingRayFlagsKHR, Field::Flags)],
            _ => {
                let mut words = vec![t, flags(instance, Field::FlagsLow, 0)];
                let custom = (B::InstanceCustomIndexKHR, Field::CustomIndex);
                words.push(match kind {
                    RayEvent::Intersection => Word::Input(custom.0, custom.1),
                    _ => Word::Two(custom, (B::HitKindKHR, Field::HitKind), 0),
                });
                // SPV_NV_ray_tracing does not know it.
                if self.s.module.has_capability(Capability::RayTracingKHR) {
                    words.push(flags((B::RayGeometryIndexKHR, Field::Geometry), Field::FlagsHigh, 8));
                }
                words.push(Word::Input(B::PrimitiveId, Field::Primitive));
                words
            }
        };
        let site = Site { word_offset: 0, ..self.s.block_site(0, 0, kind as u32) };
        self.record(site, words).map(Some)
    }

    /// Every subgroup of a launch records that it is there, whatever it does.
    fn launched(&mut self) -> Result<Vec<Inst>> {
        let mut insts = vec![];
        let mut words = self.sides(BuiltIn::LaunchSizeKHR, &mut insts)?.to_vec();
        words.extend([self.s.constant(0); 3]);
        self.enter(&words, insts)
    }

    /// The same outside of ray tracing: of dispatches how many workgroups there are, and how large they are.
    fn work(&mut self) -> Result<Vec<Inst>> {
        let mut insts = vec![];
        let zero = self.s.constant(0);
        let words = match self.s.stage {
            Stage::Compute => {
                let groups = self.sides(BuiltIn::NumWorkgroups, &mut insts)?;
                let sides = workgroup_sides(self.s, &mut insts);
                [groups, sides].concat()
            }
            _ => vec![zero; 6],
        };
        self.enter(&words, insts)
    }

    /// A built-in input's three parts.
    fn sides(&mut self, of: BuiltIn, insts: &mut Vec<Inst>) -> Result<[u32; 3]> {
        let uint = self.s.types.uvec(&mut self.s.module, 1);
        let uvec3 = self.s.types.uvec(&mut self.s.module, 3);
        let all = load_as(self.s, of, uvec3, insts)?;
        Ok([0, 1, 2].map(|n| {
            let id = self.s.module.fresh();
            let operands = vec![Operand::IdRef(all), Operand::LiteralBit32(n)];
            insts.push(Inst::new(Op::CompositeExtract, Some(uint), Some(id), operands));
            id
        }))
    }

    fn enter(&mut self, words: &[u32], mut insts: Vec<Inst>) -> Result<Vec<Inst>> {
        let f = self.import("rays_enter")?;
        self.store(words, &mut insts)?;
        let layout = Layout { more: 8, ..self.layout(vec![], vec![]) };
        let probe = self.s.reserve_probe();
        let arguments = [probe, self.lanes].map(|n| self.s.constant(n));
        insts.push(self.s.call(f, &arguments));
        let site = self.s.block_site(0, 0, ENTER);
        self.note(site, probe, &layout);
        Ok(insts)
    }

    pub(super) fn layout(&self, words: Vec<(u8, Option<u8>)>, constants: Vec<(u8, u32)>) -> Layout {
        Layout {
            lanes: self.lanes,
            clock: self.own_clock.is_some(),
            sm: self.sm,
            more: 0,
            alone: self.alone,
            placed: self.placed,
            words,
            constants,
        }
    }

    pub(super) fn note(&mut self, site: Site, probe: u32, layout: &Layout) {
        self.s.site(Site {
            probe: Some((probe, layout.head())),
            each: Some((layout.lanes, layout.each())),
            data: layout.data(),
            ..site
        });
    }

    /// The instructions that record an event, and its site.
    fn record(&mut self, site: Site, words: Vec<Word>) -> Result<Vec<Inst>> {
        let f = self.import_event()?;
        let (mut insts, mut ids, mut layout) = (vec![], vec![], self.layout(vec![], vec![]));
        for word in words {
            match word {
                Word::Value(id, fields) => self.value(id, &fields, &mut layout, &mut ids, &mut insts)?,
                Word::Input(of, field) => {
                    ids.push(self.input(of, &mut insts)?);
                    layout.words.push((field as u8, None));
                }
                Word::Two(wide, narrow, bit) => {
                    let a = self.input(wide.0, &mut insts)?;
                    let b = self.input(narrow.0, &mut insts)?;
                    let b = self.shifted(b, bit, &mut insts);
                    ids.push(self.packed(a, b, &mut insts)?);
                    layout.words.push((wide.1 as u8, Some(narrow.1 as u8)));
                }
            }
        }
        self.store(&ids, &mut insts)?;
        let probe = self.s.reserve_probe();
        let arguments = [probe, self.lanes, layout.each()].map(|n| self.s.constant(n));
        insts.push(self.s.call(f, &arguments));
        self.note(site, probe, &layout);
        Ok(insts)
    }

    /// The function that records an event.
    pub(super) fn import_event(&mut self) -> Result<u32> {
        self.import(match (self.alone, self.placed) {
            (true, _) => "rays_alone",
            (_, true) => "rays_mine",
            _ => "rays_event",
        })
    }

    fn import(&mut self, name: &str) -> Result<u32> {
        let name = if self.own_clock == Some(true) { format!("{name}_own") } else { name.to_owned() };
        self.s.import(self.probes, &name)
    }

    /// A value of the shader: what is a constant is not recorded, but noted.
    fn value(
        &mut self,
        id: u32,
        fields: &[Field],
        layout: &mut Layout,
        ids: &mut Vec<u32>,
        insts: &mut Vec<Inst>,
    ) -> Result<()> {
        let parts = match self.defs.get(id) {
            Some(i) if i.op() == Op::ConstantComposite => i.ids().skip(1).collect(),
            _ => vec![id],
        };
        let constants: Vec<u32> = parts.iter().filter_map(|p| self.literal(*p)).collect();
        if constants.len() == fields.len() {
            layout.constants.extend(fields.iter().map(|f| *f as u8).zip(constants));
            return Ok(());
        }
        let Some(ty) = self.defs.get(id).and_then(|i| i.inst.result_type) else {
            return malformed(format!("{id} has no type"));
        };
        let words = (Emitter { shader: self.s, defs: &self.defs }).words(id, ty, insts);
        let words = match words {
            Ok(words) if words.len() == fields.len() => words,
            Ok(words) => return malformed(format!("a ray's {fields:?} has {} words", words.len())),
            Err(why) => return malformed(format!("a ray's {fields:?}: {why}")),
        };
        ids.extend(words.iter().map(|w| w.id));
        layout.words.extend(fields.iter().map(|f| (*f as u8, None)));
        Ok(())
    }

    /// The bits of a constant.
    fn literal(&self, id: u32) -> Option<u32> {
        let i = self.defs.get(id).filter(|i| i.op() == Op::Constant)?;
        match i.inst.operands[..] {
            [Operand::LiteralBit32(bits)] => Some(bits),
            _ => None,
        }
    }

    /// A built-in input as an unsigned number.
    fn input(&mut self, of: BuiltIn, insts: &mut Vec<Inst>) -> Result<u32> {
        let uint = self.s.types.uvec(&mut self.s.module, 1);
        if of != BuiltIn::RayTmaxKHR {
            return load_as(self.s, of, uint, insts);
        }
        let bits = vec![Operand::LiteralBit32(32)];
        let float = self.s.types.get(&mut self.s.module, Op::TypeFloat, None, bits);
        let t = load_as(self.s, of, float, insts)?;
        let id = self.s.module.fresh();
        insts.push(Inst::new(Op::Bitcast, Some(uint), Some(id), vec![Operand::IdRef(t)]));
        Ok(id)
    }

    fn shifted(&mut self, id: u32, by: u32, insts: &mut Vec<Inst>) -> u32 {
        if by == 0 {
            return id;
        }
        let uint = self.s.types.uvec(&mut self.s.module, 1);
        let (by, to) = (self.s.constant(by), self.s.module.fresh());
        let operands = [id, by].map(Operand::IdRef).to_vec();
        insts.push(Inst::new(Op::ShiftRightLogical, Some(uint), Some(to), operands));
        to
    }

    fn packed(&mut self, wide: u32, narrow: u32, insts: &mut Vec<Inst>) -> Result<u32> {
        let uint = self.s.types.uvec(&mut self.s.module, 1);
        let f = self.s.import(self.probes, "rays_pack")?;
        let (call, id) = self.s.call_for(f, uint, &[wide, narrow]);
        insts.push(call);
        Ok(id)
    }

    /// Puts words where the probe takes them from.
    pub(super) fn store(&mut self, words: &[u32], insts: &mut Vec<Inst>) -> Result<()> {
        let Some(array) = self.s.imported.shared("rr_rays") else {
            return malformed("the probe has no rr_rays");
        };
        let uint = self.s.types.uvec(&mut self.s.module, 1);
        let pointer = self.s.types.pointer(&mut self.s.module, StorageClass::Private, uint);
        for (&word, n) in words.iter().zip(0..) {
            let index = self.s.constant(n);
            let at = self.s.module.fresh();
            let operands = [array, index].map(Operand::IdRef).to_vec();
            insts.push(Inst::new(Op::AccessChain, Some(pointer), Some(at), operands));
            insts.push(Inst::new(Op::Store, None, None, [at, word].map(Operand::IdRef).to_vec()));
        }
        Ok(())
    }
}
