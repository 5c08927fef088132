use proptest::prelude::*;

use super::*;

fn bytes(hex: &str) -> Vec<u8> {
    let digits: Vec<_> = hex.chars().filter_map(|c| c.to_digit(16)).collect();
    digits
        .chunks(2)
        .map(|pair| u8::try_from(pair[0] * 16 + pair[1]).unwrap())
        .collect()
}

// RFC 5769, sections 2.1 to 2.4.
const REQUEST: &str = "0001005821 12a442 b7e7a701bc34d686fa87dfae
    8022001053 54554e207465737420636c69656e74 0024 0004 6e0001ff 80290008932ff9b151263b36
    00060009 6576746a3a68367659202020 000800149aeaa70cbfd8cb56781ef2b5b2d3f249c1b571a2 80280004e57a3bcf";
const IPV4_RESPONSE: &str =
    "0101003c2112a442b7e7a701bc34d686fa87dfae 8022000b7465737420766563746f7220
    002000080001a147e112a643 000800142b91f599fd9e90c38c7489f92af9ba53f06be7d7 80280004c07d4c96";
const IPV6_RESPONSE: &str =
    "010100482112a442b7e7a701bc34d686fa87dfae 8022000b7465737420766563746f7220
    002000140002a1470113a9faa5d3f179bc25f4b5bed2b9d9
    00080014a382954e4be67bf11784c97c8292c275bfe3ed41 80280004c8fb0b4c";
const LONG_TERM_REQUEST: &str = "000100602112a44278ad3433c6ad72c029da412e
    00060012e3839ee38388e383aae38383e382afe382b90000 0015001c662f2f3439396b393534643 64f4c33346f4c39465354767936347341
    0014000b6578616d706c652e6f726700 00080014f67024656dd64a3e02b8e0712e85c9a28ca89666";

const TRANSACTION: TransactionId = [
    0xb7, 0xe7, 0xa7, 0x01, 0xbc, 0x34, 0xd6, 0x86, 0xfa, 0x87, 0xdf, 0xae,
];

#[test]
fn the_vectors_of_rfc_5769_are_read() {
    let request = Message::decode(&bytes(REQUEST)).unwrap();
    assert_eq!(
        (request.class, request.transaction),
        (Class::Request, TRANSACTION)
    );
    assert!(request.has_fingerprint);
    // PRIORITY is ICE's, which this is not.
    assert_eq!(request.unknown, [0x0024]);

    for (hex, addr) in [
        (IPV4_RESPONSE, "192.0.2.1:32853"),
        (
            IPV6_RESPONSE,
            "[2001:db8:1234:5678:11:2233:4455:6677]:32853",
        ),
    ] {
        let response = Message::decode(&bytes(hex)).unwrap();
        assert_eq!(
            (response.class, response.transaction),
            (Class::Success, TRANSACTION)
        );
        assert_eq!(response.mapped, Some(addr.parse().unwrap()));
        assert!(response.has_fingerprint && response.unknown.is_empty());
    }

    let request = Message::decode(&bytes(LONG_TERM_REQUEST)).unwrap();
    assert_eq!(request.class, Class::Request);
    assert!(!request.has_fingerprint && request.unknown.is_empty());
}

#[test]
fn the_addresses_of_rfc_5769_are_written_alike() {
    for (hex, addr) in [
        (IPV4_RESPONSE, "192.0.2.1:32853"),
        (
            IPV6_RESPONSE,
            "[2001:db8:1234:5678:11:2233:4455:6677]:32853",
        ),
    ] {
        let mut out = Vec::new();
        write_address(&mut out, addr.parse().unwrap(), &TRANSACTION);
        let vector = bytes(hex);
        let at = vector.windows(out.len()).position(|window| window == out);
        assert!(at.is_some(), "{addr}");
    }
}

#[test]
fn a_fingerprint_of_rfc_5769_that_was_tampered_with_is_refused() {
    for hex in [REQUEST, IPV4_RESPONSE, IPV6_RESPONSE] {
        let vector = bytes(hex);
        for at in [8, 25, vector.len() - 1] {
            let mut vector = vector.clone();
            vector[at] ^= 1;
            assert!(Message::decode(&vector).is_err(), "byte {at}");
        }
    }
}

#[test]
fn a_question_is_answered_with_the_address_and_no_more_bytes() {
    for from in [
        "192.0.2.7:1234",
        "[2001:db8::7]:1234",
        "[::ffff:192.0.2.7]:1234",
    ] {
        let from: SocketAddr = from.parse().unwrap();
        let (mut question, mut reply) = (Vec::new(), Vec::new());
        write_request(&TRANSACTION, &mut question);
        assert!(is_stun(&question));
        answer(&question, from, &mut reply).unwrap();
        assert!(
            reply.len() <= question.len(),
            "{} for {}",
            reply.len(),
            question.len()
        );
        let reply = Message::decode(&reply).unwrap();
        assert_eq!(
            (reply.class, reply.transaction),
            (Class::Success, TRANSACTION)
        );
        let seen = SocketAddr::new(from.ip().to_canonical(), from.port());
        assert_eq!(reply.mapped, Some(seen));
    }
}

#[test]
fn what_must_be_understood_and_is_not_is_named() {
    let from = "192.0.2.7:1234".parse().unwrap();
    let mut reply = Vec::new();
    answer(&bytes(REQUEST), from, &mut reply).unwrap();
    let reply = Message::decode(&reply).unwrap();
    assert_eq!((reply.class, reply.error), (Class::Error, Some(420)));
    assert_eq!(reply.mapped, None);
}

#[test]
fn only_requests_are_answered() {
    let from = "192.0.2.7:1234".parse().unwrap();
    for hex in [IPV4_RESPONSE, "001100002112a442b7e7a701bc34d686fa87dfae"] {
        assert_eq!(answer(&bytes(hex), from, &mut Vec::new()), None);
    }
    // Allocate, of TURN.
    let allocate = bytes("000300002112a442b7e7a701bc34d686fa87dfae");
    assert!(matches!(
        Message::decode(&allocate),
        Err(DecodeError::Forbidden { field: "type", .. })
    ));
}

#[test]
fn every_prefix_of_a_message_fails() {
    let vector = bytes(IPV6_RESPONSE);
    for length in 0..vector.len() {
        assert!(
            Message::decode(&vector[..length]).is_err(),
            "{length} bytes"
        );
    }
}

proptest! {
    #[test]
    fn any_bytes_give_a_value_or_an_error(
        kind in any::<u16>(),
        body in proptest::collection::vec(any::<u8>(), 0..80),
    ) {
        let mut message = bytes(REQUEST)[..20].to_vec();
        message.extend(&kind.to_be_bytes());
        message.extend(&body);
        let length = u16::try_from(message.len() - 20).unwrap();
        message[2..4].copy_from_slice(&length.to_be_bytes());
        let mut reply = Vec::new();
        let from = "192.0.2.7:1234".parse().unwrap();
        if answer(&message, from, &mut reply).is_some() {
            prop_assert!(Message::decode(&reply).is_ok());
        }
    }
}

#[test]
fn an_attribute_that_is_longer_than_the_message_says_is_refused() {
    let mut question = Vec::new();
    begin(&mut question, Class::Request, &TRANSACTION);
    write_attribute(&mut question, attribute::SOFTWARE, b"12345678");
    end(&mut question, 0, false);
    assert!(Message::decode(&question).is_ok());
    question[3] -= 4;
    assert!(Message::decode(&question).is_err());
}
