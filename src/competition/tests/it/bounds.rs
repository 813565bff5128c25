//! Files made to fill the memory of whoever reads them: few bytes that mean many cells.

use podium_competition::csv::{self, MAX_COLUMNS, ReadOptions};

#[test]
fn few_bytes_do_not_mean_many_cells() {
    let wide = "a,".repeat(MAX_COLUMNS - 1) + "a\n";
    // Each row of two bytes would take 1.6 MB.
    let short = wide.clone() + &"1\n".repeat(90);
    let table = [
        (format!("a,b\n1,2\n\"3\",{}", ",".repeat(2 * MAX_COLUMNS)), "more than 200000 columns"),
        (",".repeat(2 * MAX_COLUMNS) + "\n", "more than 200000 columns"),
        (
            short,
            "data row 84 (line 85) has 1 cells where 200000 are expected, and with those before it lacks more than \
             16777216",
        ),
    ];
    for (text, message) in table {
        let found = csv::read_text(&text, &ReadOptions::default()).map_err(|error| error.to_string());
        assert_eq!(found.map(|table| table.rows), Err(message.to_owned()));
    }
    // What is not kept is not held.
    let keep = Some(vec!["a".to_owned()]);
    let text = wide + &"1\n".repeat(90);
    let kept = csv::read_text(&text, &ReadOptions { keep, ..ReadOptions::default() }).unwrap();
    assert_eq!(kept.rows, 90);
}
