//! Which servers a client talks to.
//!
//! In: the certificate that a server shows. Out: whether it is the one that was meant. A pinned
//! fingerprint needs no authority; trust on first use keeps what it saw in a file and complains loudly
//! when a server shows something else; authorities are for servers with a certificate of a name.

use std::fs;
use std::io::{self, Write};
use std::path::{Path, PathBuf};
use std::sync::Arc;

use rustls::client::WebPkiServerVerifier;
use rustls::client::danger::{HandshakeSignatureValid, ServerCertVerified, ServerCertVerifier};
use rustls::crypto::{CryptoProvider, verify_tls13_signature};
use rustls::pki_types::pem::PemObject;
use rustls::pki_types::{CertificateDer, ServerName, UnixTime};
use rustls::{CertificateError, DigitallySignedStruct, Error, RootCertStore, SignatureScheme};

use super::Fingerprint;

/// How a client knows that a server is the right one.
#[derive(Clone, Debug)]
pub enum Trust {
    /// Its certificate has this fingerprint.
    Pinned(Fingerprint),
    /// It is the server that was there the first time, as a file remembers.
    FirstUse {
        /// The file: a line for each server, made if it is not there.
        known_hosts: PathBuf,
        /// The server's name in it.
        host: String,
    },
    /// It is on this machine, at a loopback address, where nobody can be in between. A client that is to
    /// connect elsewhere with it is refused.
    ThisMachine,
    /// An authority in this PEM file signed its certificate, for the name that the client asked for.
    Authorities(PathBuf),
}

impl Trust {
    pub(super) fn verifier(
        &self,
        provider: &Arc<CryptoProvider>,
    ) -> io::Result<Arc<dyn ServerCertVerifier>> {
        let expected = match self {
            Self::Authorities(file) => return authorities(file, provider),
            Self::Pinned(fingerprint) => Expected::Pinned(*fingerprint),
            Self::ThisMachine => Expected::Anybody,
            Self::FirstUse { known_hosts, host } => match look_up(known_hosts, host)? {
                Some(fingerprint) => Expected::Known {
                    fingerprint,
                    known_hosts: known_hosts.clone(),
                },
                None => Expected::Unknown {
                    known_hosts: known_hosts.clone(),
                    host: host.clone(),
                },
            },
        };
        let provider = Arc::clone(provider);
        Ok(Arc::new(Verifier { expected, provider }))
    }
}

fn authorities(
    file: &Path,
    provider: &Arc<CryptoProvider>,
) -> io::Result<Arc<dyn ServerCertVerifier>> {
    let in_file = |error| io::Error::other(format!("{}: {error}", file.display()));
    let mut roots = RootCertStore::empty();
    for certificate in CertificateDer::pem_file_iter(file).map_err(in_file)? {
        roots
            .add(certificate.map_err(in_file)?)
            .map_err(io::Error::other)?;
    }
    let verifier = WebPkiServerVerifier::builder_with_provider(roots.into(), Arc::clone(provider))
        .build()
        .map_err(io::Error::other)?;
    Ok(verifier)
}

/// Checks one server's fingerprint.
#[derive(Debug)]
struct Verifier {
    expected: Expected,
    provider: Arc<CryptoProvider>,
}

#[derive(Debug)]
enum Expected {
    Pinned(Fingerprint),
    Anybody,
    Known {
        fingerprint: Fingerprint,
        known_hosts: PathBuf,
    },
    /// Whoever is there is remembered.
    Unknown {
        known_hosts: PathBuf,
        host: String,
    },
}

impl ServerCertVerifier for Verifier {
    fn verify_server_cert(
        &self,
        certificate: &CertificateDer<'_>,
        _intermediates: &[CertificateDer<'_>],
        _name: &ServerName<'_>,
        _ocsp: &[u8],
        _now: UnixTime,
    ) -> Result<ServerCertVerified, Error> {
        let shown = Fingerprint::of(certificate);
        let complaint = match &self.expected {
            Expected::Pinned(pinned) if *pinned != shown => {
                format!("its fingerprint is {shown}, not {pinned}")
            }
            Expected::Known {
                fingerprint,
                known_hosts,
            } if *fingerprint != shown => format!(
                "ITS IDENTITY HAS CHANGED: its fingerprint was {fingerprint} and is {shown}. \
                 Somebody may be in between. If the server is known to have a new key, delete its \
                 line from {}",
                known_hosts.display()
            ),
            _ => return Ok(ServerCertVerified::assertion()),
        };
        let complaint = rustls::OtherError(Arc::new(io::Error::other(complaint)));
        Err(CertificateError::Other(complaint).into())
    }

    fn verify_tls12_signature(
        &self,
        _message: &[u8],
        _certificate: &CertificateDer<'_>,
        _signature: &DigitallySignedStruct,
    ) -> Result<HandshakeSignatureValid, Error> {
        Err(Error::General("QUIC has TLS 1.3 only".into()))
    }

    fn verify_tls13_signature(
        &self,
        message: &[u8],
        certificate: &CertificateDer<'_>,
        signature: &DigitallySignedStruct,
    ) -> Result<HandshakeSignatureValid, Error> {
        let algorithms = &self.provider.signature_verification_algorithms;
        let valid = verify_tls13_signature(message, certificate, signature, algorithms)?;
        // Only now has it proved that the certificate is its own.
        if let Expected::Unknown { known_hosts, host } = &self.expected {
            remember(known_hosts, host, Fingerprint::of(certificate))
                .map_err(|error| Error::General(format!("{}: {error}", known_hosts.display())))?;
        }
        Ok(valid)
    }

    fn supported_verify_schemes(&self) -> Vec<SignatureScheme> {
        let algorithms = &self.provider.signature_verification_algorithms;
        algorithms.supported_schemes()
    }
}

/// What a file of known servers says of one.
fn look_up(file: &Path, host: &str) -> io::Result<Option<Fingerprint>> {
    let text = match fs::read_to_string(file) {
        Ok(text) => text,
        Err(error) if error.kind() == io::ErrorKind::NotFound => return Ok(None),
        Err(error) => return Err(error),
    };
    let found = text.lines().find_map(|line| {
        let (name, fingerprint) = line.trim_end().rsplit_once(' ')?;
        (name == host).then_some(fingerprint)
    });
    // A line that cannot be read must not count as none: whoever is there would be trusted.
    let broken = || io::Error::other(format!("{}: {host} has no fingerprint", file.display()));
    found
        .map(|typed| typed.parse().map_err(|_| broken()))
        .transpose()
}

fn remember(file: &Path, host: &str, fingerprint: Fingerprint) -> io::Result<()> {
    if let Some(folder) = file.parent() {
        fs::create_dir_all(folder)?;
    }
    let mut options = fs::OpenOptions::new();
    let mut file = options.create(true).append(true).open(file)?;
    file.write_all(format!("{host} {fingerprint}\n").as_bytes())
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::quic::Identity;

    #[test]
    fn a_server_is_remembered_under_its_name() {
        let folder = tempfile::tempdir().unwrap();
        let file = folder.path().join("made/known_hosts");
        let [a, b] = [(); 2].map(|()| Identity::generate().unwrap().fingerprint());
        assert_eq!(look_up(&file, "a:1").unwrap(), None);
        remember(&file, "a:1", a).unwrap();
        remember(&file, "b:2", b).unwrap();
        assert_eq!(look_up(&file, "a:1").unwrap(), Some(a));
        assert_eq!(look_up(&file, "b:2").unwrap(), Some(b));
        assert_eq!(look_up(&file, "a:2").unwrap(), None);
    }

    #[test]
    fn a_damaged_line_trusts_nobody() {
        let folder = tempfile::tempdir().unwrap();
        let file = folder.path().join("known_hosts");
        fs::write(&file, "a:1 0123\n").unwrap();
        assert!(look_up(&file, "a:1").is_err());
        assert_eq!(look_up(&file, "b:1").unwrap(), None);
    }
}
