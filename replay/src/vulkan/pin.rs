//! Keeps drivers loaded between instances.
//!
//! The loader opens every driver's library for an instance, or to ask for its extensions, and closes it afterwards. A driver
//! that does not give back all that it took (thread-local keys, say, of which a process has 1,024) can be opened so only a few
//! dozen times: replays that follow each other in one process then end in "no driver". A library that was found to be a
//! driver is therefore marked as one that closing does not unload.
//!
//! Guarantees: libraries that are no drivers (layers, among them) are left as they are; nothing is loaded that was not.

use std::ffi::{CStr, CString};
use std::sync::Mutex;

/// What every driver exports for the loader (its interface, version 1 and later).
const DRIVER: &CStr = c"vk_icdGetInstanceProcAddr";

/// Libraries that were looked at, by path.
static SEEN: Mutex<Vec<String>> = Mutex::new(Vec::new());

/// Pins the drivers that are loaded now; returns those that were pinned by this call.
pub fn drivers() -> Vec<String> {
    let maps = std::fs::read_to_string("/proc/self/maps").unwrap_or_default();
    let mut seen = SEEN.lock().unwrap_or_else(std::sync::PoisonError::into_inner);
    let mut pinned = Vec::new();
    for path in libraries(&maps) {
        if seen.iter().any(|s| s == path) {
            continue;
        }
        if pin(path) {
            pinned.push(path.to_owned());
        }
        seen.push(path.to_owned());
    }
    pinned
}

/// Paths of shared libraries in a process' list of mappings, each once.
fn libraries(maps: &str) -> Vec<&str> {
    let mut paths: Vec<&str> = maps
        .lines()
        .filter_map(|line| line.find('/').map(|at| &line[at..]))
        .filter(|path| path.contains(".so") && !path.ends_with(" (deleted)"))
        .collect();
    paths.sort_unstable();
    paths.dedup();
    paths
}

/// Marks a library if it is a driver.
fn pin(path: &str) -> bool {
    let Ok(path) = CString::new(path) else { return false };
    // SAFETY: NOLOAD runs no constructors: the library is there already, or null comes back. What is asked for is only an address.
    unsafe {
        let library = libc::dlopen(path.as_ptr(), libc::RTLD_NOLOAD | libc::RTLD_LAZY);
        if library.is_null() {
            return false;
        }
        let driver = !libc::dlsym(library, DRIVER.as_ptr()).is_null();
        let kept = driver
            && !libc::dlopen(path.as_ptr(), libc::RTLD_NOLOAD | libc::RTLD_LAZY | libc::RTLD_NODELETE)
                .is_null();
        libc::dlclose(library);
        kept
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn libraries_are_read_from_mappings() {
        let maps = "7f00-7f01 r--p 00000000 08:01 12 /usr/lib/libvulkan_lvp.so\n\
                    7f01-7f02 r-xp 00001000 08:01 12 /usr/lib/libvulkan_lvp.so\n\
                    7f02-7f03 rw-p 00000000 00:00 0 [heap]\n\
                    7f03-7f04 r-xp 00001000 08:01 13 /usr/lib/libold.so.1 (deleted)\n\
                    7f04-7f05 r-xp 00001000 08:01 14 /opt/a folder/libicd.so.2\n\
                    7f05-7f06 r--p 00000000 08:01 15 /usr/share/fonts/a.ttf\n";
        assert_eq!(libraries(maps), ["/opt/a folder/libicd.so.2", "/usr/lib/libvulkan_lvp.so"]);
    }

    #[test]
    fn a_driver_stays_when_its_instance_is_gone() {
        // SAFETY: the loader is loaded once and lives to the end of this function.
        let entry = unsafe { ash::Entry::load() }.ok();
        // SAFETY: an instance of no extensions; destroyed below.
        let instance = entry.as_ref().and_then(|entry| unsafe {
            entry.create_instance(&ash::vk::InstanceCreateInfo::default(), None).ok()
        });
        let Some(instance) = instance else {
            assert!(std::env::var_os("RERAY_REQUIRE_DEVICE").is_none(), "no driver");
            return;
        };
        let pinned = drivers();
        // SAFETY: made above, used no more.
        unsafe { instance.destroy_instance(None) };
        // (other tests of this process may have pinned them before)
        let seen = SEEN.lock().unwrap_or_else(std::sync::PoisonError::into_inner).clone();
        let maps = std::fs::read_to_string("/proc/self/maps").expect("a process has mappings");
        let icd = |path: &&str| {
            let path = CString::new(*path).expect("a path");
            // SAFETY: as in `pin`.
            unsafe {
                let library = libc::dlopen(path.as_ptr(), libc::RTLD_NOLOAD | libc::RTLD_LAZY);
                !library.is_null() && !libc::dlsym(library, DRIVER.as_ptr()).is_null()
            }
        };
        let there: Vec<&str> = libraries(&maps).into_iter().filter(icd).collect();
        assert!(!there.is_empty(), "no driver is loaded any more");
        assert!(there.iter().all(|p| seen.iter().any(|s| s == p)), "{there:?}, {seen:?}");
        assert!(pinned.iter().all(|p| there.contains(&p.as_str())), "{pinned:?}, {there:?}");
        assert!(drivers().is_empty(), "what is pinned is not pinned again");
    }
}
