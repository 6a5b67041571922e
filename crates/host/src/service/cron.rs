//! An entry in the crontab of a user, between two lines that mark it as ours.
//!
//! Invariant: whatever is outside of our own block is kept byte for byte; it need not even be text.

use super::{Instance, MARK, MINUTES, Manager, Service, Unsayable, runs_shuntyard, sayable};

const BEGIN: &str = "# shuntyard begin";
const END: &str = "# shuntyard end";
/// Of a block that was written under the program's former name.
const FORMER_BEGIN: &str = "# switchyard begin";
const FORMER_END: &str = "# switchyard end";

/// Some crons take no longer command.
pub const SURE_LENGTH: usize = 990;

/// The block of this service, with its markers.
pub fn block(service: &Service) -> Result<String, Unsayable> {
    let Service { instance, work, .. } = service;
    let mut command = String::from("/usr/bin/env");
    // A line `NAME=value` of a crontab would hold for the entries below it as well.
    for (name, value) in &service.variables {
        command.push_str(&format!(" {name}={}", quoted(value)?));
    }
    // Written over by each pass, so it stays small, and its time shows when the last one was.
    let (program, log) = (quoted(&service.program)?, quoted(&service.log)?);
    command.push_str(&format!(" {program} {} >{log} 2>&1", work.as_str()));
    let (begin, end) = (instance.name(BEGIN, ' '), instance.name(END, ' '));
    Ok(format!("{begin}\n# {MARK}\n*/{MINUTES} * * * * {command}\n{end}\n"))
}

/// For the shell, through cron, which ends a command at a percent sign without a backslash before it. The backslash
/// is outside of the quotes, so that it is harmless where cron leaves it to the shell. Crons differ in what they do
/// to two backslashes, so a path with one is refused.
fn quoted(value: &str) -> Result<String, Unsayable> {
    let plain = |letter: char| letter.is_ascii_alphanumeric() || "/._-+:,@".contains(letter);
    if !value.is_empty() && value.chars().all(plain) {
        return Ok(value.to_owned());
    }
    let value = sayable(Manager::Cron, value, &['\\'])?;
    Ok(format!("'{}'", value.replace('\'', "'\"'\"'").replace('%', "'\\%'")))
}

/// The markers were changed; where the block ends is a guess then, and a wrong one costs entries.
#[derive(Debug, Clone, Copy, PartialEq, Eq, thiserror::Error)]
#[error("read the crontab: line {line} is a marker of a shuntyard block without its other one")]
pub struct BrokenBlock {
    pub line: usize,
}

/// A crontab, cut at the markers.
#[derive(Debug, PartialEq, Eq)]
pub struct Crontab<'a> {
    pieces: Vec<Piece<'a>>,
}

#[derive(Debug, PartialEq, Eq)]
enum Piece<'a> {
    Line(&'a [u8]),
    Block { begin: &'a str, bytes: &'a [u8] },
}

impl<'a> Crontab<'a> {
    pub fn read(bytes: &'a [u8]) -> Result<Self, BrokenBlock> {
        let mut pieces = Vec::new();
        let mut open: Option<(&str, usize, usize)> = None;
        let mut start = 0;
        for (index, line) in bytes.split_inclusive(|byte| *byte == b'\n').enumerate() {
            let number = index + 1;
            let marker = str::from_utf8(line).unwrap_or_default().trim_end();
            let rest_of =
                |kind: &str| marker.strip_prefix(kind).filter(|rest| rest.is_empty() || rest.starts_with(' '));
            let begins = rest_of(BEGIN).or_else(|| rest_of(FORMER_BEGIN)).is_some();
            let ends = rest_of(END).or_else(|| rest_of(FORMER_END)).is_some();
            match (open, begins, ends) {
                (None, false, false) => pieces.push(Piece::Line(line)),
                (None, true, _) => open = Some((marker, start, number)),
                (Some((begin, from, _)), _, true) if begin.replacen(" begin", " end", 1) == marker => {
                    pieces.push(Piece::Block { begin, bytes: &bytes[from..start + line.len()] });
                    open = None;
                }
                (Some(_), false, false) => {}
                (None, _, true) | (Some(_), true, _) | (Some(_), _, true) => return Err(BrokenBlock { line: number }),
            }
            start += line.len();
        }
        match open {
            Some((_, _, line)) => Err(BrokenBlock { line }),
            None => Ok(Self { pieces }),
        }
    }

    /// The blocks of this instance: one, unless it was copied.
    #[must_use]
    pub fn blocks(&self, instance: &Instance) -> Vec<&'a [u8]> {
        let wanted = instance.name(BEGIN, ' ');
        let blocks = self.pieces.iter().filter_map(|piece| match piece {
            Piece::Block { begin, bytes } if *begin == wanted => Some(*bytes),
            Piece::Block { .. } | Piece::Line(_) => None,
        });
        blocks.collect()
    }

    /// The crontab with this block in the place of the one that is there, or at the end.
    #[must_use]
    pub fn with(&self, instance: &Instance, block: &str) -> Vec<u8> {
        self.changed(instance, Some(block))
    }

    /// The crontab without the blocks of this instance.
    #[must_use]
    pub fn without(&self, instance: &Instance) -> Vec<u8> {
        self.changed(instance, None)
    }

    fn changed(&self, instance: &Instance, mut block: Option<&str>) -> Vec<u8> {
        let wanted = instance.name(BEGIN, ' ');
        let mut bytes = Vec::new();
        for piece in &self.pieces {
            match piece {
                Piece::Line(line) => bytes.extend_from_slice(line),
                Piece::Block { begin, .. } if *begin == wanted => {
                    bytes.extend_from_slice(block.take().unwrap_or_default().as_bytes());
                }
                Piece::Block { bytes: other, .. } => bytes.extend_from_slice(other),
            }
        }
        if let Some(block) = block {
            if bytes.last().is_some_and(|last| *last != b'\n') {
                bytes.push(b'\n');
            }
            bytes.extend_from_slice(block.as_bytes());
        }
        bytes
    }

    /// The entries outside of all blocks that run a supervisor.
    #[must_use]
    pub fn by_hand(&self) -> Vec<String> {
        let lines = self.pieces.iter().filter_map(|piece| match piece {
            Piece::Line(line) => Some(String::from_utf8_lossy(line).trim().to_owned()),
            Piece::Block { .. } => None,
        });
        lines.filter(|line| !line.starts_with('#') && runs_shuntyard(line)).collect()
    }
}

#[cfg(test)]
#[path = "cron_tests.rs"]
mod tests;
