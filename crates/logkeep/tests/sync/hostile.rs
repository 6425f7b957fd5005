//! Servers that lie. The journal stays right, nothing hangs, and what is noticed is reported.

use std::time::Duration;

use logkeep::sync::{Notice, SyncError, SyncState, Until};
use logkeep::{Entry, EntryId, RemoteId};

use crate::device::{Device, Running, identity};
use crate::liar::{Liar, Lie, ToLiar, sealed};

/// Entries 1…10 in batches of two.
fn history() -> Vec<Entry> {
    let entry = |number: u8| {
        let mut id = [number; 16];
        id[0] = 1;
        Entry {
            id: EntryId(id),
            event: "note".to_owned(),
            primary_key: number.to_string(),
            payload: vec![number],
        }
    };
    (1..=10).map(entry).collect()
}

fn liar(lie: Lie) -> std::sync::Arc<Liar> {
    let batches = history().chunks(2).map(|entries| sealed(&identity(1), "notes", entries)).collect();
    Liar::new(lie, batches)
}

async fn sync_once(device: &Device, liar: &std::sync::Arc<Liar>) -> Result<SyncState, SyncError> {
    let sync = device.sync(std::sync::Arc::new(ToLiar(liar.clone())));
    let run = tokio::time::timeout(Duration::from_secs(30), sync.run(Until::CaughtUp));
    run.await.expect("a sync that ends")?;
    let state = sync.state().borrow().clone();
    Ok(state)
}

fn start(device: &Device, liar: &std::sync::Arc<Liar>) -> Running {
    Running::new(device.sync(std::sync::Arc::new(ToLiar(liar.clone()))))
}

#[tokio::test]
async fn the_truth_is_taken_as_it_is() {
    let (device, liar) = (Device::new(1), liar(Lie::Nothing));
    device.write(3, 10);
    let state = sync_once(&device, &liar).await.unwrap();
    assert_eq!((state.received, state.uploaded, state.notices), (10, 3, vec![]));
    assert_eq!(device.entries()[..10], history());
    assert_eq!(liar.held(), 13);
}

#[tokio::test]
async fn repeats_are_stored_once() {
    let device = Device::new(1);
    let state = sync_once(&device, &liar(Lie::Repeat)).await.unwrap();
    assert_eq!((state.received, state.notices), (10, vec![]), "a repeat may be an honest one");
    assert_eq!(device.entries(), history());
}

#[tokio::test]
async fn a_wrong_order_is_put_right_and_reported() {
    let device = Device::new(1);
    let running = start(&device, &liar(Lie::Reverse));
    let state = running.until("all entries", |state| state.received == 10).await;
    assert_eq!(device.entries(), history());
    assert!(state.notices.contains(&Notice::OutOfOrder(7)), "{:?}", state.notices);
    running.stop().await;
}

#[tokio::test]
async fn what_does_not_open_is_set_aside_and_the_rest_goes_on() {
    for lie in [Lie::Truncate, Lie::Relabel] {
        let device = Device::new(1);
        let state = sync_once(&device, &liar(lie)).await.unwrap();
        assert_eq!(state.received, 8, "{lie:?}");
        let [Notice::SetAside { sequence: 5, entries: 2, .. }] = &state.notices[..] else {
            panic!("{lie:?}: {:?}", state.notices)
        };
        let kept: Vec<Entry> =
            history().into_iter().filter(|entry| !matches!(entry.id.0[1], 5 | 6)).collect();
        assert_eq!(device.entries(), kept);
        let aside = device.replica.journal().unopened(RemoteId([0xee; 16])).unwrap();
        assert_eq!(aside.len(), 1);
        assert_eq!((aside[0].sequence, aside[0].entry_ids.len()), (5, 2));
        assert!(aside[0].encrypted.len() > 16 && aside[0].reason.contains("does not open"));
        assert_eq!(state.cursor, 11, "the cursor is past it, because it was kept");
    }
}

#[tokio::test]
async fn a_batch_of_another_store_is_set_aside() {
    let [one, other] = [&history()[..2], &history()[2..4]];
    let batches = vec![sealed(&identity(1), "notes", one), sealed(&identity(1), "diary", other)];
    let device = Device::new(1);
    let state = sync_once(&device, &Liar::new(Lie::Nothing, batches)).await.unwrap();
    assert!(matches!(state.notices[..], [Notice::SetAside { sequence: 3, .. }]), "{:?}", state.notices);
    assert_eq!(device.entries(), one);
}

#[tokio::test]
async fn a_store_that_opens_with_another_key_gets_no_upload() {
    let batches = vec![sealed(&identity(2), "notes", &history())];
    let liar = Liar::new(Lie::Nothing, batches);
    let device = Device::new(1);
    device.write(5, 10);
    let error = sync_once(&device, &liar).await.unwrap_err();
    assert!(matches!(error, SyncError::WrongKey), "{error}");
    assert_eq!(liar.held(), 10, "nothing was uploaded");
    assert_eq!(device.count(), 5);
    let remote = RemoteId([0xee; 16]);
    assert_eq!(device.replica.journal().next_sequence(remote).unwrap(), 0);
    assert_eq!(device.replica.journal().unopened(remote).unwrap(), [], "nothing was set aside either");
}

#[tokio::test]
async fn false_acknowledgements_do_not_move_the_cursor() {
    let (device, liar) = (Device::new(1), liar(Lie::FalseAcks));
    device.write(3, 10);
    let state = sync_once(&device, &liar).await.unwrap();
    assert_eq!(state.cursor, 11);
    assert_eq!(state.notices, [Notice::ForeignAcks(3)]);
    assert_eq!(device.count(), 13);
}

#[tokio::test]
async fn a_remote_id_that_changes_is_reported_each_time() {
    let (device, liar) = (Device::new(1), liar(Lie::ChangeId));
    device.write(2, 10);
    sync_once(&device, &liar).await.unwrap();
    let state = sync_once(&device, &liar).await.unwrap();
    assert!(matches!(state.notices[..], [Notice::ServerChanged { .. }]), "{:?}", state.notices);
    assert_eq!(device.count(), 12, "nothing is doubled");
}

#[tokio::test]
async fn a_server_that_went_back_gets_everything_again() {
    let (device, liar) = (Device::new(1), liar(Lie::GoBack));
    sync_once(&device, &liar).await.unwrap();
    assert_eq!(device.count(), 10);
    device.write(1, 10);
    let state = sync_once(&device, &liar).await.unwrap();
    assert!(state.notices.contains(&Notice::WentBack { head: 2, seen: 10 }), "{:?}", state.notices);
    assert_eq!(device.count(), 11, "the device lost nothing");
}

#[tokio::test]
async fn senseless_messages_end_the_connection_and_are_told() {
    for (lie, words) in [
        (Lie::Garbage, "unreadable message"),
        (Lie::BadItems, "unreadable"),
        (Lie::HugeFrame, "exceeds the limit"),
        (Lie::Flood, "more than was acknowledged"),
        (Lie::Defect, "defect"),
    ] {
        let (device, liar) = (Device::new(1), liar(lie));
        device.write(1, 10);
        let running = start(&device, &liar);
        let state = running.until("an error", |state| state.last_error.is_some()).await;
        let error = state.last_error.unwrap();
        assert!(error.contains(words), "{lie:?}: {error}");
        running.until("another try", |_| liar.connections() > 1).await;
        running.stop().await;
        let (mine, theirs): (Vec<Entry>, Vec<Entry>) =
            device.entries().into_iter().partition(|entry| entry.payload.len() == 10);
        assert_eq!(mine.len(), 1);
        assert!(history().starts_with(&theirs), "{lie:?}");
    }
}

#[tokio::test]
async fn parts_that_never_end_take_no_endless_memory() {
    let (device, liar) = (Device::new(1), liar(Lie::EndlessParts));
    let running = start(&device, &liar);
    running.until("some megabytes", |_| true).await;
    tokio::time::sleep(Duration::from_millis(300)).await;
    assert_eq!(device.count(), 0);
    running.stop().await;
}

#[tokio::test(start_paused = true)]
async fn a_silent_server_is_given_up() {
    let (device, liar) = (Device::new(1), liar(Lie::Silent));
    let running = start(&device, &liar);
    let state = running.until("an error", |state| state.last_error.is_some()).await;
    assert_eq!(state.last_error.as_deref(), Some("server does not answer"));
    running.stop().await;
}

#[tokio::test]
async fn a_refused_upload_does_not_stop_what_comes_down() {
    let (device, liar) = (Device::new(1), liar(Lie::RefuseWrites));
    device.write(2, 10);
    let running = start(&device, &liar);
    let state =
        running.until("the refusal", |state| state.received == 10 && state.last_error.is_some()).await;
    assert_eq!(
        state.last_error.as_deref(),
        Some("server refuses WriteEntries: the store is full (InvalidRequest)")
    );
    assert_eq!((state.connected, state.pending), (true, 2));
    assert_eq!(device.count(), 12);
    running.sync.stop();

    let error = sync_once(&device, &liar).await.unwrap_err();
    assert!(error.to_string().contains("the store is full"), "{error}");
}
