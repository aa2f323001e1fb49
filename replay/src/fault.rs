//! What a driver says of the fault that lost its device, and what of the capture lies at the addresses it names.
//!
//! Drivers name addresses, with as many bits as the hardware knows ([`Address::precision`]). Buffers and acceleration structures
//! whose address the capture asked for are known by it, also after they were destroyed. Guarantees: an address that lies in any
//! of them is said to, in each; one that lies in none gets the nearest before or behind it, as reading too far is the most
//! frequent mistake. Refuses nothing: what is not known is said so.

use std::fmt::Write as _;
use std::ops::RangeInclusive;

/// Resources that are named for one address at most: memory that was given back is given out again many times.
const MOST: usize = 4;

/// One fault.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Fault {
    /// The driver's own words.
    pub description: String,
    /// Addresses of memory and of instructions.
    pub addresses: Vec<Address>,
    /// What only the driver's maker can read.
    pub vendor: Vec<Vendor>,
}

/// A code of the driver's maker.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Vendor {
    /// The driver's words for it.
    pub description: String,
    /// The code.
    pub code: u64,
    /// What belongs to it.
    pub data: u64,
}

/// An address that a driver names.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Address {
    /// VkDeviceFaultAddressTypeKHR.
    pub kind: i32,
    /// Any address of the range.
    pub reported: u64,
    /// How many bytes the range has: a power of two.
    pub precision: u64,
    /// Where that is.
    pub places: Vec<Place>,
}

/// Something that has a device address.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Resource {
    /// It is an acceleration structure, not a buffer.
    pub structure: bool,
    /// By the capture's id.
    pub id: u64,
    /// The application's name for it; empty if it gave none.
    pub name: String,
    /// Where it begins here.
    pub live: u64,
    /// Where it began at capture.
    pub captured: u64,
    /// In bytes.
    pub size: u64,
    /// The block that destroyed it.
    pub destroyed: Option<u64>,
}

/// How an address lies to a resource.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Where {
    /// In it: the offsets of the first byte and of the last one.
    In(u64, u64),
    /// So many bytes behind its last byte.
    Behind(u64),
    /// So many bytes before its first byte.
    Before(u64),
    /// Where it was at capture, so many bytes in, and is not here.
    AtCapture(u64),
}

/// See [`Where`].
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Place {
    /// How.
    pub at: Where,
    /// To what.
    pub of: Resource,
}

impl Address {
    /// The bytes it may be.
    pub fn range(&self) -> RangeInclusive<u64> {
        let below = self.precision.max(1).checked_next_power_of_two().map_or(u64::MAX, |p| p - 1);
        self.reported & !below..=self.reported | below
    }

    /// What happened there.
    pub fn what(&self) -> &'static str {
        match self.kind {
            0 => "address",
            1 => "invalid read at",
            2 => "invalid write at",
            3 => "invalid execution at",
            4 => "instruction at",
            5 => "invalid instruction at",
            6 => "instruction that faulted at",
            _ => "address of an unknown kind",
        }
    }

    /// An address of code, which nothing of the capture has.
    fn is_of_code(&self) -> bool {
        (4..=6).contains(&self.kind)
    }

    /// Finds what lies there.
    pub fn resolve(&mut self, all: &[Resource]) {
        let range = self.range();
        if self.is_of_code() {
            return;
        }
        let place = |at, of: &Resource| Place { at, of: of.clone() };
        // What there is, then what went last.
        let mut by_age: Vec<&Resource> = all.iter().collect();
        by_age.sort_by_key(|r| std::cmp::Reverse(r.destroyed.unwrap_or(u64::MAX)));
        let inside = by_age
            .iter()
            .filter_map(|r| within(&range, r.live, r.size).map(|(a, b)| place(Where::In(a, b), r)));
        self.places = inside.take(MOST).collect();
        if self.places.iter().any(|p| p.of.destroyed.is_none()) {
            return;
        }
        let moved = |r: &&&Resource| r.captured != r.live && r.captured != 0;
        let then = by_age
            .iter()
            .filter(moved)
            .filter_map(|r| within(&range, r.captured, r.size).map(|(a, _)| place(Where::AtCapture(a), r)));
        self.places.extend(then.take(MOST));
        if self.places.is_empty() {
            let near = by_age.iter().filter(|r| r.destroyed.is_none()).map(|r| match r.live > *range.end() {
                true => (r.live - range.end(), place(Where::Before(r.live - range.end()), r)),
                false => {
                    let behind = range.start().saturating_sub(r.live.saturating_add(r.size));
                    (behind, place(Where::Behind(behind), r))
                }
            });
            self.places = near.min_by_key(|n| n.0).map(|n| n.1).into_iter().collect();
        }
    }
}

/// The offsets of the first and the last byte that two ranges share.
fn within(range: &RangeInclusive<u64>, from: u64, size: u64) -> Option<(u64, u64)> {
    let last = from.saturating_add(size.checked_sub(1)?);
    let (a, b) = (from.max(*range.start()), last.min(*range.end()));
    (a <= b).then(|| (a - from, b - from))
}

impl Fault {
    /// Finds what lies at each address.
    pub fn resolve(&mut self, all: &[Resource]) {
        self.addresses.iter_mut().for_each(|a| a.resolve(all));
    }

    /// A sentence for each thing the driver said.
    pub fn sentences(&self) -> Vec<String> {
        let mut all = vec![match self.description.as_str() {
            "" => "The driver names a fault without describing it".to_owned(),
            text => format!("The driver says of the fault: {text}"),
        }];
        all.extend(self.addresses.iter().map(ToString::to_string));
        all.extend(self.vendor.iter().map(|v| {
            format!(
                "The driver's maker knows what this means: {} (code {:#x}, data {:#x})",
                v.description, v.code, v.data
            )
        }));
        all
    }
}

impl std::fmt::Display for Address {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        let range = self.range();
        let (mut text, what) = (String::new(), self.what());
        write!(text, "{}{} {:#x}", what[..1].to_uppercase(), &what[1..], range.start())?;
        if range.start() != range.end() {
            write!(text, " to {:#x} (the hardware does not know it more exactly)", range.end())?;
        }
        f.write_str(&text)?;
        if self.is_of_code() {
            return Ok(());
        }
        match self.places.first().map(|p| p.at) {
            None => f.write_str(": the capture asked for no address that could say what this is"),
            Some(Where::Behind(_) | Where::Before(_)) => {
                write!(
                    f,
                    ": in nothing whose address the capture asked for; the nearest is {}",
                    self.places[0]
                )
            }
            Some(_) => {
                f.write_str(": ")?;
                self.places.iter().enumerate().try_for_each(|(n, p)| {
                    if n > 0 {
                        f.write_str("; or ")?;
                    }
                    write!(f, "{p}")
                })
            }
        }
    }
}

impl std::fmt::Display for Place {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        let of = &self.of;
        match self.at {
            Where::In(a, b) if a == b => write!(f, "byte {a} of {of}")?,
            Where::In(a, b) => write!(f, "bytes {a} to {b} of {of}")?,
            Where::Behind(n) => write!(f, "{of}, which ends {n} bytes before")?,
            Where::Before(n) => write!(f, "{of}, which begins {n} bytes further on")?,
            Where::AtCapture(a) => {
                return write!(
                    f,
                    "where byte {a} of {of} was at capture, which is at {:#x} here: an address that was not translated",
                    of.live.saturating_add(a)
                );
            }
        }
        match of.destroyed {
            Some(block) => write!(f, ", which block {block} destroyed"),
            None => Ok(()),
        }
    }
}

impl std::fmt::Display for Resource {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        write!(f, "{} {}", if self.structure { "acceleration structure" } else { "buffer" }, self.id)?;
        if !self.name.is_empty() {
            write!(f, " {:?}", self.name)?;
        }
        write!(f, " ({} bytes)", self.size)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn buffer(id: u64, live: u64, size: u64) -> Resource {
        Resource { structure: false, id, name: String::new(), live, captured: live, size, destroyed: None }
    }

    fn said(kind: i32, reported: u64, precision: u64, all: &[Resource]) -> String {
        let mut a = Address { kind, reported, precision, places: vec![] };
        a.resolve(all);
        a.to_string()
    }

    #[test]
    fn ranges_are_as_exact_as_the_hardware() {
        let range = |reported, precision| Address { reported, precision, ..Address::default() }.range();
        assert_eq!(range(0x1234, 0x1000), 0x1000..=0x1fff);
        assert_eq!(range(0x1234, 1), 0x1234..=0x1234);
        assert_eq!(range(0x1234, 0), 0x1234..=0x1234, "a driver that does not say");
        assert_eq!(range(5, u64::MAX), 0..=u64::MAX);
    }

    #[test]
    fn an_address_is_named_by_what_lies_there() {
        let named = Resource { name: "indices".into(), ..buffer(7, 0x10_000, 0x100) };
        let structure = Resource { structure: true, ..buffer(9, 0x10_080, 0x40) };
        let all = [named, structure, buffer(8, 0x20_000, 0x1000)];
        assert_eq!(
            said(1, 0x10_010, 1, &all),
            "Invalid read at 0x10010: byte 16 of buffer 7 \"indices\" (256 bytes)"
        );
        assert_eq!(
            said(2, 0x10_090, 16, &all),
            "Invalid write at 0x10090 to 0x1009f (the hardware does not know it more exactly): bytes 144 to 159 of buffer 7 \
             \"indices\" (256 bytes); or bytes 16 to 31 of acceleration structure 9 (64 bytes)"
        );
        // The range ends behind the buffer.
        assert!(said(1, 0x20_fff, 0x10_000, &all).contains("bytes 0 to 4095 of buffer 8 (4096 bytes)"));
    }

    #[test]
    fn what_reaches_too_far_is_near_something() {
        let all = [buffer(7, 0x1000, 0x100), buffer(8, 0x2000, 0x100)];
        let nothing = "in nothing whose address the capture asked for; the nearest is";
        assert_eq!(
            said(1, 0x1104, 4, &all),
            format!(
                "Invalid read at 0x1104 to 0x1107 (the hardware does not know it more exactly): {nothing} buffer 7 (256 bytes), \
                 which ends 4 bytes before"
            )
        );
        assert_eq!(
            said(0, 0x1ff0, 1, &all),
            format!("Address 0x1ff0: {nothing} buffer 8 (256 bytes), which begins 16 bytes further on")
        );
        assert_eq!(
            said(1, 8, 1, &[]),
            "Invalid read at 0x8: the capture asked for no address that could say what this is"
        );
        // Ends of all numbers.
        let last = [buffer(3, u64::MAX - 3, 4), buffer(4, 0x10, u64::MAX), buffer(5, 0x20, 0)];
        assert!(said(1, u64::MAX, 1, &last).contains("byte 3 of buffer 3"));
        assert!(said(1, 8, 1, &last).ends_with("which begins 8 bytes further on"));
    }

    #[test]
    fn what_was_destroyed_is_said_to_have_been_and_what_is_there_comes_first() {
        let gone = |id, block| Resource { destroyed: Some(block), ..buffer(id, 0x1000, 0x100) };
        let mut all = vec![gone(5, 70), gone(6, 90)];
        assert_eq!(
            said(1, 0x1000, 1, &all),
            "Invalid read at 0x1000: byte 0 of buffer 6 (256 bytes), which block 90 destroyed; or byte 0 of buffer 5 (256 \
             bytes), which block 70 destroyed"
        );
        all.push(buffer(7, 0x1000, 0x20));
        let text = said(1, 0x1000, 1, &all);
        assert!(
            text.starts_with("Invalid read at 0x1000: byte 0 of buffer 7 (32 bytes); or byte 0 of buffer 6"),
            "{text}"
        );
        all.extend((10..20).map(|id| gone(id, id)));
        assert_eq!(said(1, 0x1000, 1, &all).matches("buffer").count(), MOST);
    }

    #[test]
    fn an_address_of_the_capture_was_not_translated() {
        let moved = Resource { captured: 0xAAAA_0000, ..buffer(7, 0x1000, 0x100) };
        assert_eq!(
            said(1, 0xAAAA_0008, 1, std::slice::from_ref(&moved)),
            "Invalid read at 0xaaaa0008: where byte 8 of buffer 7 (256 bytes) was at capture, which is at 0x1008 here: an \
             address that was not translated"
        );
        let there = buffer(8, 0xAAAA_0000, 0x10);
        assert!(
            !said(1, 0xAAAA_0008, 1, &[moved, there]).contains("at capture"),
            "something else is there now"
        );
    }

    #[test]
    fn code_is_of_nobody() {
        assert_eq!(said(6, 0x1000, 1, &[buffer(7, 0x1000, 0x100)]), "Instruction that faulted at 0x1000");
    }

    #[test]
    fn everything_that_was_said_is_a_sentence() {
        let vendor = Vendor { description: "MMU".into(), code: 0x1f, data: 2 };
        let address = Address { kind: 1, reported: 16, precision: 1, places: vec![] };
        let f = Fault { description: "page fault".into(), addresses: vec![address], vendor: vec![vendor] };
        assert_eq!(
            f.sentences(),
            [
                "The driver says of the fault: page fault",
                "Invalid read at 0x10: the capture asked for no address that could say what this is",
                "The driver's maker knows what this means: MMU (code 0x1f, data 0x2)"
            ]
        );
        assert_eq!(Fault::default().sentences(), ["The driver names a fault without describing it"]);
    }
}
