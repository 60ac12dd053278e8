//! Rows of products of innovations while their regressors stand still: sums of targets in place of a row a sample.

use super::whitened::WhitenedRows;

/// Rows of the pairs `a <= b` of channels, target `scale (w_a w_b - [a = b])` for whitened innovations `w`, weighted so
/// that their squares have unit variance.
#[derive(Debug, Clone)]
pub struct StandingRows {
    columns: usize,
    /// Of each pair the regressors, and what the target has beyond the innovations.
    rows: Vec<f64>,
    base: Vec<f64>,
    sums: Vec<f64>,
    squares: Vec<f64>,
    n: f64,
}

/// The pairs `a <= b` of channels that are seen.
pub fn pairs(seen: &[bool]) -> impl Iterator<Item = (usize, usize)> {
    let q = seen.len();
    (0..q).filter(|&a| seen[a]).flat_map(move |a| (a..q).filter(|&b| seen[b]).map(move |b| (a, b)))
}

/// Weight of the row of a pair of channels.
pub fn scale(a: usize, b: usize) -> f64 {
    if a == b { 0.5_f64.sqrt() } else { 1.0 }
}

/// What two whitened innovations have beyond their expectation.
pub fn excess(white: &[f64], a: usize, b: usize) -> f64 {
    white[a] * white[b] - f64::from(u8::from(a == b))
}

impl StandingRows {
    /// For channels of which these are seen, and `columns` regressors.
    pub fn new(seen: &[bool], columns: usize) -> Self {
        let of = pairs(seen).count();
        Self {
            columns,
            rows: Vec::new(),
            base: Vec::new(),
            sums: vec![0.0; of],
            squares: vec![0.0; of],
            n: 0.0,
        }
    }

    /// The next pair: its regressors, and what is to be added to its target.
    pub fn pair(&mut self, regressors: &[f64], base: f64) {
        self.rows.extend_from_slice(&regressors[..self.columns]);
        self.base.push(base);
    }

    /// A sample, of which the same channels are seen.
    pub fn add(&mut self, white: &[f64], seen: &[bool]) {
        for ((a, b), (sum, square)) in pairs(seen).zip(self.sums.iter_mut().zip(&mut self.squares)) {
            let target = scale(a, b) * excess(white, a, b);
            *sum += target;
            *square += target * target;
        }
        self.n += 1.0;
    }

    /// Two rows for each pair, with the products of all its samples.
    pub fn give(self, to: &mut WhitenedRows) {
        if self.n == 0.0 {
            return;
        }
        let root = self.n.sqrt();
        for (pair, (&sum, &squares)) in self.sums.iter().zip(&self.squares).enumerate() {
            let row = to.next();
            for (x, value) in row.iter_mut().zip(&self.rows[pair * self.columns..][..self.columns]) {
                *x = root * value;
            }
            row[self.columns] = root * self.base[pair] + sum / root;
            let row = to.next();
            row.fill(0.0);
            row[self.columns] = (squares - sum * sum / self.n).max(0.0).sqrt();
            to.n += self.n;
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn sums_of_standing_rows_are_those_of_the_rows() {
        let rows = [[0.3, -1.0], [2.0, 0.4], [0.1, 0.2]];
        let base = [0.7, -0.2, 1.5];
        let (mut standing, mut one, mut all) =
            (StandingRows::new(&[true; 2], 2), WhitenedRows::new(2), WhitenedRows::new(2));
        (0..3).for_each(|pair| standing.pair(&rows[pair], base[pair]));
        for n in 0..50 {
            let white = [(n as f64).sin(), 1.3 * (2.0 * n as f64).cos()];
            standing.add(&white, &[true; 2]);
            for (pair, (a, b)) in [(0, 0), (0, 1), (1, 1)].into_iter().enumerate() {
                let row = one.next();
                row[..2].copy_from_slice(&rows[pair]);
                row[2] = base[pair] + scale(a, b) * excess(&white, a, b);
                one.n += 1.0;
            }
        }
        standing.give(&mut all);
        let (found, wanted) = (all.finish(), one.finish());
        assert_eq!(found.n, wanted.n);
        let pairs = found.gram.iter().chain(&found.moment).zip(wanted.gram.iter().chain(&wanted.moment));
        for (found, wanted) in pairs.chain([(&found.yy, &wanted.yy)]) {
            assert!((found - wanted).abs() < 1e-12 * wanted.abs().max(1.0), "{found} {wanted}");
        }
    }

    #[test]
    fn no_sample_gives_no_row() {
        let mut rows = WhitenedRows::new(2);
        StandingRows::new(&[true; 2], 2).give(&mut rows);
        assert_eq!(rows.finish().n, 0.0);
    }
}
