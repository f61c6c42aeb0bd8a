//! TLS of the server: its certificate, which is read again when its files change.
//!
//! Invariants: a certificate and a key that do not belong together are never used; where new files can't be used, the
//! certificate that is there goes on being shown.

use std::fmt;
use std::fs;
use std::io;
use std::path::{Path, PathBuf};
use std::sync::{Arc, Mutex, PoisonError, RwLock};

use rustls::ServerConfig;
use rustls::crypto::{CryptoProvider, ring};
use rustls::pki_types::pem::PemObject;
use rustls::pki_types::{CertificateDer, PrivateKeyDer};
use rustls::server::{ClientHello, ResolvesServerCert};
use rustls::sign::CertifiedKey;
use serde::{Deserialize, Serialize};
use sha2::{Digest, Sha256};
use tokio_rustls::TlsAcceptor;

use super::access::write_private;

/// The file in the server's folder that says which certificate is shown, for clients of this machine.
const SHOWN: &str = "certificate.pem";

/// Where the certificate that a server shows can be read, for clients of this machine: it is in the server's folder.
#[must_use]
pub fn shown_certificate(folder: &Path) -> PathBuf {
    folder.join(SHOWN)
}

/// The files of a certificate, in PEM.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub struct TlsFiles {
    /// The certificate, with those between it and an authority.
    pub certificate: PathBuf,
    /// Its private key.
    pub key: PathBuf,
}

impl TlsFiles {
    /// Looks whether a server can be started with these files. Blocks.
    ///
    /// # Errors
    /// When they can't be read, or do not belong together.
    pub fn check(&self) -> io::Result<()> {
        let (_, pem, key) = read(self)?;
        certified(self, &pem, &key).map(drop)
    }
}

/// The certificate of a server.
pub(crate) struct Certificate {
    files: TlsFiles,
    folder: PathBuf,
    shown: RwLock<Arc<CertifiedKey>>,
    /// What is shown, or can't be.
    read: Mutex<Sums>,
}

/// What tells files from what they were.
type Sums = [u8; 32];

/// Without the key.
impl fmt::Debug for Certificate {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("Certificate").field("files", &self.files).finish_non_exhaustive()
    }
}

impl Certificate {
    /// Reads the files, and tells clients of this machine in `folder` what they will be shown.
    pub fn open(files: TlsFiles, folder: &Path) -> io::Result<Arc<Self>> {
        let (sums, pem, key) = read(&files)?;
        let shown = certified(&files, &pem, &key)?;
        write_private(&shown_certificate(folder), &pem)?;
        Ok(Arc::new(Self { files, folder: folder.to_owned(), shown: RwLock::new(shown), read: Mutex::new(sums) }))
    }

    /// Takes new files up: whoever comes from now on is shown them.
    pub fn refresh(&self) -> io::Result<()> {
        let (sums, pem, key) = read(&self.files)?;
        if *self.read.lock().unwrap_or_else(PoisonError::into_inner) == sums {
            return Ok(());
        }
        let certified = certified(&self.files, &pem, &key);
        if certified.is_ok() {
            // What fails here is tried again.
            write_private(&shown_certificate(&self.folder), &pem)?;
        }
        *self.read.lock().unwrap_or_else(PoisonError::into_inner) = sums;
        *self.shown.write().unwrap_or_else(PoisonError::into_inner) = certified?;
        tracing::info!(certificate = %self.files.certificate.display(), "the certificate was read again");
        Ok(())
    }

    /// What speaks TLS with whoever comes: 1.2 or newer.
    pub fn acceptor(self: &Arc<Self>) -> io::Result<TlsAcceptor> {
        let config = ServerConfig::builder_with_provider(provider())
            .with_safe_default_protocol_versions()
            .map_err(io::Error::other)?;
        let mut config = config.with_no_client_auth().with_cert_resolver(Arc::clone(self) as _);
        config.alpn_protocols = vec![b"http/1.1".to_vec()];
        Ok(TlsAcceptor::from(Arc::new(config)))
    }
}

impl ResolvesServerCert for Certificate {
    fn resolve(&self, _: ClientHello<'_>) -> Option<Arc<CertifiedKey>> {
        Some(Arc::clone(&self.shown.read().unwrap_or_else(PoisonError::into_inner)))
    }
}

pub(crate) fn provider() -> Arc<CryptoProvider> {
    Arc::new(ring::default_provider())
}

fn cannot(file: &Path, why: &dyn fmt::Display) -> io::Error {
    io::Error::other(format!("{} can't be used for TLS: {why}", file.display()))
}

/// The certificate and the key as their files have them.
fn read(files: &TlsFiles) -> io::Result<(Sums, Vec<u8>, Vec<u8>)> {
    let text = |file: &Path| fs::read(file).map_err(|error| cannot(file, &error));
    let (pem, key) = (text(&files.certificate)?, text(&files.key)?);
    let sums = Sha256::new().chain_update(Sha256::digest(&pem)).chain_update(Sha256::digest(&key)).finalize();
    Ok((sums.into(), pem, key))
}

fn certified(files: &TlsFiles, pem: &[u8], key: &[u8]) -> io::Result<Arc<CertifiedKey>> {
    let chain = certificates(pem).map_err(|error| cannot(&files.certificate, &error))?;
    let key = PrivateKeyDer::from_pem_slice(key)
        .map_err(|error| cannot(&files.key, &format!("there is no private key in it in PEM ({error})")))?;
    let certified = CertifiedKey::from_der(chain, key, &provider());
    certified.map(Arc::new).map_err(|error| match error {
        rustls::Error::InconsistentKeys(_) => {
            cannot(&files.key, &format!("it is not the key of {}", files.certificate.display()))
        }
        error => cannot(&files.certificate, &error),
    })
}

/// The certificates in a text; there is at least one.
pub(crate) fn certificates(pem: &[u8]) -> io::Result<Vec<CertificateDer<'static>>> {
    let found: Result<Vec<_>, _> = CertificateDer::pem_slice_iter(pem).collect();
    let found = found.map_err(io::Error::other)?;
    if found.is_empty() {
        return Err(io::Error::other("there is no certificate in it in PEM"));
    }
    Ok(found)
}
