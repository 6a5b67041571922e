//! Text that comes as an argument, from a file (`@file`) or from standard input (`-`), and images.

use crate::failure::Failure;
use shuntyard_core::{
    Nano,
    routing::request::Image,
    values::{Urgency, duration::Limit, size},
};
use std::{
    io::Read,
    path::{Path, PathBuf},
};

/// Larger images are refused before they are read: no provider takes them.
const LARGEST_IMAGE: u64 = 20 << 20;

pub fn text(argument: &str, what: &str) -> Result<String, Failure> {
    if argument == "-" {
        let mut text = String::new();
        std::io::stdin().read_to_string(&mut text).map_err(|error| {
            Failure::usage(format!("{what} cannot be read from standard input: {error}"), "give it as text in UTF-8")
        })?;
        return Ok(text);
    }
    match argument.strip_prefix('@') {
        Some(path) => std::fs::read_to_string(path).map_err(|error| {
            Failure::usage(format!("{what} cannot be read from {path}: {error}"), "name a readable text file after @")
        }),
        None => Ok(argument.to_owned()),
    }
}

/// The timeout that a flag contains.
pub fn timeout(argument: Option<&str>) -> Result<Option<Limit>, Failure> {
    let limit = argument.map(str::parse::<Limit>).transpose();
    limit.map_err(|error| Failure::usage(error, "for example --timeout 90s"))
}

/// An amount of dollars, not negative.
pub fn dollars(text: &str) -> Result<Nano, String> {
    let usd: Option<f64> = text.trim().trim_start_matches('$').parse().ok();
    let amount = usd.and_then(Nano::from_usd).filter(|amount| amount.0 >= 0);
    amount.ok_or_else(|| format!("`{text}` is no amount: write dollars like 0.50"))
}

pub fn image(path: &Path) -> Result<Image, Failure> {
    let shown = path.display();
    let unreadable = |error: std::io::Error| {
        Failure::usage(format!("image {shown} cannot be read: {error}"), "name a readable image file")
    };
    let size = std::fs::metadata(path).map_err(unreadable)?.len();
    if size > LARGEST_IMAGE {
        return Err(Failure::usage(
            format!("image {shown} is too large: {}, at most {}", size::show(size), size::show(LARGEST_IMAGE)),
            "make it smaller",
        ));
    }
    let bytes = std::fs::read(path).map_err(unreadable)?;
    let Some(mime) = Image::sniff(&bytes) else {
        return Err(Failure::usage(
            format!("{shown} is no PNG, JPEG, GIF or WebP image"),
            "convert it to one of these",
        ));
    };
    let name = path.file_name().map_or_else(|| "image".to_owned(), |name| name.to_string_lossy().into_owned());
    Ok(Image { name, mime, bytes })
}

/// The directory as an absolute path. A missing one is returned as it is, to be refused by name.
pub fn directory(path: Option<&PathBuf>) -> Result<PathBuf, Failure> {
    let path = match path {
        Some(path) => path.clone(),
        None => std::env::current_dir().map_err(|error| {
            Failure::usage(format!("the working directory is gone: {error}"), "name one with --dir")
        })?,
    };
    Ok(std::fs::canonicalize(&path).unwrap_or(path))
}

/// Ends when the user, or the system, wants this command to end.
pub async fn interrupted() {
    use tokio::signal::unix::{SignalKind, signal};
    let (Ok(mut interrupt), Ok(mut terminate)) = (signal(SignalKind::interrupt()), signal(SignalKind::terminate()))
    else {
        return std::future::pending().await;
    };
    tokio::select! {
        _ = interrupt.recv() => {}
        _ = terminate.recv() => {}
    }
}

/// How much work may ask of the budget.
#[derive(Debug, Clone, Copy, clap::Args)]
pub struct UrgencyArgs {
    /// Keep the tier although the budget is running low
    #[arg(long)]
    critical: bool,
    /// Go on although a limit is used up
    #[arg(long)]
    over_budget: bool,
}

impl UrgencyArgs {
    pub fn urgency(self) -> Urgency {
        match (self.over_budget, self.critical) {
            (true, _) => Urgency::PastTheStop,
            (false, true) => Urgency::Critical,
            (false, false) => Urgency::Normal,
        }
    }
}

/// Waits for git or the disk without blocking what else runs here, such as the wait for an interrupt.
pub async fn in_thread<T: Send + 'static>(
    work: impl FnOnce() -> Result<T, Failure> + Send + 'static,
) -> Result<T, Failure> {
    let done = tokio::task::spawn_blocking(work).await;
    done.unwrap_or_else(|error| Err(Failure::failed(error, "try again")))
}
