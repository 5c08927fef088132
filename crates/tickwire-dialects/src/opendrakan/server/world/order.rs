//! Places in the order of their last change: a list through a table, so that nothing is searched for.
//!
//! Moving a place to the newest end costs the same however many there are, and so does a step from one
//! to the next older one. What the places hold is the world's.

use alloc::vec::Vec;

/// Where the world keeps an object.
#[derive(Clone, Copy, Debug, Eq, PartialEq)]
pub(super) struct Place(pub(super) usize);

impl Place {
    /// No place: the end of the list. There are fewer objects than this.
    const NONE: Self = Self(usize::MAX);

    fn known(self) -> Option<Self> {
        (self != Self::NONE).then_some(self)
    }
}

/// Every place that is in use, by its last change.
#[derive(Debug)]
pub(super) struct ChangeOrder {
    links: Vec<Link>,
    oldest: Place,
    newest: Place,
}

#[derive(Clone, Copy, Debug)]
struct Link {
    older: Place,
    newer: Place,
}

impl Link {
    const LOOSE: Self = Self {
        older: Place::NONE,
        newer: Place::NONE,
    };
}

impl ChangeOrder {
    pub(super) const fn new() -> Self {
        Self {
            links: Vec::new(),
            oldest: Place::NONE,
            newest: Place::NONE,
        }
    }

    /// Puts a place that is not in the list at its newest end.
    pub(super) fn push(&mut self, place: Place) {
        let older = core::mem::replace(&mut self.newest, place);
        if self.links.len() <= place.0 {
            self.links.resize(place.0 + 1, Link::LOOSE);
        }
        if let Some(link) = self.links.get_mut(place.0) {
            *link = Link {
                older,
                newer: Place::NONE,
            };
        }
        match self.links.get_mut(older.0) {
            Some(link) => link.newer = place,
            None => self.oldest = place,
        }
    }

    /// Takes a place out of the list that is in it.
    pub(super) fn remove(&mut self, place: Place) {
        let Some(link) = self.links.get_mut(place.0) else {
            return;
        };
        let Link { older, newer } = core::mem::replace(link, Link::LOOSE);
        match self.links.get_mut(older.0) {
            Some(link) => link.newer = newer,
            None => self.oldest = newer,
        }
        match self.links.get_mut(newer.0) {
            Some(link) => link.older = older,
            None => self.newest = older,
        }
    }

    /// All places, the one that changed last first.
    pub(super) fn newest_first(&self) -> impl Iterator<Item = Place> {
        core::iter::successors(self.newest.known(), |place| {
            self.links.get(place.0)?.older.known()
        })
    }
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;

    use super::*;

    proptest! {
        #[test]
        fn it_is_what_a_plain_list_would_be(moves in proptest::collection::vec((0..12_usize, any::<bool>()), 0..80)) {
            let mut order = ChangeOrder::new();
            let mut model: Vec<usize> = Vec::new();
            for (place, stays) in moves {
                if let Some(at) = model.iter().position(|other| *other == place) {
                    order.remove(Place(place));
                    model.remove(at);
                }
                if stays {
                    order.push(Place(place));
                    model.push(place);
                }
                let found: Vec<_> = order.newest_first().map(|place| place.0).collect();
                prop_assert!(found.iter().eq(model.iter().rev()));
                prop_assert_eq!(order.oldest.known().map(|place| place.0), model.first().copied());
            }
        }
    }
}
