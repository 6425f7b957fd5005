//! Running the command and watching what it takes.

use std::ffi::OsStr;
use std::io::Write;
use std::path::Path;
use std::process::{Child, Command, Stdio};
use std::time::{Duration, Instant};

/// What a run printed and took.
pub(crate) struct Run {
    pub(crate) code: i32,
    pub(crate) stdout: String,
    pub(crate) stderr: String,
    pub(crate) seconds: f64,
    /// Most memory it held at once, in MiB; 0 where the system does not tell.
    pub(crate) memory: u64,
}

/// Runs `logkeep`. `other_user` runs it as someone who owns nothing.
pub(crate) fn logkeep(arguments: &[impl AsRef<OsStr>], stdin: &str, other_user: bool) -> Run {
    let mut command = Command::new(env!("CARGO_BIN_EXE_logkeep"));
    command.args(arguments).stdin(Stdio::piped()).stdout(Stdio::piped()).stderr(Stdio::piped());
    command.env("LANG", "C.UTF-8");
    #[cfg(unix)]
    if other_user && is_root() {
        std::os::unix::process::CommandExt::uid(&mut command, NOBODY);
        std::os::unix::process::CommandExt::gid(&mut command, NOBODY);
    }
    let started = Instant::now();
    let mut child = command.spawn().unwrap();
    // A run that refuses its arguments does not read its input.
    let _ = child.stdin.take().unwrap().write_all(stdin.as_bytes());
    let memory = watch(child.id());
    let output = finish(child);
    Run {
        code: output.status.code().unwrap_or(-1),
        stdout: String::from_utf8(output.stdout).unwrap(),
        stderr: String::from_utf8(output.stderr).unwrap(),
        seconds: started.elapsed().as_secs_f64(),
        memory: memory.join().unwrap(),
    }
}

fn finish(child: Child) -> std::process::Output {
    child.wait_with_output().unwrap()
}

/// Samples the peak of a process until it is gone.
fn watch(process: u32) -> std::thread::JoinHandle<u64> {
    std::thread::spawn(move || {
        let mut peak = 0;
        while let Some(now) = peak_memory(process) {
            peak = now;
            std::thread::sleep(Duration::from_millis(5));
        }
        peak
    })
}

fn peak_memory(process: u32) -> Option<u64> {
    let status = std::fs::read_to_string(format!("/proc/{process}/status")).ok()?;
    let line = status.lines().find(|line| line.starts_with("VmHWM:"))?;
    let kib: u64 = line.split_whitespace().nth(1)?.parse().ok()?;
    Some(kib / 1024)
}

#[cfg(unix)]
const NOBODY: u32 = 65534;

#[cfg(unix)]
fn is_root() -> bool {
    use std::os::unix::fs::MetadataExt;
    std::fs::metadata("/proc/self").is_ok_and(|metadata| metadata.uid() == 0)
}

/// Gives a folder to the user that `other_user` runs as.
pub(crate) fn give_away(folder: &Path) {
    #[cfg(unix)]
    if is_root() {
        std::os::unix::fs::chown(folder, Some(NOBODY), Some(NOBODY)).unwrap();
    }
}
