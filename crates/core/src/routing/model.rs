//! A model as a list of models describes it.

use super::ReleaseDate;
use crate::values::money::Price;

word_enum! {
    /// How far a model's maker supports it.
    #[derive(PartialOrd, Ord, Default)]
    pub enum Status {
        #[default]
        Active = "active",
        Beta = "beta",
        Alpha = "alpha",
        Deprecated = "deprecated",
    }
}

#[derive(Debug, Clone, PartialEq, Eq, Default)]
pub struct Model {
    pub id: String,
    pub name: String,
    pub family: String,
    pub image_input: bool,
    pub tool_calls: bool,
    pub reasoning: bool,
    /// Files such as PDF.
    pub attachments: bool,
    /// A schema that the provider itself enforces. Tool calls give the same through OpenCode.
    pub structured_output: bool,
    /// Whether it answers with text at all; some only draw or speak.
    pub text_output: bool,
    /// Tokens; 0 when unknown.
    pub context: u64,
    pub output: u64,
    pub price: Price,
    pub variants: Vec<String>,
    pub status: Status,
    pub release_date: ReleaseDate,
}
