//! A row of results: one replay of one recording of one program; and a file of them.
//!
//! The file is TSV with a head of names. Guarantees: what is written is read back the same; tabs and line ends cannot
//! come into a field. Refuses a file with other columns, and numbers that are none.

/// What a program's pictures and the replay's have in common.
#[derive(Clone, Copy, Debug, PartialEq)]
pub enum Shown {
    /// There was nothing to compare: the program shows nothing, or the replay wrote nothing.
    Nothing,
    /// So many frames were compared; the worst of them lies so far off. `blank`: the program's own pictures have one
    /// colour each, so that their being equal says little.
    Compared { frames: u32, blank: bool, largest: u8, off_percent: f64 },
    /// The program's pictures, written in the other of sRGB's two encodings (which is how gfxrecon-replay 1.0 writes
    /// those of sRGB swapchains).
    Encoded,
    /// Pictures of another size, or ones that cannot be read.
    Unlike,
}

/// See the module's header. A recording that could not be made has an empty `replayer`.
#[derive(Clone, Debug, PartialEq)]
pub struct Row {
    pub program: String,
    /// whole, or trimmed.
    pub kind: String,
    /// Package and version, or repository and commit.
    pub from: String,
    /// debian, zink, pypi, pypi-zink, examples.
    pub set: String,
    /// The frames recorded, as 1-10; all.
    pub frames: String,
    /// The version of the capture layer.
    pub layer: String,
    pub recorded_on: String,
    pub bytes: u64,
    /// The program's exit code under the capture layer.
    pub program_exit: i32,
    pub replayer: String,
    pub version: String,
    pub options: String,
    pub replayed_on: String,
    pub exit: i32,
    pub seconds: f64,
    pub shown: Shown,
    /// Versions of other replayers that show the very same pictures, where they are not the program's.
    pub same_as: String,
    /// What was bridged between the devices, by name.
    pub bridged: String,
    /// The last line that was said, where something went wrong.
    pub said: String,
}

/// What came of a replay, in one word.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub enum Verdict {
    /// Its end, and every picture compared is the program's, value by value.
    Equal,
    /// Its end, and at most 0.1 % of any picture's values are off by more than 2 of 255; or the same in another encoding.
    Rounding,
    /// Its end; there is no picture to compare with (or only blank ones).
    Ran,
    /// Its end, with another picture.
    Differs,
    /// It said that this device, or this capture, does not permit it (77).
    Refused,
    /// It ended by itself before the capture's end, or diverged from it.
    Failed,
    /// A signal ended it.
    Crashed,
    /// It did not end in time.
    Hung,
}

impl Verdict {
    pub const ALL: [Verdict; 8] = [
        Self::Equal,
        Self::Rounding,
        Self::Ran,
        Self::Differs,
        Self::Refused,
        Self::Failed,
        Self::Crashed,
        Self::Hung,
    ];

    /// The word on the page.
    pub fn name(self) -> &'static str {
        match self {
            Self::Equal => "equal",
            Self::Rounding => "rounding",
            Self::Ran => "ran",
            Self::Differs => "differs",
            Self::Refused => "refused",
            Self::Failed => "failed",
            Self::Crashed => "crashed",
            Self::Hung => "hung",
        }
    }
}

/// The share of values that devices may round otherwise, in percent.
const ROUNDING_PERCENT: f64 = 0.1;

impl Row {
    pub fn verdict(&self) -> Verdict {
        match (self.exit, self.shown) {
            // timeout's own code, and what a program that had to be killed leaves.
            (124 | 137, _) => Verdict::Hung,
            (129..=192, _) => Verdict::Crashed,
            (0, Shown::Nothing) => Verdict::Ran,
            (0, Shown::Encoded) => Verdict::Rounding,
            (0, Shown::Compared { largest: 0, blank, .. }) => {
                if blank {
                    Verdict::Ran
                } else {
                    Verdict::Equal
                }
            }
            (0, Shown::Compared { off_percent, .. }) if off_percent <= ROUNDING_PERCENT => Verdict::Rounding,
            (0, _) => Verdict::Differs,
            (77, _) => Verdict::Refused,
            _ => Verdict::Failed,
        }
    }

    /// Whether the recording could be made at all.
    pub fn recorded(&self) -> bool {
        !self.replayer.is_empty()
    }
}

const HEAD: [&str; 23] = [
    "program",
    "kind",
    "from",
    "set",
    "frames",
    "layer",
    "recorded_on",
    "bytes",
    "program_exit",
    "replayer",
    "version",
    "options",
    "replayed_on",
    "exit",
    "seconds",
    "shown",
    "compared",
    "blank",
    "largest",
    "off_percent",
    "same_as",
    "bridged",
    "said",
];

/// A file's text.
pub fn to_text(rows: &[Row]) -> String {
    let mut text = HEAD.join("\t") + "\n";
    for row in rows {
        let (shown, compared, blank, largest, off) = match row.shown {
            Shown::Nothing => ("nothing", 0, false, 0, 0.0),
            Shown::Unlike => ("unlike", 0, false, 0, 0.0),
            Shown::Encoded => ("encoded", 0, false, 0, 0.0),
            Shown::Compared { frames, blank, largest, off_percent } => {
                ("compared", frames, blank, largest, off_percent)
            }
        };
        let clean = |s: &str| s.replace(['\t', '\n', '\r'], " ");
        let fields = [
            clean(&row.program),
            clean(&row.kind),
            clean(&row.from),
            clean(&row.set),
            clean(&row.frames),
            clean(&row.layer),
            clean(&row.recorded_on),
            row.bytes.to_string(),
            row.program_exit.to_string(),
            clean(&row.replayer),
            clean(&row.version),
            clean(&row.options),
            clean(&row.replayed_on),
            row.exit.to_string(),
            format!("{:.1}", row.seconds),
            shown.to_string(),
            compared.to_string(),
            u8::from(blank).to_string(),
            largest.to_string(),
            format!("{off:.4}"),
            clean(&row.same_as),
            clean(&row.bridged),
            clean(&row.said),
        ];
        text += &(fields.join("\t") + "\n");
    }
    text
}

/// A file's rows.
pub fn from_text(text: &str) -> Result<Vec<Row>, String> {
    let mut lines = text.lines();
    if lines.next() != Some(&HEAD.join("\t")) {
        return Err("its columns are not those of the corpus".to_string());
    }
    lines.enumerate().map(|(n, line)| row(line).map_err(|e| format!("line {}: {e}", n + 2))).collect()
}

fn row(line: &str) -> Result<Row, String> {
    let f: Vec<&str> = line.split('\t').collect();
    if f.len() != HEAD.len() {
        return Err(format!("{} fields, not {}", f.len(), HEAD.len()));
    }
    fn number<T: std::str::FromStr>(text: &str) -> Result<T, String> {
        text.parse().map_err(|_| format!("'{text}' is no number"))
    }
    let shown = match f[15] {
        "nothing" => Shown::Nothing,
        "unlike" => Shown::Unlike,
        "encoded" => Shown::Encoded,
        "compared" => Shown::Compared {
            frames: number(f[16])?,
            blank: f[17] == "1",
            largest: number(f[18])?,
            off_percent: number(f[19])?,
        },
        other => return Err(format!("'{other}' is no way to be shown")),
    };
    let s = |at: usize| f[at].to_string();
    Ok(Row {
        program: s(0),
        kind: s(1),
        from: s(2),
        set: s(3),
        frames: s(4),
        layer: s(5),
        recorded_on: s(6),
        bytes: number(f[7])?,
        program_exit: number(f[8])?,
        replayer: s(9),
        version: s(10),
        options: s(11),
        replayed_on: s(12),
        exit: number(f[13])?,
        seconds: number(f[14])?,
        shown,
        same_as: s(20),
        bridged: s(21),
        said: s(22),
    })
}

#[cfg(test)]
pub mod tests {
    use super::*;

    /// A replay that showed the program's picture.
    pub fn good() -> Row {
        let s = str::to_string;
        Row {
            program: s("cube"),
            kind: s("whole"),
            from: s("cubes 1.0 (Debian)"),
            set: s("debian"),
            frames: s("1-10"),
            layer: s("0.9.18"),
            recorded_on: s("device"),
            bytes: 1000,
            program_exit: 0,
            replayer: s("reray-replay"),
            version: s("0.1.0"),
            options: String::new(),
            replayed_on: s("device"),
            exit: 0,
            seconds: 0.5,
            shown: Shown::Compared { frames: 3, blank: false, largest: 0, off_percent: 0.0 },
            same_as: String::new(),
            bridged: String::new(),
            said: String::new(),
        }
    }

    #[test]
    fn what_is_written_is_read_back() {
        let off = Shown::Compared { frames: 2, blank: true, largest: 9, off_percent: 12.5 };
        let rows = vec![
            good(),
            Row { shown: off, same_as: "1.0.5".to_string(), ..good() },
            Row { shown: Shown::Encoded, bridged: "queues".to_string(), ..good() },
            Row { shown: Shown::Unlike, exit: 77, said: "no such queue".to_string(), ..good() },
            Row { shown: Shown::Nothing, replayer: String::new(), ..good() },
        ];
        assert_eq!(from_text(&to_text(&rows)), Ok(rows));
    }

    #[test]
    fn a_field_holds_no_tab() {
        let text = to_text(&[Row { said: "a\tb\nc".to_string(), ..good() }]);
        assert_eq!(from_text(&text).expect("rows")[0].said, "a b c");
    }

    #[test]
    fn other_files_are_refused() {
        assert!(from_text("program\tkind\n").is_err());
        let text = to_text(&[good()]);
        assert!(from_text(&text.replace("\t1000\t", "\tmany\t")).expect_err("no number").contains("line 2"));
        assert!(from_text(&text.replace("\tcompared\t3", "\tguessed\t3")).is_err());
    }

    #[test]
    fn verdicts() {
        let seen = |exit, shown| Row { exit, shown, ..good() }.verdict();
        let off = |largest, off_percent| Shown::Compared { frames: 1, blank: false, largest, off_percent };
        assert_eq!(good().verdict(), Verdict::Equal);
        assert_eq!(seen(0, off(200, 0.1)), Verdict::Rounding);
        assert_eq!(seen(0, off(3, 0.11)), Verdict::Differs);
        assert_eq!(seen(0, Shown::Unlike), Verdict::Differs);
        assert_eq!(seen(0, Shown::Nothing), Verdict::Ran);
        assert_eq!(
            seen(0, Shown::Compared { frames: 3, blank: true, largest: 0, off_percent: 0.0 }),
            Verdict::Ran
        );
        assert_eq!(seen(77, Shown::Nothing), Verdict::Refused);
        assert_eq!(seen(255, Shown::Nothing), Verdict::Failed);
        assert_eq!(seen(0, Shown::Encoded), Verdict::Rounding);
        assert_eq!(seen(139, off(0, 0.0)), Verdict::Crashed);
        assert_eq!(seen(134, Shown::Nothing), Verdict::Crashed);
        assert_eq!(seen(124, Shown::Nothing), Verdict::Hung);
        assert_eq!(seen(137, Shown::Nothing), Verdict::Hung);
    }
}
