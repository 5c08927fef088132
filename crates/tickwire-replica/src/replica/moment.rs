//! Time as playback counts it.

use tickwire_state::Tick;

use crate::number::SendIndex;

/// A moment of the server's time: a tick and a part of the next.
///
/// In units of 1/256 of a tick, which is also how a client's inputs name what it was shown.
#[derive(Clone, Copy, Debug, Default, Eq, Hash, Ord, PartialEq, PartialOrd)]
pub struct Moment(pub u64);

impl Moment {
    /// When a tick was reached.
    pub const fn of(tick: Tick) -> Self {
        Self(tick.0.saturating_mul(256))
    }

    /// The last tick that was reached.
    pub const fn tick(self) -> Tick {
        Tick(self.0 / 256)
    }

    /// So many 1/256 of a tick later.
    #[must_use]
    pub const fn later(self, parts: u64) -> Self {
        Self(self.0.saturating_add(parts))
    }

    /// How many 1/256 of a tick `earlier` lies before it; 0 if it does not.
    pub const fn since(self, earlier: Self) -> u64 {
        self.0.saturating_sub(earlier.0)
    }
}

/// How sends lie in time: every so many ticks one.
#[derive(Clone, Copy, Debug)]
pub(super) struct SendClock {
    ticks_per_send: u32,
}

impl SendClock {
    /// With no ticks to a send, each tick is one.
    pub(super) fn new(ticks_per_send: u32) -> Self {
        Self {
            ticks_per_send: ticks_per_send.max(1),
        }
    }

    /// When a send was.
    pub(super) const fn moment(self, send: SendIndex) -> Moment {
        Moment::of(Tick(send.0.saturating_mul(self.ticks_per_send as u64)))
    }

    /// The last send at or before a moment.
    pub(super) const fn reached(self, moment: Moment) -> SendIndex {
        SendIndex(moment.tick().0 / self.ticks_per_send as u64)
    }
}
