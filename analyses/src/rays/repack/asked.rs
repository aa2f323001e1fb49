//! A method as a plan asks for it: `tiled-objects:tile=128x128`, `random:seed=7`. Refuses methods and options that there are not.

use super::methods::{METHODS, by_name};
use super::work::{Method, Options};
use trace::plan::Use;

/// The method, and its options; `seed` where none is given.
pub fn asked(wanted: &Use, seed: u64) -> Result<(&'static dyn Method, Options), String> {
    let known = || METHODS.iter().map(|m| m.name()).collect::<Vec<_>>().join(", ");
    let method = by_name(&wanted.name)
        .ok_or_else(|| format!("there is no method {}; there are {}", wanted.name, known()))?;
    let mut options = Options { seed, ..Options::DEFAULT };
    for option in &wanted.options {
        let wrong = || format!("method {}: {option}: there are tile=WIDTHxHEIGHT and seed=N", wanted.name);
        match option.split_once('=').ok_or_else(wrong)? {
            ("tile", tile) => options.tile = Some(self::tile(tile).ok_or_else(wrong)?),
            ("seed", seed) => options.seed = seed.parse().map_err(|_| wrong())?,
            _ => return Err(wrong()),
        }
    }
    Ok((method, options))
}

fn tile(text: &str) -> Option<[u32; 2]> {
    let (w, h) = text.split_once('x')?;
    Some([w.parse().ok()?, h.parse().ok()?]).filter(|sides: &[u32; 2]| !sides.contains(&0))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn methods_with_options() {
        let of = |text: &str| asked(&text.parse().expect(text), 3).map(|(m, o)| (m.name(), o.tile, o.seed));
        assert_eq!(of("random"), Ok(("random", None, 3)));
        assert_eq!(of("tiled-objects:tile=128x64+seed=9"), Ok(("tiled-objects", Some([128, 64]), 9)));
        for wrong in ["best", "random:turns=1", "random:seed=x", "tiled-objects:tile=0x8", "random:yes"] {
            assert!(of(wrong).is_err(), "{wrong}");
        }
    }
}
