//! A game's server on real sockets: one object, polled.
//!
//! In: what the game spawns, sets and says, and its ticks. Out: events. Everything happens on the caller's
//! thread; nothing is awaited and nothing called back.

mod host;

use std::io;
use std::net::{SocketAddr, ToSocketAddrs};
use std::sync::Arc;
use std::time::Duration;

use tickwire_native as native;
use tickwire_net::quic::{self, Fingerprint, Identity};
use tickwire_net::{Carries, Driver, ListenerId, NodeId};
use tickwire_replica::Archetype;
use tickwire_replica::world::{Audience, Groups, Past, World, WorldError};
use tickwire_session::bulk::{ContentHash, ShelfError};
use tickwire_session::{Addr, Events as _, Host, Instant, Session};
use tickwire_sim::Lag;

use crate::client::Client;
use crate::error::Error;
use crate::memory::{self, Proxy};
use crate::place;
use crate::rendezvous::Met;
use crate::{
    EntityId, Game, PROTOCOL, PlayerId, Question, Role, SayError, ServerConfig, ServerEvent, Tick,
    To,
};

/// At most so many ticks are made at once to catch up; beyond that, time is left out.
const CATCH_UP: u32 = 3;

/// How long those who are told of the end have to hear it.
const FAREWELL: Duration = Duration::from_secs(2);

/// The server of a game.
///
/// ```no_run
/// # use tickwire::{Archetypes, Game, Replicate, Server, ServerEvent};
/// # #[derive(Clone, Default, Replicate)]
/// # struct Ship { #[replicate(position, step = 0.01)] at: [f32; 2] }
/// # #[derive(Archetypes)]
/// # enum Thing { Ship(Ship) }
/// # struct Duel;
/// # impl Game for Duel {
/// #     type Things = Thing; type Input = (); type ToServer = (); type ToClient = ();
/// #     const HZ: u16 = 60;
/// # }
/// # fn main() -> Result<(), Box<dyn std::error::Error>> {
/// let mut server = Server::<Duel>::bind("127.0.0.1:7777")?;
/// loop {
///     while let Some(event) = server.event() {
///         if let ServerEvent::Joined { player, .. } = event {
///             server.spawn_own(player, Ship::default())?;
///         }
///     }
///     server.advance_all()?;
///     server.tick()?;
/// }
/// # }
/// ```
#[derive(Debug)]
pub struct Server<G: Game> {
    driver: Driver,
    session: native::Server<G>,
    port: Port,
    /// The session's node; those of local clients follow.
    node: NodeId,
    locals: Vec<Local>,
    /// When the next tick is due.
    due: Instant,
    /// What holds up its packets, if a bad network was asked for.
    lag: Option<Lag>,
    /// How it is found, if that is by a code. Its node follows the session's.
    met: Option<Met>,
}

/// A client in this process.
#[derive(Debug)]
struct Local {
    proxy: Proxy,
    /// Until the client is gone.
    node: Option<NodeId>,
}

#[derive(Debug)]
enum Port {
    Encrypted {
        listener: ListenerId,
        fingerprint: Fingerprint,
    },
    Clear,
}

impl<G: Game> Server<G> {
    /// Opens a port. Everything on it is encrypted.
    ///
    /// Clients know a server by its [`fingerprint`](Self::fingerprint), which belongs to a key. On a loopback
    /// address the key is made anew; otherwise it is kept in the user's state folder, and is made on the
    /// first start.
    pub fn bind(addr: impl ToSocketAddrs) -> Result<Self, Error> {
        Self::bind_with(addr, ServerConfig::default())
    }

    /// The same, with other bounds.
    pub fn bind_with(addr: impl ToSocketAddrs, config: ServerConfig) -> Result<Self, Error> {
        let addr = place::resolve(addr)?;
        let identity = if addr.ip().is_loopback() {
            Identity::generate()
        } else {
            Identity::load_or_create(&place::state_folder()?.join("identity"))
        };
        Self::listen(addr, config, identity?)
    }

    /// The same, with a key and certificate of your own: see [`Identity::from_pem_files`].
    pub fn listen(
        addr: SocketAddr,
        config: ServerConfig,
        identity: Identity,
    ) -> Result<Self, Error> {
        let mut driver = Driver::new()?;
        let node = driver.open();
        let server = quic::Server::new(identity).protocol(PROTOCOL, node);
        let fingerprint = server.fingerprint();
        let listener = driver.listen(addr, server)?;
        let port = Port::Encrypted {
            listener,
            fingerprint,
        };
        Self::new(driver, (node, port), config)
    }

    /// Opens a port on which everything is readable and forgeable by whoever is on the way: UDP and TCP. For
    /// a network that you trust, so only on loopback and private addresses.
    pub fn bind_insecure(addr: impl ToSocketAddrs) -> Result<Self, Error> {
        let addr = place::resolve(addr)?;
        if !place::is_private(addr.ip()) {
            return Err(Error::NotPrivate(addr));
        }
        Self::bind_insecure_anywhere(addr, ServerConfig::default())
    }

    /// The same on any address: you have read what [`bind_insecure`](Self::bind_insecure) says.
    pub fn bind_insecure_anywhere(addr: SocketAddr, config: ServerConfig) -> Result<Self, Error> {
        let mut driver = Driver::new()?;
        let node = driver.bind(addr, Carries::Both)?;
        Self::new(driver, (node, Port::Clear), config)
    }

    fn new(
        driver: Driver,
        (node, port): (NodeId, Port),
        config: ServerConfig,
    ) -> Result<Self, Error> {
        let now = driver.now();
        Ok(Self {
            session: native::Server::new(now, tickwire_net::secret()?, config),
            driver,
            port,
            node,
            locals: Vec::new(),
            due: now,
            lag: None,
            met: None,
        })
    }

    /// Puts every client of this server on a bad network: `preset.server_lag(seed)` makes one.
    #[must_use]
    pub fn with_conditions(mut self, lag: Lag) -> Self {
        self.lag = Some(lag);
        self
    }

    /// Where clients connect to.
    pub fn local_addr(&self) -> Option<SocketAddr> {
        match self.port {
            Port::Encrypted { listener, .. } => self.driver.listener_addr(listener),
            Port::Clear => self.driver.local_addr(self.node),
        }
    }

    /// What clients recognise this server by: give it to them with the address.
    pub const fn fingerprint(&self) -> Option<Fingerprint> {
        match self.port {
            Port::Encrypted { fingerprint, .. } => Some(fingerprint),
            Port::Clear => None,
        }
    }

    /// A client in the same program: the player of whoever hosts. No socket is between the two, and it has the same
    /// methods as any other; what it sends arrives with the server's next tick.
    pub fn local_client(&mut self, name: &str) -> Result<Client<G>, Error> {
        let (seat, proxy) = memory::pair();
        let (node, server) = self.driver.link(self.node);
        let local = Local {
            proxy,
            node: Some(node),
        };
        // The position in the slice of sessions, behind the server's own: perhaps that of a client who is gone.
        let own = 1 + usize::from(self.met.is_some());
        let at = node.index().saturating_sub(own);
        match self.locals.get_mut(at) {
            Some(gone) => *gone = local,
            None => self.locals.push(local),
        }
        Client::seated(seat, server, name)
    }

    /// Lets the driver go on with the server and its local clients.
    fn drive(
        &mut self,
        go_on: impl FnOnce(&mut Driver, &mut [&mut dyn Session]) -> io::Result<()>,
    ) -> Result<(), Error> {
        for local in &mut self.locals {
            if let Some(node) = local.node.take_if(|_| local.proxy.is_over()) {
                self.driver.close(node);
            }
        }
        let mut lagged = self.lag.as_mut().map(|lag| lag.around(&mut self.session));
        let mut sessions: Vec<&mut dyn Session> = match &mut lagged {
            Some(lagged) => vec![lagged],
            None => vec![&mut self.session],
        };
        sessions.extend(self.met.as_mut().map(|met| met.meeting.session()));
        let proxies = self.locals.iter_mut().map(|local| &mut local.proxy);
        sessions.extend(proxies.map(|proxy| proxy as &mut dyn Session));
        go_on(&mut self.driver, &mut sessions)?;
        let Some(met) = &mut self.met else {
            return Ok(());
        };
        let players = self.session.players().count();
        met.meeting
            .set_players(u16::try_from(players).unwrap_or(u16::MAX));
        met.poll(&mut self.driver)
    }

    /// The next thing that happened.
    pub fn event(&mut self) -> Option<ServerEvent<G>> {
        self.session.poll_event()
    }

    /// Ends a tick, sends what is due, and takes what arrives until the next tick is due.
    pub fn tick(&mut self) -> Result<Tick, Error> {
        let tick = self.end_tick();
        let due = self.due;
        self.drive(|driver, sessions| driver.run_until(due, sessions))?;
        Ok(tick)
    }

    /// For a loop of your own: sends and takes what there is without waiting, and says how many ticks are
    /// due. After each call [`end_tick`](Self::end_tick).
    pub fn update(&mut self) -> Result<u32, Error> {
        let now = self.driver.now();
        self.drive(|driver, sessions| driver.turn(now, sessions))?;
        let length = Self::tick_length();
        let due = self.driver.now().since(self.due).div_duration_f32(length);
        #[expect(
            clippy::cast_possible_truncation,
            clippy::cast_sign_loss,
            reason = "bounded below"
        )]
        let due = if self.driver.now() < self.due {
            0
        } else {
            due.min(100.0) as u32 + 1
        };
        Ok(due.min(CATCH_UP))
    }

    /// Ends a tick: what was set is true at it.
    pub fn end_tick(&mut self) -> Tick {
        let now = self.driver.now();
        let tick = self.session.end_tick(now);
        let length = Self::tick_length();
        self.due += length;
        let behind = now.since(self.due);
        let is_late = behind > length * CATCH_UP;
        if is_late {
            self.due = now;
            self.session.report_late(behind);
        }
        self.session.set_busy(is_late);
        tick
    }

    fn tick_length() -> Duration {
        Duration::from_secs(1) / u32::from(G::HZ)
    }

    /// Puts an entity into the world, for everybody.
    pub fn spawn(&mut self, thing: impl Into<G::Things>) -> Result<EntityId, WorldError> {
        self.session.spawn(thing)
    }

    /// Puts an entity into the world, for those who may see it.
    pub fn spawn_for(
        &mut self,
        audience: Audience,
        thing: impl Into<G::Things>,
    ) -> Result<EntityId, WorldError> {
        self.session.spawn_for(audience, thing)
    }

    /// Puts a player's own entity into the world: the one that its inputs move, that its client predicts and
    /// from which it looks.
    pub fn spawn_own(
        &mut self,
        player: PlayerId,
        thing: impl Into<G::Things>,
    ) -> Result<EntityId, WorldError> {
        self.session.spawn_own(player, thing)
    }

    /// Puts an entity into the world that comes of what a player wants in this tick: a shot, mostly. The player's
    /// client, which may have spawned it already ([`Game::spawns`]), replaces its own by it.
    pub fn spawn_from_input(
        &mut self,
        player: PlayerId,
        thing: impl Into<G::Things>,
    ) -> Result<EntityId, WorldError> {
        self.session.spawn_from_input(player, thing)
    }

    /// Which entity is a player's own. It is despawned with [`ServerEvent::Left`].
    pub fn own(&self, player: PlayerId) -> Option<EntityId> {
        self.session.own(player)
    }

    /// Takes an entity out of the world.
    pub fn despawn(&mut self, id: EntityId) -> Result<(), WorldError> {
        self.session.despawn(id)
    }

    /// Says what is true of an entity from now on. An error names the entity and the field, and nothing
    /// changed.
    pub fn set<T: Archetype<G::Things>>(
        &mut self,
        id: EntityId,
        value: &T,
    ) -> Result<(), WorldError> {
        self.session.set(id, value)
    }

    /// An entity, rounded as everybody sees it.
    pub fn get<T: Archetype<G::Things>>(&self, id: EntityId) -> Option<T> {
        self.session.get(id)
    }

    /// The world, to read.
    pub const fn world(&self) -> &World<G::Things> {
        self.session.world()
    }

    /// What a player wants for this tick.
    pub fn input(&mut self, player: PlayerId) -> G::Input {
        self.session.input(player)
    }

    /// Moves an entity on by one tick as its player wants: [`Game::step`], as the player's client predicts it.
    pub fn advance(&mut self, player: PlayerId, id: EntityId) -> Result<G::Things, WorldError> {
        self.session.advance(player, id)
    }

    /// Moves every player's own entity on by one tick.
    pub fn advance_all(&mut self) -> Result<(), WorldError> {
        self.session.advance_all()
    }

    /// The world as a player saw it when it did what it does in this tick: what its shots are judged by.
    pub fn past(&self, player: PlayerId) -> Option<Past<'_, G::Things>> {
        self.session.past(player)
    }

    /// Says from which entity a player looks while it has none of its own: a spectator, or whoever is dead.
    pub fn look_from(&mut self, player: PlayerId, id: EntityId) {
        self.session.look_from(player, id);
    }

    /// Says how far a player sees from now on, in place of [`Game::SIGHT`].
    pub fn set_sight(&mut self, player: PlayerId, sight: f32) {
        self.session.set_sight(player, sight);
    }

    /// Says to which groups a player belongs, which decides what it may see.
    pub fn set_groups(&mut self, player: PlayerId, groups: Groups) {
        self.session.set_groups(player, groups);
    }

    /// Tells players something, reliably and in order.
    pub fn say(&mut self, to: To, message: &G::ToClient) -> Result<(), SayError> {
        self.session.say(to, message)
    }

    /// Tells players that something happens in this tick. They hear of it when they are shown this tick.
    pub fn happen(&mut self, to: To, event: &G::ToClient) -> Result<(), SayError> {
        self.session.happen(to, event)
    }

    /// Tells players something of which only the newest on its channel counts.
    pub fn say_latest(
        &mut self,
        to: To,
        channel: u8,
        message: &G::ToClient,
    ) -> Result<(), SayError> {
        self.session.say_latest(to, channel, message)
    }

    /// Answers a question; with nothing, refuses it.
    pub fn answer(
        &mut self,
        question: Question,
        answer: Option<&G::ToClient>,
    ) -> Result<(), SayError> {
        self.session.answer(question, answer)
    }

    /// Offers a resource that clients may fetch.
    pub fn offer(
        &mut self,
        name: &str,
        bytes: impl Into<Arc<[u8]>>,
    ) -> Result<ContentHash, ShelfError> {
        self.session.offer(name, bytes.into())
    }

    /// Sends a player away.
    pub fn kick(&mut self, player: PlayerId, words: &str) {
        self.session.kick(self.driver.now(), player, words);
    }

    /// Sends a player away, and lets nobody join from its host any more.
    pub fn ban(&mut self, player: PlayerId, words: &str) {
        // A session knows a link by its number. Where that comes from, and who comes next from there, only the
        // driver knows.
        if let Some(host @ Host::Link(_)) = self.session.host(player) {
            self.driver.ban_peer(Addr { host, port: 0 });
        }
        self.session.ban(self.driver.now(), player, words);
    }

    /// Who takes part, with name and role.
    pub fn players(&self) -> impl Iterator<Item = (PlayerId, &str, Role)> {
        self.session.players()
    }

    /// The session, for figures and counters.
    pub const fn session(&self) -> &native::Server<G> {
        &self.session
    }

    /// The session, for rules that know no socket, so that a test runs them on a simulated network. Ending
    /// ticks is left to [`tick`](Self::tick).
    pub const fn session_mut(&mut self) -> &mut native::Server<G> {
        &mut self.session
    }

    /// Tells everybody that it is over, and closes.
    pub fn shut_down(mut self) -> Result<(), Error> {
        self.session.shut_down(self.driver.now());
        let deadline = self.driver.now() + FAREWELL;
        let is_idle = |lag: &Option<Lag>| lag.as_ref().is_none_or(Lag::is_idle);
        while !(self.session.is_finished() && is_idle(&self.lag)) && self.driver.now() < deadline {
            self.drive(|driver, sessions| driver.turn(deadline, sessions))?;
        }
        Ok(())
    }
}
