//! What the server keeps of one client besides its place in the table of peers.
//!
//! In: messages for its stream, and once it has joined, snapshots. Out: the next bytes of its stream or its
//! next datagram. Its paths, address and figures are the table's, in [`PeerLink`].

use alloc::boxed::Box;
use alloc::vec::Vec;

use tickwire_session::{Instant, PeerLink, PeerStats, TokenBucket, Wrote};
use tickwire_wire::Full;

use super::snapshots::SnapshotSender;
use crate::opendrakan::limits::{ACTION_REFILL, ACTIONS_AT_ONCE};
use crate::opendrakan::message::Message;
use crate::opendrakan::stream::{Inbox, Outbox};

#[derive(Debug)]
pub(super) struct ClientState {
    pub(super) stage: Stage,
    pub(super) inbox: Inbox,
    outbox: Outbox,
}

/// How far a client has come (see `STATES.md`).
#[derive(Debug)]
pub(super) enum Stage {
    /// It was told its token and what to load. Where its datagrams go is not proved.
    Attaching,
    /// It takes part.
    Joined(Box<Player>),
    /// It is only told what was left to tell.
    Closing,
}

/// A client that takes part.
#[derive(Debug)]
pub(super) struct Player {
    pub(super) actions: TokenBucket,
    pub(super) snapshots: SnapshotSender,
}

impl Player {
    pub(super) fn new(now: Instant, bytes_per_second: u32) -> Self {
        Self {
            actions: TokenBucket::new(now, ACTIONS_AT_ONCE, ACTION_REFILL),
            snapshots: SnapshotSender::new(now, bytes_per_second),
        }
    }
}

impl ClientState {
    /// A client whose stream has just opened.
    pub(super) fn new() -> Self {
        Self {
            stage: Stage::Attaching,
            inbox: Inbox::default(),
            outbox: Outbox::new(),
        }
    }

    pub(super) const fn player(&self) -> Option<&Player> {
        match &self.stage {
            Stage::Joined(player) => Some(player),
            Stage::Attaching | Stage::Closing => None,
        }
    }

    pub(super) const fn player_mut(&mut self) -> Option<&mut Player> {
        match &mut self.stage {
            Stage::Joined(player) => Some(player),
            Stage::Attaching | Stage::Closing => None,
        }
    }

    /// Queues a message for its stream, unless too much waits already.
    pub(super) fn push(&mut self, link: &mut PeerLink, message: &Message<'_>) -> Result<(), Full> {
        self.outbox.push(message)?;
        link.traffic.messages_out += 1;
        Ok(())
    }

    /// Writes what comes next on either path.
    pub(super) fn write(&mut self, link: &mut PeerLink, out: &mut Vec<u8>) -> Wrote {
        if self.outbox.write(link.stream_room(), out).is_some() {
            return Wrote::Stream;
        }
        let datagram = self
            .player_mut()
            .map(|player| player.snapshots.write(link, out));
        match datagram {
            Some(wrote) if wrote != Wrote::Nothing => wrote,
            _ if self.outbox.is_empty() => Wrote::Nothing,
            _ => Wrote::Blocked,
        }
    }

    pub(super) fn stats(&self, link: &PeerLink) -> PeerStats<'static> {
        let state = match &self.stage {
            Stage::Attaching => "Attaching",
            Stage::Joined(player) if player.snapshots.is_acknowledged() => "Playing",
            Stage::Joined(_) => "Syncing",
            Stage::Closing => "Closing",
        };
        let mut stats = link.stats("", state);
        stats.queued = Some(self.outbox.waiting() as u64);
        if let Some(player) = self.player() {
            player.snapshots.add_to(&mut stats);
        }
        stats
    }
}
