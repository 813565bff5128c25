//! Which script the stand-in answers with: a draft, a fix, an improvement, or what follows from two programs.

use podium_types::rng::Rng;

use super::library::{Library, Script};
use super::prompt::Seen;

/// How often a draft or an improvement misbehaves, where the library has misbehaviour.
const MISBEHAVES: f64 = 0.2;
/// How often a fix fails.
const FIX_FAILS: f64 = 0.25;

/// The script to answer with.
pub(super) fn choose<'a>(library: &'a Library, seen: &Seen<'a>, rng: &mut Rng) -> Option<&'a Script> {
    match seen.current {
        None => misbehaviour(library, rng).or_else(|| draft(library, seen, rng)),
        Some(script) if seen.failed || !script.sound() => fix(library, script, seen, rng),
        Some(script) => {
            let parents = parents(script, seen);
            misbehaviour(library, rng).or_else(|| improvement(library, &parents, seen, rng))
        }
    }
}

fn misbehaviour<'a>(library: &'a Library, rng: &mut Rng) -> Option<&'a Script> {
    // Drawn whether or not there is any, so that the other choices do not hang on it.
    let misbehaves = rng.uniform() < MISBEHAVES;
    weighted(library.scripts.iter().filter(|script| misbehaves && script.misbehaviour), rng)
}

/// A solution, buggy ones among them, by its weight; one not seen yet where there is any.
fn draft<'a>(library: &'a Library, seen: &Seen<'a>, rng: &mut Rng) -> Option<&'a Script> {
    let solutions = || library.scripts.iter().filter(|script| !script.misbehaviour);
    let fresh = solutions().filter(|script| !is_known(script, seen));
    weighted(fresh, rng).or_else(|| weighted(solutions(), rng))
}

fn fix<'a>(library: &'a Library, script: &Script, seen: &Seen<'a>, rng: &mut Rng) -> Option<&'a Script> {
    if rng.uniform() < FIX_FAILS {
        let others = library.scripts.iter().filter(|other| other.buggy && other.name != script.name);
        if let Some(other) = weighted(others, rng) {
            return Some(other);
        }
    }
    let named = script.fixed_by.as_deref().and_then(|name| library.get(name));
    named.or_else(|| sound(library, script, seen, rng))
}

/// The working programs that a prompt is about: the one that stands last, and where it shows several, all of them.
fn parents<'a>(script: &'a Script, seen: &Seen<'a>) -> Vec<&'a Script> {
    let others = seen.programs.iter().copied().filter(|other| other.sound() && other.name != script.name);
    others.chain([script]).collect()
}

/// What improves one of the programs; of several, each has its chance.
fn improvement<'a>(
    library: &'a Library,
    parents: &[&Script],
    seen: &Seen<'a>,
    rng: &mut Rng,
) -> Option<&'a Script> {
    let named: Vec<&Script> = parents
        .iter()
        .flat_map(|script| &script.improved_by)
        .filter(|name| !parents.iter().any(|parent| parent.name == **name))
        .filter_map(|name| library.get(name))
        .collect();
    let fresh: Vec<&Script> = named.iter().copied().filter(|other| !is_known(other, seen)).collect();
    let last = parents.last()?;
    rng.pick(&fresh)
        .copied()
        .or_else(|| sound(library, last, seen, rng))
        .or_else(|| rng.pick(&named).copied())
}

/// A working solution other than `script`, not seen yet where there is any.
fn sound<'a>(library: &'a Library, script: &Script, seen: &Seen<'a>, rng: &mut Rng) -> Option<&'a Script> {
    let all: Vec<&Script> =
        library.scripts.iter().filter(|other| other.sound() && other.name != script.name).collect();
    let fresh: Vec<&Script> = all.iter().copied().filter(|other| !is_known(other, seen)).collect();
    rng.pick(&fresh).or_else(|| rng.pick(&all)).copied().or_else(|| {
        // A library of one solution.
        library.scripts.iter().find(|other| other.sound())
    })
}

fn is_known(script: &Script, seen: &Seen<'_>) -> bool {
    seen.known.iter().any(|known| known.name == script.name)
}

fn weighted<'a>(scripts: impl Iterator<Item = &'a Script>, rng: &mut Rng) -> Option<&'a Script> {
    let scripts: Vec<&Script> = scripts.filter(|script| script.draft > 0).collect();
    let total: usize = scripts.iter().map(|script| script.draft as usize).sum();
    let mut left = rng.below(total);
    for script in scripts {
        let weight = script.draft as usize;
        if left < weight {
            return Some(script);
        }
        left -= weight;
    }
    None
}
