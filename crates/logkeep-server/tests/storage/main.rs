//! What any storage has to do, run against each storage there is.
#![allow(clippy::unwrap_used, clippy::expect_used, clippy::panic, clippy::indexing_slicing)]

mod contract;
mod crash;
mod disk;
#[cfg(unix)]
mod full;
mod material;
mod model;
mod uploads;

use std::path::Path;

use logkeep_protocol::RemoteId;
use logkeep_server::storage::Storage;
use logkeep_server::storage::sqlite::{Options, SqliteStorage};

/// Where a storage under test lives.
trait Place {
    /// Opens it, as a server does at its start. All halves opened before are gone.
    fn open(&self) -> Box<dyn Storage>;
    /// Whether it is still the same after it was closed and opened again.
    const DURABLE: bool;
}

struct OnDisk(tempfile::TempDir);
struct InMemory;

impl OnDisk {
    fn open_at(directory: &Path) -> Box<dyn Storage> {
        Box::new(SqliteStorage::open(directory, Options::default(), RemoteId([7; 16])).unwrap())
    }
}

impl Place for OnDisk {
    fn open(&self) -> Box<dyn Storage> {
        Self::open_at(self.0.path())
    }
    const DURABLE: bool = true;
}

impl Place for InMemory {
    fn open(&self) -> Box<dyn Storage> {
        Box::new(SqliteStorage::in_memory(RemoteId([7; 16])).unwrap())
    }
    const DURABLE: bool = false;
}

/// Makes a test of each requirement for each storage.
macro_rules! contract {
    ($($module:ident::$requirement:ident),* $(,)?) => {
        mod sqlite_on_disk { $(
            #[test]
            fn $requirement() {
                crate::$module::$requirement(&crate::OnDisk(tempfile::tempdir().unwrap()));
            }
        )* }
        mod sqlite_in_memory { $(
            #[test]
            fn $requirement() {
                crate::$module::$requirement(&crate::InMemory);
            }
        )* }
    };
}

contract! {
    contract::an_unknown_store_is_empty,
    contract::sequences_are_dense_and_stores_are_apart,
    contract::a_batch_of_known_ids_is_not_stored_again,
    contract::a_repeated_id_takes_a_position,
    contract::scopes_are_not_confused,
    contract::a_bad_batch_hurts_no_other_write,
    contract::rows_have_their_wire_form,
    contract::pages_keep_to_their_budget,
    contract::large_batches_come_back_whole,
    contract::slices_are_exact,
    contract::the_first_signing_key_stays_bound,
    contract::there_is_one_writing_half,
    contract::many_ids_stay_known,
    contract::what_was_stored_is_there_after_a_restart,
    uploads::an_upload_is_visible_when_it_is_complete,
    uploads::other_stores_are_written_during_an_upload,
    uploads::a_failed_upload_leaves_nothing,
    uploads::an_abandoned_upload_leaves_nothing,
    uploads::a_crash_during_an_upload_leaves_nothing,
    uploads::an_upload_skips_what_is_known,
}
