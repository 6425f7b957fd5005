//! Who is trusted on the other side of `wss://`.

use std::path::Path;
use std::sync::Arc;

use tokio_rustls::TlsConnector;
use tokio_rustls::client::TlsStream;
use tokio_rustls::rustls::pki_types::pem::PemObject as _;
use tokio_rustls::rustls::pki_types::{CertificateDer, ServerName};
use tokio_rustls::rustls::{ClientConfig, RootCertStore};

use super::counted::Counted;
use super::{ServerError, failed};
use crate::sync::link::LinkError;

/// Trusts the certificates of a PEM file, or else the system's.
pub(super) fn client_config(ca: Option<&Path>) -> Result<Arc<ClientConfig>, ServerError> {
    let roots = match ca {
        Some(file) => from_file(file)?,
        None => from_system()?,
    };
    Ok(Arc::new(ClientConfig::builder().with_root_certificates(roots).with_no_client_auth()))
}

fn from_file(file: &Path) -> Result<RootCertStore, ServerError> {
    let failed = |problem: String| ServerError::Ca(file.to_owned(), problem);
    let certificates = CertificateDer::pem_file_iter(file).map_err(|error| failed(error.to_string()))?;
    let mut roots = RootCertStore::empty();
    for certificate in certificates {
        let certificate = certificate.map_err(|error| failed(error.to_string()))?;
        roots.add(certificate).map_err(|error| failed(error.to_string()))?;
    }
    if roots.is_empty() { Err(failed("there is no certificate in the file".to_owned())) } else { Ok(roots) }
}

fn from_system() -> Result<RootCertStore, ServerError> {
    let mut roots = RootCertStore::empty();
    roots.add_parsable_certificates(rustls_native_certs::load_native_certs().certs);
    if roots.is_empty() { Err(ServerError::NoRoots) } else { Ok(roots) }
}

pub(super) async fn connect(
    config: &Arc<ClientConfig>,
    host: &str,
    stream: Counted,
) -> Result<TlsStream<Counted>, LinkError> {
    let name = ServerName::try_from(host.to_owned()).map_err(failed)?;
    TlsConnector::from(config.clone()).connect(name, stream).await.map_err(failed)
}
