//! What a comparison of two sides says on the terminal: the draw and how it differs first, then what its shader read.
//!
//! Refuses nothing.

use super::{Compared, Comparison};
use profile::pictures::Tolerance;
use trace::names;

impl Compared {
    /// It, for people.
    pub fn text(&self, of: &Comparison<'_>) -> String {
        let [here, there] = &self.devices;
        let n = self.compared;
        let Some(first) = self.draw.first().or(self.differing.first()) else {
            return format!(
                "Frame {}: {} the same{}, here ({here}) and there ({there}).\n",
                self.frame,
                if n == 1 { "1 attachment is".to_owned() } else { format!("{n} attachments are") },
                if of.tolerance == Tolerance::EXACT { "" } else { " within the tolerance" }
            ) + &lines(&self.notes);
        };
        let p = &first.here.place;
        let around = names::around(p.pass, &p.pass_labels, &p.pass_name);
        let what = match (p.draw, &p.kind) {
            (Some(n), Some(kind)) => names::draw(None, around.as_deref(), n, kind),
            _ => around.unwrap_or_default(),
        };
        let name = p.pipeline_name.as_deref().unwrap_or_default();
        let words = |id| format!(", with {}", names::pipeline(id, name, !p.shader_objects.is_empty()));
        let inner = p.labels.get(p.pass_labels.len()..).filter(|l| !l.is_empty());
        let inner = inner.map(|l| format!(", in \"{}\"", l.join(names::WITHIN)));
        let mut text = format!(
            "Frame {}: here ({here}) and there ({there}) first differ behind {what}{}{}.\n",
            self.frame,
            p.pipeline.map_or_else(String::new, words),
            inner.unwrap_or_default()
        );
        let all = if self.draw.is_empty() { &self.differing } else { &self.draw };
        for d in all.iter().filter(|d| d.here.place.pass == p.pass && d.here.place.draw == p.draw) {
            text += &format!("{}: there, {}\n", d.here.place.attachment, d.how);
            let files = [(of.output.join("here"), &d.here), (of.there(), &d.there)];
            for (folder, written) in files.iter().filter_map(|(f, r)| Some((f, r.written.as_ref()?))) {
                text += &format!("  {}\n", folder.join(&written.file).display());
            }
        }
        text +=
            &format!("{} of {n} attachments differ behind what was looked at first.\n", self.differing.len());
        if let (false, Some([x, y])) = (self.read.is_empty(), first.pixel) {
            text += &format!("Its fragment shader reads at pixel ({x}, {y}):\n");
            for r in &self.read {
                let line = match (&r.here, &r.there) {
                    (Some(here), Some(there)) if here == there => format!("  {}: {here}\n", r.read),
                    (here, there) => {
                        let side =
                            |v: &Option<String>| v.clone().unwrap_or_else(|| "not recorded".to_owned());
                        format!("  {}: here {}, there {}\n", r.read, side(here), side(there))
                    }
                };
                // (a place that is read twice gives the same)
                if !text.ends_with(&line) {
                    text += &line;
                }
            }
        }
        text + &lines(&self.notes)
    }
}

fn lines(all: &[String]) -> String {
    all.iter().map(|n| format!("{n}\n")).collect()
}
