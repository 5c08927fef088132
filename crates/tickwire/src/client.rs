//! A game's client on real sockets: one object, polled.
//!
//! In: the player's input, and what the player says. Out: what is in view, and events. Nothing here waits:
//! connecting, too, ends in an event.

mod join;

pub use join::Joining;

use std::net::{SocketAddr, ToSocketAddrs};
use std::time::Duration;

use tickwire_native as native;
use tickwire_net::quic::{self, Fingerprint, Trust};
use tickwire_net::{Driver, NodeId};
use tickwire_replica::Archetype;
use tickwire_session::bulk::Overall;
use tickwire_session::{Addr, Events as _, Instant, Session};
use tickwire_sim::Lag;
use tickwire_state::PredictionFigures;

use crate::error::Error;
use crate::memory::Seat;
use crate::place;
use crate::rendezvous::Met;
use crate::{
    Asked, ClientConfig, ClientEvent, EntityId, Game, PROTOCOL, Phase, PlayerId, ProvisionalId,
    Role, SayError,
};

/// How long leaving may take.
const FAREWELL: Duration = Duration::from_secs(1);

/// A client of a game.
///
/// ```no_run
/// # use tickwire::{Archetypes, Client, Game, Replicate};
/// # #[derive(Clone, Debug, Default, Replicate)]
/// # struct Ship { #[replicate(position, step = 0.01)] at: [f32; 2] }
/// # #[derive(Archetypes)]
/// # enum Thing { Ship(Ship) }
/// # struct Duel;
/// # impl Game for Duel {
/// #     type Things = Thing; type Input = (); type ToServer = (); type ToClient = ();
/// #     const HZ: u16 = 60;
/// # }
/// # fn main() -> Result<(), Box<dyn std::error::Error>> {
/// let mut client = Client::<Duel>::connect("127.0.0.1:7777")?;
/// loop {
///     client.update()?; // an error once it is over
///     while let Some(event) = client.event() {
///         println!("{event:?}");
///     }
///     for (id, ship) in client.view::<Ship>() {
///         println!("{id} is at {:?}", ship.at);
///     }
/// #   std::thread::sleep(std::time::Duration::from_millis(16));
/// }
/// # }
/// ```
#[derive(Debug)]
pub struct Client<G: Game> {
    driver: Driver,
    node: NodeId,
    session: native::Client<G>,
    /// What holds up its packets, if a bad network was asked for.
    lag: Option<Lag>,
    /// The way, if the server is in this process. The driver is then no more than the clock.
    seat: Option<Seat>,
    /// It ended, and an update has passed in which the game could see so.
    is_over: bool,
    /// What was said to its end.
    words: String,
    /// How the path to its server was found, if that was by a code. Its node is in front of the session's.
    met: Option<Met>,
}

/// Where an encrypted server is, and how it is known.
#[derive(Clone, Debug)]
pub struct ServerAt {
    /// Its address.
    pub addr: SocketAddr,
    /// Its name, as its certificate has it if an authority signed that.
    pub name: String,
    /// How it is recognised.
    pub trust: Trust,
}

impl ServerAt {
    /// A server that has no name but its address.
    pub fn new(addr: SocketAddr, trust: Trust) -> Self {
        let name = addr.ip().to_string();
        Self { addr, name, trust }
    }

    /// Makes a link to the server.
    fn link(&self, driver: &mut Driver, node: NodeId) -> Result<Addr, Error> {
        let link = quic::Client {
            to: self.addr,
            name: self.name.clone(),
            protocol: PROTOCOL.into(),
            trust: self.trust.clone(),
            ticket: Vec::new(),
        };
        Ok(driver.connect(node, link)?)
    }
}

impl<G: Game> Client<G> {
    /// Begins to connect, encrypted, as a player called `player`.
    ///
    /// A server on this machine is trusted. Any other is the one that was there the first time: its
    /// fingerprint is kept in the user's state folder, and another one ends the attempt. Whoever knows the
    /// fingerprint beforehand uses [`connect_pinned`](Self::connect_pinned).
    pub fn connect(addr: impl ToSocketAddrs) -> Result<Self, Error> {
        Self::connect_as(addr, "player")
    }

    /// The same, with a name for the player.
    pub fn connect_as(addr: impl ToSocketAddrs, name: &str) -> Result<Self, Error> {
        let to = place::resolve(addr)?;
        let trust = if to.ip().is_loopback() {
            Trust::ThisMachine
        } else {
            Trust::FirstUse {
                known_hosts: place::state_folder()?.join("known_hosts"),
                host: to.to_string(),
            }
        };
        Self::connect_with(ServerAt::new(to, trust), name, Role::Player)
    }

    /// Begins to connect to the server with this fingerprint.
    pub fn connect_pinned(
        addr: impl ToSocketAddrs,
        fingerprint: Fingerprint,
        name: &str,
    ) -> Result<Self, Error> {
        let to = place::resolve(addr)?;
        let trust = Trust::Pinned(fingerprint);
        Self::connect_with(ServerAt::new(to, trust), name, Role::Player)
    }

    /// Begins to connect, with everything said.
    pub fn connect_with(server: ServerAt, name: &str, role: Role) -> Result<Self, Error> {
        let mut driver = Driver::new()?;
        let node = driver.open();
        let link = server.link(&mut driver, node)?;
        Ok(Self::new(driver, node, link, (name, role)))
    }

    /// Begins to connect to a server that was bound with
    /// [`bind_insecure`](crate::Server::bind_insecure): readable and forgeable by whoever is on the way. For
    /// a network that you trust, so only to loopback and private addresses.
    pub fn connect_insecure(addr: impl ToSocketAddrs) -> Result<Self, Error> {
        Self::connect_insecure_as(addr, "player")
    }

    /// The same, with a name for the player.
    pub fn connect_insecure_as(addr: impl ToSocketAddrs, name: &str) -> Result<Self, Error> {
        let addr = place::resolve(addr)?;
        if !place::is_private(addr.ip()) {
            return Err(Error::NotPrivate(addr));
        }
        Self::connect_insecure_anywhere(addr, name, Role::Player)
    }

    /// The same to any address: you have read what [`connect_insecure`](Self::connect_insecure) says.
    pub fn connect_insecure_anywhere(
        addr: SocketAddr,
        name: &str,
        role: Role,
    ) -> Result<Self, Error> {
        let mut driver = Driver::new()?;
        let node = driver.open();
        Ok(Self::new(driver, node, addr.into(), (name, role)))
    }

    /// A client of a server in this process, which knows it by this address.
    pub(crate) fn seated(seat: Seat, server: Addr, name: &str) -> Result<Self, Error> {
        let mut driver = Driver::new()?;
        let node = driver.open();
        let client = Self::new(driver, node, server, (name, Role::Player));
        Ok(Self {
            seat: Some(seat),
            ..client
        })
    }

    fn new(driver: Driver, node: NodeId, server: Addr, (name, role): (&str, Role)) -> Self {
        let name = name.into();
        let config = ClientConfig { server, name, role };
        Self {
            session: native::Client::new(driver.now(), config),
            driver,
            node,
            lag: None,
            seat: None,
            is_over: false,
            words: String::new(),
            met: None,
        }
    }

    /// Lets this client feel a bad network, whatever the real one is like.
    ///
    /// ```no_run
    /// # use tickwire::{Client, Game, sim::Preset};
    /// # fn feel<G: Game>(client: Client<G>) -> Client<G> {
    /// let hotel = Preset::named("bad-hotel").expect("a preset");
    /// client.with_conditions(hotel.client_lag(1))
    /// # }
    /// ```
    #[must_use]
    pub fn with_conditions(mut self, lag: Lag) -> Self {
        self.lag = Some(lag);
        self
    }

    /// What the player wants from now on, until it wants something else.
    pub fn set_input(&mut self, input: G::Input) {
        self.session.set_input(input);
    }

    /// Sends and takes what there is, and goes on to this moment. Call it once a frame; it does not wait.
    ///
    /// # Errors
    /// [`Error::Ended`] once it is over, after the game could take [`ClientEvent::Ended`]. Other errors are the
    /// system's.
    pub fn update(&mut self) -> Result<(), Error> {
        if let (true, Phase::Ended(why)) = (self.is_over, self.phase()) {
            // A game that takes no events learns here what it was told.
            while self.event().is_some() {}
            let words = self.words.clone();
            return Err(Error::Ended { why, words });
        }
        self.turn(self.driver.now())?;
        self.relink()?;
        self.session.update(self.driver.now());
        self.is_over = matches!(self.phase(), Phase::Ended(_));
        Ok(())
    }

    /// Sends and takes what there is.
    fn turn(&mut self, until: Instant) -> Result<(), Error> {
        let mut lagged = self.lag.as_mut().map(|lag| lag.around(&mut self.session));
        let session: &mut dyn Session = match &mut lagged {
            Some(lagged) => lagged,
            None => &mut self.session,
        };
        match (&self.seat, &mut self.met) {
            (Some(seat), _) => seat.turn(self.driver.now(), session),
            (None, Some(met)) => {
                let sessions = &mut [met.meeting.session(), session];
                self.driver.turn(until, sessions)?;
                met.poll(&mut self.driver)?;
            }
            (None, None) => self.driver.turn(until, &mut [session])?,
        }
        Ok(())
    }

    /// Makes a new link to a host that was met, if the old one broke and the player means to come back. Other links
    /// the driver makes anew by itself.
    fn relink(&mut self) -> Result<(), Error> {
        let Some(met) = &self.met else {
            return Ok(());
        };
        let server = self.session.server();
        if self.session.phase() != Phase::Interrupted || self.driver.link_failure(server).is_none()
        {
            return Ok(());
        }
        let (driver, node) = (&mut self.driver, self.node);
        let link = met
            .meeting
            .connect(driver, node, PROTOCOL, None, Vec::new())?;
        if let Some(link) = link {
            self.session.set_server(link);
        }
        Ok(())
    }

    /// The next thing that happened.
    pub fn event(&mut self) -> Option<ClientEvent<G>> {
        let event = self.session.poll_event()?;
        let event = self.explained(event);
        if let ClientEvent::Ended { words, .. } = &event {
            self.words.clone_from(words);
        }
        Some(event)
    }

    /// Says why there is no connection, as far as the link below knows it better.
    fn explained(&self, event: ClientEvent<G>) -> ClientEvent<G> {
        match event {
            ClientEvent::Ended { why, words } if words.is_empty() => {
                let failure = self.driver.link_failure(self.session.server());
                let words = failure.map(ToString::to_string).unwrap_or_default();
                ClientEvent::Ended { why, words }
            }
            event => event,
        }
    }

    /// Everything of a type that is in view, smooth between what arrived. The player's own entity is as it
    /// will be when its inputs arrive.
    pub fn view<T: Archetype<G::Things>>(&self) -> impl Iterator<Item = (EntityId, T)> {
        self.session.view()
    }

    /// One entity that is in view.
    pub fn get<T: Archetype<G::Things>>(&self, id: EntityId) -> Option<T> {
        self.session.get(id)
    }

    /// The player's own entity, predicted.
    pub fn own<T: Archetype<G::Things>>(&self) -> Option<(EntityId, T)> {
        self.session.own()
    }

    /// What this client spawned ahead of the server ([`Game::spawns`]) and does not have of it yet.
    pub fn provisional<T: Archetype<G::Things>>(&self) -> impl Iterator<Item = (ProvisionalId, T)> {
        self.session.provisional()
    }

    /// Says something to the server, reliably and in order.
    pub fn say(&mut self, message: &G::ToServer) -> Result<(), SayError> {
        self.session.say(message)
    }

    /// Says something of which only the newest on its channel counts.
    pub fn say_latest(&mut self, channel: u8, message: &G::ToServer) -> Result<(), SayError> {
        self.session.say_latest(channel, message)
    }

    /// Asks the server something, which is answered exactly once.
    pub fn ask(&mut self, message: &G::ToServer) -> Result<Asked, SayError> {
        self.session.ask(self.driver.now(), message)
    }

    /// Fetches a resource that the server offers.
    pub fn fetch(&mut self, name: &str) {
        self.session.fetch(name);
    }

    /// How far fetching has come.
    pub fn fetched(&self) -> Option<Overall> {
        self.session.fetched()
    }

    /// How far the client has come.
    pub const fn phase(&self) -> Phase {
        self.session.phase()
    }

    /// Who the player is.
    pub fn player(&self) -> Option<PlayerId> {
        self.session.player()
    }

    /// How far behind the newest that arrived the world is shown.
    pub fn delay(&self) -> Option<Duration> {
        self.session.delay()
    }

    /// What became of the predictions of the own entity.
    pub fn prediction(&self) -> PredictionFigures {
        self.session.prediction()
    }

    /// The session, for figures and counters.
    pub const fn session(&self) -> &native::Client<G> {
        &self.session
    }

    /// The session, for code that a test runs on a simulated network as well.
    pub const fn session_mut(&mut self) -> &mut native::Client<G> {
        &mut self.session
    }

    /// Leaves, and tells the server. A [local client](crate::Server::local_client)'s server is told with its next
    /// tick.
    pub fn leave(mut self) -> Result<(), Error> {
        self.session.leave(self.driver.now());
        let deadline = self.driver.now() + FAREWELL;
        let is_idle = |lag: &Option<Lag>| lag.as_ref().is_none_or(Lag::is_idle);
        while !(self.session.is_finished() && is_idle(&self.lag)) && self.driver.now() < deadline {
            self.turn(deadline)?;
            if self.seat.is_some() {
                break;
            }
        }
        Ok(())
    }
}
