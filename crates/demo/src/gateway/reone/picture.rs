//! Which world an input is about.
//!
//! A player aims at what its client shows, which was true some time ago, and rays are judged by that. In:
//! the tick that the client says it showed, and what the server knows of what it can show. Out: the tick
//! that it is believed to have seen.
//!
//! Whoever names another tick than the true one gains little. Nothing is shown before it is published, and
//! who has a snapshot does not show what was long before it: what is believed lies between
//! [`SLACK_SNAPSHOTS`] before the usual picture and the newest snapshot. Another client may count ticks of its
//! own there, so one that cannot be means nothing, and the usual picture is assumed. Whoever keeps back
//! what it has moves all of this to earlier, but no further than a quarter of a second ago: that is the
//! arena's rule.

use std::time::Duration;

use tickwire_dialects::reone::ShownAt;
use tickwire_wire::Serial;

use super::inputs::ALLOWANCE;
use crate::{STEP, Tick};

/// Snapshots that a picture may be later than it should: a clock that evens out the network runs behind the
/// newest arrival. Two are more than it takes on any network on which aiming makes sense.
const SLACK_SNAPSHOTS: u32 = 2;

/// What the server knows of what a client shows.
#[derive(Clone, Copy, Debug)]
pub(super) struct Picture {
    /// The tick of the newest snapshot that the client has, if it has any.
    pub(super) has: Option<Tick>,
    /// The tick of the newest snapshot of all.
    pub(super) newest: Tick,
    /// Steps from one snapshot to the next.
    pub(super) steps: u32,
    /// How late clients show the world, so that the next snapshot is there to blend with.
    pub(super) lerp: Duration,
}

impl Picture {
    /// The tick that an input is about, of which the client says this.
    pub(super) fn believe(&self, said: ShownAt) -> Tick {
        let Self { has, newest, .. } = *self;
        let Some(Tick(has)) = has else {
            return newest;
        };
        let late = (self.lerp + STEP / 2).as_nanos() / STEP.as_nanos();
        let usual = has.saturating_sub(u64::try_from(late).unwrap_or(u64::MAX));
        let earliest = usual.saturating_sub((SLACK_SNAPSHOTS * self.steps).into());
        let named = nearest(said.tick, newest);
        let shown = match said.tick != 0 && (earliest..=newest.0).contains(&named) {
            true => named,
            false => usual,
        };
        // A client makes an input a step, so those that came along are each a step older. More than may
        // wait in line are no inputs.
        let shown = shown.saturating_sub(said.before.min(ALLOWANCE).into());
        Tick(shown.max(earliest))
    }
}

/// The tick near `newest` of which these are the lower bits.
fn nearest(bits: u32, newest: Tick) -> u64 {
    #[expect(clippy::cast_possible_truncation, reason = "the same bits are meant")]
    let steps = bits.steps_since(newest.0 as u32);
    newest.0.saturating_add_signed(steps)
}

#[cfg(test)]
mod tests {
    use super::*;

    const USUAL: Picture = Picture {
        has: None,
        newest: Tick(0),
        steps: 3,
        lerp: Duration::from_millis(100),
    };

    /// What is believed of somebody who has the snapshot of tick 994, of 1,000 that are published.
    #[track_caller]
    fn check(tick: u32, before: u32, believed: u64) {
        let picture = Picture {
            has: Some(Tick(994)),
            newest: Tick(1_000),
            ..USUAL
        };
        assert_eq!(picture.believe(ShownAt { tick, before }), Tick(believed));
    }

    #[test]
    fn what_can_be_is_believed_to_the_tick() {
        for tick in [982, 987, 988, 989, 1_000] {
            check(tick, 0, tick.into());
        }
        check(990, 4, 986);
    }

    #[test]
    fn a_tick_that_is_long_over_or_still_to_come_means_nothing() {
        for tick in [1, 981, 1_001, u32::MAX / 2, u32::MAX - 1_000] {
            check(tick, 0, 988);
        }
        check(1, 4, 984);
    }

    #[test]
    fn nobody_saw_further_back_for_what_it_says_to_have_done_since() {
        check(990, 8, 982);
        check(990, 9, 982);
        check(990, 100_000, 982);
        check(1_000, 15, 985);
        check(1_000, 16, 985);
        check(0, 100_000, 982);
    }

    #[test]
    fn who_says_nothing_saw_what_is_usual_and_who_has_nothing_sees_what_is() {
        check(0, 0, 988);
        let picture = Picture {
            has: None,
            newest: Tick(7),
            ..USUAL
        };
        let tick = 3;
        assert_eq!(picture.believe(ShownAt { tick, before: 0 }), Tick(7));
    }

    #[test]
    fn ticks_are_carried_by_their_lower_half() {
        let newest = Tick((1 << 32) + 5);
        let picture = Picture {
            has: Some(newest),
            newest,
            ..USUAL
        };
        let tick = u32::MAX;
        let believed = picture.believe(ShownAt { tick, before: 0 });
        assert_eq!(believed, Tick((1 << 32) - 1));
    }
}
