//! What a server proves: its key and certificate.
//!
//! Without a certificate of an authority a server makes its own key on the first start and keeps it, so
//! that clients can pin its [`Fingerprint`]. Everything else that must survive a restart is derived
//! from that key: with it the server recognises packets of connections that it had before, and tells
//! their clients at once that it has restarted.

use std::fmt;
use std::fs;
use std::io::{self, Write};
use std::path::{Path, PathBuf};
use std::str::FromStr;

use ring::{digest, hkdf};
use rustls::pki_types::pem::PemObject;
use rustls::pki_types::{CertificateDer, PrivateKeyDer, PrivatePkcs8KeyDer};

/// A server's certificate and its key.
pub struct Identity {
    pub(super) chain: Vec<CertificateDer<'static>>,
    pub(super) key: PrivateKeyDer<'static>,
}

impl Identity {
    /// A new self-signed identity.
    ///
    /// # Errors
    /// If the system has no randomness.
    pub fn generate() -> Result<Self, IdentityError> {
        // Clients pin the whole certificate, so that the name in it means nothing.
        let made = rcgen::generate_simple_self_signed([SUBJECT.to_owned()])
            .map_err(|error| IdentityError::Generate(error.to_string()))?;
        Ok(Self {
            chain: vec![made.cert.der().clone()],
            key: PrivatePkcs8KeyDer::from(made.signing_key.serialize_der()).into(),
        })
    }

    /// The identity kept in a folder; made there, readable by this user alone, if there is none.
    ///
    /// # Errors
    /// If the folder or its files cannot be read or written.
    pub fn load_or_create(folder: &Path) -> Result<Self, IdentityError> {
        let [key, certificate] = [KEY_FILE, CERTIFICATE_FILE].map(|name| folder.join(name));
        match fs::read(&key) {
            Ok(bytes) => Ok(Self {
                key: PrivatePkcs8KeyDer::from(bytes).into(),
                chain: vec![read(&certificate)?.into()],
            }),
            Err(error) if error.kind() == io::ErrorKind::NotFound => {
                let identity = Self::generate()?;
                let made = fs::create_dir_all(folder);
                made.map_err(|error| IdentityError::file(folder, error))?;
                // The key comes last: an identity without one is made again.
                write_private(&certificate, &identity.chain[0])?;
                write_private(&key, identity.key.secret_der())?;
                Ok(identity)
            }
            Err(error) => Err(IdentityError::file(&key, error)),
        }
    }

    /// A certificate of an authority, with those between the two, and its key: PEM files.
    ///
    /// # Errors
    /// If the files cannot be read or hold no certificate or key.
    pub fn from_pem_files(certificates: &Path, key: &Path) -> Result<Self, IdentityError> {
        let read_chain = |error| IdentityError::pem(certificates, error);
        let chain = CertificateDer::pem_file_iter(certificates)
            .map_err(read_chain)?
            .collect::<Result<Vec<_>, _>>()
            .map_err(read_chain)?;
        if chain.is_empty() {
            return Err(IdentityError::Pem {
                file: certificates.into(),
                reason: "there is no certificate in it".into(),
            });
        }
        let key = PrivateKeyDer::from_pem_file(key).map_err(|e| IdentityError::pem(key, e))?;
        Ok(Self { chain, key })
    }

    /// What clients pin.
    pub fn fingerprint(&self) -> Fingerprint {
        Fingerprint::of(&self.chain[0])
    }

    /// A secret that belongs to this identity, and is the same after a restart.
    pub fn derive(&self, label: &str) -> [u8; 32] {
        derive_secret(self.key.secret_der(), label)
    }
}

/// A secret for one purpose, from another that has 32 unpredictable bytes or more.
pub fn derive_secret(from: &[u8], label: &str) -> [u8; 32] {
    let mut secret = [0; 32];
    let salt = hkdf::Salt::new(hkdf::HKDF_SHA256, b"tickwire secret");
    salt.extract(from)
        .expand(&[label.as_bytes()], hkdf::HKDF_SHA256)
        .and_then(|derived| derived.fill(&mut secret))
        .expect("HKDF-SHA256 gives 32 bytes for any label");
    secret
}

/// The key stays out of logs.
impl fmt::Debug for Identity {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_tuple("Identity")
            .field(&self.fingerprint())
            .finish()
    }
}

const SUBJECT: &str = "tickwire";
const KEY_FILE: &str = "key.der";
const CERTIFICATE_FILE: &str = "certificate.der";

fn read(file: &Path) -> Result<Vec<u8>, IdentityError> {
    fs::read(file).map_err(|error| IdentityError::file(file, error))
}

/// Writes a file that nobody else may read, whole or not at all.
fn write_private(file: &Path, bytes: &[u8]) -> Result<(), IdentityError> {
    let beside = file.with_extension("new");
    let mut options = fs::OpenOptions::new();
    options.write(true).create(true).truncate(true);
    #[cfg(unix)]
    std::os::unix::fs::OpenOptionsExt::mode(&mut options, 0o600);
    options
        .open(&beside)
        .and_then(|mut made| made.write_all(bytes).and_then(|()| made.sync_all()))
        .and_then(|()| fs::rename(&beside, file))
        .map_err(|error| IdentityError::file(file, error))
}

/// The SHA-256 of a certificate: what people compare.
#[derive(Clone, Copy, Debug, Eq, Hash, Ord, PartialEq, PartialOrd)]
pub struct Fingerprint([u8; 32]);

impl Fingerprint {
    pub(super) fn of(certificate: &CertificateDer<'_>) -> Self {
        let hash = digest::digest(&digest::SHA256, certificate);
        let mut bytes = [0; 32];
        bytes.copy_from_slice(hash.as_ref());
        Self(bytes)
    }
}

impl From<[u8; 32]> for Fingerprint {
    fn from(hash: [u8; 32]) -> Self {
        Self(hash)
    }
}

impl From<Fingerprint> for [u8; 32] {
    fn from(Fingerprint(hash): Fingerprint) -> Self {
        hash
    }
}

impl fmt::Display for Fingerprint {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        self.0.iter().try_for_each(|byte| write!(f, "{byte:02x}"))
    }
}

impl FromStr for Fingerprint {
    type Err = NoFingerprint;

    /// Reads 64 hexadecimal digits; colons between them, as `openssl` prints them, are skipped.
    fn from_str(typed: &str) -> Result<Self, NoFingerprint> {
        let digits: Vec<u8> = typed
            .chars()
            .filter(|&letter| letter != ':')
            .map(|letter| letter.to_digit(16).and_then(|digit| digit.try_into().ok()))
            .collect::<Option<_>>()
            .ok_or(NoFingerprint)?;
        let bytes: Vec<u8> = digits
            .chunks(2)
            .map(|pair| pair.iter().fold(0, |byte, digit| byte << 4 | digit))
            .collect();
        if digits.len() != 64 {
            return Err(NoFingerprint);
        }
        bytes.try_into().map(Self).map_err(|_| NoFingerprint)
    }
}

/// What was typed is no fingerprint.
#[derive(Clone, Copy, Debug, Eq, PartialEq)]
pub struct NoFingerprint;

impl fmt::Display for NoFingerprint {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str("a fingerprint has 64 hexadecimal digits")
    }
}

impl std::error::Error for NoFingerprint {}

/// Why there is no identity.
#[derive(Debug)]
#[non_exhaustive]
pub enum IdentityError {
    /// A key could not be made.
    Generate(String),
    /// A file could not be read or written.
    File {
        /// Which one.
        file: PathBuf,
        /// The system's words.
        source: io::Error,
    },
    /// A PEM file does not hold what it should.
    Pem {
        /// Which one.
        file: PathBuf,
        /// What is wrong with it.
        reason: String,
    },
    /// The key and the certificate do not belong together, or are of an unknown kind.
    Unusable(String),
}

impl IdentityError {
    fn file(file: &Path, source: io::Error) -> Self {
        Self::File {
            file: file.into(),
            source,
        }
    }

    fn pem(file: &Path, error: rustls::pki_types::pem::Error) -> Self {
        Self::Pem {
            file: file.into(),
            reason: error.to_string(),
        }
    }
}

impl fmt::Display for IdentityError {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::Generate(reason) => write!(f, "cannot make a key: {reason}"),
            Self::File { file, source } => write!(f, "{}: {source}", file.display()),
            Self::Pem { file, reason } => write!(f, "{}: {reason}", file.display()),
            Self::Unusable(reason) => write!(f, "certificate and key cannot be used: {reason}"),
        }
    }
}

impl std::error::Error for IdentityError {
    fn source(&self) -> Option<&(dyn std::error::Error + 'static)> {
        match self {
            Self::File { source, .. } => Some(source),
            _ => None,
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn an_identity_is_made_once_and_kept() {
        let folder = tempfile::tempdir().unwrap();
        let folder = folder.path().join("identity");
        let made = Identity::load_or_create(&folder).unwrap();
        let kept = Identity::load_or_create(&folder).unwrap();
        assert_eq!(made.fingerprint(), kept.fingerprint());
        assert_eq!(made.derive("x"), kept.derive("x"));
        assert_ne!(made.derive("x"), kept.derive("y"));
        let other = Identity::generate().unwrap();
        assert_ne!(made.fingerprint(), other.fingerprint());
        assert_ne!(made.derive("x"), other.derive("x"));
    }

    #[cfg(unix)]
    #[test]
    fn nobody_else_may_read_a_key() {
        use std::os::unix::fs::PermissionsExt;

        let folder = tempfile::tempdir().unwrap();
        Identity::load_or_create(folder.path()).unwrap();
        let mode = fs::metadata(folder.path().join(KEY_FILE)).unwrap();
        assert_eq!(mode.permissions().mode() & 0o777, 0o600);
    }

    #[test]
    fn a_fingerprint_is_read_as_it_is_shown() {
        let fingerprint = Identity::generate().unwrap().fingerprint();
        let shown = fingerprint.to_string();
        assert_eq!(shown.parse(), Ok(fingerprint));
        let pairs: Vec<_> = (0..64).step_by(2).map(|at| &shown[at..at + 2]).collect();
        assert_eq!(pairs.join(":").to_uppercase().parse(), Ok(fingerprint));
        for wrong in [
            "",
            "00",
            &shown[1..],
            &format!("{shown}0"),
            &shown.replace(|_| true, "g"),
        ] {
            assert_eq!(wrong.parse::<Fingerprint>(), Err(NoFingerprint));
        }
    }
}
