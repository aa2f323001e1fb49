//! What the scene consists of, and the picture that follows from it by arithmetic.

#[cfg(test)]
use super::{COLUMNS, EXTENT};

/// Squares in each mesh.
pub const SQUARES: u32 = 8;

/// Width of a column.
#[cfg(test)]
pub const WIDE: u32 = EXTENT.width / COLUMNS;

/// The corners of a mesh: left edge, and the rows from where to where in each eighth.
///
/// No diagonal of a square passes the middle of a pixel, so that which of its two triangles is hit is not by rounding.
pub const MESHES: [(u32, [u32; 2]); 2] = [(1, [1, 6]), (9, [3, 7])];
/// Width of a square.
const SQUARE: u32 = 6;

/// How far the world has moved down in a frame.
pub fn fall(frame: u32) -> u32 {
    frame - 1
}

/// Six corners a square, three coordinates a corner.
pub fn corners(mesh: usize) -> Vec<f32> {
    let (left, [from, to]) = MESHES[mesh];
    let (a, b) = (left as f32, (left + SQUARE) as f32);
    (0..SQUARES)
        .flat_map(|q| {
            let (top, end) = ((q * 8 + from) as f32, (q * 8 + to) as f32);
            [[a, top], [b, top], [b, end], [a, top], [b, end], [a, end]]
        })
        .flat_map(|[x, y]| [x, y, 0.0])
        .collect()
}

/// The two instances, `down` places below where the meshes are.
pub fn instances(down: u32, meshes: [u64; 2]) -> Vec<u8> {
    let instance = |(i, reference): (usize, u64)| {
        let rows: [f32; 12] = [1.0, 0.0, 0.0, 0.0, 0.0, 1.0, 0.0, down as f32, 0.0, 0.0, 1.0, 0.0];
        let mut bytes: Vec<u8> = rows.iter().flat_map(|f| f.to_le_bytes()).collect();
        // Custom index and mask, place in the table and flags.
        bytes.extend(((i as u32 + 1) | 0xFF00_0000).to_le_bytes());
        bytes.extend((i as u32).to_le_bytes());
        bytes.extend(reference.to_le_bytes());
        bytes
    };
    meshes.into_iter().enumerate().flat_map(instance).collect()
}

/// What a pixel shows, red, green and blue; `falls`: the columns whose world moves.
#[cfg(test)]
pub fn pixel(x: u32, y: u32, frame: u32, falls: &[u32]) -> [u8; 3] {
    let (column, x) = (x / WIDE, x % WIDE);
    let down = if falls.contains(&column) { fall(frame) } else { 0 };
    for (i, (left, [from, to])) in MESHES.into_iter().enumerate() {
        let inside = (left..left + SQUARE).contains(&x) && y >= down;
        if inside && (from..to).contains(&((y - down) % 8)) && (y - down) / 8 < SQUARES {
            return [((y - down) / 8 * 30 + 15) as u8, (i as u8 + 1) * 100, column as u8 * 30 + 20];
        }
    }
    [10, 10, column as u8 * 30 + 10]
}

#[cfg(test)]
mod tests {
    use super::*;
    use std::path::Path;

    fn png(name: &str) -> Vec<[u8; 3]> {
        let path = Path::new(env!("CARGO_MANIFEST_DIR")).join("samples").join(name);
        let file = std::fs::File::open(&path).unwrap_or_else(|e| panic!("{}: {e}", path.display()));
        let mut reader = png::Decoder::new(std::io::BufReader::new(file)).read_info().unwrap();
        let mut bytes = vec![0; reader.output_buffer_size().unwrap()];
        let info = reader.next_frame(&mut bytes).unwrap();
        assert_eq!((info.width, info.height), (EXTENT.width, EXTENT.height));
        bytes.chunks_exact(3).map(|p| [p[0], p[1], p[2]]).collect()
    }

    #[test]
    fn what_was_presented_is_what_arithmetic_says() {
        for scene in ["builds", "serials"] {
            for frame in [1, 4] {
                let shown = png(&format!("{scene}_frame_{frame}.png"));
                for (at, pixel_shown) in shown.iter().enumerate() {
                    let (x, y) = (at as u32 % EXTENT.width, at as u32 / EXTENT.width);
                    let expected = pixel(x, y, frame, &super::super::FALLING);
                    assert_eq!(*pixel_shown, expected, "{scene} frame {frame}: pixel {x}, {y}");
                }
            }
        }
    }

    #[test]
    fn no_diagonal_passes_the_middle_of_a_pixel() {
        for (_, [from, to]) in MESHES {
            let (w, h) = (i64::from(SQUARE), i64::from(to - from));
            for k in 0..w {
                for m in 0..h {
                    assert_ne!((2 * m + 1) * w, (2 * k + 1) * h);
                }
            }
        }
    }
}
