//! Swizzles as files: NumPy's `.npy`, and our own with a checksum.
//!
//! ```text
//! 0          8        12       16       20       24      32       40      48          52
//! "RRSWIZZ\0" | version | width | height | depth | frame | launch | seed | name's length | name | indices (4 each) | sum (8)
//! ```
//!
//! All numbers are little-endian; the sum is the first 8 bytes of BLAKE3 over everything before it. Guarantees: what is read
//! is a permutation of the launch's indices and what was written. Refuses everything else, and says where.

/// A permutation of a launch's linear indices.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Swizzle {
    /// The capture's number of the frame that it was made from.
    pub frame: u64,
    /// Which of the frame's launches.
    pub launch: u64,
    /// Width, height and depth of the launch.
    pub size: [u32; 3],
    /// The method that made it.
    pub method: String,
    /// What it was given for what is random.
    pub seed: u64,
    /// For each linear index that of the invocation whose work is done there.
    pub indices: Vec<u32>,
}

const MARK: &[u8; 8] = b"RRSWIZZ\0";
const VERSION: u32 = 1;
const SUM: usize = 8;

fn sum(bytes: &[u8]) -> [u8; SUM] {
    std::array::from_fn(|i| blake3::hash(bytes).as_bytes()[i])
}

impl Swizzle {
    /// Whether it is a permutation of its launch's indices; else what is wrong.
    pub fn check(&self) -> Result<(), String> {
        let expected = self.size.iter().try_fold(1usize, |n, s| n.checked_mul(*s as usize));
        if expected != Some(self.indices.len()) {
            return Err(format!("{} indices for a launch of {:?}", self.indices.len(), self.size));
        }
        let mut seen = vec![false; self.indices.len()];
        for (at, &index) in self.indices.iter().enumerate() {
            match seen.get_mut(index as usize) {
                Some(seen) if !*seen => *seen = true,
                Some(_) => return Err(format!("index {at}: {index} is there twice")),
                None => return Err(format!("index {at}: {index} is outside the launch")),
            }
        }
        Ok(())
    }

    /// As a file of our own.
    pub fn bytes(&self) -> Vec<u8> {
        let mut out = Vec::with_capacity(64 + self.method.len() + self.indices.len() * 4);
        out.extend_from_slice(MARK);
        out.extend_from_slice(&VERSION.to_le_bytes());
        self.size.iter().for_each(|s| out.extend_from_slice(&s.to_le_bytes()));
        [self.frame, self.launch, self.seed].iter().for_each(|n| out.extend_from_slice(&n.to_le_bytes()));
        out.extend_from_slice(&(self.method.len() as u32).to_le_bytes());
        out.extend_from_slice(self.method.as_bytes());
        self.indices.iter().for_each(|i| out.extend_from_slice(&i.to_le_bytes()));
        let sum = sum(&out);
        out.extend_from_slice(&sum);
        out
    }

    /// From such a file.
    pub fn of_bytes(bytes: &[u8]) -> Result<Swizzle, String> {
        let (whole, said) = bytes.split_at_checked(bytes.len().saturating_sub(SUM)).unwrap_or((bytes, &[]));
        if !whole.starts_with(MARK) {
            return Err("byte 0: no swizzle: the mark \"RRSWIZZ\" is missing".into());
        }
        if sum(whole) != said {
            return Err(format!(
                "byte {}: the checksum does not fit: the file is damaged or cut off",
                whole.len()
            ));
        }
        let take = |from: usize, length: usize| {
            whole
                .get(from..from.saturating_add(length))
                .ok_or_else(|| format!("byte {}: the file ends here", whole.len()))
        };
        let short = |from| take(from, 4).map(|b| u32::from_le_bytes(std::array::from_fn(|i| b[i])));
        let long = |from| take(from, 8).map(|b| u64::from_le_bytes(std::array::from_fn(|i| b[i])));
        let version = short(8)?;
        if version != VERSION {
            return Err(format!("byte 8: version {version}; this program reads version {VERSION}"));
        }
        let name = short(48)? as usize;
        let method = std::str::from_utf8(take(52, name)?).map_err(|_| "byte 52: the name is no UTF-8")?;
        let rest = &whole[52 + name..];
        if rest.len() % 4 != 0 {
            return Err(format!("byte {}: half an index", whole.len()));
        }
        let swizzle = Swizzle {
            frame: long(24)?,
            launch: long(32)?,
            size: [short(12)?, short(16)?, short(20)?],
            method: method.to_owned(),
            seed: long(40)?,
            indices: rest
                .chunks_exact(4)
                .map(|b| u32::from_le_bytes(std::array::from_fn(|i| b[i])))
                .collect(),
        };
        swizzle.check()?;
        Ok(swizzle)
    }
}

/// Values as `.npy` (version 1.0), `kind` being NumPy's word for what each of `size` bytes is: `<u4`, `<f4`.
pub fn npy(kind: &str, shape: &[usize], bytes: impl Iterator<Item = u8>) -> Vec<u8> {
    let sides: String = shape.iter().map(|s| format!("{s}, ")).collect();
    let sides = if shape.len() == 1 { sides.trim_end() } else { sides.trim_end_matches(", ") };
    let mut header = format!("{{'descr': '{kind}', 'fortran_order': False, 'shape': ({sides}), }}");
    // (the values begin at a multiple of 64)
    while (10 + header.len() + 1) % 64 != 0 {
        header.push(' ');
    }
    header.push('\n');
    let mut out = b"\x93NUMPY\x01\x00".to_vec();
    out.extend_from_slice(&(header.len() as u16).to_le_bytes());
    out.extend_from_slice(header.as_bytes());
    out.extend(bytes);
    out
}

impl Swizzle {
    /// As NumPy's file: a row of unsigned numbers.
    pub fn npy(&self) -> Vec<u8> {
        npy("<u4", &[self.indices.len()], self.indices.iter().flat_map(|i| i.to_le_bytes()))
    }
}
