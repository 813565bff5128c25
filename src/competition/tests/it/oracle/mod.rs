//! Every grader against the verdicts of the official one: one test a competition, over all its cases.
//!
//! `benchmark/oracle/README.md` says what a case holds. A case passes when valid or invalid agrees, the score agrees
//! within the case's tolerance, the rounded score agrees exactly, and `validate` says what `grade` says.

pub(crate) mod cases;

macro_rules! oracle {
    ($($name:ident = $id:literal,)*) => {
        $(
            #[test]
            fn $name() {
                cases::check($id);
            }
        )*

        #[test]
        fn further_cases_agree() {
            cases::check_further();
        }

        #[test]
        fn every_competition_has_its_test() {
            cases::check_list(&[$($id),*]);
        }
    };
}

every_competition!(oracle);
