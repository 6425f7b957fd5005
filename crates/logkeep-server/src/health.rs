//! Whether the server can still do its work.

use tokio::sync::watch;

/// Good until a sync to disk fails: then nothing is acknowledged any more, and only a restart, which reads
/// what is really on disk, helps.
#[derive(Debug)]
pub struct Health(watch::Sender<Option<String>>);

impl Default for Health {
    fn default() -> Self {
        Self(watch::Sender::new(None))
    }
}

impl Health {
    /// Whether nothing has failed for good.
    pub fn is_good(&self) -> bool {
        self.0.borrow().is_none()
    }

    /// Notes that storage stopped, and why.
    pub fn fail(&self, reason: &str) {
        self.0.send_if_modified(|state| {
            let first = state.is_none();
            state.get_or_insert_with(|| reason.to_owned());
            first
        });
    }

    /// Waits until something has failed for good; gives the reason.
    pub async fn failed(&self) -> String {
        let mut receiver = self.0.subscribe();
        let failed = receiver.wait_for(Option::is_some).await;
        failed.ok().and_then(|reason| reason.clone()).unwrap_or_default()
    }
}
