//! Whether what is installed is the pack that this program has, and what to do when it is not.

use super::{Where, failure, visible};
use crate::{
    cli::Global,
    failure::Failure,
    pack::{Form, bundle},
    ui,
};
use serde_json::{Value, json};
use shuntyard_engine::roles::pack::{Age, Manifest, installed};

/// What is in the target.
#[derive(Debug)]
pub struct Standing {
    manifest: Manifest,
    age: Age,
    /// What is not as it should be, and what to do about it.
    word: Option<(String, String)>,
}

/// None when nothing is installed.
pub fn standing(global: &Global, at: &Where) -> Result<Option<Standing>, Failure> {
    let place = at.place(global)?;
    let Some(manifest) = installed(&place).map_err(failure)? else { return Ok(None) };
    let form = Form::named(&manifest.format);
    let ours = bundle(form).map_err(|error| Failure::failed(error, "install the pack again with --format v1"))?;
    let age = manifest.age(&ours);
    let target = place.root().display();
    let (theirs, own) = (visible::line(&manifest.version), &ours.version);
    let project = at.project.as_ref().map(|directory| format!(" --project {}", directory.display()));
    let project = project.unwrap_or_default();
    let form = match form {
        Form::V1 => String::new(),
        Form::V2 => format!(" --format {}", form.as_str()),
    };
    let (install, diff) =
        (format!("`shuntyard pack install{project}{form}`"), format!("`shuntyard pack diff{project}{form}`"));
    let renew = format!("{diff} shows the difference, {install} brings the new one; what you have changed stays");
    let word = match age {
        _ if manifest.is_unfinished() => Some((
            format!("a change of the pack in {target} was interrupted"),
            format!("{install} finishes it, `shuntyard pack uninstall{project}` undoes it"),
        )),
        Age::Current => None,
        Age::Older => {
            Some((format!("the pack in {target} is of version {theirs}, older than {own} of this program"), renew))
        }
        Age::Newer => Some((
            format!("the pack in {target} is of version {theirs}, newer than {own} of this program"),
            format!("use the newer program; {install} would put the older pack there"),
        )),
        Age::Other => {
            Some((format!("the pack in {target} is of version {theirs} too, but not the one of this program"), renew))
        }
    };
    Ok(Some(Standing { manifest, age, word }))
}

impl Standing {
    pub fn document(&self) -> Value {
        let word = self.word.as_ref();
        json!({
            "version": self.manifest.version, "format": self.manifest.format, "age": self.age,
            "unfinished": self.manifest.is_unfinished(), "message": word.map(|(message, _)| message),
            "hint": word.map(|(_, hint)| hint),
        })
    }

    /// Warns about a version or a state that is not as it should be.
    pub fn tell(&self) {
        if let Some((message, hint)) = &self.word {
            ui::warn(message);
            ui::note(&format!("next: {hint}"));
        }
    }

    /// Warns when a comparison is with another form than the installed one.
    pub fn tell_form(&self, compared: Form) {
        let there = Form::named(&self.manifest.format);
        if there != compared {
            let (there, compared) = (there.as_str(), compared.as_str());
            ui::warn(&format!("what is installed has the form {there}, and is compared with {compared}"));
            ui::note(&format!("next: compare it with its own form by --format {there}"));
        }
    }
}
