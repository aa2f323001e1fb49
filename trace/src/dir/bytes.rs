//! Bytes: little-endian numbers out of and into them, and what is wrong when they are not there.
//!
//! Guarantees: nothing is read beyond the bytes at hand, whatever a length says.

use super::limits;
use std::sync::Arc;

/// A file's bytes, shared: a memory map or a vector.
pub type Bytes = Arc<dyn AsRef<[u8]> + Send + Sync>;

/// What is wrong in a file, and where.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Bad {
    /// The byte.
    pub at: u64,
    /// What was expected there, and what there is.
    pub why: String,
}

impl Bad {
    /// At this byte.
    pub fn new(at: usize, why: impl Into<String>) -> Bad {
        Bad { at: at as u64, why: why.into() }
    }
}

/// A place in bytes.
#[derive(Clone, Copy, Debug)]
pub struct Cursor<'a> {
    bytes: &'a [u8],
    at: usize,
}

impl<'a> Cursor<'a> {
    /// Before this byte of a file.
    pub fn new(bytes: &'a [u8], at: usize) -> Self {
        Cursor { bytes, at }
    }

    /// Where it is.
    pub fn at(&self) -> usize {
        self.at
    }

    /// The next bytes.
    pub fn take(&mut self, n: usize, what: &str) -> Result<&'a [u8], Bad> {
        let rest = self.bytes.get(self.at..).unwrap_or(&[]);
        let Some(taken) = rest.get(..n) else {
            return Err(Bad::new(self.at, format!("{what} takes {n} bytes, and {} are left", rest.len())));
        };
        self.at += n;
        Ok(taken)
    }

    /// So many bytes.
    pub fn array<const N: usize>(&mut self, what: &str) -> Result<[u8; N], Bad> {
        let taken = self.take(N, what)?;
        Ok(taken.try_into().expect("as many were taken"))
    }

    /// A byte.
    pub fn u8(&mut self, what: &str) -> Result<u8, Bad> {
        Ok(self.array::<1>(what)?[0])
    }

    /// 32 bits.
    pub fn u32(&mut self, what: &str) -> Result<u32, Bad> {
        Ok(u32::from_le_bytes(self.array(what)?))
    }

    /// 64 bits.
    pub fn u64(&mut self, what: &str) -> Result<u64, Bad> {
        Ok(u64::from_le_bytes(self.array(what)?))
    }

    /// 32 bits that say how many of something there are.
    pub fn length(&mut self, most: usize, what: &str) -> Result<usize, Bad> {
        let at = self.at;
        let n = self.u32(what)? as usize;
        if n > most {
            return Err(Bad::new(at, format!("{what}: {n} are more than the {most} that there may be")));
        }
        Ok(n)
    }

    /// A name: a byte that says how long it is, and its bytes.
    pub fn name(&mut self, what: &str) -> Result<&'a str, Bad> {
        let at = self.at;
        let length = self.u8(what)? as usize;
        std::str::from_utf8(self.take(length, what)?)
            .map_err(|_| Bad::new(at, format!("{what} is no UTF-8 text")))
    }

    /// A mark that must stand here.
    pub fn mark(&mut self, mark: &[u8], what: &str) -> Result<(), Bad> {
        let at = self.at;
        let found = self.take(mark.len(), what)?;
        if found != mark {
            return Err(Bad::new(at, format!("expected {what}, found bytes {found:02x?}")));
        }
        Ok(())
    }

    /// The checksum of everything from `begin` to here, which must stand here.
    pub fn checksum(&mut self, begin: usize, what: &str) -> Result<(), Bad> {
        let at = self.at;
        let sum = checksum(&self.bytes[begin..at]);
        if self.array::<8>(what)? != sum {
            return Err(Bad::new(at, format!("the checksum of {what} from byte {begin} on does not fit")));
        }
        Ok(())
    }

    /// A number of up to ten bytes, seven bits a byte, the lowest first.
    pub fn varint(&mut self, what: &str) -> Result<u64, Bad> {
        let at = self.at;
        let mut n = 0u64;
        for shift in (0..64).step_by(7) {
            let byte = self.u8(what)?;
            let bits = u64::from(byte & 0x7f);
            if shift == 63 && bits > 1 {
                break;
            }
            n |= bits << shift;
            if byte & 0x80 == 0 {
                return Ok(n);
            }
        }
        Err(Bad::new(at, format!("{what}: a number has more than 64 bits")))
    }
}

/// So many numbers as [`Cursor::varint`] reads them, from the first byte on; how many bytes they are.
pub fn varints(bytes: &[u8], count: usize, mut take: impl FnMut(u64)) -> Result<usize, Bad> {
    const MORE: u64 = 0x8080_8080_8080_8080;
    let mut c = Cursor::new(bytes, 0);
    let mut left = count;
    while left > 0 {
        // (most are of one byte: eight at once)
        match bytes.get(c.at..c.at + 8) {
            Some(eight) if left >= 8 && u64::from_le_bytes(eight.try_into().expect("eight")) & MORE == 0 => {
                eight.iter().for_each(|b| take(u64::from(*b)));
                (c.at, left) = (c.at + 8, left - 8);
            }
            _ => {
                // (up to the next eight that may be short)
                for _ in 0..left.min(4) {
                    take(match bytes.get(c.at..c.at + 3) {
                        Some(&[a, ..]) if a < 0x80 => {
                            c.at += 1;
                            u64::from(a)
                        }
                        Some(&[a, b, _]) if b < 0x80 => {
                            c.at += 2;
                            u64::from(a & 0x7f) | u64::from(b) << 7
                        }
                        Some(&[a, b, d]) if d < 0x80 => {
                            c.at += 3;
                            u64::from(a & 0x7f) | u64::from(b & 0x7f) << 7 | u64::from(d) << 14
                        }
                        _ => c.varint("a number")?,
                    });
                    left -= 1;
                }
            }
        }
    }
    Ok(c.at)
}

/// The first eight bytes of BLAKE3.
pub fn checksum(bytes: &[u8]) -> [u8; 8] {
    blake3::hash(bytes).as_bytes()[..8].try_into().expect("a hash has 32")
}

/// Writes what [`Cursor::varint`] reads.
pub fn put_varint(out: &mut Vec<u8>, mut n: u64) {
    while n >= 0x80 {
        out.push(n as u8 | 0x80);
        n >>= 7;
    }
    out.push(n as u8);
}

/// How many bytes [`put_varint`] writes.
pub fn varint_len(n: u64) -> usize {
    (70 - (n | 1).leading_zeros() as usize) / 7
}

/// Writes what [`Cursor::name`] reads. Tables' and columns' names are short: a test says so.
pub fn put_name(out: &mut Vec<u8>, name: &str) {
    let name = &name.as_bytes()[..name.len().min(limits::NAME)];
    out.push(name.len() as u8);
    out.extend_from_slice(name);
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn numbers_of_any_size() {
        for n in [0, 1, 127, 128, 16_383, 16_384, u64::from(u32::MAX), u64::MAX / 2, u64::MAX - 1, u64::MAX] {
            let mut out = vec![];
            put_varint(&mut out, n);
            assert_eq!(out.len(), varint_len(n), "{n}");
            assert_eq!(Cursor::new(&out, 0).varint("n").unwrap(), n);
        }
        let eleven = [0xff; 11];
        assert!(Cursor::new(&eleven, 0).varint("n").is_err());
        let mut too_many_bits = [0xff; 10];
        too_many_bits[9] = 2;
        assert!(Cursor::new(&too_many_bits, 0).varint("n").is_err());
    }

    /// Many at once are what they are one by one, whatever stands beside them.
    #[test]
    fn many_numbers() {
        for seed in 0..200u64 {
            let of = |n: u64| {
                let bits = (n * 7 + seed) % 65;
                (n + 1).wrapping_mul(0x9e37_79b9_7f4a_7c15)
                    >> (if seed % 3 == 0 { bits.min(63) } else { 57 + n % 7 })
            };
            let numbers: Vec<u64> = (0..seed % 40).map(of).collect();
            let mut bytes = vec![];
            numbers.iter().for_each(|n| put_varint(&mut bytes, *n));
            let mut found = vec![];
            assert_eq!(varints(&bytes, numbers.len(), |n| found.push(n)), Ok(bytes.len()));
            assert_eq!(found, numbers);
            assert!(varints(&bytes, numbers.len() + 1, |_| ()).is_err());
        }
        assert!(varints(&[0xff; 11], 1, |_| ()).is_err());
    }

    #[test]
    fn what_is_not_there_is_not_read() {
        let mut c = Cursor::new(&[5, b'a'], 0);
        let bad = c.name("the name").unwrap_err();
        assert_eq!((bad.at, bad.why.as_str()), (1, "the name takes 5 bytes, and 1 are left"));
        assert!(Cursor::new(&[1], 9).u8("a byte").is_err());
    }
}
