//! Every preparation against what the official one made of the same raw data: one test a competition, over all its cases.
//!
//! `benchmark/prepare-oracle/README.md` says what a case holds. A case passes when the same files and folders are there, and
//! each is the same: byte for byte, or, of archives and parquet, by what is in them.

mod blocks;
mod cases;
mod fixed;
mod real;
mod strays;

macro_rules! oracle {
    ($($name:ident = $id:literal,)*) => {
        $(
            #[test]
            fn $name() {
                cases::check($id);
            }
        )*

        #[test]
        fn every_competition_has_its_test() {
            cases::check_list(&[$($id),*]);
        }
    };
}

every_competition!(oracle);
