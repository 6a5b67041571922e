//! Two texts as a unified diff: what is taken out, what is put in, and three lines around each place.

use shuntyard_core::values::redact::redact;

const AROUND: usize = 3;
/// Beyond this many pairs of lines, the middle is shown as replaced as a whole.
const MOST: usize = 4_000_000;

#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum Line<'t> {
    Same(&'t str),
    Out(&'t str),
    In(&'t str),
}

/// The same of a configuration, in which keys may stand: they are nobody's business, least of all a model's that has
/// asked for the difference.
#[must_use]
pub fn unified_config(path: &str, from: &str, to: &str) -> String {
    redact(&unified(path, from, to))
}

#[must_use]
pub fn unified(path: &str, from: &str, to: &str) -> String {
    let (old, new): (Vec<&str>, Vec<&str>) = (from.split_inclusive('\n').collect(), to.split_inclusive('\n').collect());
    let lines = lines(&old, &new);
    let changed = |line: &Line<'_>| !matches!(line, Line::Same(_));
    let mut text = format!("--- {path}\n+++ {path}\n");
    let mut at = 0;
    while let Some(first) = lines[at..].iter().position(changed).map(|found| at + found) {
        let start = first.saturating_sub(AROUND).max(at);
        let mut end = first + 1;
        // Places that are near to each other are shown as one.
        while let Some(next) = lines[end..].iter().position(changed).filter(|next| *next <= 2 * AROUND) {
            end += next + 1;
        }
        let end = (end + AROUND).min(lines.len());
        hunk(&mut text, &lines, start, end);
        at = end;
    }
    text
}

fn hunk(text: &mut String, lines: &[Line<'_>], start: usize, end: usize) {
    let olds = |lines: &[Line<'_>]| lines.iter().filter(|line| !matches!(line, Line::In(_))).count();
    let news = |lines: &[Line<'_>]| lines.iter().filter(|line| !matches!(line, Line::Out(_))).count();
    let range = |before: usize, count: usize| match count {
        0 => format!("{before},0"),
        _ => format!("{},{count}", before + 1),
    };
    let (before, shown) = (&lines[..start], &lines[start..end]);
    let (old, new) = (range(olds(before), olds(shown)), range(news(before), news(shown)));
    text.push_str(&format!("@@ -{old} +{new} @@\n"));
    for line in shown {
        let (sign, line) = match line {
            Line::Same(line) => (' ', line),
            Line::Out(line) => ('-', line),
            Line::In(line) => ('+', line),
        };
        text.push(sign);
        text.push_str(line);
        if !line.ends_with('\n') {
            text.push_str("\n\\ No newline at end of file\n");
        }
    }
}

fn lines<'t>(old: &[&'t str], new: &[&'t str]) -> Vec<Line<'t>> {
    let head = old.iter().zip(new).take_while(|(left, right)| left == right).count();
    let tail = old[head..].iter().rev().zip(new[head..].iter().rev()).take_while(|(left, right)| left == right).count();
    let (old_middle, new_middle) = (&old[head..old.len() - tail], &new[head..new.len() - tail]);
    let mut lines: Vec<Line<'t>> = old[..head].iter().map(|line| Line::Same(line)).collect();
    lines.extend(middle(old_middle, new_middle));
    lines.extend(old[old.len() - tail..].iter().map(|line| Line::Same(line)));
    lines
}

/// By the longest common subsequence, of which `table` holds the lengths for each pair of ends.
fn middle<'t>(old: &[&'t str], new: &[&'t str]) -> Vec<Line<'t>> {
    let outs = || old.iter().map(|line| Line::Out(line));
    let ins = || new.iter().map(|line| Line::In(line));
    if old.len().saturating_mul(new.len()) > MOST {
        return outs().chain(ins()).collect();
    }
    let width = new.len() + 1;
    let mut table = vec![0_u32; (old.len() + 1) * width];
    for row in (0..old.len()).rev() {
        for column in (0..new.len()).rev() {
            table[row * width + column] = if old[row] == new[column] {
                table[(row + 1) * width + column + 1] + 1
            } else {
                table[(row + 1) * width + column].max(table[row * width + column + 1])
            };
        }
    }
    let (mut row, mut column) = (0, 0);
    let mut lines = Vec::new();
    while row < old.len() && column < new.len() {
        if old[row] == new[column] {
            lines.push(Line::Same(old[row]));
            row += 1;
            column += 1;
        } else if table[(row + 1) * width + column] >= table[row * width + column + 1] {
            lines.push(Line::Out(old[row]));
            row += 1;
        } else {
            lines.push(Line::In(new[column]));
            column += 1;
        }
    }
    lines.extend(old[row..].iter().map(|line| Line::Out(line)));
    lines.extend(new[column..].iter().map(|line| Line::In(line)));
    lines
}
