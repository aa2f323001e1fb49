//! Units of suites, whose words are read as `bench` reads them.

use super::words;
use experiment::suite::{Unit, parse, units};
use std::path::Path;

const HEAD: &str = "schema_version = 1\nname = \"x\"\n";

fn of(text: &str) -> Result<Vec<Unit>, String> {
    units(&parse(&format!("{HEAD}{text}"), "s.toml").expect("a suite"), Path::new("/nowhere"), words)
}

#[test]
fn captures_and_frames_are_units_with_their_command_lines() {
    let text = "[defaults]\nprocesses = 3\nbusy = 5\niterations = 4\nwarmup = 2\noptions = [\"--watchdog=5\"]\n\
                [[plan]]\nname = \"a\"\n[[plan]]\nname = \"b\"\nenv = { A = \"x y\" }\n\
                [[bench]]\ncaptures = [\"s/one.gfxr\", \"t/the two.gfxr\"]\nframes = [7, 9]\n\
                [[bench]]\ncapture = \"s/one.gfxr\"\nname = \"whole\"\nplans = [\"b\"]\nweight = 0.5\n";
    let all = of(text).expect("units");
    let names: Vec<&str> = all.iter().map(|u| u.name.as_str()).collect();
    assert_eq!(names, ["one-f7", "one-f9", "the-two-f7", "the-two-f9", "whole"]);
    assert_eq!(
        all[0].words,
        [
            "bench",
            "s/one.gfxr",
            "--frame=7",
            "--processes=3",
            "--iterations=4",
            "--warmup=2",
            "--busy=5",
            "--plan=a",
            "--plan=b 'env=A=x y'",
            "--watchdog=5"
        ]
    );
    assert_eq!((all[0].cost, all[4].cost), (36.0, 9.0));
    assert_eq!((all[4].frame, all[4].bench, all[4].plans.clone()), (None, 1, vec!["b".to_owned()]));
    assert!(!all[4].words.iter().any(|w| w.starts_with("--busy")), "{:?}", all[4].words);
    // Without numbers they are what bench does.
    let all =
        of("[[bench]]\ncapture = \"a.gfxr\"\n[[bench]]\ncapture = \"b.gfxr\"\nframes = 3\n").expect("two");
    assert_eq!((all[0].cost, all[1].cost), (10.0 * 20.0, 10.0 * 70.0));
    assert_eq!(all[0].words, ["bench", "a.gfxr", "--processes=10", "--plan=plain"]);
}

#[test]
fn what_bench_would_refuse_is_refused_with_its_line() {
    for (text, words) in [
        ("[[bench]]\ncapture = \"a.gfxr\"\nprocesses = 0\n", "--processes"),
        ("[[bench]]\ncapture = \"a.gfxr\"\ntight = \"1%\"\n", "--budget"),
        ("[[bench]]\ncapture = \"a.gfxr\"\noptions = [\"--nonsense\"]\n", "--nonsense"),
        ("[[bench]]\ncapture = \"a.gfxr\"\noptions = [\"b.gfxr\"]\n", "only flags that say how to replay"),
        ("[[bench]]\ncapture = \"a.gfxr\"\noptions = [\"--plan=b\"]\n", "only flags that say how to replay"),
        ("[[bench]]\ncapture = \"a.gfxr\"\noptions = [\"--processes=3\"]\n", "--processes"),
        ("[[bench]]\ncapture = \"a.gfxr\"\noptions = [\"--iterations=3\"]\n", "only flags"),
        ("[[bench]]\ncapture = \"a.gfxr\"\noptions = [\"-o\", \"y\"]\n", "cannot be used multiple times"),
    ] {
        let e = of(text).expect_err(text);
        assert!(e.starts_with("s.toml:3: ") && e.contains(words) && !e.contains('\n'), "{text}: {e}");
    }
    let e = of("[[plan]]\nname = \"p\"\nmethod = \"random\"\n[[bench]]\ncapture = \"a.gfxr\"\n")
        .expect_err("no frame");
    assert!(e.starts_with("s.toml:6: ") && e.contains("--frame"), "{e}");
    let e = of("[[bench]]\ncapture = \"a.gfxr\"\n[[bench]]\ncapture = \"b/A.gfxr\"\n").expect_err("twice");
    assert!(e.contains("s.toml:5: two units are called A, the other one of the [[bench]] on line 3"), "{e}");
    assert!(of("[[bench]]\ncapture = \"a.gfxr\"\nframes = [2, \"1-3\"]\n").is_err());
    let e = of("[[bench]]\ncaptures = \"*.gfxr\"\n").expect_err("nothing there");
    assert!(e.contains("no file in /nowhere"), "{e}");
}

#[test]
fn patterns_are_what_the_folder_holds_in_order() {
    let folder = std::env::temp_dir().join(format!("reray-units-{}[1]", std::process::id()));
    std::fs::create_dir_all(folder.join("s")).expect("a folder");
    for name in ["b.gfxr", "a.gfxr", ".hidden.gfxr", "c.txt"] {
        std::fs::write(folder.join("s").join(name), "").expect("a file");
    }
    let suite =
        parse(&format!("{HEAD}[[bench]]\nname = \"n\"\ncaptures = \"s/*.gfxr\"\n"), "s").expect("a suite");
    let all = units(&suite, &folder, words).expect("units");
    let files: Vec<(&str, &str)> = all.iter().map(|u| (u.name.as_str(), u.file.as_str())).collect();
    assert_eq!(files, [("n-a", "s/a.gfxr"), ("n-b", "s/b.gfxr")]);
    std::fs::remove_dir_all(&folder).expect("all of it");
}
