//! Rows of a whitened regression, collected into blocks whose products are summed: the moments of the filter.

use matrixmultiply::dgemm;

/// Rows of a block: enough that the matrix product is paid for its packing, few enough that a block of a wide library
/// (36 columns: 76 kB) stays in the second-level cache. Another number is another order of the sums.
const BLOCK: usize = 256;

/// Sums of products of regressors and target; the target is the last column.
#[derive(Debug, Clone)]
pub struct WhitenedRows {
    width: usize,
    filled: usize,
    block: Vec<f64>,
    total: Vec<f64>,
    product: Vec<f64>,
    /// Scalars seen.
    pub n: f64,
}

/// Gram matrix, moment, target's square and count, as the sampler takes them.
#[derive(Debug, Clone)]
pub struct FilterSums {
    /// `(C, C)`, row-major.
    pub gram: Vec<f64>,
    /// `(C,)`
    pub moment: Vec<f64>,
    /// Sum of squares of the target.
    pub yy: f64,
    /// Number of scalar rows.
    pub n: f64,
}

impl WhitenedRows {
    /// For `columns` regressors.
    pub fn new(columns: usize) -> Self {
        let width = columns + 1;
        Self {
            width,
            filled: 0,
            block: vec![0.0; BLOCK * width],
            total: vec![0.0; width * width],
            product: vec![0.0; width * width],
            n: 0.0,
        }
    }

    /// The next row, to be filled: the regressors, then the target.
    pub fn next(&mut self) -> &mut [f64] {
        if self.filled == BLOCK {
            self.flush();
        }
        self.filled += 1;
        let width = self.width;
        &mut self.block[(self.filled - 1) * width..][..width]
    }

    fn flush(&mut self) {
        let (w, rows) = (self.width, self.filled);
        // SAFETY: `block` holds `rows` rows of `w`, `product` is `w x w`, and they do not overlap.
        unsafe {
            let z = self.block.as_ptr();
            dgemm(
                w,
                rows,
                w,
                1.0,
                z,
                1,
                w as isize,
                z,
                w as isize,
                1,
                0.0,
                self.product.as_mut_ptr(),
                w as isize,
                1,
            );
        }
        self.total.iter_mut().zip(&self.product).for_each(|(total, product)| *total += product);
        self.filled = 0;
    }

    /// Adds the rows of `other`.
    pub fn merge(&mut self, mut other: Self) {
        other.flush();
        self.total.iter_mut().zip(&other.total).for_each(|(total, more)| *total += more);
        self.n += other.n;
    }

    /// The sums over all rows.
    pub fn finish(mut self) -> FilterSums {
        self.flush();
        let (w, c) = (self.width, self.width - 1);
        let gram = (0..c * c).map(|index| self.total[index / c * w + index % c]).collect();
        let moment = (0..c).map(|k| self.total[k * w + c]).collect();
        FilterSums { gram, moment, yy: self.total[c * w + c], n: self.n }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    /// Row number `n`: two regressors and a target.
    fn row(n: usize) -> [f64; 3] {
        let x = n as f64;
        [(0.7 * x).sin(), (0.3 * x).cos(), 1.0 + (0.1 * x).sin()]
    }

    fn filled(numbers: std::ops::Range<usize>) -> WhitenedRows {
        let mut rows = WhitenedRows::new(2);
        for n in numbers {
            rows.next().copy_from_slice(&row(n));
            rows.n += 1.0;
        }
        rows
    }

    #[test]
    fn blocks_and_parts_add_up_to_all_rows() {
        // More rows than a block holds, in parts that end within one.
        let n = 3 * BLOCK + 17;
        let mut merged = filled(0..BLOCK);
        merged.merge(filled(BLOCK..BLOCK + 5));
        merged.merge(filled(BLOCK + 5..n));
        for sums in [filled(0..n).finish(), merged.finish()] {
            let product = |i: usize, j: usize| (0..n).map(|n| row(n)[i] * row(n)[j]).sum::<f64>();
            let close =
                |found: f64, wanted: f64| assert!((found - wanted).abs() < 1e-10, "{found}, not {wanted}");
            (0..4).for_each(|index| close(sums.gram[index], product(index / 2, index % 2)));
            (0..2).for_each(|k| close(sums.moment[k], product(k, 2)));
            close(sums.yy, product(2, 2));
            assert_eq!(sums.n, n as f64);
        }
    }

    #[test]
    fn no_rows_are_no_sums() {
        let mut none = filled(0..0);
        none.merge(filled(0..0));
        let FilterSums { gram, moment, yy, n } = none.finish();
        assert_eq!((gram, moment, yy, n), (vec![0.0; 4], vec![0.0; 2], 0.0, 0.0));
    }
}
