//! What a job is called: short, because models repeat it.

use serde::{Deserialize, Serialize};
use std::{fmt, str::FromStr};

/// Such as `j17`.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash, Serialize, Deserialize)]
#[serde(try_from = "String", into = "String")]
pub struct JobId(pub i64);

#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
#[error("`{0}` is no id of a job: they look like j17")]
pub struct BadJobId(pub String);

impl fmt::Display for JobId {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "j{}", self.0)
    }
}

impl FromStr for JobId {
    type Err = BadJobId;

    fn from_str(text: &str) -> Result<Self, Self::Err> {
        let digits = text.strip_prefix('j').filter(|digits| digits.bytes().all(|byte| byte.is_ascii_digit()));
        let number = digits.and_then(|digits| digits.parse().ok()).filter(|number| *number > 0);
        number.map(Self).ok_or_else(|| BadJobId(text.to_owned()))
    }
}

impl TryFrom<String> for JobId {
    type Error = BadJobId;

    fn try_from(text: String) -> Result<Self, Self::Error> {
        text.parse()
    }
}

impl From<JobId> for String {
    fn from(id: JobId) -> Self {
        id.to_string()
    }
}

#[cfg(test)]
mod tests {
    use super::JobId;

    #[test]
    fn ids_are_read_as_they_are_written() {
        assert_eq!("j17".parse(), Ok(JobId(17)));
        assert_eq!(JobId(17).to_string(), "j17");
        for bad in ["", "j", "17", "j0", "j-1", "j+1", "t001", "j1x", "j99999999999999999999"] {
            assert!(bad.parse::<JobId>().is_err(), "{bad}");
        }
    }
}
