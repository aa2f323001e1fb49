//! The options of pass `rays`, as on the command line; what each means is said in the head of `rays/mod.rs`. Refuses what is
//! none of them, by its name.

use crate::passes::lanes::Lanes;

/// What was asked for.
#[derive(Clone, Copy, Debug, Default)]
pub struct Options {
    /// What a mask holds, or the device's subgroups.
    pub lanes: Option<Lanes>,
    /// The multiprocessor is recorded, or not; else if the device says it.
    pub sm: Option<bool>,
    /// A clock is read: the subgroup's, the device's, or the best there is.
    pub clock: Option<Option<bool>>,
    /// In which stages beside those of ray tracing queries are recorded.
    pub queries: Queries,
    /// Any-hit shaders are put where there are none.
    pub probe_triangles: bool,
}

/// See [`Options::queries`].
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub enum Queries {
    /// In those where devices have subgroup operations.
    #[default]
    Most,
    /// In every stage.
    All,
    /// In none.
    None,
}

impl Options {
    /// Reads them.
    pub fn read(options: &[String]) -> std::result::Result<Self, String> {
        let mut new = Options::default();
        for option in options {
            match option.as_str() {
                "sm=auto" => new.sm = None,
                "sm=yes" => new.sm = Some(true),
                "sm=no" => new.sm = Some(false),
                "clock=no" => new.clock = None,
                "clock=auto" => new.clock = Some(None),
                "clock=device" => new.clock = Some(Some(false)),
                "clock=subgroup" => new.clock = Some(Some(true)),
                "probe-triangles" => new.probe_triangles = true,
                "queries=most" => new.queries = Queries::Most,
                "queries=all" => new.queries = Queries::All,
                "queries=no" => new.queries = Queries::None,
                lanes if lanes.starts_with("lanes=") => {
                    new.lanes = Some(Lanes::of("rays", std::slice::from_ref(option))?)
                }
                _ => {
                    return Err(format!(
                        "pass rays has no option {option:?}; it has lanes=32|64|128, sm=auto|yes|no, \
                         clock=no|auto|device|subgroup, queries=most|all|no, \
                         probe-triangles"
                    ));
                }
            }
        }
        Ok(new)
    }
}
