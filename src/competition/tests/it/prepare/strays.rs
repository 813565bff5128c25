//! Rows that belong to no part: what the official preparations leave out of both, though the real data have none.

use std::path::Path;

use podium_competition::prepare::{Request, prepare};

use super::fixed::catalog;

fn prepared(id: &str, files: &[(&str, &str)], constants: &[(&str, i64)]) -> tempfile::TempDir {
    let place = tempfile::tempdir().unwrap();
    for (name, text) in files {
        let path = place.path().join("raw").join(name);
        std::fs::create_dir_all(path.parent().unwrap()).unwrap();
        std::fs::write(path, text).unwrap();
    }
    let constants = constants.iter().map(|(name, value)| ((*name).to_owned(), *value)).collect();
    let request = Request {
        raw: &place.path().join("raw"),
        data_dir: &place.path().join("data"),
        raw_is_ours: false,
        constants: &constants,
    };
    prepare(catalog(id).get(id).unwrap(), &request).unwrap();
    place
}

fn read(place: &Path, id: &str, name: &str) -> String {
    std::fs::read_to_string(place.join("data").join(id).join("prepared").join(name)).unwrap()
}

#[test]
fn a_notebook_without_an_ancestor_is_in_neither_part() {
    let id = "AI4Code";
    let notebook = r#"{"cell_type": {"b": "code", "a": "code"}}"#;
    let files = [
        ("train_ancestors.csv", "id,ancestor_id,parent_id\nn1,g1,\nn2,g2,\nn3,g3,\n"),
        ("train_orders.csv", "id,cell_order\nn1,a b\nn2,a b\nn3,a b\nn4,a b\n"),
        ("train/n1.json", notebook),
        ("train/n2.json", notebook),
        ("train/n3.json", notebook),
        ("train/n4.json", notebook),
    ];
    let place = prepared(id, &files, &[("test_notebooks", 1)]);
    let (shown, hidden) = (
        read(place.path(), id, "public/train_orders.csv"),
        read(place.path(), id, "private/test_orders.csv"),
    );
    assert_eq!((shown.lines().count(), hidden.lines().count()), (3, 2), "{shown}{hidden}");
    assert!(!shown.contains("n4") && !hidden.contains("n4"), "{shown}{hidden}");
}

#[test]
fn purchases_of_nobody_are_no_answer_and_customers_that_are_numbers_go_by_value() {
    let id = "h-and-m-personalized-fashion-recommendations";
    let purchases = "t_dat,customer_id,article_id,price,sales_channel_id,more\n\
        2020-09-01,7,100,0.5,1,x\n\
        2020-09-20,10,101,0.5,1,x\n\
        2020-09-21,,102,0.5,1,x\n\
        2020-09-22,9,103,0.5,2,x\n\
        2020-09-22,10,104,0.5,2,x\n";
    let files = [
        ("transactions_train.csv", purchases),
        ("articles.csv", "article_id\n"),
        ("customers.csv", "customer_id\n"),
        ("sample_submission.csv", "customer_id,prediction\n"),
        ("images/1.jpg", ""),
    ];
    let place = prepared(id, &files, &[]);
    let answers = read(place.path(), id, "private/answers.csv");
    assert_eq!(answers, "customer_id,prediction\n9.0,103\n10.0,101 104\n");
    let shown = read(place.path(), id, "public/transactions_train.csv");
    assert_eq!(
        shown,
        "t_dat,customer_id,article_id,price,sales_channel_id,more\n2020-09-01,7.0,100,0.5,1,x\n"
    );
}
