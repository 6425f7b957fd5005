//! TLS for listeners.

use std::path::Path;
use std::sync::Arc;

use tokio_rustls::TlsAcceptor;
use tokio_rustls::rustls::ServerConfig;
use tokio_rustls::rustls::pki_types::pem::PemObject;
use tokio_rustls::rustls::pki_types::{CertificateDer, PrivateKeyDer};

/// Why a certificate and key cannot be used.
#[derive(Debug, thiserror::Error)]
#[error("{file}: {reason}")]
pub struct TlsError {
    file: String,
    reason: String,
}

/// Reads a certificate chain and its private key, both PEM.
///
/// # Errors
/// If a file cannot be read or holds something else, or key and certificate do not belong together.
pub fn acceptor(certificate: &Path, key: &Path) -> Result<TlsAcceptor, TlsError> {
    let error = |file: &Path, reason: String| TlsError { file: file.display().to_string(), reason };
    let chain: Vec<_> = CertificateDer::pem_file_iter(certificate)
        .and_then(Iterator::collect)
        .map_err(|reason| error(certificate, format!("no certificate: {reason}")))?;
    if chain.is_empty() {
        return Err(error(certificate, "holds no certificate".into()));
    }
    let private = PrivateKeyDer::from_pem_file(key)
        .map_err(|reason| error(key, format!("no private key: {reason}")))?;
    let config = ServerConfig::builder()
        .with_no_client_auth()
        .with_single_cert(chain, private)
        .map_err(|reason| error(certificate, reason.to_string()))?;
    Ok(TlsAcceptor::from(Arc::new(config)))
}
