extern crate std;

use alloc::format;
use alloc::string::{String, ToString as _};
use alloc::sync::Arc;
use alloc::vec;
use alloc::vec::Vec;

use proptest::prelude::*;

use super::*;

const ABC: &str = "ba7816bf8f01cfea414140de5dae2223b00361a396177a9cb410ff61f20015ad";
const NOTHING: &str = "e3b0c44298fc1c149afbf4c8996fb92427ae41e4649b934ca495991b7852b855";

fn shelf(contents: &[(&str, &[u8])]) -> Shelf {
    let mut shelf = Shelf::new("manifest");
    for (name, bytes) in contents {
        shelf.insert(name, (*bytes).into()).unwrap();
    }
    shelf
}

fn fetching(shelf: &Shelf) -> Fetching {
    let manifest = Manifest::parse(shelf.get("manifest").unwrap()).unwrap();
    Fetching::new(&manifest, |_| false).unwrap()
}

fn piece<'a>(of: u64, offset: u64, bytes: &'a [u8]) -> Piece<'a> {
    Piece { of, offset, bytes }
}

fn request(name: &str, offset: u64) -> Option<Request> {
    let name = name.into();
    Some(Request { name, offset })
}

#[track_caller]
fn check_fetched(fetching: &mut Fetching, expected: &[(&str, &[u8])]) {
    let mut fetched = vec![];
    while let Some(Fetched { name, hash, bytes }) = fetching.poll_fetched() {
        assert_eq!(hash, ContentHash::of(&bytes));
        fetched.push((name, bytes));
    }
    let expected: Vec<_> = expected
        .iter()
        .map(|(name, bytes)| (String::from(*name), bytes.to_vec()))
        .collect();
    assert_eq!(fetched, expected);
}

mod on_the_shelf {
    use super::*;

    #[test]
    fn the_manifest_lists_everything_by_name() {
        let mut shelf = shelf(&[("b", b"abc"), ("a/a", b"")]);
        let text = format!("{NOTHING} 0 a/a\n{ABC} 3 b\n");
        assert_eq!(&**shelf.get("manifest").unwrap(), text.as_bytes());
        assert_eq!(shelf.manifest().to_string(), text);
        shelf.insert("a/a", b"abc"[..].into()).unwrap();
        shelf.remove("b").unwrap();
        let text = format!("{ABC} 3 a/a\n");
        assert_eq!(&**shelf.get("manifest").unwrap(), text.as_bytes());
        assert!(shelf.remove("b").is_none());
    }

    #[test]
    fn names_that_clients_would_refuse_are_refused() {
        let mut shelf = Shelf::new("manifest");
        let long = "x".repeat(256);
        for name in [
            "", "manifest", "/etc", "a//b", "a/", "../a", "a/../b", "./a", "a\\b", "c:a", "a\nb",
            &long,
        ] {
            let put = shelf.insert(name, Arc::new([]));
            assert_eq!(put, Err(ShelfError::Name), "{name:?}");
        }
        for name in ["a", "..a", "a b", "a/b/c.mod", &long[1..]] {
            assert!(shelf.insert(name, Arc::new([])).is_ok(), "{name:?}");
        }
    }

    #[test]
    fn there_is_room_for_so_many_and_what_is_there_can_be_replaced() {
        let mut shelf = Shelf::new("manifest");
        for number in 0..RESOURCES_MAX {
            shelf.insert(&format!("{number}"), Arc::new([])).unwrap();
        }
        let more = shelf.insert("more", Arc::new([]));
        assert_eq!(more, Err(ShelfError::TooMany));
        assert!(shelf.insert("7", b"abc"[..].into()).is_ok());
    }

    #[test]
    fn what_is_being_sent_stays_as_it_was() {
        let mut shelf = shelf(&[("a", b"old")]);
        let mut sending = shelf.send("a", 0).unwrap();
        shelf.insert("a", b"new and longer"[..].into()).unwrap();
        assert_eq!(sending.poll_piece(9), Some(piece(3, 0, b"old")));
    }
}

mod sending {
    use super::*;

    #[test]
    fn pieces_are_as_large_as_allowed_and_an_empty_one_ends_them() {
        let mut sending = shelf(&[("a", b"abcdefg")]).send("a", 1).unwrap();
        assert_eq!(sending.rest(), 6);
        assert_eq!(sending.poll_piece(0), None, "no room yet");
        assert_eq!(sending.poll_piece(4), Some(piece(7, 1, b"bcde")));
        assert_eq!(sending.poll_piece(4), Some(piece(7, 5, b"fg")));
        assert!(!sending.is_ended());
        let end = sending.poll_piece(0).unwrap();
        assert!(end.is_end());
        assert_eq!(end, piece(7, 7, b""));
        assert!(sending.is_ended());
        assert_eq!(sending.poll_piece(4), None);
    }

    #[test]
    fn the_end_is_a_place_to_begin_and_what_is_beyond_it_is_not() {
        let shelf = shelf(&[("a", b"abc"), ("empty", b"")]);
        for (name, offset) in [("a", 3), ("empty", 0)] {
            let mut sending = shelf.send(name, offset).unwrap();
            assert!(sending.poll_piece(9).unwrap().is_end());
            assert_eq!(sending.poll_piece(9), None);
        }
        for offset in [4, u64::MAX] {
            let refused = shelf.send("a", offset).unwrap_err();
            assert_eq!(refused, SendError::Offset { size: 3 });
        }
        assert_eq!(shelf.send("b", 0).unwrap_err(), SendError::Unknown);
        assert_eq!(shelf.send("manifest", 0).unwrap().name(), "manifest");
    }
}

mod the_manifest {
    use super::*;

    #[track_caller]
    fn check(text: &str, line: usize, fault: ManifestFault) {
        let got = Manifest::parse(text.as_bytes());
        assert_eq!(got, Err(ManifestError { line, fault }), "{text:?}");
    }

    #[test]
    fn faults_are_named_with_their_line() {
        let good = format!("{ABC} 3 good name\n");
        check(&format!("{good}short 3 a"), 2, ManifestFault::Hash);
        check(&format!("{good}{ABC}"), 2, ManifestFault::Hash);
        check(&format!("{good}\n{good}"), 2, ManifestFault::Hash);
        check(
            &format!("{} 3 a", ABC.replace('b', "g")),
            1,
            ManifestFault::Hash,
        );
        check(&format!("{good}{ABC} 3"), 2, ManifestFault::Size);
        check(&format!("{ABC} -1 a"), 1, ManifestFault::Size);
        check(&format!("{ABC} 1073741825 a"), 1, ManifestFault::Size);
        check(&format!("{ABC} 3 a/../../b"), 1, ManifestFault::Name);
        check(&format!("{ABC} 3 a\r\n"), 1, ManifestFault::Name);
        check(&format!("{good}{good}"), 2, ManifestFault::Twice);
        let many: String = (0..=RESOURCES_MAX)
            .map(|number| format!("{ABC} 3 {number}\n"))
            .collect();
        check(&many, RESOURCES_MAX + 1, ManifestFault::TooMany);
        let not_text = Manifest::parse(&[0xff]).unwrap_err();
        assert_eq!(not_text.fault, ManifestFault::NotText);
    }

    #[test]
    fn the_last_line_may_end_or_not() {
        let text = format!("{ABC} 3 good name");
        for text in [text.clone(), format!("{text}\n")] {
            let manifest = Manifest::parse(text.as_bytes()).unwrap();
            let [listed] = manifest.listed() else {
                panic!("{manifest:?}");
            };
            assert_eq!((listed.name.as_str(), listed.size), ("good name", 3));
            assert_eq!(listed.hash, ContentHash::of(b"abc"));
        }
        assert_eq!(Manifest::parse(b""), Ok(Manifest::default()));
    }
}

mod fetching {
    use super::*;

    #[test]
    fn resources_come_one_after_the_other_with_progress() {
        let mut fetching = fetching(&shelf(&[("a", b"abc"), ("b", b"xy")]));
        assert_eq!(fetching.poll_request(), request("a", 0));
        assert_eq!(fetching.poll_request(), None, "one at a time");
        let progress = fetching.handle_piece("a", piece(3, 0, b"ab")).unwrap();
        assert_eq!((progress.name, progress.have, progress.of), ("a", 2, 3));
        assert_eq!((progress.overall.have, progress.overall.of), (2, 5));
        let progress = fetching.handle_piece("a", piece(3, 2, b"c")).unwrap();
        assert_eq!(progress.overall.fetched, 1);
        assert_eq!(fetching.poll_request(), request("b", 0));
        let end = fetching.handle_piece("a", piece(3, 3, b"")).unwrap();
        assert_eq!((end.have, end.of), (3, 3));
        fetching.handle_piece("b", piece(2, 0, b"xy")).unwrap();
        assert!(!fetching.is_complete(), "nobody took them");
        check_fetched(&mut fetching, &[("a", b"abc"), ("b", b"xy")]);
        assert!(fetching.is_complete());
        assert_eq!(fetching.poll_request(), None);
    }

    #[test]
    fn several_may_be_asked_for_ahead() {
        let mut fetching =
            fetching(&shelf(&[("a", b"abc"), ("b", b"xy"), ("c", b"z")])).ask_ahead(2);
        assert_eq!(fetching.poll_request(), request("a", 0));
        assert_eq!(fetching.poll_request(), request("b", 0));
        assert_eq!(fetching.poll_request(), None);
        assert_eq!(fetching.asked().collect::<Vec<_>>(), ["a", "b"]);
        fetching.handle_piece("b", piece(2, 0, b"xy")).unwrap();
        assert_eq!(fetching.poll_request(), request("c", 0));
    }

    #[test]
    fn what_the_application_holds_is_not_fetched() {
        let shelf = shelf(&[("a", b"abc"), ("b", b"xy")]);
        let held = ContentHash::of(b"abc");
        let manifest = shelf.manifest();
        let mut fetching = Fetching::new(&manifest, |listed| listed.hash == held).unwrap();
        assert_eq!(fetching.poll_request(), request("b", 0));
        assert_eq!(
            (fetching.overall().of, fetching.overall().resources),
            (2, 1)
        );
        let nothing = Fetching::new(&manifest, |_| true).unwrap();
        assert!(nothing.is_complete());
    }

    #[test]
    fn a_broken_connection_goes_on_where_it_was() {
        let shelf = shelf(&[("a", b"abc"), ("b", b"vwxyz")]);
        let mut fetching = fetching(&shelf).ask_ahead(2);
        fetching.poll_request().unwrap();
        fetching.poll_request().unwrap();
        fetching.handle_piece("b", piece(5, 0, b"vw")).unwrap();
        fetching.disconnect();
        assert_eq!(
            fetching.handle_piece("b", piece(5, 2, b"x")),
            Err(FetchError::Unasked)
        );
        let mut again = [fetching.poll_request(), fetching.poll_request()];
        again.sort_by_key(|request| request.as_ref().map(|request| request.name.clone()));
        assert_eq!(again, [request("a", 0), request("b", 2)]);
        fetching.handle_piece("b", piece(5, 2, b"xyz")).unwrap();
        check_fetched(&mut fetching, &[("b", b"vwxyz")]);
    }

    #[test]
    fn a_new_manifest_keeps_what_is_still_listed() {
        let mut shelf = shelf(&[("a", b"abc"), ("b", b"vwxyz"), ("c", b"gone")]);
        let mut fetching = fetching(&shelf).ask_ahead(3);
        while fetching.poll_request().is_some() {}
        for (name, bytes, of) in [("a", b"ab", 3), ("b", b"vw", 5), ("c", b"go", 4)] {
            fetching.handle_piece(name, piece(of, 0, bytes)).unwrap();
        }
        shelf.insert("b", b"other"[..].into()).unwrap();
        shelf.remove("c");
        fetching.restart(&shelf.manifest(), |_| false).unwrap();
        assert_eq!((fetching.overall().have, fetching.overall().of), (2, 8));
        assert_eq!(fetching.poll_request(), request("a", 2));
        assert_eq!(fetching.poll_request(), request("b", 0));
        assert_eq!(fetching.poll_request(), None);
        fetching.handle_piece("a", piece(3, 2, b"c")).unwrap();
        check_fetched(&mut fetching, &[("a", b"abc")]);
    }

    #[test]
    fn a_wrong_hash_names_the_resource_which_begins_anew() {
        let mut fetching = fetching(&shelf(&[("a", b"abc"), ("b", b"xy")]));
        fetching.poll_request().unwrap();
        fetching.handle_piece("a", piece(3, 0, b"ab")).unwrap();
        let wrong = fetching.handle_piece("a", piece(3, 2, b"X")).unwrap_err();
        assert_eq!(wrong, FetchError::Mismatch { name: "a".into() });
        assert_eq!(wrong.to_string(), "a does not have the hash that is listed");
        assert_eq!(fetching.overall().have, 0);
        check_fetched(&mut fetching, &[]);
        assert_eq!(fetching.poll_request(), request("b", 0));
        fetching.handle_piece("b", piece(2, 0, b"xy")).unwrap();
        assert_eq!(fetching.poll_request(), request("a", 0));
        // The empty piece behind the wrong bytes was still on its way.
        fetching.handle_piece("a", piece(3, 3, b"")).unwrap();
        fetching.handle_piece("a", piece(3, 0, b"abc")).unwrap();
        check_fetched(&mut fetching, &[("b", b"xy"), ("a", b"abc")]);
    }

    #[test]
    fn pieces_out_of_place_change_nothing() {
        let mut fetching = fetching(&shelf(&[("a", b"abc"), ("b", b"xy")]));
        fetching.poll_request().unwrap();
        fetching.handle_piece("a", piece(3, 0, b"a")).unwrap();
        let misplaced = Err(FetchError::Misplaced { name: "a".into() });
        for wrong in [
            piece(3, 0, b"a"),
            piece(3, 2, b"c"),
            piece(4, 1, b"b"),
            piece(3, 1, b"bcd"),
            piece(3, 3, b""),
            piece(3, u64::MAX, b"b"),
        ] {
            assert_eq!(fetching.handle_piece("a", wrong), misplaced, "{wrong:?}");
        }
        for stranger in ["b", "c", "manifest"] {
            let got = fetching.handle_piece(stranger, piece(2, 0, b"xy"));
            assert_eq!(got, Err(FetchError::Unasked), "{stranger}");
        }
        fetching.handle_piece("a", piece(3, 1, b"bc")).unwrap();
        let twice = fetching.handle_piece("a", piece(3, 0, b"abc"));
        assert_eq!(twice, Err(FetchError::Unasked));
        check_fetched(&mut fetching, &[("a", b"abc")]);
    }

    #[test]
    fn what_has_no_bytes_is_there_at_once() {
        let mut fetching = fetching(&shelf(&[("a", b""), ("b", b"xy")]));
        check_fetched(&mut fetching, &[("a", b"")]);
        assert_eq!(fetching.poll_request(), request("b", 0));
        let manifest = Manifest::parse(format!("{ABC} 0 a").as_bytes()).unwrap();
        let wrong = Fetching::new(&manifest, |_| false).unwrap_err();
        assert_eq!(wrong, FetchError::Mismatch { name: "a".into() });
    }

    #[test]
    fn more_than_memory_holds_is_refused_and_what_is_held_does_not_count() {
        let text: String = (0..3)
            .map(|number| format!("{ABC} {} {number}\n", CONTENT_MAX / 2))
            .collect();
        let manifest = Manifest::parse(text.as_bytes()).unwrap();
        let refused = Fetching::new(&manifest, |_| false).unwrap_err();
        assert_eq!(refused, FetchError::TooLarge);
        assert!(Fetching::new(&manifest, |listed| listed.name == "0").is_ok());
    }
}

proptest! {
    #[test]
    fn everything_arrives_whatever_breaks(
        contents in proptest::collection::vec(proptest::collection::vec(any::<u8>(), 0..40), 1..6),
        ahead in 1..4_usize,
        // The size of each piece; 0 is a broken connection.
        sizes in proptest::collection::vec(0..9_usize, 1..40),
    ) {
        let mut shelf = Shelf::new("manifest");
        for (number, bytes) in contents.iter().enumerate() {
            shelf.insert(&format!("{number}"), bytes.as_slice().into()).unwrap();
        }
        let mut fetching = fetching(&shelf).ask_ahead(ahead);
        let mut under_way: Vec<Sending> = vec![];
        let mut fetched = vec![];
        let mut sizes = sizes.into_iter().chain(core::iter::repeat(5));
        while !fetching.is_complete() {
            while let Some(request) = fetching.poll_request() {
                under_way.push(shelf.send(&request.name, request.offset).unwrap());
            }
            let size = sizes.next().unwrap();
            if size == 0 {
                fetching.disconnect();
                under_way.clear();
            }
            for sending in &mut under_way {
                let name = String::from(sending.name());
                if let Some(piece) = sending.poll_piece(size) {
                    fetching.handle_piece(&name, piece).unwrap();
                }
            }
            under_way.retain(|sending| !sending.is_ended());
            while let Some(whole) = fetching.poll_fetched() {
                fetched.push((whole.name, whole.bytes));
            }
        }
        fetched.sort();
        let expected: Vec<_> =
            contents.into_iter().enumerate().map(|(number, bytes)| (format!("{number}"), bytes)).collect();
        prop_assert_eq!(fetched, expected);
        let overall = fetching.overall();
        prop_assert_eq!((overall.have, overall.fetched), (overall.of, overall.resources));
    }

    #[test]
    fn a_manifest_is_read_as_it_was_written(
        sizes in proptest::collection::btree_map("[a-z]{1,9}(/[ -9;-~]{1,4}x)?", 0..=CONTENT_MAX, 0..9),
    ) {
        prop_assume!(sizes.keys().all(|name| manifest::is_name(name)));
        let text: String = sizes.iter().map(|(name, size)| format!("{ABC} {size} {name}\n")).collect();
        let manifest = Manifest::parse(text.as_bytes()).unwrap();
        prop_assert_eq!(manifest.to_string(), text);
    }

    #[test]
    fn any_bytes_are_a_manifest_or_are_refused(bytes in proptest::collection::vec(any::<u8>(), 0..200)) {
        if let Ok(manifest) = Manifest::parse(&bytes) {
            prop_assert!(manifest.listed().len() <= RESOURCES_MAX);
        }
    }

    #[test]
    fn any_pieces_are_taken_or_change_nothing(
        pieces in proptest::collection::vec((0..3_u8, 0..5_u64, 0..5_u64, 0..5_usize), 0..60),
    ) {
        let shelf = shelf(&[("0", b"abc"), ("1", b"abcd")]);
        let mut fetching = fetching(&shelf);
        for (name, of, offset, length) in pieces {
            fetching.poll_request();
            let before = fetching.overall();
            let name = format!("{name}");
            let got = fetching.handle_piece(&name, piece(of, offset, &b"abcd"[..length])).map(|_| ());
            if let Err(FetchError::Misplaced { .. } | FetchError::Unasked) = got {
                prop_assert_eq!(fetching.overall(), before);
            }
            let overall = fetching.overall();
            prop_assert!(overall.have <= overall.of);
        }
        while let Some(whole) = fetching.poll_fetched() {
            prop_assert_eq!(shelf.get(&whole.name).map(|bytes| bytes.to_vec()), Some(whole.bytes));
        }
    }
}
