//! The constants of a pipeline's stage: the application's, and beside them where this entry point's memory is.
//!
//! Guarantees: the application's constants keep their values. An entry of its that names one of our ids names no constant
//! of its module (ours were free), and is left out.

use crate::rewrite::Constants;
use replay::ash::vk;

/// Constants as the driver reads them: the struct refers to the other two.
pub struct Specialization {
    entries: Vec<vk::SpecializationMapEntry>,
    data: Vec<u8>,
}

/// Values of our constants.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Values {
    /// Address of the counters.
    pub region: u64,
    /// Address of the log.
    pub log: u64,
    /// Number of the first probe.
    pub probe_base: u32,
    /// Number of the first counter of each action.
    pub action_base: u32,
    /// Address of the counters that nobody reads.
    pub elsewhere: u64,
    /// Address of the log without room.
    pub nothing: u64,
}

impl Specialization {
    /// The application's entries and data with ours.
    pub fn merge(
        entries: &[vk::SpecializationMapEntry],
        data: &[u8],
        constants: &Constants,
        values: Values,
    ) -> Self {
        let halves = |v: u64| [v as u32, (v >> 32) as u32];
        let (region, log) = (halves(values.region), halves(values.log));
        let mut ours = vec![
            (constants.region[0], region[0]),
            (constants.region[1], region[1]),
            (constants.log[0], log[0]),
            (constants.log[1], log[1]),
            (constants.probe_base, values.probe_base),
            (constants.action_base, values.action_base),
        ];
        if let Some(ids) = constants.elsewhere {
            let words = [halves(values.elsewhere), halves(values.nothing)].concat();
            ours.extend(ids.into_iter().zip(words));
        }
        let theirs = entries.iter().filter(|e| ours.iter().all(|o| o.0 != e.constant_id));
        let mut out = Specialization { entries: theirs.copied().collect(), data: data.to_vec() };
        out.data.resize(data.len().next_multiple_of(4), 0);
        for (constant_id, value) in ours {
            let offset = out.data.len() as u32;
            out.data.extend(value.to_le_bytes());
            out.entries.push(vk::SpecializationMapEntry { constant_id, offset, size: 4 });
        }
        out
    }

    /// What the driver is given; lives no longer than this.
    /// Where each constant lies.
    pub fn entries(&self) -> &[vk::SpecializationMapEntry] {
        &self.entries
    }
    /// Their values.
    pub fn data(&self) -> &[u8] {
        &self.data
    }
    /// As the driver is given it.
    pub fn info(&self) -> vk::SpecializationInfo<'_> {
        vk::SpecializationInfo::default().map_entries(&self.entries).data(&self.data)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    const CONSTANTS: Constants = Constants {
        region: [2000, 2001],
        log: [2002, 2003],
        probe_base: 2004,
        action_base: 2005,
        elsewhere: None,
    };

    const VALUES: Values =
        Values { region: 0, log: 0, probe_base: 1, action_base: 0, elsewhere: 0, nothing: 0 };

    fn value(s: &Specialization, id: u32) -> Vec<u8> {
        let found: Vec<_> = s.entries.iter().filter(|e| e.constant_id == id).collect();
        assert_eq!(found.len(), 1, "constant {id}");
        s.data[found[0].offset as usize..][..found[0].size].to_vec()
    }

    #[test]
    fn ours_lie_behind_the_applications() {
        let entry = |constant_id, offset, size| vk::SpecializationMapEntry { constant_id, offset, size };
        // The third names one of ours, which its module cannot have.
        let theirs = [entry(0, 0, 4), entry(7, 4, 2), entry(2001, 0, 4)];
        let data = [1, 2, 3, 4, 5, 6];
        let values = Values {
            region: 0x1122_3344_5566_7788,
            log: 0x99_0000_0010,
            probe_base: 3,
            action_base: 9,
            ..VALUES
        };
        let s = Specialization::merge(&theirs, &data, &CONSTANTS, values);
        assert_eq!((value(&s, 0), value(&s, 7)), (vec![1, 2, 3, 4], vec![5, 6]));
        assert_eq!(value(&s, 2000), 0x5566_7788u32.to_le_bytes());
        assert_eq!(value(&s, 2001), 0x1122_3344u32.to_le_bytes());
        assert_eq!(value(&s, 2002), 0x10u32.to_le_bytes());
        assert_eq!(value(&s, 2003), 0x99u32.to_le_bytes());
        assert_eq!(value(&s, 2004), 3u32.to_le_bytes());
        assert_eq!(value(&s, 2005), 9u32.to_le_bytes());
        let info = s.info();
        assert_eq!((info.map_entry_count, info.data_size), (8, 32));
    }

    #[test]
    fn without_constants_of_the_applications() {
        let s = Specialization::merge(&[], &[], &CONSTANTS, Values { region: 8, log: 16, ..VALUES });
        assert_eq!((s.entries.len(), s.data.len()), (6, 24));
        let elsewhere = Some([2006, 2007, 2008, 2009]);
        let values = Values { elsewhere: 0x5_0000_0006, nothing: 0x7_0000_0008, ..VALUES };
        let s = Specialization::merge(&[], &[], &Constants { elsewhere, ..CONSTANTS }, values);
        let words = [2006, 2007, 2008, 2009].map(|id| value(&s, id)[0]);
        assert_eq!(words, [6, 5, 8, 7]);
    }
}
