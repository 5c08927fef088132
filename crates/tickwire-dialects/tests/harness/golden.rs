//! Golden vectors: a datagram as a text file that reads as annotated bytes.
//!
//! A file is what a dialect's `inspect` says about one datagram: a title, who sends it, then a line
//! for every field with its first byte, its width in bits, its bytes, its name and its value. The
//! bytes in the file are the authority; the words beside them must be what the decoder says today.
//! With `TICKWIRE_BLESS=1` the files are written instead of compared.

use std::collections::BTreeSet;
use std::fmt::Write as _;
use std::fs;
use std::path::PathBuf;

use tickwire_wire::{DecodeError, FieldLog, Trace};

/// A dialect's `inspect`, of what one side sends on one path.
pub(crate) trait Inspect: Fn(&[u8], &mut dyn Trace) -> Result<(), DecodeError> {}

impl<F: Fn(&[u8], &mut dyn Trace) -> Result<(), DecodeError>> Inspect for F {}

/// One golden file.
#[derive(Clone, Debug)]
pub(crate) struct Golden {
    /// File name without its ending: `<message>-<case>`.
    pub(crate) name: &'static str,
    /// What is special about it.
    pub(crate) title: &'static str,
    /// Who sends it.
    pub(crate) sender: &'static str,
    pub(crate) bytes: Vec<u8>,
}

impl Golden {
    /// Compares the file with what it should be, or writes it.
    pub(crate) fn check(&self, dialect: &str, inspect: impl Inspect) {
        let rendered = self.render(inspect);
        let path = dir(dialect).join(self.name).with_extension("txt");
        if is_blessing() {
            fs::create_dir_all(dir(dialect)).expect("the vectors folder can be made");
            fs::write(&path, &rendered).expect("a vector can be written");
        }
        let text = fs::read_to_string(&path).unwrap_or_default();
        assert_eq!(
            text, rendered,
            "vectors/{dialect}/{}.txt (left) is not what is encoded (right): if the change is meant, \
             run with TICKWIRE_BLESS=1 and say so in the changelog",
            self.name
        );
        assert_eq!(hex(&parse(&text)), hex(&self.bytes), "{}", self.name);
    }

    /// The same for a file of what is refused.
    #[allow(
        dead_code,
        reason = "a dialect whose files are the authority reads them all alike"
    )]
    pub(crate) fn check_refused(&self, dialect: &str, inspect: impl Inspect) {
        self.check(dialect, &inspect);
        let verdict = inspect(&self.bytes, &mut FieldLog::default());
        assert!(verdict.is_err(), "{} is accepted", self.name);
    }

    fn render(&self, inspect: impl Inspect) -> String {
        let mut log = FieldLog::default();
        let verdict = inspect(&self.bytes, &mut log);
        let mut text = format!(
            "{}\nsent by the {}, {} bytes\n",
            self.title,
            self.sender,
            self.bytes.len()
        );
        let mut line = |line: &str| writeln!(text, "{}", line.trim_end()).expect("a String grows");
        line("");
        let mut read = 0;
        for entry in log.entries() {
            let indent = "  ".repeat(entry.depth);
            let Some((place, value)) = &entry.field else {
                line(&format!("{:22}{indent}{}", "", entry.name));
                continue;
            };
            let (at, width) = (byte(place.at_bit), byte(place.bits));
            assert_eq!(at, read, "{}: {} leaves a hole", self.name, entry.name);
            read = at + width;
            line(&format!(
                "{at:>4} {:>5}  {:<8}  {indent}{} = {value}  {}",
                place.bits,
                quote(&self.bytes[at..read]),
                entry.name,
                entry.meaning,
            ));
        }
        if read < self.bytes.len() {
            let rest = &self.bytes[read..];
            let bits = rest.len() * 8;
            line(&format!(
                "{read:>4} {bits:>5}  {:<8}  not read",
                quote(rest)
            ));
        }
        if let Err(error) = verdict {
            line(&format!("refused: {error}"));
        }
        text
    }
}

/// Every golden file of a dialect: the bytes in them are the authority, so a test that decodes them and
/// encodes them again needs no list of its own. What an original program said is in files of another form.
#[allow(
    dead_code,
    reason = "a dialect with two legal encodings builds its cases by hand"
)]
pub(crate) fn files(dialect: &str) -> Vec<Golden> {
    let mut paths: Vec<_> = fs::read_dir(dir(dialect))
        .expect("the vectors are there")
        .map(|file| file.expect("a readable folder").path())
        .filter(|path| path.extension().is_some_and(|ending| ending == "txt"))
        .filter(|path| !path.to_string_lossy().contains("/original-"))
        .collect();
    paths.sort();
    let read = |path: &PathBuf| {
        let text = fs::read_to_string(path).expect("a readable file").leak();
        let name = path
            .file_stem()
            .expect("a file has a name")
            .to_string_lossy();
        let mut lines = text.lines();
        let title = lines.next().expect("a title");
        let sender = lines
            .next()
            .and_then(|line| line.strip_prefix("sent by the "));
        let (sender, _) = sender.and_then(|it| it.split_once(", ")).expect("a sender");
        Golden {
            name: String::leak(name.into_owned()),
            title,
            sender,
            bytes: parse(text),
        }
    };
    paths.iter().map(read).collect()
}

/// Checks that every file of a dialect is shown as it stands, and refused if its name says so. Returns those
/// that are not refused.
#[allow(
    dead_code,
    reason = "a dialect with two legal encodings builds its cases by hand"
)]
pub(crate) fn check_files(
    dialect: &str,
    inspect: impl Fn(&Golden, &[u8], &mut dyn Trace) -> Result<(), DecodeError>,
) -> Vec<Golden> {
    let mut files = files(dialect);
    files.retain(|golden| {
        let inspect = |bytes: &[u8], trace: &mut dyn Trace| inspect(golden, bytes, trace);
        golden.check(dialect, inspect);
        let is_refused = golden.name.starts_with("refused-");
        let verdict = inspect(&golden.bytes, &mut FieldLog::default());
        assert_eq!(verdict.is_err(), is_refused, "{}", golden.name);
        !is_refused
    });
    files
}

/// Compares the files of a dialect with those that its tests know.
#[allow(
    dead_code,
    reason = "a dialect whose files are the authority knows them all"
)]
pub(crate) fn check_folder(dialect: &str, known: impl IntoIterator<Item = &'static str>) {
    if is_blessing() {
        // The files are being written at this moment.
        return;
    }
    let files = fs::read_dir(dir(dialect)).expect("the vectors are there");
    let there: BTreeSet<_> = files
        .map(|file| file.expect("a readable folder").path())
        .map(|path| {
            let name = path.file_stem().expect("a file has a name");
            name.to_string_lossy().into_owned()
        })
        .collect();
    let known = known.into_iter().map(str::to_owned).collect();
    assert_eq!(
        there, known,
        "left: in vectors/{dialect}; right: known to the tests"
    );
}

/// Whether files are to be written, not compared.
pub(crate) fn is_blessing() -> bool {
    std::env::var_os("TICKWIRE_BLESS").is_some_and(|value| value == "1")
}

/// Where a dialect's vectors are.
pub(crate) fn dir(dialect: &str) -> PathBuf {
    PathBuf::from(env!("CARGO_MANIFEST_DIR"))
        .join("../../vectors")
        .join(dialect)
}

/// The bytes that a golden file holds: the third column of every line that has a place and a width.
fn parse(text: &str) -> Vec<u8> {
    let mut bytes = Vec::new();
    for line in text.lines().skip(2) {
        let mut words = line.split_whitespace();
        let numbers = [words.next(), words.next()].map(|word| word?.parse::<usize>().ok());
        let [Some(at), Some(bits)] = numbers else {
            continue;
        };
        assert_eq!(at, bytes.len(), "a hole before: {line}");
        let quoted = words.next().unwrap_or_default();
        if quoted != NO_BYTES {
            bytes.extend(unhex(quoted));
        }
        assert_eq!(at + bits / 8, bytes.len(), "another width: {line}");
    }
    bytes
}

/// The bytes of a row of hexadecimal digits.
pub(crate) fn unhex(digits: &str) -> Vec<u8> {
    assert!(digits.len().is_multiple_of(2), "half a byte in {digits}");
    (0..digits.len())
        .step_by(2)
        .map(|at| u8::from_str_radix(&digits[at..at + 2], 16).expect("hexadecimal digits"))
        .collect()
}

/// The hexadecimal digits of `bytes`.
pub(crate) fn hex(bytes: &[u8]) -> String {
    bytes.iter().map(|byte| format!("{byte:02x}")).collect()
}

/// What stands for the bytes of a field that has none.
const NO_BYTES: &str = "-";

fn quote(bytes: &[u8]) -> String {
    match bytes {
        [] => NO_BYTES.into(),
        _ => hex(bytes),
    }
}

fn byte(bit: u32) -> usize {
    assert!(bit.is_multiple_of(8), "fields of whole bytes only");
    usize::try_from(bit / 8).expect("datagrams are short")
}

#[test]
fn a_rendered_vector_gives_its_bytes_back() {
    fn two_fields(bytes: &[u8], trace: &mut dyn Trace) -> Result<(), DecodeError> {
        let mut r = tickwire_wire::Reader::<tickwire_wire::BigEndian>::traced(bytes, trace);
        r.u16("first")?;
        r.text("none", 0)?;
        Err(r.refuse("first", 7))
    }
    let golden = Golden {
        name: "two-fields",
        title: "12 16 is no line of bytes",
        sender: "client",
        bytes: vec![0, 7, 0xab, 0xcd],
    };
    assert_eq!(parse(&golden.render(two_fields)), golden.bytes);
}
