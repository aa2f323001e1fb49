//! What was made of a trace's records and is wanted again: by type, one of each.
//!
//! Guarantees: what is kept stays until its source changes or goes; who asks from several threads gets the same.

use std::any::Any;
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};

type All = Vec<Arc<dyn Any + Send + Sync>>;

/// See the module's header.
#[derive(Default)]
pub struct Kept(Mutex<All>);

impl Kept {
    fn all(&self) -> MutexGuard<'_, All> {
        self.0.lock().unwrap_or_else(PoisonError::into_inner)
    }

    /// The one of this type, if it is kept.
    pub fn get<T: Any + Send + Sync>(&self) -> Option<Arc<T>> {
        self.all().iter().find_map(|k| k.clone().downcast().ok())
    }

    /// Keeps it instead of the one that was.
    pub fn put<T: Any + Send + Sync>(&self, new: Arc<T>) {
        let mut all = self.all();
        all.retain(|k| !k.is::<T>());
        all.push(new);
    }

    /// Keeps nothing any more.
    pub fn clear(&mut self) {
        self.all().clear();
    }
}

impl std::fmt::Debug for Kept {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        write!(f, "{} things kept", self.all().len())
    }
}

/// Whoever copies a source has yet to make something of the copy.
impl Clone for Kept {
    fn clone(&self) -> Self {
        Kept::default()
    }
}

#[cfg(test)]
mod tests {
    use super::Kept;
    use std::sync::Arc;

    #[test]
    fn one_of_each_type() {
        let mut kept = Kept::default();
        assert!(kept.get::<u32>().is_none());
        kept.put(Arc::new(3u32));
        kept.put(Arc::new("word"));
        kept.put(Arc::new(4u32));
        assert_eq!((kept.get::<u32>().as_deref(), kept.get::<&str>().as_deref()), (Some(&4), Some(&"word")));
        assert!(kept.clone().get::<u32>().is_none());
        kept.clear();
        assert!(kept.get::<&str>().is_none());
    }
}
