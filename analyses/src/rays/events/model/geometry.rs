//! The model's boxes as tables of what acceleration structures hold: a top level over an instance of each material.

use super::Model;
use super::scene::{Material, Scene, add};
use trace::tables::{BOXES, GEOMETRIES, INSTANCES, LAUNCH_STRUCTURES, STRUCTURES};
use trace::{Table, Value};

impl Model {
    /// Puts all rows: structure 0 is the top level, 1 to 3 are those of matt, metal and glass.
    pub fn geometry(&self, put: &mut dyn FnMut(&'static Table, &[Value<'_>])) {
        let scene = Scene::new(self.side, self.seed);
        let structure = |number: u64, kind: &'static str, geometries: u64, primitives: u64| {
            let words = [Value::Text(kind), Value::Text("build")];
            let numbers = [0, 0, geometries, primitives].map(Value::U64);
            let mut row = vec![Value::U64(number), Value::U64(number)];
            row.extend(words.into_iter().chain(numbers));
            row.push(Value::Text(""));
            row
        };
        for material in [Material::Matt, Material::Metal, Material::Glass] {
            let number = material as u64 + 1;
            let mut spheres: Vec<_> = scene.spheres.iter().filter(|s| s.material == material).collect();
            spheres.sort_by_key(|s| s.primitive);
            put(&STRUCTURES, &structure(number, "bottom", 1, spheres.len() as u64));
            let tail = [0, 0, spheres.len() as u64].map(Value::U64);
            let head = [Value::U64(number), Value::U64(0), Value::Text("boxes")];
            put(&GEOMETRIES, &[head, tail].concat());
            for s in spheres {
                let (low, high) = (add(s.centre, [1.0; 3], -s.radius), add(s.centre, [1.0; 3], s.radius));
                let mut row = [number, 0, s.primitive.into()].map(Value::U64).to_vec();
                row.extend(low.into_iter().chain(high).map(|x| Value::F64(x.into())));
                put(&BOXES, &row);
            }
            let instance = material as u64;
            let mut row = [0, instance, instance, 0xFF, 0, 0, number, number].map(Value::U64).to_vec();
            row.extend((0..12).map(|n| Value::F64(if n % 5 == 0 { 1.0 } else { 0.0 })));
            put(&INSTANCES, &row);
        }
        put(&STRUCTURES, &structure(0, "top", 0, 3));
        put(&LAUNCH_STRUCTURES, &[1, 0, 0, 0].map(Value::U64));
    }
}
