//! The documents and the code name the same things.

use tickwire_dialects::pixmess::mask::Masks;
use tickwire_dialects::pixmess::message::FromServer;
use tickwire_dialects::pixmess::{Reader, Server, ServerConfig, inspect};
use tickwire_session::Session;
use tickwire_wire::FieldLog;

use super::words::{WALL, changed, solid};
use crate::golden::unhex;

const WIRE: &str = include_str!("../../src/pixmess/WIRE.md");
const STATES: &str = include_str!("../../src/pixmess/STATES.md");
const FAREWELL: &str = include_str!("../../src/pixmess/server/farewell.rs");
const CONNECTION: &str = include_str!("../../src/pixmess/server/connection.rs");

#[track_caller]
fn check_names<'a>(document: &str, names: impl Iterator<Item = &'a str>) {
    let mut count = 0;
    for name in names {
        assert!(document.contains(name), "{name} is missing");
        count += 1;
    }
    assert!(count > 4, "only {count} names were found");
}

/// The bytes in a fenced block of the wire document, by who sends them: a line is two spaces or a
/// sender, bytes, at least two spaces, and words; or, further in, words alone.
fn quoted(heading: &str) -> [Vec<u8>; 2] {
    let block = WIRE.split(heading).nth(1).expect("the heading is there");
    let block = block.split("```").nth(1).expect("a block follows it");
    let mut bytes = [Vec::new(), Vec::new()];
    let mut sender = 0;
    let words_only = |line: &&str| line.starts_with("         ");
    for line in block.lines().skip(1).filter(|line| !words_only(line)) {
        sender = match line.get(..6) {
            Some("client") => 0,
            Some("server") => 1,
            _ => sender,
        };
        let line = line.trim_start_matches(char::is_alphabetic).trim_start();
        let digits = line.split("  ").next().unwrap_or_default();
        bytes[sender].extend(unhex(&digits.replace(' ', "")));
    }
    bytes
}

#[test]
fn the_example_of_each_form_is_what_it_says() {
    let [bytes, _] = quoted("### The type byte");
    let mut r = Reader::new(&bytes);
    let mut masks = Masks::default();
    for x in 3..=5 {
        let read = FromServer::decode(&mut r, &mut masks);
        assert_eq!(read, Ok(changed(solid(x, 4), WALL)));
    }
    assert!(r.is_empty());
}

#[test]
fn the_conversation_can_be_read_to_its_end() {
    let [client, server] = quoted("## A conversation");
    for (from_client, bytes, packets) in [(true, client, 10), (false, server, 15)] {
        let mut log = FieldLog::default();
        assert_eq!(inspect(from_client, &bytes, &mut log), Ok(()));
        let groups = log.entries().iter().filter(|entry| entry.field.is_none());
        assert_eq!(groups.count(), packets);
    }
}

#[test]
fn every_kick_is_in_the_wire_document() {
    let texts = FAREWELL
        .lines()
        .filter(|line| line.trim_start().starts_with("Self::") && line.ends_with("!\","))
        .filter_map(|line| line.split('"').nth(1));
    check_names(WIRE, texts);
}

#[test]
fn every_counter_is_in_the_wire_document() {
    let mut names = Vec::new();
    Server::new(ServerConfig::default()).visit_counters(&mut |name, _| names.push(name));
    // What never came to be a connection has nothing to do with the protocol.
    names.retain(|name| *name != "too_many_connections");
    check_names(WIRE, names.into_iter());
}

#[test]
fn every_state_that_an_operator_sees_is_in_the_states_document() {
    let words = CONNECTION
        .lines()
        .filter(|line| line.trim_start().starts_with("Stage::"))
        .filter_map(|line| line.split('"').nth(1));
    check_names(STATES, words);
}

#[test]
fn every_question_is_in_the_states_document() {
    check_names(
        STATES,
        [
            "LoginAsked",
            "MoveAsked",
            "EditAsked",
            "BlockAsked",
            "ChunkAsked",
        ]
        .into_iter(),
    );
}
