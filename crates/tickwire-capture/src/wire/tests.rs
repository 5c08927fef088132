//! What goes in as calls comes back out of the file as the same bytes.

use std::sync::{Arc, Mutex};

use super::*;
use crate::{Conversations, Event, Frame, Said, Sliced};

/// What a wire made of some calls, as conversations.
fn told(role: Role, calls: impl FnOnce(&mut Wire)) -> Vec<String> {
    let packets = Arc::<Mutex<Vec<Packet>>>::default();
    let sink = Arc::clone(&packets);
    let end = End { role, port: 7_777 };
    let mut wire = Wire::new(
        end,
        Box::new(move |packet| sink.lock().expect("one thread").push(packet)),
    );
    calls(&mut wire);
    let mut words = Vec::new();
    let mut conversations = Conversations::<()>::default();
    let mut tell = |(): &mut (), said: Said<'_>| {
        let way = if said.from_opener { ">" } else { "<" };
        words.push(match said.event {
            Event::Datagram(bytes, false) => format!("{way} datagram {}", bytes.escape_ascii()),
            Event::Begin => format!("{way} {} {}", said.ends.opener, said.ends.other),
            Event::Bytes(bytes) => format!("{way} {}", bytes.escape_ascii()),
            Event::End => format!("{way} end"),
            Event::Over => return,
            other => panic!("{other:?}"),
        });
    };
    for packet in packets.lock().expect("one thread").iter() {
        let mut bytes = Vec::new();
        packet.encode(&mut bytes).expect("it fits");
        let frame = Frame {
            number: 1,
            at: std::time::Duration::ZERO,
            interface: 0,
            name: None,
            link: pcap_file::DataLink::RAW,
            length: u32::try_from(bytes.len()).expect("it is short"),
            bytes: bytes.into(),
            options: Vec::new(),
        };
        match Sliced::of(&frame) {
            Sliced::Segment(segment) => conversations.add(&segment, &mut tell),
            other => panic!("{other:?}"),
        }
    }
    conversations.finish(&mut tell);
    words
}

const NOW: Instant = Instant::ZERO;

#[test]
fn an_accepted_stream_is_opened_and_ended_as_tcp_does() {
    let on = StreamId::Accepted(4);
    let peer = "10.0.0.7:5000".parse().expect("an address");
    let bound = "0.0.0.0:4000".parse().ok();
    let words = told(Role::Server(bound), |wire| {
        wire.input(NOW, Input::Opened { on, peer });
        wire.input(NOW, Input::Stream { on, bytes: b"ask" });
        wire.output(NOW, Transmit::Stream { on }, b"answer");
        wire.output(NOW, Transmit::Finish { on }, b"");
    });
    assert_eq!(
        words,
        [
            "> 10.0.0.7:5000 192.0.2.1:4000",
            "< 10.0.0.7:5000 192.0.2.1:4000",
            "> ask",
            "< answer",
            "< end",
            "> end",
        ]
    );
}

#[test]
fn a_dialled_stream_over_a_link_has_addresses_made_of_its_number() {
    let on = StreamId::Dialled(2);
    let to = Addr {
        host: Host::Link(9),
        port: 0,
    };
    let words = told(Role::Client(3), |wire| {
        wire.output(NOW, Transmit::Dial { on, to }, b"");
        wire.input(NOW, Input::Opened { on, peer: to });
        let long = vec![b'x'; SEGMENT + 1];
        wire.output(NOW, Transmit::Stream { on }, &long);
        wire.output(NOW, Transmit::Segments { to, size: 2 }, b"abc");
        wire.output(NOW, Transmit::Unlink { link: 9 }, b"");
    });
    let ends = "[2001:db8:0:2::3]:49155 [2001:db8:0:1::9]:7777";
    assert_eq!(words[0], format!("> {ends}"));
    assert_eq!(words[1], format!("< {ends}"));
    assert_eq!(
        words[2..4].iter().map(String::len).sum::<usize>(),
        SEGMENT + 1 + 4
    );
    assert_eq!(
        words[4..],
        ["> datagram ab", "> datagram c", "> end", "< end"]
    );
}

#[test]
fn nobody_there_is_a_refusal() {
    let on = StreamId::Dialled(0);
    let to = "127.0.0.1:1".parse().expect("an address");
    let words = told(Role::Client(0), |wire| {
        wire.output(NOW, Transmit::Dial { on, to }, b"");
        let path = Path::Stream(on);
        let why = Ended::Refused;
        wire.input(NOW, Input::Closed { path, why });
    });
    assert_eq!(words, ["> 198.18.0.0:49153 127.0.0.1:1", "< end", "> end"]);
}

#[test]
fn what_is_longer_than_ip_allows_is_no_packet() {
    let long = Packet {
        at: NOW,
        from: "127.0.0.1:1".parse().expect("an address"),
        to: "127.0.0.1:2".parse().expect("an address"),
        is_inbound: true,
        transport: Transport::Udp,
        bytes: vec![0; 65_508],
    };
    let mut out = Vec::new();
    assert_eq!((long.encode(&mut out), out.len()), (None, 0));
}
