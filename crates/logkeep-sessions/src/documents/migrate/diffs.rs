//! Migration 2: diffs move out of session documents into documents of their own.

use std::fs;
use std::path::Path;

use super::super::replace;
use super::Run;
use crate::documents::{DocumentError, Key};
use crate::json::Json;

pub(super) fn migrate(run: &mut Run<'_>) {
    for (project, folder) in run.entries(&run.store.root.path.join("session")) {
        if !folder.is_dir() {
            continue;
        }
        for (session, file) in run.documents(&folder) {
            if let Err(error) = migrate_session(run, &project, &session, &file) {
                run.fail(&run.shown(&file), &error);
            }
        }
    }
}

/// Writes the diffs first, then the session where it lies (DS-078, DS-080): a
/// crash in between leaves a session that the next run takes up again.
fn migrate_session(
    run: &mut Run<'_>,
    project: &str,
    session: &str,
    file: &Path,
) -> Result<(), DocumentError> {
    let key = Key::new(["session", project, session])?;
    if embedded_diffs(&run.store.read(&key)?).is_none() {
        return Ok(());
    }
    let store = run.store;
    let copy = store.migration_backup().join("session").join(project).join(format!("{session}.json"));
    store.update::<DocumentError>(&key, |document| {
        let Some(diffs) = embedded_diffs(document) else { return Ok(()) };
        keep_copy(file, &copy).map_err(DocumentError::io(format!("keeping a copy of {key}")))?;
        let summary =
            Json::object([("additions", sum(diffs, "additions")), ("deletions", sum(diffs, "deletions"))]);
        run.create(&Key::new(["session_diff", session])?, &Json::Array(diffs.to_vec()));
        document.set("summary", summary);
        run.report.written += 1;
        Ok(())
    })?;
    Ok(())
}

/// The diffs of a session document of the older form (DS-075).
fn embedded_diffs(document: &Json) -> Option<&[Json]> {
    document.text(&["id"])?;
    document.text(&["projectID"])?;
    let diffs = document.array(&["summary", "diffs"])?;
    let is_diff =
        |diff: &Json| diff.number(&["additions"]).is_some() && diff.number(&["deletions"]).is_some();
    diffs.iter().all(is_diff).then_some(diffs)
}

fn sum(diffs: &[Json], field: &str) -> Json {
    let whole: Option<i64> = diffs.iter().try_fold(0_i64, |sum, diff| match diff.get(&[field]) {
        Some(Json::Number(digits)) => sum.checked_add(digits.parse().ok()?),
        _ => None,
    });
    match whole {
        Some(sum) => Json::from(sum),
        None => {
            let sum: f64 = diffs.iter().filter_map(|diff| diff.number(&[field])).sum();
            Json::Number(sum.to_string().into())
        }
    }
}

/// Keeps the document as it is on disk, unless an earlier run kept it already.
fn keep_copy(file: &Path, copy: &Path) -> std::io::Result<()> {
    if copy.exists() {
        return Ok(());
    }
    replace::replace(copy, &copy.with_extension("tmp"), &fs::read(file)?)
}
