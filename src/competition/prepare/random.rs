//! The generators that the official preparation draws from, word for word: the Mersenne twister as numpy's legacy
//! `RandomState` and as Python's `random` use it. The two differ in how they are seeded and in how they make a small
//! number of a large one, so each is a type of its own over one engine.
//!
//! Nothing here is random to an adversary, and nothing else in the program may use it.

const STATE: usize = 624;
const SHIFT: usize = 397;
const UPPER: u32 = 0x8000_0000;
const LOWER: u32 = 0x7fff_ffff;

/// MT19937 by Matsumoto and Nishimura.
#[derive(Clone, Debug)]
struct Twister {
    state: [u32; STATE],
    next: usize,
}

impl Twister {
    /// `init_genrand` of the reference.
    fn from_word(seed: u32) -> Self {
        let mut state = [seed; STATE];
        let mut last = seed;
        for (place, word) in (0u32..).zip(&mut state).skip(1) {
            last = 1_812_433_253u32.wrapping_mul(last ^ (last >> 30)).wrapping_add(place);
            *word = last;
        }
        Self { state, next: STATE }
    }

    /// `init_by_array` of the reference, for a key of one word.
    fn from_key(key: u32) -> Self {
        let mut twister = Self::from_word(19_650_218);
        let at = |state: &[u32; STATE], place: usize| state.get(place).copied().unwrap_or_default();
        let mut place = 1;
        for _ in 0..STATE {
            let before = at(&twister.state, place - 1);
            twister.mix(place, |word| {
                (word ^ (before ^ (before >> 30)).wrapping_mul(1_664_525)).wrapping_add(key)
            });
            place = twister.after(place);
        }
        for _ in 1..STATE {
            let before = at(&twister.state, place - 1);
            let number = u32::try_from(place).unwrap_or_default();
            twister.mix(place, |word| {
                (word ^ (before ^ (before >> 30)).wrapping_mul(1_566_083_941)).wrapping_sub(number)
            });
            place = twister.after(place);
        }
        twister.mix(0, |_| UPPER);
        twister
    }

    fn mix(&mut self, place: usize, with: impl Fn(u32) -> u32) {
        if let Some(word) = self.state.get_mut(place) {
            *word = with(*word);
        }
    }

    /// The place after this one; the last word is carried to the front.
    fn after(&mut self, place: usize) -> usize {
        if place + 1 < STATE {
            return place + 1;
        }
        let last = self.state.last().copied().unwrap_or_default();
        self.mix(0, |_| last);
        1
    }

    fn refill(&mut self) {
        let at = |state: &[u32; STATE], place: usize| state.get(place % STATE).copied().unwrap_or_default();
        for place in 0..STATE {
            let joined = (at(&self.state, place) & UPPER) | (at(&self.state, place + 1) & LOWER);
            let odd = if joined & 1 == 1 { 0x9908_b0df } else { 0 };
            let far = at(&self.state, place + SHIFT);
            self.mix(place, |_| far ^ (joined >> 1) ^ odd);
        }
        self.next = 0;
    }

    fn word(&mut self) -> u32 {
        if self.next >= STATE {
            self.refill();
        }
        let mut word = self.state.get(self.next).copied().unwrap_or_default();
        self.next += 1;
        word ^= word >> 11;
        word ^= (word << 7) & 0x9d2c_5680;
        word ^= (word << 15) & 0xefc6_0000;
        word ^ (word >> 18)
    }
}

/// numpy's `RandomState`.
#[derive(Clone, Debug)]
pub struct RandomState(Twister);

impl RandomState {
    /// Seeded with one word, as `RandomState(seed)` is.
    pub fn new(seed: u32) -> Self {
        Self(Twister::from_word(seed))
    }

    /// The next 32 bits.
    pub fn word(&mut self) -> u32 {
        self.0.word()
    }

    /// `uniform()`: a double in [0, 1) of 53 bits.
    pub fn uniform(&mut self) -> f64 {
        let (high, low) = (self.word() >> 5, self.word() >> 6);
        (f64::from(high) * 67_108_864.0 + f64::from(low)) / 9_007_199_254_740_992.0
    }

    /// A number from 0 to `most`, both included: words are masked, and redrawn while they are too large.
    pub fn interval(&mut self, most: u32) -> u32 {
        if most == 0 {
            return 0;
        }
        let mask = u32::MAX >> most.leading_zeros();
        loop {
            let drawn = self.word() & mask;
            if drawn <= most {
                return drawn;
            }
        }
    }

    /// `randint(low, high)`: a number from `low` to below `high`; `low` where there is no other.
    pub fn randint(&mut self, low: i64, high: i64) -> i64 {
        let most = u32::try_from(high.saturating_sub(low).saturating_sub(1)).unwrap_or_default();
        low + i64::from(self.interval(most))
    }

    /// `permutation(n)`.
    pub fn permutation(&mut self, count: u32) -> Vec<u32> {
        let mut order: Vec<u32> = (0..count).collect();
        self.shuffle(&mut order);
        order
    }

    /// `shuffle`: from the last one down, each changes places with one up to itself.
    pub fn shuffle<T>(&mut self, items: &mut [T]) {
        for last in (1..items.len()).rev() {
            let drawn = self.interval(u32::try_from(last).unwrap_or(u32::MAX));
            items.swap(last, drawn as usize);
        }
    }
}

/// Python's `random.Random`.
#[derive(Clone, Debug)]
pub struct PythonRandom(Twister);

impl PythonRandom {
    /// Seeded with a whole number, as `random.seed(seed)` does.
    pub fn new(seed: u32) -> Self {
        Self(Twister::from_key(seed))
    }

    /// A number from 0 to below `count`: the top bits of words, redrawn while they are too large. Nothing is drawn
    /// where there is no choice at all.
    pub fn below(&mut self, count: u32) -> u32 {
        if count == 0 {
            return 0;
        }
        loop {
            let drawn = self.0.word() >> count.leading_zeros();
            if drawn < count {
                return drawn;
            }
        }
    }

    /// `randint(low, high)`, both included.
    pub fn randint(&mut self, low: u32, high: u32) -> u32 {
        low + self.below(high.saturating_sub(low) + 1)
    }

    /// `shuffle`.
    pub fn shuffle<T>(&mut self, items: &mut [T]) {
        for last in (1..items.len()).rev() {
            let drawn = self.below(u32::try_from(last + 1).unwrap_or(u32::MAX));
            items.swap(last, drawn as usize);
        }
    }

    /// `sample(population, count)`, as places in a population of `size`. Small ones are drawn from a pool, large ones
    /// until they are new; which is which is Python's own rule.
    pub fn sample(&mut self, size: u32, count: u32) -> Vec<u32> {
        let count = count.min(size);
        let mut threshold = 21u64;
        if count > 5 {
            let mut power = 1u64;
            while power < u64::from(count) * 3 {
                power *= 4;
            }
            threshold += power;
        }
        if u64::from(size) > threshold {
            let mut taken = std::collections::HashSet::new();
            return (0..count)
                .map(|_| {
                    loop {
                        let drawn = self.below(size);
                        if taken.insert(drawn) {
                            return drawn;
                        }
                    }
                })
                .collect();
        }
        let mut pool: Vec<u32> = (0..size).collect();
        (0..count)
            .map(|_| {
                let drawn = self.below(u32::try_from(pool.len()).unwrap_or(u32::MAX)) as usize;
                pool.swap_remove(drawn)
            })
            .collect()
    }
}

/// numpy's newer generator, `default_rng(seed)`: PCG64 (XSL-RR 128/64) seeded through a `SeedSequence`.
#[derive(Clone, Debug)]
pub struct Pcg64 {
    state: u128,
    increment: u128,
}

impl Pcg64 {
    const MULTIPLIER: u128 = 0x2360_ed05_1fc6_5da4_4385_df64_9fcc_f645;

    /// `default_rng(seed)`.
    pub fn new(seed: u32) -> Self {
        let words = seed_sequence(seed);
        let joined = |high: u64, low: u64| (u128::from(high) << 64) | u128::from(low);
        let [first, second, third, fourth] = words;
        let increment = (joined(third, fourth) << 1) | 1;
        let mut generator = Self { state: 0, increment };
        generator.step();
        generator.state = generator.state.wrapping_add(joined(first, second));
        generator.step();
        generator
    }

    fn step(&mut self) {
        self.state = self.state.wrapping_mul(Self::MULTIPLIER).wrapping_add(self.increment);
    }

    /// The next 64 bits.
    pub fn word(&mut self) -> u64 {
        self.step();
        let bytes = self.state.to_be_bytes();
        let (high, low) = bytes.split_at(8);
        let half = |bytes: &[u8]| bytes.first_chunk().map_or(0, |chunk| u64::from_be_bytes(*chunk));
        (half(high) ^ half(low)).rotate_right(u32::try_from(self.state >> 122).unwrap_or_default())
    }

    /// `random()`: a double in [0, 1).
    pub fn double(&mut self) -> f64 {
        (self.word() >> 11) as f64 / 9_007_199_254_740_992.0
    }

    /// `uniform(low, high)`.
    pub fn uniform(&mut self, low: f64, high: f64) -> f64 {
        low + (high - low) * self.double()
    }
}

/// The first four words of 64 bits of numpy's `SeedSequence(seed)`: a pool of four words is hashed and mixed.
fn seed_sequence(seed: u32) -> [u64; 4] {
    const POOL: usize = 4;
    let mut constant = 0x43b0_d7e5u32;
    let mut hash = |value: u32| {
        let value = value ^ constant;
        constant = constant.wrapping_mul(0x931e_8875);
        let value = value.wrapping_mul(constant);
        value ^ (value >> 16)
    };
    let mix = |left: u32, right: u32| {
        let value = left.wrapping_mul(0xca01_f9dd).wrapping_sub(right.wrapping_mul(0x4973_f715));
        value ^ (value >> 16)
    };
    let mut pool = [0u32; POOL];
    for (place, word) in pool.iter_mut().enumerate() {
        *word = hash(if place == 0 { seed } else { 0 });
    }
    for from in 0..POOL {
        for to in (0..POOL).filter(|to| *to != from) {
            let hashed = hash(pool.get(from).copied().unwrap_or_default());
            if let Some(word) = pool.get_mut(to) {
                *word = mix(*word, hashed);
            }
        }
    }
    let mut constant = 0x8b51_f9ddu32;
    let mut words = pool.iter().cycle().map(|word| {
        let value = word ^ constant;
        constant = constant.wrapping_mul(0x58f3_8ded);
        let value = value.wrapping_mul(constant);
        u64::from(value ^ (value >> 16))
    });
    let mut pair = || words.next().unwrap_or_default() | (words.next().unwrap_or_default() << 32);
    [pair(), pair(), pair(), pair()]
}
