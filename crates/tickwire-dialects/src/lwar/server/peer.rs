//! One client as the server knows it.

use alloc::string::String;
use alloc::vec::Vec;

use tickwire_session::{Addr, Instant, Loss, PeerStats, RoundTrip, TokenBucket, Traffic};
use tickwire_wire::Serial;

use super::super::limits::{
    BROADCAST_REFILL, BROADCASTS_AT_ONCE, INPUT_HOLD, VIOLATION_FORGIVEN, VIOLATIONS_MAX,
};
use super::super::message::{Input, PlayerScore, Selection};
use super::super::packet::Header;
use super::super::reliable::{Inbox, Outbox};
use super::super::{Buttons, Controls, PlayerId};
use super::Score;
use super::broadcast::{Broadcast, Cursor};

#[derive(Debug)]
pub(super) struct Peer {
    pub(super) addr: Addr,
    pub(super) player: PlayerId,
    pub(super) name: String,
    pub(super) selection: Option<Selection>,
    pub(super) score: Score,
    pub(super) stage: Stage,
    pub(super) outbox: Outbox,
    pub(super) inbox: Inbox,
    pub(super) controls: HeldControls,
    /// Timestamp of the newest packet.
    newest: Option<u32>,
    pub(super) last_heard: Instant,
    /// When an acknowledgement last told something new, or nothing waited for one.
    pub(super) last_progress: Instant,
    /// The packets of this sending that are still to be written.
    pub(super) sending: Option<Cursor>,
    pub(super) violations: TokenBucket,
    pub(super) broadcasts: TokenBucket,
    pub(super) round_trip: RoundTrip,
    pub(super) traffic: Traffic,
    pub(super) resent: u64,
    pub(super) refused: u64,
}

/// How far a client has come (see `STATES.md`).
#[derive(Clone, Copy, Debug, Eq, PartialEq)]
pub(super) enum Stage {
    /// It may be an invented address: it was sent its Join and has not acknowledged it.
    Joining { last_connect: Instant },
    /// It is being told what there is; `synced` is the number of the message that ends that.
    Established { synced: u32 },
}

impl Peer {
    pub(super) fn new(now: Instant, addr: Addr, player: PlayerId, name: &str) -> Self {
        Self {
            addr,
            player,
            name: name.into(),
            selection: None,
            score: Score::default(),
            stage: Stage::Joining { last_connect: now },
            outbox: Outbox::new(),
            inbox: Inbox::default(),
            controls: HeldControls::default(),
            newest: None,
            last_heard: now,
            last_progress: now,
            sending: None,
            violations: TokenBucket::new(now, VIOLATIONS_MAX, VIOLATION_FORGIVEN),
            broadcasts: TokenBucket::new(now, BROADCASTS_AT_ONCE, BROADCAST_REFILL),
            round_trip: RoundTrip::new(),
            traffic: Traffic::NONE,
            resent: 0,
            refused: 0,
        }
    }

    pub(super) const fn is_established(&self) -> bool {
        matches!(self.stage, Stage::Established { .. })
    }

    /// Reliable messages that wait for an acknowledgement, the synchronisation not counted.
    pub(super) fn unacknowledged(&self) -> usize {
        let Stage::Established { synced } = self.stage else {
            return 0;
        };
        let after_sync = self.outbox.next().wrapping_sub(synced.next());
        self.outbox
            .len()
            .min(usize::try_from(after_sync).unwrap_or(usize::MAX))
    }

    /// Notes a packet's timestamp; whether a newer packet came before this one.
    pub(super) fn is_stale(&mut self, timestamp: u32) -> bool {
        let stale = self
            .newest
            .is_some_and(|newest| timestamp.is_older_than(newest));
        if !stale {
            self.newest = Some(timestamp);
        }
        stale
    }

    /// Writes the next packet: the reliable messages if it is the first of its sending, then as much
    /// of `broadcast` as fits, once Synced was sent.
    pub(super) fn write_packet(
        &mut self,
        now: Instant,
        timestamp: u32,
        broadcast: Option<&Broadcast>,
        out: &mut Vec<u8>,
    ) {
        let before = out.len();
        let mut w = Header {
            ack: self.inbox.ack(),
            timestamp,
        }
        .begin(out);
        let mut cursor = self.sending.take().unwrap_or_default();
        if cursor.packets == 0 {
            let written = self.outbox.write(now, &mut w);
            self.resent += written.repeated;
            self.traffic.messages_out += written.messages;
        }
        cursor.packets += 1;
        let synced =
            matches!(self.stage, Stage::Established { synced } if self.outbox.has_sent(synced));
        if let Some(broadcast) = broadcast
            && synced
        {
            let before = cursor.written;
            let more = broadcast.write(&mut cursor, &mut w);
            self.traffic.messages_out += cursor.written - before;
            self.sending = more.then_some(cursor);
        }
        self.traffic.sent(out.len() - before);
    }

    pub(super) fn scoreboard_line(&self) -> PlayerScore {
        let ping = self.round_trip.mean().unwrap_or_default().as_millis();
        PlayerScore {
            player: self.player,
            kills: self.score.kills,
            deaths: self.score.deaths,
            ping: u16::try_from(ping).unwrap_or(u16::MAX),
        }
    }

    pub(super) fn stats(&self) -> PeerStats<'_> {
        let state = match self.stage {
            Stage::Joining { .. } => "Joining",
            Stage::Established { .. } if self.is_syncing() => "Syncing",
            Stage::Established { .. } => "Playing",
        };
        let mut stats = PeerStats::new(&self.name, self.addr, state);
        stats.round_trip = self.round_trip.mean();
        stats.jitter = self.round_trip.jitter();
        stats.traffic = self.traffic;
        stats.resent = self.resent;
        stats.refused = self.refused;
        stats.loss = self.controls.loss.share();
        stats
    }

    /// Whether part of the synchronisation waits for its acknowledgement.
    fn is_syncing(&self) -> bool {
        self.outbox.len() > self.unacknowledged()
    }
}

/// What a player presses, between the Inputs that say so and the steps that use it.
#[derive(Clone, Copy, Debug, Default)]
pub(super) struct HeldControls {
    last_frame: u32,
    last_input: Option<Instant>,
    /// As of the newest Input.
    held: Controls,
    /// In any Input since the last step.
    pressed: Buttons,
    pub(super) loss: Loss,
}

impl HeldControls {
    /// Takes an Input; one that is not newer than the last says nothing.
    pub(super) fn apply(&mut self, now: Instant, input: &Input) {
        let frames = input.frame.saturating_sub(self.last_frame);
        if frames == 0 {
            return;
        }
        if self.last_input.is_some() {
            self.loss.add_arrival(frames - 1);
        }
        self.last_frame = input.frame;
        self.last_input = Some(now);
        self.held = Controls {
            buttons: input.history.pressed_within(frames),
            aim: input.aim,
        };
        self.pressed = self.pressed.or(self.held.buttons);
    }

    /// What to use in a step.
    pub(super) fn take(&mut self, now: Instant) -> Controls {
        if self
            .last_input
            .is_none_or(|last| now.since(last) >= INPUT_HOLD)
        {
            self.held.buttons = Buttons::NONE;
            self.pressed = Buttons::NONE;
        }
        let used = Controls {
            buttons: self.pressed.or(self.held.buttons),
            aim: self.held.aim,
        };
        self.pressed = Buttons::NONE;
        used
    }
}

#[cfg(test)]
mod tests {
    use super::super::super::Button;
    use super::super::super::input::History;
    use super::*;

    const fn ms(millis: u64) -> Instant {
        Instant::from_millis(millis)
    }

    fn input(frame: u32, forward: u8) -> Input {
        let mut history = History::default();
        history.0[0] = forward;
        Input {
            player: PlayerId::SERVER,
            frame,
            history,
            aim: Default::default(),
        }
    }

    fn forward(controls: &mut HeldControls, now: Instant) -> bool {
        controls.take(now).buttons.contains(Button::Forward)
    }

    #[test]
    fn the_newest_input_holds_until_the_next() {
        let mut controls = HeldControls::default();
        controls.apply(ms(0), &input(1, 1));
        assert!(forward(&mut controls, ms(1)));
        assert!(forward(&mut controls, ms(17)));
        controls.apply(ms(33), &input(2, 0b10));
        assert!(!forward(&mut controls, ms(34)));
    }

    #[test]
    fn a_tap_between_two_steps_is_used_once() {
        let mut controls = HeldControls::default();
        controls.apply(ms(0), &input(1, 1));
        controls.apply(ms(1), &input(2, 0b10));
        assert!(forward(&mut controls, ms(2)));
        assert!(!forward(&mut controls, ms(3)));
    }

    #[test]
    fn old_and_repeated_frames_say_nothing() {
        let mut controls = HeldControls::default();
        controls.apply(ms(0), &input(5, 0));
        controls.apply(ms(1), &input(5, 0xff));
        controls.apply(ms(1), &input(4, 0xff));
        assert!(!forward(&mut controls, ms(2)));
    }

    #[test]
    fn half_a_second_of_silence_releases_everything() {
        let mut controls = HeldControls::default();
        controls.apply(ms(0), &input(1, 1));
        assert!(forward(&mut controls, ms(499)));
        assert!(!forward(&mut controls, ms(500)));
        // The next Input counts again.
        controls.apply(ms(600), &input(2, 1));
        assert!(forward(&mut controls, ms(601)));
    }
}
