//! Who takes part: joining, going away, coming back, leaving.

use alloc::string::String;

use tickwire_replica::server::Join;
use tickwire_replica::world::{Groups, PlayerId};
use tickwire_session::{Instant, NotAdmitted, Peer, PeerId};

use super::player::{Newcomer, Player, Presence};
use super::{Server, ServerEvent};
use crate::game::Game;
use crate::limits::{AWAY_MAX, FAREWELL, SILENCE, VERSION, WORDS_MAX};
use crate::message::{Down, Hello, Resume, Welcome};
use crate::reason::EndReason;

impl<G: Game> Server<G> {
    /// Somebody says who it is and what it speaks.
    pub(super) fn handle_hello(&mut self, now: Instant, peer: PeerId, hello: &Hello<'_>) {
        match self.admit(now, peer, hello) {
            Ok(()) => {}
            Err((reason, words)) => {
                self.counters.refused += 1;
                self.end_connection(now, peer, reason, &words);
            }
        }
    }

    fn admit(
        &mut self,
        now: Instant,
        peer: PeerId,
        hello: &Hello<'_>,
    ) -> Result<(), (EndReason, String)> {
        let refuse = |reason| Err((reason, String::new()));
        if hello.version != VERSION {
            return refuse(EndReason::OtherVersion);
        }
        if hello.schema != crate::game::agreement::<G>(&self.schema) {
            let mut schema = self.schema.text();
            schema.truncate(schema.floor_char_boundary(WORDS_MAX));
            return Err((EndReason::OtherSchema, schema));
        }
        let is_printable = |name: &str| !name.is_empty() && !name.contains(char::is_control);
        if !is_printable(hello.name) {
            return refuse(EndReason::BadName);
        }
        let host = self.peers.get(peer).map(|peer| peer.link.host());
        if host.is_none_or(|host| self.banned.contains(&host)) {
            return refuse(EndReason::Banned);
        }
        if let Some(resume) = hello.resume {
            return self
                .resume(now, peer, resume)
                .map_err(|why| (why, String::new()));
        }
        let of_host = self.players.values().filter(|it| Some(it.host) == host);
        if self.players.len() >= self.config.players
            || of_host.count() >= self.config.players_a_host
        {
            return refuse(EndReason::Full);
        }
        if let Err(NotAdmitted::Busy | NotAdmitted::TooFast { .. }) = self.peers.admit(now, peer) {
            return refuse(EndReason::Busy);
        }
        self.join(now, peer, hello)
            .ok_or((EndReason::Full, String::new()))
    }

    fn join(&mut self, now: Instant, peer: PeerId, hello: &Hello<'_>) -> Option<()> {
        let host = self.peers.get(peer)?.link.host();
        let id = self.next_player;
        let join = Join {
            player: id,
            groups: Groups::default(),
        };
        let client = self.clients.join(&self.world, join).ok()?;
        self.clients.set_budget(client, self.config.budget);
        self.next_player = PlayerId(id.0.wrapping_add(1));
        let ticket = self.tickets.next();
        let newcomer = Newcomer {
            name: hello.name.into(),
            role: hello.role,
            host,
            ticket,
            peer,
            client,
        };
        self.players.insert(id, Player::new(now, newcomer));
        self.by_ticket.insert(ticket, id);
        self.welcome(now, peer, id, None);
        self.push_event(ServerEvent::Joined {
            player: id,
            name: hello.name.into(),
            role: hello.role,
        });
        Some(())
    }

    /// A player whose connection broke, or that has another one, goes on with this one.
    fn resume(&mut self, now: Instant, peer: PeerId, resume: Resume) -> Result<(), EndReason> {
        let Some(id) = self.by_ticket.get(&resume.ticket).copied() else {
            self.counters.bad_ticket += 1;
            return Err(EndReason::NoSuchTicket);
        };
        let player = self.players.get_mut(&id).ok_or(EndReason::NoSuchTicket)?;
        let before = player.presence;
        // The old connection may not have noticed yet that it is broken.
        if let Presence::Here(old) = before {
            if let Some(Peer { state, .. }) = self.peers.get_mut(old) {
                state.player = None;
            }
            self.end_connection(now, old, EndReason::Replaced, "");
        }
        // Coming back is no join: it costs the others nothing.
        self.peers.admit_again(peer);
        let player = self.players.get_mut(&id).ok_or(EndReason::NoSuchTicket)?;
        player.outbox.disconnect();
        player.presence = Presence::Here(peer);
        // Of the two tickets that it may have, it keeps the one that it showed.
        let unused = match player.old_ticket.replace(resume.ticket) {
            Some(old) if old == resume.ticket => Some(player.ticket),
            older => older,
        };
        if let Some(unused) = unused {
            self.by_ticket.remove(&unused);
        }
        let ticket = self.tickets.next();
        player.ticket = ticket;
        self.by_ticket.insert(ticket, id);
        if let Presence::Away { since } = before {
            self.away.remove(&(since, id));
            self.push_event(ServerEvent::Back(id));
        }
        self.counters.resumed += 1;
        self.welcome(now, peer, id, Some(resume.received));
        Ok(())
    }

    /// A player has its Welcome, and so its ticket: the one before does not count any more.
    pub(super) fn retire_ticket(&mut self, id: PlayerId) {
        let player = self.players.get_mut(&id);
        if let Some(old) = player.and_then(|player| player.old_ticket.take()) {
            self.by_ticket.remove(&old);
        }
    }

    fn welcome(&mut self, now: Instant, peer: PeerId, id: PlayerId, resumed: Option<u32>) {
        let token = self.peers.issue_token(peer);
        let (Some(token), Some(player)) = (token, self.players.get_mut(&id)) else {
            return;
        };
        let welcome = Down::Welcome(Welcome {
            player: id.0,
            token,
            ticket: player.ticket,
            tick: super::low_half(self.clock.tick),
            hz: G::HZ,
            ticks_a_send: G::TICKS_A_SEND,
            resumed: resumed.map(|_| player.counted.received()),
        });
        // Nothing waits yet on this connection.
        player.outbox.push(|out| welcome.encode(out)).ok();
        if player.outbox.resume(resumed.unwrap_or(0)).is_err() {
            // It counts more than it was ever told.
            self.remove_player(now, id, EndReason::Malformed, "");
            return;
        }
        if let Some(Peer { state, link }) = self.peers.get_mut(peer) {
            state.player = Some(id);
            link.last_heard = now;
        }
        self.peers.set_deadline(peer, Some(now + SILENCE));
        self.peers.mark_ready(peer);
    }

    /// A player's connection is gone.
    pub(super) fn go_away(&mut self, now: Instant, id: PlayerId) {
        let Some(player) = self.players.get_mut(&id) else {
            return;
        };
        player.presence = Presence::Away { since: now };
        player.outbox.disconnect();
        self.away.insert((now, id));
        self.push_event(ServerEvent::Away(id));
        if self.away.len() > AWAY_MAX
            && let Some(&(_, longest)) = self.away.first()
        {
            self.remove_player(now, longest, EndReason::Disconnected, "");
        }
    }

    /// A player is gone for good. Whoever is connected hears why.
    pub(super) fn remove_player(
        &mut self,
        now: Instant,
        id: PlayerId,
        why: EndReason,
        words: &str,
    ) {
        let Some(player) = self.players.remove(&id) else {
            return;
        };
        self.by_ticket.remove(&player.ticket);
        if let Some(old) = player.old_ticket {
            self.by_ticket.remove(&old);
        }
        self.clients.leave(player.client);
        match player.presence {
            Presence::Away { since } => {
                self.away.remove(&(since, id));
            }
            Presence::Here(peer) => {
                if let Some(Peer { state, .. }) = self.peers.get_mut(peer) {
                    // What it was told before still goes out, and then why.
                    state.player = None;
                    state.farewell = player.outbox;
                }
                self.end_connection(now, peer, why, words);
            }
        }
        self.push_event(ServerEvent::Left { player: id, why });
    }

    /// A connection ends, and hears why.
    pub(super) fn end_connection(
        &mut self,
        now: Instant,
        peer: PeerId,
        reason: EndReason,
        words: &str,
    ) {
        if let Some(Peer { state, link }) = self.peers.get_mut(peer)
            && !link.is_closing()
        {
            let end = Down::End { reason, words };
            // A client that never reads is not told.
            state.farewell.push(|out| end.encode(out)).ok();
            state.sending = None;
            self.peers.close(peer, now + FAREWELL);
        }
    }

    /// A connection's deadline has come.
    pub(super) fn check_silence(&mut self, now: Instant, peer: PeerId) {
        let Some(Peer { state, link }) = self.peers.get(peer) else {
            return;
        };
        let deadline = link.last_heard + SILENCE;
        if now < deadline {
            self.peers.set_deadline(peer, Some(deadline));
            return;
        }
        let player = state.player;
        self.peers.abort(peer);
        if let Some(player) = player {
            self.go_away(now, player);
        }
    }
}
