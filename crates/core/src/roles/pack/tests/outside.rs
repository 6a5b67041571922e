//! What belongs to the project and what does not.

use crate::roles::pack::outside::{PathKind, Place, outside};

#[test]
fn paths_outside_are_asked_for_by_their_directory() {
    let place = Place { directory: "/w/project/sub", worktree: "/w/project", home: "/h" };
    let table = [
        ("x.rs", PathKind::File, None),
        ("../other/x.rs", PathKind::File, None),
        ("/w/project", PathKind::Directory, None),
        ("/w/project-two/x", PathKind::File, Some("/w/project-two/*")),
        ("../../x", PathKind::File, Some("/w/*")),
        ("/etc/hostname", PathKind::File, Some("/etc/*")),
        ("/etc", PathKind::Directory, Some("/etc/*")),
        ("/etc", PathKind::File, Some("/*")),
        ("/", PathKind::Directory, Some("/*")),
        ("~/notes", PathKind::File, Some("/h/*")),
        ("~", PathKind::Directory, Some("/h/*")),
    ];
    for (path, kind, expected) in table {
        assert_eq!(outside(path, place, kind).as_deref(), expected, "{path}");
    }
    let plain = Place { worktree: "/", ..place };
    assert_eq!(outside("../x", plain, PathKind::File).as_deref(), Some("/w/project/*"), "no repository, no worktree");
}
