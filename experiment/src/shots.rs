//! A shot as PNG, and its hash.

use profile::hooks::screenshot::Shot;

/// What two runs have in common if they show the same.
pub fn hash(shot: &Shot, alpha: bool) -> blake3::Hash {
    let mut hasher = blake3::Hasher::new();
    hasher.update(&shot.width.to_le_bytes()).update(&shot.height.to_le_bytes());
    if alpha {
        hasher.update(&shot.rgba)
    } else {
        hasher.update(&rgb(shot))
    };
    hasher.finalize()
}

fn rgb(shot: &Shot) -> Vec<u8> {
    shot.rgba.chunks_exact(4).flat_map(|t| &t[..3]).copied().collect()
}

/// As PNG.
pub fn encode(shot: &Shot, alpha: bool) -> Result<Vec<u8>, png::EncodingError> {
    let mut bytes = Vec::new();
    let mut encoder = png::Encoder::new(&mut bytes, shot.width, shot.height);
    encoder.set_color(if alpha { png::ColorType::Rgba } else { png::ColorType::Rgb });
    encoder.set_depth(png::BitDepth::Eight);
    let mut writer = encoder.write_header()?;
    if alpha {
        writer.write_image_data(&shot.rgba)?;
    } else {
        writer.write_image_data(&rgb(shot))?;
    }
    writer.finish()?;
    Ok(bytes)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn an_opaque_png_and_one_with_alpha() {
        let (rgba, stored) = (vec![1, 2, 3, 4, 5, 6, 7, 8], Default::default());
        let shot = Shot { frame: 1, swapchain: None, width: 2, height: 1, rgba, stored };
        let decode = |bytes: Vec<u8>| {
            let mut reader = png::Decoder::new(std::io::Cursor::new(bytes)).read_info().expect("a PNG");
            let mut pixels = vec![0; reader.output_buffer_size().expect("it is small")];
            reader.next_frame(&mut pixels).expect("whole");
            pixels
        };
        assert_eq!(decode(encode(&shot, false).expect("encodes")), [1, 2, 3, 5, 6, 7]);
        assert_eq!(decode(encode(&shot, true).expect("encodes")), shot.rgba);
    }
}
