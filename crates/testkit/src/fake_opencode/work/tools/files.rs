//! The tools that read and write files. Paths outside of the project are asked for first.

use super::{Context, Done, Job, Outcome, Refused};
use serde_json::json;
use shuntyard_core::roles::pack::outside::{PathKind, Place, outside};
use std::path::{Path, PathBuf};

const MOST_LINES: usize = 2000;

pub(super) async fn read(context: &Context<'_>) -> Outcome {
    let path = place(context, "filePath").await?;
    context.permit("read", vec![relative(context.job, &path)], json!({})).await?;
    let output = show(context.job, &path).map_err(Refused::Told)?;
    Ok(Done::new(relative(context.job, &path), output))
}

pub(super) async fn write(context: &Context<'_>) -> Outcome {
    let path = place(context, "filePath").await?;
    let content = context.text("content")?;
    context.permit("edit", vec![relative(context.job, &path)], json!({ "filepath": path })).await?;
    save(&path, content)?;
    Ok(Done::new(relative(context.job, &path), "Wrote file successfully.".to_owned()))
}

pub(super) async fn edit(context: &Context<'_>) -> Outcome {
    let path = place(context, "filePath").await?;
    let (old, new) = (context.text("oldString")?, context.text("newString")?);
    context.permit("edit", vec![relative(context.job, &path)], json!({ "filepath": path })).await?;
    if old.is_empty() {
        save(&path, new)?;
        return Ok(Done::new(relative(context.job, &path), "Edit applied successfully.".to_owned()));
    }
    let text = std::fs::read_to_string(&path);
    let text = text.map_err(|_| Refused::Told(format!("File {} not found", path.display())))?;
    let all = context.input["replaceAll"] == true;
    let changed = match text.matches(old).count() {
        0 => {
            let told = "Could not find oldString in the file. It must match exactly, including whitespace, indentation, and line endings.";
            return Err(Refused::Told(told.to_owned()));
        }
        1 => text.replacen(old, new, 1),
        _ if all => text.replace(old, new),
        _ => {
            let told =
                "Found multiple matches for oldString. Provide more surrounding context to make the match unique.";
            return Err(Refused::Told(told.to_owned()));
        }
    };
    save(&path, &changed)?;
    Ok(Done::new(relative(context.job, &path), "Edit applied successfully.".to_owned()))
}

/// A file or a directory as the model is shown it.
pub(in super::super) fn show(job: &Job, path: &Path) -> Result<String, String> {
    let shown = path.display();
    if path.is_dir() {
        let mut names: Vec<String> = std::fs::read_dir(path)
            .into_iter()
            .flatten()
            .flatten()
            .map(|entry| {
                let slash = if entry.path().is_dir() { "/" } else { "" };
                format!("{}{slash}", entry.file_name().to_string_lossy())
            })
            .collect();
        names.sort();
        let (count, names) = (names.len(), names.join("\n"));
        return Ok(format!(
            "<path>{shown}</path>\n<type>directory</type>\n<entries>\n{names}\n({count} entries)\n</entries>"
        ));
    }
    let bytes =
        std::fs::read(path).map_err(|_| format!("File not found: {}", job.instance.directory.join(path).display()))?;
    let text = String::from_utf8_lossy(&bytes);
    let lines: Vec<String> =
        text.lines().take(MOST_LINES).enumerate().map(|(index, line)| format!("{}: {line}", index + 1)).collect();
    let (count, lines) = (lines.len(), lines.join("\n"));
    Ok(format!(
        "<path>{shown}</path>\n<type>file</type>\n<content>\n{lines}\n\n(End of file - total {count} lines)\n</content>"
    ))
}

/// The path that a call names, once it may be used.
async fn place(context: &Context<'_>, key: &str) -> Result<PathBuf, Refused> {
    let path = context.job.instance.directory.join(context.text(key)?);
    let kind = if path.is_dir() { PathKind::Directory } else { PathKind::File };
    if let Some(away) = away(context.job, &path.to_string_lossy(), kind) {
        let metadata = json!({ "filepath": path, "parentDir": path.parent() });
        context.permit("external_directory", vec![away], metadata).await?;
    }
    Ok(path)
}

/// The directory outside of the project that a path is in.
pub(super) fn away(job: &Job, path: &str, kind: PathKind) -> Option<String> {
    let text = |path: &Path| path.to_string_lossy().into_owned();
    let (directory, worktree, home) =
        (text(&job.instance.directory), text(&job.instance.worktree), text(&job.machine.home));
    outside(path, Place { directory: &directory, worktree: &worktree, home: &home }, kind)
}

fn relative(job: &Job, path: &Path) -> String {
    let root = &job.instance.worktree;
    if let Ok(below) = path.strip_prefix(root) {
        return below.to_string_lossy().into_owned();
    }
    let common = root.ancestors().find(|ancestor| path.starts_with(ancestor)).unwrap_or(Path::new("/"));
    let up = root.strip_prefix(common).map_or(0, |rest| rest.components().count());
    let below = path.strip_prefix(common).unwrap_or(path);
    format!("{}{}", "../".repeat(up), below.display())
}

fn save(path: &Path, content: &str) -> Result<(), Refused> {
    if let Some(directory) = path.parent() {
        drop(std::fs::create_dir_all(directory));
    }
    std::fs::write(path, content).map_err(|error| Refused::Told(error.to_string()))
}
