//! The folder that a command writes: refused where it holds something, and left as it was where nothing came of it; or one among
//! temporary files; and the user's for what can be made again.

use crate::failure::Failure;
use crate::files::output;
use std::path::{Path, PathBuf};
use tempfile::TempDir;

/// A trace goes to a folder of its own.
pub fn refuse_full(folder: &Path) -> Result<(), Failure> {
    let full = folder.read_dir().is_ok_and(|mut entries| entries.next().is_some());
    if full {
        return Err(Failure::usage(format_args!("{}: it is not empty; name a new folder", folder.display())));
    }
    Ok(())
}

/// A folder among temporary files, gone with its owner.
pub fn temporary() -> Result<TempDir, Failure> {
    tempfile::tempdir().map_err(|e| Failure::new(format_args!("no folder among temporary files: {e}")))
}

/// The user's folder for what can be made again.
pub fn cache() -> Option<PathBuf> {
    let named = |name| std::env::var_os(name).filter(|v| !v.is_empty()).map(PathBuf::from);
    let base = named("XDG_CACHE_HOME").or_else(|| Some(named("HOME")?.join(".cache")))?;
    Some(base.join("reray-replay"))
}

/// Folders that are not there yet, the innermost first.
pub struct Missing(Vec<PathBuf>);

impl Missing {
    /// Those on the way to a folder, it included.
    pub fn of(folder: &Path) -> Self {
        let there = |f: &&Path| !f.as_os_str().is_empty() && !f.exists();
        Missing(folder.ancestors().take_while(there).map(Path::to_owned).collect())
    }

    /// Takes them away again, as far as they are empty.
    pub fn take_away(&self) {
        let all = self.0.iter().map(std::fs::remove_dir);
        let _ = all.take_while(Result::is_ok).count();
    }
}

/// Writes into a folder that may hold other files; one that was made for it, and is empty in the end, is taken away.
pub fn made_for<T>(folder: &Path, make: impl FnOnce() -> T) -> T {
    let missing = Missing::of(folder);
    let done = make();
    missing.take_away();
    done
}

/// Makes a folder that is there whole or not at all.
pub fn whole<T>(output: &Path, make: impl FnOnce(&Path) -> Result<T, Failure>) -> Result<T, Failure> {
    let name = output.file_name().ok_or_else(|| Failure::usage("-o: not a folder's name"))?;
    let part = output.with_file_name(format!(".{}.{}.part", name.to_string_lossy(), std::process::id()));
    let missing = Missing::of(&part);
    output::folder(&part)?;
    let done = make(&part).and_then(|made| {
        // (an empty folder may be there)
        let _ = std::fs::remove_dir(output);
        std::fs::rename(&part, output)
            .map_err(|e| Failure::new(format_args!("{}: {e}", output.display())))?;
        Ok(made)
    });
    if done.is_err() {
        let _ = std::fs::remove_dir_all(&part);
        missing.take_away();
    }
    done
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn what_was_made_is_taken_away_and_nothing_else() {
        let base = std::env::temp_dir().join(format!("reray-missing-{}", std::process::id()));
        std::fs::create_dir_all(base.join("there")).expect("a folder");
        let folder = base.join("there/a/b");
        let missing = Missing::of(&folder);
        assert_eq!(missing.0, [folder.clone(), base.join("there/a")]);
        std::fs::create_dir_all(&folder).expect("a folder");
        missing.take_away();
        assert!(base.join("there").is_dir() && !base.join("there/a").exists());
        std::fs::create_dir_all(&folder).expect("a folder");
        std::fs::write(base.join("there/a/kept"), "").expect("a file");
        missing.take_away();
        assert!(base.join("there/a/kept").is_file() && !folder.exists());
        std::fs::remove_dir_all(&base).expect("all of it");
        assert!(Missing::of(Path::new(".")).0.is_empty());
    }
}
