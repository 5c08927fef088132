//! Who is told next: clients by turns, within a budget of work.
//!
//! In: that something changed in the scene, or a line for everybody. Out: messages in the outboxes of
//! those who see it. Nothing is put into anybody's queue when it happens. A client whose turn comes is
//! told how things are by then, so what waits for it is never more than the difference, and a thousand
//! who move in sight of a thousand cost no more than the budget allows: everybody is told less often.
//!
//! On a quiet server there is always budget left, and everybody is told at once.

use alloc::collections::VecDeque;

use tickwire_session::{Instant, Peer, PeerId, StreamId};

use crate::pixmess::limits::{
    NEWS_A_TURN, NEWS_AT_ONCE, NEWS_COMPARED, NEWS_COST, NEWS_WAITING_MAX,
};

use super::Server;
use super::connection::Connection;
use super::sight::{Told, Viewer};

/// Whose turn it is, and when there is time for it.
#[derive(Debug, Default)]
pub(super) struct News {
    /// Those who may not know the newest, each once. Some may be gone.
    queue: VecDeque<PeerId>,
    /// Until when the work that was done so far takes all the time there is for it: a leaky bucket.
    busy_until: Instant,
    /// When the next turn can be, if somebody waits for it.
    due: Option<Instant>,
    /// The lines that everybody was put into the queue for.
    lines: u64,
}

/// Where a client stands with the news.
#[derive(Clone, Copy, Debug, Default, Eq, PartialEq)]
pub(super) enum Turn {
    /// It was told everything.
    #[default]
    UpToDate,
    /// It waits for its turn.
    Queued,
    /// Its turn came while too much waited for it to read. It gets another when it has read.
    Missed,
}

impl Server {
    /// Something is to be told to a client when its turn comes.
    pub(super) fn queue_news(&mut self, id: PeerId) {
        if let Some(peer) = self.peers.state(id)
            && peer.turn == Turn::UpToDate
            && peer.is_playing()
        {
            peer.turn = Turn::Queued;
            self.news.queue.push_back(id);
        }
    }

    /// A client has read something: if it has missed a turn for that, it gets one.
    pub(super) fn queue_missed(&mut self, on: StreamId) {
        if let Some(id) = self.peers.table.on_stream(on)
            && let Some(peer) = self.peers.state(id)
            && peer.turn == Turn::Missed
            && peer.outbox.waiting() <= NEWS_WAITING_MAX
        {
            peer.turn = Turn::Queued;
            self.news.queue.push_back(id);
        }
    }

    /// Tells a client now the lines that it would be told at its turn, because something is said behind
    /// them. One that does not read is told at its turn nevertheless, since nothing else bounds lines.
    pub(super) fn tell_lines(&mut self, id: PeerId) {
        let Self { peers, lines, .. } = self;
        if let Some(peer) = peers.state(id)
            && peer.is_playing()
            && peer.outbox.waiting() <= NEWS_WAITING_MAX
            && let Some(guest) = &mut peer.guest
        {
            lines.tell(&mut guest.lines_read, |line| peer.outbox.push(line));
            peers.table.mark_ready(id);
        }
    }

    /// When news can be told that wait for the budget.
    pub(super) const fn news_due(&self) -> Option<Instant> {
        self.news.due
    }

    /// Gives the next client its turn; whether there was one.
    pub(super) fn tell_next(&mut self, now: Instant) -> bool {
        let announce = self.lines.announce(now);
        self.queue_watchers();
        self.news.due = announce;
        let Some(&id) = self.news.queue.front() else {
            return false;
        };
        let ahead = self.news.busy_until.since(now);
        if ahead > NEWS_AT_ONCE {
            let ready = now + (ahead - NEWS_AT_ONCE);
            self.news.due = announce.into_iter().chain([ready]).min();
            return false;
        }
        self.news.queue.pop_front();
        let work = self.tell_news(id);
        if let Some(Peer { link, state }) = self.peers.table.get_mut(id) {
            match state.turn {
                Turn::Missed => link.updates.hold_back(),
                Turn::Queued | Turn::UpToDate => link.updates.add(now),
            }
        }
        self.news.busy_until = self.news.busy_until.max(now) + NEWS_COST * work;
        true
    }

    /// Queues everybody for whom there is anything new.
    fn queue_watchers(&mut self) {
        if self.news.lines != self.lines.total() {
            self.news.lines = self.lines.total();
            for id in self.peers.ids() {
                self.queue_news(id);
            }
        }
        while let Some(chunk) = self.scene.pop_changed() {
            let Self {
                peers, scene, news, ..
            } = self;
            for &id in scene.watchers(chunk) {
                if let Some(peer) = peers.state(id)
                    && peer.turn == Turn::UpToDate
                {
                    peer.turn = Turn::Queued;
                    news.queue.push_back(id);
                }
            }
        }
    }

    /// Tells a client what it does not know; how much work that was, in messages.
    fn tell_news(&mut self, id: PeerId) -> u32 {
        let Self {
            peers,
            scene,
            lines,
            news,
            ..
        } = self;
        let Some(peer) = peers.state(id).filter(|it| it.is_playing()) else {
            return 1;
        };
        let Connection {
            guest,
            sight,
            outbox,
            ..
        } = peer;
        let Some(guest) = guest else {
            return 1;
        };
        if outbox.waiting() > NEWS_WAITING_MAX {
            peer.turn = Turn::Missed;
            return 1;
        }
        let viewer = Viewer {
            own: (!guest.is_spectator()).then(|| guest.player.entity()),
            at: guest.at,
        };
        let told = sight.tell(scene, viewer, NEWS_A_TURN, |message| outbox.push(message));
        let mut messages = told.messages;
        // That somebody has left is said behind the destruction of its entity.
        if !sight.has_lost() {
            messages += lines.tell(&mut guest.lines_read, |line| outbox.push(line));
        }
        peer.turn = Turn::UpToDate;
        if !told.complete {
            peer.turn = Turn::Queued;
            news.queue.push_back(id);
        }
        peers.table.mark_ready(id);
        work(Told { messages, ..told })
    }
}

/// What a turn cost, in messages.
fn work(told: Told) -> u32 {
    let work = 1 + told.messages + told.compared / NEWS_COMPARED;
    u32::try_from(work).unwrap_or(u32::MAX)
}
