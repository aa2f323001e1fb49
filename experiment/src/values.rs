//! Values as people write them, in flags and in files: sizes, percents and times. Refuses what is none, saying how to write one.

use std::time::Duration;

/// `WxH`, neither 0.
pub fn tile(text: &str) -> Result<[u32; 2], String> {
    let sides = text.split_once('x').and_then(|(w, h)| Some([w.parse().ok()?, h.parse().ok()?]));
    sides.filter(|s| !s.contains(&0)).ok_or_else(|| "say it as WIDTHxHEIGHT, 256x256 for one".into())
}

/// `2%`, `2` or `0.5 %`, as a share.
pub fn percent(text: &str) -> Result<f64, String> {
    let number = text.trim().trim_end_matches('%').trim().parse::<f64>();
    match number {
        Ok(n) if n > 0.0 && n < 1000.0 => Ok(n / 100.0),
        _ => Err("say it in percent, 2% for one".into()),
    }
}

/// `90`, `90s`, `10m`, `2h`.
pub fn duration(text: &str) -> Result<Duration, String> {
    let (number, unit) = text.split_at(text.trim_end_matches(|c: char| c.is_ascii_alphabetic()).len());
    let seconds = match unit {
        "" | "s" => 1.0,
        "m" | "min" => 60.0,
        "h" => 3600.0,
        _ => return Err("say it as 90s, 10m or 2h".into()),
    };
    match number.trim().parse::<f64>() {
        Ok(n) if n > 0.0 && n < 1e6 => Ok(Duration::from_secs_f64(n * seconds)),
        _ => Err("say it as 90s, 10m or 2h".into()),
    }
}

/// A time above zero, in seconds.
pub fn seconds(text: &str) -> Result<Duration, String> {
    let seconds: f64 = text.parse().map_err(|_| format!("\"{text}\" is not a number of seconds"))?;
    match Duration::try_from_secs_f64(seconds) {
        Ok(d) if !d.is_zero() => Ok(d),
        _ => Err(format!("\"{text}\": it takes more than zero seconds to wait")),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn percents_and_times() {
        assert_eq!([percent("2%"), percent("0.5 %"), percent("3")].map(Result::unwrap), [0.02, 0.005, 0.03]);
        assert!(percent("-1%").is_err() && percent("x").is_err() && percent("0").is_err());
        let of = |t| duration(t).map(|d| d.as_secs());
        assert_eq!([of("90"), of("90s"), of("10m"), of("2h")], [90, 90, 600, 7200].map(Ok));
        assert!(of("1 day").is_err() && of("").is_err() && of("0").is_err());
    }
}
