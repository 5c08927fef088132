//! The server: one world, and everybody who takes part in it.
//!
//! In: streams and datagrams; from the game, what is true of its entities, what is said, and the ticks. Out:
//! the world as each player may see it, messages, answers, resources; for the game who came and went, what
//! each wants for a tick, says and asks.
//!
//! The game runs its own loop. In each tick it takes events, steps, and calls [`Server::end_tick`]; every
//! [`Game::TICKS_A_SEND`] ticks the world is sent.

mod admit;
mod event;
mod inputs;
mod player;
mod receive;
mod write;

use alloc::collections::{BTreeMap, BTreeSet, VecDeque};
use alloc::sync::Arc;
use alloc::vec::Vec;
use core::fmt;
use core::time::Duration;

use tickwire_replica::packet::Form;
use tickwire_replica::server::{Clients, ClientsConfig, Sharing, View};
use tickwire_replica::world::{
    Audience, Groups, Past, PlayerId, Spawn, World, WorldConfig, WorldError,
};
use tickwire_replica::{Archetype, EntityId, Schema};
use tickwire_session::bulk::{ContentHash, Shelf, ShelfError};
use tickwire_session::{
    Addr, Due, Ended, Events, Host, Instant, Path, Peer, PeerStats, Peers, Room, Session, StreamId,
    Transmit,
};
use tickwire_state::Tick;

use crate::game::Game;
use crate::limits::{
    BANNED_MAX, HZ_MAX, LATEST_CHANNELS, LATEST_REPEATS, MESSAGE_MAX, NARROW_PATHS,
    RESUME_PATIENCE, REWIND_MAX,
};
use crate::message::{Down, Role, Status, bytes_of};
use crate::reason::EndReason;
use crate::ticket::{Ticket, Tickets};
use event::Waiting;
use inputs::TickClock;
use player::{Connection, LatestOut, Player, Presence};

pub use event::{Question, SayError, ServerCounters, ServerEvent, To};

/// The name under which resources are listed.
pub(crate) const MANIFEST: &str = "manifest";

/// How a server is set up.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct ServerConfig {
    /// How many may take part, those who look on included.
    pub players: usize,
    /// How many of them may come from one address, those who are away included: otherwise one machine could keep
    /// everybody else out. Over QUIC the driver holds addresses to their share.
    pub players_a_host: usize,
    /// How many entities there may be.
    pub entities: u32,
    /// How many bytes of the world's state a player is sent in each send, at most.
    pub budget: usize,
    /// How the world's state is coded: in less time, or in fewer bytes.
    pub form: Form,
}

impl Default for ServerConfig {
    fn default() -> Self {
        Self {
            players: 1_024,
            players_a_host: 512,
            entities: 1 << 16,
            // Half a megabit a second at 20 sends: what a poor connection takes.
            budget: 4_000,
            form: Form::Coded,
        }
    }
}

/// A server of a game.
pub struct Server<G: Game> {
    config: ServerConfig,
    schema: Schema,
    world: World<G::Things>,
    clients: Clients,
    clock: TickClock,
    peers: Peers<Connection>,
    players: BTreeMap<PlayerId, Player<G>>,
    next_player: PlayerId,
    tickets: Tickets,
    by_ticket: BTreeMap<Ticket, PlayerId>,
    /// Players who are away, by when they went.
    away: BTreeSet<(Instant, PlayerId)>,
    banned: VecDeque<Host>,
    shelf: Shelf,
    events: VecDeque<Waiting<G>>,
    counters: ServerCounters,
    is_closing: bool,
}

impl<G: Game> Server<G> {
    /// A server without players or entities. The secret keeps tokens and tickets from being guessed.
    ///
    /// # Panics
    /// If the game's types cannot be sent (an entity has more fields than a datagram holds), or it has no
    /// ticks or more than [`HZ_MAX`] a second: that is the same for every server of the game.
    pub fn new(now: Instant, secret: [u8; 32], config: ServerConfig) -> Self {
        assert!(
            G::HZ > 0 && G::HZ <= HZ_MAX && G::TICKS_A_SEND > 0,
            "a game has ticks and sends, at most HZ_MAX a second"
        );
        let rewind = u64::try_from(REWIND_MAX.as_millis()).unwrap_or(0) * u64::from(G::HZ) / 1_000;
        let mut layout = WorldConfig {
            entities: config.entities,
            ticks_per_send: G::TICKS_A_SEND.into(),
            rewind: rewind + 1,
            ..WorldConfig::default()
        };
        if G::SIGHT.is_finite() {
            layout.side = f64::from(G::SIGHT) / 2.0;
        }
        let world = World::new(layout).expect("the game's types fit a datagram, see Game");
        let tick = Duration::from_secs(1) / u32::from(G::HZ);
        Self {
            config,
            world,
            clients: Clients::with_prior(
                ClientsConfig {
                    send_interval: tick * u32::from(G::TICKS_A_SEND),
                    form: config.form,
                },
                crate::game::prior::<G>(),
            ),
            schema: crate::game::schema::<G>(),
            clock: TickClock {
                tick: Tick::NONE,
                at: now,
            },
            peers: Peers::new(now, secret, NARROW_PATHS),
            players: BTreeMap::new(),
            next_player: PlayerId(1),
            tickets: Tickets::new(&secret),
            by_ticket: BTreeMap::new(),
            away: BTreeSet::new(),
            banned: VecDeque::new(),
            shelf: Shelf::new(MANIFEST),
            events: VecDeque::new(),
            counters: ServerCounters::default(),
            is_closing: false,
        }
    }

    /// Puts an entity into the world, for everybody.
    pub fn spawn(&mut self, thing: impl Into<G::Things>) -> Result<EntityId, WorldError> {
        self.world.spawn(&thing.into())
    }

    /// Puts an entity into the world, for those who may see it.
    pub fn spawn_for(
        &mut self,
        audience: Audience,
        thing: impl Into<G::Things>,
    ) -> Result<EntityId, WorldError> {
        let spawn = Spawn {
            audience,
            ..Spawn::default()
        };
        self.world.spawn_with(&thing.into(), spawn)
    }

    /// Puts a player's own entity into the world: the one that its inputs move, that its client predicts
    /// and from which it looks.
    pub fn spawn_own(
        &mut self,
        player: PlayerId,
        thing: impl Into<G::Things>,
    ) -> Result<EntityId, WorldError> {
        let spawn = Spawn {
            owner: Some(player),
            ..Spawn::default()
        };
        let id = self.world.spawn_with(&thing.into(), spawn)?;
        self.set_own(player, Some(id));
        Ok(id)
    }

    /// Puts an entity into the world that comes of what a player wants in this tick: a shot, mostly. The player's
    /// client, which may have spawned it already ([`Game::spawns`]), replaces its own by it.
    pub fn spawn_from_input(
        &mut self,
        player: PlayerId,
        thing: impl Into<G::Things>,
    ) -> Result<EntityId, WorldError> {
        let id = self.spawn(thing)?;
        let tick = low_half(self.world.tick().next());
        self.tell_one(player, &Down::Keyed { tick, entity: id.0 });
        Ok(id)
    }

    /// Which entity is a player's own.
    pub fn own(&self, player: PlayerId) -> Option<EntityId> {
        self.players.get(&player)?.own
    }

    /// Takes an entity out of the world.
    pub fn despawn(&mut self, id: EntityId) -> Result<(), WorldError> {
        self.world.despawn(id)?;
        let owner = self.players.iter().find(|(_, it)| it.own == Some(id));
        if let Some((&player, _)) = owner {
            self.set_own(player, None);
        }
        Ok(())
    }

    /// Says what is true of an entity from now on.
    pub fn set<T: Archetype<G::Things>>(
        &mut self,
        id: EntityId,
        value: &T,
    ) -> Result<(), WorldError> {
        self.world.set(id, value)
    }

    /// Says what is true of an entity from now on, whatever it is.
    pub fn set_any(&mut self, id: EntityId, value: &G::Things) -> Result<(), WorldError> {
        self.world.set_any(id, value)
    }

    /// An entity, rounded as everybody sees it.
    pub fn get<T: Archetype<G::Things>>(&self, id: EntityId) -> Option<T> {
        self.world.get(id)
    }

    /// The world, to read.
    pub const fn world(&self) -> &World<G::Things> {
        &self.world
    }

    /// Says to which groups a player belongs.
    pub fn set_groups(&mut self, player: PlayerId, groups: Groups) {
        if let Some(player) = self.players.get(&player) {
            self.clients.set_groups(player.client, groups);
        }
    }

    /// Says from which entity a player looks while it has none of its own: a spectator, or whoever is dead.
    /// When that entity is gone, the player looks from where it last was.
    pub fn look_from(&mut self, player: PlayerId, id: EntityId) {
        if let Some(player) = self.players.get_mut(&player) {
            player.looks_from = Some(id);
        }
    }

    /// Says how far a player sees from now on, in place of [`Game::SIGHT`]: somebody who looks on, or has
    /// climbed a tower. Without end only if the game's own sight is.
    pub fn set_sight(&mut self, player: PlayerId, sight: f32) {
        if let Some(player) = self.players.get_mut(&player) {
            player.sight = sight;
        }
    }

    /// What a player wants for the tick that is stepped; the default if it is not heard.
    pub fn input(&mut self, player: PlayerId) -> G::Input {
        let tick = self.world.tick().next();
        let Some(player) = self.players.get_mut(&player) else {
            return G::Input::default();
        };
        player.take_input(tick);
        let wanted = player.wanted.1.as_ref();
        wanted
            .map(|wanted| wanted.input.value())
            .unwrap_or_default()
    }

    /// Moves an entity on by one tick, as its player wants: [`Game::step`], rounded, as the player's client
    /// predicts it. Returns the entity.
    pub fn advance(&mut self, player: PlayerId, id: EntityId) -> Result<G::Things, WorldError> {
        let input = self.input(player);
        let thing = self.world.get_any(id);
        let mut thing = thing.ok_or(WorldError::Absent { entity: id })?;
        G::step(&mut thing, &input);
        self.world.set_any(id, &thing)?;
        Ok(thing)
    }

    /// Moves every player's own entity on by one tick.
    pub fn advance_all(&mut self) -> Result<(), WorldError> {
        let players = self.players.iter();
        let own: Vec<_> = players
            .filter_map(|(id, it)| Some((*id, it.own?)))
            .collect();
        own.into_iter().try_for_each(|(player, id)| {
            self.advance(player, id)?;
            Ok(())
        })
    }

    /// The world as a player saw it when it did what it does in this tick, at most [`REWIND_MAX`] ago: what
    /// its shots are judged by.
    pub fn past(&self, player: PlayerId) -> Option<Past<'_, G::Things>> {
        let now = self.world.tick();
        let player = self.players.get(&player);
        let wanted = player.and_then(|player| player.wanted.1.as_ref());
        let shown = wanted.map_or(now, |wanted| Tick(wanted.shown / 256));
        let back = u64::try_from(REWIND_MAX.as_millis()).unwrap_or(0) * u64::from(G::HZ) / 1_000;
        self.world.past(shown.clamp(now.before(back), now))
    }

    /// How long before this tick the world was true that a player saw when it did what it does now, at most
    /// [`REWIND_MAX`].
    pub fn rewind(&self, player: PlayerId) -> Duration {
        let player = self.players.get(&player);
        let Some((tick, Some(wanted))) = player.map(|it| (it.wanted.0, it.wanted.1.as_ref()))
        else {
            return Duration::ZERO;
        };
        let parts = (tick.0 * 256).saturating_sub(wanted.shown);
        let parts = u32::try_from(parts).unwrap_or(u32::MAX);
        (Duration::from_secs(1) * parts.min(1 << 16) / 256 / u32::from(G::HZ)).min(REWIND_MAX)
    }

    /// How long it takes to a player and back.
    pub fn round_trip(&self, player: PlayerId) -> Option<Duration> {
        self.players.get(&player)?.flights.round_trip.mean()
    }

    /// Ends a tick: what was set is true at it. Every [`Game::TICKS_A_SEND`] ticks the world is sent.
    pub fn end_tick(&mut self, now: Instant) -> Tick {
        self.send_away_overrun(now);
        self.look();
        let tick = self.world.commit();
        self.clock = TickClock { tick, at: now };
        if self.world.is_send() {
            for player in self.players.values_mut() {
                let is_held_back = player.begin_send();
                let peer = player.peer().filter(|_| is_held_back);
                if let Some(Peer { link, .. }) = peer.and_then(|peer| self.peers.get_mut(peer)) {
                    link.updates.hold_back();
                }
                if core::mem::take(&mut player.is_lacking) {
                    self.counters.forget += 1;
                    self.clients.forget(player.client);
                }
            }
            self.peers
                .mark_all_ready(|Peer { state, .. }| state.player.is_some());
        }
        tick
    }

    fn send_away_overrun(&mut self, now: Instant) {
        let players = self.players.iter();
        let overrun: Vec<_> = players
            .filter(|(_, it)| it.is_overrun || self.clients.is_stuck(it.client))
            .map(|(id, _)| *id)
            .collect();
        for player in overrun {
            self.remove_player(now, player, EndReason::FellBehind, "");
        }
    }

    /// Lets everybody look from its own entity, or from the one that the game chose.
    fn look(&mut self) {
        for player in self.players.values() {
            let eyes = player.own.or(player.looks_from);
            let at = eyes.and_then(|eyes| self.world.position(eyes));
            let range = f64::from(player.sight);
            let view = match at {
                _ if !G::SIGHT.is_finite() => View {
                    at: [0.0; 2],
                    range: f64::INFINITY,
                },
                Some(at) => View { at, range },
                // Whoever has no entity looks on from where it last was.
                None => continue,
            };
            self.clients.set_view(player.client, Some(view));
        }
    }

    /// Tells players something, reliably and in order.
    pub fn say(&mut self, to: To, message: &G::ToClient) -> Result<(), SayError> {
        let body = encoded(message)?;
        self.tell(to, &Down::Say(&body));
        Ok(())
    }

    /// Tells players that something happened at the current tick. They hear of it when they are shown that
    /// tick.
    pub fn happen(&mut self, to: To, event: &G::ToClient) -> Result<(), SayError> {
        let body = encoded(event)?;
        let tick = low_half(self.world.tick().next());
        self.tell(to, &Down::Event { tick, body: &body });
        Ok(())
    }

    /// Tells players something of which only the newest on its channel counts.
    pub fn say_latest(
        &mut self,
        to: To,
        channel: u8,
        message: &G::ToClient,
    ) -> Result<(), SayError> {
        if channel >= LATEST_CHANNELS {
            return Err(SayError::NoSuchChannel);
        }
        let body = encoded(message)?;
        if body.len() > write::LATEST_MAX {
            return Err(SayError::TooLong);
        }
        for (_, player) in self.players.iter_mut().filter(|(id, _)| to.means(**id)) {
            let before = player.latest.get(&channel).map_or(0, |it| it.number);
            let latest = LatestOut {
                number: before.wrapping_add(1),
                body: body.clone(),
                repeats: LATEST_REPEATS,
                is_due: false,
            };
            player.latest.insert(channel, latest);
        }
        Ok(())
    }

    /// Answers a question, or refuses it. Each is answered once; one that was answered, or whose player
    /// left, is passed over.
    pub fn answer(
        &mut self,
        question: Question,
        answer: Option<&G::ToClient>,
    ) -> Result<(), SayError> {
        let body = answer.map(encoded).transpose()?;
        let player = self.players.get_mut(&question.player);
        if !player.is_some_and(|player| player.questions.remove(&question.number)) {
            return Ok(());
        }
        let status = match body {
            Some(_) => Status::Done,
            None => Status::Refused,
        };
        self.tell_one(
            question.player,
            &Down::Answer {
                number: question.number,
                status,
                body: &body.unwrap_or_default(),
            },
        );
        Ok(())
    }

    /// Offers a resource, in place of one that had this name.
    pub fn offer(&mut self, name: &str, bytes: Arc<[u8]>) -> Result<ContentHash, ShelfError> {
        self.shelf.remove(name);
        self.shelf.insert(name, bytes)
    }

    /// Sends a player away, with words for it.
    pub fn kick(&mut self, now: Instant, player: PlayerId, words: &str) {
        self.remove_player(now, player, EndReason::Kicked, words);
    }

    /// Where a player's connection comes from; `None` while it is away.
    pub fn host(&self, player: PlayerId) -> Option<Host> {
        match self.players.get(&player)?.presence {
            Presence::Here(peer) => Some(self.peers.get(peer)?.link.host()),
            Presence::Away { .. } => None,
        }
    }

    /// Sends a player away, and lets nobody join from its host any more.
    pub fn ban(&mut self, now: Instant, player: PlayerId, words: &str) {
        let Some(host) = self.players.get(&player).map(|it| it.host) else {
            return;
        };
        if self.banned.len() >= BANNED_MAX {
            self.banned.pop_front();
        }
        self.banned.push_back(host);
        self.remove_player(now, player, EndReason::Banned, words);
    }

    /// Who takes part, with name and role.
    pub fn players(&self) -> impl Iterator<Item = (PlayerId, &str, Role)> {
        let players = self.players.iter();
        players.map(|(id, player)| (*id, &*player.name, player.role))
    }

    /// Whether a player has received everything that it could see when it joined.
    pub fn is_ready(&self, player: PlayerId) -> bool {
        let player = self.players.get(&player);
        player.is_some_and(|player| self.clients.is_ready(player.client))
    }

    /// How often what one player was sent had been encoded for another.
    pub const fn sharing(&self) -> Sharing {
        self.clients.sharing()
    }

    /// What was refused so far.
    pub const fn counters(&self) -> &ServerCounters {
        &self.counters
    }

    /// The game could not keep up, and let so much time pass without ticks.
    pub fn report_late(&mut self, dropped: Duration) {
        self.push_event(ServerEvent::Late { dropped });
    }

    /// A game that is told that a player left need not tidy up after it. What it spawned for a player of whose
    /// leaving it had not heard goes, too.
    fn despawn_owned(&mut self, player: PlayerId) {
        let owned = self.world.owned(player).to_vec();
        for id in owned {
            let despawned = self.world.despawn(id);
            debug_assert!(despawned.is_ok(), "what is owned is there");
        }
    }

    fn set_own(&mut self, player: PlayerId, own: Option<EntityId>) {
        if let Some(it) = self.players.get_mut(&player) {
            it.own = own;
            self.tell_one(player, &Down::Owned(own.unwrap_or_default().0));
        }
    }

    /// Queues a frame that is kept for everybody who is meant.
    fn tell(&mut self, to: To, frame: &Down<'_>) {
        let meant: Vec<_> = self
            .players
            .keys()
            .copied()
            .filter(|it| to.means(*it))
            .collect();
        for player in meant {
            self.tell_one(player, frame);
        }
    }

    fn tell_one(&mut self, id: PlayerId, frame: &Down<'_>) {
        let Some(player) = self.players.get_mut(&id) else {
            return;
        };
        debug_assert!(frame.is_kept(), "the game's frames are counted");
        if player.outbox.keep(|out| frame.encode(out)).is_err() {
            // It is sent away with the next time-out: here the game is in the middle of something.
            self.counters.overrun += 1;
            player.is_overrun = true;
        }
        if let Some(peer) = player.peer() {
            self.peers.mark_ready(peer);
        }
    }

    fn push_event(&mut self, event: ServerEvent<G>) {
        self.events.push_back(Waiting::Event(event));
    }
}

/// A message of the game as bytes.
fn encoded<T: tickwire_replica::Replicate>(message: &T) -> Result<Vec<u8>, SayError> {
    let body = bytes_of(message)?;
    if body.len() > MESSAGE_MAX {
        return Err(SayError::TooLong);
    }
    Ok(body)
}

/// The lowest 32 bits.
pub(crate) fn low_half(tick: Tick) -> u32 {
    let [a, b, c, d, ..] = tick.0.to_le_bytes();
    u32::from_le_bytes([a, b, c, d])
}

impl<G: Game> fmt::Debug for Server<G> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("Server")
            .field("tick", &self.clock.tick)
            .field("players", &self.players.len())
            .field("entities", &self.world.len())
            .finish_non_exhaustive()
    }
}

impl<G: Game> Session for Server<G> {
    fn handle_opened(&mut self, now: Instant, on: StreamId, peer: Addr) {
        let opened = self.peers.open(now, on, peer, Connection::new());
        // Whoever had to go had not joined: nobody knows of it.
        self.counters.too_many_streams += u64::from(opened.evicted.is_some());
        if self.is_closing {
            self.end_connection(now, opened.peer, EndReason::ShutDown, "");
        }
    }

    fn handle_stream(&mut self, now: Instant, on: StreamId, bytes: &[u8]) {
        self.receive_stream(now, on, bytes);
    }

    fn handle_datagram(&mut self, now: Instant, from: Addr, bytes: &[u8]) {
        self.receive_datagram(now, from, bytes);
    }

    fn handle_room(&mut self, _now: Instant, path: Path, room: Room) {
        self.peers.handle_room(path, room);
    }

    fn handle_closed(&mut self, now: Instant, path: Path, _why: Ended) {
        if let Some((_, peer)) = self.peers.handle_closed(path)
            && let Some(player) = peer.state.player
        {
            self.go_away(now, player);
        }
    }

    fn handle_timeout(&mut self, now: Instant) {
        while let Some(due) = self.peers.pop_due(now) {
            match due {
                Due::Proof(peer) => self.end_connection(now, peer, EndReason::TimedOut, ""),
                Due::Deadline(peer) => self.check_silence(now, peer),
            }
        }
        while let Some(&(since, player)) = self.away.first()
            && now >= since + RESUME_PATIENCE
        {
            self.remove_player(now, player, EndReason::Disconnected, "");
        }
    }

    fn poll_transmit(&mut self, now: Instant, out: &mut Vec<u8>) -> Option<Transmit> {
        self.write(now, out)
    }

    fn poll_timeout(&self) -> Option<Instant> {
        let away = self.away.first().map(|(since, _)| *since + RESUME_PATIENCE);
        [away, self.peers.next_due()].into_iter().flatten().min()
    }

    fn set_busy(&mut self, is_busy: bool) {
        self.peers.set_busy(is_busy);
    }

    fn shut_down(&mut self, now: Instant) {
        self.is_closing = true;
        let players: Vec<_> = self.players.keys().copied().collect();
        for player in players {
            self.remove_player(now, player, EndReason::ShutDown, "");
        }
        let peers: Vec<_> = self.peers.iter().map(|(id, _)| id).collect();
        for peer in peers {
            self.end_connection(now, peer, EndReason::ShutDown, "");
        }
    }

    fn is_finished(&self) -> bool {
        self.is_closing && self.peers.is_empty()
    }

    fn visit_peers(&self, visit: &mut dyn FnMut(&PeerStats<'_>)) {
        for (_, Peer { link, state }) in self.peers.iter() {
            let player = state.player.and_then(|id| self.players.get(&id));
            let Some(player) = player else {
                visit(&link.stats(
                    "",
                    if link.is_closing() {
                        "Closing"
                    } else {
                        "Opened"
                    },
                ));
                continue;
            };
            let mut stats = link.stats(&player.name, "Playing");
            stats.round_trip = player.flights.round_trip.mean();
            stats.jitter = player.flights.round_trip.jitter();
            stats.queued = Some(player.outbox.waiting() as u64);
            stats.resent = Some(player.outbox.resent());
            stats.loss = player.inputs.loss();
            visit(&stats);
        }
    }

    fn visit_counters(&self, visit: &mut dyn FnMut(&'static str, u64)) {
        self.counters.visit(visit);
    }
}

impl<G: Game> Events for Server<G> {
    type Event = ServerEvent<G>;

    fn poll_event(&mut self) -> Option<ServerEvent<G>> {
        loop {
            let event = match self.events.pop_front()? {
                Waiting::Event(event) => {
                    if let ServerEvent::Left { player, .. } = event {
                        self.despawn_owned(player);
                    }
                    Some(event)
                }
                // Of somebody who left since, there is none.
                Waiting::Latest(player, channel) => self.take_latest(player, channel),
            };
            if event.is_some() {
                return event;
            }
        }
    }
}
