//! Pictures as PNG: a value a pixel, by a scale of colours, with a legend that says which colour is which value.
//!
//! The scale goes from dark blue over green to yellow, evenly in lightness, so that it reads the same in grey and to
//! those who see few colours; it spans the least to the greatest value that there is. Pixels without a value are grey.
//! Small pictures are drawn larger, every value as a square. Guarantees: the same picture gives the same bytes; a picture
//! of one value, or of none, is drawn as well. Refuses pictures whose sides are nothing or too long.
//!
//! [`Canvas`] is for whatever else is drawn.

use super::font::{ADVANCE, HEIGHT, glyph};
use super::{Image, Unit};

/// Red, green, blue.
pub type Colour = [u8; 3];

/// The longest side of a picture that is written.
pub const LONGEST: u32 = 1 << 14;

const PAPER: Colour = [255, 255, 255];
const INK: Colour = [20, 20, 20];
const NOTHING: Colour = [190, 190, 190];
/// The scale's colours at equal distances.
const SCALE: [Colour; 9] = [
    [68, 1, 84],
    [71, 44, 122],
    [59, 81, 139],
    [44, 113, 142],
    [33, 144, 141],
    [39, 173, 129],
    [92, 200, 99],
    [170, 220, 50],
    [253, 231, 37],
];
const MARGIN: u32 = 8;
/// Pictures whose longer side is shorter are drawn larger.
const SMALL: u32 = 256;
const BAR_HEIGHT: u32 = 10;

/// Pixels to draw on.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Canvas {
    width: u32,
    height: u32,
    pixels: Vec<u8>,
}

impl Canvas {
    /// White, of this size; none if it is nothing or too large.
    pub fn new(width: u32, height: u32) -> Option<Canvas> {
        let sound = |side: u32| (1..=LONGEST).contains(&side);
        (sound(width) && sound(height)).then(|| Canvas {
            width,
            height,
            pixels: PAPER.repeat(width as usize * height as usize),
        })
    }

    /// Fills what of a rectangle lies on it.
    pub fn fill(&mut self, x: u32, y: u32, width: u32, height: u32, colour: Colour) {
        let (right, bottom) =
            (x.saturating_add(width).min(self.width), y.saturating_add(height).min(self.height));
        for row in y..bottom {
            for column in x..right {
                let at = (row as usize * self.width as usize + column as usize) * 3;
                self.pixels[at..at + 3].copy_from_slice(&colour);
            }
        }
    }

    /// Writes a line of text, its upper left corner here. What does not fit is cut.
    pub fn text(&mut self, x: u32, y: u32, text: &str, colour: Colour) {
        for (n, letter) in (0u32..).zip(text.chars()) {
            for (row, bits) in (0u32..).zip(glyph(letter)) {
                for column in (0..5).filter(|c| bits >> (4 - c) & 1 == 1) {
                    self.fill(x.saturating_add(n * ADVANCE + column), y + row, 1, 1, colour);
                }
            }
        }
    }

    /// The colour of a pixel.
    pub fn at(&self, x: u32, y: u32) -> Colour {
        let at = (y as usize * self.width as usize + x as usize) * 3;
        [self.pixels[at], self.pixels[at + 1], self.pixels[at + 2]]
    }

    /// Its width and height.
    pub fn size(&self) -> (u32, u32) {
        (self.width, self.height)
    }

    /// As a file.
    pub fn png(&self) -> Result<Vec<u8>, String> {
        let mut out = vec![];
        let mut encoder = png::Encoder::new(&mut out, self.width, self.height);
        encoder.set_color(png::ColorType::Rgb);
        encoder.set_depth(png::BitDepth::Eight);
        let mut writer = encoder.write_header().map_err(|e| e.to_string())?;
        writer.write_image_data(&self.pixels).map_err(|e| e.to_string())?;
        writer.finish().map_err(|e| e.to_string())?;
        Ok(out)
    }
}

/// Pixels that a line of text takes.
pub fn text_width(text: &str) -> u32 {
    text.chars().count() as u32 * ADVANCE
}

/// The colour at a place of the scale, from 0 to 1.
pub fn colour(at: f64) -> Colour {
    if at.is_nan() {
        return NOTHING;
    }
    let at = at.clamp(0.0, 1.0) * (SCALE.len() - 1) as f64;
    let low = (at as usize).min(SCALE.len() - 2);
    let part = at - low as f64;
    let mix = |i: usize| {
        let (a, b) = (f64::from(SCALE[low][i]), f64::from(SCALE[low + 1][i]));
        (a + (b - a) * part).round() as u8
    };
    [mix(0), mix(1), mix(2)]
}

/// The picture as a PNG file, or what is wrong with it.
pub fn render(image: &Image) -> Result<Vec<u8>, String> {
    draw(image)?.png()
}

fn draw(image: &Image) -> Result<Canvas, String> {
    let count = u64::from(image.width) * u64::from(image.height);
    if image.pixels.len() as u64 != count {
        let (w, h, n) = (image.width, image.height, image.pixels.len());
        return Err(format!("picture {}: {n} values for {w} x {h} pixels", image.name));
    }
    let values = || image.pixels.iter().copied().filter(|v| v.is_finite()).map(f64::from);
    let (low, high) = (values().fold(f64::INFINITY, f64::min), values().fold(f64::NEG_INFINITY, f64::max));
    let scale = (SMALL / image.width.max(image.height).max(1)).max(1);
    let (width, height) = (image.width.saturating_mul(scale), image.height.saturating_mul(scale));
    let legend = legend(image, low, high);
    let widest = legend.iter().map(|l| text_width(l)).max().unwrap_or(0);
    let whole = width.max(widest).saturating_add(2 * MARGIN);
    let above = MARGIN + HEIGHT + MARGIN;
    let below = MARGIN + BAR_HEIGHT + 4 + HEIGHT + MARGIN;
    let canvas = Canvas::new(whole, height.saturating_add(above + below)).filter(|_| width > 0 && height > 0);
    let mut canvas =
        canvas.ok_or_else(|| format!("picture {}: {} x {} pixels", image.name, image.width, image.height))?;
    canvas.text(MARGIN, MARGIN, &legend[0], INK);
    let place = |v: f32| {
        let v = f64::from(v);
        if !v.is_finite() {
            f64::NAN
        } else if high > low {
            (v - low) / (high - low)
        } else {
            1.0
        }
    };
    for (i, &v) in image.pixels.iter().enumerate() {
        let (x, y) = (i as u32 % image.width, i as u32 / image.width);
        canvas.fill(MARGIN + x * scale, above + y * scale, scale, scale, colour(place(v)));
    }
    let bar = above + height + MARGIN;
    let length = whole - 2 * MARGIN;
    if low.is_finite() {
        for x in 0..length {
            let at = f64::from(x) / f64::from((length - 1).max(1));
            canvas.fill(MARGIN + x, bar, 1, BAR_HEIGHT, colour(at));
        }
    }
    canvas.text(MARGIN, bar + BAR_HEIGHT + 4, &legend[1], INK);
    Ok(canvas)
}

/// The title, and the scale's ends in words.
fn legend(image: &Image, low: f64, high: f64) -> [String; 2] {
    let unit = match image.value.unit.symbol() {
        "" => String::new(),
        unit => format!(" {unit}"),
    };
    let number = |v: f64| match image.value.unit {
        _ if v.fract() == 0.0 && v.abs() < 1e15 => format!("{v:.0}"),
        Unit::Text | Unit::Count => format!("{v:.3}"),
        unit => format!("{v:.*}", unit.decimals().max(2)),
    };
    let scale = if low.is_finite() {
        format!("{}: {} to {}{unit}", image.value.name, number(low), number(high))
    } else {
        format!("{}: no pixel has a value", image.value.name)
    };
    [image.title.clone(), scale]
}

#[cfg(test)]
mod tests {
    use super::super::Column;
    use super::*;

    fn image(width: u32, height: u32, pixels: Vec<f32>) -> Image {
        Image {
            name: "i".into(),
            title: "Efficiency".into(),
            value: Column::new("share", Unit::Percent),
            width,
            height,
            pixels,
        }
    }

    #[test]
    fn values_become_colours() {
        let canvas = draw(&image(2, 2, vec![0.0, 50.0, 100.0, f32::NAN])).unwrap();
        let above = 2 * MARGIN + HEIGHT;
        let at = |x: u32, y: u32| canvas.at(MARGIN + x * 128 + 64, above + y * 128 + 64);
        assert_eq!((at(0, 0), at(1, 0), at(0, 1), at(1, 1)), (SCALE[0], SCALE[4], SCALE[8], NOTHING));
        // The legend's bar goes from one end of the scale to the other.
        let bar = above + 256 + MARGIN;
        assert_eq!((canvas.at(MARGIN, bar), canvas.at(MARGIN + 255, bar)), (SCALE[0], SCALE[8]));
    }

    #[test]
    fn what_is_written_can_be_read() {
        for i in [image(3, 1, vec![1.0; 3]), image(1, 1, vec![f32::NAN]), image(300, 200, vec![0.5; 60_000])]
        {
            let canvas = draw(&i).unwrap();
            let bytes = render(&i).unwrap();
            let mut reader = png::Decoder::new(std::io::Cursor::new(&bytes)).read_info().unwrap();
            let mut pixels = vec![0; reader.output_buffer_size().unwrap()];
            let info = reader.next_frame(&mut pixels).unwrap();
            assert_eq!((info.width, info.height), canvas.size());
            assert_eq!(pixels, canvas.pixels);
        }
    }

    #[test]
    fn what_cannot_be_drawn_is_refused() {
        assert!(render(&image(2, 2, vec![0.0])).unwrap_err().contains("1 values for 2 x 2"));
        assert!(render(&image(0, 0, vec![])).unwrap_err().contains("0 x 0"));
        assert!(render(&image(LONGEST, 1, vec![0.0; LONGEST as usize])).is_err());
    }

    #[test]
    fn the_legend_says_the_scale() {
        let words = |low, high| legend(&image(1, 1, vec![0.0]), low, high)[1].clone();
        assert_eq!(words(0.0, 62.5), "share: 0 to 62.50 %");
        assert_eq!(words(f64::INFINITY, f64::NEG_INFINITY), "share: no pixel has a value");
    }

    #[test]
    fn letters_are_told_apart() {
        let letters = " 0123456789ABCDEFGHIJKLMNOPQRSTUVWXYZ.,:;-+=_/\\()[]<>%#\"'*!?é";
        let glyphs: Vec<_> = letters.chars().map(glyph).collect();
        for (i, g) in glyphs.iter().enumerate() {
            assert!(!glyphs[..i].contains(g), "{:?}", letters.chars().nth(i));
            assert!(g.iter().all(|row| row >> 5 == 0));
        }
        let mut canvas = Canvas::new(12, 8).unwrap();
        canvas.text(0, 0, "i.", [0, 0, 0]);
        let row: String = (0..12).map(|x| if canvas.at(x, 6) == [0, 0, 0] { '#' } else { ' ' }).collect();
        assert_eq!(row, " ###   ##   ");
    }
}
