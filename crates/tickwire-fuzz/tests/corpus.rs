//! Every input that fuzzing found worth keeping, on every target, in an ordinary test.

use std::collections::BTreeSet;
use std::fmt::Debug;
use std::fs;
use std::path::{Path, PathBuf};

use tickwire_fuzz::{TARGETS, Target};
use tickwire_sim::Rng;

fn folder(name: &str) -> PathBuf {
    Path::new(env!("CARGO_MANIFEST_DIR"))
        .join("../../fuzz")
        .join(name)
}

/// The files in a folder, in order of their names.
fn files(folder: &Path) -> Vec<PathBuf> {
    let entries = fs::read_dir(folder).unwrap_or_else(|e| panic!("{}: {e}", folder.display()));
    let mut files: Vec<_> = entries
        .map(|entry| entry.expect("the folder can be read").path())
        .collect();
    files.sort();
    files
}

fn stems(folder: &Path) -> BTreeSet<String> {
    let stem = |path: &PathBuf| {
        path.file_stem()
            .expect("a file has a name")
            .to_string_lossy()
            .into_owned()
    };
    files(folder).iter().map(stem).collect()
}

/// Names the input if it makes its target panic.
struct Running<T: Debug>(T);

impl<T: Debug> Drop for Running<T> {
    fn drop(&mut self) {
        if std::thread::panicking() {
            eprintln!("with the input {:?}", self.0);
        }
    }
}

fn run(target: &Target, file: &Path) {
    let bytes = fs::read(file).expect("a kept input can be read");
    let _running = Running(file);
    (target.run)(&bytes);
}

#[test]
fn kept_inputs_break_nothing() {
    for target in TARGETS {
        let kept = files(&folder("corpus").join(target.name));
        assert!(!kept.is_empty(), "{} has no input", target.name);
        for file in kept {
            run(target, &file);
        }
    }
}

/// Inputs that nobody has kept: the beginning of one and the end of another, with some bytes changed.
#[test]
fn inputs_like_the_kept_ones_break_nothing() {
    for (number, target) in (0..).zip(TARGETS) {
        let mut rng = Rng::new(number);
        let read = |file: &PathBuf| fs::read(file).expect("a kept input can be read");
        let kept: Vec<_> = files(&folder("corpus").join(target.name))
            .iter()
            .map(read)
            .collect();
        for _ in 0..MIXTURES {
            let input = mix(&kept, &mut rng);
            let _running = Running(&input);
            (target.run)(&input);
        }
    }
}

/// Mixtures that each target is run on.
const MIXTURES: u32 = 2_000;

fn mix(kept: &[Vec<u8>], rng: &mut Rng) -> Vec<u8> {
    let mut below = |count: usize| {
        let drawn = rng.within(0..=count.max(1) as u64 - 1);
        usize::try_from(drawn).expect("below a length")
    };
    let (first, second) = (&kept[below(kept.len())], &kept[below(kept.len())]);
    let mut input = first[..below(first.len() + 1)].to_vec();
    input.extend(&second[below(second.len() + 1)..]);
    for _ in 0..below(8) {
        let (at, change) = (below(input.len()), below(256));
        if let Some(byte) = input.get_mut(at) {
            *byte ^= u8::try_from(change).expect("below 256");
        }
    }
    input
}

/// An input of one target is an unlikely input of another.
#[test]
fn inputs_of_other_targets_break_nothing() {
    for target in TARGETS {
        for other in TARGETS.iter().filter(|other| other.name != target.name) {
            for file in files(&folder("corpus").join(other.name)).iter().step_by(7) {
                run(target, file);
            }
        }
    }
}

#[test]
fn every_target_has_a_program_and_a_folder() {
    let names: BTreeSet<_> = TARGETS
        .iter()
        .map(|target| target.name.to_owned())
        .collect();
    assert_eq!(stems(&folder("fuzz_targets")), names);
    assert_eq!(stems(&folder("corpus")), names);
    let manifest = fs::read_to_string(folder("Cargo.toml")).unwrap();
    for name in names {
        assert!(manifest.contains(&format!("name = \"{name}\"")), "{name}");
    }
}
