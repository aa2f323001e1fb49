//! Pictures, as the layer that takes them (PPM), gfxrecon-replay (BMP) and `screenshot` (PNG) write them, and how far
//! two of them lie apart.
//!
//! Three channels of 8 bits, rows from the top; a channel of alpha is left out, as a screen shows none. Guarantees: no
//! length of a file is trusted before its bytes are seen. Refuses other kinds of these formats, and says which.

use std::path::Path;

/// A picture: its size, and red, green and blue of each pixel.
#[derive(Debug, PartialEq, Eq)]
pub struct Picture {
    pub width: usize,
    pub height: usize,
    pub values: Vec<u8>,
}

/// How far apart two pictures of one size lie.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Distance {
    /// The largest difference of a value, of 255.
    pub largest: u8,
    /// The share of values, in percent, that differ by more than 2.
    pub off_percent: f64,
}

impl Picture {
    /// Reads a file of one of the three formats.
    pub fn read(file: &Path) -> Result<Self, String> {
        let bytes = std::fs::read(file).map_err(|e| e.to_string())?;
        match bytes.get(..2) {
            Some(b"P6") => ppm(&bytes),
            Some(b"BM") => bmp(&bytes),
            Some(b"\x89P") => png(&bytes),
            _ => Err("no PPM, BMP or PNG".to_string()),
        }
    }

    /// Whether every pixel is the same.
    pub fn blank(&self) -> bool {
        self.values.chunks_exact(3).all(|pixel| pixel == &self.values[..3])
    }

    /// None where the sizes differ.
    pub fn distance(&self, other: &Picture) -> Option<Distance> {
        if (self.width, self.height) != (other.width, other.height) {
            return None;
        }
        let apart = || self.values.iter().zip(&other.values).map(|(a, b)| a.abs_diff(*b));
        let off = apart().filter(|d| *d > 2).count();
        let share = off as f64 * 100.0 / self.values.len().max(1) as f64;
        Some(Distance { largest: apart().max().unwrap_or(0), off_percent: share })
    }

    /// Whether the other is this picture, its values encoded as sRGB's once more, or decoded, up to rounding.
    pub fn other_encoding(&self, other: &Picture) -> bool {
        let table =
            |f: fn(f64) -> f64| (0..=255).map(|v| f(f64::from(v) / 255.0) * 255.0).collect::<Vec<f64>>();
        let alike = |table: &[f64]| {
            let pairs = self.values.iter().zip(&other.values);
            pairs.into_iter().all(|(a, b)| (table[usize::from(*a)] - f64::from(*b)).abs() <= 2.0)
        };
        let encode = |v: f64| if v <= 0.003_130_8 { v * 12.92 } else { 1.055 * v.powf(1.0 / 2.4) - 0.055 };
        let decode = |v: f64| if v <= 0.040_45 { v / 12.92 } else { ((v + 0.055) / 1.055).powf(2.4) };
        (self.width, self.height) == (other.width, other.height)
            && (alike(&table(encode)) || alike(&table(decode)))
    }

    /// From rows of pixels with `channels` bytes each, of which red, green and blue lie at `order`.
    fn gather(
        rows: impl Iterator<Item = Option<Vec<u8>>>,
        size: (usize, usize),
        channels: usize,
        order: [usize; 3],
    ) -> Result<Self, String> {
        let mut values = Vec::new();
        for row in rows {
            let row = row.ok_or("it ends before its last row")?;
            values.extend(row.chunks_exact(channels).flat_map(|pixel| order.map(|at| pixel[at])));
        }
        if values.is_empty() || values.len() != size.0 * size.1 * 3 {
            return Err("its rows do not make its size".to_string());
        }
        Ok(Picture { width: size.0, height: size.1, values })
    }
}

fn ppm(bytes: &[u8]) -> Result<Picture, String> {
    // Three numbers behind the magic, then one space, then the pixels.
    let mut at = 2;
    let mut numbers = [0usize; 3];
    for number in &mut numbers {
        while bytes.get(at).is_some_and(u8::is_ascii_whitespace) {
            at += 1;
        }
        let digits: String = bytes[at.min(bytes.len())..]
            .iter()
            .take_while(|b| b.is_ascii_digit())
            .map(|b| *b as char)
            .collect();
        at += digits.len();
        *number = digits.parse().map_err(|_| "its head has no three numbers")?;
    }
    let [width, height, largest] = numbers;
    if largest != 255 {
        return Err(format!("values up to {largest}, not 255"));
    }
    let row = width.checked_mul(3).ok_or("too wide")?;
    let rows = (0..height).map(|y| Some(bytes.get(at + 1 + y * row..)?.get(..row)?.to_vec()));
    Picture::gather(rows, (width, height), 3, [0, 1, 2])
}

fn bmp(bytes: &[u8]) -> Result<Picture, String> {
    let number = |at: usize| -> Result<i32, String> {
        let four = bytes.get(at..at + 4).ok_or("its head is cut off")?;
        Ok(i32::from_le_bytes([four[0], four[1], four[2], four[3]]))
    };
    let (begin, width, height) = (number(10)?, number(18)?, number(22)?);
    let channels = match number(26)? as u32 >> 16 {
        24 => 3,
        32 => 4,
        bits => return Err(format!("a BMP of {bits} bits a pixel")),
    };
    let (begin, width) = (usize::try_from(begin), usize::try_from(width));
    let (Ok(begin), Ok(width)) = (begin, width) else {
        return Err("its head has negative sizes".to_string());
    };
    // Rows end at multiples of four bytes, and the first is the lowest unless the height is negative.
    let stride = width.checked_mul(channels).ok_or("too wide")?.next_multiple_of(4);
    let rows = height.unsigned_abs() as usize;
    let read = |y: usize| {
        let y = if height > 0 { rows - 1 - y } else { y };
        Some(bytes.get(begin.checked_add(y.checked_mul(stride)?)?..)?.get(..width * channels)?.to_vec())
    };
    Picture::gather((0..rows).map(read), (width, rows), channels, [2, 1, 0])
}

fn png(bytes: &[u8]) -> Result<Picture, String> {
    let mut decoder = png::Decoder::new(std::io::Cursor::new(bytes));
    decoder.set_transformations(png::Transformations::normalize_to_color8());
    let mut reader = decoder.read_info().map_err(|e| e.to_string())?;
    let mut pixels = vec![0; reader.output_buffer_size().ok_or("too large")?];
    let info = reader.next_frame(&mut pixels).map_err(|e| e.to_string())?;
    let (channels, order) = match info.color_type {
        png::ColorType::Grayscale => (1, [0, 0, 0]),
        png::ColorType::GrayscaleAlpha => (2, [0, 0, 0]),
        png::ColorType::Rgb => (3, [0, 1, 2]),
        png::ColorType::Rgba => (4, [0, 1, 2]),
        png::ColorType::Indexed => return Err("a PNG with a palette".to_string()),
    };
    let rows = pixels.chunks(info.line_size).map(|row| Some(row.to_vec())).take(info.height as usize);
    Picture::gather(rows, (info.width as usize, info.height as usize), channels, order)
}

#[cfg(test)]
mod tests {
    use super::*;

    /// Two pixels: red above blue.
    const RED_ABOVE_BLUE: [u8; 6] = [255, 0, 0, 0, 0, 255];

    fn bmp_of(bits: u16, height: i32, rows: &[u8]) -> Vec<u8> {
        let mut bytes = vec![0; 54];
        bytes[..2].copy_from_slice(b"BM");
        bytes[10..14].copy_from_slice(&54i32.to_le_bytes());
        bytes[18..22].copy_from_slice(&1i32.to_le_bytes());
        bytes[22..26].copy_from_slice(&height.to_le_bytes());
        bytes[28..30].copy_from_slice(&bits.to_le_bytes());
        bytes.extend(rows);
        bytes
    }

    #[test]
    fn the_three_formats_say_the_same() {
        let from_ppm = ppm(b"P6\n1 2\n255\n\xff\0\0\0\0\xff").expect("PPM");
        assert_eq!(from_ppm.values, RED_ABOVE_BLUE);
        // BMP: blue first, the lowest row first, rows of four bytes.
        assert_eq!(bmp(&bmp_of(24, 2, &[255, 0, 0, 0, 0, 0, 255, 0])).expect("24 bits"), from_ppm);
        assert_eq!(bmp(&bmp_of(32, -2, &[0, 0, 255, 9, 255, 0, 0, 9])).expect("32 bits"), from_ppm);
        let mut file = Vec::new();
        let mut encoder = png::Encoder::new(&mut file, 1, 2);
        encoder.set_color(png::ColorType::Rgba);
        encoder
            .write_header()
            .expect("head")
            .write_image_data(&[255, 0, 0, 7, 0, 0, 255, 7])
            .expect("pixels");
        assert_eq!(png(&file).expect("PNG"), from_ppm);
    }

    #[test]
    fn cut_files_are_refused() {
        assert!(ppm(b"P6\n1 2\n255\n\xff\0\0\0\0").is_err());
        assert!(ppm(b"P6\n1 2").is_err());
        assert!(ppm(b"P6 1 1 65535 ..").is_err());
        assert!(bmp(&bmp_of(24, 2, &[255, 0, 0, 0, 0, 0])).is_err());
        assert!(bmp(&bmp_of(8, 2, &[0; 8])).is_err());
        assert!(bmp(b"BM").is_err());
        assert!(png(b"\x89PNG").is_err());
    }

    #[test]
    fn distances() {
        let picture = |values: &[u8]| Picture { width: values.len() / 3, height: 1, values: values.to_vec() };
        let base = picture(&[10, 20, 30, 40, 50, 60]);
        assert_eq!(base.distance(&base), Some(Distance { largest: 0, off_percent: 0.0 }));
        // Off by two is rounding, by three is not: one value of six.
        let other = picture(&[12, 20, 30, 40, 53, 60]);
        let apart = base.distance(&other).expect("one size");
        assert_eq!(apart.largest, 3);
        assert!((apart.off_percent - 100.0 / 6.0).abs() < 1e-9);
        // sRGB's half: 0.5 is encoded as 0.735, and decoded as 0.214.
        let middle = picture(&[128, 0, 255]);
        assert!(
            middle.other_encoding(&picture(&[188, 0, 255])) && middle.other_encoding(&picture(&[55, 0, 255]))
        );
        assert!(!middle.other_encoding(&picture(&[128, 0, 200])) && !middle.other_encoding(&base));
        assert_eq!(base.distance(&picture(&[1, 2, 3])), None);
        assert!(picture(&[1, 2, 3, 1, 2, 3]).blank() && !base.blank());
    }
}
