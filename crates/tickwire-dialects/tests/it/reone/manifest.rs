//! The list of resources, and what may not be on it.

use tickwire_dialects::reone::manifest::BadName;
use tickwire_dialects::reone::{Manifest, Resource};
use tickwire_wire::DecodeError;

const RESOURCE: Resource = Resource {
    hash: [0xab; 32],
    size: 1_234,
};

fn line(name: &str) -> String {
    format!("{} 1234 {name}\n", "ab".repeat(32))
}

#[test]
fn a_manifest_is_a_line_for_each_resource() {
    let mut manifest = Manifest::default();
    for name in ["models/p bastilla.mdl", "base"] {
        manifest.insert(name, RESOURCE).expect("a good name");
    }
    let text = line("base") + &line("models/p bastilla.mdl");
    assert_eq!(manifest.encode(), text);
    assert_eq!(Manifest::decode(text.as_bytes()), Ok(manifest.clone()));
    assert_eq!(manifest.find("base"), Some(&RESOURCE));
    assert_eq!(manifest.find("models"), None);
    assert_eq!(manifest.len(), 2);
}

#[test]
fn names_stay_in_their_folder() {
    let check = |name: &str, why| {
        let mut manifest = Manifest::default();
        assert_eq!(manifest.insert(name, RESOURCE), Err(why), "{name:?}");
        let read = Manifest::decode(line(name).as_bytes());
        assert!(read.is_err(), "{name:?} is read");
    };
    check("", BadName::Length);
    check(&"a".repeat(256), BadName::Length);
    check("/etc/passwd", BadName::Absolute);
    check("c:/windows", BadName::Absolute);
    for name in ["..", "../a", "a/..", "a/../../b"] {
        check(name, BadName::Upwards);
    }
    for name in ["a\\b", "a\0b", "a\rb"] {
        check(name, BadName::Character);
    }
    check("manifest", BadName::Reserved);
}

#[test]
fn what_is_no_line_is_refused_by_the_field() {
    let field = |text: &str| match Manifest::decode(text.as_bytes()) {
        Err(
            DecodeError::Truncated { field, .. }
            | DecodeError::Forbidden { field, .. }
            | DecodeError::TooLong { field, .. },
        ) => field,
        other => panic!("{other:?} of {text:?}"),
    };
    let hash = "ab".repeat(32);
    assert_eq!(field("ab"), "sha256");
    assert_eq!(field(&format!("{} 1 a\n", "xy".repeat(32))), "sha256");
    assert_eq!(field(&format!("{hash}1 a\n")), "separator");
    assert_eq!(field(&format!("{hash} +1 a\n")), "size");
    assert_eq!(field(&format!("{hash}  a\n")), "size");
    assert_eq!(field(&format!("{hash} 18446744073709551616 a\n")), "size");
    assert_eq!(field(&format!("{hash} 111111111111111111111 a\n")), "size");
    assert_eq!(field(&format!("{hash} 1 a")), "name");
    assert_eq!(field(&(line("a") + &line("a"))), "name");
}
