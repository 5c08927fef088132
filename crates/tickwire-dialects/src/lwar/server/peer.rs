//! One client as the server knows it.

use alloc::string::String;
use alloc::vec::Vec;

use tickwire_session::{Addr, Instant, Loss, PeerStats, RoundTrip, TokenBucket, Traffic, Updates};
use tickwire_wire::Serial;

use super::Score;
use super::broadcast::{Broadcast, Cursor};
use super::unnumbered::{Subject, Unnumbered};
use crate::lwar::Writer;
use crate::lwar::limits::{
    BROADCAST_REFILL, BROADCASTS_AT_ONCE, INPUT_HOLD, NUMBERED_MAX, RENAME_REFILL, RENAMES_AT_ONCE,
    VIOLATION_FORGIVEN, VIOLATIONS_MAX,
};
use crate::lwar::message::{Input, PlayerScore, Reliable, Selection};
use crate::lwar::packet::Header;
use crate::lwar::reliable::{Inbox, Outbox};
use crate::lwar::{Buttons, Controls, PlayerId};

#[derive(Debug)]
pub(super) struct Peer {
    pub(super) addr: Addr,
    pub(super) player: PlayerId,
    pub(super) name: String,
    pub(super) selection: Option<Selection>,
    pub(super) score: Score,
    pub(super) stage: Stage,
    /// Messages with numbers, which are sent until they are acknowledged.
    pub(super) outbox: Outbox,
    /// Messages behind those.
    unnumbered: Unnumbered,
    /// The number of Synced, once it has one.
    synced: Option<u32>,
    pub(super) inbox: Inbox,
    pub(super) controls: HeldControls,
    /// Timestamp of the newest packet.
    newest: Option<u32>,
    /// When it got its place.
    pub(super) since: Instant,
    pub(super) last_heard: Instant,
    /// When an acknowledgement last told something new, or nothing waited for one.
    pub(super) last_progress: Instant,
    /// The packets of this sending that are still to be written.
    pub(super) sending: Option<Cursor>,
    pub(super) violations: TokenBucket,
    pub(super) broadcasts: TokenBucket,
    pub(super) renames: TokenBucket,
    pub(super) round_trip: RoundTrip,
    pub(super) updates: Updates,
    pub(super) traffic: Traffic,
    pub(super) resent: u64,
    pub(super) refused: u64,
}

/// What a client has shown of itself (see `STATES.md`).
#[derive(Clone, Copy, Debug, Eq, PartialEq)]
pub(super) enum Stage {
    /// Nothing: anybody can write an address into a Connect.
    Joining,
    /// An acknowledgement of its Join, which can be forged as well, since its number is always 1. It is
    /// told what there is, but only in answer to its own packets.
    Proving { answers_left: u8 },
    /// Its player id, which it can know from its Join alone. Everybody knows it now.
    Proved,
}

impl Peer {
    pub(super) fn new(now: Instant, addr: Addr, player: PlayerId, name: &str) -> Self {
        Self {
            addr,
            player,
            name: name.into(),
            selection: None,
            score: Score::default(),
            stage: Stage::Joining,
            outbox: Outbox::new(),
            unnumbered: Unnumbered::default(),
            synced: None,
            inbox: Inbox::default(),
            controls: HeldControls::default(),
            newest: None,
            since: now,
            last_heard: now,
            last_progress: now,
            sending: None,
            violations: TokenBucket::new(now, VIOLATIONS_MAX, VIOLATION_FORGIVEN),
            broadcasts: TokenBucket::new(now, BROADCASTS_AT_ONCE, BROADCAST_REFILL),
            renames: TokenBucket::new(now, RENAMES_AT_ONCE, RENAME_REFILL),
            round_trip: RoundTrip::new(),
            updates: Updates::NONE,
            traffic: Traffic::NONE,
            resent: 0,
            refused: 0,
        }
    }

    pub(super) fn is_proved(&self) -> bool {
        self.stage == Stage::Proved
    }

    /// Whether the synchronisation is on its way, so that what happens from now on has to follow it.
    pub(super) fn is_told(&self) -> bool {
        self.stage != Stage::Joining
    }

    /// Queues a reliable message.
    pub(super) fn tell(&mut self, message: &Reliable<'_>) {
        if self.unnumbered.is_empty() && self.outbox.len() < NUMBERED_MAX {
            let seq = self.outbox.push(message);
            if *message == Reliable::Synced {
                self.synced = Some(seq);
            }
        } else {
            self.unnumbered.push(message);
        }
    }

    /// Ends the synchronisation: what is told from here on counts as waiting.
    pub(super) fn end_sync(&mut self) {
        self.tell(&Reliable::Synced);
        self.unnumbered.end_sync();
    }

    /// Numbers what waits, as far as the window allows.
    pub(super) fn fill_window(&mut self) {
        while self.outbox.len() < NUMBERED_MAX
            && let Some(message) = self.unnumbered.pop()
        {
            let seq = self.outbox.push_encoded(&message.bytes);
            if message.subject == Subject::Synced {
                self.synced = Some(seq);
            }
        }
    }

    /// Reliable messages that wait for an acknowledgement, the synchronisation not counted.
    pub(super) fn unacknowledged(&self) -> usize {
        let numbered = self.synced.map_or(0, |synced| {
            let after_sync = self.outbox.next().wrapping_sub(synced.next());
            let after_sync = usize::try_from(after_sync).unwrap_or(usize::MAX);
            self.outbox.len().min(after_sync)
        });
        numbered + self.unnumbered.behind_sync()
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

    /// Writes an answer: a packet of reliable messages and nothing else.
    pub(super) fn write_answer(&mut self, now: Instant, timestamp: u32, out: &mut Vec<u8>) {
        let before = out.len();
        let mut w = self.header(timestamp).begin(out);
        self.write_reliable(now, &mut w);
        self.traffic.sent(out.len() - before);
    }

    /// Writes the next packet of a sending: the reliable messages if it is the first, then as much of
    /// `broadcast` as fits, once Synced was sent.
    pub(super) fn write_sending(
        &mut self,
        now: Instant,
        mut cursor: Cursor,
        broadcast: &Broadcast,
        out: &mut Vec<u8>,
    ) {
        let before = out.len();
        let mut w = self.header(broadcast.timestamp()).begin(out);
        if cursor.packets == 0 {
            self.write_reliable(now, &mut w);
        }
        cursor.packets += 1;
        self.sending = None;
        if self
            .synced
            .is_some_and(|synced| self.outbox.has_sent(synced))
        {
            if cursor.packets == 1 {
                self.updates.add(now);
            }
            let before = cursor.written;
            let more = broadcast.write(&mut cursor, &mut w);
            self.traffic.messages_out += cursor.written - before;
            self.sending = more.then_some(cursor);
        }
        self.traffic.sent(out.len() - before);
    }

    fn header(&self, timestamp: u32) -> Header {
        Header {
            ack: self.inbox.ack(),
            timestamp,
        }
    }

    fn write_reliable(&mut self, now: Instant, w: &mut Writer<'_>) {
        let written = self.outbox.write(now, w);
        self.resent += written.repeated;
        self.traffic.messages_out += written.messages;
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
            Stage::Joining => "Joining",
            Stage::Proving { .. } => "Proving",
            Stage::Proved if self.is_syncing() => "Syncing",
            Stage::Proved => "Playing",
        };
        let mut stats = PeerStats::new(&self.name, self.addr, state);
        stats.round_trip = self.round_trip.mean();
        stats.jitter = self.round_trip.jitter();
        stats.traffic = self.traffic;
        stats.resent = Some(self.resent);
        stats.refused = self.refused;
        stats.loss = self.controls.loss.share();
        stats.updates = self.updates;
        stats.choke = self.updates.choke();
        stats.queued = Some(self.outbox.bytes() as u64);
        stats
    }

    /// Whether part of the synchronisation waits for its acknowledgement.
    fn is_syncing(&self) -> bool {
        let is_acked = |synced| self.outbox.has_acked(synced);
        !self.synced.is_some_and(is_acked)
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
