//! What comes with a task: looked at before it is taken, and copied, so that the job has what its caller saw.

use super::JobError;
use crate::Context;
use shuntyard_core::{routing::request::Image, values::size};
use shuntyard_host::paths::{private_dir, write_private};
use std::path::{Path, PathBuf};
use uuid::Uuid;

/// A text longer than this is a file to be read where it is, not one to be sent along.
const MOST_TEXT: usize = 200_000;

/// Copies the files into a directory of their own. All of them have to be inside `directory`.
pub(super) fn take(context: &Context, directory: &Path, files: &[PathBuf]) -> Result<Taken, JobError> {
    let jobs = &context.config.jobs;
    if files.len() > jobs.attachments {
        let message = format!("{} attachments are too many: at most {}", files.len(), jobs.attachments);
        return Err(JobError::usage(message, "attach fewer, or raise jobs.attachments"));
    }
    if files.is_empty() {
        return Ok(Taken { copies: Vec::new() });
    }
    let place = context.paths.data_dir.join("jobs").join(Uuid::now_v7().to_string());
    let made = |error: std::io::Error| {
        JobError::unavailable(format!("the attachments cannot be kept: {error}"), "look at the data directory")
    };
    let mut read = Vec::new();
    for file in files {
        read.push(look(directory, file, jobs.attachment_mib)?);
    }
    private_dir(&place).map_err(made)?;
    let mut taken = Taken { copies: Vec::new() };
    for (number, (name, bytes)) in read.iter().enumerate() {
        let copy = place.join(format!("{number}-{name}"));
        write_private(&copy, bytes).map_err(made)?;
        taken.copies.push(copy);
    }
    Ok(taken)
}

/// Copies that belong to no order yet: they are removed again unless they are kept.
#[derive(Debug)]
pub(super) struct Taken {
    pub copies: Vec<PathBuf>,
}

impl Taken {
    pub(super) fn keep(mut self) {
        self.copies.clear();
    }
}

impl Drop for Taken {
    fn drop(&mut self) {
        forget(&self.copies);
    }
}

fn look(directory: &Path, file: &Path, most_mib: u64) -> Result<(String, Vec<u8>), JobError> {
    let shown = file.display();
    let full = directory.join(file);
    let real = full.canonicalize().map_err(|error| {
        JobError::usage(format!("the attachment {shown} cannot be read: {error}"), "give a path in the project")
    })?;
    let root = directory.canonicalize().unwrap_or_else(|_| directory.to_owned());
    if !real.starts_with(&root) {
        let message = format!("the attachment {shown} is outside the project {}", root.display());
        return Err(JobError::usage(message, "copy it into the project first"));
    }
    let meta = real.metadata().ok().filter(std::fs::Metadata::is_file);
    let Some(meta) = meta else {
        return Err(JobError::usage(format!("the attachment {shown} is no file"), "attach files, one by one"));
    };
    if meta.len() > most_mib << 20 {
        let (found, most) = (size::show(meta.len()), size::show(most_mib << 20));
        let message = format!("the attachment {shown} is too large: {found}, at most {most}");
        return Err(JobError::usage(message, "make it smaller, or raise jobs.attachment_mib"));
    }
    let bytes = std::fs::read(&real).map_err(|error| {
        JobError::usage(format!("the attachment {shown} cannot be read: {error}"), "look at its permissions")
    })?;
    let is_text = bytes.len() <= MOST_TEXT && std::str::from_utf8(&bytes).is_ok_and(|text| !text.contains('\0'));
    if Image::sniff(&bytes).is_none() && !is_text {
        let most = size::show(MOST_TEXT as u64);
        let message = format!("the attachment {shown} is neither an image nor a text of at most {most}");
        return Err(JobError::usage(message, "images: PNG, JPEG, GIF or WebP; name other files in the task instead"));
    }
    let plain = |c: char| if c.is_ascii_alphanumeric() || matches!(c, '.' | '-' | '_') { c } else { '_' };
    let name: String =
        real.file_name().map(|name| name.to_string_lossy().chars().map(plain).take(80).collect()).unwrap_or_default();
    Ok((name, bytes))
}

/// What was attached, ready to be sent: images apart, texts behind the prompt.
#[derive(Debug, Default)]
pub(super) struct Attached {
    pub images: Vec<Image>,
    pub text: String,
}

pub(super) fn load(copies: &[PathBuf]) -> Result<Attached, String> {
    let mut attached = Attached::default();
    for copy in copies {
        let bytes = std::fs::read(copy).map_err(|error| format!("an attachment is gone: {error}"))?;
        let name = copy.file_name().map(|name| name.to_string_lossy().into_owned()).unwrap_or_default();
        let name = name.split_once('-').map_or(name.clone(), |(_, name)| name.to_owned());
        match Image::sniff(&bytes) {
            Some(mime) => attached.images.push(Image { name, mime, bytes }),
            None => {
                let text = String::from_utf8_lossy(&bytes);
                // A fence that is longer than any in the text cannot be closed by it.
                let longest =
                    text.lines().map(|line| line.chars().take_while(|c| *c == '`').count()).max().unwrap_or(0);
                let fence = "`".repeat(longest.max(2) + 1);
                attached.text.push_str(&format!("\n\nAttached file {name}:\n{fence}\n{text}\n{fence}"));
            }
        }
    }
    Ok(attached)
}

/// How many of them are images, by their content.
pub(super) fn images(copies: &[PathBuf]) -> usize {
    let is_image = |copy: &&PathBuf| {
        let mut head = [0; 16];
        let read = std::fs::File::open(copy).and_then(|mut file| std::io::Read::read(&mut file, &mut head));
        read.is_ok_and(|count| Image::sniff(&head[..count]).is_some())
    };
    copies.iter().filter(is_image).count()
}

/// Removes the copies of a job that is over for good.
pub(super) fn forget(copies: &[PathBuf]) {
    if let Some(place) = copies.first().and_then(|copy| copy.parent())
        && let Err(error) = std::fs::remove_dir_all(place)
    {
        tracing::debug!(%error, "attachments could not be removed");
    }
}
