//! Golden vectors of every message, and the datagrams of the original server.
//!
//! The files are the authority: each is shown as it stands, and what is not refused is decoded and encoded
//! again.

use std::collections::BTreeSet;
use std::fs;

use tickwire_dialects::lwar::message::{Framed, Reliable, Unreliable};
use tickwire_dialects::lwar::{Client, ClientConfig, ClientEvent, EndReason, Phase, inspect};
use tickwire_session::{Events, Instant, Session};
use tickwire_wire::{FieldLog, Messages as _};

use crate::golden::{check_files, dir, hex, unhex};
use crate::script::link;
use crate::words::{datagram, decode, player};

#[test]
fn every_message_has_golden_files_that_are_read_and_written_to_the_byte() {
    let mut ids = BTreeSet::new();
    for golden in check_files("lwar", |_, bytes, trace| inspect(bytes, trace)) {
        let (header, messages) = decode(&golden.bytes);
        let written = datagram(header, &messages);
        assert_eq!(hex(&written), hex(&golden.bytes), "{}", golden.name);
        ids.extend(messages.iter().map(|message| match message {
            Framed::Reliable { content, .. } => content.expect("accepted").number(),
            Framed::Unreliable(message) => message.number(),
        }));
    }
    let known = (1..=10).chain([101, 103, 104, 105, 110, 111, 112, 113]);
    assert_eq!(ids, known.collect());
}

/// One datagram of the original conversation.
struct Captured {
    to_client: bool,
    at: Instant,
    bytes: Vec<u8>,
    line: String,
}

fn conversation() -> Vec<Captured> {
    let path = dir("lwar").join("original-conversation.txt");
    let text = fs::read_to_string(path).expect("the conversation is there");
    let lines = text.lines().filter(|line| !line.starts_with('#'));
    lines
        .map(|line| {
            let mut words = line.split(' ');
            let mut word = || words.next().expect("direction, time and bytes");
            let to_client = match word() {
                "S->C" => true,
                "C->S" => false,
                other => panic!("no direction: {other}"),
            };
            let millis = word().replace('.', "").parse().expect("seconds.millis");
            Captured {
                to_client,
                at: Instant::from_millis(millis),
                bytes: unhex(word()),
                line: line.into(),
            }
        })
        .collect()
}

#[test]
fn the_original_s_datagrams_are_read_whole_and_written_to_the_same_bytes() {
    let conversation = conversation();
    assert_eq!(conversation.len(), 63);
    for captured in &conversation {
        let verdict = inspect(&captured.bytes, &mut FieldLog::default());
        assert_eq!(verdict, Ok(()), "{}", captured.line);
        let (header, messages) = decode(&captured.bytes);
        assert_eq!(
            hex(&datagram(header, &messages)),
            hex(&captured.bytes),
            "{}",
            captured.line
        );
    }
}

#[test]
fn the_original_keeps_the_order_of_messages_that_ours_keeps() {
    for captured in conversation().iter().filter(|captured| captured.to_client) {
        let (_, messages) = decode(&captured.bytes);
        let unreliable = |message: &Framed<'_>| matches!(message, Framed::Unreliable(_));
        assert!(
            messages.is_sorted_by_key(unreliable),
            "reliable messages come first: {}",
            captured.line
        );
        let numbers: Vec<u32> = messages
            .iter()
            .filter_map(|message| match message {
                Framed::Reliable { seq, .. } => Some(*seq),
                Framed::Unreliable(_) => None,
            })
            .collect();
        assert!(
            numbers.windows(2).all(|pair| pair[1] == pair[0] + 1),
            "{}",
            captured.line
        );
    }
}

/// A client of ours in the place of the captured one: it says its own things, and must follow what
/// the original server says to the end.
#[test]
fn our_client_follows_the_original_server() {
    let server = link(0);
    let name = "rusty".into();
    let mut client = Client::new(Instant::ZERO, ClientConfig { server, name });
    let mut events = Vec::new();
    for captured in conversation() {
        client.handle_timeout(captured.at);
        if captured.to_client {
            client.handle_datagram(captured.at, server, &captured.bytes);
        } else {
            follow(&mut client, captured.at, &captured.bytes);
        }
        while client.poll_transmit(captured.at, &mut Vec::new()).is_some() {}
        events.extend(core::iter::from_fn(|| client.poll_event()));
    }
    let own = player(1);
    assert!(events.contains(&ClientEvent::Connected { player: own }));
    assert!(events.contains(&ClientEvent::Synced));
    assert!(events.contains(&ClientEvent::Chatted(own, "hello".into())));
    assert!(events.contains(&ClientEvent::Renamed(own, "rusty".into())));
    assert_eq!(client.phase(), Phase::Ended(EndReason::Disconnected));
    let counters = client.counters();
    assert_eq!((counters.undecodable, counters.violations), (0, 0));
    // Our client says its things a little later than the captured one did, so some of the captured
    // acknowledgements come too early. Everything else is as if it had been there.
    assert_eq!((counters.sequence_gap, counters.stale), (0, 0));
    assert_eq!(counters.unknown_entity, 0);
}

/// Makes `client` say what the captured client said in a datagram.
fn follow(client: &mut Client, now: Instant, bytes: &[u8]) {
    for message in decode(bytes).1 {
        match message {
            Framed::Reliable { content, .. } => match content.expect("captured") {
                // In the capture it is said again later, as a repetition that must be discarded.
                Reliable::Chat { text, .. } if now < Instant::from_millis(1_000) => {
                    client.chat(text).expect("connected");
                }
                Reliable::Name { name, .. } => client.rename(name).expect("connected"),
                Reliable::Selection { selection, .. } => {
                    client.select(selection).expect("connected");
                }
                Reliable::Disconnect => client.disconnect(now),
                _ => {}
            },
            Framed::Unreliable(Unreliable::Input(_)) => {}
            Framed::Unreliable(other) => panic!("a client does not send {other:?}"),
        }
    }
}
