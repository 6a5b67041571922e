//! The kind of a single line of a text: prose or pasted material.

/// A change in the format of `git diff` begins here.
pub(super) fn begins_diff(line: &str) -> bool {
    line.starts_with("diff --git ") || (line.starts_with("@@ -") && line.contains(" @@")) || line.starts_with("+++ b/")
}

/// Whether a diff that began goes on. An empty line may be a line of the file whose leading space was lost.
pub(super) fn continues_diff(line: &str) -> bool {
    const HEADS: [&str; 7] =
        ["index ", "diff ", "new file", "deleted file", "rename ", "similarity index", "Binary files"];
    line.is_empty()
        || line.starts_with(['+', '-', ' ', '@', '\\', '\t'])
        || HEADS.iter().any(|head| line.starts_with(head))
}

/// A line of a stack trace, in the forms of the common runtimes.
pub(super) fn is_trace(line: &str) -> bool {
    let line = line.trim();
    line.starts_with("Traceback (most recent call last)")
        || line == "stack backtrace:"
        || (line.starts_with("at ") && names_source_line(line))
        || (line.starts_with("File \"") && line.contains("\", line "))
        || (line.starts_with("goroutine ") && line.contains('['))
        || (line.contains("panicked at ") && (line.starts_with("thread '") || names_source_line(line)))
        || line.starts_with("Exception in thread ")
}

/// Whether something like `main.rs:12` is in it: an extension of at most five letters, a colon and a number.
fn names_source_line(line: &str) -> bool {
    line.match_indices(':').any(|(at, _)| {
        let before = &line.as_bytes()[..at];
        let letters = before.iter().rev().take(6).take_while(|byte| byte.is_ascii_alphabetic()).count();
        let dotted = before[..at - letters].ends_with(b".");
        let number = line[at + 1..].starts_with(|c: char| c.is_ascii_digit());
        number && dotted && (1..=5).contains(&letters)
    })
}

/// A line as programs write it when they fail.
pub(super) fn is_error(line: &str) -> bool {
    const BEGINNINGS: [&str; 7] = ["error:", "error[", "Error:", "ERROR", "fatal:", "panic:", "E   "];
    const PARTS: [&str; 9] = [
        "Error: ",
        "Exception: ",
        "Segmentation fault",
        "core dumped",
        "exit code ",
        "exit status ",
        "undefined reference to",
        "command not found",
        "No such file or directory",
    ];
    let trimmed = line.trim_start();
    BEGINNINGS.iter().any(|start| trimmed.starts_with(start)) || PARTS.iter().any(|part| line.contains(part))
}

/// Whether it looks like a line of a program. One alone proves nothing: prose may end with a brace too.
pub(super) fn is_code(line: &str) -> bool {
    const OPENERS: [&str; 11] =
        ["def ", "class ", "if ", "for ", "while ", "else", "elif ", "try", "except", "with ", "async def "];
    let trimmed = line.trim();
    let indented = line.starts_with("    ") || line.starts_with('\t');
    trimmed.ends_with(['{', '}', ';'])
        || trimmed.starts_with("#include")
        || trimmed.starts_with("//")
        || trimmed.starts_with("</")
        || (trimmed.ends_with(':') && OPENERS.iter().any(|opener| trimmed.starts_with(opener)))
        || (trimmed.starts_with("import ") && trimmed.split_whitespace().nth(4).is_none())
        || (indented && trimmed.contains(['=', '(', '[']))
}

pub(super) fn is_fence(line: &str) -> bool {
    let line = line.trim_start();
    line.starts_with("```") || line.starts_with("~~~")
}
