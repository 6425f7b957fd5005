//! What `expected.json` says, checked.

use std::collections::BTreeMap;
use std::fs;
use std::path::{Path, PathBuf};

use logkeep_sessions::json::{Json, parse};
use tempfile::TempDir;

use crate::run::{Run, give_away, logkeep};
use crate::setup;

/// A case and a place to run it in.
pub(crate) struct Case {
    folder: PathBuf,
    expected: Json,
    other_user: bool,
    work: TempDir,
}

impl Case {
    pub(crate) fn open(folder: &Path) -> Self {
        let expected = parse(&fs::read(folder.join("expected.json")).unwrap()).unwrap();
        let other_user = expected.text(&["user"]).as_deref() == Some("other");
        let case =
            Self { folder: folder.to_owned(), expected, other_user, work: tempfile::tempdir().unwrap() };
        case.prepare();
        case
    }

    fn prepare(&self) {
        setup::copy(&self.folder.join("input"), &self.input());
        for name in ["data", "data-elsewhere", "work", "outside"] {
            fs::create_dir(self.work.path().join(name)).unwrap();
            if self.other_user {
                give_away(&self.work.path().join(name));
            }
        }
        if self.other_user {
            open_up(self.work.path());
        }
        for operation in self.list("setup") {
            setup::apply(operation, &self.folder, &self.input());
        }
    }

    pub(crate) fn check(&self) {
        let list = self.expected.get(&["import"]).map(|import| self.check_import(import));
        self.check_shows();
        if let Some(list) = list.filter(|_| self.expected.get(&["same_elsewhere"]).is_some()) {
            self.check_elsewhere(&list);
        }
        for bytes in self.list("data_never_holds") {
            let bytes = bytes.text(&[]).unwrap();
            assert!(!setup::holds(&self.path("data"), bytes.as_bytes()), "data holds {bytes:?}");
        }
        let before = setup::tree(&self.input());
        self.list("steps").iter().for_each(|step| self.step(step));
        self.check_changes(&before);
        self.list("after").iter().for_each(|step| self.step(step));
    }

    fn check_import(&self, import: &Json) -> String {
        let before = setup::tree(&self.input());
        let first = self.import();
        check_run(import, &first);
        let list = self.sessions();
        self.check_list(&list, &first);
        let second = self.import();
        check_run(import, &second);
        assert_eq!(self.sessions(), list, "a second import changes the list");
        assert_eq!(setup::tree(&self.input()), before, "the source was changed");
        list
    }

    fn check_list(&self, list: &str, import: &Run) {
        let lines: Vec<Json> = list.lines().map(|line| parse(line.as_bytes()).unwrap()).collect();
        let mut listed = BTreeMap::new();
        for line in &lines {
            let id = line.text(&["id"]).unwrap().into_owned();
            assert!(listed.insert(id.clone(), line).is_none(), "{id} is listed twice");
        }
        for (id, expected) in self.expected.get(&["sessions"]).map_or(&[][..], Json::fields) {
            let id = id.plain();
            match listed.remove(&*id) {
                Some(line) => check_line(expected, line, import),
                None => {
                    let optional = expected.get(&["optional"]) == Some(&Json::Bool(true));
                    assert!(optional, "{id} is not listed:\n{list}");
                    check_mentions(expected, "else_mentions", import);
                }
            }
        }
        let others = self.expected.get(&["total", "others"]) == Some(&Json::Bool(true));
        assert!(others || listed.is_empty(), "listed without being expected: {:?}", listed.keys());
        for absent in self.list("absent") {
            assert!(!list.contains(&*absent.text(&[]).unwrap()), "{absent} is listed");
        }
        for (name, expected) in self.expected.get(&["total"]).map_or(&[][..], Json::fields) {
            let sum = match &*name.plain() {
                "others" => continue,
                "sessions" => lines.len() as i64,
                name => lines.iter().map(|line| line.integer(&[name]).unwrap()).sum(),
            };
            assert!(figure_holds(expected, sum), "total of {}: {sum}, not {expected}", name.plain());
        }
    }

    fn check_shows(&self) {
        for (id, expected) in self.expected.get(&["show"]).map_or(&[][..], Json::fields) {
            for command in ["show", "export"] {
                let run = self.run(&["sessions", command, &id.plain(), "--data", "{data}"], "");
                assert_eq!(run.code, 0, "{command}: {}", run.stderr);
                check_shown(expected, &run.stdout);
            }
        }
    }

    fn check_elsewhere(&self, list: &str) {
        let elsewhere = self.work.path().join("another/place");
        setup::copy(&self.folder.join("input"), &elsewhere);
        for operation in self.list("setup") {
            setup::apply(operation, &self.folder, &elsewhere);
        }
        let path = elsewhere.to_string_lossy();
        assert_eq!(self.run(&["sessions", "import", &path, "--data", "{elsewhere}", "--json"], "").code, 0);
        let other = self.run(&["sessions", "list", "--data", "{elsewhere}", "--json"], "");
        assert_eq!(other.stdout, list);
    }

    fn check_changes(&self, before: &BTreeMap<String, String>) {
        let after = setup::tree(&self.input());
        for name in self.list("unchanged") {
            let name = name.text(&[]).unwrap();
            assert_eq!(after.get(&*name), before.get(&*name), "{name} was changed");
        }
        let Some(below) = self.expected.text(&["only_below"]) else { return };
        for (name, state) in &after {
            let allowed = name.starts_with(&*below) || name.contains("lock") || name.contains("backup");
            assert!(allowed || before.get(name) == Some(state), "{name} was changed");
        }
        assert!(before.keys().all(|name| name.starts_with(&*below) || after.contains_key(name)));
    }

    fn step(&self, step: &Json) {
        if step.get(&["op"]).is_some() {
            return setup::apply(step, &self.folder, &self.input());
        }
        if let Some(file) = step.text(&["file"]) {
            let content = fs::read_to_string(self.input().join(&*file)).unwrap();
            return assert_eq!(content, step.text(&["text"]).unwrap(), "{file}");
        }
        if let Some(key) = step.array(&["round_trip"]) {
            return self.round_trip(key, step.get(&["value"]).unwrap());
        }
        let arguments: Vec<_> = step.array(&["run"]).unwrap().iter().map(|a| a.text(&[]).unwrap()).collect();
        let arguments: Vec<&str> = arguments.iter().map(|argument| &**argument).collect();
        let run = self.run(&arguments, &step.text(&["stdin"]).unwrap_or_default());
        if run.code == 2 && step.get(&["if_exists"]).is_some() {
            return;
        }
        check_run(step, &run);
    }

    fn round_trip(&self, key: &[Json], value: &Json) {
        let elements: Vec<_> = key.iter().map(|element| element.text(&[]).unwrap()).collect();
        let run = |command: &str, stdin: &str| {
            let mut arguments = vec!["documents", command, "--root", "{input}"];
            arguments.extend(elements.iter().map(|element| &**element));
            self.run(&arguments, stdin)
        };
        let (written, read) = (run("write", &value.to_string()), run("read", ""));
        assert_eq!(written.code == 0, read.code == 0, "{key:?}");
        if written.code == 0 {
            assert_eq!(&parse(read.stdout.as_bytes()).unwrap(), value);
        }
    }

    fn import(&self) -> Run {
        self.run(&["sessions", "import", "{input}", "--data", "{data}", "--json"], "")
    }

    fn sessions(&self) -> String {
        let list = self.run(&["sessions", "list", "--data", "{data}", "--json"], "");
        assert_eq!(list.code, 0, "{}", list.stderr);
        list.stdout
    }

    fn run(&self, arguments: &[&str], stdin: &str) -> Run {
        let filled: Vec<String> = arguments.iter().map(|argument| self.fill(argument)).collect();
        logkeep(&filled, stdin, self.other_user)
    }

    fn fill(&self, argument: &str) -> String {
        let places = [
            ("{input}", "input"),
            ("{data}", "data"),
            ("{elsewhere}", "data-elsewhere"),
            ("{work}", "work"),
            ("{outside}", "outside"),
        ];
        places.iter().fold(argument.to_owned(), |text, (name, folder)| {
            text.replace(name, &self.path(folder).to_string_lossy())
        })
    }

    fn list(&self, name: &str) -> &[Json] {
        self.expected.array(&[name]).unwrap_or_default()
    }

    fn path(&self, name: &str) -> PathBuf {
        self.work.path().join(name)
    }

    fn input(&self) -> PathBuf {
        self.path("input")
    }
}

fn check_run(expected: &Json, run: &Run) {
    let output = format!("exit {}\n{}\n{}", run.code, run.stdout, run.stderr);
    let codes: &[i32] = match expected.text(&["exit"]).as_deref() {
        Some("ok") => &[0],
        Some("failure") => &[1],
        Some("usage") => &[2],
        Some("refused") => &[1, 2],
        Some("handled") => &[0, 1],
        _ => &[0, 1, 2],
    };
    assert!(codes.contains(&run.code), "expected exit {codes:?}\n{output}");
    check_mentions(expected, "mentions", run);
    let lower = output.to_lowercase();
    for unwanted in expected.array(&["not_mentions"]).unwrap_or_default() {
        let unwanted = unwanted.text(&[]).unwrap().to_lowercase();
        assert!(!lower.contains(&unwanted), "mentions {unwanted:?}\n{output}");
    }
    if let Some(limit) = expected.number(&["max_seconds"]) {
        assert!(run.seconds <= limit, "took {} s, more than {limit}", run.seconds);
    }
    if let Some(limit) = expected.integer(&["max_rss_mib"]) {
        assert!(run.memory > 0, "this system does not tell how much memory a process holds");
        assert!((run.memory as i64) < limit, "held {} MiB, more than {limit}", run.memory);
    }
    check_output(expected, run);
}

fn check_output(expected: &Json, run: &Run) {
    if let Some(value) = expected.get(&["json"]) {
        assert_eq!(&parse(run.stdout.as_bytes()).unwrap(), value);
    }
    if let Some(fields) = expected.get(&["json_has"]) {
        let value = parse(run.stdout.as_bytes()).unwrap();
        for (name, field) in fields.fields() {
            assert_eq!(value.get(&[&name.plain()]), Some(field));
        }
    }
    let mut printed: Vec<&str> = run.stdout.lines().collect();
    let lines = |keys: &[Json]| keys.iter().map(Json::to_string).collect::<Vec<_>>();
    if let Some(keys) = expected.array(&["keys_in_order"]) {
        assert_eq!(printed, lines(keys));
    }
    if let Some(keys) = expected.array(&["keys"]) {
        let mut keys = lines(keys);
        keys.sort();
        printed.sort_unstable();
        assert_eq!(printed, keys);
    }
}

fn check_mentions(expected: &Json, name: &str, run: &Run) {
    let output = format!("{}\n{}", run.stdout, run.stderr).to_lowercase();
    for wanted in expected.array(&[name]).unwrap_or_default() {
        let one_of = wanted.array(&[]).unwrap_or(std::slice::from_ref(wanted));
        let found = one_of.iter().any(|text| output.contains(&text.text(&[]).unwrap().to_lowercase()));
        assert!(found, "does not mention {wanted}\n{output}");
    }
}

fn check_line(expected: &Json, line: &Json, import: &Run) {
    for (name, value) in expected.fields() {
        let name = name.plain();
        if ["optional", "else_mentions", "may_skip_parts"].contains(&&*name) {
            continue;
        }
        match line.integer(&[&name]) {
            Some(figure) => {
                let skipped = if name == "parts" { skipped_parts(expected, import) } else { 0 };
                let holds = (0..=skipped).any(|missing| figure_holds(value, figure + missing));
                assert!(holds, "{name} is {figure}, not {value}: {line}");
            }
            None => assert_eq!(line.get(&[&name]), Some(value), "{name}: {line}"),
        }
    }
}

/// How many of the parts that may be missing the report names.
fn skipped_parts(expected: &Json, import: &Run) -> i64 {
    let parts = expected.array(&["may_skip_parts"]).unwrap_or_default();
    parts.iter().filter(|part| import.stdout.contains(&*part.text(&[]).unwrap())).count() as i64
}

fn figure_holds(expected: &Json, figure: i64) -> bool {
    match expected.array(&[]) {
        Some([least, most]) => (least.integer(&[]).unwrap()..=most.integer(&[]).unwrap()).contains(&figure),
        _ => expected.integer(&[]) == Some(figure),
    }
}

fn check_shown(expected: &Json, shown: &str) {
    let texts = |name: &str| {
        let texts = expected.array(&[name]).unwrap_or_default();
        texts.iter().map(|text| text.text(&[]).unwrap().into_owned()).collect::<Vec<String>>()
    };
    for text in texts("contains") {
        assert!(shown.contains(&text), "does not show {text:?}:\n{shown}");
    }
    for text in texts("not_contains") {
        assert!(!shown.contains(&text), "shows {text:?}:\n{shown}");
    }
    let places: Vec<usize> = texts("in_order").iter().map(|text| shown.find(text).unwrap()).collect();
    assert!(places.is_sorted() || places.iter().rev().is_sorted(), "{places:?}:\n{shown}");
}

fn open_up(folder: &Path) {
    #[cfg(unix)]
    {
        use std::os::unix::fs::PermissionsExt;
        fs::set_permissions(folder, fs::Permissions::from_mode(0o755)).unwrap();
    }
}
