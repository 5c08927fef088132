//! Who is believed: servers by their fingerprint, clients by their ticket.

use std::net::Ipv4Addr;
use std::time::Duration;

use quinn_proto::{ConnectionError, TransportConfig};
use rustls::crypto::ring as suites;
use tickwire_net::limits;
use tickwire_net::quic::{Client, LinkFailure, Server, TicketIssuer, Trust};
use tickwire_session::{Ended, Path, StreamId};

use super::attacker::Attacker;
use super::{Local, Remote, client_of, identity};
use crate::PATIENCE;

#[test]
fn a_server_with_another_fingerprint_is_refused() {
    let mut server = Local::new(identity());
    let stranger = identity().fingerprint();
    let mut client = Remote::new(client_of(server.at, stranger));
    client.session.dial(StreamId::Dialled(0), client.server);
    server.until(&mut client, |_, client| client.session.closed.len() == 2);
    let closed = [Path::Stream(StreamId::Dialled(0)), Path::Link(0)];
    assert_eq!(
        client.session.closed,
        closed.map(|path| (path, Ended::Refused))
    );
    let Some(LinkFailure::Untrusted { reason }) = client.failure() else {
        panic!("{:?}", client.failure());
    };
    let shown = server.fingerprint.to_string();
    assert!(
        reason.contains(&shown) && reason.contains(&stranger.to_string()),
        "{reason}"
    );
    assert_eq!(server.driver.counters().links_accepted, 0);
}

#[test]
fn a_server_is_trusted_at_first_use_and_not_after_its_key_changed() {
    let folder = tempfile::tempdir().unwrap();
    let trust = Trust::FirstUse {
        known_hosts: folder.path().join("known_hosts"),
        host: "the server".into(),
    };
    let mut first = Local::new(identity());
    let ask = |server: &Local| Client {
        trust: trust.clone(),
        ..server.client()
    };
    for _ in 0..2 {
        let mut client = Remote::new(ask(&first));
        let before = first.driver.counters().links_accepted;
        first.until(&mut client, |server, _| {
            server.driver.counters().links_accepted > before
        });
    }
    let mut changed = Local::new(identity());
    let mut client = Remote::new(ask(&changed));
    changed.until(&mut client, |_, client| client.failure().is_some());
    let failure = client.failure().unwrap().to_string();
    assert!(failure.contains("ITS IDENTITY HAS CHANGED"), "{failure}");
}

#[test]
fn an_unknown_protocol_is_refused_in_the_handshake() {
    let mut server = Local::new(identity());
    let mut client = Remote::new(Client {
        protocol: "another".into(),
        ..server.client()
    });
    server.until(&mut client, |_, client| client.failure().is_some());
    assert!(matches!(
        client.failure(),
        Some(LinkFailure::Refused { .. })
    ));
    assert_eq!(client.session.closed, [(Path::Link(0), Ended::Refused)]);
}

#[test]
fn only_a_good_ticket_lets_a_client_in_and_only_once() {
    let secret = [9; 32];
    let issuer = TicketIssuer::new(&secret);
    let mut server = Local::with(Server::new(identity()).tickets(TicketIssuer::new(&secret)));
    let ticket = issuer.issue(Duration::from_secs(60)).unwrap();
    let mut altered = issuer.issue(Duration::from_secs(60)).unwrap();
    altered[20] ^= 1;
    let expired = issuer.issue(Duration::ZERO).unwrap();
    let long = vec![0; limits::TICKET_LONGEST + 1];
    let tries = [
        (ticket.clone(), None),
        (ticket, Some("the ticket was used before")),
        (altered, Some("the ticket is not of this server")),
        (expired, Some("the ticket has expired")),
        (Vec::new(), Some("this server asks for a ticket")),
        (long, Some("the ticket is not of this server")),
    ];
    for (ticket, complaint) in tries {
        let mut client = Remote::new(Client {
            ticket,
            ..server.client()
        });
        server.session.datagrams.clear();
        client.session.dial(StreamId::Dialled(0), client.server);
        match complaint {
            None => server.until(&mut client, |server, _| server.session.opened.len() == 1),
            Some(complaint) => {
                server.until(&mut client, |_, client| client.failure().is_some());
                let reason = complaint.into();
                assert_eq!(
                    client.failure(),
                    Some(&LinkFailure::TicketRefused { reason })
                );
            }
        }
    }
    // No session ever heard of the others.
    assert_eq!(server.session.opened.len(), 1);
    assert_eq!(server.driver.counters().links_refused, 5);
}

/// Handshakes fail for whoever offers nothing that is in the short list; what is in it succeeds.
#[test]
fn other_ciphers_and_curves_are_refused() {
    let mut server = Local::new(identity());
    let aes_128 = suites::cipher_suite::TLS13_AES_128_GCM_SHA256;
    let aes_256 = suites::cipher_suite::TLS13_AES_256_GCM_SHA384;
    let chacha = suites::cipher_suite::TLS13_CHACHA20_POLY1305_SHA256;
    let (x25519, p256) = (suites::kx_group::X25519, suites::kx_group::SECP256R1);
    for (cipher, curve, is_good) in [
        (aes_128, x25519, true),
        (chacha, x25519, true),
        (aes_256, x25519, false),
        (aes_128, p256, false),
    ] {
        let mut provider = suites::default_provider();
        provider.cipher_suites = vec![cipher];
        provider.kx_groups = vec![curve];
        let transport = TransportConfig::default();
        let mut peer = Attacker::with_provider(Ipv4Addr::LOCALHOST, server.at, transport, provider);
        let deadline = server.driver.now() + PATIENCE;
        while !peer.is_connected() && peer.lost.is_none() {
            assert!(server.driver.now() < deadline, "neither in nor out");
            server.turn();
            peer.pump();
        }
        assert_eq!(peer.is_connected(), is_good, "{cipher:?} {curve:?}");
        let is_refused = matches!(peer.lost, Some(ConnectionError::ConnectionClosed(_)));
        assert_eq!(is_refused, !is_good, "{:?}", peer.lost);
    }
}
