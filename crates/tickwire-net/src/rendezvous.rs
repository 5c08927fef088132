//! Being found, and finding others, through a rendezvous server.
//!
//! A [`Meeting`] is a [`Member`] on a real socket, which it shares with the game's QUIC: a host's server listens
//! there, a joiner's clients connect from there. In: turns of the driver, then [`Meeting::poll`]. Out: what
//! happened. Connecting to the rendezvous server again, and leading the game's connections over the path that
//! is best at the moment, is done in here; so is going over TCP where UDP does not get out. See `tickwire-rendezvous` for what is said on the way.

use std::io;
use std::net::{IpAddr, Ipv4Addr, Ipv6Addr, SocketAddr};
use std::time::Duration;

use tickwire_rendezvous::{
    Code, Fingerprint as Shown, Member, MemberEvent, PathKind, Purpose, Register,
};
use tickwire_session::{Addr, Events, Instant, Session};

use crate::quic::{Client, Fingerprint, Server, Trust};
use crate::{Carries, Driver, ListenError, ListenerId, NodeId, local_ip_towards, secret};

/// What the rendezvous protocol is called in the handshake.
pub const PROTOCOL: &str = "rendezvous";

/// The port of a rendezvous server, unless told otherwise.
pub const PORT: u16 = 27_478;

/// Before a rendezvous server that cannot be reached is tried again: first, and at most.
const RETRY_FIRST: Duration = Duration::from_secs(1);
const RETRY_LONGEST: Duration = Duration::from_secs(30);

/// A rendezvous server.
#[derive(Clone, Debug)]
pub struct Rendezvous {
    /// Where it is.
    pub server: SocketAddr,
    /// How it is known.
    pub trust: Trust,
}

/// What a host says of its session.
#[derive(Clone, Debug)]
pub struct Offer {
    /// What is spoken there, by the names of the handshake.
    pub protocols: Vec<String>,
    /// What people call it.
    pub name: String,
    /// Whether anybody may see it in the list.
    pub is_public: bool,
}

/// A member of a session, on a socket that it shares with the game.
#[derive(Debug)]
pub struct Meeting {
    node: NodeId,
    member: Member,
    rendezvous: Rendezvous,
    host: Option<Shown>,
    path: Option<SocketAddr>,
    retry: Duration,
    retry_at: Option<Instant>,
    /// The connection to the rendezvous server.
    control: Option<Addr>,
    /// UDP does not get there: everything goes over TCP.
    is_blocked: bool,
}

impl Meeting {
    /// Serves QUIC at an address, and lets others find it by a code, which is told by
    /// [`MemberEvent::Registered`].
    ///
    /// # Errors
    /// If the address or the identity cannot be used, or no way leads to the rendezvous server.
    pub fn host(
        driver: &mut Driver,
        bind: SocketAddr,
        server: Server,
        offer: Offer,
        rendezvous: Rendezvous,
    ) -> Result<(Self, ListenerId), ListenError> {
        let register = Register {
            protocol: offer.protocols.join(","),
            name: offer.name,
            is_public: offer.is_public,
            players: 0,
            fingerprint: server.fingerprint().into(),
            candidates: Vec::new(),
            claim: None,
        };
        let node = driver
            .bind(bind, Carries::Datagrams)
            .map_err(ListenError::Bind)?;
        let listener = driver.listen_on(node, server).inspect_err(|_| {
            driver.close(node);
        })?;
        let system = |source| {
            let addr = rendezvous.server;
            ListenError::Bind(crate::BindError::System { addr, source })
        };
        let meeting = Self::new(driver, node, Purpose::Host(register), rendezvous.clone());
        Ok((meeting.map_err(system)?, listener))
    }

    /// Looks for the session with a code, and for a path to it.
    ///
    /// # Errors
    /// If there is no socket to be had, or no way leads to the rendezvous server.
    pub fn join(driver: &mut Driver, code: Code, rendezvous: Rendezvous) -> io::Result<Self> {
        Self::open(driver, Purpose::Join(code), rendezvous)
    }

    /// Asks which public sessions there are: of one protocol, or of all.
    ///
    /// # Errors
    /// As [`join`](Self::join).
    pub fn list(driver: &mut Driver, protocol: &str, rendezvous: Rendezvous) -> io::Result<Self> {
        Self::open(driver, Purpose::List(protocol.to_owned()), rendezvous)
    }

    fn open(driver: &mut Driver, purpose: Purpose, rendezvous: Rendezvous) -> io::Result<Self> {
        let any: IpAddr = match rendezvous.server {
            SocketAddr::V4(_) => Ipv4Addr::UNSPECIFIED.into(),
            SocketAddr::V6(_) => Ipv6Addr::UNSPECIFIED.into(),
        };
        let bound = driver.bind((any, 0).into(), Carries::Datagrams);
        let node = bound.map_err(io::Error::other)?;
        Self::new(driver, node, purpose, rendezvous)
    }

    fn new(
        driver: &mut Driver,
        node: NodeId,
        purpose: Purpose,
        rendezvous: Rendezvous,
    ) -> io::Result<Self> {
        let mut member = Member::new(driver.now(), rendezvous.server, purpose, secret()?);
        let port = driver.local_addr(node).map_or(0, |addr| addr.port());
        let ip = local_ip_towards(rendezvous.server)?;
        member.set_local((ip, port).into());
        let mut meeting = Self {
            node,
            member,
            rendezvous,
            host: None,
            path: None,
            retry: RETRY_FIRST,
            retry_at: None,
            control: None,
            is_blocked: false,
        };
        meeting.call(driver)?;
        Ok(meeting)
    }

    /// Connects to the rendezvous server.
    fn call(&mut self, driver: &mut Driver) -> io::Result<()> {
        let server = self.rendezvous.server;
        if self.is_blocked && !self.member.is_carried() {
            self.member.carry(server.into());
            driver.divert(server);
        }
        let client = Client {
            to: server,
            name: server.ip().to_string(),
            protocol: PROTOCOL.to_owned(),
            trust: self.rendezvous.trust.clone(),
            ticket: Vec::new(),
        };
        let link = driver.connect(self.node, client)?;
        self.control = Some(link);
        self.member.connect(driver.now(), link);
        Ok(())
    }

    /// Its position among the sessions.
    pub const fn node(&self) -> NodeId {
        self.node
    }

    /// Its session, for the driver's turn.
    pub const fn session(&mut self) -> &mut dyn Session {
        &mut self.member
    }

    /// Uses a relay only, so that neither side learns where the other is. To be called before the first turn.
    pub const fn use_relay_only(&mut self) {
        self.member.use_relay_only();
    }

    /// How many play, for those who look at the list.
    pub fn set_players(&mut self, players: u16) {
        self.member.set_players(players);
    }

    /// What happened. To be called after every turn until there is nothing more.
    ///
    /// # Errors
    /// If there is no socket to be had for another connection to the rendezvous server.
    pub fn poll(&mut self, driver: &mut Driver) -> io::Result<Option<MemberEvent>> {
        let now = driver.now();
        if self.retry_at.is_some_and(|moment| moment <= now) {
            self.retry_at = None;
            self.call(driver)?;
        }
        self.exchange_packets(driver);
        let event = self.member.poll_event();
        match &event {
            Some(MemberEvent::Admitted { fingerprint, .. }) => self.host = Some(*fingerprint),
            Some(MemberEvent::Unheard) => {
                self.is_blocked = true;
                self.call(driver)?;
            }
            Some(MemberEvent::Path { kind, to }) => {
                self.path = Some(*to);
                if self.is_blocked && *kind == PathKind::Relayed {
                    driver.divert(*to);
                }
                driver.redirect(self.node, *to);
            }
            Some(MemberEvent::Registered { .. }) => self.retry = RETRY_FIRST,
            Some(MemberEvent::ControlLost { .. }) => {
                self.retry_at = Some(now + self.retry);
                self.retry = (self.retry * 2).min(RETRY_LONGEST);
            }
            _ => {}
        }
        Ok(event)
    }

    /// Moves packets between QUIC and the member's stream, if it has one.
    fn exchange_packets(&mut self, driver: &mut Driver) {
        if !self.is_blocked {
            return;
        }
        while let Some((to, packet)) = driver.poll_diverted() {
            self.member.carry_packet(to, &packet);
        }
        while let Some((from, packet)) = self.member.poll_packet() {
            if from == self.rendezvous.server {
                if let Some(control) = self.control {
                    driver.inject_link(control, from, &packet);
                }
            } else {
                // What answers has to go back the same way.
                driver.divert(from);
                driver.inject(self.node, from, &packet);
            }
        }
    }

    /// When [`poll`](Self::poll) has something to do even if nothing happens.
    pub const fn wake(&self) -> Option<Instant> {
        self.retry_at
    }

    /// Connects a node to the session that was found, over whichever path is the best. `None` until a path was
    /// found. The host is known by the fingerprint that the rendezvous server told, or by `trust` if there is
    /// one.
    ///
    /// # Errors
    /// As [`Driver::connect`].
    pub fn connect(
        &self,
        driver: &mut Driver,
        node: NodeId,
        protocol: &str,
        trust: Option<Trust>,
        ticket: Vec<u8>,
    ) -> io::Result<Option<Addr>> {
        let (Some(to), Some(host)) = (self.path, self.host) else {
            return Ok(None);
        };
        let client = Client {
            to,
            name: to.ip().to_string(),
            protocol: protocol.to_owned(),
            trust: trust.unwrap_or_else(|| Trust::Pinned(Fingerprint::from(host))),
            ticket,
        };
        driver.connect_on(self.node, node, client).map(Some)
    }
}
