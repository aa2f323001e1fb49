//! From casts back to the loads that their values come from.
//!
//! Guarantees: at most so many values are looked at as [`limits`] says, for one cast and for all; a cast that needs more is
//! counted as not followed. Refuses nothing.

use crate::index::{Index, op, opcode};
use crate::layouts::{Layouts, class};
use crate::{Dim, Field, Target, limits};
use std::collections::{HashMap, HashSet};

/// Where something lies.
struct Place {
    holder: Holder,
    ty: u32,
    offset: u32,
    dims: Vec<Dim>,
}

enum Holder {
    /// A layout.
    Layout(usize),
    /// A variable of the shader's own.
    Local(u32),
}

/// Adds every pointer that is made by a cast to the layout it is loaded from; how many casts end elsewhere.
pub(crate) fn casts(layouts: &mut Layouts<'_, '_>) -> u32 {
    let index = layouts.index;
    let (mut untraced, mut left) = (0, limits::MOST_VALUES_IN_ALL);
    let stores = stores(layouts);
    for cast in &index.casts {
        let &[_, ty, _, value] = *cast else { continue };
        let target = if opcode(cast) == op::CONVERT_U_TO_ACCELERATION_STRUCTURE {
            Target::Structure
        } else if matches!(index.pointer(ty), Some((class::PHYSICAL_STORAGE_BUFFER, _))) {
            // From pointer to pointer: the first one was found where it came from, and leads to this as well.
            Target::Layout(layouts.behind(ty))
        } else {
            continue;
        };
        let most = limits::MOST_VALUES.min(left);
        let mut walk =
            Walk { index, stores: &stores, most, seen: HashSet::new(), found: Vec::new(), open: false };
        walk.value(layouts, value, &[], false);
        left -= walk.seen.len().min(left);
        for (layout, offset, dims) in walk.found {
            layouts.add(layout, Field { offset, dims, target });
        }
        untraced += u32::from(walk.open);
        layouts.settle();
    }
    untraced
}

/// What is stored to variables of the shader's own, by variable: the pointer it is stored to, and the value.
fn stores(layouts: &mut Layouts<'_, '_>) -> HashMap<u32, Vec<(u32, u32)>> {
    let index = layouts.index;
    let mut all: HashMap<u32, Vec<(u32, u32)>> = HashMap::new();
    for &(to, value) in &index.stores {
        if let Some(Place { holder: Holder::Local(variable), .. }) = place(layouts, index, to, 0) {
            all.entry(variable).or_default().push((to, value));
        }
    }
    all
}

struct Walk<'i, 'w> {
    index: &'i Index<'w>,
    stores: &'i HashMap<u32, Vec<(u32, u32)>>,
    /// How many values it may look at.
    most: usize,
    seen: HashSet<(u32, Vec<u32>)>,
    /// Layout, offset, arrays around it.
    found: Vec<(usize, u32, Vec<Dim>)>,
    /// Some value comes from where this does not follow.
    open: bool,
}

impl Walk<'_, '_> {
    /// Where the part `path` of a value comes from; `half`: it is the low half of an address.
    fn value(&mut self, layouts: &mut Layouts<'_, '_>, id: u32, path: &[u32], half: bool) {
        if self.seen.len() >= self.most || path.len() > limits::DEEPEST_PATH {
            self.open = true;
            return;
        }
        if !self.seen.insert((id, path.to_vec())) {
            return;
        }
        let def = self.index.def(id);
        match (opcode(def), def) {
            (op::LOAD, [_, _, _, pointer, ..]) => self.loaded(layouts, *pointer, path, half),
            (op::COMPOSITE_EXTRACT, [_, _, _, of, more @ ..]) => {
                self.value(layouts, *of, &[more, path].concat(), half);
            }
            (op::COMPOSITE_CONSTRUCT, [_, _, _, parts @ ..]) => match path {
                // Two words: the low one says where.
                [] => parts.first().into_iter().for_each(|p| self.value(layouts, *p, &[], true)),
                [i, rest @ ..] => match parts.get(*i as usize) {
                    Some(part) => self.value(layouts, *part, rest, half),
                    None => self.open = true,
                },
            },
            (op::VECTOR_SHUFFLE, [_, _, _, a, _, first, ..]) if path.is_empty() => {
                self.value(layouts, *a, &[*first], true);
            }
            (op::U_CONVERT, [_, _, _, of]) => self.value(layouts, *of, path, true),
            (op::BITCAST | op::COPY_OBJECT | op::COPY_LOGICAL | op::CONVERT_U_TO_PTR, [_, _, _, of]) => {
                self.value(layouts, *of, path, half);
            }
            // Of a high and a low half, or an address and a distance: whatever of it is loaded.
            (op::I_ADD | op::I_SUB | op::BITWISE_OR, [_, _, _, a, b]) => {
                self.value(layouts, *a, path, half);
                self.value(layouts, *b, path, half);
            }
            (op::SELECT, [_, _, _, _, a, b]) => {
                self.value(layouts, *a, path, half);
                self.value(layouts, *b, path, half);
            }
            (op::PHI, [_, _, _, pairs @ ..]) => {
                pairs.iter().step_by(2).for_each(|v| self.value(layouts, *v, path, half));
            }
            (op::FUNCTION_PARAMETER, _) => {
                let Some(&(function, place)) = self.index.parameters.get(&id) else { return };
                for call in self.index.calls.get(&function).into_iter().flatten() {
                    call.get(place).into_iter().for_each(|v| self.value(layouts, *v, path, half));
                }
            }
            (op::FUNCTION_CALL, [_, _, _, function, ..]) => {
                for v in self.index.returns.get(function).into_iter().flatten() {
                    self.value(layouts, *v, path, half);
                }
            }
            // A high half, and distances.
            (op::SHIFT_LEFT_LOGICAL | op::CONSTANT, _) => {}
            _ => self.open = true,
        }
    }

    fn loaded(&mut self, layouts: &mut Layouts<'_, '_>, pointer: u32, path: &[u32], half: bool) {
        let Some(mut place) = place(layouts, self.index, pointer, 0) else {
            self.open = true;
            return;
        };
        match place.holder {
            Holder::Local(variable) => {
                for &(to, value) in self.stores.get(&variable).into_iter().flatten() {
                    // Parts of a variable are not told apart: a value of another kind ends nowhere.
                    let whole = to == pointer;
                    self.value(layouts, value, if whole { path } else { &[] }, half);
                }
            }
            Holder::Layout(layout) => {
                for &i in path {
                    if !step(layouts, self.index, &mut place, Some(i)) {
                        return;
                    }
                }
                let bytes = layouts.bytes(place.ty, 0);
                if bytes == 8 || (half && bytes == 4) {
                    self.found.push((layout, place.offset, place.dims));
                }
            }
        }
    }
}

/// Where a pointer points.
fn place(layouts: &mut Layouts<'_, '_>, index: &Index<'_>, pointer: u32, depth: u32) -> Option<Place> {
    if depth > limits::DEEPEST_PLACE {
        return None;
    }
    let def = index.def(pointer);
    let (class, to) = index.pointer(index.type_of(pointer))?;
    match (opcode(def), def) {
        (op::VARIABLE, _) => {
            if let Some(layout) = layouts.of_variable(pointer) {
                return Some(Place { holder: Holder::Layout(layout), ty: to, offset: 0, dims: Vec::new() });
            }
            let local = matches!(class, class::FUNCTION | class::PRIVATE);
            local.then(|| Place { holder: Holder::Local(pointer), ty: to, offset: 0, dims: Vec::new() })
        }
        (op::ACCESS_CHAIN | op::IN_BOUNDS_ACCESS_CHAIN, [_, _, _, base, steps @ ..]) => {
            let mut place = place(layouts, index, *base, depth + 1)?;
            walk_in(layouts, index, &mut place, steps)?;
            Some(place)
        }
        (op::PTR_ACCESS_CHAIN | op::IN_BOUNDS_PTR_ACCESS_CHAIN, [_, _, _, base, _, steps @ ..]) => {
            // The stride is the pointer type's, and so of the layout behind it.
            let mut place = place(layouts, index, *base, depth + 1)?;
            if let Some(&stride) = index.array_stride.get(&index.type_of(*base))
                && place.dims.is_empty()
            {
                place.dims.push(Dim { stride, count: None });
            }
            walk_in(layouts, index, &mut place, steps)?;
            Some(place)
        }
        (op::COPY_OBJECT, [_, _, _, of]) => place(layouts, index, *of, depth + 1),
        // Any other pointer to physical storage is a value, which leads to its layout.
        _ if class == class::PHYSICAL_STORAGE_BUFFER => {
            let layout = layouts.behind(index.type_of(pointer));
            Some(Place { holder: Holder::Layout(layout), ty: to, offset: 0, dims: Vec::new() })
        }
        _ => None,
    }
}

fn walk_in(layouts: &mut Layouts<'_, '_>, index: &Index<'_>, place: &mut Place, steps: &[u32]) -> Option<()> {
    for &s in steps {
        if !step(layouts, index, place, index.constant(s)) {
            return None;
        }
    }
    Some(())
}

/// Goes one step into a type; which one is known if it is a constant.
fn step(layouts: &Layouts<'_, '_>, index: &Index<'_>, place: &mut Place, which: Option<u32>) -> bool {
    let def = index.def(place.ty);
    match (opcode(def), def) {
        (op::TYPE_STRUCT, [_, _, members @ ..]) => {
            let Some(m) = which else { return false };
            let (Some(&ty), at) = (members.get(m as usize), index.member_offset.get(&(place.ty, m))) else {
                return false;
            };
            place.offset = place.offset.saturating_add(at.copied().unwrap_or(0));
            place.ty = ty;
        }
        (op::TYPE_ARRAY | op::TYPE_RUNTIME_ARRAY, [_, _, element, ..]) => {
            let dim = layouts.dim(place.ty);
            place.ty = *element;
            match which {
                // An array of descriptors has no stride: each is as the other.
                _ if dim.stride == 0 => {}
                Some(i) if place.dims.is_empty() => {
                    place.offset = place.offset.saturating_add(i.saturating_mul(dim.stride));
                }
                _ => place.dims.push(dim),
            }
        }
        (op::TYPE_VECTOR, [_, _, of, ..]) => {
            let Some(i) = which else { return false };
            place.offset = place.offset.saturating_add(i.saturating_mul(layouts.bytes(*of, 0)));
            place.ty = *of;
        }
        _ => return false,
    }
    true
}
