//! The part of GitHub Actions' expressions that docs/engines/github-actions.yml uses: names, texts, `== != && || !`, brackets and
//! the functions that ask how the job stands.
//!
//! Guarantees: texts are compared without regard to case, and what is not there is null, as GitHub has it; but a step, or an outer
//! name, that the workflow does not have is a mistake. Refuses everything else.

use serde_json::Value;

/// How the job stands.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Standing {
    pub failed: bool,
}

/// `if`'s value; what says nothing of the job's standing is asked of a job that has not failed.
pub fn holds(text: &str, context: &Value, standing: Standing) -> bool {
    let text = text.trim().trim_start_matches("${{").trim_end_matches("}}");
    let asks = ["always(", "failure(", "success(", "cancelled("].iter().any(|f| text.contains(f));
    (asks || !standing.failed) && truth(&value(text, context, standing))
}

/// A text with what stands in `${{ }}` put in.
pub fn filled(text: &str, context: &Value) -> String {
    let mut out = String::new();
    let mut rest = text;
    while let Some((before, from)) = rest.split_once("${{") {
        let (expression, after) = from.split_once("}}").unwrap_or_else(|| panic!("no }}}}: {text}"));
        out += before;
        match value(expression, context, Standing { failed: false }) {
            Value::Null => {}
            Value::String(s) => out += &s,
            other => out += &other.to_string(),
        }
        rest = after;
    }
    out + rest
}

fn truth(of: &Value) -> bool {
    match of {
        Value::Null => false,
        Value::Bool(b) => *b,
        Value::String(s) => !s.is_empty(),
        Value::Number(n) => n.as_f64() != Some(0.0),
        _ => true,
    }
}

fn value(text: &str, context: &Value, standing: Standing) -> Value {
    let tokens = tokens(text);
    let mut at = Parser { tokens: &tokens, at: 0, context, standing };
    let out = at.or();
    assert!(at.at == tokens.len(), "what is {:?} in {text:?}?", &tokens[at.at..]);
    out
}

fn tokens(text: &str) -> Vec<String> {
    let letters: Vec<char> = text.chars().collect();
    let mut all = vec![];
    let mut n = 0;
    while n < letters.len() {
        let begin = n;
        match letters[n] {
            c if c.is_whitespace() => {
                n += 1;
                continue;
            }
            '\'' => {
                n += 1;
                // (two of them stand for one)
                while letters[n] != '\'' || letters.get(n + 1) == Some(&'\'') {
                    n += if letters[n] == '\'' { 2 } else { 1 };
                }
                n += 1;
            }
            c if c.is_ascii_alphanumeric() || c == '_' => {
                while letters.get(n).is_some_and(|c| c.is_ascii_alphanumeric() || "_-.".contains(*c)) {
                    n += 1;
                }
            }
            _ => {
                let two: String = letters[n..letters.len().min(n + 2)].iter().collect();
                n += if ["==", "!=", "&&", "||"].contains(&two.as_str()) { 2 } else { 1 };
            }
        }
        all.push(letters[begin..n].iter().collect());
    }
    all
}

struct Parser<'a> {
    tokens: &'a [String],
    at: usize,
    context: &'a Value,
    standing: Standing,
}

impl Parser<'_> {
    fn take(&mut self, token: &str) -> bool {
        let there = self.tokens.get(self.at).is_some_and(|t| t == token);
        self.at += usize::from(there);
        there
    }

    fn or(&mut self) -> Value {
        let mut left = self.and();
        while self.take("||") {
            let right = self.and();
            left = if truth(&left) { left } else { right };
        }
        left
    }

    fn and(&mut self) -> Value {
        let mut left = self.equal();
        while self.take("&&") {
            let right = self.equal();
            left = if truth(&left) { right } else { left };
        }
        left
    }

    fn equal(&mut self) -> Value {
        let left = self.not();
        for (sign, wanted) in [("==", true), ("!=", false)] {
            if self.take(sign) {
                let right = self.not();
                let same = match (&left, &right) {
                    (Value::String(a), Value::String(b)) => a.eq_ignore_ascii_case(b),
                    (a, b) => a == b,
                };
                return (same == wanted).into();
            }
        }
        left
    }

    fn not(&mut self) -> Value {
        if self.take("!") { (!truth(&self.not())).into() } else { self.one() }
    }

    fn one(&mut self) -> Value {
        if self.take("(") {
            let inner = self.or();
            assert!(self.take(")"), "no ): {:?}", self.tokens);
            return inner;
        }
        let token = self.tokens.get(self.at).unwrap_or_else(|| panic!("it ends: {:?}", self.tokens)).clone();
        self.at += 1;
        if let Some(text) = token.strip_prefix('\'') {
            return text.strip_suffix('\'').expect("its end").replace("''", "'").into();
        }
        if self.take("(") {
            assert!(self.take(")"), "{token}: it is asked nothing");
            return match token.as_str() {
                "always" => true.into(),
                "failure" => self.standing.failed.into(),
                "success" => (!self.standing.failed).into(),
                _ => panic!("no function {token}"),
            };
        }
        match token.as_str() {
            "true" => true.into(),
            "false" => false.into(),
            "null" => Value::Null,
            _ if token.starts_with(|c: char| c.is_ascii_digit()) => {
                token.parse::<f64>().unwrap_or_else(|e| panic!("{token}: {e}")).into()
            }
            _ => self.named(&token),
        }
    }

    fn named(&self, name: &str) -> Value {
        let mut words = name.split('.');
        let outer = words.next().unwrap_or("");
        let mut at = self.context.get(outer).unwrap_or_else(|| panic!("{name}: there is no {outer}"));
        for (depth, word) in words.enumerate() {
            match at.get(word) {
                Some(inner) => at = inner,
                None => {
                    assert!(outer != "steps" || depth > 0, "{name}: there is no step {word}");
                    return Value::Null;
                }
            }
        }
        at.clone()
    }
}

#[test]
fn expressions_have_githubs_values() {
    let context = serde_json::json!({
        "github": {"event_name": "push", "event": {"n": 0}, "sha": "abc"},
        "steps": {"one": {"outputs": {"status": "0"}}}
    });
    let (fine, failed) = (Standing { failed: false }, Standing { failed: true });
    for (text, fine_is, failed_is) in [
        ("github.event_name == 'PUSH'", true, false),
        ("always()", true, true),
        ("failure()", false, true),
        ("github.event_name == 'push' && steps.one.outputs.status == '0'", true, false),
        ("github.event.pull_request.head == 'x' || !(github.sha != 'abc')", true, false),
        ("github.event.n", false, false),
        ("steps.one.outputs.other", false, false),
        ("${{ always() && github.sha == 'it''s' }}", false, false),
    ] {
        assert_eq!(
            (holds(text, &context, fine), holds(text, &context, failed)),
            (fine_is, failed_is),
            "{text}"
        );
    }
    assert_eq!(filled("a-${{ github.sha }}-${{ github.none }}.", &context), "a-abc-.");
    for wrong in ["steps.two.outputs.x", "nothing.at.all", "github.sha ==", "other()", "'a' 'b'"] {
        assert!(std::panic::catch_unwind(|| holds(wrong, &context, fine)).is_err(), "{wrong}");
    }
}
