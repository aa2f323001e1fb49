//! Plans, and lists of passes: the one grammar in which they are written, on the command line, in suites and in `run.json`.
//!
//! ```text
//! PLAN    = NAME { KEY=VALUE }          words as a shell splits them
//! passes  = USE { , USE }               passes in the shaders, in order
//! method  = USE                         a method of repacking
//! USE     = NAME [ : OPTION { + OPTION } ]
//! change  = USE                         a change to calls, again and again
//! shaders = DIR   descriptors = FILE   driver = FILE   gpu = N|NAME   env = VARIABLE=VALUE (again and again)
//! ```
//!
//! A backslash before a comma, a plus sign, a colon or a backslash takes its meaning away, as in names of files. Options used to
//! have colons between them for some passes (`simt:exact=0:held=4`): a colon before `name=` still parts two options.
//!
//! Guarantees: what is printed is read as the same again. Refuses keys that nobody knows, keys that are there twice, and names
//! that are none. What passes, methods and changes there are is not known here.

use serde::{Deserialize, Serialize};
use std::borrow::Cow;
use std::collections::BTreeMap;
use std::fmt::{self, Display, Formatter};
use std::str::FromStr;

/// The plan that changes nothing.
pub const PLAIN: &str = "plain";

/// The keys of a plan.
pub const KEYS: [&str; 8] = ["passes", "method", "change", "shaders", "descriptors", "driver", "gpu", "env"];

/// A pass, a method or a change to calls, and its options.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
#[serde(try_from = "String", into = "String")]
pub struct Use {
    /// Which.
    pub name: String,
    /// Its options, in order.
    pub options: Vec<String>,
}

impl Use {
    /// With these options.
    pub fn new(name: impl Into<String>, options: impl IntoIterator<Item = impl Into<String>>) -> Use {
        Use { name: name.into(), options: options.into_iter().map(Into::into).collect() }
    }

    /// What stands behind the colon.
    pub fn options(&self) -> String {
        self.options.iter().map(|o| escaped(o)).collect::<Vec<_>>().join("+")
    }
}

/// A list of passes.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
#[serde(try_from = "String", into = "String")]
pub struct Passes(pub Vec<Use>);

impl Passes {
    /// Whether there is none.
    pub fn is_empty(&self) -> bool {
        self.0.is_empty()
    }
}

/// A named list of changes to a replay.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
pub struct Plan {
    /// Its name.
    pub name: String,
    /// The passes in its shaders.
    #[serde(default)]
    pub passes: Passes,
    /// The method of repacking whose swizzles its shaders follow.
    #[serde(default)]
    pub method: Option<Use>,
    /// Changes to calls on their way to the driver, the first outermost.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub changes: Vec<Use>,
    /// A folder of shaders that replace the capture's, by hash.
    #[serde(default)]
    pub shaders: Option<String>,
    /// A file that says which sets descriptors are in.
    #[serde(default)]
    pub descriptors: Option<String>,
    /// What VK_DRIVER_FILES is set to.
    #[serde(default)]
    pub driver: Option<String>,
    /// Environment variables that are set.
    #[serde(default)]
    pub env: BTreeMap<String, String>,
    /// The device, if another than the run's.
    #[serde(default)]
    pub gpu: Option<String>,
}

impl Plan {
    /// One that changes nothing.
    pub fn named(name: impl Into<String>) -> Plan {
        Plan { name: name.into(), ..Plan::default() }
    }

    /// Sets a key, as it stands in a plan's words.
    pub fn set(&mut self, key: &str, value: &str) -> Result<(), String> {
        let wrong = |e: String| format!("plan {}: {key}={value}: {e}", self.name);
        if value.is_empty() {
            return Err(wrong("nothing is there".into()));
        }
        if value.contains('\0') {
            return Err(wrong("a NUL is there".into()));
        }
        let twice = format!("plan {}: {key} is there twice", self.name);
        let text = match key {
            "passes" if !self.passes.is_empty() => return Err(twice),
            "passes" => {
                self.passes = value.parse().map_err(wrong)?;
                return Ok(());
            }
            "method" if self.method.is_some() => return Err(twice),
            "method" => {
                self.method = Some(value.parse().map_err(wrong)?);
                return Ok(());
            }
            "change" => {
                self.changes.push(value.parse().map_err(wrong)?);
                return Ok(());
            }
            "env" => {
                let said = value.split_once('=').filter(|v| !v.0.is_empty());
                let (variable, value) = said.ok_or_else(|| wrong("VARIABLE=VALUE".into()))?;
                return match self.env.insert(variable.to_owned(), value.to_owned()) {
                    Some(_) => Err(format!("plan {}: env={variable} is there twice", self.name)),
                    None => Ok(()),
                };
            }
            "shaders" => &mut self.shaders,
            "descriptors" => &mut self.descriptors,
            "driver" => &mut self.driver,
            "gpu" => &mut self.gpu,
            _ => return Err(format!("plan {}: {key}: there are {}", self.name, KEYS.join(", "))),
        };
        match text.replace(value.to_owned()) {
            Some(_) => Err(twice),
            None => Ok(()),
        }
    }

    /// What it changes of calls: its shaders, too, which are a folder of replacements.
    pub fn of_calls(&self) -> Vec<Use> {
        let shaders = self.shaders.iter().map(|folder| Use::new("shaders", [folder]));
        shaders.chain(self.changes.iter().cloned()).collect()
    }

    /// What it changes, a word each, as [`Plan::set`] takes them.
    pub fn changes(&self) -> Vec<String> {
        let mut all = vec![];
        let mut add = |key: &str, value: Option<String>| all.extend(value.map(|v| format!("{key}={v}")));
        add("passes", (!self.passes.is_empty()).then(|| self.passes.to_string()));
        add("method", self.method.as_ref().map(Use::to_string));
        self.changes.iter().for_each(|change| add("change", Some(change.to_string())));
        for (key, value) in [
            ("shaders", &self.shaders),
            ("descriptors", &self.descriptors),
            ("driver", &self.driver),
            ("gpu", &self.gpu),
        ] {
            add(key, value.clone());
        }
        self.env.iter().for_each(|(variable, value)| add("env", Some(format!("{variable}={value}"))));
        all
    }
}

/// A word as it is written: in quotes only where a shell would part it or take it for something else.
fn word(text: &str) -> Cow<'_, str> {
    let plain = |c: char| c.is_alphanumeric() || "=,+-./:@_".contains(c);
    if !text.is_empty() && text.chars().all(plain) {
        return text.into();
    }
    // (a NUL can come out of a file alone, and is printed as it is)
    let quoted = shlex::Quoter::new().allow_nul(true).quote(text);
    quoted.unwrap_or_else(|_| text.into())
}

/// Whether a plan may be called so.
pub fn is_name(name: &str) -> bool {
    !name.trim().is_empty() && !name.contains(['=', ',', '\0'])
}

impl FromStr for Plan {
    type Err = String;

    fn from_str(text: &str) -> Result<Plan, String> {
        let words = shlex::split(text).ok_or_else(|| format!("{text}: a quote or backslash has no end"))?;
        let mut words = words.iter();
        let name = words.next().filter(|n| is_name(n));
        let mut plan = Plan::named(name.ok_or("a plan begins with its name, without `=` and commas")?);
        for word in words {
            let (key, value) =
                word.split_once('=').ok_or_else(|| format!("plan {}: {word} has no =", plan.name))?;
            plan.set(key, value)?;
        }
        Ok(plan)
    }
}

impl Display for Plan {
    fn fmt(&self, f: &mut Formatter<'_>) -> fmt::Result {
        f.write_str(&word(&self.name))?;
        self.changes().iter().try_for_each(|change| write!(f, " {}", word(change)))
    }
}

impl FromStr for Passes {
    type Err = String;

    fn from_str(text: &str) -> Result<Passes, String> {
        parts(text, ',').into_iter().map(str::parse).collect::<Result<_, _>>().map(Passes)
    }
}

impl Display for Passes {
    fn fmt(&self, f: &mut Formatter<'_>) -> fmt::Result {
        let all: Vec<String> = self.0.iter().map(Use::to_string).collect();
        f.write_str(&all.join(","))
    }
}

impl FromStr for Use {
    type Err = String;

    fn from_str(text: &str) -> Result<Use, String> {
        let (name, options) = text.split_once(':').unwrap_or((text, ""));
        if name.is_empty() || !name.bytes().all(|b| b.is_ascii_alphanumeric() || matches!(b, b'-' | b'_')) {
            return Err(format!("{name:?} is no name; say NAME or NAME:OPTION+OPTION, with commas between"));
        }
        let options = parts(options, '+').into_iter().flat_map(once_with_colons);
        Ok(Use::new(name, options.filter(|o| !o.is_empty()).map(plain)))
    }
}

impl Display for Use {
    fn fmt(&self, f: &mut Formatter<'_>) -> fmt::Result {
        f.write_str(&self.name)?;
        if self.options.is_empty() { Ok(()) } else { write!(f, ":{}", self.options()) }
    }
}

/// What stands between marks that no backslash stands before.
fn parts(text: &str, mark: char) -> Vec<&str> {
    let mut all = vec![];
    let (mut from, mut escaped) = (0, false);
    for (at, c) in text.char_indices() {
        if c == mark && !escaped {
            all.push(&text[from..at]);
            from = at + c.len_utf8();
        }
        escaped = c == '\\' && !escaped;
    }
    all.push(&text[from..]);
    all
}

/// Whether it begins with a name and an equals sign.
fn named(part: &str) -> bool {
    let name = part.split_once('=').map_or("", |p| p.0);
    !name.is_empty() && name.bytes().all(|b| b.is_ascii_lowercase() || b == b'-')
}

/// Options that have colons between them, each but the first with a name and a value.
fn once_with_colons(option: &str) -> Vec<&str> {
    let (mut all, mut from) = (vec![], 0);
    for part in parts(option, ':') {
        let at = part.as_ptr() as usize - option.as_ptr() as usize;
        if at > 0 && named(part) {
            all.push(&option[from..at - 1]);
            from = at;
        }
    }
    all.push(&option[from..]);
    all
}

const MARKS: [char; 4] = [',', '+', ':', '\\'];

/// Without the backslashes that take a mark's meaning away.
fn plain(text: &str) -> String {
    let mut out = String::with_capacity(text.len());
    let mut chars = text.chars().peekable();
    while let Some(c) = chars.next() {
        match chars.peek() {
            Some(next) if c == '\\' && MARKS.contains(next) => out.extend(chars.next()),
            _ => out.push(c),
        }
    }
    out
}

/// With backslashes where a mark would part it.
fn escaped(text: &str) -> String {
    let mut out = String::with_capacity(text.len());
    for (at, c) in text.char_indices() {
        let rest = &text[at + c.len_utf8()..];
        let means = match c {
            ',' | '+' => true,
            ':' => named(rest),
            '\\' => rest.is_empty() || rest.starts_with(MARKS),
            _ => false,
        };
        if means {
            out.push('\\');
        }
        out.push(c);
    }
    out
}

macro_rules! texts {
    ($($of:ty),*) => { $(
        impl TryFrom<String> for $of {
            type Error = String;
            fn try_from(text: String) -> Result<Self, String> {
                if text.is_empty() { Ok(Self::default()) } else { text.parse() }
            }
        }
        impl From<$of> for String {
            fn from(of: $of) -> String {
                of.to_string()
            }
        }
    )* };
}
texts!(Use, Passes);

#[cfg(test)]
mod tests {
    use super::*;

    fn uses(text: &str) -> Vec<(String, Vec<String>)> {
        let all: Passes = text.parse().unwrap_or_else(|e| panic!("{text}: {e}"));
        assert_eq!(all.to_string().parse(), Ok(all.clone()), "{text}: {all}");
        all.0.into_iter().map(|u| (u.name, u.options)).collect()
    }

    fn of(name: &str, options: &[&str]) -> (String, Vec<String>) {
        (name.to_owned(), options.iter().map(|o| (*o).to_owned()).collect())
    }

    #[test]
    fn lists_of_passes() {
        assert_eq!(
            uses("simt,burn:turns=3+stage=fragment"),
            [of("simt", &[]), of("burn", &["turns=3", "stage=fragment"])]
        );
        assert_eq!(uses("ser:hints=instance:4+api=ext"), [of("ser", &["hints=instance:4", "api=ext"])]);
        // As it was: colons between options that have a value.
        assert_eq!(uses("simt:exact=0:held=4"), [of("simt", &["exact=0", "held=4"])]);
        assert_eq!(
            uses("prune:a/b:c:precise=yes+frames=1-2"),
            [of("prune", &["a/b:c", "precise=yes", "frames=1-2"])]
        );
        // Names of files may hold what parts options elsewhere.
        assert_eq!(uses(r"replace:a\,b\+c\:d=1"), [of("replace", &["a,b+c:d=1"])]);
        assert_eq!(uses(r"replace:a\b"), [of("replace", &[r"a\b"])]);
        for name in ["a,b", "a+b", "a:b=c", ":b=c", r"a\,b", r"a\", "a\\\\:x=1", "x:y:z=", "ü:a=,"] {
            let list = Passes(vec![Use::new("swizzle", [name, "b"]), Use::new("simt", [""; 0])]);
            assert_eq!(list.to_string().parse(), Ok(list.clone()), "{list}");
        }
        for wrong in ["", "a,,b", ":x=1", "a b", "x=1"] {
            assert!(wrong.parse::<Passes>().is_err(), "{wrong}");
        }
    }

    #[test]
    fn a_plan_in_words() {
        let text =
            "slow passes=simt,burn:turns=3 env=A=1=2 driver=/x.json gpu=1 method=tiled-objects:tile=8x8";
        let p: Plan = text.parse().expect("a plan");
        assert_eq!((&*p.name, &*p.passes.to_string()), ("slow", "simt,burn:turns=3"));
        assert_eq!(p.env.get("A").map(String::as_str), Some("1=2"));
        assert_eq!((p.driver.as_deref(), p.gpu.as_deref()), (Some("/x.json"), Some("1")));
        assert_eq!(p.method, Some(Use::new("tiled-objects", ["tile=8x8"])));
        let p: Plan = "r shaders=new descriptors=one.json".parse().expect("a plan");
        assert_eq!((p.shaders.as_deref(), p.descriptors.as_deref()), (Some("new"), Some("one.json")));
        let changed: Plan = "w change=skip:at=5-9 change=half".parse().expect("a plan");
        assert_eq!(changed.changes, [Use::new("skip", ["at=5-9"]), Use::new("half", [""; 0])]);
        let quoted: Plan = r#"'two words' env="A=x y" passes=burn:pipeline='#5'"#.parse().expect("a plan");
        assert_eq!((&*quoted.name, &*quoted.passes.to_string()), ("two words", "burn:pipeline=#5"));
        assert_eq!(quoted.env.get("A").map(String::as_str), Some("x y"));
        for plan in [p, changed, quoted, text.parse().expect("a plan"), Plan::named("it's")] {
            assert_eq!(plan.to_string().parse(), Ok(plan.clone()), "{plan}");
            let json = serde_json::to_string(&plan).expect("JSON");
            assert_eq!(serde_json::from_str::<Plan>(&json).expect("a plan"), plan, "{json}");
        }
        // In quotes only where it has to be.
        for (text, printed) in [
            (
                "a env=A=1 gpu=0 passes=simt,burn:turns=3+mode=x",
                "a passes=simt,burn:turns=3+mode=x gpu=0 env=A=1",
            ),
            ("'b' 'method=random:seed=7'", "b method=random:seed=7"),
            (
                "d gpu=0 change=no-blend change='skip:label=shadow*+copies'",
                "d change=no-blend 'change=skip:label=shadow*+copies' gpu=0",
            ),
            (r#"c env="A=x y""#, "c 'env=A=x y'"),
        ] {
            assert_eq!(text.parse::<Plan>().map(|p| p.to_string()).as_deref(), Ok(printed));
        }
        for wrong in ["'' env=A=1", "x env='A=1", "x env=A=\\", "x passes=", "a,b"] {
            assert!(wrong.parse::<Plan>().is_err(), "{wrong}");
        }
        for wrong in [
            "",
            "a=b",
            "x y",
            "x colour=red",
            "x env=A",
            "x passes=a passes=b",
            "x change=",
            "x change=:a",
            "x gpu=0 gpu=1",
        ] {
            assert!(wrong.parse::<Plan>().is_err(), "{wrong}");
        }
    }
}
