//! A table whose entries keep their place.

/// Values by position; a position that is freed is used again.
#[derive(Debug)]
pub(crate) struct Slots<T> {
    slots: Vec<Option<T>>,
    free: Vec<usize>,
}

impl<T> Slots<T> {
    pub(crate) const fn new() -> Self {
        Self {
            slots: Vec::new(),
            free: Vec::new(),
        }
    }

    /// The position that the next value gets.
    pub(crate) fn vacant(&self) -> usize {
        self.free.last().copied().unwrap_or(self.slots.len())
    }

    pub(crate) fn insert(&mut self, value: T) -> usize {
        if let Some(at) = self.free.pop() {
            self.slots[at] = Some(value);
            return at;
        }
        self.slots.push(Some(value));
        self.slots.len() - 1
    }

    pub(crate) fn remove(&mut self, at: usize) -> Option<T> {
        let value = self.slots.get_mut(at)?.take()?;
        self.free.push(at);
        Some(value)
    }

    pub(crate) fn get(&self, at: usize) -> Option<&T> {
        self.slots.get(at)?.as_ref()
    }

    pub(crate) fn get_mut(&mut self, at: usize) -> Option<&mut T> {
        self.slots.get_mut(at)?.as_mut()
    }

    /// One more than the highest position ever used.
    pub(crate) const fn end(&self) -> usize {
        self.slots.len()
    }

    pub(crate) fn iter(&self) -> impl Iterator<Item = (usize, &T)> {
        let present = |(at, slot)| Some((at, Option::as_ref(slot)?));
        self.slots.iter().enumerate().filter_map(present)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn others_keep_their_place_and_a_free_one_is_used_again() {
        let mut slots = Slots::new();
        let [a, b, c] = ["a", "b", "c"].map(|value| slots.insert(value));
        assert_eq!(slots.remove(b), Some("b"));
        assert_eq!(slots.remove(b), None);
        assert_eq!((slots.get(a), slots.get(c)), (Some(&"a"), Some(&"c")));
        assert_eq!(slots.vacant(), b);
        assert_eq!(slots.insert("d"), b);
        assert_eq!(slots.vacant(), 3);
        assert_eq!(slots.end(), 3);
    }
}
