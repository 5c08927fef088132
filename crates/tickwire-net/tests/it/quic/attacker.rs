//! A peer that speaks QUIC and keeps to none of the house's rules: `quinn-proto` on a socket of its own.

use std::collections::VecDeque;
use std::net::{IpAddr, SocketAddr, UdpSocket};
use std::sync::Arc;
use std::time::Instant;

use bytes::BytesMut;
use quinn_proto::crypto::rustls::QuicClientConfig;
use quinn_proto::{
    ClientConfig, Connection, ConnectionError, ConnectionHandle, DatagramEvent, Dir, Endpoint,
    EndpointConfig, Event, StreamId, TransportConfig, VarInt,
};
use ring::hmac;
use rustls::client::danger::{HandshakeSignatureValid, ServerCertVerified, ServerCertVerifier};
use rustls::crypto::CryptoProvider;
use rustls::pki_types::{CertificateDer, ServerName, UnixTime};
use rustls::{DigitallySignedStruct, SignatureScheme};

use super::PROTOCOL;

pub(super) struct Attacker {
    socket: UdpSocket,
    endpoint: Endpoint,
    handle: ConnectionHandle,
    pub(super) conn: Connection,
    pub(super) lost: Option<ConnectionError>,
    /// What the server reset.
    pub(super) resets: VecDeque<StreamId>,
}

impl Attacker {
    pub(super) fn new(from: impl Into<IpAddr>, to: SocketAddr, transport: TransportConfig) -> Self {
        Self::with_provider(
            from,
            to,
            transport,
            rustls::crypto::ring::default_provider(),
        )
    }

    /// The same with ciphers and curves of its own.
    pub(super) fn with_provider(
        from: impl Into<IpAddr>,
        to: SocketAddr,
        transport: TransportConfig,
        provider: CryptoProvider,
    ) -> Self {
        let socket = UdpSocket::bind((from.into(), 0)).unwrap();
        socket.set_nonblocking(true).unwrap();
        let reset = hmac::Key::new(hmac::HMAC_SHA256, &[7; 32]);
        let config = Arc::new(EndpointConfig::new(Arc::new(reset)));
        let mut endpoint = Endpoint::new(config, None, false, None);
        let mut tls = rustls::ClientConfig::builder_with_provider(Arc::new(provider))
            .with_protocol_versions(&[&rustls::version::TLS13])
            .unwrap()
            .dangerous()
            .with_custom_certificate_verifier(Arc::new(AnyServer))
            .with_no_client_auth();
        tls.alpn_protocols = vec![format!("tickwire/{PROTOCOL}").into_bytes()];
        // First packets are sealed by AES-128, whatever is offered in them.
        let initial = rustls::crypto::ring::cipher_suite::TLS13_AES_128_GCM_SHA256;
        let initial = initial.tls13().unwrap().quic_suite().unwrap();
        let tls = QuicClientConfig::with_initial(Arc::new(tls), initial).unwrap();
        let mut config = ClientConfig::new(Arc::new(tls));
        config.transport_config(Arc::new(transport));
        let connected = endpoint.connect(now(), config, to, "localhost");
        let (handle, conn) = connected.unwrap();
        Self {
            socket,
            endpoint,
            handle,
            conn,
            lost: None,
            resets: VecDeque::new(),
        }
    }

    pub(super) fn is_connected(&self) -> bool {
        self.lost.is_none() && !self.conn.is_handshaking()
    }

    /// Sends the whole ticket, or only a part of one.
    pub(super) fn send_ticket(&mut self, ticket: &[u8], is_all: bool) {
        let id = self.conn.streams().open(Dir::Uni).unwrap();
        let mut stream = self.conn.send_stream(id);
        assert_eq!(stream.write(ticket), Ok(ticket.len()));
        if is_all {
            stream.finish().unwrap();
        }
    }

    /// Opens a stream with this first byte, if the server allows one.
    pub(super) fn open(&mut self, first: u8) -> Option<StreamId> {
        let id = self.conn.streams().open(Dir::Bi)?;
        self.conn.send_stream(id).write(&[first]).unwrap();
        Some(id)
    }

    pub(super) fn reset(&mut self, id: StreamId) {
        self.conn.send_stream(id).reset(VarInt::from_u32(0)).ok();
        self.conn.recv_stream(id).stop(VarInt::from_u32(0)).ok();
    }

    /// Moves everything that can be moved.
    pub(super) fn pump(&mut self) {
        let mut buffer = [0; 2_048];
        let mut answer = Vec::new();
        while let Ok((length, from)) = self.socket.recv_from(&mut buffer) {
            let packet = BytesMut::from(&buffer[..length]);
            let event = self
                .endpoint
                .handle(now(), from, None, None, packet, &mut answer);
            if let Some(DatagramEvent::ConnectionEvent(_, event)) = event {
                self.conn.handle_event(event);
            }
        }
        if self.conn.poll_timeout().is_some_and(|due| due <= now()) {
            self.conn.handle_timeout(now());
        }
        while let Some(event) = self.conn.poll_endpoint_events() {
            if let Some(event) = self.endpoint.handle_event(self.handle, event) {
                self.conn.handle_event(event);
            }
        }
        while let Some(event) = self.conn.poll() {
            match event {
                Event::ConnectionLost { reason } => self.lost = Some(reason),
                Event::Stream(quinn_proto::StreamEvent::Stopped { id, .. }) => {
                    self.resets.push_back(id);
                }
                _ => {}
            }
        }
        let mut packets = Vec::new();
        while let Some(transmit) = self.conn.poll_transmit(now(), 1, &mut packets) {
            self.socket.send_to(&packets, transmit.destination).ok();
            packets.clear();
        }
    }
}

fn now() -> Instant {
    #[expect(
        clippy::disallowed_methods,
        reason = "an attacker has a clock of its own"
    )]
    Instant::now()
}

/// It does not care whom it attacks.
#[derive(Debug)]
struct AnyServer;

impl ServerCertVerifier for AnyServer {
    fn verify_server_cert(
        &self,
        _: &CertificateDer<'_>,
        _: &[CertificateDer<'_>],
        _: &ServerName<'_>,
        _: &[u8],
        _: UnixTime,
    ) -> Result<ServerCertVerified, rustls::Error> {
        Ok(ServerCertVerified::assertion())
    }

    fn verify_tls12_signature(
        &self,
        _: &[u8],
        _: &CertificateDer<'_>,
        _: &DigitallySignedStruct,
    ) -> Result<HandshakeSignatureValid, rustls::Error> {
        Ok(HandshakeSignatureValid::assertion())
    }

    fn verify_tls13_signature(
        &self,
        _: &[u8],
        _: &CertificateDer<'_>,
        _: &DigitallySignedStruct,
    ) -> Result<HandshakeSignatureValid, rustls::Error> {
        Ok(HandshakeSignatureValid::assertion())
    }

    fn supported_verify_schemes(&self) -> Vec<SignatureScheme> {
        vec![
            SignatureScheme::ECDSA_NISTP256_SHA256,
            SignatureScheme::ED25519,
        ]
    }
}
