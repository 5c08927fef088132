//! A server that is found by a code.

use std::net::{IpAddr, Ipv4Addr, Ipv6Addr, SocketAddr, ToSocketAddrs};

use tickwire_net::Driver;
use tickwire_net::quic::{self, Identity};
use tickwire_net::rendezvous::Meeting;

use super::{Port, Server};
use crate::error::Error;
use crate::rendezvous::{Code, MemberEvent, Met, Offer, Rendezvous, rendezvous_at};
use crate::{Game, PROTOCOL, ServerConfig, place};

impl<G: Game> Server<G> {
    /// Serves a game that others join by a code ([`Client::join`](crate::Client::join)), wherever both are. The
    /// rendezvous server is somebody's `tickwire rendezvous`; `name` is what it tells those who join.
    ///
    /// ```no_run
    /// # use tickwire::{Archetypes, Game, Replicate, Server};
    /// # #[derive(Clone, Default, Replicate)]
    /// # struct Ship { #[replicate(position, step = 0.01)] at: [f32; 2] }
    /// # #[derive(Archetypes)]
    /// # enum Thing { Ship(Ship) }
    /// # struct Duel;
    /// # impl Game for Duel {
    /// #     type Things = Thing; type Input = (); type ToServer = (); type ToClient = ();
    /// #     const HZ: u16 = 60;
    /// # }
    /// use tickwire::rendezvous::MemberEvent;
    ///
    /// # fn main() -> Result<(), Box<dyn std::error::Error>> {
    /// let mut server = Server::<Duel>::host("a duel", "203.0.113.7:27478")?;
    /// loop {
    ///     if let Some(MemberEvent::Registered { code }) = server.meeting_event() {
    ///         println!("friends join with {code}");
    ///     }
    ///     server.tick()?;
    /// }
    /// # }
    /// ```
    pub fn host(name: &str, rendezvous: impl ToSocketAddrs) -> Result<Self, Error> {
        let rendezvous = rendezvous_at(rendezvous)?;
        let identity = if rendezvous.server.ip().is_loopback() {
            Identity::generate()
        } else {
            Identity::load_or_create(&place::state_folder()?.join("identity"))
        };
        let offer = Offer {
            protocols: vec![PROTOCOL.into()],
            name: name.into(),
            is_public: false,
        };
        Self::host_with(offer, rendezvous, ServerConfig::default(), identity?)
    }

    /// The same, with everything said.
    pub fn host_with(
        offer: Offer,
        rendezvous: Rendezvous,
        config: ServerConfig,
        identity: Identity,
    ) -> Result<Self, Error> {
        let mut driver = Driver::new()?;
        let node = driver.open();
        let any: IpAddr = match rendezvous.server {
            SocketAddr::V4(_) => Ipv4Addr::UNSPECIFIED.into(),
            SocketAddr::V6(_) => Ipv6Addr::UNSPECIFIED.into(),
        };
        let server = quic::Server::new(identity).protocol(PROTOCOL, node);
        let fingerprint = server.fingerprint();
        let (meeting, listener) =
            Meeting::host(&mut driver, (any, 0).into(), server, offer, rendezvous)?;
        let port = Port::Encrypted {
            listener,
            fingerprint,
        };
        let mut hosted = Self::new(driver, (node, port), config)?;
        hosted.met = Some(Met::new(meeting));
        Ok(hosted)
    }

    /// What others join by, once the rendezvous server has said it.
    pub fn code(&self) -> Option<Code> {
        self.met.as_ref()?.code
    }

    /// The next thing that happened between this server and the rendezvous server.
    pub fn meeting_event(&mut self) -> Option<MemberEvent> {
        self.met.as_mut()?.events.pop_front()
    }
}
