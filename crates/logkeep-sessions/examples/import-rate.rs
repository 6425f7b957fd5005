//! How fast sessions are imported and listed, beside a plain copy of the same files.
//!
//! ```sh
//! cargo run --release -p logkeep-sessions --example import-rate -- [SESSIONS] [PARTS_PER_SESSION]
//! ```

use std::error::Error;
use std::fs;
use std::path::Path;
use std::time::{Duration, Instant};

use logkeep_sessions::import::{ImportOptions, import};
use logkeep_sessions::store::SessionStore;

fn main() -> Result<(), Box<dyn Error>> {
    let mut arguments = std::env::args().skip(1);
    let sessions: usize = arguments.next().map_or(Ok(10_000), |text| text.parse())?;
    let parts: usize = arguments.next().map_or(Ok(10), |text| text.parse())?;
    let folder = tempfile::tempdir()?;
    let (source, copy) = (folder.path().join("source"), folder.path().join("copy"));
    let bytes = generate(&source, sessions, parts)?;
    println!("{sessions} sessions, {} parts, {:.1} MB", sessions * parts, bytes as f64 / 1e6);

    let started = Instant::now();
    copy_folder(&source, &copy)?;
    tell("plain copy", started.elapsed(), sessions * parts);

    let mut store = SessionStore::open(&folder.path().join("data"))?;
    let options = ImportOptions {
        dry_run: false,
        diffs: true,
        limit: 16 << 20,
        scratch: folder.path().join("scratch"),
    };
    for label in ["first import", "second import"] {
        let started = Instant::now();
        let report = import(&source, &mut store, &options, &mut |_| {})?;
        tell(label, started.elapsed(), report.counts.parts as usize);
    }
    for label in ["list", "list, warm"] {
        let started = Instant::now();
        let lines = store.list(None)?;
        println!("{label}: {} sessions in {:.1} ms", lines.len(), started.elapsed().as_secs_f64() * 1e3);
    }
    Ok(())
}

fn tell(label: &str, took: Duration, parts: usize) {
    println!("{label}: {:.2} s, {:.0} parts/s", took.as_secs_f64(), parts as f64 / took.as_secs_f64());
}

/// Sessions of one message each. Returns the bytes of all documents.
fn generate(source: &Path, sessions: usize, parts: usize) -> std::io::Result<usize> {
    let storage = source.join("storage");
    let text = "Words of about the length that a part of an answer has. ".repeat(10);
    fs::create_dir_all(storage.join("session/p"))?;
    let mut bytes = 0;
    for number in 0..sessions {
        let (session, message) = (format!("ses_{number}"), format!("msg_{number}"));
        let (messages, folder) =
            (storage.join("message").join(&session), storage.join("part").join(&message));
        fs::create_dir_all(&messages)?;
        fs::create_dir_all(&folder)?;
        let mut write = |path: &Path, document: String| {
            bytes += document.len();
            fs::write(path, document)
        };
        let document = format!(
            r#"{{"id":"{session}","title":"Session {number}","directory":"/d","time":{{"created":{number},"updated":{number}}}}}"#
        );
        write(&storage.join(format!("session/p/{session}.json")), document)?;
        let document = format!(r#"{{"id":"{message}","role":"assistant","time":{{"created":{number}}}}}"#);
        write(&messages.join(format!("{message}.json")), document)?;
        for part in 0..parts {
            let id = format!("prt_{number}_{part}");
            let document = format!(r#"{{"id":"{id}","type":"text","text":"{text}"}}"#);
            write(&folder.join(format!("{id}.json")), document)?;
        }
    }
    Ok(bytes)
}

fn copy_folder(from: &Path, to: &Path) -> std::io::Result<()> {
    fs::create_dir_all(to)?;
    for entry in fs::read_dir(from)? {
        let entry = entry?;
        let target = to.join(entry.file_name());
        if entry.file_type()?.is_dir() {
            copy_folder(&entry.path(), &target)?;
        } else {
            fs::copy(entry.path(), target)?;
        }
    }
    Ok(())
}
