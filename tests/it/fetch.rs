//! From an account to prepared data: archives come whole however the service behaves, what it refuses is told at once and
//! with the next step, and a batch that is killed again and again ends as one that was not.

use std::collections::{BTreeMap, BTreeSet};
use std::path::{Path, PathBuf};

use podium_competition::prepare::{Request, prepare};
use podium_competition::{Catalog, md5_of_file};

use crate::support::kaggle::{Act, Kaggle, raw};
use crate::support::{Place, Podium, need};

/// Small ones whose recipe has no number.
const FIVE: [&str; 5] = [
    "detecting-insults-in-social-commentary",
    "text-normalization-challenge-english-language",
    "spaceship-titanic",
    "learning-agency-lab-automated-essay-scoring-2",
    "spooky-author-identification",
];

fn entry(id: &str) -> String {
    let folder = Path::new(env!("CARGO_MANIFEST_DIR")).join("benchmark/competitions");
    std::fs::read_to_string(folder.join(format!("{id}.toml"))).unwrap()
}

/// Assets in which the recorded sum of each archive is that of the archive served.
fn assets(place: &Place, kaggle: &Kaggle, ids: &[&str]) -> PathBuf {
    for id in ids {
        let file = place.write(&format!("archives/{id}.zip"), &**kaggle.archive(id));
        let sum = md5_of_file(&file).unwrap();
        let lines = entry(id);
        let right = format!("zip = \"{sum}\"");
        let lines = lines.lines().map(|line| if line.starts_with("zip = ") { right.as_str() } else { line });
        place
            .write(&format!("assets/benchmark/competitions/{id}.toml"), lines.collect::<Vec<_>>().join("\n"));
    }
    place.write("assets/podium.toml", "").parent().unwrap().to_owned()
}

fn command(place: &Place, kaggle: &Kaggle, arguments: &[&str]) -> Podium {
    Podium::new(place)
        .args(["competitions", "prepare", "--endpoint", &kaggle.base, "--leave-free", "1"])
        .args(arguments)
        .env("KAGGLE_API_TOKEN", "KGAT_secret")
}

/// What the official preparation makes of the same raw data, by the library.
fn expected(id: &str, place: &Place) -> BTreeMap<String, Vec<u8>> {
    let catalog = Catalog::from_texts([(format!("competitions/{id}.toml"), entry(id))].into()).unwrap();
    let (raw, data_dir) = (raw(id, &place.path().join("raw")), place.path().join("expected"));
    let request = Request { raw: &raw, data_dir: &data_dir, constants: &BTreeMap::new() };
    prepare(catalog.get(id).unwrap(), &request).unwrap();
    files(&data_dir.join(id).join("prepared"))
}

/// All files below a folder by their path.
fn files(root: &Path) -> BTreeMap<String, Vec<u8>> {
    let (mut found, mut folders) = (BTreeMap::new(), vec![root.to_owned()]);
    while let Some(folder) = folders.pop() {
        for path in std::fs::read_dir(&folder).unwrap().map(|entry| entry.unwrap().path()) {
            if path.is_dir() {
                folders.push(path);
            } else {
                let name = path.strip_prefix(root).unwrap().to_str().unwrap().to_owned();
                found.insert(name, std::fs::read(&path).unwrap());
            }
        }
    }
    found
}

/// What stands in the folder of a competition.
fn there(place: &Place, id: &str) -> BTreeSet<String> {
    let entries = std::fs::read_dir(place.data().join(id)).into_iter().flatten().flatten();
    entries.map(|entry| entry.file_name().into_string().unwrap()).collect()
}

#[test]
fn archives_come_whole_however_the_service_behaves() {
    let place = Place::new();
    let kaggle = Kaggle::serve(&FIVE);
    let assets = assets(&place, &kaggle, &FIVE);
    let [cut, limited, damaged, stubborn, stale] = FIVE;
    kaggle.acts(cut, [Act::Cut(70_000), Act::Cut(100), Act::Cut(0)]);
    kaggle.acts(
        limited,
        [Act::Status(429, "slow down"), Act::Status(429, ""), Act::Cut(9), Act::Status(503, "<html>")],
    );
    kaggle.acts(damaged, [Act::Damage]);
    kaggle.acts(stubborn, [Act::Cut(50_000), Act::All(20_000), Act::All(usize::MAX)]);
    kaggle.acts(stale, [Act::Stale]);
    let finished = command(&place, &kaggle, &FIVE).arg("--assets").arg(&assets).output().expect(0);
    assert_eq!(finished.stdout.lines().count(), 5, "{}", finished.stdout);
    assert!(!finished.stderr.contains("secret"), "{}", finished.stderr);
    for id in FIVE {
        assert_eq!(files(&place.data().join(id).join("prepared")), expected(id, &place), "{id}");
        assert_eq!(there(&place, id), ["prepared".to_owned()].into(), "{id}");
    }
    let asked = kaggle.asked();
    let from = |id: &str| -> Vec<Option<usize>> {
        let fetches = asked.iter().filter(|asked| asked.id == id && asked.at_storage && !asked.is_probe);
        fetches.map(|asked| asked.from).collect()
    };
    assert_eq!(from(cut), [None, Some(70_000), Some(70_100), Some(70_100)]);
    assert_eq!(from(limited), [None, Some(9)]);
    assert_eq!(from(damaged), [None, None]);
    assert_eq!(from(stubborn), [None, Some(50_000), Some(20_000)]);
    assert_eq!(from(stale), [None, None]);
    for asked in &asked {
        let account = (!asked.at_storage).then_some("Bearer KGAT_secret");
        assert_eq!(asked.account.as_deref(), account, "{asked:?}");
    }
    // All is there: nothing is asked, no account needed.
    let again =
        Podium::new(&place).args(["competitions", "prepare", "--json"]).args(FIVE).output().expect(0).json();
    assert_eq!(again.as_array().unwrap().len(), 5);
    assert_eq!(kaggle.asked().len(), asked.len());
}

#[test]
fn what_the_service_refuses_is_told_before_anything_is_fetched() {
    let place = Place::new();
    let kaggle = Kaggle::serve(&FIVE);
    let [first, second, third, other, _] = FIVE;
    let fetched = || kaggle.asked().iter().filter(|asked| !asked.is_probe).count();
    let fails = |podium: Podium, code: i32, words: &[&str]| {
        let finished = podium.output().expect(code);
        for words in words {
            assert!(finished.stderr.contains(words), "no `{words}` in\n{}", finished.stderr);
        }
        assert_eq!(fetched(), 0);
        assert_eq!(there(&place, first), BTreeSet::new());
    };
    let rules = r#"{"code":403,"message":"You must accept this competition's rules"}"#;
    kaggle.always(first, Some(Act::Status(403, rules)));
    kaggle.always(third, Some(Act::Status(403, rules)));
    let pages = [first, third].map(|id| format!("competitions/{id}/rules"));
    fails(command(&place, &kaggle, &FIVE), 3, &["hint: accept the rules", &pages[0], &pages[1]]);
    kaggle.always(third, Some(Act::Page));
    kaggle.always(first, None);
    fails(command(&place, &kaggle, &FIVE), 3, &[third, "a page, not an archive"]);
    kaggle.always(third, Some(Act::Status(404, "")));
    fails(command(&place, &kaggle, &FIVE), 3, &["knows no data", third]);
    kaggle.always(third, Some(Act::Status(401, r#"{"message":"Unauthenticated"}"#)));
    fails(
        command(&place, &kaggle, &FIVE),
        3,
        &["does not accept the credentials: Unauthenticated", "new one"],
    );
    kaggle.always(third, None);
    let greedy = ["--leave-free", "1000000TiB"];
    let podium = Podium::new(&place).args(["competitions", "prepare", first, "--endpoint", &kaggle.base]);
    fails(podium.args(greedy), 3, &["are free in", "--data-dir"]);
    fails(
        Podium::new(&place).args(["competitions", "prepare", first]),
        2,
        &["no Kaggle credentials", "KAGGLE_API_TOKEN", "--archives", "--raw"],
    );
    fails(command(&place, &kaggle, &[first, "--fixed"]), 2, &["no fixed variant"]);

    let looked = command(&place, &kaggle, &[first, second, "--dry-run", "--json"]).output().expect(0).json();
    assert_eq!(looked[0]["bytes"], kaggle.archive(first).len());
    assert_eq!(looked[1]["source"], "download");
    assert_eq!(fetched(), 0);

    // The recorded sum is that of the real archive: the same other one twice is another version.
    let finished = command(&place, &kaggle, &[other]).output().expect(3);
    for words in ["another version", "--skip-verification", "1 of 1 are not ready"] {
        assert!(finished.stderr.contains(words), "{}", finished.stderr);
    }
    let before = fetched();
    let kept = command(&place, &kaggle, &[other, "--skip-verification", "--keep-raw"]).output().expect(0);
    assert_eq!(fetched(), before, "it was there: {}", kept.stderr);
    let zip = format!("{other}.zip");
    assert_eq!(
        there(&place, other),
        ["prepared", "raw", &zip, &format!("{zip}.md5")].map(str::to_owned).into()
    );
    assert_eq!(files(&place.data().join(other).join("prepared")), expected(other, &place));

    // MLE-bench's sums are those of the real data.
    let verified = Podium::new(&place).args(["competitions", "verify", other, first]).output().expect(3);
    for words in [
        &format!("{other}: 0 files as recorded"),
        "differs: public/train.csv",
        &format!("{first}: not prepared"),
    ] {
        assert!(verified.stdout.contains(words), "{}", verified.stdout);
    }
    let verified =
        Podium::new(&place).args(["competitions", "verify", other, "--json"]).output().expect(1).json();
    assert_eq!(verified[0]["same"], 0);
}

#[test]
fn a_sign_in_is_exchanged_for_a_token_where_it_has_none_that_serves() {
    let place = Place::new();
    let kaggle = Kaggle::serve(&FIVE);
    let sign_in = |lasts: &str, expires: &str| {
        let text = format!(
            r#"{{"refresh_token": "{lasts}", "access_token": "old", "access_token_expiration": "{expires}"}}"#
        );
        let file = place.home().join(".kaggle/credentials.json");
        std::fs::create_dir_all(file.parent().unwrap()).unwrap();
        std::fs::write(file, text).unwrap();
    };
    let looks = || {
        let arguments = ["competitions", "prepare", "--dry-run", "--json", "--endpoint", &kaggle.base];
        Podium::new(&place).args(arguments).args(FIVE).output()
    };
    // One that is too old is not sent, one that is refused is sent no more; one exchange serves all five.
    for (exchanges, expires) in [(1, "2020-01-01T00:00:00+00:00"), (2, "2999-01-01T00:00:00.123456+00:00")] {
        sign_in("lasts", expires);
        assert_eq!(looks().expect(0).json()[4]["bytes"], kaggle.archive(FIVE[4]).len());
        assert_eq!(kaggle.exchanges(), exchanges);
    }
    let accounts: BTreeSet<Option<String>> = kaggle.asked().into_iter().map(|asked| asked.account).collect();
    assert_eq!(accounts, [None, Some("Bearer new".to_owned())].into(), "the storage sees none");
    // The refusal of the service quotes what it got.
    sign_in("secret-that-lasted", "");
    let refused = looks().expect(3);
    assert!(refused.stderr.contains("does not accept the credentials"), "{}", refused.stderr);
    assert!(refused.stderr.contains("kaggle auth login"), "{}", refused.stderr);
    assert!(!refused.stderr.contains("secret"), "{}", refused.stderr);
}

#[test]
fn an_archive_at_hand_is_taken_and_left_alone() {
    let place = Place::new();
    let fixed = "random-acts-of-pizza";
    let ids = [FIVE[2], FIVE[4], fixed];
    let kaggle = Kaggle::serve(&ids);
    let assets = assets(&place, &kaggle, &ids);
    let archives = place.path().join("archives");
    std::fs::remove_file(archives.join(format!("{}.zip", ids[1]))).unwrap();
    let prepare = |arguments: &[&str]| {
        let arguments = [arguments, &["--archives", archives.to_str().unwrap()]].concat();
        command(&place, &kaggle, &arguments).arg("--assets").arg(&assets)
    };
    kaggle.acts(ids[1], [Act::Hold(100_000), Act::Trickle(50_000)]);
    let finished = prepare(&[ids[0], ids[1], "--stall-timeout", "2s"]).output().expect(0);
    assert!(finished.stderr.contains("nothing came for 2 s"), "{}", finished.stderr);
    assert!(finished.stderr.contains(" bytes came in "), "{}", finished.stderr);
    let asked: BTreeSet<String> = kaggle.asked().into_iter().map(|asked| asked.id).collect();
    assert_eq!(asked, [ids[1].to_owned()].into(), "only what is not at hand is fetched");
    assert_eq!(files(&archives).len(), 2);
    for id in &ids[..2] {
        assert_eq!(files(&place.data().join(id).join("prepared")), expected(id, &place), "{id}");
    }
    // The fixed variant is another competition, with its own data and its own name in reports.
    let variant = format!("{fixed}-fixed");
    prepare(&[fixed, "--fixed"]).output().expect(0);
    assert!(there(&place, fixed).is_empty(), "the original was not asked for");
    let prepared = files(&place.data().join(&variant).join("prepared"));
    let original = expected(fixed, &place);
    assert_eq!(prepared.keys().collect::<Vec<_>>(), original.keys().collect::<Vec<_>>());
    let text =
        |files: &BTreeMap<String, Vec<u8>>| String::from_utf8(files["public/train.json"].clone()).unwrap();
    assert!(
        text(&original).contains("giver_username_if_known")
            && !text(&prepared).contains("giver_username_if_known")
    );
    assert_eq!(prepared["private/test.csv"], original["private/test.csv"]);
    let shown =
        Podium::new(&place).args(["competitions", "show", &variant, "--json"]).output().expect(0).json();
    assert_eq!(shown["variant_of"], fixed);
    let sample = place.data().join(&variant).join("prepared/public/sampleSubmission.csv");
    let graded =
        Podium::new(&place).arg("grade").arg(&sample).args(["--competition", &variant, "--json"]).output();
    assert_eq!(graded.expect(0).json()["competition_id"], variant.as_str());
    // An archive that is another one is not taken.
    std::fs::write(archives.join(format!("{fixed}.zip")), "PK").unwrap();
    let refused = prepare(&[fixed]).output().expect(3);
    assert!(refused.stderr.contains("is not the recorded version"), "{}", refused.stderr);
}

#[test]
fn a_batch_that_is_killed_twenty_times_ends_as_one_that_was_not() {
    if !need::failpoints("a_batch_that_is_killed_twenty_times_ends_as_one_that_was_not") {
        return;
    }
    let place = Place::new();
    let kaggle = Kaggle::serve(&FIVE);
    let assets = assets(&place, &kaggle, &FIVE);
    let command = || command(&place, &kaggle, &FIVE).arg("--assets").arg(&assets).args(["--jobs", "2"]);
    let whole = |id: &str| {
        let home = place.data().join(id);
        let length = |name: &str| home.join(name).metadata().map_or(0, |facts| facts.len());
        let all = kaggle.archive(id).len() as u64;
        home.join("prepared").exists()
            || length(&format!("{id}.zip")) == all
            || length(&format!("{id}.zip.part")) == all
    };
    let ready = || FIVE.iter().filter(|id| place.data().join(id).join("prepared").exists()).count();
    let official: BTreeMap<&str, _> = FIVE.into_iter().map(|id| (id, expected(id, &place))).collect();
    let mut kills = 0;
    // Later and later, so that the batch moves on between the kills.
    for instant in [1, 2, 3, 5, 4, 6, 8, 3, 7, 9, 2, 5, 6, 4, 8, 3, 5, 7, 2, 3] {
        let had: Vec<bool> = FIVE.iter().map(|id| whole(id)).collect();
        let before = kaggle.asked().len();
        let finished = command().failpoint(&format!("provision:{instant}")).output();
        for (id, had) in FIVE.iter().zip(had) {
            let again = kaggle.asked()[before..].iter().any(|asked| asked.id == *id && !asked.is_probe);
            assert!(!(had && again), "{id} was whole and is fetched again");
            let prepared = place.data().join(id).join("prepared");
            assert!(!prepared.exists() || files(&prepared) == official[id], "{id} looks ready and is not");
        }
        if !finished.was_killed() {
            finished.expect(0);
            break;
        }
        kills += 1;
    }
    eprintln!("{kills} kills, {} of 5 ready by then", ready());
    command().output().expect(0);
    for id in FIVE {
        assert_eq!(files(&place.data().join(id).join("prepared")), official[id], "{id}");
        assert_eq!(there(&place, id), ["prepared".to_owned()].into(), "{id}");
    }
}
