//! Sessions that are told anything at all.

use std::time::Duration;

use proptest::collection::vec;
use proptest::prelude::*;
use tickwire_dialects::lwar::message::Framed;
use tickwire_dialects::lwar::{Phase, limits};
use tickwire_session::{Addr, Session};

use super::super::script::{ClientScript, SERVER, ServerScript, link};
use super::super::words::{connect, datagram, reliable};
use super::message::{framed, header, packet};

/// Something that happens to a session.
#[derive(Clone, Debug)]
enum Event {
    /// These bytes arrive from peer 0 to 3.
    Arrives(u64, Vec<u8>),
    /// A packet of the peer that keeps to the numbering, so that its messages are processed.
    InOrder(u64, Vec<Framed<'static>>),
    Passes(Duration),
}

fn event() -> impl Strategy<Value = Event> {
    let peer = || 0_u64..4;
    prop_oneof![
        1 => (peer(), vec(any::<u8>(), 0..100)).prop_map(|(from, bytes)| Event::Arrives(from, bytes)),
        1 => (peer(), header(), vec(any::<u8>(), 0..60)).prop_map(|(from, header, tail)| {
            let mut bytes = datagram(header, &[]);
            bytes.extend(tail);
            Event::Arrives(from, bytes)
        }),
        1 => (peer(), packet(), any::<usize>()).prop_map(|(from, (header, messages), flip)| {
            let mut bytes = datagram(header, &messages);
            let at = flip / 8 % bytes.len();
            bytes[at] ^= 1 << (flip % 8);
            Event::Arrives(from, bytes)
        }),
        4 => (peer(), vec(framed(), 1..4)).prop_map(|(from, messages)| Event::InOrder(from, messages)),
        1 => (0..3_000_u64).prop_map(|millis| Event::Passes(Duration::from_millis(millis))),
    ]
}

/// `messages` with their reliable ones numbered from `first` on.
fn number(messages: &[Framed<'static>], first: u32) -> Vec<Framed<'static>> {
    let mut next = first;
    let renumbered = messages.iter().map(|message| match *message {
        Framed::Reliable { content, .. } => {
            next += 1;
            Framed::Reliable {
                seq: next - 1,
                content,
            }
        }
        other => other,
    });
    renumbered.collect()
}

fn players(s: &ServerScript) -> usize {
    let mut count = 0;
    s.server.visit_peers(&mut |_| count += 1);
    count
}

proptest! {
    // That the sessions do not panic, that draining ends, and that every packet they send is a
    // good one, is checked by the scripts.
    #[test]
    fn no_datagram_breaks_a_server(events in vec(event(), 1..40)) {
        let mut s = ServerScript::new();
        s.join(link(1), "ann");
        s.send(link(2), &[connect("joining")]);
        for event in events {
            match event {
                Event::Arrives(from, bytes) => s.send_bytes(link(from), &bytes),
                Event::InOrder(from, messages) => {
                    let from = link(from);
                    let messages = number(&messages, s.expected_number(from));
                    s.send_messages(from, &messages);
                }
                Event::Passes(span) => s.advance(span),
            }
            prop_assert!(players(&s) <= 7);
        }
        // Whatever was said, the server goes on: somebody else can still speak with it.
        let stranger: Addr = link(99);
        s.advance(Duration::from_secs(20));
        s.forget();
        s.join(stranger, "late");
    }

    #[test]
    fn no_datagram_breaks_a_client(events in vec(event(), 1..40), synced: bool) {
        let mut c = if synced { ClientScript::playing(&[]) } else { ClientScript::new() };
        for event in events {
            match event {
                Event::Arrives(_, bytes) => c.tell_bytes(SERVER, &bytes),
                Event::InOrder(_, messages) => {
                    let messages = number(&messages, c.expected_number());
                    c.tell_messages(c.timestamp(), &messages);
                }
                Event::Passes(span) => c.advance(span),
            }
            prop_assert!(c.client.players().count() <= 8);
            prop_assert!(c.client.entities().count() <= limits::ENTITIES_MAX.into());
        }
        // Silence ends it in any case.
        c.advance(Duration::from_secs(20));
        prop_assert!(matches!(c.client.phase(), Phase::Ended(_)));
    }

    #[test]
    fn what_does_not_decode_changes_nothing(tail in vec(any::<u8>(), 0..40)) {
        // Behind an id that does not exist.
        let mut s = ServerScript::new();
        s.join(link(1), "ann");
        let mut bytes = datagram(s.header(link(1)), &[]);
        bytes.push(0);
        bytes.extend(&tail);
        s.send_bytes(link(1), &bytes);
        prop_assert_eq!(s.events(), []);
        prop_assert_eq!(s.counters().unknown_message, 1);
        let mut connecting = datagram(s.header(link(2)), &[]);
        connecting.push(0);
        connecting.extend(&datagram(s.header(link(2)), &[reliable(1, connect("bob"))])[12..]);
        s.send_bytes(link(2), &connecting);
        prop_assert_eq!(s.state(link(2)), None);
    }
}
