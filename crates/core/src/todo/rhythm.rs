//! When a TODO.md is looked at without being asked for: at once, then at a steady rate, whichever process did it last.

/// The times of the reads of one file, in microseconds.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
pub struct Looks {
    /// When the last one began, and the last one that came to an end.
    pub began: Option<i64>,
    pub ended: Option<i64>,
}

impl Looks {
    /// How long until the next one. A clock that was set back never makes the wait longer than the interval.
    #[must_use]
    pub fn due_in(self, now: i64, every: i64) -> i64 {
        let Some(began) = self.began else { return 0 };
        began.saturating_add(every).saturating_sub(now).clamp(0, every)
    }

    /// Whether one is under way; one that takes longer than `longest` has died.
    #[must_use]
    pub fn is_under_way(self, now: i64, longest: i64) -> bool {
        let Some(began) = self.began else { return false };
        self.ended.is_none_or(|ended| ended < began) && (0..longest).contains(&now.saturating_sub(began))
    }
}

#[cfg(test)]
mod tests {
    use super::Looks;

    #[test]
    fn the_first_is_due_at_once_and_the_next_after_the_interval() {
        for (began, now, due_in) in [
            (None, 0, 0),
            (None, 1000, 0),
            (Some(1000), 1000, 60),
            (Some(1000), 1059, 1),
            (Some(1000), 1060, 0),
            (Some(1000), 9999, 0),
            // The clock was set back.
            (Some(1000), 10, 60),
            (Some(i64::MAX), 10, 60),
        ] {
            let looks = Looks { began, ended: None };
            assert_eq!(looks.due_in(now, 60), due_in, "{began:?} {now}");
        }
    }

    #[test]
    fn one_is_under_way_until_it_ends_or_must_have_died() {
        for (began, ended, now, under_way) in [
            (None, None, 5, false),
            (Some(10), None, 10, true),
            (Some(10), Some(5), 12, true),
            (Some(10), Some(10), 12, false),
            (Some(10), Some(11), 12, false),
            (Some(10), None, 110, false),
            (Some(10), None, 5, false),
        ] {
            assert_eq!(Looks { began, ended }.is_under_way(now, 100), under_way, "{began:?} {ended:?} {now}");
        }
    }
}
