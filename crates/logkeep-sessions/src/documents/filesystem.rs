//! File systems on which locks and memory maps do not reach every machine.

use std::path::Path;

/// Types whose files live on another machine.
const NETWORK: [&str; 16] = [
    "nfs",
    "nfs4",
    "cifs",
    "smb3",
    "smbfs",
    "9p",
    "afs",
    "ceph",
    "lustre",
    "glusterfs",
    "ncpfs",
    "coda",
    "gfs2",
    "ocfs2",
    "fuse.sshfs",
    "fuse.rclone",
];

/// The type of the network file system a path lies on, for instance `nfs4`.
///
/// `None` on local file systems and where the system does not tell (only Linux
/// does, in `/proc/self/mountinfo`).
pub fn network_file_system(path: &Path) -> Option<String> {
    let mounts = std::fs::read_to_string("/proc/self/mountinfo").ok()?;
    let path = std::fs::canonicalize(path).ok()?;
    network_type(&mounts, &path)
}

fn network_type(mounts: &str, path: &Path) -> Option<String> {
    let holding = mounts.lines().filter_map(parse_mount).filter(|(point, _)| path.starts_with(point));
    // A later mount hides an earlier one at the same point; max_by_key takes the last.
    let (_, kind) = holding.max_by_key(|(point, _)| point.len())?;
    NETWORK.contains(&kind).then(|| kind.to_owned())
}

/// Mount point and type of a line of `mountinfo`.
fn parse_mount(line: &str) -> Option<(String, &str)> {
    let (front, back) = line.split_once(" - ")?;
    let point = front.split(' ').nth(4)?;
    let kind = back.split(' ').next()?;
    Some((point.replace("\\040", " ").replace("\\134", "\\"), kind))
}

#[cfg(test)]
mod tests {
    use super::*;

    const MOUNTS: &str = "\
22 1 8:1 / / rw - ext4 /dev/sda1 rw
30 22 0:40 / /home rw shared:1 - nfs4 server:/home rw
31 22 0:41 / /home/local\\040disk rw shared:2 master:1 - xfs /dev/sdb rw
32 22 0:42 / /mnt rw - fuse.sshfs host:/ rw";

    #[test]
    fn the_innermost_mount_decides() {
        let kind = |path: &str| network_type(MOUNTS, Path::new(path));
        assert_eq!(kind("/home/me/.local"), Some("nfs4".to_owned()));
        assert_eq!(kind("/home/local disk/x"), None);
        assert_eq!(kind("/homes"), None);
        assert_eq!(kind("/mnt/x"), Some("fuse.sshfs".to_owned()));
        assert_eq!(network_type("nonsense", Path::new("/")), None);
    }

    #[test]
    fn temporary_folders_are_local() {
        assert_eq!(network_file_system(tempfile::tempdir().unwrap().path()), None);
    }
}
