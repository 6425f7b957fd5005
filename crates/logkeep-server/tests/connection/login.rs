//! Hello and Authenticate (SV-020…028).

use crate::client::{World, identity};

#[test]
fn a_challenge_lives_30_seconds_and_is_the_same_for_every_hello() {
    let world = World::new();
    let (alice, mut client) = (identity("alice"), world.connect());
    let challenge = client.hello();
    world.turn(29_999);
    assert_eq!(client.hello(), challenge);
    assert_eq!(client.authenticate(&alice, &challenge), "");
    let next = client.hello();
    assert_ne!(next, challenge, "a challenge is used once");
    world.turn(30_000);
    assert!(client.authenticate(&alice, &next).contains("Session auth challenge has expired"));
}

#[test]
fn a_failed_login_uses_up_the_challenge() {
    let world = World::new();
    let (alice, mut client) = (identity("alice"), world.connect());
    let challenge = client.hello();
    let wrong = client.authenticate_with("alice", &alice.signing_public_key(), &[0; 64]);
    assert!(wrong.contains("Session auth signature verification failed"), "{wrong}");
    assert!(client.authenticate(&alice, &challenge).contains("has expired"));
    assert_eq!(client.log_in(&alice), "");
}

#[test]
fn a_forged_first_login_binds_nothing() {
    let world = World::new();
    let (alice, mallory) = (identity("alice"), identity("mallory"));
    let mut forger = world.connect();
    forger.hello();
    assert!(!forger.authenticate_with("alice", &mallory.signing_public_key(), &[9; 64]).is_empty());
    forger.hello();
    assert!(!forger.authenticate_with("alice", &[1, 2, 3], &[9; 64]).is_empty());
    assert_eq!(world.connect().log_in(&alice), "", "the owner is not locked out");
    // Now the key is bound: a good signature of another key does not count.
    let challenge = forger.hello();
    let proof = logkeep_crypto::Identity::new("alice", b"mallory").sign_session(&[7; 16], &challenge);
    assert!(!forger.authenticate_with("alice", &mallory.signing_public_key(), &proof.signature).is_empty());
}

#[test]
fn calls_before_login_are_forbidden_and_other_identities_after_it() {
    let world = World::new();
    let (alice, bob) = (identity("alice"), identity("bob"));
    let mut client = world.connect();
    let refused = client.write(&alice, "s", &[(&[1], 5)]).unwrap_err();
    assert!(refused.contains("Unauthenticated request") && refused.contains("EventLog.WriteSingle"));
    assert_eq!(client.log_in(&alice), "");
    assert!(client.write(&bob, "s", &[(&[1], 5)]).unwrap_err().contains("Identity is not authenticated"));
    assert_eq!(client.log_in(&bob), "");
    assert_eq!(client.write(&bob, "s", &[(&[1], 5)]), Ok(vec![(1, 1)]));
    assert_eq!(client.write(&alice, "s", &[(&[1], 5)]), Ok(vec![(1, 1)]), "both identities stay valid");
}
