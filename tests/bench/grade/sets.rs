//! Made-up submissions and answers, with the columns and the number of rows of real ones. Nothing here comes from a
//! competition; values are drawn from a seeded generator, so that two runs grade the same bytes.

use std::fmt::Write as _;
use std::fs::File;
use std::io::{BufWriter, Write as _};
use std::path::Path;

/// One competition in the table.
pub(crate) struct Set {
    pub(crate) id: &'static str,
    /// Rows of a submission at full size.
    pub(crate) rows: usize,
    /// Seconds that the official grader took elsewhere to read both files and to grade them.
    pub(crate) official: f64,
    /// Writes both files row by row.
    pub(crate) write: fn(&mut Pair, usize, &mut Random),
}

/// The sets of the table.
pub(crate) const SETS: &[Set] = &[
    Set { id: "tabular-playground-series-may-2022", rows: 100_000, official: 0.11, write: area },
    Set { id: "tabular-playground-series-dec-2021", rows: 400_000, official: 0.39, write: accuracy },
    Set { id: "dog-breed-identification", rows: 1023, official: 0.11, write: breeds },
    Set { id: "text-normalization-challenge-english-language", rows: 993_465, official: 7.69, write: spoken },
    Set {
        id: "h-and-m-personalized-fashion-recommendations",
        rows: 1_371_980,
        official: 6.66,
        write: purchases,
    },
    Set { id: "ventilator-pressure-prediction", rows: 603_600, official: 1.17, write: pressures },
    Set { id: "new-york-city-taxi-fare-prediction", rows: 9914, official: 0.02, write: fares },
    Set { id: "champs-scalar-coupling", rows: 466_000, official: 1.05, write: couplings },
    Set {
        id: "jigsaw-unintended-bias-in-toxicity-classification",
        rows: 97_320,
        official: 1.36,
        write: comments,
    },
    Set { id: "tgs-salt-identification-challenge", rows: 1000, official: 1.86, write: masks },
    Set { id: "uw-madison-gi-tract-image-segmentation", rows: 16_416, official: 412.9, write: organs },
    Set { id: "3d-object-detection-for-autonomous-vehicles", rows: 4536, official: 684.2, write: cars },
    Set { id: "bms-molecular-translation", rows: 484_838, official: 5.88, write: molecules },
    Set { id: "denoising-dirty-documents", rows: 5_702_400, official: 36.1, write: pixels },
    Set { id: "icecube-neutrinos-in-deep-ice", rows: 13_200_000, official: 76.8, write: directions },
];

/// The two files while they are written.
pub(crate) struct Pair {
    submission: BufWriter<File>,
    answers: BufWriter<File>,
    line: String,
}

impl Pair {
    pub(crate) fn create(submission: &Path, answers: &Path) -> Self {
        let open = |path: &Path| BufWriter::new(File::create(path).unwrap());
        Self { submission: open(submission), answers: open(answers), line: String::new() }
    }

    fn guess(&mut self, line: std::fmt::Arguments<'_>) {
        self.line.clear();
        self.line.write_fmt(line).unwrap();
        self.line.push('\n');
        self.submission.write_all(self.line.as_bytes()).unwrap();
    }

    fn truth(&mut self, line: std::fmt::Arguments<'_>) {
        self.line.clear();
        self.line.write_fmt(line).unwrap();
        self.line.push('\n');
        self.answers.write_all(self.line.as_bytes()).unwrap();
    }
}

/// A xorshift generator.
pub(crate) struct Random(pub(crate) u64);

impl Random {
    fn next(&mut self) -> u64 {
        self.0 ^= self.0 << 13;
        self.0 ^= self.0 >> 7;
        self.0 ^= self.0 << 17;
        self.0.wrapping_mul(0x2545_F491_4F6C_DD1D)
    }

    fn below(&mut self, bound: u64) -> u64 {
        (self.next() >> 16) % bound
    }

    /// In [0, 1), with six decimals or so to print.
    fn unit(&mut self) -> f64 {
        self.below(1_000_000) as f64 / 1e6
    }

    fn hex(&mut self, digits: usize) -> String {
        let mut text = String::new();
        while text.len() < digits {
            let _ = write!(text, "{:016x}", self.next());
        }
        text.truncate(digits);
        text
    }
}

fn area(pair: &mut Pair, rows: usize, random: &mut Random) {
    pair.guess(format_args!("id,target"));
    pair.truth(format_args!("id,f_00,f_27,target"));
    for id in 800_000..800_000 + rows {
        let (score, noise) = (random.unit(), random.unit());
        pair.guess(format_args!("{id},{score}"));
        pair.truth(format_args!("{id},{noise},ABCDEFGHIJ,{}", u8::from(noise < score)));
    }
}

fn accuracy(pair: &mut Pair, rows: usize, random: &mut Random) {
    pair.guess(format_args!("Id,Cover_Type"));
    pair.truth(format_args!("Id,Elevation,Aspect,Cover_Type"));
    for id in 3_000_000..3_000_000 + rows {
        let class = 1 + random.below(7);
        let guess = if random.unit() < 0.8 { class } else { 1 + random.below(7) };
        pair.guess(format_args!("{id},{guess}"));
        pair.truth(format_args!("{id},{},{},{class}", random.below(4000), random.below(360)));
    }
}

fn breeds(pair: &mut Pair, rows: usize, random: &mut Random) {
    let entry = include_str!("../../../benchmark/competitions/dog-breed-identification.toml");
    let texts = [("competitions/dog-breed-identification.toml".to_owned(), entry.to_owned())].into();
    let catalog = podium_competition::Catalog::from_texts(texts).unwrap();
    let names = &catalog.list().next().unwrap().submission.columns;
    pair.guess(format_args!("id,{}", names.join(",")));
    pair.truth(format_args!("id,{}", names.join(",")));
    for _ in 0..rows {
        let (id, class) = (random.hex(32), random.below(names.len() as u64) as usize);
        let weights: Vec<f64> = names.iter().map(|_| random.unit() + 1e-3).collect();
        let sum: f64 = weights.iter().sum();
        let guess: Vec<String> = weights.iter().map(|weight| (weight / sum).to_string()).collect();
        let truth: Vec<&str> = (0..names.len()).map(|k| if k == class { "1" } else { "0" }).collect();
        pair.guess(format_args!("{id},{}", guess.join(",")));
        pair.truth(format_args!("{id},{}", truth.join(",")));
    }
}

const WORDS: [&str; 16] = [
    "the",
    "a",
    "two thousand and four",
    ",",
    ".",
    "of",
    "river",
    "nineteen eighty nine",
    "and",
    "in",
    "January",
    "the eleventh of May",
    "five kilometers",
    "city",
    "\"\"",
    "was",
];

fn spoken(pair: &mut Pair, rows: usize, random: &mut Random) {
    pair.guess(format_args!("\"id\",\"after\""));
    pair.truth(format_args!("\"id\",\"after\""));
    for row in 0..rows {
        let (sentence, token) = (row / 14, row % 14);
        let word = WORDS[random.below(16) as usize];
        let guess = if random.unit() < 0.9 { word } else { WORDS[random.below(16) as usize] };
        pair.guess(format_args!("\"{sentence}_{token}\",\"{guess}\""));
        pair.truth(format_args!("\"{sentence}_{token}\",\"{word}\""));
    }
}

fn articles(random: &mut Random) -> String {
    let items: Vec<String> = (0..12).map(|_| format!("0{:09}", 100_000_000 + random.below(800))).collect();
    items.join(" ")
}

fn purchases(pair: &mut Pair, rows: usize, random: &mut Random) {
    pair.guess(format_args!("customer_id,prediction"));
    pair.truth(format_args!("customer_id,prediction"));
    for row in 0..rows {
        let customer = random.hex(64);
        let guess = articles(random);
        pair.guess(format_args!("{customer},{guess}"));
        // One customer in eighteen buys anything in the week that is scored.
        if row % 18 == 0 {
            let bought = articles(random);
            let bought = &bought[..11 * (1 + random.below(4) as usize) - 1];
            pair.truth(format_args!("{customer},{bought}"));
        }
    }
}

fn pressures(pair: &mut Pair, rows: usize, random: &mut Random) {
    pair.guess(format_args!("id,pressure"));
    pair.truth(format_args!("id,breath_id,R,C,time_step,u_in,u_out,pressure"));
    for row in 1..=rows {
        let pressure = 5.0 + 20.0 * random.unit();
        pair.guess(format_args!("{row},{}", pressure + random.unit()));
        let (time, flow) = (random.unit() * 2.5, random.unit() * 20.0);
        let out = u8::from(row % 80 >= 32);
        pair.truth(format_args!("{row},{},20,10,{time},{flow},{out},{pressure}", row / 80));
    }
}

fn fares(pair: &mut Pair, rows: usize, random: &mut Random) {
    pair.guess(format_args!("key,fare_amount"));
    pair.truth(format_args!(
        "key,fare_amount,pickup_datetime,pickup_longitude,pickup_latitude,dropoff_longitude,dropoff_latitude,passenger_count"
    ));
    for row in 0..rows {
        let time = format!(
            "20{:02}-{:02}-{:02} {:02}:{:02}:{:02}",
            9 + random.below(7),
            1 + random.below(12),
            1 + random.below(28),
            random.below(24),
            random.below(60),
            random.below(60)
        );
        let fare = 3.0 + random.unit() * 40.0;
        pair.guess(format_args!("{time}.{row:07},{:.4}", fare + random.unit()));
        pair.truth(format_args!(
            "{time}.{row:07},{fare:.2},{time} UTC,-73.95{:04},40.75{:04},-73.97{:04},40.73{:04},1",
            random.below(10_000),
            random.below(10_000),
            random.below(10_000),
            random.below(10_000)
        ));
    }
}

fn couplings(pair: &mut Pair, rows: usize, random: &mut Random) {
    const KINDS: [&str; 8] = ["1JHC", "1JHN", "2JHC", "2JHH", "2JHN", "3JHC", "3JHH", "3JHN"];
    pair.guess(format_args!("id,scalar_coupling_constant"));
    pair.truth(format_args!("id,molecule_name,atom_index_0,atom_index_1,type,scalar_coupling_constant"));
    for row in 0..rows {
        let (id, molecule) = (2324 + row * 9, row / 55);
        let value = random.unit() * 90.0 - 5.0;
        let kind = KINDS[random.below(8) as usize];
        pair.guess(format_args!("{id},{:.8}", value + random.unit()));
        let (one, other) = (random.below(20), random.below(20));
        pair.truth(format_args!("{id},dsgdb9nsd_{molecule:06},{one},{other},{kind},{value:.4}"));
    }
}

fn comments(pair: &mut Pair, rows: usize, random: &mut Random) {
    pair.guess(format_args!("id,prediction"));
    pair.truth(format_args!(
        "id,comment_text,toxicity,male,female,homosexual_gay_or_lesbian,christian,jewish,muslim,black,white,psychiatric_or_mental_illness"
    ));
    for row in 0..rows {
        let (id, toxicity) = (7_000_000 + row, random.unit());
        pair.guess(format_args!("{id},{}", f64::midpoint(toxicity, random.unit())));
        let text: Vec<&str> = (0..50).map(|_| WORDS[random.below(14) as usize]).collect();
        let marks: Vec<String> = (0..9)
            .map(|_| match random.below(10) {
                0 => "1.0".to_owned(),
                1..=5 => "0.0".to_owned(),
                _ => String::new(),
            })
            .collect();
        pair.truth(format_args!("{id},\"{}\",{toxicity},{}", text.join(" "), marks.join(",")));
    }
}

/// Runs of a mask with `columns` runs, one to a column of an image of this height.
fn runs(random: &mut Random, height: u64, columns: u64) -> String {
    let mut text = String::new();
    for column in 0..columns {
        let (start, length) = (random.below(height / 2), 1 + random.below(height / 2 - 1));
        let _ =
            write!(text, "{}{} {length}", if column == 0 { "" } else { " " }, column * height + start + 1);
    }
    text
}

fn masks(pair: &mut Pair, rows: usize, random: &mut Random) {
    pair.guess(format_args!("id,rle_mask"));
    pair.truth(format_args!("id,rle_mask"));
    for row in 0..rows {
        let id = random.hex(10);
        let columns = if row % 3 == 0 { 0 } else { 1 + random.below(100) };
        let (guess, truth) = (runs(random, 101, columns), runs(random, 101, columns));
        pair.guess(format_args!("x{id},{guess}"));
        pair.truth(format_args!("x{id},{truth}"));
    }
}

fn organs(pair: &mut Pair, rows: usize, random: &mut Random) {
    pair.guess(format_args!("id,class,predicted"));
    pair.truth(format_args!("id,class,predicted,image_width,image_height"));
    for row in 0..rows {
        let (scan, slice, organ) = (row / 432, row % 432 / 3, row % 3);
        let id = format!("case{}_day{}_slice_{:04}", 10 + scan, 20 + scan % 9, slice + 1);
        let class = ["large_bowel", "small_bowel", "stomach"][organ];
        // A smooth patch that a guess moves a little; slices at the ends of a scan are empty.
        let patch = |shift: u64| -> String {
            let mut text = String::new();
            for column in 0..40u64 {
                let start = (100 + column + shift) * 266 + 90 + organ as u64 * 40 + shift;
                let _ = write!(text, "{}{start} {}", if column == 0 { "" } else { " " }, 20 + column % 20);
            }
            text
        };
        let (guess, truth) = if (40..110).contains(&slice) {
            (patch(random.below(4)), patch(0))
        } else {
            <(String, String)>::default()
        };
        pair.guess(format_args!("{id},{class},{guess}"));
        pair.truth(format_args!("{id},{class},{truth},266,266"));
    }
}

fn cars(pair: &mut Pair, rows: usize, random: &mut Random) {
    pair.guess(format_args!("Id,PredictionString"));
    pair.truth(format_args!("Id,PredictionString"));
    for _ in 0..rows {
        let id = random.hex(64);
        let (mut guess, mut truth) = (String::new(), String::new());
        for box_number in 0..28 {
            let class = ["car", "car", "car", "bicycle", "truck", "pedestrian"][random.below(6) as usize];
            let (x, y) = (1000.0 + random.unit() * 100.0, 2000.0 + random.unit() * 100.0);
            let turn = random.unit() * 6.0 - 3.0;
            let blank = if box_number == 0 { "" } else { " " };
            let _ = write!(truth, "{blank}1.0 {x:.6} {y:.6} -20.5 1.9 4.6 1.7 {turn:.6} {class}");
            let (dx, dy, sure) = (random.unit() * 0.5, random.unit() * 0.5, random.unit());
            let _ = write!(
                guess,
                "{blank}{sure} {:.6} {:.6} -20.4 1.9 4.6 1.7 {:.6} {class}",
                x + dx,
                y + dy,
                turn + dx / 5.0
            );
        }
        pair.guess(format_args!("{id},{guess}"));
        pair.truth(format_args!("{id},{truth}"));
    }
}

fn molecules(pair: &mut Pair, rows: usize, random: &mut Random) {
    pair.guess(format_args!("image_id,InChI"));
    pair.truth(format_args!("image_id,InChI"));
    for _ in 0..rows {
        let id = format!("{}x", random.hex(11));
        let carbons = 10 + random.below(15);
        let mut body = format!("InChI=1S/C{carbons}H{}N2O{}/c1", carbons + 4, random.below(6));
        for atom in 2..carbons + 12 {
            let _ = write!(body, "-{}", if random.below(6) == 0 { atom / 2 } else { atom });
        }
        body.push_str("/h2-8H,1H3,(H,17,20)");
        let mut guess = body.clone().into_bytes();
        for _ in 0..random.below(6) {
            let at = 10 + random.below(guess.len() as u64 - 10) as usize;
            if random.below(2) == 0 {
                guess.remove(at);
            } else {
                guess[at] = b'7';
            }
        }
        pair.guess(format_args!("{id},\"{}\"", String::from_utf8(guess).unwrap()));
        pair.truth(format_args!("{id},\"{body}\""));
    }
}

fn pixels(pair: &mut Pair, rows: usize, random: &mut Random) {
    pair.guess(format_args!("id,value"));
    pair.truth(format_args!("id,value"));
    for row in 0..rows {
        let (image, line, column) = (row / (258 * 540), row / 540 % 258, row % 540);
        let shade = random.below(256) as f64 / 255.0;
        pair.guess(format_args!("{}_{}_{},{:.4}", image + 1, line + 1, column + 1, shade * 0.9));
        pair.truth(format_args!("{}_{}_{},{shade}", image + 1, line + 1, column + 1));
    }
}

fn directions(pair: &mut Pair, rows: usize, random: &mut Random) {
    pair.guess(format_args!("event_id,azimuth,zenith"));
    pair.truth(format_args!("event_id,azimuth,zenith"));
    for row in 0..rows {
        let id = 24 + row * 163 + random.below(100) as usize;
        let (azimuth, zenith) = (random.unit() * 6.28, random.unit() * 3.14);
        pair.guess(format_args!("{id},{},{}", azimuth + random.unit() / 10.0, zenith * 0.97));
        pair.truth(format_args!("{id},{azimuth},{zenith}"));
    }
}
