//! features TRACE OUT METHOD...: features of each subgroup under each method, as .npy (in measure.sh: dump). Put into analyses/examples.
use analyses::context::Context;
use analyses::events::{Launch, NO, Wants, read};
use analyses::repack::{Work, asked, spread, swizzle};
use rayon::prelude::*;
use std::io::Write;
use std::path::Path;
use std::sync::Mutex;
use trace::Source;
use trace::dir::Dir;
use trace::tables::{RAYS, RayEvent};

const F: usize = 24;

fn npy(path: &Path, descr: &str, shape: &str, bytes: &[u8]) {
    let mut head = format!("{{'descr': '{descr}', 'fortran_order': False, 'shape': ({shape}), }}");
    while (10 + head.len() + 1) % 64 != 0 {
        head.push(' ');
    }
    head.push('\n');
    let mut f = std::fs::File::create(path).unwrap();
    f.write_all(b"\x93NUMPY\x01\x00").unwrap();
    f.write_all(&(head.len() as u16).to_le_bytes()).unwrap();
    f.write_all(head.as_bytes()).unwrap();
    f.write_all(bytes).unwrap();
}

/// A ray of an invocation.
#[derive(Clone, Default)]
struct Ray {
    at: [f32; 6],
    /// Objects that traversal shaders were called for.
    from: u32,
    calls: u32,
    /// The shader that ended it, and the object.
    ends: Vec<u16>,
    object: u32,
}

fn main() {
    let args: Vec<String> = std::env::args().collect();
    let dir = Dir::open(Path::new(&args[1])).expect("trace");
    let out = Path::new(&args[2]);
    std::fs::create_dir_all(out).unwrap();
    let context = Context::read(&dir).unwrap();
    let events = read(&dir, &context, Wants::default()).unwrap();
    // Origins and directions of begins, by launch and invocation, in program order.
    let mut begins: Vec<Vec<Vec<[f32; 6]>>> = events.launches.iter().map(|l| vec![vec![]; l.threads()]).collect();
    let columns = [
        "frame", "launch", "invocation", "kind", "origin_x", "origin_y", "origin_z", "direction_x", "direction_y",
        "direction_z",
    ];
    dir.each_of(&RAYS, &columns, &mut |t| {
        let [f, l, i, k] = ["frame", "launch", "invocation", "kind"].map(|c| t.u64(c));
        let ray = ["origin_x", "origin_y", "origin_z", "direction_x", "direction_y", "direction_z"].map(|c| t.f64(c));
        for row in 0..t.len() {
            if k[row] <= 1 {
                let at = events.launches.iter().position(|x| (x.frame, x.launch) == (f[row], l[row])).unwrap();
                begins[at][i[row] as usize].push(ray.map(|c| c[row] as f32));
            }
        }
        Ok(())
    })
    .unwrap();
    for (number, launch) in events.launches.iter().enumerate() {
        let work = Work::new(&events, launch);
        // Rays of each invocation.
        let begun = &begins[number];
        let kind = |c: u16| events.codes[usize::from(c)].kind;
        let rays: Vec<Vec<Ray>> = (0..launch.threads())
            .into_par_iter()
            .map(|t| {
                let mut all: Vec<Ray> = vec![];
                let mut open: Vec<usize> = vec![];
                for at in launch.events(t) {
                    let c = launch.code[at];
                    match kind(c) {
                        k if k.begins() => {
                            let n = all.len();
                            open.push(n);
                            let b = begun[t].get(n).copied().unwrap_or_default();
                            all.push(Ray { at: b, from: at as u32, object: NO, ..Ray::default() });
                        }
                        RayEvent::Intersection | RayEvent::AnyHit => {
                            if let Some(r) = open.last().map(|r| &mut all[*r]) {
                                r.calls += 1;
                            }
                        }
                        RayEvent::Miss | RayEvent::ClosestHit => {
                            if let Some(r) = open.last().map(|r| &mut all[*r]) {
                                r.ends.push(c);
                                r.object = launch.object[at];
                            }
                        }
                        RayEvent::End => {
                            open.pop();
                        }
                        _ => {}
                    }
                }
                all
            })
            .collect();
        let objects = |t: usize, r: &Ray| -> Vec<u32> {
            let mut o = vec![];
            for at in r.from as usize..launch.starts[t + 1] {
                match kind(launch.code[at]) {
                    RayEvent::Intersection | RayEvent::AnyHit => o.push(launch.object[at]),
                    RayEvent::Miss | RayEvent::ClosestHit | RayEvent::End => break,
                    _ => {}
                }
            }
            o
        };
        // The world's box, of the middle 98 % of origins.
        let mut bounds = [[0f32; 2]; 3];
        for axis in 0..3 {
            let mut v: Vec<f32> = begun.iter().flatten().step_by(37).map(|b| b[axis]).filter(|v| v.is_finite()).collect();
            v.sort_by(f32::total_cmp);
            if !v.is_empty() {
                bounds[axis] = [v[v.len() / 100], v[v.len() - 1 - v.len() / 100]];
            }
        }
        let extent = bounds.map(|b| (b[1] - b[0]).max(1e-6));
        let diagonal = extent.iter().map(|e| e * e).sum::<f32>().sqrt();
        let cell = |r: &Ray| {
            (0..3).fold(0u32, |c, a| {
                c << 5 | (((r.at[a] - bounds[a][0]) / diagonal * 32.0).clamp(0.0, 31.0) as u32)
            })
        };
        let octant = |r: &Ray| (0..3).fold(0u32, |c, a| c << 1 | u32::from(r.at[3 + a] < 0.0));
        let lists = Mutex::new(vec![]);
        for spec in &args[3..] {
            let spec = spec.as_str();
            let Ok(wanted) = spec.parse() else { panic!("{spec}") };
            let (method, options) = asked(&wanted, 0).unwrap();
            let s = swizzle(method, &work, &options);
            let packing = work.recorded.swizzled(&s.indices);
            let features: Vec<[u16; F]> = (0..packing.len())
                .into_par_iter()
                .map(|w| {
                    let members = packing.warp(w);
                    let mut f = [0f64; F];
                    f[0] = members.len() as f64;
                    for e in work.replayer.warp(members) {
                        f[match kind(e.code) {
                            k if k.begins() => 1,
                            RayEvent::Intersection | RayEvent::AnyHit => 2,
                            RayEvent::Miss => 3,
                            RayEvent::ClosestHit => 4,
                            _ => 5,
                        }] += 1.0;
                    }
                    let rounds = members.iter().map(|t| rays[*t as usize].len()).max().unwrap_or(0);
                    f[6] = rounds as f64;
                    for k in 0..rounds {
                        let here: Vec<(usize, &Ray)> = (members.iter())
                            .filter_map(|t| rays[*t as usize].get(k).map(|r| (*t as usize, r)))
                            .collect();
                        f[7] += here.len() as f64;
                        f[8] += f64::from(here.iter().map(|r| r.1.calls).max().unwrap_or(0));
                        f[19] += here.iter().map(|r| f64::from(r.1.calls)).sum::<f64>();
                        let distinct = |mut v: Vec<u32>| {
                            v.sort_unstable();
                            v.dedup();
                            v.len() as f64
                        };
                        f[9] += distinct(here.iter().map(|r| r.1.object).collect());
                        f[10] += distinct(here.iter().flat_map(|r| r.1.ends.iter().map(|e| u32::from(*e))).collect());
                        f[11] += distinct(here.iter().flat_map(|r| objects(r.0, r.1)).collect());
                        f[12] += distinct(here.iter().map(|r| octant(r.1)).collect());
                        f[13] += distinct(here.iter().map(|r| cell(r.1)).collect());
                        let n = here.len() as f32;
                        let mean = |c: usize| here.iter().map(|r| r.1.at[c]).sum::<f32>() / n;
                        let length = |r: &Ray| (3..6).map(|c| r.at[c] * r.at[c]).sum::<f32>().sqrt().max(1e-20);
                        let turned: [f32; 3] =
                            [3, 4, 5].map(|c| here.iter().map(|r| r.1.at[c] / length(r.1)).sum::<f32>() / n);
                        let spread = 1.0 - turned.iter().map(|v| v * v).sum::<f32>().sqrt();
                        f[14] += f64::from(spread) * 100.0;
                        let centre = [0, 1, 2].map(mean);
                        let off = here.iter().map(|r| {
                            (0..3).map(|a| (r.1.at[a] - centre[a]).powi(2)).sum::<f32>()
                        });
                        f[15] += f64::from((off.sum::<f32>() / n).sqrt() / diagonal) * 100.0;
                    }
                    let blocks = |bw: u32, bh: u32| {
                        let mut v: Vec<u32> = members
                            .iter()
                            .map(|t| launch.pixel(*t as usize))
                            .map(|[x, y, _]| (y / bh) << 16 | (x / bw))
                            .collect();
                        v.sort_unstable();
                        v.dedup();
                        v.len() as f64
                    };
                    f[16] = blocks(8, 1);
                    f[17] = blocks(8, 4);
                    f[18] = blocks(32, 32);
                    let p: Vec<[f64; 2]> = (members.iter())
                        .map(|t| launch.pixel(*t as usize))
                        .map(|[x, y, _]| [f64::from(x), f64::from(y)])
                        .collect();
                    let c = [0, 1].map(|k| p.iter().map(|p| p[k]).sum::<f64>() / p.len() as f64);
                    f[21] = 8.0 * p.iter().map(|p| (p[0] - c[0]).hypot(p[1] - c[1])).sum::<f64>() / p.len() as f64;
                    // Events if nothing of traversal were shared.
                    f[20] = f[1] + f[3] + f[4] + f[5] + f[11];
                    f.map(|v| v.round().clamp(0.0, 65535.0) as u16)
                })
                .collect();
            let name = spec.replace([':', '='], "_");
            let bytes: Vec<u8> = features.iter().flatten().flat_map(|v| v.to_le_bytes()).collect();
            npy(&out.join(format!("l{number}_{name}.npy")), "<u2", &format!("{}, {F}", features.len()), &bytes);
            let e = work.replayer.efficiency(&packing);
            lists.lock().unwrap().push(format!(
                "{number} {spec} {} {:.3} {:.4}",
                e.counted.synthetic.events,
                e.percent().unwrap_or(0.0),
                spread(&work, &packing)
            ));
        }
        // Places: the number that the device gave each subgroup, its first pixel, and lengths.
        let numbers: Vec<u8> = (0..work.recorded.len())
            .flat_map(|w| launch.subgroup[work.recorded.warp(w)[0] as usize].to_le_bytes())
            .collect();
        npy(&out.join(format!("l{number}_order.npy")), "<u4", &format!("{},", work.recorded.len()), &numbers);
        let members: Vec<u8> = work.recorded.threads.iter().flat_map(|t| t.to_le_bytes()).collect();
        npy(&out.join(format!("l{number}_threads.npy")), "<u4", &format!("{},", work.recorded.threads.len()), &members);
        let starts: Vec<u8> = work.recorded.starts.iter().flat_map(|t| t.to_le_bytes()).collect();
        npy(&out.join(format!("l{number}_starts.npy")), "<u4", &format!("{},", work.recorded.starts.len()), &starts);
        // Rays of each invocation, and of each ray: calls, how it ended, what it met.
        let counts: Vec<u8> = rays.iter().flat_map(|r| (r.len() as u16).to_le_bytes()).collect();
        npy(&out.join(format!("l{number}_rays.npy")), "<u2", &format!("{},", rays.len()), &counts);
        let total: usize = rays.iter().map(Vec::len).sum();
        let calls: Vec<u8> = rays.iter().flatten().map(|r| r.calls.min(255) as u8).collect();
        npy(&out.join(format!("l{number}_calls.npy")), "|u1", &format!("{total},"), &calls);
        let met: Vec<u8> = rays.iter().flatten().flat_map(|r| (r.object as u16).to_le_bytes()).collect();
        npy(&out.join(format!("l{number}_met.npy")), "<u2", &format!("{total},"), &met);
        let about: &Launch = launch;
        std::fs::write(
            out.join(format!("l{number}.txt")),
            format!(
                "size {:?} n {} tile {:?} rays {total} events {} bounds {bounds:?} codes {:?}\n{}\n",
                about.size,
                about.n,
                work.tile(),
                launch.code.len(),
                events.codes,
                lists.lock().unwrap().join("\n")
            ),
        )
        .unwrap();
    }
}
