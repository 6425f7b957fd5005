//! Filing sessions under the project their directory belongs to today.
//!
//! The id of a project is its first commit, so it changes with `git init`, a
//! rewritten history or a shallow clone, and sessions seem lost (DS-085). Their
//! directory does not change with it.

use std::collections::BTreeMap;

use rusqlite::TransactionBehavior;

use super::{SessionEvent, SessionLine, SessionStore, SessionWriter, StoreError};
use crate::json::{Json, parse};

/// A session that belongs to another project than it was filed under.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Relinked {
    /// The session.
    pub session: String,
    /// Its directory.
    pub directory: String,
    /// The project before.
    pub from: String,
    /// The project now.
    pub to: String,
}

/// Which sessions to move.
#[derive(Debug, Clone, Default)]
pub struct RelinkOptions {
    /// Only sessions of this directory.
    pub directory: Option<String>,
    /// File them under this project, instead of finding it.
    pub project: Option<String>,
    /// Tell what would move, and move nothing.
    pub dry_run: bool,
}

/// A project and the directories it covers.
struct Project {
    id: String,
    directories: Vec<String>,
    /// When a session of it last changed.
    used: i64,
}

impl SessionStore {
    /// Moves sessions to the project that covers their directory: the one with
    /// the longest work tree, and of several with the same, the one used last.
    /// Where none is known, all sessions of a directory join the one used last.
    ///
    /// # Errors
    /// What SQLite reports; then nothing was moved.
    pub fn relink(&mut self, options: &RelinkOptions) -> Result<Vec<Relinked>, StoreError> {
        let lines = self.list(options.directory.as_deref())?;
        let projects = self.projects(&self.list(None)?)?;
        let mut directories: BTreeMap<&str, Vec<&SessionLine>> = BTreeMap::new();
        for line in lines.iter().filter(|line| !line.directory.is_empty()) {
            directories.entry(&line.directory).or_default().push(line);
        }
        let mut moves = Vec::new();
        for (directory, sessions) in directories {
            let target = options.project.clone().or_else(|| target(&projects, directory, &sessions));
            let Some(target) = target else { continue };
            moves.extend(sessions.into_iter().filter(|line| line.project != target).map(|line| Relinked {
                session: line.id.clone(),
                directory: directory.to_owned(),
                from: line.project.clone(),
                to: target.clone(),
            }));
        }
        if !options.dry_run {
            self.apply(&moves)?;
        }
        Ok(moves)
    }

    fn apply(&mut self, moves: &[Relinked]) -> Result<(), StoreError> {
        let transaction = self.connection.transaction_with_behavior(TransactionBehavior::Immediate)?;
        for moved in moves {
            let mut writer = SessionWriter::new(&transaction, &moved.session)?;
            let time = writer.current()?.and_then(|info| info.integer(&["time", "updated"])).unwrap_or(0);
            let info = Json::object([("projectID", Json::from(moved.to.as_str()))]);
            writer.append(&SessionEvent::Updated { info }, time)?;
            writer.finish()?;
        }
        Ok(transaction.commit()?)
    }

    fn projects(&self, sessions: &[SessionLine]) -> Result<Vec<Project>, StoreError> {
        let mut select =
            self.connection.prepare_cached("SELECT id, worktree, data FROM project ORDER BY id")?;
        let mut rows = select.query([])?;
        let mut projects = Vec::new();
        while let Some(row) = rows.next()? {
            let id: String = row.get(0)?;
            let data: String = row.get(2)?;
            let data =
                parse(data.as_bytes()).map_err(|_| StoreError::Damaged { what: format!("project {id}") })?;
            let sandboxes = data.array(&["sandboxes"]).unwrap_or_default().iter();
            let mut directories: Vec<String> = vec![row.get(1)?];
            directories.extend(sandboxes.filter_map(|sandbox| sandbox.text(&[]).map(String::from)));
            let of_project = sessions.iter().filter(|line| line.project == id);
            let used = of_project.map(|line| line.updated).max().unwrap_or(i64::MIN);
            projects.push(Project { id, directories, used });
        }
        Ok(projects)
    }
}

fn target(projects: &[Project], directory: &str, sessions: &[&SessionLine]) -> Option<String> {
    let covering = projects.iter().filter_map(|project| {
        let covers = project.directories.iter().filter(|worktree| covers(worktree, directory));
        Some((covers.map(String::len).max()?, project.used, project))
    });
    let best = covering.max_by(|a, b| (a.0, a.1, &b.2.id).cmp(&(b.0, b.1, &a.2.id)));
    // Lists begin with the session that changed last.
    best.map(|(_, _, project)| project.id.clone())
        .or_else(|| sessions.first().map(|line| line.project.clone()))
}

/// Whether a directory is a work tree or lies in it. The root of the file system covers nothing.
fn covers(worktree: &str, directory: &str) -> bool {
    let worktree = worktree.trim_end_matches(['/', '\\']);
    !worktree.is_empty()
        && directory
            .strip_prefix(worktree)
            .is_some_and(|rest| rest.is_empty() || rest.starts_with(['/', '\\']))
}

#[cfg(test)]
mod tests {
    use super::covers;

    #[test]
    fn a_work_tree_covers_what_lies_in_it() {
        assert!(
            covers("/srv/a", "/srv/a") && covers("/srv/a/", "/srv/a/b") && covers("C:\\code", "C:\\code\\x")
        );
        assert!(!covers("/srv/a", "/srv/ab") && !covers("/", "/srv/a") && !covers("", "/srv/a"));
    }
}
