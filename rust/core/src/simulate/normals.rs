//! Standard normals in bulk for many paths at once: the same ChaCha8 streams as in [`crate::noise`], side by side.
//!
//! Lane `l` of a block draws from the stream of path `first + l`. One word of 64 bits makes one normal, as a pure
//! function of the word, so all lanes advance in step and the n-th normal of a path depends on
//! `(seed, path, n)` alone.

use std::sync::LazyLock;

use rand::SeedableRng;
use rand_chacha::ChaCha8Rng;

use crate::noise::Purpose;

/// Normals that one block of a stream yields.
pub const PER_BLOCK: usize = 8;
/// Words of the state of the cipher.
const STATE: usize = 16;
/// Streams that are worked on together; the width of a block is a multiple of it.
pub const STREAMS: usize = 8;
/// One word of the state in a row, one stream in a column.
type Tile = [[u32; STREAMS]; STATE];
const CONSTANTS: [u32; 4] = [0x6170_7865, 0x3320_646e, 0x7962_2d32, 0x6b20_6574];

/// The streams of a block of paths.
#[derive(Debug, Clone)]
pub struct Normals {
    key: [u32; 8],
    /// The stream of the first lane, and the number of lanes.
    first: u64,
    width: usize,
    /// Blocks that were drawn from every stream.
    counter: u64,
}

impl Normals {
    /// The streams of the paths `first`, ..., `first + width - 1` under `seed`; `width` is a multiple of 8.
    pub fn new(seed: u64, first: u64, width: usize) -> Self {
        assert_eq!(width % STREAMS, 0, "whole tiles of streams");
        let bytes = ChaCha8Rng::seed_from_u64(seed ^ Purpose::Path.salt()).get_seed();
        let words = bytes.as_chunks().0;
        Self { key: std::array::from_fn(|i| u32::from_le_bytes(words[i])), first, width, counter: 0 }
    }

    /// The next [`PER_BLOCK`] normals of every stream; `out` is `PER_BLOCK x width`.
    pub fn fill(&mut self, out: &mut [f64]) {
        assert_eq!(out.len(), PER_BLOCK * self.width);
        #[cfg(target_arch = "x86_64")]
        if is_x86_feature_detected!("avx2") {
            // SAFETY: the processor has AVX2.
            unsafe { self.fill_avx2(&ZIGGURAT, out) };
            self.counter += 1;
            return;
        }
        self.fill_tiles(&ZIGGURAT, out);
        self.counter += 1;
    }

    #[cfg(target_arch = "x86_64")]
    #[target_feature(enable = "avx2")]
    fn fill_avx2(&self, ziggurat: &Ziggurat, out: &mut [f64]) {
        self.fill_tiles(ziggurat, out);
    }

    #[inline(always)]
    fn fill_tiles(&self, ziggurat: &Ziggurat, out: &mut [f64]) {
        for first in (0..self.width).step_by(STREAMS) {
            let tile = self.encrypted(first);
            for (k, row) in out.chunks_exact_mut(self.width).enumerate() {
                let words = |l: usize| u64::from(tile[2 * k + 1][l]) << 32 | u64::from(tile[2 * k][l]);
                ziggurat.normals(words, &mut row[first..first + STREAMS]);
            }
        }
    }

    /// ChaCha with eight rounds: the block of this counter of eight streams, the one of lane `first` and those after.
    ///
    /// The rounds are written out so that the loop over lanes becomes vector code.
    #[inline(always)]
    fn encrypted(&self, first: usize) -> Tile {
        let mut tile = [[0; STREAMS]; STATE];
        for l in 0..STREAMS {
            let stream = self.first + (first + l) as u64;
            let mut input = [0; STATE];
            input[..4].copy_from_slice(&CONSTANTS);
            input[4..12].copy_from_slice(&self.key);
            input[12..14].copy_from_slice(&[self.counter as u32, (self.counter >> 32) as u32]);
            input[14..].copy_from_slice(&[stream as u32, (stream >> 32) as u32]);
            let mut x = input;
            double_round(&mut x);
            double_round(&mut x);
            double_round(&mut x);
            double_round(&mut x);
            for i in 0..STATE {
                tile[i][l] = x[i].wrapping_add(input[i]);
            }
        }
        tile
    }
}

#[inline(always)]
fn double_round(x: &mut [u32; STATE]) {
    quarter_round(x, [0, 4, 8, 12]);
    quarter_round(x, [1, 5, 9, 13]);
    quarter_round(x, [2, 6, 10, 14]);
    quarter_round(x, [3, 7, 11, 15]);
    quarter_round(x, [0, 5, 10, 15]);
    quarter_round(x, [1, 6, 11, 12]);
    quarter_round(x, [2, 7, 8, 13]);
    quarter_round(x, [3, 4, 9, 14]);
}

#[inline(always)]
fn quarter_round(x: &mut [u32; STATE], [a, b, c, d]: [usize; 4]) {
    x[a] = x[a].wrapping_add(x[b]);
    x[d] = (x[d] ^ x[a]).rotate_left(16);
    x[c] = x[c].wrapping_add(x[d]);
    x[b] = (x[b] ^ x[c]).rotate_left(12);
    x[a] = x[a].wrapping_add(x[b]);
    x[d] = (x[d] ^ x[a]).rotate_left(8);
    x[c] = x[c].wrapping_add(x[d]);
    x[b] = (x[b] ^ x[c]).rotate_left(7);
}

/// Layers of the ziggurat; the low eight bits of a word choose one.
const LAYERS: usize = 256;
/// Where the tail begins.
const TAIL: f64 = 3.654_152_885_361_009;
/// The area of each layer.
const AREA: f64 = 0.004_928_673_233_974_655;

/// The density `exp(-x^2/2)` covered by layers of equal area.
///
/// Source: Marsaglia & Tsang, The Ziggurat Method for Generating Random Variables (2000), with 256 layers.
struct Ziggurat {
    /// Half-widths of the layers from the bottom up; that of the bottom one includes the area of the tail.
    width: [f64; LAYERS + 1],
    /// Half-widths over 2^52, the unit of [`signed`].
    unit: [f64; LAYERS + 1],
    /// Density at the half-widths.
    height: [f64; LAYERS + 1],
}

static ZIGGURAT: LazyLock<Ziggurat> = LazyLock::new(|| {
    let density = |x: f64| (-0.5 * x * x).exp();
    let mut width = [0.0; LAYERS + 1];
    width[0] = AREA / density(TAIL);
    width[1] = TAIL;
    for i in 2..LAYERS {
        width[i] = (-2.0 * (AREA / width[i - 1] + density(width[i - 1])).ln()).sqrt();
    }
    Ziggurat { width, unit: width.map(|x| x / (1_u64 << 52) as f64), height: width.map(density) }
});

impl Ziggurat {
    /// A normal from each word of random bits.
    #[inline(always)]
    fn normals(&self, word: impl Fn(usize) -> u64, out: &mut [f64]) {
        // One question for all lanes, whether any is on an edge, leaves the rest without a branch.
        let mut inside = true;
        for (l, out) in out.iter_mut().enumerate() {
            *out = self.uniform(word(l));
            inside &= self.contains(word(l), *out);
        }
        if !inside {
            self.edges(std::array::from_fn(word), out);
        }
    }

    /// A number uniform over the layer that the word chooses.
    #[inline(always)]
    fn uniform(&self, word: u64) -> f64 {
        signed(word) * self.unit[(word & 0xff) as usize]
    }

    /// Whether a number lies where the layer of the word is wholly under the density.
    #[inline(always)]
    fn contains(&self, word: u64, x: f64) -> bool {
        x.abs() < self.width[(word & 0xff) as usize + 1]
    }

    /// Replaces those of the numbers that fall on the edge of their layer.
    #[cold]
    fn edges(&self, words: [u64; STREAMS], out: &mut [f64]) {
        for (x, word) in out.iter_mut().zip(words) {
            if !self.contains(word, *x) {
                *x = self.edge(word);
            }
        }
    }

    /// The normal of a word that falls on the edge of its layer: what more it needs is drawn from a generator that
    /// the word itself seeds.
    fn edge(&self, mut word: u64) -> f64 {
        let mut more = SplitMix(word);
        loop {
            let (layer, x) = ((word & 0xff) as usize, self.uniform(word));
            if self.contains(word, x) {
                return x;
            }
            if layer == 0 {
                return self.tail(&mut more).copysign(x);
            }
            let (low, high) = (self.height[layer], self.height[layer + 1]);
            if low + (high - low) * more.unit() < (-0.5 * x * x).exp() {
                return x;
            }
            word = more.word();
        }
    }

    /// A normal beyond [`TAIL`], by Marsaglia's method.
    fn tail(&self, more: &mut SplitMix) -> f64 {
        loop {
            let x = -more.unit().ln() / TAIL;
            if -2.0 * more.unit().ln() > x * x {
                return TAIL + x;
            }
        }
    }
}

/// The upper 53 bits of a word as a number in [-2^52, 2^52).
#[inline(always)]
fn signed(word: u64) -> f64 {
    ((word as i64) >> 11) as f64
}

/// Steele, Lea & Flood, Fast Splittable Pseudorandom Number Generators (2014).
struct SplitMix(u64);

impl SplitMix {
    fn word(&mut self) -> u64 {
        self.0 = self.0.wrapping_add(0x9e37_79b9_7f4a_7c15);
        let mut z = self.0;
        z = (z ^ (z >> 30)).wrapping_mul(0xbf58_476d_1ce4_e5b9);
        z = (z ^ (z >> 27)).wrapping_mul(0x94d0_49bb_1331_11eb);
        z ^ (z >> 31)
    }

    /// Uniform on (0, 1].
    fn unit(&mut self) -> f64 {
        const SCALE: f64 = 1.0 / (1_u64 << 53) as f64;
        ((self.word() >> 11) + 1) as f64 * SCALE
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use rand::Rng;

    #[test]
    fn words_are_those_of_the_streams_of_single_paths() {
        let (first, width) = (u64::from(u32::MAX) - 3, 8);
        let mut normals = Normals::new(7, first, width);
        let mut single: Vec<ChaCha8Rng> = (0..width)
            .map(|l| {
                let mut rng = ChaCha8Rng::seed_from_u64(7 ^ Purpose::Path.salt());
                rng.set_stream(first + l as u64);
                rng
            })
            .collect();
        let mut out = vec![0.0; PER_BLOCK * width];
        for _ in 0..3 {
            normals.fill(&mut out);
            for k in 0..PER_BLOCK {
                for l in 0..width {
                    assert_eq!(out[k * width + l], ZIGGURAT.edge(single[l].next_u64()));
                }
            }
        }
    }

    #[test]
    fn layers_meet_the_top() {
        let top = ZIGGURAT.width[LAYERS - 1];
        // The last layer reaches density 1 at 0, which is what fixes TAIL and AREA.
        assert!((AREA / top + ZIGGURAT.height[LAYERS - 1] - 1.0).abs() < 1e-12);
    }

    /// Largest distance between the empirical and the normal distribution of `n` numbers, times sqrt(n).
    fn kolmogorov(shift: f64) -> f64 {
        let n_blocks = 4000;
        let (width, n) = (64, (n_blocks * 64 * PER_BLOCK) as f64);
        let mut normals = Normals::new(3, 0, width);
        let (mut all, mut out) = (Vec::new(), vec![0.0; PER_BLOCK * width]);
        for _ in 0..n_blocks {
            normals.fill(&mut out);
            all.extend(out.iter().map(|x| x + shift));
        }
        all.sort_unstable_by(f64::total_cmp);
        let worst = all.iter().enumerate().fold(0.0_f64, |worst, (i, &x)| {
            let p = cumulative(x);
            worst.max((p - i as f64 / n).abs()).max(((i + 1) as f64 / n - p).abs())
        });
        worst * n.sqrt()
    }

    /// The normal distribution function by the series of Marsaglia (2004), and by a continued fraction in the tails.
    fn cumulative(x: f64) -> f64 {
        let density = (-0.5 * x * x - 0.918_938_533_204_672_8).exp();
        if x.abs() > 6.0 {
            let tail = density / (x.abs() + 1.0 / (x.abs() + 2.0 / x.abs()));
            return if x > 0.0 { 1.0 - tail } else { tail };
        }
        let (mut sum, mut term, mut i) = (x, x, 1.0);
        while sum + term != sum {
            i += 2.0;
            term *= x * x / i;
            sum += term;
        }
        0.5 + sum * density
    }

    #[test]
    fn the_distribution_is_normal() {
        // Kolmogorov's distribution exceeds 2.23 with probability 1e-4; a shift by 0.006 is found out.
        assert!(kolmogorov(0.0) < 2.23);
        assert!(kolmogorov(0.006) > 2.23);
    }

    #[test]
    fn the_tail_has_its_share() {
        let (width, n_blocks) = (64, 20_000);
        let mut normals = Normals::new(11, 0, width);
        let mut out = vec![0.0; PER_BLOCK * width];
        let (mut beyond, mut squares) = (0.0, 0.0);
        for _ in 0..n_blocks {
            normals.fill(&mut out);
            for x in out.iter().filter(|x| x.abs() > TAIL) {
                beyond += 1.0;
                squares += x * x;
            }
        }
        let n = (width * n_blocks * PER_BLOCK) as f64;
        let share = 2.0 * cumulative(-TAIL);
        // Binomial; 3.9 standard deviations, a false alarm in 1e4.
        assert!((beyond - n * share).abs() < 3.9 * (n * share).sqrt());
        // E[x^2; |x| > t] = 2 (t phi(t) + P(x > t)); its fourth-moment spread is about t^4 per event.
        let density = (-0.5 * TAIL * TAIL - 0.918_938_533_204_672_8_f64).exp();
        let expected = n * (2.0 * TAIL * density + share);
        assert!((squares - expected).abs() < 3.9 * (TAIL + 0.6).powi(2) * (n * share).sqrt());
    }
}
