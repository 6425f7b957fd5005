//! A cache of what was used recently, bounded by weight.

use std::collections::HashMap;
use std::hash::Hash;

/// Two generations: what is put goes into the young one; when that has become too heavy it becomes the old
/// one, and what was old and not asked for since is dropped.
pub(super) struct Recent<K, V> {
    young: HashMap<K, (V, usize)>,
    old: HashMap<K, (V, usize)>,
    young_weight: usize,
    max_weight: usize,
}

impl<K: Hash + Eq, V> Recent<K, V> {
    /// At most about `max_weight` is kept.
    pub(super) fn new(max_weight: usize) -> Self {
        Self { young: HashMap::new(), old: HashMap::new(), young_weight: 0, max_weight }
    }

    /// Takes a value out.
    pub(super) fn take(&mut self, key: &K) -> Option<V> {
        if let Some((value, weight)) = self.young.remove(key) {
            self.young_weight -= weight;
            return Some(value);
        }
        self.old.remove(key).map(|(value, _)| value)
    }

    /// Puts a value in.
    pub(super) fn put(&mut self, key: K, value: V, weight: usize) {
        self.take(&key);
        if self.young_weight + weight > self.max_weight / 2 {
            self.old = std::mem::take(&mut self.young);
            self.young_weight = 0;
        }
        self.young.insert(key, (value, weight));
        self.young_weight += weight;
    }
}

#[cfg(test)]
mod tests {
    use super::Recent;

    #[test]
    fn what_is_used_stays_and_the_whole_is_bounded() {
        let mut recent = Recent::new(100);
        recent.put("hot", 0, 10);
        for n in 1..1000 {
            recent.put(Box::leak(n.to_string().into_boxed_str()), n, 10);
            let hot = recent.take(&"hot").unwrap();
            recent.put("hot", hot, 10);
            assert!(recent.young.len() + recent.old.len() <= 10);
        }
        assert_eq!(recent.take(&"998"), Some(998));
        assert_eq!(recent.take(&"1"), None);
    }
}
