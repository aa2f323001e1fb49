//! Everything that is measured of a capture's bindings: redundancy, the classes of pipelines, and what each plan costs.
//!
//! Guarantees: draws are gone through once for all classes and plans.

use super::evaluate::{Cost, Running};
use super::partition::{Class, PLANS, Places, Plan, classes, places};
use super::redundancy::{Redundancy, measure};
use crate::bindings::resources::{Model, NOTHING};
use std::collections::BTreeMap;

/// See the module's header.
pub struct Answer {
    /// Of every pipeline.
    pub redundancy: Redundancy,
    /// Pipelines that share a layout.
    pub classes: Vec<Class>,
    /// By pipeline.
    pub class_of: Vec<u32>,
    /// By class and plan: where slots go, and what it costs.
    pub plans: BTreeMap<(u32, Plan), (Places, Cost)>,
}

impl Answer {
    /// Measures a capture.
    pub fn of(model: &Model) -> Answer {
        let redundancy = measure(model);
        let (classes, class_of) = classes(model, &redundancy);
        let mut running: Vec<Vec<(Plan, Places, Running<'_>)>> = vec![];
        for class in &classes {
            let plans = [Plan::AsIs].into_iter().chain(PLANS);
            let of = plans.filter_map(|plan| Some((plan, places(class, plan)?)));
            let begin = |(plan, places): (Plan, Places)| {
                let running = Running::new(model, class, &places, plan == Plan::AsIs);
                (plan, places, running)
            };
            running.push(of.map(begin).collect());
        }
        let mut before: Option<(u32, u32, usize)> = None;
        for (row, i) in model.invocations.iter().enumerate() {
            let class = class_of.get(i.pipeline as usize).copied().unwrap_or(NOTHING);
            let was = before.filter(|b| (b.0, b.1) == (class, i.execution)).map(|b| b.2);
            before = Some((class, i.execution, row));
            let Some(plans) = running.get_mut(class as usize) else { continue };
            plans.iter_mut().for_each(|(_, _, running)| running.take(was, row));
        }
        let costs = running.into_iter().enumerate().flat_map(|(n, plans)| {
            plans.into_iter().map(move |(plan, places, r)| ((n as u32, plan), (places, r.cost)))
        });
        let plans = costs.collect();
        Answer { redundancy, classes, class_of, plans }
    }

    /// What a class costs with a plan, or as it is where the plan moves nothing.
    pub fn cost(&self, class: u32, plan: Plan) -> Cost {
        let made = self.plans.get(&(class, plan)).or_else(|| self.plans.get(&(class, Plan::AsIs)));
        made.map(|m| m.1).unwrap_or_default()
    }

    /// The whole capture.
    pub fn whole(&self, plan: Plan) -> Cost {
        (0..self.classes.len() as u32).fold(Cost::default(), |mut sum, class| {
            sum.add(self.cost(class, plan));
            sum
        })
    }

    /// The plan with the fewest descriptors; of such, with the fewest calls, then sets in the layout.
    pub fn best(&self, class: u32) -> Plan {
        let key = |plan: &Plan| {
            let cost = self.cost(class, *plan);
            let highest = self.plans.get(&(class, *plan)).map(|p| p.0.iter().map(|p| p.0).max());
            (cost.descriptors, cost.calls, highest)
        };
        let made = |plan: &Plan| self.plans.contains_key(&(class, *plan));
        [Plan::AsIs].into_iter().chain(PLANS).filter(made).min_by_key(key).unwrap_or(Plan::AsIs)
    }
}
