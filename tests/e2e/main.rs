//! End-to-end tests: real captures through the whole house. The one integration-test binary of the package.
//!
//! Captures come from `../shared/captures` (tests say by name that they skip it where that folder is absent), from
//! `captures/samples`, and from the folder that `RERAY_EXTRA_CAPTURES` names, if it is set.

mod analyze;
mod attachments;
mod bench;
mod bench_again;
mod blocks;
mod book;
mod budget;
mod builds;
mod causes;
mod changes;
mod check;
mod chosen;
mod cli;
mod closed_forms;
mod compressed;
mod counters;
mod counts;
mod damage;
#[cfg(feature = "database")]
mod database;
mod device;
#[cfg(feature = "database")]
mod diff;
mod divergence;
mod dump_resources;
mod engines;
mod errors;
mod geometry;
mod habits;
mod half_floats;
mod hostile;
mod in_the_driver;
mod its;
mod learnt;
mod lifetimes;
mod live;
mod looped;
#[allow(dead_code, reason = "the scenes' own; content of one needs some of it")]
#[path = "../../captures/src/math.rs"]
mod math;
mod matrix;
#[cfg(feature = "mcp")]
mod mcp;
mod measured;
mod memory;
mod mutants;
mod order;
mod ordering;
mod outside;
mod parity;
mod passes;
mod paths;
mod pictures;
mod plans;
mod planted;
mod pointers;
mod portability;
mod profile;
mod ray;
mod ray_dump;
mod ray_efficiency;
mod ray_events;
mod ray_pass;
mod rays;
mod reduce;
mod repack;
mod repartition;
mod replay;
mod report;
mod resources;
mod roundtrip;
mod sampled;
mod schema;
mod screenshot;
mod ser;
mod siblings;
mod simt;
mod stand_ins;
mod suite;
mod support;
mod swizzle;
mod timeline;
mod times;
mod trim;
mod trimmed;
mod uniform;
mod unread;
mod verdict;
mod watchdog;
mod what_if;
