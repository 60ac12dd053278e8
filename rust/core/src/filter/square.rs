//! Square matrices whose size the compiler knows, so that it can unroll and vectorise them.

/// An N x N matrix by rows.
pub type Square<const N: usize> = [[f64; N]; N];

/// Runs an expression with the constant `N` standing for the number of states `m`, at most 20.
macro_rules! with_size {
    ($m:expr, $body:expr) => {
        $crate::filter::square::with_size!(@ $m, $body, 1 2 3 4 5 6 7 8 9 10 11 12 13 14 15 16 17 18 19 20)
    };
    (@ $m:expr, $body:expr, $($n:literal)*) => {
        match $m {
            $($n => {
                const N: usize = $n;
                $body
            })*
            m => unreachable!("{m} states: StateSpace::check allows 20"),
        }
    };
}
pub(crate) use with_size;

/// The first N^2 numbers of a slice as a matrix.
#[inline]
pub fn read<const N: usize>(values: &[f64]) -> Square<N> {
    let mut out = [[0.0; N]; N];
    for (out, row) in out.iter_mut().zip(values.chunks_exact(N)) {
        out.copy_from_slice(row);
    }
    out
}

/// The first N rows and columns of a matrix (m x m).
#[inline]
pub fn read_part<const N: usize>(values: &[f64], m: usize) -> Square<N> {
    let mut out = [[0.0; N]; N];
    for (out, row) in out.iter_mut().zip(values.chunks_exact(m)) {
        out.copy_from_slice(&row[..N]);
    }
    out
}

/// Writes a matrix to the first N rows and columns of one (m x m).
#[inline]
pub fn write_part<const N: usize>(a: &Square<N>, out: &mut [f64], m: usize) {
    for (row, out) in a.iter().zip(out.chunks_exact_mut(m)) {
        out[..N].copy_from_slice(row);
    }
}

/// Writes a matrix to a slice.
#[inline]
pub fn write<const N: usize>(a: &Square<N>, out: &mut [f64]) {
    out[..N * N].copy_from_slice(a.as_flattened());
}

/// The unit matrix.
#[inline]
pub fn one<const N: usize>() -> Square<N> {
    let mut out = [[0.0; N]; N];
    (0..N).for_each(|i| out[i][i] = 1.0);
    out
}

/// `a b`
#[inline]
pub fn product<const N: usize>(a: &Square<N>, b: &Square<N>) -> Square<N> {
    let mut out = [[0.0; N]; N];
    for i in 0..N {
        for l in 0..N {
            for j in 0..N {
                out[i][j] += a[i][l] * b[l][j];
            }
        }
    }
    out
}

/// `a b^T`
#[inline]
pub fn product_transposed<const N: usize>(a: &Square<N>, b: &Square<N>) -> Square<N> {
    let mut turned = [[0.0; N]; N];
    for i in 0..N {
        for j in 0..N {
            turned[j][i] = b[i][j];
        }
    }
    product(a, &turned)
}

/// `a s a^T` for a symmetric `s`, symmetric to the last bit.
#[inline]
pub fn sandwich<const N: usize>(a: &Square<N>, s: &Square<N>) -> Square<N> {
    let mut out = product_transposed(&product(a, s), a);
    for i in 0..N {
        for j in 0..i {
            let mean = 0.5 * (out[i][j] + out[j][i]);
            (out[i][j], out[j][i]) = (mean, mean);
        }
    }
    out
}

/// `a x`
#[inline]
pub fn apply<const N: usize>(a: &Square<N>, x: &[f64; N]) -> [f64; N] {
    let mut out = [0.0; N];
    for i in 0..N {
        for j in 0..N {
            out[i] += a[i][j] * x[j];
        }
    }
    out
}

/// `a^T x`
#[inline]
pub fn apply_transposed<const N: usize>(a: &Square<N>, x: &[f64; N]) -> [f64; N] {
    let mut out = [0.0; N];
    for i in 0..N {
        for j in 0..N {
            out[j] += a[i][j] * x[i];
        }
    }
    out
}

/// `x y`
#[inline]
pub fn dot<const N: usize>(x: &[f64; N], y: &[f64; N]) -> f64 {
    (0..N).map(|i| x[i] * y[i]).sum()
}

/// `out += factor a`
#[inline]
pub fn add<const N: usize>(out: &mut Square<N>, factor: f64, a: &Square<N>) {
    for i in 0..N {
        for j in 0..N {
            out[i][j] += factor * a[i][j];
        }
    }
}

/// Largest sum of sizes in a column.
#[inline]
pub fn norm<const N: usize>(a: &Square<N>) -> f64 {
    (0..N).map(|j| (0..N).map(|i| a[i][j].abs()).sum::<f64>()).fold(0.0, f64::max)
}
