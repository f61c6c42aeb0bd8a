//! Whom a client believes that a server is who it says.

use std::io;
use std::path::{Path, PathBuf};
use std::sync::Arc;

use rustls::client::WebPkiServerVerifier;
use rustls::client::danger::{HandshakeSignatureValid, ServerCertVerified, ServerCertVerifier};
use rustls::crypto::{CryptoProvider, verify_tls12_signature, verify_tls13_signature};
use rustls::pki_types::{CertificateDer, ServerName, UnixTime};
use rustls::{CertificateError, ClientConfig, DigitallySignedStruct, Error, RootCertStore, SignatureScheme};
use rustls_platform_verifier::Verifier;
use tokio_rustls::TlsConnector;

use super::tls::{certificates, provider};

/// Whom a client believes.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub enum Trust {
    /// The authorities that this machine trusts.
    #[default]
    System,
    /// Those in a file, and no others.
    Authorities(PathBuf),
    /// The first certificate in a file, whatever name it is for: it is known to be the server's own.
    Only(PathBuf),
}

impl Trust {
    /// What speaks TLS with a server. It reads files.
    pub(crate) fn connector(&self) -> io::Result<TlsConnector> {
        let verifier = self.verifier()?;
        let config = ClientConfig::builder_with_provider(provider())
            .with_safe_default_protocol_versions()
            .map_err(io::Error::other)?
            .dangerous()
            .with_custom_certificate_verifier(verifier);
        let mut config = config.with_no_client_auth();
        config.alpn_protocols = vec![b"http/1.1".to_vec()];
        Ok(TlsConnector::from(Arc::new(config)))
    }

    fn verifier(&self) -> io::Result<Arc<dyn ServerCertVerifier>> {
        Ok(match self {
            Self::System => Arc::new(Verifier::new(provider()).map_err(io::Error::other)?),
            Self::Authorities(file) => {
                let mut roots = RootCertStore::empty();
                for authority in read(file)? {
                    roots.add(authority).map_err(|error| unusable(file, io::Error::other(error)))?;
                }
                let verifier = WebPkiServerVerifier::builder_with_provider(Arc::new(roots), provider()).build();
                verifier.map_err(io::Error::other)?
            }
            Self::Only(file) => {
                let certificate = read(file)?.into_iter().next();
                let certificate = certificate.ok_or_else(|| unusable(file, io::ErrorKind::InvalidData.into()))?;
                Arc::new(OneCertificate { certificate, provider: provider() })
            }
        })
    }
}

fn read(file: &Path) -> io::Result<Vec<CertificateDer<'static>>> {
    std::fs::read(file).and_then(|pem| certificates(&pem)).map_err(|error| unusable(file, error))
}

fn unusable(file: &Path, error: io::Error) -> io::Error {
    io::Error::other(format!("the certificates in {} can't be used: {error}", file.display()))
}

/// Believes whoever has the key of one certificate.
#[derive(Debug)]
struct OneCertificate {
    certificate: CertificateDer<'static>,
    provider: Arc<CryptoProvider>,
}

impl ServerCertVerifier for OneCertificate {
    fn verify_server_cert(
        &self,
        shown: &CertificateDer<'_>,
        _: &[CertificateDer<'_>],
        _: &ServerName<'_>,
        _: &[u8],
        _: UnixTime,
    ) -> Result<ServerCertVerified, Error> {
        match *shown == self.certificate {
            true => Ok(ServerCertVerified::assertion()),
            false => Err(CertificateError::ApplicationVerificationFailure.into()),
        }
    }

    fn verify_tls12_signature(
        &self,
        message: &[u8],
        certificate: &CertificateDer<'_>,
        signed: &DigitallySignedStruct,
    ) -> Result<HandshakeSignatureValid, Error> {
        verify_tls12_signature(message, certificate, signed, &self.provider.signature_verification_algorithms)
    }

    fn verify_tls13_signature(
        &self,
        message: &[u8],
        certificate: &CertificateDer<'_>,
        signed: &DigitallySignedStruct,
    ) -> Result<HandshakeSignatureValid, Error> {
        verify_tls13_signature(message, certificate, signed, &self.provider.signature_verification_algorithms)
    }

    fn supported_verify_schemes(&self) -> Vec<SignatureScheme> {
        self.provider.signature_verification_algorithms.supported_schemes()
    }
}
