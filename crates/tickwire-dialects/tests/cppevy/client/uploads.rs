//! Offering content, and sending it once the server wants it.

use tickwire_dialects::cppevy::limits::{PIECE_MAX, UPLOAD_MAX, UPLOAD_WINDOW};
use tickwire_dialects::cppevy::message::{Object, Piece};
use tickwire_dialects::cppevy::{ActionId, ClientEvent, EndReason, FetchError, Reason};
use tickwire_session::{Ended, Failure};

use crate::script::ClientScript;
use crate::words::{failure, offer, success};

/// The offsets and lengths of the pieces that were said.
fn pieces(said: &[Object<'static>]) -> Vec<(u32, usize)> {
    let read = |object: &Object<'static>| match *object {
        Object::Action { action, data } if action == ActionId::PIECE => {
            let piece = Piece::decode(data.bytes()).expect("a piece");
            (piece.offset, piece.bytes.len())
        }
        other => panic!("{other:?}"),
    };
    said.iter().map(read).collect()
}

/// A client that has offered so many bytes.
fn offering(size: usize) -> (ClientScript, Vec<u8>) {
    let mut c = ClientScript::playing();
    let bytes: Vec<u8> = (0..=255).cycle().take(size).collect();
    c.act(|now, client| client.offer(now, "skin", &bytes).expect("it plays"));
    assert_eq!(c.said(), [offer(&bytes, "skin")]);
    (c, bytes)
}

fn failed(why: Failure) -> ClientEvent {
    let name = "skin".into();
    ClientEvent::UploadFailed { name, why }
}

#[test]
fn pieces_go_a_few_at_a_time_and_the_last_answer_ends_it() {
    let count = UPLOAD_WINDOW + 2;
    let (mut c, _) = offering(PIECE_MAX * (count - 1) + 7);
    c.tell(&[success(ActionId::OFFER, &[])]);
    let first = pieces(&c.said());
    assert_eq!(first.len(), UPLOAD_WINDOW);
    assert_eq!(first[1], (240, PIECE_MAX));
    for rest in (0..count).rev() {
        assert_eq!(c.events(), []);
        c.tell(&[success(ActionId::PIECE, &[])]);
        let more = pieces(&c.said());
        assert_eq!(more.len(), usize::from(rest >= UPLOAD_WINDOW), "{rest}");
        assert!(rest != UPLOAD_WINDOW || more[0].1 == 7);
    }
    let name = "skin".into();
    assert_eq!(c.events(), [ClientEvent::Uploaded { name }]);
}

#[test]
fn a_server_that_does_not_want_it_gets_nothing_of_it() {
    for reason in [Reason::Unavailable, Reason::Error, Reason::Disabled] {
        let (mut c, bytes) = offering(10);
        c.tell(&[failure(ActionId::OFFER, reason)]);
        assert_eq!(c.said(), []);
        assert_eq!(c.events(), [failed(Failure::Refused(reason))]);
        let again = c.act(|now, client| client.offer(now, "skin", &bytes));
        assert_eq!(again.is_err(), reason == Reason::Disabled);
    }
}

#[test]
fn a_piece_that_is_refused_ends_it_and_later_answers_mean_nothing() {
    let (mut c, bytes) = offering(1_000);
    c.tell(&[success(ActionId::OFFER, &[])]);
    c.said();
    c.tell(&[failure(ActionId::PIECE, Reason::Error)]);
    assert_eq!(c.events(), [failed(Failure::Refused(Reason::Error))]);
    c.tell(&[failure(ActionId::PIECE, Reason::Unavailable)]);
    assert_eq!(c.events(), []);
    c.act(|now, client| {
        client
            .offer(now, "skin", &bytes)
            .expect("nothing is on its way")
    });
}

#[test]
fn what_cannot_be_offered_says_why_and_the_end_ends_it() {
    let (mut c, bytes) = offering(10);
    let large = vec![0; usize::try_from(UPLOAD_MAX).unwrap() + 1];
    let mut offer = |name: &str, bytes: &[u8]| c.act(|now, client| client.offer(now, name, bytes));
    assert_eq!(offer("skin", &bytes), Err(FetchError::OneAtATime));
    c.close(Ended::Reset);
    let lost = failed(Failure::Disconnected);
    assert_eq!(
        c.events(),
        [lost, ClientEvent::Ended(EndReason::Disconnected)]
    );
    let mut c = ClientScript::playing();
    let mut offer = |name: &str, bytes: &[u8]| c.act(|now, client| client.offer(now, name, bytes));
    assert_eq!(offer("", &bytes), Err(FetchError::Name));
    assert_eq!(offer(&"x".repeat(220), &bytes), Err(FetchError::Name));
    assert_eq!(offer("skin", &[]), Err(FetchError::Size));
    assert_eq!(offer("skin", &large), Err(FetchError::Size));
}
