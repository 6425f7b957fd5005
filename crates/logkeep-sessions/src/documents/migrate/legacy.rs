//! Migration 1: from one folder a project to one folder a kind of document.
//!
//! ```text
//! project/SLUG/storage/session/info/SES.json          -> storage/session/PROJECT/SES.json
//! project/SLUG/storage/session/message/SES/MSG.json   -> storage/message/SES/MSG.json
//! project/SLUG/storage/session/part/SES/MSG/PRT.json  -> storage/part/MSG/PRT.json
//! ```
//!
//! The source stays. Beyond the original, sessions outside of a repository
//! (`global`) and those whose work tree is gone are carried over too.

use std::path::Path;

use super::{MigrationOptions, Run, sorted_entries};
use crate::documents::Key;
use crate::json::{self, Json, Limits};

pub(super) fn migrate(run: &mut Run<'_>, options: &MigrationOptions<'_>) {
    let projects = run.store.root.data.join("project");
    if !projects.is_dir() {
        return;
    }
    for (slug, folder) in run.entries(&projects) {
        if folder.is_dir() {
            match identify(&slug, &folder, options) {
                Ok(project) => migrate_project(run, &project, &folder.join("storage/session"), options.now),
                Err(reason) => run.fail(&run.shown(&folder), &reason),
            }
        }
    }
}

/// Where the sessions of a legacy folder go.
struct Project {
    id: String,
    worktree: String,
    is_repository: bool,
}

/// Finds work tree and id. A tree that is gone leaves the slug as the id (DS-069).
fn identify(slug: &str, folder: &Path, options: &MigrationOptions<'_>) -> Result<Project, String> {
    if slug == "global" {
        return Ok(Project { id: slug.to_owned(), worktree: "/".to_owned(), is_repository: false });
    }
    let worktree = match options.worktrees.get(slug) {
        Some(directory) => Some(directory.clone()),
        None => worktree_of_messages(&folder.join("storage/session/message"))?,
    };
    let id = match &worktree {
        Some(directory) => root_commit(directory, options)?,
        None => None,
    };
    Ok(Project {
        is_repository: id.is_some(),
        id: id.unwrap_or_else(|| slug.to_owned()),
        worktree: worktree.unwrap_or_else(|| "/".to_owned()),
    })
}

fn root_commit(worktree: &str, options: &MigrationOptions<'_>) -> Result<Option<String>, String> {
    if let Some(id) = options.root_commits.get(worktree) {
        return Ok(Some(id.clone()));
    }
    let directory = Path::new(worktree);
    if !directory.is_dir() {
        return Ok(None);
    }
    (options.root_commit)(directory)
        .map_err(|error| format!("the root commit of {worktree} could not be found: {error}"))
}

/// The first work tree any message names (DS-063).
fn worktree_of_messages(messages: &Path) -> Result<Option<String>, String> {
    for session in paths(messages)? {
        if !session.is_dir() {
            continue;
        }
        for file in paths(&session)?.into_iter().filter(|file| file.extension().is_some_and(|e| e == "json"))
        {
            let message = read(&file).map_err(|reason| format!("{}: {reason}", file.display()))?;
            if let Some(root) = message.text(&["path", "root"]).filter(|root| !root.is_empty()) {
                return Ok(Some(root.into_owned()));
            }
        }
    }
    Ok(None)
}

fn paths(folder: &Path) -> Result<Vec<std::path::PathBuf>, String> {
    match sorted_entries(folder) {
        Ok(entries) => Ok(entries.into_iter().map(|(_, path)| path).collect()),
        Err(error) if error.kind() == std::io::ErrorKind::NotFound => Ok(Vec::new()),
        Err(error) => Err(format!("{}: {error}", folder.display())),
    }
}

fn migrate_project(run: &mut Run<'_>, project: &Project, source: &Path, now: i64) {
    create_project(run, project, now);
    let mut sessions = Vec::new();
    for (name, file) in run.documents(&source.join("info")) {
        let Some(session) = copy(run, &file, &["session", &project.id, &name]) else { continue };
        if let Some(id) = session.text(&["id"]) {
            copy_messages(run, source, &id);
            sessions.push(id.into_owned());
        }
    }
    for (session, folder) in run.entries(&source.join("message")) {
        if !sessions.contains(&session) {
            run.report.left_behind.push(format!("{}: messages without a session", run.shown(&folder)));
        }
    }
    for (_, file) in run.documents(&source.join("share")) {
        run.report.left_behind.push(format!("{}: a share", run.shown(&file)));
    }
}

fn copy_messages(run: &mut Run<'_>, source: &Path, session: &str) {
    if Key::new([session]).is_err() {
        return run.fail(session, &"not a valid session id");
    }
    for (name, file) in run.documents(&source.join("message").join(session)) {
        let Some(message) = copy(run, &file, &["message", session, &name]) else { continue };
        let Some(id) = message.text(&["id"]) else { continue };
        if Key::new([&*id]).is_err() {
            run.fail(&run.shown(&file), &"its id is no valid id");
            continue;
        }
        for (part, file) in run.documents(&source.join("part").join(session).join(&*id)) {
            copy(run, &file, &["part", &id, &part]);
        }
    }
}

fn create_project(run: &mut Run<'_>, project: &Project, now: i64) {
    let key = match Key::new(["project", &project.id]) {
        Ok(key) => key,
        Err(error) => return run.fail(&project.id, &error),
    };
    // Whatever is known about the project already is at least as good.
    if run.store.read(&key).is_ok() {
        return;
    }
    let mut document = Json::object([("id", Json::from(project.id.as_str()))]);
    if project.is_repository {
        document.set("vcs", Json::from("git"));
    }
    document.set("worktree", Json::from(project.worktree.as_str()));
    document.set("time", Json::object([("created", Json::from(now)), ("initialized", Json::from(now))]));
    run.create(&key, &document);
}

/// Copies a document and returns what was copied.
fn copy(run: &mut Run<'_>, file: &Path, elements: &[&str]) -> Option<Json> {
    match (read(file), Key::new(elements.iter().copied())) {
        (Ok(value), Ok(key)) => {
            run.create(&key, &value);
            Some(value)
        }
        (Err(reason), _) => {
            run.fail(&run.shown(file), &reason);
            None
        }
        (_, Err(error)) => {
            run.fail(&run.shown(file), &error);
            None
        }
    }
}

fn read(file: &Path) -> Result<Json, String> {
    let opened = std::fs::File::open(file).map_err(|error| error.to_string())?;
    let parsed = json::parse_reader(opened, Limits::NONE);
    parsed.map(|parsed| parsed.value).map_err(|error| error.to_string())
}
