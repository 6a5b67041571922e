//! All outcomes, written out page by page, so that however many there are, few are in memory.

use super::{Global, before, cells, length, tell_how_to_begin};
use crate::{
    failure::Failure,
    ui::{self, Format},
};
use clap::{Args, ValueEnum};
use serde_json::json;
use shuntyard_engine::Context;
use shuntyard_host::clock::now_micros;
use shuntyard_store::{OutcomeFilter, OutcomeOrder, OutcomeRecord};
use std::{
    io::{self, Write},
    path::{Path, PathBuf},
    process::ExitCode,
    time::Duration,
};
use tempfile::NamedTempFile;

const PAGE: u32 = 500;

#[derive(Debug, Clone, Copy, PartialEq, Eq, ValueEnum)]
enum Shape {
    /// One document
    Json,
    /// Comma-separated values with a head
    Csv,
    /// A document on each line
    Jsonl,
}

#[derive(Debug, Args)]
pub struct ExportArgs {
    /// The form: json by default
    #[arg(long, value_enum, value_name = "FORMAT")]
    format: Option<Shape>,
    /// How far back to go, like 30d; everything by default
    #[arg(long, value_name = "DURATION", value_parser = length)]
    since: Option<Duration>,
    /// Only this kind of task
    #[arg(long, value_name = "TYPE")]
    task_type: Option<String>,
    /// Write to this file, which only you can read, instead of standard output
    #[arg(short, long, value_name = "FILE")]
    output: Option<PathBuf>,
    /// Replace the file if it is there
    #[arg(long, requires = "output")]
    force: bool,
    /// Only say what would be written to the file
    #[arg(long, requires = "output")]
    dry_run: bool,
}

pub async fn export(global: &Global, args: &ExportArgs) -> Result<ExitCode, Failure> {
    let shape = match (global.format(), args.format) {
        (Format::Json, None | Some(Shape::Json)) => Shape::Json,
        (Format::Json, Some(_)) => {
            return Err(Failure::usage("--json is one JSON document", "leave --json out, or --format"));
        }
        (Format::People, shape) => shape.unwrap_or(Shape::Json),
    };
    let filter = OutcomeFilter {
        from: args.since.map(|length| before(now_micros(), length)),
        task_type: args.task_type.clone(),
        limit: PAGE,
        ..OutcomeFilter::default()
    };
    let Some(file) = &args.output else {
        let context = global.context().await?;
        let mut show = |text: &str| {
            ui::piece(text);
            Ok(())
        };
        if write(&context, shape, filter, &mut show).await? == 0 {
            tell_how_to_begin();
        }
        return Ok(ExitCode::SUCCESS);
    };
    if !args.force && file.symlink_metadata().is_ok() {
        return Err(exists(file));
    }
    let context = global.context().await?;
    let existing = if args.force { Existing::Replaced } else { Existing::Kept };
    let written = if args.dry_run {
        write(&context, shape, filter, &mut |_| Ok(())).await?
    } else {
        write_file(&context, shape, filter, file, existing).await?
    };
    match global.format() {
        Format::Json => ui::json(&json!({"file": file, "outcomes": written, "written": !args.dry_run})),
        Format::People if args.dry_run => {
            ui::note(&format!("{written} outcomes would be written to {}", file.display()));
        }
        Format::People => ui::note(&format!("{written} outcomes are in {}", file.display())),
    }
    Ok(ExitCode::SUCCESS)
}

fn exists(file: &Path) -> Failure {
    Failure::usage(format!("{} is there already", file.display()), "name another file, or replace it with --force")
}

/// What happens to a file that is there already.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum Existing {
    Kept,
    Replaced,
}

/// The file appears when it is whole. It has the rights of a temporary file: only its owner can read it.
async fn write_file(
    context: &Context,
    shape: Shape,
    filter: OutcomeFilter,
    file: &Path,
    existing: Existing,
) -> Result<u64, Failure> {
    let failed = |error: io::Error| {
        Failure::usage(format!("{} cannot be written: {error}", file.display()), "name a file that can be written")
    };
    let directory = file.parent().filter(|parent| !parent.as_os_str().is_empty()).unwrap_or(Path::new("."));
    let mut whole = NamedTempFile::new_in(directory).map_err(failed)?;
    let written = write(context, shape, filter, &mut |text| whole.write_all(text.as_bytes()).map_err(failed)).await?;
    whole.as_file().sync_all().map_err(failed)?;
    let kept = match existing {
        Existing::Kept => whole.persist_noclobber(file),
        Existing::Replaced => whole.persist(file),
    };
    match kept {
        Ok(_) => Ok(written),
        Err(error) if error.error.kind() == io::ErrorKind::AlreadyExists => Err(exists(file)),
        Err(error) => Err(failed(error.error)),
    }
}

async fn write(
    context: &Context,
    shape: Shape,
    mut filter: OutcomeFilter,
    put: &mut dyn FnMut(&str) -> Result<(), Failure>,
) -> Result<u64, Failure> {
    let mut written = 0_u64;
    match shape {
        Shape::Json => put("{\"outcomes\": [")?,
        Shape::Csv => put(&format!("{}\n", cells::csv_head()))?,
        Shape::Jsonl => {}
    }
    loop {
        let page = context.store.outcomes(&filter, OutcomeOrder::Oldest).await?;
        let Some(last) = page.last() else { break };
        filter.after = last.id;
        let mut text = String::new();
        for record in &page {
            text.push_str(match (shape, written) {
                (Shape::Json, 0) => "\n",
                (Shape::Json, _) => ",\n",
                (Shape::Csv | Shape::Jsonl, _) => "",
            });
            text.push_str(&line(shape, record));
            written += 1;
        }
        put(&text)?;
    }
    if shape == Shape::Json {
        put(&format!("\n], \"count\": {written}}}\n"))?;
    }
    Ok(written)
}

fn line(shape: Shape, record: &OutcomeRecord) -> String {
    match shape {
        Shape::Json => cells::document(record).to_string(),
        Shape::Csv => format!("{}\n", cells::csv_line(record)),
        Shape::Jsonl => format!("{}\n", cells::document(record)),
    }
}
