//! Which of the last 64 sends something is true of, as one word.
//!
//! The highest bit is the newest send, so that what is older is lower. A block that was not changed at a
//! send is then at that send what it was one bit below: who holds it there holds it here, and an addition
//! carries that upwards through any number of sends. That is all of [`held`].

use crate::SendIndex;
use crate::limits::WINDOW;

/// A set of sends, none older than 63 before `newest`.
#[derive(Clone, Copy, Debug, Default, Eq, PartialEq)]
pub(crate) struct Window {
    /// Bit 63: `newest`; bit `n`: `63 - n` sends before it.
    pub(crate) bits: u64,
    newest: SendIndex,
}

impl Window {
    /// Moves on to a later send, and returns the newest of those that are now too old.
    #[inline]
    pub(crate) fn advance(&mut self, now: SendIndex) -> Option<SendIndex> {
        let sends = now.since(self.newest);
        if sends == 0 {
            return None;
        }
        let lost = self.bits & !u64::MAX.checked_shl(low_bits(sends)).unwrap_or(0);
        let newest_lost = (lost != 0).then(|| self.newest.before(lost.leading_zeros().into()));
        self.bits = self.bits.checked_shr(low_bits(sends)).unwrap_or(0);
        self.newest = now;
        newest_lost
    }

    /// Adds a send, if it is not too old and not newer than the newest.
    #[inline]
    pub(crate) fn insert(&mut self, send: SendIndex) {
        if send <= self.newest {
            self.bits |= bit(self.newest.since(send));
        }
    }

    /// The newest send in it.
    #[inline]
    pub(crate) fn youngest(self) -> Option<SendIndex> {
        (self.bits != 0).then(|| self.newest.before(self.bits.leading_zeros().into()))
    }
}

/// When something changed.
#[derive(Clone, Copy, Debug, Default, Eq, PartialEq)]
pub(crate) struct Changes {
    window: Window,
    /// The newest change that is older than the window.
    before: SendIndex,
}

impl Changes {
    /// Notes a change at a send, which is not older than any before.
    pub(crate) fn mark(&mut self, send: SendIndex) {
        *self = self.at(send);
        self.window.insert(send);
    }

    /// The changes as the window of a later send shows them.
    #[inline]
    #[must_use]
    pub(crate) fn at(mut self, now: SendIndex) -> Self {
        if let Some(lost) = self.window.advance(now) {
            self.before = lost;
        }
        self
    }

    /// The changes within the window.
    pub(crate) const fn bits(&self) -> u64 {
        self.window.bits
    }

    /// The sends since the last change, that of the change included.
    #[inline]
    pub(crate) const fn since_last(&self) -> u64 {
        match self.window.bits {
            0 => u64::MAX,
            bits => u64::MAX << (WINDOW - 1 - bits.leading_zeros() as u64),
        }
    }

    /// The last change.
    #[inline]
    pub(crate) fn last(&self) -> SendIndex {
        self.window.youngest().unwrap_or(self.before)
    }
}

/// The sends at which a client acknowledged a block.
#[derive(Clone, Copy, Debug, Default, Eq, PartialEq)]
pub(crate) struct Acked(Window);

impl Acked {
    /// Notes that the block was received as it was at `send`.
    #[inline]
    pub(crate) fn insert(&mut self, send: SendIndex) {
        // A mask that nothing is in has no time to keep.
        if self.0.bits == 0 {
            self.0.newest = self.0.newest.max(send);
        }
        self.0.insert(send);
    }

    /// Moves on to `now`. What was known before the window and has not changed since stays known, as of
    /// the window's first send.
    #[inline]
    pub(crate) fn advance(&mut self, now: SendIndex, changes: &Changes) {
        if let Some(lost) = self.0.advance(now)
            && lost >= changes.before
            && changes.bits() & 1 == 0
        {
            self.0.bits |= 1;
        }
    }

    /// Whether one of these sends was acknowledged.
    #[inline]
    pub(crate) const fn is_in(self, sends: u64) -> bool {
        self.0.bits & sends != 0
    }

    /// Whether nothing was acknowledged.
    pub(crate) const fn is_empty(self) -> bool {
        self.0.bits == 0
    }

    /// The newest acknowledged send.
    #[inline]
    pub(crate) fn youngest(self) -> Option<SendIndex> {
        self.0.youngest()
    }

    /// The sends at which the client holds the block; both must be of the same moment.
    #[inline]
    pub(crate) const fn held(self, changes: &Changes) -> u64 {
        held(self.0.bits, changes.bits())
    }
}

/// The sends at which a block that changed at some sends is held, if it was received at some.
#[inline]
const fn held(received: u64, changed: u64) -> u64 {
    let unchanged = !changed;
    // Adding these two makes a carry at every received bit, and hands it on where nothing changed.
    let through = received | unchanged;
    let carried = received.wrapping_add(through) ^ received ^ through;
    received | (unchanged & carried)
}

/// The bit of the send that is `age` before the newest.
#[inline]
pub(crate) const fn bit(age: u64) -> u64 {
    if age < WINDOW {
        1 << (WINDOW - 1 - age)
    } else {
        0
    }
}

/// The bits of all sends not older than the one `age` before the newest.
#[inline]
pub(crate) const fn since(age: u64) -> u64 {
    if age < WINDOW {
        u64::MAX << (WINDOW - 1 - age)
    } else {
        u64::MAX
    }
}

/// The age of the newest send in a set.
#[inline]
pub(crate) fn youngest_age(bits: u64) -> Option<u8> {
    u8::try_from(bits.leading_zeros())
        .ok()
        .filter(|age| *age < 64)
}

/// The age in a set that is nearest to `ideal`; of two, the younger.
pub(crate) fn nearest_age(bits: u64, ideal: u8) -> Option<u8> {
    let younger = bits & since(ideal.into());
    let older = bits & !since(ideal.into());
    let below = youngest_age(older);
    let above = (younger != 0).then(|| {
        let age = 63 - younger.trailing_zeros();
        u8::try_from(age).unwrap_or(u8::MAX)
    });
    match (above, below) {
        (Some(above), Some(below)) if below - ideal < ideal - above => Some(below),
        (Some(above), _) => Some(above),
        (None, below) => below,
    }
}

/// A number of sends as a number of places to shift; everything is shifted out beyond 63.
fn low_bits(sends: u64) -> u32 {
    u32::try_from(sends).unwrap_or(u32::MAX)
}

#[cfg(test)]
mod tests {
    use super::*;

    /// The rule itself: `T` is held if there is a received `a <= T` without a change in `(a, T]`.
    fn held_slowly(received: u64, changed: u64) -> u64 {
        let holds = |t: u32| {
            (0..=t).any(|a| received >> a & 1 == 1 && (a + 1..=t).all(|c| changed >> c & 1 == 0))
        };
        (0..64).filter(|t| holds(*t)).fold(0, |set, t| set | 1 << t)
    }

    #[test]
    fn holding_lasts_until_the_next_change() {
        let mut state = 1_u64;
        let mut random = || {
            state = state
                .wrapping_mul(6_364_136_223_846_793_005)
                .wrapping_add(1);
            state ^ state >> 29
        };
        for round in 0..2_000 {
            let sparse = |word: u64, other: u64| if round % 2 == 0 { word & other } else { word };
            let received = sparse(random(), random()) & random();
            let changed = sparse(random(), random());
            assert_eq!(
                held(received, changed),
                held_slowly(received, changed),
                "{received:x} {changed:x}"
            );
        }
        assert_eq!(held(1, 0), u64::MAX);
        assert_eq!(held(u64::MAX, u64::MAX), u64::MAX);
    }

    #[test]
    fn what_does_not_change_stays_known_for_ever() {
        let mut changes = Changes::default();
        changes.mark(SendIndex(10));
        let mut acked = Acked::default();
        acked.insert(SendIndex(12));
        for now in [20, 90, 91, 1_000, 1_000_000] {
            let now = SendIndex(now);
            acked.advance(now, &changes.at(now));
            assert_eq!(acked.held(&changes.at(now)) >> 63, 1, "{now}");
        }
    }

    #[test]
    fn what_changed_before_the_window_is_not_known() {
        // Received at 12, changed at 20: at 100 nobody can say any more what it was at 12.
        let mut changes = Changes::default();
        changes.mark(SendIndex(10));
        changes.mark(SendIndex(20));
        let mut acked = Acked::default();
        acked.insert(SendIndex(12));
        acked.advance(SendIndex(100), &changes.at(SendIndex(100)));
        assert!(acked.is_empty());
        assert_eq!(changes.at(SendIndex(100)).last(), SendIndex(20));
    }

    #[test]
    fn a_change_at_the_windows_first_send_ends_what_was_known() {
        let (first, now) = (SendIndex(37), SendIndex(100));
        let mut changes = Changes::default();
        changes.mark(first);
        let mut acked = Acked::default();
        acked.insert(SendIndex(30));
        acked.advance(now, &changes.at(now));
        assert!(acked.is_empty());
    }

    #[test]
    fn late_acknowledgements_are_entered_where_they_belong() {
        let changes = Changes::default();
        let mut acked = Acked::default();
        acked.insert(SendIndex(70));
        acked.advance(SendIndex(80), &changes.at(SendIndex(80)));
        acked.insert(SendIndex(75));
        acked.insert(SendIndex(16));
        assert_eq!(acked.youngest(), Some(SendIndex(75)));
        assert_eq!(acked.0.bits, bit(10) | bit(5), "and not what is too old");
    }

    #[test]
    fn the_nearest_age_is_found_on_both_sides() {
        let set = bit(3) | bit(8) | bit(20);
        for (ideal, expected) in [(0, 3), (3, 3), (5, 3), (6, 8), (14, 8), (15, 20), (63, 20)] {
            assert_eq!(nearest_age(set, ideal), Some(expected), "{ideal}");
        }
        assert_eq!(nearest_age(0, 5), None);
    }
}
