//! Which places a client sees.
//!
//! All places without a cell, and those whose cell is in range of where the client looks, as far as their
//! audience admits it; and wherever they are, the places that hold its own entities. The grid is asked
//! again only when something has happened that could change the answer: the client's look has moved by
//! more than an eighth of a side, places have come, or its groups or entities have.

use alloc::vec::Vec;

use crate::number::{PlaceNumber, SendIndex};
use crate::world::{Audience, Cell, Groups, HYSTERESIS, Place, PlayerId, Store};

/// Where a client looks, and how far.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct View {
    /// A point of the grid's plane.
    pub at: [f64; 2],
    /// How far from there is still in view.
    pub range: f64,
}

/// What decides which places a client sees.
#[derive(Debug)]
pub(super) struct Interest {
    player: PlayerId,
    groups: Groups,
    view: Option<View>,
    /// The view that the list was made for.
    looked: Option<View>,
    /// Places that hold the client's own entities, ascending.
    own: Vec<PlaceNumber>,
    /// The list, ascending.
    seen: Vec<PlaceNumber>,
    pub(super) is_stale: bool,
    /// The send at which it was last brought up to date.
    updated: SendIndex,
}

impl Interest {
    pub(super) const fn new(player: PlayerId, groups: Groups) -> Self {
        Self {
            player,
            groups,
            view: None,
            looked: None,
            own: Vec::new(),
            seen: Vec::new(),
            is_stale: true,
            updated: SendIndex::NONE,
        }
    }

    pub(super) const fn player(&self) -> PlayerId {
        self.player
    }

    pub(super) fn set_groups(&mut self, groups: Groups) {
        self.is_stale |= self.groups != groups;
        self.groups = groups;
    }

    pub(super) const fn set_view(&mut self, view: Option<View>) {
        self.view = view;
    }

    /// The places in view, ascending.
    pub(super) fn seen(&self) -> &[PlaceNumber] {
        &self.seen
    }

    /// Brings the list up to date. Returns whether it may have changed.
    pub(super) fn update(
        &mut self,
        store: &Store,
        own: impl Iterator<Item = PlaceNumber> + Clone,
    ) -> bool {
        let mut added = store.news.added.iter();
        let is_new = added.any(|number| {
            store
                .place(*number)
                .is_some_and(|p| self.sees(p, store.side))
        });
        let owns_as_before = own.clone().all(|place| self.own.contains(&place))
            && self
                .own
                .iter()
                .all(|place| own.clone().any(|own| own == *place));
        // Places that came while nothing was asked were in news that are gone.
        let has_slept = self.updated.next() < store.send();
        self.updated = store.send();
        let is_stale = core::mem::take(&mut self.is_stale) || has_slept;
        if !is_stale && !is_new && owns_as_before && !self.has_moved(store.side) {
            return false;
        }
        self.looked = self.view;
        self.own.clear();
        self.own.extend(own);
        self.own.sort_unstable();
        self.own.dedup();
        self.look(store);
        true
    }

    fn look(&mut self, store: &Store) {
        let mut seen = core::mem::take(&mut self.seen);
        seen.clear();
        let side = store.side;
        // Without a view nothing that has a cell is seen, so that one cell is as good as another.
        let (low, high) = self
            .looked
            .map_or(([0.0; 2], [0.0; 2]), |View { at: [x, y], range }| {
                let reach = range + 2.0 * HYSTERESIS * side;
                ([x - reach, y - reach], [x + reach, y + reach])
            });
        store.visit(Cell::of(low, side), Cell::of(high, side), |number| {
            if store.place(number).is_some_and(|p| self.sees(p, side)) {
                seen.push(number);
            }
        });
        let admitted = self.own.iter().filter(|number| {
            let place = store.place(**number);
            place.is_some_and(|place| place.audience.admits(self.player, self.groups))
        });
        seen.extend(admitted);
        seen.sort_unstable();
        seen.dedup();
        self.seen = seen;
    }

    fn sees(&self, place: &Place, side: f64) -> bool {
        if !place.audience.admits(self.player, self.groups) {
            return false;
        }
        match (place.cell(), self.looked) {
            (None, _) => true,
            (Some(_), None) => false,
            (Some(cell), Some(View { at, range })) => {
                // As much farther as the client may have moved since.
                let reach = range + HYSTERESIS * side;
                cell.distance_squared(at, side) <= reach * reach
            }
        }
    }

    /// Whether the list was made for somewhere else.
    fn has_moved(&self, side: f64) -> bool {
        match (self.looked, self.view) {
            (Some(then), Some(now)) => {
                let [dx, dy] = [0, 1].map(|axis: usize| {
                    let along = |view: View| view.at.get(axis).copied().unwrap_or_default();
                    along(now) - along(then)
                });
                let far = HYSTERESIS * side;
                dx * dx + dy * dy > far * far || now.range != then.range
            }
            (then, now) => then != now,
        }
    }

    /// Whether a place holds something that is the client's own.
    pub(super) fn is_own(&self, number: PlaceNumber, place: &Place) -> bool {
        place.audience == Audience::Player(self.player) || self.own.binary_search(&number).is_ok()
    }

    /// The square of how far a place is from where the client looks.
    pub(super) fn distance(&self, place: &Place, side: f64) -> f64 {
        match (place.cell(), self.looked) {
            (Some(cell), Some(view)) => cell.distance_squared(view.at, side),
            _ => 0.0,
        }
    }
}
