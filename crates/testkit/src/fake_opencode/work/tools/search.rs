//! The tools that search for files and for text. Patterns are the wildcards of permission rules and plain text; nothing
//! here needs more.

use super::{Context, Done, Outcome};
use serde_json::json;
use shuntyard_core::roles::pack::wildcard::matches;
use std::path::{Path, PathBuf};

const MOST: usize = 100;

pub(super) async fn glob(context: &Context<'_>) -> Outcome {
    let pattern = context.text("pattern")?;
    context.permit("glob", vec![pattern.to_owned()], json!({ "pattern": pattern })).await?;
    let root = root(context);
    let wanted = pattern.replace("**/", "*");
    let named = |path: &PathBuf| matches(&path.strip_prefix(&root).unwrap_or(path).to_string_lossy(), &wanted);
    let found: Vec<String> =
        files(&root).into_iter().filter(named).take(MOST).map(|path| path.display().to_string()).collect();
    let output = if found.is_empty() { "No files found".to_owned() } else { found.join("\n") };
    Ok(Done::new(pattern.to_owned(), output))
}

pub(super) async fn grep(context: &Context<'_>) -> Outcome {
    let pattern = context.text("pattern")?;
    context.permit("grep", vec![pattern.to_owned()], json!({ "pattern": pattern })).await?;
    let mut found = Vec::new();
    for path in files(&root(context)) {
        let text = std::fs::read_to_string(&path).unwrap_or_default();
        for (index, line) in text.lines().enumerate().filter(|(_, line)| line.contains(pattern)) {
            found.push(format!("{}:\n  Line {}: {line}", path.display(), index + 1));
        }
    }
    found.truncate(MOST);
    let output = if found.is_empty() { "No files found".to_owned() } else { found.join("\n") };
    Ok(Done::new(pattern.to_owned(), output))
}

fn root(context: &Context<'_>) -> PathBuf {
    context.job.instance.directory.join(context.input["path"].as_str().unwrap_or_default())
}

fn files(root: &Path) -> Vec<PathBuf> {
    let mut found = Vec::new();
    let mut left = vec![root.to_owned()];
    while let Some(directory) = left.pop() {
        for entry in std::fs::read_dir(directory).into_iter().flatten().flatten() {
            let path = entry.path();
            if path.is_dir() && entry.file_name() != ".git" {
                left.push(path);
            } else if path.is_file() {
                found.push(path);
            }
        }
    }
    found.sort();
    found
}
