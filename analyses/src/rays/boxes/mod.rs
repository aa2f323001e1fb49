//! Tests of objects that a ray would not have needed, and why it was given them: against a reference hierarchy of the
//! application's own boxes and triangles (Cheung 2024, §3.5, §3.7.2).
//!
//! A *test* is an intersection shader that was entered for a box, or an any-hit shader that was entered for a triangle. (An
//! any-hit shader of what an intersection shader reports belongs to that test.) A ray's *final hit* is the one that it ended
//! with, at distance *t\**. A test of a ray is
//! - *needed*: its object was hit, no farther than the final hit (the final hit itself; what was nearer and ignored);
//! - *farther*: its object was hit, farther than the final hit;
//! - *missed*: its object was not hit: only intersection shaders find that out;
//! - *repeated*: its object had been tested for this ray before.
//!
//! All but the first are unnecessary: they would not have run had the ray met *objects* in the order of their distance
//! (§3.7.2: "intersection tests that would not have occurred if intersections with objects along a ray had been processed in
//! order of increasing distance along the ray"). The thesis itself counts those that are farther, by their any-hit shaders.
//!
//! *Classes.* The ideal traversal meets *boxes* in order. Where the application gave boxes, these are they. Of triangles it gave
//! none; what it placed is an instance, so its box is the one around all triangles of the bottom level, as the instance turns
//! it, and triangles in it are met in the order of their distance. (A bottom level is of one kind.) A box's distance is where
//! the ray enters it, or the ray's begin where that lies in it. The nearest box is taken next; what is in it is tested; once a
//! box begins farther than the closest hit so far, the ray is done. Equal distances: by instance, geometry, primitive. A farther
//! or missed test is of class *R1* if the ideal traversal has it, too (boxes overlap, or are larger than what is in them), else
//! of {*R2*, *R3*} (the device's boxes are larger than the application's, or it does not go in order; Cheung 2024, §3.7.2).
//! Repeated tests are of {R2, R3}. For boxes without triangles among them, the ideal traversal tests exactly what the ray
//! enters no later than at t\*. Of triangles it tests some behind t\* where the boxes of instances overlap; a device need not.
//!
//! In the ideal traversal, hits are those that were recorded: a hit that was ignored, or that no shader found, ends nothing.
//! Triangles are met exactly; opaque ones leave no event and end the ray all the same. An any-hit shader that the recorded
//! traversal never entered is taken to have accepted its hit; how often that came to it is counted (*guessed*).
//!
//! *Rounding.* Boxes are taken to be wider by 2⁻²⁰ of the numbers that they are compared with, as a device calculates with 24
//! bits; its coarser boxes (8 bits a side, and the like) are what R2 is about.
//!
//! *Not judged:* rays that end at their first hit, by flag or by shader, as their order is not about distance; rays whose final
//! hit is not known (implicit hits of occlusion rays; hit groups without closest-hit shader). Misses are: they need nothing.
//! *Not classified:* tests of objects that the tables do not hold, or of structures that miss something (motion, micromaps).
//!
//! *Which top level.* A launch may have several. Of each call that begins rays, that one is taken whose boxes contain the most
//! of the places where its rays hit; that share is a number of the report.

mod bvh;
mod choose;
mod columns;
mod ideal;
mod judge;
mod place;
pub mod question;
mod rays;
mod scene;
#[cfg(test)]
mod tests;

pub use ideal::{Ideal, Known};
pub use judge::{Judged, LaunchSums, Sums, judge, judge_all, maps};
pub use place::{Entry, Ray};
pub use question::QUESTION;
pub use rays::Begins;
pub use scene::{Bottom, Geometry, Instance, Leaf, Scenes, Shape, Top};
