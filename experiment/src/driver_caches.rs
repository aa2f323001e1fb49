//! What drivers keep on disk of shaders that they have compiled: off, for commands that hold times of compiling against each other.
//!
//! A cache that has seen the application's own shaders, and not those with probes, makes of a comparison of both one of a warm
//! cache with a cold one. A driver reads such variables when it is loaded, so that the program starts itself anew with them.
//! Guarantees: variables that the user has set stay as they are, and are said.

use std::process::Command;

/// Variables, and what turns the cache off: of Mesa, and of NVIDIA's driver.
const OFF: [(&str, &str); 2] = [("MESA_SHADER_CACHE_DISABLE", "true"), ("__GL_SHADER_DISK_CACHE", "0")];

/// Starts the program anew with caches off, unless somebody has said how each is to be.
pub fn off() {
    let unset = OFF.iter().filter(|v| std::env::var_os(v.0).is_none());
    let unset: Vec<(&str, &str)> = unset.copied().collect();
    let (false, Ok(itself)) = (unset.is_empty(), std::env::current_exe()) else { return };
    let mut anew = Command::new(itself);
    anew.args(std::env::args_os().skip(1)).envs(unset);
    become_of(anew);
}

/// Becomes another process. It returns only where that failed; then times are as the caches have them, which is said.
#[cfg(unix)]
fn become_of(mut command: Command) {
    use std::os::unix::process::CommandExt;
    if let Some(name) = std::env::args_os().next() {
        command.arg0(name);
    }
    let _ = command.exec();
}

/// No process becomes another one here: this one waits for it, and ends as it does.
#[cfg(windows)]
fn become_of(mut command: Command) {
    if let Ok(ended) = command.status() {
        std::process::exit(ended.code().unwrap_or(1));
    }
}

/// How they are, in words.
pub fn said() -> String {
    words(|name| std::env::var_os(name).map(|v| v.to_string_lossy().into_owned()))
}

fn words(variable: impl Fn(&str) -> Option<String>) -> String {
    let of = |(name, off): &(&str, &str)| match variable(name) {
        Some(value) if value == *off => None,
        Some(value) => Some(format!("{name}={value}")),
        None => Some(format!("{name} unset")),
    };
    let others: Vec<String> = OFF.iter().filter_map(of).collect();
    if others.is_empty() { "off".to_owned() } else { format!("as the user has them, {}", others.join(", ")) }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn what_the_user_set_is_said() {
        assert_eq!(words(|name| OFF.iter().find(|v| v.0 == name).map(|v| v.1.to_owned())), "off");
        let other = |name: &str| (name == "__GL_SHADER_DISK_CACHE").then(|| "1".to_owned());
        assert_eq!(
            words(other),
            "as the user has them, MESA_SHADER_CACHE_DISABLE unset, __GL_SHADER_DISK_CACHE=1"
        );
    }
}
