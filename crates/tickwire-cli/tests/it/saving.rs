//! Savegames from outside: a server that ends, another that goes on where it was.

use std::fs;
use std::path::Path;

use serde_json::Value;

use crate::command::{Done, run, serve};

fn text(path: &Path) -> &str {
    path.to_str().expect("a plain path")
}

/// What `tickwire save show` says of a file.
#[track_caller]
fn show(file: &Path) -> String {
    let shown = run(&["save", "show", text(file)]);
    assert_eq!(shown.code, Some(0), "{shown:?}");
    shown.stdout
}

/// The number behind a word.
#[track_caller]
fn number_after(text: &str, word: &str) -> f64 {
    let (_, rest) = text
        .split_once(word)
        .unwrap_or_else(|| panic!("no {word:?} in {text}"));
    let number = rest.trim_start().split([' ', ',', ')']).next();
    let number = number.and_then(|number| number.parse().ok());
    number.unwrap_or_else(|| panic!("no number after {word:?} in {text}"))
}

/// The objects of a kind, each with its number and where it is.
fn objects(shown: &str, kind: &str) -> Vec<(String, [f64; 2])> {
    let lines = shown.lines().filter(|line| line.contains(kind));
    lines
        .map(|line| {
            let x = number_after(line, " at ");
            let y = number_after(line, ", ");
            let (object, _) = line.split_once(kind).expect("filtered above");
            (object.to_owned(), [x, y])
        })
        .collect()
}

/// Serves for a second and saves.
fn play(file: &Path, options: &[&str]) -> Done {
    let mut arguments = vec!["--save", text(file), "--bots", "3"];
    arguments.extend(options);
    let (server, _) = serve("opendrakan", &arguments);
    server.line_with("drakan");
    server.terminate();
    server.wait()
}

#[test]
fn another_server_goes_on_where_one_ended() {
    let folder = tempfile::tempdir().expect("a folder");
    let (first, second) = (folder.path().join("first"), folder.path().join("second"));
    assert_eq!(play(&first, &["--seed", "1"]).code, Some(0));
    let before = show(&first);
    let load = ["--seed", "2", "--load", text(&first)];
    assert_eq!(play(&second, &load).code, Some(0));
    let after = show(&second);

    let passed = number_after(&after, "tick") - number_after(&before, "tick");
    assert!(passed >= 0.0, "{before}{after}");
    let (planets, again) = (objects(&before, " planet"), objects(&after, " planet"));
    assert_eq!((planets.len(), again.len()), (4, 4), "{before}{after}");
    for ((object, was), (same, is)) in planets.into_iter().zip(again) {
        assert_eq!(object, same);
        // The quickest planet makes some 210 units a second; another seed has it elsewhere.
        let way = f64::hypot(was[0] - is[0], was[1] - is[1]);
        assert!(
            way <= passed * 4.0 + 5.0,
            "{object} made {way} in {passed} ticks"
        );
    }
    assert_eq!(objects(&after, " sun").len(), 1);

    let shown = run(&["save", "show", "--json", text(&second)]);
    assert_eq!(shown.code, Some(0), "{shown:?}");
    let shown: Value = serde_json::from_str(&shown.stdout).expect("it is JSON");
    let lines = shown["holds"].as_array().expect("the same lines");
    let lines: Vec<_> = lines.iter().filter_map(Value::as_str).collect();
    assert_eq!(lines, after.lines().collect::<Vec<_>>());
}

#[test]
fn a_damaged_save_is_refused_with_the_place_and_left_alone() {
    let folder = tempfile::tempdir().expect("a folder");
    let file = folder.path().join("game");
    assert_eq!(play(&file, &[]).code, Some(0));
    let good = fs::read(&file).expect("it was saved");
    let mut altered = good.clone();
    let middle = altered.len() / 2;
    altered[middle] ^= 0x10;
    for (bad, place) in [(&good[..good.len() - 3], "record"), (&altered, "record")] {
        fs::write(&file, bad).expect("the folder can be written");
        let save = text(&file);
        let refused = run(&[
            "serve",
            "opendrakan",
            "--listen",
            "127.0.0.1:0",
            "--load",
            save,
            "--save",
            save,
        ]);
        assert_eq!(refused.code, Some(1), "{refused:?}");
        for word in [save, place, "at byte"] {
            assert!(refused.stderr.contains(word), "{refused:?}");
        }
        let shown = run(&["save", "show", save]);
        assert_eq!(shown.code, Some(1), "{shown:?}");
        assert!(shown.stderr.contains(place), "{shown:?}");
        assert_eq!(
            fs::read(&file).expect("it is there"),
            bad,
            "nobody wrote it"
        );
    }
}

#[test]
fn saves_need_a_protocol_that_has_them_and_a_place_to_be() {
    let folder = tempfile::tempdir().expect("a folder");
    let nowhere = folder.path().join("no/such/folder/game");
    for (protocol, code, word) in [("lwar", 2, "savegames"), ("opendrakan", 1, "cannot save")] {
        let listen = ["serve", protocol, "--listen", "127.0.0.1:0"];
        let arguments = [&listen[..], &["--save", text(&nowhere)]].concat();
        let refused = run(&arguments);
        assert_eq!(refused.code, Some(code), "{refused:?}");
        assert!(refused.stderr.contains(word), "{refused:?}");
    }
    let missing = run(&["save", "show", text(&nowhere)]);
    assert_eq!(missing.code, Some(1));
    assert!(missing.stderr.contains("cannot read"), "{missing:?}");
}
