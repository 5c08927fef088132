//! A session dials again after its link ended: a new connection, unless the server would only refuse it again.

use std::time::Duration;

use tickwire_net::quic::{Client, LinkFailure, Server, TicketIssuer};
use tickwire_session::{Ended, Path, StreamId, Transmit};

use super::{Local, Remote, client_of, identity};
use crate::relay::Relay;

#[test]
fn a_session_that_dials_again_gets_a_new_connection_under_the_same_number() {
    let mut server = Local::new(identity());
    let mut client = Remote::new(server.client());
    client.session.dial(StreamId::Dialled(0), client.server);
    server.until(&mut client, |server, client| {
        server.session.opened.len() == 1 && client.session.opened.len() == 1
    });
    server.session.order(Transmit::Unlink { link: 0 });
    server.until(&mut client, |_, client| client.session.closed.len() == 2);
    let over = [
        (Path::Stream(StreamId::Dialled(0)), Ended::Reset),
        (Path::Link(0), Ended::Finished),
    ];
    assert_eq!(client.session.closed, over);
    assert_eq!(client.failure(), Some(&LinkFailure::Finished));

    let again = StreamId::Dialled(1);
    client.session.dial(again, client.server);
    server.until(&mut client, |server, client| {
        server.session.opened.len() == 2 && client.session.opened.len() == 2
    });
    assert_eq!(server.driver.counters().links_accepted, 2);
    assert_eq!(client.failure(), None);
    // It carries what it should, both ways.
    let accepted = server.session.opened[1];
    client.session.send(again, b"again");
    server.session.send(accepted, b"welcome back");
    server.until(&mut client, |server, client| {
        server.session.heard_on(accepted) == b"again"
            && client.session.heard_on(again) == b"welcome back"
    });
    assert_eq!(client.session.closed, over);
}

/// Dials once, is refused, dials again, and is told at once: nothing more reaches the server.
fn check_refused(mut server: Local, client: impl FnOnce(Client) -> Client) -> LinkFailure {
    let mut relay = Relay::to(server.at);
    let client = client(client_of(relay.addr(), server.fingerprint));
    let mut client = Remote::new(client);
    client.session.dial(StreamId::Dialled(0), client.server);
    server.until(&mut client, |server, client| {
        relay.pump(server.driver.now());
        client.session.closed.len() == 2
    });
    let failure = client.failure().cloned();
    let counters = |server: &Local| {
        let counters = server.driver.counters();
        (counters.links_accepted, counters.links_refused)
    };
    let before = counters(&server);

    let again = StreamId::Dialled(1);
    client.session.dial(again, client.server);
    let mut turns = 0;
    server.until(&mut client, |server, client| {
        relay.pump(server.driver.now());
        // A first packet takes one turn to leave and one to arrive.
        turns += usize::from(client.session.closed.len() == 3);
        turns > 20
    });
    let last = client.session.closed.last();
    assert_eq!(last, Some(&(Path::Stream(again), Ended::Unreachable)));
    assert_eq!(relay.clients(), 1, "it dialled again");
    assert_eq!(counters(&server), before);
    assert_eq!(client.failure().cloned(), failure, "the reason stays");
    failure.unwrap()
}

#[test]
fn who_was_refused_a_ticket_is_not_dialled_for_again() {
    let server = Local::with(Server::new(identity()).tickets(TicketIssuer::new(&[9; 32])));
    let other = TicketIssuer::new(&[8; 32]);
    let failure = check_refused(server, |client| Client {
        ticket: other.issue(Duration::from_secs(60)).unwrap(),
        ..client
    });
    assert!(matches!(failure, LinkFailure::TicketRefused { .. }));
}

#[test]
fn a_server_that_is_not_trusted_is_not_dialled_again() {
    let stranger = identity().fingerprint();
    let failure = check_refused(Local::new(identity()), |client| {
        client_of(client.to, stranger)
    });
    assert!(matches!(failure, LinkFailure::Untrusted { .. }));
}
