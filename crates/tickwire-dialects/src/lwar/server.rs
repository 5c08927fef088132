//! The server: players, entities, and 15 packets a second to everybody.
//!
//! In: datagrams, and from the game entities with their states, scores and collisions. Out: packets,
//! and for the game who joined, left, chose, spoke, and what each player presses. The game's rules are
//! the game's: the server adds and removes nothing on its own, except the entities of a player who
//! left, which its clients must see go before the player does.
//!
//! The entity table is encoded once for every sending and copied into each client's packets, since
//! all clients see the same.

mod answer;
mod broadcast;
mod departed;
mod entities;
mod event;
mod generation;
mod joining;
mod peer;
mod receive;
mod unnumbered;
mod violation;

use alloc::boxed::Box;
use alloc::collections::VecDeque;
use alloc::string::String;
use alloc::vec::Vec;

use tickwire_session::{
    Addr, Ended, Events, Instant, Path, PeerStats, Room, Session, StreamId, Transmit,
};

use super::id::Ids;
use super::limits::{AHEAD, PLAYERS_MAX, PROOF_TIMEOUT, QUEUE_MAX, SEND_PERIOD, TIMEOUT};
use super::message::{Collision, Kind, PlayerScore, Reliable};
use super::{Controls, EntityId, PlayerId, cut_name};
use answer::Answer;
use broadcast::{Broadcast, Scores};
use departed::{Departed, Farewell};
use entities::Entities;
use generation::Generations;
use peer::{Peer, Stage};

pub use entities::Shape;
pub use event::{Departure, ServerCounters, ServerEvent, TooManyEntities};

/// How a server is set up.
#[derive(Clone, Debug)]
pub struct ServerConfig {
    /// The name of the player that owns what nobody owns, 1 to 32 bytes; a longer one is cut, an
    /// empty one is `server`.
    pub name: String,
    /// How many may play, at most [`PLAYERS_MAX`].
    pub players: u8,
}

impl Default for ServerConfig {
    fn default() -> Self {
        Self {
            name: "server".into(),
            players: PLAYERS_MAX,
        }
    }
}

/// An lwar server.
#[derive(Debug)]
pub struct Server {
    began: Instant,
    name: String,
    score: Score,
    player_ids: Ids,
    generations: Generations,
    players_max: u8,
    /// Remote players, at the place that their id's index names; place 0 is the server's own.
    places: [Option<Box<Peer>>; PLAYERS_MAX as usize + 1],
    entities: Entities,
    /// Entities that the game removed while a Collision of theirs had not been sent.
    dying: Vec<EntityId>,
    departed: Vec<Departed>,
    answers: VecDeque<(Addr, Answer)>,
    broadcast: Broadcast,
    next_send: Instant,
    /// The game has said something about entities since the last sending.
    is_fresh: bool,
    events: VecDeque<ServerEvent>,
    counters: ServerCounters,
    closing: bool,
    is_busy: bool,
}

/// A player's successes.
#[derive(Clone, Copy, Debug, Default)]
struct Score {
    kills: u16,
    deaths: u16,
}

impl Server {
    /// A server without players or entities, whose clock begins now. The secret keeps its player ids
    /// from being guessed.
    pub fn new(now: Instant, config: ServerConfig, secret: [u8; 32]) -> Self {
        let players_max = config.players.min(PLAYERS_MAX);
        let name = cut_name(&config.name, "server").into();
        Self {
            began: now,
            name,
            score: Score::default(),
            player_ids: Ids::new(1..u16::from(players_max) + 1),
            generations: Generations::new(secret),
            players_max,
            places: Default::default(),
            entities: Entities::new(),
            dying: Vec::new(),
            departed: Vec::new(),
            answers: VecDeque::new(),
            broadcast: Broadcast::new(now),
            next_send: now,
            is_fresh: false,
            events: VecDeque::new(),
            counters: ServerCounters::default(),
            closing: false,
            is_busy: false,
        }
    }

    /// Puts an entity into everybody's world. An owner who is not there (any more) is replaced by the
    /// server.
    pub fn add(
        &mut self,
        kind: Kind,
        owner: PlayerId,
        shape: Shape,
    ) -> Result<EntityId, TooManyEntities> {
        let owner = if self.peer(owner).is_some() {
            owner
        } else {
            PlayerId::SERVER
        };
        let entity = self
            .entities
            .add(kind, owner, shape)
            .ok_or(TooManyEntities)?;
        self.tell_all(&Reliable::Add {
            entity,
            owner,
            kind,
        });
        Ok(entity)
    }

    /// Takes an entity out of everybody's world: at once, or if it has just collided, with the sending
    /// after the one that tells of the collision. A client can show nothing of what it has already
    /// removed. One that is gone already is no mistake: its owner may have left.
    pub fn remove(&mut self, entity: EntityId) {
        if self.broadcast.has_collision_of(entity) {
            self.dying.push(entity);
        } else {
            self.remove_now(entity);
        }
    }

    fn remove_now(&mut self, entity: EntityId) {
        if self.entities.remove(entity).is_some() {
            self.tell_all(&Reliable::Remove { entity });
        }
    }

    /// Sets what the next packets say about an entity.
    pub fn set(&mut self, entity: EntityId, shape: Shape) {
        self.entities.set(entity, shape);
        self.is_fresh = true;
    }

    /// Tells that two entities touched, in the next packets.
    pub fn collide(&mut self, collision: Collision) {
        // Without clients nothing is sent, and what waits to be sent would keep entities from going.
        if self.has_anybody() {
            self.broadcast.add_collision(collision);
        }
    }

    /// Sets a player's line of the scoreboard; [`PlayerId::SERVER`] has one too.
    pub fn set_score(&mut self, player: PlayerId, kills: u16, deaths: u16) {
        let score = Score { kills, deaths };
        if player == PlayerId::SERVER {
            self.score = score;
        } else if let Some(peer) = self.peer_mut(player) {
            peer.score = score;
        }
    }

    /// Says something to everybody, as the server.
    pub fn say(&mut self, text: &str) {
        self.tell_all(&Reliable::Chat {
            player: PlayerId::SERVER,
            text,
        });
    }

    /// What a player did since this was last asked: to be called once a step.
    ///
    /// The newest Input holds until the next; presses that came and went between two steps are
    /// included; nothing is pressed when no Input came for half a second.
    pub fn take_controls(&mut self, now: Instant, player: PlayerId) -> Controls {
        self.peer_mut(player)
            .map(|peer| peer.controls.take(now))
            .unwrap_or_default()
    }

    /// Sends a player away and tells it why.
    pub fn kick(&mut self, now: Instant, player: PlayerId, text: &str) {
        if self.peer(player).is_some() {
            self.depart(
                now,
                player.0.index,
                Departure::Kicked,
                Farewell::Explained(text),
            );
        }
    }

    /// The players that are there, with their names.
    pub fn players(&self) -> impl Iterator<Item = (PlayerId, &str)> {
        self.proved().map(|peer| (peer.player, &*peer.name))
    }

    /// What was refused so far.
    pub const fn counters(&self) -> &ServerCounters {
        &self.counters
    }

    /// The clients that are players.
    fn proved(&self) -> impl Iterator<Item = &Peer> {
        let peers = self.places.iter().flatten().map(|peer| &**peer);
        peers.filter(|peer| peer.is_proved())
    }

    fn peer(&self, player: PlayerId) -> Option<&Peer> {
        let peer = self.places.get(usize::from(player.0.index))?.as_deref()?;
        (peer.player == player && peer.is_proved()).then_some(peer)
    }

    fn peer_mut(&mut self, player: PlayerId) -> Option<&mut Peer> {
        let peer = self
            .places
            .get_mut(usize::from(player.0.index))?
            .as_deref_mut()?;
        (peer.player == player && peer.is_proved()).then_some(peer)
    }

    /// Queues a reliable message for everybody who is being told what there is.
    fn tell_all(&mut self, message: &Reliable<'_>) {
        let peers = self.places.iter_mut().flatten();
        for peer in peers.filter(|peer| peer.is_told()) {
            peer.tell(message);
        }
    }

    /// Frees a place, and says what must be said to the others and to whoever held it.
    fn depart(&mut self, now: Instant, index: u16, why: Departure, farewell: Farewell<'_>) {
        let place = self.places.get_mut(usize::from(index));
        let Some(mut peer) = place.and_then(Option::take) else {
            return;
        };
        let player = peer.player;
        self.player_ids.release(player.0);
        let is_answered = matches!(farewell, Farewell::Answered);
        // What it was never sent would only keep its Leave waiting.
        peer.outbox.drop_unsent();
        if peer.is_proved() {
            for entity in self.entities.remove_owned_by(player) {
                self.tell_all(&Reliable::Remove { entity });
                // Whoever asked to go gets Leave alone, under the number that it expects next.
                if !is_answered {
                    peer.outbox.push(&Reliable::Remove { entity });
                }
            }
            self.tell_all(&Reliable::Leave { player });
            self.events.push_back(ServerEvent::Left { player, why });
        } else if !is_answered {
            // Nobody knows of it, and its address may be forged: nobody is told.
            return;
        }
        self.wake(now);
        Departed::remember(&mut self.departed, now, *peer, farewell);
    }

    /// Starts the sending clock again after a time in which there was nobody to send to.
    fn wake(&mut self, now: Instant) {
        self.next_send = self.next_send.max(now);
    }

    /// Whether there is somebody to send to.
    fn has_anybody(&self) -> bool {
        self.places.iter().any(Option::is_some) || !self.departed.is_empty()
    }

    /// Removes whoever is silent, does not acknowledge, or cannot keep up.
    fn sweep(&mut self, now: Instant) {
        for index in 0..=PLAYERS_MAX {
            let Some(Some(peer)) = self.places.get_mut(usize::from(index)) else {
                continue;
            };
            if peer.outbox.is_empty() {
                peer.last_progress = now;
            }
            let is_late = !peer.is_proved() && now.since(peer.since) >= PROOF_TIMEOUT;
            let is_behind =
                now.since(peer.last_progress) >= TIMEOUT || peer.unacknowledged() >= QUEUE_MAX;
            let why = match () {
                () if is_late => {
                    self.counters.unproved += 1;
                    Departure::TimedOut
                }
                () if now.since(peer.last_heard) >= TIMEOUT => Departure::TimedOut,
                () if is_behind => Departure::FellBehind,
                () => continue,
            };
            self.depart(now, index.into(), why, Farewell::None);
        }
        self.departed.retain(|departed| now < departed.until);
    }

    /// Begins a sending: the state of this moment, to everybody.
    fn send(&mut self, now: Instant) {
        self.is_fresh = false;
        self.remove_dead();
        self.next_send = self.next_send.next_due(SEND_PERIOD, now);
        let stats = self.broadcast.stats_due(now).then(|| self.scores());
        let timestamp = self.timestamp(now);
        self.broadcast
            .build(timestamp, &self.entities, stats.as_ref());
        let peers = self.places.iter_mut().flatten();
        for peer in peers.filter(|peer| peer.is_proved()) {
            if peer.sending.replace(broadcast::Cursor::default()).is_some() {
                peer.updates.hold_back();
            }
        }
        for departed in &mut self.departed {
            departed.due = departed.repeats && !departed.is_done();
        }
    }

    /// Removes the entities whose last Collision went out with the sending before this one.
    fn remove_dead(&mut self) {
        for entity in core::mem::take(&mut self.dying) {
            self.remove(entity);
        }
    }

    fn scores(&self) -> Scores {
        let mut scores = self.places.each_ref().map(|place| {
            let peer = place.as_deref().filter(|peer| peer.is_proved())?;
            Some(peer.scoreboard_line())
        });
        let [own, ..] = &mut scores;
        *own = Some(PlayerScore {
            player: PlayerId::SERVER,
            kills: self.score.kills,
            deaths: self.score.deaths,
            ping: 0,
        });
        scores
    }

    fn timestamp(&self, now: Instant) -> u32 {
        now.wrapping_millis_since(self.began)
    }
}

impl Session for Server {
    fn handle_datagram(&mut self, now: Instant, from: Addr, bytes: &[u8]) {
        self.receive(now, from, bytes);
    }

    fn handle_timeout(&mut self, now: Instant) {
        if now < self.next_send {
            return;
        }
        self.sweep(now);
        self.send(now);
    }

    fn poll_transmit(&mut self, now: Instant, out: &mut Vec<u8>) -> Option<Transmit> {
        if self.is_fresh && now + AHEAD >= self.next_send && self.has_anybody() {
            self.sweep(now);
            self.send(now);
        }
        if let Some(transmit) = self.write_next_answer(now, out) {
            return Some(transmit);
        }
        for peer in self.places.iter_mut().flatten() {
            if let Some(cursor) = peer.sending {
                peer.write_sending(now, cursor, &self.broadcast, out);
                return Some(Transmit::Datagram { to: peer.addr });
            }
        }
        let departed = self.departed.iter_mut().find(|departed| departed.due)?;
        departed.write_packet(now, self.broadcast.timestamp(), out);
        Some(Transmit::Datagram { to: departed.addr })
    }

    fn poll_timeout(&self) -> Option<Instant> {
        self.has_anybody().then_some(self.next_send)
    }

    // lwar has no streams, and its packets are smaller than what any path takes.
    fn handle_opened(&mut self, _now: Instant, _on: StreamId, _peer: Addr) {}
    fn handle_stream(&mut self, _now: Instant, _on: StreamId, _bytes: &[u8]) {}
    fn handle_room(&mut self, _now: Instant, _path: Path, _room: Room) {}

    fn handle_closed(&mut self, _now: Instant, _path: Path, _why: Ended) {
        // Only silence ends an lwar session: a refused datagram may be a client that restarts.
    }

    fn set_busy(&mut self, is_busy: bool) {
        self.is_busy = is_busy;
    }

    fn shut_down(&mut self, now: Instant) {
        self.closing = true;
        for index in 0..=u16::from(PLAYERS_MAX) {
            self.depart(now, index, Departure::ShutDown, Farewell::Repeated);
        }
    }

    fn is_finished(&self) -> bool {
        self.places.iter().all(Option::is_none) && self.departed.iter().all(Departed::is_done)
    }

    fn visit_peers(&self, visit: &mut dyn FnMut(&PeerStats<'_>)) {
        for peer in self.places.iter().flatten() {
            visit(&peer.stats());
        }
    }

    fn visit_counters(&self, visit: &mut dyn FnMut(&'static str, u64)) {
        self.counters.visit(visit);
    }
}

impl Events for Server {
    type Event = ServerEvent;

    fn poll_event(&mut self) -> Option<ServerEvent> {
        self.events.pop_front()
    }
}
