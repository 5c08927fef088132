//! Codes that people say to each other, and the secrets that prove who got one.
//!
//! A code has six consonants: no letter looks like a digit, and no code is a word. There are 64 million, so
//! that with ten thousand sessions a guess is right once in 6,400 tries; how many tries a host has is in
//! [`limits`](crate::limits).

use core::fmt;
use core::hash::Hasher;
use core::str::FromStr;

use siphasher::sip::SipHasher24;
use tickwire_wire::DecodeError;

use crate::message::{Reader, Writer};

/// Letters of a code.
pub const CODE_LENGTH: usize = 6;

/// Without vowels, Y among the consonants; L and the rest of what looks like something else is left out.
const LETTERS: &[u8; 20] = b"BCDFGHJKMNPQRSTVWXYZ";

/// What a host tells its friends.
#[derive(Clone, Copy, Debug, Eq, Hash, Ord, PartialEq, PartialOrd)]
pub struct Code([u8; CODE_LENGTH]);

impl Code {
    /// The code with this number, modulo how many there are.
    pub fn numbered(mut number: u64) -> Self {
        Self([(); CODE_LENGTH].map(|()| {
            let letter = usize::try_from(number % 20).unwrap_or_default();
            number /= 20;
            LETTERS.get(letter).copied().unwrap_or(b'B')
        }))
    }

    pub(crate) fn read(r: &mut Reader<'_>) -> Result<Self, DecodeError> {
        let mut letters = [0; CODE_LENGTH];
        for letter in &mut letters {
            *letter = r.u8("code")?;
            if !LETTERS.contains(letter) {
                return Err(r.refuse("code", (*letter).into()));
            }
        }
        Ok(Self(letters))
    }

    pub(crate) fn write(self, w: &mut Writer<'_>) {
        w.bytes(&self.0);
    }
}

impl fmt::Display for Code {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        self.0
            .iter()
            .try_for_each(|&letter| write!(f, "{}", char::from(letter)))
    }
}

/// What was typed is no code.
#[derive(Clone, Copy, Debug, Eq, PartialEq)]
pub struct NoCode;

impl fmt::Display for NoCode {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str("a code has six letters, none of them A, E, I, L, O or U")
    }
}

impl core::error::Error for NoCode {}

impl FromStr for Code {
    type Err = NoCode;

    /// Reads a code as people type it: small letters, blanks and hyphens do not matter.
    fn from_str(typed: &str) -> Result<Self, NoCode> {
        let mut code = [0; CODE_LENGTH];
        let mut places = code.iter_mut();
        for letter in typed.bytes().filter(|byte| !b" -".contains(byte)) {
            let letter = letter.to_ascii_uppercase();
            if !LETTERS.contains(&letter) {
                return Err(NoCode);
            }
            *places.next().ok_or(NoCode)? = letter;
        }
        match places.next() {
            None => Ok(Self(code)),
            Some(_) => Err(NoCode),
        }
    }
}

/// What proves that a host got a code.
pub type Secret = [u8; 16];

/// What a host shows to those who join: the SHA-256 of its certificate.
pub type Fingerprint = [u8; 32];

/// Where codes, secrets and the keys of pairings come from.
///
/// A host's secret is a keyed hash of its code and fingerprint, and stored nowhere: a server that was
/// restarted with the same key knows its hosts again, and a code that another host got since is not the old
/// host's to claim.
pub(crate) struct Mint {
    key: [u8; 32],
    run: [u8; 32],
    made: u64,
}

impl Mint {
    pub(crate) const fn new(key: [u8; 32], run: [u8; 32]) -> Self {
        Self { key, run, made: 0 }
    }

    /// A code that nobody can foresee. It may be taken.
    pub(crate) fn code(&mut self) -> Code {
        self.made += 1;
        Code::numbered(hash(&self.run, b"code", &[&self.made.to_le_bytes()]))
    }

    /// A key that two members share.
    pub(crate) fn pairing_key(&mut self) -> [u8; 16] {
        self.made += 1;
        wide(&self.run, b"pair", &[&self.made.to_le_bytes()])
    }

    pub(crate) fn secret(&self, code: Code, host: &Fingerprint) -> Secret {
        wide(&self.key, b"host", &[&code.0, host])
    }
}

impl fmt::Debug for Mint {
    /// Leaves out the secrets: what is printed for debugging ends up in logs.
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("Mint")
            .field("made", &self.made)
            .finish_non_exhaustive()
    }
}

/// SipHash-2-4, keyed by half of the secret; the other half is hashed in front.
fn hash(secret: &[u8; 32], purpose: &[u8], parts: &[&[u8]]) -> u64 {
    let (key, salt) = secret.split_at(16);
    let mut hasher = SipHasher24::new_with_key(key.first_chunk().expect("half of 32 bytes"));
    hasher.write(salt);
    hasher.write(purpose);
    parts.iter().for_each(|part| hasher.write(part));
    hasher.finish()
}

fn wide(secret: &[u8; 32], purpose: &[u8], parts: &[&[u8]]) -> [u8; 16] {
    let half = |number: u8| {
        let number = [number];
        let parts = parts.iter().copied().chain([number.as_slice()]);
        hash(secret, purpose, &parts.collect::<alloc::vec::Vec<_>>())
    };
    let both = (u128::from(half(0)) << 64) | u128::from(half(1));
    both.to_le_bytes()
}

#[cfg(test)]
mod tests {
    use alloc::string::ToString;

    use super::*;

    #[test]
    fn a_code_is_read_as_it_is_shown_and_as_people_type_it() {
        let code = Code::numbered(12_345_678);
        let shown = code.to_string();
        assert_eq!(shown.len(), CODE_LENGTH);
        assert_eq!(shown.parse(), Ok(code));
        let (left, right) = shown.split_at(3);
        let typed = alloc::format!(" {}-{}", left.to_lowercase(), right);
        assert_eq!(typed.parse(), Ok(code));
        for wrong in ["", "BCDFG", "BCDFGHJ", "BCDFGA", "BCDFG1", "BCDFGÄ"] {
            assert_eq!(wrong.parse::<Code>(), Err(NoCode), "{wrong}");
        }
    }

    #[test]
    fn a_secret_is_of_one_code_and_one_host_and_survives_a_restart() {
        let mut first = Mint::new([1; 32], [2; 32]);
        let again = Mint::new([1; 32], [3; 32]);
        let code = first.code();
        let secret = first.secret(code, &[7; 32]);
        assert_eq!(again.secret(code, &[7; 32]), secret);
        assert_ne!(again.secret(code, &[8; 32]), secret);
        assert_ne!(again.secret(first.code(), &[7; 32]), secret);
        assert_ne!(first.pairing_key(), first.pairing_key());
    }
}
