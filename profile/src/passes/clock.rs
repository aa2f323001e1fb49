//! Options of passes that read a clock and say where on the device they did: `clock=auto|device|subgroup`, `sm=auto|yes|no`.
//!
//! Guarantees: what is not said is what the device has. Refuses other options, by the pass's name.

use crate::Needs;
use crate::rewrite::Device;

/// See the module's header.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Clocked {
    /// The subgroup's clock, or the device's; else the best there is.
    pub own: Option<bool>,
    /// Where it runs is recorded, or not; else if the device says it.
    pub sm: Option<bool>,
}

impl Clocked {
    /// With the options of the command line.
    pub fn new(pass: &str, options: &[String]) -> Result<Self, String> {
        let mut new = Clocked::default();
        for option in options {
            match option.split_once('=') {
                Some(("clock", "auto")) => new.own = None,
                Some(("clock", "device")) => new.own = Some(false),
                Some(("clock", "subgroup")) => new.own = Some(true),
                Some(("sm", "auto")) => new.sm = None,
                Some(("sm", yes @ ("yes" | "no"))) => new.sm = Some(yes == "yes"),
                _ => {
                    return Err(format!(
                        "pass {pass} has no option {option:?}; it has clock=auto|device|subgroup, sm=auto|yes|no"
                    ));
                }
            }
        }
        Ok(new)
    }

    /// What it asks of the device.
    pub fn needs(self) -> Needs {
        Needs {
            clock: self.own == Some(false),
            own_clock: self.own == Some(true),
            some_clock: self.own.is_none(),
            sm_builtins: self.sm == Some(true),
            sm_if_there: self.sm.is_none(),
            ..Needs::default()
        }
    }

    /// Whether the subgroup's clock is read on a device, and whether places are.
    pub fn on(self, device: &Device) -> (bool, bool) {
        (self.own.unwrap_or(device.own_clock), self.sm.unwrap_or(device.sm_builtins))
    }
}
