//! Ticks, the sends among them, and which of both can still be asked for.

use tickwire_state::Tick;

use crate::SendIndex;
use crate::limits::WINDOW;

/// Where a world is in time.
#[derive(Clone, Copy, Debug)]
pub(super) struct Clock {
    /// The last tick that was committed.
    pub(super) tick: Tick,
    /// Ticks from one send to the next.
    pub(super) ticks_per_send: u64,
    /// How many ticks back the world can be read.
    pub(super) rewind: u64,
}

impl Clock {
    /// The last send at or before a tick.
    pub(super) const fn send_of(&self, tick: Tick) -> SendIndex {
        SendIndex(tick.0 / self.ticks_per_send)
    }

    /// The last send.
    pub(super) const fn send(&self) -> SendIndex {
        self.send_of(self.tick)
    }

    /// Whether the last tick is a send.
    pub(super) const fn is_send(&self) -> bool {
        self.tick.0.is_multiple_of(self.ticks_per_send)
    }

    /// The tick of a send.
    pub(super) const fn tick_of(&self, send: SendIndex) -> Tick {
        Tick(send.0.saturating_mul(self.ticks_per_send))
    }

    /// The first tick that can be read back.
    pub(super) const fn oldest_tick(&self) -> Tick {
        self.tick.before(self.rewind)
    }

    /// Whether what was true from one tick to another, that included, can still be asked for.
    pub(super) fn is_needed(&self, from: Tick, until: Tick) -> bool {
        self.is_in_rewind(until) || self.is_baseline(from, until)
    }

    /// Whether a tick can be read back.
    pub(super) fn is_in_rewind(&self, tick: Tick) -> bool {
        self.rewind > 0 && tick >= self.oldest_tick()
    }

    /// Whether a send falls into these ticks that a record can still name.
    pub(super) fn is_baseline(&self, from: Tick, until: Tick) -> bool {
        let send = self.send_of(until);
        self.tick_of(send) >= from && self.send().since(send) < WINDOW
    }
}
