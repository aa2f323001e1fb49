//! A hierarchy of boxes: halves along the longest side, down to a few.
//!
//! It finds what a ray enters, and nothing else: which order a device would take is not its affair.

use super::place::{Entry, Line, V};

/// In one leaf at most.
const LEAF: usize = 4;

/// Of a box: the least and the greatest corner.
pub type Bounds = (V, V);

/// Nothing.
const EMPTY: Bounds = ([f64::INFINITY; 3], [f64::NEG_INFINITY; 3]);

/// Both.
pub fn join(a: &Bounds, b: &Bounds) -> Bounds {
    (std::array::from_fn(|k| a.0[k].min(b.0[k])), std::array::from_fn(|k| a.1[k].max(b.1[k])))
}

struct Node {
    bounds: Bounds,
    /// Boxes from here on, or the two children.
    from: u32,
    count: u32,
}

/// See the module's header.
#[derive(Default)]
pub struct Bvh {
    nodes: Vec<Node>,
    /// The boxes' numbers, those of a leaf one behind the other.
    order: Vec<u32>,
}

impl Bvh {
    /// Over boxes.
    pub fn new(boxes: &[Bounds]) -> Bvh {
        let mut bvh = Bvh { nodes: vec![], order: (0..boxes.len() as u32).collect() };
        if boxes.is_empty() {
            return bvh;
        }
        bvh.nodes.push(Node { bounds: EMPTY, from: 0, count: 0 });
        let mut order = std::mem::take(&mut bvh.order);
        bvh.build(boxes, &mut order, 0, 0);
        bvh.order = order;
        bvh
    }

    fn build(&mut self, boxes: &[Bounds], order: &mut [u32], begin: usize, node: usize) {
        let bounds = order.iter().fold(EMPTY, |all, n| join(&all, &boxes[*n as usize]));
        if order.len() <= LEAF {
            self.nodes[node] = Node { bounds, from: begin as u32, count: order.len() as u32 };
            return;
        }
        let centre = |n: u32, k: usize| boxes[n as usize].0[k] + boxes[n as usize].1[k];
        // (along the side on which the centres lie farthest apart: one huge box among small ones decides nothing)
        let spread = |k: usize| {
            let ends = order.iter().fold((f64::INFINITY, f64::NEG_INFINITY), |(a, b), n| {
                (a.min(centre(*n, k)), b.max(centre(*n, k)))
            });
            ends.1 - ends.0
        };
        let sides = [spread(0), spread(1), spread(2)];
        let side = (0..3).max_by(|a, b| sides[*a].total_cmp(&sides[*b])).unwrap_or(0);
        let middle = order.len() / 2;
        order.select_nth_unstable_by(middle, |a, b| {
            centre(*a, side).total_cmp(&centre(*b, side)).then(a.cmp(b))
        });
        let children = self.nodes.len();
        self.nodes.extend([(); 2].map(|()| Node { bounds: EMPTY, from: 0, count: 0 }));
        self.nodes[node] = Node { bounds, from: children as u32, count: 0 };
        let (first, second) = order.split_at_mut(middle);
        self.build(boxes, first, begin, children);
        self.build(boxes, second, begin + middle, children + 1);
    }

    /// Around everything.
    pub fn bounds(&self) -> Option<Bounds> {
        self.nodes.first().map(|n| n.bounds)
    }

    /// Each box, by its number, in a leaf that the line enters before `most`.
    #[inline]
    pub fn along(&self, line: &Line, most: f64, rounding: f64, mut each: impl FnMut(u32)) {
        let enters = |n: u32| -> Option<Entry> {
            let (low, high) = &self.nodes[n as usize].bounds;
            line.enters(low, high, most, rounding)
        };
        // (halves: as deep as there are bits in a number, and one more on the way)
        let mut stack = [0u32; 72];
        let mut depth = usize::from(!self.nodes.is_empty());
        while depth > 0 {
            depth -= 1;
            let number = stack[depth];
            if enters(number).is_none() {
                continue;
            }
            let node = &self.nodes[number as usize];
            if node.count > 0 {
                let from = node.from as usize;
                self.order[from..from + node.count as usize].iter().for_each(|n| each(*n));
                continue;
            }
            (stack[depth], stack[depth + 1]) = (node.from, node.from + 1);
            depth += 2;
        }
    }
}
