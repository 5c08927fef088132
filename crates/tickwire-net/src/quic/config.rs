//! What a server or a client of QUIC is asked for, and every setting of `quinn-proto` and `rustls` that
//! follows from it.
//!
//! No window, buffer or timer is left at the library's default: theirs are for bulk transfer, and what
//! a stranger can make a server keep has to be known.

use std::fmt;
use std::io;
use std::net::SocketAddr;
use std::sync::Arc;

use quinn_proto::crypto::rustls::{QuicClientConfig, QuicServerConfig};
use quinn_proto::{
    AckFrequencyConfig, ClientConfig, EndpointConfig, IdleTimeout, MtuDiscoveryConfig,
    ServerConfig, TransportConfig, VarInt,
};
use ring::{hkdf, hmac};
use rustls::crypto::{CryptoProvider, ring as provider};

use super::congestion::{Congestion, Flight, Watched};
use super::ids::Ids;
use super::{CheckTicket, Fingerprint, Identity, IdentityError, Trust};
use crate::NodeId;
use crate::limits::{
    ACKED_PACKETS, ACKED_WITHIN, DATAGRAM_LARGEST, HANDSHAKES_WAITING, LINK_DATAGRAMS_QUEUED,
    LINK_DATAGRAMS_RECEIVED, LINK_IDLE, LINK_KEEP_ALIVE, LINK_MTU, LINK_MTU_LARGEST, LINK_MTU_STEP,
    LINK_RECEIVE_WINDOW, LINK_SEND_WINDOW, LINK_STREAM_WINDOW, LINK_STREAMS, LINKS, RESET_INTERVAL,
    UNPROVED_WINDOW,
};

/// What [`Driver::listen`](crate::Driver::listen) needs.
pub struct Server {
    pub(crate) identity: Identity,
    pub(crate) protocols: Vec<(Vec<u8>, NodeId)>,
    pub(crate) tickets: Option<Box<dyn CheckTicket>>,
    pub(crate) links: usize,
    pub(crate) links_per_address: usize,
    pub(super) congestion: Congestion,
}

impl Server {
    /// A server of nothing yet, which lets everybody in.
    pub const fn new(identity: Identity) -> Self {
        Self {
            identity,
            protocols: Vec::new(),
            tickets: None,
            links: LINKS,
            links_per_address: LINKS,
            congestion: Congestion::FlooredCubic,
        }
    }

    /// Has those who ask for a protocol by this name talk to the session of a node.
    #[must_use]
    pub fn protocol(mut self, name: &str, node: NodeId) -> Self {
        self.protocols.push((alpn(name), node));
        self
    }

    /// Lets only those in who have a ticket.
    #[must_use]
    pub fn tickets(mut self, check: impl CheckTicket + 'static) -> Self {
        self.tickets = Some(Box::new(check));
        self
    }

    /// Has at most so many connections at a time; [`LINKS`] is the most.
    #[must_use]
    pub fn links(mut self, most: usize) -> Self {
        self.links = most.min(LINKS);
        self
    }

    /// Lets one address have at most so many of them. One that hangs up has its place for a minute more (see
    /// [`LINK_REST`](crate::limits::LINK_REST)).
    #[must_use]
    pub const fn links_per_address(mut self, most: usize) -> Self {
        self.links_per_address = most;
        self
    }

    /// Has its links share networks in another way; `cargo xtask bench quic` compares them.
    #[must_use]
    pub const fn congestion(mut self, congestion: Congestion) -> Self {
        self.congestion = congestion;
        self
    }

    /// What its clients may pin.
    pub fn fingerprint(&self) -> Fingerprint {
        self.identity.fingerprint()
    }

    pub(super) fn config(&self) -> Result<ServerConfig, IdentityError> {
        let unusable = |error: rustls::Error| IdentityError::Unusable(error.to_string());
        let identity = &self.identity;
        let mut tls = rustls::ServerConfig::builder_with_provider(cryptography())
            .with_protocol_versions(&[&rustls::version::TLS13])
            .map_err(unusable)?
            .with_no_client_auth()
            .with_single_cert(identity.chain.clone(), identity.key.clone_key())
            .map_err(unusable)?;
        tls.alpn_protocols = self
            .protocols
            .iter()
            .map(|(name, _)| name.clone())
            .collect();
        // Without session tickets nothing is resumed, and so nothing comes before the handshake is
        // over (0-RTT), which anybody could send again.
        tls.send_tls13_tickets = 0;
        tls.max_early_data_size = 0;
        let tls = QuicServerConfig::try_from(tls)
            .map_err(|error| IdentityError::Unusable(error.to_string()))?;
        let retry = hkdf::Salt::new(hkdf::HKDF_SHA256, &[]).extract(&identity.derive("retry"));
        let mut config = ServerConfig::new(Arc::new(tls), Arc::new(retry));
        config
            .max_incoming(HANDSHAKES_WAITING)
            // What comes after a first packet that waits: the rest of a long first message.
            .incoming_buffer_size(4 * DATAGRAM_LARGEST as u64)
            .incoming_buffer_size_total((4 * DATAGRAM_LARGEST * HANDSHAKES_WAITING) as u64);
        Ok(config)
    }

    /// Tells clients of a server that was there before that it is gone, which takes the same keys.
    pub(super) fn endpoint_config(&self) -> EndpointConfig {
        let reset = hmac::Key::new(hmac::HMAC_SHA256, &self.identity.derive("stateless reset"));
        let ids = self.ids();
        let mut config = EndpointConfig::new(Arc::new(reset));
        config.cid_generator(move || Box::new(ids.clone()));
        config.min_reset_interval(RESET_INTERVAL);
        // A socket may be shared with what is not QUIC, and is told from it by that bit (RFC 9287 lets it vary).
        config.grease_quic_bit(false);
        config
    }

    /// What names this server's connections, after a restart, too.
    pub(super) fn ids(&self) -> Ids {
        Ids::new(&self.identity.derive("connection id"))
    }
}

impl fmt::Debug for Server {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("Server")
            .field("identity", &self.identity)
            .field("protocols", &self.protocols.len())
            .field("tickets", &self.tickets)
            .finish_non_exhaustive()
    }
}

/// What [`Driver::connect`](crate::Driver::connect) needs.
#[derive(Clone, Debug)]
pub struct Client {
    /// Where the server is.
    pub to: SocketAddr,
    /// Its name, as its certificate has it if an authority signed that.
    pub name: String,
    /// The game protocol that is asked for.
    pub protocol: String,
    /// How the server is recognised.
    pub trust: Trust,
    /// What lets this client in; empty if the server asks for none.
    pub ticket: Vec<u8>,
}

impl Client {
    pub(super) fn config(&self, flight: &Arc<Flight>) -> io::Result<ClientConfig> {
        let provider = cryptography();
        let verifier = self.trust.verifier(&provider)?;
        let mut tls = rustls::ClientConfig::builder_with_provider(provider)
            .with_protocol_versions(&[&rustls::version::TLS13])
            .map_err(io::Error::other)?
            .dangerous()
            .with_custom_certificate_verifier(verifier)
            .with_no_client_auth();
        tls.alpn_protocols = vec![alpn(&self.protocol)];
        tls.resumption = rustls::client::Resumption::disabled();
        let tls = QuicClientConfig::try_from(tls).map_err(io::Error::other)?;
        let mut config = ClientConfig::new(Arc::new(tls));
        let mut transport = transport(flight, Congestion::FlooredCubic);
        transport
            .receive_window(window(LINK_RECEIVE_WINDOW))
            // A server opens no streams but those of its session, and has no ticket.
            .max_concurrent_uni_streams(VarInt::from_u32(0))
            // It is the client's address that a router forgets.
            .keep_alive_interval(Some(LINK_KEEP_ALIVE));
        config.transport_config(Arc::new(transport));
        Ok(config)
    }
}

/// A server's side of one connection that begins.
pub(super) fn server_transport(flight: &Arc<Flight>, congestion: Congestion) -> TransportConfig {
    let mut transport = transport(flight, congestion);
    transport
        .receive_window(window(UNPROVED_WINDOW))
        // The ticket's.
        .max_concurrent_uni_streams(VarInt::from_u32(1));
    transport
}

fn transport(flight: &Arc<Flight>, congestion: Congestion) -> TransportConfig {
    let mut acks = AckFrequencyConfig::default();
    acks.ack_eliciting_threshold(VarInt::from_u32(ACKED_PACKETS))
        .max_ack_delay(Some(ACKED_WITHIN));
    let mut mtu = MtuDiscoveryConfig::default();
    mtu.upper_bound(LINK_MTU_LARGEST)
        .minimum_change(LINK_MTU_STEP);
    let idle = IdleTimeout::try_from(LINK_IDLE).expect("a minute fits a QUIC integer");
    let controller = Watched {
        flight: Arc::clone(flight),
        congestion,
    };
    let mut transport = TransportConfig::default();
    transport
        .max_concurrent_bidi_streams(VarInt::from_u32(LINK_STREAMS))
        .stream_receive_window(window(LINK_STREAM_WINDOW))
        .send_window(LINK_SEND_WINDOW.into())
        .datagram_receive_buffer_size(Some(LINK_DATAGRAMS_RECEIVED))
        .datagram_send_buffer_size(LINK_DATAGRAMS_QUEUED)
        .max_idle_timeout(Some(idle))
        .initial_mtu(LINK_MTU)
        .mtu_discovery_config(Some(mtu))
        .ack_frequency_config(Some(acks))
        .congestion_controller_factory(Arc::new(controller))
        // It tells whoever looks on how long packets travel.
        .allow_spin(false);
    transport
}

/// How a game protocol is named in the handshake.
fn alpn(protocol: &str) -> Vec<u8> {
    format!("tickwire/{protocol}").into_bytes()
}

pub(super) fn window(bytes: u32) -> VarInt {
    VarInt::from_u32(bytes)
}

/// One exchange of keys, and the two ciphers of which every machine has a fast one.
fn cryptography() -> Arc<CryptoProvider> {
    Arc::new(CryptoProvider {
        cipher_suites: vec![
            provider::cipher_suite::TLS13_AES_128_GCM_SHA256,
            provider::cipher_suite::TLS13_CHACHA20_POLY1305_SHA256,
        ],
        kx_groups: vec![provider::kx_group::X25519],
        ..provider::default_provider()
    })
}
