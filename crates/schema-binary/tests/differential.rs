//! Random schemas and values against the effect package: the same bytes, the same values, the same refusals.
//!
//! ```text
//! cd interop && npm install && cd ..
//! cargo test -p schema-binary --test differential -- --ignored
//! ```
//!
//! `LOGKEEP_LONG=1` tries many more, `LOGKEEP_SEED` begins elsewhere, `NODE` names the Node.js program.
#![allow(clippy::unwrap_used, clippy::expect_used, clippy::panic, clippy::indexing_slicing)]

mod common;

use std::io::{BufRead, BufReader, Write};
use std::process::{Child, ChildStdin, ChildStdout, Command, Stdio};

use common::random::Random;
use common::{get, object, schemas, values, with};
use schema_binary::Mode;
use schema_binary::dynamic::{Codec, Connection, Schema, Value, json, notation};

/// The effect package, as a program that answers questions.
struct Peer {
    child: Child,
    questions: ChildStdin,
    answers: BufReader<ChildStdout>,
}

impl Peer {
    fn start() -> Self {
        let script = concat!(env!("CARGO_MANIFEST_DIR"), "/../../interop/codec/peer.mjs");
        let node = std::env::var("NODE").unwrap_or_else(|_| "node".to_owned());
        let mut child = Command::new(node)
            .arg(script)
            .stdin(Stdio::piped())
            .stdout(Stdio::piped())
            .spawn()
            .expect("Node.js starts");
        let questions = child.stdin.take().unwrap();
        let answers = BufReader::new(child.stdout.take().unwrap());
        Self { child, questions, answers }
    }

    fn ask(&mut self, question: &Value) -> Value {
        writeln!(self.questions, "{}", json::print(question).unwrap()).unwrap();
        let mut answer = String::new();
        self.answers.read_line(&mut answer).unwrap();
        json::parse(answer.trim()).expect("the peer answers; is `npm install` done in interop/?")
    }
}

impl Drop for Peer {
    fn drop(&mut self) {
        let _ = self.child.kill();
        let _ = self.child.wait();
    }
}

const MODES: [(Mode, &str); 3] =
    [(Mode::Default, "default"), (Mode::Fingerprint, "fingerprint"), (Mode::Strict, "strict")];

fn question(description: &Value, mode: &str) -> Value {
    object([("schema", description.clone()), ("defs", schemas::definitions()), ("mode", mode.into())])
}

fn hex(bytes: &[u8]) -> Value {
    get(&notation::write(&Value::Bytes(bytes.to_vec())), "$bytes").clone()
}

struct Round<'p> {
    peer: &'p mut Peer,
    seed: u64,
    description: Value,
}

impl Round<'_> {
    fn context(&self) -> String {
        format!("seed {}, schema {}", self.seed, json::print(&self.description).unwrap())
    }

    /// Both write the same frame, or both refuse.
    fn encode(&mut self, schema: &Schema, value: &Value, mode: (Mode, &str)) -> Option<Vec<u8>> {
        let question = with(&question(&self.description, mode.1), "value", notation::write(value));
        let ours = schema.encode(value, mode.0);
        let theirs = self.peer.ask(&question);
        let context =
            || format!("{}, value {}", self.context(), json::print(&notation::write(value)).unwrap());
        match &ours {
            Ok(frame) => assert_eq!(get(&theirs, "hex"), &hex(frame), "{} {theirs:?}", context()),
            Err(error) => assert_ne!(get(&theirs, "error"), &Value::Undefined, "{error}: {}", context()),
        }
        ours.ok()
    }

    /// Both read the same value out of the frame, or both refuse it.
    fn decode(&mut self, schema: &Schema, frame: &[u8], mode: (Mode, &str)) {
        let question = with(&question(&self.description, mode.1), "hex", hex(frame));
        let ours = schema.decode(frame, mode.0);
        let theirs = self.peer.ask(&question);
        let context = || format!("{:?} of {:?}, {}", mode.0, hex(frame), self.context());
        match &ours {
            Ok(value) => {
                let expected = notation::read(get(&theirs, "value")).unwrap_or(Value::Undefined);
                let failed = get(&theirs, "error") != &Value::Undefined;
                assert!(!failed && *value == expected, "ours {value:?}\ntheirs {theirs:?}\n{}", context());
            }
            Err(error) => {
                assert_ne!(
                    get(&theirs, "error"),
                    &Value::Undefined,
                    "{error}, theirs {theirs:?}\n{}",
                    context()
                );
            }
        }
    }

    /// Both share strings across frames in the same way.
    fn dictionary(&mut self, schema: &Schema, values: &[Value], mode: (Mode, &str)) {
        let notations = Value::Array(values.iter().map(notation::write).collect());
        let question =
            with(&with(&question(&self.description, mode.1), "values", notations), "dictionary", true.into());
        let theirs = self.peer.ask(&question);
        let connection = Connection::with_dictionary(Codec::new(schema, mode.0));
        let Ok(mut connection) = connection else {
            assert_ne!(get(&theirs, "error"), &Value::Undefined, "{}", self.context());
            return;
        };
        let ours: Result<Vec<_>, _> = values.iter().map(|value| connection.encode(value)).collect();
        let ours = ours.map(|frames| Value::Array(frames.iter().map(|frame| hex(frame)).collect()));
        assert_eq!(get(&theirs, "frames"), &ours.unwrap(), "{} {theirs:?}", self.context());
    }
}

fn round(peer: &mut Peer, seed: u64) {
    let mut random = Random::new(seed);
    let description = schemas::schema(&mut random, 4);
    let schema = common::schema(&description);
    let mut round = Round { peer, seed, description };
    let Some(schema) = schema else {
        let theirs = round.peer.ask(&with(&question(&round.description, "default"), "hex", "022000".into()));
        assert_ne!(get(&theirs, "error"), &Value::Undefined, "we refuse {}", round.context());
        return;
    };
    let mut shared = Vec::new();
    for _ in 0..4 {
        let value = values::value(&mut random, &round.description, 6);
        for mode in MODES {
            let Some(frame) = round.encode(&schema, &value, mode) else { continue };
            round.decode(&schema, &frame, mode);
            for _ in 0..6 {
                round.decode(&schema, &random.damage(&frame), mode);
            }
        }
        if schema.encode(&value, Mode::Default).is_ok() {
            shared.push(value);
        }
    }
    let again = shared.clone();
    shared.extend(again);
    round.dictionary(&schema, &shared, MODES[0]);
    round.dictionary(&schema, &shared, MODES[1]);
}

#[test]
#[ignore = "needs Node.js and `npm install` in interop/"]
fn effect_agrees() {
    let mut peer = Peer::start();
    let start = std::env::var("LOGKEEP_SEED").map_or(0, |seed| seed.parse().unwrap());
    let rounds = if common::long() { 20_000 } else { 400 };
    for seed in start..start + rounds {
        round(&mut peer, seed);
    }
}
