//! Every question there is, to records of any kind: answered or refused, and exported in every form.
//!
//! What must hold: an answer or an error that says something; JSON that parses. Refuses nothing.

use analyses::report::html::{self, Input};
use analyses::report::{Report, csv, json, png, records, text};
use analyses::{QUESTIONS, Question};
use trace::tables::TABLES;
use trace::{Source, Unreadable};

use crate::targets::Ran;

/// Pixels of a side that are always drawn.
const MOST_DRAWN: u32 = png::LONGEST / 2;

/// Pixels of all pictures of an answer that is printed.
const MOST_PRINTED: usize = 1 << 22;

/// Asks all questions of which the first table is there, and prints what they say.
pub fn all(source: &dyn Source, ran: &mut Ran) {
    for &question in QUESTIONS {
        if question.wants.iter().all(|t| source.read(t).is_ok_and(|c| !c.is_empty())) {
            ran.read += 1;
            one(source, question, false, ran);
        }
    }
}

/// Asks one; `page`: the answer is put on a page for a browser, too, which takes longer than the rest.
pub fn one(source: &dyn Source, question: &Question, page: bool, ran: &mut Ran) {
    match question.answer(source) {
        Ok(report) => {
            ran.round_trips += 1;
            export(report, page);
        }
        Err(e) => refused(&e, ran),
    }
}

/// Writes down an error, which says something.
pub fn refused(e: &Unreadable, ran: &mut Ran) {
    ran.refused += 1;
    assert!(!e.to_string().is_empty());
}

/// In every form.
pub fn export(report: Report, page: bool) {
    // (pictures as large as `analyses` allows them take longer to print than an input may)
    if report.images.iter().map(|i| i.pixels.len()).sum::<usize>() > MOST_PRINTED {
        return;
    }
    text::render(&report);
    let printed = json::render(&report);
    if let Err(e) = serde_json::from_str::<serde::de::IgnoredAny>(&printed) {
        panic!("{}: its JSON does not parse: {e}", report.analysis);
    }
    report.sheets().iter().for_each(|t| drop(csv::render(t)));
    for image in &report.images {
        match png::render(image) {
            Ok(bytes) => assert!(!bytes.is_empty()),
            // (what is too long to be drawn is said, and not drawn)
            Err(e) => assert!(image.width.max(image.height) > MOST_DRAWN, "{}: {e}", report.analysis),
        }
    }
    if !page {
        return;
    }
    let input = Input { reports: vec![(report, "?".to_string())], ..Input::default() };
    let page = html::render("a <title>", &[input]).expect("a page");
    assert!(!page.is_empty());
}

/// Every table as it is.
pub fn tables(source: &dyn Source, ran: &mut Ran) {
    for &table in TABLES {
        let printed = source.each(table, &mut |columns| {
            records::csv(columns);
            records::jsonl(columns);
            Ok(())
        });
        if let Err(e) = printed {
            refused(&e, ran);
        }
    }
}
