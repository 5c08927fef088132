//! The manifest and what it lists: progress, hashes, going on after a broken stream, another module.

use std::sync::Arc;

use tickwire_dialects::reone::message::{DownFrame, Refusal};
use tickwire_dialects::reone::{ClientEvent, EndReason, LoadFault, ModuleNumber, Phase, Remark};
use tickwire_session::Ended;
use tickwire_session::bulk::{ContentHash, Shelf};

use super::script::{ClientScript, base, config, shelf, text};
use crate::driven::ms;

/// A shelf with a base and a rather large texture.
fn textured() -> Shelf {
    let mut shelf = shelf(2);
    let texture: Arc<[u8]> = texture().into();
    shelf.insert("texture", texture).expect("a good name");
    shelf
}

fn texture() -> Vec<u8> {
    (0..2_500_u32).flat_map(u32::to_le_bytes).collect()
}

fn welcomed() -> ClientScript {
    let mut script = ClientScript::open();
    script.welcome();
    script.events();
    script
}

/// Sends a piece as long as `length` of a resource.
fn piece(script: &mut ClientScript, shelf: &Shelf, name: &str, range: std::ops::Range<usize>) {
    let all = shelf.get(name).expect("it is there");
    script.write(&[DownFrame::Resource {
        name: text(name),
        total: all.len() as u64,
        offset: range.start as u64,
        piece: &all[range],
    }]);
}

#[test]
fn everything_listed_is_fetched_and_told() {
    let mut script = welcomed();
    script.serve(&textured());
    assert_eq!(script.session.phase(), Phase::Initialising);
    let frames = script.frames();
    assert_eq!(frames.last().map(String::as_str), Some("Loaded"));
    let events = script.events();
    assert_eq!(events.last(), Some(&ClientEvent::Loaded));
    let fetched = events.iter().filter_map(|event| match event {
        ClientEvent::Fetched(fetched) => Some((&*fetched.name, &fetched.bytes)),
        _ => None,
    });
    // The base is the client's own.
    assert_eq!(fetched.collect::<Vec<_>>(), [("texture", &texture())]);
    assert_eq!(script.session.loading().unwrap().resources, 2);
}

#[test]
fn progress_is_told_piece_by_piece() {
    let shelf = textured();
    let mut script = welcomed();
    script.fetches();
    script.serve_one(&shelf, "manifest", 0);
    script.events();
    let base = base(2).len() as u64;
    piece(&mut script, &shelf, "texture", 0..4_000);
    let [ClientEvent::Progress(first)] = &script.events()[..] else {
        panic!("not one event");
    };
    assert_eq!(
        (&*first.name, first.have, first.of),
        ("texture", 4_000, 10_000)
    );
    assert_eq!(
        (first.overall.have, first.overall.of),
        (4_000, 10_000 + base)
    );
    // Of pieces that nobody heard of in between, the last counts.
    piece(&mut script, &shelf, "texture", 4_000..5_000);
    piece(&mut script, &shelf, "texture", 5_000..6_000);
    let [ClientEvent::Progress(second)] = &script.events()[..] else {
        panic!("not one event");
    };
    assert_eq!(second.have, 6_000);
    assert_eq!(script.session.loading().unwrap().have, 6_000);
}

#[test]
fn what_the_application_holds_is_not_fetched_but_the_base_is() {
    let mut config = config();
    config.held.insert(ContentHash::of(&texture()));
    config.held.insert(ContentHash::of(&base(2)));
    let mut script = ClientScript::with(config);
    script.accept();
    script.welcome();
    script.fetches();
    script.serve_one(&textured(), "manifest", 0);
    assert_eq!(script.fetches(), [("base".to_owned(), 0)]);
}

#[test]
fn a_broken_stream_costs_nothing_that_came() {
    let shelf = textured();
    let mut script = welcomed();
    script.fetches();
    script.serve_one(&shelf, "manifest", 0);
    let base_and_texture = [("base".to_owned(), 0), ("texture".to_owned(), 0)];
    assert_eq!(script.fetches(), base_and_texture);
    script.serve_one(&shelf, "base", 0);
    piece(&mut script, &shelf, "texture", 0..4_321);
    script.close(Ended::Reset);
    assert_eq!(script.session.phase(), Phase::Reconnecting);
    script.pass(ms(1_000));
    script.accept();
    script.welcome();
    script.fetches();
    script.serve_one(&shelf, "manifest", 0);
    assert_eq!(script.fetches(), [("texture".to_owned(), 4_321)]);
    script.serve_one(&shelf, "texture", 4_321);
    assert_eq!(script.session.phase(), Phase::Initialising);
    let events = script.events();
    let has_texture = |event: &ClientEvent| matches!(event, ClientEvent::Fetched(fetched) if fetched.bytes == texture());
    assert_eq!(events.iter().filter(|event| has_texture(event)).count(), 1);
}

#[track_caller]
fn check_fault(script: &mut ClientScript, fault: LoadFault) {
    let why = EndReason::Load(fault);
    assert_eq!(script.events().last(), Some(&ClientEvent::Ended(why)));
    assert_eq!(script.session.phase(), Phase::Ended(why));
}

/// Sends a manifest.
fn manifest(script: &mut ClientScript, lines: &str) {
    script.write(&[DownFrame::Resource {
        name: text("manifest"),
        total: lines.len() as u64,
        offset: 0,
        piece: lines.as_bytes(),
    }]);
}

#[test]
fn a_wrong_hash_is_told_and_ends_it() {
    let shelf = textured();
    let mut script = welcomed();
    script.fetches();
    script.serve_one(&shelf, "manifest", 0);
    let wrong = vec![7; texture().len()];
    script.events();
    script.write(&[DownFrame::Resource {
        name: text("texture"),
        total: wrong.len() as u64,
        offset: 0,
        piece: &wrong,
    }]);
    let bad = ClientEvent::BadResource {
        name: "texture".into(),
    };
    let over = ClientEvent::Ended(EndReason::Load(LoadFault::Mismatch));
    assert_eq!(script.events(), [bad, over]);
}

#[test]
fn a_module_that_is_none_is_not_loaded() {
    let hash = ContentHash::of(b"abc");
    let mut script = welcomed();
    manifest(&mut script, "what is this");
    check_fault(&mut script, LoadFault::Manifest);

    let mut script = welcomed();
    manifest(&mut script, &format!("{hash} 3 ../base\n"));
    check_fault(&mut script, LoadFault::Manifest);

    let mut script = welcomed();
    manifest(&mut script, &format!("{hash} 3 texture\n"));
    check_fault(&mut script, LoadFault::Base);

    let mut script = welcomed();
    manifest(&mut script, &format!("{hash} 2000000 base\n"));
    check_fault(&mut script, LoadFault::Base);

    // A base that hashes right, and is none.
    let mut shelf = Shelf::new("manifest");
    shelf.insert("base", b"abc"[..].into()).unwrap();
    let mut script = welcomed();
    script.serve(&shelf);
    check_fault(&mut script, LoadFault::Base);

    let mut script = welcomed();
    let shelf = textured();
    script.fetches();
    script.serve_one(&shelf, "manifest", 0);
    piece(&mut script, &shelf, "texture", 100..200);
    check_fault(&mut script, LoadFault::Misplaced);
}

#[test]
fn a_refused_fetch_concerns_that_resource_whatever_the_number() {
    for reason in [
        Refusal::MALFORMED,
        Refusal::FULL,
        Refusal::RESOURCE,
        Refusal::SHUTDOWN,
        Refusal(200),
    ] {
        let shelf = textured();
        let mut script = welcomed();
        script.fetches();
        script.serve_one(&shelf, "manifest", 0);
        assert_eq!(script.fetches().len(), 2, "the base, then the texture");
        script.serve_one(&shelf, "base", 0);
        script.events();
        // What words there are does not matter either.
        let text = Remark::new(b"not\tyours").expect("no zero");
        script.write(&[DownFrame::Refused { reason, text }]);
        let refused = ClientEvent::ResourceRefused {
            name: "texture".into(),
            reason,
            text: "not\u{fffd}yours".into(),
        };
        assert_eq!(
            script.events(),
            [refused, ClientEvent::Loaded],
            "{reason:?}"
        );
        assert_eq!(script.session.phase(), Phase::Initialising);
        assert_eq!(script.session.loading().unwrap().resources, 1);
    }
}

#[test]
fn without_manifest_or_base_there_is_no_module() {
    for serves_manifest in [false, true] {
        let mut script = welcomed();
        script.fetches();
        if serves_manifest {
            script.serve_one(&textured(), "manifest", 0);
        }
        let reason = Refusal::RESOURCE;
        let text = text("no such resource").into();
        script.write(&[DownFrame::Refused { reason, text }]);
        let over = ClientEvent::Ended(EndReason::Refused(reason));
        assert_eq!(script.events().last(), Some(&over));
    }
}

#[test]
fn another_module_is_loaded_in_the_middle_of_the_first() {
    let mut script = welcomed();
    script.fetches();
    script.serve_one(&textured(), "manifest", 0);
    assert_eq!(script.fetches().len(), 2);
    piece(&mut script, &textured(), "texture", 0..1_000);
    let changed = DownFrame::ModuleChanged {
        module: ModuleNumber(6),
        name: text("tar_m02"),
    };
    script.write(&[changed]);
    assert_eq!(script.session.module(), Some(ModuleNumber(6)));
    assert_eq!(script.fetches(), [("manifest".to_owned(), 0)]);
    // What was asked for before comes to nothing, one way or another.
    let refused = DownFrame::Refused {
        reason: Refusal::RESOURCE,
        text: text("no such resource").into(),
    };
    script.write(&[refused]);
    piece(&mut script, &textured(), "texture", 1_000..2_000);
    assert_eq!(script.session.counters().unasked_piece, 1);
    // The same texture is listed again, and goes on where it was.
    script.serve_one(&textured(), "manifest", 0);
    let again = [("base".to_owned(), 0), ("texture".to_owned(), 1_000)];
    assert_eq!(script.fetches(), again);
    script.serve_one(&textured(), "base", 0);
    script.serve_one(&textured(), "texture", 1_000);
    assert_eq!(script.session.phase(), Phase::Initialising);
}

#[test]
fn a_server_that_stops_in_the_middle_is_given_up() {
    let mut script = welcomed();
    script.pass(ms(89_999));
    assert_eq!(script.session.phase(), Phase::Loading);
    script.pass(ms(1));
    assert_eq!(script.session.phase(), Phase::Reconnecting);
}
